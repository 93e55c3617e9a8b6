// Comparisons of addresses with null.
//
// No variable lies at null, but LLVM knows that of generic memory alone: in shared and local memory, where variables are, 0 is an
// address like others. It compares the addresses there once it sees where a pointer leads (`if (cache)`, where `cache` is what a
// caller has in shared memory), with what the conversion of a generic null yields, which PTX leaves open, and which is 0, the
// address of the first shared variable, on some devices. So such comparisons are decided before.

#include "unroll.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Whether a generic pointer leads to a variable.
bool isOfVariable(const Value *Pointer) {
  const Value *Object = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
  if (const auto *Variable = dyn_cast<GlobalVariable>(Object))
    return !Variable->hasExternalWeakLinkage();
  return isa<AllocaInst>(Object);
}

} // namespace

PreservedAnalyses DecideNulls::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    CmpPredicate Which;
    Value *Pointer;
    if (!match(&I, m_c_ICmp(Which, m_Value(Pointer), m_Zero())) || !ICmpInst::isEquality(Which) ||
        !Pointer->getType()->isPointerTy() || !isOfVariable(Pointer))
      continue;
    I.replaceAllUsesWith(ConstantInt::getBool(I.getType(), Which == ICmpInst::ICMP_NE));
    I.eraseFromParent();
    Changed = true;
  }
  return keptAfter(Changed);
}
