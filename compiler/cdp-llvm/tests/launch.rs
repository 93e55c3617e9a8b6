//! Launches: every ABI, both address sizes, order, declarations, and the real tools' judgement.

mod common;

use cdp_ir::*;
use cdp_launch::LaunchAbi;
use common::*;

/// `parent(int *p, S s)` launches `child(int *p, S s, char c, float4 f)` and `child0()`.
fn parent_and_child(pointer_bytes: u64, stream: i128) -> Verified<Module> {
    let mut b = Build::new(Target::Device { cdp: CdpVersion::Cdp2 }, pointer_bytes);
    let (p, c) = (b.i32_ptr, b.i8);
    let three = b.module.types.array_of(b.i32, 3);
    let s = b.record("S", &[b.i8, b.f64, three], 0);
    let f4 = b.record("float4", &[b.f32, b.f32, b.f32, b.f32], 16);
    let index_type = if pointer_bytes == 8 { b.i64 } else { b.i32 };
    let child = b.kernel("child", &[p, s, c, f4], None);
    let base = b.addr(1, s);
    let array = b.field(base, 2, three);
    let elements = b.cast(CastKind::PointerToPointer, array, b.i32_ptr);
    let tid = b.cast(CastKind::IntToInt, b.tid(), index_type);
    let element = b.index(elements, tid);
    let value = b.load(element);
    let target = b.get(0, p);
    let body = vec![b.store(target, value)];
    b.module.functions[child.0 as usize].body = Some(block(body));
    let child0 = b.kernel("child0", &[], Some(vec![]));
    let float = b.module.types.find(&Type::Float(FloatKind::F32)).unwrap();
    let four = (0..4)
        .map(|i| (i, b.e(ExprKind::Const(Const::Float(u64::from((i as f32).to_bits()))), float)));
    let vector = b.e(ExprKind::MakeRecord(four.collect()), f4);
    let args = vec![b.get(0, p), b.get(1, s), b.int(99, c), vector];
    let body = vec![b.launch(child, 2, 32, stream, args), b.launch(child0, 1, 1, 0, vec![])];
    b.kernel("parent", &[p, s], Some(body));
    b.verified()
}

#[test]
fn every_abi_links() {
    let ir = parent_and_child(8, 0);
    for abi in LaunchAbi::ALL {
        for arch in ["sm_75", "sm_90", "sm_120"] {
            let text = ptx(&ir, &options(arch, abi), 64);
            let get = abi.symbol(cdp_launch::EntryPoint::GetParameterBuffer, false);
            let launch = abi.symbol(cdp_launch::EntryPoint::LaunchDevice, false);
            assert!(text.contains(&format!(" {get}\n")) || text.contains(get), "{text}");
            assert!(text.contains(launch));
            // v1 asks for no buffer for the kernel without parameters.
            let calls = text.lines().filter(|line| line.trim().starts_with("call")).count();
            assert_eq!(calls, if abi.is_v2() { 4 } else { 3 }, "{text}");
            if let Some(object) = assemble(&text, arch, 64) {
                link(&[object], arch);
            }
        }
    }
}

#[test]
fn thirty_two_bit_addresses() {
    let ir = parent_and_child(4, 0);
    for abi in LaunchAbi::ALL {
        let mut options = options("sm_60", abi);
        options.ptx_isa = 78;
        let text = ptx(&ir, &options, 32);
        assert!(text.contains(".address_size 32"), "{text}");
        let pointer = format!(
            "\t.param .b32 {}_param_0",
            abi.symbol(cdp_launch::EntryPoint::GetParameterBuffer, false)
        );
        assert!(text.contains(&pointer), "{pointer} in\n{text}");
    }
}

#[test]
fn kernels_of_other_modules_are_extern_entries() {
    let mut b = Build::device();
    let far = b.kernel("far", &[b.i32], None);
    let seven = b.int(7, b.i32);
    let body = vec![b.launch(far, 1, 1, 0, vec![seven])];
    b.kernel("near", &[], Some(body));
    let text = ptx(&b.verified(), &options("sm_90", LaunchAbi::Cdp2V2), 64);
    assert!(text.contains(".extern .entry far"), "{text}");
    let mut b = Build::device();
    b.kernel("far", &[b.i32], Some(vec![]));
    let other = ptx(&b.verified(), &options("sm_90", LaunchAbi::Cdp2V2), 64);
    if let (Some(a), Some(b)) = (assemble(&text, "sm_90", 64), assemble(&other, "sm_90", 64)) {
        link(&[a, b], "sm_90");
    }
}

