//! Registers whose contents nobody gave: those that are read before anything was written to them, the scalars that
//! compilers keep in registers ([`Lack::Variable`], for the check of what nobody has written), and those that a shuffle
//! wrote in lanes whose source does not take part ([`Lack::Lane`], for the check of exchanges).
//!
//! A function that has such registers is changed before it is
//! decoded: each of them, and each that is computed from one, gets a predicate that says whether it has contents, and
//! instructions that keep it up beside those of the program. What is said then is not a read, for compilers compute
//! ahead of what a program asks for, but where a value without contents takes effect: a branch, an address, a store
//! or an atomic of something computed from it. A variable's value that is merely moved may be stored, as with memory (a
//! structure of which a part is set). What shuffles give may be stored in local memory, where code that is not optimised
//! keeps all it has; what is loaded from there has contents.
//!
//! Contents are followed through arithmetic, comparisons, selections and logic of predicates; masks, loads and
//! most exchanges between lanes give contents, since only some of the bits may matter. Shuffles pass on what they are told
//! of, as [`crate::code::Collective::given`]; the halves of a wide value are packed again then.

use std::collections::HashMap;

use cdp_ptx::inst::{AddressBase, CallTarget};
use cdp_ptx::{
    Body, Function, FunctionId, FunctionKind, Guard, Inst, Instruction, Linkage, Module,
};
use cdp_ptx::{Operand, ParamStorage, Reg, Register, ScalarType, Space};

use crate::cfg::Cfg;
use crate::decode::{Named, Target, UnitLinks};
use crate::services::{Lack, Service, Unset};

/// Words of bits that the search may take for one function; larger ones are left alone.
const MOST_WORDS: usize = 1 << 24;

/// What an instruction makes of contents.
enum Rule {
    /// The result has contents.
    Gives,
    /// It has them if all registers that are read have; nothing is computed.
    Moves,
    /// The same, and something is computed.
    Computes,
    /// It has them if one of the registers that are read has.
    Packs,
    /// It has those of the side that is chosen.
    Chooses,
    /// It has them if one side alone decides: 0 for `and`, 1 for `or`.
    Decides { by: u64 },
}

fn rule(inst: &Inst, lack: Lack) -> Rule {
    use Inst as I;
    let is_pred = |ty: &ScalarType| *ty == ScalarType::Pred;
    match inst {
        I::MovPack { .. } if lack == Lack::Lane => Rule::Packs,
        I::MovUnpack { .. } if lack == Lack::Lane => Rule::Moves,
        I::Mov { .. } | I::CvtaFromGeneric { .. } | I::CvtaToGeneric { .. } => Rule::Moves,
        I::Cvt { dst_ty, src_ty, sat: false, .. } if !dst_ty.is_float() && !src_ty.is_float() => {
            Rule::Moves
        }
        I::Selp { .. } => Rule::Chooses,
        I::And { ty, .. } if is_pred(ty) => Rule::Decides { by: 0 },
        I::Or { ty, .. } if is_pred(ty) => Rule::Decides { by: 1 },
        I::And { a: Operand::Imm(_), .. } | I::And { b: Operand::Imm(_), .. } => Rule::Moves,
        I::Not { ty, .. } | I::Xor { ty, .. } if is_pred(ty) => Rule::Computes,
        // The halves of a wide value, each of which went through a shuffle.
        I::Or { .. } | I::Xor { .. } | I::And { .. } if lack == Lack::Lane => Rule::Packs,
        I::Setp { combine: None, .. }
        | I::Cvt { .. }
        | I::Add { .. }
        | I::Sub { .. }
        | I::Mul { .. }
        | I::MulInt { .. }
        | I::MadInt { .. }
        | I::Fma { .. }
        | I::Div { .. }
        | I::DivInt { .. }
        | I::Rem { .. }
        | I::Abs { .. }
        | I::Neg { .. }
        | I::Min(_)
        | I::Max(_)
        | I::Sqrt { .. }
        | I::Rcp { .. }
        | I::Rsqrt { .. }
        | I::Shl { .. }
        | I::Shr { .. } => Rule::Computes,
        _ => Rule::Gives,
    }
}

