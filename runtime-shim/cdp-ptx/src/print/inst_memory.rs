//! Memory, texture and surface instructions as text.

use super::Printer;
use super::operand::Arg::{self, *};
use crate::inst::*;
use crate::types::*;

use ScalarType::{B32, B64, F32, S32, U32, U64};

impl Printer<'_> {
    fn space(&mut self, space: Space) {
        if space != Space::Generic {
            self.word(space.as_str());
        }
    }

    fn cache(&mut self, hints: &CacheHints) {
        if let Some(op) = hints.op {
            self.word(op.as_str());
        }
        if let Some(l1) = hints.l1 {
            self.word(l1.as_str());
        }
        if let Some(l2) = hints.l2 {
            self.word(l2.as_str());
        }
        self.flag(hints.policy.is_some(), "L2::cache_hint");
        if let Some(prefetch) = hints.prefetch {
            self.word(prefetch.as_str());
        }
    }

    fn vector(&mut self, len: usize) {
        match len {
            2 => self.word("v2"),
            4 => self.word("v4"),
            8 => self.word("v8"),
            _ => {}
        }
    }

    pub fn memory(&mut self, inst: &Inst) {
        const NO_HINTS: CacheHints =
            CacheHints { op: None, l1: None, l2: None, prefetch: None, policy: None };
        match inst {
            Inst::Ld { space, order, non_coherent, ty, dsts, addr, cache } => {
                let hints = cache.as_deref().unwrap_or(&NO_HINTS);
                self.mnemonic("ld");
                self.load_order(*order);
                self.space(*space);
                // Cache operators come before `.nc`, other hints after it.
                let CacheHints { op, .. } = *hints;
                if let Some(op) = op {
                    self.word(op.as_str());
                }
                self.flag(*non_coherent, "nc");
                self.cache(&CacheHints { op: None, ..*hints });
                self.vector(dsts.len());
                self.word(ty.as_str());
                self.args(&[Ds(dsts), A(addr), SOpt(&hints.policy, B64)]);
            }
            Inst::St { space, order, ty, addr, srcs, cache } => {
                let hints = cache.as_deref().unwrap_or(&NO_HINTS);
                self.mnemonic("st");
                self.store_order(*order);
                self.space(*space);
                self.cache(hints);
                self.vector(srcs.len());
                self.word(ty.as_str());
                self.args(&[A(addr), Ss(srcs, *ty), SOpt(&hints.policy, B64)]);
            }
            Inst::Atom(atom) => self.atom("atom", atom),
            Inst::Red(atom) => self.atom("red", atom),
            Inst::AtomVector(atom) => self.atom_vector("atom", atom),
            Inst::RedVector(atom) => self.atom_vector("red", atom),
            Inst::CpAsync { dst, src, size_bytes, src_size, ignore_src, cache } => {
                self.mnemonic("cp.async");
                if let Some(op) = cache.op {
                    self.word(op.as_str());
                }
                self.out.push_str(".shared.global");
                self.cache(&CacheHints { op: None, ..**cache });
                let mut args = vec![A(dst), A(src), N(i64::from(*size_bytes))];
                args.extend(ignore_src.iter().map(P));
                args.extend([SOpt(src_size, U32), SOpt(&cache.policy, B64)]);
                self.args(&args);
            }
            Inst::BulkPrefetch { addr, size, policy } => {
                self.mnemonic("cp.async.bulk.prefetch.L2.global");
                self.flag(policy.is_some(), "L2::cache_hint");
                self.args(&[A(addr), S(size, U32), SOpt(policy, B64)]);
            }
            Inst::BulkCopy(copy) => {
                self.mnemonic(if copy.reduce.is_some() { "cp.reduce" } else { "cp" });
                self.out.push_str(".async.bulk");
                for space in [copy.dst_space, copy.src_space] {
                    // Alone, `.shared` would be that of the cluster here.
                    self.word(if space == Space::Shared { "shared::cta" } else { space.as_str() });
                }
                let told = copy.object.is_some();
                self.word(if told { "mbarrier::complete_tx::bytes" } else { "bulk_group" });
                self.flag(copy.multicast.is_some(), "multicast::cluster");
                self.flag(copy.policy.is_some(), "L2::cache_hint");
                if let Some((op, ty)) = copy.reduce {
                    self.word(op.as_str());
                    let half = matches!(ty, ScalarType::F16 | ScalarType::BF16);
                    self.flag(half && op == AtomOp::Add, "noftz");
                    self.word(ty.as_str());
                }
                let mut args = vec![A(&copy.dst), A(&copy.src), S(&copy.size, U32)];
                args.extend(copy.object.iter().map(A));
                args.extend([SOpt(&copy.multicast, ScalarType::B16), SOpt(&copy.policy, B64)]);
                self.args(&args);
            }
            Inst::Prefetch { space, level, addr } => {
                self.mnemonic("prefetch");
                self.space(*space);
                self.word(level.as_str());
                self.args(&[A(addr)]);
            }
            Inst::PrefetchUniform { addr } => {
                self.mnemonic("prefetchu.L1");
                self.args(&[A(addr)]);
            }
            Inst::ApplyPriority { space, addr, size_bytes } => {
                self.mnemonic("applypriority");
                self.space(*space);
                self.word("L2::evict_normal");
                self.args(&[A(addr), N(i64::from(*size_bytes))]);
            }
            Inst::Discard { space, addr, size_bytes } => {
                self.mnemonic("discard");
                self.space(*space);
                self.word("L2");
                self.args(&[A(addr), N(i64::from(*size_bytes))]);
            }
            _ => self.texture(inst),
        }
    }

    fn load_order(&mut self, order: LoadOrder) {
        match order {
            LoadOrder::Weak => {}
            LoadOrder::Volatile => self.word("volatile"),
            LoadOrder::Relaxed(scope) => self.words(&["relaxed", scope.as_str()]),
            LoadOrder::Acquire(scope) => self.words(&["acquire", scope.as_str()]),
            LoadOrder::Mmio(scope) => self.words(&["mmio", "relaxed", scope.as_str()]),
        }
    }

    fn store_order(&mut self, order: StoreOrder) {
        match order {
            StoreOrder::Weak => {}
            StoreOrder::Volatile => self.word("volatile"),
            StoreOrder::Relaxed(scope) => self.words(&["relaxed", scope.as_str()]),
            StoreOrder::Release(scope) => self.words(&["release", scope.as_str()]),
            StoreOrder::Mmio(scope) => self.words(&["mmio", "relaxed", scope.as_str()]),
        }
    }

    fn atom(&mut self, name: &str, atom: &Atom) {
        self.atom_head(name, atom.order, atom.scope, atom.space);
        self.word(atom.op.as_str());
        self.flag(atom.noftz, "noftz");
        self.flag(atom.policy.is_some(), "L2::cache_hint");
        self.word(atom.ty.as_str());
        let mut args: Vec<Arg> = Vec::new();
        if name == "atom" {
            args.push(O(atom.dst));
        }
        args.extend([A(&atom.addr), S(&atom.b, atom.ty)]);
        args.extend([SOpt(&atom.c, atom.ty), SOpt(&atom.policy, B64)]);
        self.args(&args);
    }

    fn atom_head(
        &mut self,
        name: &str,
        order: Option<AtomOrder>,
        scope: Option<Scope>,
        space: Space,
    ) {
        self.mnemonic(name);
        if let Some(order) = order {
            self.word(order.as_str());
        }
        if let Some(scope) = scope {
            self.word(scope.as_str());
        }
        self.space(space);
    }

    fn atom_vector(&mut self, name: &str, atom: &AtomVector) {
        self.atom_head(name, atom.order, atom.scope, atom.space);
        self.word(atom.op.as_str());
        self.flag(atom.noftz, "noftz");
        self.flag(atom.policy.is_some(), "L2::cache_hint");
        self.vector(atom.srcs.len());
        self.word(atom.ty.as_str());
        let mut args: Vec<Arg> = Vec::new();
        if name == "atom" {
            args.push(Ds(&atom.dsts));
        }
        args.extend([A(&atom.addr), Ss(&atom.srcs, atom.ty), SOpt(&atom.policy, B64)]);
        self.args(&args);
    }

    pub fn create_policy(&mut self, dst: crate::module::Reg, policy: &CreatePolicy) {
        match policy {
            CreatePolicy::Fractional(first, second, fraction) => {
                self.mnemonic("createpolicy.fractional");
                self.word(first.as_str());
                if let Some(second) = second {
                    self.word(second.as_str());
                }
                self.word("b64");
                self.args(&[D(dst), SOpt(fraction, F32)]);
            }
            CreatePolicy::Range(first, second, space, addr, primary, total) => {
                self.mnemonic("createpolicy.range");
                self.space(*space);
                self.word(first.as_str());
                if let Some(second) = second {
                    self.word(second.as_str());
                }
                self.word("b64");
                self.args(&[D(dst), A(addr), S(primary, U32), S(total, U32)]);
            }
            CreatePolicy::Convert(property) => {
                self.mnemonic("createpolicy.cvt.L2.b64");
                self.args(&[D(dst), S(property, B64)]);
            }
        }
    }

    // Textures and surfaces.

    fn texture(&mut self, inst: &Inst) {
        match inst {
            Inst::Tex(tex) | Inst::Tld4(tex) => self.tex(tex),
            Inst::Suld { access, dsts } => {
                self.surface_head("suld", access, dsts.len());
                self.out.push(' ');
                self.arg(Ds(dsts));
                self.out.push_str(", ");
                self.surface_address(access);
                self.out.push(';');
            }
            Inst::Sust { access, srcs } => {
                self.surface_head("sust", access, srcs.len());
                self.out.push(' ');
                self.surface_address(access);
                self.out.push_str(", ");
                self.arg(Ss(srcs, access.ty));
                self.out.push(';');
            }
            _ => unreachable!("`instruction` sends only memory and texture instructions here"),
        }
    }

    fn surface_head(&mut self, name: &str, access: &Surface, len: usize) {
        self.mnemonic(name);
        self.word(if access.formatted { "p" } else { "b" });
        self.word(access.geometry.as_str());
        if let Some(op) = access.cache {
            self.word(op.as_str());
        }
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

    fn tex(&mut self, tex: &Tex) {
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
