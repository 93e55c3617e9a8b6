//! The parts of LLVM's C API that inkwell does not wrap. All of this crate's direct calls into
//! `llvm-sys` are here.

mod annotations;
mod globals;
mod raising;
pub(crate) mod view;

use std::ffi::{CStr, c_char, c_void};

use inkwell::attributes::Attribute;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::debug_info::{
    DIDerivedType, DIExpression, DIGlobalVariableExpression, DILocalVariable, DILocation, DIType,
    DebugInfoBuilder,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{self, LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMDiagnosticSeverity};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::types::{ArrayType, AsTypeRef, BasicTypeEnum};
use inkwell::values::{
    AsValueRef, BasicValueEnum, CallSiteValue, FunctionValue, GlobalValue, InstructionOpcode,
    InstructionValue, IntValue, PointerValue,
};

pub(crate) use self::annotations::{annotated, forget_annotations};
pub(crate) use self::globals::*;
pub(crate) use self::raising::{
    demangled, forget_groups, forget_list, forget_places, inline, kept_through, operand_is, place,
    promote, replace_instruction, show_places_of_program, users_of,
};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};

/// Diagnostics of a context, in place of LLVM's own handler, which prints and exits.
#[derive(Default)]
pub(crate) struct DiagnosticSink {
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
}

extern "C" fn collect(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: `sink` is the `DiagnosticSink` given to `collect_diagnostics`, which outlives the
    // context; LLVM calls this on the thread that uses the context.
    let sink = unsafe { &mut *sink.cast::<DiagnosticSink>() };
    // SAFETY: LLVM passes a live diagnostic, and hands out a message that we free.
    unsafe {
        let text = LLVMGetDiagInfoDescription(info);
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        match LLVMGetDiagInfoSeverity(info) {
            LLVMDiagnosticSeverity::LLVMDSError => sink.errors.push(message),
            LLVMDiagnosticSeverity::LLVMDSWarning => sink.warnings.push(message),
            _ => {}
        }
    }
}

/// Sends a context's diagnostics to `sink`.
///
/// # Safety
/// `sink` must be valid as long as the context is, and not be borrowed while LLVM runs.
pub(crate) unsafe fn collect_diagnostics(context: &Context, sink: *mut DiagnosticSink) {
    // SAFETY: by the contract above.
    unsafe { LLVMContextSetDiagnosticHandler(context.raw(), Some(collect), sink.cast()) }
}

/// The id of a synchronisation scope ("" is the whole system).
pub(crate) fn sync_scope(context: &Context, name: &str) -> u32 {
    sync_scope_of(context.raw(), name)
}

fn sync_scope_of(context: LLVMContextRef, name: &str) -> u32 {
    // SAFETY: the context is live, the pointer and length are those of a live string.
    unsafe { LLVMGetSyncScopeID(context, name.as_ptr().cast(), name.len()) }
}

/// Makes `atomicrmw` and `cmpxchg` relaxed, in a synchronisation scope.
pub(crate) fn relax_atomic(instruction: InstructionValue<'_>, scope: u32) {
    const RELAXED: LLVMAtomicOrdering = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
    let value = instruction.as_value_ref();
    // SAFETY: a live instruction, of the kind that each function is for.
    unsafe {
        match instruction.get_opcode() {
            InstructionOpcode::AtomicRMW => LLVMSetOrdering(value, RELAXED),
            InstructionOpcode::AtomicCmpXchg => {
                LLVMSetCmpXchgSuccessOrdering(value, RELAXED);
                LLVMSetCmpXchgFailureOrdering(value, RELAXED);
            }
            _ => return,
        }
        LLVMSetAtomicSyncScopeID(value, scope);
    }
}

/// `atomicrmw` with a scope, relaxed.
///
/// # Safety
/// The builder must be positioned.
pub(crate) unsafe fn atomic_rmw<'ctx>(
    builder: LLVMBuilderRef,
    op: LLVMAtomicRMWBinOp,
    ptr: PointerValue<'ctx>,
    value: BasicValueEnum<'ctx>,
    scope: u32,
) -> BasicValueEnum<'ctx> {
    // SAFETY: the values belong to the builder's context.
    unsafe {
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        let ptr = ptr.as_value_ref();
        let value = value.as_value_ref();
        BasicValueEnum::new(LLVMBuildAtomicRMWSyncScope(builder, op, ptr, value, order, scope))
    }
}

