//! PTX functions to the form the interpreter runs ([`crate::code`]).
//!
//! Every PTX instruction is matched here; what the device does not run is refused when the module
//! is loaded, with its line. Symbols have been resolved by `load` before.

mod arith;
mod cluster;
mod control;
mod data;
pub mod demand;
mod dispatch;
mod float;
mod frame;
mod integer;
mod mbarrier;
pub mod meeting;
mod multimem;
mod named;
mod operands;
mod polls;
mod quad;
mod reuse;
mod runs;
mod select;
mod straight;
mod sync;
mod tensor;
mod verify;

use std::collections::HashMap;

use cdp_ptx as ptx;

use self::frame::RegPlace;
pub use self::named::Named;
use crate::code::{Callee, Function, NONE, Op, SourceLines};
use crate::report::SourceLine;

/// What a symbol of a PTX text turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A variable in global or constant memory, at this address.
    Memory(u64),
    /// Shared variable number n of the program.
    Shared(u32),
    /// Function number n of the device.
    Function(u32),
    /// A function of the device runtime or library.
    Service(crate::services::Service),
}

/// What `load` found out about the symbols of one PTX text.
#[derive(Clone, Debug, Default)]
pub struct UnitLinks {
    /// By [`ptx::FunctionId`]. `None`: declared, used by nobody, defined nowhere.
    pub functions: Vec<Option<Target>>,
    /// By [`ptx::GlobalId`].
    pub variables: Vec<Option<Target>>,
    /// Number of the shared variable that stands for the system's part of shared memory.
    pub reserved_shared: u32,
    /// Divisors are looked at.
    pub check_divisions: bool,
    /// Variables have gaps behind them.
    pub check_bounds: bool,
    /// Reads of what nobody has written are looked for.
    pub check_init: bool,
    /// Exchanges that PTX leaves open are looked for.
    pub check_exchanges: bool,
    /// Of the function that is decoded next: shuffles, with the predicate of whether their values have contents.
    pub given: HashMap<u32, ptx::Reg>,
    /// Static variables inside functions.
    pub locals: HashMap<(u32, u32), Target>,
}

/// Shared memory that belongs to the system: cooperative groups keep barriers of wide tiles there.
pub const RESERVED_SHARED_BYTES: u64 = 1024;

/// Why a function was refused.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// PTX line.
    pub line: u32,
    /// What is not supported.
    pub message: String,
}

/// Result of decoding one instruction.
type Decoded = Result<(), String>;

/// State of decoding one function.
struct Decoder<'a> {
    module: &'a ptx::Module,
    function_id: ptx::FunctionId,
    source: &'a ptx::Function,
    body: &'a ptx::Body,
    links: &'a UnitLinks,
    out: Function,
    registers: Vec<RegPlace>,
    /// What the decoded code is checked against.
    layout: verify::Layout,
    const_rows: HashMap<(u64, bool), u32>,
    shared_rows: HashMap<(u32, i64, bool), u32>,
    /// Offset of each function variable in the local frame.
    local_offsets: Vec<Option<u32>>,
    param_offsets: Vec<u32>,
    return_offsets: Vec<u32>,
    carry: Option<u32>,
    /// What becomes of what is loaded, if that is asked for.
    demands: Option<demand::Demands>,
    /// Registers that are written but never read.
    unread: Vec<bool>,
    /// For each PTX instruction, where its code begins.
    starts: Vec<u32>,
    /// Guard of the instruction being decoded.
    guard: (u32, u32),
    origin: u32,
    meeting: meeting::MeetingPoints,
}

/// Decodes a function with a body, and proves that what came out keeps to its frame.
pub fn decode(
    module: &ptx::Module,
    id: ptx::FunctionId,
    unit: u32,
    links: &UnitLinks,
) -> Result<Function, Refusal> {
    let (function, layout) = decode_unproved(module, id, unit, links)?;
    verify::verify(&function, &layout).map_err(|found| {
        let line = function.lines.get(found.origin as usize).map_or(0, |line| line.0);
        Refusal { line, message: found.message }
    })?;
    Ok(function)
}

fn decode_unproved(
    module: &ptx::Module,
    id: ptx::FunctionId,
    unit: u32,
    links: &UnitLinks,
) -> Result<(Function, verify::Layout), Refusal> {
    let source = &module.functions[id.index()];
    let header = |message: String| Refusal { line: source.line.0, message };
    let body = source.body.as_ref().ok_or_else(|| header("has no body".to_string()))?;
    let mut decoder = Decoder::new(module, id, unit, source, body, links);
    decoder.place_registers().map_err(header)?;
    if links.check_init || masks_shared(body) {
        decoder.demands = Some(demand::Demands::of(body));
    }
    decoder.place_locals().map_err(header)?;
    for (index, instruction) in body.instructions.iter().enumerate() {
        if let Err(message) = decoder.instruction(index as u32, instruction) {
            decoder.refuse(instruction.line.0, message);
        }
    }
    decoder.finish();
    Ok((decoder.out, decoder.layout))
}

