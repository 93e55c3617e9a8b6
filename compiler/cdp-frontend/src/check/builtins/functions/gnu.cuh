// GNU's `__builtin_` functions in host code: those of the C library under their other name, and the
// ones that are a few instructions. What looks at types (`__builtin_constant_p`,
// `__builtin_add_overflow`) is in `check/gnu`.

// Device code calls it by its own name, where it has it.
/// The function of the C library.
each $A | $R | $NAME | $PARAMS {
     | void* | memcpy | void* to, const void* from, size_t bytes
     | void* | memmove | void* to, const void* from, size_t bytes
     | void* | memset | void* to, int value, size_t bytes
     | int | memcmp | const void* a, const void* b, size_t bytes
     | void* | memchr | const void* text, int value, size_t bytes
     | size_t | strlen | const char* text
     | int | strcmp | const char* a, const char* b
     | int | strncmp | const char* a, const char* b, size_t count
     | char* | strcpy | char* to, const char* from
     | char* | strncpy | char* to, const char* from, size_t count
     | char* | strcat | char* to, const char* from
     | char* | strncat | char* to, const char* from, size_t count
     | char* | strchr | const char* text, int character
     | char* | strrchr | const char* text, int character
     | char* | strstr | const char* text, const char* part
    noreturn | void | abort | 
    noreturn | void | exit | int status
     | int | printf | const char* format, ...
     | int | sprintf | char* to, const char* format, ...
     | int | snprintf | char* to, size_t size, const char* format, ...
     | int | vprintf | const char* format, __va_list_tag* list
     | int | vsprintf | char* to, const char* format, __va_list_tag* list
     | int | vsnprintf | char* to, size_t size, const char* format, __va_list_tag* list
     | int | puts | const char* text
     | int | putchar | int character
     | void* | malloc | size_t bytes
     | void* | calloc | size_t count, size_t bytes
     | void* | realloc | void* memory, size_t bytes
     | void | free | void* memory
     | int | abs | int x
     | long | labs | long x
     | long long | llabs | long long x
     | double | fabs | double x
     | float | fabsf | float x
     | double | sqrt | double x
     | float | sqrtf | float x
     | double | floor | double x
     | float | floorf | float x
     | double | ceil | double x
     | float | ceilf | float x
     | double | trunc | double x
     | float | truncf | float x
     | double | round | double x
     | float | roundf | float x
     | double | rint | double x
     | float | rintf | float x
     | double | sin | double x
     | float | sinf | float x
     | double | cos | double x
     | float | cosf | float x
     | double | tan | double x
     | float | tanf | float x
     | double | exp | double x
     | float | expf | float x
     | double | exp2 | double x
     | float | exp2f | float x
     | double | log | double x
     | float | logf | float x
     | double | log2 | double x
     | float | log2f | float x
     | double | log10 | double x
     | float | log10f | float x
     | double | pow | double x, double y
     | float | powf | float x, float y
     | double | fmin | double x, double y
     | float | fminf | float x, float y
     | double | fmax | double x, double y
     | float | fmaxf | float x, float y
     | double | fmod | double x, double y
     | float | fmodf | float x, float y
     | double | copysign | double x, double y
     | float | copysignf | float x, float y
     | double | atan2 | double x, double y
     | float | atan2f | float x, float y
     | double | hypot | double x, double y
     | float | hypotf | float x, float y
     | long | lrint | double x
     | long | lround | double x
     | int | tolower | int character
     | int | toupper | int character
     | int | isdigit | int character
     | int | isalpha | int character
     | int | isspace | int character
     | char* | strdup | const char* text
     | void* | mempcpy | void* to, const void* from, size_t bytes
} {
    [$A] $R __builtin_$NAME($PARAMS) = refuse "write the name without `__builtin_`" host extern $NAME;
}

/// A hint, which has no effect here.
void __builtin_prefetch(const void* address, int write = 0, int locality = 3) = refuse "it belongs to host compilers"
    host { }
/// Not known: the largest or smallest size.
size_t __builtin_object_size(const void* address, int kind) = refuse "it belongs to host compilers"
    host { return kind < 2 ? (size_t)-1 : (size_t)0; }
