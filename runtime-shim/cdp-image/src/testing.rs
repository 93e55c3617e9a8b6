//! Containers for the tests of crates that read them. No compiler output is made here: `fatbinary` does
//! that.

use crate::fatbin::MAGIC;

/// A container, uncompressed or with contents that were compressed elsewhere, with entries of (kind, architecture, flags, size when decompressed, contents).
pub fn container(entries: &[(u16, u32, u32, u64, &[u8])]) -> Vec<u8> {
    let mut payload = Vec::new();
    for &(kind, architecture, flags, unpacked_bytes, contents) in entries {
        let mut header = [0u8; 64];
        let padded = contents.len().next_multiple_of(8);
        header[..2].copy_from_slice(&kind.to_le_bytes());
        header[4..8].copy_from_slice(&64u32.to_le_bytes());
        header[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        header[16..20].copy_from_slice(&(contents.len() as u32).to_le_bytes());
        header[28..32].copy_from_slice(&architecture.to_le_bytes());
        header[40..44].copy_from_slice(&flags.to_le_bytes());
        header[56..64].copy_from_slice(&unpacked_bytes.to_le_bytes());
        payload.extend(header);
        payload.extend(contents);
        payload.resize(payload.len() + padded - contents.len(), 0);
    }
    let mut container = MAGIC.to_le_bytes().to_vec();
    container.extend([1, 0, 16, 0]);
    container.extend((payload.len() as u64).to_le_bytes());
    container.extend(payload);
    container
}
