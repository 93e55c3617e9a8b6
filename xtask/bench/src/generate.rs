//! Programs of a wanted size for the benchmarks: kernels that compute and launch the next one, or parts as
//! an ordinary program has them.

use std::fmt::Write;

/// A program of `kernels` kernels in chains of ten, each with a body of about 20 lines. It is plain CUDA
/// C++, so that every compiler takes the same file.
pub fn program(kernels: usize) -> String {
    let mut text = String::from(
        "// Generated: kernels that compute a little and launch the next one.\n\n\
         struct Range {\n    float *data;\n    int begin;\n    int end;\n    float scale;\n};\n\n",
    );
    for index in (0..kernels).rev() {
        let _ = write!(
            text,
            "__device__ float mix{index}(float x, float y)\n{{\n    float r = x * {}.5f + y;\n    \
             for (int i = 0; i < {}; ++i) {{\n        r = r * 0.75f + (float)i * x;\n        \
             if (r > 100.0f) {{\n            r -= 50.0f;\n        }}\n    }}\n    return r;\n}}\n\n\
             __global__ void stage{index}(Range range, int depth, float bias)\n{{\n    \
             __shared__ float tile[128];\n    int lane = threadIdx.x;\n    \
             int i = range.begin + blockIdx.x * blockDim.x + lane;\n    \
             tile[lane] = i < range.end ? range.data[i] : 0.0f;\n    __syncthreads();\n    \
             float left = tile[(lane + 127) % 128], right = tile[(lane + 1) % 128];\n    \
             if (i < range.end) {{\n        \
             range.data[i] = mix{index}(left, right) * range.scale + bias + {index}.0f;\n    }}\n",
            index % 7 + 1,
            index % 5 + 3,
        );
        if index + 1 < kernels && index % 10 != 9 {
            let _ = write!(
                text,
                "    if (depth > 0 && lane == 0 && blockIdx.x == 0) {{\n        Range half = range;\n        \
                 half.end = range.begin + (range.end - range.begin) / 2;\n        \
                 int blocks = (half.end - half.begin + 127) / 128;\n        \
                 stage{}<<<blocks, 128>>>(half, depth - 1, bias * 0.5f);\n    }}\n",
                index + 1,
            );
        }
        text.push_str("}\n\n");
    }
    text
}

/// The first lines of an ordinary program.
const OPENING: &str = "\
// Generated: parts as an ordinary program has them.

#include <stdio.h>

#define BLOCK 128
#define CEIL_DIV(n, d) (((n) + (d) - 1) / (d))

enum Status { STATUS_OK = 0, STATUS_RANGE = 1, STATUS_DEPTH = 2 };

__device__ int failures;

__device__ inline float clampTo(float value, float low, float high)
{
    return value < low ? low : (value > high ? high : value);
}

";

/// Parts of a program, each with structures, device functions, kernels that launch others, and a host
/// function. `@` stands for the part's number, `$a`, `$b` and `$c` for small numbers made of it.
const PARTS: [&str; 3] = [PARTICLES, GRID, QUEUE];

/// Records, floating-point mathematics, and a kernel that launches itself.
const PARTICLES: &str = "\
// Part @: particles that move for $a steps under a force.

struct Particle@ {
    float3 position;
    float3 velocity;
    float mass;
    int alive;
};

struct World@ {
    struct Particle@ *particles;
    int count;
    float step; // seconds
};

__constant__ float gravity@ = $b.25f;

__device__ float3 force@(const struct Particle@ *particle, float time)
{
    float3 result;
    // Drag grows with the square of the speed.
    float speed = particle->velocity.x * particle->velocity.x
        + particle->velocity.y * particle->velocity.y + particle->velocity.z * particle->velocity.z;
    result.x = -0.$c1f * speed * particle->velocity.x;
    result.y = -0.$c1f * speed * particle->velocity.y - gravity@ * particle->mass;
    result.z = sinf(time * $a.0f) * 0.5f;
    return result;
}

/* Moves one particle; it bounces off the ground. */
__device__ void move@(struct Particle@ *particle, float time, float step)
{
    float3 f = force@(particle, time);
    float scale = step / particle->mass;
    particle->velocity.x += f.x * scale;
    particle->velocity.y += f.y * scale;
    particle->velocity.z += f.z * scale;
    particle->position.x += particle->velocity.x * step;
    particle->position.y += particle->velocity.y * step;
    particle->position.z += particle->velocity.z * step;

    if (particle->position.y < 0.0f) {
        particle->position.y = -particle->position.y;
        particle->velocity.y *= -0.$b5f;
    }
    if (fabsf(particle->velocity.x) > $a00.0f) {
        particle->alive = 0;
    }
}

