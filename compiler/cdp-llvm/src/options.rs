//! What a caller decides before lowering.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use cdp_ir::OptLevel;
use cdp_launch::LaunchAbi;
use cdp_launch::limits::{REGISTERS_OF_LARGEST_BLOCK, has_fewer_registers};

pub use crate::launches::print::LaunchPass;
pub use crate::launches::tuning::Tuning as LaunchTuning;

/// What the launch optimiser may do (`-flaunch-opt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LaunchOpt {
    /// Nothing: every launch is launched where it stands.
    Off,
    /// What keeps every promise of CUDA.
    #[default]
    Safe,
    /// Children that different threads launch into the NULL stream may overlap besides.
    Fast,
}

/// What a debugger or profiler will find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DebugInfo {
    /// Nothing.
    #[default]
    None,
    /// `-lineinfo`: `.loc` and `.file` only, with optimisation.
    Lines,
    /// `-g -G`: DWARF with types and variables, without optimisation.
    Full,
}

/// Whose runtime the host code of a module calls.
#[derive(Clone, Debug, Default)]
pub enum HostRuntime {
    /// cdp-runtime, which runs device code on a GPU and on the CPU device.
    #[default]
    Cdp,
    /// As `Cdp`, and a kernel's host function launches, as those of nvcc and clang do: for programs some of
    /// whose files they compile.
    CdpCallable,
    /// NVIDIA's cudart: the object is made for a link by nvcc.
    Cudart(CudartUnit),
}

/// What a host object for cudart carries.
#[derive(Clone, Debug)]
pub struct CudartUnit {
    /// Unique among the objects of a program; letters, digits and `_`, as it goes into symbols.
    pub module_id: String,
    /// A fat binary of relocatable device objects (fatbinary's `--device-c`).
    pub fatbin: Arc<[u8]>,
    /// A fat binary of the same code as a whole program, for programs that no device link completes.
    pub alone: Option<Arc<[u8]>>,
    /// Symbols of the kernels that the device code defines.
    pub kernels: Vec<String>,
}

/// Gives the bytes of `libdevice.10.bc`. Asked only when a program calls into it, which most do not.
#[derive(Clone, Default)]
pub struct Libdevice(Option<Arc<LibdeviceLoader>>);

type LibdeviceLoader = dyn Fn() -> Option<Arc<[u8]>> + Send + Sync;

impl Libdevice {
    /// Asks `load`; `None` means that there is none.
    pub fn new(load: impl Fn() -> Option<Arc<[u8]>> + Send + Sync + 'static) -> Libdevice {
        Libdevice(Some(Arc::new(load)))
    }

    /// The bytes, if there are any.
    pub fn bytes(&self) -> Option<Arc<[u8]>> {
        self.0.as_ref().and_then(|load| load())
    }
}

impl std::fmt::Debug for Libdevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Libdevice(..)" } else { "Libdevice(none)" })
    }
}

/// Options of [`fn@crate::lower`]. Address size, CDP version and floating-point options come with the
/// module.
#[derive(Clone, Debug)]
pub struct LowerOptions {
    /// The processor as ptxas spells it: `sm_90`, `sm_90a`.
    pub arch: String,
    /// PTX ISA version times ten (90 for 9.0).
    pub ptx_isa: u32,
    /// The entry points of device-side launches.
    pub abi: LaunchAbi,
    /// `--default-stream per-thread`: the `_ptsz` entry points.
    pub per_thread_stream: bool,
    /// Of LLVM's passes; ptxas has its own.
    pub opt_level: OptLevel,
    /// Of host code, in the place of [`LowerOptions::opt_level`]: little is optimised, and soon. Host code mostly
    /// runs once, and LLVM's levels take ten times as long for it as for the kernels that it launches.
    pub quick_host: bool,
    /// What goes into the PTX or object for debuggers.
    pub debug: DebugInfo,
    /// Stores of device code that stand in different lines are not made one.
    pub stores_apart: bool,
    /// Host code tells the runtime of its accesses ([`crate::finish_host`] does the same for clang's).
    pub watch_host: bool,
    /// The directory that relative source paths are relative to, for debug information.
    pub working_directory: String,
    /// Where `libdevice.10.bc` comes from.
    pub libdevice: Libdevice,
    /// On modules of other front ends: libdevice's square roots of single precision are rounded to nearest, as
    /// nvcc's are. Our own modules say it themselves.
    pub foreign_prec_sqrt: bool,
    /// Sums and products of libdevice may fuse where another compiler's module calls it.
    pub foreign_fmad: bool,
    /// On the host pass.
    pub host_runtime: HostRuntime,
    /// On the device pass: `static` kernels and variables, which host code finds by name, get names
    /// with this in it that are visible to the linker. For objects that other tools link; empty
    /// otherwise. The host pass has it in [`CudartUnit::module_id`]. On clang's modules: what they define is their
    /// own, but for kernels.
    pub module_id: String,
    /// On modules of other front ends: launches that cannot be taken over are errors
    /// ([`crate::foreign::raise_foreign`]). Otherwise they stay as the other compiler wrote them.
    pub strict_launches: bool,
    /// What the launch optimiser may do, from `O2` on.
    pub launch_opt: LaunchOpt,
    /// How small a child is run without a launch.
    pub launch_tuning: LaunchTuning,
    /// The pass of the launch optimiser after which the module's text is kept ([`crate::LlvmModule::printed`]).
    pub print_after: Option<LaunchPass>,
    /// The number of registers is limited for all kernels, so no kernel gets a limit of its own.
    pub max_registers_given: bool,
    /// Instructions, before optimisation, that make a codegen unit ([`LlvmModule::into_ptx`]).
    ///
    /// [`LlvmModule::into_ptx`]: crate::LlvmModule::into_ptx
    pub unit_instructions: u32,
    /// Threads that compile codegen units; 0 for as many as the machine has.
    pub threads: usize,
    /// Who asked for the code may give it up.
    pub cancel: Cancel,
    /// The most statements of one function: LLVM's memory grows with them, and a function cannot be compiled in
    /// parts.
    pub max_statements: u32,
    /// Bytes of memory that are there; a function that surely takes more ([`BYTES_PER_STATEMENT`]) is refused before
    /// the machine suffers. `None`: as many as the system gives.
    pub memory_bytes: Option<u64>,
}