/// `cmpxchg` with a scope, relaxed: a pair of the old value and a bit.
///
/// # Safety
/// The builder must be positioned.
pub(crate) unsafe fn compare_exchange<'ctx>(
    builder: LLVMBuilderRef,
    ptr: PointerValue<'ctx>,
    compare: BasicValueEnum<'ctx>,
    value: BasicValueEnum<'ctx>,
    scope: u32,
) -> BasicValueEnum<'ctx> {
    // SAFETY: the values belong to the builder's context.
    unsafe {
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        BasicValueEnum::new(LLVMBuildAtomicCmpXchgSyncScope(
            builder,
            ptr.as_value_ref(),
            compare.as_value_ref(),
            value.as_value_ref(),
            order,
            order,
            scope,
        ))
    }
}

/// Makes a loop's back edge carry its own loop id with the given properties (name and an optional
/// count).
pub(crate) fn set_loop_metadata(
    context: &Context,
    branch: InstructionValue<'_>,
    properties: &[(&str, Option<u32>)],
) {
    // SAFETY: all nodes belong to `context`; the temporary node is replaced, which frees it.
    unsafe {
        let ctx = context.raw();
        let own = LLVMTemporaryMDNode(ctx, std::ptr::null_mut(), 0);
        let mut operands = vec![own];
        for (name, count) in properties {
            let mut parts = vec![LLVMMDStringInContext2(ctx, name.as_ptr().cast(), name.len())];
            if let Some(count) = count {
                let value = LLVMConstInt(LLVMInt32TypeInContext(ctx), u64::from(*count), 0);
                parts.push(LLVMValueAsMetadata(value));
            }
            operands.push(LLVMMDNodeInContext2(ctx, parts.as_mut_ptr(), parts.len()));
        }
        let node = LLVMMDNodeInContext2(ctx, operands.as_mut_ptr(), operands.len());
        LLVMMetadataReplaceAllUsesWith(own, node);
        let kind = context.get_kind_id("llvm.loop");
        LLVMSetMetadata(branch.as_value_ref(), kind, LLVMMetadataAsValue(ctx, node));
    }
}

/// A 32-bit module flag, which overrides one that is there.
pub(crate) fn add_module_flag(context: &Context, module: &Module<'_>, key: &str, value: u32) {
    // SAFETY: all values belong to `context`.
    unsafe {
        let constant = LLVMConstInt(LLVMInt32TypeInContext(context.raw()), u64::from(value), 0);
        LLVMAddModuleFlag(
            module.as_mut_ptr(),
            llvm_sys::LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorOverride,
            key.as_ptr().cast(),
            key.len(),
            LLVMValueAsMetadata(constant),
        );
    }
}

unsafe extern "C" {
    fn cdp_bitcode_refusal(bytes: *const u8, size: usize) -> *mut c_char;
}

/// Why bitcode must not be given to LLVM's reader, which takes some numbers in it at their word and all
/// memory for them. Nothing is said of what is no bitcode, or wrong in another way.
fn bitcode_refusal(bytes: &[u8]) -> Option<String> {
    // SAFETY: the pointer and length are those of a live slice; the message is LLVM's, and freed here.
    unsafe {
        let message = cdp_bitcode_refusal(bytes.as_ptr(), bytes.len());
        (!message.is_null()).then(|| {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeMessage(message);
            format!("not valid LLVM bitcode: {text}")
        })
    }
}

/// Reads a module of LLVM IR, text or bitcode.
pub(crate) fn parse_ir<'ctx>(
    context: &'ctx Context,
    name: &str,
    bytes: &[u8],
) -> Result<Module<'ctx>, String> {
    if let Some(message) = bitcode_refusal(bytes) {
        return Err(message);
    }
    // The text parser wants a terminating NUL, which the copy brings.
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, name);
    let kept = buffer.as_mut_ptr();
    let module = context.create_module_from_ir(buffer);
    // SAFETY: since LLVM 22 (LLVMParseIRInContext2) the buffer stays its caller's, and inkwell 0.11
    // forgets it all the same; nothing else has it.
    drop(unsafe { MemoryBuffer::new(kept) });
    module.map_err(|message| message.to_string())
}

