//! Lanes that were together before a launch site meet again behind it, before others launch.
//!
//! ptxas has a loop with an atomic operation say `YIELD`, since threads may wait for each other in such loops, and lanes that
//! wait at the end of a branch for one that says it go on without it (`launch-optimiser-measured.md`). Children that
//! lanes run have such loops, where a launch had none. So a lane that has nothing to launch came to its next launch while others were at
//! the one before, and lanes at several launches at once may never come back: one group of them was in the device runtime
//! alone and the grid did not end ([`super::door`]).
//!
//! Legality. Lanes wait for those only that were with them before the branch, and each of these comes: `meet.cpp` looks at
//! the ways between. In a kernel whose threads wait for others in loops a lane could wait for what one does behind the branch.
//!
//! What is absent: launches at a kernel's end ([`super::late`]), for each of which all lanes come together.

use inkwell::values::FunctionValue;

use super::Plan;
use super::waiting::check_waiting;
use crate::raw;
use crate::raw::view::{self, View};

/// Has the lanes of a kernel meet behind its sites, which are launches yet.
pub(super) fn behind_sites<'ctx>(kernel: FunctionValue<'ctx>, plans: &[Plan<'ctx>]) {
    let parts = |plan: &&Plan<'ctx>| {
        (plan.child.is_some() || plan.gather.is_some() || plan.sequence.is_some()) && !plan.late
    };
    let call = |plan: &Plan<'ctx>| View::instruction(raw::instruction(plan.site.call));
    let sites: Vec<_> = plans.iter().filter(parts).map(call).collect();
    if !sites.is_empty() && check_waiting(View::function(kernel)).is_ok() {
        view::make_meet(kernel, &sites);
    }
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;

    use super::super::testing::{launch, module, sites};
    use crate::raw;
    use crate::raw::view::{self, Block, View};

    /// How often lanes are noted, and how often they meet, in each block of a kernel with this body.
    fn meetings(body: &str) -> Vec<[usize; 2]> {
        let context = Context::create();
        let body = body.replace("LAUNCH", &launch("ptr null"));
        let text = format!(
            "define ptx_kernel void @child() {{ ret void }}
             define ptx_kernel void @p(i1 %a, i1 %b) {{
             {body}
             }}"
        );
        let module = module(&context, &text);
        let kernel = module.get_function("p").expect("a kernel");
        let sites = sites(kernel);
        let calls = sites.iter().map(|site| View::instruction(raw::instruction(site.call)));
        view::make_meet(kernel, &calls.collect::<Vec<_>>());
        module.verify().expect("good IR");
        let counts = |block: Block<'_>| {
            ["llvm.nvvm.activemask", "llvm.nvvm.bar.warp.sync"].map(|name| {
                let called = block.instructions().into_iter().filter_map(View::callee);
                called.filter(|called| called.name() == name).count()
            })
        };
        View::function(kernel).blocks().into_iter().map(counts).collect()
    }

    #[test]
    fn behind_a_branch() {
        let two = "e:\nbr i1 %a, label %s, label %m\ns:\nLAUNCH\nbr label %m\nm:\nbr i1 %b, label %t, label %x\nt:\nLAUNCH\nbr label %x\nx:\nret void";
        assert_eq!(meetings(two), [[1, 0], [0, 0], [0, 1], [0, 0], [0, 0]]);
        let errors = two.replacen("x:\n", "x:\n%v = call i32 @cudaGetLastError()\n", 1);
        assert_eq!(meetings(&errors), [[1, 0], [0, 0], [1, 1], [0, 0], [0, 1]]);
        // What is behind the last one calls nothing.
        let one = "e:\nbr i1 %a, label %s, label %x\ns:\nLAUNCH\nbr label %x\nx:\nret void";
        assert_eq!(meetings(one), [[0, 0]; 3]);
    }

    #[test]
    fn behind_inner_and_outer_branches() {
        let inner = "e:\nbr i1 %a, label %o, label %m\no:\nbr i1 %b, label %s, label %n\ns:\nLAUNCH\nbr label %n\nn:\n%c = xor i1 %b, %a\nbr i1 %c, label %t, label %m\nt:\nLAUNCH\nbr label %m\nm:\nLAUNCH\nret void";
        assert_eq!(meetings(inner), [[1, 0], [1, 0], [0, 0], [0, 1], [0, 0], [0, 1]]);
    }

    #[test]
    fn in_one_block_and_in_a_loop() {
        assert_eq!(meetings("e:\nLAUNCH\nLAUNCH\nret void"), [[1, 1]]);
        let turns = "e:\nbr i1 %a, label %l, label %x\nl:\nLAUNCH\nbr i1 %b, label %l, label %x\nx:\nLAUNCH\nret void";
        // Behind the loop, and in each turn behind the site.
        assert_eq!(meetings(turns), [[1, 0], [1, 1], [0, 1]]);
    }

    #[test]
    fn not_where_a_lane_may_not_come() {
        let ends = "e:\nbr i1 %a, label %s, label %m\ns:\nLAUNCH\nbr i1 %b, label %g, label %m\ng:\nret void\nm:\nLAUNCH\nret void";
        let wraps = [[0, 0], [1, 1], [0, 0], [0, 0]];
        assert_eq!(meetings(ends), wraps);
        let exits =
            ends.replacen("g:\nret void", "g:\ncall void @llvm.nvvm.exit()\nbr label %m", 1);
        assert_eq!(meetings(&exits), wraps);
        let calls = ends.replacen(
            "g:\nret void",
            "g:\ncall void @llvm.nvvm.bar.warp.sync(i32 -1)\nbr label %m",
            1,
        );
        assert_eq!(meetings(&calls), [[0, 0], [1, 1], [0, 1], [0, 0]]);
    }
}
