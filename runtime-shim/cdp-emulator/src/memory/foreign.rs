//! Memory outside of the arena that kernels may use: the host's, because it was registered, and ranges of addresses to
//! which memory was mapped. Not the arena's own allocations (`table.rs`).

use std::collections::BTreeMap;

use super::space::{Window, window};
use super::table::{AllocKind, Record};

/// Ranges that do not overlap, by their first addresses.
#[derive(Debug, Default)]
pub struct Foreign(BTreeMap<u64, Record>);

impl Foreign {
    /// The range around `address`.
    pub fn at(&self, address: u64) -> Option<&Record> {
        let (base, record) = self.0.range(..=address).next_back()?;
        (address - base < record.size_bytes).then_some(record)
    }

    /// Adds a range of bytes. False if a part of it is known already, or has no address that is global memory.
    pub fn add(&mut self, address: u64, size_bytes: u64, kind: AllocKind, writable: bool) -> bool {
        let Some(end) = address.checked_add(size_bytes) else { return false };
        let before = self.0.range(..end).next_back();
        if before.is_some_and(|(base, record)| base + record.size_bytes > address)
            || window(end) != Window::Global
        {
            return false;
        }
        let record = Record {
            base: address,
            size_bytes,
            kind,
            writable,
            allocated_at: None,
            live: true,
            freed_at: None,
        };
        self.0.insert(address, record);
        true
    }

    /// Forgets the range that begins at `address`.
    pub fn remove(&mut self, address: u64) {
        self.0.remove(&address);
    }

    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::super::table::{AllocKind, Table};

    fn table() -> Table {
        Table::new(Arena::reserve(256 << 20).unwrap(), 256 << 20)
    }

    #[test]
    fn memory_of_the_host_is_known_while_it_is_registered() {
        let mut t = table();
        let host = vec![7u8; 4096];
        let at = host.as_ptr() as u64;
        assert!(t.find(at).is_none() && t.add_foreign(at, 4096, AllocKind::Managed, true));
        assert!(t.contains(at + 96, 4000) && !t.contains(at + 96, 4001));
        assert!(!t.add_foreign(at + 4095, 1, AllocKind::Managed, true), "twice");
        let inside = t.allocate(64, 16, AllocKind::Host, true, None).unwrap();
        assert!(!t.add_foreign(inside, 8, AllocKind::Managed, true), "the device's own");
        let before = t.epoch();
        t.remove_foreign(at);
        assert!(t.find(at).is_none() && t.epoch() != before);
    }
}
