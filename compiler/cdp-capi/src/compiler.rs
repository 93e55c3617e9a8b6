//! Compilers, inputs, and compiling.

use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr::null;
use std::sync::OnceLock;

use cdp_library::{
    CompileOptions, Compiler, Goal, Input, InputKind, OPTIONS, SearchOptions, SourceInput,
};

use crate::cdp_status;
use crate::result::cdp_result;
use crate::util::{Failed, bytes, c_string, free, object, object_mut, protected, status, text};

/// What an input holds: one of CDP_KIND_...
pub type cdp_kind = u32;
/// Told by the first bytes.
pub const CDP_KIND_DETECT: cdp_kind = 0;
/// `.cdp` or `.cu` text.
pub const CDP_KIND_SOURCE: cdp_kind = 1;
/// LLVM IR, text or bitcode, with launches by `@cdp.launch`.
pub const CDP_KIND_LLVM: cdp_kind = 2;
/// PTX text.
pub const CDP_KIND_PTX: cdp_kind = 3;
/// A device object, a cubin, a host object with device code, a library of these, or a fat binary.
pub const CDP_KIND_OBJECT: cdp_kind = 4;

/// Where a compilation ends: one of CDP_GOAL_...
pub type cdp_goal = u32;
/// PTX text of one input, for one architecture. Needs no CUDA tool.
pub const CDP_GOAL_PTX: cdp_goal = 0;
/// LLVM IR text of one input, for one architecture. Needs no CUDA tool.
pub const CDP_GOAL_LLVM_IR: cdp_goal = 1;
/// A relocatable device object of one input, for one architecture. Needs ptxas.
pub const CDP_GOAL_OBJECT: cdp_goal = 2;
/// A linked cubin of all inputs, for one architecture. Needs ptxas and nvlink.
pub const CDP_GOAL_CUBIN: cdp_goal = 3;
/// A fat binary of linked cubins for all architectures. Needs ptxas, nvlink and fatbinary.
pub const CDP_GOAL_FATBIN: cdp_goal = 4;
/// A host object of one source: host functions and the registration of kernels. Needs no CUDA tool.
pub const CDP_GOAL_HOST_OBJECT: cdp_goal = 5;

/// A compiler: options, and the CUDA tools that were found.
pub struct cdp_compiler {
    options: CompileOptions,
    compiler: Compiler,
}

/// Inputs of one compilation.
pub struct cdp_inputs {
    inputs: Vec<Input>,
    /// Files for `#include`, by name.
    headers: Vec<(String, String)>,
}

/// Makes a compiler with default options and without CUDA's tools. Free it with cdp_compiler_free.
///
/// Any thread. Returns NULL when memory has run out.
#[unsafe(no_mangle)]
pub extern "C" fn cdp_compiler_new() -> *mut cdp_compiler {
    protected(std::ptr::null_mut(), || {
        let compiler = Compiler::without_tools();
        Ok(Box::into_raw(Box::new(cdp_compiler { options: CompileOptions::default(), compiler })))
    })
}

/// Frees a compiler. NULL is ignored.
///
/// No other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_compiler_free(compiler: *mut cdp_compiler) {
    // SAFETY: by the interface's contract.
    unsafe { free(compiler) }
}

/// Looks for ptxas, nvlink and the rest, in the toolkit at `cuda_path`, or, when that is NULL, where
/// cdpc looks: CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda, .toolchain folders.
///
/// Changes the compiler: no other thread may be using it. CDP_ERROR_TOOL when a toolkit was named and
/// is none (the compiler stays as it was); finding nothing by search is no error until a tool is
/// needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_compiler_find_tools(
    compiler: *mut cdp_compiler,
    cuda_path: *const c_char,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let compiler = unsafe { object_mut(compiler, "compiler") }?;
        let mut search = SearchOptions::from_process();
        if !cuda_path.is_null() {
            // SAFETY: as above.
            search.cuda_path = Some(PathBuf::from(unsafe { text(cuda_path, "cuda_path") }?));
        }
        compiler.compiler = Compiler::new(&search).map_err(Failed::from)?;
        Ok(())
    })
}

/// Sets an option by name: "arch" to "sm_90", "opt-level" to "2". The names are those of cdpc's long
/// options; cdp_option_name lists them. Some options ("define", "include-dir") add to a list.
///
/// Changes the compiler: no other thread may be using it. CDP_ERROR_REQUEST for a name or value that
/// there is not; nothing is changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_compiler_set(
    compiler: *mut cdp_compiler,
    name: *const c_char,
    value: *const c_char,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let (compiler, name, value) = unsafe {
            (object_mut(compiler, "compiler")?, text(name, "name")?, text(value, "value")?)
        };
        compiler.options.set(name, value).map_err(|error| Failed::request(error.to_string()))
    })
}