/// What the instructions of a function do to registers.
struct Effects {
    read: Vec<Reg>,
    written: Vec<Reg>,
    guard: Option<Guard>,
}

/// Registers that some way reads before it writes them.
fn exposed(module: &Module, function: &Function, body: &Body, effects: &[Effects]) -> Vec<Reg> {
    let cfg = Cfg::new(module, body);
    // Registers that a block reads before it writes them: the others are nobody's concern.
    let mut numbers = vec![u32::MAX; body.registers.len()];
    let mut candidates = Vec::new();
    let mut uses: Vec<Vec<u32>> = Vec::with_capacity(cfg.blocks.len());
    let mut written_in = vec![usize::MAX; body.registers.len()];
    for (index, block) in cfg.blocks.iter().enumerate() {
        let mut own = Vec::new();
        for effect in &effects[block.first as usize..block.end as usize] {
            for reg in effect.read.iter().chain(effect.guard.iter().map(|guard| &guard.reg)) {
                if written_in[reg.index()] != index {
                    if numbers[reg.index()] == u32::MAX {
                        numbers[reg.index()] = candidates.len() as u32;
                        candidates.push(*reg);
                    }
                    own.push(numbers[reg.index()]);
                }
            }
            if effect.guard.is_none() {
                effect.written.iter().for_each(|reg| written_in[reg.index()] = index);
            }
        }
        uses.push(own);
    }
    let words = candidates.len().div_ceil(64);
    if words == 0 || words.saturating_mul(2 * cfg.blocks.len()) > MOST_WORDS {
        return Vec::new();
    }
    // Backwards: what a block needs at its beginning, unless it writes it.
    let mut needed = vec![0u64; words * cfg.blocks.len()];
    let mut kills = vec![0u64; words * cfg.blocks.len()];
    for (index, block) in cfg.blocks.iter().enumerate() {
        let row = index * words;
        for effect in &effects[block.first as usize..block.end as usize] {
            let kept = effect.written.iter().filter(|_| effect.guard.is_none());
            for number in kept.map(|reg| numbers[reg.index()]).filter(|n| *n != u32::MAX) {
                kills[row + number as usize / 64] |= 1 << (number % 64);
            }
        }
        for number in &uses[index] {
            needed[row + *number as usize / 64] |= 1 << (number % 64);
        }
    }
    let mut waiting: Vec<usize> = (0..cfg.blocks.len()).collect();
    let mut queued = vec![true; cfg.blocks.len()];
    while let Some(index) = waiting.pop() {
        queued[index] = false;
        for before in &cfg.blocks[index].predecessors {
            let (to, from) = (before.index() * words, index * words);
            let mut changed = false;
            for word in 0..words {
                let more = needed[from + word] & !kills[to + word];
                changed |= more & !needed[to + word] != 0;
                needed[to + word] |= more;
            }
            if changed && !std::mem::replace(&mut queued[before.index()], true) {
                waiting.push(before.index());
            }
        }
    }
    let at_start = |reg: &Reg| {
        let number = numbers[reg.index()] as usize;
        needed[number / 64] >> (number % 64) & 1 != 0
    };
    let given = |reg: &Reg| {
        let is = |storage: &ParamStorage| *storage == ParamStorage::Register(Some(*reg));
        function.params.iter().any(|param| is(&param.storage))
    };
    candidates.into_iter().filter(|reg| at_start(reg) && !given(reg)).collect()
}

/// What shuffles of lanes that come together write, where somebody reads it.
fn shuffled(body: &Body) -> Vec<Reg> {
    let mut found: Vec<Reg> =
        body.instructions.iter().filter_map(|i| source_of(&i.inst)).map(|s| s.0).collect();
    found.sort_unstable_by_key(|reg| reg.index());
    found.dedup();
    found
}

