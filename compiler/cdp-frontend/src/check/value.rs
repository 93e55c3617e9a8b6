//! What an expression was found to be: its type, whether it is an lvalue, and its IR.

use cdp_ir as ir;
use cdp_ir::{CastKind, Expr, ExprKind, Loc, TypeId, has_effects};

use super::builtins::{BuiltinVariable, Overload};
use super::ctype::{Basic, CTypes, QualType};
use super::scope::{FnId, VarId};
use super::state::Checker;
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

/// A name (or address) of one or more functions.
#[derive(Clone, Debug)]
pub struct FnRef {
    pub name: String,
    pub user: Vec<FnId>,
    pub builtin: Vec<Overload>,
}

#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// A value. A record or array value has an aggregate type.
    RValue(Expr),
    /// The address of an object.
    LValue(Expr),
    /// A bit-field of the record at `base`.
    BitField { base: Expr, field: u32 },
    /// An lvalue naming a scalar `const` variable whose value is known.
    ConstVar(VarId, ir::Const),
    /// `threadIdx` and its like: no address.
    Builtin(&'static BuiltinVariable),
    /// Functions; the type is that of the function when there is one only, else an error type.
    Fns(FnRef),
    /// `{ ... }`, which has no type of its own.
    Braces(&'a ast::InitList),
    /// The lvalue that an assignment, compound assignment or prefix increment yields: what to do
    /// is decided when it is known whether the value, the object or neither is wanted.
    Pending(Box<Pending>),
}

/// A change of the object at `addr`.
#[derive(Clone, Debug)]
pub struct Pending {
    pub addr: Expr,
    pub action: Action,
    pub volatile: bool,
}

#[derive(Clone, Debug)]
pub enum Action {
    Store(Expr),
    Update { op: ir::BinaryOp, rhs: Expr, compute: TypeId },
}

/// A checked expression. The type is never a reference.
#[derive(Clone, Debug)]
pub struct Value<'a> {
    pub ty: QualType,
    pub kind: Kind<'a>,
    pub span: Span,
    /// A null pointer constant: the literal `0` or `nullptr`.
    pub null: bool,
    /// A string literal, which may still become a `char *`, with a warning.
    pub string: Option<&'a ast::StringLit>,
    /// What it promotes to, where its type alone does not tell: it was read from a bit-field.
    pub promoted: Option<QualType>,
    /// An xvalue: an object that an rvalue reference binds to.
    pub expiring: bool,
}

/// What checking gives: nothing where an error has been given.
pub type Checked<'a> = Option<Value<'a>>;

impl<'a> Value<'a> {
    pub fn new(kind: Kind<'a>, ty: QualType, span: Span) -> Self {
        Value { ty, kind, span, null: false, string: None, promoted: None, expiring: false }
    }

    pub fn rvalue(expr: Expr, ty: QualType, span: Span) -> Self {
        Value::new(Kind::RValue(expr), ty, span)
    }

    pub fn lvalue(addr: Expr, ty: QualType, span: Span) -> Self {
        Value::new(Kind::LValue(addr), ty, span)
    }

    /// The object that an expression of reference type means.
    pub fn referred(addr: Expr, ty: QualType, rvalue: bool, span: Span) -> Self {
        Value { expiring: rvalue, ..Value::lvalue(addr, ty, span) }
    }

    /// Whether it is an object: an lvalue in C++'s sense, or an xvalue.
    pub fn is_lvalue(&self) -> bool {
        !matches!(self.kind, Kind::RValue(_) | Kind::Braces(_))
    }

    /// Nothing where an error has been given about it.
    #[inline]
    pub fn sound(&self, types: &CTypes) -> Option<()> {
        (!self.is_error(types)).then_some(())
    }

    /// Whether an error has been given about it.
    #[inline]
    fn is_error(&self, types: &CTypes) -> bool {
        types.is_error(self.ty) && !matches!(self.kind, Kind::Fns(_) | Kind::Braces(_))
    }

    pub fn is_braces(&self) -> bool {
        matches!(self.kind, Kind::Braces(_))
    }
}

