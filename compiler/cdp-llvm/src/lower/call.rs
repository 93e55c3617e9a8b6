//! Calls of functions, and device `printf`.

use cdp_ir::{Callee, Expr, Type, TypeId};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, CallSiteValue};

use super::abi::{ParamAbi, RetAbi, Signature};
use super::body::{AlignedAddress, Body, Value};
use crate::error::{Result, bug};
use crate::launch_calls::declare;

impl<'ctx> Body<'_, '_, 'ctx> {
    pub fn call(&mut self, callee: &Callee, args: &[Expr], ty: TypeId) -> Result<Value<'ctx>> {
        let (signature, target) = match callee {
            Callee::Direct(id) => {
                let function = self.unit.function(*id)?;
                let address = function.as_global_value().as_pointer_value();
                let function = self.unit.ir.function(*id);
                let params: Vec<_> = function.params().iter().map(|param| param.ty).collect();
                let variadic = function.variadic;
                (self.unit.call_signature(function.ret, &params, variadic, args)?, address)
            }
            Callee::Indirect(pointer) => {
                let pointee = self.pointee(pointer)?;
                let Type::Function { ret, params, variadic } = self.unit.ir.types.get(pointee)
                else {
                    return Err(bug("lower", "a call of something that is no function"));
                };
                let signature = self.unit.call_signature(*ret, params, *variadic, args)?;
                (signature, self.pointer_of(pointer)?)
            }
        };
        let mut values = Vec::with_capacity(args.len() + 1);
        let hidden = self.hidden_result(&signature, &mut values)?;
        for (index, arg) in args.iter().enumerate() {
            match signature.params.get(index) {
                Some(ParamAbi::Parts { parts }) => {
                    let value = self.value_of(arg)?;
                    let place = self.spilled(value, arg.ty)?;
                    let loaded = self.load_parts(place, parts)?;
                    values.extend(loaded.into_iter().map(BasicMetadataValueEnum::from));
                }
                Some(ParamAbi::Address { .. }) => {
                    // The callee owns what it gets the address of.
                    let place = self.memory_of(arg)?;
                    let copy = self.temporary(arg.ty)?;
                    self.copy(copy, place, self.unit.ir.types.layout(arg.ty).size)?;
                    values.push(copy.address.into());
                }
                _ => values.push(self.argument(arg)?),
            }
        }
        let call = self.builder.build_indirect_call(signature.ty, target, &values, "")?;
        self.unit.attribute_call(&signature, call);
        self.call_result(&signature, call, hidden, ty)
    }

    fn hidden_result(
        &mut self,
        signature: &Signature<'ctx>,
        values: &mut Vec<BasicMetadataValueEnum<'ctx>>,
    ) -> Result<Option<AlignedAddress<'ctx>>> {
        let RetAbi::Hidden { ty, align } = signature.ret else { return Ok(None) };
        let place = self.allocate(ty, align, "")?;
        values.push(place.address.into());
        Ok(Some(place))
    }

    /// An argument as it is passed: scalars in registers, aggregates by the address of a copy.
    pub fn argument(&mut self, arg: &Expr) -> Result<BasicMetadataValueEnum<'ctx>> {
        match self.value_of(arg)? {
            Value::Scalar(value) => Ok(self.stored(value)?.into()),
            Value::Memory(place) => Ok(place.address.into()),
            Value::Void => Err(bug("lower", "an argument of type void")),
        }
    }

    fn call_result(
        &mut self,
        signature: &Signature<'ctx>,
        call: CallSiteValue<'ctx>,
        hidden: Option<AlignedAddress<'ctx>>,
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let value = call.try_as_basic_value().basic();
        match (signature.ret, value, hidden) {
            // A struct without members comes back in no register.
            (RetAbi::Void, ..) if self.unit.ir.types.is_aggregate(ty) => {
                Ok(Value::Memory(self.temporary(ty)?))
            }
            (RetAbi::Void, ..) => Ok(Value::Void),
            (RetAbi::Parts { parts, .. }, Some(value), _) => {
                let values = match value {
                    BasicValueEnum::StructValue(whole) => {
                        let part = |index| self.builder.build_extract_value(whole, index, "");
                        vec![part(0)?, part(1)?]
                    }
                    value => vec![value],
                };
                let place = self.temporary(ty)?;
                self.store_parts(place, &parts, &values)?;
                if self.unit.ir.types.is_aggregate(ty) {
                    return Ok(Value::Memory(place));
                }
                self.load(place, ty, false)
            }
            (RetAbi::Direct { .. }, Some(value), _) => {
                Ok(Value::Scalar(self.storage_value(value, ty)?))
            }
            (RetAbi::Aggregate { .. }, Some(value), _) => {
                let place = self.temporary(ty)?;
                let store = self.builder.build_store(place.address, value)?;
                self.align_access(store, place.align)?;
                Ok(Value::Memory(place))
            }
            (RetAbi::Hidden { .. }, _, Some(place)) => Ok(Value::Memory(place)),
            _ => Err(bug("lower", "a call without its result")),
        }
    }

    /// `vprintf(format, buffer)`: the buffer holds the promoted arguments one after another, each at
    /// its own alignment (CUDA guide, "Formatted output").
    pub fn printf(&mut self, args: &[Expr], ty: TypeId) -> Result<Value<'ctx>> {
        let Some((format, rest)) = args.split_first() else {
            return Err(bug("lower", "printf without a format"));
        };
        let format = self.pointer_of(format)?;
        let mut values = Vec::new();
        let mut offset = 0;
        let mut align = 8;
        for arg in rest {
            let layout = self.unit.ir.types.layout(arg.ty);
            offset = cdp_ir::types::round_up(offset, layout.align);
            align = align.max(layout.align);
            values.push((offset, self.value_of(arg)?, arg.ty));
            offset += layout.size;
        }
        let mut buffer = self.unit.ptr.const_null();
        if !values.is_empty() {
            let place = self.allocate(self.unit.bytes(offset), align, "printf")?;
            buffer = place.address;
            for (offset, value, ty) in values {
                let slot = self.place_at(place, offset)?;
                self.store(slot, value, ty, false)?;
            }
        }
        let ptr = self.unit.ptr;
        let int = self.unit.context.i32_type();
        let vprintf_type = int.fn_type(&[ptr.into(), ptr.into()], false);
        let vprintf = declare(self.unit.llvm, "vprintf", vprintf_type);
        let args: [BasicMetadataValueEnum<'ctx>; 2] = [format.into(), buffer.into()];
        let call = self.builder.build_direct_call(vprintf, &args, "")?;
        match call.try_as_basic_value().basic() {
            Some(BasicValueEnum::IntValue(count)) if *self.unit.ir.types.get(ty) != Type::Void => {
                Ok(Value::Scalar(count.into()))
            }
            _ => Ok(Value::Void),
        }
    }
}
