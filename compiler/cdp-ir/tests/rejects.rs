//! What the verifier refuses: one module that is right, and for each promise a change that breaks it. A
//! message of the verifier that no change here produces fails the last test.

use cdp_ir::*;

/// The types that the cases use.
#[derive(Clone, Copy)]
struct Types {
    void: TypeId,
    bool: TypeId,
    i32: TypeId,
    u32: TypeId,
    i64: TypeId,
    f32: TypeId,
    p_i32: TypeId,
    p_f32: TypeId,
    array: TypeId,
    bytes: TypeId,
    record: TypeId,
    p_record: TypeId,
    function: TypeId,
    p_function: TypeId,
    incomplete: TypeId,
}

const HELPER: FuncId = FuncId(0);
const KERNEL: FuncId = FuncId(1);
const TESTED: usize = 2;

fn types(table: &mut TypeTable) -> Types {
    let i32 = table.int(32, true);
    let record = table.declare_record("S", RecordKind::Struct);
    let field =
        |name: &str, bits| FieldSpec { name: name.into(), ty: i32, align: 0, bits, packed: false };
    table.complete_record(
        record,
        &[field("a", None), field("b", Some(3))],
        cdp_ir::Packing::default(),
    );
    let open = table.declare_record("Open", RecordKind::Struct);
    let (record, incomplete) = (table.record_type(record), table.record_type(open));
    let char = table.int(8, true);
    let f32 = table.float(FloatKind::F32);
    let function = Type::Function { ret: i32, params: vec![i32], variadic: false };
    let function = table.intern(function);
    Types {
        void: table.void(),
        bool: table.bool(),
        i32,
        u32: table.int(32, false),
        i64: table.int(64, true),
        f32,
        p_i32: table.pointer_to(i32),
        p_f32: table.pointer_to(f32),
        array: table.array_of(i32, 4),
        bytes: table.array_of(char, 4),
        record,
        p_record: table.pointer_to(record),
        function,
        p_function: table.pointer_to(function),
        incomplete,
    }
}

fn function(name: &str, kind: FunctionKind, ret: TypeId, param: TypeId) -> Function {
    let local = Local {
        name: "x".into(),
        ty: param,
        align: 4,
        param: ParamAttrs::default(),
        loc: Loc::default(),
    };
    Function {
        name: name.into(),
        symbol: name.into(),
        kind,
        linkage: Linkage::External,
        ret,
        param_count: 1,
        variadic: false,
        locals: vec![local],
        attrs: FnAttrs::default(),
        body: None,
        loc: Loc::default(),
        end: Loc::default(),
    }
}

/// A device module with a helper, a kernel, a function under test that does nothing, and a variable.
fn module() -> (Module, Types) {
    let mut module = Module::new("m", Target::Device { cdp: CdpVersion::Cdp2 }, 8);
    let t = types(&mut module.types);
    module.add_function(function("helper", FunctionKind::Device, t.i32, t.i32));
    module.add_function(function("kernel", FunctionKind::Kernel, t.void, t.i32));
    let mut tested = function("tested", FunctionKind::Device, t.void, t.i32);
    tested.body = Some(Block::default());
    module.add_function(tested);
    module.add_global(Global {
        name: "g".into(),
        symbol: "g".into(),
        ty: t.array,
        space: AddressSpace::Global,
        align: 4,
        linkage: Linkage::External,
        defined: true,
        init: None,
        managed: false,
        constant: false,
        device_shadow: false,
        function: None,
        loc: Loc::default(),
    });
    (module, t)
}

fn e(kind: ExprKind, ty: TypeId) -> Expr {
    Expr::new(kind, ty, Loc::default())
}

/// A zero of any type.
fn z(ty: TypeId) -> Expr {
    e(ExprKind::Const(Const::Zero), ty)
}

fn bz(ty: TypeId) -> Box<Expr> {
    Box::new(z(ty))
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, loc: Loc::default() }
}

