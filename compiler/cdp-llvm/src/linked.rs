//! The object that `nvcc -dlink` makes: linked device code, and the functions by which the units that are linked into it
//! register themselves with a cudart, NVIDIA's or ours. It knows nothing of what the units are.
//!
//! As nvcc's `crt/link.stub` has it: each unit's constructor calls `__cudaRegisterLinkedBinary<id>` with a callback. The
//! last of them registers the fat binary, and with it every unit, through its callback.

use cdp_launch::LaunchAbi;
use inkwell::AddressSpace;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, FunctionValue, GlobalValue, PointerValue,
};

use crate::artifact::LlvmModule;
use crate::error::{Result, bug};
use crate::launch::declare;
use crate::options::LowerOptions;
use crate::target::CodeTarget;

/// Magic number of the record that leads to a fat binary, and the version whose last member lists the fat binaries of the
/// units (nvcc's `fatbinary_section.h`).
const WRAPPER_MAGIC: u64 = 0x4662_43b1;
const LINKED_VERSION: u64 = 2;

/// An ELF object for x86-64 that registers a fat binary of linked code for the units with these ids.
pub fn emit_linked_object(fatbin: &[u8], units: &[String]) -> Result<Vec<u8>> {
    // Options of the device side have no bearing on data.
    let options = LowerOptions::new("", 0, LaunchAbi::Cdp2V2);
    let module = LlvmModule::build("linked", CodeTarget::Host, &options, |context, module| {
        let object = LinkedObject { context, module, builder: context.create_builder() };
        object.emit(fatbin, units)
    })?;
    module.emit_object()
}

struct LinkedObject<'m, 'ctx> {
    context: &'ctx Context,
    module: &'m Module<'ctx>,
    builder: Builder<'ctx>,
}

