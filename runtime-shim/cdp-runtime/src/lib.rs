//! What a compiled program meets at run time.
pub mod cpu;
mod device;
mod error;
pub mod gpu;
mod image;
pub mod properties;
mod stdio;
pub use device::*;
pub use error::*;
pub const RUNTIME_VERSION: i32 = 13_000;
