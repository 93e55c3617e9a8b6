//! The one place where every PTX instruction is named. A new instruction of `cdp-ptx` does not
//! compile until it is decided here what the device does with it.

use cdp_ptx::{BoolOp, Inst, ScalarType, Space};

use super::{Decoded, Decoder};
use crate::alu::{bits, float, half, int, tiny};
use crate::code::{Async, BarrierKind, CopyOrder, NONE, Op, Order, Sem};

impl Decoder<'_> {
    /// Decodes one instruction; the guard and the origin are already set.
    pub(super) fn decode_inst(&mut self, inst: &Inst) -> Decoded {
        use ScalarType as T;
        match inst {
            Inst::Mov { ty, dst, src } => self.mov(*ty, *dst, *src),
            Inst::MovVector { ty, dsts, srcs } => self.mov_vector(*ty, dsts, srcs),
            Inst::Unknown { text: _, why } => Err(why.to_string()),
            Inst::MovPack { ty, dst, srcs } => self.mov_pack(*ty, *dst, srcs),
            Inst::MovUnpack { ty, dsts, src } => self.mov_unpack(*ty, dsts, *src),
            Inst::Ld { space, order, scope, non_coherent, ty, dsts, addr, cache: _ } => {
                let order = match non_coherent {
                    true => Order::FIXED,
                    false => Order::of_access(*order, *scope),
                };
                self.load(*space, order, *ty, dsts, addr)
            }
            Inst::St { space, order, scope, ty, addr, srcs, cache: _ } => {
                self.store(*space, Order::of_access(*order, *scope), *ty, addr, srcs)
            }
            Inst::CvtaToGeneric { space, ty, dst, src } => self.cvta(*space, *ty, *dst, *src, true),
            Inst::CvtaFromGeneric { space, ty, dst, src } => {
                self.cvta(*space, *ty, *dst, *src, false)
            }
            Inst::Isspacep { space, dst, src } => self.isspacep(*space, *dst, *src),
            // No module with texture references loads, so nothing is the address of one.
            Inst::Istypep { ty: _, dst, src: _ } => self.certain(*dst, false),
            Inst::Cvt { .. } => self.cvt(inst),
            Inst::CvtPackHalf { .. } => self.cvt_pack_half(inst),
            Inst::CvtPackSat { dst_bits, dst_signed, src_ty, dst, a, b, c } => {
                let imm = dst_bits
                    | u32::from(*dst_signed) << 8
                    | u32::from(src_ty.is_signed()) << 9
                    | u32::from(c.is_some()) << 10;
                let (d, a, b) = (self.narrow_dst(*dst)?, self.narrow(*a)?, self.narrow(*b)?);
                let c = c.map(|c| self.narrow(c)).transpose()?.unwrap_or(a);
                self.alu::<crate::alu::convert::PackSat>(d, [a, b, c], imm);
                Ok(())
            }
            Inst::CvtToTiny { pair, src_ty, rounding, relu, satfinite, dst, a, b } => {
                let imm = tiny::imm(*pair, *src_ty, *rounding, *relu, *satfinite);
                let (d, a) = (self.narrow_dst(*dst)?, self.narrow(*a)?);
                match b {
                    Some(b) => {
                        let b = self.narrow(*b)?;
                        self.alu::<tiny::PairOfFloats>(d, [a, b, 0], imm);
                    }
                    None => self.alu::<tiny::PairOfHalves>(d, [a, 0, 0], imm),
                }
                Ok(())
            }
            Inst::CvtFromTiny { dst_ty, pair, relu, dst, src } => {
                let imm = tiny::imm(*pair, *dst_ty, cdp_ptx::CvtRounding::Rn, *relu, false);
                let (d, a) = (self.narrow_dst(*dst)?, self.narrow(*src)?);
                self.alu::<tiny::HalvesOfPair>(d, [a, 0, 0], imm);
                Ok(())
            }
            Inst::Prmt { mode, dst, a, b, c } => self.prmt(*mode, *dst, *a, *b, *c),

            Inst::Add { ty, mode, sat_int, dst, a, b } => {
                self.add_sub(false, *ty, *mode, *sat_int, *dst, *a, *b)
            }
            Inst::Sub { ty, mode, sat_int, dst, a, b } => {
                self.add_sub(true, *ty, *mode, *sat_int, *dst, *a, *b)
            }
            Inst::Mul { ty, mode, dst, a, b } => self.mul_float(*ty, *mode, *dst, *a, *b),
            Inst::MulInt { ty, part, dst, a, b } => self.mul_int(*ty, *part, *dst, *a, *b),
            Inst::MadInt { ty, part, sat, dst, a, b, c } => {
                self.mad_int(*ty, *part, *sat, *dst, *a, *b, *c)
            }
            Inst::Mul24 { ty, part, dst, a, b } => self.mul24(*ty, *part, *dst, *a, *b),
            Inst::Mad24 { ty, part, sat, dst, a, b, c } => {
                self.mad24(*ty, *part, *sat, *dst, *a, *b, *c)
            }
            Inst::Fma { ty, mode, relu, dst, a, b, c } => {
                self.fma(*ty, *mode, *relu, *dst, *a, *b, *c)
            }
            Inst::AddMixed { src_ty, mode, dst, a, b } => {
                let imm = self.mixed_imm(*src_ty, *mode);
                let (d, a, b) = (self.narrow_dst(*dst)?, self.narrow(*a)?, self.narrow(*b)?);
                self.alu::<half::AddMixed>(d, [a, b, 0], imm);
                Ok(())
            }
            Inst::SubMixed { src_ty, mode, dst, a, b } => {
                let imm = self.mixed_imm(*src_ty, *mode);
                let (d, a, b) = (self.narrow_dst(*dst)?, self.narrow(*a)?, self.narrow(*b)?);
                self.alu::<half::SubMixed>(d, [a, b, 0], imm);
                Ok(())
            }
            Inst::FmaMixed { src_ty, mode, dst, a, b, c } => {
                let imm = self.mixed_imm(*src_ty, *mode);
                let (d, a, b) = (self.narrow_dst(*dst)?, self.narrow(*a)?, self.narrow(*b)?);
                let c = self.narrow(*c)?;
                self.alu::<half::FmaMixed>(d, [a, b, c], imm);
                Ok(())
            }
            Inst::Sad { ty, dst, a, b, c } => self.sad(*ty, *dst, *a, *b, *c),
            Inst::DivInt { ty, dst, a, b } => self.div_int(*ty, *dst, *a, *b),
            Inst::Div { ty, mode, ftz, dst, a, b } => {
                self.div_float(*ty, *mode, *ftz, *dst, *a, *b)
            }
            Inst::Rem { ty, dst, a, b } => self.rem(*ty, *dst, *a, *b),
            Inst::Abs { ty, ftz, dst, src } => self.abs_neg(true, *ty, *ftz, *dst, *src),
            Inst::Neg { ty, ftz, dst, src } => self.abs_neg(false, *ty, *ftz, *dst, *src),
            Inst::Min(m) => self.min_max(false, m),
            Inst::Max(m) => self.min_max(true, m),
            Inst::AddCarry { ty, carry_in, carry_out, dst, a, b } => {
                self.carry(false, *ty, *carry_in, *carry_out, *dst, *a, *b)
            }
            Inst::SubCarry { ty, carry_in, carry_out, dst, a, b } => {
                self.carry(true, *ty, *carry_in, *carry_out, *dst, *a, *b)
            }
            Inst::MadCarry { ty, part, carry_in, carry_out, dst, a, b, c } => {
                self.mad_carry(*ty, *part, (*carry_in, *carry_out), *dst, *a, *b, *c)
            }
            Inst::Popc { ty, dst, src } => match ty.bits() {
                64 => self.unary_to32::<bits::Popc64>(*dst, *src, true, 0),
                _ => self.unary_to32::<bits::Popc32>(*dst, *src, false, 0),
            },
            Inst::Clz { ty, dst, src } => match ty.bits() {
                64 => self.unary_to32::<bits::Clz64>(*dst, *src, true, 0),
                _ => self.unary_to32::<bits::Clz32>(*dst, *src, false, 0),
            },
            Inst::Bfind { ty, shift_amount, dst, src } => {
                let imm = u32::from(*shift_amount);
                match (ty.bits(), ty.is_signed()) {
                    (64, true) => self.unary_to32::<bits::BfindS64>(*dst, *src, true, imm),
                    (64, false) => self.unary_to32::<bits::BfindU64>(*dst, *src, true, imm),
                    (_, true) => self.unary_to32::<bits::BfindS32>(*dst, *src, false, imm),
                    (_, false) => self.unary_to32::<bits::BfindU32>(*dst, *src, false, imm),
                }
            }
            Inst::Brev { ty, dst, src } => match ty.bits() {
                64 => self.unary::<bits::Brev64>(*dst, *src, true, 0),
                _ => self.unary::<bits::Brev32>(*dst, *src, false, 0),
            },
            Inst::Bfe { ty, dst, src, pos, len } => self.bfe(*ty, *dst, *src, *pos, *len),
            Inst::Bfi { ty, dst, field, base, pos, len } => {
                self.bfi(*ty, *dst, *field, *base, *pos, *len)
            }
            Inst::Bmsk { mode, dst, pos, len } => {
                let (d, p, l) = (self.narrow_dst(*dst)?, self.narrow(*pos)?, self.narrow(*len)?);
                match mode {
                    cdp_ptx::ShiftMode::Clamp => self.alu::<bits::BmskClamp>(d, [p, l, 0], 0),
                    cdp_ptx::ShiftMode::Wrap => self.alu::<bits::BmskWrap>(d, [p, l, 0], 0),
                }
                Ok(())
            }
            Inst::Szext { mode, ty, dst, src, len } => {
                use cdp_ptx::ShiftMode::{Clamp, Wrap};
                let (d, a, n) = (self.narrow_dst(*dst)?, self.narrow(*src)?, self.narrow(*len)?);
                match (mode, ty.is_signed()) {
                    (Clamp, false) => self.alu::<bits::SzextClampU>(d, [a, n, 0], 0),
                    (Clamp, true) => self.alu::<bits::SzextClampS>(d, [a, n, 0], 0),
                    (Wrap, false) => self.alu::<bits::SzextWrapU>(d, [a, n, 0], 0),
                    (Wrap, true) => self.alu::<bits::SzextWrapS>(d, [a, n, 0], 0),
                }
                Ok(())
            }
            Inst::Fns { dst, mask, base, offset } => {
                self.ternary::<bits::Fns>(*dst, [*mask, *base, *offset], false, 0)
            }
            Inst::Dp4a { a_ty, b_ty, dst, a, b, c } => {
                let imm = u32::from(a_ty.is_signed()) | u32::from(b_ty.is_signed()) << 1;
                self.ternary::<bits::Dp4a>(*dst, [*a, *b, *c], false, imm)
            }
            Inst::Dp2a { a_ty, b_ty, high, dst, a, b, c } => {
                let signs = u32::from(a_ty.is_signed()) | u32::from(b_ty.is_signed()) << 1;
                self.ternary::<bits::Dp2a>(*dst, [*a, *b, *c], false, signs | u32::from(*high) << 2)
            }
            Inst::Sqrt { ty, mode, ftz, dst, src } => self.sqrt(*ty, *mode, *ftz, *dst, *src),
            Inst::Rcp { ty, mode, ftz, dst, src } => self.rcp(*ty, *mode, *ftz, *dst, *src),
            Inst::Rsqrt { ty: T::F64, ftz: false, dst, src } => {
                self.unary::<float::RsqrtF64>(*dst, *src, true, 0)
            }
            Inst::Rsqrt { ty: T::F64, ftz: true, dst, src } => {
                self.unary::<float::RsqrtApproxFtzF64>(*dst, *src, true, 0)
            }
            Inst::Rsqrt { ty: _, ftz, dst, src } => {
                self.unary::<float::Rsqrt>(*dst, *src, false, u32::from(*ftz) << 3)
            }
            Inst::Sin { ftz, dst, src } => {
                self.unary::<float::Sin>(*dst, *src, false, u32::from(*ftz) << 3)
            }
            Inst::Cos { ftz, dst, src } => {
                self.unary::<float::Cos>(*dst, *src, false, u32::from(*ftz) << 3)
            }
            Inst::Lg2 { ftz, dst, src } => {
                self.unary::<float::Lg2>(*dst, *src, false, u32::from(*ftz) << 3)
            }
            Inst::Ex2 { ty: T::F32, ftz, dst, src } => {
                self.unary::<float::Ex2>(*dst, *src, false, u32::from(*ftz) << 3)
            }
            Inst::Ex2 { ty, ftz, dst, src } => {
                let imm = self.half_flags(*ty, *ftz)?.imm();
                self.unary::<half::Ex2>(*dst, *src, false, imm)
            }
            Inst::Tanh { ty: T::F32, dst, src } => self.unary::<float::Tanh>(*dst, *src, false, 0),
            Inst::Tanh { ty, dst, src } => {
                let imm = self.half_flags(*ty, false)?.imm();
                self.unary::<half::Tanh>(*dst, *src, false, imm)
            }
            Inst::Copysign { ty, dst, a, b } => match ty.bits() {
                64 => self.binary::<float::CopysignF64>(*dst, *a, *b, true, 0),
                _ => self.binary::<float::CopysignF32>(*dst, *a, *b, false, 0),
            },
            Inst::Testp { op, ty, dst, src } => self.testp(*op, *ty, *dst, *src),

            Inst::And { ty: T::Pred, dst, a, b } => {
                self.pred_binary(crate::code::PredLogic::And, *dst, *a, *b)
            }
            Inst::Or { ty: T::Pred, dst, a, b } => {
                self.pred_binary(crate::code::PredLogic::Or, *dst, *a, *b)
            }
            Inst::Xor { ty: T::Pred, dst, a, b } => {
                self.pred_binary(crate::code::PredLogic::Xor, *dst, *a, *b)
            }
            Inst::Not { ty: T::Pred, dst, src } => self.pred_not(*dst, *src),
            Inst::And { ty, dst, a, b } => match ty.bits() {
                64 => self.binary::<int::And64>(*dst, *a, *b, true, 0),
                _ => self.binary::<int::And32>(*dst, *a, *b, false, 0),
            },
            Inst::Or { ty, dst, a, b } => match ty.bits() {
                64 => self.binary::<int::Or64>(*dst, *a, *b, true, 0),
                _ => self.binary::<int::Or32>(*dst, *a, *b, false, 0),
            },
            Inst::Xor { ty, dst, a, b } => match ty.bits() {
                64 => self.binary::<int::Xor64>(*dst, *a, *b, true, 0),
                _ => self.binary::<int::Xor32>(*dst, *a, *b, false, 0),
            },
            Inst::Not { ty, dst, src } => match ty.bits() {
                64 => self.unary::<int::Not64>(*dst, *src, true, 0),
                16 => self.unary::<int::Not16>(*dst, *src, false, 0),
                _ => self.unary::<int::Not32>(*dst, *src, false, 0),
            },
            Inst::Cnot { ty, dst, src } => match ty.bits() {
                64 => self.unary::<int::Cnot64>(*dst, *src, true, 0),
                16 => self.unary::<int::Cnot16>(*dst, *src, false, 0),
                _ => self.unary::<int::Cnot32>(*dst, *src, false, 0),
            },
            Inst::Lop3 { table, dst, pred, a, b, c, combine } => {
                self.lop3(*table, *dst, [*a, *b, *c], pred.zip(*combine))
            }
            Inst::Shl { ty, dst, a, amount } => self.shift(true, *ty, *dst, *a, *amount),
            Inst::Shr { ty, dst, a, amount } => self.shift(false, *ty, *dst, *a, *amount),
            Inst::Shf { left, mode, dst, lo, hi, amount } => {
                use cdp_ptx::ShiftMode::{Clamp, Wrap};
                let sources = [*lo, *hi, *amount];
                match (left, mode) {
                    (true, Clamp) => self.ternary::<int::ShfLClamp>(*dst, sources, false, 0),
                    (true, Wrap) => self.ternary::<int::ShfLWrap>(*dst, sources, false, 0),
                    (false, Clamp) => self.ternary::<int::ShfRClamp>(*dst, sources, false, 0),
                    (false, Wrap) => self.ternary::<int::ShfRWrap>(*dst, sources, false, 0),
                }
            }

            Inst::Setp { .. } => self.setp(inst),
            Inst::Set { .. } => self.set(inst),
            Inst::Selp { ty, dst, a, b, pred } => self.selp(*ty, *dst, *a, *b, *pred),
            Inst::Slct { ty, c_ty, ftz, dst, a, b, c } => {
                self.slct(*ty, *c_ty, *ftz, *dst, [*a, *b, *c])
            }

            Inst::Video(v) => {
                let video = crate::code::VideoInst::Scalar(v.clone());
                self.video(video, v.dst, v.a.0, v.b.0, v.c.unwrap_or(v.a.0))
            }
            Inst::VideoMad(v) => {
                let video = crate::code::VideoInst::Mad(v.clone());
                self.video(video, v.dst, v.a.0, v.b.0, v.c)
            }
            Inst::VideoSimd(v) => {
                let video = crate::code::VideoInst::Simd(v.clone());
                self.video(video, v.dst, v.a, v.b, v.c)
            }

            Inst::Bra { target, uniform: _ } => self.bra(*target),
            Inst::BrxIdx { index, table, uniform: _ } => self.brx(*index, *table),
            Inst::Call { target, returns, args, uniform: _ } => self.call(target, returns, args),
            Inst::Ret { uniform: _ } => self.ret(),
            Inst::Exit {} => self.simple(Op::Exit),
            Inst::Trap {} => self.simple(Op::Trap),
            Inst::Brkpt {} => self.simple(Op::Brkpt),

            Inst::Barrier { arrives, aligned, id, threads } => {
                let kind = if *arrives { BarrierKind::Arrive } else { BarrierKind::Sync };
                self.barrier(kind, *aligned, *id, *threads, ((0, 0), NONE))
            }
            Inst::BarrierReduce { op, aligned, dst, id, threads, pred } => {
                let (kind, dst) = match op {
                    None => (BarrierKind::RedPopc, self.narrow_dst(*dst)?),
                    Some(BoolOp::And) => (BarrierKind::RedAnd, self.pred_dst(*dst)?),
                    Some(BoolOp::Or) => (BarrierKind::RedOr, self.pred_dst(*dst)?),
                    Some(BoolOp::Xor) => return Err("`bar.red.xor`".to_string()),
                };
                let pred = self.pred(*pred)?;
                self.barrier(kind, *aligned, *id, *threads, (pred, dst))
            }
            Inst::BarWarpSync { mask } => {
                let a = self.narrow(*mask)?;
                let inst = crate::code::Inst { a, ..self.blank(Op::WarpSync) };
                self.emit(inst);
                Ok(())
            }
            Inst::BarrierCluster { waits, relaxed, aligned: _ } => {
                self.cluster_barrier(*waits, *relaxed)
            }
            Inst::Mapa(mapa) => self.mapa(mapa),
            Inst::Getctarank { space, ty, dst, src } => self.getctarank(*space, *ty, *dst, *src),
            Inst::RemoteAccess(access) => self.remote_access(access),
            // A warp here has what registers it wants.
            Inst::Setmaxnreg { increases: _, registers: _ } => self.simple(Op::Nop),
            Inst::Membar { level } => {
                let scope = match level {
                    cdp_ptx::MembarLevel::Cta => cdp_ptx::Scope::Cta,
                    cdp_ptx::MembarLevel::Gl => cdp_ptx::Scope::Gpu,
                    cdp_ptx::MembarLevel::Sys => cdp_ptx::Scope::Sys,
                };
                self.fence(Sem::AcqRel, scope)
            }
            Inst::Fence { order, scope } => {
                let sem = match order {
                    cdp_ptx::FenceOrder::Sc | cdp_ptx::FenceOrder::AcqRel => Sem::AcqRel,
                    cdp_ptx::FenceOrder::Acquire => Sem::Acquire,
                    cdp_ptx::FenceOrder::Release => Sem::Release,
                };
                self.fence(sem, *scope)
            }
            // One proxy is all that there is, but for the race checker.
            Inst::FenceProxy { kind: cdp_ptx::ProxyKind::Alias } => self.simple(Op::Nop),
            Inst::FenceProxy { kind: _ } => self.simple(Op::Copies(CopyOrder::Proxy)),
            Inst::Atom(atom) => self.atomic(atom),
            Inst::AtomVector(atom) => self.atomic_vector(atom),
            Inst::Multimem(access) => self.multimem(access),
            Inst::Vote { mode, dst, pred, mask } => self.vote(*mode, *dst, *pred, *mask),
            Inst::Match { .. } => self.match_sync(inst),
            Inst::Activemask { dst } => {
                let d = self.narrow_dst(*dst)?;
                let inst = crate::code::Inst { d, ..self.blank(Op::ActiveMask) };
                self.emit(inst);
                Ok(())
            }
            Inst::Redux { .. } => self.redux(inst),
            Inst::Shfl(shfl) => self.shfl(shfl),
            Inst::Mma(mma) | Inst::Wmma(mma) => self.mma(mma),
            Inst::Wgmma(wgmma) => self.wgmma(wgmma),
            // A product is done when it is issued, but for the race checker.
            Inst::WgmmaFence {} => self.simple(Op::Nop),
            Inst::WgmmaCommitGroup {} => {
                self.simple(Op::Copies(CopyOrder::Commit { of: Async::Products }))
            }
            Inst::WgmmaWaitGroup { pending } => {
                let (of, read) = (Async::Products, false);
                self.simple(Op::Copies(CopyOrder::Wait { of, pending: *pending, read }))
            }
            Inst::WmmaMemory(memory) => self.wmma_memory(memory),
            Inst::MatrixMemory(memory) => self.matrix_memory(memory),
            Inst::Movmatrix(matrix) => self.movmatrix(matrix),
            Inst::MbarrierInit { .. }
            | Inst::MbarrierInvalidate { .. }
            | Inst::MbarrierWait { .. }
            | Inst::MbarrierArrive { .. }
            | Inst::MbarrierTransactions { .. }
            | Inst::CpAsyncArrive { .. } => self.mbarrier(inst),
            Inst::MbarrierPendingCount { dst, state } => self.pending_count(*dst, *state),
            Inst::Elect { dst, pred, mask } => self.elect(*dst, *pred, *mask),
            // Every launch waits for its stream: only the race checker knows what does not.
            Inst::Griddepcontrol { action: cdp_ptx::GriddepAction::Wait } => {
                self.simple(Op::Copies(CopyOrder::Dependencies))
            }
            Inst::Griddepcontrol { action: cdp_ptx::GriddepAction::LaunchDependents } => {
                self.simple(Op::Nop)
            }

            Inst::CpAsync { .. } => self.cp_async(inst),
            Inst::CpAsyncCommitGroup {} => {
                self.simple(Op::Copies(CopyOrder::Commit { of: Async::Copies }))
            }
            Inst::CpAsyncWaitGroup { pending } => {
                let (of, read) = (Async::Copies, false);
                self.simple(Op::Copies(CopyOrder::Wait { of, pending: *pending, read }))
            }
            Inst::CpAsyncWaitAll {} => self.simple(Op::Copies(CopyOrder::WaitAll)),

            Inst::BulkCopy(copy) => self.bulk_copy(copy),
            Inst::BulkCommitGroup {} => {
                self.simple(Op::Copies(CopyOrder::Commit { of: Async::Bulk }))
            }
            Inst::BulkWaitGroup { pending, read } => {
                let (of, pending, read) = (Async::Bulk, *pending, *read);
                self.simple(Op::Copies(CopyOrder::Wait { of, pending, read }))
            }
            Inst::BulkPrefetch { .. } | Inst::TensorPrefetch { .. } => self.simple(Op::Nop),
            Inst::TensorLoad(load) => self.tensor_load(load),
            Inst::TensorStore { reduce, columns, map, coords, src, .. } => {
                self.tensor_store(*reduce, *columns, *map, coords, src)
            }

            // Hints.
            Inst::Prefetch { .. }
            | Inst::PrefetchMap { .. }
            | Inst::PrefetchUniform { .. }
            | Inst::ApplyPriority { .. }
            | Inst::Discard { .. } => self.simple(Op::Nop),
            Inst::PolicyFractional { dst, .. }
            | Inst::PolicyRange { dst, .. }
            | Inst::PolicyConvert { dst, .. } => {
                let d = self.wide_dst(*dst)?;
                let zero = self.constant(0, true);
                self.alu::<int::Mov64>(d, [zero, 0, 0], 0);
                Ok(())
            }

            Inst::Tex(tex) => self.texture(tex),
            Inst::Surface(access) if access.srcs.is_empty() => self.surface_load(access),
            Inst::Surface(access) => self.surface_store(access),
            Inst::Txq { query, dst, object, level: _ } => self.query(*query, *dst, *object),
            Inst::Suq { query, dst, object } => self.query(*query, *dst, *object),

            Inst::Alloca { ty, dst, size, align_bytes } => {
                let wide = ty.bits() == 64;
                let (d, a) = (self.dst(*dst, wide)?, self.row(*size, wide)?);
                let imm = (*align_bytes).max(1);
                let inst = crate::code::Inst { d, a, imm, ..self.blank(Op::Alloca { wide }) };
                self.emit(inst);
                Ok(())
            }
            Inst::Stacksave { ty, dst } => {
                let wide = ty.bits() == 64;
                let d = self.dst(*dst, wide)?;
                let inst = crate::code::Inst { d, ..self.blank(Op::StackSave { wide }) };
                self.emit(inst);
                Ok(())
            }
            Inst::Stackrestore { ty, src } => {
                let wide = ty.bits() == 64;
                let a = self.row(*src, wide)?;
                let inst = crate::code::Inst { a, ..self.blank(Op::StackRestore { wide }) };
                self.emit(inst);
                Ok(())
            }

            Inst::Nanosleep { duration } => {
                let a = self.narrow(*duration)?;
                let inst = crate::code::Inst { a, ..self.blank(Op::Sleep) };
                self.emit(inst);
                Ok(())
            }
            Inst::Pmevent { mask: _, event: _ } => self.simple(Op::Nop),
        }
    }

    /// An instruction without operands.
    pub(super) fn simple(&mut self, op: Op) -> Decoded {
        let inst = self.blank(op);
        self.emit(inst);
        Ok(())
    }

    fn fence(&mut self, sem: Sem, scope: cdp_ptx::Scope) -> Decoded {
        if scope != cdp_ptx::Scope::Cta {
            self.out.independent = false;
        }
        self.simple(Op::Fence(Order { sem, reach: scope.into() }))
    }

    fn video(
        &mut self,
        video: crate::code::VideoInst,
        dst: cdp_ptx::Reg,
        a: cdp_ptx::Operand,
        b: cdp_ptx::Operand,
        c: cdp_ptx::Operand,
    ) -> Decoded {
        let (d, a) = (self.narrow_dst(dst)?, self.narrow(a)?);
        let (b, c) = (self.narrow(b)?, self.narrow(c)?);
        let imm = self.out.videos.len() as u32;
        self.out.videos.push(video);
        let inst = crate::code::Inst { d, a, b, c, imm, ..self.blank(Op::Video) };
        self.emit(inst);
        Ok(())
    }
}

/// True for the spaces whose addresses are host addresses.
pub(super) fn is_memory(space: Space) -> bool {
    matches!(space, Space::Global | Space::Const)
}
