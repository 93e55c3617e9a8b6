//! Functions: prototypes, definitions, their CUDA words, and the check of bodies.

use cdp_ir as ir;

use super::ctype::{Basic, QualType, Quals};
use super::mangle;
use super::scope::{ExecutionSpace, FnId, Func, ParamInfo};
use super::state::Checker;
use crate::ast::{self, AttrKind, CudaWord, DeclaratorPart, StorageKind};
use crate::attributes::{Known, known};
use crate::diagnostics::{Code, NAME_IT_CU};
use crate::scopes::ScopeId;
use crate::source::Span;

/// The CUDA and inlining words of a function's declaration.
#[derive(Default)]
struct Specified {
    global: Option<Span>,
    device: Option<Span>,
    host: Option<Span>,
    attrs: ir::FnAttrs,
    bounds: bool,
}

impl Specified {
    fn space(&self) -> ExecutionSpace {
        match (self.global, self.device, self.host) {
            (Some(_), _, _) => ExecutionSpace::Global,
            (None, Some(_), Some(_)) => ExecutionSpace::HostDevice,
            (None, Some(_), None) => ExecutionSpace::Device,
            _ => ExecutionSpace::Host,
        }
    }

    fn span(&self) -> Span {
        self.global.or(self.device).or(self.host).unwrap_or(Span::NONE)
    }
}

impl<'a> Checker<'a> {
    /// A function's declaration without a body.
    pub fn prototype(
        &mut self,
        specs: &'a ast::DeclSpecs,
        declarator: &'a ast::InitDeclarator,
        ty: QualType,
    ) {
        if let Some(init) = &declarator.init {
            self.error(Code::E0317, init.span, "a function cannot be initialised");
        }
        if self.names.scopes.depth() > 0
            && let Some(span) = specs.storage_span(StorageKind::Static)
        {
            self.error(Code::E0317, span, "a `static` function declared in a block")
                .help("declare it at file scope");
        }
        self.declare_function(specs, &declarator.declarator, ty, false);
    }

    /// A function with its body.
    pub fn function_def(&mut self, def: &'a ast::FunctionDef) {
        let base = self.spec_type(&def.specs);
        let ty = self.declarator_type(base, &def.declarator);
        if !self.types.is_function(ty) {
            if !self.types.is_error(ty) {
                self.error(
                    Code::E0317,
                    def.declarator.span,
                    "a body for something that is no function",
                );
            }
            return;
        }
        if self.names.scopes.depth() > 0 {
            self.error(Code::E0317, def.declarator.span, "a function inside a function");
            return;
        }
        if let Some(id) = self.declare_function(&def.specs, &def.declarator, ty, true) {
            self.body(id, def);
        }
    }

    // --- declarations --------------------------------------------------------------------------