__global__ void advance@(struct World@ world, float time)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= world.count)
        return;
    struct Particle@ particle = world.particles[i];
    for (int n = 0; n < $a; n++) {
        if (!particle.alive)
            break;
        move@(&particle, time + n * world.step, world.step);
    }
    world.particles[i] = particle;
}

/// Launches one step after another until none are left.
__global__ void simulate@(struct World@ world, float time, int steps)
{
    if (threadIdx.x != 0 || steps <= 0)
        return;
    advance@<<<CEIL_DIV(world.count, BLOCK), BLOCK>>>(world, time);
    simulate@<<<1, 1, 0, cudaStreamTailLaunch>>>(world, time + world.step * $a, steps - 1);
}

int runParticles@(struct Particle@ *particles, int count)
{
    struct World@ world = { particles, count, 0.0$c5f };
    simulate@<<<1, 1>>>(world, 0.0f, $c);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf(\"part @: %s\\n\", cudaGetErrorString(error));
        return 0;
    }
    return 1;
}

";

/// Shared memory, barriers, a stencil that refines where it changes much.
const GRID: &str = "\
// Part @: a stencil over a grid, refined where neighbours differ by more than $b.

#define WIDTH_@ (16 + $a)
#define RADIUS_@ 1

struct Grid@ {
    const float *in;
    float *out;
    int width;
    int height;
    float limit;
};

__device__ int inside@(const struct Grid@ *grid, int x, int y)
{
    return x >= 0 && y >= 0 && x < grid->width && y < grid->height;
}

__device__ float cell@(const struct Grid@ *grid, int x, int y)
{
    // Outside, the border's value goes on.
    x = min(max(x, 0), grid->width - 1);
    y = min(max(y, 0), grid->height - 1);
    return grid->in[y * grid->width + x];
}

__global__ void refine@(struct Grid@ grid, int left, int top, int size)
{
    int x = left + (int)threadIdx.x, y = top + (int)threadIdx.y;
    if (!inside@(&grid, x, y) || (int)threadIdx.x >= size || (int)threadIdx.y >= size)
        return;
    float sum = 0.0f;
    float weight = 0.0f;
    for (int dy = -RADIUS_@; dy <= RADIUS_@; dy++) {
        for (int dx = -RADIUS_@; dx <= RADIUS_@; dx++) {
            float w = 1.0f / (1.0f + dx * dx + $b * dy * dy);
            sum += w * cell@(&grid, x + dx, y + dy);
            weight += w;
        }
    }
    grid.out[y * grid.width + x] = clampTo(sum / weight, -$c.0f, $c.0f);
}

__global__ void smooth@(struct Grid@ grid)
{
    __shared__ float tile[WIDTH_@][WIDTH_@ + 1];
    __shared__ int rough;

    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int first = threadIdx.x == 0 && threadIdx.y == 0;
    if (first)
        rough = 0;
    tile[threadIdx.y][threadIdx.x] = cell@(&grid, x, y);
    __syncthreads();

    float here = tile[threadIdx.y][threadIdx.x];
    if (threadIdx.x > 0) {
        float change = fabsf(here - tile[threadIdx.y][threadIdx.x - 1]);
        if (change > grid.limit) {
            atomicAdd(&rough, 1);
        }
    }
    if (inside@(&grid, x, y)) {
        grid.out[y * grid.width + x] = here * 0.$a5f;
    }
    __syncthreads();

    // One thread of a rough tile launches what looks closer.
    if (first && rough > $b) {
        dim3 threads(8, 8);
        for (int part = 0; part < 4; part++) {
            int left = (int)(blockIdx.x * blockDim.x) + (part & 1) * 8;
            int top = (int)(blockIdx.y * blockDim.y) + (part >> 1) * 8;
            refine@<<<1, threads>>>(grid, left, top, 8);
        }
    }
}

void runGrid@(const float *in, float *out, int width, int height)
{
    struct Grid@ grid;
    grid.in = in;
    grid.out = out;
    grid.width = width;
    grid.height = height;
    grid.limit = $b.5f;
    dim3 threads(16, 16);
    dim3 blocks(CEIL_DIV(width, 16), CEIL_DIV(height, 16));
    smooth@<<<blocks, threads>>>(grid);
}

";

/// Integers, atomics, a switch, bits, and launches in streams.
const QUEUE: &str = "\
// Part @: jobs in a queue, of $a kinds.

enum Kind@ { KIND_@_SUM, KIND_@_HASH, KIND_@_COUNT, KIND_@_SPLIT };