/// The usual limit of [`LowerOptions::max_statements`], three times what is meant to compile.
pub const MAX_STATEMENTS: u32 = 2_000_000;

/// What LLVM takes at least for a statement of a long function. Measured: 6 KB for a sum, 12 KB for one that loads
/// and stores.
pub const BYTES_PER_STATEMENT: u64 = 5 << 10;

/// Gives work up from another thread: what holds a copy ends before its next function, codegen unit or stage
/// with [`LowerError::Cancelled`]. Once cancelled, always cancelled.
///
/// [`LowerError::Cancelled`]: crate::LowerError::Cancelled
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Gives the work up.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was given up.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What others look at, who do not know this type.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    pub(crate) fn check(&self) -> crate::error::Result<()> {
        if self.is_cancelled() { Err(crate::LowerError::Cancelled) } else { Ok(()) }
    }
}

/// The usual size of a codegen unit: about 35 ms of work, against three for the cutting.
pub const UNIT_INSTRUCTIONS: u32 = 500;

impl LowerOptions {
    /// Options for an architecture (`sm_90`) with everything else at its default.
    pub fn new(arch: impl Into<String>, ptx_isa: u32, abi: LaunchAbi) -> Self {
        LowerOptions {
            arch: arch.into(),
            ptx_isa,
            abi,
            per_thread_stream: false,
            opt_level: OptLevel::default(),
            quick_host: false,
            debug: DebugInfo::default(),
            stores_apart: false,
            watch_host: false,
            working_directory: String::new(),
            libdevice: Libdevice::default(),
            foreign_prec_sqrt: true,
            foreign_fmad: true,
            host_runtime: HostRuntime::default(),
            module_id: String::new(),
            strict_launches: false,
            launch_opt: LaunchOpt::Off,
            launch_tuning: LaunchTuning::default(),
            print_after: None,
            max_registers_given: false,
            unit_instructions: UNIT_INSTRUCTIONS,
            threads: 0,
            cancel: Cancel::default(),
            max_statements: MAX_STATEMENTS,
            memory_bytes: None,
        }
    }

    /// How many registers a kernel may have for the sake of its loops: as many as the largest block's threads can have. None
    /// where the number is given, or smaller.
    pub(crate) fn registers_for_loops(&self) -> Option<u32> {
        let may = !self.max_registers_given && !has_fewer_registers(self.arch_sm());
        may.then_some(REGISTERS_OF_LARGEST_BLOCK)
    }

    /// The number of the architecture: 90 for `sm_90a`.
    pub fn arch_sm(&self) -> u32 {
        let digits = self.arch.trim_start_matches(|c: char| !c.is_ascii_digit());
        let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
        digits.parse().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architecture_numbers() {
        for (name, number) in [("sm_75", 75), ("sm_90a", 90), ("sm_120f", 120), ("x", 0)] {
            assert_eq!(LowerOptions::new(name, 90, LaunchAbi::Cdp2V2).arch_sm(), number);
        }
    }
}
