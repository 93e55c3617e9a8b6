//! The proof on which the interpreter's unchecked accesses rest: every operand of a decoded function
//! is a place of its frame of the shape that the operation takes it for, every branch goes to an
//! instruction, every index into a table of the function is in it.
//!
//! Run on each function when its module loads. What only other functions or the running program know
//! is checked elsewhere: numbers of callees by `link`, local offsets by `exec::memory`, arguments by
//! `exec::calls`. A refusal here is a mistake of the decoder, never of the program.

use std::collections::HashMap;

use crate::code::{
    Callee, Collective, CollectiveKind, Function, GroupProduct, Inst, JOIN_RETURN, NONE, ObjectOp,
    Op, Shape, Slot, Tensor,
};

/// Most words of a frame: 256 MiB a warp.
const MAX_FRAME_WORDS: u32 = 1 << 26;

/// What the decoder laid out: the places of the frame, and what the arithmetic takes its operands for.
#[derive(Debug, Default)]
pub struct Layout {
    places: HashMap<u32, Shape>,
    /// For each instruction the shapes of `d`, `a`, `b`, `c`, if it is arithmetic.
    pub operands: Vec<[Shape; 4]>,
}

impl Layout {
    /// A place of the frame.
    pub fn place(&mut self, at: u32, shape: Shape) {
        self.places.insert(at, shape);
    }
}

/// A mistake of the decoder.
#[derive(Debug)]
pub struct Found {
    /// The PTX instruction that was decoded wrongly.
    pub origin: u32,
    /// What is wrong.
    pub message: String,
}

type Checked = Result<(), String>;

/// Checks a decoded function against its layout.
pub fn verify(function: &Function, layout: &Layout) -> Result<(), Found> {
    let verifier = Verifier { function, layout };
    let at = |origin: u32| {
        move |what: String| {
            let message = format!("{what}; the CPU device decoded this wrongly, please report it");
            Found { origin, message }
        }
    };
    verifier.frame().map_err(at(0))?;
    for (index, inst) in function.code.iter().enumerate() {
        verifier.instruction(index, inst).map_err(at(inst.origin))?;
    }
    Ok(())
}

struct Verifier<'a> {
    function: &'a Function,
    layout: &'a Layout,
}

