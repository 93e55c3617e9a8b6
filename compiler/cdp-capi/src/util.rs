//! What all functions share: panics and errors into status codes, C strings in and out.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{CDP_ERROR_BUG, CDP_ERROR_REQUEST, CDP_OK, cdp_status};

/// A failure on its way to the caller.
pub struct Failed {
    pub status: cdp_status,
    pub message: String,
}

impl Failed {
    pub fn new(status: cdp_status, message: impl Into<String>) -> Failed {
        Failed { status, message: message.into() }
    }

    /// A misuse of the interface.
    pub fn request(message: impl Into<String>) -> Failed {
        Failed::new(CDP_ERROR_REQUEST, message)
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

pub fn last_error() -> *const c_char {
    // A thread that is ending has no message any more.
    LAST_ERROR.try_with(|error| error.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Remembers the message for `cdp_last_error`.
pub fn set_last_error(message: &str) {
    let _ = LAST_ERROR.try_with(|error| *error.borrow_mut() = c_string(message));
}

/// A string for C; a NUL inside, which would end it early, becomes the replacement character.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Runs a call; `fallback` is what the caller gets when it fails.
pub fn protected<T>(fallback: T, work: impl FnOnce() -> Result<T, Failed>) -> T {
    match attempt(work) {
        Ok(value) => value,
        Err(_) => fallback,
    }
}

/// Runs a call that yields nothing but its status.
pub fn status(work: impl FnOnce() -> Result<(), Failed>) -> cdp_status {
    match attempt(work) {
        Ok(()) => CDP_OK,
        Err(failed) => failed.status,
    }
}

/// Runs work with panics as failures, and remembers the message.
pub fn attempt<T>(work: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(Failed::new(CDP_ERROR_BUG, format!("cdp made a mistake: {text}; please report this")))
    });
    if let Err(failed) = &result {
        set_last_error(&failed.message);
    }
    result
}

/// An object of the caller.
///
/// # Safety
/// `pointer` is NULL or a live object of this library.
pub unsafe fn object<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failed> {
    // SAFETY: by the contract above.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failed::request(format!("{what} is NULL")))
}

/// An object that the caller lets us change.
///
/// # Safety
/// `pointer` is NULL or a live object of this library that no other thread uses.
pub unsafe fn object_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failed> {
    // SAFETY: by the contract above.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failed::request(format!("{what} is NULL")))
}

/// A string of the caller.
///
/// # Safety
/// `pointer` is NULL or a string that ends with NUL.
pub unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failed> {
    if pointer.is_null() {
        return Err(Failed::request(format!("{what} is NULL")));
    }
    // SAFETY: by the contract above.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|error| Failed::request(format!("{what} is not UTF-8: {error}")))
}

/// Bytes of the caller; NULL is good for none.
///
/// # Safety
/// `pointer` is NULL or valid for `size` bytes.
pub unsafe fn bytes<'a>(
    pointer: *const c_void,
    size: usize,
    what: &str,
) -> Result<&'a [u8], Failed> {
    if size == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Failed::request(format!("{what} is NULL and has {size} bytes")));
    }
    if size > isize::MAX as usize {
        return Err(Failed::request(format!("{what} cannot have {size} bytes")));
    }
    // SAFETY: by the contract above.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast(), size) })
}

/// Frees an object.
///
/// # Safety
/// `pointer` is NULL or came from `Box::into_raw` and is not used any more.
pub unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: by the contract above. A destructor that panics must not unwind into C.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(pointer) })));
    }
}
