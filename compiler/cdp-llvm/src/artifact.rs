//! [`LlvmModule`]: a lowered module that owns its LLVM context, and what can be made of it.
//!
//! What is absent: how the module came to be ([`mod@crate::lower`], [`crate::foreign`]), and what takes
//! several modules (`finish`).

use std::mem::ManuallyDrop;
use std::sync::Arc;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;

use crate::error::{LowerError, Result, bug};
use crate::launches::code;
use crate::launches::remark::{LaunchRemark, Optimized};
use crate::options::{Cancel, DebugInfo, LowerOptions, OptLevel};
use crate::pipeline;
use crate::raw::{self, DiagnosticSink};
use crate::target::{self, CodeTarget, Machine};

/// Instructions of a module of which the source and its trees took tens of megabytes.
const MANY_INSTRUCTIONS: u64 = 100_000;

/// An LLVM module in a context of its own, with the machine that makes code of it.
///
/// It stays on the thread that made it; any number of threads may each have their own.
pub struct LlvmModule {
    module: ManuallyDrop<Module<'static>>,
    machine: Machine,
    /// Keeps the context of `module` alive; boxed, so that it does not move.
    context: ManuallyDrop<Box<Context>>,
    /// Written by LLVM through a raw pointer.
    sink: *mut DiagnosticSink,
    target: CodeTarget,
    opt_level: OptLevel,
    quick_host: bool,
    stores_apart: bool,
    registers: Option<u32>,
    watch_host: bool,
    debug: DebugInfo,
    cancel: Cancel,
    optimized: Optimized,
}

impl LlvmModule {
    /// Makes a context and a module, and lets `fill` build its content, which LLVM verifies in debug
    /// builds (a program never makes a wrong module, a mistake of ours may).
    pub(crate) fn build(
        name: &str,
        target: CodeTarget,
        options: &LowerOptions,
        fill: impl for<'ctx> FnOnce(&'ctx Context, &Module<'ctx>) -> Result<()>,
    ) -> Result<LlvmModule> {
        Self::build_with(name, target, options, |context, module, _| fill(context, module))
    }

    /// [`LlvmModule::build`] with passes of the machine at hand.
    pub(crate) fn build_with(
        name: &str,
        target: CodeTarget,
        options: &LowerOptions,
        fill: impl for<'ctx> FnOnce(&'ctx Context, &Module<'ctx>, &Machine) -> Result<()>,
    ) -> Result<LlvmModule> {
        let lowered = Self::make(target, options, |context, machine| {
            let module = context.create_module(name);
            module.set_triple(&machine.get_triple());
            module.set_data_layout(&machine.get_target_data().get_data_layout());
            fill(context, &module, machine)?;
            Ok(module)
        })?;
        if cfg!(debug_assertions) {
            lowered.verify()?;
        }
        lowered.diagnosed()?;
        Ok(lowered)
    }

