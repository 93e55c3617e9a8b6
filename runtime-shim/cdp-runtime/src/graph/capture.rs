//! Capture: what host code puts into a stream becomes nodes of a graph instead of work. Other streams join
//! by waiting for an event that was recorded in a captured stream.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{NodeId, Op, with};
use crate::device::{EventHandle, StreamHandle};
use crate::error::{CudaError, Result};

/// Captures that are going on: most programs have none, and pay with one load a call.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// `cudaStreamCaptureStatus`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not captured.
    None = 0,
    /// Captured.
    Active = 1,
    /// Captured, and something has gone wrong.
    Invalidated = 2,
}

/// A capture.
pub struct Capture {
    /// The graph that it makes.
    pub graph: u64,
    /// The stream that it began in.
    origin: StreamHandle,
    /// For `cudaStreamGetCaptureInfo`.
    pub id: u64,
    is_valid: bool,
    /// The graph was given by the program.
    is_given: bool,
    /// The last nodes of each stream that takes part.
    last: HashMap<u64, Vec<NodeId>>,
}

/// What is being captured.
#[derive(Default)]
pub struct Captures {
    all: Vec<Capture>,
    /// Events that were recorded: the capture's number and the nodes.
    events: HashMap<u64, (u64, Vec<NodeId>)>,
    begun: u64,
}

impl Captures {
    fn of(&mut self, stream: StreamHandle) -> Option<&mut Capture> {
        self.all.iter_mut().find(|capture| capture.last.contains_key(&stream.0))
    }
}

/// Whether anything is being captured.
fn is_any() -> bool {
    ACTIVE.load(Ordering::Relaxed) > 0
}

/// Begins to capture a stream, into a new graph or one that is given with nodes to begin after.
pub fn begin(stream: StreamHandle, into: Option<(u64, Vec<NodeId>)>) -> Result<()> {
    if stream.0 <= StreamHandle::LEGACY.0 {
        // The legacy stream cannot be captured.
        return Err(CudaError::STREAM_CAPTURE_UNSUPPORTED.into());
    }
    with(|graphs| {
        if graphs.captures.of(stream).is_some() {
            return Err(CudaError::ILLEGAL_STATE.into());
        }
        let is_given = into.is_some();
        let (graph, first) = into.unwrap_or_else(|| (graphs.create(), Vec::new()));
        graphs.graph(graph)?;
        graphs.captures.begun += 1;
        let id = graphs.captures.begun;
        let last = HashMap::from([(stream.0, first)]);
        let capture = Capture { graph, origin: stream, id, is_valid: true, is_given, last };
        graphs.captures.all.push(capture);
        ACTIVE.fetch_add(1, Ordering::Relaxed);
        Ok(())
    })
}

/// Whether a stream is being captured into a graph that the program gave.
pub fn is_into_given(stream: StreamHandle) -> Result<bool> {
    with(|graphs| Ok(graphs.captures.of(stream).is_some_and(|capture| capture.is_given)))
}

/// Ends the capture of a stream; the graph.
pub fn end(stream: StreamHandle) -> Result<u64> {
    with(|graphs| {
        let captures = &mut graphs.captures.all;
        let place = captures.iter().position(|capture| capture.last.contains_key(&stream.0));
        let place = place.ok_or(CudaError::ILLEGAL_STATE)?;
        if captures[place].origin != stream {
            captures[place].is_valid = false;
            return Err(CudaError::STREAM_CAPTURE_UNMATCHED.into());
        }
        let capture = captures.swap_remove(place);
        graphs.captures.events.retain(|_, (id, _)| *id != capture.id);
        ACTIVE.fetch_sub(1, Ordering::Relaxed);
        let joined: BTreeSet<NodeId> = capture.last[&stream.0].iter().copied().collect();
        let all: BTreeSet<NodeId> = capture.last.values().flatten().copied().collect();
        let leaves = graphs.graph(capture.graph)?.leaves();
        let unjoined = leaves.intersection(&all).any(|leaf| !joined.contains(leaf));
        if capture.is_valid && !unjoined {
            return Ok(capture.graph);
        }
        if !capture.is_given {
            graphs.destroy(capture.graph)?;
        }
        Err(match capture.is_valid {
            true => CudaError::STREAM_CAPTURE_UNJOINED.into(),
            false => CudaError::STREAM_CAPTURE_INVALIDATED.into(),
        })
    })
}

