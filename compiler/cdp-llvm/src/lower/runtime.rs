//! Calls of the device runtime: the symbol comes from `cdp-launch`, arguments go by the C types.
//!
//! Two things are not plain calls. Device-side memset ignores its value in NVIDIA's library
//! (FACTS.md), so it becomes a call of our own helper, which launches a kernel into the same stream;
//! and `cudaEventRecordWithFlags` has no symbol: it is `cudaEventRecord` once its flags are 0.

use cdp_ir::{CdpVersion, Expr, RuntimeFn, Target, Type, TypeId};
use cdp_launch::runtime_symbol;
use inkwell::IntPredicate;
use inkwell::attributes::AttributeLoc;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum};

use super::body::{Body, Value};
use crate::error::{Result, bug};
use crate::launch_calls::declare;
use crate::memset::{MEMSET, MEMSET_2D, MEMSET_3D};

/// `cudaErrorInvalidValue`.
const INVALID_VALUE: u64 = 1;

impl<'ctx> Body<'_, '_, 'ctx> {
    pub fn runtime_call(
        &mut self,
        func: RuntimeFn,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        if !self.unit.on_device() {
            return Err(bug(
                "lower",
                format!("a device-runtime call of {} on the host", func.name()),
            ));
        }
        match func {
            RuntimeFn::MemsetAsync => self.memset(MEMSET, args, 1),
            RuntimeFn::Memset2DAsync => self.memset(MEMSET_2D, args, 2),
            RuntimeFn::Memset3DAsync => self.memset_3d(args),
            RuntimeFn::EventRecordWithFlags => self.event_record_with_flags(args, ty),
            _ => {
                let symbol = self.runtime_symbol(func)?;
                self.plain_runtime_call(&symbol, args, ty)
            }
        }
    }

    fn runtime_symbol(&self, func: RuntimeFn) -> Result<String> {
        let cdp = match self.unit.ir.target {
            Target::Device { cdp } => cdp,
            Target::Host => CdpVersion::Cdp2,
        };
        let options = self.unit.options;
        runtime_symbol(func, options.abi, cdp, options.per_thread_stream)
            .map(|symbol| symbol.into_owned())
            .map_err(|error| self.unsupported(error.to_string()))
    }

