//! Statements, expressions, variables and intrinsics, each through ptxas.

mod common;

use cdp_ir::*;
use cdp_launch::LaunchAbi;
use common::*;

fn judge(ir: &Verified<Module>) -> String {
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.libdevice = cdp_llvm::Libdevice::new(libdevice);
    for level in [cdp_llvm::OptLevel::O0, cdp_llvm::OptLevel::O1, cdp_llvm::OptLevel::O3] {
        options.opt_level = level;
        ptx(ir, &options, 64);
    }
    ptx(ir, &options, 64)
}

/// A kernel `k(T *out, ...)` whose body stores `value(b)` to `*out`.
fn store_of(b: &mut Build, ty: TypeId, params: &[TypeId], value: impl FnOnce(&mut Build) -> Expr) {
    let out = b.ptr(ty);
    let value = value(b);
    let target = b.get(0, out);
    let body = vec![b.store(target, value)];
    let params: Vec<_> = [out].into_iter().chain(params.iter().copied()).collect();
    b.kernel("k", &params, Some(body));
}

#[test]
fn loops_switches_and_unrolling() {
    let mut b = Build::device();
    let (i32, out) = (b.i32, b.i32_ptr);
    // for (i = 0; i < n; i++) { switch (i) { case 1: case 2: s += 1; default: s += 2; break; case 7: continue; } }
    let label = |n| stmt(StmtKind::Label(LabelId(n)));
    let add = |b: &mut Build, local: u32, n: i128| {
        let addr = Box::new(b.addr(local, i32));
        let rhs = Box::new(b.int(n, i32));
        let (op, yields) = (BinaryOp::Add, UpdateYield::After);
        let kind = ExprKind::Update { addr, op, rhs, compute: i32, yields, volatile: false };
        b.e(kind, i32)
    };
    let value = b.get(2, i32);
    let inner = vec![
        label(0),
        expr_stmt(add(&mut b, 3, 1)),
        label(1),
        expr_stmt(add(&mut b, 3, 2)),
        stmt(StmtKind::Break),
        label(2),
        stmt(StmtKind::Continue),
    ];
    let case = |value, label| SwitchLabel { value, label: LabelId(label) };
    let switch = stmt(StmtKind::Switch {
        value: value.into(),
        cases: vec![case(1, 0), case(2, 0), case(7, 2)],
        default: Some(LabelId(1)),
        body: block(inner),
    });
    let (i, n) = (b.get(2, i32), b.get(1, i32));
    let cond = Some(b.compare(CompareOp::Lt, i, n).into());
    let step = Some(add(&mut b, 2, 1).into());
    let for_loop = stmt(StmtKind::Loop {
        cond,
        body: block(vec![switch]),
        step,
        test_first: true,
        unroll: Some(Unroll::Count(1)),
    });
    let (s, zero) = (b.get(3, i32), b.int(100, i32));
    let again = b.compare(CompareOp::Lt, s, zero);
    let do_loop = stmt(StmtKind::Loop {
        cond: Some(again.into()),
        body: block(vec![expr_stmt(add(&mut b, 3, 5))]),
        step: None,
        test_first: false,
        unroll: None,
    });
    let init = |b: &mut Build, local| {
        let (addr, zero) = (b.addr(local, i32), b.int(0, i32));
        b.store(addr, zero)
    };
    let (target, result) = (b.get(0, out), b.get(3, i32));
    let body = vec![
        init(&mut b, 2),
        init(&mut b, 3),
        for_loop,
        do_loop,
        b.store(target, result),
        stmt(StmtKind::Return(None)),
    ];
    b.function(FunctionKind::Kernel, "k", b.void, &[out, i32], &[i32, i32], Some(body));
    judge(&b.verified());
}

