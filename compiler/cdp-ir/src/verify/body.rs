//! Promises 3 and 4: the statements and expressions of one function.

use std::collections::HashSet;

use super::{VerifyError, check_const};
use crate::expr::{BinaryOp, Callee, CastKind, Dim, Expr, ExprKind, Launch, UnaryOp};
use crate::intrinsic::Intrinsic;
use crate::module::{Function, LocalId, Module, Target};
use crate::stmt::{Block, LabelId, Stmt, StmtKind};
use crate::types::{FloatKind, Type, TypeId};

type Check = Result<(), String>;

pub(super) fn verify_body(module: &Module, function: &Function, errors: &mut Vec<VerifyError>) {
    let mut checker = BodyChecker {
        module,
        function,
        errors,
        loops: 0,
        breaks: 0,
        labels: vec![],
        placed: HashSet::new(),
        wanted: Vec::new(),
    };
    if let Some(body) = &function.body {
        checker.block(body);
    }
    for (line, label) in std::mem::take(&mut checker.wanted) {
        if !checker.placed.contains(&label) {
            checker.fail(line, format!("{label:?} is jumped to and stands nowhere"));
        }
    }
}

struct BodyChecker<'a> {
    module: &'a Module,
    function: &'a Function,
    errors: &'a mut Vec<VerifyError>,
    loops: u32,
    breaks: u32,
    /// One set per enclosing switch: labels that still have to appear.
    labels: Vec<HashSet<LabelId>>,
    /// Labels of the whole function, and the jumps to such.
    placed: HashSet<LabelId>,
    wanted: Vec<(u32, LabelId)>,
}

