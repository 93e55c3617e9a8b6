//! What a thread knows: the accesses of others that come before whatever it does now.
//!
//! A classic vector clock has an entry a thread. A program with grids of grids has millions of
//! threads, and nearly all of the order among them comes from structure: a grid that is complete, a
//! block that met at a barrier. So a [`View`] has an entry for each *chain* of complete work and for
//! each *block* of which a part is known, and a block's entry is one number for all of its threads
//! with exceptions for warps and threads that are known further.

use std::sync::Arc;

/// Bit of a [`Clocks`] key that names a warp instead of a thread.
pub const WARP: u32 = 1 << 31;

/// Bit of a [`View`]'s block that names what the asynchronous proxy sees of the block.
pub const PROXY: u32 = 1 << 31;

/// How far the threads of a block are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// All of its threads up to this time.
    pub all: u32,
    /// Warps (with [`WARP`]) and threads that are known further, in order of the key.
    pub parts: Vec<(u32, u32)>,
}

impl Clocks {
    /// Up to which time a thread is known.
    pub fn of(&self, thread: u32) -> u32 {
        let part = |key| {
            self.parts.binary_search_by_key(&key, |part| part.0).map_or(0, |at| self.parts[at].1)
        };
        if self.parts.is_empty() {
            return self.all;
        }
        self.all.max(part(thread)).max(part((thread / 32) | WARP))
    }

    /// Knows a thread or warp up to `time`.
    pub fn raise(&mut self, key: u32, time: u32) {
        if time <= self.all {
            return;
        }
        match self.parts.binary_search_by_key(&key, |part| part.0) {
            Ok(at) => self.parts[at].1 = self.parts[at].1.max(time),
            Err(at) => self.parts.insert(at, (key, time)),
        }
    }

    /// Knows all threads up to `time`.
    pub fn raise_all(&mut self, time: u32) {
        if time > self.all {
            self.all = time;
            self.parts.retain(|part| part.1 > time);
        }
    }

    /// Knows what `other` knows.
    pub fn join(&mut self, other: &Clocks) {
        self.raise_all(other.all);
        let all = self.all;
        merge(&mut self.parts, &other.parts, |mine, more| *mine = (*mine).max(*more));
        self.parts.retain(|part| part.1 > all);
    }

    /// What is known of all threads of the warp of `thread`, in a block of `threads`, is known of the
    /// warp; and what is known of all warps, of the block.
    pub fn gather(&mut self, thread: u32, threads: u32) {
        let first = thread & !31;
        let count = (threads - first).min(32) as usize;
        let Ok(at) = self.parts.binary_search_by_key(&first, |part| part.0) else { return };
        let lanes = &self.parts[at..];
        if lanes.get(count - 1).is_none_or(|last| last.0 != first + count as u32 - 1) {
            return;
        }
        let least = lanes[..count].iter().map(|lane| lane.1).min().unwrap_or(0);
        let warp = (thread / 32) | WARP;
        self.raise(warp, least);
        self.parts.retain(|part| part.0 / 32 != first / 32 || part.1 > least);
        let warps = self.parts.iter().filter(|part| part.0 & WARP != 0);
        if warps.clone().count() == threads.div_ceil(32) as usize {
            self.raise_all(warps.map(|warp| warp.1).min().unwrap_or(0));
        }
    }

    fn holds(&self, other: &Clocks) -> bool {
        other.all <= self.all
            && each_with(&other.parts, &self.parts, |&time, mine| {
                time <= mine.map_or(self.all, |mine| self.all.max(*mine))
            })
    }
}

/// Puts `more` into a list in order of its keys; `both` for what is in either.
fn merge<T: Clone>(to: &mut Vec<(u32, T)>, more: &[(u32, T)], both: impl Fn(&mut T, &T)) {
    if more.len() <= 4 {
        for (key, value) in more {
            match to.binary_search_by_key(key, |have| have.0) {
                Ok(at) => both(&mut to[at].1, value),
                Err(at) => to.insert(at, (*key, value.clone())),
            }
        }
        return;
    }
    let mut have = std::mem::take(to).into_iter().peekable();
    to.reserve(have.len() + more.len());
    for (key, value) in more {
        while let Some(before) = have.next_if(|have| have.0 < *key) {
            to.push(before);
        }
        let mut entry = have.next_if(|have| have.0 == *key);
        match &mut entry {
            Some(entry) => both(&mut entry.1, value),
            None => entry = Some((*key, value.clone())),
        }
        to.extend(entry);
    }
    to.extend(have);
}

