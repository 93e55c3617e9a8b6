//! What the checker knows while it works: the tables of the unit, the function at hand, and the
//! small helpers that everything uses (reporting, source positions, name look-up, IR building).

use cdp_ir as ir;

use super::arena::Arena;
use super::ctype::{CTypes, QualType};
use super::facts::{Around, Constants, Graph, JumpTarget, Linkage, Pragmas, Quiet};
use super::lines::Lines;
use super::scope::{ExecutionSpace, FnId, Memory, Names, VarId};
use super::signatures::BuiltinCache;
use super::value::Value;
use super::{CheckOptions, CheckOutput};
use crate::ast;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, NAME_IT_CU};
use crate::intern::{FastMap, FastSet, Symbol};
use crate::session::Session;
use crate::source::Span;

/// Everything about one unit.
pub struct Checker<'a> {
    pub session: &'a Session,
    pub options: &'a CheckOptions,
    pub arena: &'a Arena,
    pub types: CTypes,
    pub names: Names,
    pub module: ir::Module,
    pub lines: Lines<'a>,
    pub diags: Diagnostics,
    pub quiet: Quiet,
    pub pragmas: Pragmas,
    pub builtins: BuiltinCache,
    /// The function at hand, or the stand-in for a namespace-scope initialiser.
    pub f: FnState,
    pub around: Around,
    pub constants: Constants,
    pub linkage: Linkage,
    pub graph: Graph,
    /// What the one element of a list is by itself, by the element: overloads and references ask for it again and again.
    pub alone: FastMap<*const ast::Expr, Value<'a>>,
    /// Bytes of the `__constant__` variables defined so far.
    pub constant_bytes: u64,
    /// What lints know of the whole unit.
    pub lints: cdp_lint::Unit,
}

/// What is known of a local beyond its type.
#[derive(Clone, Default, Debug)]
pub struct LocalFacts {
    pub var: Option<VarId>,
    /// Of a `constexpr` aggregate: its value, for constant expressions.
    pub value: Option<ir::Const>,
}

/// A `switch` being checked.
pub struct SwitchState {
    /// The promoted type.
    pub ty: QualType,
    pub cases: Vec<ir::SwitchLabel>,
    pub spans: FastMap<i64, Span>,
    pub default: Option<(ir::LabelId, Span)>,
    /// How many names were bound where it begins.
    pub bound: usize,
}

/// The function at hand; by default none.
#[derive(Default)]
pub struct FnState {
    pub func: Option<FnId>,
    pub space: ExecutionSpace,
    /// Its body goes into the module.
    pub lowered: bool,
    pub ret: QualType,
    /// `auto` as return type and not yet deduced.
    pub ret_auto: bool,
    /// What the declaration said instead of a type, once that is deduced.
    pub auto_pattern: Option<QualType>,
    pub locals: Vec<ir::Local>,
    pub facts: Vec<LocalFacts>,
    /// Statements of the blocks being built, innermost last.
    pub out: Vec<Vec<ir::Stmt>>,
    pub loop_depth: u32,
    pub break_depth: u32,
    /// Branches of `if` and bodies of `switch` around the place at hand.
    pub branch_depth: u32,
    /// Inside a branch that an `if constexpr` discards.
    pub discarded: bool,
    pub switches: Vec<SwitchState>,
    pub next_label: u32,
    /// Labels for `goto`, by name.
    pub labels: FastMap<Symbol, JumpTarget>,
    /// Number of local types so far, for mangling.
    pub local_types: u32,
    /// The body is one that came from a table of builtins.
    pub builtin_body: bool,
    /// An initialiser that the module at hand has no place for.
    pub discard_ir: bool,
    /// What `#pragma cdp` before the statement at hand says of its launches.
    pub launch_hints: ir::LaunchHints,
    /// The `__shared__` variables that it defines.
    pub shared: Vec<VarId>,
    /// `constexpr` objects of the host's that it names and whose values have not been taken.
    pub lent: Vec<(VarId, Span)>,
    /// Inside the initialiser of a variable.
    pub initialising: bool,
    /// A statement of it could not be read: nobody knows what that returns or sets.
    pub gaps: bool,
    /// How many errors there were before it.
    pub errors_before: usize,
    /// Names that do not exist and are used in it, members with their record: each is reported once.
    pub refused: FastSet<(Option<super::ctype::CRecordId>, Symbol)>,
    /// It is of the host and was told that `threadIdx` and its like are the device's.
    pub device_variable: bool,
    /// What lints know of the body.
    pub lints: Option<Box<cdp_lint::Body>>,
}

