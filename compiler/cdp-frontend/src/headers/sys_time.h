#pragma once
#include <time.h>
typedef long suseconds_t;
struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};
struct timezone {
    int tz_minuteswest, tz_dsttime;
};
extern "C" {
__host__ int gettimeofday(struct timeval *now, void *zone);
}
