//! Accesses that leave their variable and come into its neighbour: between what is allocated or laid out
//! there are bytes that belong to nobody, and the gaps are wide when this check is on.
//!
//! In global memory every access is checked against allocations in any run; this check only moves them
//! apart ([`crate::memory::Table::spread`]). Shared variables and the local variables of functions lie in
//! one piece each, so that gaps in them are looked for (`exec::stray`), by what the loader laid out. What a compiler
//! has put into one variable (the arrays of a function in its `__local_depot`) cannot be told apart.

use crate::memory::SiteRef;

/// Bytes that belong to nobody behind a variable of shared or local memory.
pub fn gap(size_bytes: u64) -> u64 {
    const LEAST: u64 = 256;
    const MOST: u64 = 16 << 10;
    size_bytes.clamp(LEAST, MOST).next_multiple_of(16)
}

/// An access between two variables.
#[derive(Clone, Debug)]
pub struct Stray {
    /// Which thread, and which instruction.
    pub site: SiteRef,
    /// Where, in words.
    pub place: String,
    /// Bytes of the access.
    pub bytes: u64,
    /// It writes.
    pub writes: bool,
    /// How often.
    pub count: u64,
}
