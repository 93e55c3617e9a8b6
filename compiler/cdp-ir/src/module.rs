//! Modules, functions, globals and where they came from.

use crate::expr::Const;
use crate::stmt::Block;
use crate::types::{TypeId, TypeTable};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    };
}

index!(/// A function of a [`Module`].
    FuncId);
index!(/// A global variable of a [`Module`].
    GlobalId);
index!(/// A parameter or local variable of a [`Function`]; parameters come first, in order.
    LocalId);

/// A source position: index into [`Module::files`], 1-based line and column. `line == 0` is "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loc {
    /// Index into [`Module::files`].
    pub file: u32,
    /// From 1; 0 for what the compiler made.
    pub line: u32,
    /// In bytes of the line, from 1.
    pub column: u32,
}

/// A source file named in line information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As the program or the command line names it.
    pub path: String,
}

/// The two device runtimes of CUDA (guide 4.18.5.3): the legacy one with device-side
/// `cudaDeviceSynchronize`, and the one with tail and fire-and-forget launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CdpVersion {
    /// Joins children inside a kernel; up to sm_89.
    Cdp1,
    /// Tail and fire-and-forget launches; all architectures with CUDA 12 and later.
    Cdp2,
}

/// Which of the two passes over a file made the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Device code, with the runtime that its launches and calls are for.
    Device {
        /// Which entry points exist.
        cdp: CdpVersion,
    },
    /// Host code, where kernels are handles.
    Host,
}

/// Optimisation level, as `-O0` to `-O3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OptLevel {
    /// No optimisation: what a debugger steps through.
    O0,
    /// Registers for variables, inlining, no loops unrolled.
    O1,
    /// All passes, launches optimised where that is asked for.
    O2,
    /// As `O2`, with larger limits.
    #[default]
    O3,
}

/// Floating-point code generation, with nvcc's defaults (`-fmad=true`, the rest exact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastMath {
    /// Contract `a * b + c`.
    pub fmad: bool,
    /// Flush single-precision denormals to zero.
    pub ftz: bool,
    /// IEEE single-precision division and reciprocal.
    pub prec_div: bool,
    /// IEEE single-precision square root.
    pub prec_sqrt: bool,
    /// Replace `sinf` and its like by their `__` forms.
    pub fast_functions: bool,
}

impl FastMath {
    /// `-use_fast_math`.
    pub const FAST: FastMath =
        FastMath { fmad: true, ftz: true, prec_div: false, prec_sqrt: false, fast_functions: true };
}

impl Default for FastMath {
    fn default() -> Self {
        FastMath { fmad: true, ftz: false, prec_div: true, prec_sqrt: true, fast_functions: false }
    }
}

/// One translation unit, for one of the two passes.
#[derive(Clone, Debug)]
pub struct Module {
    /// The main file's name; for listings and debug information.
    pub name: String,
    /// The pass that made it, which decides what is allowed in bodies.
    pub target: Target,
    /// How floating-point operations may be computed.
    pub fast_math: FastMath,
    /// Every type that the module's ids mean.
    pub types: TypeTable,
    /// What [`Loc::file`] counts.
    pub files: Vec<SourceFile>,
    /// Variables with static storage, in the order of the source.
    pub globals: Vec<Global>,
    /// Kernels and functions, declared or defined, in the order of the source.
    pub functions: Vec<Function>,
}

impl Module {
    /// An empty module with nvcc's floating-point defaults; addresses have 4 or 8 bytes.
    pub fn new(name: impl Into<String>, target: Target, pointer_bytes: u64) -> Self {
        Module {
            name: name.into(),
            target,
            fast_math: FastMath::default(),
            types: TypeTable::new(pointer_bytes),
            files: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// The function; panics on another module's id.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The variable; panics on another module's id.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }

    /// Appends a function; its id counts from 0.
    pub fn add_function(&mut self, function: Function) -> FuncId {
        self.functions.push(function);
        FuncId(self.functions.len() as u32 - 1)
    }

    /// Appends a variable; its id counts from 0.
    pub fn add_global(&mut self, global: Global) -> GlobalId {
        self.globals.push(global);
        GlobalId(self.globals.len() as u32 - 1)
    }

    /// All ids, which need no borrow of the module.
    pub fn function_ids(&self) -> impl Iterator<Item = FuncId> + use<> {
        (0..self.functions.len() as u32).map(FuncId)
    }
}

/// Where a variable with static storage lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Global memory; on the host, ordinary static storage.
    Global,
    /// `__constant__`.
    Constant,
    /// `__shared__`.
    Shared,
}

/// What the linker does with a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Defined here (or a declaration when there is no body or initialiser), visible outside.
    External,
    /// `static`: private to the module.
    Internal,
    /// `inline`: may be defined by several modules, one is kept.
    LinkOnce,
}

