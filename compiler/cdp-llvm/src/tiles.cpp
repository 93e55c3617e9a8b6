// Loops in which a block copies a tile to shared memory, a few elements a thread.
//
// Of `for (i = threadIdx.x; i < 1024; i += 256) s[i] = a[i]` in a loop over tiles a thread has at most four turns, and all four if the block has
// 256 threads, which the kernel does not know. Turn by turn with a question before each next one, every load would wait for the store before
// it. Threads with all turns have a loop of their own, which is unrolled in full without questions: four loads are on their way at once. Others
// go around one that stays as it is. A loop that is in no other one has been measured to be better with a loop for the rest (unroll.cpp).

#include "unroll.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

/// Most turns of a thread that are made at once, and most instructions of them.
constexpr unsigned MostTogether = 8, MostInTurns = 250;

/// Whether a loop can be copied: it has one end, and calls nothing that threads do together.
bool canBeCopied(const Loop &L, unsigned Turns) {
  unsigned Size = 0;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      const auto *Call = dyn_cast<CallBase>(&I);
      if (isa<SwitchInst, IndirectBrInst>(I) || (Call && Call->isConvergent()))
        return false;
      Size += !isa<PHINode, CastInst>(I);
    }
  bool Refused = hasUnrollTransformation(&L) & TM_Disable;
  return !Refused && L.isLoopSimplifyForm() && L.getExitingBlock() == L.getLoopLatch() && L.getUniqueExitBlock() && L.isSafeToClone() &&
         isa<BranchInst>(L.getLoopLatch()->getTerminator()) && Size * Turns <= MostInTurns;
}

/// Has a loop turn so often, whatever else it asks.
void turnExactly(const Loop &L, unsigned Turns) {
  auto &Back = *cast<BranchInst>(L.getLoopLatch()->getTerminator());
  Value *Next = countTurns(L);
  IRBuilder<> Build(&Back);
  auto Goes = Back.getSuccessor(0) == L.getHeader() ? ICmpInst::ICMP_NE : ICmpInst::ICMP_EQ;
  Back.setCondition(Build.CreateICmp(Goes, Next, Build.getInt32(Turns)));
}

/// Gives threads that have so many turns a loop of their own.
bool copyForAllTurns(Loop &L, unsigned Turns, LoopInfo &Loops, DominatorTree &Tree, ScalarEvolution &Evolution,
                     const TargetTransformInfo &Target) {
  const SCEV *Backs = Evolution.getBackedgeTakenCount(&L);
  BasicBlock *Check = L.getLoopPreheader(), *End = L.getUniqueExitBlock(), *Latch = L.getLoopLatch();
  SCEVExpander Expander(Evolution, "turns");
  constexpr unsigned Budget = 16;
  if (isa<SCEVCouldNotCompute>(Backs) || Expander.isHighCostExpansion(Backs, &L, Budget, &Target, Check->getTerminator()) ||
      !Expander.isSafeToExpandAt(Backs, Check->getTerminator()))
    return false;
  formLCSSA(L, Tree, &Loops, &Evolution);
  Value *Found = Expander.expandCodeFor(Backs, Backs->getType(), Check->getTerminator());
  BasicBlock *Before = SplitBlock(Check, Check->getTerminator(), &Tree, &Loops);
  ValueToValueMapTy Copied;
  SmallVector<BasicBlock *, 8> Blocks;
  Loop *All = cloneLoopWithPreheader(Before, Check, &L, Copied, ".all", &Loops, &Tree, Blocks);
  remapInstructionsInBlocks(Blocks, Copied);
  for (PHINode &Result : End->phis()) {
    Value *Own = Result.getIncomingValueForBlock(Latch);
    Value *Other = Copied.lookup(Own);
    Result.addIncoming(Other ? Other : Own, cast<BasicBlock>(Copied[Latch]));
  }
  IRBuilder<> Build(Check->getTerminator());
  Value *Has = Build.CreateICmpEQ(Found, ConstantInt::get(Found->getType(), Turns - 1));
  Build.CreateCondBr(Has, cast<BasicBlock>(Copied[Before]), Before);
  Check->getTerminator()->eraseFromParent();
  Tree.changeImmediateDominator(End, Check);
  turnExactly(*All, Turns);
  // With copies of its own for each turn there would be two of each place, in registers through all tiles.
  L.setLoopAlreadyUnrolled();
  Evolution.forgetTopmostLoop(&L);
  return true;
}

} // namespace

bool copiesToShared(const Loop &L) {
  constexpr unsigned Shared = 3;
  bool Loads = false, Stores = false;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      const Value *Place = getLoadStorePointerOperand(&I);
      if (!Place)
        continue;
      const Value *Of = getUnderlyingObject(Place);
      bool IsShared = Of->getType()->getPointerAddressSpace() == Shared;
      if (isa<AllocaInst>(Of) || (isa<StoreInst>(I) && !IsShared))
        return false;
      Stores |= isa<StoreInst>(I);
      Loads |= isa<LoadInst>(I) && !IsShared;
    }
  return Loads && Stores;
}

PreservedAnalyses FillTiles::run(Function &F, FunctionAnalysisManager &AM) {
  LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
  auto IsOne = [](const Loop *L) { return L->isInnermost() && !L->isOutermost() && copiesToShared(*L); };
  SmallVector<Loop *, 4> Found(make_filter_range(Loops.getLoopsInPreorder(), IsOne));
  if (Found.empty())
    return PreservedAnalyses::all();
  auto &Evolution = AM.getResult<ScalarEvolutionAnalysis>(F);
  auto &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  const auto &Target = AM.getResult<TargetIRAnalysis>(F);
  bool Changed = false;
  for (Loop *L : Found) {
    unsigned Most = Evolution.getSmallConstantTripCount(L) ? 0 : Evolution.getSmallConstantMaxTripCount(L);
    if (Most > 1 && Most <= MostTogether && canBeCopied(*L, Most))
      Changed |= copyForAllTurns(*L, Most, Loops, Tree, Evolution, Target);
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
