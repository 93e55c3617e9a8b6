//! Memory intrinsics: cache-hinted accesses, block copies, address spaces.

use cdp_ir::{AddressSpace as IrSpace, CacheOp, Expr, FloatKind, Type, TypeId};
use inkwell::AddressSpace;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicValue, BasicValueEnum, PointerValue};

use super::arg;
use crate::error::{Result, bug};
use crate::lower::body::{AlignedAddress, Body, Value};
use crate::lower::global::space_number;

/// NVPTX's number of local memory.
const LOCAL: u16 = 5;

impl<'ctx> Body<'_, '_, 'ctx> {
    /// One load, a vector load for a record of equal scalars. CUDA's cache-hinted accesses are
    /// to global memory.
    pub(super) fn cache_load(
        &mut self,
        cache: CacheOp,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let place = self.place_of(arg(args, 0)?)?;
        let (elem, count) = self.vector_shape(ty)?;
        let values = if cache == CacheOp::NonCoherent {
            self.unchanging(place, ty, elem, count)?
        } else {
            self.hinted(cache, place, elem, count)?
        };
        if count == 1 && !self.unit.ir.types.is_aggregate(ty) {
            let value = self.access_value(values[0], elem)?;
            return Ok(Value::Scalar(value));
        }
        let target = self.temporary(ty)?;
        let step = self.unit.ir.types.layout(elem).size;
        for (index, value) in values.into_iter().enumerate() {
            let at = self.place_at(target, step * index as u64)?;
            let value = self.access_value(value, elem)?;
            self.store(at, Value::Scalar(value), elem, false)?;
        }
        Ok(Value::Memory(target))
    }

