#pragma once
#include <stddef.h>
typedef struct _IO_FILE FILE;
typedef __builtin_va_list va_list;
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define FILENAME_MAX 4096
extern "C" {
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
__host__ FILE *fopen(const char *path, const char *mode);
__host__ FILE *freopen(const char *path, const char *mode, FILE *stream);
__host__ FILE *tmpfile();
__host__ int fclose(FILE *stream);
__host__ int fflush(FILE *stream);
__host__ int feof(FILE *stream);
__host__ int ferror(FILE *stream);
__host__ void clearerr(FILE *stream);
__host__ int fseek(FILE *stream, long offset, int whence);
__host__ long ftell(FILE *stream);
__host__ void rewind(FILE *stream);
__host__ size_t fread(void *data, size_t size, size_t count, FILE *stream);
__host__ size_t fwrite(const void *data, size_t size, size_t count, FILE *stream);
__host__ int fprintf(FILE *stream, const char *format, ...);
__host__ int sprintf(char *out, const char *format, ...);
__host__ int snprintf(char *out, size_t size, const char *format, ...);
__host__ int vprintf(const char *format, va_list list);
__host__ int vfprintf(FILE *stream, const char *format, va_list list);
__host__ int vsprintf(char *out, const char *format, va_list list);
__host__ int vsnprintf(char *out, size_t size, const char *format, va_list list);
__host__ int vscanf(const char *format, va_list list);
__host__ int vfscanf(FILE *stream, const char *format, va_list list);
__host__ int vsscanf(const char *text, const char *format, va_list list);
__host__ int scanf(const char *format, ...);
__host__ int fscanf(FILE *stream, const char *format, ...);
__host__ int sscanf(const char *text, const char *format, ...);
__host__ int fgetc(FILE *stream);
__host__ int getc(FILE *stream);
__host__ int getchar();
__host__ int ungetc(int c, FILE *stream);
__host__ char *fgets(char *out, int size, FILE *stream);
__host__ int fputc(int c, FILE *stream);
__host__ int putc(int c, FILE *stream);
__host__ int putchar(int c);
__host__ int fputs(const char *text, FILE *stream);
__host__ int puts(const char *text);
__host__ void perror(const char *text);
__host__ int remove(const char *path);
__host__ int rename(const char *from, const char *to);
__host__ int setvbuf(FILE *stream, char *buffer, int mode, size_t size);
__host__ void setbuf(FILE *stream, char *buffer);
}
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
