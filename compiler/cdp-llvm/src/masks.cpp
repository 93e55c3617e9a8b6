// Last elements of groups, as neighbours of the first ones.
//
// Of `t / 16 * 8 + 7` LLVM makes `t / 2 | 7`, since the bits that the multiplication clears are set again, and of
// `t / 16 * 8` itself `t / 2 & ~7`: what lies seven words from the other has an address of its own, and is read by a request of its own, though
// the four words of which it is the last are one (a product whose threads compute eight by eight elements had 40 requests
// a turn instead of 32 and took 1.05 times as long on an H200). Here the one is computed from the other again, so that code
// generation sees the distance.

#include "unroll.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// What has the same bits as a value but for lower ones, which it has cleared; null where nobody computes that before `Use`.
Value *clearedBefore(Value *Of, const APInt &Lower, const Instruction *Use, const DominatorTree &Tree) {
  for (User *U : Of->users()) {
    const APInt *Left;
    auto *Cleared = dyn_cast<Instruction>(U);
    if (!Cleared || !match(Cleared, m_And(m_Specific(Of), m_APInt(Left))) || Left->intersects(Lower) || !Tree.dominates(Cleared, Use))
      continue;
    KnownBits Known = computeKnownBits(Of, Use->getDataLayout());
    if ((~Known.Zero & ~Lower).isSubsetOf(*Left))
      return Cleared;
  }
  return nullptr;
}

} // namespace

PreservedAnalyses AddLower::run(Function &F, FunctionAnalysisManager &AM) {
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    Value *Of;
    const APInt *Lower;
    if (!match(&I, m_Or(m_Value(Of), m_APInt(Lower))) || !Lower->isMask() || isa<Constant>(Of) || cast<PossiblyDisjointInst>(I).isDisjoint())
      continue;
    Value *Cleared = clearedBefore(Of, *Lower, &I, AM.getResult<DominatorTreeAnalysis>(F));
    if (!Cleared)
      continue;
    I.setOperand(0, Cleared);
    cast<PossiblyDisjointInst>(I).setIsDisjoint(true);
    Changed = true;
  }
  return keptAfter(Changed);
}