/// The result and the source of such a shuffle.
fn source_of(inst: &Inst) -> Option<(Reg, Operand)> {
    match inst {
        Inst::Shfl(shfl) if shfl.mask.is_some() => shfl.dst.map(|dst| (dst, shfl.src)),
        _ => None,
    }
}

/// A function that is changed.
struct Writer<'a> {
    lack: Lack,
    out: Vec<Instruction>,
    registers: &'a mut Vec<Register>,
    /// Shuffles in `out`, with the predicate of whether their values have contents.
    given: HashMap<u32, Reg>,
    /// By register, the predicate that says whether it has contents.
    shadows: Vec<Option<Reg>>,
    /// By register: it is computed from one without contents.
    computed: Vec<bool>,
    /// Where it is told: a function that is none for each use.
    tellers: [FunctionId; 3],
    spare: [Reg; 2],
}

impl Writer<'_> {
    fn shadow(&self, operand: &Operand) -> Option<Reg> {
        match operand {
            Operand::Reg(reg) => self.shadows[reg.index()],
            _ => None,
        }
    }

    fn put(&mut self, like: &Instruction, guard: Option<Guard>, inst: Inst) {
        self.out.push(Instruction { guard, inst, location: like.location, line: like.line });
    }

    fn set(&mut self, like: &Instruction, dst: Reg, src: Operand) {
        self.put(like, like.guard, Inst::Mov { ty: ScalarType::Pred, dst, src });
    }

    fn and(&mut self, like: &Instruction, dst: Reg, a: Reg, b: Reg) {
        let (a, b) = (Operand::Reg(a), Operand::Reg(b));
        self.put(like, like.guard, Inst::And { ty: ScalarType::Pred, dst, a, b });
    }

    /// `dst` is whether all of these have contents.
    fn all(&mut self, like: &Instruction, dst: Reg, shadows: &[Reg]) {
        let spare = self.spare[0];
        self.set(like, spare, shadows.first().map_or(Operand::Imm(1), |reg| Operand::Reg(*reg)));
        for other in shadows.iter().skip(1) {
            self.and(like, spare, spare, *other);
        }
        self.set(like, dst, Operand::Reg(spare));
    }

    /// Keeps up what is known of the contents of what an instruction writes.
    fn follow(&mut self, like: &Instruction, effect: &Effects) {
        let targets: Vec<Reg> =
            effect.written.iter().filter_map(|reg| self.shadows[reg.index()]).collect();
        for dst in targets {
            if let Some((to, src)) = source_of(&like.inst).filter(|_| self.lack == Lack::Lane) {
                // The shuffle itself passes on what its source has.
                let is_result = self.shadows[to.index()] == Some(dst);
                let source = self.shadow(&src).filter(|_| is_result);
                self.set(like, dst, source.map_or(Operand::Imm(1), Operand::Reg));
                continue;
            }
            match (rule(&like.inst, self.lack), &like.inst) {
                (Rule::Packs, _) => self.any(like, dst, effect),
                (Rule::Chooses, Inst::Selp { a, b, pred, .. }) if like.guard.is_none() => {
                    self.choose(like, dst, [a, b], pred.value, pred.negated);
                }
                (Rule::Decides { by }, Inst::And { a, b, .. } | Inst::Or { a, b, .. }) => {
                    self.decide(like, dst, [a, b], by)
                }
                (Rule::Moves | Rule::Computes, _) => {
                    let known = |reg: &Reg| self.shadows[reg.index()];
                    let shadows: Vec<Reg> = effect.read.iter().filter_map(known).collect();
                    self.all(like, dst, &shadows);
                }
                _ => self.set(like, dst, Operand::Imm(1)),
            }
        }
    }

    /// `dst` is whether one of what is read has contents.
    fn any(&mut self, like: &Instruction, dst: Reg, effect: &Effects) {
        let shadows: Vec<_> = effect.read.iter().map(|reg| self.shadows[reg.index()]).collect();
        let known: Vec<Reg> = shadows.iter().copied().flatten().collect();
        let Some((first, others)) = known.split_first().filter(|_| known.len() == shadows.len())
        else {
            return self.set(like, dst, Operand::Imm(1));
        };
        let spare = self.spare[0];
        self.set(like, spare, Operand::Reg(*first));
        for other in others {
            let (a, b) = (Operand::Reg(spare), Operand::Reg(*other));
            self.put(like, like.guard, Inst::Or { ty: ScalarType::Pred, dst: spare, a, b });
        }
        self.set(like, dst, Operand::Reg(spare));
    }

    fn choose(
        &mut self,
        like: &Instruction,
        dst: Reg,
        sides: [&Operand; 2],
        by: Operand,
        negated: bool,
    ) {
        let Operand::Reg(reg) = by else { return self.set(like, dst, Operand::Imm(1)) };
        let [spare, _] = self.spare;
        for (side, negated) in sides.into_iter().zip([negated, !negated]) {
            let src = self.shadow(side).map_or(Operand::Imm(1), Operand::Reg);
            let chosen = Some(Guard { reg, negated });
            self.put(like, chosen, Inst::Mov { ty: ScalarType::Pred, dst: spare, src });
        }
        if let Some(decides) = self.shadows[reg.index()] {
            self.and(like, spare, spare, decides);
        }
        self.set(like, dst, Operand::Reg(spare));
    }

    fn decide(&mut self, like: &Instruction, dst: Reg, sides: [&Operand; 2], by: u64) {
        let (ty, [spare, other]) = (ScalarType::Pred, self.spare);
        let shadows = sides.map(|side| self.shadow(side));
        let known: Vec<Reg> = shadows.into_iter().flatten().collect();
        self.set(like, spare, known.first().map_or(Operand::Imm(1), |reg| Operand::Reg(*reg)));
        if let [_, second] = known[..] {
            self.and(like, spare, spare, second);
        }
        for (side, shadow) in sides.into_iter().zip(shadows) {
            let inst = match by {
                0 => Inst::Not { ty, dst: other, src: *side },
                _ => Inst::Mov { ty, dst: other, src: *side },
            };
            self.put(like, like.guard, inst);
            if let Some(shadow) = shadow {
                self.and(like, other, other, shadow);
            }
            let (a, b) = (Operand::Reg(spare), Operand::Reg(other));
            self.put(like, like.guard, Inst::Or { ty, dst: spare, a, b });
        }
        self.set(like, dst, Operand::Reg(spare));
    }

    /// The program's own instruction.
    fn instruction(&mut self, instruction: Instruction) {
        let result = source_of(&instruction.inst).filter(|_| self.lack == Lack::Lane);
        let given = result.and_then(|(result, _)| self.shadows[result.index()]);
        if let Some(given) = given {
            self.given.insert(self.out.len() as u32, given);
            // Named behind the shuffle too, which writes it without naming it.
            let after = Instruction {
                guard: instruction.guard,
                inst: Inst::Mov { ty: ScalarType::Pred, dst: given, src: Operand::Reg(given) },
                ..instruction
            };
            self.out.push(instruction);
            self.out.push(after);
        } else {
            self.out.push(instruction);
        }
    }

    /// Tells of lanes in which a register has no contents, of those in which the instruction is executed.
    fn tell(&mut self, like: &Instruction, shadow: Reg, unset: Unset) {
        let target = CallTarget::Direct(self.tellers[unset as usize]);
        let (returns, args) = (Box::default(), Box::default());
        let call = Inst::Call { target, returns, args, uniform: false };
        let guard = match like.guard {
            _ if self.lack == Lack::Lane && unset == Unset::Stored => self.stored(like, shadow),
            // Whether a guard has contents is asked in all lanes that come to it.
            Some(guard) if unset != Unset::Decides => {
                let (ty, [spare, _]) = (ScalarType::Pred, self.spare);
                let src = Operand::Imm(0);
                self.put(like, None, Inst::Mov { ty, dst: spare, src });
                let src = Operand::Reg(shadow);
                self.put(like, Some(guard), Inst::Not { ty, dst: spare, src });
                Guard { reg: spare, negated: false }
            }
            _ => Guard { reg: shadow, negated: true },
        };
        self.put(like, Some(guard), call);
    }

    /// True of lanes that store something without contents anywhere but in local memory.
    fn stored(&mut self, like: &Instruction, shadow: Reg) -> Guard {
        let (ty, [stores, local]) = (ScalarType::Pred, self.spare);
        self.put(like, None, Inst::Mov { ty, dst: stores, src: Operand::Imm(0) });
        self.put(like, like.guard, Inst::Not { ty, dst: stores, src: Operand::Reg(shadow) });
        if let Inst::St { space: Space::Generic, addr, .. } = &like.inst
            && let AddressBase::Reg(reg) = addr.base
            && self.registers[reg.index()].ty.bits() == 64
        {
            let (dst, src) = (local, Operand::Reg(reg));
            self.put(like, None, Inst::Isspacep { space: Space::Local, dst, src });
            self.put(like, None, Inst::Not { ty, dst, src: Operand::Reg(local) });
            let (a, b) = (Operand::Reg(stores), Operand::Reg(local));
            self.put(like, None, Inst::And { ty, dst: stores, a, b });
        }
        Guard { reg: stores, negated: false }
    }

    /// Tells of what takes effect without contents.
    fn effect(&mut self, like: &Instruction) {
        if let Some(shadow) = like.guard.and_then(|guard| self.shadows[guard.reg.index()]) {
            self.tell(like, shadow, Unset::Decides);
        }
        let (addr, values): (_, &[Operand]) = match &like.inst {
            Inst::Ld { addr, .. } => (addr, &[]),
            Inst::St { space: Space::Param, addr, .. } => (addr, &[]),
            Inst::St { space: Space::Local, addr, .. } if self.lack == Lack::Lane => (addr, &[]),
            Inst::St { addr, srcs, .. } => (addr, srcs),
            Inst::Atom(atom) => (&atom.addr, std::slice::from_ref(&atom.b)),
            _ => return,
        };
        if let AddressBase::Reg(reg) = addr.base
            && let Some(shadow) = self.shadows[reg.index()]
        {
            self.tell(like, shadow, Unset::Address);
        }
        for value in values {
            if let (Operand::Reg(reg), Some(shadow)) = (value, self.shadow(value))
                && self.computed[reg.index()]
            {
                self.tell(like, shadow, Unset::Stored);
            }
        }
    }
}