impl<'ctx> LinkedObject<'_, 'ctx> {
    fn emit(&self, fatbin: &[u8], units: &[String]) -> Result<()> {
        let count = u32::try_from(units.len()).map_err(|_| bug("linked", "too many units"))?;
        let ptr = self.context.ptr_type(AddressSpace::default());
        // One more, which ends the list.
        let fatbins = self.variable(ptr.array_type(count + 1).const_zero().into());
        let callbacks = self.variable(ptr.array_type(count.max(1)).const_zero().into());
        let wrapper = self.wrapper(fatbin, fatbins);
        let register = self.register(wrapper, [fatbins, callbacks], count)?;
        units.iter().try_for_each(|unit| self.unit(unit, register))
    }

    fn variable(&self, value: BasicValueEnum<'ctx>) -> PointerValue<'ctx> {
        self.private(value).as_pointer_value()
    }

    fn private(&self, value: BasicValueEnum<'ctx>) -> GlobalValue<'ctx> {
        let global = self.module.add_global(value.get_type(), None, "");
        global.set_initializer(&value);
        global.set_linkage(Linkage::Private);
        global
    }

    fn wrapper(&self, fatbin: &[u8], fatbins: PointerValue<'ctx>) -> PointerValue<'ctx> {
        let word = self.context.i32_type();
        let code = self.private(self.context.const_string(fatbin, false).into());
        code.set_constant(true);
        code.set_section(Some(".nv_fatbin"));
        code.set_alignment(8);
        let record = self.context.const_struct(
            &[
                word.const_int(WRAPPER_MAGIC, false).into(),
                word.const_int(LINKED_VERSION, false).into(),
                code.as_pointer_value().into(),
                fatbins.into(),
            ],
            false,
        );
        let record = self.private(record.into());
        record.set_section(Some(".nvFatBinSegment"));
        record.set_alignment(8);
        record.as_pointer_value()
    }

    fn call(
        &self,
        name: &str,
        result: Option<BasicMetadataTypeEnum<'ctx>>,
        args: &[PointerValue<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let ptr = self.context.ptr_type(AddressSpace::default());
        let params = vec![ptr.into(); args.len()];
        let ty = match result {
            Some(BasicMetadataTypeEnum::IntType(ty)) => ty.fn_type(&params, false),
            Some(_) => ptr.fn_type(&params, false),
            None => self.context.void_type().fn_type(&params, false),
        };
        let args: Vec<BasicMetadataValueEnum<'_>> = args.iter().map(|arg| (*arg).into()).collect();
        let call = self.builder.build_direct_call(declare(self.module, name, ty), &args, "")?;
        Ok(call.try_as_basic_value().basic())
    }

    /// Takes a unit's wrapper and its callback, and registers everything when it has all of them.
    fn register(
        &self,
        wrapper: PointerValue<'ctx>,
        [fatbins, callbacks]: [PointerValue<'ctx>; 2],
        count: u32,
    ) -> Result<FunctionValue<'ctx>> {
        let (context, builder) = (self.context, &self.builder);
        let ptr = context.ptr_type(AddressSpace::default());
        let (void, word) = (context.void_type(), context.i64_type());
        let known = self.variable(word.const_zero().into());
        let handle = self.variable(ptr.const_null().into());
        let unregister = self.unregister(handle)?;
        let ty = void.fn_type(&[ptr.into(); 2], false);
        let function = self.module.add_function("", ty, Some(Linkage::Private));
        let [entry, all, end] =
            ["entry", "all", "end"].map(|name| context.append_basic_block(function, name));
        builder.position_at_end(entry);
        let [unit, callback] = [0, 1].map(|index| function.get_nth_param(index));
        let (unit, callback) = unit.zip(callback).ok_or_else(|| bug("linked", "no parameter"))?;
        let index = builder.build_load(word, known, "")?.into_int_value();
        // The third member, behind two words.
        let data = self.element(word, unit.into_pointer_value(), word.const_int(1, false))?;
        let data = builder.build_load(ptr, data, "")?;
        builder.build_store(self.element(ptr, fatbins, index)?, data)?;
        builder.build_store(self.element(ptr, callbacks, index)?, callback)?;
        let next = builder.build_int_add(index, word.const_int(1, false), "")?;
        builder.build_store(known, next)?;
        let count = word.const_int(u64::from(count), false);
        let is_last = builder.build_int_compare(inkwell::IntPredicate::EQ, next, count, "")?;
        builder.build_conditional_branch(is_last, all, end)?;

        builder.position_at_end(all);
        let made = self.call("__cudaRegisterFatBinary", Some(ptr.into()), &[wrapper])?;
        let made = made.ok_or_else(|| bug("linked", "no handle"))?;
        builder.build_store(handle, made)?;
        let at_exit = unregister.as_global_value().as_pointer_value();
        self.call("atexit", Some(context.i32_type().into()), &[at_exit])?;
        self.call_back(function, callbacks, count, made.into_pointer_value())?;
        self.call("__cudaRegisterFatBinaryEnd", None, &[made.into_pointer_value()])?;
        builder.build_unconditional_branch(end)?;
        builder.position_at_end(end);
        builder.build_return(None)?;
        Ok(function)
    }

    /// Calls each callback with the handle.
    fn call_back(
        &self,
        function: FunctionValue<'ctx>,
        callbacks: PointerValue<'ctx>,
        count: inkwell::values::IntValue<'ctx>,
        handle: PointerValue<'ctx>,
    ) -> Result<()> {
        let (context, builder) = (self.context, &self.builder);
        let ptr = context.ptr_type(AddressSpace::default());
        let before = builder.get_insert_block().ok_or_else(|| bug("linked", "no block"))?;
        let [each, done] = ["each", "done"].map(|name| context.append_basic_block(function, name));
        builder.build_unconditional_branch(each)?;
        builder.position_at_end(each);
        let word = context.i64_type();
        let index = builder.build_phi(word, "")?;
        let at = index.as_basic_value().into_int_value();
        let callback = builder.build_load(ptr, self.element(ptr, callbacks, at)?, "")?;
        let ty = context.void_type().fn_type(&[ptr.into()], false);
        builder.build_indirect_call(ty, callback.into_pointer_value(), &[handle.into()], "")?;
        let next = builder.build_int_add(at, word.const_int(1, false), "")?;
        index.add_incoming(&[(&word.const_zero() as &dyn BasicValue<'ctx>, before), (&next, each)]);
        let more = builder.build_int_compare(inkwell::IntPredicate::ULT, next, count, "")?;
        builder.build_conditional_branch(more, each, done)?;
        builder.position_at_end(done);
        Ok(())
    }

    fn element<T: inkwell::types::BasicType<'ctx>>(
        &self,
        ty: T,
        array: PointerValue<'ctx>,
        index: inkwell::values::IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>> {
        // SAFETY: the arrays have an element for each unit, and a wrapper has three members of this size.
        Ok(unsafe { self.builder.build_gep(ty, array, &[index], "") }?)
    }

    fn unregister(&self, handle: PointerValue<'ctx>) -> Result<FunctionValue<'ctx>> {
        let ty = self.context.void_type().fn_type(&[], false);
        let function = self.module.add_function("", ty, Some(Linkage::Private));
        self.builder.position_at_end(self.context.append_basic_block(function, "entry"));
        let ptr = self.context.ptr_type(AddressSpace::default());
        let value = self.builder.build_load(ptr, handle, "")?.into_pointer_value();
        self.call("__cudaUnregisterFatBinary", None, &[value])?;
        self.builder.build_return(None)?;
        Ok(function)
    }

    /// The function that a unit's constructor calls, and the text by which a later device link knows that the unit is
    /// linked.
    fn unit(&self, unit: &str, register: FunctionValue<'ctx>) -> Result<()> {
        let ptr = self.context.ptr_type(AddressSpace::default());
        let known =
            self.private(self.context.const_string(format!("def {unit}").as_bytes(), true).into());
        known.set_constant(true);
        known.set_section(Some("__nv_module_id"));
        known.set_alignment(1);
        let name = format!("__cudaRegisterLinkedBinary{unit}");
        let ty = self.context.void_type().fn_type(&[ptr.into(); 4], false);
        let function = self.module.add_function(&name, ty, None);
        self.builder.position_at_end(self.context.append_basic_block(function, "entry"));
        let callback = function.get_nth_param(0).ok_or_else(|| bug("linked", "no parameter"))?;
        let wrapper =
            self.module.add_global(self.context.i8_type(), None, &format!("__fatbinwrap{unit}"));
        let wrapper: BasicMetadataValueEnum<'_> = wrapper.as_pointer_value().into();
        self.builder.build_direct_call(register, &[wrapper, callback.into()], "")?;
        self.builder.build_return(None)?;
        Ok(())
    }
}