/// A variable with static storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// The name in the source, for messages and listings.
    pub name: String,
    /// The name in PTX or in the host object.
    pub symbol: String,
    /// What the storage holds.
    pub ty: TypeId,
    /// The memory that it is in.
    pub space: AddressSpace,
    /// In bytes; at least the type's own.
    pub align: u64,
    /// Seen by which other modules.
    pub linkage: Linkage,
    /// False for an `extern` declaration, and for `extern __shared__` arrays of launch-time size.
    pub defined: bool,
    /// `None` leaves the storage zero (shared memory: undefined).
    pub init: Option<Const>,
    /// `__managed__`.
    pub managed: bool,
    /// `const` in the source: no store reaches it.
    pub constant: bool,
    /// On the host pass: the shadow of a `__device__`/`__constant__`/`__managed__` variable, whose
    /// address names the device variable in runtime calls.
    pub device_shadow: bool,
    /// The function that declares it, for a `static` or `__shared__` variable of a function's body.
    /// Only for debug information: the name means nothing outside.
    pub function: Option<FuncId>,
    /// The declarator, for debug information.
    pub loc: Loc,
}

/// Where a function runs, and how it is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `__global__`. In a host module its body is left out and its address is its host handle.
    Kernel,
    /// `__device__`: called by device code only.
    Device,
    /// No specifier, or `__host__`: called by host code only.
    Host,
    /// `__host__ __device__`: in the modules of both passes.
    HostDevice,
}

impl FunctionKind {
    /// Whether device code can enter it; a kernel counts.
    pub fn runs_on_device(self) -> bool {
        !matches!(self, FunctionKind::Host)
    }
}

/// What the source says of inlining.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inline {
    /// Nothing: the optimiser's choice.
    #[default]
    Default,
    /// `__forceinline__`.
    Always,
    /// `__noinline__`.
    Never,
    /// `inline`.
    Hint,
}

/// `__launch_bounds__`; 0 is "not given".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// The largest block of any launch.
    pub max_threads_per_block: u32,
    /// Blocks of that size that must fit at once; limits registers.
    pub min_blocks_per_multiprocessor: u32,
    /// The largest cluster, in blocks.
    pub max_blocks_per_cluster: u32,
}

/// What a function's declaration says beside its type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FnAttrs {
    /// What the source says of inlining.
    pub inline: Inline,
    /// `__launch_bounds__`, of kernels.
    pub launch_bounds: LaunchBounds,
    /// `__maxnreg__`; 0 is "not given".
    pub max_registers: u32,
    /// `__cluster_dims__`; zeros are "not given".
    pub cluster_dims: [u32; 3],
    /// `[[noreturn]]` and its other spellings: control never comes back from a call.
    pub noreturn: bool,
}

/// What is known of a parameter beside its type; all false for a local variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParamAttrs {
    /// `__restrict__`.
    pub restrict: bool,
    /// `__grid_constant__`: taking its address makes no local copy.
    pub grid_constant: bool,
    /// A pointer to `const`, or a reference to it: the pointee is only read through it.
    pub read_only_pointee: bool,
}

/// A parameter or local variable. Every local is memory; its address is
/// [`crate::ExprKind::LocalAddr`].
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// As in the source; empty for a parameter without a name and for temporaries.
    pub name: String,
    /// What it holds; an array or record stays in memory.
    pub ty: TypeId,
    /// In bytes; at least the type's own.
    pub align: u64,
    /// What is known of it as a parameter.
    pub param: ParamAttrs,
    /// Its declarator, for debug information.
    pub loc: Loc,
}

/// A function or kernel, declared or defined.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name in the source (qualified), for messages and listings.
    pub name: String,
    /// The symbol: Itanium-mangled unless `extern "C"`.
    pub symbol: String,
    /// Where it runs, and how it is entered.
    pub kind: FunctionKind,
    /// Seen by which other modules.
    pub linkage: Linkage,
    /// The result's type; `Void` for a kernel.
    pub ret: TypeId,
    /// The first `param_count` locals are the parameters.
    pub param_count: u32,
    /// Takes more arguments than it has parameters (`...`); in device code only declarations do.
    pub variadic: bool,
    /// Parameters, then variables of all blocks, then temporaries.
    pub locals: Vec<Local>,
    /// What the declaration says beside the type.
    pub attrs: FnAttrs,
    /// `None` for a declaration.
    pub body: Option<Block>,
    /// The declarator's name; line 0 for what the compiler made.
    pub loc: Loc,
    /// The `}` of the body, where control that falls off its end returns; as [`Self::loc`] where the
    /// source has none.
    pub end: Loc,
}

impl Function {
    /// The parameters, in order.
    pub fn params(&self) -> &[Local] {
        &self.locals[..self.param_count as usize]
    }

    /// A parameter or variable; panics on another function's id.
    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }

    /// Whether it is launched and not called.
    pub fn is_kernel(&self) -> bool {
        self.kind == FunctionKind::Kernel
    }
}
