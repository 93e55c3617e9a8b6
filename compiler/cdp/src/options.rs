//! What an embedder or the command line asks of a compilation.
//!
//! Plain data: nothing here looks at the environment, and every field has the default that nvcc's
//! users expect.

use std::path::PathBuf;

use cdp_diagnostics::WarningOptions;
use cdp_frontend::preprocess::MacroOption;
use cdp_ir::{CdpVersion, FastMath};
use cdp_launch::RequestedAbi;
use cdp_llvm::{DebugInfo, LaunchOpt, LaunchPass, LaunchTuning, OptLevel};
use cdp_toolchain::{AddressSize, Arch, Cudadevrt};

use crate::ptx_version::PtxVersion;

/// How device and host code are compiled. The architectures stand in
/// [`CompileOptions::archs`]; each gets its own preprocessing, as with nvcc.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompileOptions {
    /// When empty, what [`CompileOptions::archs`] says.
    pub archs: Vec<Arch>,
    /// 64 bits unless asked otherwise. 32-bit device code ends at the relocatable object.
    pub address_size: AddressSize,
    /// `--ptx-version`; by default what target and features need.
    pub ptx_version: Option<PtxVersion>,
    /// Of our own passes and of ptxas alike, for device code.
    pub opt_level: OptLevel,
    /// Of host code. `None`, when nobody asked, for what is made soonest, as nvcc asks nothing of its host compiler
    /// then; not even that at `OptLevel::O0` for device code or for a debugger.
    pub host_opt_level: Option<OptLevel>,
    /// `--cdp`; CDP2 when `None`.
    pub cdp: Option<CdpVersion>,
    /// `--launch-abi`; `Auto` chooses for the target (launch-lowering.md).
    pub launch_abi: RequestedAbi,
    /// `-flaunch-opt`: what the launch optimiser may do, at `-O2` and up; `Safe` unless asked otherwise. Races and
    /// launches that a run on the CPU device tells of are those of the program as it is written with `Off` only.
    pub launch_opt: LaunchOpt,
    /// How small a child is run without a launch; for measurements and tests.
    pub launch_tuning: LaunchTuning,
    /// `--print-after`: the pass of the launch optimiser after which the module's LLVM IR is kept
    /// ([`crate::BuildOutput::printed`]).
    pub print_after: Option<LaunchPass>,
    /// Per-thread default stream: the `_ptsz` entry points.
    pub per_thread_default_stream: bool,
    /// `-use_fast_math`, `-fmad`, `-ftz`, `-prec-div`, `-prec-sqrt`.
    pub fast_math: FastMath,
    /// What [`CompileOptions::set`] was told of single properties of that.
    pub(crate) said_of_math: Vec<(MathProperty, bool)>,
    /// `-lineinfo`, `-G`.
    pub debug: DebugInfo,
    /// Stores that stand in different lines are not made one, so that what checks say of them names their lines.
    pub stores_apart: bool,
    /// Host code tells the checks of the CPU device what it reads and writes of managed, pinned and registered memory. Such
    /// code links with this project's runtime alone.
    pub watch_host: bool,
    /// `-maxrregcount`.
    pub max_registers: Option<u32>,
    /// Bytes of memory that checking a `.cdp` source may take, or compiling one of its functions; what needs more is
    /// refused before the machine suffers (E0116, or an error that names the function). `None` for no limit.
    pub memory_bytes: Option<u64>,
    /// `-Xptxas`.
    pub ptxas_args: Vec<String>,
    /// `-Xnvlink`.
    pub nvlink_args: Vec<String>,
    /// `-Xcompiler`, for the host halves of `.cu` files.
    pub host_args: Vec<String>,
    /// `-I`.
    pub include_dirs: Vec<PathBuf>,
    /// Whether sources from memory may include files of the disk, where they allow it themselves
    /// ([`crate::SourceInput::Memory`]). What compiles strangers' programs wants `false`.
    pub disk_includes: bool,
    /// `-D` and `-U`, in order.
    pub macros: Vec<MacroOption>,
    /// `-include`.
    pub forced_includes: Vec<PathBuf>,
    /// `-W...`.
    pub warnings: WarningOptions,
    /// Seconds since 1970 for `__DATE__` and `__TIME__`.
    pub source_date_epoch: Option<u64>,
    /// When the device runtime is linked.
    pub cudadevrt: Cudadevrt,
    /// Objects of [`crate::Goal::CudaObject`] register their device code themselves, as nvcc's do without `-rdc=true`, where it
    /// needs nothing of other objects and no device link has taken it in.
    pub stands_alone: bool,
    /// `-rdc`: whether variables and functions of device code in `.cu` files are seen by other files. `false`: they are
    /// their file's own, as nvcc has it without `-rdc=true`. `None`: they are seen, unless files of a program define some
    /// of the same name.
    pub relocatable: Option<bool>,
    /// `--fix`: mend PTX and objects that declare kernels of other files as functions, as clang does.
    pub mend_declarations: bool,
    /// `-std=` for `.cu` files, `gnu++17` unless given; `.cdp` is one language.
    pub cxx_standard: Option<String>,
    /// A folder for what other builds can use too: CUDA's headers as clang reads them fastest. Without
    /// one nothing is kept.
    pub cache_dir: Option<PathBuf>,
    /// LLVM instructions, before optimisation, that make a codegen unit. A device module of at least
    /// two units is compiled on several threads, into one PTX text; what that text is depends on
    /// this number, not on the threads.
    pub unit_instructions: u32,
    /// `--threads`: threads that compile one module; 0 for as many as the machine has. With 1 the host half of a
    /// program is made after its device half, and beside it otherwise. The result is the same with any number.
    pub threads: usize,
}

