// Macros that a build defines by short and common names hit nothing of what is read before the program.
// flags: -DA=3 -DB=4 -DF=1 -DP=2 -DR=5 -DV=6 -DW=7 -DBLOCK=64 -Dblocks=2 -Dgrid=g -Dblock=b -Dbits=8 -Dhalf=0.5f -Dorder=9 -Dplace=10 -Dtext=12 -Dold=11 -Dcall=c

#include <cstdio>

__global__ void add(int *sum)
{
    atomicAdd(sum, A + B + F + P + R + V + W + text);
    atomicMax(sum + 1, bits + order + place + old + (int)(half * 4));
}

int main()
{
    int *sum, g = blocks, b = BLOCK, c[2];
    cudaMalloc(&sum, sizeof c);
    cudaMemset(sum, 0, sizeof c);
    add<<<grid, block>>>(sum);
    cudaMemcpy(call, sum, sizeof c, cudaMemcpyDeviceToHost);
    printf("%d %d\n", call[0], call[1]);
}