/// Leading zero bits.
int __builtin_clzl(unsigned long x) = refuse "it belongs to host compilers"
    host { return __builtin_clzll((unsigned long long)x); }
/// Trailing zero bits.
int __builtin_ctzl(unsigned long x) = refuse "it belongs to host compilers"
    host { return __builtin_ctzll((unsigned long long)x); }
/// The lowest set bit, counted from 1; 0 for zero.
int __builtin_ffsl(long x) = refuse "it belongs to host compilers"
    host { return __builtin_ffsll((long long)x); }
/// 1 for an odd number of set bits.
int __builtin_parity(unsigned x) = refuse "it belongs to host compilers"
    host { return __builtin_popcount(x) & 1; }
int __builtin_parityl(unsigned long x) = refuse "it belongs to host compilers"
    host { return __builtin_popcountll((unsigned long long)x) & 1; }
int __builtin_parityll(unsigned long long x) = refuse "it belongs to host compilers"
    host { return __builtin_popcountll(x) & 1; }
/// Leading bits equal to the sign, without it.
int __builtin_clrsb(int x) = refuse "it belongs to host compilers"
    host { unsigned y = x < 0 ? ~(unsigned)x : (unsigned)x; return y ? __builtin_clz(y) - 1 : 31; }
int __builtin_clrsbll(long long x) = refuse "it belongs to host compilers"
    host { unsigned long long y = x < 0 ? ~(unsigned long long)x : (unsigned long long)x; return y ? __builtin_clzll(y) - 1 : 63; }
/// The bytes in reverse order.
unsigned short __builtin_bswap16(unsigned short x) = refuse "it belongs to host compilers"
    host { return (unsigned short)(x << 8 | x >> 8); }
unsigned __builtin_bswap32(unsigned x) = refuse "it belongs to host compilers"
    host { return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24; }
unsigned long __builtin_bswap64(unsigned long x) = refuse "it belongs to host compilers"
    host { unsigned low = (unsigned)x, high = (unsigned)(x >> 32); return (unsigned long)__builtin_bswap32(low) << 32 | __builtin_bswap32(high); }
/// Whether x is a NaN.
int __builtin_isnan(double x) = refuse "it belongs to host compilers" host { return x != x; }
/// The sign of an infinity; 0 for what is none.
int __builtin_isinf(double x) = refuse "it belongs to host compilers"
    host { return __builtin_fabs(x) == __builtin_inf() ? (x < 0 ? -1 : 1) : 0; }
/// Whether x is finite.
int __builtin_isfinite(double x) = refuse "it belongs to host compilers"
    host { return __builtin_fabs(x) < __builtin_inf(); }
/// Whether x is finite, not zero and not subnormal.
int __builtin_isnormal(double x) = refuse "it belongs to host compilers"
    host { double size = __builtin_fabs(x); return size < __builtin_inf() && size >= 2.2250738585072014e-308; }
/// Whether one of them is a NaN.
int __builtin_isunordered(double x, double y) = refuse "it belongs to host compilers"
    host { return x != x || y != y; }
/// Whether x is greater.
int __builtin_isgreater(double x, double y) = refuse "it belongs to host compilers" host { return x > y; }
/// Whether x is not less.
int __builtin_isgreaterequal(double x, double y) = refuse "it belongs to host compilers" host { return x >= y; }
/// Whether x is less.
int __builtin_isless(double x, double y) = refuse "it belongs to host compilers" host { return x < y; }
/// Whether x is not greater.
int __builtin_islessequal(double x, double y) = refuse "it belongs to host compilers" host { return x <= y; }
/// Whether they differ and none is a NaN.
int __builtin_islessgreater(double x, double y) = refuse "it belongs to host compilers"
    host { return x < y || x > y; }
/// Whether the sign is negative.
int __builtin_signbit(double x) = refuse "it belongs to host compilers"
    host { return __builtin_copysign(1.0, x) < 0; }
/// The value.
long __builtin_expect_with_probability(long value, long expected, double probability) = refuse "it belongs to host compilers"
    host { return value; }
/// The address.
void* __builtin_assume_aligned(const void* address, size_t align, size_t offset = 0) = refuse "it belongs to host compilers"
    host { return (void*)address; }
