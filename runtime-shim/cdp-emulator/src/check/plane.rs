//! Records of the words of a page, of one kind (see [`super::shadow`]), as small as they are told apart.
//!
//! Rows of words that one warp touched at one time have one record, which stands for that of its first word; those
//! of the others differ by the steps in which threads go on from word to word. A row whose words differ otherwise
//! has a record for each.

use super::record::{NEXT_THREAD, OTHER_THREAD, Record, THREADS};

/// Words of a page.
pub const WORDS: usize = 1024;
/// Words of a row.
pub const ROW: usize = 16;
const ROWS: usize = WORDS / ROW;

/// How threads go on from word to word: the logarithm of the words of each, at most 2, or [`ONE`].
pub type Steps = u32;
/// All words are the same threads'.
pub const ONE: Steps = 3;
/// Words of a thread beyond which all must be one thread's.
pub const MOST_OF_A_THREAD: usize = 4;

/// What the records of words have more than the first one's.
type Ahead = [u64; ROW + MOST_OF_A_THREAD];
static AHEAD: [Ahead; 4] = [ahead(0), ahead(1), ahead(2), ahead(ONE)];

const fn ahead(steps: Steps) -> Ahead {
    let mut ahead = [0; ROW + MOST_OF_A_THREAD];
    let mut at = 0;
    while at < ahead.len() && steps < ONE {
        ahead[at] = (at as u64 >> steps) * NEXT_THREAD;
        at += 1;
    }
    ahead
}

const STEPS: u32 = 61;
/// Where a row's record says how its threads go on; records of words have nothing there.
pub const STEPS_MASK: u64 = 3 << STEPS;
/// Nothing is remembered of a row, whatever its words' records say.
const EMPTY: Record = Record(1 << STEPS);

/// Records of words that follow each other, by their first.
#[derive(Clone, Copy)]
pub struct Series {
    first: Record,
    steps: Steps,
}

impl Series {
    /// From the first word's record.
    pub fn new(first: Record, steps: Steps) -> Series {
        Series { first, steps }
    }

    /// The first word's record.
    pub fn first(self) -> Record {
        self.first
    }

    /// The records of a row's words, from word `from` of the series on.
    #[inline(always)]
    pub fn records(self, from: usize) -> [u64; ROW] {
        let (whole, rest) = match self.steps {
            ONE => (0, 0),
            steps => (from as u64 >> steps, from & ((1 << steps) - 1)),
        };
        let first = self.first.0.wrapping_add(whole.wrapping_mul(NEXT_THREAD));
        let ahead = &AHEAD[self.steps as usize & 3][rest & 3..];
        let mut records = [0; ROW];
        for (record, ahead) in records.iter_mut().zip(ahead) {
            *record = first.wrapping_add(*ahead);
        }
        records
    }

    /// As what a row has, which begins with word `from`.
    #[inline(always)]
    pub fn tag(self, from: usize) -> Record {
        let whole = if self.steps == ONE { 0 } else { from as u64 >> self.steps };
        let first = self.first.0.wrapping_add(whole.wrapping_mul(NEXT_THREAD));
        Record(first | u64::from(self.steps) << STEPS)
    }
}

/// What is remembered of words, alike but for the threads.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    /// Of the first word; none if it is below what counts.
    pub record: Record,
    /// How the threads differ from those of the new records, of all words together.
    pub from_new: u64,
    /// How they differ from those of the first word.
    pub from_first: u64,
}

/// A record, or none if it is below `floor`.
#[inline(always)]
pub fn live(record: Record, floor: u64) -> u64 {
    // Words whose bytes are kept apart have no stamp, and the highest bit.
    let stale = record.0 & (1 << 63 | 0xffff_ffff) < floor;
    if stale { 0 } else { record.0 }
}

/// The record of a word of a row that has one for all.
#[inline(always)]
fn of_row(tag: Record, word: usize) -> Record {
    if tag.is_none() {
        return Record(0);
    }
    let ahead = AHEAD[(tag.0 >> STEPS) as usize & 3][word % ROW];
    Record((tag.0 & !STEPS_MASK).wrapping_add(ahead))
}

/// Records of one kind.
#[derive(Debug)]
pub struct Plane {
    /// By row: the record of its first word and the steps; [`EMPTY`]; or nothing, if its words have records.
    rows: [Record; ROWS],
    words: Option<Box<[Record; WORDS]>>,
}

impl Default for Plane {
    fn default() -> Plane {
        Plane { rows: [EMPTY; ROWS], words: None }
    }
}

