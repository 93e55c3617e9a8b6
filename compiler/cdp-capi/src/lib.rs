//! cdp as a C library. The header `include/cdp.h` is generated from this crate; what it says about
//! ownership, threads and errors is the text here.
//!
//! Thin: arguments are checked, work is crate `cdp` and `cdp-runtime`, no panic crosses into C. What is
//! not here: anything that a Rust embedder would miss in those crates.

#![deny(missing_docs)]
#![allow(non_camel_case_types)]
// Safety is the same sentence for all functions: pointers are NULL or valid for what they say.
#![allow(clippy::missing_safety_doc)]

// For tests that call the functions from Rust; what is exported is `cdp.h`.
pub mod compiler;
pub mod program;
pub mod result;
#[cfg(test)]
mod tests;
mod util;

use std::ffi::c_char;

/// The outcome of a call.
pub type cdp_status = u32;

/// It worked.
pub const CDP_OK: cdp_status = 0;
/// The program has errors; they are the result's messages.
pub const CDP_ERROR_PROGRAM: cdp_status = 1;
/// An argument is NULL, is no UTF-8, or names nothing that exists; options that do not go together.
pub const CDP_ERROR_REQUEST: cdp_status = 2;
/// A CUDA tool is missing or failed: ptxas on PTX that it does not take, nvlink on a symbol that is missing.
pub const CDP_ERROR_TOOL: cdp_status = 3;
/// LLVM IR, PTX or an object is not what it should be.
pub const CDP_ERROR_INPUT: cdp_status = 4;
/// The device refused, or a kernel failed.
pub const CDP_ERROR_DEVICE: cdp_status = 5;
/// A mistake of cdp; the message asks for a report.
pub const CDP_ERROR_BUG: cdp_status = 6;

/// cdp_compiler_cancel gave the compilation up.
pub const CDP_ERROR_CANCELLED: cdp_status = 7;

/// The version of this interface: a program that was compiled with a header of another number must
/// not go on.
pub const CDP_API_VERSION: u32 = 1;

/// Returns the library's CDP_API_VERSION, to be compared with the header's.
///
/// Any thread, any time.
#[unsafe(no_mangle)]
pub extern "C" fn cdp_api_version() -> u32 {
    CDP_API_VERSION
}

/// Returns the library's version, "0.1.0". It lives as long as the process.
///
/// Any thread, any time.
#[unsafe(no_mangle)]
pub extern "C" fn cdp_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the message of this thread's last failing call, or an empty string. It lives until the
/// thread's next call of a function of this library that fails.
///
/// Any thread, any time; threads do not see each other's messages.
#[unsafe(no_mangle)]
pub extern "C" fn cdp_last_error() -> *const c_char {
    util::last_error()
}
