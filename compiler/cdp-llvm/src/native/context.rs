//! What native code finds in the context that it is given: the fields of `cdp_emulator::native::Context`, which
//! explains them, by index.

/// See [`self`].
pub const REGISTERS: u32 = 0;
/// See [`self`].
pub const ALLOCATIONS: u32 = 1;
/// See [`self`].
pub const SHARED: u32 = 2;
/// See [`self`].
pub const SHARED_BYTES: u32 = 3;
/// See [`self`].
pub const PARAMETERS: u32 = 4;
/// See [`self`].
pub const PARAMETER_BYTES: u32 = 5;
/// See [`self`].
pub const TID: u32 = 6;
/// See [`self`].
pub const CTAID: u32 = 7;
/// See [`self`].
pub const NTID: u32 = 8;
/// See [`self`].
pub const NCTAID: u32 = 9;
/// See [`self`].
pub const LOADS: u32 = 10;
/// See [`self`].
pub const STORES: u32 = 11;
/// See [`self`].
pub const SHARED_ACCESSES: u32 = 12;
/// See [`self`].
pub const INTERPRET: u32 = 13;
/// See [`self`].
pub const FIND: u32 = 14;
/// See [`self`].
pub const BRANCHES: u32 = 15;
/// See [`self`].
pub const IN_STEP: u32 = 16;
