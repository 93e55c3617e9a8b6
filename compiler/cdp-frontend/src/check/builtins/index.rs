//! From a name to its places in tables of rows: a hash table made when the crate is compiled, so
//! that nothing is built at start.

/// A hash table; `SLOTS` is a power of two, at least twice the number of rows.
pub struct Index<const SLOTS: usize> {
    /// Table number in the high half, row number plus one in the low half; 0 is an empty slot. Rows of
    /// one name stand in the order in which they came along their probe sequence.
    slots: [u32; SLOTS],
}

impl<const SLOTS: usize> Index<SLOTS> {
    pub const EMPTY: Self = Index { slots: [0; SLOTS] };

    /// Adds a row.
    pub const fn insert(&mut self, name: &str, table: usize, row: usize) {
        let mut slot = Self::hash(name.as_bytes());
        while self.slots[slot] != 0 {
            slot = (slot + 1) & (SLOTS - 1);
        }
        self.slots[slot] = ((table as u32) << 16) | (row as u32 + 1);
    }

    /// Places that may hold rows of the name, as table and row: those of other names are among them.
    pub fn candidates(&'static self, name: &str) -> impl Iterator<Item = (usize, usize)> {
        let start = Self::hash(name.as_bytes());
        (0..SLOTS)
            .map(move |step| self.slots[(start + step) & (SLOTS - 1)])
            .take_while(|&entry| entry != 0)
            .map(|entry| ((entry >> 16) as usize, (entry & 0xffff) as usize - 1))
    }

    const fn hash(name: &[u8]) -> usize {
        let mut hash: u32 = 0x811c_9dc5;
        let mut at = 0;
        while at < name.len() {
            hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        (hash ^ (hash >> 15)) as usize & (SLOTS - 1)
    }

    #[cfg(test)]
    pub(super) fn is_sparse(&self) -> bool {
        self.slots.iter().filter(|&&entry| entry != 0).count() * 2 <= SLOTS
    }
}