impl<'a> Checker<'a> {
    /// The value of something wrong, about which an error has been given.
    pub fn error_value(&mut self, span: Span) -> Value<'a> {
        let expr = self.poison(Basic::Error.into());
        Value::rvalue(expr, Basic::Error.into(), span)
    }

    pub fn is_error(&self, value: &Value<'a>) -> bool {
        value.is_error(&self.types)
    }

    /// A placeholder where an error has been reported: no constant, so that nothing is concluded
    /// from it. It never reaches a module.
    pub fn poison(&mut self, ty: QualType) -> Expr {
        let ty = self.types.ir_type(ty);
        let op = ir::Intrinsic::Unreachable;
        Expr::new(ExprKind::Intrinsic { op, args: Vec::new() }, ty, Loc::default())
    }

    /// Zero of a type.
    pub fn dummy(&mut self, ty: QualType) -> Expr {
        let ty = self.types.ir_type(ty);
        Expr::new(ExprKind::Const(ir::Const::Zero), ty, Loc::default())
    }

    /// The object's address as an expression; rvalues are put into a temporary.
    pub fn address(&mut self, value: Value<'a>) -> Expr {
        let loc = self.loc(value.span);
        match value.kind {
            Kind::LValue(addr) => addr,
            Kind::ConstVar(var, _) => self.var_address(var, value.span),
            Kind::RValue(expr) => self.temporary(expr, value.ty, value.span),
            Kind::Fns(functions) => match functions.user.as_slice() {
                [one] => self.function_address(*one, value.span),
                _ => self.dummy(Basic::Nullptr.into()),
            },
            Kind::Builtin(_) | Kind::BitField { .. } => {
                let span = value.span;
                let ty = value.ty.unqualified();
                let value = self.load(value);
                self.temporary(value, ty, span)
            }
            Kind::Braces(_) => self.dummy(Basic::Nullptr.into()),
            Kind::Pending(pending) => self.pending_address(*pending, loc),
        }
    }

    /// Performs a change and gives the object's address.
    fn pending_address(&mut self, pending: Pending, loc: Loc) -> Expr {
        if is_simple(&pending.addr) {
            let addr = pending.addr.clone();
            let effect = self.pending_effect(pending, loc);
            return self.sequence(vec![effect], addr);
        }
        // What is assigned comes before the address (C++17 [expr.ass]).
        let mut effects = Vec::new();
        let action = match pending.action {
            Action::Store(value) => Action::Store(self.kept(value, &mut effects, loc)),
            Action::Update { op, rhs, compute } => {
                Action::Update { op, rhs: self.kept(rhs, &mut effects, loc), compute }
            }
        };
        let addr = self.kept_place(pending.addr, &mut effects, loc);
        let pending = Pending { addr: addr.clone(), action, volatile: pending.volatile };
        effects.push(self.pending_effect(pending, loc));
        self.sequence(effects, addr)
    }

    /// An expression evaluated now, among `effects`, and its value for later.
    pub fn kept(&mut self, value: Expr, effects: &mut Vec<Expr>, loc: Loc) -> Expr {
        if matches!(value.kind, ExprKind::Const(_)) {
            return value;
        }
        // Of an aggregate in memory only the place is settled; it is read where it is used.
        if self.types.ir.is_aggregate(value.ty)
            && let ExprKind::Load { addr, volatile } = value.kind
        {
            let addr = self.kept_place(*addr, effects, loc);
            return self.load_from(addr, volatile, loc);
        }
        let slot = self.temporary_slot(value.ty, loc);
        effects.push(self.store(slot.clone(), value, false, loc));
        self.load_from(slot, false, loc)
    }

    /// A place that can be named several times: what is computed for it is kept, and members of it stay members, because
    /// the alignment of a place follows from what it is a part of.
    pub fn kept_place(&mut self, place: Expr, effects: &mut Vec<Expr>, loc: Loc) -> Expr {
        if is_simple(&place) {
            return place;
        }
        let kind = match place.kind {
            ExprKind::FieldAddr { base, field } => {
                let base = Box::new(self.kept_place(*base, effects, loc));
                ExprKind::FieldAddr { base, field }
            }
            ExprKind::Cast { kind: kind @ CastKind::PointerToPointer, operand } => {
                let operand = Box::new(self.kept_place(*operand, effects, loc));
                ExprKind::Cast { kind, operand }
            }
            ExprKind::IndexAddr { base, index } => {
                let base = Box::new(self.kept_place(*base, effects, loc));
                let index = Box::new(self.kept(*index, effects, loc));
                ExprKind::IndexAddr { base, index }
            }
            kind => return self.kept(Expr { kind, ..place }, effects, loc),
        };
        Expr { kind, ..place }
    }

    /// Performs a change and gives the new value.
    fn pending_value(&mut self, pending: Pending, loc: Loc) -> Expr {
        match pending.action {
            Action::Store(value) if is_simple(&pending.addr) && !pending.volatile => {
                let addr = pending.addr.clone();
                let store = self.store(pending.addr, value, false, loc);
                let value = self.load_from(addr, false, loc);
                self.sequence(vec![store], value)
            }
            Action::Store(value) => {
                let mut effects = Vec::new();
                let value = self.kept(value, &mut effects, loc);
                effects.push(self.store(pending.addr, value.clone(), pending.volatile, loc));
                self.sequence(effects, value)
            }
            Action::Update { .. } => self.pending_effect(pending, loc),
        }
    }

    /// Performs a change; what the expression yields does not matter.
    fn pending_effect(&mut self, pending: Pending, loc: Loc) -> Expr {
        let Pending { addr, action, volatile } = pending;
        match action {
            Action::Store(value) => self.store(addr, value, volatile, loc),
            Action::Update { op, rhs, compute } => {
                self.update(addr, (op, rhs, compute), ir::UpdateYield::After, volatile, loc)
            }
        }
    }

    /// `*addr op= rhs`, computed in a type, and what that yields.
    pub fn update(
        &self,
        addr: Expr,
        (op, rhs, compute): (ir::BinaryOp, Expr, TypeId),
        yields: ir::UpdateYield,
        volatile: bool,
        loc: Loc,
    ) -> Expr {
        let ty = self.types.ir.pointee(addr.ty).unwrap_or(addr.ty);
        let (addr, rhs) = (Box::new(addr), Box::new(rhs));
        Expr::new(ExprKind::Update { addr, op, rhs, compute, yields, volatile }, ty, loc)
    }

    /// A new local of an IR type: its address.
    pub fn temporary_slot(&mut self, ty: TypeId, loc: Loc) -> Expr {
        let local = self.add_local(String::new(), ty, 1, loc);
        self.local_addr(local, loc)
    }

    /// An expression for its effects only; `None` when it has none worth keeping.
    pub fn discard(&mut self, value: Value<'a>) -> Option<Expr> {
        let loc = self.loc(value.span);
        match value.kind {
            Kind::Pending(pending) => Some(self.pending_effect(*pending, loc)),
            Kind::RValue(expr) => Some(expr),
            // Reading a volatile object is an effect.
            Kind::LValue(_) | Kind::BitField { .. }
                if value.ty.is_volatile() && self.types.is_scalar(value.ty) =>
            {
                Some(self.load(value))
            }
            Kind::LValue(addr) if has_effects(&addr) => Some(addr),
            _ => None,
        }
    }

    /// Stores a value in a new local and gives its address.
    pub fn temporary(&mut self, value: Expr, ty: QualType, span: Span) -> Expr {
        let loc = self.loc(span);
        let local = self.new_local(String::new(), ty.unqualified(), 0, span);
        let addr = self.local_addr(local, loc);
        let ty = addr.ty;
        let store = self.store(addr.clone(), value, false, loc);
        Expr::new(ExprKind::Sequence { effects: vec![store], value: Box::new(addr) }, ty, loc)
    }

    pub fn store(&mut self, addr: Expr, value: Expr, volatile: bool, loc: Loc) -> Expr {
        let void = self.types.ir.void();
        let kind = ExprKind::Store { addr: Box::new(addr), value: Box::new(value), volatile };
        Expr::new(kind, void, loc)
    }

    /// A statement that stores a value.
    pub fn emit_store(&mut self, addr: Expr, value: Expr, loc: Loc) {
        let store = self.store(addr, value, false, loc);
        self.emit(ir::StmtKind::Expr(store), loc);
    }

    /// The value itself: lvalues are loaded, arrays and functions decay. The result has no
    /// qualifiers if it is a scalar.
    pub fn rvalue(&mut self, value: Value<'a>) -> Value<'a> {
        let span = value.span;
        if self.types.is_array(value.ty) {
            let ty = self.decay(value.ty);
            let string = value.string;
            let addr = self.address(value);
            let expr = self.pointer_cast(addr, ty);
            return Value { string, ..Value::rvalue(expr, ty, span) };
        }
        if let Kind::Fns(functions) = &value.kind {
            return self.function_rvalue(functions.clone(), value);
        }
        if value.is_braces() {
            let message = "a brace-enclosed list is no expression here";
            self.error(Code::E0313, span, message);
            return self.error_value(span);
        }
        if !value.is_lvalue() {
            return value;
        }
        let ty = value.ty.unqualified();
        let null = value.null;
        if self.types.is_void(ty) {
            return Value::rvalue(self.dummy(ty), ty, span);
        }
        if !self.types.is_complete(ty) && !self.types.is_error(ty) {
            let message = format!("the type {} is incomplete here", self.show(ty));
            self.error(Code::E0308, span, message);
            return self.error_value(span);
        }
        let promoted = self.bit_promotion(&value);
        let expr = self.load(value);
        Value { null, promoted, ..Value::rvalue(expr, ty, span) }
    }

    fn function_rvalue(&mut self, functions: FnRef, value: Value<'a>) -> Value<'a> {
        let span = value.span;
        if let [one] = functions.user[..] {
            let ty = self.names.func(one).ty;
            let ty = self.types.pointer_to(ty);
            let expr = self.function_address(one, span);
            return Value::rvalue(expr, ty, span);
        }
        let message = if functions.user.is_empty() {
            format!("the address of the builtin function `{}` cannot be taken", functions.name)
        } else {
            format!("`{}` is overloaded; which function is meant is not clear here", functions.name)
        };
        self.error(Code::E0321, span, message)
            .help("call it, or wrap it in a function of your own");
        self.error_value(span)
    }

    /// Reads an lvalue that is neither an array nor a function.
    pub fn load(&mut self, value: Value<'a>) -> Expr {
        self.warn_unset(&value, false);
        let loc = self.loc(value.span);
        let volatile = value.ty.is_volatile();
        let ty = self.types.ir_type(value.ty);
        match value.kind {
            Kind::RValue(expr) => expr,
            Kind::LValue(addr) => {
                let read = self.load_from(addr, volatile, loc);
                self.taken(read)
            }
            Kind::BitField { base, field } => {
                let kind = ExprKind::LoadBits { base: Box::new(base), field, volatile };
                self.taken(Expr::new(kind, ty, loc))
            }
            Kind::ConstVar(_, constant) => Expr::new(ExprKind::Const(constant), ty, loc),
            Kind::Builtin(variable) => self.read_builtin(variable, value.ty, loc),
            Kind::Fns(_) | Kind::Braces(_) => self.dummy(value.ty),
            Kind::Pending(pending) => self.pending_value(*pending, loc),
        }
    }

    /// Reads what an address points to.
    pub fn load_from(&mut self, addr: Expr, volatile: bool, loc: Loc) -> Expr {
        let ty = self.types.ir.pointee(addr.ty).unwrap_or(addr.ty);
        Expr::new(ExprKind::Load { addr: Box::new(addr), volatile }, ty, loc)
    }

    /// A whole builtin variable as a value.
    fn read_builtin(&mut self, variable: &'static BuiltinVariable, ty: QualType, loc: Loc) -> Expr {
        let ir_ty = self.types.ir_type(ty);
        if self.types.record_id(ty).is_none() {
            return self.read_axis(variable, ir::Axis::X, ir_ty, loc);
        }
        let uint = self.types.ir.int(32, false);
        let axes = [ir::Axis::X, ir::Axis::Y, ir::Axis::Z];
        let fields = axes
            .into_iter()
            .enumerate()
            .map(|(index, axis)| (index as u32, self.read_axis(variable, axis, uint, loc)))
            .collect();
        Expr::new(ExprKind::MakeRecord(fields), ir_ty, loc)
    }

    /// One component of a builtin variable.
    pub fn read_axis(
        &mut self,
        variable: &'static BuiltinVariable,
        axis: ir::Axis,
        ty: TypeId,
        loc: Loc,
    ) -> Expr {
        let op = ir::Intrinsic::Builtin((variable.read)(axis));
        Expr::new(ExprKind::Intrinsic { op, args: Vec::new() }, ty, loc)
    }

    /// The same pointer seen as another pointer type.
    pub fn pointer_cast(&mut self, expr: Expr, to: QualType) -> Expr {
        let to = self.types.ir_type(to);
        self.cast(expr, to)
    }

    /// Converts between machine types: the one cast that connects the two kinds.
    pub fn cast(&mut self, expr: Expr, to: TypeId) -> Expr {
        if expr.ty == to {
            return expr;
        }
        let loc = expr.loc;
        let Some(kind) = CastKind::between(&self.types.ir, expr.ty, to) else {
            return Expr::new(ExprKind::Const(ir::Const::Zero), to, loc);
        };
        let made = Expr::new(ExprKind::Cast { kind, operand: Box::new(expr) }, to, loc);
        self.folded(made)
    }

    /// The constant an operation on constants yields, or the operation.
    pub fn folded(&self, expr: Expr) -> Expr {
        self.evaluator().folded(expr)
    }

    /// Evaluates `expr`, then yields `value`.
    pub fn sequence(&mut self, effects: Vec<Expr>, value: Expr) -> Expr {
        let (ty, loc) = (value.ty, value.loc);
        Expr::new(ExprKind::Sequence { effects, value: Box::new(value) }, ty, loc)
    }

    /// The address of a field, bit-fields excluded.
    pub fn field_addr(&mut self, base: Expr, field: u32, ty: QualType, loc: Loc) -> Expr {
        let ty = self.types.ir_type(ty);
        let ty = self.types.ir.pointer_to(ty);
        Expr::new(ExprKind::FieldAddr { base: Box::new(base), field }, ty, loc)
    }

    /// `base + index` for a pointer to elements.
    pub fn index_addr(&mut self, base: Expr, index: Expr, loc: Loc) -> Expr {
        let ty = base.ty;
        let kind = ExprKind::IndexAddr { base: Box::new(base), index: Box::new(index) };
        Expr::new(kind, ty, loc)
    }

    /// An expression as a pointer-sized signed index.
    pub fn to_index(&mut self, value: Expr) -> Expr {
        let bits = (self.types.pointer_bytes() * 8) as u8;
        let ty = self.types.ir.int(bits, true);
        self.cast(value, ty)
    }
}

/// Whether an address costs nothing and has no effects, so that it may be evaluated twice.
pub fn is_simple(addr: &Expr) -> bool {
    match &addr.kind {
        ExprKind::LocalAddr(_) | ExprKind::GlobalAddr(_) | ExprKind::Const(_) => true,
        ExprKind::FieldAddr { base, .. } => is_simple(base),
        ExprKind::Cast { kind: CastKind::PointerToPointer, operand } => is_simple(operand),
        ExprKind::IndexAddr { base, index } => {
            is_simple(base) && matches!(index.kind, ExprKind::Const(_))
        }
        _ => false,
    }
}

/// Whether a placeholder for something wrong is part of the expression.
pub fn is_poisoned(expr: &Expr) -> bool {
    if let ExprKind::Intrinsic { op: ir::Intrinsic::Unreachable, args } = &expr.kind {
        return args.is_empty();
    }
    let mut found = false;
    ir::for_each_child(expr, &mut |child| found = found || is_poisoned(child));
    found
}