    /// The same for a module that `make` brings (one that was parsed), which is always verified.
    pub(crate) fn with_module(
        target: CodeTarget,
        options: &LowerOptions,
        make: impl for<'ctx> FnOnce(&'ctx Context, &TargetMachine) -> Result<Module<'ctx>>,
    ) -> Result<LlvmModule> {
        let lowered = Self::make(target, options, |context, machine| make(context, machine))?;
        lowered.verify()?;
        Ok(lowered)
    }

    fn make(
        target: CodeTarget,
        options: &LowerOptions,
        make: impl for<'ctx> FnOnce(&'ctx Context, &Machine) -> Result<Module<'ctx>>,
    ) -> Result<LlvmModule> {
        let machine = target::machine(target, options)?;
        let context = Box::new(Context::create());
        let sink = Box::into_raw(Box::new(DiagnosticSink::default()));
        // SAFETY: the sink is freed after the context, in `drop` below.
        unsafe { raw::collect_diagnostics(&context, sink) };
        // SAFETY: the module is dropped before the context that it borrows (`drop` below), and the
        // box does not move its content.
        let extended: &'static Context = unsafe { &*std::ptr::from_ref::<Context>(&context) };
        let made = make(extended, &machine);
        let module = match made {
            Ok(module) => module,
            Err(error) => {
                drop(context);
                // SAFETY: made by `Box::into_raw` above; nothing uses it any more.
                drop(unsafe { Box::from_raw(sink) });
                return Err(error);
            }
        };
        Ok(LlvmModule {
            module: ManuallyDrop::new(module),
            machine,
            context: ManuallyDrop::new(context),
            sink,
            target,
            opt_level: options.opt_level,
            quick_host: options.quick_host,
            stores_apart: options.stores_apart,
            registers: options.registers_for_loops(),
            watch_host: options.watch_host,
            debug: options.debug,
            cancel: options.cancel.clone(),
            optimized: Optimized::default(),
        })
    }

    /// The module, for embedders who go on with inkwell.
    pub fn module(&self) -> &Module<'static> {
        &self.module
    }

    /// What the launch optimiser did with each launch site.
    pub fn launch_remarks(&self) -> &[LaunchRemark] {
        &self.optimized.remarks
    }

    /// The module's text after the pass of the launch optimiser that the options name.
    pub fn printed(&self) -> Option<&str> {
        self.optimized.printed.as_deref()
    }

    pub(crate) fn set_optimized(&mut self, optimized: Optimized) {
        self.optimized = optimized;
    }

    /// The module with its context and machine, for going on with it.
    pub(crate) fn parts(&self) -> (&'static Context, &Module<'static>, &TargetMachine) {
        // SAFETY: the module is dropped before the context (`drop` below), which does not move.
        let context: &'static Context = unsafe { &*std::ptr::from_ref::<Context>(&self.context) };
        (context, &self.module, &self.machine)
    }

    /// Goes on building the module.
    pub(crate) fn with(
        &self,
        work: impl for<'ctx> FnOnce(&'ctx Context, &Module<'ctx>, &TargetMachine) -> Result<()>,
    ) -> Result<()> {
        let (context, module, machine) = self.parts();
        work(context, module, machine)?;
        self.verify()
    }

    /// What the module is for.
    pub fn target(&self) -> CodeTarget {
        self.target
    }

    pub(crate) fn verify(&self) -> Result<()> {
        self.module.verify().map_err(|message| bug("lower", message.to_string()))?;
        self.diagnosed()
    }

    /// Turns an error that LLVM reported into ours.
    pub(crate) fn diagnosed(&self) -> Result<()> {
        // SAFETY: LLVM is not running, so nobody else has the sink.
        let sink = unsafe { &*self.sink };
        match sink.errors.first() {
            Some(message) => Err(LowerError::Backend { message: message.clone() }),
            None => Ok(()),
        }
    }

    /// Gives what was freed back to the system where the module is so large that its front end took much: LLVM asks for
    /// pieces of other sizes, and would have its memory on top of that.
    pub fn give_back_memory(&self) {
        if self.is_large() {
            give_back_memory();
        }
    }

    /// Whether what was needed to make it took much memory.
    pub(crate) fn is_large(&self) -> bool {
        raw::has_instructions(&self.module, MANY_INSTRUCTIONS)
    }

    /// Runs the optimisation pipeline of the level given in the options.
    pub fn optimize(&self) -> Result<()> {
        let device = self.target != CodeTarget::Host;
        if self.watch_host && !device {
            crate::watched::watch(&self.module);
        }
        if !device && self.opt_level != OptLevel::O0 {
            raw::spare_large(&self.module, pipeline::most_of_host(self.quick_host));
        }
        match self.opt_level {
            _ if self.quick_host && !device => self.run_passes(pipeline::QUICK_HOST),
            OptLevel::O0 => self.run_passes("default<O0>"),
            OptLevel::O1 => self.run_passes("default<O1>"),
            OptLevel::O2 | OptLevel::O3 if device => {
                self.run_passes(&pipeline::device(self.stores_apart, self.registers))
            }
            OptLevel::O2 => self.run_passes("default<O2>"),
            OptLevel::O3 => self.run_passes("default<O3>"),
        }
    }

    /// Runs a pipeline in LLVM's textual form.
    pub fn run_passes(&self, pipeline: &str) -> Result<()> {
        self.cancel.check()?;
        if self.target == CodeTarget::Host {
            let options = PassBuilderOptions::create();
            options.set_loop_vectorization(true);
            options.set_loop_interleaving(true);
            self.module
                .run_passes(pipeline, &self.machine, options)
                .map_err(|message| bug("optimize", message.to_string()))?;
        } else {
            self.machine.optimize(&self.module, pipeline)?;
        }
        self.diagnosed()
    }

    /// LLVM IR as text.
    pub fn emit_llvm_ir(&self) -> String {
        self.define_recorded_launches();
        self.module.print_to_string().to_string()
    }

    /// LLVM bitcode.
    pub fn emit_bitcode(&self) -> Vec<u8> {
        self.define_recorded_launches();
        bytes_of(&self.module.write_bitcode_to_memory())
    }

    /// The functions that are else put into PTX only.
    fn define_recorded_launches(&self) {
        let Some(abi) = self.optimized.recorded else { return };
        let (context, module, _) = self.parts();
        let direct = &self.optimized.direct;
        let linked = if direct.is_empty() { Ok(()) } else { direct.link(context, module) };
        let linked = linked.and_then(|()| code::link(context, module, abi));
        debug_assert!(linked.is_ok(), "{linked:?}");
    }

    /// Puts the functions of recorded launches into PTX of this module, where it declares them.
    pub(crate) fn put_recorded_launches(&self) -> impl Fn(String) -> String + use<> {
        let (recorded, target) = (self.optimized.recorded, self.target);
        let direct = Arc::clone(&self.optimized.direct);
        move |ptx| match (recorded, target) {
            (Some(abi), CodeTarget::Device { address_bits }) => {
                code::put(ptx, abi, address_bits, &direct)
            }
            _ => ptx,
        }
    }

    /// PTX text of a device module.
    pub fn emit_ptx(&self) -> Result<String> {
        if self.target == CodeTarget::Host {
            return Err(bug("emit", "PTX of a host module"));
        }
        self.cancel.check()?;
        let text = self.machine.emit(&self.module, |text| {
            self.diagnosed()?;
            let text = std::str::from_utf8(text).map_err(|error| bug("emit", error.to_string()))?;
            Ok(with_own_call_numbers(text))
        })?;
        let text = if self.debug == DebugInfo::Lines { without_dwarf(text) } else { text };
        Ok(self.put_recorded_launches()(text))
    }

    /// An ELF object of a host module.
    pub fn emit_object(&self) -> Result<Vec<u8>> {
        if self.target != CodeTarget::Host {
            return Err(bug("emit", "an object of a device module"));
        }
        self.cancel.check()?;
        let object = crate::codegen::object(&self.machine, &self.module)
            .ok_or_else(|| bug("emit", "a host without object files"))?;
        self.diagnosed()?;
        Ok(object)
    }
}