/// Reads bitcode without its function bodies, which the linker fetches when it needs them.
pub(crate) fn parse_bitcode_lazily<'ctx>(
    context: &'ctx Context,
    bytes: &[u8],
) -> Option<Module<'ctx>> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "libdevice");
    let mut module = std::ptr::null_mut();
    // SAFETY: on success the module owns the buffer, so our handle must not free it; on failure
    // LLVM has freed it already.
    unsafe {
        let raw = buffer.as_mut_ptr();
        std::mem::forget(buffer);
        let failed =
            llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2(context.raw(), raw, &mut module);
        (failed == 0 && !module.is_null()).then(|| Module::new(module))
    }
}

/// An array constant of elements of one type.
pub(crate) fn const_array<'ctx>(
    elem: LLVMTypeRef,
    values: &[BasicValueEnum<'ctx>],
) -> BasicValueEnum<'ctx> {
    let mut refs: Vec<_> = values.iter().map(|value| value.as_value_ref()).collect();
    // SAFETY: the values have type `elem`.
    unsafe { BasicValueEnum::new(LLVMConstArray2(elem, refs.as_mut_ptr(), refs.len() as u64)) }
}

/// An integer constant of any width from its low 128 bits.
pub(crate) fn const_int<'ctx>(ty: LLVMTypeRef, value: i128) -> IntValue<'ctx> {
    let words = [value as u64, (value >> 64) as u64];
    // SAFETY: LLVM reads two words and truncates to the type's width.
    unsafe { IntValue::new(LLVMConstIntOfArbitraryPrecision(ty, 2, words.as_ptr())) }
}

/// A constant of another type with the same bits.
pub(crate) fn const_bitcast<'ctx>(
    value: BasicValueEnum<'ctx>,
    ty: LLVMTypeRef,
) -> BasicValueEnum<'ctx> {
    // SAFETY: the caller's types have one size.
    unsafe { BasicValueEnum::new(LLVMConstBitCast(value.as_value_ref(), ty)) }
}

/// Appends to `llvm.compiler.used`, so that optimisation keeps the variables.
pub(crate) fn keep(context: &Context, module: &Module<'_>, globals: &[GlobalValue<'_>]) {
    if globals.is_empty() {
        return;
    }
    // SAFETY: all values belong to `context`; the casts are between pointers.
    unsafe {
        let ptr = LLVMPointerTypeInContext(context.raw(), 0);
        let mut items: Vec<_> = globals
            .iter()
            .map(|global| {
                let value = global.as_pointer_value().as_value_ref();
                if LLVMGetPointerAddressSpace(LLVMTypeOf(value)) == 0 {
                    value
                } else {
                    LLVMConstAddrSpaceCast(value, ptr)
                }
            })
            .collect();
        let array = LLVMConstArray2(ptr, items.as_mut_ptr(), items.len() as u64);
        let name = c"llvm.compiler.used";
        let used = LLVMAddGlobal(module.as_mut_ptr(), LLVMTypeOf(array), name.as_ptr());
        LLVMSetInitializer(used, array);
        LLVMSetLinkage(used, llvm_sys::LLVMLinkage::LLVMAppendingLinkage);
        LLVMSetSection(used, c"llvm.metadata".as_ptr());
    }
}

/// Tells the debugger of a variable with static storage.
pub(crate) fn describe_global<'ctx>(
    context: &'ctx Context,
    global: GlobalValue<'ctx>,
    description: DIGlobalVariableExpression<'ctx>,
) {
    const KIND: &str = "dbg";
    // SAFETY: both belong to the context; the name's pointer and length are those of a live string.
    unsafe {
        let kind = LLVMGetMDKindIDInContext(context.raw(), KIND.as_ptr().cast(), KIND.len() as u32);
        LLVMGlobalSetMetadata(global.as_value_ref(), kind, description.as_mut_ptr());
    }
}

/// Puts a type in the place of the one that stood for it, which is freed.
///
/// # Safety
/// `open` must be a temporary node that nothing but other metadata of its context mentions, and none of
/// that may become equal to metadata that is there.
pub(crate) unsafe fn close_type<'ctx>(open: DIDerivedType<'ctx>, closed: DIType<'ctx>) {
    // SAFETY: by the contract above.
    unsafe { LLVMMetadataReplaceAllUsesWith(open.as_mut_ptr(), closed.as_mut_ptr()) }
}

