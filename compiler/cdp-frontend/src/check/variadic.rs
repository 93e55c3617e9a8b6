//! Variable arguments: what a call passes for `...`, and in host code the lists that read them
//! (`__builtin_va_start` and its like, which `<stdarg.h>` spells `va_start`).
//!
//! What this is not: how arguments travel, which is the lowering's to know. Device functions take no
//! variable arguments here: nvcc has them, in an array of parameter memory that LLVM cannot make.

use cdp_ir::{Expr, ExprKind, Intrinsic};

use super::at::CallAt;
use super::ctype::{Basic, CType, QualType};
use super::scope::{ExecutionSpace, Func};
use super::state::Checker;
use super::value::{Checked, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

/// The name of the record that a list is made of, as in the System V ABI.
const LIST_TAG: &str = "__va_list_tag";

/// Classes of CUDA's headers that nvcc cannot read from a list, as they have constructors.
const CLASSES: [&str; 3] = ["__half2", "__nv_bfloat162", "dim3"];

/// The operation on lists that a name stands for.
pub fn list_op(name: &str) -> Option<Intrinsic> {
    match name {
        "__builtin_va_start" => Some(Intrinsic::VaStart),
        "__builtin_va_copy" => Some(Intrinsic::VaCopy),
        "__builtin_va_end" => Some(Intrinsic::VaEnd),
        _ => None,
    }
}

impl<'a> Checker<'a> {
    /// C's default argument promotions. Host code passes structs by value as well.
    pub fn variadic_argument(&mut self, arg: Value<'a>, number: usize, name: &str) -> Expr {
        let span = arg.span;
        let value = self.promote(arg);
        if self.is_error(&value) {
            return self.poison(Basic::Int.into());
        }
        let ty = value.ty;
        if self.types.basic(ty) == Some(Basic::Float) {
            let expr = self.expr_of(value);
            let double = self.types.ir_type(Basic::Double.into());
            return self.cast(expr, double);
        }
        let record = self.types.record_id(ty).is_some();
        if record && !self.f.space.on_device() && self.copies_bytes(ty) {
            return self.expr_of(value);
        }
        if self.types.is_half(ty) || record {
            let message =
                format!("argument {number} of `{name}` is {}, a class type", self.show(ty));
            let help = if self.types.is_half(ty) {
                "convert it to `float` first"
            } else {
                "pass its members one by one"
            };
            self.error(Code::E0303, span, message).help(help);
            return self.poison(Basic::Int.into());
        }
        if self.types.is_scoped_enum(ty) || self.types.is_scalar(ty) {
            return self.expr_of(value);
        }
        let message = format!("argument {number} of `{name}` has no value: {}", self.show(ty));
        self.error(Code::E0303, span, message);
        self.poison(Basic::Int.into())
    }

    /// Whether objects of the type are copied as their bytes are.
    fn copies_bytes(&self, ty: QualType) -> bool {
        let Some(id) = self.types.record_id(ty) else {
            return match self.types.get(ty.id) {
                CType::Array { elem, .. } => self.copies_bytes(*elem),
                _ => true,
            };
        };
        let record = self.types.record(id);
        !(record.builtin && CLASSES.contains(&record.name.as_str()))
            && record.fields.iter().all(|field| self.copies_bytes(field.ty))
    }

    /// A function of device code with `...`: refused by name.
    pub fn check_variadic(&mut self, func: &Func) {
        if !func.variadic || !func.space.on_device() || func.space == ExecutionSpace::Global {
            return;
        }
        let message = format!("`{}` is device code with variable arguments", func.display);
        self.error(Code::E0239, func.span, message)
            .note("variable arguments of device code are outside the `.cdp` subset")
            .help("write a variadic macro, or pass an array and its length");
    }

    /// `__builtin_va_start(list, last)`, `__builtin_va_copy(to, from)`, `__builtin_va_end(list)`.
    pub fn va_call(
        &mut self,
        op: Intrinsic,
        name: &str,
        args: &'a [ast::Expr],
        at: CallAt,
    ) -> Checked<'a> {
        let wanted = if op == Intrinsic::VaEnd { 1 } else { 2 };
        self.check_count(name, args.len(), wanted, wanted, false, at.args, Span::NONE)?;
        self.check_list_side(name, at.whole)?;
        let mut lists = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            if op == Intrinsic::VaStart && index == 1 {
                // The last parameter, which says nothing that the function does not.
                self.unevaluated_type(arg);
                continue;
            }
            lists.push(self.list_address(arg, name)?);
        }
        let variadic = self.f.func.is_some_and(|id| self.names.func(id).variadic);
        if op == Intrinsic::VaStart && !variadic {
            let message = format!("`{name}` in a function without `...`");
            let help = "end the parameters with `...`, or pass a `va_list`";
            self.error(Code::E0317, at.whole, message).help(help);
            return None;
        }
        Some(self.list_operation(op, lists, Basic::Void.into(), at.whole))
    }

    /// `__builtin_va_arg(list, type)`
    pub fn va_arg(&mut self, arg: &'a ast::VaArgExpr, span: Span) -> Checked<'a> {
        let ast::VaArgExpr { list, ty: name } = arg;
        let ty = self.type_name(name).unqualified();
        let side = self.check_list_side("va_arg", span);
        let list = self.list_address(list, "va_arg");
        side.filter(|()| !self.types.is_error(ty))?;
        let list = list?;
        if let Some((problem, cure)) = self.unreadable(ty) {
            let message = format!("`va_arg` of {}, {problem}", self.show(ty));
            self.error(Code::E0303, name.span, message).help(cure);
            return None;
        }
        Some(self.list_operation(Intrinsic::VaArg, vec![list], ty, span))
    }

    /// Why no variable argument has this type, and what to do.
    fn unreadable(&mut self, ty: QualType) -> Option<(&'static str, String)> {
        if self.types.is_half(ty) || !self.copies_bytes(ty) {
            return Some(("which cannot be passed for `...`", "pass its parts".to_owned()));
        }
        if self.types.basic(ty) == Some(Basic::Float) {
            return Some(("which is passed as `double`", "read a `double`".to_owned()));
        }
        let scalar = self.types.is_scalar(ty);
        let record = self.types.record_id(ty).is_some() && self.types.is_complete(ty);
        if !scalar && !record {
            let cure = "read a pointer to it".to_owned();
            return Some(("which is no type of a value", cure));
        }
        let promoted = self.promoted_type(ty);
        if scalar && promoted.id != ty.id && self.types.layout(promoted) != self.types.layout(ty) {
            let shown = self.show(promoted).to_string();
            return Some(("which is promoted where it is passed", format!("read {shown}")));
        }
        None
    }

    fn list_operation(
        &mut self,
        op: Intrinsic,
        lists: Vec<Expr>,
        ty: QualType,
        span: Span,
    ) -> Value<'a> {
        let loc = self.loc(span);
        let made = self.types.ir_type(ty);
        let expr = Expr::new(ExprKind::Intrinsic { op, args: lists }, made, loc);
        Value::rvalue(expr, ty, span)
    }

    /// Nothing, with a word on why, in device code.
    fn check_list_side(&mut self, name: &str, span: Span) -> Option<()> {
        if !self.f.space.on_device() {
            return Some(());
        }
        let message = format!("`{name}` in device code, which has no variable arguments here");
        self.error(Code::E0240, span, message)
            .help("write a variadic macro, or pass an array and its length");
        None
    }

    /// The address of the list that an expression of type `va_list` names.
    fn list_address(&mut self, list: &'a ast::Expr, name: &str) -> Option<Expr> {
        let value = self.expr(list);
        let value = self.rvalue(value);
        value.sound(&self.types)?;
        let record = self.types.pointee(value.ty).and_then(|to| self.types.record_id(to));
        if record.is_some_and(|id| {
            let record = self.types.record(id);
            record.builtin && record.name == LIST_TAG
        }) {
            return Some(self.expr_of(value));
        }
        let shown = self.show(value.ty);
        let message = format!("an argument of `{name}` is {shown}, where a `va_list` is wanted");
        self.error(Code::E0303, list.span, message);
        None
    }
}