/// Returns the name of option number `index`, from 0, or NULL past the last. It lives as long as the
/// process.
///
/// Any thread, any time.
#[unsafe(no_mangle)]
pub extern "C" fn cdp_option_name(index: usize) -> *const c_char {
    option_text(index, 0)
}

/// Returns what values option number `index` takes, in words, or NULL past the last. It lives as long
/// as the process.
///
/// Any thread, any time.
#[unsafe(no_mangle)]
pub extern "C" fn cdp_option_values(index: usize) -> *const c_char {
    option_text(index, 1)
}

fn option_text(index: usize, column: usize) -> *const c_char {
    static TEXTS: OnceLock<Vec<[CString; 2]>> = OnceLock::new();
    let make = || OPTIONS.iter().map(|(name, values)| [c_string(name), c_string(values)]).collect();
    protected(null(), || {
        let row = TEXTS.get_or_init(make).get(index);
        Ok(row.map_or(null(), |row| row[column].as_ptr()))
    })
}

/// Makes an empty list of inputs. Free it with cdp_inputs_free.
///
/// Any thread. Returns NULL when memory has run out.
#[unsafe(no_mangle)]
pub extern "C" fn cdp_inputs_new() -> *mut cdp_inputs {
    protected(std::ptr::null_mut(), || {
        let inputs = cdp_inputs { inputs: Vec::new(), headers: Vec::new() };
        Ok(Box::into_raw(Box::new(inputs)))
    })
}

/// Frees a list of inputs. NULL is ignored.
///
/// No other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_inputs_free(inputs: *mut cdp_inputs) {
    // SAFETY: by the interface's contract.
    unsafe { free(inputs) }
}

/// Adds an input from memory, which is copied. `name` is its name in messages; it need not exist.
/// Sources include files that were added with cdp_inputs_add_header, then those on the disk (regular files
/// only), unless option "disk-includes" is "false": for programs of strangers.
///
/// Changes the list: no other thread may be using it. CDP_ERROR_REQUEST for a kind that there is not;
/// CDP_ERROR_INPUT for a source that is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_inputs_add(
    inputs: *mut cdp_inputs,
    kind: cdp_kind,
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let (inputs, name, data) = unsafe {
            (object_mut(inputs, "inputs")?, text(name, "name")?, bytes(data, size, "data")?)
        };
        inputs.inputs.push(input(kind, name, data)?);
        Ok(())
    })
}

/// Adds a file for `#include`, from memory, which is copied. All sources of the list find it by this
/// name.
///
/// Changes the list: no other thread may be using it. CDP_ERROR_INPUT for a text that is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_inputs_add_header(
    inputs: *mut cdp_inputs,
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let (inputs, name, data) = unsafe {
            (object_mut(inputs, "inputs")?, text(name, "name")?, bytes(data, size, "data")?)
        };
        inputs.headers.push((name.to_string(), utf8(name, data)?));
        Ok(())
    })
}

/// Compiles one input from memory to a goal. `name` is its name in messages; it need not exist. Free
/// the result with cdp_result_free.
///
/// The compiler is not changed: any number of threads may compile with it at once. Errors are in the
/// result. Returns NULL, with cdp_last_error saying why, only when an argument is wrong: NULL, a kind
/// or goal that there is not, text that is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_compile(
    compiler: *const cdp_compiler,
    kind: cdp_kind,
    name: *const c_char,
    data: *const c_void,
    size: usize,
    goal: cdp_goal,
) -> *mut cdp_result {
    protected(std::ptr::null_mut(), || {
        // SAFETY: by the interface's contract.
        let (compiler, name, data) = unsafe {
            (object(compiler, "compiler")?, text(name, "name")?, bytes(data, size, "data")?)
        };
        Ok(compiler.compile(&[input(kind, name, data)?], self::goal(goal)?))
    })
}

/// Compiles and links all inputs of a list to a goal: sources, LLVM IR, PTX, objects and cubins to one
/// cubin, for example. Free the result with cdp_result_free.
///
/// Neither compiler nor inputs are changed: any number of threads may use them at once. Errors are in
/// the result. Returns NULL, with cdp_last_error saying why, only when an argument is NULL or the goal
/// is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_build(
    compiler: *const cdp_compiler,
    inputs: *const cdp_inputs,
    goal: cdp_goal,
) -> *mut cdp_result {
    protected(std::ptr::null_mut(), || {
        // SAFETY: by the interface's contract.
        let (compiler, inputs) =
            unsafe { (object(compiler, "compiler")?, object(inputs, "inputs")?) };
        let mut list = inputs.inputs.clone();
        for input in &mut list {
            if let Input::Source(source) | Input::Cuda(source) = input
                && let SourceInput::Memory { files, .. } = source
            {
                files.clone_from(&inputs.headers);
            }
        }
        Ok(compiler.compile(&list, self::goal(goal)?))
    })
}

