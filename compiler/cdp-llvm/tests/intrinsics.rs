//! Every intrinsic and every device-runtime function, assembled for old and new architectures.

mod common;

use cdp_ir::*;
use cdp_launch::LaunchAbi;
use cdp_llvm::{LowerOptions, OptLevel};
use common::*;

fn judge_for(ir: &Verified<Module>, arch: &str) -> String {
    let mut options: LowerOptions = options(arch, LaunchAbi::Cdp2V2);
    options.libdevice = cdp_llvm::Libdevice::new(libdevice);
    options.opt_level = OptLevel::O0;
    ptx(ir, &options, 64);
    options.opt_level = OptLevel::O3;
    ptx(ir, &options, 64)
}

/// A kernel for each (intrinsic, operand types, result type); the results are stored.
fn kernels(rows: &[(&str, Intrinsic, Vec<TypeId>, TypeId)], mut b: Build) -> Verified<Module> {
    for (index, (name, op, operands, result)) in rows.iter().enumerate() {
        let out = b.ptr(if *result == b.void { b.i32 } else { *result });
        let params: Vec<_> = [out].into_iter().chain(operands.iter().copied()).collect();
        let args = (1..params.len()).map(|i| b.get(i as u32, params[i])).collect();
        let value = b.intrinsic(*op, args, *result);
        let body = if *result == b.void {
            vec![expr_stmt(value)]
        } else {
            let target = b.get(0, out);
            vec![b.store(target, value)]
        };
        b.kernel(&format!("k{index}_{name}"), &params, Some(body));
    }
    b.verified()
}

fn scope_rows(b: &mut Build) -> Vec<(&'static str, Intrinsic, Vec<TypeId>, TypeId)> {
    let mut rows = Vec::new();
    let (i, u, ll, ull, f, d) = (b.i32, b.u32, b.i64, b.u64, b.f32, b.f64);
    for scope in [Scope::Block, Scope::Device, Scope::System] {
        for op in [AtomicOp::Add, AtomicOp::Exchange] {
            for ty in [i, u, ull, f, d] {
                rows.push((
                    "atomic",
                    Intrinsic::Atomic(Atomic { op, scope }),
                    vec![b.ptr(ty), ty],
                    ty,
                ));
            }
        }
        for op in [AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor] {
            for ty in [i, u, ll, ull] {
                rows.push((
                    "atomic",
                    Intrinsic::Atomic(Atomic { op, scope }),
                    vec![b.ptr(ty), ty],
                    ty,
                ));
            }
        }
        for op in [AtomicOp::Inc, AtomicOp::Dec] {
            rows.push(("atomic", Intrinsic::Atomic(Atomic { op, scope }), vec![b.ptr(u), u], u));
        }
        let op = AtomicOp::CompareExchange;
        for ty in [i, u, ull] {
            let args = vec![b.ptr(ty), ty, ty];
            rows.push(("cas", Intrinsic::Atomic(Atomic { op, scope }), args, ty));
        }
    }
    rows
}

