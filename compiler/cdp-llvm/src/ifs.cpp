// Conditions that stand one after another and stay so.
//
// Of `if (x == 0) ...; if (x == 31) ...` LLVM makes a `switch`, since only one of both can hold. On a GPU that is
// worse: ptxas executes two short bodies that follow each other under predicates, with the loads of both on their way at
// once, and branches to those of a `switch` (the edges of a tile in shared memory took 1.08 times as long on an H200).

#include "unroll.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

/// What the end of a block compares with a constant for being equal; null where it does something else.
const Value *compared(const BasicBlock &Block) {
  const auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  if (!Branch || !Branch->isConditional())
    return nullptr;
  const auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
  bool Fits = Compare && Compare->isEquality() && isa<ConstantInt>(Compare->getOperand(1));
  return Fits ? Compare->getOperand(0) : nullptr;
}

/// Whether a block asks for a value after the body of a condition of the same value.
bool asksAgain(const BasicBlock &Block) {
  const Value *Of = compared(Block);
  return Of && any_of(predecessors(&Block), [&](const BasicBlock *First) {
    return First != &Block && compared(*First) == Of && any_of(successors(First), [&](const BasicBlock *Body) {
      return Body != &Block && Body->getSinglePredecessor() == First && Body->getSingleSuccessor() == &Block;
    });
  });
}

} // namespace

PreservedAnalyses KeepIfs::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (BasicBlock &Block : F) {
    auto *Mark = dyn_cast<IntrinsicInst>(&*Block.getFirstNonPHIIt());
    bool Marked = Mark && Mark->getIntrinsicID() == Intrinsic::sideeffect;
    if (Marked || !asksAgain(Block))
      continue;
    // Blocks are joined to a `switch` that have nothing but the question.
    IRBuilder<> Build(&Block, Block.getFirstInsertionPt());
    Build.CreateIntrinsic(Intrinsic::sideeffect, ArrayRef<Value *>());
    Changed = true;
  }
  return keptAfter(Changed);
}

PreservedAnalyses DropMarks::run(Function &F, FunctionAnalysisManager &) {
  for (BasicBlock &Block : F)
    for (Instruction &I : make_early_inc_range(Block))
      if (auto *Mark = dyn_cast<IntrinsicInst>(&I); Mark && Mark->getIntrinsicID() == Intrinsic::sideeffect)
        Mark->eraseFromParent();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
