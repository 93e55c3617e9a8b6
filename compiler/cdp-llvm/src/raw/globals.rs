//! Functions and variables of a module, as codegen units are cut of them.

use std::collections::HashSet;
use std::ffi::CStr;

use inkwell::attributes::Attribute;
use inkwell::llvm_sys;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};

unsafe extern "C" {
    /// In `optimizer.cpp`.
    fn cdp_forget_names(module: LLVMModuleRef);
    /// In `large.cpp`.
    fn cdp_spare_large(module: LLVMModuleRef, most: usize);
}

/// Forgets the names of what a module's functions hold; from now on its context keeps none.
pub(crate) fn forget_names(module: &Module<'_>) {
    // SAFETY: a live module.
    unsafe { cdp_forget_names(module.as_mut_ptr()) }
}

/// A function or variable of a module, for looking at it. Valid as long as the module is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct GlobalRef(LLVMValueRef);

impl GlobalRef {
    /// Its name, or one of its own for something that has none.
    pub fn name_or(self, number: usize) -> String {
        let mut bytes = 0;
        // SAFETY: a live value; the name has the length that LLVM gives.
        let name = unsafe {
            let start = LLVMGetValueName2(self.0, &mut bytes);
            std::slice::from_raw_parts(start.cast::<u8>(), bytes)
        };
        match name {
            [] => format!("__cdp_unnamed_{number}"),
            name => String::from_utf8_lossy(name).into_owned(),
        }
    }

    pub fn set_name(self, name: &str) {
        // SAFETY: a live value and string.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    pub fn set_linkage(self, linkage: inkwell::module::Linkage) {
        // SAFETY: a live global value.
        unsafe { LLVMSetLinkage(self.0, linkage.into()) }
    }

    /// Known to its module alone.
    pub fn is_internal(self) -> bool {
        use llvm_sys::LLVMLinkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
        // SAFETY: a live global value.
        matches!(unsafe { LLVMGetLinkage(self.0) }, LLVMInternalLinkage | LLVMPrivateLinkage)
    }

    /// May go when nothing in its module mentions it.
    pub fn is_discardable(self) -> bool {
        use llvm_sys::LLVMLinkage::{LLVMLinkOnceAnyLinkage, LLVMLinkOnceODRLinkage};
        // SAFETY: a live global value.
        let linkage = unsafe { LLVMGetLinkage(self.0) };
        matches!(linkage, LLVMLinkOnceAnyLinkage | LLVMLinkOnceODRLinkage)
    }

    /// A variable whose initialiser is its value.
    pub fn is_constant(self) -> bool {
        // SAFETY: checked to be a variable first.
        unsafe {
            !LLVMIsAGlobalVariable(self.0).is_null()
                && LLVMIsGlobalConstant(self.0) != 0
                && LLVMIsExternallyInitialized(self.0) == 0
        }
    }

    /// Keeps it for other modules, if it is one that would go when its own does not need it.
    pub fn outlive(self) {
        use llvm_sys::LLVMLinkage::*;
        // SAFETY: a live value.
        unsafe {
            match LLVMGetLinkage(self.0) {
                LLVMLinkOnceODRLinkage => LLVMSetLinkage(self.0, LLVMWeakODRLinkage),
                LLVMLinkOnceAnyLinkage => LLVMSetLinkage(self.0, LLVMWeakAnyLinkage),
                _ => {}
            }
        }
    }

    /// A function whose body others may use in its place.
    pub fn is_importable(self) -> bool {
        let kind = Attribute::get_named_enum_kind_id("noinline");
        let at = llvm_sys::LLVMAttributeFunctionIndex;
        // SAFETY: checked to be a function first.
        unsafe {
            !LLVMIsAFunction(self.0).is_null()
                && LLVMGetFunctionCallConv(self.0) != crate::PTX_KERNEL
                && LLVMGetEnumAttributeAtIndex(self.0, at, kind).is_null()
        }
    }

