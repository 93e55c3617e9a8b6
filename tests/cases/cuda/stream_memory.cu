// Values in memory that streams wait for and write: by kernels of other streams, by other streams, by the host; every
// condition in both widths, batches, and what is refused.
#include "driver.h"

#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void publish(unsigned *flag, int *data, int from)
{
    data[threadIdx.x] = from + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        *(volatile unsigned *)flag = 7;
    }
}

__global__ void twice(int *data) { data[threadIdx.x] *= 2; }

static void between_streams()
{
    CUstream first, second;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    int *data;
    CUdeviceptr flag;
    cudaMalloc(&data, 32 * sizeof(int));
    CHECK(cuMemAlloc(&flag, 16));
    CHECK(cuMemsetD32(flag, 0, 4));
    // A kernel may be loaded when it is first launched, which waits for the device.
    publish<<<1, 32>>>((unsigned *)flag, data, 0);
    twice<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    CHECK(cuMemsetD32(flag, 0, 4));
    // The waiter is queued first.
    CHECK(cuStreamWaitValue32(second, flag, 7, CU_STREAM_WAIT_VALUE_EQ));
    twice<<<1, 32, 0, second>>>(data);
    CHECK(cuStreamWriteValue32(second, flag + 4, 9, CU_STREAM_WRITE_VALUE_DEFAULT));
    publish<<<1, 32, 0, first>>>((unsigned *)flag, data, 100);
    CHECK(cuStreamWaitValue32(first, flag + 4, 9, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuStreamSynchronize(first));
    int seen[32];
    cudaMemcpy(seen, data, sizeof seen, cudaMemcpyDeviceToHost);
    printf("between streams: %d %d\n", seen[0], seen[31]);
    CHECK(cuStreamDestroy(first));
    CHECK(cuStreamDestroy(second));
    CHECK(cuMemFree(flag));
    cudaFree(data);
}

static void with_the_host()
{
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    unsigned *shared;
    CHECK(cuMemHostAlloc((void **)&shared, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(shared, 0, 64);
    CUdeviceptr place;
    CHECK(cuMemHostGetDevicePointer(&place, shared, 0));
    CHECK(cuStreamWaitValue32(stream, place, 3, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuStreamWriteValue64(stream, place + 8, 0x123456789abcdefull, CU_STREAM_WRITE_VALUE_DEFAULT));
    CUresult without = cuStreamWriteValue64(stream, place + 8, 7, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    printf("64 bits without a barrier: %d\n", without == CUDA_ERROR_INVALID_VALUE);
    printf("waits: %d\n", cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    ((volatile unsigned *)shared)[0] = 5;
    CHECK(cuStreamSynchronize(stream));
    printf("of the host: %llx\n", *(unsigned long long *)(shared + 2));
    // The host watches what a stream writes, and makes no call.
    CHECK(cuStreamWriteValue32(stream, place + 16, 11, 0));
    while (((volatile unsigned *)shared)[4] != 11)
        ;
    printf("watched\n");
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFreeHost(shared));
}

// Whether a stream goes on that waits for this, for `before` and for `after`.
static void condition(const char *name, bool wide, unsigned flags, unsigned long long value, unsigned long long before,
                      unsigned long long after)
{
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    unsigned long long *shared;
    CHECK(cuMemHostAlloc((void **)&shared, 8, CU_MEMHOSTALLOC_DEVICEMAP));
    *shared = before;
    CUdeviceptr place = (CUdeviceptr)shared;
    if (wide)
        CHECK(cuStreamWaitValue64(stream, place, value, flags));
    else
        CHECK(cuStreamWaitValue32(stream, place, (unsigned)value, flags));
    bool held = true;
    for (int i = 0; i < 20; i++)
        held = held && cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
    *(volatile unsigned long long *)shared = after;
    CHECK(cuStreamSynchronize(stream));
    printf("%s %d: held %d\n", name, wide ? 64 : 32, held);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFreeHost(shared));
}

static void conditions()
{
    const unsigned GEQ = CU_STREAM_WAIT_VALUE_GEQ, EQ = CU_STREAM_WAIT_VALUE_EQ;
    const unsigned AND = CU_STREAM_WAIT_VALUE_AND, NOR = CU_STREAM_WAIT_VALUE_NOR;
    for (int wide = 0; wide < 2; wide++) {
        unsigned long long ones = wide ? ~0ull : 0xffffffffull, top = wide ? 1ull << 63 : 1ull << 31;
        condition("geq", wide, GEQ, 10, 9, 10);
        // It is the difference that counts, and numbers go round.
        condition("geq round", wide, GEQ, 2, ones - 3, 4);
        condition("geq far", wide, GEQ, ones - 1, ones - 2, 1);
        condition("eq", wide, EQ, ones, 1, ones);
        condition("and", wide, AND, top | 2, 4, top);
        condition("nor", wide, NOR, ones ^ top, top, ones ^ top);
    }
    condition("eq high", true, EQ, 1ull << 40, 1ull << 41, 1ull << 40);
    condition("and high", true, AND, 1ull << 40, 1, 3ull << 40);
}

static void batches()
{
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CUdeviceptr words;
    CHECK(cuMemAlloc(&words, 32));
    CHECK(cuMemsetD8(words, 0, 32));
    CUstreamBatchMemOpParams all[5];
    memset(all, 0, sizeof all);
    all[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    all[0].writeValue.address = words;
    all[0].writeValue.value = 21;
    all[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    all[1].waitValue.address = words;
    all[1].waitValue.value = 20;
    all[1].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    all[2].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    all[2].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS;
    all[3].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    all[3].writeValue.address = words + 8;
    all[3].writeValue.value64 = 1ull << 35;
    all[4].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    all[4].waitValue.address = words + 8;
    all[4].waitValue.value64 = 1ull << 35;
    all[4].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    CHECK(cuStreamBatchMemOp(stream, 5, all, 0));
    CHECK(cuStreamSynchronize(stream));
    unsigned long long seen[4];
    CHECK(cuMemcpyDtoH(seen, words, sizeof seen));
    printf("batch: %llu %llu\n", seen[0], seen[1] >> 32);
    // Nothing of a batch is done of which one is wrong.
    all[0].writeValue.value = 5;
    all[4].waitValue.address = words + 4;
    printf("misaligned: %d\n", cuStreamBatchMemOp(stream, 5, all, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(seen, words, sizeof seen));
    printf("as it was: %llu\n", seen[0]);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(words));
}

static void refusals(CUdevice device)
{
    CUdeviceptr word;
    CHECK(cuMemAlloc(&word, 8));
    int of_host;
    printf("nothing: %d\n", cuStreamBatchMemOp(0, 0, nullptr, 0) == CUDA_SUCCESS);
    printf("of the host: %d\n", cuStreamWriteValue32(0, (CUdeviceptr)&of_host, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    printf("null: %d\n", cuStreamWriteValue32(0, 0, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    printf("address 2: %d\n", cuStreamWriteValue32(0, word + 2, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    printf("address 4 of 8: %d\n", cuStreamWriteValue64(0, word + 4, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    printf("flags: %d\n", cuStreamWaitValue32(0, word, 1, 4) == CUDA_ERROR_INVALID_VALUE);
    int wide = 0, nor = 0;
    CHECK(cuDeviceGetAttribute(&wide, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device));
    CHECK(cuDeviceGetAttribute(&nor, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, device));
    printf("attributes: %d %d\n", wide, nor);
    CHECK(cuMemFree(word));
}

int main()
{
    CUdevice device = begin();
    between_streams();
    with_the_host();
    conditions();
    batches();
    refusals(device);
}
