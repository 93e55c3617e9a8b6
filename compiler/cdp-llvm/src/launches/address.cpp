// Addresses taken apart, and what a call may touch: what `launches/access.rs` reads of a kernel.
//
// LLVM's C interface has no way to an address's offset.

#include "llvm-c/Core.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

/// The bytes that a computed address lies behind its first operand: a constant, and indices times scales. Yields
/// how many indices there are; -1 for what is no such address, has more than `Most`, or cannot be told.
extern "C" int cdp_launches_offset(LLVMValueRef ValueRef, LLVMValueRef FunctionRef, int64_t *Constant,
                                   LLVMValueRef *Indices, int64_t *Scales, int Most) {
  const auto *Address = dyn_cast<GEPOperator>(unwrap(ValueRef));
  if (!Address || Address->getType()->isVectorTy())
    return -1;
  const DataLayout &Layout = unwrap<Function>(FunctionRef)->getDataLayout();
  SmallMapVector<Value *, APInt, 4> Variable;
  APInt Fixed(64, 0);
  if (!Address->collectOffset(Layout, 64, Variable, Fixed) || int(Variable.size()) > Most)
    return -1;
  *Constant = Fixed.getSExtValue();
  int Count = 0;
  for (auto &[Index, Scale] : Variable) {
    Indices[Count] = wrap(Index);
    Scales[Count++] = Scale.getSExtValue();
  }
  return Count;
}

/// Bytes that a load, a store or an atomic operation touches; 0 where that is not known.
extern "C" uint64_t cdp_launches_bytes(LLVMValueRef ValueRef) {
  const auto *I = dyn_cast<Instruction>(unwrap(ValueRef));
  Type *Ty = nullptr;
  if (const auto *Load = dyn_cast_or_null<LoadInst>(I))
    Ty = Load->getType();
  else if (const auto *Store = dyn_cast_or_null<StoreInst>(I))
    Ty = Store->getValueOperand()->getType();
  else if (const auto *Update = dyn_cast_or_null<AtomicRMWInst>(I))
    Ty = Update->getValOperand()->getType();
  if (!Ty)
    return 0;
  TypeSize Size = I->getModule()->getDataLayout().getTypeStoreSize(Ty);
  return Size.isScalable() ? 0 : Size.getFixedValue();
}

/// Whether a function touches no memory.
extern "C" int cdp_launches_no_memory(LLVMValueRef FunctionRef) {
  const auto *F = dyn_cast<Function>(unwrap(FunctionRef));
  return F && F->doesNotAccessMemory();
}

/// Whether an atomic operation adds up only: nobody looks at what was there, it orders nothing, and it is atomic
/// for the whole device. Yields its kind as LLVM's C interface numbers them, or -1.
extern "C" int cdp_launches_reduces(LLVMValueRef ValueRef) {
  const auto *Update = dyn_cast<AtomicRMWInst>(unwrap(ValueRef));
  if (!Update || Update->isVolatile() || Update->getOrdering() != AtomicOrdering::Monotonic)
    return -1;
  if (Update->getSyncScopeID() != SyncScope::System) {
    SmallVector<StringRef, 8> Names;
    Update->getContext().getSyncScopeNames(Names);
    if (Update->getSyncScopeID() >= Names.size() || Names[Update->getSyncScopeID()] != "device")
      return -1;
  }
  return LLVMGetAtomicRMWBinOp(ValueRef);
}

/// The alignment that a store states.
extern "C" uint64_t cdp_launches_store_alignment(LLVMValueRef ValueRef) {
  const auto *Store = dyn_cast<StoreInst>(unwrap(ValueRef));
  return Store ? Store->getAlign().value() : 1;
}
