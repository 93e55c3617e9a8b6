//! The optimisation pipeline of device code.
//!
//! ptxas optimises again: it schedules, allocates registers, hoists and removes what is common. What
//! it cannot do is what stands here: inlining across calls that it must keep, memory into registers,
//! loops of known length whose unrolling makes an array's indices constant, and loops of unknown
//! length by four, of which ptxas unrolls only the simplest. LLVM's own pipelines do much more for the
//! sake of CPUs and unroll less; `compiler/docs/device-speed.md` compares 83 kernels on an H200.
//!
//! Host code has LLVM's pipelines where a level was asked for, and a short one else.

use std::ffi::CStr;

/// One round over a function's instructions. LLVM's pipelines do not search for a fixed point either.
const COMBINE: &str = "instcombine<max-iterations=1;no-verify-fixpoint>";

/// Control flow in the form that ends the pipeline: switches may become tables, and what branches
/// have in common goes out of them.
const FINAL_CFG: &str = "simplifycfg<forward-switch-cond;switch-to-lookup;no-keep-loops;\
                         hoist-common-insts;sink-common-insts>";

/// Of host code for which no level was asked: variables in registers, no functions that nobody calls.
pub(crate) const QUICK_HOST: &str =
    "always-inline,globaldce,function(sroa<modify-cfg>,early-cse,simplifycfg)";

/// The most instructions, before any pass, of a function of host code that is optimised: LLVM takes time by the square of a
/// function's length to give it registers. 2,500 `if`s one after another took 3 s, 5,000 more than a minute.
pub(crate) fn most_of_host(quick: bool) -> usize {
    if quick { 10_000 } else { 20_000 }
}

/// What each function has first. Both sides of an `&&` are computed where that takes few instructions: a loop's two conditions
/// are then one branch, and what they share with its body is computed once.
const EARLY: &str =
    "lower-expect,simplifycfg<bonus-inst-threshold=8>,sroa<modify-cfg>,join-ends,keep-ifs";

/// The beginning of [`device`] for functions that have just been lowered, when a module has so many that their instructions should be
/// fewer before there are more: with variables in memory they are twice as many.
pub(crate) fn device_early(stores_apart: bool) -> String {
    format!("{}nvvm-intr-range,{EARLY}", if stores_apart { "stores-apart," } else { "" })
}

