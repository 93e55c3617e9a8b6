//! Where records of accesses are kept: for every page of global memory three planes (the last write and two reads)
//! of one record a row or, where it must be, a word. Pages that are only read have no words of writes, and so on:
//! that keeps the memory within a few times of what is touched.

use rustc_hash::FxHashMap;

use super::beneath::{Beneath, Covered};
use super::plane::{Plane, ROW, Series, WORDS};
use super::quick::Verdict;
use super::record::Record;

const PAGE_SHIFT: u32 = 12;

/// Pages that are found at once.
const LAST: usize = 16;

/// The planes of a page: the last writes, reads, further reads.
pub const WRITE: usize = 0;
pub const READ: usize = 1;
pub const AGAIN: usize = 2;

/// Records of one page.
#[derive(Debug, Default)]
pub struct Page {
    /// Writes, reads, further reads.
    pub planes: [Plane; 3],
    /// What lies beneath atomic writes.
    pub beneath: Beneath,
}

/// A word whose bytes are kept apart.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    /// What is remembered of each.
    pub cells: [Cell; 4],
    /// What lies beneath the last write of each.
    pub beneath: [Covered; 4],
}

/// What is remembered of one word (or byte): the last write, a read, another read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The last write.
    pub write: Record,
    /// A read since.
    pub read: Record,
    /// Another one that is not ordered with the first.
    pub again: Record,
}

/// Where the page behind that of an address begins.
pub fn next_page(address: u64) -> u64 {
    (address | ((1 << PAGE_SHIFT) - 1)) + 1
}

/// The word of an address in its page.
#[inline(always)]
fn word_of(address: u64) -> usize {
    (address as usize >> 2) & (WORDS - 1)
}

/// Pages of shared memory, by offset.
#[derive(Debug, Default)]
pub struct SharedShadow(Vec<Page>);

impl SharedShadow {
    /// The page of an offset, and the word in it.
    #[inline(always)]
    pub fn page(&mut self, offset: u64) -> (&mut Page, usize) {
        let place = (offset >> PAGE_SHIFT) as usize;
        if place >= self.0.len() {
            self.0.resize_with(place + 1, Page::default);
        }
        (&mut self.0[place], word_of(offset))
    }
}

impl Page {
    /// The records of a word.
    #[inline(always)]
    pub fn get(&self, word: usize) -> Cell {
        let [write, read, again] = &self.planes;
        Cell { write: write.get(word), read: read.get(word), again: again.get(word) }
    }

    /// Replaces the records of a word; `old` are those that are there.
    #[inline(always)]
    pub fn put(&mut self, word: usize, old: Cell, new: Cell) {
        let put = |plane: &mut Plane, old: Record, new: Record| {
            if old != new {
                plane.put(word, new);
            }
        };
        let [write, read, again] = &mut self.planes;
        put(write, old.write, new.write);
        put(read, old.read, new.read);
        put(again, old.again, new.again);
    }

    /// The records of a row, if it has one of each kind.
    #[inline(always)]
    pub fn tags(&self, word: usize) -> Option<[Record; 3]> {
        let [write, read, again] = &self.planes;
        Some([write.tag(word)?, read.tag(word)?, again.tag(word)?])
    }

    /// True if the row behind the one of a word has records of each kind that go on from `tags`, which that one has.
    #[inline(always)]
    pub fn goes_on(&self, word: usize, tags: [Record; 3]) -> bool {
        let next = word + ROW;
        next < WORDS && self.planes.iter().zip(tags).all(|(plane, tag)| plane.goes_on(next, tag))
    }

    /// Does what is to be done about a word. False: that must be looked at.
    #[inline(always)]
    pub fn put_word(&mut self, word: usize, new: Record, verdict: Verdict) -> bool {
        let join = |plane: &mut Plane| plane.put(word, plane.get(word).with_other(new.other()));
        let forget = |plane: &mut Plane| plane.put(word, Record(0));
        self.settle(verdict, |plane| plane.put(word, new), join, forget)
    }

    /// Does what is to be done about a row, whose new record this is. False: that must be looked at.
    #[inline(always)]
    pub fn put_row(&mut self, word: usize, new: Record, verdict: Verdict) -> bool {
        // But for its threads it is the old one.
        let join = |plane: &mut Plane| plane.join_tag(word, new);
        let forget = |plane: &mut Plane| plane.clear(word, ROW);
        self.settle(verdict, |plane| plane.put_tag(word, new), join, forget)
    }

    /// Does what is to be done about words of a row, whose records are those of a series from its word `from` on. False:
    /// that must be looked at.
    #[inline(always)]
    pub fn put_words(
        &mut self,
        word: usize,
        (new, series, from): (&[u64], Series, usize),
        verdict: Verdict,
    ) -> bool {
        let join = |plane: &mut Plane| plane.join(word, new);
        let forget = |plane: &mut Plane| plane.clear(word, new.len());
        self.settle(verdict, |plane| plane.set(word, new, series, from), join, forget)
    }