/// A debug record that a variable lives at an address.
pub(crate) fn declare_variable<'ctx>(
    builder: &DebugInfoBuilder<'ctx>,
    address: PointerValue<'ctx>,
    variable: DILocalVariable<'ctx>,
    expression: DIExpression<'ctx>,
    location: DILocation<'ctx>,
    block: BasicBlock<'ctx>,
) {
    // SAFETY: all of these belong to the builder's module.
    unsafe {
        llvm_sys::debuginfo::LLVMDIBuilderInsertDeclareRecordAtEnd(
            builder.as_mut_ptr(),
            address.as_value_ref(),
            variable.as_mut_ptr(),
            expression.as_mut_ptr(),
            location.as_mut_ptr(),
            block.as_mut_ptr(),
        );
    }
}

/// Whether a function has no body (a body that is not read yet counts).
pub(crate) fn is_declaration(function: FunctionValue<'_>) -> bool {
    // SAFETY: a live function.
    unsafe { LLVMIsDeclaration(function.as_value_ref()) != 0 }
}

/// Drops what a load says of the values that it yields.
pub(crate) fn forget_range(context: &Context, load: InstructionValue<'_>) {
    // SAFETY: a live instruction; no node takes the kind's away.
    unsafe {
        LLVMSetMetadata(load.as_value_ref(), context.get_kind_id("range"), std::ptr::null_mut());
    }
}

/// Whether anything uses a function.
pub(crate) fn has_uses(function: FunctionValue<'_>) -> bool {
    // SAFETY: a live function.
    unsafe { !LLVMGetFirstUse(function.as_value_ref()).is_null() }
}

/// The instructions that use a function, newest first.
pub(crate) fn users<'ctx>(function: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let mut users = Vec::new();
    // SAFETY: the use list is not changed while it is walked.
    unsafe {
        let mut next = LLVMGetFirstUse(function.as_value_ref());
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if !LLVMIsAInstruction(user).is_null() {
                users.push(InstructionValue::new(user));
            }
            next = LLVMGetNextUse(next);
        }
    }
    users
}

/// The address that a call instruction calls.
pub(crate) fn called<'ctx>(instruction: InstructionValue<'ctx>) -> Option<PointerValue<'ctx>> {
    // SAFETY: checked to be a call before its callee is read.
    unsafe {
        if LLVMIsACallInst(instruction.as_value_ref()).is_null() {
            return None;
        }
        Some(PointerValue::new(LLVMGetCalledValue(instruction.as_value_ref())))
    }
}

/// An array of more elements than inkwell counts.
pub(crate) fn array_type<'ctx>(element: BasicTypeEnum<'ctx>, length: u64) -> ArrayType<'ctx> {
    // SAFETY: LLVM makes the type of any sized one, and the context is that of the element.
    unsafe { ArrayType::new(LLVMArrayType2(element.as_type_ref(), length)) }
}

/// The arguments of a call.
pub(crate) fn call_arguments<'ctx>(call: CallSiteValue<'ctx>) -> Vec<BasicValueEnum<'ctx>> {
    let value = call.as_value_ref();
    // SAFETY: the indices are below the number of arguments, which come first among the operands.
    unsafe {
        (0..LLVMGetNumArgOperands(value))
            .map(|index| BasicValueEnum::new(LLVMGetOperand(value, index)))
            .collect()
    }
}

/// Whether a type is one that inkwell's basic types can hold (a kernel parameter of type
/// `target("...")` is not).
fn is_basic(ty: LLVMTypeRef) -> bool {
    use llvm_sys::LLVMTypeKind::*;
    // SAFETY: a live type.
    let kind = unsafe { LLVMGetTypeKind(ty) };
    matches!(
        kind,
        LLVMHalfTypeKind
            | LLVMBFloatTypeKind
            | LLVMFloatTypeKind
            | LLVMDoubleTypeKind
            | LLVMFP128TypeKind
            | LLVMIntegerTypeKind
            | LLVMStructTypeKind
            | LLVMArrayTypeKind
            | LLVMPointerTypeKind
            | LLVMVectorTypeKind
    )
}

/// The first parameter of a function whose type no kernel can have.
pub(crate) fn odd_param(function: FunctionValue<'_>) -> Option<u32> {
    let function = function.as_value_ref();
    // SAFETY: the indices are below the number of parameters.
    unsafe {
        (0..LLVMCountParams(function))
            .find(|index| !is_basic(LLVMTypeOf(LLVMGetParam(function, *index))))
    }
}

/// Whether all arguments of a call have basic types.
pub(crate) fn has_basic_arguments(call: CallSiteValue<'_>) -> bool {
    let value = call.as_value_ref();
    // SAFETY: the indices are below the number of arguments.
    unsafe {
        (0..LLVMGetNumArgOperands(value))
            .all(|index| is_basic(LLVMTypeOf(LLVMGetOperand(value, index))))
    }
}

