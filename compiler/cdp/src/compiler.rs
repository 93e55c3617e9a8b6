//! The stages after the front end, bound to the CUDA tools that were found.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc as Shared, Mutex, OnceLock, PoisonError};

use cdp_llvm::{
    Cancel, ClangFacts, CudartUnit, ForeignFacts, HostRuntime, Libdevice, LlvmModule, LowerError,
    LowerOptions, inkwell,
};
use cdp_toolchain::{
    AddressSize, Arch, AssembleOptions, Assembled, Cudadevrt, DeviceObject, Job, LinkOptions,
    Linked, SearchOptions, Toolchain,
};

use crate::analysis::Analysis;
use crate::describe::KernelDescription;
use crate::error::{Error, guard, guard_input};
use crate::facts::Description;
use crate::graph::LaunchGraph;
use crate::options::{CompileOptions, DebugInfo, LaunchAbi, LaunchRemark, OptLevel};
use crate::ptx_version::{self, PtxVersion};

/// The compiler with the tools it uses. Cheap to share; every method may be called by several
/// threads at once.
#[derive(Debug)]
pub struct Compiler {
    toolchain: Toolchain,
    libdevice: Libdevice,
    /// What is being compiled by [`Compiler::compile`], to be given up; what has ended is swept out.
    running: Mutex<Vec<Cancel>>,
}

thread_local! {
    /// For what this thread compiles. Stages are called by embedders too, who do not pass it on.
    static CANCEL: RefCell<Cancel> = RefCell::default();
}

/// A compilation that [`Compiler::cancel`] reaches, until it is dropped.
pub(crate) struct Cancellable<'c> {
    compiler: &'c Compiler,
    pub cancel: Cancel,
}

impl Cancellable<'_> {
    /// Does the work of the compilation, or what a thread of its does of it.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = CANCEL.replace(self.cancel.clone());
        let result = work();
        CANCEL.set(before);
        result
    }
}

impl Drop for Cancellable<'_> {
    fn drop(&mut self) {
        let own = self.cancel.flag();
        let mut running = self.compiler.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|other| !Shared::ptr_eq(&other.flag(), &own));
    }
}

/// Whether what this thread compiles goes on.
pub(crate) fn check_cancelled() -> Result<(), Error> {
    match CANCEL.with_borrow(Cancel::is_cancelled) {
        true => Err(Error::Cancelled),
        false => Ok(()),
    }
}

