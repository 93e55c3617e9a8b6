//! From a function's name to its rows: a hash table made when the crate is compiled, so that
//! nothing is built at start.

use super::BuiltinFn;
use super::functions::{TABLE_LIST, TABLES};

/// Slots; a power of two, at least twice the number of rows (a test keeps it so).
const SLOTS: usize = 8192;

/// Table number in the high half, row number plus one in the low half; 0 is an empty slot. Rows of
/// one name stand in the order of the tables along their probe sequence.
static INDEX: [u32; SLOTS] = build();

const fn hash(name: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize & (SLOTS - 1)
}

#[allow(long_running_const_eval)]
const fn build() -> [u32; SLOTS] {
    let mut slots = [0; SLOTS];
    let mut table = 0;
    while table < TABLE_LIST.len() {
        let mut row = 0;
        while row < TABLE_LIST[table].len() {
            let mut slot = hash(TABLE_LIST[table][row].name.as_bytes());
            while slots[slot] != 0 {
                slot = (slot + 1) & (SLOTS - 1);
            }
            slots[slot] = ((table as u32) << 16) | (row as u32 + 1);
            row += 1;
        }
        table += 1;
    }
    slots
}

/// The rows of a name, in the order of the tables.
pub fn rows(name: &str) -> impl Iterator<Item = &'static BuiltinFn> + '_ {
    let start = hash(name.as_bytes());
    (0..SLOTS)
        .map(move |step| INDEX[(start + step) & (SLOTS - 1)])
        .take_while(|&entry| entry != 0)
        .map(|entry| &TABLES[(entry >> 16) as usize][(entry & 0xffff) as usize - 1])
        .filter(move |row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_and_the_index_is_sparse() {
        let mut count = 0;
        for table in TABLES {
            for row in *table {
                count += 1;
                assert!(rows(row.name).any(|found| std::ptr::eq(found, row)), "{}", row.name);
            }
        }
        assert!(count * 2 <= SLOTS, "{count} rows: raise SLOTS");
        assert_eq!(rows("no_such_function").count(), 0);
        assert_eq!(rows("").count(), 0);
    }
}
