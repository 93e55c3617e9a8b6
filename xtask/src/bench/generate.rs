//! Programs of a wanted size for the benchmarks: kernels that compute and launch the next one.

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
}
