//! Decoding of instructions on matrices in the registers of a warp.
//!
//! Loads and stores of matrices become an address for each lane and an ordinary access, so that they
//! pass the same checks; products stay whole.

use cdp_ptx::inst::{Address, Operand};
use cdp_ptx::matrix::{MatrixMemory, MatrixOperand, MatrixType, Mma, MoveMatrix, WmmaMemory};
use cdp_ptx::warpgroup::{LeftFactor, Wgmma};
use cdp_ptx::{Reg, ScalarType, Space};

use super::{Decoded, Decoder};
use crate::alu::{bits, int};
use crate::code::{
    Access, Base, Collective, CollectiveKind, GroupProduct, MatrixAddress, NONE, Op, Order, Owners,
    StateSpace, Tensor,
};
use crate::tensor::fragment::{Cell, Fragment};

impl Decoder<'_> {
    /// All lanes of the warp come together, which orders no memory. Behind a guard they do by themselves or not at all.
    fn whole_warp(&mut self) -> Decoded {
        if self.guard != (self.out.true_pred, 0) {
            return Ok(());
        }
        let mask = self.constant(u64::from(u32::MAX), false);
        self.push_collective(Collective::of(CollectiveKind::Matrix, mask))
    }

    pub(super) fn mma(&mut self, mma: &Mma) -> Decoded {
        self.whole_warp()?;
        let rows = |this: &mut Self, srcs: &[Operand], ty: MatrixType| {
            let wide = ty == MatrixType::F64;
            srcs.iter().map(|src| this.row(*src, wide)).collect::<Result<Vec<u32>, String>>()
        };
        let a = rows(self, &mma.a, mma.product.a_ty)?;
        let b = rows(self, &mma.b, mma.product.b_ty)?;
        let c = rows(self, &mma.c, mma.product.c_ty)?;
        let mut d = Vec::with_capacity(mma.d.len());
        for dst in &mma.d {
            d.push(match dst {
                Some(reg) => self.dst(*reg, mma.product.d_ty == MatrixType::F64)?,
                None => NONE,
            });
        }
        let sparsity = match mma.metadata.zip(mma.selector) {
            Some((metadata, selector)) => Some((self.narrow(metadata)?, selector)),
            None => None,
        };
        let imm = self.out.tensors.len() as u32;
        let facts = mma.product;
        self.out.tensors.push(Tensor { facts, a, b, c, d, sparsity });
        let inst = crate::code::Inst { imm, ..self.blank(Op::Mma) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn wgmma(&mut self, wgmma: &Wgmma) -> Decoded {
        self.whole_warp()?;
        let a = match &wgmma.a {
            LeftFactor::Shared(descriptor) => vec![self.wide(*descriptor)?],
            LeftFactor::Registers(list) => {
                list.iter().map(|src| self.narrow(*src)).collect::<Result<Vec<u32>, String>>()?
            }
        };
        let b = self.wide(wgmma.b)?;
        let adds = self.pred(wgmma.adds)?;
        let mut d = Vec::with_capacity(wgmma.d.len());
        for dst in &wgmma.d {
            let reg = dst.ok_or("a product that is added to nothing")?;
            d.push(self.narrow_dst(reg)?);
        }
        let sparsity = match wgmma.metadata.zip(wgmma.selector) {
            Some((metadata, selector)) => Some((self.narrow(metadata)?, selector)),
            None => None,
        };
        let mut facts = wgmma.clone();
        // The operands are rows now.
        facts.d = Box::new([]);
        if let LeftFactor::Registers(list) = &mut facts.a {
            *list = Box::new([]);
        }
        let imm = self.out.group_products.len() as u32;
        self.out.group_products.push(GroupProduct { facts, a, b, sparsity, adds, d });
        let inst = crate::code::Inst { imm, ..self.blank(Op::GroupProduct) };
        self.emit(inst);
        Ok(())
    }

    pub(super) fn movmatrix(&mut self, matrix: &MoveMatrix) -> Decoded {
        self.whole_warp()?;
        let (d, a) = (self.narrow_dst(matrix.dst)?, self.narrow(matrix.src)?);
        let inst = crate::code::Inst { d, a, ..self.blank(Op::Movmatrix) };
        self.emit(inst);
        Ok(())
    }

    /// A row of addresses that differ by lane.
    fn matrix_address(&mut self, address: MatrixAddress) -> u32 {
        let d = self.wide_temp();
        let imm = self.out.matrix_addresses.len() as u32;
        self.out.matrix_addresses.push(address);
        let inst = crate::code::Inst { d, imm, ..self.blank(Op::MatrixAddress) };
        self.emit(inst);
        d
    }

    /// Where a matrix is, without an element yet.
    fn matrix_base(
        &mut self,
        space: Space,
        addr: &Address,
    ) -> Result<(StateSpace, MatrixAddress), String> {
        let parts = self.address(space, addr)?;
        if parts.row == NONE {
            return Err("a matrix in parameters or local variables".to_string());
        }
        let own = std::array::from_fn(|lane| lane as u8);
        let base = MatrixAddress {
            base: parts.row,
            wide: parts.wide,
            offset: parts.offset,
            from: own,
            lines: [0; 32],
            within: [0; 32],
            stride: NONE,
            default_stride: 0,
            bits: 8,
        };
        Ok((parts.space, base))
    }

    /// An access of `bytes` bytes of each lane at its address.
    fn matrix_access(
        &mut self,
        space: StateSpace,
        address: u32,
        register: u32,
        bytes: u32,
        store: bool,
        owners: Owners,
    ) {
        let access = Access {
            base: Base::Alone,
            owners,
            space,
            size_log2: bytes.trailing_zeros() as u8,
            count: 1,
            wide_address: true,
            wide_register: bytes == 8,
            signed: false,
            order: Order::WEAK,
        };
        let op = if store { Op::Store(access) } else { Op::Load(access) };
        let inst = crate::code::Inst { d: register, a: address, ..self.blank(op) };
        self.emit(inst);
    }

    /// Loads the parts of a register, or stores them, each from its own address.
    fn matrix_parts(
        &mut self,
        space: StateSpace,
        addresses: &[u32],
        register: u32,
        store: bool,
        owners: impl Fn(usize) -> Owners,
    ) {
        let count = addresses.len() as u32;
        let bytes = 4 / count;
        if let &[address] = addresses {
            return self.matrix_access(space, address, register, bytes, store, owners(0));
        }
        let part = self.narrow_temp();
        let sum = self.narrow_temp();
        let zero = self.constant(0, false);
        for (number, &address) in (0..).zip(addresses) {
            let shift = number * 8 * bytes;
            let owners = owners(number as usize);
            if store {
                self.alu::<bits::Extract32>(part, [register, 0, 0], (8 * bytes) << 8 | shift);
                self.matrix_access(space, address, part, bytes, true, owners);
                continue;
            }
            self.matrix_access(space, address, part, bytes, false, owners);
            let before = if number == 0 { zero } else { sum };
            self.alu::<bits::Insert32>(sum, [before, part, 0], shift);
        }
        if !store {
            self.alu::<int::Mov32>(register, [sum, 0, 0], 0);
        }
    }

    /// The row of a loaded register, or of a value to store.
    fn matrix_register(
        &mut self,
        dsts: &[Option<Reg>],
        srcs: &[Operand],
        number: usize,
        wide: bool,
    ) -> Result<u32, String> {
        match (dsts.get(number), srcs.get(number)) {
            (Some(Some(reg)), _) => self.dst(*reg, wide),
            (Some(None), _) => Ok(self.temp(wide)),
            (None, Some(src)) => self.row(*src, wide),
            (None, None) => Err("a matrix without registers".to_string()),
        }
    }

    pub(super) fn matrix_memory(&mut self, memory: &MatrixMemory) -> Decoded {
        self.whole_warp()?;
        let store = memory.dsts.is_empty();
        let (space, base) = self.matrix_base(memory.space, &memory.addr)?;
        // All addresses first: a loaded register may be the one with the addresses.
        let count = memory.dsts.len().max(memory.srcs.len());
        let parts = if memory.transposed { 2 } else { 1 };
        let mut addresses = Vec::new();
        for matrix in 0..count {
            for part in 0..parts {
                let mut address = base.clone();
                for lane in 0..32 {
                    let byte = if memory.transposed { lane / 4 * 2 } else { lane % 4 * 4 };
                    let owners = Owners::of_matrix(matrix, memory.transposed, part);
                    address.from[lane] = owners.of_lane(lane).unwrap_or(lane) as u8;
                    address.within[lane] = byte as u32;
                }
                addresses.push(self.matrix_address(address));
            }
        }
        for (number, parts) in addresses.chunks(parts).enumerate() {
            let register = self.matrix_register(&memory.dsts, &memory.srcs, number, false)?;
            let owners = |part| Owners::of_matrix(number, memory.transposed, part);
            self.matrix_parts(space, parts, register, store, owners);
        }
        Ok(())
    }

    pub(super) fn wmma_memory(&mut self, memory: &WmmaMemory) -> Decoded {
        self.whole_warp()?;
        let store = memory.operand == MatrixOperand::D;
        let wide = memory.ty == MatrixType::F64;
        let (space, mut base) = self.matrix_base(memory.space, &memory.addr)?;
        let (m, n, k) = (memory.shape.m, memory.shape.n, memory.shape.k);
        let (rows, cols) = match memory.operand {
            MatrixOperand::A => (m, k),
            MatrixOperand::B => (k, n),
            MatrixOperand::C | MatrixOperand::D => (m, n),
        };
        base.default_stride = if memory.col { rows } else { cols };
        base.bits = memory.ty.bits();
        if let Some(stride) = memory.stride {
            base.stride = self.narrow(stride)?;
        }
        let fragment = Fragment {
            operand: memory.operand,
            shape: memory.shape,
            ty: memory.ty,
            col: memory.col,
        };
        // Elements smaller than a byte are read as whole words, along `k`.
        let per = fragment.per_register();
        let parts = if memory.ty.bits() < 8 { 1 } else { per };
        let count = memory.dsts.len().max(memory.srcs.len());
        let mut addresses = Vec::new();
        for register in 0..count as u32 {
            for part in 0..parts {
                let mut address = base.clone();
                for lane in 0..32 {
                    let Cell { row, col } = fragment.cell(lane, register, part);
                    let (line, within) = if memory.col { (col, row) } else { (row, col) };
                    address.lines[lane as usize] = line;
                    address.within[lane as usize] = within;
                }
                addresses.push(self.matrix_address(address));
            }
        }
        for (number, parts) in addresses.chunks(parts as usize).enumerate() {
            let register = self.matrix_register(&memory.dsts, &memory.srcs, number, wide)?;
            if wide {
                let bytes = ScalarType::F64.bytes();
                self.matrix_access(space, parts[0], register, bytes, store, Owners::OWN);
            } else {
                self.matrix_parts(space, parts, register, store, |_| Owners::OWN);
            }
        }
        Ok(())
    }
}