/// Gives up what other threads are compiling with this compiler: their cdp_compile and cdp_build end soon,
/// with a result of status CDP_ERROR_CANCELLED. A tool of CUDA's is killed; the library's own work ends
/// before its next function, codegen unit or stage. Compilations that begin later are not affected.
///
/// Any thread, also while others compile; NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_compiler_cancel(compiler: *const cdp_compiler) {
    // SAFETY: by the interface's contract.
    if let Some(compiler) = unsafe { compiler.as_ref() } {
        compiler.compiler.cancel();
    }
}

/// Lowers the launches (`@cdp.launch`) of LLVM IR, text or bitcode, and does nothing else: the result
/// holds LLVM IR as text. Free it with cdp_result_free.
///
/// The compiler is not changed: any number of threads may use it at once. Errors are in the result.
/// Returns NULL, with cdp_last_error saying why, only when an argument is wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_lower(
    compiler: *const cdp_compiler,
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> *mut cdp_result {
    protected(std::ptr::null_mut(), || {
        // SAFETY: by the interface's contract.
        let (compiler, name, data) = unsafe {
            (object(compiler, "compiler")?, text(name, "name")?, bytes(data, size, "data")?)
        };
        cdp_library::llvm::catch_crashes();
        let options = &compiler.options;
        let arch = options.archs()[0];
        let lowered = compiler.compiler.lower_foreign(name, data, arch, options);
        Ok(cdp_result::of_text(Goal::LlvmIr, lowered.map_err(Into::into)))
    })
}

impl cdp_compiler {
    fn compile(&self, inputs: &[Input], goal: Goal) -> *mut cdp_result {
        if inputs.iter().any(|input| matches!(input, Input::Bytes(InputKind::Llvm, ..))) {
            cdp_library::llvm::catch_crashes();
        }
        cdp_result::of(goal, self.compiler.compile(inputs, goal, &self.options))
    }

    /// Whether `.cu` files can be compiled.
    #[cfg(test)]
    pub(crate) fn reads_cuda(&self) -> bool {
        let toolchain = self.compiler.toolchain();
        toolchain.clang().is_ok() && toolchain.headers().is_ok()
    }

    /// Whether PTX can be made into a cubin.
    pub(crate) fn can_link(&self) -> bool {
        let (arch, address_size) = (self.options.archs()[0], self.options.address_size);
        self.compiler.toolchain().link_tools(arch, address_size).is_ok()
    }

    /// A cubin of PTX.
    pub(crate) fn link(&self, ptx: &[u8]) -> Result<Vec<u8>, Failed> {
        let input = Input::Bytes(InputKind::Ptx, "program.ptx".into(), ptx.to_vec());
        let made = self.compiler.compile(&[input], Goal::Cubin, &self.options);
        made.map(|made| made.bytes).map_err(Failed::from)
    }
}

fn utf8(name: &str, data: &[u8]) -> Result<String, Failed> {
    let wrong = |error: std::str::Utf8Error| {
        Failed::new(crate::CDP_ERROR_INPUT, format!("{name} is text, and not UTF-8: {error}"))
    };
    std::str::from_utf8(data).map(str::to_string).map_err(wrong)
}

fn input(kind: cdp_kind, name: &str, data: &[u8]) -> Result<Input, Failed> {
    let kind = match kind {
        CDP_KIND_DETECT => InputKind::sniff(data),
        CDP_KIND_SOURCE => InputKind::Source,
        CDP_KIND_LLVM => InputKind::Llvm,
        CDP_KIND_PTX => InputKind::Ptx,
        CDP_KIND_OBJECT => InputKind::Object,
        other => return Err(Failed::request(format!("there is no kind {other} of input"))),
    };
    Ok(match kind {
        InputKind::Source => {
            let source = SourceInput::Memory {
                name: name.to_string(),
                text: utf8(name, data)?,
                files: Vec::new(),
                disk: true,
            };
            // The name decides between the languages, and nothing else.
            match InputKind::of(name.as_ref()) {
                Some(InputKind::Cuda) => Input::Cuda(source),
                _ => Input::Source(source),
            }
        }
        other => Input::Bytes(other, name.to_string(), data.to_vec()),
    })
}

fn goal(goal: cdp_goal) -> Result<Goal, Failed> {
    Ok(match goal {
        CDP_GOAL_PTX => Goal::Ptx,
        CDP_GOAL_LLVM_IR => Goal::LlvmIr,
        CDP_GOAL_OBJECT => Goal::Object,
        CDP_GOAL_CUBIN => Goal::Cubin,
        CDP_GOAL_FATBIN => Goal::Fatbin,
        CDP_GOAL_HOST_OBJECT => Goal::HostObject,
        other => return Err(Failed::request(format!("there is no goal {other}"))),
    })
}
