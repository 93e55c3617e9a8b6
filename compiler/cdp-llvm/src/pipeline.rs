//! The optimisation pipeline of device code.
//!
//! ptxas optimises again: it schedules, allocates registers, unrolls, hoists and removes what is
//! common. What it cannot do is what stands here: inlining across calls that it must keep, memory
//! into registers, and the loops of known length whose unrolling makes an array's indices constant.
//! LLVM's own pipelines do much more for the sake of CPUs; on the samples and run cases of this
//! repository they need 1.8 times as long as this one for code that is no better (38,560 against
//! 37,768 machine instructions of sm_90, 2,597 against 2,599 registers).
//!
//! What is not here: the host's pipeline, which is LLVM's.

use std::ffi::CStr;

/// One round over a function's instructions. LLVM's pipelines do not search for a fixed point either.
const COMBINE: &str = "instcombine<max-iterations=1;no-verify-fixpoint>";

/// Control flow in the form that ends the pipeline: switches may become tables, and what branches
/// have in common goes out of them.
const FINAL_CFG: &str = "simplifycfg<forward-switch-cond;switch-to-lookup;no-keep-loops;\
                         hoist-common-insts;sink-common-insts>";

/// The pipeline in LLVM's textual form; `unrolling` is the level of loop unrolling, `O2` or `O3`.
pub(crate) fn device(unrolling: &str) -> String {
    // libdevice asks for the kind of arithmetic; without the answer both kinds are compiled.
    let answers = "nvvm-reflect,function(nvvm-intr-range)";
    let early = "function<eager-inv>(lower-expect,simplifycfg,sroa<modify-cfg>,early-cse)";
    // Callees first, so that what is inlined is already small. That a `__restrict__` parameter is
    // only read, which `function-attrs` finds out, lets its loads take the read-only path.
    let loops = "loop-mssa(loop-rotate,licm,simple-loop-unswitch),simplifycfg,\
                 loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)";
    let bottom_up = format!(
        "cgscc(devirt<2>(inline,function<eager-inv>(\
         sroa<modify-cfg>,early-cse<memssa>,{COMBINE},tailcallelim,simplifycfg,{loops},\
         sroa<modify-cfg>,gvn,{COMBINE},memcpyopt,dse,adce,simplifycfg),function-attrs))"
    );
    let last = format!(
        "function<eager-inv>({COMBINE},{FINAL_CFG},{COMBINE},loop-unroll<{unrolling}>,sroa,\
         early-cse,simplifycfg)"
    );
    format!("{answers},{early},globalopt,{bottom_up},globaldce,{last}")
}

/// Optimisations that LLVM's code generation begins with and that are left out, by their names on
/// `llc`'s command line. Without them the samples and 60 run cases give as many machine instructions of
/// sm_90 (57,006) and fewer registers (4,033 against 4,039), and their loops run as fast on an H200;
/// code generation takes a seventh less time, on large kernels more.
///
/// Loop strength reduction (`loop-reduce`) is as expensive and stays: without it ptxas unrolls loops
/// that LLVM unrolled already, and on an H200 a matrix product then takes 1.3 times as long, an n-body
/// step 1.5 times (`compiler/docs/device-speed.md`).
pub(crate) const LEFT_TO_PTXAS: &[&CStr] =
    &[c"slsr", c"nary-reassociate", c"early-cse", c"speculative-execution"];
