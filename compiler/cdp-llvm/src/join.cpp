// Choices by two conditions, and branches by the difference of two.
//
// Instruction selection makes two choices of one by `a || b`, for the sake of processors with one register of
// conditions. A GPU joins conditions in the comparison itself (`FSETP.GT.OR`), so that two choices are an instruction
// more, and wait for each other. Branches are not split: NVPTX says that jumps are expensive.

#include "unroll.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Whether a comparison asks for a bit to be set.
bool asksForSet(Value *Compare) {
  Value *Of;
  auto Bit = m_And(m_Value(Of), m_Power2());
  return Compare->hasOneUse() && match(Compare, m_SpecificICmp(ICmpInst::ICMP_NE, Bit, m_Zero()));
}

/// Asks in `bit set != comparison` whether the bit is clear, and for the contrary of the comparison: a set bit is moved
/// down by instruction selection first.
bool askForClear(Instruction &Differ) {
  Value *Bit = Differ.getOperand(0), *Other = Differ.getOperand(1);
  if (!asksForSet(Bit))
    std::swap(Bit, Other);
  auto *Contrary = dyn_cast<CmpInst>(Other);
  if (!asksForSet(Bit) || !Contrary || !Contrary->hasOneUse() || asksForSet(Other))
    return false;
  for (CmpInst *Compare : {cast<CmpInst>(Bit), Contrary})
    Compare->setPredicate(Compare->getInversePredicate());
  return true;
}

} // namespace

PreservedAnalyses JoinConditions::run(Function &F, FunctionAnalysisManager &) {
  SmallVector<SelectInst *, 8> Found;
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    if (I.getOpcode() == Instruction::Xor && I.getType()->isIntegerTy(1))
      Changed |= askForClear(I);
    if (auto *Choice = dyn_cast<SelectInst>(&I))
      if (auto *Joined = dyn_cast<BinaryOperator>(Choice->getCondition());
          Joined && Joined->getType()->isIntegerTy(1) && Joined->getOpcode() != Instruction::Xor)
        Found.push_back(Choice);
  }
  for (SelectInst *Choice : Found) {
    IRBuilder<> Build(Choice);
    // Through this, which is no instruction in the end, nobody sees what was joined.
    Choice->setCondition(Build.CreateFreeze(Choice->getCondition()));
  }
  return keptAfter(Changed || !Found.empty());
}
