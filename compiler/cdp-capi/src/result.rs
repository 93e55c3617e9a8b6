//! What a compilation made, in C's terms.

use std::ffi::{CString, c_char};
use std::ptr::null;

use cdp_library::{
    BuildOutput, Error, Failure, KernelDescription, LaunchEdge, Message, ParamDescription,
};

use crate::util::{Failed, c_string, free, set_last_error};
use crate::{
    CDP_ERROR_BUG, CDP_ERROR_INPUT, CDP_ERROR_PROGRAM, CDP_ERROR_REQUEST, CDP_ERROR_TOOL, CDP_OK,
    cdp_status,
};

/// What a compilation made, or why it made nothing. It never changes.
pub struct cdp_result {
    status: cdp_status,
    bytes: Vec<u8>,
    error: Option<CString>,
    messages: Vec<cdp_message>,
    kernels: Vec<cdp_kernel>,
    launches: Vec<cdp_launch>,
    /// What the pointers in the lists above lead to.
    strings: Strings,
}

// SAFETY: the pointers lead into the result itself, which never changes.
unsafe impl Send for cdp_result {}
// SAFETY: as above.
unsafe impl Sync for cdp_result {}

/// A finding about the program. Lines and columns count from 1; they are 0 for a finding without a
/// place.
#[repr(C)]
pub struct cdp_message {
    /// "E0412", "W0701".
    pub code: *const c_char,
    pub is_error: bool,
    /// One line, without a full stop.
    pub text: *const c_char,
    /// Empty for a finding without a place.
    pub file: *const c_char,
    pub line: u32,
    pub column: u32,
    /// The place just after the guilty text.
    pub end_line: u32,
    pub end_column: u32,
    /// The whole finding for a terminal without colours, with source lines, notes and cures.
    pub rendered: *const c_char,
}

/// A kernel's parameter in the parameter buffer.
#[repr(C)]
pub struct cdp_param {
    /// Empty for a parameter without a name.
    pub name: *const c_char,
    /// The machine type, "i32" or "ptr<f32>"; the LLVM type for LLVM IR.
    pub type_name: *const c_char,
    /// Bytes from the beginning of the buffer.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes; at most 16.
    pub align: u64,
}

/// A kernel that the inputs define, for the first architecture.
#[repr(C)]
pub struct cdp_kernel {
    /// As in the source.
    pub name: *const c_char,
    /// As in PTX and cubin.
    pub symbol: *const c_char,
    pub params: *const cdp_param,
    pub param_count: usize,
    /// Bytes of the whole parameter buffer.
    pub buffer_bytes: u64,
    /// Registers of a thread, or -1 before the link.
    pub registers: i64,
    /// Static shared memory of a block, or -1 before the link.
    pub shared_bytes: i64,
}

/// A launch in the sources.
#[repr(C)]
pub struct cdp_launch {
    /// The launching function, as in the source.
    pub parent: *const c_char,
    /// The kernel, as in the source.
    pub child: *const c_char,
    pub from_device: bool,
    /// Source text of the configuration; empty where it was left out.
    pub grid: *const c_char,
    pub block: *const c_char,
    pub shared: *const c_char,
    pub stream: *const c_char,
    pub file: *const c_char,
    pub line: u32,
}

/// Owned strings and parameter lists. Their heap memory stays where it is when this moves.
#[derive(Default)]
struct Strings {
    strings: Vec<CString>,
    params: Vec<Vec<cdp_param>>,
}

impl Strings {
    fn keep(&mut self, text: &str) -> *const c_char {
        let string = c_string(text);
        let pointer = string.as_ptr();
        self.strings.push(string);
        pointer
    }

    fn keep_params(&mut self, params: Vec<cdp_param>) -> *const cdp_param {
        let pointer = params.as_ptr();
        self.params.push(params);
        pointer
    }
}

impl cdp_result {
    pub(crate) fn of(outcome: Result<BuildOutput, Failure>) -> *mut cdp_result {
        let mut result = cdp_result::empty();
        match outcome {
            Ok(made) => {
                result.add_messages(&made.messages());
                result.kernels =
                    made.kernels.iter().map(|k| kernel(&mut result.strings, k)).collect();
                result.launches =
                    made.launches.iter().map(|l| launch(&mut result.strings, l)).collect();
                result.bytes = made.bytes;
            }
            Err(failure) => result.fail(&failure),
        }
        Box::into_raw(Box::new(result))
    }

    pub(crate) fn of_text(outcome: Result<String, Failure>) -> *mut cdp_result {
        let mut result = cdp_result::empty();
        match outcome {
            Ok(text) => result.bytes = text.into_bytes(),
            Err(failure) => result.fail(&failure),
        }
        Box::into_raw(Box::new(result))
    }