/// The function may write a bit-field of shared memory, whose neighbours it then loads and stores.
fn masks_shared(body: &ptx::Body) -> bool {
    let any = |test: fn(&ptx::Inst) -> bool| body.instructions.iter().any(|i| test(&i.inst));
    any(|inst| matches!(inst, ptx::Inst::Ld { space: ptx::Space::Shared, .. }))
        && any(|inst| {
            matches!(inst, ptx::Inst::And { .. } | ptx::Inst::Lop3 { .. } | ptx::Inst::Bfi { .. })
        })
}

/// A header of CUDA, of clang or of the system, by where such are installed. Programs have folders of that name too.
fn is_installed(path: &str) -> bool {
    // nvcc writes its own folders as `bin/..//include`.
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let is_home = |above: &str| {
        let version = above.strip_prefix("cu").unwrap_or(above);
        ["usr", "local", "nvvm"].contains(&above)
            || above.starts_with("cuda")
            || !version.is_empty() && version.bytes().all(|c| c.is_ascii_digit() || c == b'.')
    };
    parts.iter().enumerate().any(|(at, part)| {
        let above = |n: usize| at.checked_sub(n).map_or("", |at| parts[at]);
        *part == "include" && (is_home(above(1)) || above(2) == "targets")
    })
}

/// The source lines of a location: where the code is written, and where the function that it was
/// inlined into, if any, has it.
fn lines_of(module: &ptx::Module, body: &ptx::Body, location: &ptx::Location) -> SourceLines {
    let line = |file, line, column| {
        let file = module.file(file).map(|f| f.path.clone());
        SourceLine { file: file.unwrap_or_default(), line, column }
    };
    let mut written = line(location.file, location.line, location.column);
    let mut outermost = written.clone();
    let mut at = location;
    // A chain visits each location at most once.
    for _ in 0..=body.locations.len() {
        let Some(inlined) = &at.inlined_at else { break };
        outermost = line(inlined.file, inlined.line, inlined.column);
        // What the toolkit's headers inline is not where the program's author looks.
        if is_installed(&written.file) {
            written = outermost.clone();
        }
        match inlined.parent.and_then(|parent| body.locations.get(parent.index())) {
            Some(parent) => at = parent,
            None => break,
        }
    }
    SourceLines { written, outermost }
}

