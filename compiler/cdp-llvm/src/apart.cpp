// What a kernel's parameters lead to is not in shared memory.
//
// Shared memory is a block's, and its addresses mean nothing before the block runs, so that no launch can pass one:
// NVPTX's code generation takes pointers among a kernel's parameters for addresses of global memory, as nvcc does. LLVM's
// optimisation does not know it, since there they are generic. It then reads again what did not change, in each turn of a
// loop that counts in shared memory, which ptxas mends where the loop has one block only.

#include "apart.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

AnalysisKey ParametersApart::Key;

namespace {
namespace apart {

constexpr unsigned Shared = 3;

bool isShared(const Value &Object) { return Object.getType()->getPointerAddressSpace() == Shared; }

const Argument *parameterOf(const Value &Object) {
  const auto *Parameter = dyn_cast<Argument>(&Object);
  bool OfKernel = Parameter && Parameter->getParent()->getCallingConv() == CallingConv::PTX_Kernel;
  return OfKernel ? Parameter : nullptr;
}

/// Whether an object is what a pointer among a kernel's parameters leads to. One that is read from a structure among
/// them is, too.
bool isPassed(const Value &Object) {
  if (const Argument *Parameter = parameterOf(Object))
    return !Parameter->hasByValAttr();
  const auto *Load = dyn_cast<LoadInst>(&Object);
  const Argument *Structure = Load ? parameterOf(*getUnderlyingObject(Load->getPointerOperand())) : nullptr;
  return Structure && Structure->hasByValAttr() && Structure->onlyReadsMemory();
}

} // namespace apart
} // namespace

AliasResult ParametersApartResult::alias(const MemoryLocation &A, const MemoryLocation &B, AAQueryInfo &,
                                         const Instruction *) {
  const Value *First = getUnderlyingObject(A.Ptr), *Second = getUnderlyingObject(B.Ptr);
  bool Apart = (apart::isShared(*First) && apart::isPassed(*Second)) ||
               (apart::isShared(*Second) && apart::isPassed(*First));
  return Apart ? AliasResult::NoAlias : AliasResult::MayAlias;
}