impl Plane {
    /// The record of a word.
    #[inline(always)]
    pub fn get(&self, word: usize) -> Record {
        match (self.rows[word / ROW], &self.words) {
            (Record(0), Some(words)) => words[word],
            (tag, _) => of_row(tag, word),
        }
    }

    /// Replaces the record of a word.
    #[inline(always)]
    pub fn put(&mut self, word: usize, record: Record) {
        self.words_of(word / ROW)[word % ROW] = record;
    }

    /// The records of the words of a row, which from now on differ.
    #[inline(always)]
    fn words_of(&mut self, row: usize) -> &mut [Record; ROW] {
        if self.rows[row].0 != 0 {
            self.tell_apart(row);
        }
        let words = self.words.get_or_insert_with(none);
        // SAFETY: as many words as a row has, from its first on.
        unsafe { &mut *words.as_mut_ptr().add(row % ROWS * ROW).cast() }
    }

    #[inline(never)]
    fn tell_apart(&mut self, row: usize) {
        let tag = std::mem::take(&mut self.rows[row]);
        let words = self.words.get_or_insert_with(none);
        for (at, word) in words[row * ROW..][..ROW].iter_mut().enumerate() {
            *word = of_row(tag, at);
        }
    }

    /// Looks at the records of words of one row; the number is of the bits in which some differ beyond their threads.
    #[inline(always)]
    pub fn look(&self, word: usize, new: &[u64], floor: u64) -> (Seen, u64) {
        let tag = self.rows[word / ROW];
        let last = new.len() - 1;
        let Some(words) = self.words.as_deref().filter(|_| tag.0 == 0) else {
            // Threads go on in steps: if they are the new ones, or of their warp, at both ends, they are in between.
            let (first, end) = (of_row(tag, word), of_row(tag, word + last));
            let record = Record(live(first, floor));
            let from_new = (first.0 ^ new[0] | end.0 ^ new[last]) & THREADS;
            return (Seen { record, from_new, from_first: first.0 ^ end.0 }, 0);
        };
        let old = &words[word..word + new.len()];
        let first = live(old[0], floor);
        let (mut from_new, mut from_first) = (0, 0);
        for (&old, &new) in old.iter().zip(new) {
            let old = live(old, floor);
            from_new |= old ^ new;
            from_first |= old ^ first;
        }
        let seen = Seen { record: Record(first), from_new: from_new & THREADS, from_first };
        (seen, from_first & !THREADS)
    }

    /// True if what counts of two words of a row differs in no more than its threads.
    pub fn is_alike(&self, word: usize, other: usize, floor: u64) -> bool {
        (live(self.get(word), floor) ^ live(self.get(other), floor)) & !THREADS == 0
    }

    /// The record of a row, with the steps of its threads, if it has one.
    #[inline(always)]
    pub fn tag(&self, word: usize) -> Option<Record> {
        let tag = self.rows[word / ROW % ROWS];
        (tag.0 != 0).then_some(tag)
    }

    /// True if the record of a row goes on from that of the row before.
    #[inline(always)]
    pub fn goes_on(&self, word: usize, before: Record) -> bool {
        let tag = self.rows[word / ROW % ROWS];
        let ahead = AHEAD[(before.0 >> STEPS) as usize & 3][ROW];
        tag.0 == if before.is_none() { before.0 } else { before.0.wrapping_add(ahead) }
    }

    /// Replaces all records of a row by one with the steps of its threads.
    #[inline(always)]
    pub fn put_tag(&mut self, word: usize, tag: Record) {
        self.rows[word / ROW % ROWS] = tag;
    }

    /// The threads of a row's record are joined by the second ones of a new one, which is alike but for its threads.
    #[inline(always)]
    pub fn join_tag(&mut self, word: usize, new: Record) {
        let tag = &mut self.rows[word / ROW];
        *tag = tag.with_other(new.other());
    }

    /// Words of a row get the records of a series, from its word `from` on. `new` are these.
    #[inline(always)]
    pub fn set(&mut self, word: usize, new: &[u64], series: Series, from: usize) {
        if new.len() == ROW {
            self.rows[word / ROW] = series.tag(from);
            return;
        }
        let at = word % ROW;
        for (old, &new) in self.words_of(word / ROW)[at..at + new.len()].iter_mut().zip(new) {
            *old = Record(new);
        }
    }

