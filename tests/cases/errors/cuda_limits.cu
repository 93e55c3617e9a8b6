// Configurations that no device can run; those that only the program's run tells are not looked at.
__global__ void child(int *out) { *out = 1; }
__global__ void parent(int *out, int n) {
    child<<<1, 1025>>>(out); //~ W0902
    child<<<dim3(1, 65536), 1>>>(out); //~ W0902
    child<<<1, dim3(4, 4, 65)>>>(out); //~ W0902
    child<<<n, n>>>(out);
    child<<<2147483647, 1024>>>(out);
}
