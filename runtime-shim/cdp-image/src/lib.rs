//! The containers of GPU machine code, read by the compiler and by the runtime of compiled programs:
//! fat binaries ([`fatbin`]), our own blocks of several codes ([`pieces`]), the few facts in a cubin's header ([`cubin`]) and what PTX
//! says of its launches ([`launches`]).
//!
//! Every byte may be hostile: each read is checked, damage ends the reading or is an error. This crate
//! is not a reader of symbols and sections (that is cdp-toolchain, for which an ELF library does the
//! work), and it never decodes machine code. It stays small because every compiled program links it.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod bytes;
pub mod cubin;
pub mod fatbin;
pub mod launches;
pub mod pieces;
#[doc(hidden)]
pub mod testing;