    /// Words of a row get their second threads from new records.
    #[inline(always)]
    pub fn join(&mut self, word: usize, new: &[u64]) {
        let joined = |old: Record, new: u64| Record(old.0 & !OTHER_THREAD | new & OTHER_THREAD);
        let tag = &mut self.rows[word / ROW];
        if new.len() == ROW && tag.0 != 0 && goes_on_like(*tag, new) {
            *tag = joined(*tag, new[0]);
            return;
        }
        let at = word % ROW;
        for (old, &new) in self.words_of(word / ROW)[at..at + new.len()].iter_mut().zip(new) {
            *old = joined(*old, new);
        }
    }

    /// Nothing is remembered any more of words of a row.
    #[inline(always)]
    pub fn clear(&mut self, word: usize, words: usize) {
        if words == ROW {
            self.rows[word / ROW] = EMPTY;
            return;
        }
        let at = word % ROW;
        self.words_of(word / ROW)[at..at + words].fill(Record(0));
    }

    /// All words from one to before another get a record.
    pub fn fill(&mut self, mut from: usize, to: usize, record: Record) {
        while from < to {
            let end = (from / ROW * ROW + ROW).min(to);
            let words = end - from;
            match record.is_none() {
                // Where nothing is remembered, nothing is to be forgotten.
                true if self.rows[from / ROW] == EMPTY => {}
                true => self.clear(from, words),
                false => {
                    let series = Series::new(record, ONE);
                    self.set(from, &series.records(0)[..words], series, 0);
                }
            }
            from = end;
        }
    }
}

/// True if the threads of a row's record go on in the steps of new records of all its words.
#[inline(always)]
fn goes_on_like(tag: Record, new: &[u64]) -> bool {
    let steps = AHEAD[(tag.0 >> STEPS) as usize & 3];
    [1, 2, 4].into_iter().all(|at| new[at] == new[0].wrapping_add(steps[at]))
}

fn none() -> Box<[Record; WORDS]> {
    Box::new([Record(0); WORDS])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::record::Strength;

    fn by(thread: u32) -> Record {
        Record::new(7, thread, 15, Strength::Weak, false)
    }

    #[test]
    fn a_row_has_one_record_until_its_words_differ() {
        let mut plane = Plane::default();
        for steps in 0..=ONE {
            let series = Series::new(by(64), steps);
            // The second row of the series.
            plane.set(32, &series.records(ROW), series, ROW);
            assert!(plane.words.is_none());
            let step = |word: u32| if steps == ONE { 0 } else { word >> steps };
            for word in 0..ROW {
                let thread = 64 + step((ROW + word) as u32);
                assert_eq!(plane.get(32 + word), by(thread), "{steps} {word}");
            }
        }
        let series = Series::new(by(0), 0);
        plane.set(16, &series.records(0), series, 0);
        plane.put(20, by(99));
        let threads = [16, 19, 20, 21, 31].map(|word| plane.get(word).first());
        assert_eq!(threads, [0, 3, 99, 5, 15]);
        assert_eq!((plane.get(15), plane.get(32)), (Record(0), by(64)));
    }

    #[test]
    fn both_forms_of_a_row_look_alike() {
        let series = Series::new(by(32), 0);
        let other = Series::new(by(96), 0);
        let mut rows = Plane::default();
        rows.set(16, &series.records(0), series, 0);
        let mut words = Plane::default();
        (0..ROW).for_each(|at| words.put(16 + at, Record(series.records(0)[at])));
        for floor in [0, 8] {
            for new in [series, other] {
                let new = new.records(0);
                let [a, b] = [&rows, &words].map(|plane| plane.look(16, &new, floor));
                assert_eq!((a.1, a.0.record), (b.1, b.0.record));
                let is_new = |seen: Seen| !seen.record.is_none() && seen.from_new == 0;
                assert_eq!(is_new(a.0), is_new(b.0));
            }
        }
        for plane in [&mut rows, &mut words] {
            plane.join(16, &other.records(0));
            assert_eq!((plane.get(20).first(), plane.get(20).other()), (36, 100));
            plane.clear(16, 3);
            assert_eq!((plane.get(18), plane.get(19).first()), (Record(0), 35));
        }
    }

    #[test]
    fn ranges_are_filled_to_the_word() {
        let mut plane = Plane::default();
        plane.fill(14, 35, by(5));
        let filled = |plane: &Plane| (0..48).filter(|&at| plane.get(at) == by(5)).count();
        assert_eq!((filled(&plane), plane.get(13), plane.get(35)), (21, Record(0), Record(0)));
        plane.fill(15, 33, Record(0));
        assert_eq!(filled(&plane), 3);
    }
}