/// Gives what was freed back to the system.
pub(crate) fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: any thread may call it at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

impl Drop for LlvmModule {
    fn drop(&mut self) {
        // SAFETY: each field is dropped once, the borrower before what it borrows, and none is used
        // afterwards.
        unsafe {
            ManuallyDrop::drop(&mut self.module);
            ManuallyDrop::drop(&mut self.context);
            drop(Box::from_raw(self.sink));
        }
    }
}

/// Numbers the call sequences from 0. LLVM writes their numbers into comments and counts them by target
/// machine, which may have served other modules before.
fn with_own_call_numbers(text: &str) -> String {
    const MARK: &str = " // callseq ";
    let mut out = String::with_capacity(text.len());
    let mut next = 0;
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let opens = rest[..at].ends_with('{');
        let (before, number) = rest.split_at(at + MARK.len());
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        next += u32::from(opens);
        out += before;
        out += &next.saturating_sub(1).to_string();
        rest = &number[digits..];
    }
    out + rest
}

/// Leaves `.loc` and `.file` of a module with line tables. LLVM has a kind of compile unit for just
/// that, which its C interface cannot make; with the kind that it can, DWARF sections stand at the
/// end, and the target says `debug`, which has ptxas expect all of DWARF.
fn without_dwarf(mut text: String) -> String {
    if let Some(sections) = text.find("\n\t.section\t.debug_") {
        let cut = text.split_off(sections + 1);
        // A unit that has directives alone, as clang's, names its files behind the sections.
        let files = cut.lines().filter(|line| line.starts_with("\t.file\t"));
        text.extend(files.flat_map(|line| [line, "\n"]));
    }
    match text.find(", debug\n") {
        Some(at) => text[..at].to_string() + &text[at + ", debug".len()..],
        None => text,
    }
}

/// A buffer's bytes.
fn bytes_of(buffer: &MemoryBuffer<'_>) -> Vec<u8> {
    buffer.as_slice().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_wherever_they_stand() {
        let before = ".target sm_90, debug\n\tret;\n}\n\t.file\t1 \"a.cdp\"\n\t.section\t.debug_str\n\t{\n\t}\n";
        let after = ".target sm_90, debug\n\tret;\n}\n\t.section\t.debug_macinfo\t{\t}\n\t.file\t1 \"a.cu\"\n";
        for (text, file) in [(before, "a.cdp"), (after, "a.cu")] {
            let wanted = format!(".target sm_90\n\tret;\n}}\n\t.file\t1 \"{file}\"\n");
            assert_eq!(without_dwarf(text.to_owned()), wanted);
        }
    }

    #[test]
    fn call_sequences_are_numbered_from_zero() {
        let text =
            "\t{ // callseq 41, 0\n\t} // callseq 41\n\t{ // callseq 42, 0\n\t} // callseq 42\n";
        let wanted =
            "\t{ // callseq 0, 0\n\t} // callseq 0\n\t{ // callseq 1, 0\n\t} // callseq 1\n";
        assert_eq!(with_own_call_numbers(text), wanted);
        assert_eq!(with_own_call_numbers("\tret;\n"), "\tret;\n");
    }
}
