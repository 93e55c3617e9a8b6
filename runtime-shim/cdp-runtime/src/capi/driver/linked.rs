//! What `cuLinkComplete` makes on the CPU device: the pieces as they were given, one behind the other, since
//! linking is done when the module is loaded. A GPU gets a cubin from the driver instead.
//!
//! Magic number, bytes of the whole, then for each piece its bytes' number and the bytes; numbers are 8 bytes, little end
//! first.

/// What such a container begins with.
pub const MAGIC: &[u8; 8] = b"CDPlink\x01";
const HEADER_BYTES: usize = 16;

/// Puts pieces together.
pub fn join(pieces: &[Vec<u8>]) -> Vec<u8> {
    let body: usize = pieces.iter().map(|piece| 8 + piece.len()).sum();
    let mut out = Vec::with_capacity(HEADER_BYTES + body);
    out.extend(MAGIC);
    out.extend(((HEADER_BYTES + body) as u64).to_le_bytes());
    for piece in pieces {
        out.extend((piece.len() as u64).to_le_bytes());
        out.extend(piece);
    }
    out
}

/// The bytes of the whole container, by its first 16.
pub fn claimed_bytes(header: &[u8]) -> Option<u64> {
    let number = header.strip_prefix(MAGIC)?.first_chunk()?;
    Some(u64::from_le_bytes(*number))
}

/// The pieces; none behind the first that does not fit.
pub fn pieces(container: &[u8]) -> Vec<&[u8]> {
    let mut rest = container.get(HEADER_BYTES..).unwrap_or_default();
    let mut found = Vec::new();
    while let Some((bytes, behind)) = rest.split_first_chunk() {
        let bytes = usize::try_from(u64::from_le_bytes(*bytes)).unwrap_or(usize::MAX);
        let Some(piece) = behind.get(..bytes) else { break };
        found.push(piece);
        rest = &behind[bytes..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_comes_apart() {
        let whole = join(&[b"one".to_vec(), Vec::new(), b"three".to_vec()]);
        assert_eq!(claimed_bytes(&whole), Some(whole.len() as u64));
        assert_eq!(pieces(&whole), [&b"one"[..], b"", b"three"]);
        assert_eq!(pieces(&whole[..whole.len() - 1]), [&b"one"[..], b""]);
        assert_eq!(claimed_bytes(&whole[..10]), None);
        assert!(pieces(b"").is_empty());
    }
}
