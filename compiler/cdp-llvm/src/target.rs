//! Targets: initialisation (once a process), triples, target machines.
//!
//! Making a target machine of NVPTX, which fills tables of what is legal for every type, takes a
//! tenth of the time that a small module does, and making its code generation passes another tenth, so
//! those of the device are kept for the next module with the same options. What a machine remembers of
//! the modules that went through it is a count of calls, which [`LlvmModule::emit_ptx`] takes out of the
//! text, and names of parameters, for whose sake it is given up after a while.
//!
//! [`LlvmModule::emit_ptx`]: crate::LlvmModule::emit_ptx

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::ops::Deref;
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple,
};
use inkwell::values::FunctionValue;

use crate::codegen::{Emitter, Optimizer};
use crate::error::{LowerError, Result, bug};
use crate::guard::guarded;
use crate::options::{LowerOptions, OptLevel};
use crate::pipeline;

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeTarget {
    /// NVPTX with addresses of 32 or 64 bits.
    Device {
        /// 32 or 64.
        address_bits: u32,
    },
    /// x86-64 Linux.
    Host,
}

impl CodeTarget {
    /// The LLVM target triple.
    pub fn triple(self) -> &'static str {
        match self {
            CodeTarget::Device { address_bits: 32 } => "nvptx-nvidia-cuda",
            CodeTarget::Device { .. } => "nvptx64-nvidia-cuda",
            CodeTarget::Host => "x86_64-unknown-linux-gnu",
        }
    }
}

pub(crate) fn initialize(target: CodeTarget) {
    static DEVICE: Once = Once::new();
    static HOST: Once = Once::new();
    let config = InitializationConfig {
        asm_parser: false,
        asm_printer: true,
        base: true,
        disassembler: false,
        info: true,
        machine_code: true,
    };
    match target {
        CodeTarget::Device { .. } => DEVICE.call_once(|| Target::initialize_nvptx(&config)),
        // The host's inline assembly is parsed when its object is written.
        CodeTarget::Host => HOST.call_once(|| {
            Target::initialize_x86(&InitializationConfig { asm_parser: true, ..config });
        }),
    }
}

/// What decides how a target machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MachineKey {
    target: CodeTarget,
    cpu: String,
    features: String,
    level: OptimizationLevel,
}

impl MachineKey {
    fn new(target: CodeTarget, options: &LowerOptions) -> MachineKey {
        let (cpu, features) = match target {
            CodeTarget::Device { .. } => (options.arch.clone(), format!("+ptx{}", options.ptx_isa)),
            CodeTarget::Host => ("x86-64".to_string(), String::new()),
        };
        let level = match options.opt_level {
            _ if options.quick_host && target == CodeTarget::Host => OptimizationLevel::Less,
            OptLevel::O0 => OptimizationLevel::None,
            OptLevel::O1 => OptimizationLevel::Less,
            OptLevel::O2 => OptimizationLevel::Default,
            // `Aggressive` has global value numbering run twice more on code that had it, at a
            // tenth of the time; ptxas makes the same of both.
            OptLevel::O3 if target != CodeTarget::Host => OptimizationLevel::Default,
            OptLevel::O3 => OptimizationLevel::Aggressive,
        };
        MachineKey { target, cpu, features, level }
    }

    fn make(&self) -> Result<TargetMachine> {
        initialize(self.target);
        let name = self.target.triple();
        let wrong = |message: String| LowerError::Target { triple: name.into(), message };
        let triple = TargetTriple::create(name);
        let reloc = match self.target {
            CodeTarget::Device { .. } => RelocMode::Default,
            CodeTarget::Host => RelocMode::PIC,
        };
        let (cpu, features) = (&self.cpu, &self.features);
        Target::from_triple(&triple)
            .map_err(|error| wrong(error.to_string()))?
            .create_target_machine(&triple, cpu, features, self.level, reloc, CodeModel::Default)
            .ok_or_else(|| wrong(format!("no target machine for `{cpu}`")))
    }
}

/// A target machine and its passes.
struct Kept {
    /// Before the machine, since they must be dropped first. `None` until there is work for them, and
    /// after an error.
    optimizer: RefCell<Option<Optimizer>>,
    emitter: RefCell<Option<Emitter>>,
    machine: TargetMachine,
    key: MachineKey,
    /// Modules that it was for.
    modules: u32,
    /// The thread that used it last, whose caches and memory arena hold most of it.
    user: ThreadId,
}

// SAFETY: a target machine belongs to no thread and no context; one owner at a time uses it.
unsafe impl Send for Kept {}

/// A target machine for one module at a time; dropped, it waits for the next.
pub(crate) struct Machine(ManuallyDrop<Kept>);

impl Deref for Machine {
    type Target = TargetMachine;

    fn deref(&self) -> &TargetMachine {
        &self.0.machine
    }
}

impl Machine {
    /// The optimiser that is kept, or a new one.
    fn optimizer(&self) -> Result<Optimizer> {
        match self.0.optimizer.take() {
            Some(optimizer) => Ok(optimizer),
            // SAFETY: it is dropped by who asked or by `Kept`, before the machine.
            None => unsafe { Optimizer::new(&self.0.machine) }
                .ok_or_else(|| bug("optimize", "no optimiser")),
        }
    }

