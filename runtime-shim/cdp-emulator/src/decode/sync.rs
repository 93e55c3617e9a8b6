//! Decoding of barriers, atomics, warp-wide exchanges, asynchronous copies, textures.

use cdp_ptx::inst::{Atom, AtomVector, PredOperand, Shfl, Surface, Tex};
use cdp_ptx::{AtomOp, Inst, Operand, Reg, ScalarType, TexGeometry, TexQuery, VoteMode};

use super::{Decoded, Decoder, RegPlace};
use crate::code::{
    AsyncCopy, Atomic, Barrier, BarrierKind, Collective, CollectiveKind, NONE, Op, Order,
    StateSpace, is_nothing,
};
use crate::texture::{SurfaceAccess, TextureFetch, TextureLod, TextureQuery, has_layers};

type T = ScalarType;

impl Decoder<'_> {
    pub(super) fn barrier(
        &mut self,
        kind: BarrierKind,
        aligned: bool,
        id: Operand,
        threads: Option<Operand>,
        (pred, dst): ((u32, u32), u32),
    ) -> Decoded {
        let id = self.narrow(id)?;
        let threads = threads.map(|t| self.narrow(t)).transpose()?.unwrap_or(NONE);
        let imm = self.out.barriers.len() as u32;
        self.out.barriers.push(Barrier { kind, aligned, id, threads, pred, dst });
        let inst = crate::code::Inst { imm, ..self.blank(Op::Barrier) };
        self.emit(inst);
        Ok(())
    }

    /// The row of a destination or source whose width follows from the type of an atomic.
    fn atomic_row(&mut self, operand: Operand, ty: T) -> Result<u32, String> {
        self.row(operand, ty.bits() == 64)
    }

    pub(super) fn atomic(&mut self, atom: &Atom) -> Decoded {
        if atom.ty.bits() == 128 {
            return self.quad_atomic(atom);
        }
        let parts = self.address(atom.space, &atom.addr)?;
        let used = atom.dst.filter(|reg| !self.unread[reg.index()]);
        let wide = atom.ty.bits() == 64;
        let dsts = match used {
            Some(reg) => vec![self.dst(reg, wide)?],
            None => Vec::new(),
        };
        let src = self.atomic_row(atom.b, atom.ty)?;
        let swap = atom.c.map(|c| self.atomic_row(c, atom.ty)).transpose()?.unwrap_or(NONE);
        let order = Order::of_atomic(atom.order, atom.scope);
        let is_nothing =
            matches!(atom.b, Operand::Imm(value) if is_nothing(atom.op, atom.ty, value));
        self.out.looks |= is_nothing && !dsts.is_empty();
        self.push_atomic((atom.op, order), atom.ty, parts, dsts, vec![src], swap)
    }

    pub(super) fn atomic_vector(&mut self, atom: &AtomVector) -> Decoded {
        let parts = self.address(atom.space, &atom.addr)?;
        let mut dsts = Vec::new();
        for dst in &atom.dsts {
            dsts.push(match dst {
                Some(reg) => self.narrow_dst(*reg)?,
                None => NONE,
            });
        }
        let mut srcs = Vec::new();
        for src in &atom.srcs {
            srcs.push(self.narrow(*src)?);
        }
        let order = Order::of_atomic(atom.order, atom.scope);
        self.push_atomic((atom.op, order), atom.ty, parts, dsts, srcs, NONE)
    }

    pub(super) fn push_atomic(
        &mut self,
        (op, order): (AtomOp, Order),
        ty: T,
        parts: super::data::AddressParts,
        dsts: Vec<u32>,
        srcs: Vec<u32>,
        swap: u32,
    ) -> Decoded {
        let (row, offset, wide_address) = match (parts.space, parts.row) {
            (StateSpace::Frame | StateSpace::Param, _) | (_, NONE) => {
                return Err("an atomic on a parameter or local variable".to_string());
            }
            (_, row) => (row, parts.offset, parts.wide),
        };
        let observed = !dsts.is_empty();
        // Reductions that commute and whose old value nobody looks at may run in any order.
        let commutes =
            !ty.is_float() && !matches!(op, AtomOp::Cas | AtomOp::Exch | AtomOp::Inc | AtomOp::Dec);
        if (observed || !commutes) && !parts.space.is_near() {
            self.out.independent = false;
        }
        let imm = self.out.atomics.len() as u32;
        self.out.atomics.push(Atomic {
            op,
            ty,
            space: parts.space,
            wide_address,
            offset,
            order,
            dsts,
            srcs,
            swap,
        });
        let inst = crate::code::Inst { a: row, imm, ..self.blank(Op::Atomic) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn push_collective(&mut self, collective: Collective) -> Decoded {
        let imm = self.out.collectives.len() as u32;
        self.out.collectives.push(collective);
        let inst = crate::code::Inst { imm, ..self.blank(Op::Collective) };
        self.emit(inst);
        Ok(())
    }

    fn member_mask(&mut self, mask: Option<Operand>) -> Result<u32, String> {
        Ok(mask.map(|mask| self.narrow(mask)).transpose()?.unwrap_or(NONE))
    }

    fn optional_pred(&mut self, reg: Option<Reg>) -> Result<u32, String> {
        Ok(reg.map(|reg| self.pred_dst(reg)).transpose()?.unwrap_or(NONE))
    }

    fn optional_narrow(&mut self, reg: Option<Reg>) -> Result<u32, String> {
        Ok(reg.map(|reg| self.narrow_dst(reg)).transpose()?.unwrap_or(NONE))
    }

    /// Where it is said whether what the shuffle at hand moves has contents.
    fn given(&mut self) -> Result<u32, String> {
        let given = self.links.given.get(&self.origin).copied();
        self.optional_pred(given)
    }

    pub(super) fn shfl(&mut self, s: &Shfl) -> Decoded {
        let collective = Collective::of(CollectiveKind::Shfl(s.mode), self.member_mask(s.mask)?);
        let collective = Collective {
            a: self.narrow(s.src)?,
            b: self.narrow(s.b)?,
            c: self.narrow(s.c)?,
            d: self.optional_narrow(s.dst)?,
            p: self.optional_pred(s.pred)?,
            given: self.given()?,
            ..collective
        };
        self.push_collective(collective)
    }

    pub(super) fn vote(
        &mut self,
        mode: VoteMode,
        dst: Reg,
        pred: PredOperand,
        mask: Option<Operand>,
    ) -> Decoded {
        let (a, negate) = self.pred(pred)?;
        let ballot = mode == VoteMode::Ballot;
        let collective = Collective::of(CollectiveKind::Vote(mode), self.member_mask(mask)?);
        let collective = Collective {
            a,
            d: if ballot { self.narrow_dst(dst)? } else { NONE },
            p: if ballot { NONE } else { self.pred_dst(dst)? },
            negate,
            ..collective
        };
        self.push_collective(collective)
    }

    pub(super) fn match_sync(&mut self, inst: &Inst) -> Decoded {
        let Inst::Match { mode, ty, dst, pred, src, mask } = inst else { return Ok(()) };
        let wide = ty.bits() == 64;
        let collective = Collective::of(CollectiveKind::Match(*mode), self.narrow(*mask)?);
        let collective = Collective {
            a: self.row(*src, wide)?,
            d: self.optional_narrow(*dst)?,
            p: self.optional_pred(*pred)?,
            wide,
            ..collective
        };
        self.push_collective(collective)
    }

    pub(super) fn redux(&mut self, inst: &Inst) -> Decoded {
        let Inst::Redux { op, ty, abs, nan, dst, src, mask } = inst else { return Ok(()) };
        let collective = Collective::of(
            CollectiveKind::Redux { op: *op, ty: *ty, abs: *abs, nan: *nan },
            self.narrow(*mask)?,
        );
        let collective =
            Collective { a: self.narrow(*src)?, d: self.narrow_dst(*dst)?, ..collective };
        self.push_collective(collective)
    }

    pub(super) fn elect(&mut self, dst: Option<Reg>, pred: Reg, mask: Operand) -> Decoded {
        let collective = Collective::of(CollectiveKind::Elect, self.narrow(mask)?);
        let collective =
            Collective { d: self.optional_narrow(dst)?, p: self.pred_dst(pred)?, ..collective };
        self.push_collective(collective)
    }

    pub(super) fn cp_async(&mut self, inst: &Inst) -> Decoded {
        let Inst::CpAsync { dst, src, size_bytes, src_size, ignore_src, cache: _ } = inst else {
            return Ok(());
        };
        let to = self.address(cdp_ptx::Space::Shared, dst)?;
        let from = self.address(cdp_ptx::Space::Global, src)?;
        let copy = AsyncCopy {
            dst: (to.row, to.wide),
            dst_offset: to.offset,
            src: (from.row, from.wide),
            src_offset: from.offset,
            size_bytes: *size_bytes,
            src_size: src_size.map(|s| self.narrow(s)).transpose()?.unwrap_or(NONE),
            ignore: ignore_src.map(|p| self.pred(p)).transpose()?.unwrap_or((NONE, 0)),
        };
        let imm = self.out.async_copies.len() as u32;
        self.out.async_copies.push(copy);
        let inst = crate::code::Inst { imm, ..self.blank(Op::AsyncCopy) };
        self.emit(inst);
        Ok(())
    }

    // Textures and surfaces.

    /// Rows of the layer's number and of the other coordinates.
    fn coordinates(
        &mut self,
        geometry: TexGeometry,
        coords: &[Operand],
    ) -> Result<(Option<u32>, Vec<u32>), String> {
        let mut rows = self.narrow_all(coords)?;
        let layer = has_layers(geometry).then(|| rows.remove(0));
        Ok((layer, rows))
    }

    pub(super) fn texture(&mut self, tex: &Tex) -> Decoded {
        // No texture of CUDA has a comparison, and without one a depth to compare with changes nothing on an H200.
        let texture = self.wide(tex.texture)?;
        let (layer, coords) = self.coordinates(tex.geometry, &tex.coords)?;
        let mut dsts = Vec::new();
        for dst in &tex.dsts {
            dsts.push(self.optional_narrow(*dst)?);
        }
        let fetch = TextureFetch {
            geometry: tex.geometry,
            dst_ty: tex.dst_ty,
            coord_ty: tex.coord_ty,
            texture,
            layer,
            coords,
            dsts,
            offsets: self.narrow_all(&tex.offsets)?,
            gather: tex.component.map(|component| component as u8),
            lod: match (tex.level, tex.dx.is_empty()) {
                (Some(level), _) => TextureLod::Level(self.narrow(level)?),
                (None, false) => {
                    TextureLod::Gradient([self.narrow_all(&tex.dx)?, self.narrow_all(&tex.dy)?])
                }
                (None, true) => TextureLod::Base,
            },
        };
        fetch.check()?;
        let imm = self.out.textures.len() as u32;
        self.out.textures.push(fetch);
        let inst = crate::code::Inst { imm, ..self.blank(Op::Texture) };
        self.emit(inst);
        // All memory is there.
        tex.resident.map_or(Ok(()), |resident| self.certain(resident, true))
    }

    fn narrow_all(&mut self, operands: &[Operand]) -> Result<Vec<u32>, String> {
        operands.iter().map(|operand| self.narrow(*operand)).collect()
    }

    fn surface(&mut self, access: &Surface, rows: Vec<u32>, wide: bool, store: bool) -> Decoded {
        // A store can be seen by other blocks only through other surface or global accesses, which
        // are as racy there as global stores are.
        let (layer, coords) = self.coordinates(access.geometry, &access.coords)?;
        let surface = SurfaceAccess {
            geometry: access.geometry,
            ty: access.ty,
            clamp: access.clamp,
            formatted: access.formatted,
            surface: self.wide(access.surface)?,
            layer,
            coords,
            rows,
            wide,
            store,
        };
        surface.check()?;
        let imm = self.out.surfaces.len() as u32;
        self.out.surfaces.push(surface);
        let inst = crate::code::Inst { imm, ..self.blank(Op::Surface) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn surface_load(&mut self, access: &Surface) -> Decoded {
        let wide =
            access.dsts.iter().flatten().any(|reg| matches!(self.reg(*reg), RegPlace::Wide(_)));
        let mut rows = Vec::new();
        for dst in &access.dsts {
            rows.push(match dst {
                Some(reg) => self.dst(*reg, wide)?,
                None => NONE,
            });
        }
        self.surface(access, rows, wide, false)
    }

    pub(super) fn surface_store(&mut self, access: &Surface) -> Decoded {
        let wide = access.ty.bits() == 64;
        let rows = access.srcs.iter().map(|src| self.row(*src, wide)).collect::<Result<_, _>>()?;
        self.surface(access, rows, wide, true)
    }

    pub(super) fn query(&mut self, query: TexQuery, dst: Reg, object: Operand) -> Decoded {
        let query = TextureQuery { query, object: self.wide(object)?, dst: self.narrow_dst(dst)? };
        let imm = self.out.queries.len() as u32;
        self.out.queries.push(query);
        let inst = crate::code::Inst { imm, ..self.blank(Op::TextureQuery) };
        self.emit(inst);
        Ok(())
    }
}