    fn words(&mut self, specs: &'a ast::DeclSpecs, declarator: &'a ast::Declarator) -> Specified {
        let mut words = Specified::default();
        if specs.has(StorageKind::Inline) || specs.has(StorageKind::Constexpr) {
            words.attrs.inline = ir::Inline::Hint;
        }
        for attr in specs.attrs.iter().chain(&declarator.attrs) {
            match &attr.kind {
                AttrKind::Cuda(CudaWord::Global) => words.global = Some(attr.span),
                AttrKind::Cuda(CudaWord::Device) => words.device = Some(attr.span),
                AttrKind::Cuda(CudaWord::Host) => words.host = Some(attr.span),
                AttrKind::Cuda(CudaWord::ForceInline) => words.attrs.inline = ir::Inline::Always,
                AttrKind::Cuda(CudaWord::NoInline) => words.attrs.inline = ir::Inline::Never,
                AttrKind::LaunchBounds(args) => self.launch_bounds(args, attr.span, &mut words),
                AttrKind::MaxNReg(args) => {
                    if let Some(value) =
                        args.first().and_then(|arg| self.positive(arg, "`__maxnreg__`"))
                    {
                        words.attrs.max_registers = value;
                    }
                    words.bounds = true;
                }
                AttrKind::ClusterDims(args) => {
                    let mut dims = [1; 3];
                    for (dim, arg) in dims.iter_mut().zip(args) {
                        *dim = self.positive(arg, "a cluster dimension").unwrap_or(1);
                    }
                    words.attrs.cluster_dims = dims;
                    words.bounds = true;
                }
                AttrKind::Cuda(CudaWord::Constant)
                | AttrKind::Cuda(CudaWord::Shared)
                | AttrKind::Cuda(CudaWord::Managed)
                | AttrKind::Cuda(CudaWord::GridConstant) => {
                    let message = "this word belongs to variables, not to functions";
                    self.error(Code::E0505, attr.span, message);
                }
                AttrKind::Gnu { name, .. } | AttrKind::Std { name, .. } => {
                    match known(self.text(name.name)) {
                        Some(Known::NoReturn) => words.attrs.noreturn = true,
                        Some(Known::NoInline) => words.attrs.inline = ir::Inline::Never,
                        Some(Known::AlwaysInline) => words.attrs.inline = ir::Inline::Always,
                        Some(Known::Packed | Known::Aligned) | None => {}
                    }
                }
                AttrKind::Align(_) | AttrKind::AlignType(_) => {
                    self.error(Code::E0326, attr.span, "a function has no alignment");
                }
            }
        }
        if words.bounds && words.global.is_none() {
            let attr = specs.attrs.iter().chain(&declarator.attrs).find(|attr| {
                matches!(
                    attr.kind,
                    AttrKind::LaunchBounds(_) | AttrKind::MaxNReg(_) | AttrKind::ClusterDims(_)
                )
            });
            if let Some(attr) = attr {
                self.error(Code::E0326, attr.span, "this attribute belongs to kernels");
            }
        }
        if let (Some(global), Some(other)) = (words.global, words.device.or(words.host)) {
            let message = "a kernel is neither a `__device__` nor a `__host__` function";
            self.error(Code::E0508, other, message)
                .secondary(global, "`__global__` makes it a kernel")
                .note("a kernel runs on the device and is launched from either side");
        }
        words
    }

    /// A constant of at least 1.
    fn positive(&mut self, arg: &'a ast::Expr, what: &str) -> Option<u32> {
        let (value, _) = self.const_integer(arg, what)?;
        if value < 1 || value > i128::from(u32::MAX) {
            self.error(Code::E0326, arg.span, format!("{what} is at least 1, not {value}"));
            return None;
        }
        Some(value as u32)
    }

    fn launch_bounds(&mut self, args: &'a [ast::Expr], span: Span, words: &mut Specified) {
        words.bounds = true;
        if args.is_empty() || args.len() > 3 {
            self.error(Code::E0326, span, "`__launch_bounds__` takes one to three numbers");
            return;
        }
        let mut values = [0u32; 3];
        for (value, arg) in values.iter_mut().zip(args) {
            if let Some((number, _)) = self.const_integer(arg, "an argument of `__launch_bounds__`")
            {
                if !(0..=i128::from(u32::MAX)).contains(&number) {
                    self.error(Code::E0326, arg.span, "the number is out of range");
                    continue;
                }
                *value = number as u32;
            }
        }
        if u64::from(values[0]) > cdp_launch::limits::MAX_BLOCK_THREADS {
            let message = format!("a block has at most 1,024 threads, not {}", values[0]);
            self.error(Code::E0326, args[0].span, message);
        }
        words.attrs.launch_bounds = ir::LaunchBounds {
            max_threads_per_block: values[0],
            min_blocks_per_multiprocessor: values[1],
            max_blocks_per_cluster: values[2],
        };
    }