impl Verifier<'_> {
    fn frame(&self) -> Checked {
        let (function, layout) = (self.function, self.layout);
        if function.frame_words > MAX_FRAME_WORDS {
            return Err(format!("registers of {} words", function.frame_words));
        }
        if function.zeroed_words > function.frame_words {
            return Err(format!("{} words to set to zero", function.zeroed_words));
        }
        let mut places: Vec<(u32, Shape)> = layout.places.iter().map(|(at, s)| (*at, *s)).collect();
        places.sort_unstable_by_key(|place| place.0);
        let ends = places.iter().skip(1).map(|place| place.0).chain([function.frame_words]);
        for ((at, shape), end) in places.iter().zip(ends) {
            if at + shape.words() > end {
                return Err(format!("the place at word {at} is not its own"));
            }
        }
        self.is(function.true_pred, Shape::Pred)?;
        for constant in &function.consts {
            self.row(constant.row, constant.wide)?;
        }
        for &(index, _, _) in &function.shared_consts {
            self.entry(index, &function.consts)?;
        }
        for slot in function.params.iter().chain(&function.returns) {
            self.slot(*slot)?;
        }
        match function.code.last().map(|inst| (inst.op, inst.guard, inst.guard_not)) {
            Some((Op::Ret { join: NONE }, guard, 0)) if guard == function.true_pred => {}
            _ => return Err("the code does not end with a return".to_string()),
        }
        if layout.operands.len() != function.code.len() {
            return Err("instructions without shapes".to_string());
        }
        Ok(())
    }

    fn is(&self, at: u32, shape: Shape) -> Checked {
        match self.layout.places.get(&at) {
            Some(&found) if found == shape => Ok(()),
            Some(found) => Err(format!("word {at} of the frame is {found:?} and not {shape:?}")),
            None => Err(format!("nothing is at word {at} of the frame")),
        }
    }

    fn row(&self, at: u32, wide: bool) -> Checked {
        self.is(at, Shape::row(wide))
    }

    fn narrow(&self, rows: &[u32]) -> Checked {
        rows.iter().try_for_each(|&row| self.is(row, Shape::Narrow))
    }

    /// As [`Verifier::is`], for operands that may be absent.
    fn optional(&self, at: u32, shape: Shape) -> Checked {
        if at == NONE { Ok(()) } else { self.is(at, shape) }
    }

    fn entry<'t, T>(&self, index: u32, table: &'t [T]) -> Result<&'t T, String> {
        table.get(index as usize).ok_or_else(|| format!("entry {index} of {}", table.len()))
    }

    /// A place where diverged lanes meet.
    fn join(&self, at: u32) -> Checked {
        let known = at == JOIN_RETURN || at == NONE;
        let meets = |inst: &Inst| matches!(inst.op, Op::Join);
        if known || self.function.code.get(at as usize).is_some_and(meets) {
            return Ok(());
        }
        Err(format!("lanes meet at {at}, where they do not wait"))
    }

    fn target(&self, at: u32) -> Checked {
        self.entry(at, &self.function.code).map(|_| ())
    }

    fn slot(&self, slot: Slot) -> Checked {
        match slot {
            Slot::Memory { offset_bytes, size_bytes } => {
                let end = u64::from(offset_bytes) + u64::from(size_bytes).next_multiple_of(4);
                if !offset_bytes.is_multiple_of(4) || end > u64::from(self.function.local_words) * 4
                {
                    return Err(format!("{size_bytes} bytes at {offset_bytes} of the local frame"));
                }
                Ok(())
            }
            Slot::Row { row, wide } => self.row(row, wide),
            Slot::Pred { word } => self.is(word, Shape::Pred),
            Slot::Sink => Ok(()),
        }
    }

    fn instruction(&self, index: usize, inst: &Inst) -> Checked {
        self.is(inst.guard, Shape::Pred)?;
        self.ahead(index, inst)?;
        let Inst { d, a, b, c, imm, .. } = *inst;
        match inst.op {
            Op::Alu => {
                for (at, shape) in [d, a, b, c].into_iter().zip(self.layout.operands[index]) {
                    if shape != Shape::Unused {
                        self.is(at, shape)?;
                    }
                }
                Ok(())
            }
            Op::Special(special) => self.row(d, special.is_wide()),
            Op::FrameAddress { wide } | Op::StackSave { wide } => self.row(d, wide),
            Op::SharedAddress { wide } | Op::Alloca { wide } => {
                self.row(d, wide)?;
                self.row(a, wide)
            }
            Op::StackRestore { wide } | Op::Divisor { wide } => self.row(a, wide),
            Op::ToGeneric(_) | Op::FromGeneric(_) => {
                self.is(d, Shape::Wide)?;
                self.is(a, Shape::Wide)
            }
            Op::IsSpace(_) => {
                self.is(d, Shape::Pred)?;
                self.is(a, Shape::Wide)
            }
            Op::PredLogic(_) => [d, a, b].into_iter().try_for_each(|p| self.is(p, Shape::Pred)),
            Op::RowFromPred => {
                self.is(d, Shape::Narrow)?;
                self.is(a, Shape::Pred)
            }
            Op::PredNonzero => {
                self.is(d, Shape::Pred)?;
                self.is(a, Shape::Narrow)
            }
            Op::Bra { target, join } => {
                self.target(target)?;
                self.join(join)
            }
            Op::Brx { table, join } => {
                self.is(a, Shape::Narrow)?;
                let targets = self.entry(table, &self.function.branch_tables)?;
                targets.iter().try_for_each(|&target| self.target(target))?;
                self.join(join)
            }
            Op::Ret { join } => self.join(join),
            Op::Call => self.call(imm),
            Op::Load(access) | Op::Store(access) => {
                if a != NONE {
                    self.row(a, access.wide_address)?;
                }
                let rows = match access.count {
                    1 => std::slice::from_ref(&inst.d),
                    count => self
                        .entry(d, &self.function.vectors)?
                        .get(..usize::from(count))
                        .ok_or("a vector of more than eight elements")?,
                };
                let shape = Shape::row(access.wide_register);
                let store = matches!(inst.op, Op::Store(_));
                let sink = |row: u32| row == NONE && !store && access.count > 1;
                rows.iter().filter(|&&row| !sink(row)).try_for_each(|&row| self.is(row, shape))
            }
            Op::Mapa(_) => {
                self.row(d, imm != 0)?;
                self.row(a, imm != 0)?;
                self.is(b, Shape::Narrow)
            }
            Op::ClusterRank(_) => {
                self.is(d, Shape::Narrow)?;
                self.row(a, imm != 0)
            }
            Op::WarpSync | Op::Sleep => self.is(a, Shape::Narrow),
            Op::ActiveMask => self.is(d, Shape::Narrow),
            Op::Video => {
                self.entry(imm, &self.function.videos)?;
                self.narrow(&[d, a, b, c])
            }
            _ => self.table_entry(inst),
        }
    }

    /// What runs without a look at its guard has none.
    fn ahead(&self, index: usize, inst: &Inst) -> Checked {
        if inst.ahead == 0 {
            return Ok(());
        }
        let next = self.function.code.get(index + 1).map_or(0, |next| next.ahead);
        let always = inst.guard == self.function.true_pred && inst.guard_not == 0;
        if !inst.is_straight() || !always || inst.ahead != next + 1 {
            return Err(format!("{} instructions ahead", inst.ahead));
        }
        Ok(())
    }

    /// Instructions whose operands are in a table of the function.
    fn table_entry(&self, inst: &Inst) -> Checked {
        let (function, imm) = (self.function, inst.imm);
        match inst.op {
            Op::Atomic => self.atomic(inst),
            Op::Barrier => {
                let barrier = self.entry(imm, &function.barriers)?;
                self.is(barrier.id, Shape::Narrow)?;
                self.optional(barrier.threads, Shape::Narrow)?;
                use crate::code::BarrierKind as K;
                let result = match barrier.kind {
                    K::Sync | K::Arrive => return Ok(()),
                    K::RedPopc => Shape::Narrow,
                    K::RedAnd | K::RedOr => Shape::Pred,
                };
                self.is(barrier.pred.0, Shape::Pred)?;
                self.is(barrier.dst, result)
            }
            Op::BarrierObject => {
                let object = self.entry(imm, &function.objects)?;
                self.row(inst.a, object.wide)?;
                let (operand, result) = match object.op {
                    ObjectOp::TestState => (Shape::Wide, Shape::Pred),
                    ObjectOp::TestParity => (Shape::Narrow, Shape::Pred),
                    _ => (Shape::Narrow, Shape::Wide),
                };
                self.optional(object.operand, operand)?;
                self.optional(object.dst, result)
            }
            Op::Collective => self.collective(self.entry(imm, &function.collectives)?),
            Op::BulkCopy => {
                let copy = self.entry(imm, &function.bulk_copies)?;
                self.row(copy.dst.0, copy.dst.1)?;
                self.row(copy.src.0, copy.src.1)?;
                self.is(copy.size, Shape::Narrow)?;
                self.optional(copy.multicast, Shape::Narrow)?;
                self.optional(copy.object.0, Shape::row(copy.object.1))
            }
            Op::TensorCopy => {
                let copy = self.entry(imm, &function.tensor_copies)?;
                self.is(copy.map, Shape::Wide)?;
                self.narrow(&copy.coords)?;
                self.narrow(&copy.offsets)?;
                self.row(copy.shared.0, copy.shared.1)?;
                self.optional(copy.multicast, Shape::Narrow)?;
                self.optional(copy.object.0, Shape::row(copy.object.1))
            }
            Op::Remote => {
                let remote = self.entry(imm, &function.remotes)?;
                self.row(remote.addr.0, remote.addr.1)?;
                self.row(remote.object.0, remote.object.1)?;
                let shape = Shape::row(remote.ty.bits() == 64);
                remote.srcs.iter().try_for_each(|&row| self.is(row, shape))
            }
            Op::AsyncCopy => {
                let copy = self.entry(imm, &function.async_copies)?;
                self.row(copy.dst.0, copy.dst.1)?;
                self.row(copy.src.0, copy.src.1)?;
                self.optional(copy.src_size, Shape::Narrow)?;
                self.optional(copy.ignore.0, Shape::Pred)
            }
            Op::Mma => self.tensor(self.entry(imm, &function.tensors)?),
            Op::GroupProduct => self.group_product(self.entry(imm, &function.group_products)?),
            Op::Movmatrix => self.narrow(&[inst.d, inst.a]),
            Op::MatrixAddress => {
                let address = self.entry(imm, &function.matrix_addresses)?;
                self.is(inst.d, Shape::Wide)?;
                self.row(address.base, address.wide)?;
                self.optional(address.stride, Shape::Narrow)
            }
            Op::Texture => {
                let fetch = self.entry(imm, &function.textures)?;
                self.is(fetch.texture, Shape::Wide)?;
                self.narrow(&fetch.coords)?;
                self.narrow(fetch.layer.as_slice())?;
                self.narrow(&fetch.offsets)?;
                fetch.dsts.iter().try_for_each(|&row| self.optional(row, Shape::Narrow))
            }
            Op::Surface => {
                let access = self.entry(imm, &function.surfaces)?;
                self.is(access.surface, Shape::Wide)?;
                self.narrow(&access.coords)?;
                self.narrow(access.layer.as_slice())?;
                let shape = Shape::row(access.wide);
                access.rows.iter().try_for_each(|&row| self.optional(row, shape))
            }
            Op::TextureQuery => {
                let query = self.entry(imm, &function.queries)?;
                self.is(query.object, Shape::Wide)?;
                self.is(query.dst, Shape::Narrow)
            }
            Op::ClusterArrive { .. } | Op::ClusterWait => Ok(()),
            Op::Join | Op::Exit | Op::Trap | Op::Brkpt | Op::Nop | Op::Refused => Ok(()),
            Op::Fence(_) | Op::Copies(_) => Ok(()),
            // Everything else was handled by the caller.
            other => Err(format!("{other:?} was not looked at")),
        }
    }

    fn call(&self, index: u32) -> Checked {
        let call = self.entry(index, &self.function.calls)?;
        if let Callee::Indirect { row, wide } = call.callee {
            self.row(row, wide)?;
        }
        call.args.iter().chain(&call.returns).try_for_each(|&slot| self.slot(slot))
    }

    fn atomic(&self, inst: &Inst) -> Checked {
        let atomic = self.entry(inst.imm, &self.function.atomics)?;
        self.row(inst.a, atomic.wide_address)?;
        let bits = atomic.ty.bits();
        let shape = Shape::row(bits >= 64);
        let rows = atomic.dsts.iter().chain(&atomic.srcs).chain([&atomic.swap]);
        for &row in rows.filter(|&&row| row != NONE) {
            self.is(row, shape)?;
            if bits > 64 {
                self.is(row + Shape::Wide.words(), shape)?;
            }
        }
        Ok(())
    }

    fn tensor(&self, tensor: &Tensor) -> Checked {
        use cdp_ptx::matrix::MatrixOperand as Part;
        let operands = [
            (Part::A, &tensor.a),
            (Part::B, &tensor.b),
            (Part::C, &tensor.c),
            (Part::D, &tensor.d),
        ];
        for (part, rows) in operands {
            if rows.len() != tensor.facts.registers(part) {
                return Err(format!("{} registers of {part:?}", rows.len()));
            }
            let shape = Shape::row(tensor.facts.ty(part).bits() == 64);
            let sink = |row: u32| row == NONE && part == Part::D;
            rows.iter().filter(|&&row| !sink(row)).try_for_each(|&row| self.is(row, shape))?;
        }
        match tensor.sparsity {
            Some((row, _)) => self.is(row, Shape::Narrow),
            None => Ok(()),
        }
    }

    fn group_product(&self, product: &GroupProduct) -> Checked {
        use cdp_ptx::warpgroup::{LeftFactor, registers};
        if product.d.len() != registers(product.facts.shape, product.facts.d_ty) {
            return Err(format!("{} registers of the result", product.d.len()));
        }
        self.narrow(&product.d)?;
        match (&product.facts.a, product.a.as_slice()) {
            (LeftFactor::Shared(_), &[row]) => self.is(row, Shape::Wide)?,
            (LeftFactor::Registers(_), &[_, _, _, _]) => self.narrow(&product.a)?,
            (_, rows) => return Err(format!("{} registers of A", rows.len())),
        }
        self.is(product.b, Shape::Wide)?;
        if let Some((row, _)) = product.sparsity {
            self.is(row, Shape::Narrow)?;
        }
        self.is(product.adds.0, Shape::Pred)
    }

    fn collective(&self, collective: &Collective) -> Checked {
        let Collective { mask, a, b, c, d, p, wide, given, .. } = *collective;
        self.optional(mask, Shape::Narrow)?;
        self.optional(d, Shape::Narrow)?;
        self.optional(p, Shape::Pred)?;
        self.optional(given, Shape::Pred)?;
        match collective.kind {
            CollectiveKind::Vote(_) => self.is(a, Shape::Pred),
            CollectiveKind::Elect | CollectiveKind::Matrix => Ok(()),
            CollectiveKind::Shfl(_) => self.narrow(&[a, b, c]),
            CollectiveKind::Match(_) | CollectiveKind::Redux { .. } => self.row(a, wide),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{UnitLinks, decode_unproved};

    const KERNEL: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %q<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  setp.gt.u32 %q1, %r1, 7;
  @%q1 bra DONE;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.v2.u32 {%r2, %r3}, [%rd3];
  shfl.sync.down.b32 %r2|%q1, %r2, 1, 31, -1;
  atom.global.add.u32 %r3, [%rd3], %r2;
DONE:
  ret;
}";

    fn decoded() -> (Function, Layout) {
        let module = cdp_ptx::parse(KERNEL).unwrap();
        let links = UnitLinks { functions: vec![None], ..UnitLinks::default() };
        decode_unproved(&module, cdp_ptx::FunctionId(0), 0, &links).unwrap()
    }

    #[test]
    fn what_the_decoder_makes_is_accepted() {
        let (function, layout) = decoded();
        verify(&function, &layout).unwrap();
    }

    #[test]
    fn every_operand_and_target_that_is_moved_is_found() {
        let (function, layout) = decoded();
        let refused = |change: &dyn Fn(&mut Function)| {
            let mut wrong = function.clone();
            change(&mut wrong);
            verify(&wrong, &layout).is_err()
        };
        for index in 0..function.code.len() {
            assert!(refused(&|f| f.code[index].guard += 1 << 20), "guard of {index}");
            assert!(refused(&|f| f.code[index].ahead += 1), "ahead of {index}");
            let [d, a, b, c] = layout.operands[index].map(|shape| shape != Shape::Unused);
            for moved in [1, 32, u32::MAX / 2] {
                assert!(!d || refused(&|f| f.code[index].d += moved), "d of {index}");
                let kept = |shape: Shape| shape == Shape::Narrow && moved == 32;
                // A row further may be a row of the same shape; a word further never is.
                let [_, sa, sb, sc] = layout.operands[index];
                assert!(!a || kept(sa) || refused(&|f| f.code[index].a += moved), "a of {index}");
                assert!(!b || kept(sb) || refused(&|f| f.code[index].b += moved), "b of {index}");
                assert!(!c || kept(sc) || refused(&|f| f.code[index].c += moved), "c of {index}");
            }
            if let Op::Bra { target, join } = function.code[index].op {
                let bad = Op::Bra { target: target + 100, join };
                assert!(refused(&|f| f.code[index].op = bad));
                let bad = Op::Bra { target, join: join.wrapping_sub(2) };
                assert!(refused(&|f| f.code[index].op = bad));
            }
        }
        assert!(refused(&|f| f.vectors[0][1] += 1));
        assert!(refused(&|f| f.atomics[0].srcs[0] += 16));
        assert!(refused(&|f| f.collectives[0].p += 1 << 16));
        assert!(refused(&|f| f.consts[0].row += 3));
        assert!(refused(&|f| f.frame_words -= 32));
        assert!(refused(&|f| f.true_pred += 1 << 20));
        assert!(refused(&|f| f.zeroed_words = f.frame_words + 1));
        assert!(refused(&|f| f.code.truncate(f.code.len() - 1)));
    }
}