/// A value as the function that it is, if it is one.
pub(crate) fn as_function<'ctx>(value: BasicValueEnum<'ctx>) -> Option<FunctionValue<'ctx>> {
    // SAFETY: checked to be a function.
    unsafe {
        let function = LLVMIsAFunction(value.as_value_ref());
        if function.is_null() { None } else { FunctionValue::new(function) }
    }
}

/// The type of a `byval` parameter.
pub(crate) fn byval_type<'ctx>(
    function: FunctionValue<'ctx>,
    index: u32,
) -> Option<BasicTypeEnum<'ctx>> {
    let kind = Attribute::get_named_enum_kind_id("byval");
    // SAFETY: the attribute is checked to be there; its type belongs to the function's context.
    unsafe {
        let at = index + 1;
        let attribute = LLVMGetEnumAttributeAtIndex(function.as_value_ref(), at, kind);
        if attribute.is_null() {
            return None;
        }
        Some(BasicTypeEnum::new(LLVMGetTypeAttributeValue(attribute)))
    }
}

/// The type of a `byval` argument of a call.
pub(crate) fn call_byval_type<'ctx>(
    call: CallSiteValue<'ctx>,
    index: u32,
) -> Option<BasicTypeEnum<'ctx>> {
    let kind = Attribute::get_named_enum_kind_id("byval");
    // SAFETY: the attribute is checked to be there; its type belongs to the call's context.
    unsafe {
        let attribute = LLVMGetCallSiteEnumAttribute(call.as_value_ref(), index + 1, kind);
        if attribute.is_null() {
            return None;
        }
        Some(BasicTypeEnum::new(LLVMGetTypeAttributeValue(attribute)))
    }
}

/// Whether a constant array has its elements in it. What is all zero or undefined has none, and LLVM reads it as text without
/// looking.
pub(crate) fn is_data_array(array: inkwell::values::ArrayValue<'_>) -> bool {
    // SAFETY: the value lives as long as its module.
    unsafe { !llvm_sys::core::LLVMIsAConstantDataArray(array.as_value_ref()).is_null() }
}

/// The number of a pointer constant that is made of an integer, `inttoptr (i64 3 to ptr)` or `null`.
pub(crate) fn constant_address(value: BasicValueEnum<'_>) -> Option<u64> {
    let value = value.as_value_ref();
    // SAFETY: each kind of value is checked before it is read as such.
    unsafe {
        if LLVMIsNull(value) != 0 {
            return Some(0);
        }
        if LLVMIsAConstantExpr(value).is_null()
            || LLVMGetConstOpcode(value) != llvm_sys::LLVMOpcode::LLVMIntToPtr
        {
            return None;
        }
        let number = LLVMGetOperand(value, 0);
        let fits =
            !LLVMIsAConstantInt(number).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(number)) <= 64;
        fits.then(|| LLVMConstIntGetZExtValue(number))
    }
}

/// Makes every use of one value a use of another.
pub(crate) fn replace_uses<'ctx>(old: BasicValueEnum<'ctx>, new: BasicValueEnum<'ctx>) {
    // SAFETY: both have one type.
    unsafe { LLVMReplaceAllUsesWith(old.as_value_ref(), new.as_value_ref()) }
}

/// Whether a value is one of which nothing is known.
pub(crate) fn is_undef(value: BasicValueEnum<'_>) -> bool {
    // SAFETY: a live value.
    unsafe { LLVMIsUndef(value.as_value_ref()) != 0 }
}

/// The function that an instruction stands in.
pub(crate) fn owner<'ctx>(at: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    at.get_parent()?.get_parent()
}

/// A builder in front of all that a function does; `None` for a declaration.
pub(crate) fn at_start<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
) -> Option<Builder<'ctx>> {
    let (entry, builder) = (function.get_first_basic_block()?, context.create_builder());
    match entry.get_first_instruction() {
        Some(first) => builder.position_before(&first),
        None => builder.position_at_end(entry),
    }
    Some(builder)
}

/// A call as the instruction that it is.
pub(crate) fn instruction<'ctx>(call: CallSiteValue<'ctx>) -> InstructionValue<'ctx> {
    // SAFETY: calls are instructions.
    unsafe { InstructionValue::new(call.as_value_ref()) }
}
