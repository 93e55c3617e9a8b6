#pragma once
#include <stddef.h>
typedef long ssize_t;
typedef int pid_t;
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_ONLN 84
extern "C" {
extern char *optarg;
extern int optind, opterr, optopt;
__host__ unsigned sleep(unsigned seconds);
__host__ int usleep(unsigned useconds);
__host__ pid_t getpid();
__host__ int getopt(int argc, char *const argv[], const char *options);
__host__ int isatty(int file);
__host__ int access(const char *path, int mode);
__host__ int unlink(const char *path);
__host__ int close(int file);
__host__ ssize_t read(int file, void *data, size_t size);
__host__ ssize_t write(int file, const void *data, size_t size);
__host__ char *getcwd(char *out, size_t size);
__host__ int gethostname(char *out, size_t size);
__host__ long sysconf(int name);
__host__ void _exit(int status);
}
