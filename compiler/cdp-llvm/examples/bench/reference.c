// The kernels of bench.cu that `cargo xtask bench run` compares with a C compiler's code, as C: what a thread
// does is the body of a loop. Argument: a name. Prints the least processor time of some rounds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static __attribute__((noipa)) void matmul(const float *a, const float *b, float *c, int n) {
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++) {
            float s = 0;
            for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
            c[row * n + col] = s;
        }
}
static __attribute__((noipa)) void matmul_tiled(const float *a, const float *b, float *c, int n) {
    static float ta[16][16], tb[16][16], s[16][16];
    for (int by = 0; by < n; by += 16)
        for (int bx = 0; bx < n; bx += 16) {
            memset(s, 0, sizeof s);
            for (int t = 0; t < n; t += 16) {
                for (int y = 0; y < 16; y++)
                    for (int x = 0; x < 16; x++) {
                        ta[y][x] = a[(by + y) * n + t + x];
                        tb[y][x] = b[(t + y) * n + bx + x];
                    }
                for (int y = 0; y < 16; y++)
                    for (int x = 0; x < 16; x++)
                        for (int k = 0; k < 16; k++) s[y][x] += ta[y][k] * tb[k][x];
            }
            for (int y = 0; y < 16; y++)
                for (int x = 0; x < 16; x++) c[(by + y) * n + bx + x] = s[y][x];
        }
}
static __attribute__((noipa)) void mandelbrot(int *out, int w, int h, int limit) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float cr = 3.0f * x / w - 2.0f, ci = 2.0f * y / h - 1.0f, zr = 0, zi = 0;
            int i = 0;
            for (; i < limit && zr * zr + zi * zi < 4.0f; i++) {
                float t = zr * zr - zi * zi + cr;
                zi = 2.0f * zr * zi + ci;
                zr = t;
            }
            out[y * w + x] = i;
        }
}
static __attribute__((noipa)) void saxpy(int n, float a, const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    const char *name = count > 1 ? arguments[1] : "";
    const int n = 256, m = 1 << 22;
    float *x = malloc(m * sizeof *x), *y = malloc(m * sizeof *y), *z = malloc(m * sizeof *z);
    if (!x || !y || !z) return 1;
    for (int i = 0; i < m; i++) x[i] = i % 7, y[i] = i % 5, z[i] = 0;
    double best = 1e9;
    for (int round = 0; round < 7; round++) {
        double begin = seconds();
        if (!strcmp(name, "matmul")) matmul(x, y, z, n);
        else if (!strcmp(name, "matmul_tiled")) matmul_tiled(x, y, z, n);
        else if (!strcmp(name, "mandelbrot")) mandelbrot((int *)z, 512, 512, 256);
        else if (!strcmp(name, "saxpy")) saxpy(m, 2, x, y);
        else return 2;
        double time = seconds() - begin;
        if (time < best) best = time;
    }
    printf("%s %.3f cpu-ms (%g)\n", name, best * 1e3, z[n] + y[n]);
    return 0;
}