fn launch(t: Types) -> Launch {
    let ones = || Dim::Xyz(Box::new([z(t.u32), z(t.u32), z(t.u32)]));
    Launch {
        kernel: Callee::Direct(KERNEL),
        params: vec![t.i32],
        grid: ones(),
        block: ones(),
        shared_bytes: z(t.u32),
        stream: z(t.p_i32),
        args: vec![z(t.i32)],
        hints: Default::default(),
    }
}

type Break = fn(&mut Module, Types);
type Wrong = fn(Types) -> Expr;

/// What the verifier says of a module; nothing for a right one.
fn said(change: impl FnOnce(&mut Module, Types)) -> Vec<String> {
    let (mut module, t) = module();
    change(&mut module, t);
    verify(module).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn of_expression(wrong: Wrong) -> Vec<String> {
    said(|module, t| set_body(module, vec![stmt(StmtKind::Expr(wrong(t)))]))
}

fn set_body(module: &mut Module, stmts: Vec<Stmt>) {
    module.functions[TESTED].body = Some(Block { stmts });
}

/// The same in a host function of a host module.
fn on_host(module: &mut Module, expr: Expr) {
    module.target = Target::Host;
    module.functions[TESTED].kind = FunctionKind::Host;
    set_body(module, vec![stmt(StmtKind::Expr(expr))]);
}

fn binary(op: BinaryOp, lhs: TypeId, rhs: TypeId, ty: TypeId) -> Expr {
    e(ExprKind::Binary { op, lhs: bz(lhs), rhs: bz(rhs) }, ty)
}

fn cast(kind: CastKind, from: TypeId, to: TypeId) -> Expr {
    e(ExprKind::Cast { kind, operand: bz(from) }, to)
}

fn launched(launch: Launch, t: Types) -> Expr {
    e(ExprKind::Launch(Box::new(launch)), t.void)
}

fn intrinsic(op: Intrinsic, args: Vec<Expr>, ty: TypeId) -> Expr {
    e(ExprKind::Intrinsic { op, args }, ty)
}

fn load(addr: Expr, ty: TypeId) -> Expr {
    e(ExprKind::Load { addr: Box::new(addr), volatile: false }, ty)
}

const ADD: AtomicOp = AtomicOp::Add;
static TEMPLATE: PtxTemplate = PtxTemplate {
    name: "t",
    text: "",
    results: "r",
    args: "r",
    side_effects: false,
    convergent: false,
    memory: false,
};

#[rustfmt::skip]
const EXPRESSIONS: &[(&str, Wrong)] = &[
    ("no type", |_| z(TypeId(999))),
    ("no such local", |t| e(ExprKind::LocalAddr(LocalId(9)), t.p_i32)),
    ("not the local's type", |t| e(ExprKind::LocalAddr(LocalId(0)), t.p_f32)),
    ("no such global", |t| e(ExprKind::GlobalAddr(GlobalId(9)), t.p_i32)),
    ("not the global's type", |t| e(ExprKind::GlobalAddr(GlobalId(0)), t.p_i32)),
    ("no such function", |t| e(ExprKind::FunctionAddr(FuncId(9)), t.p_function)),
    ("not a function pointer", |t| e(ExprKind::FunctionAddr(HELPER), t.p_i32)),
    ("loads another type than its address has", |t| load(z(t.p_i32), t.f32)),
    ("an address that is no pointer", |t| load(z(t.i32), t.i32)),
    ("the operation yields no value", |t| e(ExprKind::Store { addr: bz(t.p_i32), value: bz(t.i32), volatile: false }, t.i32)),
    ("stores another type than its address has", |t| e(ExprKind::Store { addr: bz(t.p_i32), value: bz(t.f32), volatile: false }, t.void)),
    ("a field of something that is no record", |t| e(ExprKind::FieldAddr { base: bz(t.p_i32), field: 0 }, t.p_i32)),
    ("no such field", |t| e(ExprKind::FieldAddr { base: bz(t.p_record), field: 7 }, t.p_i32)),
    ("a bit-field where a field is wanted, or the reverse", |t| e(ExprKind::FieldAddr { base: bz(t.p_record), field: 1 }, t.p_i32)),
    ("a bit-field where a field is wanted, or the reverse", |t| e(ExprKind::LoadBits { base: bz(t.p_record), field: 0, volatile: false }, t.i32)),
    ("not the field's type", |t| e(ExprKind::FieldAddr { base: bz(t.p_record), field: 0 }, t.p_f32)),
    ("not the field's type", |t| e(ExprKind::LoadBits { base: bz(t.p_record), field: 1, volatile: false }, t.f32)),
    ("not the field's type", |t| e(ExprKind::StoreBits { base: bz(t.p_record), field: 1, value: bz(t.f32), volatile: false }, t.i32)),
    ("not the field's type", |t| e(ExprKind::Extract { record: bz(t.record), field: 0 }, t.f32)),
    ("not the field's type", |t| e(ExprKind::MakeRecord(vec![(0, z(t.f32))]), t.record)),
    ("an index changes the pointer's type", |t| e(ExprKind::IndexAddr { base: bz(t.p_i32), index: bz(t.i64) }, t.p_f32)),
    ("an index or size that is not of the address size", |t| e(ExprKind::IndexAddr { base: bz(t.p_i32), index: bz(t.i32) }, t.p_i32)),
    ("pointers of two types", |t| e(ExprKind::PointerDiff { lhs: bz(t.p_i32), rhs: bz(t.p_f32) }, t.i64)),
    ("an index or size that is not of the address size", |t| e(ExprKind::PointerDiff { lhs: bz(t.p_i32), rhs: bz(t.p_i32) }, t.i32)),
    ("the type changes", |t| e(ExprKind::Unary { op: UnaryOp::Neg, operand: bz(t.i32) }, t.f32)),
    ("no such operation on the type", |t| e(ExprKind::Unary { op: UnaryOp::Not, operand: bz(t.i32) }, t.i32)),
    ("no such operation on the type", |t| e(ExprKind::Unary { op: UnaryOp::BitNot, operand: bz(t.f32) }, t.f32)),
    ("no such operation on the type", |t| binary(BinaryOp::Rem, t.f32, t.f32, t.f32)),
    ("no such operation on the type", |t| binary(BinaryOp::Add, t.bool, t.bool, t.bool)),
    ("no such operation on the type", |t| binary(BinaryOp::Add, t.p_i32, t.p_i32, t.p_i32)),
    ("operands of two types", |t| binary(BinaryOp::Add, t.i32, t.u32, t.i32)),
    ("operands of two types", |t| binary(BinaryOp::Shl, t.i32, t.f32, t.i32)),
    ("a comparison that is no Bool", |t| e(ExprKind::Compare { op: CompareOp::Lt, lhs: bz(t.i32), rhs: bz(t.i32) }, t.i32)),
    ("compares two types", |t| e(ExprKind::Compare { op: CompareOp::Lt, lhs: bz(t.i32), rhs: bz(t.u32) }, t.bool)),
    ("compares aggregates", |t| e(ExprKind::Compare { op: CompareOp::Eq, lhs: bz(t.record), rhs: bz(t.record) }, t.bool)),
    ("operands that are no Bool", |t| e(ExprKind::Logical { and: true, lhs: bz(t.bool), rhs: bz(t.i32) }, t.bool)),
    ("a condition that is no Bool", |t| e(ExprKind::Select { cond: bz(t.i32), then: bz(t.i32), otherwise: bz(t.i32) }, t.i32)),
    ("operands of two types", |t| e(ExprKind::Select { cond: bz(t.bool), then: bz(t.i32), otherwise: bz(t.u32) }, t.i32)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::IntToInt, t.f32, t.i32)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::IntToFloat, t.i32, t.i32)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::FloatToInt, t.f32, t.bool)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::FloatToFloat, t.i32, t.f32)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::ToBool, t.record, t.bool)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::PointerToInt, t.i32, t.i64)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::IntToPointer, t.f32, t.p_i32)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::PointerToPointer, t.i64, t.p_i32)),
    ("a cast between kinds it does not connect", |t| cast(CastKind::Bitcast, t.i64, t.f32)),
    ("another type than its value", |t| e(ExprKind::Sequence { effects: vec![], value: bz(t.i32) }, t.f32)),
    ("another type than at its address", |t| e(ExprKind::Update { addr: bz(t.p_i32), op: BinaryOp::Add, rhs: bz(t.i32), compute: t.i32, yields: UpdateYield::After, volatile: false }, t.f32)),
    ("operands of two types", |t| e(ExprKind::Update { addr: bz(t.p_i32), op: BinaryOp::Add, rhs: bz(t.f32), compute: t.i32, yields: UpdateYield::After, volatile: false }, t.i32)),
    ("a kernel is called", |t| e(ExprKind::Call { callee: Callee::Direct(KERNEL), args: vec![z(t.i32)] }, t.void)),
    ("no such function", |t| e(ExprKind::Call { callee: Callee::Direct(FuncId(9)), args: vec![] }, t.void)),
    ("another type than the function returns", |t| e(ExprKind::Call { callee: Callee::Direct(HELPER), args: vec![z(t.i32)] }, t.f32)),
    ("another type than the function returns", |t| e(ExprKind::Call { callee: Callee::Indirect(bz(t.p_function)), args: vec![z(t.i32)] }, t.f32)),
    ("another number of arguments than the callee has parameters", |t| e(ExprKind::Call { callee: Callee::Direct(HELPER), args: vec![] }, t.i32)),
    ("an argument of another type", |t| e(ExprKind::Call { callee: Callee::Direct(HELPER), args: vec![z(t.f32)] }, t.i32)),
    ("calls something that is no function", |t| e(ExprKind::Call { callee: Callee::Indirect(bz(t.p_i32)), args: vec![] }, t.i32)),
    ("takes no arguments", |t| intrinsic(Intrinsic::Builtin(BuiltinVar::WarpSize), vec![z(t.i32)], t.i32)),
    ("wants an address", |t| intrinsic(Intrinsic::Atomic(Atomic { op: ADD, scope: Scope::Device }), vec![], t.i32)),
    ("another type than at its address", |t| intrinsic(Intrinsic::Atomic(Atomic { op: ADD, scope: Scope::Device }), vec![z(t.p_i32), z(t.i32)], t.f32)),
    ("operands of two types", |t| intrinsic(Intrinsic::Atomic(Atomic { op: ADD, scope: Scope::Device }), vec![z(t.p_i32), z(t.f32)], t.i32)),
    ("another type than at its address", |t| intrinsic(Intrinsic::CacheLoad(CacheOp::All), vec![z(t.p_i32)], t.f32)),
    ("wants an address and a value", |t| intrinsic(Intrinsic::CacheStore(CacheOp::All), vec![z(t.p_i32)], t.void)),
    ("another type than at its address", |t| intrinsic(Intrinsic::CacheStore(CacheOp::All), vec![z(t.p_i32), z(t.f32)], t.void)),
    ("another number of operands", |t| intrinsic(Intrinsic::Ptx(&TEMPLATE), vec![], t.i32)),
    ("printf wants a format", |t| e(ExprKind::Printf { args: vec![] }, t.i32)),
    ("the operation yields no value", |t| e(ExprKind::Launch(Box::new(launch(t))), t.i32)),
    ("no such kernel", |t| launched(Launch { kernel: Callee::Direct(FuncId(9)), ..launch(t) }, t)),
    ("launches something that is no kernel", |t| launched(Launch { kernel: Callee::Direct(HELPER), ..launch(t) }, t)),
    ("not the kernel's parameter types", |t| launched(Launch { params: vec![t.f32], args: vec![z(t.f32)], ..launch(t) }, t)),
    ("an argument of another type", |t| launched(Launch { args: vec![z(t.f32)], ..launch(t) }, t)),
    ("a dimension that is no unsigned 32-bit integer", |t| launched(Launch { grid: Dim::Xyz(Box::new([z(t.i32), z(t.u32), z(t.u32)])), ..launch(t) }, t)),
    ("a dimension of 12 bytes", |t| launched(Launch { block: Dim::Record(bz(t.record)), ..launch(t) }, t)),
    ("shared bytes are an integer", |t| launched(Launch { shared_bytes: z(t.f32), ..launch(t) }, t)),
    ("a stream is a pointer", |t| launched(Launch { stream: z(t.i64), ..launch(t) }, t)),
    ("does not fit", |t| e(ExprKind::Const(Const::Float(0)), t.i32)),
    ("no global", |t| e(ExprKind::Const(Const::GlobalAddr { global: GlobalId(9), offset: 0 }), t.p_i32)),
    ("no function", |t| e(ExprKind::Const(Const::FunctionAddr(FuncId(9))), t.p_function)),
    ("bytes for an array of something else", |t| e(ExprKind::Const(Const::Bytes(vec![1])), t.array)),
    ("bytes for an array of 4", |t| e(ExprKind::Const(Const::Bytes(vec![0; 5])), t.bytes)),
    ("elements for an array of 4", |t| e(ExprKind::Const(Const::Array(vec![Const::Zero; 5])), t.array)),
    ("no such field", |t| e(ExprKind::Const(Const::Record(vec![(7, Const::Zero)])), t.record)),
    ("fields are not in order", |t| e(ExprKind::Const(Const::Record(vec![(1, Const::Zero), (0, Const::Zero)])), t.record)),
];