    /// Changes what the planes that a verdict is about remember: `put` the new, `join` it to the old, or `forget` that.
    #[inline(always)]
    fn settle(
        &mut self,
        verdict: Verdict,
        put: impl FnOnce(&mut Plane),
        join: impl FnOnce(&mut Plane),
        forget: impl Fn(&mut Plane),
    ) -> bool {
        match verdict {
            Verdict::Ask => return false,
            Verdict::Known => {}
            Verdict::Replace(plane) => put(&mut self.planes[plane]),
            Verdict::Join(plane) => join(&mut self.planes[plane]),
            Verdict::Written { read, again } => {
                put(&mut self.planes[WRITE]);
                for (plane, is_there) in [(READ, read), (AGAIN, again)] {
                    if is_there {
                        forget(&mut self.planes[plane]);
                    }
                }
            }
        }
        true
    }

    fn clear(&mut self, from: usize, to: usize) {
        self.planes.iter_mut().for_each(|plane| plane.fill(from, to, Record(0)));
        self.beneath.clear(from, to);
    }
}

/// The records of all of global memory.
#[derive(Debug, Default)]
pub struct Shadow {
    pages: FxHashMap<u64, u32>,
    // A page has more than a KiB, which would be moved whenever the table grows.
    #[allow(clippy::vec_box)]
    table: Vec<Box<Page>>,
    /// Numbers, plus one, and places of pages that were asked for last.
    last: [(u64, u32); LAST],
    /// Words whose bytes are kept apart, by address.
    bytes: FxHashMap<u64, Box<Bytes>>,
    /// Ranges of memory that begin as written: from, to, and the write.
    begun: Vec<(u64, u64, Record)>,
}

impl Shadow {
    /// The page of an address, and the word in it.
    #[inline(always)]
    pub fn page(&mut self, address: u64) -> (&mut Page, usize) {
        let number = address >> PAGE_SHIFT;
        let last = self.last[number as usize % LAST];
        let place = if last.0 == number + 1 { last.1 } else { self.find(number) };
        (&mut self.table[place as usize], word_of(address))
    }

    #[inline(never)]
    fn find(&mut self, number: u64) -> u32 {
        let (table, begun) = (&mut self.table, &self.begun);
        let place = *self.pages.entry(number).or_insert_with(|| {
            let mut page = Box::<Page>::default();
            let start = number << PAGE_SHIFT;
            for &(from, to, write) in begun {
                let word = |at: u64| (at.saturating_sub(start) as usize >> 2).min(WORDS);
                page.planes[WRITE].fill(word(from), word(to), write);
            }
            table.push(page);
            table.len() as u32 - 1
        });
        self.last[number as usize % LAST] = (number + 1, place);
        place
    }

    /// Pages of a range that nobody touched yet begin with a write of all of it.
    pub fn begin(&mut self, address: u64, size_bytes: u64, write: Record) {
        let end = (address + size_bytes).next_multiple_of(4);
        self.begun.retain(|&(from, to, _)| to <= address || from >= end);
        self.begun.push((address & !3, end, write));
    }

    /// Forgets what [`Shadow::begin`] was told of: nobody needs these writes any more.
    pub fn forget_beginnings(&mut self) {
        self.begun.clear();
    }

    /// The end of the page of an address, if anything is remembered of the page.
    pub fn page_end(&self, address: u64) -> Option<u64> {
        self.pages.contains_key(&(address >> PAGE_SHIFT)).then(|| next_page(address))
    }

    /// The bytes of a word that are kept apart.
    pub fn bytes(&mut self, address: u64) -> &mut Bytes {
        self.bytes.entry(address & !3).or_default()
    }

    /// Forgets what happened to a range of memory, because it is somebody else's from now on.
    pub fn forget(&mut self, address: u64, size_bytes: u64) {
        let mut at = address & !3;
        let end = (address + size_bytes).next_multiple_of(4);
        while at < end {
            let page_end = next_page(at);
            let stop = end.min(page_end);
            if let Some(&place) = self.pages.get(&(at >> PAGE_SHIFT)) {
                let word = |address: u64| (address as usize >> 2) & (WORDS - 1);
                let to = if stop == page_end { WORDS } else { word(stop) };
                self.table[place as usize].clear(word(at), to);
            }
            at = stop;
        }
        self.begun.retain(|&(from, to, _)| to <= address || from >= end);
        if !self.bytes.is_empty() {
            self.bytes.retain(|word, _| *word < address & !3 || *word >= end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_begin_as_written() {
        let mut shadow = Shadow::default();
        shadow.begin(0x1ff8, 0x1010, Record(9));
        let written = |shadow: &mut Shadow, address| {
            let (page, word) = shadow.page(address);
            page.get(word).write == Record(9)
        };
        let found = [0x1ff4, 0x1ff8, 0x2000, 0x3004, 0x3008].map(|at| written(&mut shadow, at));
        assert_eq!(found, [false, true, true, true, false]);
        shadow.begin(0x10000, 0x100, Record(9));
        shadow.forget(0x10000, 0x100);
        assert!(!written(&mut shadow, 0x10000));
    }

    #[test]
    fn ranges_are_forgotten_to_the_word() {
        let mut shadow = Shadow::default();
        let cell = Cell { write: Record(9), ..Cell::default() };
        for address in [0x1ffc, 0x2000, 0x2ffc, 0x3000] {
            let (page, word) = shadow.page(address);
            page.put(word, Cell::default(), cell);
        }
        shadow.forget(0x2000, 0x1000);
        let found = [0x1ffc, 0x2000, 0x2ffc, 0x3000].map(|address| {
            let (page, word) = shadow.page(address);
            page.get(word) == cell
        });
        assert_eq!(found, [true, false, false, true]);
    }
}
