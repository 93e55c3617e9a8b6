// Both ends of a range in one question, and numbers that are brought into a range.
//
// `0 <= x && x < width` asks twice, and filters ask it of every tap's row and column. A number below zero is a large one when it has no
// sign, so that one comparison does where the end is not below zero: `x < max(width, 0)` without signs, whose right side changes
// nowhere. LLVM does so where the end is a constant. nvcc does not, and a thread has seven conditions at a time: with
// fewer of them more loads are on their way.
//
// Of `min(max(x - 4, 0), width - 1)` LLVM makes `min(max(x, 4) - 4, width - 1)`, since `x - 4` does not wrap. The GPU adds and takes the larger in one
// instruction, of which one operand may be a number that the warp shares. As it is written that is the last one's, `width - 1`; as LLVM has it, the last
// instruction has a constant there, and the width has to be in a register of each thread. So it is not said that such sums do not wrap.

#include "unroll.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {
namespace ranges {

/// Most conditions of one question that are compared with each other.
constexpr size_t MostConditions = 8;

/// The conditions all of which must hold, or one of which, as the operands that have them.
void conditionsOf(Use &Condition, bool All, SmallVectorImpl<Use *> &Found) {
  auto *Joined = dyn_cast<Instruction>(Condition.get());
  bool Splits = Joined && Joined->hasOneUse() && Found.size() < MostConditions &&
                (All ? match(Joined, m_LogicalAnd()) : match(Joined, m_LogicalOr()));
  if (!Splits)
    return Found.push_back(&Condition);
  // `select a, b, false` or `select a, true, b`.
  conditionsOf(Joined->getOperandUse(0), All, Found);
  conditionsOf(Joined->getOperandUse(isa<SelectInst>(Joined) && !All ? 2 : 1), All, Found);
}

/// The number that is asked to be at least zero (below zero where one of several conditions does); null for another question.
Value *startAsked(Value *Condition, bool All) {
  Value *Of;
  bool Asks = All ? match(Condition, m_SpecificICmp(ICmpInst::ICMP_SGT, m_Value(Of), m_AllOnes())) ||
                        match(Condition, m_SpecificICmp(ICmpInst::ICMP_SGE, m_Value(Of), m_Zero()))
                  : match(Condition, m_SpecificICmp(ICmpInst::ICMP_SLT, m_Value(Of), m_Zero()));
  return Asks ? Of : nullptr;
}

/// The end that a number is asked to be below (not below); null for another question. Of two constants LLVM makes one question itself.
Value *endAsked(Value *Condition, const Value *Of, bool All) {
  Value *End;
  auto Asked = All ? ICmpInst::ICMP_SLT : ICmpInst::ICMP_SGE;
  bool Asks = match(Condition, m_SpecificICmp(Asked, m_Specific(Of), m_Value(End)));
  return Asks && !isa<Constant>(End) ? End : nullptr;
}

/// Whether the end is a number, whatever was asked before. What is read may never have been written, which is settled by `freeze`; of
/// sums that may have wrapped that would have to be said to all who use them.
bool isNumber(const Value &End) {
  return isa<Argument>(End) || isa<LoadInst>(End) || isGuaranteedNotToBeUndefOrPoison(&End);
}

/// Asks the first of two conditions for both ends, and the second for nothing.
bool join(Use &First, Use &Second, bool All, const DominatorTree &Tree) {
  Value *Of = startAsked(First.get(), All), *Ends = Second.get();
  if (!Of) {
    Of = startAsked(Second.get(), All);
    Ends = First.get();
  }
  Value *End = Of ? endAsked(Ends, Of, All) : nullptr;
  auto *At = cast<Instruction>(First.getUser());
  if (!End || !isNumber(*End) || !Tree.dominates(End, At))
    return false;
  IRBuilder<> Build(At);
  if (isa<LoadInst>(End))
    End = Build.CreateFreeze(End);
  Value *Least = Build.CreateBinaryIntrinsic(Intrinsic::smax, End, Constant::getNullValue(End->getType()));
  First.set(All ? Build.CreateICmpULT(Of, Least) : Build.CreateICmpUGE(Of, Least));
  Second.set(Build.getInt1(All));
  return true;
}

/// Looks for both ends of ranges in a question.
bool joinEnds(Use &Question, bool All, const DominatorTree &Tree) {
  SmallVector<Use *, MostConditions> Conditions;
  conditionsOf(Question, All, Conditions);
  bool Changed = false;
  for (size_t Second = 1; Second < Conditions.size(); Second++)
    for (size_t First = 0; First < Second; First++)
      Changed |= join(*Conditions[First], *Conditions[Second], All, Tree);
  return Changed;
}

/// Whether a branch leaves a loop, whose number of turns is found out by the comparisons as they are.
bool leavesLoop(const BranchInst &Branch, const LoopInfo &Loops) {
  const Loop *L = Loops.getLoopFor(Branch.getParent());
  return L && L->isLoopExiting(Branch.getParent());
}

/// Whether a number is nothing but brought into a range, by its larger or smaller or by questions about it.
bool isBrought(const Value &Number) {
  bool Chosen = false;
  for (const User *Of : Number.users()) {
    bool Limits = match(Of, m_c_SMax(m_Specific(&Number), m_ImmConstant())) || match(Of, m_c_SMin(m_Specific(&Number), m_ImmConstant())) || isa<SelectInst>(Of);
    if (!Limits && !match(Of, m_ICmp(m_Specific(&Number), m_ImmConstant())))
      return false;
    Chosen |= Limits;
  }
  return Chosen;
}

} // namespace ranges
} // namespace

PreservedAnalyses KeepClamps::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    bool Sum = match(&I, m_NSWAdd(m_Value(), m_Value())) || match(&I, m_NSWSub(m_Value(), m_Value()));
    if (!Sum || !ranges::isBrought(I))
      continue;
    I.setHasNoSignedWrap(false);
    Changed = true;
  }
  return keptAfter(Changed);
}

PreservedAnalyses JoinEnds::run(Function &F, FunctionAnalysisManager &AM) {
  SmallVector<BranchInst *, 8> Found;
  for (BasicBlock &Block : F)
    if (auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
        Branch && Branch->isConditional() &&
        (match(Branch->getCondition(), m_LogicalAnd()) || match(Branch->getCondition(), m_LogicalOr())))
      Found.push_back(Branch);
  if (Found.empty())
    return PreservedAnalyses::all();
  auto &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  auto &Loops = AM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (BranchInst *Branch : Found) {
    bool All = match(Branch->getCondition(), m_LogicalAnd());
    if (!ranges::leavesLoop(*Branch, Loops))
      Changed |= ranges::joinEnds(Branch->getOperandUse(0), All, Tree);
  }
  return keptAfter(Changed);
}
