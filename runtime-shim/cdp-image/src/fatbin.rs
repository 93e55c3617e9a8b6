//! Fat binaries: the container in which nvcc, clang and `fatbinary` put PTX and machine code for several
//! architectures, compressed or not. Read only (but for [`crate::testing`]), and never trusted.
//!
//! Facts, read in files that `fatbinary` 13.0 makes in each of its modes of compression: a container is a
//! header (magic 0xBA55ED50, version, header bytes, payload bytes) and entries one after another; an entry
//! has its kind at 0 (1 PTX, 2 machine code), its header's bytes at 4, the bytes it takes at 8, the bytes
//! of its compressed contents at 16, its architecture at 28, flags at 40, the bytes it has when
//! decompressed at 56.

use std::borrow::Cow;
use std::fmt;

use crate::bytes::{u16_at, u32_at, u64_at};

/// The first four bytes of a container.
pub const MAGIC: u32 = 0xBA55_ED50;

/// The header of a container: magic, version, header bytes, payload bytes.
const CONTAINER_HEADER_BYTES: usize = 16;

const FLAG_LZ4: u32 = 0x2000;
const FLAG_ZSTD: u32 = 0x8000;

/// Where the flags of an entry lie, and the size that its contents have when decompressed.
const FLAGS_AT: usize = 40;
const UNPACKED_BYTES_AT: usize = 56;

/// The most that one entry may say it decompresses to: a damaged size must not take all memory.
const MAX_UNPACKED_BYTES: u64 = 1 << 30;

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// PTX text.
    Ptx,
    /// A cubin, linked or relocatable.
    MachineCode,
    /// Something else: intermediate code for link-time optimisation, for example.
    Other(u16),
}

/// One entry of a container.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// What it holds.
    pub kind: EntryKind,
    /// 90 for sm_90 or compute_90.
    pub architecture: u32,
    flags: u32,
    packed_bytes: u32,
    unpacked_bytes: u64,
    payload: &'a [u8],
}

/// What is wrong with an entry's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged(String);

impl std::error::Error for Damaged {}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes that a container's own header claims, with the header; `None` if it is none.
pub fn claimed_bytes(container: &[u8]) -> Option<u64> {
    if !is_fatbin(container) {
        return None;
    }
    u64::from(u16_at(container, 6)?).checked_add(u64_at(container, 8)?)
}

/// Whether the bytes begin as a container.
pub fn is_fatbin(bytes: &[u8]) -> bool {
    u32_at(bytes, 0) == Some(MAGIC)
}

/// The entries that can be read of one container; none if it is no container. What is damaged ends the
/// reading: a program that runs takes what there is.
pub fn entries(container: &[u8]) -> Vec<Entry<'_>> {
    let body = claimed_bytes(container).and_then(|end| usize::try_from(end).ok()).and_then(|end| {
        let header_bytes = usize::from(u16_at(container, 6)?);
        container.get(header_bytes..end.min(container.len()))
    });
    Entries { rest: body.unwrap_or_default() }.map_while(Result::ok).collect()
}

/// Every entry of containers that lie one behind the other, with zeros between them, as the section of
/// an object has them.
///
/// # Errors
/// Bytes that are no container or are cut off: a compiler says so before it links them.
pub fn all_entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Damaged> {
    let mut all = Vec::new();
    for container in (Containers { rest: bytes, first: true }) {
        let container = container?;
        let header_bytes = usize::from(u16_at(container, 6).ok_or_else(cut_off)?);
        if header_bytes < CONTAINER_HEADER_BYTES {
            return Err(Damaged("the fat binary's header is too short".to_owned()));
        }
        let body = container.get(header_bytes..).ok_or_else(cut_off)?;
        for entry in (Entries { rest: body }) {
            all.push(entry?);
        }
    }
    Ok(all)
}

/// The containers that lie one behind the other, up to one that is cut off.
pub fn containers(bytes: &[u8]) -> Vec<&[u8]> {
    Containers { rest: bytes, first: true }.map_while(Result::ok).collect()
}

fn cut_off() -> Damaged {
    Damaged("the fat binary is cut off".to_owned())
}

