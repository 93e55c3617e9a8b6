/* Source of clang_c.ll, made by
 *   clang-22 --target=nvptx64-nvidia-cuda -march=sm_90 -Xclang -target-feature -Xclang +ptx80 \
 *            -O1 -S -emit-llvm clang_c.c -o clang_c.ll
 * A prototype for each kernel signature keeps C from widening arguments, as it would for `...`.
 */
struct point {
    double x;
    float weight;
};

__attribute__((device_kernel)) void child(struct point p, float scale, int *out)
{
    out[0] = (int)(p.x * p.weight * scale);
}

int launch_child(const void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                 unsigned bz, unsigned shared_bytes, void *stream, struct point p, float scale,
                 int *out) __asm__("cdp.launch");

__attribute__((device_kernel)) void parent(int *out)
{
    struct point p = {21.0, 2.0f};
    out[1] = launch_child((const void *)child, 1, 1, 1, 1, 1, 1, 0, 0, p, 0.5f, out);
}
