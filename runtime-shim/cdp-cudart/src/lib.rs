//! The CUDA runtime of [`cdp_runtime`] as a shared library that takes the place of `libcudart.so.13`: a
//! program that nvcc built with `-cudart shared` runs with it unchanged, on the CPU device or on a GPU.
//! No code of its own: what is exported is `cdp_runtime::capi`, and `build.rs` names it.

#![deny(missing_docs)]

// Without a mention the library would not be linked.
pub use cdp_runtime::capi;
