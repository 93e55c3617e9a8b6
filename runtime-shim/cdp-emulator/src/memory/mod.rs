//! Device memory: the reserved arena, the allocations in it, and the encoding of addresses that
//! are not global ([`space`]).

pub mod arena;
mod foreign;
pub mod params;
pub mod space;
pub mod table;

pub use arena::Arena;
pub use params::Slots;
pub use table::{AllocKind, Extent, FreeError, Record, SiteRef, Table};