#[rustfmt::skip]
const MODULES: &[(&str, Break)] = &[
    ("break outside a loop", |m, _| set_body(m, vec![stmt(StmtKind::Break)])),
    ("continue outside a loop", |m, _| set_body(m, vec![stmt(StmtKind::Continue)])),
    ("is jumped to and stands nowhere", |m, _| set_body(m, vec![stmt(StmtKind::Goto(LabelId(1)))])),
    ("stands twice", |m, _| set_body(m, vec![stmt(StmtKind::Label(LabelId(1))), stmt(StmtKind::Label(LabelId(1)))])),
    ("no such local", |m, _| set_body(m, vec![stmt(StmtKind::Declare(LocalId(5)))])),
    ("a condition that is no Bool", |m, t| set_body(m, vec![stmt(StmtKind::If { cond: z(t.i32).into(), then: Block::default(), otherwise: Block::default() })])),
    ("from a function of", |m, t| set_body(m, vec![stmt(StmtKind::Return(Some(z(t.i32))))])),
    ("a switch on something that is no integer", |m, t| set_body(m, vec![stmt(StmtKind::Switch { value: z(t.f32).into(), cases: vec![], default: None, body: Block::default() })])),
    ("are not in the switch", |m, t| set_body(m, vec![stmt(StmtKind::Switch { value: z(t.i32).into(), cases: vec![], default: Some(LabelId(1)), body: Block::default() })])),
    ("symbol `tested` is defined twice", |m, _| m.globals[0].symbol = "tested".into()),
    ("bad symbol", |m, _| m.globals[0].symbol.clear()),
    ("a declaration has an initialiser", |m, _| { m.globals[0].defined = false; m.globals[0].init = Some(Const::Zero); }),
    ("initialiser: ", |m, _| m.globals[0].init = Some(Const::Int(1))),
    ("no type", |m, _| m.globals[0].ty = TypeId(999)),
    ("alignment 3 where the type needs 4", |m, _| m.globals[0].align = 3),
    ("an object of type void", |m, t| m.globals[0].ty = t.void),
    ("an object of function type", |m, t| m.globals[0].ty = t.function),
    ("record `Open` is incomplete", |m, t| m.globals[0].ty = t.incomplete),
    ("an array without elements", |m, t| { let none = m.types.array_of(t.i32, 0); m.functions[TESTED].locals[0].ty = none; }),
    ("local `x`: ", |m, t| m.functions[TESTED].locals[0].ty = t.void),
    ("more parameters than locals", |m, _| m.functions[TESTED].param_count = 2),
    ("a kernel returns a value", |m, t| m.functions[1].ret = t.i32),
    ("a kernel is variadic", |m, _| m.functions[1].variadic = true),
    ("a host function has a body in a device module", |m, _| m.functions[TESTED].kind = FunctionKind::Host),
    ("a device function has a body in a host module", |m, _| m.target = Target::Host),
    ("variable arguments in device code", |m, t| set_body(m, vec![stmt(StmtKind::Expr(intrinsic(Intrinsic::VaEnd, vec![z(t.p_record)], t.void)))])),
    ("another number of lists", |m, t| on_host(m, intrinsic(Intrinsic::VaCopy, vec![z(t.p_record)], t.void))),
    ("an address that is no pointer", |m, t| on_host(m, intrinsic(Intrinsic::VaEnd, vec![z(t.i64)], t.void))),
    ("starts a list in a function without variable arguments", |m, t| on_host(m, intrinsic(Intrinsic::VaStart, vec![z(t.p_record)], t.void))),
    ("reads a type that no argument has", |m, t| on_host(m, intrinsic(Intrinsic::VaArg, vec![z(t.p_record)], t.f32))),
    ("the operation yields no value", |m, t| on_host(m, intrinsic(Intrinsic::VaEnd, vec![z(t.p_record)], t.i32))),
];