    /// A load of what nobody writes, which LLVM takes for one (`ld.global.nc`): by text that only has the address it would not see
    /// that a kernel does nothing but read there.
    fn unchanging(
        &self,
        place: AlignedAddress<'ctx>,
        ty: TypeId,
        elem: TypeId,
        count: usize,
    ) -> Result<Vec<BasicValueEnum<'ctx>>> {
        let element = match self.access(elem)?.register {
            BasicTypeEnum::IntType(_) => {
                self.unit.int_type(self.unit.ir.types.layout(elem).size as u32 * 8).into()
            }
            other => other,
        };
        let whole: BasicTypeEnum<'ctx> = match (count, element) {
            (1, one) => one,
            (many, BasicTypeEnum::FloatType(one)) => one.vec_type(many as u32).into(),
            (many, BasicTypeEnum::IntType(one)) => one.vec_type(many as u32).into(),
            _ => return Err(bug("lower", "a vector of vectors")),
        };
        let loaded = self.builder.build_load(whole, self.global_pointer(place)?, "")?;
        let context = self.unit.context;
        if let Some(load) = loaded.as_instruction_value() {
            let align = self.unit.ir.types.layout(ty).align as u32;
            load.set_alignment(align).map_err(|_| bug("lower", "an alignment that is no power"))?;
            let kind = context.get_kind_id("invariant.load");
            let _ = load.set_metadata(context.metadata_node(&[]), kind);
        }
        let BasicValueEnum::VectorValue(vector) = loaded else { return Ok(vec![loaded]) };
        let number = |index| context.i32_type().const_int(index as u64, false);
        (0..count)
            .map(|index| Ok(self.builder.build_extract_element(vector, number(index), "")?))
            .collect()
    }

    /// One PTX load, ordered with other accesses.
    fn hinted(
        &self,
        cache: CacheOp,
        place: AlignedAddress<'ctx>,
        elem: TypeId,
        count: usize,
    ) -> Result<Vec<BasicValueEnum<'ctx>>> {
        let access = self.access(elem)?;
        let op = cache_name(cache);
        let pointer = if self.unit.address_bits() == 32 { "r" } else { "l" };
        let registers: Vec<_> = (0..count).map(|index| format!("${index}")).collect();
        let address = self.global_address_of(place)?;
        let vector = vector_suffix(count);
        let list =
            if count == 1 { registers.join("") } else { format!("{{{}}}", registers.join(", ")) };
        let text = format!("ld.global{op}{vector}.{} {list}, [${count}];", access.ptx);
        let mut constraints = vec![format!("={}", access.letter); count];
        constraints.extend([pointer.into(), "~{memory}".into()]);
        let results = vec![access.register; count];
        let params: Vec<BasicMetadataTypeEnum<'ctx>> = vec![self.unit.size.into()];
        self.multi_ptx(&text, &constraints.join(","), &results, &params, &[address], true)
    }

    pub(super) fn cache_store(&mut self, cache: CacheOp, args: &[Expr]) -> Result<Value<'ctx>> {
        let place = self.place_of(arg(args, 0)?)?;
        let ty = arg(args, 1)?.ty;
        let (elem, count) = self.vector_shape(ty)?;
        let value = self.value_of(arg(args, 1)?)?;
        let access = self.access(elem)?;
        let pointer = if self.unit.address_bits() == 32 { "r" } else { "l" };
        let mut operands = vec![self.global_address_of(place)?];
        let step = self.unit.ir.types.layout(elem).size;
        match value {
            Value::Scalar(value) => operands.push(self.access_operand(value, elem)?),
            Value::Memory(source) => {
                for index in 0..count as u64 {
                    let at = self.place_at(source, step * index)?;
                    let Value::Scalar(value) = self.load(at, elem, false)? else {
                        return Err(bug("lower", "a vector of aggregates"));
                    };
                    operands.push(self.access_operand(value, elem)?);
                }
            }
            Value::Void => return Err(bug("lower", "a store of nothing")),
        }
        let registers: Vec<_> = (1..=count).map(|index| format!("${index}")).collect();
        let list =
            if count == 1 { registers.join("") } else { format!("{{{}}}", registers.join(", ")) };
        let vector = vector_suffix(count);
        let op = cache_name(cache);
        let text = format!("st.global{op}{vector}.{} [$0], {list};", access.ptx);
        let mut constraints = vec![pointer.to_string()];
        constraints.extend(vec![access.letter.to_string(); count]);
        constraints.push("~{memory}".into());
        let params: Vec<BasicMetadataTypeEnum<'ctx>> =
            operands.iter().map(|operand| operand.get_type().into()).collect();
        self.multi_ptx(&text, &constraints.join(","), &[], &params, &operands, true)?;
        Ok(Value::Void)
    }

    /// The address of global memory behind a generic pointer, as an integer.
    fn global_address_of(&self, place: AlignedAddress<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let pointer = self.global_pointer(place)?;
        Ok(self.builder.build_ptr_to_int(pointer, self.unit.size, "")?.into())
    }

    fn global_pointer(&self, place: AlignedAddress<'ctx>) -> Result<PointerValue<'ctx>> {
        let global = self.unit.context.ptr_type(AddressSpace::from(space_number(IrSpace::Global)));
        Ok(self.builder.build_address_space_cast(place.address, global, "")?)
    }

    /// A scalar is a vector of one; a record must have 1, 2 or 4 fields of one scalar type.
    fn vector_shape(&self, ty: TypeId) -> Result<(TypeId, usize)> {
        if !self.unit.ir.types.is_aggregate(ty) {
            return Ok((ty, 1));
        }
        let record = self.record_of(ty)?;
        let Some(first) = record.fields.first() else {
            return Err(self.unsupported("a cache-hinted access of an empty record"));
        };
        let elem = first.ty;
        let count = record.fields.len();
        let step = self.unit.ir.types.layout(elem).size;
        let regular = record.fields.iter().enumerate().all(|(index, field)| {
            field.ty == elem && field.offset == step * index as u64 && field.bits.is_none()
        });
        let fits = matches!(count, 1 | 2 | 4) && step * count as u64 == record.layout.size;
        if !regular || !fits || self.unit.ir.types.is_aggregate(elem) {
            return Err(self.unsupported("a cache-hinted access of a record that is no vector"));
        }
        Ok((elem, count))
    }

    fn access(&self, elem: TypeId) -> Result<Access<'ctx>> {
        let context = self.unit.context;
        let size = self.unit.ir.types.layout(elem).size;
        let (ptx, letter, register): (_, _, BasicTypeEnum<'ctx>) =
            match (self.unit.ir.types.get(elem), size) {
                (Type::Float(FloatKind::F32), _) => ("f32", "f", context.f32_type().into()),
                (Type::Float(FloatKind::F64), _) => ("f64", "d", context.f64_type().into()),
                (_, 1) => ("u8", "h", context.i16_type().into()),
                (_, 2) => ("b16", "h", context.i16_type().into()),
                (_, 4) => ("b32", "r", context.i32_type().into()),
                (_, 8) => ("b64", "l", context.i64_type().into()),
                _ => return Err(self.unsupported("a cache-hinted access of this size")),
            };
        Ok(Access { ptx, letter, register })
    }

    fn access_operand(
        &self,
        value: BasicValueEnum<'ctx>,
        elem: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let access = self.access(elem)?;
        let value = self.stored(value)?;
        match (value, access.register) {
            (BasicValueEnum::FloatValue(_), BasicTypeEnum::FloatType(_)) => Ok(value),
            (value, BasicTypeEnum::IntType(target)) => {
                let bits = self.as_bits(value)?;
                Ok(self.builder.build_int_cast_sign_flag(bits, target, false, "")?.into())
            }
            _ => Err(bug("lower", "an access of another kind")),
        }
    }

    fn access_value(
        &self,
        value: BasicValueEnum<'ctx>,
        elem: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let storage = self.unit.storage_type(elem)?;
        let value = match value {
            BasicValueEnum::IntValue(bits) => {
                let size = self.unit.ir.types.layout(elem).size as u32;
                let narrow = self.unit.int_type(size * 8);
                let bits = self.builder.build_int_cast_sign_flag(bits, narrow, false, "")?;
                self.value_of_bits(bits, storage)?
            }
            other => other,
        };
        self.storage_value(value, elem)
    }

    fn multi_ptx(
        &self,
        text: &str,
        constraints: &str,
        results: &[BasicTypeEnum<'ctx>],
        params: &[BasicMetadataTypeEnum<'ctx>],
        args: &[BasicValueEnum<'ctx>],
        side_effects: bool,
    ) -> Result<Vec<BasicValueEnum<'ctx>>> {
        if params.len() != args.len() {
            return Err(bug("lower", "PTX text with another number of operands"));
        }
        match results {
            [] => self.inline_ptx(text, constraints, None, args, side_effects).map(|_| vec![]),
            [one] => {
                let value = self.inline_ptx(text, constraints, Some(*one), args, side_effects)?;
                Ok(value.into_iter().collect())
            }
            many => {
                let record = self.unit.context.struct_type(many, false);
                let value =
                    self.inline_ptx(text, constraints, Some(record.into()), args, side_effects)?;
                let Some(BasicValueEnum::StructValue(value)) = value else {
                    return Err(bug("lower", "PTX text without its results"));
                };
                (0..many.len() as u32)
                    .map(|index| Ok(self.builder.build_extract_value(value, index, "")?))
                    .collect()
            }
        }
    }

    pub(super) fn mem_copy(&mut self, overlap: bool, args: &[Expr]) -> Result<Value<'ctx>> {
        let to = self.pointer_of(arg(args, 0)?)?;
        let from = self.pointer_of(arg(args, 1)?)?;
        let size = self.int_of(arg(args, 2)?)?;
        if overlap {
            self.builder.build_memmove(to, 1, from, 1, size)?;
        } else {
            self.builder.build_memcpy(to, 1, from, 1, size)?;
        }
        Ok(Value::Void)
    }

    pub(super) fn mem_set(&mut self, args: &[Expr]) -> Result<Value<'ctx>> {
        let to = self.pointer_of(arg(args, 0)?)?;
        let value = self.int_of(arg(args, 1)?)?;
        let size = self.int_of(arg(args, 2)?)?;
        let byte = self.unit.context.i8_type();
        let value = self.builder.build_int_cast_sign_flag(value, byte, false, "")?;
        self.builder.build_memset(to, 1, value, size)?;
        Ok(Value::Void)
    }

    pub(super) fn is_space(
        &mut self,
        space: Option<IrSpace>,
        args: &[Expr],
    ) -> Result<Value<'ctx>> {
        let pointer = self.pointer_of(arg(args, 0)?)?;
        let name = match space {
            Some(IrSpace::Global) => "global",
            Some(IrSpace::Constant) => "const",
            Some(IrSpace::Shared) => "shared",
            None => "local",
        };
        self.llvm_value(&format!("llvm.nvvm.isspacep.{name}"), &[pointer.into()])
    }

    pub(super) fn generic_to_space(
        &mut self,
        space: Option<IrSpace>,
        args: &[Expr],
    ) -> Result<Value<'ctx>> {
        let pointer = self.pointer_of(arg(args, 0)?)?;
        let target = self.unit.context.ptr_type(AddressSpace::from(number_of(space)));
        let pointer = self.builder.build_address_space_cast(pointer, target, "")?;
        Ok(Value::Scalar(self.builder.build_ptr_to_int(pointer, self.unit.size, "")?.into()))
    }

    pub(super) fn space_to_generic(
        &mut self,
        space: Option<IrSpace>,
        args: &[Expr],
    ) -> Result<Value<'ctx>> {
        let address = self.int_of(arg(args, 0)?)?;
        let source = self.unit.context.ptr_type(AddressSpace::from(number_of(space)));
        let pointer = self.builder.build_int_to_ptr(address, source, "")?;
        let pointer = self.builder.build_address_space_cast(pointer, self.unit.ptr, "")?;
        Ok(Value::Scalar(pointer.into()))
    }
}

/// How one element is accessed: PTX type, constraint letter, register type.
struct Access<'ctx> {
    ptx: &'static str,
    letter: &'static str,
    register: BasicTypeEnum<'ctx>,
}

fn number_of(space: Option<IrSpace>) -> u16 {
    space.map_or(LOCAL, space_number)
}

fn vector_suffix(count: usize) -> &'static str {
    match count {
        2 => ".v2",
        4 => ".v4",
        _ => "",
    }
}

fn cache_name(cache: CacheOp) -> &'static str {
    match cache {
        CacheOp::NonCoherent => ".nc",
        CacheOp::All => ".ca",
        CacheOp::Global => ".cg",
        CacheOp::Streaming => ".cs",
        CacheOp::LastUse => ".lu",
        CacheOp::Volatile => ".cv",
        CacheOp::WriteBack => ".wb",
        CacheOp::WriteThrough => ".wt",
    }
}