#[test]
fn variables_in_every_space() {
    let mut b = Build::device();
    let (i32, f32) = (b.i32, b.f32);
    let array = b.module.types.array_of(i32, 100);
    let unsized_array = b.module.types.array_of(f32, 0);
    let table = Const::Array(vec![Const::Int(1), Const::Int(-2)]);
    let g = b.global("counter", i32, AddressSpace::Global, Some(Const::Int(7)));
    let c = b.global("table", array, AddressSpace::Constant, Some(table));
    let s = b.global("tile", array, AddressSpace::Shared, None);
    let d = b.global("dynamic", unsized_array, AddressSpace::Shared, None);
    b.module.globals[d.0 as usize].defined = false;
    b.module.globals[d.0 as usize].align = 16;
    let pointer = Const::GlobalAddr { global: g, offset: 4 };
    let i32_ptr = b.i32_ptr;
    b.global("pointer", i32_ptr, AddressSpace::Global, Some(pointer));
    let pair = b.record("Pair", &[b.i8, i32_ptr], 0);
    let both =
        Const::Record(vec![(0, Const::Int(3)), (1, Const::GlobalAddr { global: c, offset: 8 })]);
    b.global("pair", pair, AddressSpace::Global, Some(both));
    store_of(&mut b, i32, &[], |b| {
        let element = |b: &mut Build, global, ty| {
            let ptr = b.ptr(ty);
            let base = b.e(ExprKind::GlobalAddr(global), ptr);
            let first = b.cast(CastKind::PointerToPointer, base, i32_ptr);
            let index = b.cast(CastKind::IntToInt, b.tid(), b.i64);
            let at = b.index(first, index);
            b.load(at)
        };
        let x = element(b, c, array);
        let y = element(b, s, array);
        let z = element(b, g, i32);
        let w = element(b, d, unsized_array);
        let sum = b.binary(BinaryOp::Add, x, y);
        let more = b.binary(BinaryOp::Add, z, w);
        b.binary(BinaryOp::Add, sum, more)
    });
    let text = judge(&b.verified());
    for part in [
        ".visible .global .align 4 .u32 counter = 7",
        ".visible .const .align 4 .b8 table[400]",
        ".shared .align 4 .b8 tile[400]",
        ".extern .shared .align 16 .b8 dynamic[]",
        "generic(counter)+4",
        "ld.const",
        "ld.shared",
        "ld.global",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn bit_fields_and_unions() {
    let mut b = Build::device();
    let t = &mut b.module.types;
    let (i, u, c) = (t.int(32, true), t.int(32, false), t.int(8, true));
    let id = t.declare_record("B", RecordKind::Struct);
    let spec =
        |name: &str, ty, bits| FieldSpec { name: name.into(), ty, align: 0, bits, packed: false };
    let fields =
        [spec("a", i, Some(5)), spec("b", u, Some(20)), spec("c", c, None), spec("d", i, Some(9))];
    t.complete_record(id, &fields, cdp_ir::Packing::default());
    let bits = t.record_type(id);
    let union = t.declare_record("U", RecordKind::Union);
    let f = t.float(FloatKind::F64);
    t.complete_record(union, &[spec("i", i, None), spec("f", f, None)], cdp_ir::Packing::default());
    let union = t.record_type(union);
    let init = Const::Record(vec![
        (0, Const::Int(-3)),
        (1, Const::Int(70000)),
        (2, Const::Int(9)),
        (3, Const::Int(-1)),
    ]);
    b.global("packed", bits, AddressSpace::Global, Some(init));
    let half = Const::Record(vec![(1, Const::Float(1.5f64.to_bits()))]);
    b.global("either", union, AddressSpace::Global, Some(half));
    let ptr = b.ptr(bits);
    let out = b.i32_ptr;
    let base = b.get(1, ptr);
    let write = ExprKind::StoreBits {
        base: Box::new(base.clone()),
        field: 0,
        value: Box::new(b.int(21, i)),
        volatile: false,
    };
    let written = b.e(write, i);
    let read = ExprKind::LoadBits { base: Box::new(base), field: 3, volatile: false };
    let read = b.e(read, i);
    let sum = b.binary(BinaryOp::Add, written, read);
    let target = b.get(0, out);
    let body = vec![b.store(target, sum)];
    b.kernel("k", &[out, ptr], Some(body));
    let text = judge(&b.verified());
    // a = -3 (29), b = 70000 << 5, c = 9 in byte 4 (bits 0 to 24 are a and b; byte 3 holds c or b's end)
    let word: u32 = 29 | 70000 << 5;
    let bytes = word.to_le_bytes();
    assert!(text.contains(&format!("{}, {}, {}", bytes[0], bytes[1], bytes[2])), "{text}");
}

#[test]
fn float_options_choose_instructions() {
    let make = |math: FastMath| {
        let mut b = Build::device();
        b.module.fast_math = math;
        let f32 = b.f32;
        store_of(&mut b, f32, &[f32, f32], |b| {
            let (x, y, z) = (b.get(1, f32), b.get(2, f32), b.get(2, f32));
            let product = b.binary(BinaryOp::Mul, x.clone(), y);
            let sum = b.binary(BinaryOp::Add, product, z.clone());
            let root = b.intrinsic(Intrinsic::Sqrt, vec![sum], f32);
            b.binary(BinaryOp::Div, root, x)
        });
        judge(&b.verified())
    };
    let exact = make(FastMath::default());
    for part in ["fma.rn.f32", "sqrt.rn.f32", "div.rn.f32"] {
        assert!(exact.contains(part), "{part} in\n{exact}");
    }
    let math =
        FastMath { fmad: false, ftz: true, prec_div: false, prec_sqrt: false, ..exact_math() };
    let fast = make(math);
    for part in ["mul.rn.ftz.f32", "add.rn.ftz.f32", "sqrt.approx.ftz.f32", "div.full.ftz.f32"] {
        assert!(fast.contains(part), "{part} in\n{fast}");
    }
}

fn exact_math() -> FastMath {
    FastMath::default()
}

#[test]
fn conversions_saturate() {
    let mut b = Build::device();
    let (f64, u8) = (b.f64, b.module.types.int(8, false));
    store_of(&mut b, u8, &[f64], |b| {
        let x = b.get(1, f64);
        b.cast(CastKind::FloatToInt, x, u8)
    });
    assert!(judge(&b.verified()).contains("cvt.rzi.u32.f64"));
}

#[test]
fn device_functions_pass_records_by_value() {
    let mut b = Build::device();
    let three = b.module.types.array_of(b.i32, 3);
    let s = b.record("S", &[b.i8, b.f64, three], 0);
    let f4 = b.record("float4", &[b.f32, b.f32, b.f32, b.f32], 16);
    let (v, w) = (b.get(0, s), b.get(0, f4));
    let body = |value| Some(vec![stmt(StmtKind::Return(Some(value)))]);
    let g = b.function(FunctionKind::Device, "g", s, &[s, b.i32], &[], body(v));
    let h = b.function(FunctionKind::Device, "h", f4, &[f4, b.bool, b.i8], &[], body(w));
    for id in [g, h] {
        b.module.functions[id.0 as usize].attrs.inline = Inline::Never;
    }
    store_of(&mut b, s, &[s], |b| {
        let x = b.get(1, s);
        b.call(g, vec![x, b.int(3, b.i32)])
    });
    let text = judge(&b.verified());
    for part in [
        ".visible .func  (.param .align 8 .b8 func_retval0[32]) g(",
        ".param .align 8 .b8 g_param_0[32]",
        ".visible .func  (.param .align 16 .b8 func_retval0[16]) h(",
        ".param .b32 h_param_2",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn printf_packs_its_arguments() {
    let mut b = Build::device();
    let text = b.module.types.array_of(b.i8, 9);
    let format =
        b.global("$str", text, AddressSpace::Global, Some(Const::Bytes(b"%d %f %c\n".to_vec())));
    b.module.globals[format.0 as usize].linkage = Linkage::Internal;
    b.module.globals[format.0 as usize].constant = true;
    let (array_ptr, char_ptr) = (b.ptr(text), b.ptr(b.i8));
    let (i32, f64) = (b.i32, b.f64);
    let base = b.e(ExprKind::GlobalAddr(format), array_ptr);
    let base = b.cast(CastKind::PointerToPointer, base, char_ptr);
    let args = vec![base, b.get(0, i32), b.get(1, f64), b.get(0, i32)];
    let call = b.e(ExprKind::Printf { args }, i32);
    b.kernel("k", &[i32, f64], Some(vec![expr_stmt(call)]));
    let text = judge(&b.verified());
    assert!(text.contains("vprintf"), "{text}");
    assert!(text.contains("__local_depot0[24]"), "{text}");
}

#[test]
fn static_and_managed_things_stay() {
    let mut b = Build::device();
    let i32 = b.i32;
    let kernel = b.kernel("hidden", &[], Some(vec![]));
    b.module.functions[kernel.0 as usize].linkage = Linkage::Internal;
    let weak = b.kernel("template", &[], Some(vec![]));
    b.module.functions[weak.0 as usize].linkage = Linkage::LinkOnce;
    let counter = b.global("counter", i32, AddressSpace::Global, None);
    b.module.globals[counter.0 as usize].linkage = Linkage::Internal;
    let shared = b.global("m", i32, AddressSpace::Global, Some(Const::Int(3)));
    b.module.globals[shared.0 as usize].managed = true;
    let text = judge(&b.verified());
    for part in [
        "\n.entry hidden()",
        ".weak .entry template()",
        "\n.global .align 4 .u32 counter;",
        ".visible .global .attribute(.managed) .align 4 .u32 m = 3;",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn wide_integers_work() {
    for op in [BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem, BinaryOp::Shl] {
        for signed in [true, false] {
            let mut b = Build::device();
            let wide = b.module.types.int(128, signed);
            store_of(&mut b, wide, &[wide, wide], |b| {
                let (x, y) = (b.get(1, wide), b.get(2, wide));
                b.binary(op, x, y)
            });
            judge(&b.verified());
        }
    }
}

#[test]
fn wide_integers_convert_to_and_from_floats() {
    for signed in [true, false] {
        let mut b = Build::device();
        let wide = b.module.types.int(128, signed);
        for (name, float) in [("f", b.f32), ("d", b.f64)] {
            let (out, source) = (b.ptr(wide), b.get(1, float));
            let value = b.cast(CastKind::FloatToInt, source, wide);
            let target = b.get(0, out);
            let body = vec![b.store(target, value)];
            b.kernel(&format!("to_{name}"), &[out, float], Some(body));
            let (out, source) = (b.ptr(float), b.get(1, wide));
            let value = b.cast(CastKind::IntToFloat, source, float);
            let target = b.get(0, out);
            let body = vec![b.store(target, value)];
            b.kernel(&format!("from_{name}"), &[out, wide], Some(body));
        }
        judge(&b.verified());
    }
}

#[test]
fn restricted_pointers_read_through_the_texture_path() {
    let mut b = Build::device();
    let i32 = b.i32;
    let ptr = b.i32_ptr;
    store_of(&mut b, i32, &[ptr], |b| {
        let from = b.get(1, ptr);
        b.load(from)
    });
    for param in [0, 1] {
        b.module.functions[0].locals[param].param.restrict = true;
    }
    assert!(judge(&b.verified()).contains("ld.global.nc.b32"));
}

#[test]
fn calls_through_pointers() {
    let mut b = Build::device();
    let i32 = b.i32;
    let value = b.get(0, i32);
    let body = vec![stmt(StmtKind::Return(Some(value)))];
    let f = b.function(FunctionKind::Device, "f", i32, &[i32], &[], Some(body));
    let ty = Type::Function { ret: i32, params: vec![i32], variadic: false };
    let ty = b.module.types.intern(ty);
    let ptr = b.ptr(ty);
    let table = b.module.types.array_of(ptr, 2);
    let entries = Const::Array(vec![Const::FunctionAddr(f), Const::FunctionAddr(f)]);
    let table = b.global("table", table, AddressSpace::Constant, Some(entries));
    let table_ptr = b.ptr(b.module.global(table).ty);
    let ptr_ptr = b.ptr(ptr);
    store_of(&mut b, i32, &[i32], |b| {
        let base = b.e(ExprKind::GlobalAddr(table), table_ptr);
        let first = b.cast(CastKind::PointerToPointer, base, ptr_ptr);
        let index = b.get(1, i32);
        let index = b.cast(CastKind::IntToInt, index, b.i64);
        let at = b.index(first, index);
        let callee = Callee::Indirect(Box::new(b.load(at)));
        let args = vec![b.int(5, i32)];
        b.e(ExprKind::Call { callee, args }, i32)
    });
    assert!(judge(&b.verified()).contains(".callprototype"));
}

#[test]
fn packed_fields_are_read_byte_by_byte() {
    let mut b = Build::device();
    let (c, d) = (b.i8, b.f64);
    let t = &mut b.module.types;
    let id = t.declare_record("P", RecordKind::Struct);
    let spec =
        |name: &str, ty| FieldSpec { name: name.into(), ty, align: 0, bits: None, packed: false };
    t.complete_record(
        id,
        &[spec("c", c), spec("d", d)],
        cdp_ir::Packing { packed: true, ..Default::default() },
    );
    let packed = t.record_type(id);
    let ptr = b.ptr(packed);
    b.global("p", packed, AddressSpace::Global, Some(Const::Record(vec![(0, Const::Int(1))])));
    store_of(&mut b, d, &[ptr], |b| {
        let base = b.get(1, ptr);
        let field = b.field(base, 1, d);
        b.load(field)
    });
    let text = judge(&b.verified());
    assert!(text.contains("ld.global.b8") && !text.contains("ld.global.b64"), "{text}");
}

#[test]
fn output_is_reproducible_on_every_thread() {
    let make = || {
        let mut b = Build::device();
        let f32 = b.f32;
        store_of(&mut b, f32, &[f32], |b| {
            let x = b.get(1, f32);
            b.intrinsic(Intrinsic::Fma, vec![x.clone(), x.clone(), x], f32)
        });
        let options = options("sm_90", LaunchAbi::Cdp2V2);
        lowered(&b.verified(), &options).emit_ptx().unwrap()
    };
    let first = make();
    let threads: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(move || (0..5).map(|_| make()).collect::<Vec<_>>()))
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap().iter().all(|text| *text == first));
    }
}

#[test]
fn small_floats_compare_with_flushed_denormals() {
    for kind in [FloatKind::F16, FloatKind::BF16] {
        for op in [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt] {
            let mut b = Build::device();
            b.module.fast_math.ftz = true;
            let float = b.module.types.float(kind);
            let bool_type = b.bool;
            store_of(&mut b, bool_type, &[float, float], |b| {
                let (x, y) = (b.get(1, float), b.get(2, float));
                let test = b.compare(op, x.clone(), y);
                let nan = b.intrinsic(Intrinsic::IsNan, vec![x.clone()], b.bool);
                let truth = b.cast(CastKind::ToBool, x, b.bool);
                let both = b.binary(BinaryOp::Xor, test, nan);
                b.binary(BinaryOp::Xor, both, truth)
            });
            judge(&b.verified());
        }
    }
}