    /// Declares (or declares again) a function; `None` when it cannot be.
    pub fn declare_function(
        &mut self,
        specs: &'a ast::DeclSpecs,
        declarator: &'a ast::Declarator,
        ty: QualType,
        defines: bool,
    ) -> Option<FnId> {
        let name = declarator.name.as_ref()?;
        let defines_type = match &specs.ty.kind {
            ast::TypeSpecKind::Record(spec) => spec.members.is_some(),
            ast::TypeSpecKind::Enum(spec) => spec.enumerators.is_some(),
            _ => false,
        };
        if defines_type {
            let message = "a type is defined in the result of a function";
            self.error(Code::E0317, specs.ty.span, message);
        }
        let words = self.words(specs, declarator);
        let mut params = match declarator
            .parts
            .iter()
            .find(|part| matches!(part, DeclaratorPart::Function(_)))
        {
            // The types were made (and judged) with the declarator; only names are new here.
            Some(DeclaratorPart::Function(part)) => self.quiet(|checker| checker.params(part)),
            // Through a typedef of a function type.
            _ => Vec::new(),
        };
        let function = self.types.fn_type(ty)?.clone();
        if params.len() != function.params.len() {
            params = function.params.iter().map(|&ty| unnamed(ty, name.span)).collect();
        }
        if !defines && self.redeclares_builtin(name, &function) {
            return None;
        }
        let outer = self.names.scopes.here();
        if name.as_plain().is_none() {
            let scope = self.declared_scope(name)?;
            self.names.scopes.open(scope);
        }
        let mut func = self.new_func(specs, name, ty, params, words);
        self.check_signature(&mut func, specs, name);
        let id = self.enter_function(func, name, defines);
        self.names.scopes.open(outer);
        if let Some(id) = id {
            self.check_defaults(id);
        }
        id
    }

    /// Parameters after one with a default argument have one too.
    fn check_defaults(&mut self, id: FnId) {
        let params = &self.names.func(id).params;
        let first = params.iter().position(|param| param.default.is_some());
        let Some(first) = first else { return };
        if let Some(bare) = params[first..].iter().find(|param| param.default.is_none()) {
            let span = bare.span;
            self.error(Code::E0317, span, "a parameter without a default after one with");
        }
    }

    fn new_func(
        &mut self,
        specs: &'a ast::DeclSpecs,
        name: &'a ast::QualName,
        ty: QualType,
        params: Vec<ParamInfo>,
        words: Specified,
    ) -> Func {
        let (ret, variadic) = match self.types.fn_type(ty) {
            Some(function) => (function.ret, function.variadic),
            None => (Basic::Error.into(), false),
        };
        let text = self.text(name.base.name);
        let scope = self.types.ns_names[self.names.scopes.here().0 as usize].clone();
        let display = if scope.is_empty() { text.to_owned() } else { format!("{scope}::{text}") };
        let is_main = text == "main" && self.names.scopes.here() == ScopeId::GLOBAL;
        if is_main && let Some(word) = words.global.or(words.device) {
            let message = "`main` is a function of the host, where a program begins";
            self.error(Code::E0508, word, message);
        }
        let extern_c = self.linkage.extern_c || is_main;
        let is_static = specs.has(StorageKind::Static);
        let internal = is_static || self.names.scopes.is_internal(self.names.scopes.here());
        let inline = matches!(words.attrs.inline, ir::Inline::Hint | ir::Inline::Always);
        let space = words.space();
        let symbol = if extern_c {
            text.to_owned()
        } else {
            mangle::function(
                &self.types,
                &self.names.scopes,
                self.names.scopes.here(),
                text,
                ty,
                is_static,
            )
        };
        Func {
            name: name.base.name,
            display,
            ns: self.names.scopes.here(),
            ty,
            ret,
            params,
            variadic,
            space,
            linkage: if internal {
                ir::Linkage::Internal
            } else if inline && space != ExecutionSpace::Global {
                ir::Linkage::LinkOnce
            } else {
                ir::Linkage::External
            },
            extern_c,
            attrs: words.attrs,
            constexpr: specs.has(StorageKind::Constexpr),
            symbol,
            ir: None,
            defined: false,
            span: name.span,
            space_span: words.span(),
            auto_ret: self.has_auto(ret),
            builtin: false,
        }
    }

