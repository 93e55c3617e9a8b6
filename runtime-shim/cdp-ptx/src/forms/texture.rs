//! Textures and surfaces, through their objects.

use crate::inst::*;
use crate::parse::mods::Mods;
use crate::parse::operand::Width;
use crate::parse::{Parser, Result};
use crate::print::Printer;
use crate::print::operand::Arg::{self, *};
use crate::types::*;

use ScalarType::*;

/// Is the first coordinate the index of an array's layer?
fn is_array(geometry: TexGeometry) -> bool {
    use TexGeometry::*;
    matches!(geometry, A1 | A2 | ACube | A2Ms)
}

/// How many coordinates (layer and sample included) a shape has at least, and as padded.
fn coordinate_counts(geometry: TexGeometry) -> (usize, usize) {
    use TexGeometry::*;
    match geometry {
        D1 => (1, 1),
        D2 | A1 => (2, 2),
        D3 | A2 | Cube => (3, 4),
        ACube | D2Ms | A2Ms => (3, 4),
    }
}

impl<'a> Parser<'a> {
    fn coordinates(&mut self, geometry: TexGeometry, ty: ScalarType) -> Result<Srcs> {
        let start = self.peek;
        let list = if self.eat(b'{')? {
            let mut layer = is_array(geometry);
            let list = self
                .list(|parser| parser.operand(if std::mem::take(&mut layer) { U32 } else { ty }))?;
            self.expect(b'}')?;
            list
        } else {
            vec![self.operand(ty)?]
        };
        let (least, most) = coordinate_counts(geometry);
        if !(least..=most).contains(&list.len()) {
            fail!(
                self,
                start,
                Operand,
                "a `.{geometry}` texture or surface takes {least} coordinates, {} are given",
                list.len()
            );
        }
        Ok(list.into())
    }

    /// `tex`, `tld4`
    pub fn tex(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let gather = mods.opcode.text == "tld4";
        let component = if gather {
            Some(mods.need("a component such as `.r`", |word| {
                "rgba".find(word).filter(|_| word.len() == 1).map(|index| index as u8)
            })?)
        } else {
            None
        };
        let level = mods.take(|word| match word {
            "base" | "level" | "grad" => Some(word.as_bytes()[0]),
            _ => None,
        });
        let geometry = mods.need("a shape such as `.2d`", TexGeometry::from_str)?;
        let count = mods.lanes();
        let dst_ty = mods.ty(&[U32, S32, F32, F16x2])?;
        let samples = matches!(geometry, TexGeometry::D2Ms | TexGeometry::A2Ms);
        let coord_ty = mods.ty(match (gather, samples) {
            (true, _) => &[F32],
            (_, true) => &[S32],
            _ => &[S32, F32],
        })?;
        let pairs = dst_ty == F16x2;
        mods.require(count == if pairs { 2 } else { 4 }, "the result is `.v4` or `.v2.f16x2`")?;
        mods.finish()?;
        let dsts = self.dsts(dst_ty, count, Width::AtLeast)?;
        let resident = if self.eat(b'|')? { self.dst(Pred, Width::Exact)? } else { None };
        self.comma()?;
        self.expect(b'[')?;
        let texture = self.operand(U64)?;
        self.comma()?;
        let mut sampler = None;
        if self.peek_register_ty().is_some_and(|ty| ty.bits() == 64) {
            sampler = Some(self.operand(U64)?);
            self.comma()?;
        }
        let coords = self.coordinates(geometry, coord_ty)?;
        self.expect(b']')?;
        let lod = match (component, level) {
            (Some(component), _) => TexLod::Gather(component),
            (None, Some(b'b')) => TexLod::Base,
            (None, Some(b'l')) => TexLod::Level(self.next_operand(coord_ty)?),
            (None, Some(_)) => {
                self.comma()?;
                let dx = self.gradient(geometry)?;
                self.comma()?;
                TexLod::Gradient(dx, self.gradient(geometry)?)
            }
            (None, None) => TexLod::Implicit,
        };
        let (mut offsets, mut compare) = (None, None);
        while self.eat(b',')? {
            if self.at(b'{') && offsets.is_none() {
                offsets = Some(self.operand_list(S32, Width::Exact)?.into());
            } else if compare.is_none() {
                compare = Some(self.operand(F32)?);
            } else {
                return self.expected("the end of the instruction");
            }
        }
        let tex = Box::new(Tex {
            geometry,
            dst_ty,
            coord_ty,
            dsts,
            resident,
            texture,
            sampler,
            coords,
            lod,
            offsets,
            compare,
        });
        Ok(if gather { Inst::Tld4(tex) } else { Inst::Tex(tex) })
    }

    /// As many elements as the texture has dimensions; four for three.
    fn gradient(&mut self, geometry: TexGeometry) -> Result<Srcs> {
        let count = match geometry {
            TexGeometry::D1 | TexGeometry::A1 => 1,
            TexGeometry::D2 | TexGeometry::A2 | TexGeometry::D2Ms | TexGeometry::A2Ms => 2,
            TexGeometry::D3 | TexGeometry::Cube | TexGeometry::ACube => 4,
        };
        if !self.at(b'{') && self.vector_register().is_none() {
            return self.expected("`{` and the gradient");
        }
        self.srcs(F32, count, Width::Exact)
    }