    fn plain_runtime_call(
        &mut self,
        symbol: &str,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let mut types: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        let mut values: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        let mut by_value = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let (ty, value) = self.runtime_argument(arg)?;
            if let Some(record) = self.by_value_record(arg.ty)? {
                by_value.push((index as u32, record, self.unit.ir.types.layout(arg.ty).align));
            }
            types.push(ty);
            values.push(value);
        }
        let function_type = if *self.unit.ir.types.get(ty) == Type::Void {
            self.unit.context.void_type().fn_type(&types, false)
        } else {
            self.unit.storage_type(ty)?.fn_type(&types, false)
        };
        let function = declare(self.unit.llvm, symbol, function_type);
        let address = function.as_global_value().as_pointer_value();
        let call = self.builder.build_indirect_call(function_type, address, &values, "")?;
        for (index, record, align) in by_value {
            let kind = inkwell::attributes::Attribute::get_named_enum_kind_id("byval");
            let byval = self.unit.context.create_type_attribute(kind, record);
            let align = self.unit.attribute_value("align", align);
            for attribute in [byval, align] {
                function.add_attribute(AttributeLoc::Param(index), attribute);
                call.add_attribute(AttributeLoc::Param(index), attribute);
            }
        }
        match call.try_as_basic_value().basic() {
            Some(value) => Ok(Value::Scalar(self.storage_value(value, ty)?)),
            None => Ok(Value::Void),
        }
    }

    /// A `dim3` goes as three words in registers, other records by address of a copy.
    fn runtime_argument(
        &mut self,
        arg: &Expr,
    ) -> Result<(BasicMetadataTypeEnum<'ctx>, BasicMetadataValueEnum<'ctx>)> {
        match self.value_of(arg)? {
            Value::Scalar(value) => {
                let stored = self.stored(value)?;
                Ok((stored.get_type().into(), stored.into()))
            }
            Value::Memory(place) if self.unit.ir.types.layout(arg.ty).size == 12 => {
                let words = self.unit.context.i32_type().array_type(3);
                let loaded = self.builder.build_load(words, place.address, "")?;
                if let Some(instruction) = super::body::instruction_of(loaded) {
                    self.align_access(instruction, place.align)?;
                }
                Ok((words.into(), loaded.into()))
            }
            Value::Memory(place) => Ok((self.unit.ptr.into(), place.address.into())),
            Value::Void => Err(bug("lower", "an argument of type void")),
        }
    }

    fn by_value_record(&self, ty: TypeId) -> Result<Option<inkwell::types::AnyTypeEnum<'ctx>>> {
        let types = &self.unit.ir.types;
        if !types.is_aggregate(ty) || types.layout(ty).size == 12 {
            return Ok(None);
        }
        Ok(Some(match self.unit.storage_type(ty)? {
            BasicTypeEnum::StructType(ty) => ty.into(),
            BasicTypeEnum::ArrayType(ty) => ty.into(),
            _ => return Err(bug("lower", "an aggregate of scalar type")),
        }))
    }

    /// `cudaMemsetAsync` and its 2D form: all operands are scalars, passed on as 64-bit sizes.
    fn memset(&mut self, helper: &str, args: &[Expr], byte: usize) -> Result<Value<'ctx>> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.scalar_of(arg)?);
        }
        self.call_memset(helper, &values, byte)
    }

    /// `cudaMemset3DAsync(pitchedPtr, value, extent, stream)`: the records' fields one by one.
    fn memset_3d(&mut self, args: &[Expr]) -> Result<Value<'ctx>> {
        let [pitched, value, extent, stream] = args else {
            return Err(bug("lower", "cudaMemset3DAsync with other arguments"));
        };
        let pitched_place = self.memory_of(pitched)?;
        let value = self.scalar_of(value)?;
        let extent_place = self.memory_of(extent)?;
        let stream = self.scalar_of(stream)?;
        let step = self.unit.ir.types.pointer_bytes();
        let field = |body: &mut Self, place, index: u64, pointer: bool| {
            let at = body.place_at(place, index * step)?;
            let ty: BasicTypeEnum<'ctx> =
                if pointer { body.unit.ptr.into() } else { body.unit.size.into() };
            Ok::<_, crate::error::LowerError>(body.builder.build_load(ty, at.address, "")?)
        };
        // cudaPitchedPtr {ptr, pitch, xsize, ysize}; cudaExtent {width, height, depth}.
        let values = [
            field(self, pitched_place, 0, true)?,
            field(self, pitched_place, 1, false)?,
            field(self, pitched_place, 3, false)?,
            value,
            field(self, extent_place, 0, false)?,
            field(self, extent_place, 1, false)?,
            field(self, extent_place, 2, false)?,
            stream,
        ];
        self.call_memset(MEMSET_3D, &values, 3)
    }

    /// Calls a helper of `memset.ll`, whose sizes have 64 bits; `byte` is the index of the value.
    fn call_memset(
        &mut self,
        helper: &str,
        args: &[BasicValueEnum<'ctx>],
        byte: usize,
    ) -> Result<Value<'ctx>> {
        self.unit.wants_memset.set(true);
        let wide = self.unit.context.i64_type();
        let word = self.unit.context.i32_type();
        let mut types: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        let mut values: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let value: BasicValueEnum<'ctx> = match arg {
                BasicValueEnum::IntValue(int) => {
                    let target = if index == byte { word } else { wide };
                    self.builder.build_int_cast_sign_flag(*int, target, false, "")?.into()
                }
                other => *other,
            };
            types.push(value.get_type().into());
            values.push(value.into());
        }
        let function = declare(self.unit.llvm, helper, word.fn_type(&types, false));
        let call = self.builder.build_direct_call(function, &values, "")?;
        let value = call.try_as_basic_value().basic();
        value.map(Value::Scalar).ok_or_else(|| bug("lower", "a memset without result"))
    }

    fn event_record_with_flags(&mut self, args: &[Expr], ty: TypeId) -> Result<Value<'ctx>> {
        let [event, stream, flags] = args else {
            return Err(bug("lower", "cudaEventRecordWithFlags with other arguments"));
        };
        let word = self.unit.context.i32_type();
        let ptr = self.unit.ptr;
        let event = self.scalar_of(event)?;
        let stream = self.scalar_of(stream)?;
        let flags = self.int_of(flags)?;
        let symbol = self.runtime_symbol(RuntimeFn::EventRecordWithFlags)?;
        let function_type = word.fn_type(&[ptr.into(), ptr.into()], false);
        let function = declare(self.unit.llvm, &symbol, function_type);
        let legal = self.builder.build_int_compare(
            IntPredicate::EQ,
            flags,
            flags.get_type().const_zero(),
            "",
        )?;
        let (record, join) = (self.new_block("record"), self.new_block("join"));
        let from = self.current()?;
        self.builder.build_conditional_branch(legal, record, join)?;
        self.start(record);
        let operands: [BasicMetadataValueEnum<'ctx>; 2] = [event.into(), stream.into()];
        let call = self.builder.build_direct_call(function, &operands, "")?;
        let recorded = call
            .try_as_basic_value()
            .basic()
            .ok_or_else(|| bug("lower", "a runtime call without result"))?;
        let last = self.current()?;
        self.branch(join)?;
        self.start(join);
        let phi = self.builder.build_phi(word, "")?;
        let wrong = word.const_int(INVALID_VALUE, false);
        phi.add_incoming(&[(&wrong, from), (&recorded, last)]);
        Ok(Value::Scalar(self.storage_value(phi.as_basic_value(), ty)?))
    }
}
