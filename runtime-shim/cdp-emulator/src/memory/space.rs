//! Generic addresses that are not global memory: shared, local, kernel parameters, functions.
//!
//! The four top bits of a generic address tell the window. Shared and local addresses also carry
//! the block (and thread) that owns them, so that an address that reaches another grid, block or
//! thread is recognised when it is dereferenced. Global and constant addresses are plain host
//! addresses, whose top bits are zero. The numbers are those of the CPU device alone; programs can
//! only learn of them by printing pointers.
//!
//! ```text
//! 63..60 window   59..34 block serial   33..24 thread in block   23..0 offset
//! ```

/// The windows of the generic address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Global and constant memory: a host address.
    Global,
    /// Shared memory of a block.
    Shared,
    /// Local memory of a thread.
    Local,
    /// Kernel parameters of the running grid.
    Param,
    /// A function.
    Function,
    /// Nothing.
    Invalid,
}

const TAG_SHIFT: u32 = 60;
const TAG_SHARED: u64 = 1;
const TAG_LOCAL: u64 = 2;
const TAG_PARAM: u64 = 3;
const TAG_FUNCTION: u64 = 4;
const SERIAL_SHIFT: u32 = 34;
const SERIAL_MASK: u64 = (1 << 26) - 1;
const THREAD_SHIFT: u32 = 24;
const THREAD_MASK: u64 = (1 << 10) - 1;

/// Offsets within a window are below this.
pub const WINDOW_BYTES: u64 = 1 << 24;
const OFFSET_MASK: u64 = WINDOW_BYTES - 1;
/// Bytes of a word. Atomic updates of one or two bytes are loops around the word that they lie in (`cuda::atomic_ref`, LLVM), which is
/// there on every GPU, also where a variable ends within it.
pub const WORD_BYTES: u64 = 4;
/// What null becomes as an address of a window, and is made of again: no variable lies there.
pub const OF_NULL: u64 = WINDOW_BYTES;

/// Which window a generic address lies in.
#[inline]
pub fn window(address: u64) -> Window {
    match address >> TAG_SHIFT {
        0 => Window::Global,
        TAG_SHARED => Window::Shared,
        TAG_LOCAL => Window::Local,
        TAG_PARAM => Window::Param,
        TAG_FUNCTION => Window::Function,
        _ => Window::Invalid,
    }
}

/// The part of a shared, local or parameter address below the owner.
#[inline]
pub fn offset(address: u64) -> u64 {
    address & OFFSET_MASK
}

/// Base of the shared window of the block with this serial number.
#[inline]
pub fn shared_base(block_serial: u64) -> u64 {
    (TAG_SHARED << TAG_SHIFT) | ((block_serial & SERIAL_MASK) << SERIAL_SHIFT)
}

/// Base of the local window of a thread of the block with this serial number.
#[inline]
pub fn local_base(block_serial: u64, thread: u32) -> u64 {
    (TAG_LOCAL << TAG_SHIFT)
        | ((block_serial & SERIAL_MASK) << SERIAL_SHIFT)
        | (u64::from(thread) << THREAD_SHIFT)
}

/// Base of the window of kernel parameters.
pub const PARAM_BASE: u64 = TAG_PARAM << TAG_SHIFT;

/// The generic address of the function with this number.
#[inline]
pub fn function_address(number: u32) -> u64 {
    (TAG_FUNCTION << TAG_SHIFT) | (u64::from(number) << 8)
}

/// The number of the function at this address, if the address is one that [`function_address`] made.
#[inline]
pub fn function_number(address: u64) -> Option<u32> {
    let body = address ^ (TAG_FUNCTION << TAG_SHIFT);
    (body & 0xff == 0 && body >> 40 == 0).then_some((body >> 8) as u32)
}

/// The thread in its block that a local address belongs to.
#[inline]
pub fn local_thread(address: u64) -> u32 {
    ((address >> THREAD_SHIFT) & THREAD_MASK) as u32
}

/// The (truncated) serial number of the block that a shared or local address belongs to.
#[inline]
pub fn owner_serial(address: u64) -> u64 {
    (address >> SERIAL_SHIFT) & SERIAL_MASK
}

/// The part of a block's serial number that addresses carry.
#[inline]
pub fn truncated_serial(block_serial: u64) -> u64 {
    block_serial & SERIAL_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_told_apart() {
        assert_eq!(window(0), Window::Global);
        assert_eq!(window(0x0200_0000_0000), Window::Global);
        assert_eq!(window(shared_base(7) + 12), Window::Shared);
        assert_eq!(window(local_base(7, 1023) + 12), Window::Local);
        assert_eq!(window(PARAM_BASE + 4095), Window::Param);
        assert_eq!(window(function_address(3)), Window::Function);
        assert_eq!(window(u64::MAX), Window::Invalid);
    }

    #[test]
    fn owners_survive() {
        let a = local_base(12345, 77) + 40;
        assert_eq!((owner_serial(a), local_thread(a), offset(a)), (12345, 77, 40));
        assert_eq!(function_number(function_address(9)), Some(9));
        assert_eq!(function_number(function_address(9) + 4), None);
        assert_eq!(function_number(0), None);
    }
}
