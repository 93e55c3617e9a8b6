//! Calls of functions: by name, through pointers, operators as functions, default and variadic
//! arguments. Builtin functions become IR in `builtin_call`; launches are in `launch`.

use cdp_ir::{Callee, Expr, ExprKind, FuncId};

use super::at::{At, CallAt};
use super::convert::Purpose;
use super::ctype::{Basic, CType, FnType, QualType};
use super::overload::{Callable, Choice};
use super::scope::{ExecutionSpace, FnId};
use super::signatures::Accepts;
use super::state::{Checker, PSEUDO_ID};
use super::value::{Checked, FnRef, Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::scopes::Found;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// `callee(args)`.
    pub fn call(&mut self, call: &'a ast::CallExpr, span: Span) -> Checked<'a> {
        let ast::CallExpr { callee, args, args_span } = call;
        let at = CallAt { name: callee.span, args: *args_span, whole: span };
        if let Some(value) = self.gnu_call(callee, args, at) {
            return value;
        }
        // An unknown name whose arguments have a type of a namespace may be found there.
        let adl = self.adl_only_name(callee);
        let target = match &adl {
            Some(name) => {
                let kind =
                    Kind::Fns(FnRef { name: name.clone(), user: Vec::new(), builtin: Vec::new() });
                Value::new(kind, Basic::Error.into(), callee.span)
            }
            None => self.expr(callee),
        };
        if adl.is_some() {
            let values: Vec<Value<'a>> = args.iter().map(|arg| self.expr(arg)).collect();
            let Kind::Fns(functions) = target.kind else { return None };
            if self.candidates(&functions, &values).is_empty() {
                self.expr(callee);
                return None;
            }
            return self.call_named(functions, values, at);
        }
        if let [ast::Expr { kind: ast::ExprKind::Error, .. }] = args.as_slice() {
            // Nobody knows how many arguments there were to be.
            return None;
        }
        self.call_value(target, args, at)
    }

    /// A call of a checked callee.
    pub fn call_value(
        &mut self,
        target: Value<'a>,
        args: &'a [ast::Expr],
        at: CallAt,
    ) -> Checked<'a> {
        let symbols = self.takes_symbol(&target);
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let before = std::mem::replace(&mut self.around.symbol_context, symbols);
            values.push(self.expr(arg));
            self.around.symbol_context = before;
        }
        let at = CallAt { name: target.span, ..at };
        match target.kind {
            Kind::Fns(functions) => self.call_named(functions, values, at),
            _ if self.is_error(&target) => None,
            _ => self.call_pointer(target, values, at),
        }
    }

    /// The name of a callee that only argument-dependent look-up may find.
    fn adl_only_name(&self, callee: &'a ast::Expr) -> Option<String> {
        let ast::ExprKind::Name(symbol) = callee.kind else { return None };
        if !matches!(self.names.scopes.lookup(symbol, |_| true), Found::None) {
            return None;
        }
        let text = self.text(symbol);
        let known = !self.visible_builtins(text, false).is_empty()
            || super::builtins::lookup_constant(text).is_some()
            || super::builtins::lookup_variable(text).is_some();
        (!known && self.names.scopes.has_several()).then(|| text.to_owned())
    }

    /// Whether a builtin function wants a device variable by name.
    fn takes_symbol(&mut self, target: &Value<'a>) -> bool {
        let Kind::Fns(functions) = &target.kind else { return false };
        let rows = functions.builtin.clone();
        rows.iter().any(|row| self.builtin_candidate(*row).params.contains(&Accepts::Symbol))
    }

    fn call_named(&mut self, functions: FnRef, args: Vec<Value<'a>>, at: CallAt) -> Checked<'a> {
        let candidates = self.candidates(&functions, &args);
        if args.iter().any(|arg| self.is_error(arg)) && candidates.len() != 1 {
            return None;
        }
        let chosen = match candidates.as_slice() {
            [one] => one.clone(),
            _ => match self.resolve(&candidates, &args) {
                Choice::One(candidate) => candidate,
                Choice::HostOnly(candidate) => {
                    self.report_host_overload(&candidate, &functions.name, &args, at.name);
                    return None;
                }
                Choice::None => {
                    let list = candidates.clone();
                    self.report_choice(&functions.name, &list, false, &args, at.name);
                    return None;
                }
                Choice::Ambiguous(list) => {
                    self.report_choice(&functions.name, &list, true, &args, at.name);
                    return None;
                }
            },
        };
        match chosen.callable {
            Callable::User(id) => self.call_user(id, args, at),
            Callable::Builtin(overload) => self.call_builtin(overload, args, at),
        }
    }

    /// Calls a function of the program.
    pub fn call_user(&mut self, id: FnId, args: Vec<Value<'a>>, at: CallAt) -> Checked<'a> {
        if self.names.func(id).space == ExecutionSpace::Global {
            self.kernel_called(id, at.name);
            return None;
        }
        let constexpr = self.names.func(id).constexpr;
        if !self.check_call_side(id, at.name) {
            return None;
        }
        let func = self.names.func(id);
        if func.auto_ret {
            let message = format!("`{}` is used before its type is deduced", func.display);
            self.error(Code::E0331, at.name, message);
            return None;
        }
        let (name, ret) = (func.display.clone(), func.ret);
        let params: Vec<QualType> = func.params.iter().map(|param| param.ty).collect();
        let variadic = func.variadic;
        let declared = func.span;
        let required = func.required();
        self.check_count(&name, args.len(), required, params.len(), variadic, at.args, declared)?;
        self.check_format(&name, id, &args);
        let given = args.len();
        let mut list = self.arguments(args, &params, &name);
        for (index, &ty) in params.iter().enumerate().skip(given) {
            let value = self.default_argument(id, index, ty, &name);
            list.push(value);
        }
        if constexpr && let Some(value) = self.constexpr_call(id, &list, ret, at.whole) {
            return Some(value);
        }
        self.note_call(id);
        let callee = Callee::Direct(self.ir_func(id));
        Some(self.finish_call(callee, list, ret, at.whole))
    }

    /// The arguments that are given, as a function takes them.
    fn arguments(&mut self, args: Vec<Value<'a>>, params: &[QualType], name: &str) -> Vec<Expr> {
        let mut list = Vec::with_capacity(params.len().max(args.len()));
        for (index, arg) in args.into_iter().enumerate() {
            list.push(match params.get(index) {
                Some(&ty) => self.convert(arg, ty, Purpose::Argument(index + 1, name)),
                None => self.variadic_argument(arg, index + 1, name),
            });
        }
        list
    }

    /// Keeps a call between functions of the program for `cdpc graph`.
    fn note_call(&mut self, callee: FnId) {
        let Some(caller) = self.f.func else { return };
        if self.around.unevaluated > 0
            || self.graph.called.insert((caller.0, callee.0), ()).is_some()
        {
            return;
        }
        let fact = super::CallFact {
            caller: self.names.func(caller).display.clone(),
            callee: self.names.func(callee).display.clone(),
        };
        self.graph.calls.push(fact);
    }

    /// The value of a `constexpr` function's call, when its arguments are constant: neither side
    /// of the program then has to have the function.
    fn constexpr_call(
        &mut self,
        id: FnId,
        args: &[Expr],
        ret: QualType,
        span: Span,
    ) -> Option<Value<'a>> {
        if self.types.is_void(ret) || self.types.referent(ret).is_some() {
            return None;
        }
        let constant = self.evaluator().call(FuncId(PSEUDO_ID | id.0), args)?;
        if !self.may_stand(&constant) {
            return None;
        }
        let loc = self.loc(span);
        Some(Value::rvalue(self.const_expr(constant, ret, loc), ret, span))
    }

    /// The call itself; a result of reference type is an lvalue.
    pub fn finish_call(
        &mut self,
        callee: Callee,
        args: Vec<Expr>,
        ret: QualType,
        span: Span,
    ) -> Value<'a> {
        let loc = self.loc(span);
        let ty = self.types.ir_type(ret);
        let expr = Expr::new(ExprKind::Call { callee, args }, ty, loc);
        match *self.types.get(ret.id) {
            CType::Reference { to, rvalue } => Value::referred(expr, to, rvalue, span),
            _ => Value::rvalue(expr, ret, span),
        }
    }

    /// Nothing, with a word on why, for another number of arguments than a function takes.
    #[allow(clippy::too_many_arguments)]
    pub fn check_count(
        &mut self,
        name: &str,
        given: usize,
        required: usize,
        most: usize,
        variadic: bool,
        args_span: Span,
        declared: Span,
    ) -> Option<()> {
        if given >= required && (given <= most || variadic) {
            return Some(());
        }
        let wanted = match (required == most, variadic) {
            (_, true) => format!("at least {required}"),
            (true, _) => required.to_string(),
            (false, _) => format!("{required} to {most}"),
        };
        let plural = if wanted == "1" { "" } else { "s" };
        let message = format!("`{name}` takes {wanted} argument{plural}, but {given} are given");
        let message =
            if given == 1 { message.replace("1 are given", "1 is given") } else { message };
        self.error(Code::E0306, args_span, message)
            .secondary(declared, format!("`{name}` is declared here"));
        None
    }

    /// The value of an argument that the call leaves out: the declaration's expression, with the
    /// names that are in scope there.
    pub fn default_argument(&mut self, id: FnId, index: usize, ty: QualType, name: &str) -> Expr {
        let func = self.names.func(id);
        let (default, ns) = (func.params[index].default, func.ns);
        let Some(default) = default else { return self.poison(ty) };
        let aside = self.names.scopes.set_aside(ns);
        let value = self.expr(self.arena.kept(default));
        let expr = self.convert(value, ty, Purpose::Argument(index + 1, name));
        self.names.scopes.take_back(aside);
        expr
    }

    /// A call through a pointer (or reference) to a function.
    fn call_pointer(&mut self, target: Value<'a>, args: Vec<Value<'a>>, at: CallAt) -> Checked<'a> {
        let target_span = target.span;
        let value = self.rvalue(target);
        value.sound(&self.types)?;
        let function = self.types.pointee(value.ty).and_then(|to| self.types.fn_type(to).cloned());
        let Some(FnType { ret, params, variadic }) = function else {
            let message = format!("{} cannot be called", self.show(value.ty));
            self.error(Code::E0318, target_span, message);
            return None;
        };
        let name = self.source_text(target_span);
        let count = params.len();
        self.check_count(&name, args.len(), count, count, variadic, at.args, Span::NONE)?;
        let callee = self.expr_of(value);
        let list = self.arguments(args, &params, &name);
        Some(self.finish_call(Callee::Indirect(Box::new(callee)), list, ret, at.whole))
    }

    /// An operator on class or enumeration operands as a call of a free function. `Err` gives the
    /// operands back when the operator is a builtin one. `op` is its spelling, in parts.
    pub fn overloaded<const N: usize>(
        &mut self,
        op: &[&str],
        args: [Value<'a>; N],
        at: At,
    ) -> Result<Checked<'a>, [Value<'a>; N]> {
        let class = |ty| {
            self.types.record_id(ty).is_some()
                || self.types.enum_id(ty).is_some()
                || self.types.is_half(ty)
        };
        if !args.iter().any(|arg| class(arg.ty)) {
            return Err(args);
        }
        let halves =
            args.iter().all(|arg| self.types.is_half(arg.ty) && arg.ty.id == args[0].ty.id);
        if halves || args.iter().any(|arg| self.is_error(arg)) {
            return Err(args);
        }
        let name = format!("operator{}", op.concat());
        let symbol = self.session.names.lookup(&name);
        let found = symbol.map(|symbol| self.names.scopes.lookup(symbol, |_| true));
        let user = found.map_or(Vec::new(), |found| self.functions_of(&found));
        // Enumerations have builtin operators, which are better than a conversion to a class.
        let has_class = |ty| self.types.record_id(ty).is_some() || self.types.is_half(ty);
        let builtin = if args.iter().any(|arg| has_class(arg.ty)) {
            self.visible_builtins(&name, false)
        } else {
            Default::default()
        };
        let functions = FnRef { name: name.clone(), user, builtin };
        let candidates = self.candidates(&functions, &args);
        if candidates.is_empty() {
            return Err(args);
        }
        match self.resolve(&candidates, &args) {
            Choice::None | Choice::HostOnly(_) => Err(args),
            Choice::One(chosen) => Ok(match chosen.callable {
                Callable::User(id) => self.call_user(id, args.into(), at.as_call()),
                Callable::Builtin(overload) => {
                    self.call_builtin(overload, args.into(), at.as_call())
                }
            }),
            Choice::Ambiguous(list) => {
                self.report_choice(&name, &list, true, &args, at.op);
                Ok(None)
            }
        }
    }
}