/// Puts what `op` makes into the graph if the stream is being captured; whether it is. Nothing is to be done
/// now in that case.
pub fn recorded(stream: Option<StreamHandle>, op: impl FnOnce() -> Result<Op>) -> Result<bool> {
    let Some(stream) = stream.filter(|_| is_any()) else { return Ok(false) };
    if status(stream)?.0 == Status::None {
        return Ok(false);
    }
    // Made without the graphs: it may ask a device.
    let op = op()?;
    with(|graphs| {
        let capture = graphs.captures.of(stream).ok_or(CudaError::ILLEGAL_STATE)?;
        if !capture.is_valid {
            return Err(CudaError::STREAM_CAPTURE_INVALIDATED.into());
        }
        let (graph, after) = (capture.graph, capture.last[&stream.0].clone());
        let node = graphs.add(graph, op, &after)?;
        if let Some(capture) = graphs.captures.of(stream) {
            capture.last.insert(stream.0, vec![node]);
        }
        Ok(true)
    })
}

/// An event is recorded in a stream; whether that is being captured.
pub fn record_event(event: EventHandle, stream: StreamHandle) -> Result<bool> {
    if !is_any() {
        return Ok(false);
    }
    with(|graphs| {
        let Some(capture) = graphs.captures.of(stream) else {
            graphs.captures.events.remove(&event.0);
            return Ok(false);
        };
        let recorded = (capture.id, capture.last[&stream.0].clone());
        graphs.captures.events.insert(event.0, recorded);
        Ok(true)
    })
}

/// A stream waits for an event; whether the event is of a capture, which the stream then joins.
pub fn wait_event(stream: StreamHandle, event: EventHandle) -> Result<bool> {
    if !is_any() {
        return Ok(false);
    }
    with(|graphs| {
        let Some((id, nodes)) = graphs.captures.events.get(&event.0).cloned() else {
            return match graphs.captures.of(stream) {
                // What was recorded outside is no part of the graph.
                Some(capture) => {
                    capture.is_valid = false;
                    Err(CudaError::STREAM_CAPTURE_ISOLATION.into())
                }
                None => Ok(false),
            };
        };
        if graphs.captures.of(stream).is_some_and(|capture| capture.id != id) {
            return Err(CudaError::STREAM_CAPTURE_MERGE.into());
        }
        let capture = graphs.captures.all.iter_mut().find(|capture| capture.id == id);
        let capture = capture.ok_or(CudaError::INVALID_VALUE)?;
        let last = capture.last.entry(stream.0).or_default();
        last.extend(nodes);
        last.sort_unstable();
        last.dedup();
        Ok(true)
    })
}

/// A call that a captured stream does not allow: it ends the capture's good.
pub fn refuse(stream: StreamHandle) -> Result<()> {
    if !is_any() {
        return Ok(());
    }
    with(|graphs| match graphs.captures.of(stream) {
        Some(capture) => {
            capture.is_valid = false;
            Err(CudaError::STREAM_CAPTURE_UNSUPPORTED.into())
        }
        None => Ok(()),
    })
}

/// Whether a stream is being captured; if so the capture's number, its graph and the last nodes.
pub fn status(stream: StreamHandle) -> Result<(Status, u64, u64, Vec<NodeId>)> {
    if !is_any() {
        return Ok((Status::None, 0, 0, Vec::new()));
    }
    with(|graphs| {
        Ok(match graphs.captures.of(stream) {
            None => (Status::None, 0, 0, Vec::new()),
            Some(capture) => {
                let status = if capture.is_valid { Status::Active } else { Status::Invalidated };
                (status, capture.id, capture.graph, capture.last[&stream.0].clone())
            }
        })
    })
}

/// `cudaStreamUpdateCaptureDependencies`: the nodes that the next one comes after.
pub fn set_last(stream: StreamHandle, nodes: &[NodeId], add: bool) -> Result<()> {
    with(|graphs| {
        let capture = graphs.captures.of(stream).ok_or(CudaError::ILLEGAL_STATE)?;
        let last = capture.last.entry(stream.0).or_default();
        if !add {
            last.clear();
        }
        last.extend(nodes);
        last.sort_unstable();
        last.dedup();
        Ok(())
    })
}
