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
fn show() {
    let ir = parent_and_child(8, 3);
    let options = options("sm_90", LaunchAbi::Cdp2V2);
    let module = lowered(&ir, &options);
    println!("{}", module.emit_llvm_ir());
    println!("{}", module.emit_ptx().unwrap());
}