/// True if `holds` is for every value of a list in order of its keys, beside what another has for the key.
fn each_with<T>(
    list: &[(u32, T)],
    other: &[(u32, T)],
    holds: impl Fn(&T, Option<&T>) -> bool,
) -> bool {
    if list.len() * 8 < other.len() {
        return list.iter().all(|(key, value)| {
            let at = other.binary_search_by_key(key, |entry| entry.0).ok();
            holds(value, at.map(|at| &other[at].1))
        });
    }
    let mut at = 0;
    list.iter().all(|(key, value)| {
        while other.get(at).is_some_and(|entry| entry.0 < *key) {
            at += 1;
        }
        holds(value, other.get(at).filter(|entry| entry.0 == *key).map(|entry| &entry.1))
    })
}

/// What a thread knows of everything outside of its own recent past.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// What was released at one place, and how many releases that are there: of two such views the later
    /// holds the earlier. Nothing for any other view.
    releases: Option<(u32, u32)>,
    /// Chains of work, each up to this position, in order of the chain's number.
    chains: Vec<(u32, u32)>,
    /// Blocks of which a part is known, in order of the block's number.
    blocks: Vec<(u32, Arc<Clocks>)>,
}

impl View {
    /// Up to which position a chain is complete.
    pub fn chain(&self, chain: u32) -> u32 {
        self.chains.binary_search_by_key(&chain, |c| c.0).map_or(0, |at| self.chains[at].1)
    }

    /// Knows a chain up to a position.
    pub fn raise_chain(&mut self, chain: u32, position: u32) {
        self.releases = None;
        match self.chains.binary_search_by_key(&chain, |c| c.0) {
            Ok(at) => self.chains[at].1 = self.chains[at].1.max(position),
            Err(at) => self.chains.insert(at, (chain, position)),
        }
    }

    /// What is known of a block.
    pub fn block(&self, block: u32) -> Option<&Clocks> {
        self.blocks.binary_search_by_key(&block, |b| b.0).ok().map(|at| &*self.blocks[at].1)
    }

    /// As [`Clocks::gather`], of a block.
    pub fn gather(&mut self, block: u32, thread: u32, threads: u32) {
        self.releases = None;
        if let Ok(at) = self.blocks.binary_search_by_key(&block, |b| b.0) {
            Arc::make_mut(&mut self.blocks[at].1).gather(thread, threads);
        }
    }

    /// Knows what `clocks` say of a block.
    pub fn raise_block(&mut self, block: u32, clocks: &Clocks) {
        self.releases = None;
        match self.blocks.binary_search_by_key(&block, |b| b.0) {
            Ok(at) => Arc::make_mut(&mut self.blocks[at].1).join(clocks),
            Err(at) => self.blocks.insert(at, (block, Arc::new(clocks.clone()))),
        }
    }

    /// Knows that the asynchronous proxy sees what `other` knows of blocks.
    pub fn fence(&mut self, other: &View) {
        self.releases = None;
        for (block, clocks) in other.blocks.iter().filter(|(block, _)| block & PROXY == 0) {
            self.raise_block(block | PROXY, clocks);
        }
    }

    /// True if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty() && self.blocks.is_empty()
    }

    /// True if everything that `other` knows is known here.
    pub fn holds(&self, other: &View) -> bool {
        each_with(&other.chains, &self.chains, |position, mine| Some(position) <= mine)
            && other.blocks.len() <= self.blocks.len()
            && each_with(&other.blocks, &self.blocks, |clocks, mine| {
                mine.is_some_and(|mine| Arc::ptr_eq(mine, clocks) || mine.holds(clocks))
            })
    }

    /// Knows what `other` knows.
    pub fn join(&mut self, other: &View) {
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        self.releases = None;
        merge(&mut self.chains, &other.chains, |mine, more| *mine = (*mine).max(*more));
        merge(&mut self.blocks, &other.blocks, |mine, more| {
            if Arc::ptr_eq(mine, more) || mine.holds(more) {
            } else if more.holds(mine) {
                mine.clone_from(more);
            } else {
                Arc::make_mut(mine).join(more);
            }
        });
    }

    /// Forgets blocks that `covered` says are known as parts of complete work.
    pub fn prune(&mut self, covered: impl Fn(&View, u32) -> bool) {
        if self.blocks.is_empty() || self.chains.is_empty() {
            return;
        }
        self.releases = None;
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.retain(|(block, _)| !covered(self, *block & !PROXY));
        self.blocks = blocks;
    }
}

/// A view that may be nothing, shared by who knows the same.
pub type Known = Option<Arc<View>>;