#[test]
fn arguments_are_evaluated_after_the_null_test() {
    let mut b = Build::device();
    let child = b.kernel("child", &[b.i32], Some(vec![]));
    let counter = b.global("counter", b.i32, AddressSpace::Global, None);
    let ptr = b.i32_ptr;
    let addr = Box::new(b.e(ExprKind::GlobalAddr(counter), ptr));
    let rhs = Box::new(b.int(1, b.i32));
    let (op, yields) = (BinaryOp::Add, UpdateYield::After);
    let update = ExprKind::Update { addr, op, rhs, compute: b.i32, yields, volatile: true };
    let count = b.e(update, b.i32);
    let body = vec![b.launch(child, 1, 1, 0, vec![count])];
    b.kernel("parent", &[], Some(body));
    let text = ptx(&b.verified(), &options("sm_90", LaunchAbi::Cdp2V2), 64);
    let at = |part: &str| text.rfind(part).unwrap_or_else(|| panic!("{part} in\n{text}"));
    assert!(at("__cudaCDP2GetParameterBufferV2,") < at("bra"));
    assert!(at("bra") < at("ld.volatile"));
    assert!(at("st.volatile") < at("__cudaCDP2LaunchDeviceV2,"));
}

#[test]
fn launch_through_a_pointer() {
    let mut b = Build::device();
    let child = b.kernel("child", &[b.i32], Some(vec![]));
    let kernel =
        b.module.types.intern(Type::Function { ret: b.void, params: vec![b.i32], variadic: false });
    let kernel_ptr = b.ptr(kernel);
    let init = Some(Const::FunctionAddr(child));
    b.global("which", kernel_ptr, AddressSpace::Global, init);
    let pointer = b.get(0, kernel_ptr);
    let n = |b: &Build, v: i128| b.int(v, b.u32);
    let dims = |b: &Build| Dim::Xyz(Box::new([n(b, 1), n(b, 1), n(b, 1)]));
    let launch = Launch {
        kernel: Callee::Indirect(Box::new(pointer)),
        params: vec![b.i32],
        grid: dims(&b),
        block: dims(&b),
        shared_bytes: n(&b, 0),
        stream: b.zero(b.void_ptr),
        args: vec![b.int(1, b.i32)],
        hints: cdp_ir::LaunchHints::default(),
    };
    let body = vec![b.effect(ExprKind::Launch(Box::new(launch)))];
    b.kernel("parent", &[kernel_ptr], Some(body));
    let text = ptx(&b.verified(), &options("sm_90", LaunchAbi::Cdp2V2), 64);
    assert!(text.contains("which = child"), "{text}");
}

#[test]
fn too_many_bytes_are_refused() {
    let mut b = Build::device();
    let big = b.module.types.array_of(b.i32, 1025);
    let big = b.record("Big", &[big], 0);
    let child = b.kernel("child", &[big], Some(vec![]));
    let value = b.zero(big);
    let body = vec![b.launch(child, 1, 1, 0, vec![value])];
    b.kernel("parent", &[], Some(body));
    let error = cdp_llvm::lower(&b.verified(), &options("sm_90", LaunchAbi::Cdp2V2)).err().unwrap();
    assert!(
        matches!(&error, cdp_llvm::LowerError::Unsupported { function, message, .. }
        if function == "parent" && message.contains("4100 bytes")),
        "{error}"
    );
}

#[test]
fn sequence_text_assembles() {
    // The call sequence that cdp-launch prints, in a hand-written kernel.
    let sizes = [cdp_launch::ParamSize { size_bytes: 8, align_bytes: 8 }];
    let layout = cdp_launch::buffer_layout(&sizes).unwrap();
    for abi in LaunchAbi::ALL {
        let config = cdp_launch::sequence::SequenceConfig {
            abi,
            address_bits: 64,
            per_thread_stream: false,
            kernel: "%rd1",
            grid: ["1", "%r1", "1"],
            block: ["32", "1", "1"],
            shared_bytes: "0",
            stream: "0",
            id: 0,
        };
        let store =
            cdp_launch::sequence::SequenceStore { offset_bytes: 0, ty: "b64", value: "%rd2" };
        let sequence = cdp_launch::sequence::launch_sequence(&config, &layout, &[store]);
        let declare = |entry| abi.ptx_declaration(entry, 64, false);
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n{}{}\
             .visible .entry child(.param .b64 p) {{ ret; }}\n\
             .visible .entry parent(.param .b64 p) {{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n\
             mov.u64 %rd1, child;\nld.param.u64 %rd2, [p];\nmov.u32 %r1, 1;\n{sequence}ret;\n}}\n",
            declare(cdp_launch::EntryPoint::GetParameterBuffer),
            declare(cdp_launch::EntryPoint::LaunchDevice),
        );
        if let Some(object) = assemble(&text, "sm_90", 64) {
            link(&[object], "sm_90");
        }
    }
}
