// How large clusters may be and how many run at once.
#include <cstdio>
#include <cooperative_groups.h>

__global__ void anyhow(int *out)
{
    auto cluster = cooperative_groups::this_cluster();
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = cluster.num_blocks();
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out) { out[blockIdx.x] = 1; }

int main()
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster[1];
    config.gridDim = 16;
    config.blockDim = 64;
    config.attrs = cluster;
    config.numAttrs = 1;
    cluster[0].id = cudaLaunchAttributeClusterDimension;
    cluster[0].val.clusterDim.x = 4;
    cluster[0].val.clusterDim.y = cluster[0].val.clusterDim.z = 1;
    int four = 0, eight = 0, most = 0;
    printf("%d ", cudaOccupancyMaxActiveClusters(&four, anyhow, &config));
    cluster[0].val.clusterDim.x = 8;
    printf("%d ", cudaOccupancyMaxActiveClusters(&eight, anyhow, &config));
    printf("%d\n", four > eight && eight > 0);
    printf("%d ", cudaOccupancyMaxPotentialClusterSize(&most, anyhow, &config));
    printf("%d\n", most);
    cudaFuncSetAttribute(reinterpret_cast<const void *>(anyhow), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    printf("%d ", cudaOccupancyMaxPotentialClusterSize(&most, anyhow, &config));
    printf("%d\n", most);
    config.numAttrs = 0;
    printf("%d ", cudaOccupancyMaxPotentialClusterSize(&most, pairs, &config));
    printf("%d\n", most);
}
