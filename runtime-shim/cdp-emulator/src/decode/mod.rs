//! PTX functions to the form the interpreter runs ([`crate::code`]).
//!
//! Every PTX instruction is matched here; what the device does not run is refused when the module
//! is loaded, with its line. Symbols have been resolved by `link` before.

mod arith;
mod cluster;
mod control;
mod data;
pub mod demand;
mod dispatch;
pub mod flow;
mod mbarrier;
mod named;
mod polls;
mod quad;
mod select;
mod sync;
mod tensor;
mod verify;

use std::collections::HashMap;

use cdp_ptx as ptx;
use cdp_ptx::inst::PredOperand;
use cdp_ptx::{Operand, ScalarType, Symbol};

use crate::alu::{self, LaneOp};
use crate::code::{
    Alu, Callee, ConstRow, Function, Inst, NONE, Op, PredLogic, Shape, Slot, SourceLines,
};
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

/// What `link` found out about the symbols of one PTX text.
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

/// A virtual register's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegPlace {
    /// 32 words.
    Narrow(u32),
    /// 64 words.
    Wide(u32),
    /// Twice 64 words: the low halves, then the high ones.
    Quad(u32),
    /// One word.
    Pred(u32),
}

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
    flow: flow::Flow,
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

/// The source lines of a location: where the code is written, and where the function that it was
/// inlined into, if any, has it.
fn lines_of(module: &ptx::Module, body: &ptx::Body, location: &ptx::Location) -> SourceLines {
    let line = |file: ptx::FileId, line, column| {
        let file = module.files.get(file.index()).map(|f| f.path.clone());
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
        if written.file.contains("/include/") {
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
            frame_words: 0,
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
            remotes: Vec::new(),
            tensors: Vec::new(),
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
            independent: true,
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
            flow: flow::analyse(module, body),
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

    // Frame layout.

    /// A new place in the frame.
    fn take(&mut self, shape: Shape) -> u32 {
        let at = self.out.frame_words;
        self.layout.place(at, shape);
        // Predicates get a whole row too: those made here are few, and rows stay aligned.
        self.out.frame_words = at.saturating_add(shape.words().next_multiple_of(32));
        at
    }

    fn place_registers(&mut self) -> Decoded {
        for register in &self.body.registers {
            let place = match register.ty.bits() {
                1 => RegPlace::Pred(0),
                64 => RegPlace::Wide(self.take(Shape::Wide)),
                128 => {
                    let low = self.take(Shape::Wide);
                    self.take(Shape::Wide);
                    RegPlace::Quad(low)
                }
                _ => RegPlace::Narrow(self.take(Shape::Narrow)),
            };
            self.registers.push(place);
        }
        // Predicates come last, so that rows stay aligned to 128 bytes; whole rows of them.
        let mut next = self.out.frame_words;
        self.out.true_pred = next;
        self.layout.place(next, Shape::Pred);
        for place in &mut self.registers {
            if let RegPlace::Pred(word) = place {
                next = next.saturating_add(1);
                *word = next;
                self.layout.place(next, Shape::Pred);
            }
        }
        self.out.frame_words = next.saturating_add(1).next_multiple_of(32);
        let has_atomics =
            |i: &ptx::Instruction| matches!(&i.inst, ptx::Inst::Atom(a) if a.dst.is_some());
        self.unread = vec![false; self.registers.len()];
        if self.body.instructions.iter().any(has_atomics) {
            self.unread.fill(true);
            for instruction in &self.body.instructions {
                named::mark_read(instruction, &mut self.unread);
            }
        }
        Ok(())
    }

    /// Lays out the local frame: parameters and results of a device function, call parameters,
    /// local variables.
    fn place_locals(&mut self) -> Decoded {
        // More than this cannot be had, and sums of such sizes do not overflow.
        const MOST: u64 = 512 << 10;
        let mut end = 0u64;
        let (gaps, locals) = (self.links.check_bounds, &mut self.out.locals);
        let mut place = |size: u64, align: u64| {
            let at = end.next_multiple_of(align.clamp(4, 4096));
            let size = size.min(MOST);
            end = (at + size.next_multiple_of(4)).min(2 * MOST);
            if gaps {
                locals.push((at as u32, size as u32));
                end += crate::check::bounds::gap(size);
            }
            at
        };
        if !self.out.is_kernel {
            for (params, offsets, slots) in [
                (&self.source.params, &mut self.param_offsets, &mut self.out.params),
                (&self.source.returns, &mut self.return_offsets, &mut self.out.returns),
            ] {
                for param in params {
                    let offset = place(param.size_bytes(), u64::from(param.align_bytes)) as u32;
                    offsets.push(offset);
                    slots.push(match param.storage {
                        ptx::ParamStorage::Register(Some(reg)) => match self.registers[reg.index()]
                        {
                            RegPlace::Narrow(row) => Slot::Row { row, wide: false },
                            RegPlace::Wide(row) => Slot::Row { row, wide: true },
                            RegPlace::Pred(word) => Slot::Pred { word },
                            RegPlace::Quad(_) => {
                                return Err("a parameter in a 128-bit register".to_string());
                            }
                        },
                        ptx::ParamStorage::Register(None) | ptx::ParamStorage::Memory => {
                            Slot::Memory {
                                offset_bytes: offset,
                                size_bytes: param.size_bytes() as u32,
                            }
                        }
                    });
                }
            }
        } else {
            self.param_offsets = self.source.param_layout().0.iter().map(|p| p.0 as u32).collect();
        }
        for (index, variable) in self.body.variables.iter().enumerate() {
            let (size, align) = (variable.size_bytes(), u64::from(variable.align_bytes));
            match variable.space {
                ptx::Space::Param | ptx::Space::ParamFunc | ptx::Space::ParamEntry => {
                    self.local_offsets[index] = Some(place(size, align) as u32);
                }
                ptx::Space::Local => {
                    let at = place(size, align) as u32;
                    self.local_offsets[index] = Some(at);
                    if self.links.check_init {
                        self.out.unwritten_locals.push((at, size.min(MOST) as u32));
                    }
                    self.out.stack_bytes =
                        self.out.stack_bytes.saturating_add(size.min(MOST) as u32);
                }
                ptx::Space::Global
                | ptx::Space::Const
                | ptx::Space::Shared
                | ptx::Space::SharedCluster
                | ptx::Space::Generic => {}
            }
        }
        if end > MOST {
            return Err(format!(
                "more than {MOST} bytes of local memory a thread, which is all it can have"
            ));
        }
        // Frames begin at multiples of 16 bytes, so that vectors in them are aligned.
        self.out.local_words = (end.next_multiple_of(16) / 4) as u32;
        Ok(())
    }

    // Emission.

    fn emit(&mut self, inst: Inst) {
        self.layout.operands.push([Shape::Unused; 4]);
        self.out.code.push(inst);
    }

    fn blank(&self, op: Op) -> Inst {
        Inst {
            alu: nothing,
            d: 0,
            a: 0,
            b: 0,
            c: 0,
            guard: self.guard.0,
            guard_not: self.guard.1,
            imm: 0,
            origin: self.origin,
            op,
        }
    }

    fn alu_with(&mut self, alu: Alu, d: u32, sources: [u32; 3], imm: u32) {
        let [a, b, c] = sources;
        let inst = Inst { alu: alu.run, d, a, b, c, imm, ..self.blank(Op::Alu) };
        self.layout.operands.push(alu.shapes);
        self.out.code.push(inst);
    }

    fn alu<O: LaneOp>(&mut self, d: u32, sources: [u32; 3], imm: u32) {
        self.alu_with(alu::select::<O>(), d, sources, imm);
    }

    fn narrow_temp(&mut self) -> u32 {
        self.take(Shape::Narrow)
    }

    fn wide_temp(&mut self) -> u32 {
        self.take(Shape::Wide)
    }

    fn temp(&mut self, wide: bool) -> u32 {
        if wide { self.wide_temp() } else { self.narrow_temp() }
    }

    /// A predicate for intermediate results. Uses a row of its own: such predicates are rare.
    fn pred_temp(&mut self) -> u32 {
        self.take(Shape::Pred)
    }

    // Operands.

    /// A row that holds `value` in every lane.
    fn constant(&mut self, value: u64, wide: bool) -> u32 {
        let value = if wide { value } else { value & 0xffff_ffff };
        if let Some(&row) = self.const_rows.get(&(value, wide)) {
            return row;
        }
        let row = self.temp(wide);
        self.out.consts.push(ConstRow { row, value, wide });
        self.const_rows.insert((value, wide), row);
        row
    }

    fn reg(&self, reg: ptx::Reg) -> RegPlace {
        self.registers[reg.index()]
    }

    /// The row of a destination register of at most 32 bits.
    fn narrow_dst(&self, reg: ptx::Reg) -> Result<u32, String> {
        match self.reg(reg) {
            RegPlace::Narrow(row) => Ok(row),
            _ => Err(self.width_error(reg, 32)),
        }
    }

    /// The row of a destination register of 64 bits.
    fn wide_dst(&self, reg: ptx::Reg) -> Result<u32, String> {
        match self.reg(reg) {
            RegPlace::Wide(row) => Ok(row),
            _ => Err(self.width_error(reg, 64)),
        }
    }

    fn dst(&self, reg: ptx::Reg, wide: bool) -> Result<u32, String> {
        if wide { self.wide_dst(reg) } else { self.narrow_dst(reg) }
    }

    fn pred_dst(&self, reg: ptx::Reg) -> Result<u32, String> {
        match self.reg(reg) {
            RegPlace::Pred(word) => Ok(word),
            _ => Err(self.width_error(reg, 1)),
        }
    }

    fn width_error(&self, reg: ptx::Reg, bits: u32) -> String {
        let register = &self.body.registers[reg.index()];
        format!("`{}` of type .{} where {bits} bits are needed", register.name, register.ty)
    }

    /// A row that holds the operand; emits what computes it if it is not a register or constant.
    fn row(&mut self, operand: Operand, wide: bool) -> Result<u32, String> {
        match operand {
            Operand::Imm(value) => Ok(self.constant(value, wide)),
            Operand::Reg(reg) => match (self.reg(reg), wide) {
                (RegPlace::Narrow(row), false) | (RegPlace::Wide(row), true) => Ok(row),
                (RegPlace::Narrow(row), true) => {
                    let temp = self.wide_temp();
                    self.alu::<alu::convert::U32To64>(temp, [row, 0, 0], 0);
                    Ok(temp)
                }
                (RegPlace::Wide(row), false) => {
                    let temp = self.narrow_temp();
                    self.alu::<alu::bits::Lo64>(temp, [row, 0, 0], 0);
                    Ok(temp)
                }
                (RegPlace::Pred(_) | RegPlace::Quad(_), _) => {
                    Err(self.width_error(reg, if wide { 64 } else { 32 }))
                }
            },
            Operand::Special(special) => {
                let has_wide = special.ty() == ScalarType::U64;
                let temp = self.temp(has_wide);
                self.special(special, temp)?;
                match (has_wide, wide) {
                    (false, true) => {
                        let widened = self.wide_temp();
                        self.alu::<alu::convert::U32To64>(widened, [temp, 0, 0], 0);
                        Ok(widened)
                    }
                    (true, false) => {
                        let cut = self.narrow_temp();
                        self.alu::<alu::bits::Lo64>(cut, [temp, 0, 0], 0);
                        Ok(cut)
                    }
                    _ => Ok(temp),
                }
            }
            Operand::Address(address) => self.address_of(address.symbol, address.offset, wide),
        }
    }

    fn narrow(&mut self, operand: Operand) -> Result<u32, String> {
        self.row(operand, false)
    }

    fn wide(&mut self, operand: Operand) -> Result<u32, String> {
        self.row(operand, true)
    }

    /// A predicate word and all ones if it is to be negated.
    fn pred(&mut self, operand: PredOperand) -> Result<(u32, u32), String> {
        let (word, flip) = match operand.value {
            Operand::Reg(reg) => (self.pred_dst(reg)?, 0),
            Operand::Imm(0) => (self.out.true_pred, u32::MAX),
            Operand::Imm(_) => (self.out.true_pred, 0),
            Operand::Special(special @ ptx::SpecialReg::IsExplicitCluster) => {
                let (a, d) = (self.narrow_temp(), self.pred_temp());
                self.special(special, a)?;
                let inst = Inst { d, a, ..self.blank(Op::PredNonzero) };
                self.emit(inst);
                (d, 0)
            }
            Operand::Special(_) | Operand::Address(_) => {
                return Err("a predicate operand that is no predicate".to_string());
            }
        };
        Ok((word, flip ^ if operand.negated { u32::MAX } else { 0 }))
    }

    /// What a symbol is, for symbols that are not in the frame.
    fn target(&self, symbol: Symbol) -> Result<Target, String> {
        let found = match symbol {
            Symbol::Function(id) => self.links.functions.get(id.index()).copied().flatten(),
            Symbol::Global(id) => self.links.variables.get(id.index()).copied().flatten(),
            Symbol::Local(id) => self.links.locals.get(&(self.function_id.0, id.0)).copied(),
            Symbol::Param(_) | Symbol::Return(_) => None,
        };
        found.ok_or_else(|| "the address of something that is defined nowhere".to_string())
    }

    /// Offset in the local frame, for symbols that live there.
    fn frame_offset(&self, symbol: Symbol) -> Option<u32> {
        match symbol {
            Symbol::Local(id) => self.local_offsets[id.index()],
            Symbol::Param(n) if !self.out.is_kernel => self.param_offsets.get(n as usize).copied(),
            Symbol::Return(n) => self.return_offsets.get(n as usize).copied(),
            _ => None,
        }
    }

    /// A row with the address of a symbol in its own space.
    fn address_of(&mut self, symbol: Symbol, offset: i64, wide: bool) -> Result<u32, String> {
        if let Some(at) = self.frame_offset(symbol) {
            let d = self.temp(wide);
            let imm = at.wrapping_add(offset as u32);
            let inst = Inst { d, imm, ..self.blank(Op::FrameAddress { wide }) };
            self.emit(inst);
            return Ok(d);
        }
        if let Symbol::Param(n) = symbol {
            let at = self.param_offsets.get(n as usize).copied().unwrap_or(0);
            return Ok(self.constant((i64::from(at) + offset) as u64, wide));
        }
        match self.target(symbol)? {
            Target::Memory(address) => Ok(self.constant(address.wrapping_add(offset as u64), wide)),
            Target::Function(number) => {
                self.out.named.push(number);
                Ok(self.constant(crate::memory::space::function_address(number), wide))
            }
            Target::Service(service) => {
                Err(format!("the address of `{service:?}`, a function of the device runtime"))
            }
            Target::Shared(variable) => Ok(self.shared_address(variable, offset, wide)),
        }
    }

    fn shared_address(&mut self, variable: u32, offset: i64, wide: bool) -> u32 {
        if !self.out.shared_used.contains(&variable) {
            self.out.shared_used.push(variable);
        }
        if self.out.is_kernel {
            if let Some(&row) = self.shared_rows.get(&(variable, offset, wide)) {
                return row;
            }
            let row = self.temp(wide);
            let index = self.out.consts.len() as u32;
            self.out.consts.push(ConstRow { row, value: 0, wide });
            self.out.shared_consts.push((index, variable, offset));
            self.shared_rows.insert((variable, offset, wide), row);
            return row;
        }
        let d = self.temp(wide);
        let a = self.constant(offset as u64, wide);
        let inst = Inst { d, a, imm: variable, ..self.blank(Op::SharedAddress { wide }) };
        self.emit(inst);
        d
    }

    fn special(&mut self, register: ptx::SpecialReg, d: u32) -> Decoded {
        use ptx::SpecialReg as R;
        let reserved = match register {
            R::ReservedSmemOffsetBegin | R::ReservedSmemOffset(0) => Some(0),
            R::ReservedSmemOffset(_) => Some(RESERVED_SHARED_BYTES / 2),
            R::ReservedSmemOffsetEnd | R::ReservedSmemOffsetCap => Some(RESERVED_SHARED_BYTES),
            _ => None,
        };
        if let Some(offset) = reserved {
            let row = self.shared_address(self.links.reserved_shared, offset as i64, false);
            self.alu::<alu::int::Mov32>(d, [row, 0, 0], 0);
            return Ok(());
        }
        let special = control::special(register);
        // Grids get their numbers when it is known what ran before them.
        self.out.independent &= special != crate::code::Special::Grid;
        let inst = Inst { d, ..self.blank(Op::Special(special)) };
        self.emit(inst);
        Ok(())
    }

    /// `d = a op b` on predicates; negations as words of ones.
    fn pred_logic(&mut self, op: PredLogic, d: u32, a: (u32, u32), b: (u32, u32)) {
        let imm = (a.1 & 1) | (b.1 & 2);
        let inst = Inst { d, a: a.0, b: b.0, imm, ..self.blank(Op::PredLogic(op)) };
        self.emit(inst);
    }

    // The whole function.

    fn instruction(&mut self, index: u32, instruction: &ptx::Instruction) -> Decoded {
        self.guard = (self.out.true_pred, 0);
        self.origin = index;
        self.starts.push(self.out.code.len() as u32);
        if self.flow.joins.contains(&index) {
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
        if self.flow.joins.contains(&count) {
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
            if position == flow::EXIT {
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
    }
}

/// The `alu` of instructions that are not arithmetic.
unsafe fn nothing(_: *mut u32, _: &Inst, _: u32) {}
