// Conversions with a chosen rounding, and reinterpretation of bits.

// Out of range saturates. Single precision flushes denormals when asked.
each $TO | $NAME | $TYPE {
    int | int | s32
    unsigned | uint | u32
    long long | ll | s64
    unsigned long long | ull | u64
} {
    each $FROM | $SOURCE {
        float | [.ftz].$TYPE.f32
        double | .$TYPE.f64
    } {
        /// To integer, rounded as named.
        $TO __$FROM2$NAME_rn($FROM x) = ptx "cvt.rni$SOURCE";
        /// To integer, toward zero.
        $TO __$FROM2$NAME_rz($FROM x) = cast FloatToInt;
        /// To integer, rounded as named.
        $TO __$FROM2$NAME_rd($FROM x) = ptx "cvt.rmi$SOURCE";
        $TO __$FROM2$NAME_ru($FROM x) = ptx "cvt.rpi$SOURCE";
    }
}

each $FROM | $NAME | $TO | $TYPES {
    int | int | float | f32.s32
    unsigned | uint | float | f32.u32
    long long | ll | float | f32.s64
    unsigned long long | ull | float | f32.u64
    long long | ll | double | f64.s64
    unsigned long long | ull | double | f64.u64
} {
    /// From integer, to nearest even.
    $TO __$NAME2$TO_rn($FROM x) = cast IntToFloat;
    /// From integer, toward zero.
    $TO __$NAME2$TO_rz($FROM x) = ptx "cvt.rz.$TYPES";
    /// From integer, down.
    $TO __$NAME2$TO_rd($FROM x) = ptx "cvt.rm.$TYPES";
    /// From integer, up.
    $TO __$NAME2$TO_ru($FROM x) = ptx "cvt.rp.$TYPES";
}

/// To single precision, rounded as named.
float __double2float_rn(double x) = ptx "cvt.rn[.ftz].f32.f64";
float __double2float_rz(double x) = ptx "cvt.rz[.ftz].f32.f64";
float __double2float_rd(double x) = ptx "cvt.rm[.ftz].f32.f64";
float __double2float_ru(double x) = ptx "cvt.rp[.ftz].f32.f64";

/// From integer; always exact.
double __int2double_rn(int x) = cast IntToFloat;
double __uint2double_rn(unsigned x) = cast IntToFloat;
/// The same bits as another type.
int __float_as_int(float x) = cast Bitcast;
unsigned __float_as_uint(float x) = cast Bitcast;
float __int_as_float(int x) = cast Bitcast;
float __uint_as_float(unsigned x) = cast Bitcast;
long long __double_as_longlong(double x) = cast Bitcast;
double __longlong_as_double(long long x) = cast Bitcast;
/// The high 32 bits.
int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
/// The low 32 bits.
int __double2loint(double x) { return (int)__double_as_longlong(x); }
/// A value from its high and low bits.
double __hiloint2double(int high, int low)
    { return __longlong_as_double((long long)high << 32 | (long long)(unsigned)low); }
