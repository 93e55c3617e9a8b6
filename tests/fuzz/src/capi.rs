//! The C interface, called as C calls it, by a small script.
//!
//! Lines that begin with `!` are calls, in order; all others are the input that is compiled or loaded:
//! `!set NAME VALUE`, `!compile KIND GOAL`, `!add KIND`, `!header NAME`, `!build GOAL`, `!lower`, `!load DEVICE`,
//! `!open`, `!check NAMES`, `!launch KERNEL GRID BLOCK SHARED PARAMETERS`. Numbers go over as they are, whatever the interface
//! makes of them. Pointers are good or NULL: others are not the library's affair.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use cdp_capi::compiler::*;
use cdp_capi::program::*;
use cdp_capi::result::*;
use cdp_capi::{CDP_ERROR_BUG, CDP_OK};

/// Bytes of the memory that kernels get the address of.
const BUFFER_BYTES: usize = 4096;
/// Milliseconds that a call may run kernels.
const TIMEOUT_MS: u64 = 300;

/// The objects of a script.
struct Session<'a> {
    compiler: *mut cdp_compiler,
    inputs: *mut cdp_inputs,
    result: *mut cdp_result,
    program: *mut cdp_program,
    input: &'a [u8],
}

/// Does what a script says.
pub fn capi(data: &[u8]) {
    let lines = data.split_inclusive(|&byte| byte == b'\n');
    let (calls, input): (Vec<&[u8]>, Vec<&[u8]>) = lines.partition(|line| line.starts_with(b"!"));
    let input = input.concat();
    let mut session = Session {
        compiler: cdp_compiler_new(),
        inputs: cdp_inputs_new(),
        result: null_mut(),
        program: null_mut(),
        input: &input,
    };
    for call in calls.iter().take(16) {
        let text = String::from_utf8_lossy(&call[1..]).replace('\0', "");
        let words: Vec<CString> =
            text.split_whitespace().filter_map(|word| CString::new(word).ok()).collect();
        // SAFETY: the session's objects live; strings end with NUL.
        unsafe { session.call(&words) };
    }
    // SAFETY: as above, and nothing uses them afterwards.
    unsafe {
        cdp_program_close(session.program);
        cdp_result_free(session.result);
        cdp_inputs_free(session.inputs);
        cdp_compiler_free(session.compiler);
    }
}

impl Session<'_> {
    /// # Safety
    /// The session's objects live.
    unsafe fn call(&mut self, words: &[CString]) {
        let word = |at: usize| words.get(at).map_or(null(), |word| word.as_ptr());
        let number = |at: usize| {
            let text = words.get(at).and_then(|word| word.to_str().ok());
            text.and_then(|text| text.parse().ok()).unwrap_or(0u32)
        };
        let name = c"fuzz.cdp".as_ptr();
        let (data, size) = (self.input.as_ptr().cast::<c_void>(), self.input.len());
        let verb = words.first().and_then(|word| word.to_str().ok()).unwrap_or_default();
        // SAFETY: by the contract above.
        unsafe {
            match verb {
                // Tools are processes, folders are the machine's: neither is the interface.
                "set" if !self.reaches_outside(word(1)) => {
                    cdp_compiler_set(self.compiler, word(1), word(2));
                }
                "compile" => {
                    let (kind, goal) = (number(1), number(2));
                    self.keep(cdp_compile(self.compiler, kind, name, data, size, goal));
                }
                "add" => drop(cdp_inputs_add(self.inputs, number(1), name, data, size)),
                "header" => drop(cdp_inputs_add_header(self.inputs, word(1), data, size)),
                "build" => self.keep(cdp_build(self.compiler, self.inputs, number(1))),
                "lower" => self.keep(cdp_lower(self.compiler, name, data, size)),
                "load" => self.run(cdp_program_load(self.compiler, self.result, number(1))),
                "open" => self.run(cdp_program_open(CDP_DEVICE_CPU, data, size, null(), 0)),
                "check" => self.run(cdp_program_open_checked(data, size, word(1))),
                "launch" => self.launch(word(1), number(2), number(3), number(4), number(5)),
                _ => {}
            }
        }
    }

    /// # Safety
    /// The name is NULL or a string.
    unsafe fn reaches_outside(&self, name: *const c_char) -> bool {
        // SAFETY: by the contract.
        !name.is_null()
            && matches!(unsafe { CStr::from_ptr(name) }.to_bytes(), b"cache-dir" | b"include-dir")
    }

    /// Looks at everything in a result, in the place of the one before.
    ///
    /// # Safety
    /// The result is NULL or lives.
    unsafe fn keep(&mut self, result: *mut cdp_result) {
        // SAFETY: by the contract; what a result gives lives as long as it.
        unsafe {
            cdp_result_free(std::mem::replace(&mut self.result, result));
            let status = cdp_result_status(result);
            let mut size = 0;
            let bytes = cdp_result_bytes(result, &mut size);
            assert_eq!(status == CDP_OK, !bytes.is_null(), "status {status}");
            if !bytes.is_null() {
                assert_eq!(*bytes.add(size), 0, "no NUL behind the bytes");
            }
            let error = cdp_result_error(result);
            let text = if error.is_null() { c"" } else { CStr::from_ptr(error) };
            assert_ne!(status, CDP_ERROR_BUG, "{text:?}");
            let count = |next: &dyn Fn(usize) -> bool| (0..).take_while(|at| next(*at)).count();
            count(&|at| !cdp_result_message(result, at).is_null());
            count(&|at| !cdp_result_kernel(result, at).is_null());
            count(&|at| !cdp_result_launch(result, at).is_null());
            cdp_result_messages_json(result);
        }
    }

    /// Takes a program in the place of the one before.
    ///
    /// # Safety
    /// The program is NULL or lives.
    unsafe fn run(&mut self, program: *mut cdp_program) {
        // SAFETY: by the contract.
        unsafe {
            cdp_program_close(std::mem::replace(&mut self.program, program));
            cdp_program_set_timeout(program, TIMEOUT_MS);
            assert!(!cdp_program_is_on_gpu(program));
        }
    }

    /// Launches a kernel with the address of a buffer in all its parameters, waits, and asks what there is to ask.
    ///
    /// # Safety
    /// The kernel's name is NULL or a string; the session's objects live.
    unsafe fn launch(&self, kernel: *const c_char, grid: u32, block: u32, shared: u32, count: u32) {
        let mut address = 0;
        let mut read = vec![0u8; BUFFER_BYTES];
        // SAFETY: by the contract; as many parameters as are counted, each longer than any scalar.
        unsafe {
            cdp_program_allocate(self.program, BUFFER_BYTES, &mut address);
            let parameter = [address; 512];
            let parameters = vec![parameter.as_ptr().cast::<c_void>(); count.min(64) as usize];
            let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
            cdp_program_write(self.program, address, read.as_ptr().cast(), BUFFER_BYTES);
            cdp_program_set_trace(self.program, true);
            let (shared, list) = (u64::from(shared), parameters.as_ptr());
            let (grid, block) = (grid.as_ptr(), block.as_ptr());
            cdp_program_launch(self.program, kernel, grid, block, shared, list, parameters.len());
            cdp_program_synchronize(self.program);
            cdp_program_read(self.program, read.as_mut_ptr().cast(), address, BUFFER_BYTES);
            for result in [
                cdp_program_findings(self.program),
                cdp_program_trace(self.program),
                cdp_program_profile(self.program),
            ] {
                cdp_result_free(result);
            }
            cdp_program_variable(self.program, kernel, &mut address, null_mut());
            cdp_program_release(self.program, address);
        }
    }
}