impl BodyChecker<'_> {
    fn fail(&mut self, line: u32, message: String) {
        let message = format!("line {line}: {message}");
        self.errors.push(VerifyError { place: self.function.name.clone(), message });
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let line = stmt.loc.line;
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Declare(local) => {
                if let Err(message) = self.local(*local) {
                    self.fail(line, message);
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                self.condition(cond);
                self.block(then);
                self.block(otherwise);
            }
            StmtKind::Loop { cond, body, step, .. } => {
                cond.iter().for_each(|cond| self.condition(cond));
                step.iter().for_each(|step| self.expr(step));
                self.loops += 1;
                self.breaks += 1;
                self.block(body);
                self.loops -= 1;
                self.breaks -= 1;
            }
            StmtKind::Switch { value, cases, default, body } => {
                self.expr(value);
                if !matches!(self.ty(value.ty), Type::Int { .. }) {
                    self.fail(line, "a switch on something that is no integer".into());
                }
                let targets = cases.iter().map(|case| case.label).chain(*default).collect();
                self.labels.push(targets);
                self.breaks += 1;
                self.block(body);
                self.breaks -= 1;
                let missing = self.labels.pop().unwrap_or_default();
                if !missing.is_empty() {
                    self.fail(line, format!("labels {missing:?} are not in the switch"));
                }
            }
            StmtKind::Label(label) => {
                let of_switch = self.labels.iter_mut().rev().any(|set| set.remove(label));
                if !of_switch && !self.placed.insert(*label) {
                    self.fail(line, format!("{label:?} stands twice"));
                }
            }
            StmtKind::Goto(label) => self.wanted.push((line, *label)),
            StmtKind::Break if self.breaks == 0 => self.fail(line, "break outside a loop".into()),
            StmtKind::Continue if self.loops == 0 => {
                self.fail(line, "continue outside a loop".into());
            }
            StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Return(value) => {
                let ret = self.function.ret;
                if let Some(value) = value {
                    self.expr(value);
                }
                let found = value.as_ref().map(|value| value.ty);
                let wants_value = *self.ty(ret) != Type::Void;
                if wants_value != found.is_some() || found.is_some_and(|found| found != ret) {
                    self.fail(line, format!("returns {found:?} from a function of {ret:?}"));
                }
            }
        }
    }

    fn condition(&mut self, expr: &Expr) {
        self.expr(expr);
        if *self.ty(expr.ty) != Type::Bool {
            self.fail(expr.loc.line, "a condition that is no Bool".into());
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if expr.ty.0 as usize >= self.module.types.len() {
            self.fail(expr.loc.line, format!("no type {:?}", expr.ty));
            return;
        }
        for_each_child(expr, &mut |child| self.expr(child));
        if let Err(message) = self.rule(expr) {
            let shown = format!("{:?}", expr.kind);
            let shown: String = shown.chars().take(160).collect();
            self.fail(expr.loc.line, format!("{message}: {shown}"));
        }
    }

    fn ty(&self, id: TypeId) -> &Type {
        self.module.types.get(id)
    }

    fn local(&self, id: LocalId) -> Check {
        want((id.0 as usize) < self.function.locals.len(), "no such local")
    }

    fn pointee(&self, expr: &Expr) -> Result<TypeId, String> {
        self.module.types.pointee(expr.ty).ok_or_else(|| "an address that is no pointer".into())
    }

    fn address_sized(&self, expr: &Expr) -> Check {
        let bits = (self.module.types.pointer_bytes() * 8) as u8;
        let ok = matches!(self.ty(expr.ty), Type::Int { bits: b, .. } if *b == bits);
        want(ok, "an index or size that is not of the address size")
    }

    fn field(&self, record: TypeId, field: u32, bits: bool) -> Result<TypeId, String> {
        let Type::Record(id) = self.ty(record) else {
            return Err("a field of something that is no record".into());
        };
        let fields = &self.module.types.record(*id).fields;
        let field = fields.get(field as usize).ok_or("no such field")?;
        want(field.bits.is_some() == bits, "a bit-field where a field is wanted, or the reverse")?;
        Ok(field.ty)
    }

    fn is_void(&self, expr: &Expr) -> Check {
        want(*self.ty(expr.ty) == Type::Void, "the operation yields no value")
    }

    fn rule(&self, expr: &Expr) -> Check {
        let types = &self.module.types;
        match &expr.kind {
            ExprKind::Const(value) => check_const(self.module, value, expr.ty),
            ExprKind::LocalAddr(id) => {
                self.local(*id)?;
                want(self.pointee(expr)? == self.function.local(*id).ty, "not the local's type")
            }
            ExprKind::GlobalAddr(id) => {
                let global = self.module.globals.get(id.0 as usize).ok_or("no such global")?;
                let seen = self.pointee(expr)?;
                // Where it was used, the bound of an array may not have been known.
                let unbounded = matches!((self.ty(seen), self.ty(global.ty)),
                    (Type::Array { elem: a, len: 0 }, Type::Array { elem: b, .. }) if a == b);
                want(seen == global.ty || unbounded, "not the global's type")
            }
            ExprKind::FunctionAddr(id) => {
                want((id.0 as usize) < self.module.functions.len(), "no such function")?;
                let pointee = self.pointee(expr)?;
                want(matches!(self.ty(pointee), Type::Function { .. }), "not a function pointer")
            }
            ExprKind::Load { addr, .. } => {
                want(self.pointee(addr)? == expr.ty, "loads another type than its address has")
            }
            ExprKind::Store { addr, value, .. } => {
                self.is_void(expr)?;
                want(self.pointee(addr)? == value.ty, "stores another type than its address has")
            }
            ExprKind::FieldAddr { base, field } => {
                let field = self.field(self.pointee(base)?, *field, false)?;
                want(self.pointee(expr)? == field, "not the field's type")
            }
            ExprKind::LoadBits { base, field, .. } => {
                let field = self.field(self.pointee(base)?, *field, true)?;
                want(expr.ty == field, "not the field's type")
            }
            ExprKind::StoreBits { base, field, value, .. } => {
                let field = self.field(self.pointee(base)?, *field, true)?;
                want(expr.ty == field && value.ty == field, "not the field's type")
            }
            ExprKind::IndexAddr { base, index } => {
                self.address_sized(index)?;
                self.pointee(base)?;
                want(expr.ty == base.ty, "an index changes the pointer's type")
            }
            ExprKind::PointerDiff { lhs, rhs } => {
                self.pointee(lhs)?;
                want(lhs.ty == rhs.ty, "pointers of two types")?;
                self.address_sized(expr)
            }
            ExprKind::Extract { record, field } => {
                want(self.field(record.ty, *field, false)? == expr.ty, "not the field's type")
            }
            ExprKind::MakeRecord(fields) => fields.iter().try_for_each(|(index, value)| {
                want(self.field(expr.ty, *index, false)? == value.ty, "not the field's type")
            }),
            ExprKind::Unary { op, operand } => {
                want(operand.ty == expr.ty, "the type changes")?;
                let ok = match (op, self.ty(expr.ty)) {
                    (UnaryOp::Not, ty) => *ty == Type::Bool,
                    (UnaryOp::BitNot, ty) => matches!(ty, Type::Int { .. }),
                    (UnaryOp::Neg, ty) => matches!(ty, Type::Int { .. } | Type::Float(_)),
                };
                want(ok, "no such operation on the type")
            }
            ExprKind::Binary { op, lhs, rhs } => self.binary(*op, lhs.ty, rhs.ty, expr.ty),
            ExprKind::Compare { lhs, rhs, .. } => {
                want(*self.ty(expr.ty) == Type::Bool, "a comparison that is no Bool")?;
                want(lhs.ty == rhs.ty, "compares two types")?;
                want(!types.is_aggregate(lhs.ty), "compares aggregates")
            }
            ExprKind::Logical { lhs, rhs, .. } => {
                let all_bool = [expr.ty, lhs.ty, rhs.ty].iter().all(|t| *self.ty(*t) == Type::Bool);
                want(all_bool, "operands that are no Bool")
            }
            ExprKind::Select { cond, then, otherwise } => {
                want(*self.ty(cond.ty) == Type::Bool, "a condition that is no Bool")?;
                want(then.ty == expr.ty && otherwise.ty == expr.ty, "operands of two types")
            }
            ExprKind::Cast { kind, operand } => self.cast(*kind, operand.ty, expr.ty),
            ExprKind::Sequence { value, .. } => {
                want(value.ty == expr.ty, "another type than its value")
            }
            ExprKind::Update { addr, op, rhs, compute, .. } => {
                want(self.pointee(addr)? == expr.ty, "another type than at its address")?;
                if types.is_pointer(expr.ty) {
                    want(matches!(op, BinaryOp::Add | BinaryOp::Sub), "pointer arithmetic")?;
                    self.address_sized(rhs)
                } else {
                    self.binary(*op, *compute, rhs.ty, *compute)
                }
            }
            ExprKind::Call { callee, args } => self.call(callee, args, expr.ty),
            ExprKind::Intrinsic { op, args } => self.intrinsic(*op, args, expr),
            ExprKind::RuntimeCall { .. } => Ok(()),
            ExprKind::Printf { args } => {
                want(!args.is_empty() && types.is_pointer(args[0].ty), "printf wants a format")
            }
            ExprKind::Launch(launch) => {
                self.is_void(expr)?;
                self.launch(launch)
            }
            ExprKind::Asm(asm) => {
                self.is_void(expr)?;
                asm.outputs.iter().try_for_each(|out| self.pointee(&out.addr).map(|_| ()))
            }
        }
    }

    fn binary(&self, op: BinaryOp, lhs: TypeId, rhs: TypeId, ty: TypeId) -> Check {
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let right = if shift { self.module.types.is_integer(rhs) } else { rhs == ty };
        want(lhs == ty && right, "operands of two types")?;
        let arithmetic =
            matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
        let ok = match self.ty(ty) {
            Type::Int { .. } => true,
            Type::Bool => matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor),
            Type::Float(_) => arithmetic,
            _ => false,
        };
        want(ok, "no such operation on the type")
    }

    fn cast(&self, kind: CastKind, from: TypeId, to: TypeId) -> Check {
        let types = &self.module.types;
        let (int, float, pointer) =
            (|id| types.is_integer(id), |id| types.is_float(id), |id| types.is_pointer(id));
        let ok = match kind {
            CastKind::IntToInt => int(from) && matches!(types.get(to), Type::Int { .. }),
            CastKind::IntToFloat => int(from) && float(to),
            CastKind::FloatToInt => float(from) && matches!(types.get(to), Type::Int { .. }),
            CastKind::FloatToFloat => float(from) && float(to),
            CastKind::ToBool => {
                (int(from) || float(from) || pointer(from)) && *types.get(to) == Type::Bool
            }
            CastKind::PointerToInt => pointer(from) && int(to),
            CastKind::IntToPointer => int(from) && pointer(to),
            CastKind::PointerToPointer => pointer(from) && pointer(to),
            CastKind::Bitcast => types.layout(from).size == types.layout(to).size,
        };
        want(ok, "a cast between kinds it does not connect")
    }

    fn call(&self, callee: &Callee, args: &[Expr], ty: TypeId) -> Check {
        match callee {
            Callee::Direct(id) => {
                let function =
                    self.module.functions.get(id.0 as usize).ok_or("no such function")?;
                want(!function.is_kernel(), "a kernel is called")?;
                want(function.ret == ty, "another type than the function returns")?;
                let params = function.params().iter().map(|param| param.ty);
                self.arguments(params, function.variadic, args)
            }
            Callee::Indirect(pointer) => {
                let pointee = self.pointee(pointer)?;
                let Type::Function { ret, params, variadic } = self.ty(pointee) else {
                    return Err("calls something that is no function".into());
                };
                want(*ret == ty, "another type than the function returns")?;
                self.arguments(params.iter().copied(), *variadic, args)
            }
        }
    }

    fn arguments(
        &self,
        params: impl ExactSizeIterator<Item = TypeId>,
        variadic: bool,
        args: &[Expr],
    ) -> Check {
        let enough = if variadic { args.len() >= params.len() } else { args.len() == params.len() };
        want(enough, "another number of arguments than the callee has parameters")?;
        want(params.zip(args).all(|(ty, arg)| ty == arg.ty), "an argument of another type")
    }

    fn launch(&self, launch: &Launch) -> Check {
        if let Callee::Direct(id) = &launch.kernel {
            let kernel = self.module.functions.get(id.0 as usize).ok_or("no such kernel")?;
            want(kernel.is_kernel(), "launches something that is no kernel")?;
            let params = kernel.params().iter().map(|param| param.ty);
            want(params.eq(launch.params.iter().copied()), "not the kernel's parameter types")?;
        }
        self.arguments(launch.params.iter().copied(), false, &launch.args)?;
        for dim in [&launch.grid, &launch.block] {
            match dim {
                Dim::Xyz(axes) => {
                    let u32s = axes
                        .iter()
                        .all(|axis| *self.ty(axis.ty) == Type::Int { bits: 32, signed: false });
                    want(u32s, "a dimension that is no unsigned 32-bit integer")?;
                }
                Dim::Record(value) => {
                    want(self.module.types.layout(value.ty).size == 12, "a dimension of 12 bytes")?;
                }
            }
        }
        want(self.module.types.is_integer(launch.shared_bytes.ty), "shared bytes are an integer")?;
        want(self.module.types.is_pointer(launch.stream.ty), "a stream is a pointer")
    }

    fn intrinsic(&self, op: Intrinsic, args: &[Expr], expr: &Expr) -> Check {
        match op {
            Intrinsic::Builtin(_) => want(args.is_empty(), "takes no arguments"),
            Intrinsic::Atomic(_) => {
                let addr = args.first().ok_or("wants an address")?;
                want(self.pointee(addr)? == expr.ty, "another type than at its address")?;
                want(args[1..].iter().all(|arg| arg.ty == expr.ty), "operands of two types")
            }
            Intrinsic::CacheLoad(_) => {
                let addr = args.first().ok_or("wants an address")?;
                want(self.pointee(addr)? == expr.ty, "another type than at its address")
            }
            Intrinsic::CacheStore(_) => {
                let [addr, value] = args else {
                    return Err("wants an address and a value".into());
                };
                want(self.pointee(addr)? == value.ty, "another type than at its address")
            }
            Intrinsic::VaStart | Intrinsic::VaArg | Intrinsic::VaCopy | Intrinsic::VaEnd => {
                self.variable_arguments(op, args, expr)
            }
            Intrinsic::Ptx(template) => {
                want(template.args.len() == args.len(), "another number of operands")
            }
            _ => Ok(()),
        }
    }

    fn variable_arguments(&self, op: Intrinsic, args: &[Expr], expr: &Expr) -> Check {
        want(self.module.target == Target::Host, "variable arguments in device code")?;
        let lists = if op == Intrinsic::VaCopy { 2 } else { 1 };
        want(args.len() == lists, "another number of lists")?;
        args.iter().try_for_each(|list| self.pointee(list).map(|_| ()))?;
        match op {
            Intrinsic::VaStart if !self.function.variadic => {
                Err("starts a list in a function without variable arguments".into())
            }
            Intrinsic::VaArg => {
                let promoted = match self.ty(expr.ty) {
                    Type::Int { bits, .. } => *bits >= 32,
                    Type::Float(kind) => *kind == FloatKind::F64,
                    Type::Pointer(_) | Type::Record(_) => true,
                    _ => false,
                };
                want(promoted, "reads a type that no argument has")
            }
            _ => self.is_void(expr),
        }
    }
}