/// One of the properties of floating-point operations.
pub(crate) type MathProperty = fn(&mut FastMath) -> &mut bool;

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            archs: Vec::new(),
            address_size: AddressSize::Bits64,
            ptx_version: None,
            opt_level: OptLevel::default(),
            host_opt_level: None,
            cdp: None,
            launch_abi: RequestedAbi::Auto,
            launch_opt: LaunchOpt::default(),
            launch_tuning: LaunchTuning::default(),
            print_after: None,
            per_thread_default_stream: false,
            fast_math: FastMath::default(),
            said_of_math: Vec::new(),
            debug: DebugInfo::default(),
            stores_apart: false,
            watch_host: false,
            max_registers: None,
            memory_bytes: None,
            ptxas_args: Vec::new(),
            nvlink_args: Vec::new(),
            include_dirs: Vec::new(),
            disk_includes: true,
            macros: Vec::new(),
            host_args: Vec::new(),
            forced_includes: Vec::new(),
            warnings: WarningOptions::default(),
            source_date_epoch: None,
            cudadevrt: Cudadevrt::Auto,
            stands_alone: false,
            relocatable: None,
            mend_declarations: false,
            cxx_standard: None,
            cache_dir: None,
            unit_instructions: cdp_llvm::UNIT_INSTRUCTIONS,
            threads: 0,
        }
    }
}

impl CompileOptions {
    /// These with a few changes: `CompileOptions::default().with(|options| options.opt_level = OptLevel::O2)`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut CompileOptions)) -> CompileOptions {
        change(&mut self);
        self
    }

    /// The architectures to compile for; never empty. Where none was named it is sm_90, and with CDP1, which
    /// ends before, sm_75.
    pub fn archs(&self) -> Vec<Arch> {
        match (&self.archs[..], self.cdp()) {
            ([], CdpVersion::Cdp1) => vec![Arch::SM_75],
            ([], CdpVersion::Cdp2) => vec![Arch::SM_90],
            (named, _) => named.to_vec(),
        }
    }

    /// The device runtime version asked for, CDP2 by default.
    pub fn cdp(&self) -> CdpVersion {
        self.cdp.unwrap_or(CdpVersion::Cdp2)
    }

    /// Bytes of a device pointer.
    pub fn pointer_bytes(&self) -> u64 {
        u64::from(self.address_size.bits()) / 8
    }
}
