// Integer functions: minimum and maximum, bit counting, high products, byte permutation.

each $T | $KIND {
    int | Int
    unsigned | Int
    long | Int
    unsigned long | Int
    long long | Int
    unsigned long long | Int
    float | Float
    double | Float
} {
    /// The smaller value.
    $T min($T a, $T b) = Min$KIND host { return a < b ? a : b; }
    /// The larger value.
    $T max($T a, $T b) = Max$KIND host { return a > b ? a : b; }
}

// Of two types, computed in the result's.
each $R | $A | $B {
    unsigned | int | unsigned
    unsigned | unsigned | int
    unsigned long | long | unsigned long
    unsigned long | unsigned long | long
    unsigned long long | long long | unsigned long long
    unsigned long long | unsigned long long | long long
    double | float | double
    double | double | float
} {
    /// The smaller value.
    [both] $R min($A a, $B b) { return min(($R)a, ($R)b); }
    /// The larger value.
    [both] $R max($A a, $B b) { return max(($R)a, ($R)b); }
}

each $N | $T {
    u | unsigned
    ll | long long
    ull | unsigned long long
} {
    /// The smaller value.
    $T $Nmin($T a, $T b) = MinInt host { return a < b ? a : b; }
    /// The larger value.
    $T $Nmax($T a, $T b) = MaxInt host { return a > b ? a : b; }
}

/// Absolute value.
[std] {
    int abs(int x) = AbsInt host extern abs;
    long abs(long x) = AbsInt host extern labs;
    long long abs(long long x) = AbsInt host extern llabs;
    float abs(float x) = AbsFloat host extern fabsf;
    double abs(double x) = AbsFloat host extern fabs;
    long labs(long x) = AbsInt host extern labs;
    long long llabs(long long x) = AbsInt host extern llabs;
}

/// The number of set bits.
int __popc(unsigned x) = PopCount;
int __popcll(unsigned long long x) = PopCount;
/// Leading zero bits; 32 for zero.
int __clz(int x) = LeadingZeros;
/// Leading zero bits; 64 for zero.
int __clzll(long long x) = LeadingZeros;
/// The lowest set bit, counted from 1; 0 for zero.
int __ffs(int x) = FindFirstSet;
int __ffsll(long long x) = FindFirstSet;
/// The bits in reverse order.
unsigned __brev(unsigned x) = ReverseBits;
unsigned long long __brevll(unsigned long long x) = ReverseBits;

/// The number of set bits.
[both] int __builtin_popcount(unsigned x) = PopCount;
[both] int __builtin_popcountll(unsigned long long x) = PopCount;
int __builtin_popcountl(unsigned long x)
    = refuse "use `__popcll`, which device code has" host PopCount;
/// Leading zero bits.
[both] int __builtin_clz(unsigned x) = LeadingZeros;
[both] int __builtin_clzll(unsigned long long x) = LeadingZeros;
/// The lowest set bit, counted from 1; 0 for zero.
[both] int __builtin_ffs(int x) = FindFirstSet;
[both] int __builtin_ffsll(long long x) = FindFirstSet;
/// Trailing zero bits.
int __builtin_ctz(unsigned x) = refuse "use `__ffs(x) - 1`, which device code has"
    host { return __builtin_ffs((int)x) - 1; }
int __builtin_ctzll(unsigned long long x) = refuse "use `__ffs(x) - 1`, which device code has"
    host { return __builtin_ffsll((long long)x) - 1; }

/// The high half of a * b.
int __mulhi(int a, int b) = MulHigh;
unsigned __umulhi(unsigned a, unsigned b) = MulHigh;
long long __mul64hi(long long a, long long b) = MulHigh;
unsigned long long __umul64hi(unsigned long long a, unsigned long long b) = MulHigh;
/// The low 32 bits of the product of the low 24 bits.
int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
/// The absolute difference of a and b, plus c.
unsigned __sad(int a, int b, unsigned c)
    { return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c; }
unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
/// The average, rounded down, without overflow.
int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
/// The average, rounded up, without overflow.
int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
/// The average, rounded down, without overflow.
unsigned __uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
/// The average, rounded up, without overflow.
unsigned __urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }

/// Four bytes chosen from the eight of a and b.
unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) = BytePermute;
/// The high word of high:low shifted left by shift mod 32.
unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) = FunnelShiftLeft;
/// The low word of high:low shifted right by shift mod 32.
unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) = FunnelShiftRight;
/// The high word of high:low shifted left by shift, at most 32.
unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) = ptx "shf.l.clamp.b32";
/// The low word of high:low shifted right by shift, at most 32.
unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) = ptx "shf.r.clamp.b32";
/// The position of the n-th set bit from a base position.
unsigned __fns(unsigned mask, unsigned base, int offset) = ptx "fns.b32";
/// The bytes in reverse order.
unsigned short __nv_bswap16(unsigned short x) { return (unsigned short)__byte_perm(x, 0u, 0x4401u); }
unsigned __nv_bswap32(unsigned x) { return __byte_perm(x, 0u, 0x0123u); }
unsigned long long __nv_bswap64(unsigned long long x) {
    unsigned low = (unsigned)x, high = (unsigned)(x >> 32);
    return (unsigned long long)__byte_perm(low, 0u, 0x0123u) << 32 | __byte_perm(high, 0u, 0x0123u);
}

// Dot products of bytes and half-words, with packed words and with vector operands.
each $T | $SIGN | $U | $TYPE {
    int | signed | | s32
    unsigned | unsigned | u | u32
} {
    [sm_61] {
        /// Four $SIGN byte products added to c.
        $T __dp4a($T a, $T b, $T c) = ptx "dp4a.$TYPE.$TYPE";
        $T __dp4a($Uchar4 a, $Uchar4 b, $T c) { return __dp4a(*($T*)&a, *($T*)&b, c); }
        /// Two products of half-words and the low bytes, added to c.
        $T __dp2a_lo($T a, $T b, $T c) = ptx "dp2a.lo.$TYPE.$TYPE";
        $T __dp2a_lo($Ushort2 a, $Uchar4 b, $T c) { return __dp2a_lo(*($T*)&a, *($T*)&b, c); }
        /// Two products of half-words and the high bytes, added to c.
        $T __dp2a_hi($T a, $T b, $T c) = ptx "dp2a.hi.$TYPE.$TYPE";
        $T __dp2a_hi($Ushort2 a, $Uchar4 b, $T c) { return __dp2a_hi(*($T*)&a, *($T*)&b, c); }
    }
}
