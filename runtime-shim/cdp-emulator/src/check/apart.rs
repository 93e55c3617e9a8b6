//! Words whose bytes belong to different threads in a way that one word's records cannot say: each byte has its own.
//!
//! What is absent: what becomes of a record ([`super::race`]).

use super::Watch;
use super::access::Access;
use super::block::BlockState;
use super::race::{Touch, current};
use super::record::Record;
use super::shadow::{Bytes, Cell};

impl Watch {
    /// The bytes of a word, of the block's shared memory or of the device's.
    pub(super) fn bytes<'s>(
        &'s mut self,
        state: &'s mut BlockState,
        shared: bool,
        address: u64,
    ) -> &'s mut Bytes {
        match shared {
            true => state.shared_bytes.entry(address).or_default(),
            false => self.shadow.bytes(address),
        }
    }

    /// From here on the bytes of a word are kept apart.
    pub(super) fn split(&mut self, state: &mut BlockState, shared: bool, address: u64, cell: Cell) {
        let part = |record: Record, byte: usize| record.with_mask(record.mask() & 1 << byte);
        let cells = [0, 1, 2, 3].map(|byte| Cell {
            write: part(cell.write, byte),
            read: part(cell.read, byte),
            again: part(cell.again, byte),
        });
        let mark = Cell { write: Record::SPLIT, ..Cell::default() };
        let (page, word) = self.page(state, shared, address);
        let (old, covered) = (page.get(word), page.beneath.get(word));
        page.put(word, old, mark);
        let beneath = [0, 1, 2, 3].map(|byte| covered.map(|record| part(record, byte)));
        *self.bytes(state, shared, address) = Bytes { cells, beneath };
    }

    /// Looks at each byte that an access touches.
    pub(super) fn split_word(
        &mut self,
        state: &mut BlockState,
        access: &Access<'_>,
        touch: &Touch,
    ) {
        for byte in (0..4).filter(|byte| touch.record.mask() >> byte & 1 != 0) {
            let floor = if access.shared { state.floor } else { self.first_stamp };
            let old = self.bytes(state, access.shared, touch.address).cells[byte];
            let one = Touch { record: touch.record.with_mask(1 << byte), ..*touch };
            // Records of single bytes never need to be split.
            let Some(outcome) = self.weigh(state, access, &one, (current(old, floor), true)) else {
                continue;
            };
            if let Some((record, thread, wrote)) = outcome.conflict {
                self.conflict(state, access, &one, record, thread, wrote);
            }
            self.bytes(state, access.shared, touch.address).cells[byte] = outcome.cell;
        }
    }
}
