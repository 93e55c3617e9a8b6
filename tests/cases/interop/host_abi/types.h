// Structs of every way to be passed between host functions of x86-64.

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
