// What lies side by side in shared memory, or in a table of the program's own, as one access.
//
// A shared array of C begins where its elements may, which is where ptxas lays it out; what is read at `2 * i` and `2 * i + 1` is
// then a word at a time, unless ptxas sees how far from the array's beginning it is. Of a pointer that moves through a loop it does
// not. Here arrays begin where the widest accesses may, and accesses say what that makes of their own alignment, before pointers are made of
// indices (the last step of a transform in shared memory: pairs that lanes read without meeting in a bank). Tables in global memory
// say for themselves where they begin, as that of the coefficients of `sin` and `cos` does, six of which are three accesses.

#include "unroll.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

namespace {

constexpr unsigned GlobalSpace = 1, SharedSpace = 3;
/// The widest access to shared and global memory, in bytes.
constexpr uint64_t WidestKnown = 16;

/// Whether a variable begins where it says: in shared memory, or a global one that no other file's takes the place of.
bool isKnown(const GlobalVariable &Variable) {
  unsigned Space = Variable.getAddressSpace();
  return Space == SharedSpace || (Space == GlobalSpace && Variable.hasDefinitiveInitializer());
}

/// How a place in such a variable is aligned for certain; 1 for others.
uint64_t alignmentOf(const Value *Place, const DataLayout &Layout) {
  uint64_t Known = WidestKnown;
  for (const auto *Element = dyn_cast<GEPOperator>(Place); Element; Element = dyn_cast<GEPOperator>(Place)) {
    unsigned Width = Layout.getIndexTypeSizeInBits(Element->getType());
    APInt Fixed(Width, 0);
    SmallMapVector<Value *, APInt, 4> Steps;
    if (!Element->collectOffset(Layout, Width, Steps, Fixed))
      return 1;
    auto Take = [&](unsigned Zeros) { Known = MinAlign(Known, uint64_t(1) << std::min(Zeros, 4u)); };
    Take(Fixed.countr_zero());
    for (const auto &[Index, Size] : Steps)
      Take(computeKnownBits(Index, Layout).countMinTrailingZeros() + Size.countr_zero());
    Place = Element->getPointerOperand()->stripPointerCasts();
  }
  const auto *Variable = dyn_cast<GlobalVariable>(Place->stripPointerCasts());
  if (!Variable || !isKnown(*Variable))
    return 1;
  return MinAlign(Known, Variable->getAlign().valueOrOne().value());
}

} // namespace

void alignShared(Module &M) {
  for (GlobalVariable &Variable : M.globals()) {
    if (Variable.getAddressSpace() != SharedSpace || Variable.isDeclaration() || !Variable.hasLocalLinkage())
      continue;
    uint64_t Size = M.getDataLayout().getTypeAllocSize(Variable.getValueType()).getFixedValue();
    if (Size >= WidestKnown && Size % WidestKnown == 0 && Variable.getAlign().valueOrOne().value() < WidestKnown)
      Variable.setAlignment(Align(WidestKnown));
  }
}

PreservedAnalyses AlignAccesses::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    Value *Place = getLoadStorePointerOperand(&I);
    if (!Place)
      continue;
    uint64_t Known = alignmentOf(Place, I.getDataLayout());
    if (Known <= getLoadStoreAlignment(&I).value())
      continue;
    if (auto *Load = dyn_cast<LoadInst>(&I))
      Load->setAlignment(Align(Known));
    else
      cast<StoreInst>(I).setAlignment(Align(Known));
    Changed = true;
  }
  return keptAfter(Changed);
}
