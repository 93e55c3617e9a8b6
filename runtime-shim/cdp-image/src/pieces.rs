//! Several pieces of device code in one block of bytes: what a program of our own carries (machine code first, then
//! PTX), and what `cuLinkComplete` makes on the CPU device. The block says itself how long it is and holds no
//! address, so it can be put into a program that is linked already. It knows nothing of what the pieces are.
//!
//! Magic number and bytes of the whole, 8 bytes each; then for each piece its bytes' number in 16 bytes, the bytes, and
//! zeros, at least one, up to the next multiple of 16. In a block that begins at such an address every piece does, which
//! the driver wants of machine code, and every text ends with a zero, which it wants of PTX. Numbers have their little
//! end first.

/// What a block begins with.
pub const MAGIC: &[u8; 8] = b"CDPcode\x02";
/// What a block is to be aligned to, so that its pieces are.
pub const ALIGN: usize = 16;
/// Bytes of the head of a block, and of that of a piece.
pub const HEADER_BYTES: usize = 16;

/// Puts pieces together.
pub fn join<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.resize(HEADER_BYTES, 0);
    for piece in pieces {
        out.extend((piece.len() as u64).to_le_bytes());
        out.extend([0; HEADER_BYTES - size_of::<u64>()]);
        out.extend(piece);
        out.resize(out.len() + padding(piece.len()), 0);
    }
    let bytes = (out.len() as u64).to_le_bytes();
    out[MAGIC.len()..HEADER_BYTES].copy_from_slice(&bytes);
    out
}

/// Zeros behind a piece.
fn padding(bytes: usize) -> usize {
    ALIGN - bytes % ALIGN
}

/// The bytes of the whole block, by its head.
pub fn claimed_bytes(header: &[u8]) -> Option<u64> {
    let number = header.strip_prefix(MAGIC)?.first_chunk()?;
    Some(u64::from_le_bytes(*number))
}

/// The pieces; none behind the first that does not fit.
pub fn pieces(block: &[u8]) -> Vec<&[u8]> {
    let mut rest = block.get(HEADER_BYTES..).unwrap_or_default();
    let mut found = Vec::new();
    while let Some((head, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let bytes = crate::bytes::u64_at(head, 0).unwrap_or(u64::MAX);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let Some(piece) = behind.get(..bytes) else { break };
        found.push(piece);
        rest = behind.get(bytes + padding(bytes)..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_comes_apart() {
        let given: [&[u8]; 4] = [b"one", b"", b"sixteen bytes ..", b"three"];
        let whole = join(given);
        assert_eq!(claimed_bytes(&whole), Some(whole.len() as u64));
        assert_eq!(pieces(&whole), given);
        for piece in pieces(&whole) {
            let at = piece.as_ptr().addr() - whole.as_ptr().addr();
            assert_eq!((at % ALIGN, whole[at + piece.len()]), (0, 0), "aligned, and a zero behind");
        }
    }

    #[test]
    fn damage_ends_the_pieces() {
        let whole = join([&b"one"[..], b"two"]);
        assert_eq!(pieces(&whole[..whole.len() - 14]), [&b"one"[..]]);
        assert_eq!(claimed_bytes(&whole[..10]), None);
        assert_eq!(claimed_bytes(b"CDPcode\x01________"), None);
        assert!(pieces(b"").is_empty());
        assert!(pieces(&join([])).is_empty());
        let mut huge = join([&b"one"[..]]);
        huge[16..24].fill(255);
        assert!(pieces(&huge).is_empty());
    }
}
