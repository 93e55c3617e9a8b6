//! Which blocks add up.

use inkwell::context::Context;
use inkwell::values::InstructionOpcode;

use super::child;
use crate::launches::testing::module;

/// Adds up by halves, then adds the sum at `%p`.
const HALVES: &str = "
    e: %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
       %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
       %c = icmp slt i32 %t, %n
       br i1 %c, label %some, label %put
    some: %q = getelementptr i32, ptr %p, i32 %t
       %v = load i32, ptr %q
       br label %put
    put: %own = phi i32 [ %v, %some ], [ 0, %e ]
       %at = getelementptr i32, ptr addrspace(3) @part, i32 %t
       store i32 %own, ptr addrspace(3) %at
       br label %test
    test: %last = phi i32 [ SIZE, %put ], [ %step, %next ]
       %step = lshr i32 %last, 1
       %more = icmp ugt i32 %step, 0
       call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
       br i1 %more, label %turn, label %end
    turn: %low = icmp ult i32 %t, %step
       br i1 %low, label %add, label %next
    add: %other = add i32 %t, %step
       %from = getelementptr i32, ptr addrspace(3) @part, i32 %other
       %x = load i32, ptr addrspace(3) %from
       %y = load i32, ptr addrspace(3) %at
       %z = add i32 %x, %y
       store i32 %z, ptr addrspace(3) %at
       br label %next
    next: br label %test
    end: %first = icmp eq i32 %t, 0
       br i1 %first, label %give, label %out
    give: %sum = load i32, ptr addrspace(3) @part
       %old = atomicrmw add ptr %p, i32 %sum monotonic
       br label %out
    out: ret void";

/// The atomic operations of the child that a kernel with this body is in blocks of a size; none where it is no such child.
fn adds(body: &str, size: u32) -> Option<usize> {
    let context = Context::create();
    let text = format!(
        "@part = addrspace(3) global [256 x i32] undef
        define ptx_kernel void @k(ptr %p, i32 %n) {{\n{}\n}}",
        body.replace("SIZE", &size.to_string())
    );
    let module = module(&context, &text);
    let kernel = module.get_function("k").expect("a kernel");
    let found = child(kernel, [Some(size), Some(1), Some(1)]);
    module.verify().expect("good IR");
    let found = found?;
    // Threads behind the bound have nothing to add.
    assert!(found.guard.is_some() && found.added);
    let all = found.body.get_basic_block_iter().flat_map(|block| block.get_instructions());
    Some(all.filter(|at| at.get_opcode() == InstructionOpcode::AtomicRMW).count())
}

/// The same, with another text in the place of one that is there.
fn instead(of: &str, with: &str, size: u32) -> Option<usize> {
    assert!(HALVES.contains(of), "{of}");
    adds(&HALVES.replace(of, with), size)
}

#[test]
fn each_thread_adds_its_own() {
    for size in [1, 2, 64, 256] {
        // One thread has nobody to add up with.
        assert_eq!(adds(HALVES, size), (size > 1).then_some(1), "{size}");
    }
    let zero = "[ 0, %e ]";
    for (operation, nothing) in [("or", zero), ("xor", zero), ("and", "[ -1, %e ]")] {
        let body = HALVES.replace("add i32 %x", &format!("{operation} i32 %x"));
        let body = body.replace("atomicrmw add", &format!("atomicrmw {operation}"));
        assert_eq!(adds(&body.replace(zero, nothing), 64), Some(1), "{operation}");
    }
    let per_block = "%place = getelementptr i32, ptr %p, i32 %b
       %old = atomicrmw add ptr %place,";
    assert_eq!(instead("%old = atomicrmw add ptr %p,", per_block, 64), Some(1));
}

#[test]
fn other_blocks_are_left() {
    // Not all threads, one twice, or parts that were never put there.
    assert_eq!(adds(HALVES, 48), None);
    assert_eq!(instead("lshr i32 %last, 1", "lshr i32 %last, 2", 64), None);
    assert_eq!(instead("add i32 %x, %y", "add i32 %y, %y", 64), None);
    assert_eq!(instead("icmp ult i32 %t, %step", "icmp ule i32 %t, %step", 64), None);
    // Without barriers.
    let barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
    assert_eq!(instead(barrier, "\n", 64), None);
    // Other operations, mixed ones, and what is no sum.
    assert_eq!(instead("add i32 %x, %y", "mul i32 %x, %y", 64), None);
    assert_eq!(instead("atomicrmw add", "atomicrmw max", 64), None);
    assert_eq!(instead("atomicrmw add ptr %p, i32 %sum", "atomicrmw add ptr %p, i32 1", 64), None);
    // Its result is looked at, it goes to several places, orders others, or is not one operation.
    let looked = "%old = atomicrmw add ptr %p, i32 %sum monotonic\n store i32 %old, ptr %p";
    assert_eq!(instead("%old = atomicrmw add ptr %p, i32 %sum monotonic", looked, 64), None);
    assert_eq!(instead("%first = icmp eq i32 %t, 0", "%first = icmp ult i32 %t, 2", 64), None);
    assert_eq!(instead("i32 %sum monotonic", "i32 %sum acq_rel", 64), None);
    let stored = "store i32 %sum, ptr %p";
    assert_eq!(instead("%old = atomicrmw add ptr %p, i32 %sum monotonic", stored, 64), None);
    let apart = "%place = getelementptr i32, ptr %p, i32 %own
       %old = atomicrmw add ptr %place,";
    assert_eq!(instead("%old = atomicrmw add ptr %p,", apart, 64), None);
    // Threads that do not take part, or do more.
    let leaves = "%big = icmp sgt i32 %v, 9\n br i1 %big, label %out, label %put\n    put:";
    assert_eq!(instead("br label %put\n    put:", leaves, 64), None);
    assert_eq!(instead("next: br", "next: store i32 1, ptr %p\n br", 64), None);
    assert_eq!(instead("next: br", "next: store i32 0, ptr addrspace(3) %at\n br", 64), None);
    assert_eq!(instead("%c = icmp", "store i32 0, ptr addrspace(3) @part\n %c = icmp", 64), None);
}
