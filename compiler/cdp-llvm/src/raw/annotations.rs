//! What `__attribute__((annotate("mark", 1, 2)))` of a function says, from the list that clang makes of all
//! of them.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};

const LIST: &str = "llvm.global.annotations";

/// The functions with an annotation of this mark, and its numbers.
pub(crate) fn annotated<'ctx>(
    module: &Module<'ctx>,
    mark: &str,
) -> Vec<(FunctionValue<'ctx>, Vec<u64>)> {
    let initializer = module.get_global(LIST).and_then(|list| list.get_initializer());
    let Some(list) = initializer else { return Vec::new() };
    // SAFETY: live constants of the module; each is asked for what it is first.
    unsafe {
        let entries = operands(list.as_value_ref());
        entries.filter_map(|entry| read(entry, mark)).collect()
    }
}

/// Forgets all annotations: nothing behind clang reads them.
pub(crate) fn forget_annotations(module: &Module<'_>) {
    if let Some(list) = module.get_global(LIST) {
        // SAFETY: nothing refers to the list.
        unsafe { list.delete() };
    }
}

/// An entry is a function, the mark, a file, a line and the numbers.
unsafe fn read<'ctx>(entry: LLVMValueRef, mark: &str) -> Option<(FunctionValue<'ctx>, Vec<u64>)> {
    // SAFETY: the caller's promise.
    unsafe {
        let parts: Vec<LLVMValueRef> = operands(entry).collect();
        let [function, text, _, _, numbers] = parts[..] else { return None };
        if content(text).as_deref() != Some(mark.as_bytes()) {
            return None;
        }
        let function = FunctionValue::new(LLVMIsAFunction(function))?;
        let numbers = match initializer(numbers) {
            Some(numbers) => operands(numbers)
                .filter(|&number| !LLVMIsAConstantInt(number).is_null())
                .map(|number| LLVMConstIntGetZExtValue(number))
                .collect(),
            None => Vec::new(),
        };
        Some((function, numbers))
    }
}

/// What a variable begins with.
unsafe fn initializer(variable: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: the caller's promise.
    unsafe {
        let variable = LLVMIsAGlobalVariable(variable);
        let value = if variable.is_null() { variable } else { LLVMGetInitializer(variable) };
        (!value.is_null()).then_some(value)
    }
}

/// The text of a variable, without the zero at its end.
unsafe fn content(variable: LLVMValueRef) -> Option<Vec<u8>> {
    // SAFETY: the caller's promise; the bytes belong to the constant.
    unsafe {
        let text = initializer(variable)?;
        if LLVMIsAConstantDataSequential(text).is_null() || LLVMIsConstantString(text) == 0 {
            return None;
        }
        let mut length = 0;
        let bytes = LLVMGetAsString(text, &mut length);
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
        Some(bytes.strip_suffix(&[0]).unwrap_or(bytes).to_vec())
    }
}

unsafe fn operands(value: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: the caller's promise.
    let count = unsafe { LLVMGetNumOperands(value) };
    // SAFETY: as above, below the number of them.
    (0..count.max(0) as u32).map(move |index| unsafe { LLVMGetOperand(value, index) })
}
