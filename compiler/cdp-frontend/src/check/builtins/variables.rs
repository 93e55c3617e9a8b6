//! Builtin variables of device code.

use cdp_ir::{Axis, BuiltinVar};

/// A builtin variable. Reading it (or one of its fields) is an intrinsic; it has no address.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BuiltinVariable {
    pub name: &'static str,
    /// Type text: `uint3`, `dim3` or `int`; always `const`.
    pub ty: &'static str,
    pub kind: VariableKind,
    pub summary: &'static str,
}

/// How a builtin variable is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableKind {
    ThreadIdx,
    BlockIdx,
    BlockDim,
    GridDim,
    WarpSize,
}

impl BuiltinVariable {
    /// What to read for field `axis`; the axis does not matter for `warpSize`.
    pub fn read(&self, axis: Axis) -> BuiltinVar {
        match self.kind {
            VariableKind::ThreadIdx => BuiltinVar::ThreadIdx(axis),
            VariableKind::BlockIdx => BuiltinVar::BlockIdx(axis),
            VariableKind::BlockDim => BuiltinVar::BlockDim(axis),
            VariableKind::GridDim => BuiltinVar::GridDim(axis),
            VariableKind::WarpSize => BuiltinVar::WarpSize,
        }
    }
}

/// All of them.
pub static VARIABLES: [BuiltinVariable; 5] = [
    BuiltinVariable {
        name: "threadIdx",
        ty: "uint3",
        kind: VariableKind::ThreadIdx,
        summary: "The thread's position in its block.",
    },
    BuiltinVariable {
        name: "blockIdx",
        ty: "uint3",
        kind: VariableKind::BlockIdx,
        summary: "The block's position in its grid.",
    },
    BuiltinVariable {
        name: "blockDim",
        ty: "dim3",
        kind: VariableKind::BlockDim,
        summary: "Threads a block.",
    },
    BuiltinVariable {
        name: "gridDim",
        ty: "dim3",
        kind: VariableKind::GridDim,
        summary: "Blocks a grid.",
    },
    BuiltinVariable {
        name: "warpSize",
        ty: "int",
        kind: VariableKind::WarpSize,
        summary: "Threads a warp: 32.",
    },
];

/// Looks up a builtin variable.
pub fn lookup_variable(name: &str) -> Option<&'static BuiltinVariable> {
    VARIABLES.iter().find(|variable| variable.name == name)
}
