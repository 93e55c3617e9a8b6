//! The test suite of cdp: one crate, one test binary (`suite.rs`), one file a case under `cases/`.

pub mod signatures;
