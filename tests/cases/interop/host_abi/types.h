// Structs of every way to be passed between host functions of x86-64.

#include <stdarg.h>

struct Empty {
};
struct Bytes {
    char a[3];
};
struct Floats {
    float x, y;
};
struct Three {
    float x, y, z;
};
struct Mixed {
    float f;
    int i;
};
struct Doubles {
    double a, b;
};
struct Both {
    long long number;
    double fraction;
};
struct Reverse {
    double fraction;
    short number;
};
struct Large {
    double values[3];
};
struct Nested {
    Mixed mixed;
    Bytes bytes;
};
union Either {
    float f;
    double d;
};
struct Bits {
    unsigned low : 5;
    unsigned high : 20;
    signed char rest;
};

// What a list holds, each letter of `kinds` an argument.
static double weigh_list(const char *kinds, va_list list)
{
    double sum = 0;
    for (int i = 0; kinds[i]; ++i) {
        if (kinds[i] == 'i')
            sum += va_arg(list, int);
        if (kinds[i] == 'd')
            sum += va_arg(list, double);
        if (kinds[i] == 'q')
            sum += (double)(long long)(va_arg(list, __int128) >> 64);
        if (kinds[i] == 'B')
            sum += va_arg(list, Bytes).a[1];
        if (kinds[i] == 'F')
            sum += va_arg(list, Floats).y;
        if (kinds[i] == 'T')
            sum += va_arg(list, Three).z;
        if (kinds[i] == 'M')
            sum += va_arg(list, Mixed).i;
        if (kinds[i] == 'D')
            sum += va_arg(list, Doubles).b;
        if (kinds[i] == 'R') {
            Reverse r = va_arg(list, Reverse);
            sum += r.fraction * r.number;
        }
        if (kinds[i] == 'O') {
            Both b = va_arg(list, Both);
            sum += b.number * b.fraction;
        }
        if (kinds[i] == 'L')
            sum += va_arg(list, Large).values[2];
        if (kinds[i] == '4')
            sum += va_arg(list, int4).w;
        if (kinds[i] == 'E')
            va_arg(list, Empty);
        sum *= 1.5;
    }
    return sum;
}
