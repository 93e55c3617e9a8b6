//! Variables with static storage: address spaces, linkage, initialisers.

use cdp_ir::{AddressSpace as IrSpace, Global, GlobalId, Linkage as IrLinkage, Type};
use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::types::{AnyTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicValue, GlobalValue, PointerValue, UnnamedAddress};

use super::Unit;
use crate::error::Result;
use crate::options::HostRuntime;

/// NVPTX's numbers of the address spaces (LLVM, "User Guide for NVPTX Back-end").
pub(crate) fn space_number(space: IrSpace) -> u16 {
    match space {
        IrSpace::Global => 1,
        IrSpace::Shared => 3,
        IrSpace::Constant => 4,
    }
}

impl<'ctx> Unit<'_, 'ctx> {
    /// Whether a defined variable is emitted although nothing in the module mentions it: others may.
    pub(super) fn is_global_root(&self, global: &Global) -> bool {
        if global.space == IrSpace::Shared || global.linkage == IrLinkage::LinkOnce {
            return false;
        }
        global.linkage == IrLinkage::External || self.host_may_reach(global)
    }

    /// A `static` device variable has no name outside, yet host code copies to and from it.
    fn host_may_reach(&self, global: &Global) -> bool {
        let written = !global.constant && global.defined;
        self.on_device() && written && global.space != IrSpace::Shared
    }

    pub(super) fn kept_globals(&self) -> Vec<GlobalValue<'ctx>> {
        let globals = self.globals.borrow();
        self.ir
            .globals
            .iter()
            .zip(globals.iter())
            .filter(|(ir, _)| ir.linkage == IrLinkage::Internal && self.host_may_reach(ir))
            .filter_map(|(_, value)| *value)
            .collect()
    }

    /// The LLVM variable.
    pub fn global(&self, id: GlobalId) -> Result<GlobalValue<'ctx>> {
        if let Some(value) = self.globals.borrow()[id.0 as usize] {
            return Ok(value);
        }
        let global = self.ir.global(id);
        if global.managed && matches!(self.options.host_runtime, HostRuntime::Cudart(_)) {
            return Ok(self.managed_pointer(id, global));
        }
        let space = if self.on_device() { space_number(global.space) } else { 0 };
        let space = (space != 0).then(|| AddressSpace::from(space));
        // The slot is filled before the initialiser is made, which may mention the variable itself.
        let storage = self.storage_type(global.ty)?;
        let shared_name = self.host_may_reach(global);
        let symbol = match shared_name {
            true => self.device_symbol(&global.symbol, global.linkage),
            false => global.symbol.clone(),
        };
        let renamed = symbol != global.symbol;
        let value = self.llvm.add_global(storage, space, &symbol);
        self.globals.borrow_mut()[id.0 as usize] = Some(value);
        let value = self.initialise(global, value, storage, space, &symbol)?;
        self.globals.borrow_mut()[id.0 as usize] = Some(value);
        value.set_alignment(global.align as u32);
        value.set_linkage(match (global.linkage, global.defined) {
            (_, false) | (IrLinkage::External, true) => Linkage::External,
            (IrLinkage::Internal, true) if renamed => Linkage::External,
            (IrLinkage::Internal, true) => Linkage::Internal,
            (IrLinkage::LinkOnce, true) => Linkage::WeakODR,
        });
        value.set_constant(global.constant);
        if global.constant && global.linkage == IrLinkage::Internal && self.is_text(global) {
            value.set_unnamed_address(UnnamedAddress::Global);
        }
        if self.host_may_reach(global) {
            value.set_externally_initialized(true);
        }
        if global.managed && self.on_device() {
            self.mark_managed(value)?;
        }
        Ok(value)
    }

    /// What host code for cudart has of a managed variable: a pointer, which cudart fills in.
    fn managed_pointer(&self, id: GlobalId, global: &Global) -> GlobalValue<'ctx> {
        let value = self.llvm.add_global(self.ptr, None, &global.symbol);
        if global.defined {
            value.set_initializer(&self.ptr.const_null());
            value.set_section(Some("__nv_managed_data__"));
            if global.linkage == IrLinkage::Internal {
                value.set_linkage(Linkage::Internal);
            }
        }
        self.globals.borrow_mut()[id.0 as usize] = Some(value);
        value
    }

    /// `.attribute(.managed)`, in the spelling of the NVPTX back end.
    fn mark_managed(&self, value: GlobalValue<'ctx>) -> Result<()> {
        let one = self.context.i32_type().const_int(1, false);
        let note = self.context.metadata_node(&[
            value.as_pointer_value().into(),
            self.context.metadata_string("managed").into(),
            one.into(),
        ]);
        self.llvm
            .add_global_metadata("nvvm.annotations", &note)
            .map_err(|error| crate::error::bug("lower", error.to_string()))
    }

    /// A string literal: its address means nothing.
    fn is_text(&self, global: &Global) -> bool {
        match self.ir.types.get(global.ty) {
            Type::Array { elem, .. } => {
                matches!(self.ir.types.get(*elem), Type::Int { bits: 8, .. })
            }
            _ => false,
        }
    }

    /// Gives a defined variable its value. An initialiser whose LLVM type differs from the storage
    /// type needs a new variable, which takes the name and the uses of the first.
    fn initialise(
        &self,
        global: &Global,
        value: GlobalValue<'ctx>,
        storage: BasicTypeEnum<'ctx>,
        space: Option<AddressSpace>,
        symbol: &str,
    ) -> Result<GlobalValue<'ctx>> {
        if !global.defined {
            return Ok(value);
        }
        if global.space == IrSpace::Shared && self.on_device() {
            value.set_initializer(&undef(storage));
            return Ok(value);
        }
        let Some(init) = &global.init else {
            value.set_initializer(&storage.const_zero());
            return Ok(value);
        };
        let constant = self.storage_const(init, global.ty)?;
        if constant.get_type() == storage {
            value.set_initializer(&constant);
            return Ok(value);
        }
        let typed = self.llvm.add_global(constant.get_type(), space, "");
        typed.set_initializer(&constant);
        value.as_pointer_value().replace_all_uses_with(typed.as_pointer_value());
        // SAFETY: the first variable has no uses left, and its slot is about to be replaced.
        unsafe { value.delete() };
        typed.set_name(symbol);
        debug_assert!(matches!(
            typed.get_value_type(),
            AnyTypeEnum::StructType(_) | AnyTypeEnum::ArrayType(_)
        ));
        Ok(typed)
    }

    /// The generic address of a variable.
    pub fn global_address(&self, id: GlobalId) -> Result<PointerValue<'ctx>> {
        let address = self.global(id)?.as_pointer_value();
        if self.on_device() { Ok(address.const_address_space_cast(self.ptr)) } else { Ok(address) }
    }
}

fn undef(ty: BasicTypeEnum<'_>) -> inkwell::values::BasicValueEnum<'_> {
    match ty {
        BasicTypeEnum::ArrayType(ty) => ty.get_undef().as_basic_value_enum(),
        BasicTypeEnum::FloatType(ty) => ty.get_undef().as_basic_value_enum(),
        BasicTypeEnum::IntType(ty) => ty.get_undef().as_basic_value_enum(),
        BasicTypeEnum::PointerType(ty) => ty.get_undef().as_basic_value_enum(),
        BasicTypeEnum::StructType(ty) => ty.get_undef().as_basic_value_enum(),
        BasicTypeEnum::VectorType(ty) => ty.get_undef().as_basic_value_enum(),
        BasicTypeEnum::ScalableVectorType(ty) => ty.get_undef().as_basic_value_enum(),
    }
}