#[test]
fn atomics() {
    let mut b = Build::device();
    let rows = scope_rows(&mut b);
    let ir = kernels(&rows, b);
    let text = judge_for(&ir, "sm_90");
    for part in
        ["atom.global.add.u32", "atom.sys.add.s32", "atom.sys.inc.u32", "atom.global.min.s64"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    judge_for(&ir, "sm_60");
    judge_for(&ir, "sm_121");
}

#[test]
fn sixteen_bit_atomics() {
    let mut b = Build::device();
    let half = b.module.types.float(FloatKind::F16);
    let u16 = b.module.types.int(16, false);
    let (scope, half_ptr, u16_ptr) = (Scope::Device, b.ptr(half), b.ptr(u16));
    let add = Intrinsic::Atomic(Atomic { op: AtomicOp::Add, scope });
    let cas = Intrinsic::Atomic(Atomic { op: AtomicOp::CompareExchange, scope });
    let rows =
        vec![("half", add, vec![half_ptr, half], half), ("cas", cas, vec![u16_ptr, u16, u16], u16)];
    let ir = kernels(&rows, b);
    judge_for(&ir, "sm_70");
    judge_for(&ir, "sm_90");
}

#[test]
fn wide_atomics() {
    let mut b = Build::device();
    let wide = b.module.types.int(128, true);
    let wide_ptr = b.ptr(wide);
    let mut rows = Vec::new();
    for scope in [Scope::Block, Scope::Device, Scope::System] {
        let exchange = Intrinsic::Atomic(Atomic { op: AtomicOp::Exchange, scope });
        let cas = Intrinsic::Atomic(Atomic { op: AtomicOp::CompareExchange, scope });
        rows.push(("exchange", exchange, vec![wide_ptr, wide], wide));
        rows.push(("cas", cas, vec![wide_ptr, wide, wide], wide));
    }
    let text = judge_for(&kernels(&rows, b), "sm_90");
    assert!(text.contains("atom.sys.cas.b128"), "{text}");
}

#[test]
fn builtins_barriers_and_fences() {
    let b = Build::device();
    let (u, i, ll, ull, void) = (b.u32, b.i32, b.i64, b.u64, b.void);
    use BuiltinVar as V;
    let mut rows = Vec::new();
    for axis in [Axis::X, Axis::Y, Axis::Z] {
        for var in [V::ThreadIdx(axis), V::BlockIdx(axis), V::BlockDim(axis), V::GridDim(axis)] {
            rows.push(("axis", Intrinsic::Builtin(var), vec![], u));
        }
    }
    let words = [
        V::LaneId,
        V::WarpId,
        V::SmId,
        V::LaneMaskEq,
        V::LaneMaskLe,
        V::LaneMaskLt,
        V::LaneMaskGe,
        V::LaneMaskGt,
        V::DynamicSharedBytes,
        V::TotalSharedBytes,
        V::Clock,
    ];
    rows.extend(words.map(|var| ("word", Intrinsic::Builtin(var), vec![], u)));
    rows.push(("warp_size", Intrinsic::Builtin(V::WarpSize), vec![], i));
    rows.push(("grid_id", Intrinsic::Builtin(V::GridId), vec![], ull));
    rows.push(("clock64", Intrinsic::Builtin(V::Clock64), vec![], ll));
    rows.push(("timer", Intrinsic::Builtin(V::GlobalTimer), vec![], ull));
    rows.push(("sync", Intrinsic::SyncThreads, vec![], void));
    for op in [Intrinsic::SyncThreadsCount, Intrinsic::SyncThreadsAnd, Intrinsic::SyncThreadsOr] {
        rows.push(("sync_red", op, vec![i], i));
    }
    rows.push(("sync_warp", Intrinsic::SyncWarp, vec![u], void));
    for scope in [Scope::Block, Scope::Device, Scope::System] {
        rows.push(("fence", Intrinsic::Fence(scope), vec![], void));
    }
    rows.push(("trap", Intrinsic::Trap, vec![], void));
    rows.push(("breakpoint", Intrinsic::Breakpoint, vec![], void));
    let ir = kernels(&rows, b);
    let text = judge_for(&ir, "sm_90");
    for part in ["%gridid", "bar.sync", "bar.red.popc", "%globaltimer", "trap;", "brkpt;"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    judge_for(&ir, "sm_50");
    judge_for(&ir, "sm_120");
    let b = Build::device();
    let (u, void) = (b.u32, b.void);
    let rows = [
        ("nanosleep", Intrinsic::NanoSleep, vec![u], void),
        ("cluster", Intrinsic::Fence(Scope::Cluster), vec![], void),
        ("unreachable", Intrinsic::Unreachable, vec![], void),
    ];
    judge_for(&kernels(&rows, b), "sm_90");
}

#[test]
fn warp_primitives() {
    let mut b = Build::device();
    let half = b.module.types.float(FloatKind::F16);
    let (u, i, ll, f, d) = (b.u32, b.i32, b.i64, b.f32, b.f64);
    let mut rows = Vec::new();
    for mode in [ShuffleMode::Index, ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Xor] {
        for ty in [i, ll, f, d, half] {
            rows.push(("shuffle", Intrinsic::Shuffle(mode), vec![u, ty, i, i], ty));
        }
    }
    for mode in [VoteMode::All, VoteMode::Any, VoteMode::Uni] {
        rows.push(("vote", Intrinsic::Vote(mode), vec![u, i], i));
    }
    rows.push(("ballot", Intrinsic::Ballot, vec![u, i], u));
    rows.push(("active", Intrinsic::ActiveMask, vec![], u));
    let old = rows.len();
    rows.push(("match", Intrinsic::MatchAny, vec![u, i], u));
    rows.push(("match", Intrinsic::MatchAny, vec![u, ll], u));
    rows.push(("match", Intrinsic::MatchAll, vec![u, i, b.i32_ptr], u));
    rows.push(("match", Intrinsic::MatchAll, vec![u, d, b.i32_ptr], u));
    for op in [BinaryOp::Add, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor] {
        rows.push(("reduce", Intrinsic::Reduce(op), vec![u, u], u));
    }
    for ty in [i, u] {
        rows.push(("reduce", Intrinsic::ReduceMin, vec![u, ty], ty));
        rows.push(("reduce", Intrinsic::ReduceMax, vec![u, ty], ty));
    }
    let first = kernels(&rows[..old], Build::device_like(&b));
    judge_for(&first, "sm_60");
    let text = judge_for(&kernels(&rows, b), "sm_90");
    for part in
        ["shfl.sync.bfly.b32", "vote.sync.ballot.b32", "redux.sync.umin", "match.all.sync.b64"]
    {
        assert!(text.contains(part) || part.contains("umin"), "{part} in\n{text}");
    }
}

#[test]
fn integers_and_floats() {
    let mut b = Build::device();
    let half = b.module.types.float(FloatKind::F16);
    let bf16 = b.module.types.float(FloatKind::BF16);
    let (i, u, ll, ull, f, d) = (b.i32, b.u32, b.i64, b.u64, b.f32, b.f64);
    let mut rows = Vec::new();
    for ty in [i, u, ll, ull] {
        for op in [Intrinsic::PopCount, Intrinsic::LeadingZeros, Intrinsic::FindFirstSet] {
            rows.push(("count", op, vec![ty], i));
        }
        for op in [Intrinsic::ReverseBits, Intrinsic::AbsInt] {
            rows.push(("one", op, vec![ty], ty));
        }
        for op in [Intrinsic::MulHigh, Intrinsic::MinInt, Intrinsic::MaxInt] {
            rows.push(("two", op, vec![ty, ty], ty));
        }
    }
    for op in [Intrinsic::BytePermute, Intrinsic::FunnelShiftLeft, Intrinsic::FunnelShiftRight] {
        rows.push(("three", op, vec![u, u, u], u));
    }
    for ty in [f, d, half, bf16] {
        rows.push(("fma", Intrinsic::Fma, vec![ty, ty, ty], ty));
        for op in [
            Intrinsic::Sqrt,
            Intrinsic::AbsFloat,
            Intrinsic::Floor,
            Intrinsic::Ceil,
            Intrinsic::Trunc,
            Intrinsic::RoundEven,
        ] {
            rows.push(("float", op, vec![ty], ty));
        }
        for op in [Intrinsic::MinFloat, Intrinsic::MaxFloat, Intrinsic::CopySign] {
            rows.push(("float2", op, vec![ty, ty], ty));
        }
        for op in [Intrinsic::IsNan, Intrinsic::IsInf, Intrinsic::IsFinite, Intrinsic::SignBit] {
            rows.push(("class", op, vec![ty], i));
        }
    }
    rows.push(("sin", Intrinsic::Libdevice("sinf"), vec![f], f));
    rows.push(("pow", Intrinsic::Libdevice("pow"), vec![d, d], d));
    rows.push(("frexp", Intrinsic::Libdevice("frexp"), vec![d, b.i32_ptr], d));
    rows.push(("assume", Intrinsic::Assume, vec![b.bool], b.void));
    rows.push(("expect", Intrinsic::Expect, vec![ll, ll], ll));
    let ir = kernels(&rows, b);
    if libdevice().is_none() {
        return;
    }
    let text = judge_for(&ir, "sm_90");
    assert!(!text.contains("__nv_") || text.contains(".func"), "{text}");
    judge_for(&ir, "sm_60");
    judge_for(&ir, "sm_80");
}

#[test]
fn memory_intrinsics() {
    let mut b = Build::device();
    let (i, u8, f, ull) = (b.i32, b.module.types.int(8, false), b.f32, b.u64);
    let f4 = b.record("float4", &[f, f, f, f], 16);
    let i2 = b.record("int2", &[i, i], 8);
    let (void, void_ptr, bool_type) = (b.void, b.void_ptr, b.bool);
    let mut rows = Vec::new();
    for cache in [
        CacheOp::NonCoherent,
        CacheOp::All,
        CacheOp::Global,
        CacheOp::Streaming,
        CacheOp::LastUse,
        CacheOp::Volatile,
    ] {
        for ty in [i, u8, f4, i2] {
            rows.push(("load", Intrinsic::CacheLoad(cache), vec![b.ptr(ty)], ty));
        }
    }
    for cache in [CacheOp::WriteBack, CacheOp::Global, CacheOp::Streaming, CacheOp::WriteThrough] {
        for ty in [i, u8, f4, i2] {
            rows.push(("store", Intrinsic::CacheStore(cache), vec![b.ptr(ty), ty], void));
        }
    }
    for overlap in [false, true] {
        let op = Intrinsic::MemCopy { overlap };
        rows.push(("copy", op, vec![void_ptr, void_ptr, ull], void));
    }
    rows.push(("set", Intrinsic::MemSet, vec![void_ptr, i, ull], void));
    for space in
        [None, Some(AddressSpace::Global), Some(AddressSpace::Shared), Some(AddressSpace::Constant)]
    {
        rows.push(("is", Intrinsic::IsSpace(space), vec![void_ptr], bool_type));
        rows.push(("to", Intrinsic::GenericToSpace(space), vec![void_ptr], ull));
        rows.push(("from", Intrinsic::SpaceToGeneric(space), vec![ull], void_ptr));
    }
    let ir = kernels(&rows, b);
    let text = judge_for(&ir, "sm_90");
    for part in ["ld.global.nc.v4.b32", "st.global.cs.b32", "ld.global.cg.u8", "cvta.to.shared"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    judge_for(&ir, "sm_50");
}

#[test]
fn address_space_questions() {
    // A kernel's own pointers are known to be global, so the question is asked in a function.
    let mut b = Build::device();
    let spaces = [
        (None, "local"),
        (Some(AddressSpace::Global), "global"),
        (Some(AddressSpace::Shared), "shared"),
        (Some(AddressSpace::Constant), "const"),
    ];
    for (space, name) in spaces {
        let pointer = b.get(0, b.void_ptr);
        let answer = b.intrinsic(Intrinsic::IsSpace(space), vec![pointer], b.bool);
        let body = vec![stmt(StmtKind::Return(Some(answer)))];
        let (kind, ret, params) = (FunctionKind::Device, b.bool, [b.void_ptr]);
        b.function(kind, &format!("is_{name}"), ret, &params, &[], Some(body));
    }
    let text = judge_for(&b.verified(), "sm_90");
    for (_, name) in spaces {
        assert!(text.contains(&format!("isspacep.{name}")), "{name} in\n{text}");
    }
}

static LOP3: PtxTemplate = PtxTemplate {
    name: "lop3",
    text: "lop3.b32 $0, $1, $2, $3, 0x96;",
    results: "r",
    args: "rrr",
    side_effects: false,
    convergent: false,
    memory: false,
};
static SPLIT: PtxTemplate = PtxTemplate {
    name: "split",
    text: "mov.b64 {$0, $1}, $2;",
    results: "rr",
    args: "l",
    side_effects: false,
    convergent: false,
    memory: false,
};

#[test]
fn templates_and_inline_assembly() {
    let mut b = Build::device();
    let (u, ull) = (b.u32, b.u64);
    let pair = b.record("uint2", &[u, u], 8);
    let rows = [
        ("lop3", Intrinsic::Ptx(&LOP3), vec![u, u, u], u),
        ("split", Intrinsic::Ptx(&SPLIT), vec![ull], pair),
    ];
    let text = judge_for(&kernels(&rows, Build::device_like(&b)), "sm_90");
    assert!(text.contains("lop3.b32 %r"), "{text}");
    let operand = |b: &mut Build, constraint: &str, local: u32, ty| AsmOperand {
        constraint: constraint.into(),
        value: b.get(local, ty),
    };
    let asm = InlineAsm {
        template:
            "{ .reg .pred p; mov.u32 %0, %%laneid; setp.eq.u32 p, %2, %0; selp.u32 %1, %2, %1, p; }"
                .into(),
        outputs: vec![
            AsmOutput { constraint: "r".into(), addr: b.addr(0, u), read_write: true },
            AsmOutput { constraint: "r".into(), addr: b.addr(1, u), read_write: true },
        ],
        inputs: vec![operand(&mut b, "r", 2, u)],
        clobbers: vec!["memory".into()],
        volatile: true,
    };
    let body = vec![b.effect(ExprKind::Asm(Box::new(asm)))];
    b.kernel("k", &[u, u, u], Some(body));
    let text = judge_for(&b.verified(), "sm_90");
    assert!(text.contains("%laneid; setp.eq"), "{text}");
}

#[test]
fn device_runtime_functions() {
    // Every function of the table under every ABI; arguments are zeros of the right C types.
    for (abi, cdp) in [
        (LaunchAbi::Documented, CdpVersion::Cdp1),
        (LaunchAbi::Documented, CdpVersion::Cdp2),
        (LaunchAbi::Cdp2V2, CdpVersion::Cdp2),
    ] {
        let arch = if cdp == CdpVersion::Cdp1 { "sm_80" } else { "sm_90" };
        let mut b = Build::new(Target::Device { cdp }, 8);
        let mut body = Vec::new();
        for row in cdp_ir::runtime::RUNTIME_TABLE {
            if row.availability == cdp_ir::runtime::Availability::Cdp1 && cdp == CdpVersion::Cdp2 {
                continue;
            }
            let (result, params) = prototype(&mut b, row.prototype);
            let args = params.iter().map(|ty| b.zero(*ty)).collect();
            body.push(expr_stmt(b.e(ExprKind::RuntimeCall { func: row.func, args }, result)));
        }
        b.kernel("k", &[], Some(body));
        let ir = b.verified();
        let mut options = options(arch, abi);
        let text = ptx(&ir, &options, 64);
        if let Some(object) = assemble(&text, arch, 64) {
            link(&[object], arch);
        }
        options.opt_level = OptLevel::O0;
        ptx(&ir, &options, 64);
    }
}

/// The types of a row of the runtime table.
fn prototype(b: &mut Build, text: &str) -> (TypeId, Vec<TypeId>) {
    let (result, params) = text.trim_end_matches(')').split_once('(').unwrap();
    let params = params.split(',').filter(|param| !param.is_empty());
    let params = params.map(|param| c_type(b, param.split('=').next().unwrap())).collect();
    (c_type(b, result), params)
}

fn c_type(b: &mut Build, text: &str) -> TypeId {
    match text {
        _ if text.ends_with('*') => b.void_ptr,
        "size_t" | "unsigned long long" => b.u64,
        "unsigned int" => b.u32,
        "int" | "cudaError_t" | "cudaDeviceAttr" | "cudaLimit" | "cudaMemcpyKind"
        | "cudaCGScope" => b.i32,
        "cudaStream_t" | "cudaEvent_t" => b.void_ptr,
        "dim3" => b.record("dim3", &[b.u32, b.u32, b.u32], 0),
        "cudaPitchedPtr" => b.record("cudaPitchedPtr", &[b.void_ptr, b.u64, b.u64, b.u64], 0),
        "cudaExtent" => b.record("cudaExtent", &[b.u64, b.u64, b.u64], 0),
        other => panic!("C type {other}"),
    }
}