/// Registers that may be without contents because `first` are, and which of them are computed.
fn reached(
    first: &[Reg],
    code: &[Instruction],
    effects: &[Effects],
    lack: Lack,
) -> (Vec<bool>, Vec<bool>) {
    let count = effects.iter().flat_map(|e| e.read.iter().chain(&e.written)).map(|r| r.index() + 1);
    let count = count.chain(first.iter().map(|reg| reg.index() + 1)).max().unwrap_or(0);
    let (mut any, mut computed) = (vec![false; count], vec![false; count]);
    for reg in first {
        any[reg.index()] = true;
        computed[reg.index()] = lack == Lack::Lane;
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (instruction, effect) in code.iter().zip(effects) {
            let rule = rule(&instruction.inst, lack);
            if matches!(rule, Rule::Gives) || !effect.read.iter().any(|reg| any[reg.index()]) {
                continue;
            }
            let computes = !matches!(rule, Rule::Moves | Rule::Chooses)
                || effect.read.iter().any(|reg| computed[reg.index()]);
            for reg in &effect.written {
                changed |= !any[reg.index()] || computes && !computed[reg.index()];
                any[reg.index()] = true;
                computed[reg.index()] |= computes;
            }
        }
    }
    (any, computed)
}

/// Changes a function so that it tells of registers that lack contents for one reason.
pub fn watch(module: &mut Module, id: FunctionId, links: &mut UnitLinks, lack: Lack) {
    let function = &module.functions[id.index()];
    let Some(body) = &function.body else { return };
    let effects: Vec<Effects> = body
        .instructions
        .iter()
        .map(|instruction| {
            let Named { operands, results } = Named::of(&instruction.inst);
            Effects { read: operands, written: results, guard: instruction.guard }
        })
        .collect();
    let first = match lack {
        Lack::Variable => exposed(module, function, body, &effects),
        Lack::Lane => shuffled(body),
    };
    if first.is_empty() {
        return;
    }
    let tellers = [Unset::Decides, Unset::Address, Unset::Stored].map(|unset| {
        links.functions.push(Some(Target::Service(Service::Unset(lack, unset))));
        module.functions.push(declaration(lack, unset));
        FunctionId(module.functions.len() as u32 - 1)
    });
    let Some(body) = &mut module.functions[id.index()].body else { return };
    links.given = rewrite(body, &first, &effects, tellers, lack);
}

