//! The functions, one file of declarations a family (`*.cuh`, in the language of
//! `build/declarations/functions.rs`), of which tables are made when this crate is compiled.

use cdp_ir::{
    AddressSpace, Atomic, AtomicOp, BinaryOp, BuiltinVar, CacheOp, CastKind, CompareOp, Intrinsic,
    PtxTemplate, Scope, ShuffleMode, UnaryOp, VoteMode,
};

use super::index::Index;
use super::{BuiltinFn, Flags, Header, Lower};

mod runtime;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// The tables of one family, for the documentation.
pub struct Group {
    /// What the family is, as a heading.
    pub title: &'static str,
    pub tables: &'static [&'static [BuiltinFn]],
}

/// All tables, in the order that look-ups follow, and the same in families.
macro_rules! tables {
    ($($title:literal { $($table:expr),* $(,)? })*) => {
        const TABLE_LIST: &[&[BuiltinFn]] = &[$($($table,)*)*];

        /// The tables by family.
        pub static GROUPS: &[Group] = &[$(Group { title: $title, tables: &[$($table,)*] },)*];
    };
}

tables! {
    "Barriers, fences, clocks, traps and hints" { SYNC }
    "Warp primitives" { WARP }
    "Atomic functions" { ATOMIC }
    "Memory, address spaces and bytes" { MEMORY }
    "Vector makers" { VECTORS }
    "Mathematical functions" { MATH }
    "Arithmetic with a chosen rounding" { ROUNDING }
    "Conversions and reinterpretation of bits" { CONVERT }
    "Integer functions" { INTEGER }
    "SIMD within a word, and DPX" { SIMD }
    "16-bit floating values: arithmetic and mathematics" { HALF }
    "16-bit floating values: comparisons" { HALF_COMPARE }
    "16-bit floating values: conversions, moves and atomics" { HALF_CONVERT }
    "Texture objects" { TEXTURE }
    "Surface objects" { SURFACE }
    "GNU's functions of host compilers" { GNU }
    "Runtime functions of device code" { runtime::TABLE, DEVICE_RUNTIME, OCCUPANCY }
    "Runtime functions of host code" { HOST_API }
    "Arrays and pitched memory" { ARRAYS }
}

/// The tables, at one address.
pub static TABLES: &[&[BuiltinFn]] = TABLE_LIST;

static INDEX: Index<4096> = index();

#[allow(long_running_const_eval)]
const fn index() -> Index<4096> {
    let mut index = Index::EMPTY;
    let mut table = 0;
    while table < TABLE_LIST.len() {
        let mut row = 0;
        while row < TABLE_LIST[table].len() {
            index.insert(TABLE_LIST[table][row].name, table, row);
            row += 1;
        }
        table += 1;
    }
    index
}

/// The rows of a name, in the order of the tables.
pub fn rows(name: &str) -> impl Iterator<Item = &'static BuiltinFn> + '_ {
    INDEX
        .candidates(name)
        .map(|(table, row)| &TABLES[table][row])
        .filter(move |row| row.name == name)
}

/// For the declarations.
const fn atomic(op: AtomicOp, scope: Scope) -> Atomic {
    Atomic { op, scope }
}

#[cfg(test)]
mod compile_tests;
#[cfg(test)]
mod declaration_tests;
#[cfg(test)]
mod tests;
