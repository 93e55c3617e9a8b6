//! What other parts of the device know the scheduler's work by: keys of its tables, and what a block
//! remembers of its own launches. What is done with it is in `sched`.

use rustc_hash::FxHashMap;

/// A node of the work graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId {
    /// Its place in the table.
    pub index: u32,
    /// How often the place was given away before.
    pub generation: u32,
}

/// A grid in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GridKey {
    /// Its place in the table.
    pub index: u32,
    /// How often the place was given away before.
    pub generation: u32,
}

/// A block in the table of resident blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// Its place in the table.
    pub index: u32,
    /// How often the place was given away before.
    pub generation: u32,
}

/// Streams of a grid's device code.
#[derive(Clone, Debug, Default)]
pub struct DeviceStream {
    /// Last node.
    pub last: Option<NodeId>,
    /// Events that the next node waits for.
    pub waits: Vec<NodeId>,
}

/// What the device runtime remembers for a resident block.
#[derive(Clone, Debug, Default)]
pub struct BlockRuntime {
    /// The block's NULL stream.
    pub null_stream: DeviceStream,
    /// Per-thread default streams, by thread.
    pub thread_streams: FxHashMap<u32, DeviceStream>,
    /// Launches by warps since the block's last pause.
    pub launches: u32,
    /// Grids launched since then that wait for nothing and may run on any host thread; not among the others.
    pub launched_apart: u32,
    /// Grids launched at all.
    pub children: u64,
    /// Its place in the table.
    pub key: Option<BlockKey>,
}