/// The containers that lie one behind the other; ends behind the first that is damaged.
struct Containers<'a> {
    rest: &'a [u8],
    first: bool,
}

impl<'a> Iterator for Containers<'a> {
    type Item = Result<&'a [u8], Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = std::mem::take(&mut self.rest);
        let first = std::mem::replace(&mut self.first, false);
        if rest.is_empty() {
            return None;
        }
        if !is_fatbin(rest) {
            // The linker pads between the fat binaries of several objects.
            let padding = !first && rest.iter().all(|byte| *byte == 0);
            return (!padding).then(|| Err(Damaged("not a fat binary".to_owned())));
        }
        let end = claimed_bytes(rest).and_then(|end| usize::try_from(end).ok());
        let Some((end, container)) = end.and_then(|end| Some((end, rest.get(..end)?))) else {
            return Some(Err(cut_off()));
        };
        self.rest = rest.get(end.next_multiple_of(8)..).unwrap_or_default();
        Some(Ok(container))
    }
}

/// The entries of a container's body, one after another; ends behind the first that is damaged.
struct Entries<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let read = entry(self.rest);
        let bytes = read.as_ref().map_or(self.rest.len(), |(_, bytes)| *bytes);
        self.rest = &self.rest[bytes..];
        let damaged = || Damaged("an image of the fat binary is cut off".to_owned());
        Some(read.map(|(entry, _)| entry).ok_or_else(damaged))
    }
}

/// The entry that begins a body, and the bytes it takes; `None` if it is cut off.
fn entry(body: &[u8]) -> Option<(Entry<'_>, usize)> {
    let header_bytes = usize::try_from(u32_at(body, 4)?).ok()?;
    let payload_bytes = usize::try_from(u64_at(body, 8)?).ok()?;
    let header = body.get(..header_bytes)?;
    let bytes = header_bytes.checked_add(payload_bytes)?;
    let entry = Entry {
        kind: match u16_at(header, 0)? {
            1 => EntryKind::Ptx,
            2 => EntryKind::MachineCode,
            other => EntryKind::Other(other),
        },
        architecture: u32_at(header, 28)?,
        flags: u32_at(header, FLAGS_AT)?,
        packed_bytes: u32_at(header, 16)?,
        unpacked_bytes: u64_at(header, UNPACKED_BYTES_AT).unwrap_or(0),
        payload: body.get(header_bytes..bytes)?,
    };
    Some((entry, bytes))
}

impl<'a> Entry<'a> {
    /// The contents as they lie in the container, compressed or not.
    pub fn stored(&self) -> &'a [u8] {
        self.payload
    }

    /// The contents.
    ///
    /// # Errors
    /// What is compressed is damaged, or compressed in a way that is not known.
    pub fn contents(&self) -> Result<Cow<'a, [u8]>, Damaged> {
        const PACKED: u32 = FLAG_LZ4 | FLAG_ZSTD;
        if self.flags & PACKED == 0 {
            return Ok(Cow::Borrowed(self.payload));
        }
        let damaged = |why: &dyn fmt::Display| {
            Damaged(format!("an entry of the fat binary does not decompress: {why}"))
        };
        let packed = usize::try_from(self.packed_bytes).ok().and_then(|n| self.payload.get(..n));
        let packed = packed.ok_or_else(|| damaged(&"it is cut off"))?;
        if self.unpacked_bytes > MAX_UNPACKED_BYTES {
            return Err(damaged(&format!("it claims to be {} bytes", self.unpacked_bytes)));
        }
        // Text may be stored with a NUL at its end that the size does not count.
        let mut unpacked = vec![0; self.unpacked_bytes as usize + 1];
        let bytes = match self.flags & PACKED {
            FLAG_LZ4 => lz4_flex::block::decompress_into(packed, &mut unpacked)
                .map_err(|error| damaged(&error))?,
            _ => ruzstd::decoding::FrameDecoder::new()
                .decode_all(packed, &mut unpacked)
                .map_err(|error| damaged(&error))?,
        };
        unpacked.truncate(bytes);
        Ok(Cow::Owned(unpacked))
    }
}

/// PTX without what is stored behind it.
fn text(contents: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let end = contents.iter().position(|&byte| byte == 0).unwrap_or(contents.len());
    match contents {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..end]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(end);
            Cow::Owned(bytes)
        }
    }
}

