//! Optimisation and code generation of device modules, by the C++ in `optimizer.cpp` and `codegen.cpp`.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::prelude::{LLVMBool, LLVMModuleRef, LLVMValueRef};
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::{AsValueRef, FunctionValue};

/// `CdpEmitter` of `codegen.cpp`.
#[repr(C)]
struct RawEmitter {
    _opaque: [u8; 0],
}

/// `CdpOptimizer` of `optimizer.cpp`.
#[repr(C)]
struct RawOptimizer {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn cdp_emitter_create(
        machine: LLVMTargetMachineRef,
        dropped: *const *const c_char,
        dropped_count: usize,
    ) -> *mut RawEmitter;
    fn cdp_emitter_run(
        emitter: *mut RawEmitter,
        module: LLVMModuleRef,
        size: *mut usize,
        reusable: *mut LLVMBool,
    ) -> *const u8;
    fn cdp_emitter_dispose(emitter: *mut RawEmitter);

    fn cdp_emit_object(
        machine: LLVMTargetMachineRef,
        module: LLVMModuleRef,
        to: *mut c_void,
        into: unsafe extern "C" fn(to: *mut c_void, bytes: *const u8, size: usize, at: u64),
    ) -> LLVMBool;

    fn cdp_optimizer_create(machine: LLVMTargetMachineRef) -> *mut RawOptimizer;
    fn cdp_optimizer_run(
        optimizer: *mut RawOptimizer,
        module: LLVMModuleRef,
        pipeline: *const c_char,
        size: usize,
    ) -> *mut c_char;
    fn cdp_optimizer_run_on(
        optimizer: *mut RawOptimizer,
        functions: *const LLVMValueRef,
        count: usize,
        pipeline: *const c_char,
        size: usize,
    ) -> *mut c_char;
    fn cdp_optimizer_dispose(optimizer: *mut RawOptimizer);
}

/// Runs optimisation pipelines on modules, one after another.
pub(crate) struct Optimizer {
    raw: NonNull<RawOptimizer>,
}

// SAFETY: as for the emitter below.
unsafe impl Send for Optimizer {}

impl Optimizer {
    /// An optimiser for a machine. `None` without memory.
    ///
    /// # Safety
    /// The optimiser is dropped before the machine.
    pub unsafe fn new(machine: &TargetMachine) -> Option<Optimizer> {
        // SAFETY: the machine is live.
        let raw = unsafe { cdp_optimizer_create(machine.as_mut_ptr()) };
        NonNull::new(raw).map(|raw| Optimizer { raw })
    }

    /// Runs a pipeline in LLVM's textual form, in which `if-loops(...)` stands for function passes that
    /// are run on functions with loops only.
    ///
    /// # Errors
    /// LLVM's message about a pipeline that it cannot read.
    pub fn run(&mut self, module: &Module<'_>, pipeline: &str) -> Result<(), String> {
        let text = pipeline.as_ptr().cast();
        // SAFETY: optimiser, module and text are live; the message is ours to free.
        unsafe {
            said(cdp_optimizer_run(self.raw.as_ptr(), module.as_mut_ptr(), text, pipeline.len()))
        }
    }

    /// Runs function passes of a pipeline on functions of one module.
    ///
    /// # Errors
    /// As [`Optimizer::run`].
    pub fn run_on(
        &mut self,
        functions: &[FunctionValue<'_>],
        pipeline: &str,
    ) -> Result<(), String> {
        let functions: Vec<_> = functions.iter().map(AsValueRef::as_value_ref).collect();
        let (raw, text) = (self.raw.as_ptr(), pipeline.as_ptr().cast());
        // SAFETY: optimiser, functions and text are live; the message is ours to free.
        unsafe {
            let (first, count) = (functions.as_ptr(), functions.len());
            said(cdp_optimizer_run_on(raw, first, count, text, pipeline.len()))
        }
    }
}

/// What LLVM's message says, if there is one.
///
/// # Safety
/// It is null, or live and the caller's to free.
unsafe fn said(message: *mut c_char) -> Result<(), String> {
    if message.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        Err(text)
    }
}