impl FnState {
    /// Whether the IR being made is thrown away.
    pub fn skips(&self) -> bool {
        !self.lowered && (self.in_function() || self.discard_ir)
    }

    pub fn in_function(&self) -> bool {
        self.func.is_some()
    }
}

/// Stands for an id of something that is not in the module because the body at hand is not lowered.
pub const NO_ID: u32 = u32::MAX;

/// With a [`FnId`] in the low bits: a function in IR that is thrown away. `constexpr` functions are
/// evaluated through it.
pub const PSEUDO_ID: u32 = 0x8000_0000;

/// With a number in the low bits: a string literal of IR that is thrown away. What `constexpr` functions of the other
/// side say is read from it.
pub const TEXT_ID: u32 = 0xa000_0000;

impl<'a> Checker<'a> {
    pub fn new(session: &'a Session, options: &'a CheckOptions, arena: &'a Arena) -> Self {
        let mut module =
            ir::Module::new(options.module_name.clone(), options.target, options.pointer_bytes);
        module.fast_math = options.fast_math;
        Checker {
            session,
            options,
            arena,
            types: CTypes::new(options.pointer_bytes),
            names: Names::default(),
            module,
            lines: Lines::new(&session.sources),
            diags: Diagnostics::new(),
            quiet: Quiet::default(),
            pragmas: Pragmas::default(),
            builtins: BuiltinCache::default(),
            f: FnState::default(),
            around: Around::default(),
            constants: Constants::default(),
            linkage: Linkage::default(),
            graph: Graph::default(),
            alone: FastMap::default(),
            constant_bytes: 0,
            lints: cdp_lint::Unit::default(),
        }
    }

    /// The checker behind declarations that it knew no longer than this: all that it keeps is its own, or in the arena.
    pub fn with_tree<'t>(
        self,
        decls: &'t [ast::Decl],
        (session, options, arena): (&'a Session, &'a CheckOptions, &'a Arena),
    ) -> Checker<'a>
    where
        'a: 't,
    {
        let mut inside: Checker<'t> = self;
        inside.decls(decls);
        Checker {
            session,
            options,
            arena,
            types: inside.types,
            names: inside.names,
            module: inside.module,
            lines: inside.lines.of(&session.sources),
            diags: inside.diags,
            quiet: inside.quiet,
            pragmas: inside.pragmas,
            builtins: inside.builtins,
            f: inside.f,
            around: inside.around,
            constants: inside.constants,
            linkage: inside.linkage,
            graph: inside.graph,
            alone: FastMap::default(),
            constant_bytes: inside.constant_bytes,
            lints: inside.lints,
        }
    }

    /// Hands everything over.
    pub fn finish(mut self) -> CheckOutput {
        self.finish_lints();
        self.module.types =
            std::mem::replace(&mut self.types.ir, ir::TypeTable::new(self.options.pointer_bytes));
        self.module.files = self.lines.files;
        let wanted = self.options.module && !self.diags.has_errors();
        let module = wanted.then_some(self.module);
        let mut builtins: Vec<_> = self.builtins.called.into_values().collect();
        builtins.sort_unstable_by_key(|row| (row.name, row.signature));
        CheckOutput {
            module,
            diagnostics: self.diags,
            launches: self.graph.launches,
            calls: self.graph.calls,
            builtins,
        }
    }

    // --- options ---------------------------------------------------------------------------

    /// The device pass.
    pub fn device_pass(&self) -> bool {
        matches!(self.options.target, ir::Target::Device { .. })
    }

    /// The device runtime of the device pass.
    pub fn cdp(&self) -> Option<ir::CdpVersion> {
        match self.options.target {
            ir::Target::Device { cdp } => Some(cdp),
            ir::Target::Host => None,
        }
    }

