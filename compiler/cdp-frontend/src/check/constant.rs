//! Constant expressions: where the language wants one, and what to say when there is none. The
//! evaluator is the IR's.

use cdp_ir::evaluate::{Body, Known, from_f32, from_f64, from_f64_as, truth_of};
use cdp_ir::{
    BinaryOp, CastKind, Const, Evaluator, Expr, ExprKind, FloatKind, FuncId, GlobalId, LocalId,
    TypeId,
};

use super::ctype::{Basic, QualType};
use super::state::{Checker, NO_ID, PSEUDO_ID};
use super::value::is_poisoned;
use crate::ast;
use crate::diagnostics::{Code, NAME_IT_CU};

impl Known for Checker<'_> {
    fn local(&self, local: LocalId) -> Option<&Const> {
        let facts = self.f.facts.get(local.0 as usize)?;
        facts.value.as_ref().or_else(|| self.names.var(facts.var?).value.as_ref())
    }

    fn is_temporary(&self, local: LocalId) -> bool {
        self.f.locals.get(local.0 as usize).is_some_and(|local| local.name.is_empty())
    }

    fn global(&self, global: GlobalId) -> Option<(&Const, TypeId)> {
        if let Some(known) = self.constants.values.get(&global.0) {
            return Some((&known.0, known.1));
        }
        let text = self.module.globals.get(global.0 as usize)?;
        let value = text.init.as_ref().filter(|_| self.constants.texts.contains(&global.0))?;
        Some((value, text.ty))
    }

    fn body(&self, function: FuncId) -> Option<&Body> {
        self.constants.bodies.get(&function.0).map(|body| &**body)
    }
}

/// Whether a value names only what a module can have, nothing that is known to the checker alone.
fn is_settled(value: &Const) -> bool {
    let real = |id: u32| id < PSEUDO_ID || id == NO_ID;
    value.all(&|part| match part {
        Const::GlobalAddr { global, .. } => real(global.0),
        Const::FunctionAddr(function) => real(function.0),
        _ => true,
    })
}

