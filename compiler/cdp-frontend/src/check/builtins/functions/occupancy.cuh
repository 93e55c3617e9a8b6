// Occupancy helpers that CUDA computes in a header, and so do we, on both sides.

/// The block size that fills a multiprocessor most, and the blocks that fill the device.
[both] cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, kernel func,
    size_t shared_bytes = 0, int block_size_limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(min_grid_size, block_size, func, shared_bytes, block_size_limit, 0u);
}

// Tries block sizes downwards in whole warps, and keeps the first of those that fill a multiprocessor most.
/// The same, with flags.
[both] cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid_size, int* block_size,
    kernel func, size_t shared_bytes = 0, int block_size_limit = 0, unsigned flags = 0) {
    if (!min_grid_size || !block_size || !func) return cudaErrorInvalidValue;
    int device = 0, most_threads = 0, warp_threads = 0, multiprocessors = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&warp_threads, cudaDevAttrWarpSize, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, func);
    if (error != cudaSuccess) return error;
    int limit = attributes.maxThreadsPerBlock, best = 0, best_blocks = 0, best_size = 0;
    if (block_size_limit > 0 && block_size_limit < limit) limit = block_size_limit;
    for (int aligned = (limit + warp_threads - 1) / warp_threads * warp_threads; aligned > 0;
         aligned -= warp_threads) {
        int size = aligned < limit ? aligned : limit, blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, func, size,
                                                                       shared_bytes, flags);
        if (error != cudaSuccess) return error;
        if (blocks * size > best) {
            best = blocks * size;
            best_blocks = blocks;
            best_size = size;
        }
        if (best == most_threads) break;
    }
    *min_grid_size = best_blocks * multiprocessors;
    *block_size = best_size;
    return cudaSuccess;
}