/// What is called in place of a function.
fn declaration(lack: Lack, unset: Unset) -> Function {
    Function {
        name: format!("__cdp_unset_{lack:?}_{unset:?}"),
        kind: FunctionKind::Func,
        linkage: Linkage::Extern,
        returns: Vec::new(),
        params: Vec::new(),
        limits: Default::default(),
        alias_of: None,
        body: None,
        line: Default::default(),
    }
}

/// Returns the shuffles that pass on contents, with the predicate in which they do.
fn rewrite(
    body: &mut Body,
    first: &[Reg],
    effects: &[Effects],
    tellers: [FunctionId; 3],
    lack: Lack,
) -> HashMap<u32, Reg> {
    let code = std::mem::take(&mut body.instructions);
    let (any, mut computed) = reached(first, &code, effects, lack);
    let count = body.registers.len();
    let mut new = |name: String| {
        body.registers.push(Register { name, ty: ScalarType::Pred });
        Reg(body.registers.len() as u32 - 1)
    };
    let spare = [new(format!("%lacks_{lack:?}_a")), new(format!("%lacks_{lack:?}_b"))];
    let mut shadows = vec![None; count + 2];
    for (index, _) in any.iter().enumerate().filter(|(_, any)| **any) {
        shadows[index] = Some(new(format!("%lacks_{lack:?}{index}")));
    }
    let registers = &mut body.registers;
    shadows.resize(registers.len(), None);
    computed.resize(registers.len(), false);
    let (out, given) = (Vec::new(), HashMap::new());
    let mut writer = Writer { lack, out, registers, given, shadows, computed, tellers, spare };
    if let Some(like) = code.first() {
        // What a shuffle gives has contents before it, as far as this is about shuffles.
        let all: Vec<Reg> = writer.shadows.iter().copied().flatten().collect();
        let first = first.iter().filter_map(|reg| writer.shadows[reg.index()]);
        let (at_start, src) = match lack {
            Lack::Variable => (first.collect(), Operand::Imm(0)),
            Lack::Lane => (all, Operand::Imm(1)),
        };
        for dst in at_start {
            writer.put(like, None, Inst::Mov { ty: ScalarType::Pred, dst, src });
        }
    }
    let mut places = Vec::with_capacity(code.len() + 1);
    for (instruction, effect) in code.into_iter().zip(effects) {
        places.push(writer.out.len() as u32);
        writer.effect(&instruction);
        writer.follow(&instruction, effect);
        writer.instruction(instruction);
    }
    places.push(writer.out.len() as u32);
    body.instructions = writer.out;
    for label in &mut body.labels {
        label.position = places[label.position as usize];
    }
    writer.given
}
