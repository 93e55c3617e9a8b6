// What the programs of this folder share: the frame that runs and times them, and inputs from a seed.
//
// A program defines PROGRAM, SCALE and INPUT (its name, and what it takes without arguments), includes this file
// and defines `setup`, `reset`, `work` and `checksum`; its `main` is `run_program`. `PROGRAM VARIANT [SCALE [INPUT]]`
// runs it: the variant is naive (a child grid for each vertex, row or curve), flat (a loop in each thread), tuned (by
// hand) or all, SCALE is a power of two, INPUT the kind of a graph: rmat, power, road or uniform. It checks its
// result against one that `setup` computes without the device, and prints a checksum that is every variant's. With
// CDP_TIME set it works several times, the variants in turn, and prints the best and the median in milliseconds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum Variant { NAIVE, FLAT, TUNED, VARIANTS };
static const char *const variant_names[VARIANTS] = {"naive", "flat", "tuned"};

// Makes the input and the result wanted.
static void setup(int scale, const char *input);
// Brings the device's memory back to what it was before the first work.
static void reset(void);
static void work(int variant);
// Compares the device's result with the one wanted by `expect`, and sums it up.
static unsigned long long checksum(void);

static int unexpected;

static void expect(bool condition)
{
    if (!condition)
        unexpected++;
}

struct Random {
    unsigned long long state;
};

static unsigned next_random(struct Random *random)
{
    random->state = random->state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(random->state >> 33);
}

static void *room(size_t bytes)
{
    void *memory = 0;
    cudaMalloc(&memory, bytes);
    return memory;
}

static void *upload(const void *host, size_t bytes)
{
    void *memory = room(bytes);
    cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice);
    return memory;
}

static int *upload_ints(const int *host, size_t count) { return (int *)upload(host, count * sizeof(int)); }
static int *room_for_ints(size_t count) { return (int *)room(count * sizeof(int)); }

// A graph or sparse matrix by rows, on the host, and in the device's memory after `upload_graph`.
struct Graph {
    int n, m;
    int *row;    // n + 1
    int *col;    // m
    int *weight; // m, 1 to 15
    int *device_row, *device_col, *device_weight;
};

static void upload_graph(struct Graph *graph)
{
    graph->device_row = upload_ints(graph->row, graph->n + 1);
    graph->device_col = upload_ints(graph->col, graph->m);
    graph->device_weight = upload_ints(graph->weight, graph->m);
}

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

// Rows of edges from a list of them; weights follow.
static void fill_rows(struct Graph *graph, int n, int m, const int *from, const int *to)
{
    graph->n = n;
    graph->m = m;
    graph->row = (int *)calloc(n + 2, sizeof(int));
    graph->col = (int *)malloc((m + 1) * sizeof(int));
    graph->weight = (int *)malloc((m + 1) * sizeof(int));
    for (int e = 0; e < m; e++)
        graph->row[from[e] + 2]++;
    for (int v = 0; v < n; v++)
        graph->row[v + 2] += graph->row[v + 1];
    for (int e = 0; e < m; e++)
        graph->col[graph->row[from[e] + 1]++] = to[e];
}

static void make_graph(struct Graph *graph, int scale, const char *input)
{
    struct Random random;
    random.state = 12345;
    int n = 1 << scale, side = 1 << (scale / 2), m = 0, most = 0;
    int kind = !strcmp(input, "rmat") ? 0 : !strcmp(input, "power") ? 1 : !strcmp(input, "road") ? 2 : 3;
    int *from = 0, *to = 0;
    for (int v = 0; v < n; v++) {
        int rank = (int)((v * 40503ull + 7) % (unsigned)n);
        int degree = kind == 1 ? power_degree(rank) : kind == 2 ? 2 + (int)(next_random(&random) % 3) : 18;
        degree = degree < n ? degree : n - 1;
        if (m + degree > most) {
            most = 2 * (m + degree) + 1024;
            from = (int *)realloc(from, most * sizeof(int));
            to = (int *)realloc(to, most * sizeof(int));
        }
        for (int i = 0; i < degree; i++, m++) {
            int near = i % 4;
            int other = near == 0 ? v + 1 : near == 1 ? v - 1 : near == 2 ? v + side : v - side;
            from[m] = v;
            to[m] = kind == 2 ? (other + n) % n : (int)(next_random(&random) % (unsigned)n);
            if (kind == 0)
                rmat_edge(&random, scale, &from[m], &to[m]);
        }
    }
    fill_rows(graph, n, m, from, to);
    for (int e = 0; e < m; e++)
        graph->weight[e] = 1 + (int)(next_random(&random) % 15);
    free(from);
    free(to);
}

