//! [`Compiler`]: the stages after the front end, bound to the CUDA tools that were found. What makes device
//! and host code is in `emit`, what reads other compilers' IR in `foreign`.

use std::cell::RefCell;
use std::iter::once;
use std::path::Path;
use std::sync::{Arc as Shared, Mutex, OnceLock, PoisonError};

use cdp_image::pieces;
use cdp_llvm::{Cancel, Libdevice, LowerError, LowerOptions, Preparation};
use cdp_toolchain::{
    AddressSize, Arch, AssembleOptions, Assembled, Cudadevrt, DeviceObject, Job, LinkOptions,
    Linked, SearchOptions, Toolchain,
};

use crate::beside::all_beside;
use crate::error::Error;
use crate::options::CompileOptions;
use crate::ptx_version::PtxVersion;
use cdp_launch::LaunchAbi;
use cdp_llvm::{DebugInfo, OptLevel};

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
        with_cancel(self.cancel.clone(), work)
    }
}

impl Drop for Cancellable<'_> {
    fn drop(&mut self) {
        let own = self.cancel.flag();
        let mut running = self.compiler.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|other| !Shared::ptr_eq(&other.flag(), &own));
    }
}

/// What gives up the work of this thread, for a thread that does a part of it.
pub(crate) fn cancel_of_this_thread() -> Cancel {
    CANCEL.with_borrow(Clone::clone)
}

/// Does work that `cancel` gives up.
pub(crate) fn with_cancel<T>(cancel: Cancel, work: impl FnOnce() -> T) -> T {
    let before = CANCEL.replace(cancel);
    let result = work();
    CANCEL.set(before);
    result
}

/// Whether what this thread compiles goes on.
pub(crate) fn check_cancelled() -> Result<(), Error> {
    match CANCEL.with_borrow(Cancel::is_cancelled) {
        true => Err(Error::Cancelled),
        false => Ok(()),
    }
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

    /// The host object that carries the device code of a program.
    ///
    /// # Errors
    /// [`Error::Bug`].
    pub fn emit_image(&self, device: &[u8], ptx: &[String]) -> Result<Vec<u8>, Error> {
        let code = pieces::join(once(device).chain(ptx.iter().map(String::as_bytes)));
        self.emit_code(&code, None, &[])
    }

    /// The host object that carries a block of device code, in a section if one is named, with units of other
    /// compilers linked in.
    pub(crate) fn emit_code(
        &self,
        code: &[u8],
        section: Option<&str>,
        units: &[String],
    ) -> Result<Vec<u8>, Error> {
        let align_bytes = pieces::ALIGN as u32;
        let image = cdp_llvm::DeviceImage { code, align_bytes, section, units };
        cdp_llvm::emit_image_object(image).map_err(from_lowering)
    }

    /// The host object that registers a fat binary for the units that are linked into it.
    pub(crate) fn emit_linked(&self, fatbin: &[u8], units: &[String]) -> Result<Vec<u8>, Error> {
        cdp_llvm::emit_linked_object(fatbin, units).map_err(from_lowering)
    }

    /// The host object that registers what clang's host objects list.
    pub(crate) fn emit_entries(&self) -> Result<Vec<u8>, Error> {
        cdp_llvm::emit_entries_object().map_err(from_lowering)
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

    /// Assembles pieces of one text ([`mod@crate::cut`]) beside each other, into relocatable objects in their order.
    pub(crate) fn assemble_pieces(
        &self,
        job: &Job,
        stem: &str,
        pieces: &[String],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<Vec<Assembled>, Error> {
        let make = |(index, piece): &(usize, &String)| {
            let stem = match index {
                0 => stem.to_string(),
                _ => format!("{stem}-{}", index + 1),
            };
            self.assemble(job, &stem, piece, arch, options)
        };
        let pieces: Vec<_> = pieces.iter().enumerate().collect();
        match options.threads {
            1 => pieces.iter().map(make).collect(),
            _ => all_beside(&pieces, &make).into_iter().collect(),
        }
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
        assemble.opt_level = options.opt_level;
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

    pub(crate) fn lower_options(
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
        let by_ptxas = options.ptxas_args.iter().any(|arg| arg.contains("maxrregcount"));
        lower.max_registers_given = options.max_registers.is_some() || by_ptxas;
        lower.per_thread_stream = options.per_thread_default_stream;
        lower.debug = options.debug;
        lower.stores_apart = options.stores_apart;
        lower.watch_host = options.watch_host;
        // A debugger wants code as it was written.
        let debugged = options.debug == DebugInfo::Full;
        lower.opt_level = if debugged { OptLevel::O0 } else { options.opt_level };
        lower.libdevice = self.libdevice.clone();
        lower.foreign_prec_sqrt = options.fast_math.prec_sqrt;
        lower.foreign_fmad = options.fast_math.fmad;
        lower.unit_instructions = options.unit_instructions;
        lower.threads = options.threads;
        lower.memory_bytes = options.memory_bytes;
        lower.cancel = cancel_of_this_thread();
        lower
    }

    pub(crate) fn libdevice(&self) -> Option<Shared<[u8]>> {
        self.libdevice.bytes()
    }
}

/// Has what LLVM needs for the process's first program made by another thread while arguments and source are read,
/// for the first architecture and the PTX version of the options. Other options than those that the program is
/// then compiled with cost the work and change nothing.
pub fn prepare(options: &CompileOptions) -> Option<Preparation> {
    let arch = *options.archs().first()?;
    let version = crate::ptx_version::of_target(arch, options).ok()?;
    let mut lower = LowerOptions::new(arch.to_string(), version.times_ten(), LaunchAbi::Documented);
    lower.opt_level = options.opt_level;
    lower.threads = options.threads;
    Some(cdp_llvm::prepare_device(options.address_size.bits(), &lower))
}

/// A failure of lowering, which is the request's or ours.
pub(crate) fn from_lowering(error: LowerError) -> Error {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What an embedder may hand from thread to thread.
    #[test]
    fn shareable() {
        fn shareable<T: Send + Sync>() {}
        shareable::<Compiler>();
        shareable::<CompileOptions>();
        shareable::<crate::Analysis>();
        shareable::<crate::DeviceCode>();
        shareable::<crate::BuildOutput>();
        shareable::<crate::Failure>();
    }
}