impl<'a> Decoder<'a> {
    fn new(
        module: &'a ptx::Module,
        function_id: ptx::FunctionId,
        unit: u32,
        source: &'a ptx::Function,
        body: &'a ptx::Body,
        links: &'a UnitLinks,
    ) -> Decoder<'a> {
        // Line 0 is code that compilers put in by themselves: it counts to what precedes it.
        let has_line = |l: &ptx::LocationId| body.locations[l.index()].line != 0;
        let mut known = 0;
        let mut line_of = |i: &ptx::Instruction| {
            known = i.location.filter(has_line).map_or(known, |l| l.0 + 1);
            (i.line.0, if i.location.is_some() { known } else { 0 })
        };
        let lines = body.instructions.iter().map(&mut line_of).collect();
        let out = Function {
            name: source.name.clone(),
            unit,
            is_kernel: source.kind == ptx::FunctionKind::Kernel,
            code: Vec::with_capacity(body.instructions.len() + 8),
            names: Vec::with_capacity(body.instructions.len() + 8),
            runs: Vec::new(),
            tenants: Vec::new(),
            frame_words: 0,
            zeroed_words: 0,
            consts: Vec::new(),
            true_pred: 0,
            shared_consts: Vec::new(),
            params: Vec::new(),
            returns: Vec::new(),
            local_words: 0,
            locals: Vec::new(),
            unwritten_locals: Vec::new(),
            demands: Default::default(),
            stack_bytes: 0,
            calls: Vec::new(),
            branch_tables: Vec::new(),
            vectors: Vec::new(),
            atomics: Vec::new(),
            barriers: Vec::new(),
            objects: Vec::new(),
            collectives: Vec::new(),
            async_copies: Vec::new(),
            videos: Vec::new(),
            bulk_copies: Vec::new(),
            tensor_copies: Vec::new(),
            remotes: Vec::new(),
            tensors: Vec::new(),
            group_products: Vec::new(),
            matrix_addresses: Vec::new(),
            textures: Vec::new(),
            surfaces: Vec::new(),
            queries: Vec::new(),
            lines,
            locations: body.locations.iter().map(|l| lines_of(module, body, l)).collect(),
            shared_used: Vec::new(),
            callees: Vec::new(),
            calls_indirect: false,
            named: Vec::new(),
            launches: false,
            uses_runtime: false,
            calls_runtime: false,
            independent: true,
            looks: false,
            refusal: None,
        };
        Decoder {
            module,
            function_id,
            source,
            body,
            links,
            out,
            registers: Vec::new(),
            layout: verify::Layout::default(),
            const_rows: HashMap::new(),
            shared_rows: HashMap::new(),
            local_offsets: vec![None; body.variables.len()],
            param_offsets: Vec::new(),
            return_offsets: Vec::new(),
            carry: None,
            demands: None,
            unread: Vec::new(),
            starts: Vec::with_capacity(body.instructions.len() + 1),
            guard: (0, 0),
            origin: 0,
            meeting: meeting::analyse(module, body),
        }
    }

    /// Puts a refusal in the place of an instruction that the device does not run. Kernels that could
    /// come to it are not launched; the others of the module are.
    fn refuse(&mut self, line: u32, message: String) {
        self.guard = (self.out.true_pred, 0);
        let inst = self.blank(Op::Refused);
        self.emit(inst);
        self.out.refusal.get_or_insert((line, message));
    }

    fn instruction(&mut self, index: u32, instruction: &ptx::Instruction) -> Decoded {
        self.guard = (self.out.true_pred, 0);
        self.origin = index;
        self.starts.push(self.out.code.len() as u32);
        if self.meeting.joins.contains(&index) {
            let join = self.blank(Op::Join);
            self.emit(join);
        }
        if let Some(guard) = instruction.guard {
            self.guard = (self.pred_dst(guard.reg)?, if guard.negated { u32::MAX } else { 0 });
        }
        self.decode_inst(&instruction.inst)
    }

    /// Appends the final return and turns PTX positions into code positions.
    fn finish(&mut self) {
        let count = self.body.instructions.len() as u32;
        self.guard = (self.out.true_pred, 0);
        self.origin = count.saturating_sub(1);
        self.starts.push(self.out.code.len() as u32);
        if self.meeting.joins.contains(&count) {
            let join = self.blank(Op::Join);
            self.emit(join);
        }
        let ret = self.blank(Op::Ret { join: NONE });
        self.emit(ret);
        if self.out.lines.is_empty() {
            self.out.lines.push((self.source.line.0, 0));
        }
        self.out.frame_words = self.out.frame_words.next_multiple_of(32);
        let starts = &self.starts;
        let place = |position: u32| {
            if position == meeting::EXIT {
                crate::code::JOIN_RETURN
            } else {
                starts[position as usize]
            }
        };
        for inst in &mut self.out.code {
            match &mut inst.op {
                Op::Bra { target, join } => {
                    *target = starts[*target as usize];
                    *join = place(*join);
                }
                Op::Brx { join, .. } => *join = place(*join),
                Op::Ret { join } if *join != NONE => *join = place(*join),
                Op::Call | Op::Barrier | Op::WarpSync | Op::Collective => {}
                _ => {}
            }
        }
        polls::mark(&mut self.out.code);
        for table in &mut self.out.branch_tables {
            for target in table {
                *target = starts[*target as usize];
            }
        }
        let callees = self.out.calls.iter().filter_map(|call| match call.callee {
            Callee::Function(number) => Some(number),
            Callee::Service(_) | Callee::Indirect { .. } => None,
        });
        self.out.callees = callees.collect();
        self.out.callees.sort_unstable();
        self.out.callees.dedup();
        straight::mark(&mut self.out);
        runs::mark(&mut self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::is_installed;

    #[test]
    fn headers_of_programs_are_told_from_installed_ones() {
        for path in [
            "/usr/include/stdlib.h",
            "/usr/local/include/c++/v1/cmath",
            "/usr/local/cuda-13.0/include/cooperative_groups.h",
            "/usr/local/cuda/targets/x86_64-linux/include/sm_30_intrinsics.hpp",
            ".toolchain/cuda-12.9/include/cuda/std/atomic",
            "lib/python3/site-packages/nvidia/cu13/include/cub/cub.cuh",
            "/usr/lib/llvm-22/lib/clang/22/include/__clang_cuda_intrinsics.h",
        ] {
            assert!(is_installed(path), "{path}");
        }
        for path in ["include/tree.h", "/home/me/forest/include/tree.h", "tree/include.h", "a.cu"] {
            assert!(!is_installed(path), "{path}");
        }
    }
}