impl Drop for Optimizer {
    fn drop(&mut self) {
        // SAFETY: made by `cdp_optimizer_create`, and not used any more.
        unsafe { cdp_optimizer_dispose(self.raw.as_ptr()) }
    }
}

/// The object file of a module, which gets the machine's data layout; `None` when the target has none. It is made
/// where it stays: LLVM's C interface makes it twice, which counts for variables of hundreds of megabytes.
pub(crate) fn object(machine: &TargetMachine, module: &Module<'_>) -> Option<Vec<u8>> {
    let mut object: Vec<u8> = Vec::new();
    let to = (&raw mut object).cast();
    // SAFETY: machine and module are live, and `write_object` is given the vector, which nobody else uses meanwhile.
    let made =
        unsafe { cdp_emit_object(machine.as_mut_ptr(), module.as_mut_ptr(), to, write_object) };
    (made != 0).then_some(object)
}

/// Puts bytes at a place of the object file `to`, at most behind its last byte.
///
/// # Safety
/// `to` is a vector that is used by nobody else, and `bytes` are so many.
unsafe extern "C" fn write_object(to: *mut c_void, bytes: *const u8, size: usize, at: u64) {
    if size == 0 {
        return;
    }
    // SAFETY: the caller's.
    let (object, bytes) =
        unsafe { (&mut *to.cast::<Vec<u8>>(), std::slice::from_raw_parts(bytes, size)) };
    let at = usize::try_from(at).unwrap_or(usize::MAX).min(object.len());
    let over = bytes.len().min(object.len() - at);
    object[at..at + over].copy_from_slice(&bytes[..over]);
    object.extend_from_slice(&bytes[over..]);
}

/// Writes modules as assembly, one after another, with passes that are made once.
pub(crate) struct Emitter {
    raw: NonNull<RawEmitter>,
    /// What LLVM remembers of the modules so far does no harm to another one.
    reusable: bool,
}

// SAFETY: an emitter belongs to no thread and, between two modules, to no context; one owner at a time
// uses it.
unsafe impl Send for Emitter {}

impl Emitter {
    /// An emitter without the passes of the given command-line names, which live as long as the
    /// process. `None` when the target has no assembly.
    ///
    /// # Safety
    /// The emitter is dropped before the machine.
    pub unsafe fn new(machine: &TargetMachine, dropped: &[&'static CStr]) -> Option<Emitter> {
        let names: Vec<*const c_char> = dropped.iter().map(|name| name.as_ptr()).collect();
        // SAFETY: the names are read during the call only.
        let raw = unsafe { cdp_emitter_create(machine.as_mut_ptr(), names.as_ptr(), names.len()) };
        NonNull::new(raw).map(|raw| Emitter { raw, reusable: true })
    }

    /// Whether it may run again.
    pub fn is_reusable(&self) -> bool {
        self.reusable
    }

    /// The assembly text of a module, which gets the machine's data layout.
    ///
    /// # Panics
    /// When it may not run again.
    pub fn run(&mut self, module: &Module<'_>) -> &[u8] {
        assert!(self.reusable, "this emitter must not run again");
        let (mut size, mut reusable) = (0, 0);
        // SAFETY: emitter and module are live, and the text is the emitter's until the next run, for
        // which it must be borrowed again.
        unsafe {
            let text = cdp_emitter_run(
                self.raw.as_ptr(),
                module.as_mut_ptr(),
                &raw mut size,
                &raw mut reusable,
            );
            self.reusable = reusable != 0;
            if size == 0 { &[] } else { std::slice::from_raw_parts(text, size) }
        }
    }
}

impl Drop for Emitter {
    fn drop(&mut self) {
        // SAFETY: made by `cdp_emitter_create`, and not used any more.
        unsafe { cdp_emitter_dispose(self.raw.as_ptr()) }
    }
}
