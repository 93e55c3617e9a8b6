//! Programs that must be accepted without findings, and whose modules verify.

use super::{accept, function};

#[test]
fn programs() {
    let mut bounded = false;
    for text in include_str!("accepts.cuh").split("// ----\n") {
        let module = accept(text);
        if text.contains("bounded(") {
            let kernel = function(&module, "bounded");
            assert_eq!(kernel.attrs.launch_bounds.max_threads_per_block, 256);
            assert!(kernel.locals[0].param.restrict && kernel.locals[0].param.read_only_pointee);
            bounded = true;
        }
    }
    assert!(bounded);
}

#[test]
fn a_large_file_is_checked_quickly() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for index in 0..1000 {
        let _ = write!(
            text,
            "__device__ int f{index}(int a, float *b) {{
    int total = a * {index} + 3;
    for (int i = 0; i < a; ++i) {{
        b[i] = b[i] * 2.0f + threadIdx.x;
        if (b[i] > 10) total += i;
    }}
    int more[4] = {{1, 2, 3, 4}};
    return total + more[a & 3];
}}

"
        );
    }
    accept(&text);
}
