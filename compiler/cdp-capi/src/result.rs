//! What a compilation made, in C's terms.

use std::ffi::{CString, c_char};
use std::ptr::null;
use std::sync::Arc;

use cdp_library::{
    BuildOutput, Error, Failure, Goal, KernelDescription, LaunchEdge, Message, ParamDescription,
    Place, Report, render_reports,
};
use serde_json::json;

use cdp_library::Format;

use cdp_library::ToolError;
use cdp_runtime::cpu::{Report as DeviceReport, render_report, render_report_json};

use crate::util::{Failed, c_string, free, last_error, set_last_error};
use crate::{
    CDP_ERROR_BUG, CDP_ERROR_CANCELLED, CDP_ERROR_INPUT, CDP_ERROR_PROGRAM, CDP_ERROR_REQUEST,
    CDP_ERROR_TOOL, CDP_OK, cdp_status,
};

/// What a compilation made, or why it made nothing. It never changes.
pub struct cdp_result {
    status: cdp_status,
    goal: Goal,
    /// With a NUL after them, which does not count.
    bytes: Vec<u8>,
    error: Option<CString>,
    messages: Vec<cdp_message>,
    /// The messages as `cdpc --message-format json` writes them.
    messages_json: CString,
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
#[allow(missing_docs)]
pub struct cdp_message {
    /// "E0412", "W0701"; "race" and so on of a run; empty for a warning of a CUDA tool.
    pub code: *const c_char,
    pub is_error: bool,
    /// One line, without a full stop.
    pub text: *const c_char,
    /// Empty for a finding without a place.
    pub file: *const c_char,
    pub line: u32,
    pub column: u32,
    /// The place just after the guilty text; of a run, the same place.
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
    /// The machine type, "i32" or "ptr<f32>"; the LLVM type for LLVM IR; "b32" or "b8[12]" for PTX and objects.
    pub type_name: *const c_char,
    /// Bytes from the beginning of the buffer.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes; at most 16.
    pub align: u64,
}

/// A kernel that the inputs define, for the first architecture. Kernels of PTX and of objects are known when a
/// cubin was linked, and have parameters without names.
#[repr(C)]
#[allow(missing_docs)]
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
#[allow(missing_docs)]
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
    pub(crate) fn of(goal: Goal, outcome: Result<BuildOutput, Failure>) -> *mut cdp_result {
        let mut result = cdp_result::empty(goal);
        match outcome {
            Ok(made) => {
                result.add_messages(&made.messages());
                result.add_tool_warnings(&made.tool_warnings);
                result.set_json(&made.reports, &made.tool_warnings);
                result.kernels =
                    made.kernels.iter().map(|k| kernel(&mut result.strings, k)).collect();
                result.launches =
                    made.launches.iter().map(|l| launch(&mut result.strings, l)).collect();
                result.set_bytes(made.bytes);
            }
            Err(failure) => result.fail(&failure),
        }
        Box::into_raw(Box::new(result))
    }

    pub(crate) fn of_text(goal: Goal, outcome: Result<String, Failure>) -> *mut cdp_result {
        let mut result = cdp_result::empty(goal);
        match outcome {
            Ok(text) => result.set_bytes(text.into_bytes()),
            Err(failure) => result.fail(&failure),
        }
        Box::into_raw(Box::new(result))
    }

    /// Text about a run, which no program can be loaded from.
    pub(crate) fn of_summary(outcome: Result<String, Failed>) -> *mut cdp_result {
        let mut result = cdp_result::empty(Goal::Ast);
        match outcome {
            Ok(text) => result.set_bytes(text.into_bytes()),
            Err(failed) => {
                result.status = failed.status;
                set_last_error(&failed.message);
                result.error = Some(c_string(&failed.message));
            }
        }
        Box::into_raw(Box::new(result))
    }

    /// What a device found in a program that ran.
    pub(crate) fn of_findings(outcome: Result<Vec<Arc<DeviceReport>>, Failed>) -> *mut cdp_result {
        let reports = match outcome {
            Ok(reports) => reports,
            Err(failed) => return cdp_result::of_summary(Err(failed)),
        };
        let mut result = cdp_result::empty(Goal::Ast);
        for report in &reports {
            let source = report.site.as_ref().and_then(|site| site.source.as_ref());
            let (line, column) = source.map_or((0, 0), |source| (source.line, source.column));
            let message = cdp_message {
                code: result.strings.keep(report.kind.name()),
                is_error: !report.warning,
                text: result.strings.keep(&report.message),
                file: result.strings.keep(source.map_or("", |source| source.file.as_str())),
                line,
                column,
                end_line: line,
                end_column: column,
                rendered: result.strings.keep(&render_report(report)),
            };
            result.messages.push(message);
        }
        let json: String = reports.iter().map(|report| render_report_json(report)).collect();
        result.messages_json = c_string(&json);
        Box::into_raw(Box::new(result))
    }

