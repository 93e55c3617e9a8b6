//! Builtin names from the tables: their types, and calls as IR.
//!
//! What each name means is `builtins`' to say; this module turns a row into the checker's types and
//! a call into the operation that the row names.

use std::rc::Rc;

use cdp_ir as ir;
use cdp_ir::{Callee, CastKind, Expr, ExprKind};

use super::at::CallAt;
use super::builtins::{self, BuiltinVariable, Lower, Mode, Overload, Pass, SigBase, SigType};
use super::convert::Purpose;
use super::ctype::{Basic, QualType};
use super::overload::{Callable, Candidate};
use super::signatures::{Accepts, BuiltinSig};
use super::state::{Checker, NO_ID};
use super::value::{Checked, FnRef, Kind, Value};
use crate::ast::{self};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    // --- names -------------------------------------------------------------------------------

    /// The rows of a function name that code at hand may use without writing a type after it.
    pub fn visible_builtins(&self, name: &str, in_std: bool) -> Vec<Overload> {
        let mut rows = builtins::lookup_function(name);
        rows.retain(|row| {
            let flags = &row.func.flags;
            (!flags.internal || self.f.builtin_body)
                && (!in_std || flags.std)
                && !flags.explicit_type
        });
        rows
    }

    /// `tex2D<float4>`: the rows whose type it is.
    pub fn builtin_template(&mut self, with: &'a ast::TemplateName, span: Span) -> Checked<'a> {
        let ast::TemplateName { name, types } = with;
        let text = self.text(name.base.name).to_owned();
        let written: Vec<QualType> = types.iter().map(|ty| self.type_name(ty)).collect();
        let &[wanted] = written.as_slice() else {
            let message = format!("`{text}` takes one type between `<` and `>`");
            self.error(Code::E0306, span, message);
            return None;
        };
        if self.types.is_error(wanted) {
            return None;
        }
        let mut rows = builtins::lookup_function(&text);
        rows.retain(|row| {
            let of_type = row.subst.is_some_and(|subst| {
                let ty = self.sig_type(SigType::parse(subst, None));
                ty.id == wanted.id && wanted == wanted.unqualified()
            });
            of_type && (row.func.flags.explicit_type || row.func.flags.template)
        });
        if rows.is_empty() {
            let all = builtins::lookup_function(&text);
            let mut known: Vec<&str> = all.iter().filter_map(|row| row.subst).collect();
            known.sort_unstable();
            known.dedup();
            let shown = self.show(wanted);
            let message = format!("`{text}` is not there for {shown}");
            let note = format!("it is there for {}", known.join(", "));
            self.error(Code::E0306, types[0].span, message).note(note);
            return None;
        }
        let kind = Kind::Fns(FnRef { name: text, user: Vec::new(), builtin: rows });
        Some(Value::new(kind, Basic::Error.into(), span))
    }

    /// `threadIdx` and its like.
    pub fn builtin_variable(
        &mut self,
        variable: &'static BuiltinVariable,
        span: Span,
    ) -> Value<'a> {
        if self.f.in_function() && !self.f.space.on_device() {
            self.report_device_variable(variable, span);
            return self.error_value(span);
        }
        let ty = self.sig_type(SigType::parse(variable.ty, None)).as_const();
        Value::new(Kind::Builtin(variable), ty, span)
    }

    /// E0509 for the first builtin variable that a function of the host uses: one cure is for all of them.
    fn report_device_variable(&mut self, variable: &BuiltinVariable, span: Span) {
        if std::mem::replace(&mut self.f.device_variable, true) {
            return;
        }
        let func = self.f.func.map(|id| self.names.func(id));
        let cure = func.filter(|func| func.symbol != "main").map(|func| {
            let name = &func.display;
            match self.types.is_void(func.ret) {
                true => format!(
                    "declare `{name}` as `__global__` if it is to be launched, or `__device__`"
                ),
                false => format!("declare `{name}` as `__device__`"),
            }
        });
        let message = format!("`{}` is known on the device only", variable.name);
        self.error(Code::E0509, span, message)
            .note("this function runs on the host, where there are no threads and blocks")
            .help(cure.unwrap_or_default());
    }

    pub fn builtin_constant(&mut self, name: &str, span: Span) -> Option<Value<'a>> {
        let constant = builtins::lookup_constant(name)?;
        let ty = self.sig_type(SigType::parse(constant.ty, None));
        self.check_stream_constant(name, span);
        Some(self.int_value(constant.value, ty, span))
    }

    // --- signatures --------------------------------------------------------------------------

    pub fn builtin_sig(&mut self, overload: Overload) -> Rc<BuiltinSig> {
        let key = overload.key();
        if let Some(found) = self.builtins.signatures.get(&key) {
            return found.clone();
        }
        let parsed = overload.signature();
        let ret = self.sig_type(parsed.ret);
        let params: Vec<Accepts> = parsed
            .params
            .iter()
            .map(|param| match param.ty.base {
                SigBase::Any => {
                    Accepts::AnyPointer { levels: param.ty.pointers, is_const: param.ty.is_const }
                }
                SigBase::Kernel => Accepts::Kernel,
                SigBase::Symbol => Accepts::Symbol,
                _ => Accepts::Type(self.sig_type(param.ty)),
            })
            .collect();
        let sig = Rc::new(BuiltinSig {
            ret,
            params: params.into(),
            defaults: parsed.params.iter().map(|param| param.default).collect(),
            required: parsed.required_count(),
            variadic: parsed.variadic,
        });
        self.builtins.signatures.insert(key, sig.clone());
        sig
    }

    pub fn builtin_candidate(&mut self, overload: Overload) -> Candidate {
        let sig = self.builtin_sig(overload);
        Candidate {
            callable: Callable::Builtin(overload),
            params: sig.params.clone(),
            required: sig.required,
            variadic: sig.variadic,
        }
    }

    /// The row as a declaration, for messages.
    pub fn show_builtin(&self, overload: &Overload) -> String {
        let (name, signature) = (overload.func.name, overload.func.signature);
        let (ret, params) = signature.split_once('(').unwrap_or(("", signature));
        let replace = |text: &str| match overload.subst {
            Some(subst) => text
                .split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .map(|piece| match piece.strip_prefix('T') {
                    Some(rest)
                        if !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') =>
                    {
                        format!("{subst}{rest}")
                    }
                    _ => piece.to_owned(),
                })
                .collect::<String>(),
            None => text.to_owned(),
        };
        let params = replace(params).replace(',', ", ").replace(",  ", ", ");
        format!("{} {name}({params}", replace(ret))
    }

    fn mode(&self) -> Mode {
        Mode {
            pass: if self.on_device() { Pass::Device } else { Pass::Host },
            sm: self.options.arch as u16,
            fast_math: self.options.fast_math,
        }
    }

    /// What a row is in the pass and mode at hand.
    pub fn builtin_lowering(&self, overload: Overload) -> Lower {
        overload.lower(&self.mode())
    }

    // --- calls -------------------------------------------------------------------------------

    pub fn call_builtin(
        &mut self,
        overload: Overload,
        args: Vec<Value<'a>>,
        at: CallAt,
    ) -> Checked<'a> {
        let name = overload.func.name;
        let sig = self.builtin_sig(overload);
        if !self.builtin_available(&overload, at.name) {
            return None;
        }
        let lower = overload.lower(&self.mode());
        if let Lower::Refuse(cure) = lower {
            self.refuse_builtin(&overload, cure, at.name);
            return None;
        }
        let (given, most) = (args.len(), sig.params.len());
        let declared = Span::NONE;
        self.check_count(name, given, sig.required, most, sig.variadic, at.args, declared)?;
        if self.around.unevaluated == 0
            && !self.check_builtin_call(&overload, lower, &args, at.name)
        {
            return None;
        }
        if self.around.unevaluated == 0 && !self.f.skips() {
            let row = overload.func;
            self.builtins.called.insert(std::ptr::from_ref(row) as usize, row);
        }
        self.call_site(lower, overload.func.name, &args, at);
        let list = self.builtin_args(&sig, args, name, at.whole);
        if list.is_none() || self.types.is_error(sig.ret) {
            return None;
        }
        let list = list.unwrap_or_default();
        self.lower_builtin(overload, lower, &sig, list, at.whole)
    }

    fn builtin_args(
        &mut self,
        sig: &BuiltinSig,
        args: Vec<Value<'a>>,
        name: &str,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let given = args.len();
        let mut list = Vec::with_capacity(sig.params.len().max(given));
        let mut failed = false;
        for (index, arg) in args.into_iter().enumerate() {
            failed |= self.is_error(&arg);
            let written = arg.span;
            let expr = match sig.params.get(index).copied() {
                Some(Accepts::Type(ty)) => {
                    let expr = self.convert(arg, ty, Purpose::Argument(index + 1, name));
                    self.check_constant_argument(&expr, ty, written);
                    expr
                }
                Some(Accepts::AnyPointer { levels, is_const }) => {
                    self.any_pointer(arg, levels, is_const, index + 1, name)
                }
                Some(Accepts::Kernel) => self.kernel_argument(arg, index + 1, name),
                Some(Accepts::Symbol) => self.symbol_argument(arg, index + 1, name),
                None => self.variadic_argument(arg, index + 1, name),
            };
            list.push(expr);
        }
        for index in given..sig.params.len() {
            let Accepts::Type(ty) = sig.params[index] else { continue };
            let value = sig.defaults[index].unwrap_or(0);
            let loc = self.loc(span);
            let int = self.const_int(value, ty, loc);
            list.push(int);
        }
        (!failed).then_some(list)
    }

    fn any_pointer(
        &mut self,
        arg: Value<'a>,
        levels: u8,
        is_const: bool,
        number: usize,
        name: &str,
    ) -> Expr {
        let void: QualType = Basic::Void.into();
        let mut to = if is_const { void.as_const() } else { void };
        for _ in 0..levels {
            to = self.types.pointer_to(to);
        }
        let mut ty = self.decay(arg.ty);
        let mut depth = 0;
        while depth < levels
            && let Some(pointee) = self.types.pointee(ty)
        {
            ty = pointee;
            depth += 1;
        }
        let as_it_is = depth == levels && (levels > 1 || self.types.is_function(ty));
        if as_it_is || matches!(arg.kind, Kind::Fns(_)) {
            let value = self.rvalue(arg);
            let expr = self.expr_of(value);
            return self.pointer_cast(expr, to);
        }
        self.convert(arg, to, Purpose::Argument(number, name))
    }

    fn kernel_argument(&mut self, arg: Value<'a>, number: usize, name: &str) -> Expr {
        let to = self.types.pointer_to(QualType::from(Basic::Void).as_const());
        if let Kind::Fns(functions) = &arg.kind {
            let kernels = functions.user.len();
            if kernels != 1 {
                let message = format!("argument {number} of `{name}` names several functions");
                self.error(Code::E0307, arg.span, message);
                return self.dummy(to);
            }
            let expr = self.function_address(functions.user[0], arg.span);
            return self.pointer_cast(expr, to);
        }
        let (span, value) = (arg.span, self.rvalue(arg));
        if !self.types.is_pointer(value.ty) && !value.null {
            if !self.is_error(&value) {
                let message = format!("argument {number} of `{name}` is no kernel");
                self.error(Code::E0303, span, message);
            }
            return self.dummy(to);
        }
        let expr = self.expr_of(value);
        self.pointer_cast(expr, to)
    }

    fn symbol_argument(&mut self, arg: Value<'a>, number: usize, name: &str) -> Expr {
        let to = self.types.pointer_to(QualType::from(Basic::Void).as_const());
        // A string literal is an object too.
        let quoted = self.source_text(arg.span).starts_with('"');
        if !arg.is_lvalue() || matches!(arg.kind, Kind::Fns(_)) || quoted {
            let message = format!("argument {number} of `{name}` names no device variable");
            self.error(Code::E0303, arg.span, message)
                .help("give the variable itself, not its address or its name in quotes");
            return self.dummy(to);
        }
        let addr = self.address(arg);
        self.pointer_cast(addr, to)
    }

    fn lower_builtin(
        &mut self,
        overload: Overload,
        lower: Lower,
        sig: &BuiltinSig,
        mut args: Vec<Expr>,
        span: Span,
    ) -> Checked<'a> {
        let loc = self.loc(span);
        let ret = sig.ret;
        let ty = self.types.ir_type(ret);
        let kind = match lower {
            Lower::Intrinsic(op) => ExprKind::Intrinsic { op, args },
            Lower::Runtime(func) => ExprKind::RuntimeCall { func, args },
            Lower::Printf => ExprKind::Printf { args },
            Lower::Extern(symbol) => {
                let function = self.extern_function(symbol, overload, sig);
                return Some(self.finish_call(Callee::Direct(function), args, ret, span));
            }
            Lower::Inline(body) => {
                let function = self.inline_function(overload, body);
                return Some(self.finish_call(Callee::Direct(function), args, ret, span));
            }
            Lower::Cast(kind) => {
                let operand = args.pop()?;
                if operand.ty == ty && kind != CastKind::Bitcast {
                    return Some(Value::rvalue(operand, ret, span));
                }
                ExprKind::Cast { kind, operand: Box::new(operand) }
            }
            Lower::Unary(op) => ExprKind::Unary { op, operand: Box::new(args.pop()?) },
            Lower::Binary(op) => {
                let (rhs, lhs) = (Box::new(args.pop()?), Box::new(args.pop()?));
                ExprKind::Binary { op, lhs, rhs }
            }
            Lower::Compare(op) => {
                let (rhs, lhs) = (Box::new(args.pop()?), Box::new(args.pop()?));
                ExprKind::Compare { op, lhs, rhs }
            }
            _ => return None,
        };
        let expr = self.folded(Expr::new(kind, ty, loc));
        Some(match self.types.referent(ret) {
            Some(to) => Value::lvalue(expr, to, span),
            None => Value::rvalue(expr, ret, span),
        })
    }

    /// The declaration of an `extern "C"` function that a row calls.
    pub fn extern_function(
        &mut self,
        symbol: &'static str,
        overload: Overload,
        sig: &BuiltinSig,
    ) -> ir::FuncId {
        if let Some(&found) = self.builtins.externs.get(symbol) {
            return found;
        }
        if self.f.skips() {
            return ir::FuncId(NO_ID);
        }
        // The program may declare the function itself.
        let known = self.module.functions.iter().position(|function| function.symbol == symbol);
        if let Some(index) = known {
            return ir::FuncId(index as u32);
        }
        let locals: Vec<ir::Local> = sig
            .params
            .iter()
            .map(|&param| {
                let ty = self.param_ir(param);
                let align = self.types.ir.layout(ty).align.max(1);
                let param = ir::ParamAttrs::default();
                ir::Local { name: String::new(), ty, align, param, loc: ir::Loc::default() }
            })
            .collect();
        let ret = self.types.ir_type(sig.ret);
        let made = self.module.add_function(ir::Function {
            name: symbol.to_owned(),
            symbol: symbol.to_owned(),
            kind: if self.device_pass() {
                ir::FunctionKind::Device
            } else {
                ir::FunctionKind::Host
            },
            linkage: ir::Linkage::External,
            ret,
            param_count: locals.len() as u32,
            variadic: sig.variadic,
            locals,
            attrs: ir::FnAttrs { noreturn: overload.func.flags.noreturn, ..ir::FnAttrs::default() },
            body: None,
            loc: ir::Loc::default(),
            end: ir::Loc::default(),
        });
        self.builtins.externs.insert(symbol, made);
        made
    }

    fn param_ir(&mut self, param: Accepts) -> ir::TypeId {
        match param {
            Accepts::Type(ty) => self.types.ir_type(ty),
            Accepts::AnyPointer { levels, .. } => {
                let mut ty = self.types.ir.void();
                for _ in 0..levels {
                    ty = self.types.ir.pointer_to(ty);
                }
                ty
            }
            Accepts::Kernel | Accepts::Symbol => {
                let void = self.types.ir.void();
                self.types.ir.pointer_to(void)
            }
        }
    }

    /// Calls a builtin function by name with IR arguments of its parameter types, for what the
    /// language itself needs (`new`, `delete`).
    pub fn call_by_name(&mut self, name: &'static str, args: Vec<Expr>, span: Span) -> Checked<'a> {
        let overload = builtins::lookup_function(name).into_iter().next()?;
        let sig = self.builtin_sig(overload);
        let lower = overload.lower(&self.mode());
        self.lower_builtin(overload, lower, &sig, args, span)
    }
}
