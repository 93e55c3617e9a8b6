//! `vprintf` and `__assertfail`: reading format and arguments from device memory.

use super::fault::Fault;
use super::path::Running;
use super::{Block, Machine, Path, PrintEntry, Step, Warp, calls, memory};
use crate::code::Call;
use crate::format;
use crate::lanes::lanes_of;
use crate::report::ReportKind;

/// Longest format or string argument.
const MAX_STRING: usize = 1 << 16;

/// A lane that reads memory.
struct Reader<'a> {
    machine: &'a Machine,
    block: &'a mut Block,
    warp: &'a mut Warp,
    path: &'a Path,
    lane: usize,
}

impl Reader<'_> {
    fn bytes(&mut self, address: u64, to: &mut [u8]) -> Step<()> {
        let Reader { machine, block, warp, path, lane } = self;
        memory::read_bytes(machine, block, warp, path, *lane, address, to)
    }

    /// The C string at a generic address.
    fn string(&mut self, address: u64) -> Step<Vec<u8>> {
        let mut text = Vec::new();
        while text.len() < MAX_STRING {
            let mut byte = [0];
            self.bytes(address.wrapping_add(text.len() as u64), &mut byte)?;
            match byte {
                [0] => break,
                [byte] => text.push(byte),
            }
        }
        Ok(text)
    }
}

/// Arguments of one lane's `printf`.
struct Arguments<'a> {
    reader: Reader<'a>,
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
        let mut value = [0; 8];
        let address = self.base.wrapping_add(self.at);
        self.reader.bytes(address, &mut value[..bytes as usize])?;
        self.at += u64::from(bytes);
        Ok(u64::from_le_bytes(value))
    }

    fn string(&mut self, address: u64) -> Result<Option<Vec<u8>>, Box<Fault>> {
        if address == 0 {
            return Ok(None);
        }
        let text = self.reader.string(address)?;
        self.string_bytes += text.len() as u64;
        Ok(Some(text))
    }
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
            let path = &run.path;
            let mut reader = Reader { machine, block, warp, path, lane };
            let pattern = reader.string(pattern)?;
            let mut arguments = Arguments { reader, base, at: 0, string_bytes: 0 };
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
    block: &mut Block,
    warp: &mut Warp,
    run: &Running<'_>,
    call: &Call,
) -> Box<Fault> {
    let lane = run.path.mask.trailing_zeros() as usize;
    let mut text = |index: usize| {
        let path = &run.path;
        let address = calls::argument(warp, path, call, index, lane);
        let mut reader = Reader { machine, block, warp, path, lane };
        reader
            .string(address)
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