/// Device code of one input and architecture.
#[derive(Clone, Debug, Default)]
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
    /// Gives up what other threads are compiling with [`Compiler::compile`]: those calls end soon, with
    /// [`Error::Cancelled`]. A tool of CUDA's is killed; our own work ends before its next function, codegen
    /// unit or stage. Compilations that begin later are not affected.
    pub fn cancel(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().for_each(Cancel::cancel);
    }

    pub(crate) fn cancellable(&self) -> Cancellable<'_> {
        let cancel = Cancel::default();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.push(cancel.clone());
        Cancellable { compiler: self, cancel }
    }

    /// Looks for CUDA's tools. Without any the stages up to PTX work all the same.
    ///
    /// # Errors
    /// When a toolkit was named and is none.
    pub fn new(search: &SearchOptions) -> Result<Compiler, Error> {
        Ok(Self::with_toolchain(Toolchain::find(search)?))
    }

    /// A compiler without CUDA's tools, which makes PTX and what comes before it.
    pub fn without_tools() -> Compiler {
        // Nowhere is searched, so there is nothing that could be wrong.
        Self::with_toolchain(Toolchain::default())
    }

    fn with_toolchain(toolchain: Toolchain) -> Compiler {
        let path = toolchain.libdevice().ok().map(Path::to_owned);
        let bytes = OnceLock::new();
        let read =
            move || path.as_ref().and_then(|path| std::fs::read(path).ok()).map(Shared::from);
        let libdevice = Libdevice::new(move || bytes.get_or_init(&read).clone());
        Compiler { toolchain, libdevice, running: Mutex::default() }
    }

    /// The tools that were found.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

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
        Ok(self.emit_device(analysis, arch, options, false)?.ptx)
    }

    /// PTX, and LLVM IR if wanted, of an analysed device pass.
    ///
    /// # Errors
    /// As [`Compiler::emit_ptx`].
    pub fn emit_device(
        &self,
        analysis: &Analysis,
        arch: Arch,
        options: &CompileOptions,
        want_llvm_ir: bool,
    ) -> Result<DeviceCode, Error> {
        self.emit_device_named(analysis, arch, options, want_llvm_ir, "")
    }

    /// The same for an object that other tools link: `static` kernels and variables get names with
    /// `module_id` in them.
    pub(crate) fn emit_device_named(
        &self,
        analysis: &Analysis,
        arch: Arch,
        options: &CompileOptions,
        want_llvm_ir: bool,
        module_id: &str,
    ) -> Result<DeviceCode, Error> {
        let module = analysis
            .module
            .as_ref()
            .ok_or_else(|| Error::request("the program has errors, so there is no code for it"))?;
        let version = ptx_version::of_target(arch, options)?;
        let mut lower_options = self.lower_options(arch, analysis.launch_abi, version, options);
        lower_options.module_id = module_id.into();
        guard("emit", &module.name, || {
            let lowered = cdp_llvm::lower(module, &lower_options).map_err(from_lowering)?;
            let remarks = lowered.launch_remarks().to_vec();
            let printed = lowered.printed().map(str::to_owned);
            let (ptx, llvm_ir) =
                emit_lowered(lowered, &lower_options, want_llvm_ir).map_err(from_lowering)?;
            let ptx = ptx_version::settle(ptx, options)?;
            let (kernels, graph) = (analysis.kernels.clone(), analysis.graph.clone());
            Ok(DeviceCode { ptx, llvm_ir, kernels, graph, remarks, printed })
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
        self.emit_host_for(analysis, options, HostRuntime::Cdp)
    }

    /// The host pass's object for NVIDIA's cudart, with `fatbin`, which holds relocatable device
    /// objects, inside (see [`CudartUnit`]).
    ///
    /// # Errors
    /// As [`Compiler::emit_ptx`].
    pub fn emit_cuda_host(
        &self,
        analysis: &Analysis,
        options: &CompileOptions,
        module_id: String,
        fatbin: &[u8],
        kernels: Vec<String>,
    ) -> Result<Vec<u8>, Error> {
        let unit = CudartUnit { module_id, fatbin: fatbin.into(), kernels };
        self.emit_host_for(analysis, options, HostRuntime::Cudart(unit))
    }

    /// As [`Compiler::emit_host`], for a program with files of nvcc and clang, whose host code may launch
    /// this one's kernels.
    pub(crate) fn emit_callable_host(
        &self,
        analysis: &Analysis,
        options: &CompileOptions,
    ) -> Result<Vec<u8>, Error> {
        self.emit_host_for(analysis, options, HostRuntime::CdpCallable)
    }

    fn emit_host_for(
        &self,
        analysis: &Analysis,
        options: &CompileOptions,
        runtime: HostRuntime,
    ) -> Result<Vec<u8>, Error> {
        let module = analysis
            .module
            .as_ref()
            .ok_or_else(|| Error::request("the program has errors, so there is no code for it"))?;
        let mut lower_options =
            self.lower_options(Arch::SM_90, LaunchAbi::Cdp2V2, PtxVersion::USUAL, options);
        lower_options.host_runtime = runtime;
        guard("emit", &module.name, || {
            let lowered = cdp_llvm::lower(module, &lower_options).map_err(from_lowering)?;
            lowered.optimize().map_err(from_lowering)?;
            lowered.emit_object().map_err(from_lowering)
        })
    }

    /// The host object that carries the device code of a program.
    ///
    /// # Errors
    /// [`Error::Bug`].
    pub fn emit_image(&self, device: &[u8], ptx: &[String]) -> Result<Vec<u8>, Error> {
        let ptx: Vec<&[u8]> = ptx.iter().map(String::as_bytes).collect();
        self.emit_linked_image(cdp_llvm::DeviceImage {
            machine_code: device,
            ptx: &ptx,
            units: &[],
        })
    }

    /// As [`Compiler::emit_image`], with units of other compilers linked in.
    pub(crate) fn emit_linked_image(
        &self,
        image: cdp_llvm::DeviceImage<'_>,
    ) -> Result<Vec<u8>, Error> {
        cdp_llvm::emit_image_object(image).map_err(from_lowering)
    }

    /// The host object that registers what clang's host objects list.
    pub(crate) fn emit_entries(&self) -> Result<Vec<u8>, Error> {
        cdp_llvm::emit_entries_object().map_err(from_lowering)
    }

    /// PTX of another compiler's LLVM IR (text or bitcode), launches lowered.
    ///
    /// # Errors
    /// [`Error::Input`] for IR that is malformed or asks for an impossible launch.
    pub fn emit_foreign(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
        want_llvm_ir: bool,
    ) -> Result<DeviceCode, Error> {
        let abi = self.foreign_abi(arch, options)?;
        let version = ptx_version::of_foreign(arch, options, bytes)?;
        let lower_options = self.lower_options(arch, abi, version, options);
        let address_bits = options.address_size.bits();
        let failed = |error| from_foreign(name, error);
        guard_input(name, || {
            let (lowered, facts) =
                cdp_llvm::lower_foreign(name, bytes, address_bits, &lower_options)
                    .map_err(failed)?;
            let remarks = lowered.launch_remarks().to_vec();
            let printed = lowered.printed().map(str::to_owned);
            let (ptx, llvm_ir) =
                emit_lowered(lowered, &lower_options, want_llvm_ir).map_err(failed)?;
            let ptx = ptx_version::settle(ptx, options)?;
            let Description { kernels, graph } = Description::of_foreign(name, &facts);
            Ok(DeviceCode { ptx, llvm_ir, kernels, graph, remarks, printed })
        })
    }

    pub(crate) fn foreign_facts(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<ForeignFacts, Error> {
        let abi = self.foreign_abi(arch, options)?;
        let version = ptx_version::of_foreign(arch, options, bytes)?;
        let lower_options = self.lower_options(arch, abi, version, options);
        guard_input(name, || {
            cdp_llvm::foreign_facts(name, bytes, options.address_size.bits(), &lower_options)
                .map_err(|error| from_foreign(name, error))
        })
    }

    /// Code of a device half that clang read, with its launches taken over, and what is known of it; or
    /// what the module has that cannot be lowered.
    pub(crate) fn emit_clang(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
        want_llvm_ir: bool,
    ) -> Result<Result<(DeviceCode, ClangFacts), LowerError>, Error> {
        let abi = self.foreign_abi(arch, options)?;
        let version = ptx_version::of_foreign(arch, options, bytes)?;
        let lower_options = self.lower_options(arch, abi, version, options);
        let address_bits = options.address_size.bits();
        guard_input(name, || {
            let emit = || {
                let (lowered, facts) =
                    cdp_llvm::lower_clang(name, bytes, address_bits, &lower_options)?;
                let remarks = lowered.launch_remarks().to_vec();
                let printed = lowered.printed().map(str::to_owned);
                let (ptx, llvm_ir) = emit_lowered(lowered, &lower_options, want_llvm_ir)?;
                Ok((ptx, llvm_ir, facts, remarks, printed))
            };
            let (ptx, llvm_ir, facts, remarks, printed) = match emit() {
                Ok(emitted) => emitted,
                Err(error) => return Ok(Err(error)),
            };
            let ptx = ptx_version::settle(ptx, options)?;
            let kernels = crate::cuda::describe(&facts);
            let graph = crate::cuda::graph_of(&facts);
            Ok(Ok((DeviceCode { ptx, llvm_ir, kernels, graph, remarks, printed }, facts)))
        })
    }

    /// LLVM IR text of another compiler's module with its launches lowered and nothing else done.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`].
    pub fn lower_foreign(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<String, Error> {
        self.lower_foreign_as(name, bytes, arch, options, LlvmModule::emit_llvm_ir)
    }

    /// The same as bitcode.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`].
    pub fn lower_foreign_to_bitcode(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<Vec<u8>, Error> {
        self.lower_foreign_as(name, bytes, arch, options, LlvmModule::emit_bitcode)
    }

    fn lower_foreign_as<T: Send>(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
        emit: fn(&LlvmModule) -> T,
    ) -> Result<T, Error> {
        let abi = self.foreign_abi(arch, options)?;
        let version = ptx_version::of_foreign(arch, options, bytes)?;
        let lower_options = self.lower_options(arch, abi, version, options);
        let address_bits = options.address_size.bits();
        guard_input(name, || {
            cdp_llvm::lower_foreign_only(name, bytes, address_bits, &lower_options)
                .map(|lowered| emit(&lowered))
                .map_err(|error| from_foreign(name, error))
        })
    }

    /// PTX of a module that the embedder built with inkwell and keeps: it is not changed.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`].
    pub fn emit_module(
        &self,
        module: &inkwell::module::Module<'_>,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<DeviceCode, Error> {
        let name = module.get_name().to_string_lossy().into_owned();
        // LLVM writes an invalid module wrongly, if it does not crash.
        cdp_llvm::foreign::verify(module).map_err(|error| from_foreign(&name, error))?;
        let bitcode = module.write_bitcode_to_memory();
        self.emit_foreign(&name, bitcode.as_slice(), arch, options, false)
    }

    /// Replaces the launches (`@cdp.launch`) of a module that the embedder built with inkwell and
    /// hands over. After an error some may have been replaced already. `context` is the module's own. It
    /// works on the calling thread, and verifies the module first; of a valid one nothing is asked that LLVM
    /// would end the process for.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`], and [`Error::Input`] for a module that is not valid.
    pub fn lower_module<'ctx>(
        &self,
        context: &'ctx inkwell::context::Context,
        module: &inkwell::module::Module<'ctx>,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<(), Error> {
        let abi = self.foreign_abi(arch, options)?;
        let version = ptx_version::of_target(arch, options)?;
        let lower_options = self.lower_options(arch, abi, version, options);
        let name = module.get_name().to_string_lossy().into_owned();
        cdp_llvm::lower_in_place(context, module, options.address_size.bits(), &lower_options)
            .map_err(|error| from_foreign(&name, error))
    }

    fn foreign_abi(&self, arch: Arch, options: &CompileOptions) -> Result<LaunchAbi, Error> {
        let request = cdp_launch::AbiRequest {
            arch_sm: u32::from(arch.number()),
            cdp: options.cdp(),
            address_bits: options.address_size.bits(),
        };
        Ok(cdp_launch::choose(options.launch_abi, request)?)
    }

    /// Assembles PTX into a relocatable object.
    ///
    /// # Errors
    /// [`Error::Tool`].
    pub fn assemble(
        &self,
        job: &Job,
        stem: &str,
        ptx: &str,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<Assembled, Error> {
        self.assemble_as(job, stem, ptx, arch, options, true)
    }

    /// Assembles PTX that is the whole program ([`Compiler::is_whole_program`]) into a cubin, which needs no
    /// link.
    ///
    /// # Errors
    /// [`Error::Tool`].
    pub fn assemble_whole(
        &self,
        job: &Job,
        stem: &str,
        ptx: &str,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<Assembled, Error> {
        self.assemble_as(job, stem, ptx, arch, options, false)
    }

    /// Whether PTX that is linked with nothing else needs no link at all: no device runtime, nothing that was
    /// asked of nvlink, no debug information, which is mended in relocatable objects only.
    pub fn is_whole_program(ptx: &str, options: &CompileOptions) -> bool {
        options.address_size == AddressSize::Bits64
            && options.cudadevrt != Cudadevrt::Always
            && options.nvlink_args.is_empty()
            && !options.ptxas_args.iter().any(|arg| arg == "-c" || arg == "--compile-only")
            && options.debug != DebugInfo::Full
            && cdp_toolchain::is_whole_program(ptx)
    }

    fn assemble_as(
        &self,
        job: &Job,
        stem: &str,
        ptx: &str,
        arch: Arch,
        options: &CompileOptions,
        relocatable: bool,
    ) -> Result<Assembled, Error> {
        let mut assemble = AssembleOptions::new(arch, options.address_size);
        assemble.relocatable = relocatable;
        assemble.opt_level = ptxas_level(options.opt_level);
        assemble.max_registers = options.max_registers;
        assemble.debug = options.debug == DebugInfo::Full;
        assemble.line_info = options.debug == DebugInfo::Lines;
        assemble.extra_args = options.ptxas_args.clone();
        Ok(cdp_toolchain::assemble(&self.toolchain, job, stem, ptx, &assemble)?)
    }

    /// Links device objects into a cubin.
    ///
    /// # Errors
    /// [`Error::Tool`].
    pub fn link(
        &self,
        job: &Job,
        stem: &str,
        objects: &[DeviceObject],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<Linked, Error> {
        let mut link = LinkOptions::new(arch, options.address_size);
        link.cudadevrt = options.cudadevrt;
        link.debug = options.debug == DebugInfo::Full;
        link.extra_args = options.nvlink_args.clone();
        link.mend_declarations = options.mend_declarations;
        Ok(cdp_toolchain::link(&self.toolchain, job, stem, objects, &link)?)
    }

    fn lower_options(
        &self,
        arch: Arch,
        abi: LaunchAbi,
        version: PtxVersion,
        options: &CompileOptions,
    ) -> LowerOptions {
        let mut lower = LowerOptions::new(arch.to_string(), version.times_ten(), abi);
        lower.launch_opt = options.launch_opt;
        lower.launch_tuning = options.launch_tuning;
        lower.print_after = options.print_after;
        lower.max_registers_given = options.max_registers.is_some();
        lower.per_thread_stream = options.per_thread_default_stream;
        lower.debug = options.debug;
        // A debugger wants code as it was written.
        let debugged = options.debug == DebugInfo::Full;
        lower.opt_level = if debugged { OptLevel::O0 } else { options.opt_level };
        lower.libdevice = self.libdevice.clone();
        lower.unit_instructions = options.unit_instructions;
        lower.threads = options.threads;
        lower.cancel = CANCEL.with_borrow(Clone::clone);
        lower
    }

    pub(crate) fn libdevice(&self) -> Option<Shared<[u8]>> {
        self.libdevice.bytes()
    }
}

/// PTX, and LLVM IR after optimisation if wanted.
fn emit_lowered(
    lowered: LlvmModule,
    options: &LowerOptions,
    want_llvm_ir: bool,
) -> Result<(String, String), LowerError> {
    if !want_llvm_ir {
        return Ok((lowered.into_ptx(options)?, String::new()));
    }
    lowered.optimize()?;
    let llvm_ir = lowered.emit_llvm_ir();
    Ok((lowered.emit_ptx()?, llvm_ir))
}

fn ptxas_level(level: OptLevel) -> cdp_toolchain::OptLevel {
    match level {
        OptLevel::O0 => cdp_toolchain::OptLevel::O0,
        OptLevel::O1 => cdp_toolchain::OptLevel::O1,
        OptLevel::O2 => cdp_toolchain::OptLevel::O2,
        OptLevel::O3 => cdp_toolchain::OptLevel::O3,
    }
}

fn from_lowering(error: LowerError) -> Error {
    match error {
        LowerError::Bug(bug) => {
            Error::Bug { stage: bug.stage, place: bug.function, message: bug.message }
        }
        LowerError::Cancelled => Error::Cancelled,
        LowerError::OutOfMemory => {
            Error::OutOfMemory { doing: "emit".into(), message: error.to_string() }
        }
        LowerError::Backend { message } => {
            Error::Bug { stage: "emit", place: String::new(), message }
        }
        LowerError::LibdeviceMissing { .. } => Error::Request {
            message: error.to_string(),
            cure: Some(
                "install the CUDA toolkit or run `cargo xtask setup`, and see `cdpc doctor`".into(),
            ),
        },
        other => Error::request(other.to_string()),
    }
}

pub(crate) fn from_foreign(name: &str, error: LowerError) -> Error {
    match from_lowering(error) {
        Error::Request { message, cure: None } => Error::Input { name: name.into(), message },
        // What LLVM refuses to emit, the module asked for.
        Error::Bug { stage: "emit", message, .. } => Error::Input { name: name.into(), message },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use cdp_llvm::inkwell::builder::Builder;
    use cdp_llvm::inkwell::context::Context;
    use cdp_llvm::inkwell::module::Module;
    use cdp_llvm::inkwell::values::FunctionValue;

    use super::*;

    /// A module of an embedder, with a kernel whose body `fill` makes.
    fn with_module(
        fill: impl for<'c> Fn(&'c Context, &Module<'c>, &Builder<'c>, FunctionValue<'c>),
    ) -> [Result<(), Error>; 2] {
        let context = Context::create();
        let module = context.create_module("embedder");
        let ty = context.void_type().fn_type(&[context.i32_type().into()], false);
        let kernel = module.add_function("kernel", ty, None);
        kernel.set_call_conventions(cdp_llvm::PTX_KERNEL);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(kernel, "entry"));
        fill(&context, &module, &builder, kernel);
        let (compiler, options) = (Compiler::without_tools(), CompileOptions::default());
        let emitted = compiler.emit_module(&module, Arch::SM_90, &options).map(|_| ());
        [emitted, compiler.lower_module(&context, &module, Arch::SM_90, &options)]
    }

    /// What an embedder may get wrong with inkwell is said, and no crash of LLVM's.
    #[test]
    fn wrong_modules_are_errors() {
        let good = with_module(|_, _, builder, _| {
            builder.build_return(None).unwrap();
        });
        assert!(good.iter().all(Result::is_ok), "{good:?}");
        let unfinished = with_module(|_, _, _, _| {});
        let foreign_value = with_module(|context, module, builder, kernel| {
            let other = module.add_function("other", kernel.get_type(), None);
            let inner = context.create_builder();
            inner.position_at_end(context.append_basic_block(other, "entry"));
            let number = other.get_nth_param(0).unwrap().into_int_value();
            inner.build_return(None).unwrap();
            builder.build_int_add(number, number, "sum").unwrap();
            builder.build_return(None).unwrap();
        });
        let other_module = with_module(|context, _, builder, kernel| {
            let other = context.create_module("other");
            let callee = other.add_function("callee", kernel.get_type(), None);
            let number = kernel.get_nth_param(0).unwrap();
            builder.build_direct_call(callee, &[number.into()], "").unwrap();
            builder.build_return(None).unwrap();
            // The call refers to it, so it has to live.
            std::mem::forget(other);
        });
        let no_arguments = with_module(|context, module, builder, kernel| {
            let ty = context.i32_type().fn_type(&[], true);
            let launch = module.add_function("cdp.launch", ty, None);
            let kernel = kernel.as_global_value().as_pointer_value();
            builder.build_direct_call(launch, &[kernel.into()], "").unwrap();
            builder.build_return(None).unwrap();
        });
        for (results, wanted) in [
            (unfinished, "terminator"),
            (foreign_value, "another function"),
            (other_module, "another module"),
            (no_arguments, "@cdp.launch"),
        ] {
            for result in results {
                let error = result.unwrap_err();
                assert!(matches!(error, Error::Input { .. }), "{error:?}");
                assert!(error.to_string().contains(wanted), "{error}");
            }
        }
    }

    /// The context must be the module's own.
    #[test]
    fn another_context_is_an_error() {
        let [context, other] = [Context::create(), Context::create()];
        let module = context.create_module("embedder");
        let (compiler, options) = (Compiler::without_tools(), CompileOptions::default());
        let error = compiler.lower_module(&other, &module, Arch::SM_90, &options).unwrap_err();
        assert!(error.to_string().contains("context"), "{error}");
    }

    /// What an embedder may hand from thread to thread.
    #[test]
    fn shareable() {
        fn shareable<T: Send + Sync>() {}
        shareable::<Compiler>();
        shareable::<CompileOptions>();
        shareable::<Analysis>();
        shareable::<DeviceCode>();
        shareable::<crate::BuildOutput>();
        shareable::<crate::Failure>();
    }
}
