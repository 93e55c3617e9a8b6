// Managed memory: the host writes before launches and reads after it has waited; children write it too.
struct List { int value; List *next; };
__managed__ int total;
__global__ void child(List *l) { atomicAdd(&total, l->value); l->value = 0; }
__global__ void k(List *l) { for (; l; l = l->next) child<<<1, 1>>>(l); }
int main()
{
    List *l;
    cudaMallocManaged(&l, 8 * sizeof(List));
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            l[i] = {i, i < 7 ? l + i + 1 : nullptr};
        k<<<1, 1>>>(l);
        if (cudaDeviceSynchronize())
            return 1;
        sum += total + l[3].value;
    }
    return sum != 28 + 56 + 84;
}
