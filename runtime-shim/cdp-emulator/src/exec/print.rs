//! `vprintf` and `__assertfail`: reading format and arguments from device memory.

use super::fault::Fault;
use super::path::Running;
use super::rows::lanes_of;
use super::{Block, Machine, PrintEntry, Step, Warp, calls, memory};
use crate::code::Call;
use crate::format;
use crate::report::ReportKind;

/// Longest format or string argument.
const MAX_STRING: usize = 1 << 16;

/// Arguments of one lane's `printf`.
struct Arguments<'a> {
    machine: &'a Machine,
    block: &'a Block,
    warp: &'a Warp,
    lane: usize,
    /// Address of the argument buffer.
    base: u64,
    /// Bytes consumed.
    at: u64,
    /// Bytes of string arguments.
    string_bytes: u64,
}

impl format::Source for Arguments<'_> {
    type Error = Box<Fault>;

    fn argument(&mut self, bytes: u32) -> Result<u64, Box<Fault>> {
        self.at = self.at.next_multiple_of(u64::from(bytes));
        let mut value = 0;
        for i in 0..u64::from(bytes) {
            let address = self.base.wrapping_add(self.at + i);
            let byte = memory::read_byte(self.machine, self.block, self.warp, address, self.lane)?;
            value |= u64::from(byte) << (8 * i);
        }
        self.at += u64::from(bytes);
        Ok(value)
    }

    fn string(&mut self, address: u64) -> Result<Option<Vec<u8>>, Box<Fault>> {
        if address == 0 {
            return Ok(None);
        }
        let text = read_string(self.machine, self.block, self.warp, address, self.lane)?;
        self.string_bytes += text.len() as u64;
        Ok(Some(text))
    }
}

/// The C string at a generic address.
fn read_string(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    address: u64,
    lane: usize,
) -> Step<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < MAX_STRING {
        match memory::read_byte(
            machine,
            block,
            warp,
            address.wrapping_add(text.len() as u64),
            lane,
        )? {
            0 => break,
            byte => text.push(byte),
        }
    }
    Ok(text)
}

/// `int vprintf(format, arguments)` in all lanes of the path, in the order of lanes.
pub fn vprintf(
    machine: &Machine,
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    call: &Call,
) -> Step<()> {
    for lane in lanes_of(run.path.mask) {
        let pattern = calls::argument(warp, &run.path, call, 0, lane);
        let base = calls::argument(warp, &run.path, call, 1, lane);
        let result = if pattern == 0 {
            -1
        } else {
            let pattern = read_string(machine, block, warp, pattern, lane)?;
            let mut arguments =
                Arguments { machine, block, warp, lane, base, at: 0, string_bytes: 0 };
            let (text, used) = format::format(&pattern, &mut arguments)?;
            let cost_bytes = 16 + 8 * u64::from(used) + arguments.string_bytes;
            block.output.push(PrintEntry { text, cost_bytes });
            i64::from(used)
        };
        calls::set_result(warp, &run.path, call, lane, result as u64);
    }
    Ok(())
}

/// `__assertfail`: says what CUDA says, of each lane; the program ends.
pub fn assert_failed(
    machine: &Machine,
    block: &Block,
    warp: &Warp,
    run: &Running<'_>,
    call: &Call,
) -> Box<Fault> {
    let lane = run.path.mask.trailing_zeros() as usize;
    let text = |index: usize| {
        let address = calls::argument(warp, &run.path, call, index, lane);
        read_string(machine, block, warp, address, lane)
            .map_or_else(|_| "?".to_string(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let (condition, file, function) = (text(0), text(1), text(3));
    let line = calls::argument(warp, &run.path, call, 2, lane) as u32;
    let said = lanes_of(run.path.mask).map(|lane| {
        let [bx, by, bz] = block.index;
        let [tx, ty, tz] = block.grid.thread_index(warp.index * 32 + lane as u32);
        format!(
            "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion `{condition}` failed.\n"
        )
    });
    let said = said.collect();
    let message = format!("assertion `{condition}` failed at {file}:{line}");
    let fault = Fault::new(ReportKind::AssertFailed, Some(lane as u32), message);
    Box::new(Fault { said, ..*fault })
}
