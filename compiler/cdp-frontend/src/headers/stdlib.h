#pragma once
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
extern "C" {
__host__ void *calloc(size_t count, size_t size);
__host__ void *realloc(void *data, size_t size);
__host__ void *aligned_alloc(size_t alignment, size_t size);
__host__ void exit(int status);
__host__ void abort();
__host__ int atexit(void (*function)());
__host__ char *getenv(const char *name);
__host__ int system(const char *command);
__host__ int atoi(const char *text);
__host__ long atol(const char *text);
__host__ long long atoll(const char *text);
__host__ double atof(const char *text);
__host__ long strtol(const char *text, char **end, int base);
__host__ unsigned long strtoul(const char *text, char **end, int base);
__host__ long long strtoll(const char *text, char **end, int base);
__host__ unsigned long long strtoull(const char *text, char **end, int base);
__host__ double strtod(const char *text, char **end);
__host__ float strtof(const char *text, char **end);
__host__ int rand();
__host__ void srand(unsigned seed);
__host__ int rand_r(unsigned *seed);
__host__ long random();
__host__ void srandom(unsigned seed);
__host__ double drand48();
__host__ void srand48(long seed);
__host__ int setenv(const char *name, const char *value, int overwrite);
__host__ int unsetenv(const char *name);
__host__ int posix_memalign(void **data, size_t alignment, size_t size);
__host__ void _Exit(int status);
__host__ div_t div(int numerator, int denominator);
__host__ ldiv_t ldiv(long numerator, long denominator);
__host__ void qsort(void *data, size_t count, size_t size, int (*compare)(const void *, const void *));
__host__ void *bsearch(const void *key, const void *data, size_t count, size_t size,
                       int (*compare)(const void *, const void *));
}
