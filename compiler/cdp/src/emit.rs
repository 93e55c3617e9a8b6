//! Code of analysed passes: PTX of the device's, an object of the host's.

use cdp_llvm::{HostRuntime, LlvmModule, LowerError, LowerOptions};
use cdp_toolchain::Arch;

use crate::analysis::Analysis;
use crate::compiler::{Compiler, from_lowering};
use crate::describe::KernelDescription;
use crate::error::{Error, guard};
use crate::graph::LaunchGraph;
use crate::options::CompileOptions;
use crate::ptx_version::{self, PtxVersion};
use cdp_launch::LaunchAbi;
use cdp_llvm::{LaunchOutcome, LaunchRemark, OptLevel};

/// Device code of one input and architecture.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DeviceCode {
    /// PTX text.
    pub ptx: String,
    /// Only when asked for.
    pub llvm_ir: String,
    /// The kernels that it defines.
    pub kernels: Vec<KernelDescription>,
    /// What became of each launch site; empty when launches are not optimised.
    pub remarks: Vec<LaunchRemark>,
    /// The LLVM IR after [`CompileOptions::print_after`].
    pub printed: Option<String>,
    /// Who launches whom.
    pub graph: LaunchGraph,
}

impl Compiler {
    /// PTX of an analysed device pass.
    ///
    /// # Errors
    /// [`Error::Bug`], or [`Error::Request`] for what the target cannot do.
    pub fn emit_ptx(
        &self,
        analysis: &Analysis,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<String, Error> {
        let module = analysis.module.as_ref().ok_or_else(no_module)?;
        let lower = |lower: &LowerOptions| cdp_llvm::lower(module, lower);
        Ok(self.emit_lowered(&module.name, analysis, (arch, options), false, "", lower)?.ptx)
    }

    /// Device code, with its LLVM IR if wanted, of an analysis of which the IR is not needed afterwards: it is gone before LLVM optimises, so that
    /// it has its memory. In an object that other tools link, `static` kernels and variables get names with `module_id`
    /// in them, unless it is empty.
    pub(crate) fn emit_device_last(
        &self,
        analysis: &mut Analysis,
        arch: Arch,
        options: &CompileOptions,
        want_llvm_ir: bool,
        module_id: &str,
    ) -> Result<DeviceCode, Error> {
        let module = analysis.module.take().ok_or_else(no_module)?;
        let (name, target) = (module.name.clone(), (arch, options));
        // Called once, and gone with what it owns.
        let lower = move |lower: &LowerOptions| cdp_llvm::lower_last(module, lower);
        self.emit_lowered(&name, analysis, target, want_llvm_ir, module_id, lower)
    }

    /// Code of what `lower` makes of the module of an analysis.
    fn emit_lowered(
        &self,
        name: &str,
        analysis: &Analysis,
        (arch, options): (Arch, &CompileOptions),
        want_llvm_ir: bool,
        module_id: &str,
        lower: impl FnOnce(&LowerOptions) -> Result<LlvmModule, LowerError> + Send,
    ) -> Result<DeviceCode, Error> {
        let version = ptx_version::of_target(arch, options)?;
        let mut lower_options = self.lower_options(arch, analysis.launch_abi, version, options);
        lower_options.module_id = module_id.into();
        guard("emit", name, || {
            let lowered = lower(&lower_options).map_err(from_lowering)?;
            lowered.give_back_memory();
            let emitted =
                Emitted::of(lowered, &lower_options, want_llvm_ir).map_err(from_lowering)?;
            emitted.into_code(analysis.kernels.clone(), analysis.graph.clone(), options)
        })
    }

    /// The host pass's object: functions, and the registration of kernels and variables.
    ///
    /// # Errors
    /// As [`Compiler::emit_ptx`].
    pub fn emit_host(
        &self,
        analysis: &Analysis,
        options: &CompileOptions,
    ) -> Result<Vec<u8>, Error> {
        let module = analysis.module.as_ref().ok_or_else(no_module)?;
        let lower = |lower: &LowerOptions| cdp_llvm::lower(module, lower);
        self.emit_host_for(&module.name, options, HostRuntime::Cdp, lower)
    }

    /// The host pass's object for a runtime, of an analysis of which the IR is not needed afterwards.
    pub(crate) fn emit_host_last(
        &self,
        analysis: &mut Analysis,
        options: &CompileOptions,
        runtime: HostRuntime,
    ) -> Result<Vec<u8>, Error> {
        let module = analysis.module.take().ok_or_else(no_module)?;
        let name = module.name.clone();
        // Called once, and gone with what it owns.
        let lower = move |lower: &LowerOptions| cdp_llvm::lower_last(module, lower);
        self.emit_host_for(&name, options, runtime, lower)
    }

    fn emit_host_for(
        &self,
        name: &str,
        options: &CompileOptions,
        runtime: HostRuntime,
        lower: impl FnOnce(&LowerOptions) -> Result<LlvmModule, LowerError> + Send,
    ) -> Result<Vec<u8>, Error> {
        let mut lower_options =
            self.lower_options(Arch::SM_90, LaunchAbi::Cdp2V2, PtxVersion::USUAL, options);
        lower_options.host_runtime = runtime;
        match options.host_opt_level {
            _ if lower_options.opt_level == OptLevel::O0 => {}
            Some(level) => lower_options.opt_level = level,
            None => lower_options.quick_host = true,
        }
        guard("emit", name, || {
            let lowered = lower(&lower_options).map_err(from_lowering)?;
            lowered.give_back_memory();
            lowered.optimize().map_err(from_lowering)?;
            lowered.emit_object().map_err(from_lowering)
        })
    }
}

fn no_module() -> Error {
    Error::request("the program has errors, so there is no code for it")
}

/// What a lowered module became.
pub(crate) struct Emitted {
    ptx: String,
    llvm_ir: String,
    remarks: Vec<LaunchRemark>,
    printed: Option<String>,
}

impl Emitted {
    /// PTX, and LLVM IR after optimisation if wanted.
    pub(crate) fn of(
        lowered: LlvmModule,
        options: &LowerOptions,
        want_llvm_ir: bool,
    ) -> Result<Emitted, LowerError> {
        let remarks = lowered.launch_remarks().to_vec();
        let printed = lowered.printed().map(str::to_owned);
        let (ptx, llvm_ir) = if want_llvm_ir {
            lowered.optimize()?;
            let llvm_ir = lowered.emit_llvm_ir();
            (lowered.emit_ptx()?, llvm_ir)
        } else {
            (lowered.into_ptx(options)?, String::new())
        };
        Ok(Emitted { ptx, llvm_ir, remarks, printed })
    }

    /// With what its front end knows of kernels and launches, and the ISA version that the options ask
    /// for.
    pub(crate) fn into_code(
        self,
        kernels: Vec<KernelDescription>,
        graph: LaunchGraph,
        options: &CompileOptions,
    ) -> Result<DeviceCode, Error> {
        let Emitted { ptx, llvm_ir, remarks, printed } = self;
        let mut ptx = ptx_version::settle(ptx, options)?;
        let own = [LaunchOutcome::Kept, LaunchOutcome::Relaxed];
        if remarks.iter().any(|remark| !own.contains(&remark.outcome)) {
            ptx = cdp_image::launches::mark_optimised(&ptx);
        }
        Ok(DeviceCode { ptx, llvm_ir, kernels, graph, remarks, printed })
    }
}
