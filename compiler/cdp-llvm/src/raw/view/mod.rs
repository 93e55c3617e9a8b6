//! Looking at a module without changing it: what the analyses of launches read.

use std::ffi::{c_char, c_int, c_uint};
use std::marker::PhantomData;

use inkwell::attributes::Attribute;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    self, LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind,
    LLVMValueKind,
};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, InstructionValue};

use super::sync_scope_of;

mod stacks;

pub(crate) use stacks::{
    Leaf, WarpLimits, launch_by_warp, made_of_warp, make_stack, make_stack_in_order,
};

unsafe extern "C" {
    fn cdp_launches_body(kernel: LLVMValueRef, name: *const c_char, size: usize) -> LLVMValueRef;
    fn cdp_launches_added(kernel: LLVMValueRef, x: c_uint, y: c_uint, z: c_uint) -> LLVMValueRef;
    fn cdp_launches_coherent(kernel: LLVMValueRef);
    fn cdp_launches_twin(kernel: LLVMValueRef, name: *const c_char, size: usize) -> LLVMValueRef;
    fn cdp_launches_most(call: LLVMValueRef, operand: c_uint) -> u64;
    fn cdp_launches_meet(kernel: LLVMValueRef, sites: *const LLVMValueRef, count: c_uint);
    fn cdp_launches_assembly(
        value: LLVMValueRef,
        size: *mut usize,
        effects: *mut c_int,
    ) -> *const c_char;
    fn cdp_launches_offset(
        value: LLVMValueRef,
        function: LLVMValueRef,
        constant: *mut i64,
        indices: *mut LLVMValueRef,
        scales: *mut i64,
        most: c_int,
    ) -> c_int;
    fn cdp_launches_bytes(value: LLVMValueRef) -> u64;
    fn cdp_launches_no_memory(function: LLVMValueRef) -> c_int;
    fn cdp_launches_reduces(value: LLVMValueRef) -> c_int;
    fn cdp_launches_store_alignment(value: LLVMValueRef) -> u64;
}

/// The most indices of an address that is taken apart.
const MOST_INDICES: usize = 4;

/// Makes ordinary loads of a kernel's loads of what is constant while it runs (`launches/body.cpp`).
pub(crate) fn make_coherent(kernel: FunctionValue<'_>) {
    // SAFETY: a live function.
    unsafe { cdp_launches_coherent(kernel.as_value_ref()) }
}

/// Has lanes that part before these launches of a kernel meet again behind them (`launches/meet.rs`).
pub(crate) fn make_meet<'ctx>(kernel: FunctionValue<'ctx>, sites: &[View<'ctx>]) {
    let sites: Vec<LLVMValueRef> = sites.iter().map(|site| site.0).collect();
    let count = sites.len() as c_uint;
    // SAFETY: a live function, and calls in it.
    unsafe { cdp_launches_meet(kernel.as_value_ref(), sites.as_ptr(), count) }
}

/// A device function with the body of a kernel (`launches/body.cpp`).
pub(crate) fn kernel_body<'ctx>(
    kernel: FunctionValue<'ctx>,
    name: &str,
) -> Option<FunctionValue<'ctx>> {
    // SAFETY: a live kernel with a body, and a live string.
    unsafe {
        let body = cdp_launches_body(kernel.as_value_ref(), name.as_ptr().cast(), name.len());
        FunctionValue::new(body)
    }
}

/// A kernel that does the same under another name (`launches/inside/inside.cpp`).
pub(crate) fn twin<'ctx>(kernel: FunctionValue<'ctx>, name: &str) -> Option<FunctionValue<'ctx>> {
    // SAFETY: a live kernel with a body, and a live string.
    unsafe {
        let twin = cdp_launches_twin(kernel.as_value_ref(), name.as_ptr().cast(), name.len());
        FunctionValue::new(twin)
    }
}

/// What an operand of 32 bits of a call is at most, where it is no negative number (`launches/inside/inside.cpp`).
pub(crate) fn most_of_operand(call: View<'_>, operand: u32) -> u64 {
    // SAFETY: a live call, which the caller sees to, with that many operands.
    unsafe { cdp_launches_most(call.0, operand) }
}

