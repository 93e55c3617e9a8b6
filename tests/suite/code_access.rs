//! What device code must look like for the sake of its speed, part three: parts of vectors, arrays of library functions, questions for
//! ranges, values that two conditions choose, copies to tiles. Each is a shape that was measured on a GPU
//! (`compiler/docs/device-speed.md`); loops over arrays and tiles themselves are `code_shapes.rs`.

use libtest_mimic::Trial;

use crate::code_shapes::{expect, ptx};
use crate::support::{Outcome, trial};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn() -> Outcome); 1] = [
        ("arrays_for_large_angles_stay_in_memory", angles),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("code_access::{name}"), test)).collect()
}

/// ptxas would make registers of 28 bytes, which are chosen by comparisons.
fn angles() -> Outcome {
    expect(&ptx("float *o", "    *o = sinf(*o);")?, &[("__local_depot0[256]", 1)])
}
