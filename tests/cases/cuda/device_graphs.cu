// Graphs launched by kernels of graphs: fire and forget, tail, sibling, a graph that follows itself, copies and
// sets beside kernels, and an executable graph that is changed.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                         \
    do {                                                                                                    \
        cudaError_t code = call;                                                                            \
        if (code != cudaSuccess) {                                                                          \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(code));                                     \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

struct State {
    int rounds, sum, seen_by_tail, seen_by_end, errors, sibling, log[16], at;
};

__global__ void add(int *values, int count, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        atomicAdd(&values[i], by);
    }
}

__global__ void total(State *state, const int *values, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    state->seen_by_tail = sum;
}

// Fires a graph and puts another one into the tail of its own.
__global__ void conduct(State *state, cudaGraphExec_t fired, cudaGraphExec_t last)
{
    state->errors += cudaGraphLaunch(last, cudaStreamGraphTailLaunch) != cudaSuccess;
    state->errors += cudaGraphLaunch(fired, cudaStreamGraphFireAndForget) != cudaSuccess;
}

// Runs again until there were enough rounds.
__global__ void again(State *state, int rounds)
{
    state->log[state->at++] = ++state->rounds;
    if (state->rounds < rounds) {
        state->errors += cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch) != cudaSuccess;
    }
}

__global__ void with_sibling(State *state, cudaGraphExec_t sibling)
{
    state->errors += cudaGraphLaunch(sibling, cudaStreamGraphFireAndForgetAsSibling) != cudaSuccess;
}

__global__ void mark(int *place, int value)
{
    *place = value;
}

cudaGraphExec_t made(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t launchable;
    CHECK(cudaGraphInstantiate(&launchable, graph, cudaGraphInstantiateFlagDeviceLaunch));
    CHECK(cudaGraphUpload(launchable, stream));
    return launchable;
}

// Captures what `work` puts into a stream.
template <typename Work>
cudaGraph_t captured(cudaStream_t stream, Work work)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    work();
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main()
{
    const int count = 256;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    State *state, result;
    int *values, *copy;
    CHECK(cudaMalloc(&state, sizeof *state));
    CHECK(cudaMalloc(&values, count * sizeof *values));
    CHECK(cudaMalloc(&copy, count * sizeof *copy));
    CHECK(cudaMemset(state, 0, sizeof *state));
    CHECK(cudaMemset(values, 0, count * sizeof *values));

    cudaGraphExec_t fired = made(captured(stream, [&] {
        add<<<2, 128, 0, stream>>>(values, count, 1);
        add<<<2, 128, 0, stream>>>(values, count, 10);
    }), stream);
    cudaGraphExec_t last = made(captured(stream, [&] {
        cudaMemcpyAsync(copy, values, count * sizeof *values, cudaMemcpyDeviceToDevice, stream);
        total<<<1, 1, 0, stream>>>(state, copy, count);
    }), stream);
    cudaGraphExec_t conductor =
        made(captured(stream, [&] { conduct<<<1, 1, 0, stream>>>(state, fired, last); }), stream);
    for (int i = 0; i < 3; i++) {
        CHECK(cudaGraphLaunch(conductor, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&result, state, sizeof result, cudaMemcpyDeviceToHost));
        printf("the tail saw %d, %d errors\n", result.seen_by_tail, result.errors);
    }

    // A set, and a kernel after it, each round.
    cudaGraphExec_t loop = made(captured(stream, [&] {
        cudaMemsetAsync(values, 0, count * sizeof *values, stream);
        add<<<2, 128, 0, stream>>>(values, count, 3);
        again<<<1, 1, 0, stream>>>(state, 5);
    }), stream);
    CHECK(cudaGraphLaunch(loop, stream));
    mark<<<1, 1, 0, stream>>>(&state->seen_by_end, 7);
    total<<<1, 1, 0, stream>>>(state, values, count);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&result, state, sizeof result, cudaMemcpyDeviceToHost));
    printf("%d rounds, the last was %d, a sum of %d, %d errors\n", result.at, result.log[result.at - 1],
           result.seen_by_tail, result.errors);

    cudaGraphExec_t sibling =
        made(captured(stream, [&] { mark<<<1, 1, 0, stream>>>(&state->sibling, 21); }), stream);
    cudaGraphExec_t parent =
        made(captured(stream, [&] { with_sibling<<<1, 1, 0, stream>>>(state, sibling); }), stream);
    CHECK(cudaGraphLaunch(parent, stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&result, state, sizeof result, cudaMemcpyDeviceToHost));
    printf("the sibling left %d, %d errors\n", result.sibling, result.errors);

    // The same executable does something else from now on.
    cudaGraph_t other = captured(stream, [&] { mark<<<1, 1, 0, stream>>>(&state->sibling, 22); });
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(sibling, other, &info));
    CHECK(cudaGraphUpload(sibling, stream));
    CHECK(cudaGraphLaunch(parent, stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&result, state, sizeof result, cudaMemcpyDeviceToHost));
    printf("then %d, %d errors\n", result.sibling, result.errors);
    for (cudaGraphExec_t one : {fired, last, conductor, loop, sibling, parent}) {
        CHECK(cudaGraphExecDestroy(one));
    }
}