/// The pipeline in LLVM's textual form, with the passes of `optimizer.cpp`: `weigh-calls`, `function-facts`, `if-loops`, `rotate-many`, `few-loops`, `unroll-full`,
/// `unroll-part`, `own-parameters`, `split-turns`, `widen-counters`, `widen-indices`, `move-pointers`, `wide-words`, `divide-wide`,
/// `join-conditions`, `keep-ifs` with `drop-marks`, `keep-chains`, `drop-same-stores`, `stores-apart`, `split-tails`,
/// `parts-apart`, `join-ends`, `keep-clamps`, `select-values`, `compare-cases`, `else-in-turn`, `decide-nulls`,
/// `add-lower`, `fold-exact`, `widen-shorts`, `join-halves`, `align-accesses`, `roots-late`, `bound-turns`, `fill-tiles` and `room-for-loops`.
///
/// Each clean-up is here once: with LLVM's habit of repeating `early-cse`, `instcombine` and `sroa` after
/// every step, and of cleaning up after loops in functions that have none, a small module takes a third
/// longer to optimise. What is repeated after unrolling is repeated in functions where a loop was unrolled.
///
/// With `stores_apart` those that stand in different lines stay two, each with its own. Kernels whose time is that of their loops may
/// have so many `registers`, if that is for us to say.
pub(crate) fn device(stores_apart: bool, registers: Option<u32>) -> String {
    // libdevice asks for the kind of arithmetic; without the answer both kinds are compiled.
    let answers = "nvvm-reflect,function(nvvm-intr-range)";
    let apart = if stores_apart { "function(stores-apart)," } else { "" };
    let early = format!("function<eager-inv>({EARLY})");
    // Callees first, so that what is inlined is already small. That a `__restrict__` parameter is
    // only read, which `function-facts` finds out, lets its loads take the read-only path. Counters are widened before
    // `licm` adds what does not change in another order, in which sums may wrap.
    let loops = format!(
        "simplifycfg,few-loops(loop(loop-rotate)),rotate-many,widen-counters,loop-mssa(licm,simple-loop-unswitch),simplifycfg,{COMBINE},\
         loop-simplify,loop(loop-idiom,indvars,loop-deletion)"
    );
    let bottom_up = format!(
        "cgscc(devirt<2>(inline,function<eager-inv>(\
         sroa<modify-cfg>,fold-exact,keep-clamps,{COMBINE},decide-nulls,tailcallelim,if-loops({loops}),\
         if-loops(bound-turns),unroll-full(sroa<modify-cfg>,{COMBINE},fold-exact),\
         gvn,memcpyopt,dse,drop-same-stores,adce,keep-ifs,simplifycfg),function-facts))"
    );
    // Before the last unrolling the induction variables are brought into the form that tells how often
    // a loop turns. What is asked once is asked in front of a loop, and what a loop goes over is a pointer, with which the
    // turns that are left over go on.
    let room = registers.map_or(String::new(), |most| format!(",if-loops(room-for-loops<{most}>)"));
    let last = format!(
        "function<eager-inv>(own-parameters(sroa,early-cse,{COMBINE}),select-values,{FINAL_CFG},\
         if-loops(one-latch,{COMBINE},few-loops(loop-simplify,split-turns(loop-mssa(licm)),widen-indices,move-pointers,fill-tiles),\
         unroll-part(sroa,early-cse,{COMBINE},simplifycfg)),drop-marks,split-tails,compare-cases,else-in-turn,\
         parts-apart,wide-words,divide-wide,join-conditions,join-halves,widen-shorts,add-lower,align-accesses,keep-chains,roots-late{room})"
    );
    // What is never negative, which `ipsccp` finds out, is divided without a sign.
    format!("{apart}{answers},{early},ipsccp,globalopt,weigh-calls,{bottom_up},globaldce,{last}")
}

/// Passes of LLVM's code generation that are left out, by their names on `llc`'s command line.
///
/// The first two lines are optimisations that ptxas makes too: with them, 83 kernels have 17,121 machine
/// instructions of sm_90 and 2,116 registers, without them 17,108 and 2,114. The others do nothing for
/// device code: they are for garbage collectors, stacks that are guarded, libraries that a GPU has not,
/// stack slots of spilled registers and the like. A small module's code generation takes a tenth less
/// time without all of these.
///
/// What stays though ptxas has the like: without loop strength reduction (`loop-reduce`) ptxas unrolls
/// loops that LLVM unrolled already, and on an H200 a matrix product takes 1.3 times as long, an n-body
/// step 1.5 times; without `machine-sink` a Mandelbrot set takes 1.1 times as long, because divisions
/// are made that nobody needs (`compiler/docs/device-speed.md`). Without `machine-cse` ptxas leaves 1.4 %
/// more instructions, without `codegenprepare` 7 %, without `slsr` 2 %, as addresses are computed anew; of shared memory
/// they had better be (codegen.cpp).
#[rustfmt::skip]
pub(crate) const LEFT_OUT: &[&CStr] = &[
    c"nary-reassociate", c"early-cse", c"consthoist", c"early-machinelicm",
    c"block-placement",

    c"callbrprepare", c"canon-freeze", c"early-tailduplication", c"expand-memcmp", c"fentry-insert",
    c"fixup-statepoint-caller-saved", c"gc-analysis", c"gc-lowering", c"localstackalloc",
    c"machine-sanmd", c"machine-scheduler", c"mergeicmps", c"objc-arc-contract", c"opt-phis",
    c"partially-inline-libcalls", c"peephole-opt", c"post-inline-ee-instrument",
    c"replace-with-veclib", c"safe-stack", c"shadow-stack-gc-lowering", c"stack-frame-layout",
    c"stack-protector", c"stack-slot-coloring", c"xray-instrumentation",
];
