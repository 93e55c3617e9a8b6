//! Lints that C programmers expect: unused variables, assignments as conditions, comparisons with one
//! possible result, constants that do not fit. Those that IR is enough for are `cdp-lint`'s.

use cdp_ir::{CompareOp, Const, Expr, ExprKind};

use super::ctype::{Basic, QualType};
use super::scope::Entity;
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast::{self, BinaryOp, ExprKind as Ast};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// At the end of a block: its variables that nothing read.
    pub fn warn_unused(&mut self) {
        if self.f.builtin_body {
            return;
        }
        let mut unused = Vec::new();
        for slot in self.names.scopes.innermost() {
            let Some(Entity::Var(id)) = slot.other else { continue };
            let var = self.names.var(id);
            if var.uses == 0 && !var.is_param && (var.local.is_some() || var.in_function) {
                unused.push((var.span, self.text(var.name).to_owned()));
            }
        }
        unused.sort_by_key(|(span, _)| span.lo);
        for (span, name) in unused {
            let message = format!("the variable `{name}` is not used");
            self.error(Code::W0725, span, message)
                .help("remove it, or write `[[maybe_unused]]` before it");
        }
    }

    /// `if (a = b)` without parentheses around the assignment.
    pub fn warn_assigned_condition(&mut self, condition: &'a ast::Expr) {
        let Ast::Assign(assign) = &condition.kind else { return };
        if assign.op.is_some() {
            return;
        }
        self.error(Code::W0726, assign.op_span, "an assignment as a condition")
            .suggest("to compare, write", assign.op_span, "==")
            .help("if it is meant, put parentheses around it");
    }

    /// A comparison of a value with a constant that its type never reaches.
    pub fn warn_constant_compare(
        &mut self,
        op: CompareOp,
        sides: [(QualType, &Expr); 2],
        common: QualType,
        op_span: Span,
    ) {
        if self.around.unevaluated > 0 || self.f.builtin_body {
            return;
        }
        let [(left_ty, left), (right_ty, right)] = sides;
        let (ty, constant, op) = match (&left.kind, &right.kind) {
            (ExprKind::Const(_), ExprKind::Const(_)) => return,
            (_, ExprKind::Const(Const::Int(value))) => (left_ty, *value, op),
            (ExprKind::Const(Const::Int(value)), _) => (right_ty, *value, mirrored(op)),
            _ => return,
        };
        let (Some(basic), Some(common)) = (self.types.basic(ty), self.types.basic(common)) else {
            return;
        };
        let sign_changes = !common.is_signed() && (basic.is_signed() || constant < 0);
        if !basic.is_integer() || basic == Basic::Bool || !common.is_integer() || sign_changes {
            return;
        }
        let (min, max) = self.int_range(basic);
        let answer = match op {
            CompareOp::Lt if constant <= min => false,
            CompareOp::Lt if constant > max => true,
            CompareOp::Le if constant < min => false,
            CompareOp::Le if constant >= max && constant > 1 => true,
            CompareOp::Gt if constant >= max && constant > 1 => false,
            CompareOp::Gt if constant < min => true,
            CompareOp::Ge if constant <= min => true,
            CompareOp::Ge if constant > max => false,
            CompareOp::Eq if !(min..=max).contains(&constant) => false,
            CompareOp::Ne if !(min..=max).contains(&constant) => true,
            _ => return,
        };
        let message = format!("this comparison is always {answer}");
        let note = format!("a value of {} lies between {min} and {max}", self.show(ty));
        self.error(Code::W0727, op_span, message).note(note);
    }

    /// A sum, difference or product of signed constants that its type cannot hold.
    pub fn warn_overflow(&mut self, op: BinaryOp, sides: [&Expr; 2], ty: QualType, span: Span) {
        let [ExprKind::Const(Const::Int(a)), ExprKind::Const(Const::Int(b))] =
            sides.map(|side| &side.kind)
        else {
            return;
        };
        let exact = match op {
            BinaryOp::Add => a.checked_add(*b),
            BinaryOp::Sub => a.checked_sub(*b),
            BinaryOp::Mul => a.checked_mul(*b),
            _ => return,
        };
        let Some(basic) = self.types.basic(ty).filter(|basic| basic.is_signed()) else { return };
        let (min, max) = self.int_range(basic);
        if let Some(exact) = exact.filter(|exact| !(min..=max).contains(exact))
            && self.around.unevaluated == 0
            && !self.f.builtin_body
        {
            let message = format!("the result, {exact}, does not fit {}", self.show(ty));
            self.error(Code::W0732, span, message)
                .help("compute in a wider or an unsigned type: convert an operand first");
        }
    }

    /// An array or a function as a condition.
    pub fn warn_known_condition(&mut self, value: &Value<'a>) {
        let array = self.types.is_array(value.ty) && value.string.is_none();
        let function = matches!(&value.kind, Kind::Fns(functions) if functions.user.len() == 1);
        if (array || function) && self.around.unevaluated == 0 {
            let what = if array { "an array" } else { "a function" };
            let message = format!("this condition is always true: {what} has an address");
            let found = self.error(Code::W0727, value.span, message);
            if function {
                found.help("to call it, write its arguments in parentheses behind the name");
            }
        }
    }

    /// A constant that an integer cannot hold in an implicit conversion: an integer that loses bits, whatever the
    /// sign is taken for, or a floating-point number beyond the range.
    pub fn warn_constant_conversion(&mut self, value: &Value<'a>, to: QualType) {
        let told = self.quiet.narrowed == Some(value.span);
        if told || self.around.unevaluated > 0 || self.f.builtin_body {
            return;
        }
        let Kind::RValue(Expr { kind: ExprKind::Const(constant), .. }) = &value.kind else {
            return;
        };
        let (Some(from), Some(target)) = (self.types.basic(value.ty), self.types.basic(to)) else {
            return;
        };
        if !target.is_integer() || target == Basic::Bool {
            return;
        }
        let (bits, _) = self.types.int_bits(target);
        let (number, help) = match (from, constant) {
            (_, Const::Int(number)) if from.is_integer() => {
                if bits >= 64 || (-(1i128 << (bits - 1))..1i128 << bits).contains(number) {
                    return;
                }
                let help = "if the low bits are meant, write the conversion as a cast";
                (number.to_string(), help)
            }
            (Basic::Float | Basic::Double, Const::Float(raw)) => {
                let single = from == Basic::Float;
                let number: f64 =
                    if single { f32::from_bits(*raw as u32).into() } else { f64::from_bits(*raw) };
                let (min, max) = self.int_range(target);
                let inside = (min as f64..max as f64 + 1.0).contains(&number.trunc());
                if inside && number.trunc() == number {
                    return;
                }
                let help = match inside {
                    true => "if the fraction is to be cut off, write the conversion as a cast",
                    false => "what becomes of a number beyond the range is not defined",
                };
                (self.source_text(value.span), help)
            }
            _ => return,
        };
        let message = format!("{number} does not fit {}", self.show(to.unqualified()));
        self.error(Code::W0728, value.span, message).help(help);
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same => same,
    }
}
