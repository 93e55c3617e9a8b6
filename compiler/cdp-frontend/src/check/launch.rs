//! Launch sites: the kernel, its configuration and arguments. What CUDA forbids about them is in
//! `launch_rules`; which ABI a launch becomes is not decided in this crate.

use cdp_ir as ir;
use cdp_ir::{Callee, Const, Dim, Expr, ExprKind, Launch};

use super::LaunchFact;
use super::convert::Purpose;
use super::ctype::{Basic, QualType};
use super::overload::{Callable, Candidate, Choice};
use super::scope::{ExecutionSpace, FnId};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::diagnostics::render::counted;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// `kernel<<<grid, block, shared_bytes, stream>>>(args)`.
    pub fn launch(&mut self, launch: &'a ast::LaunchExpr, span: Span) -> Value<'a> {
        let kernel = self.expr(&launch.kernel);
        let config = self.launch_config(launch);
        let args: Vec<Value<'a>> = launch.args.iter().map(|arg| self.expr(arg)).collect();
        if self.is_error(&kernel) {
            return self.void_value(span);
        }
        self.check_launch_place(launch);
        let Some((callee, params, target)) = self.launch_target(kernel, launch, &args) else {
            return self.void_value(span);
        };
        let name = match target {
            Some(id) => self.names.func(id).display.clone(),
            None => self.source_text(launch.kernel.span),
        };
        let list = self.launch_args(&name, target, &params, args, launch);
        self.record_launch(launch, &name, span);
        let (Some((grid, block, shared_bytes, stream)), Some(list)) = (config, list) else {
            return self.void_value(span);
        };
        if self.f.space.on_device() {
            self.check_device_bytes(&name, target, &params, launch);
            self.warn_handles(&params, launch);
        }
        self.launch_site(launch, name, target, span);
        let params = params.iter().map(|&ty| self.types.ir_type(ty)).collect();
        let kernel = match callee {
            Some(pointer) => Callee::Indirect(Box::new(pointer)),
            None => match target {
                Some(id) => Callee::Direct(self.ir_func(id)),
                None => return self.void_value(span),
            },
        };
        let hints = self.f.launch_hints;
        let launch =
            Launch { kernel, params, grid, block, shared_bytes, stream, args: list, hints };
        let (void, loc) = (self.types.ir.void(), self.loc(span));
        let expr = Expr::new(ExprKind::Launch(Box::new(launch)), void, loc);
        Value::rvalue(expr, Basic::Void.into(), span)
    }

    pub fn void_value(&mut self, span: Span) -> Value<'a> {
        let expr = self.dummy(Basic::Void.into());
        Value::rvalue(expr, Basic::Void.into(), span)
    }

    // --- what is launched ----------------------------------------------------------------------

    /// The kernel: an IR pointer when it is called through one, its parameter types, and the
    /// function when it is known.
    #[allow(clippy::type_complexity)]
    fn launch_target(
        &mut self,
        kernel: Value<'a>,
        launch: &'a ast::LaunchExpr,
        args: &[Value<'a>],
    ) -> Option<(Option<Expr>, Vec<QualType>, Option<FnId>)> {
        let span = launch.kernel.span;
        if let Kind::Fns(functions) = &kernel.kind {
            let kernels: Vec<FnId> = functions
                .user
                .iter()
                .copied()
                .filter(|&id| self.names.func(id).space == ExecutionSpace::Global)
                .collect();
            let id = match kernels.as_slice() {
                [] => {
                    self.not_a_kernel(&functions.user, &functions.name, span);
                    return None;
                }
                [one] => *one,
                _ => self.choose_kernel(&functions.name, &kernels, args, span)?,
            };
            let params = self.names.func(id).params.iter().map(|param| param.ty).collect();
            return Some((None, params, Some(id)));
        }
        let value = self.rvalue(kernel);
        if self.is_error(&value) {
            return None;
        }
        let function = self.types.pointee(value.ty).and_then(|to| self.types.fn_type(to).cloned());
        let Some(function) = function else {
            let message = format!("{} cannot be launched", self.show(value.ty));
            self.error(Code::E0411, span, message)
                .note("a launch needs a kernel, or a pointer to one");
            return None;
        };
        if !self.types.is_void(function.ret) {
            let message = format!("{} is not a pointer to a kernel", self.show(value.ty));
            self.error(Code::E0411, span, message).note("a kernel returns `void`");
            return None;
        }
        let pointer = self.expr_of(value);
        Some((Some(pointer), function.params, None))
    }

    fn choose_kernel(
        &mut self,
        name: &str,
        kernels: &[FnId],
        args: &[Value<'a>],
        span: Span,
    ) -> Option<FnId> {
        if args.iter().any(|arg| self.is_error(arg)) {
            return None;
        }
        let candidates: Vec<Candidate> =
            kernels.iter().map(|&id| self.user_candidate(id)).collect();
        match self.resolve(&candidates, args) {
            Choice::One(candidate) => match candidate.callable {
                Callable::User(id) => Some(id),
                Callable::Builtin(_) => None,
            },
            Choice::None | Choice::HostOnly(_) => {
                self.report_choice(name, &candidates, false, args, span);
                None
            }
            Choice::Ambiguous(list) => {
                self.report_choice(name, &list, true, args, span);
                None
            }
        }
    }

    /// E0411: `<<<>>>` on a function that is no kernel.
    fn not_a_kernel(&mut self, functions: &[FnId], name: &str, span: Span) {
        let message = format!("`{name}` is not a kernel, so it cannot be launched");
        let cure = "call it without `<<<...>>>`";
        let Some(&id) = functions.first() else {
            self.error(Code::E0411, span, message).note("it is a builtin function").help(cure);
            return;
        };
        let func = self.names.func(id);
        let (declared, word) = (func.span, func.space.word());
        let or = if self.types.is_void(func.ret) { "declare it `__global__`, or " } else { "" };
        self.error(Code::E0411, span, message)
            .secondary(declared, format!("it is a `{word}` function"))
            .help(format!("{or}{cure}"));
    }

    /// E0410: a kernel called as if it were a function.
    pub fn kernel_called(&mut self, id: FnId, name_span: Span) {
        let func = self.names.func(id);
        let (name, declared) = (func.display.clone(), func.span);
        let message = format!("the kernel `{name}` is called without a launch configuration");
        self.error(Code::E0410, name_span, message)
            .secondary(declared, "declared `__global__` here")
            .suggest("launch it: grid and block first", name_span.after(), "<<<1, 1>>>")
            .help("or declare it `__device__` if it is meant to be called by the thread itself");
    }

    // --- configuration ---------------------------------------------------------------------------

    fn launch_config(&mut self, launch: &'a ast::LaunchExpr) -> Option<(Dim, Dim, Expr, Expr)> {
        let count = launch.config.len();
        if !(2..=4).contains(&count) {
            for config in &launch.config {
                let value = self.expr(config);
                if self.is_error(&value) {
                    return None;
                }
            }
            let message = format!(
                "a launch configuration has 2 to 4 values, but {count} {} given",
                if count == 1 { "is" } else { "are" }
            );
            self.error(Code::E0413, launch.config_span, message)
                .note("they are grid, block, dynamic shared memory in bytes, and stream");
            return None;
        }
        let errors = self.diags.error_count();
        let grid = self.dimension(&launch.config[0], "the grid");
        let block = self.dimension(&launch.config[1], "the block");
        let size_t = self.types.size_t();
        let span = launch.config_span;
        let shared = match launch.config.get(2) {
            Some(expr) => {
                let value = self.expr(expr);
                self.convert_config(value, size_t, "the shared memory size")
            }
            None => {
                let loc = self.loc(span);
                self.const_int(0, size_t, loc)
            }
        };
        let shared = if self.device_pass() {
            let uint = self.types.ir.int(32, false);
            self.shared_as_u32(shared, uint)
        } else {
            shared
        };
        let stream_ty = self.builtin_type("cudaStream_t").unwrap_or(Basic::Error.into());
        let stream = match launch.config.get(3) {
            Some(expr) => {
                let value = self.expr(expr);
                self.convert_config(value, stream_ty, "the stream")
            }
            None => {
                let loc = self.loc(span);
                self.const_expr(Const::Zero, stream_ty, loc)
            }
        };
        (self.diags.error_count() == errors).then_some((grid, block, shared, stream))
    }

    /// The 32-bit size that a device launch takes. A constant keeps its value for the limits to
    /// be judged by: what does not fit is above every limit.
    fn shared_as_u32(&mut self, shared: Expr, uint: ir::TypeId) -> Expr {
        if let Some(value) = self.const_int_value(&shared)
            && value > i128::from(u32::MAX)
        {
            return Expr::new(ExprKind::Const(Const::Int(i128::from(u32::MAX))), uint, shared.loc);
        }
        self.cast(shared, uint)
    }

    /// Converts a configuration value, with the code of launches.
    fn convert_config(&mut self, value: Value<'a>, to: QualType, what: &'static str) -> Expr {
        if !self.is_error(&value) && self.rank(&value, to).is_none() {
            let from = self.show_value(&value);
            let message = format!("{what} is {from}, which does not convert to {}", self.show(to));
            self.error(Code::E0413, value.span, message);
            return self.poison(to);
        }
        self.convert(value, to, Purpose::Operand(what))
    }

    /// A grid or block: a number for x, or a `dim3`.
    fn dimension(&mut self, expr: &'a ast::Expr, what: &'static str) -> Dim {
        let value = self.expr(expr);
        let dim3 = self.builtin_type("dim3").unwrap_or(Basic::Error.into());
        let uint = self.types.ir.int(32, false);
        if !self.is_error(&value)
            && (self.types.is_arithmetic(value.ty) || self.types.is_unscoped_enum(value.ty))
        {
            let loc = self.loc(expr.span);
            let value = self.rvalue(value);
            let x = self.expr_of(value);
            let x = self.cast(x, uint);
            let one = Expr::new(ExprKind::Const(Const::Int(1)), uint, loc);
            return Dim::Xyz(Box::new([x, one.clone(), one]));
        }
        let converted = self.convert_config(value, dim3, what);
        match converted.kind {
            ExprKind::MakeRecord(fields) if fields.len() == 3 => {
                let mut axes = fields.into_iter().map(|(_, axis)| axis);
                match (axes.next(), axes.next(), axes.next()) {
                    (Some(x), Some(y), Some(z)) => Dim::Xyz(Box::new([x, y, z])),
                    _ => Dim::Record(Box::new(self.dummy(dim3))),
                }
            }
            ExprKind::Const(Const::Record(fields)) if fields.len() == 3 => {
                let loc = converted.loc;
                let axis =
                    |index: usize| Expr::new(ExprKind::Const(fields[index].1.clone()), uint, loc);
                Dim::Xyz(Box::new([axis(0), axis(1), axis(2)]))
            }
            _ => Dim::Record(Box::new(converted)),
        }
    }

    // --- arguments -------------------------------------------------------------------------------

    fn launch_args(
        &mut self,
        name: &str,
        target: Option<FnId>,
        params: &[QualType],
        args: Vec<Value<'a>>,
        launch: &'a ast::LaunchExpr,
    ) -> Option<Vec<Expr>> {
        let required = target.map_or(params.len(), |id| self.names.func(id).required());
        let given = args.len();
        if given < required || given > params.len() {
            self.report_launch_count(name, target, given, required, params.len(), launch);
            return None;
        }
        let mut failed = false;
        let mut list = Vec::with_capacity(params.len());
        for (index, arg) in args.into_iter().enumerate() {
            let to = params[index];
            if self.is_error(&arg) {
                failed = true;
                continue;
            }
            if !arg.is_braces() && self.rank(&arg, to).is_none() {
                self.report_launch_type(name, target, index, &arg, to);
                failed = true;
                continue;
            }
            list.push(self.convert(arg, to, Purpose::Argument(index + 1, name)));
        }
        if let Some(id) = target {
            for (index, &ty) in params.iter().enumerate().skip(given) {
                list.push(self.default_argument(id, index, ty, name));
            }
        }
        (!failed).then_some(list)
    }

    fn report_launch_count(
        &mut self,
        name: &str,
        target: Option<FnId>,
        given: usize,
        required: usize,
        most: usize,
        launch: &'a ast::LaunchExpr,
    ) {
        let wanted = if required == most {
            counted(most, "argument")
        } else {
            format!("{required} to {most} arguments")
        };
        let verb = if given == 1 { "is" } else { "are" };
        let message = format!("the kernel `{name}` takes {wanted}, but {given} {verb} given");
        let span = match launch.args.get(most) {
            Some(extra) if given > most => extra.span,
            _ => launch.args_span,
        };
        let func = target.map(|id| self.names.func(id));
        let declared = func.map_or(Span::NONE, |func| func.span);
        let missing = func.filter(|_| given < required).and_then(|func| func.params[given].name);
        let note = missing
            .map(|missing| format!("no value is given for `{}`", self.text(missing.name)))
            .unwrap_or_default();
        self.error(Code::E0401, span, message)
            .secondary(declared, "the kernel is declared here")
            .note(note);
    }

    fn report_launch_type(
        &mut self,
        name: &str,
        target: Option<FnId>,
        index: usize,
        arg: &Value<'a>,
        to: QualType,
    ) {
        let from = self.show_value(arg);
        let param = target.and_then(|id| self.names.func(id).params[index].name);
        let what = match param {
            Some(param) => format!("`{}` of the kernel `{name}`", self.text(param.name)),
            None => format!("parameter {} of the kernel `{name}`", index + 1),
        };
        let message = format!("{from} does not convert to {}, the type of {what}", self.show(to));
        let declared = target.map_or(Span::NONE, |id| self.names.func(id).params[index].span);
        let decayed = self.decay(arg.ty);
        let object =
            self.types.pointee(to).is_some_and(|to| to.id == decayed.id) && arg.is_lvalue();
        let text = self.source_text(arg.span);
        let found = self.error(Code::E0402, arg.span, message).secondary(declared, "the parameter");
        if object {
            found.help(format!(
                "the kernel wants an address; `&{text}` is one if the variable is in global memory"
            ));
        }
    }

    // --- facts -------------------------------------------------------------------------------------

    fn record_launch(&mut self, launch: &'a ast::LaunchExpr, name: &str, span: Span) {
        if self.around.unevaluated > 0 {
            return;
        }
        let text = |checker: &Self, index: usize| {
            launch.config.get(index).map_or(String::new(), |expr| checker.source_text(expr.span))
        };
        let parent = self.f.func.map_or(String::new(), |id| self.names.func(id).display.clone());
        let fact = LaunchFact {
            parent,
            from_device: self.f.space.on_device(),
            child: name.to_owned(),
            grid: text(self, 0),
            block: text(self, 1),
            shared_bytes: text(self, 2),
            stream: text(self, 3),
            span,
        };
        self.graph.launches.push(fact);
    }
}