struct Job@ {
    enum Kind@ kind;
    int begin;
    int end;
    unsigned long long result;
};

struct Queue@ {
    struct Job@ *jobs;
    const unsigned *data;
    int *taken;
    int count;
};

__device__ unsigned hash@(unsigned value)
{
    value ^= value >> 1$c;
    value *= 0x7feb35$a$bu;
    value ^= value >> 15;
    value *= 0x846ca6$b$cu;
    return value ^ (value >> 16);
}

__device__ unsigned long long sum@(const unsigned *data, int begin, int end)
{
    unsigned long long total = 0;
    for (int i = begin; i < end; i++)
        total += data[i] & 0xff$a$bu;
    return total;
}

__device__ enum Status work@(const struct Queue@ *queue, struct Job@ *job, int depth)
{
    if (job->begin > job->end || job->begin < 0)
        return STATUS_RANGE;

    switch (job->kind) {
    case KIND_@_SUM:
        job->result = sum@(queue->data, job->begin, job->end);
        break;
    case KIND_@_HASH: {
        unsigned value = $a;
        for (int i = job->begin; i < job->end; i += $b)
            value = hash@(value + queue->data[i]);
        job->result = value;
        break;
    }
    case KIND_@_COUNT:
        for (int i = job->begin; i < job->end; i++) {
            job->result += __popc(queue->data[i]);
        }
        break;
    default:
        return depth > $c ? STATUS_DEPTH : STATUS_OK;
    }
    return STATUS_OK;
}

__global__ void take@(struct Queue@ queue, int depth)
{
    while (true) {
        int index = atomicAdd(queue.taken, 1);
        if (index >= queue.count)
            break;
        struct Job@ *job = &queue.jobs[index];
        if (work@(&queue, job, depth) != STATUS_OK) {
            atomicAdd(&failures, 1);
            continue;
        }
        // A job that is too large is done again in halves, each in a stream of its own.
        if (job->kind == KIND_@_SPLIT && depth < $c) {
            cudaStream_t stream;
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
            struct Queue@ half = queue;
            half.count = queue.count / 2;
            take@<<<$a, 32, 0, stream>>>(half, depth + 1);
            cudaStreamDestroy(stream);
        }
    }
}

int runQueue@(struct Queue@ queue)
{
    int blocks = CEIL_DIV(queue.count, 32);
    if (blocks == 0)
        return STATUS_OK;
    take@<<<blocks, 32>>>(queue, 0);
    return cudaDeviceSynchronize() == cudaSuccess ? STATUS_OK : STATUS_RANGE;
}

";

/// A program of at least `wanted` lines and at most one part more, as an ordinary well-written one has them:
/// about a hundred lines a part, a fifth of them blank lines and comments. The same at every call.
pub fn lines(wanted: usize) -> String {
    let mut text = OPENING.to_owned();
    let mut count = text.lines().count();
    let mut number = 0;
    while count < wanted {
        let part = PARTS[number % PARTS.len()]
            .replace('@', &number.to_string())
            .replace("$a", &(number % 7 + 1).to_string())
            .replace("$b", &(number % 5 + 2).to_string())
            .replace("$c", &(number % 4 + 3).to_string());
        count += part.lines().count();
        text.push_str(&part);
        number += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_as_many_kernels_as_asked_for_and_launches_only_what_is_declared_before() {
        let text = program(25);
        assert_eq!(text.matches("__global__").count(), 25);
        assert_eq!(text.matches("<<<").count(), 22);
        for (at, _) in text.match_indices("<<<") {
            let name = text[..at].rsplit(' ').next().unwrap_or_default();
            let definition = text.find(&format!("void {name}("));
            assert!(definition.is_some_and(|definition| definition < at), "{name}");
        }
    }

    #[test]
    fn has_about_as_many_lines_as_asked_for_and_no_two_parts_alike() {
        for wanted in [1_000, 10_000] {
            let text = lines(wanted);
            let count = text.lines().count();
            assert!((wanted..wanted + 120).contains(&count), "{count}");
            assert!(!text.contains(['@', '$']), "a place that was not filled in");
            assert_eq!(text, lines(wanted));
            let kernels: Vec<&str> = text
                .split("__global__ void ")
                .skip(1)
                .filter_map(|at| at.split('(').next())
                .collect();
            let distinct: std::collections::HashSet<&&str> = kernels.iter().collect();
            assert_eq!(kernels.len(), distinct.len());
            let quiet = text
                .lines()
                .map(str::trim)
                .filter(|line| line.is_empty() || line.starts_with("//"));
            assert!((0.1..0.3).contains(&(quiet.count() as f64 / count as f64)));
        }
    }
}
