#pragma once
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
    long tm_gmtoff;
    const char *tm_zone;
};
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
extern "C" {
__host__ time_t time(time_t *out);
__host__ double difftime(time_t a, time_t b);
__host__ time_t mktime(struct tm *parts);
__host__ struct tm *localtime(const time_t *time);
__host__ struct tm *gmtime(const time_t *time);
__host__ char *asctime(const struct tm *parts);
__host__ char *ctime(const time_t *time);
__host__ size_t strftime(char *out, size_t size, const char *format, const struct tm *parts);
__host__ int clock_gettime(int clock, struct timespec *out);
__host__ int nanosleep(const struct timespec *wanted, struct timespec *left);
}
