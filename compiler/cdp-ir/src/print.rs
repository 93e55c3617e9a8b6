//! The printer: IR as text for people and snapshots.
//!
//! The text is not a format to parse; it shows every fact that decides code (types, spaces,
//! alignments, symbols) and leaves source positions out, so that snapshots do not churn.

use std::fmt::{self, Write};

use crate::expr::{
    BinaryOp, Callee, CompareOp, Const, Dim, Expr, ExprKind, InlineAsm, Launch, UnaryOp,
    UpdateYield,
};
use crate::module::{
    AddressSpace, FuncId, Function, FunctionKind, Global, GlobalId, Linkage, LocalId, Module,
};
use crate::stmt::{Block, Stmt, StmtKind};
use crate::types::{RecordKind, Type, TypeId, TypeTable};

/// The whole module.
pub fn print_module(module: &Module) -> String {
    let mut out = String::new();
    for (_, record) in module.types.records().filter(|(_, record)| record.complete) {
        let keyword = if record.kind == RecordKind::Struct { "struct" } else { "union" };
        let layout = record.layout;
        let _ = writeln!(
            out,
            "{keyword} {} size {} align {} {{",
            record.name, layout.size, layout.align
        );
        for field in &record.fields {
            let ty = type_name(&module.types, field.ty);
            let _ = match field.bits {
                Some(bits) => writeln!(
                    out,
                    "  {:>4}: {ty} {} bits {}..{}",
                    field.offset,
                    field.name,
                    bits.offset,
                    bits.offset + bits.width
                ),
                None => writeln!(out, "  {:>4}: {ty} {}", field.offset, field.name),
            };
        }
        out.push_str("}\n");
    }
    for global in &module.globals {
        print_global(module, global, &mut out);
    }
    for id in module.function_ids() {
        out.push_str(&print_function(module, id));
    }
    out
}

/// One function, with its attributes and locals.
pub fn print_function(module: &Module, id: FuncId) -> String {
    let function = module.function(id);
    let mut printer = Printer { module, function, out: String::new(), indent: 1 };
    printer.header();
    printer.out
}

/// The name of a type in listings: `i32`, `u8`, `f32`, `ptr<f32>`, `[4 x i32]`, a record's name.
pub fn type_name(types: &TypeTable, id: TypeId) -> String {
    match types.get(id) {
        Type::Void => "void".into(),
        Type::Bool => "bool".into(),
        Type::Int { bits, signed } => format!("{}{bits}", if *signed { 'i' } else { 'u' }),
        Type::Float(kind) => format!("{kind:?}").to_lowercase(),
        Type::Pointer(pointee) => format!("ptr<{}>", type_name(types, *pointee)),
        Type::Array { elem, len } => format!("[{len} x {}]", type_name(types, *elem)),
        Type::Record(record) => types.record(*record).name.clone(),
        Type::Function { ret, params, variadic } => {
            let mut list: Vec<_> = params.iter().map(|param| type_name(types, *param)).collect();
            if *variadic {
                list.push("...".into());
            }
            format!("fn({}) -> {}", list.join(", "), type_name(types, *ret))
        }
    }
}

fn print_global(module: &Module, global: &Global, out: &mut String) {
    let space = match global.space {
        AddressSpace::Global => "global",
        AddressSpace::Constant => "constant",
        AddressSpace::Shared => "shared",
    };
    let linkage = linkage_prefix(global.linkage);
    let defined = if global.defined { "" } else { "extern " };
    let ty = type_name(&module.types, global.ty);
    let _ = write!(out, "{defined}{linkage}{space} {ty} @{} align {}", global.symbol, global.align);
    for (set, word) in [
        (global.managed, " managed"),
        (global.constant, " const"),
        (global.device_shadow, " shadow"),
    ] {
        if set {
            out.push_str(word);
        }
    }
    if let Some(init) = &global.init {
        out.push_str(" = ");
        print_const(module, init, out);
    }
    out.push('\n');
}

