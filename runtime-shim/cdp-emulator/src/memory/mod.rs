//! Device memory: the reserved arena, the allocations in it, and the encoding of addresses that
//! are not global ([`space`]).

pub mod arena;
mod foreign;
pub mod params;
pub mod space;
pub mod table;

use crate::report::Bytes;
pub use arena::Arena;
pub use params::Slots;
pub use table::{AllocKind, Extent, FreeError, Record, SiteRef, Table};

/// An address as people know it: "offset 4 of variable `flags`".
pub fn place_text(memory: &Table, address: u64) -> String {
    let Some(record) = memory.record_at(address) else {
        return format!("memory at {address:#x}");
    };
    let offset = address - record.base;
    match &record.kind {
        AllocKind::Symbol(name) if offset == 0 && record.size_bytes <= 8 => {
            format!("variable `{name}`")
        }
        AllocKind::Symbol(name) => format!("offset {offset} of variable `{name}`"),
        _ => format!("offset {offset} of an allocation of {}", Bytes(record.size_bytes)),
    }
}