/// A copy of a kernel in blocks of one size, each thread of which adds what the block adds up (`launches/added/added.cpp`).
pub(crate) fn added_up<'ctx>(
    kernel: FunctionValue<'ctx>,
    [x, y, z]: [u32; 3],
) -> Option<FunctionValue<'ctx>> {
    // SAFETY: a live kernel with a body.
    unsafe { FunctionValue::new(cdp_launches_added(kernel.as_value_ref(), x, y, z)) }
}

/// A value of a module: an instruction, a parameter, a constant, a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct View<'ctx>(LLVMValueRef, PhantomData<&'ctx ()>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block<'ctx>(LLVMBasicBlockRef, PhantomData<&'ctx ()>);

// SAFETY of what follows: views are made of live values of a module that is borrowed for 'ctx, and nothing
// is removed from a function while views of its instructions are held (the passes look first, and change
// afterwards). Kinds are checked before anything is read that only one kind has.

impl<'ctx> View<'ctx> {
    fn new(value: LLVMValueRef) -> Option<View<'ctx>> {
        (!value.is_null()).then_some(View(value, PhantomData))
    }

    pub fn function(function: FunctionValue<'ctx>) -> View<'ctx> {
        View(function.as_value_ref(), PhantomData)
    }

    pub fn value(value: BasicValueEnum<'ctx>) -> View<'ctx> {
        View(value.as_value_ref(), PhantomData)
    }

    pub fn instruction(instruction: InstructionValue<'ctx>) -> View<'ctx> {
        View(instruction.as_value_ref(), PhantomData)
    }

    /// The same as inkwell has it, for a function.
    pub fn as_function(self) -> Option<FunctionValue<'ctx>> {
        // SAFETY: see above; checked to be a function.
        unsafe { if LLVMIsAFunction(self.0).is_null() { None } else { FunctionValue::new(self.0) } }
    }

    pub fn is_instruction(self) -> bool {
        // SAFETY: see above.
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    pub fn name(self) -> String {
        let mut bytes = 0;
        // SAFETY: see above; the name has the length that LLVM gives.
        unsafe {
            let start = LLVMGetValueName2(self.0, &mut bytes);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), bytes)).into()
        }
    }

    /// The type as LLVM writes it, of a value that is no struct.
    pub fn type_text(self) -> String {
        // SAFETY: see above; the text is copied before it is freed.
        unsafe {
            let text = LLVMPrintTypeToString(LLVMTypeOf(self.0));
            let copy = std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }

    pub fn opcode(self) -> Option<LLVMOpcode> {
        // SAFETY: see above.
        self.is_instruction().then(|| unsafe { LLVMGetInstructionOpcode(self.0) })
    }

    /// Bits of an integer.
    pub fn bits(self) -> Option<u32> {
        // SAFETY: see above; the kind is checked.
        unsafe {
            let ty = LLVMTypeOf(self.0);
            (LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind)
                .then(|| LLVMGetIntTypeWidth(ty))
        }
    }

    pub fn operands(self) -> Vec<View<'ctx>> {
        // SAFETY: see above; constants and instructions have operands, blocks among them.
        unsafe {
            let count = LLVMGetNumOperands(self.0).max(0) as u32;
            (0..count).filter_map(|index| View::new(LLVMGetOperand(self.0, index))).collect()
        }
    }

    pub fn operand(self, index: u32) -> Option<View<'ctx>> {
        self.operands().get(index as usize).copied()
    }

    /// Instructions that use the value.
    pub fn users(self) -> Vec<View<'ctx>> {
        let mut users = Vec::new();
        // SAFETY: see above.
        unsafe {
            let mut next = LLVMGetFirstUse(self.0);
            while !next.is_null() {
                users.extend(View::new(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// The number of a parameter.
    pub fn parameter_index(self) -> Option<u32> {
        // SAFETY: see above; checked to be a parameter of a function.
        unsafe {
            if LLVMIsAArgument(self.0).is_null() {
                return None;
            }
            let function = LLVMGetParamParent(self.0);
            (0..LLVMCountParams(function)).find(|index| LLVMGetParam(function, *index) == self.0)
        }
    }

    pub fn parameter(self, index: u32) -> Option<View<'ctx>> {
        // SAFETY: see above; checked to be a function that has it.
        unsafe {
            let there = !LLVMIsAFunction(self.0).is_null() && index < LLVMCountParams(self.0);
            if there { View::new(LLVMGetParam(self.0, index)) } else { None }
        }
    }

    pub fn is_constant(self) -> bool {
        // SAFETY: see above.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// A constant integer, sign-extended.
    pub fn constant_int(self) -> Option<i64> {
        // SAFETY: see above; checked to be one of at most 64 bits.
        unsafe {
            let fits =
                !LLVMIsAConstantInt(self.0).is_null() && self.bits().is_some_and(|b| b <= 64);
            fits.then(|| LLVMConstIntGetSExtValue(self.0))
        }
    }

    /// What a call calls: a function, assembly, or an address that is computed.
    pub fn callee(self) -> Option<View<'ctx>> {
        // SAFETY: see above; checked to be a call.
        unsafe {
            if LLVMIsACallInst(self.0).is_null() {
                return None;
            }
            View::new(LLVMGetCalledValue(self.0))
        }
    }

    pub fn is_assembly(self) -> bool {
        // SAFETY: see above.
        unsafe { LLVMGetValueKind(self.0) == LLVMValueKind::LLVMInlineAsmValueKind }
    }

    /// The text of inline assembly, and whether it does more than compute its results.
    pub fn assembly(self) -> Option<(String, bool)> {
        let (mut size, mut effects) = (0, 0);
        // SAFETY: see above; the kind is checked, and the text is copied at once.
        self.is_assembly().then(|| unsafe {
            let text = cdp_launches_assembly(self.0, &mut size, &mut effects).cast::<u8>();
            let text = std::slice::from_raw_parts(text, size);
            (String::from_utf8_lossy(text).into_owned(), effects != 0)
        })
    }

    /// Of an address that is computed from its first operand, how many bytes it lies behind that: a constant, and
    /// values times scales. The values count as signed.
    pub fn offset(self, of: View<'ctx>) -> Option<(i64, Vec<(View<'ctx>, i64)>)> {
        let mut constant = 0;
        let mut indices = [std::ptr::null_mut(); MOST_INDICES];
        let mut scales = [0; MOST_INDICES];
        // SAFETY: see above; `of` is checked to be a function, which has a module, and the arrays have as many
        // places as are told.
        let count = unsafe {
            if LLVMIsAFunction(of.0).is_null() {
                return None;
            }
            let (at, by) = (indices.as_mut_ptr(), scales.as_mut_ptr());
            cdp_launches_offset(self.0, of.0, &mut constant, at, by, MOST_INDICES as c_int)
        };
        let count = usize::try_from(count).ok()?;
        let parts = indices.iter().zip(scales).take(count);
        Some((constant, parts.filter_map(|(i, scale)| Some((View::new(*i)?, scale))).collect()))
    }

    /// The variable of a function that an address leads into.
    pub fn variable(self) -> Option<View<'ctx>> {
        let mut place = self;
        while place.opcode() == Some(LLVMOpcode::LLVMGetElementPtr) {
            place = place.operand(0)?;
        }
        (place.opcode() == Some(LLVMOpcode::LLVMAlloca)).then_some(place)
    }

    /// Bytes that a load, a store or an atomic operation touches; 0 where that is not known.
    pub fn touched_bytes(self) -> u64 {
        // SAFETY: see above; the kind is checked.
        unsafe { cdp_launches_bytes(self.0) }
    }

    /// The alignment that a store states.
    pub fn store_alignment(self) -> u64 {
        // SAFETY: see above; the kind is checked.
        unsafe { cdp_launches_store_alignment(self.0) }
    }

    /// The kind of an atomic operation that orders nothing, whose result nobody looks at, and that is atomic for
    /// the whole device.
    pub fn reduction(self) -> Option<LLVMAtomicRMWBinOp> {
        self.plain_update().filter(|_| self.users().is_empty())
    }

    /// Whether an atomic operation that orders nothing, whose result nobody looks at, and that is atomic for the whole
    /// device, writes what it is given. LLVM makes such of `atomicAnd(p, 0)` too.
    pub fn exchanges(self) -> bool {
        let exchange = LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg as c_int;
        // SAFETY: see above; the kind is checked.
        self.users().is_empty() && unsafe { cdp_launches_reduces(self.0) } == exchange
    }

    /// The kind of one whose result may be looked at.
    pub fn plain_update(self) -> Option<LLVMAtomicRMWBinOp> {
        use LLVMAtomicRMWBinOp::{
            LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpFAdd,
            LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpOr,
            LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpUMax, LLVMAtomicRMWBinOpUMin,
            LLVMAtomicRMWBinOpXor,
        };
        // SAFETY: see above; the kind is checked.
        let kind = unsafe { cdp_launches_reduces(self.0) };
        let kinds = [
            LLVMAtomicRMWBinOpAdd,
            LLVMAtomicRMWBinOpSub,
            LLVMAtomicRMWBinOpAnd,
            LLVMAtomicRMWBinOpOr,
            LLVMAtomicRMWBinOpXor,
            LLVMAtomicRMWBinOpMax,
            LLVMAtomicRMWBinOpMin,
            LLVMAtomicRMWBinOpUMax,
            LLVMAtomicRMWBinOpUMin,
            LLVMAtomicRMWBinOpFAdd,
        ];
        kinds.into_iter().find(|known| *known as c_int == kind)
    }

    /// Whether an atomic operation is atomic for its device alone, not for the whole system.
    pub fn is_of_device(self) -> bool {
        // SAFETY: see above; the kind is checked.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            !LLVMIsAAtomicRMWInst(self.0).is_null()
                && LLVMGetAtomicSyncScopeID(self.0) == sync_scope_of(context, "device")
        }
    }

    /// Whether an instruction does more to memory than a load, a store, an update or a plain call: it orders, compares and
    /// writes, or calls in a way that hardly comes up.
    pub fn is_of_other_kinds(self) -> bool {
        use LLVMOpcode::{LLVMAtomicCmpXchg, LLVMCallBr, LLVMFence, LLVMInvoke, LLVMVAArg};
        let kinds = [LLVMFence, LLVMAtomicCmpXchg, LLVMInvoke, LLVMCallBr, LLVMVAArg];
        self.opcode().is_some_and(|opcode| kinds.contains(&opcode))
    }

    /// Whether a function touches no memory.
    pub fn touches_no_memory(self) -> bool {
        // SAFETY: see above; the kind is checked.
        unsafe { cdp_launches_no_memory(self.0) != 0 }
    }

    /// Whether a value is an address.
    pub fn is_pointer(self) -> bool {
        // SAFETY: see above.
        unsafe { LLVMGetTypeKind(LLVMTypeOf(self.0)) == LLVMTypeKind::LLVMPointerTypeKind }
    }

    /// What a constant expression does.
    pub fn constant_opcode(self) -> Option<LLVMOpcode> {
        // SAFETY: see above; the kind is checked.
        unsafe { (!LLVMIsAConstantExpr(self.0).is_null()).then(|| LLVMGetConstOpcode(self.0)) }
    }

    /// Whether a variable or function is what it is, and its address space (0 for functions).
    pub fn global_space(self) -> Option<u32> {
        // SAFETY: see above; checked to be a variable, whose type is a pointer.
        unsafe {
            if LLVMIsAGlobalVariable(self.0).is_null() {
                return None;
            }
            Some(LLVMGetPointerAddressSpace(LLVMTypeOf(self.0)))
        }
    }

    /// Bytes of a variable that has them here: none for one that is declared, or an array without length.
    pub fn variable_bytes(self) -> Option<u64> {
        // SAFETY: see above; checked to be a variable, which has a type of its own and a module.
        let bytes = unsafe {
            if LLVMIsAGlobalVariable(self.0).is_null() || LLVMIsDeclaration(self.0) != 0 {
                return None;
            }
            let layout = llvm_sys::target::LLVMGetModuleDataLayout(LLVMGetGlobalParent(self.0));
            llvm_sys::target::LLVMABISizeOfType(layout, LLVMGlobalGetValueType(self.0))
        };
        (bytes != 0).then_some(bytes)
    }

    /// Whether a function has an attribute without value.
    pub fn has_function_attribute(self, name: &str) -> bool {
        let kind = Attribute::get_named_enum_kind_id(name);
        let at = llvm_sys::LLVMAttributeFunctionIndex;
        // SAFETY: see above; checked to be a function.
        unsafe {
            !LLVMIsAFunction(self.0).is_null()
                && !LLVMGetEnumAttributeAtIndex(self.0, at, kind).is_null()
        }
    }

    /// The comparison of integers that an instruction makes.
    pub fn comparison(self) -> Option<LLVMIntPredicate> {
        let is = self.opcode() == Some(LLVMOpcode::LLVMICmp);
        // SAFETY: see above; the kind is checked.
        is.then(|| unsafe { LLVMGetICmpPredicate(self.0) })
    }

    /// A load or store that the compiler must not make anything of.
    pub fn is_volatile(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore))
            // SAFETY: see above; the kind is checked.
            && unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    /// A load or store that is atomic.
    pub fn is_ordered(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore))
            // SAFETY: see above; the kind is checked.
            && unsafe { LLVMGetOrdering(self.0) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic }
    }

    /// The blocks that control may go to from here, of the last instruction of a block.
    pub fn successors(self) -> Vec<Block<'ctx>> {
        // SAFETY: see above; only terminators have successors.
        unsafe {
            if LLVMIsATerminatorInst(self.0).is_null() {
                return Vec::new();
            }
            (0..LLVMGetNumSuccessors(self.0))
                .map(|index| Block(LLVMGetSuccessor(self.0, index), PhantomData))
                .collect()
        }
    }

    /// The condition of a branch that has one.
    pub fn condition(self) -> Option<View<'ctx>> {
        // SAFETY: see above; the kind is checked.
        unsafe {
            let is = !LLVMIsABranchInst(self.0).is_null() && LLVMIsConditional(self.0) != 0;
            if is { View::new(LLVMGetCondition(self.0)) } else { None }
        }
    }

    /// What a phi is when control comes from a block.
    pub fn incoming_from(self, from: Block<'ctx>) -> Option<View<'ctx>> {
        if self.opcode() != Some(LLVMOpcode::LLVMPHI) {
            return None;
        }
        // SAFETY: see above; the kind is checked, and the indices are below the count.
        unsafe {
            (0..LLVMCountIncoming(self.0))
                .find(|index| LLVMGetIncomingBlock(self.0, *index) == from.0)
                .and_then(|index| View::new(LLVMGetIncomingValue(self.0, index)))
        }
    }

    pub fn block(self) -> Option<Block<'ctx>> {
        // SAFETY: see above; the kind is checked.
        unsafe {
            let block = if self.is_instruction() {
                LLVMGetInstructionParent(self.0)
            } else {
                std::ptr::null_mut()
            };
            (!block.is_null()).then_some(Block(block, PhantomData))
        }
    }

    /// The blocks of a function, the entry first; none for a declaration.
    pub fn blocks(self) -> Vec<Block<'ctx>> {
        let mut blocks = Vec::new();
        // SAFETY: see above; checked to be a function.
        unsafe {
            if LLVMIsAFunction(self.0).is_null() {
                return blocks;
            }
            let mut block = LLVMGetFirstBasicBlock(self.0);
            while !block.is_null() {
                blocks.push(Block(block, PhantomData));
                block = LLVMGetNextBasicBlock(block);
            }
        }
        blocks
    }

    /// All instructions of a function.
    pub fn instructions(self) -> Vec<View<'ctx>> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }
}

impl<'ctx> Block<'ctx> {
    pub fn instructions(self) -> Vec<View<'ctx>> {
        let mut instructions = Vec::new();
        // SAFETY: see above.
        unsafe {
            let mut instruction = LLVMGetFirstInstruction(self.0);
            while !instruction.is_null() {
                instructions.extend(View::new(instruction));
                instruction = LLVMGetNextInstruction(instruction);
            }
        }
        instructions
    }

    /// The last instruction.
    pub fn terminator(self) -> Option<View<'ctx>> {
        // SAFETY: see above.
        unsafe { View::new(LLVMGetBasicBlockTerminator(self.0)) }
    }

    pub fn successors(self) -> Vec<Block<'ctx>> {
        self.terminator().map(View::successors).unwrap_or_default()
    }
}
