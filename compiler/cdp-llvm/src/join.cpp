// Choices by two conditions.
//
// Instruction selection makes two choices of one by `a || b`, for the sake of processors with one register of
// conditions. A GPU joins conditions in the comparison itself (`FSETP.GT.OR`), so that two choices are an instruction
// more, and wait for each other. Branches are not split: NVPTX says that jumps are expensive.

#include "unroll.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

PreservedAnalyses JoinConditions::run(Function &F, FunctionAnalysisManager &) {
  SmallVector<SelectInst *, 8> Found;
  for (Instruction &I : instructions(F))
    if (auto *Choice = dyn_cast<SelectInst>(&I))
      if (auto *Joined = dyn_cast<BinaryOperator>(Choice->getCondition());
          Joined && Joined->getType()->isIntegerTy(1) && Joined->getOpcode() != Instruction::Xor)
        Found.push_back(Choice);
  for (SelectInst *Choice : Found) {
    IRBuilder<> Build(Choice);
    // Through this, which is no instruction in the end, nobody sees what was joined.
    Choice->setCondition(Build.CreateFreeze(Choice->getCondition()));
  }
  if (Found.empty())
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