// The weight of an edge of an undirected graph, in both directions.
static int edge_weight(int a, int b)
{
    unsigned low = a < b ? a : b, high = a < b ? b : a;
    unsigned mixed = (low * 2654435761u) ^ (high * 2246822519u);
    return 1 + (int)((mixed ^ (mixed >> 15)) % 15u);
}

// The same graph with every edge in both directions, once, without loops, rows sorted.
static void make_undirected(struct Graph *graph, int scale, const char *input)
{
    struct Graph directed, sorted;
    make_graph(&directed, scale, input);
    int n = directed.n, m = 2 * directed.m, kept = 0;
    int *from = (int *)malloc(m * sizeof(int)), *to = (int *)malloc(m * sizeof(int));
    for (int v = 0, e = 0; v < n; v++)
        for (int i = directed.row[v]; i < directed.row[v + 1]; i++, e += 2) {
            from[e] = to[e + 1] = v;
            to[e] = from[e + 1] = directed.col[i];
        }
    // By column, then by row: a graph of edges turned round has its rows sorted once it is turned again.
    fill_rows(&sorted, n, m, to, from);
    for (int v = 0, e = 0; v < n; v++)
        for (int i = sorted.row[v]; i < sorted.row[v + 1]; i++, e++) {
            from[e] = sorted.col[i];
            to[e] = v;
        }
    fill_rows(graph, n, m, from, to);
    for (int v = 0, e = 0; v < n; v++) {
        int begin = e, end = graph->row[v + 1];
        e = end;
        graph->row[v] = kept;
        for (int i = begin; i < end; i++)
            if (graph->col[i] != v && (kept == graph->row[v] || graph->col[kept - 1] != graph->col[i])) {
                graph->col[kept] = graph->col[i];
                graph->weight[kept++] = edge_weight(v, graph->col[i]);
            }
    }
    graph->row[n] = graph->m = kept;
    free(from);
    free(to);
}

// Room for so many children that wait to run; without it launches fail past 2,048.
static void room_for_launches(int count) { cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, count + 2048); }

static int at_most(int most, int count) { return count < most ? count : most; }
static int blocks_for(int threads, int block) { return (threads + block - 1) / block; }

// Works of a timed run: at most so many, fewer of a slow variant.
#define REPETITIONS 7
#define ENOUGH_MS 400.0f

struct Times {
    int count;
    float ms[REPETITIONS];
    float sum;
};

static void timed_work(int variant, struct Times *times)
{
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    reset();
    cudaDeviceSynchronize();
    cudaEventRecord(start, 0);
    work(variant);
    cudaEventRecord(end, 0);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, end);
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    int at = times->count++;
    for (; at > 0 && times->ms[at - 1] > ms; at--)
        times->ms[at] = times->ms[at - 1];
    times->ms[at] = ms;
    times->sum += ms;
}

static int judge(int variant, unsigned long long *sum)
{
    cudaError_t error = cudaDeviceSynchronize();
    *sum = error == cudaSuccess ? checksum() : 0;
    if (error != cudaSuccess)
        printf("%s %s: %s\n", PROGRAM, variant_names[variant], cudaGetErrorString(error));
    else if (unexpected)
        printf("%s %s: %d results are wrong\n", PROGRAM, variant_names[variant], unexpected);
    return error != cudaSuccess || unexpected;
}

static int run_program(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "naive";
    int timed = getenv("CDP_TIME") != 0, failed = 0;
    struct Times times[VARIANTS];
    unsigned long long sums[VARIANTS];
    memset(times, 0, sizeof(times));
    setup(argc > 2 ? atoi(argv[2]) : SCALE, argc > 3 ? argv[3] : INPUT);
    for (int repetition = 0; repetition < (timed ? REPETITIONS : 1); repetition++)
        for (int variant = 0; variant < VARIANTS; variant++) {
            if (strcmp(wanted, "all") && strcmp(wanted, variant_names[variant]))
                continue;
            if (repetition >= 3 && times[variant].sum > ENOUGH_MS)
                continue;
            timed_work(variant, &times[variant]);
            if (repetition == 0)
                failed += judge(variant, &sums[variant]);
        }
    for (int variant = 0; variant < VARIANTS && !failed; variant++) {
        struct Times *found = &times[variant];
        if (found->count && timed)
            printf("time %s %s %llu %.4f %.4f\n", PROGRAM, variant_names[variant], sums[variant], found->ms[0],
                   found->ms[found->count / 2]);
        else if (found->count)
            printf("%s %llu\n", PROGRAM, sums[variant]);
    }
    return failed != 0;
}
