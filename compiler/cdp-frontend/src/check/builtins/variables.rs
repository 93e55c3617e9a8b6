//! Builtin variables of device code.

use cdp_ir::{Axis, BuiltinVar};

/// A builtin variable. Reading it (or one of its fields) is an intrinsic; it has no address.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinVariable {
    pub name: &'static str,
    /// Type text: `uint3`, `dim3` or `int`; always `const`.
    pub ty: &'static str,
    /// What to read for a field; the axis does not matter for `warpSize`.
    pub read: fn(Axis) -> BuiltinVar,
    pub summary: &'static str,
}

const fn variable(
    name: &'static str,
    ty: &'static str,
    read: fn(Axis) -> BuiltinVar,
    summary: &'static str,
) -> BuiltinVariable {
    BuiltinVariable { name, ty, read, summary }
}

/// All of them.
pub static VARIABLES: [BuiltinVariable; 5] = [
    variable("threadIdx", "uint3", BuiltinVar::ThreadIdx, "The thread's position in its block."),
    variable("blockIdx", "uint3", BuiltinVar::BlockIdx, "The block's position in its grid."),
    variable("blockDim", "dim3", BuiltinVar::BlockDim, "Threads a block."),
    variable("gridDim", "dim3", BuiltinVar::GridDim, "Blocks a grid."),
    variable("warpSize", "int", |_| BuiltinVar::WarpSize, "Threads a warp: 32."),
];

/// Looks up a builtin variable.
pub fn lookup_variable(name: &str) -> Option<&'static BuiltinVariable> {
    VARIABLES.iter().find(|variable| variable.name == name)
}
