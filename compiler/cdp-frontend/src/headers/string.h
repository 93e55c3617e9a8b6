#pragma once
#include <stddef.h>
extern "C" {
__host__ void *memchr(const void *data, int c, size_t size);
__host__ int memcmp(const void *a, const void *b, size_t size);
__host__ void *memccpy(void *out, const void *data, int c, size_t size);
__host__ void *memrchr(const void *data, int c, size_t size);
__host__ size_t strnlen(const char *text, size_t size);
__host__ size_t strlen(const char *text);
__host__ int strcmp(const char *a, const char *b);
__host__ int strncmp(const char *a, const char *b, size_t size);
__host__ int strcasecmp(const char *a, const char *b);
__host__ char *strcpy(char *out, const char *text);
__host__ char *strncpy(char *out, const char *text, size_t size);
__host__ char *strcat(char *out, const char *text);
__host__ char *strncat(char *out, const char *text, size_t size);
__host__ char *strchr(const char *text, int c);
__host__ char *strrchr(const char *text, int c);
__host__ char *strstr(const char *text, const char *part);
__host__ char *strpbrk(const char *text, const char *set);
__host__ size_t strspn(const char *text, const char *set);
__host__ size_t strcspn(const char *text, const char *set);
__host__ char *strtok(char *text, const char *set);
__host__ char *strtok_r(char *text, const char *set, char **rest);
__host__ int strncasecmp(const char *a, const char *b, size_t size);
__host__ char *strdup(const char *text);
__host__ char *strndup(const char *text, size_t size);
__host__ char *strerror(int error);
}