/// The PTX of a container that is made for the highest architecture; `None` if it holds none.
///
/// # Errors
/// It does not decompress.
pub fn newest_ptx(container: &[u8]) -> Result<Option<Cow<'_, [u8]>>, Damaged> {
    let texts = entries(container).into_iter().filter(|entry| entry.kind == EntryKind::Ptx);
    match texts.max_by_key(|entry| entry.architecture) {
        Some(entry) => Ok(Some(text(entry.contents()?))),
        None => Ok(None),
    }
}

/// Architectures of what a container holds in this form.
pub fn architectures(container: &[u8], kind: EntryKind) -> Vec<u32> {
    let of_kind = entries(container).into_iter().filter(|entry| entry.kind == kind);
    of_kind.map(|entry| entry.architecture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::container;

    /// `//ptx ptx ptx ptx` as zstd 1.5 and as LZ4 make it of their own accord.
    const ZSTD: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x11, 0x89, 0x00, 0x00, b'/', b'/', b'p', b't', b'x', b' ',
        b'p', b't', b'x', b' ', b'p', b't', b'x', b' ', b'p', b't', b'x',
    ];
    const LZ4: &[u8] = &[0x65, b'/', b'/', b'p', b't', b'x', b' ', 4, 0, 0x20, b't', b'x'];

    #[test]
    fn the_newest_text_is_taken_however_it_is_stored() {
        let plain: &[u8] = b"//ptx ptx ptx ptx\0";
        for (flags, bytes) in [(0x11, plain), (0x8011, ZSTD), (0x2011, LZ4)] {
            let made = container(&[
                (2, 90, 0x11, 0, b"\x7fELF"),
                (1, 90, flags, 17, bytes),
                (1, 75, 0x11, 0, b"old"),
            ]);
            let text = newest_ptx(&made).unwrap().unwrap();
            assert_eq!(std::str::from_utf8(&text).unwrap(), "//ptx ptx ptx ptx", "{flags:x}");
            assert_eq!(architectures(&made, EntryKind::Ptx), [90, 75]);
            assert_eq!(architectures(&made, EntryKind::MachineCode), [90]);
        }
        assert_eq!(newest_ptx(&container(&[(2, 90, 0, 0, b"\x7fELF")])), Ok(None));
        assert!(entries(b"\x7fELF").is_empty());
    }

    #[test]
    fn damage_is_an_error_not_a_crash() {
        let whole = container(&[(1, 90, 0x8011, 17, ZSTD), (1, 80, 0x2011, 17, LZ4)]);
        for end in 0..whole.len() {
            for entry in entries(&whole[..end]) {
                let _ = entry.contents();
            }
        }
        for at in 16..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            for entry in entries(&changed) {
                let _ = entry.contents();
            }
        }
        let huge = container(&[(1, 90, 0x8011, u64::MAX, ZSTD)]);
        let said = newest_ptx(&huge).unwrap_err().to_string();
        assert!(said.contains("claims to be 18446744073709551615 bytes"), "{said}");
    }

    #[test]
    fn entries_of_several_containers_are_all_listed() {
        let first = container(&[(2, 90, 0, 0, &[0; 24]), (1, 121, 0, 0, &[0; 8])]);
        let mut bytes = [first.clone(), container(&[(2, 75, 0, 0, &[])])].concat();
        bytes.extend([0; 8]);
        let list: Vec<_> =
            all_entries(&bytes).unwrap().iter().map(|e| (e.kind, e.architecture)).collect();
        assert_eq!(
            list,
            [(EntryKind::MachineCode, 90), (EntryKind::Ptx, 121), (EntryKind::MachineCode, 75)]
        );
        assert_eq!(entries(&bytes).len(), 2);
        for length in 1..first.len() {
            assert!(all_entries(&first[..length]).is_err(), "{length}");
        }
        for at in 0..first.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = first.clone();
                changed[at] = value;
                let _ = all_entries(&changed);
            }
        }
        bytes.push(1);
        assert_eq!(all_entries(&bytes).unwrap_err().to_string(), "not a fat binary");
    }
}