/// What those who come to a barrier tell those who wait there.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// What they know.
    pub known: Known,
    /// What they knew at their fences.
    pub fenced: Known,
    /// The first stamp that was not yet made at the last of these.
    pub fenced_at: u32,
}

impl Told {
    /// With what somebody else tells.
    pub fn join(&mut self, more: &Told) {
        self.fenced_at = self.fenced_at.max(more.fenced_at);
        for (to, more) in [(&mut self.known, &more.known), (&mut self.fenced, &more.fenced)] {
            if let Some(more) = more {
                learn(to, more);
            }
        }
    }
}

/// `known` with what `more` knows.
pub fn learn(known: &mut Known, more: &Arc<View>) {
    match known {
        None => *known = Some(more.clone()),
        Some(have) => match (have.releases, more.releases) {
            (Some(mine), Some(new)) if mine.0 == new.0 => {
                if mine.1 < new.1 {
                    *have = more.clone();
                }
            }
            _ if Arc::ptr_eq(have, more) || have.holds(more) => {}
            _ if more.holds(have) => *have = more.clone(),
            _ => Arc::make_mut(have).join(more),
        },
    }
}

/// What is known from a place of memory, with what is released there now; `all`: `view` holds what was
/// released there before. `places` counts such places.
///
/// Thousands of threads that add to one counter, each acquiring what all before it released, would else
/// compare thousands of entries each; those who only look would too.
pub fn release(known: &mut Known, view: &mut Arc<View>, all: bool, places: &mut u32) {
    let Some(have) = known else {
        if view.releases.is_some() {
            Arc::make_mut(view).releases = None;
        }
        *known = Some(view.clone());
        return;
    };
    if !all && have.holds(view) {
        return;
    }
    let (place, count) = have.releases.unwrap_or_else(|| {
        *places += 1;
        (*places, 0)
    });
    let next = Some((place, count + 1));
    if all {
        Arc::make_mut(view).releases = next;
        *have = view.clone();
    } else {
        let grown = Arc::make_mut(have);
        grown.join(view);
        grown.releases = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_what_is_known_of_a_thread_counts() {
        let mut clocks = Clocks::default();
        clocks.raise(40, 5);
        clocks.raise(1 | WARP, 3);
        assert_eq!((clocks.of(40), clocks.of(41), clocks.of(0)), (5, 3, 0));
        clocks.raise_all(4);
        assert_eq!((clocks.of(40), clocks.of(41), clocks.of(0)), (5, 4, 4));
        assert_eq!(clocks.parts.len(), 1);
    }

    #[test]
    fn joins_know_what_both_know() {
        let (mut a, mut b) = (View::default(), View::default());
        a.raise_chain(3, 7);
        a.raise_block(9, &Clocks { all: 2, parts: vec![] });
        b.raise_chain(3, 5);
        b.raise_chain(1, 1);
        b.raise_block(9, &Clocks { all: 1, parts: vec![(4, 6)] });
        assert!(!a.holds(&b) && !b.holds(&a));
        a.join(&b);
        assert!(a.holds(&b));
        assert_eq!((a.chain(3), a.chain(1), a.chain(2)), (7, 1, 0));
        assert_eq!(a.block(9).map(|c| (c.of(4), c.of(5))), Some((6, 2)));
    }

    #[test]
    fn long_lists_merge_in_order() {
        let list = |keys: &[u32], time| Clocks {
            all: 1,
            parts: keys.iter().map(|&key| (key, time)).collect(),
        };
        let mut a = list(&[1, 4, 6, 9, 30], 5);
        let b = list(&[0, 4, 5, 9, 31, 40], 7);
        assert!(!a.holds(&b));
        a.join(&b);
        assert!(a.holds(&b) && a.parts.is_sorted());
        assert_eq!([0, 1, 4, 5, 6, 9, 30, 31, 40].map(|t| a.of(t)), [7, 5, 7, 7, 5, 7, 5, 7, 7]);
        assert_eq!(a.parts.len(), 9);
    }

    #[test]
    fn threads_that_are_all_known_become_one_part() {
        let mut clocks = Clocks::default();
        for thread in 0..40 {
            clocks.raise(thread, if thread == 3 { 9 } else { 4 });
            clocks.gather(thread, 40);
        }
        assert_eq!((clocks.all, clocks.parts.clone()), (4, vec![(3, 9)]));
        clocks.raise(39, 6);
        clocks.gather(39, 40);
        assert_eq!((clocks.of(39), clocks.of(38)), (6, 4));
    }
}