    /// The emitter that is kept, or a new one.
    fn emitter(&self) -> Result<Emitter> {
        match self.0.emitter.take() {
            Some(emitter) => Ok(emitter),
            // SAFETY: it is dropped by who asked or by `Kept`, before the machine.
            None => unsafe { Emitter::new(&self.0.machine, pipeline::LEFT_OUT) }
                .ok_or_else(|| bug("emit", "the target has no assembly")),
        }
    }

    /// Makes the passes that are not there yet.
    fn make_passes(&self) -> Result<()> {
        let (optimizer, emitter) = (self.optimizer()?, self.emitter()?);
        self.0.optimizer.replace(Some(optimizer));
        self.0.emitter.replace(Some(emitter));
        Ok(())
    }

    /// Runs an optimisation pipeline on a device module.
    ///
    /// # Errors
    /// For a pipeline that LLVM cannot read.
    pub fn optimize(&self, module: &Module<'_>, pipeline: &str) -> Result<()> {
        // After an error, or without return, the optimiser is not used again.
        let mut optimizer = self.optimizer()?;
        optimizer.run(module, pipeline).map_err(|message| bug("optimize", message))?;
        self.0.optimizer.replace(Some(optimizer));
        Ok(())
    }

    /// Runs function passes on functions of one module.
    ///
    /// # Errors
    /// As [`Machine::optimize`].
    pub fn optimize_functions(
        &self,
        functions: &[FunctionValue<'_>],
        pipeline: &str,
    ) -> Result<()> {
        let mut optimizer = self.optimizer()?;
        optimizer.run_on(functions, pipeline).map_err(|message| bug("optimize", message))?;
        self.0.optimizer.replace(Some(optimizer));
        Ok(())
    }

    /// Makes assembly of a device module, and hands it to `read`.
    ///
    /// # Errors
    /// Those of `read`, and when the target has no assembly.
    pub fn emit<T>(&self, module: &Module<'_>, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        // After an error, or without return, the emitter is not used again.
        let mut emitter = self.emitter()?;
        let read = read(emitter.run(module))?;
        if emitter.is_reusable() {
            self.0.emitter.replace(Some(emitter));
        }
        Ok(read)
    }
}

/// The most machines kept, of about 1 MiB each with their passes.
const MAX_IDLE: usize = 16;

/// The most modules that a machine is for.
const MAX_MODULES: u32 = 256;

static IDLE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: nothing uses the field afterwards.
        let kept = unsafe { ManuallyDrop::take(&mut self.0) };
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.key.target != CodeTarget::Host && kept.modules < MAX_MODULES {
            if idle.len() >= MAX_IDLE {
                // The one that was not wanted for the longest time.
                idle.remove(0);
            }
            idle.push(kept);
        }
    }
}

/// Who makes the first machine while something else is done.
static FIRST: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// The machine that another thread makes until this is dropped.
#[must_use]
pub struct Preparation(());

impl Drop for Preparation {
    fn drop(&mut self) {
        // Who ends the process then does not take LLVM's tables away from the thread.
        wait_for_first();
    }
}

fn wait_for_first() {
    let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(first) = first {
        // What went wrong there goes wrong once more here, and is said.
        let _ = first.join();
    }
}

/// Has the process's first target machine and its passes made by another thread, for the device modules that
/// will be lowered with these options: a fifth of the work for a small program, which its front end does not
/// wait for. Without a second processor nothing is done.
pub fn prepare_device(address_bits: u32, options: &LowerOptions) -> Preparation {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        if processors < 2 || options.threads == 1 {
            return;
        }
        let options = options.clone();
        let make = move || {
            let target = CodeTarget::Device { address_bits };
            let _ = guarded(|| find_or_make(target, &options)?.make_passes());
        };
        let thread = thread::Builder::new().name("cdp-prepare".into()).spawn(make);
        *FIRST.lock().unwrap_or_else(PoisonError::into_inner) = thread.ok();
    });
    Preparation(())
}

/// The target machine for a module.
pub(crate) fn machine(target: CodeTarget, options: &LowerOptions) -> Result<Machine> {
    wait_for_first();
    find_or_make(target, options)
}

fn find_or_make(target: CodeTarget, options: &LowerOptions) -> Result<Machine> {
    let key = MachineKey::new(target, options);
    let user = thread::current().id();
    let waiting = {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let own = idle.iter().position(|idle| idle.user == user && idle.key == key);
        let found = own.or_else(|| idle.iter().rposition(|idle| idle.key == key));
        found.map(|at| idle.remove(at))
    };
    let kept = match waiting {
        Some(kept) => Kept { modules: kept.modules + 1, user, ..kept },
        None => Kept {
            optimizer: RefCell::default(),
            emitter: RefCell::default(),
            machine: key.make()?,
            key,
            modules: 1,
            user,
        },
    };
    Ok(Machine(ManuallyDrop::new(kept)))
}