    /// What was made and what it is; the error when nothing was made.
    pub(crate) fn made(&self) -> Result<(Goal, &[u8]), Failed> {
        match &self.error {
            Some(error) => Err(Failed::new(self.status, error.to_string_lossy())),
            None => Ok((self.goal, self.bytes())),
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().saturating_sub(1)]
    }

    fn set_bytes(&mut self, mut bytes: Vec<u8>) {
        bytes.push(0);
        self.bytes = bytes;
    }

    fn empty(goal: Goal) -> cdp_result {
        cdp_result {
            status: CDP_OK,
            goal,
            bytes: Vec::new(),
            error: None,
            messages: Vec::new(),
            messages_json: CString::default(),
            kernels: Vec::new(),
            launches: Vec::new(),
            strings: Strings::default(),
        }
    }

    fn fail(&mut self, failure: &Failure) {
        let Failed { status, message } = Failed::from(failure);
        self.status = status;
        set_last_error(&message);
        self.error = Some(c_string(&message));
        self.add_messages(&failure.messages());
        self.set_json(failure.reports(), &[]);
    }

    fn set_json(&mut self, reports: &[Report], tool_warnings: &[String]) {
        let mut text = render_reports(reports, Format::Json);
        for warning in tool_warnings {
            text += &format!("{}\n", json!({ "severity": "warning", "message": warning }));
        }
        self.messages_json = c_string(&text);
    }

    /// What ptxas and nvlink warn of: findings without code and place.
    fn add_tool_warnings(&mut self, warnings: &[String]) {
        let bare = |text: &String| Message {
            code: String::new(),
            is_error: false,
            text: text.clone(),
            place: Place::default(),
            others: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            rendered: format!("{text}\n"),
        };
        self.add_messages(&warnings.iter().map(bare).collect::<Vec<_>>());
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
        // No tool is to blame for an object that is none, or cannot be linked.
        Error::Tool(
            ToolError::BadObject { .. }
            | ToolError::NotRelocatable { .. }
            | ToolError::MixedCdp { .. },
        ) => CDP_ERROR_INPUT,
        Error::Tool(ToolError::BadRequest(_)) => CDP_ERROR_REQUEST,
        Error::Tool(_) | Error::Io { .. } | Error::OutOfMemory { .. } => CDP_ERROR_TOOL,
        Error::Input { .. } => CDP_ERROR_INPUT,
        Error::Cancelled => CDP_ERROR_CANCELLED,
        _ => CDP_ERROR_BUG,
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::new(status_of(&error), error.to_string())
    }
}

impl From<&Failure> for Failed {
    fn from(failure: &Failure) -> Failed {
        let status = match failure {
            Failure::Program(_) => CDP_ERROR_PROGRAM,
            Failure::Error { error, .. } => status_of(error),
        };
        Failed::new(status, failure.to_string())
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Failed {
        Failed::from(&failure)
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

/// Returns what was made, and its size through `size`, which may be NULL. A NUL that does not count
/// follows, so that PTX and LLVM IR are strings. The bytes live as long as the result; NULL when
/// nothing was made.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_bytes(
    result: *const cdp_result,
    size: *mut usize,
) -> *const u8 {
    // SAFETY: by the interface's contract.
    let result = unsafe { result.as_ref() };
    if !size.is_null() {
        // SAFETY: as above.
        unsafe { *size = result.map_or(0, |result| result.bytes().len()) };
    }
    let made = result.filter(|result| result.status == CDP_OK);
    made.map_or(null(), |result| result.bytes.as_ptr())
}

/// Returns why nothing was made, or NULL when something was. For a program with errors, a line for
/// each of them. It lives as long as the result. For NULL, which is what cdp_compile returns for a
/// wrong argument, it is cdp_last_error.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_error(result: *const cdp_result) -> *const c_char {
    // SAFETY: by the interface's contract.
    match unsafe { result.as_ref() } {
        Some(result) => result.error.as_ref().map_or(null(), |error| error.as_ptr()),
        None => last_error(),
    }
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
/// Returns the result's messages as `cdpc --message-format json` writes them: an object a line, with code,
/// severity, message, places, notes and cures; empty without messages, NULL for NULL. It lives as long as the
/// result.
///
/// Any number of threads may read a result at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_result_messages_json(result: *const cdp_result) -> *const c_char {
    // SAFETY: by the interface's contract.
    unsafe { result.as_ref() }.map_or(null(), |result| result.messages_json.as_ptr())
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
