// What NVIDIA's samples read, write and compare through helper_image.h: pictures of one, three and four channels, numbers as
// text and as bytes, and the helpers that look for a device by the driver's calls.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include <cuda.h>
#include <cuda_runtime.h>
#include <helper_cuda_drvapi.h>
#include <helper_functions.h>

__global__ void invert(unsigned char *bytes, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        bytes[i] = 255 - bytes[i];
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/sample_files_XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        return 1;
    }
    printf("integrated or not: %d\n", checkCudaCapabilitiesDRV(99, 0, gpuGetMaxGflopsDeviceIdDRV()));

    const unsigned width = 13, height = 7;
    unsigned char *picture;
    cudaMallocManaged(&picture, width * height * 4);
    for (unsigned i = 0; i < width * height * 4; i++) {
        picture[i] = i % 4 == 3 ? 255 : static_cast<unsigned char>(i * 5);
    }
    invert<<<4, 128>>>(picture, width * height * 4);
    cudaDeviceSynchronize();
    printf("saved: %d", sdkSavePPM4ub("a.ppm", picture, width, height));
    unsigned char *four = NULL, *three = NULL, *again = NULL;
    unsigned w = 0, h = 0;
    printf(" %d", sdkLoadPPM4("a.ppm", &four, &w, &h));
    printf(" %d", sdkLoadPPMub("a.ppm", &three, &w, &h));
    int wrong = 0;
    for (unsigned i = 0; i < width * height * 4; i++) {
        wrong += four[i] != picture[i] || (i % 4 < 3 && three[i / 4 * 3 + i % 4] != picture[i]);
    }
    printf(" %u by %u, wrong: %d\n", w, h, wrong);
    picture[0] ^= 64;
    sdkSavePPM4ub("b.ppm", picture, width, height);
    printf("alike: %d %d %d\n", sdkComparePPM("a.ppm", "a.ppm", 0, 0, false),
           sdkComparePPM("a.ppm", "b.ppm", 0, 0, false), sdkComparePPM("a.ppm", "b.ppm", 0, 0.1f, false));

    float values[40];
    for (int i = 0; i < 40; i++) {
        values[i] = i * 0.25f;
    }
    unsigned count = 0;
    float *numbers = NULL;
    printf("text: %d", sdkWriteFile<float>("values.txt", values, 40, 0.5f, false));
    printf(" %d, ", sdkReadFile("values.txt", &numbers, &count, false));
    printf("%u numbers, %d\n", count, compareData(values, numbers, 40, 1e-3f, 0.0f));
    sdkDumpBin(values, sizeof values, "a.bin");
    values[39] += 1;
    sdkDumpBin(values, sizeof values, "b.bin");
    char here[] = "./program";
    printf("bytes: %d\n", sdkCompareBin2BinFloat("a.bin", "a.bin", 40, 0.01f, 0.0f, here));
    printf("bytes: %d\n", sdkCompareBin2BinFloat("a.bin", "b.bin", 40, 0.01f, 0.0f, here));
    printf("as floats: %d\n", compareDataAsFloatThreshold(values, numbers, 40, 0.0f, 0.5f));
    float *blocks[2] = {};
    const bool read = sdkReadFileBlocks("b.bin", blocks, &count, 1, 80, false);
    printf("block: %d, %u, %.2f\n", read, count, blocks[1][19]);

    for (const char *file : {"a.ppm", "b.ppm", "values.txt", "a.bin", "b.bin"}) {
        unlink(file);
    }
    return chdir("/") != 0 || rmdir(folder) != 0;
}
