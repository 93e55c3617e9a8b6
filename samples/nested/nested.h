// What the programs of this folder share: inputs from a seed, and the clock.
//
// A program runs as `PROGRAM VARIANT [SIZE [INPUT]]`: the variant is naive (a child grid for each row), flat (a
// loop in each thread) or tuned (by hand), SIZE is a power of two, INPUT is rmat, power, road or uniform.
// It prints a checksum, which is the same for every variant, and with CDP_TIME set the milliseconds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Random {
    unsigned long long state;
};

static unsigned next_random(struct Random *random)
{
    random->state = random->state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(random->state >> 33);
}

// A graph or sparse matrix by rows.
struct Graph {
    int n, m;
    int *row;    // n + 1
    int *col;    // m
    int *weight; // m, 1 to 15
};

static void rmat_edge(struct Random *random, int scale, int *from, int *to)
{
    int a = 0, b = 0;
    for (int bit = 0; bit < scale; bit++) {
        unsigned r = next_random(random) % 100;
        a = a * 2 + (r >= 76);
        b = b * 2 + ((r >= 57 && r < 76) || r >= 95);
    }
    *from = a;
    *to = b;
}

// Degrees that fall with the rank of a vertex, which is shuffled.
static int power_degree(int rank) { return 2 + (int)(12000.0 / (rank + 1.0)) + (int)(rank % 97 == 0) * 200; }

static void make_graph(struct Graph *graph, int scale, const char *input)
{
    struct Random random;
    random.state = 12345;
    int n = 1 << scale, side = 1 << (scale / 2);
    int kind = !strcmp(input, "rmat") ? 0 : !strcmp(input, "power") ? 1 : !strcmp(input, "road") ? 2 : 3;
    int m = kind == 0 ? 18 * n : kind == 2 ? 0 : 0;
    int *degree = (int *)calloc(n + 1, sizeof(int));
    int *from = 0, *to = 0;
    if (kind == 0) {
        from = (int *)malloc((size_t)m * sizeof(int));
        to = (int *)malloc((size_t)m * sizeof(int));
        for (int e = 0; e < m; e++) {
            rmat_edge(&random, scale, &from[e], &to[e]);
            degree[from[e]]++;
        }
    } else {
        for (int v = 0; v < n; v++) {
            int rank = (int)((v * 40503ull + 7) % (unsigned)n);
            int d = kind == 1 ? power_degree(rank) : kind == 2 ? 2 + (int)(next_random(&random) % 3) : 18;
            degree[v] = d < n ? d : n - 1;
            m += degree[v];
        }
    }
    cudaMallocManaged(&graph->row, (n + 1) * sizeof(int));
    cudaMallocManaged(&graph->col, (size_t)m * sizeof(int));
    cudaMallocManaged(&graph->weight, (size_t)m * sizeof(int));
    graph->n = n;
    graph->m = m;
    graph->row[0] = 0;
    for (int v = 0; v < n; v++)
        graph->row[v + 1] = graph->row[v] + degree[v];
    if (kind == 0) {
        for (int v = 0; v < n; v++)
            degree[v] = 0;
        for (int e = 0; e < m; e++)
            graph->col[graph->row[from[e]] + degree[from[e]]++] = to[e];
        free(from);
        free(to);
    } else {
        for (int v = 0; v < n; v++)
            for (int e = graph->row[v]; e < graph->row[v + 1]; e++) {
                int near = (e - graph->row[v]) % 4;
                int other = near == 0 ? v + 1 : near == 1 ? v - 1 : near == 2 ? v + side : v - side;
                graph->col[e] = kind == 2 ? (other + n) % n : (int)(next_random(&random) % (unsigned)n);
            }
    }
    for (int e = 0; e < m; e++)
        graph->weight[e] = 1 + (int)(next_random(&random) % 15);
    free(degree);
}

// Room for so many children that wait to run; without it launches fail past 2,048.
static void room_for_launches(int count) { cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, count + 2048); }

static cudaEvent_t clock_start, clock_end;
static float clock_best = 1e30f;

static void clock_begin(void)
{
    if (!clock_start) {
        cudaEventCreate(&clock_start);
        cudaEventCreate(&clock_end);
    }
    cudaDeviceSynchronize();
    cudaEventRecord(clock_start, 0);
}

static void clock_stop(void)
{
    float ms = 0;
    cudaEventRecord(clock_end, 0);
    cudaEventSynchronize(clock_end);
    cudaEventElapsedTime(&ms, clock_start, clock_end);
    if (ms < clock_best)
        clock_best = ms;
}

// The same work several times when it is timed.
static int repetitions(void) { return getenv("CDP_TIME") ? 5 : 1; }

static int report(const char *name, const char *variant, unsigned long long checksum)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s %s: %s\n", name, variant, cudaGetErrorString(error));
        return 1;
    }
    if (getenv("CDP_TIME"))
        printf("%s %s %llu %.4f ms\n", name, variant, checksum, clock_best);
    else
        printf("%s %llu\n", name, checksum);
    return 0;
}
