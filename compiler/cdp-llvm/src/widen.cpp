// Indices of array elements, computed in the width of addresses.
//
// `a[i + d]` with `int` indices is a 32-bit sum that is widened and added to the address. In a loop over `d`
// the address could simply go on by an element, but where the access is conditional LLVM does not see that:
// nothing tells it that the narrow sum never wraps. C says so (`nsw`), so the sum is taken apart here, before
// unrolling: each part is widened, what does not change in front of the loop, and the rest is a sum of
// 64 bits, of which loop strength reduction makes a pointer that moves (a running mean: 1.19 times).

#include "unroll.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace {

/// The deepest sum that is taken apart.
constexpr unsigned Depth = 4;

/// Signed arithmetic that does not wrap, in the loop, one side of which does not change there.
BinaryOperator *sumOf(Value *V, const Loop &L) {
  auto *Sum = dyn_cast<BinaryOperator>(V);
  if (!Sum || !L.contains(Sum))
    return nullptr;
  switch (Sum->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
    break;
  default:
    return nullptr;
  }
  bool Splits = L.isLoopInvariant(Sum->getOperand(0)) || L.isLoopInvariant(Sum->getOperand(1));
  return Sum->hasNoSignedWrap() && Splits ? Sum : nullptr;
}

/// The value with its sign extended, where it may be computed.
Value *widened(Value *V, Type *Wide, const Loop &L, Instruction *Before, unsigned Left) {
  if (auto *Sum = Left ? sumOf(V, L) : nullptr) {
    IRBuilder<> Build(Sum);
    Value *First = widened(Sum->getOperand(0), Wide, L, Sum, Left - 1);
    Value *Second = widened(Sum->getOperand(1), Wide, L, Sum, Left - 1);
    Value *Result = Build.CreateBinOp(Sum->getOpcode(), First, Second);
    if (auto *Made = dyn_cast<BinaryOperator>(Result))
      Made->setHasNoSignedWrap(true);
    return Result;
  }
  if (L.isLoopInvariant(V))
    Before = L.getLoopPreheader()->getTerminator();
  return IRBuilder<>(Before).CreateSExt(V, Wide);
}

/// The widening of an index that grows by as much in every turn, where its value is not seen to do so.
CastInst *growingIndex(Instruction &I, const Loop &L, ScalarEvolution &Evolution) {
  auto *Element = dyn_cast<GetElementPtrInst>(&I);
  if (!Element || Element->getNumIndices() != 1)
    return nullptr;
  auto *Index = dyn_cast<CastInst>(Element->getOperand(1));
  // Where a value is known to be positive, both widenings are the same.
  bool Signed = Index && (isa<SExtInst>(Index) || (isa<ZExtInst>(Index) && Index->hasNonNeg()));
  if (!Signed || !L.contains(Index) || !sumOf(Index->getOperand(0), L))
    return nullptr;
  const auto *Growth = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Index->getOperand(0)));
  if (!Growth || Growth->getLoop() != &L || !Growth->isAffine())
    return nullptr;
  // A step that is not known would take two additions of 32 bits and a register more for each address,
  // where ptxas makes one multiply-add of the narrow index: a product of a matrix and a vector takes
  // twice as long.
  bool KnownStep = isa<SCEVConstant>(Growth->getStepRecurrence(Evolution));
  return KnownStep && !isa<SCEVAddRecExpr>(Evolution.getSCEV(Index)) ? Index : nullptr;
}

} // namespace

PreservedAnalyses WidenIndices::run(Function &F, FunctionAnalysisManager &AM) {
  LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
  auto &Evolution = AM.getResult<ScalarEvolutionAnalysis>(F);
  SmallSetVector<std::pair<CastInst *, Loop *>, 16> Found;
  for (BasicBlock &Block : F) {
    Loop *L = Loops.getLoopFor(&Block);
    if (!L || !L->isInnermost() || !L->getLoopPreheader())
      continue;
    for (Instruction &I : Block)
      if (CastInst *Index = growingIndex(I, *L, Evolution))
        Found.insert({Index, L});
  }
  for (auto [Index, L] : Found) {
    Value *Wide = widened(Index->getOperand(0), Index->getType(), *L, Index, Depth);
    Evolution.forgetValue(Index);
    Index->replaceAllUsesWith(Wide);
    Index->eraseFromParent();
  }
  if (Found.empty())
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
