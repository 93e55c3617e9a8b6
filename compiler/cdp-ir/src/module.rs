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
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// A source file named in line information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
}

/// The two device runtimes of CUDA (guide 4.18.5.3): the legacy one with device-side
/// `cudaDeviceSynchronize`, and the one with tail and fire-and-forget launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CdpVersion {
    Cdp1,
    Cdp2,
}

/// Which of the two passes over a file made the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Device { cdp: CdpVersion },
    Host,
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

impl Default for FastMath {
    fn default() -> Self {
        FastMath { fmad: true, ftz: false, prec_div: true, prec_sqrt: true, fast_functions: false }
    }
}

/// One translation unit, for one of the two passes.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    pub target: Target,
    pub fast_math: FastMath,
    pub types: TypeTable,
    pub files: Vec<SourceFile>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
}

impl Module {
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

    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }

    pub fn add_function(&mut self, function: Function) -> FuncId {
        self.functions.push(function);
        FuncId(self.functions.len() as u32 - 1)
    }

    pub fn add_global(&mut self, global: Global) -> GlobalId {
        self.globals.push(global);
        GlobalId(self.globals.len() as u32 - 1)
    }

    pub fn function_ids(&self) -> impl Iterator<Item = FuncId> + use<> {
        (0..self.functions.len() as u32).map(FuncId)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Global memory; on the host, ordinary static storage.
    Global,
    /// `__constant__`.
    Constant,
    /// `__shared__`.
    Shared,
}

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
    pub ty: TypeId,
    pub space: AddressSpace,
    /// In bytes; at least the type's own.
    pub align: u64,
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
    pub loc: Loc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `__global__`. In a host module its body is left out and its address is its host handle.
    Kernel,
    Device,
    Host,
    HostDevice,
}

impl FunctionKind {
    pub fn runs_on_device(self) -> bool {
        !matches!(self, FunctionKind::Host)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inline {
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
    pub max_threads_per_block: u32,
    pub min_blocks_per_multiprocessor: u32,
    pub max_blocks_per_cluster: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FnAttrs {
    pub inline: Inline,
    pub launch_bounds: LaunchBounds,
    /// `__maxnreg__`; 0 is "not given".
    pub max_registers: u32,
    /// `__cluster_dims__`; zeros are "not given".
    pub cluster_dims: [u32; 3],
    pub noreturn: bool,
}

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
    pub name: String,
    pub ty: TypeId,
    /// In bytes; at least the type's own.
    pub align: u64,
    pub param: ParamAttrs,
    pub loc: Loc,
}

/// A function or kernel, declared or defined.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name in the source (qualified), for messages and listings.
    pub name: String,
    /// The symbol: Itanium-mangled unless `extern "C"`.
    pub symbol: String,
    pub kind: FunctionKind,
    pub linkage: Linkage,
    pub ret: TypeId,
    /// The first `param_count` locals are the parameters.
    pub param_count: u32,
    pub variadic: bool,
    pub locals: Vec<Local>,
    pub attrs: FnAttrs,
    /// `None` for a declaration.
    pub body: Option<Block>,
    pub loc: Loc,
    /// The `}` of the body, where control that falls off its end returns; as [`Self::loc`] where the
    /// source has none.
    pub end: Loc,
}

impl Function {
    pub fn params(&self) -> &[Local] {
        &self.locals[..self.param_count as usize]
    }

    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }

    pub fn is_kernel(&self) -> bool {
        self.kind == FunctionKind::Kernel
    }
}
