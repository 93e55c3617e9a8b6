//! What raising needs of LLVM, with `raise.cpp`.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char};

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt, LLVMDILocationGetScope, LLVMDIScopeGetFile,
    LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc,
};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, InstructionValue};

unsafe extern "C" {
    fn cdp_raise_forget_places(function: LLVMValueRef);
    fn cdp_raise_promote(function: LLVMValueRef);
    fn cdp_raise_inline(call: LLVMValueRef) -> LLVMBool;
    fn cdp_raise_name(symbol: *const c_char, size: usize) -> *mut c_char;
    fn cdp_raise_forget_list(module: LLVMModuleRef, name: *const c_char, size: usize);
    fn cdp_raise_forget_groups(module: LLVMModuleRef);
    fn cdp_raise_place(at: LLVMValueRef, line: *mut u32, column: *mut u32) -> *mut c_char;
}

/// Takes the debug information out of a function that is to vanish into its callers.
pub(crate) fn forget_places(function: FunctionValue<'_>) {
    // SAFETY: a live function.
    unsafe { cdp_raise_forget_places(function.as_value_ref()) }
}

/// Where instructions of files that `is_header` names were inlined into others, they are said to be where the innermost
/// of those calls them: LLVM's PTX has one line for an instruction, not the chain of its calls.
pub(crate) fn show_places_of_program(module: &Module<'_>, is_header: fn(&str) -> bool) {
    let mut known: HashMap<LLVMMetadataRef, bool> = HashMap::new();
    let mut hidden = |place: LLVMMetadataRef| {
        // SAFETY: a live location, whose scope has a file; its name lives as long as the module.
        unsafe {
            let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(place));
            !file.is_null() && *known.entry(file).or_insert_with(|| is_header(&name_of(file)))
        }
    };
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_blocks);
    for instruction in blocks.flat_map(BasicBlock::get_instructions) {
        // SAFETY: a live instruction; an outer location is one of the same function.
        unsafe {
            let written = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
            let mut place = written;
            while !place.is_null() && hidden(place) {
                place = LLVMDILocationGetInlinedAt(place);
            }
            if !place.is_null() && place != written {
                LLVMInstructionSetDebugLoc(instruction.as_value_ref(), place);
            }
        }
    }
}

/// # Safety
/// `file` is a live file.
unsafe fn name_of(file: LLVMMetadataRef) -> String {
    let mut length = 0;
    // SAFETY: as above; the name is copied here.
    unsafe {
        let name = LLVMDIFileGetFilename(file, &raw mut length);
        let bytes = match name.is_null() {
            true => &[],
            false => std::slice::from_raw_parts(name.cast::<u8>(), length as usize),
        };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Makes registers of a function's variables where that can be done.
pub(crate) fn promote(function: FunctionValue<'_>) {
    // SAFETY: a live function with a body.
    unsafe { cdp_raise_promote(function.as_value_ref()) }
}

/// Puts the body of the called function in the place of a call, which is gone when that worked.
pub(crate) fn inline(call: InstructionValue<'_>) -> bool {
    // SAFETY: a live call of a function with a body.
    unsafe { cdp_raise_inline(call.as_value_ref()) != 0 }
}

/// File, line and column of the place that an instruction comes from.
pub(crate) fn place(at: InstructionValue<'_>) -> Option<(String, u32, u32)> {
    let (mut line, mut column) = (0, 0);
    // SAFETY: a live instruction; the message is copied before it is freed.
    unsafe {
        let file = cdp_raise_place(at.as_value_ref(), &raw mut line, &raw mut column);
        if file.is_null() {
            return None;
        }
        let name = CStr::from_ptr(file).to_string_lossy().into_owned();
        LLVMDisposeMessage(file);
        Some((name, line, column))
    }
}

/// The instructions that use the result of one, newest first.
pub(crate) fn users_of<'ctx>(value: InstructionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let mut users = Vec::new();
    // SAFETY: the use list is not changed while it is walked.
    unsafe {
        let mut next = LLVMGetFirstUse(value.as_value_ref());
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if !LLVMIsAInstruction(user).is_null() {
                users.push(InstructionValue::new(user));
            }
            next = LLVMGetNextUse(next);
        }
    }
    users.dedup();
    users
}

/// Whether an operand of an instruction is the result of another.
pub(crate) fn operand_is(
    at: InstructionValue<'_>,
    index: u32,
    value: InstructionValue<'_>,
) -> bool {
    // SAFETY: the index is checked.
    unsafe {
        (LLVMGetNumOperands(at.as_value_ref()) as u32) > index
            && LLVMGetOperand(at.as_value_ref(), index) == value.as_value_ref()
    }
}

/// Puts a value in the place of an instruction.
pub(crate) fn replace_instruction<'ctx>(old: InstructionValue<'ctx>, new: BasicValueEnum<'ctx>) {
    // SAFETY: both have one type, and nothing uses the instruction when it is erased.
    unsafe { LLVMReplaceAllUsesWith(old.as_value_ref(), new.as_value_ref()) };
    old.erase_from_basic_block();
}

/// The functions and variables that a variable's initialiser mentions.
pub(crate) fn kept_through(module: &Module<'_>, list: &str) -> Vec<super::globals::GlobalRef> {
    let mut found = Vec::new();
    let initializer = module.get_global(list).and_then(|list| list.get_initializer());
    if let Some(value) = initializer {
        // SAFETY: a live constant.
        unsafe { super::globals::mentioned(value.as_value_ref(), &mut HashSet::new(), &mut found) };
    }
    found
}

/// Removes a variable that nothing uses but LLVM's lists of what is kept.
pub(crate) fn forget_list(module: &Module<'_>, list: &str) {
    // SAFETY: a live module.
    unsafe { cdp_raise_forget_list(module.as_mut_ptr(), list.as_ptr().cast(), list.len()) }
}

/// Takes functions and variables out of their COMDAT groups.
pub(crate) fn forget_groups(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { cdp_raise_forget_groups(module.as_mut_ptr()) }
}

/// The name of a C++ function without its parameters; `None` for other symbols.
pub(crate) fn demangled(symbol: &str) -> Option<String> {
    // SAFETY: the message is copied before it is freed.
    unsafe {
        let name = cdp_raise_name(symbol.as_ptr().cast(), symbol.len());
        if name.is_null() {
            return None;
        }
        let text = CStr::from_ptr(name).to_string_lossy().into_owned();
        LLVMDisposeMessage(name);
        Some(text)
    }
}