    /// `suld`, `sust`
    pub fn surface(&mut self, mods: &mut Mods<'a>) -> Result<Inst> {
        let load = mods.opcode.text == "suld";
        let formatted = !load && mods.flag("p");
        if !formatted {
            mods.word("b")?;
        }
        let geometry = mods.need("a shape such as `.2d`", TexGeometry::from_str)?;
        let ops: &[CacheOp] = match load {
            true => &[CacheOp::Ca, CacheOp::Cg, CacheOp::Cs, CacheOp::Cv],
            false => &[CacheOp::Wb, CacheOp::Cg, CacheOp::Cs, CacheOp::Wt],
        };
        let cache = mods.take(|word| CacheOp::from_str(word).filter(|op| ops.contains(op)));
        let count = mods.lanes();
        mods.require(matches!(count, 1 | 2 | 4), "the value is a scalar, `.v2` or `.v4`")?;
        let ty = mods.ty(if formatted { &[B32] } else { &[B8, B16, B32, B64] })?;
        mods.require(count as u32 * ty.bits() <= 128, "a vector has at most 16 bytes")?;
        let clamp = mods.need("`.trap`, `.clamp` or `.zero`", SurfaceClamp::from_str)?;
        mods.finish()?;
        let mut dsts: Dsts = Box::new([]);
        if load {
            dsts = self.dsts(ty, count, Width::AtLeast)?;
            self.comma()?;
        }
        self.expect(b'[')?;
        let surface = self.operand(U64)?;
        self.comma()?;
        let coords = self.coordinates(geometry, S32)?;
        self.expect(b']')?;
        let access = Box::new(Surface { geometry, ty, clamp, formatted, cache, surface, coords });
        if load {
            return Ok(Inst::Suld { access, dsts });
        }
        self.comma()?;
        let srcs = self.srcs(ty, count, Width::AtLeast)?;
        Ok(Inst::Sust { access, srcs })
    }
}

impl Printer<'_> {
    /// `suld`, `sust`
    pub fn surface(&mut self, inst: &Inst) {
        match inst {
            Inst::Suld { access, dsts } => {
                self.surface_head("suld", access, dsts.len());
                self.out.push(' ');
                self.dsts(dsts);
                self.out.push_str(", ");
                self.surface_address(access);
            }
            Inst::Sust { access, srcs } => {
                self.surface_head("sust", access, srcs.len());
                self.out.push(' ');
                self.surface_address(access);
                self.out.push_str(", ");
                self.srcs(srcs, access.ty);
            }
            _ => unreachable!("the rows that name this function"),
        }
        self.out.push(';');
    }

    fn surface_head(&mut self, name: &str, access: &Surface, len: usize) {
        self.mnemonic(name);
        self.word(if access.formatted { "p" } else { "b" });
        self.word(access.geometry.as_str());
        self.maybe(access.cache);
        self.vector(len);
        self.word(access.ty.as_str());
        self.word(access.clamp.as_str());
    }

    fn surface_address(&mut self, access: &Surface) {
        self.out.push('[');
        self.operand(&access.surface, U64);
        self.out.push_str(", ");
        self.arg(Braced(&access.coords, S32));
        self.out.push(']');
    }

    /// `tex`, `tld4`
    pub fn tex(&mut self, inst: &Inst) {
        fields!(inst, (Inst::Tex(tex) | Inst::Tld4(tex)));
        match &tex.lod {
            TexLod::Gather(component) => {
                self.mnemonic("tld4");
                self.word(["r", "g", "b", "a"][usize::from(*component & 3)]);
            }
            TexLod::Implicit => self.mnemonic("tex"),
            TexLod::Base => self.mnemonic("tex.base"),
            TexLod::Level(_) => self.mnemonic("tex.level"),
            TexLod::Gradient(..) => self.mnemonic("tex.grad"),
        }
        self.word(tex.geometry.as_str());
        self.vector(tex.dsts.len());
        self.words(&[tex.dst_ty.as_str(), tex.coord_ty.as_str()]);
        self.out.push(' ');
        self.arg(Ds(&tex.dsts));
        if tex.resident.is_some() {
            self.out.push('|');
            self.arg(O(tex.resident));
        }
        self.out.push_str(", [");
        self.operand(&tex.texture, U64);
        self.out.push_str(", ");
        if let Some(sampler) = &tex.sampler {
            self.operand(sampler, U64);
            self.out.push_str(", ");
        }
        let ty = tex.coord_ty;
        self.arg(Braced(&tex.coords, ty));
        self.out.push(']');
        let mut more: Vec<Arg> = Vec::new();
        match &tex.lod {
            TexLod::Level(level) => more.push(S(level, ty)),
            TexLod::Gradient(dx, dy) => {
                more.extend([Braced(dx, F32), Braced(dy, F32)]);
            }
            TexLod::Implicit | TexLod::Base | TexLod::Gather(_) => {}
        }
        if let Some(offsets) = &tex.offsets {
            more.push(Braced(offsets, B32));
        }
        if let Some(compare) = &tex.compare {
            more.push(S(compare, F32));
        }
        for arg in more {
            self.out.push_str(", ");
            self.arg(arg);
        }
        self.out.push(';');
    }
}
