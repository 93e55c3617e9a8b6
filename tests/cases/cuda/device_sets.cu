// Sets and copies of rows, rectangles and boxes in kernels, in streams of their own and between launches, and calls whose last
// arguments have values.
#include <cstdio>

__global__ void add(unsigned char *at, int count)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        at[i] += 1;
}

__global__ void sets(cudaPitchedPtr box, unsigned char *row, int *codes)
{
    int n = 0;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    codes[n++] = cudaMemsetAsync(row, 0x33, 7, stream);
    add<<<1, 32, 0, stream>>>(row, 4);
    codes[n++] = cudaMemset2DAsync(row + 16, 8, 0x155, 3, 2, stream);
    codes[n++] = cudaMemset3DAsync(box, 0x42, {5, 2, 2}, stream);
    add<<<1, 32, 0, stream>>>((unsigned char *)box.ptr, 2);
    cudaStreamDestroy(stream);
}

__global__ void copies(cudaPitchedPtr box, unsigned char *row, int *codes)
{
    int n = 0;
    codes[n++] = cudaMemset3DAsync(box, -1, {4, 1, 2});
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = copy.dstPtr = box;
    copy.dstPtr.ptr = (char *)box.ptr + 8;
    copy.extent = {3, 1, 2};
    copy.kind = cudaMemcpyDeviceToDevice;
    codes[n++] = cudaMemcpy3DAsync(&copy);
    cudaEvent_t done;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    codes[n++] = cudaEventRecord(done);
    codes[n++] = cudaStreamWaitEvent(0, done);
    cudaEventDestroy(done);
    codes[n++] = cudaMemsetAsync(row + 8, 8, 2);
    codes[n++] = cudaMemcpyAsync(row + 24, row, 3, cudaMemcpyDeviceToDevice);
    codes[n++] = cudaMemcpy2DAsync(row + 27, 2, row, 8, 1, 2, cudaMemcpyDeviceToDevice);
    codes[n++] = cudaMemset2DAsync(row + 30, 1, 9, 1, 2);
    box.ptr = nullptr;
    codes[n++] = cudaMemset3DAsync(box, 1, {5, 2, 2}, 0);
    cudaGetLastError();
}

// What is refused is the thread's last error.
__global__ void refused(unsigned char *row, int *codes)
{
    int n = 0;
    codes[n++] = cudaMemsetAsync(nullptr, 0, 4);
    codes[n++] = cudaPeekAtLastError();
    codes[n++] = cudaGetLastError();
    codes[n++] = cudaMemset2DAsync(row, 2, 0, 4, 3);
    codes[n++] = cudaGetLastError();
    codes[n++] = cudaMemsetAsync(row, 0, 0);
    codes[n++] = cudaGetLastError();
}

int main()
{
    cudaPitchedPtr box;
    cudaMalloc3D(&box, make_cudaExtent(20, 4, 3));
    cudaMemset(box.ptr, 7, box.pitch * 12);
    unsigned char *row;
    int *codes;
    cudaMallocManaged(&row, 32);
    cudaMallocManaged(&codes, 16 * sizeof *codes);
    cudaMemset(row, 1, 32);
    sets<<<1, 1>>>(box, row, codes);
    cudaPitchedPtr lower = box;
    lower.ptr = (char *)box.ptr + box.pitch * 3;
    copies<<<1, 1>>>(lower, row, codes + 3);
    printf("%d:", cudaDeviceSynchronize());
    for (int i = 0; i < 12; i++)
        printf(" %d", codes[i]);
    printf("\n");
    for (int i = 0; i < 32; i++)
        printf("%x%c", row[i], i % 8 == 7 ? '\n' : ' ');
    static unsigned char copied[12 * 512];
    cudaMemcpy(copied, box.ptr, box.pitch * 12, cudaMemcpyDeviceToHost);
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 12; x++)
            printf("%x%c", copied[y * box.pitch + x], x == 11 ? '\n' : ' ');
    refused<<<1, 1>>>(row, codes);
    printf("%d:", cudaDeviceSynchronize());
    for (int i = 0; i < 7; i++)
        printf(" %d", codes[i]);
    printf("\n");
}
