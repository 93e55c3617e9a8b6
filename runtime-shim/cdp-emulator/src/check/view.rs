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
        for &(key, time) in &other.parts {
            self.raise(key, time);
        }
    }

    fn holds(&self, other: &Clocks) -> bool {
        let part = |key| match self.parts.binary_search_by_key(&key, |part| part.0) {
            Ok(at) => self.parts[at].1.max(self.all),
            Err(_) => self.all,
        };
        other.all <= self.all && other.parts.iter().all(|&(key, time)| time <= part(key))
    }
}

/// What a thread knows of everything outside of its own recent past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Chains of work, each up to this position, in order of the chain's number.
    chains: Vec<(u32, u32)>,
    /// Blocks of which a part is known, in order of the block's number.
    blocks: Vec<(u32, Clocks)>,
}

impl View {
    /// Up to which position a chain is complete.
    pub fn chain(&self, chain: u32) -> u32 {
        self.chains.binary_search_by_key(&chain, |c| c.0).map_or(0, |at| self.chains[at].1)
    }

    /// Knows a chain up to a position.
    pub fn raise_chain(&mut self, chain: u32, position: u32) {
        match self.chains.binary_search_by_key(&chain, |c| c.0) {
            Ok(at) => self.chains[at].1 = self.chains[at].1.max(position),
            Err(at) => self.chains.insert(at, (chain, position)),
        }
    }

    /// What is known of a block.
    pub fn block(&self, block: u32) -> Option<&Clocks> {
        self.blocks.binary_search_by_key(&block, |b| b.0).ok().map(|at| &self.blocks[at].1)
    }

    /// Knows what `clocks` say of a block.
    pub fn raise_block(&mut self, block: u32, clocks: &Clocks) {
        match self.blocks.binary_search_by_key(&block, |b| b.0) {
            Ok(at) => self.blocks[at].1.join(clocks),
            Err(at) => self.blocks.insert(at, (block, clocks.clone())),
        }
    }

    /// True if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty() && self.blocks.is_empty()
    }

    /// True if everything that `other` knows is known here.
    pub fn holds(&self, other: &View) -> bool {
        other.chains.iter().all(|&(chain, position)| position <= self.chain(chain))
            && other.blocks.iter().all(|(block, clocks)| match self.block(*block) {
                Some(mine) => mine.holds(clocks),
                None => false,
            })
    }

    /// Knows what `other` knows.
    pub fn join(&mut self, other: &View) {
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        for &(chain, position) in &other.chains {
            self.raise_chain(chain, position);
        }
        for (block, clocks) in &other.blocks {
            self.raise_block(*block, clocks);
        }
    }

    /// Forgets blocks that `covered` says are known as parts of complete work.
    pub fn prune(&mut self, covered: impl Fn(&View, u32) -> bool) {
        if self.blocks.is_empty() || self.chains.is_empty() {
            return;
        }
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.retain(|(block, _)| !covered(self, *block));
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
}

impl Told {
    /// With what somebody else tells.
    pub fn join(&mut self, more: &Told) {
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
        Some(have) if Arc::ptr_eq(have, more) || have.holds(more) => {}
        Some(have) if more.holds(have) => *have = more.clone(),
        Some(have) => Arc::make_mut(have).join(more),
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
}
