//! SHA-256, for keys and names that tell contents apart.

use std::path::Path;

use sha2::{Digest as _, Sha256};

/// A digest of values, each with its length, so that no two lists of values are one text.
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest(Sha256::new())
    }

    pub(crate) fn add(&mut self, value: impl AsRef<[u8]>) {
        let value = value.as_ref();
        self.0.update((value.len() as u64).to_le_bytes());
        self.0.update(value);
    }

    /// A tool, by its path, and by size and time: a later release at the same place is another file.
    pub(crate) fn add_tool(&mut self, path: &Path) {
        self.add(path.as_os_str().as_encoded_bytes());
        if let Ok(file) = path.metadata() {
            self.add(file.len().to_le_bytes());
            self.add(format!("{:?}", file.modified().ok()));
        }
    }

    /// 64 hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The digest of bytes and nothing else.
pub(crate) fn of(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