impl<'a> Checker<'a> {
    /// Checks an expression whose value is needed when compiling.
    pub fn constant<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.constant_if(true, check)
    }

    /// The same of one whose value may be needed then.
    pub fn constant_if<T>(&mut self, needed: bool, check: impl FnOnce(&mut Self) -> T) -> T {
        self.around.constant += u32::from(needed);
        let result = check(self);
        self.around.constant -= u32::from(needed);
        result
    }

    /// Whether what stands on one side only is known to the checker alone at this place, and not to the module.
    pub fn is_known_alone(&self, of_host: bool) -> bool {
        self.f.skips() || self.around.constant > 0 && of_host && self.device_pass()
    }

    /// Whether a value may stand where it was found: nothing that the module at hand has not gets into it.
    pub fn may_stand(&self, value: &Const) -> bool {
        self.f.skips() || self.around.constant > 0 || is_settled(value)
    }

    /// Whether the side at hand uses a `constexpr` function or variable of the other for its value alone.
    pub fn borrows(&mut self, constexpr: bool) -> bool {
        let borrows = constexpr && self.around.constant > 0;
        self.around.borrowed |= borrows;
        borrows
    }

    /// An integral constant expression and its type; reports what is not one. `what` names it in
    /// the message ("an array bound").
    pub fn const_integer(&mut self, expr: &'a ast::Expr, what: &str) -> Option<(i128, QualType)> {
        let value = self.constant(|checker| checker.expr(expr));
        if self.is_error(&value) {
            return None;
        }
        let value = self.rvalue(value);
        if self.is_error(&value) {
            return None;
        }
        let ty = value.ty;
        if !self.types.is_integer(ty) && self.types.enum_id(ty).is_none() {
            let message = format!("{what} is an integer, not {}", self.show(ty));
            self.error(Code::E0310, expr.span, message);
            return None;
        }
        let super::value::Kind::RValue(ir) = &value.kind else { return None };
        match self.const_eval(ir) {
            Some(Const::Int(value)) => Some((value, ty)),
            Some(Const::Zero) => Some((0, ty)),
            _ if is_poisoned(ir) => None,
            _ => {
                let reason = self.why_not_constant(ir);
                let message = format!("{what} must be a constant expression");
                // clang has such arrays in host code only.
                let on_device = self.f.space.on_device();
                let found =
                    self.error(Code::E0310, expr.span, message).note(reason.unwrap_or_default());
                if what == "an array bound" {
                    found
                        .help(match on_device {
                            true => "allocate an array of this length with `new` or `malloc`; of shared memory, declare `extern __shared__ T name[];` and give the launch its size",
                            false => "allocate an array of this length with `new` or `malloc`",
                        })
                        .help(if on_device { "" } else { NAME_IT_CU });
                }
                None
            }
        }
    }

    /// What in an expression is no constant, in words.
    pub fn why_not_constant(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Load { addr, .. } => match &addr.kind {
                ExprKind::LocalAddr(local) => {
                    let name = &self.f.locals.get(local.0 as usize)?.name;
                    Some(format!("the value of `{name}` is not known when compiling"))
                }
                ExprKind::GlobalAddr(global) => {
                    let name = &self.module.globals.get(global.0 as usize)?.name;
                    Some(format!("the value of `{name}` is not known when compiling"))
                }
                _ => Some("it reads memory".into()),
            },
            ExprKind::Call { .. } | ExprKind::RuntimeCall { .. } => {
                Some("it calls a function".into())
            }
            ExprKind::Store { .. } | ExprKind::Update { .. } => {
                Some("it changes a variable".into())
            }
            ExprKind::Cast { kind: CastKind::FloatToInt, operand }
                if self.const_eval(operand).is_some() =>
            {
                Some("the number is beyond the range of the integer that it becomes".into())
            }
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, rhs, .. }
                if matches!(self.const_eval(rhs), Some(Const::Int(0) | Const::Zero)) =>
            {
                Some("it divides by zero".into())
            }
            _ => {
                let mut reason = None;
                cdp_ir::for_each_child(expr, &mut |child| {
                    if reason.is_none() && self.const_eval(child).is_none() {
                        reason = self.why_not_constant(child);
                    }
                });
                reason
            }
        }
    }

    /// The integer value of a constant expression, if it is one.
    pub fn const_int_value(&self, expr: &Expr) -> Option<i128> {
        match self.const_eval(expr)? {
            Const::Int(value) => Some(value),
            Const::Zero if self.types.ir.is_integer(expr.ty) => Some(0),
            _ => None,
        }
    }

    /// The evaluator, with what is known here.
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { types: &self.types.ir, known: self, clamps: false }
    }

    /// Evaluates an expression to a constant; `None` when it is not constant.
    pub fn const_eval(&self, expr: &Expr) -> Option<Const> {
        self.evaluator().value(expr).filter(|value| self.may_stand(value))
    }

    /// A condition's constant value.
    pub fn truth(&self, expr: &Expr) -> Option<bool> {
        truth_of(self.const_eval(expr)?)
    }

    /// A constant condition of a `static_assert` or `if constexpr`.
    pub fn const_condition(&mut self, expr: &'a ast::Expr, what: &str) -> Option<bool> {
        let value = self.constant(|checker| checker.expr(expr));
        if self.is_error(&value) {
            return None;
        }
        let cond = self.condition(value);
        match self.truth(&cond) {
            Some(yes) => Some(yes),
            None if is_poisoned(&cond) => None,
            None => {
                let message = format!("{what} must be a constant expression");
                let reason = self.why_not_constant(&cond).unwrap_or_default();
                self.error(Code::E0310, expr.span, message).note(reason);
                None
            }
        }
    }

    /// `static_assert`.
    pub fn static_assert(&mut self, condition: &'a ast::Expr, message: Option<&ast::StringLit>) {
        if self.const_condition(condition, "the condition of a `static_assert`") == Some(false) {
            let text = match message {
                Some(message) => format!("static assertion failed: {}", message.to_text()),
                None => "static assertion failed".to_owned(),
            };
            self.error(Code::E0311, condition.span, text).label("this is false");
        }
    }

    /// The bits of a floating constant in the format of a basic type.
    pub fn float_const(&self, value: f64, basic: Basic) -> Const {
        match basic {
            Basic::Float => from_f32(value as f32),
            Basic::Half => from_f64_as(value, FloatKind::F16),
            Basic::BFloat16 => from_f64_as(value, FloatKind::BF16),
            _ => from_f64(value),
        }
    }
}
