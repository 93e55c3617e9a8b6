//! Where the shared variables of kernels lie, and how a place in shared memory is named.
//!
//! Absent: how they are laid out (`load/kernels.rs`), and access to them (`memory`).

use super::Machine;

/// Where a kernel's shared variables lie.
#[derive(Debug)]
pub struct SharedLayout {
    /// Offset of each shared variable of its module (`NONE` of `code` if the kernel cannot reach it).
    pub offsets: Box<[u32]>,
    /// The same variables by place, for reports.
    pub places: Box<[SharedPlace]>,
}

/// Where a kernel's shared variable lies.
#[derive(Debug)]
pub struct SharedPlace {
    /// Name as in the source.
    pub name: String,
    /// First byte.
    pub offset: u32,
    /// Size; to the end of the block's memory for dynamic shared memory.
    pub size_bytes: u64,
}

impl Machine {
    /// A kernel's shared variables, by its number.
    pub fn shared_places(&self, kernel: u32) -> &[SharedPlace] {
        self.shared.get(kernel as usize).map_or(&[][..], |layout| &layout.places)
    }

    /// An offset in a block's shared memory as people know it: "offset 252 of `tile` in shared memory".
    pub fn shared_text(&self, kernel: u32, offset: u64) -> String {
        let holds = |place: &&SharedPlace| {
            let within = offset.checked_sub(u64::from(place.offset));
            within.is_some_and(|within| within < place.size_bytes)
        };
        match self.shared_places(kernel).iter().find(holds) {
            Some(place) => {
                let within = offset - u64::from(place.offset);
                format!("offset {within} of `{}` in shared memory", place.name)
            }
            None => format!("offset {offset} of shared memory"),
        }
    }
}