fn linkage_prefix(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::External => "",
        Linkage::Internal => "internal ",
        Linkage::LinkOnce => "linkonce ",
    }
}

fn print_const(module: &Module, value: &Const, out: &mut String) {
    let _ = match value {
        Const::Int(value) => write!(out, "{value}"),
        Const::Float(bits) => write!(out, "{bits:#x}"),
        Const::Zero => write!(out, "zero"),
        Const::Bytes(bytes) => write!(out, "\"{}\"", bytes.escape_ascii()),
        Const::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                print_const(module, item, out);
            }
            write!(out, "]")
        }
        Const::Record(items) => {
            out.push('{');
            for (index, (field, item)) in items.iter().enumerate() {
                let _ = write!(out, "{}.{field} = ", if index == 0 { "" } else { ", " });
                print_const(module, item, out);
            }
            write!(out, "}}")
        }
        Const::GlobalAddr { global, offset } => {
            write!(out, "@{} + {offset}", module.global(*global).symbol)
        }
        Const::FunctionAddr(function) => write!(out, "@{}", module.function(*function).symbol),
    };
}

struct Printer<'a> {
    module: &'a Module,
    function: &'a Function,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn ty(&self, id: TypeId) -> String {
        type_name(&self.module.types, id)
    }

    fn line(&mut self, text: impl fmt::Display) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.indent * 2);
    }

    fn header(&mut self) {
        let f = self.function;
        let kind = match f.kind {
            FunctionKind::Kernel => "kernel",
            FunctionKind::Device => "device",
            FunctionKind::Host => "host",
            FunctionKind::HostDevice => "host device",
        };
        let mut params: Vec<_> = (0..f.param_count)
            .map(|id| {
                let param = f.local(LocalId(id));
                format!("{} {}", self.ty(param.ty), self.local_name(LocalId(id)))
            })
            .collect();
        if f.variadic {
            params.push("...".into());
        }
        let head = format!(
            "{}{kind} {} @{}({})",
            linkage_prefix(f.linkage),
            self.ty(f.ret),
            f.symbol,
            params.join(", ")
        );
        self.out.push_str(&head);
        self.attributes();
        let Some(body) = &f.body else {
            self.out.push('\n');
            return;
        };
        self.out.push_str(" {\n");
        for index in f.param_count as usize..f.locals.len() {
            let local = &f.locals[index];
            let name = self.local_name(LocalId(index as u32));
            self.line(format!("local {} {name} align {}", self.ty(local.ty), local.align));
        }
        self.block(body);
        self.out.push_str("}\n");
    }

    fn attributes(&mut self) {
        let attrs = self.function.attrs;
        if attrs.inline != Default::default() {
            let _ = write!(self.out, " inline={:?}", attrs.inline);
        }
        let bounds = attrs.launch_bounds;
        for (name, value) in [
            ("max_threads", bounds.max_threads_per_block),
            ("min_blocks", bounds.min_blocks_per_multiprocessor),
            ("max_cluster", bounds.max_blocks_per_cluster),
            ("max_registers", attrs.max_registers),
        ] {
            if value != 0 {
                let _ = write!(self.out, " {name}={value}");
            }
        }
        if attrs.noreturn {
            self.out.push_str(" noreturn");
        }
    }

    /// `%name`, with the index when the function has several of that name.
    fn local_name(&self, id: LocalId) -> String {
        let Some(local) = self.function.locals.get(id.0 as usize) else {
            return format!("%<{}>", id.0);
        };
        let unique = self.function.locals.iter().filter(|l| l.name == local.name).count() == 1;
        if unique && !local.name.is_empty() {
            format!("%{}", local.name)
        } else {
            format!("%{}.{}", local.name, id.0)
        }
    }

    fn global_name(&self, id: GlobalId) -> String {
        format!("@{}", self.module.global(id).symbol)
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    fn nested(&mut self, head: impl fmt::Display, block: &Block) {
        self.line(format!("{head} {{"));
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                let text = self.expr(expr);
                self.line(text);
            }
            StmtKind::Block(block) => {
                self.nested("block", block);
                self.line("}");
            }
            StmtKind::Declare(local) => {
                let name = self.local_name(*local);
                self.line(format!("declare {name}"));
            }
            StmtKind::If { cond, then, otherwise } => {
                let cond = self.expr(cond);
                self.nested(format!("if {cond}"), then);
                if !otherwise.stmts.is_empty() {
                    self.nested("} else", otherwise);
                }
                self.line("}");
            }
            StmtKind::Loop { cond, body, step, test_first, unroll } => {
                let cond = cond.as_ref().map_or("true".to_string(), |cond| self.expr(cond));
                let step =
                    step.as_ref().map_or(String::new(), |s| format!(" step {}", self.expr(s)));
                let unroll = unroll.map_or(String::new(), |unroll| format!(" unroll {unroll:?}"));
                let word = if *test_first { "while" } else { "do-while" };
                self.nested(format!("{word} {cond}{step}{unroll}"), body);
                self.line("}");
            }
            StmtKind::Switch { value, cases, default, body } => {
                let value = self.expr(value);
                let mut targets: Vec<_> =
                    cases.iter().map(|case| format!("{}: L{}", case.value, case.label.0)).collect();
                if let Some(label) = default {
                    targets.push(format!("default: L{}", label.0));
                }
                self.nested(format!("switch {value} [{}]", targets.join(", ")), body);
                self.line("}");
            }
            StmtKind::Label(label) => self.line(format!("L{}:", label.0)),
            StmtKind::Goto(label) => self.line(format!("goto L{}", label.0)),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Return(Some(value)) => {
                let value = self.expr(value);
                self.line(format!("return {value}"));
            }
        }
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    fn volatile(volatile: bool) -> &'static str {
        if volatile { "volatile " } else { "" }
    }

    fn expr(&self, expr: &Expr) -> String {
        let ty = self.ty(expr.ty);
        match &expr.kind {
            ExprKind::Const(value) => {
                let mut text = format!("{ty} ");
                print_const(self.module, value, &mut text);
                text
            }
            ExprKind::LocalAddr(id) => self.local_name(*id),
            ExprKind::GlobalAddr(id) => self.global_name(*id),
            ExprKind::FunctionAddr(id) => format!("@{}", self.module.function(*id).symbol),
            ExprKind::Load { addr, volatile } => {
                format!("load {}{ty} {}", Self::volatile(*volatile), self.expr(addr))
            }
            ExprKind::Store { addr, value, volatile } => format!(
                "store {}{} <- {}",
                Self::volatile(*volatile),
                self.expr(addr),
                self.expr(value)
            ),
            ExprKind::FieldAddr { base, field } => {
                format!("{}.{}", self.expr(base), self.field_name(base, *field))
            }
            ExprKind::LoadBits { base, field, .. } => {
                format!("load-bits {}.{}", self.expr(base), self.field_name(base, *field))
            }
            ExprKind::StoreBits { base, field, value, .. } => format!(
                "store-bits {}.{} <- {}",
                self.expr(base),
                self.field_name(base, *field),
                self.expr(value)
            ),
            ExprKind::IndexAddr { base, index } => {
                format!("{}[{}]", self.expr(base), self.expr(index))
            }
            ExprKind::PointerDiff { lhs, rhs } => {
                format!("pointer-diff({}, {})", self.expr(lhs), self.expr(rhs))
            }
            ExprKind::Extract { record, field } => format!("({}).{field}", self.expr(record)),
            ExprKind::MakeRecord(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(f, value)| format!(".{f} = {}", self.expr(value)))
                    .collect();
                format!("{ty} {{{}}}", fields.join(", "))
            }
            ExprKind::Unary { op, operand } => {
                let op = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Not => "!",
                };
                format!("{op}({})", self.expr(operand))
            }
            ExprKind::Binary { op, lhs, rhs } => {
                format!("({} {} {})", self.expr(lhs), binary_sign(*op), self.expr(rhs))
            }
            ExprKind::Compare { op, lhs, rhs } => {
                format!("({} {} {})", self.expr(lhs), compare_sign(*op), self.expr(rhs))
            }
            ExprKind::Logical { and, lhs, rhs } => {
                format!(
                    "({} {} {})",
                    self.expr(lhs),
                    if *and { "&&" } else { "||" },
                    self.expr(rhs)
                )
            }
            ExprKind::Select { cond, then, otherwise } => {
                format!("({} ? {} : {})", self.expr(cond), self.expr(then), self.expr(otherwise))
            }
            ExprKind::Cast { kind, operand } => {
                format!("{ty} {kind:?}({})", self.expr(operand))
            }
            ExprKind::Sequence { effects, value } => {
                format!("({}; {})", self.list(effects), self.expr(value))
            }
            ExprKind::Update { addr, op, rhs, compute, yields, volatile } => format!(
                "update {}{} {}= {} in {}{}",
                Self::volatile(*volatile),
                self.expr(addr),
                binary_sign(*op),
                self.expr(rhs),
                self.ty(*compute),
                if *yields == UpdateYield::Before { " yields before" } else { "" }
            ),
            ExprKind::Call { callee, args } => {
                format!("call {ty} {}({})", self.callee(callee), self.list(args))
            }
            ExprKind::Intrinsic { op, args } => format!("{ty} {op:?}({})", self.list(args)),
            ExprKind::RuntimeCall { func, args } => {
                format!("runtime {ty} {}({})", func.name(), self.list(args))
            }
            ExprKind::Printf { args } => format!("printf({})", self.list(args)),
            ExprKind::Launch(launch) => self.launch(launch),
            ExprKind::Asm(asm) => self.asm(asm),
        }
    }

    fn field_name(&self, base: &Expr, field: u32) -> String {
        let types = &self.module.types;
        let record = types.pointee(base.ty).map(|pointee| types.get(pointee));
        let name = match record {
            Some(Type::Record(record)) => {
                types.record(*record).fields.get(field as usize).map(|f| f.name.clone())
            }
            _ => None,
        };
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| field.to_string())
    }

    fn callee(&self, callee: &Callee) -> String {
        match callee {
            Callee::Direct(id) => format!("@{}", self.module.function(*id).symbol),
            Callee::Indirect(pointer) => format!("*({})", self.expr(pointer)),
        }
    }

    fn dim(&self, dim: &Dim) -> String {
        match dim {
            Dim::Xyz(axes) => format!("({})", self.list(axes.as_slice())),
            Dim::Record(value) => self.expr(value),
        }
    }

    fn launch(&self, launch: &Launch) -> String {
        format!(
            "launch {} grid {} block {} shared {} stream {} args ({})",
            self.callee(&launch.kernel),
            self.dim(&launch.grid),
            self.dim(&launch.block),
            self.expr(&launch.shared_bytes),
            self.expr(&launch.stream),
            self.list(&launch.args)
        )
    }

    fn asm(&self, asm: &InlineAsm) -> String {
        let outputs: Vec<_> = asm
            .outputs
            .iter()
            .map(|out| {
                let sign = if out.read_write { '+' } else { '=' };
                format!("\"{sign}{}\" {}", out.constraint, self.expr(&out.addr))
            })
            .collect();
        let inputs: Vec<_> = asm
            .inputs
            .iter()
            .map(|input| format!("\"{}\" {}", input.constraint, self.expr(&input.value)))
            .collect();
        let volatile = Self::volatile(asm.volatile);
        format!("{volatile}asm {:?} : {} : {}", asm.template, outputs.join(", "), inputs.join(", "))
    }
}

fn binary_sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
    }
}

fn compare_sign(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}
