//! The object that `nvcc -dlink` makes: linked device code, and the functions by which the units that are linked into it
//! register themselves with a cudart, NVIDIA's or ours; and what a unit has in its own object for programs that no device
//! link completes. It knows nothing of what the units are.
//!
//! As nvcc's `crt/link.stub` has it: each unit's constructor calls `__cudaRegisterLinkedBinary<id>` with a callback. The
//! last of them registers the fat binary, and with it every unit, through its callback.

use cdp_launch::LaunchAbi;
use inkwell::AddressSpace;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::FunctionType;
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, GlobalValue, IntValue, PointerValue,
};

use crate::artifact::LlvmModule;
use crate::error::{Result, bug};
use crate::image::{REGISTRATION, define_registration, private, wrapper_of};
use crate::launch_calls::declare;
use crate::lower::cudart::WRAPPER_MAGIC;
use crate::options::LowerOptions;
use crate::target::CodeTarget;

/// The version of the record that leads to a fat binary whose last member lists the fat binaries of the units (nvcc's
/// `fatbinary_section.h`).
const LINKED_VERSION: u64 = 2;
/// Of one that has no such list.
const ALONE_VERSION: u64 = 1;

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

/// Has the unit of a host module register `fatbin`, its whole program, itself: the function that its constructor calls gets a
/// body. It is weak, so that the one of a device link takes its place. A module without device code has no such function.
pub(crate) fn register_alone<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    fatbin: &[u8],
) -> Result<()> {
    let is_registration = |function: &FunctionValue<'ctx>| {
        let name = function.get_name().to_bytes();
        name.starts_with(REGISTRATION.as_bytes()) && function.count_basic_blocks() == 0
    };
    match module.get_functions().find(is_registration) {
        Some(function) => LinkedObject { context, module, builder: context.create_builder() }
            .alone(function, fatbin),
        None => Ok(()),
    }
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
        let code = self.code(fatbin);
        code.set_section(Some(".nv_fatbin"));
        let wrapper = self.wrapper(code, LINKED_VERSION, fatbins);
        let register = self.register(wrapper, [fatbins, callbacks], count)?;
        units.iter().try_for_each(|unit| self.unit(unit, register))
    }

    /// Memory that begins so.
    fn variable(&self, value: BasicValueEnum<'ctx>) -> PointerValue<'ctx> {
        let global = private(self.module, value);
        global.set_constant(false);
        global.as_pointer_value()
    }

    fn code(&self, fatbin: &[u8]) -> GlobalValue<'ctx> {
        let code = private(self.module, self.context.const_string(fatbin, false).into());
        code.set_alignment(8);
        code
    }

    fn wrapper(
        &self,
        code: GlobalValue<'ctx>,
        version: u64,
        fatbins: PointerValue<'ctx>,
    ) -> PointerValue<'ctx> {
        let word = self.context.i32_type();
        let record = self.context.const_struct(
            &[
                word.const_int(WRAPPER_MAGIC, false).into(),
                word.const_int(version, false).into(),
                code.as_pointer_value().into(),
                fatbins.into(),
            ],
            false,
        );
        let record = private(self.module, record.into());
        record.set_section(Some(".nvFatBinSegment"));
        record.set_alignment(8);
        record.as_pointer_value()
    }

    /// Calls a function of one pointer.
    fn call(
        &self,
        name: &str,
        ty: FunctionType<'ctx>,
        arg: PointerValue<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let function = declare(self.module, name, ty);
        let call = self.builder.build_direct_call(function, &[arg.into()], "")?;
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
        let made = self.begin(wrapper, handle, unregister)?;
        self.call_back(function, callbacks, count, made)?;
        self.call("__cudaRegisterFatBinaryEnd", void.fn_type(&[ptr.into()], false), made)?;
        builder.build_unconditional_branch(end)?;
        builder.position_at_end(end);
        builder.build_return(None)?;
        Ok(function)
    }

    /// Registers a fat binary until the program ends; its handle.
    fn begin(
        &self,
        wrapper: PointerValue<'ctx>,
        handle: PointerValue<'ctx>,
        unregister: FunctionValue<'ctx>,
    ) -> Result<PointerValue<'ctx>> {
        let ptr = self.context.ptr_type(AddressSpace::default());
        let made =
            self.call("__cudaRegisterFatBinary", ptr.fn_type(&[ptr.into()], false), wrapper)?;
        let made = made.ok_or_else(|| bug("linked", "no handle"))?.into_pointer_value();
        self.builder.build_store(handle, made)?;
        let at_exit = unregister.as_global_value().as_pointer_value();
        let ty = self.context.i32_type().fn_type(&[ptr.into()], false);
        self.call("atexit", ty, at_exit)?;
        Ok(made)
    }

    /// The body of a unit's registration that registers a fat binary of its own.
    fn alone(&self, registration: FunctionValue<'ctx>, fatbin: &[u8]) -> Result<()> {
        let (ptr, void) =
            (self.context.ptr_type(AddressSpace::default()), self.context.void_type());
        // Where constants lie: what is in CUDA's section of an object with relocatable code would be taken for its own.
        let wrapper = self.wrapper(self.code(fatbin), ALONE_VERSION, ptr.const_null());
        let handle = self.variable(ptr.const_null().into());
        let unregister = self.unregister(handle)?;
        registration.set_linkage(Linkage::WeakAny);
        self.builder.position_at_end(self.context.append_basic_block(registration, "entry"));
        let made = self.begin(wrapper, handle, unregister)?;
        let callback =
            registration.get_nth_param(0).ok_or_else(|| bug("linked", "no parameter"))?;
        let ty = void.fn_type(&[ptr.into()], false);
        let callback = callback.into_pointer_value();
        self.builder.build_indirect_call(ty, callback, &[made.into()], "")?;
        self.call("__cudaRegisterFatBinaryEnd", ty, made)?;
        self.builder.build_return(None)?;
        Ok(())
    }

    /// Calls each callback with the handle.
    fn call_back(
        &self,
        function: FunctionValue<'ctx>,
        callbacks: PointerValue<'ctx>,
        count: IntValue<'ctx>,
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
        index: IntValue<'ctx>,
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
        let ty = self.context.void_type().fn_type(&[ptr.into()], false);
        self.call("__cudaUnregisterFatBinary", ty, value)?;
        self.builder.build_return(None)?;
        Ok(function)
    }

    /// The function that a unit's constructor calls, and the text by which a later device link knows that the unit is
    /// linked.
    fn unit(&self, unit: &str, register: FunctionValue<'ctx>) -> Result<()> {
        let known = self.context.const_string(format!("def {unit}").as_bytes(), true);
        let known = private(self.module, known.into());
        known.set_section(Some("__nv_module_id"));
        known.set_alignment(1);
        let wrapper = wrapper_of(self.context, self.module, unit);
        define_registration(self.context, self.module, unit, register, wrapper)
    }
}