    fn empty() -> cdp_result {
        cdp_result {
            status: CDP_OK,
            bytes: Vec::new(),
            error: None,
            messages: Vec::new(),
            kernels: Vec::new(),
            launches: Vec::new(),
            strings: Strings::default(),
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.status = match failure {
            Failure::Program(_) => CDP_ERROR_PROGRAM,
            Failure::Error { error, .. } => status_of(error),
        };
        let message = failure.to_string();
        set_last_error(&message);
        self.error = Some(c_string(&message));
        self.add_messages(&failure.messages());
    }

    fn add_messages(&mut self, messages: &[Message]) {
        for message in messages {
            self.messages.push(cdp_message {
                code: self.strings.keep(&message.code),
                is_error: message.is_error,
                text: self.strings.keep(&message.text),
                file: self.strings.keep(&message.place.file),
                line: message.place.line,
                column: message.place.column,
                end_line: message.place.end_line,
                end_column: message.place.end_column,
                rendered: self.strings.keep(&message.rendered),
            });
        }
    }
}

fn status_of(error: &Error) -> cdp_status {
    match error {
        Error::Request { .. } | Error::Abi(_) => CDP_ERROR_REQUEST,
        Error::Tool(_) | Error::Io { .. } => CDP_ERROR_TOOL,
        Error::Input { .. } => CDP_ERROR_INPUT,
        _ => CDP_ERROR_BUG,
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::new(status_of(&error), error.to_string())
    }
}

fn kernel(strings: &mut Strings, kernel: &KernelDescription) -> cdp_kernel {
    let param = |param: &ParamDescription, strings: &mut Strings| cdp_param {
        name: strings.keep(&param.name),
        type_name: strings.keep(&param.ty),
        offset: param.offset,
        size: param.size,
        align: param.align,
    };
    let params: Vec<cdp_param> = kernel.params.iter().map(|p| param(p, strings)).collect();
    cdp_kernel {
        name: strings.keep(&kernel.name),
        symbol: strings.keep(&kernel.symbol),
        param_count: params.len(),
        params: strings.keep_params(params),
        buffer_bytes: kernel.buffer_bytes,
        registers: kernel.registers.map_or(-1, i64::from),
        shared_bytes: kernel.shared_bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(-1),
    }
}

fn launch(strings: &mut Strings, edge: &LaunchEdge) -> cdp_launch {
    cdp_launch {
        parent: strings.keep(&edge.parent),
        child: strings.keep(&edge.child),
        from_device: edge.from_device,
        grid: strings.keep(&edge.grid),
        block: strings.keep(&edge.block),
        shared: strings.keep(&edge.shared),
        stream: strings.keep(&edge.stream),
        file: strings.keep(&edge.file),
        line: edge.line,
    }
}

/// Frees a result and everything that came from it. NULL is ignored.
///
/// No other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_free(result: *mut cdp_result) {
    // SAFETY: by the interface's contract.
    unsafe { free(result) }
}

/// Returns CDP_OK or why nothing was made; CDP_ERROR_REQUEST for NULL.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_status(result: *const cdp_result) -> cdp_status {
    // SAFETY: by the interface's contract.
    unsafe { result.as_ref() }.map_or(CDP_ERROR_REQUEST, |result| result.status)
}

/// Returns what was made, and its size through `size`, which may be NULL. Text (PTX, LLVM IR) does
/// not end with NUL. The bytes live as long as the result; NULL when nothing was made.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_bytes(
    result: *const cdp_result,
    size: *mut usize,
) -> *const u8 {
    // SAFETY: by the interface's contract.
    let bytes = unsafe { result.as_ref() }.map_or(&[][..], |result| &result.bytes);
    if !size.is_null() {
        // SAFETY: as above.
        unsafe { *size = bytes.len() };
    }
    if bytes.is_empty() { null() } else { bytes.as_ptr() }
}

/// Returns why nothing was made, or NULL when something was. For a program with errors, a line for
/// each of them. It lives as long as the result.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_error(result: *const cdp_result) -> *const c_char {
    // SAFETY: by the interface's contract.
    let error = unsafe { result.as_ref() }.and_then(|result| result.error.as_ref());
    error.map_or(null(), |error| error.as_ptr())
}

/// Returns finding number `index` about the program, from 0, or NULL past the last. It lives as long
/// as the result.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_message(
    result: *const cdp_result,
    index: usize,
) -> *const cdp_message {
    // SAFETY: by the interface's contract.
    let message = unsafe { result.as_ref() }.and_then(|result| result.messages.get(index));
    message.map_or(null(), std::ptr::from_ref)
}

/// Returns kernel number `index`, from 0, or NULL past the last. It lives as long as the result.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_kernel(
    result: *const cdp_result,
    index: usize,
) -> *const cdp_kernel {
    // SAFETY: by the interface's contract.
    let kernel = unsafe { result.as_ref() }.and_then(|result| result.kernels.get(index));
    kernel.map_or(null(), std::ptr::from_ref)
}

/// Returns launch number `index` of the sources, from 0, or NULL past the last. It lives as long as
/// the result.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_launch(
    result: *const cdp_result,
    index: usize,
) -> *const cdp_launch {
    // SAFETY: by the interface's contract.
    let launch = unsafe { result.as_ref() }.and_then(|result| result.launches.get(index));
    launch.map_or(null(), std::ptr::from_ref)
}