#[test]
fn a_right_module_is_accepted() {
    assert_eq!(said(|_, _| {}), Vec::<String>::new());
    let right: Wrong = |t| launched(launch(t), t);
    assert_eq!(of_expression(right), Vec::<String>::new());
}

#[test]
fn every_broken_expression_is_refused() {
    for (wanted, wrong) in EXPRESSIONS.iter().filter(|(wanted, _)| *wanted != "pointer arithmetic")
    {
        let said = of_expression(*wrong);
        assert!(said.iter().any(|message| message.contains(wanted)), "{wanted}: {said:?}");
    }
}

/// It needs a pointer to a pointer, and a variable that is one.
#[test]
fn pointers_are_not_multiplied() {
    let said = said(|module, t| {
        let p_p = module.types.pointer_to(t.p_i32);
        let update = ExprKind::Update {
            addr: bz(p_p),
            op: BinaryOp::Mul,
            rhs: bz(t.i64),
            compute: t.i64,
            yields: UpdateYield::After,
            volatile: false,
        };
        set_body(module, vec![stmt(StmtKind::Expr(e(update, t.p_i32)))]);
    });
    assert!(said[0].contains("pointer arithmetic"), "{said:?}");
}

#[test]
fn every_broken_module_is_refused() {
    for (wanted, change) in MODULES {
        let said = said(change);
        assert!(said.iter().any(|message| message.contains(wanted)), "{wanted}: {said:?}");
    }
}

/// Sentences of the verifier, from its own text; each must be wanted by a case.
#[test]
fn every_message_has_a_case() {
    let wanted: Vec<&str> = EXPRESSIONS.iter().map(|(wanted, _)| *wanted).collect();
    let mut wanted: Vec<&str> =
        wanted.into_iter().chain(MODULES.iter().map(|(wanted, _)| *wanted)).collect();
    wanted.push("pointer arithmetic");
    let body = include_str!("../src/verify/body.rs");
    let text = [body, include_str!("../src/verify/mod.rs")].concat();
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut missing = Vec::new();
    for literal in code.split('"').skip(1).step_by(2) {
        let parts = literal.split(['{', '}']).step_by(2).filter(|part| part.trim().contains(' '));
        for part in parts {
            if !wanted.iter().any(|wanted| wanted.contains(part.trim()) || part.contains(wanted)) {
                missing.push(part.to_owned());
            }
        }
    }
    missing.retain(|part| !part.starts_with("invalid IR in"));
    assert!(missing.is_empty(), "sentences without a case: {missing:#?}");
}
