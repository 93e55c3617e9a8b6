//! What device code must look like for the sake of its speed, part four: what other work waits for. Reads of what nobody writes. Each is a
//! shape that was measured on a GPU (`compiler/docs/device-speed.md`).

use libtest_mimic::Trial;

use crate::code_shapes::{expect, ptx};
use crate::support::{Outcome, trial};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn() -> Outcome); 1] = [
        ("what_nobody_writes_is_read_so_everywhere", reads),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("code_waits::{name}"), test)).collect()
}

/// A parameter that is read by `__ldg` and plainly, words and vectors.
fn reads() -> Outcome {
    for kind in ["float", "float4", "uchar4", "double2", "unsigned char", "long long"] {
        let parameters = format!("const {kind} *__restrict__ p, {kind} *__restrict__ q, int n");
        let text = ptx(
            &parameters,
            "    int i = threadIdx.x;\n    q[i] = __ldg(p + i);\n    q[i + n] = p[i + n];",
        )?;
        expect(&text, &[("ld.global", 2), ("ld.global.nc", 2), ("inline asm", 0)])?;
    }
    Ok(())
}