    /// The number of instructions of a body (0 for a variable), and the functions and variables that
    /// the body or the initialiser mentions.
    pub fn content(self) -> (usize, Vec<GlobalRef>) {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut instructions = 0;
        // SAFETY: a live value; operand indices are below the number of operands.
        unsafe {
            if LLVMIsAFunction(self.0).is_null() {
                mentioned(LLVMGetInitializer(self.0), &mut seen, &mut found);
                return (0, found);
            }
            let mut block = LLVMGetFirstBasicBlock(self.0);
            while !block.is_null() {
                let mut instruction = LLVMGetFirstInstruction(block);
                while !instruction.is_null() {
                    instructions += 1;
                    for index in 0..LLVMGetNumOperands(instruction).max(0) as u32 {
                        let operand = LLVMGetOperand(instruction, index);
                        mentioned(operand, &mut seen, &mut found);
                    }
                    instruction = LLVMGetNextInstruction(instruction);
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
        (instructions, found)
    }
}

/// Collects the global values in a constant.
///
/// # Safety
/// `value` must be live, or null.
pub(super) unsafe fn mentioned(
    value: LLVMValueRef,
    seen: &mut HashSet<LLVMValueRef>,
    found: &mut Vec<GlobalRef>,
) {
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        // SAFETY: by the contract; operands of live constants are live.
        unsafe {
            if value.is_null() || LLVMIsAConstant(value).is_null() || !seen.insert(value) {
                continue;
            }
            if !LLVMIsAGlobalValue(value).is_null() {
                found.push(GlobalRef(value));
                continue;
            }
            let count = LLVMGetNumOperands(value).max(0) as u32;
            work.extend((0..count).map(|index| LLVMGetOperand(value, index)));
        }
    }
}

/// Has functions of more than `most` instructions left unoptimised.
pub(crate) fn spare_large(module: &Module<'_>, most: usize) {
    // SAFETY: a live module.
    unsafe { cdp_spare_large(module.as_mut_ptr(), most) }
}

/// Whether the functions of a module have at least so many instructions together.
pub(crate) fn has_instructions(module: &Module<'_>, least: u64) -> bool {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    let mut instructions = blocks.flat_map(|block| block.get_instructions());
    least == 0 || instructions.nth(usize::try_from(least - 1).unwrap_or(usize::MAX)).is_some()
}

/// Whether a module has functions and variables and nothing else: no assembly, aliases,
/// constructors or debug information.
pub(crate) fn is_plain(module: &Module<'_>) -> bool {
    let raw = module.as_mut_ptr();
    // SAFETY: a live module.
    unsafe {
        let mut assembly_bytes = 0;
        LLVMGetModuleInlineAsm(raw, &mut assembly_bytes);
        assembly_bytes == 0
            && LLVMGetFirstGlobalAlias(raw).is_null()
            && LLVMGetFirstGlobalIFunc(raw).is_null()
            && LLVMGetNamedGlobal(raw, c"llvm.global_ctors".as_ptr()).is_null()
            && LLVMGetNamedGlobal(raw, c"llvm.global_dtors".as_ptr()).is_null()
            && LLVMGetNamedMetadataNumOperands(raw, c"llvm.dbg.cu".as_ptr()) == 0
    }
}

/// Everything that a module defines, variables first; not LLVM's own lists.
pub(crate) fn definitions(module: &Module<'_>) -> Vec<GlobalRef> {
    let mut all = Vec::new();
    // SAFETY: a live module, not changed while it is walked.
    unsafe {
        let mut global = LLVMGetFirstGlobal(module.as_mut_ptr());
        while !global.is_null() {
            all.push(GlobalRef(global));
            global = LLVMGetNextGlobal(global);
        }
        let mut function = LLVMGetFirstFunction(module.as_mut_ptr());
        while !function.is_null() {
            all.push(GlobalRef(function));
            function = LLVMGetNextFunction(function);
        }
        all.retain(|value| {
            let appending = llvm_sys::LLVMLinkage::LLVMAppendingLinkage;
            LLVMIsDeclaration(value.0) == 0 && LLVMGetLinkage(value.0) != appending
        });
    }
    all
}

const KEPT: [&CStr; 2] = [c"llvm.compiler.used", c"llvm.used"];

/// What `llvm.used` and `llvm.compiler.used` keep.
pub(crate) fn kept(module: &Module<'_>) -> Vec<GlobalRef> {
    let mut found = Vec::new();
    for name in KEPT {
        // SAFETY: a live module; null is nothing.
        unsafe {
            let list = LLVMGetNamedGlobal(module.as_mut_ptr(), name.as_ptr());
            if !list.is_null() {
                mentioned(LLVMGetInitializer(list), &mut HashSet::new(), &mut found);
            }
        }
    }
    found
}

/// Removes those lists.
pub(crate) fn forget_kept(module: &Module<'_>) {
    for name in KEPT {
        // SAFETY: a live module; nothing uses the lists.
        unsafe {
            let list = LLVMGetNamedGlobal(module.as_mut_ptr(), name.as_ptr());
            if !list.is_null() {
                LLVMDeleteGlobal(list);
            }
        }
    }
}

/// Makes a definition a declaration.
pub(crate) fn delete_body(function: FunctionValue<'_>) {
    let function = function.as_value_ref();
    // SAFETY: every use of an instruction is replaced before the instruction goes, and blocks are
    // used by instructions only.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            while let Some(instruction) = non_null(LLVMGetLastInstruction(block)) {
                let ty = LLVMTypeOf(instruction);
                if LLVMGetTypeKind(ty) != llvm_sys::LLVMTypeKind::LLVMVoidTypeKind {
                    LLVMReplaceAllUsesWith(instruction, LLVMGetPoison(ty));
                }
                LLVMInstructionEraseFromParent(instruction);
            }
            block = LLVMGetNextBasicBlock(block);
        }
        while let Some(block) = non_null(LLVMGetFirstBasicBlock(function)) {
            LLVMDeleteBasicBlock(block);
        }
    }
}

fn non_null<T>(pointer: *mut T) -> Option<*mut T> {
    (!pointer.is_null()).then_some(pointer)
}

/// Makes a variable's definition a declaration.
pub(crate) fn delete_initializer(global: GlobalValue<'_>) {
    // SAFETY: null is LLVM's way to say that there is none.
    unsafe { LLVMSetInitializer(global.as_value_ref(), std::ptr::null_mut()) }
}
