//! What unit tests of the passes share: modules of text, and the launches in them.

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{CallSiteValue, FunctionValue, InstructionOpcode};

use super::parent::LaunchSite;
use crate::foreign::{LAUNCH, parse_own};
use crate::raw::view::View;

const INTRINSICS: &str = "\
declare i32 @cdp.launch(...)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() memory(none)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare i32 @cudaGetLastError()
declare void @unknown()
@one = addrspace(1) global i32 0
";

/// The body of a parent that waits for what another thread writes before it launches.
pub(super) const WAITS: &str = "e: br label %l
     l: %v = load volatile i32, ptr %p
     %c = icmp eq i32 %v, 0
     br i1 %c, label %l, label %x
     x: LAUNCH\n ret void";

/// A module of these functions.
pub(super) fn module<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
    let text = format!("target triple = \"nvptx64-nvidia-cuda\"\n{INTRINSICS}{text}");
    let module = parse_own(context, "test", text.as_bytes()).expect("IR");
    module.verify().expect("good IR");
    module
}

/// The launches of a kernel, in the order of its code.
pub(super) fn sites<'ctx>(kernel: FunctionValue<'ctx>) -> Vec<LaunchSite<'ctx>> {
    let calls = kernel.get_basic_block_iter().flat_map(|block| block.get_instructions());
    let launches = calls.filter(|instruction| {
        instruction.get_opcode() == InstructionOpcode::Call
            && View::instruction(*instruction).callee().is_some_and(|f| f.name() == LAUNCH)
    });
    launches.map(|call| LaunchSite::new(CallSiteValue::try_from(call).expect("a call"))).collect()
}

/// A launch of `@child` into a stream.
pub(super) fn launch(stream: &str) -> String {
    format!(
        "call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, {stream})"
    )
}