    /// What CUDA and C++ forbid in a signature. A result that is refused is forgotten, so that nothing in the body
    /// contradicts it.
    fn check_signature(
        &mut self,
        func: &mut Func,
        specs: &'a ast::DeclSpecs,
        name: &'a ast::QualName,
    ) {
        for kind in [StorageKind::Register, StorageKind::Mutable] {
            if let Some(span) = specs.storage_span(kind) {
                self.error(Code::E0317, span, "this word does not belong to a function");
            }
        }
        if name.operator.is_some() {
            self.check_operator(func, name);
        }
        self.check_variadic(func);
        let is_main = func.ns == ScopeId::GLOBAL && self.text(func.name) == "main";
        let known = func.auto_ret || self.types.is_error(func.ret);
        if is_main && !known && self.types.basic(func.ret) != Some(Basic::Int) {
            let message = format!("`main` returns `int`, not {}", self.show(func.ret));
            self.error(Code::E0317, specs.ty.span, message).suggest("write", specs.ty.span, "int");
            func.ret = Basic::Error.into();
        }
        if func.space == ExecutionSpace::Global {
            self.check_kernel_signature(func, specs);
        } else {
            for param in func.params.iter().filter(|param| param.grid_constant) {
                let message = "`__grid_constant__` belongs to kernel parameters";
                self.error(Code::E0505, param.span, message);
            }
        }
    }

    fn check_kernel_signature(&mut self, func: &mut Func, specs: &'a ast::DeclSpecs) {
        if !self.types.is_void(func.ret) && !self.types.is_error(func.ret) {
            let message = format!("the kernel `{}` returns {}", func.display, self.show(func.ret));
            self.error(Code::E0412, specs.ty.span, message)
                .label("a kernel returns `void`")
                .note("a launch is over before the kernel runs, so there is nowhere to return to")
                .help("write results through a pointer to global memory");
            func.ret = Basic::Error.into();
        }
        if func.variadic {
            let message =
                format!("the kernel `{}` has a variable number of parameters", func.display);
            self.error(Code::E0417, func.span, message);
        }
        for param in &func.params {
            if self.types.referent(param.ty).is_some() {
                let message = "a kernel parameter cannot be a reference";
                let ty = self.types.strip_ref(param.ty);
                let help = format!("pass a pointer, or {} by value", self.show(ty.unqualified()));
                self.error(Code::E0417, param.span, message)
                    .note("the reference would be to memory of the launching side")
                    .help(help);
            }
        }
        let lists: Vec<QualType> = func.params.iter().map(|param| param.ty).collect();
        self.check_parameter_bytes(func, &lists);
    }

    fn check_operator(&mut self, func: &Func, name: &'a ast::QualName) {
        let text = self.text(name.base.name);
        let operator = name.operator.map_or("", ast::Overloadable::text);
        if matches!(operator, "=" | "()" | "[]" | "->") {
            let message = format!("`{text}` can only be a member function");
            self.error(Code::E0333, name.span, message)
                .note("member functions are outside the `.cdp` subset")
                .help(NAME_IT_CU);
            return;
        }
        if matches!(operator, "new" | "delete") {
            self.outside(Code::E0333, name.span, &format!("replacing `{text}` is"), "");
            return;
        }
        let class = |ty| {
            let ty = self.types.strip_ref(ty);
            self.types.record_id(ty).is_some()
                || self.types.enum_id(ty).is_some()
                || self.types.is_half(ty)
                || self.types.is_error(ty)
        };
        if !func.params.iter().any(|param| class(param.ty)) {
            let message = format!("`{text}` needs an operand of class or enumeration type");
            self.error(Code::E0333, name.span, message);
        }
        let counts: &[usize] = match operator {
            "~" | "!" => &[1],
            "+" | "-" | "*" | "&" | "++" | "--" => &[1, 2],
            _ => &[2],
        };
        if !counts.contains(&func.params.len()) || func.params.iter().any(|p| p.default.is_some()) {
            let message = format!("`{text}` does not take {} parameters", func.params.len());
            self.error(Code::E0333, name.span, message);
        }
    }
}

fn unnamed(ty: QualType, span: Span) -> ParamInfo {
    ParamInfo { name: None, ty: ty.with(Quals::NONE), default: None, grid_constant: false, span }
}
