// Loops that go over small local arrays, and end with them.
//
// Of `float v[4]; for (k = 0, i = threadIdx.x; i < n; i += blockDim.x, k++) v[k] = x[i];` the number of turns is not known, and nvcc and LLVM
// leave the array in local memory. A place behind its end is none that a program may write to: there are four turns at most. Said to LLVM, the
// loop is unrolled in full, each turn with its question, and the array is registers.

#include "unroll.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

/// In how many turns an access leaves its array, which it goes over from turn to turn; 0 where that is not known.
unsigned turnsInArray(Instruction &Access, const Loop &L, ScalarEvolution &Evolution) {
  Value *Place = getLoadStorePointerOperand(&Access);
  auto *Array = Place ? dyn_cast<AllocaInst>(getUnderlyingObject(Place)) : nullptr;
  const DataLayout &Layout = Access.getDataLayout();
  auto Bytes = Array ? Array->getAllocationSize(Layout) : std::nullopt;
  if (!Bytes || Bytes->isScalable())
    return 0;
  const auto *Steps = dyn_cast<SCEVAddRecExpr>(Evolution.getMinusSCEV(Evolution.getSCEV(Place), Evolution.getSCEV(Array)));
  if (!Steps || Steps->getLoop() != &L || !Steps->isAffine())
    return 0;
  const auto *First = dyn_cast<SCEVConstant>(Steps->getStart()), *Step = dyn_cast<SCEVConstant>(Steps->getStepRecurrence(Evolution));
  if (!First || !Step || First->getAPInt().isNegative() || !Step->getAPInt().isStrictlyPositive())
    return 0;
  uint64_t Size = Layout.getTypeStoreSize(getLoadStoreType(&Access)).getFixedValue(), Begin = First->getAPInt().getLimitedValue(),
           Whole = Bytes->getFixedValue();
  return Begin + Size > Whole ? 0 : (Whole - Begin - Size) / Step->getAPInt().getLimitedValue() + 1;
}

/// The most turns of a loop that each make an access to a local array; 0 where that is not known.
unsigned mostTurns(const Loop &L, ScalarEvolution &Evolution, const DominatorTree &Tree) {
  unsigned Most = 0;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block) {
      // A turn that ends otherwise does not come to its access.
      if (!isGuaranteedToTransferExecutionToSuccessor(&I))
        return 0;
      unsigned Turns = Tree.dominates(Block, L.getLoopLatch()) ? turnsInArray(I, L, Evolution) : 0;
      if (Turns && (!Most || Turns < Most))
        Most = Turns;
    }
  return Most;
}

/// Has a loop ask before each next turn whether it was the last.
void endAfter(Loop &L, BranchInst &Back, unsigned Most) {
  Value *Next = countTurns(L);
  IRBuilder<> Build(&Back);
  bool Goes = Back.getSuccessor(0) == L.getHeader();
  Value *More = Build.CreateCmp(Goes ? ICmpInst::ICMP_ULT : ICmpInst::ICMP_UGE, Next, Build.getInt32(Most));
  Back.setCondition(Goes ? Build.CreateAnd(Back.getCondition(), More) : Build.CreateOr(Back.getCondition(), More));
}

} // namespace

PreservedAnalyses BoundTurns::run(Function &F, FunctionAnalysisManager &AM) {
  bool Arrays = any_of(F.getEntryBlock(), [](const Instruction &I) { return isa<AllocaInst>(I); });
  if (!Arrays)
    return PreservedAnalyses::all();
  auto &Loops = AM.getResult<LoopAnalysis>(F);
  auto &Evolution = AM.getResult<ScalarEvolutionAnalysis>(F);
  const auto &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  bool Changed = false;
  for (Loop *L : Loops.getLoopsInPreorder()) {
    BasicBlock *Latch = L->getLoopLatch();
    auto *Back = Latch && L->isInnermost() && L->getLoopPreheader() && L->getExitingBlock() == Latch
                     ? dyn_cast<BranchInst>(Latch->getTerminator())
                     : nullptr;
    if (!Back || hasUnrollTransformation(L) & TM_Disable || Evolution.getSmallConstantTripCount(L) || !walksLocals(*L, Evolution))
      continue;
    unsigned Most = mostTurns(*L, Evolution, Tree), Known = Evolution.getSmallConstantMaxTripCount(L);
    if (!Most || Most > MostTurnsOfArray || (Known && Known <= Most))
      continue;
    endAfter(*L, *Back, Most);
    Evolution.forgetLoop(L);
    Changed = true;
  }
  return keptAfter(Changed);
}
