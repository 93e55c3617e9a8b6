//! Maps from numbers that the device itself gave out, which nobody can choose badly: their hash need
//! not be the standard library's careful one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from integers.
pub type IntMap<K, V> = HashMap<K, V, BuildHasherDefault<IntHasher>>;

/// One multiplication whose halves are folded together, so that all bits of the key reach all bits of
/// the hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntHasher(u64);

impl Hasher for IntHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(self.0 ^ number) * FACTOR;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_spread() {
        let low_bits = |n: u64| {
            let mut hasher = IntHasher::default();
            hasher.write_u64(0x200_0000_0000 + n * 256);
            hasher.finish() & 0xff
        };
        let distinct: std::collections::BTreeSet<u64> = (0..256).map(low_bits).collect();
        assert!(distinct.len() > 128, "{}", distinct.len());
    }
}