    /// Whether the code at hand runs on the device in this pass.
    pub fn on_device(&self) -> bool {
        self.f.space.device_only()
            || (self.f.space == ExecutionSpace::HostDevice && self.device_pass())
    }

    // --- reporting -------------------------------------------------------------------------

    /// An error or warning, of which more can be said.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.report(Diagnostic::new(code, span, message))
    }

    /// The error of a construct outside the subset that clang takes: `what` it is, with its verb, and what to write
    /// instead, unless that is empty.
    pub fn outside(&mut self, code: Code, span: Span, what: &str, cure: &str) -> &mut Diagnostic {
        let message = format!("{what} outside the `.cdp` subset");
        self.error(code, span, message).help(cure).help(NAME_IT_CU)
    }

    /// A finding, with what a pragma says about the lint here.
    pub fn report(&mut self, mut found: Diagnostic) -> &mut Diagnostic {
        let said = self.pragmas.levels.iter().rev().find(|(known, _)| *known == found.code);
        found.level = said.map(|(_, level)| *level);
        self.diags.push(found)
    }

    pub fn text(&self, name: Symbol) -> &'a str {
        self.session.names.resolve(name)
    }

    /// The type in quotes, for messages.
    pub fn show(&self, ty: QualType) -> String {
        format!("`{}`", self.types.show(ty))
    }

    /// The text of the source, on one line and not too long.
    pub fn source_text(&self, span: Span) -> String {
        let span = self.session.sources.call_site(span);
        let text: Vec<&str> = self.session.sources.text(span).split_whitespace().collect();
        text.join(" ")
    }

    // --- positions -------------------------------------------------------------------------

    /// The position of a span in the IR's terms.
    pub fn loc(&mut self, span: Span) -> ir::Loc {
        self.lines.at(span)
    }

    // --- IR --------------------------------------------------------------------------------

    /// A new local of the function at hand.
    pub fn new_local(&mut self, name: String, ty: QualType, align: u64, span: Span) -> ir::LocalId {
        let (ty, loc) = (self.types.ir_type(ty), self.loc(span));
        self.add_local(name, ty, align, loc)
    }

    /// A new local of an IR type.
    pub fn add_local(
        &mut self,
        name: String,
        ty: ir::TypeId,
        align: u64,
        loc: ir::Loc,
    ) -> ir::LocalId {
        let align = align.max(self.types.ir.layout(ty).align);
        let param = ir::ParamAttrs::default();
        self.f.locals.push(ir::Local { name, ty, align, param, loc });
        self.f.facts.push(LocalFacts::default());
        ir::LocalId(self.f.locals.len() as u32 - 1)
    }

    /// The address of a local.
    pub fn local_addr(&mut self, local: ir::LocalId, loc: ir::Loc) -> ir::Expr {
        let ty = self.f.locals[local.0 as usize].ty;
        let ty = self.types.ir.pointer_to(ty);
        ir::Expr::new(ir::ExprKind::LocalAddr(local), ty, loc)
    }

    /// Appends a statement to the block being built.
    pub fn emit(&mut self, kind: ir::StmtKind, loc: ir::Loc) {
        if self.is_needed(&kind, loc)
            && let Some(block) = self.f.out.last_mut()
        {
            block.push(ir::Stmt { kind, loc });
        }
    }

    /// Runs `build` and gives the statements it emitted as a block.
    pub fn block(&mut self, build: impl FnOnce(&mut Self)) -> ir::Block {
        self.f.out.push(Vec::new());
        build(self);
        let mut stmts = self.f.out.pop().unwrap_or_default();
        // Most bodies are short, and what a vector has beside them is as much again.
        stmts.shrink_to_fit();
        ir::Block { stmts }
    }

    pub fn new_label(&mut self) -> ir::LabelId {
        self.f.next_label += 1;
        ir::LabelId(self.f.next_label - 1)
    }

    pub fn const_int(&mut self, value: i128, ty: QualType, loc: ir::Loc) -> ir::Expr {
        self.const_expr(ir::Const::Int(value), ty, loc)
    }

    /// A constant of a type.
    pub fn const_expr(&mut self, value: ir::Const, ty: QualType, loc: ir::Loc) -> ir::Expr {
        let value = self.placed_texts(value);
        let ty = self.types.ir_type(ty);
        ir::Expr::new(ir::ExprKind::Const(value), ty, loc)
    }

    /// The IR function of a declared function, made on first use; a [`PSEUDO_ID`] while the body at
    /// hand is not lowered and nothing else needed the function.
    pub fn ir_func(&mut self, id: FnId) -> ir::FuncId {
        if let Some(found) = self.names.func(id).ir {
            return found;
        }
        if self.is_known_alone(self.names.func(id).space == ExecutionSpace::Host) {
            return ir::FuncId(PSEUDO_ID | id.0);
        }
        self.make_ir_func(id)
    }

    /// Puts a function's declaration into the module.
    pub fn make_ir_func(&mut self, id: FnId) -> ir::FuncId {
        if let Some(found) = self.names.func(id).ir {
            return found;
        }
        let func = self.names.func(id).clone();
        let ret = self.types.ir_type(func.ret);
        let loc = self.loc(func.span);
        let locals = func.params.iter().map(|param| self.param_local(param)).collect::<Vec<_>>();
        let made = self.module.add_function(ir::Function {
            name: func.display,
            symbol: func.symbol,
            kind: func.space.kind(),
            linkage: func.linkage,
            ret,
            param_count: locals.len() as u32,
            variadic: func.variadic,
            locals,
            attrs: func.attrs,
            body: None,
            loc,
            end: loc,
        });
        self.names.func_mut(id).ir = Some(made);
        made
    }

    /// The IR's view of a parameter.
    pub fn param_local(&mut self, param: &super::scope::ParamInfo) -> ir::Local {
        let ty = self.types.ir_type(param.ty);
        let layout = self.types.ir.layout(ty);
        let name = param.name.map_or(String::new(), |name| self.text(name.name).to_owned());
        let pointee = self.types.pointee(param.ty).or(self.types.referent(param.ty));
        ir::Local {
            name,
            ty,
            align: layout.align.max(1),
            param: ir::ParamAttrs {
                restrict: param.ty.quals.has(super::ctype::Quals::RESTRICT),
                grid_constant: param.grid_constant,
                read_only_pointee: pointee.is_some_and(|to| to.is_const()),
            },
            loc: self.loc(param.span),
        }
    }

    /// The IR global of a static variable, made on first use, as for [`Self::ir_func`].
    pub fn ir_global(&mut self, id: VarId) -> ir::GlobalId {
        if let Some(found) = self.names.var(id).global {
            return found;
        }
        // What is known of it is kept under the variable's own number.
        if self.is_known_alone(self.names.var(id).memory == Memory::Host) {
            return ir::GlobalId(PSEUDO_ID | id.0);
        }
        self.make_ir_global(id)
    }

    /// Puts a static variable's declaration into the module.
    pub fn make_ir_global(&mut self, id: VarId) -> ir::GlobalId {
        let var = self.names.var(id).clone();
        if let Some(found) = var.global {
            return found;
        }
        let ty = self.types.ir_type(var.ty);
        let natural = self.types.ir.layout(ty).align;
        let loc = self.loc(var.span);
        let device_memory = !matches!(var.memory, Memory::Host | Memory::Auto);
        let on_host = !self.device_pass();
        let made = self.module.add_global(ir::Global {
            name: self.text(var.name).to_owned(),
            symbol: var.symbol,
            ty,
            space: match var.memory {
                // The host tells the runtime which of its shadows are constants.
                Memory::Constant => ir::AddressSpace::Constant,
                _ if on_host => ir::AddressSpace::Global,
                Memory::Shared => ir::AddressSpace::Shared,
                _ => ir::AddressSpace::Global,
            },
            align: var.align.max(natural).max(1),
            linkage: var.linkage,
            defined: false,
            init: None,
            managed: var.memory == Memory::Managed,
            constant: self.is_const_object(var.ty),
            device_shadow: on_host && device_memory && var.memory != Memory::Shared,
            function: if var.in_function {
                self.f.func.and_then(|id| self.names.func(id).ir)
            } else {
                None
            },
            loc,
        });
        self.names.var_mut(id).global = Some(made);
        made
    }
}