fn want(condition: bool, message: &str) -> Check {
    if condition { Ok(()) } else { Err(message.to_string()) }
}

/// Calls `visit` on each expression of a block and of the blocks in it, each before its operands.
pub fn for_each_expr<'b>(block: &'b Block, visit: &mut dyn FnMut(&'b Expr)) {
    fn with_operands<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
        visit(expr);
        for_each_child(expr, &mut |child| with_operands(child, visit));
    }
    for stmt in &block.stmts {
        stmt.kind.exprs().for_each(|expr| with_operands(expr, visit));
        stmt.kind.blocks().for_each(|block| for_each_expr(block, visit));
    }
}

/// Calls `visit` on each direct operand of an expression, in evaluation order.
pub fn for_each_child<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::LocalAddr(_)
        | ExprKind::GlobalAddr(_)
        | ExprKind::FunctionAddr(_) => {}
        ExprKind::Load { addr, .. } => visit(addr),
        ExprKind::Store { addr, value, .. } => {
            visit(addr);
            visit(value);
        }
        ExprKind::FieldAddr { base, .. } | ExprKind::LoadBits { base, .. } => visit(base),
        ExprKind::StoreBits { base, value, .. } => {
            visit(base);
            visit(value);
        }
        ExprKind::IndexAddr { base, index } => {
            visit(base);
            visit(index);
        }
        ExprKind::PointerDiff { lhs, rhs }
        | ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::Compare { lhs, rhs, .. }
        | ExprKind::Logical { lhs, rhs, .. } => {
            visit(lhs);
            visit(rhs);
        }
        ExprKind::Extract { record, .. } => visit(record),
        ExprKind::MakeRecord(fields) => fields.iter().for_each(|(_, value)| visit(value)),
        ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => visit(operand),
        ExprKind::Select { cond, then, otherwise } => {
            visit(cond);
            visit(then);
            visit(otherwise);
        }
        ExprKind::Sequence { effects, value } => {
            effects.iter().for_each(&mut *visit);
            visit(value);
        }
        ExprKind::Update { addr, rhs, .. } => {
            visit(addr);
            visit(rhs);
        }
        ExprKind::Call { callee, args } => {
            if let Callee::Indirect(pointer) = callee {
                visit(pointer);
            }
            args.iter().for_each(visit);
        }
        ExprKind::Intrinsic { args, .. }
        | ExprKind::RuntimeCall { args, .. }
        | ExprKind::Printf { args } => args.iter().for_each(visit),
        ExprKind::Launch(launch) => {
            if let Callee::Indirect(pointer) = &launch.kernel {
                visit(pointer);
            }
            for dim in [&launch.grid, &launch.block] {
                match dim {
                    Dim::Xyz(axes) => axes.iter().for_each(&mut *visit),
                    Dim::Record(value) => visit(value),
                }
            }
            visit(&launch.shared_bytes);
            visit(&launch.stream);
            launch.args.iter().for_each(visit);
        }
        ExprKind::Asm(asm) => {
            asm.outputs.iter().for_each(|out| visit(&out.addr));
            asm.inputs.iter().for_each(|input| visit(&input.value));
        }
    }
}
