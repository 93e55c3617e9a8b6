// Loops that leave out one turn, as two loops.
//
// `for (j = 0; j < n; j++) if (j != i) ...` asks in every turn for what happens once: bodies that do not attract themselves,
// a row without its diagonal. What such a turn reads is on its way only when it has asked, and what does not change from turn to turn
// is read in each, since it may not be read where the one turn is the only one. Here the turns before the one and those after it are a loop
// each, which asks nothing, as nvcc has it (bodies in `double` took 1.12 times as long on an H200). Lanes of a warp
// that leave out different turns wait for each other at the end of the first loop: those that may have few turns, as loops in others often do, are left alone.

#include "unroll.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

/// Most instructions of a loop that becomes two: longer ones are not unrolled either.
constexpr unsigned LongestSplit = 250;
/// Turns of which a loop must be able to have more: at its middle the lanes of a warp wait for each other.
constexpr unsigned FewTurns = 64;
/// What the number of turns may cost to compute.
constexpr unsigned SplitBudget = 16;

/// A loop whose turn does nothing but go on where a counter has a value that does not change.
struct LeftOut {
  Loop *L;
  BranchInst *Asks;
  const SCEVAddRecExpr *Counter;
  Value *At;
  const SCEV *Turns;
};

/// Whether a loop may be there twice.
bool isCopied(const Loop &L, const TargetTransformInfo &Target) {
  unsigned Size = 0;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      const auto *Call = dyn_cast<CallBase>(&I);
      const Function *Called = Call ? Call->getCalledFunction() : nullptr;
      if (Call && (Call->isConvergent() || Call->cannotDuplicate() || !Called || Target.isLoweredToCall(Called)))
        return false;
      Size++;
    }
  return Size <= LongestSplit;
}

/// The two sides of the question that a loop begins its turns with: a counter that goes on by one, and what leaves the turn out.
bool findSides(LeftOut &Found, ScalarEvolution &Evolution) {
  auto *Compare = dyn_cast<ICmpInst>(Found.Asks->getCondition());
  if (!Compare || !Compare->isEquality() || !Compare->getOperand(0)->getType()->isIntegerTy())
    return false;
  bool Equal = Compare->getPredicate() == ICmpInst::ICMP_EQ;
  if (Found.Asks->getSuccessor(!Equal) != Found.L->getLoopLatch())
    return false;
  for (unsigned Side : {0U, 1U}) {
    Value *Other = Compare->getOperand(1 - Side);
    const auto *Counter = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Compare->getOperand(Side)));
    if (!Counter || Counter->getLoop() != Found.L || !Counter->isAffine() || !Found.L->isLoopInvariant(Other) ||
        !Counter->getStepRecurrence(Evolution)->isOne())
      continue;
    Found.Counter = Counter;
    Found.At = Other;
    return true;
  }
  return false;
}

/// Finds what a loop leaves out; `Asks` is null where it is not one turn.
LeftOut leftOut(Loop &L, ScalarEvolution &Evolution, const TargetTransformInfo &Target) {
  LeftOut None{&L, nullptr, nullptr, nullptr, nullptr};
  BasicBlock *Header = L.getHeader(), *Latch = L.getLoopLatch();
  if (!L.isInnermost() || !L.isOutermost() || !L.isLoopSimplifyForm() || L.getExitingBlock() != Latch || !L.getExitBlock() ||
      Latch == Header || hasUnrollTransformation(&L) & TM_Disable)
    return None;
  unsigned Known = Evolution.getSmallConstantTripCount(&L), Most = Evolution.getSmallConstantMaxTripCount(&L);
  if (Known || (Most && Most <= FewTurns))
    return None;
  LeftOut Found = None;
  Found.Asks = dyn_cast<BranchInst>(Header->getTerminator());
  Found.Turns = Evolution.getBackedgeTakenCount(&L);
  if (!Found.Asks || !Found.Asks->isConditional() || Found.Asks->getSuccessor(0) == Found.Asks->getSuccessor(1) ||
      isa<SCEVCouldNotCompute>(Found.Turns) || !isa<BranchInst>(Latch->getTerminator()) ||
      !findSides(Found, Evolution))
    return None;
  // A counter that is too narrow for so many turns comes to the value more than once.
  const auto *MostTurns = dyn_cast<SCEVConstant>(Evolution.getConstantMaxBackedgeTakenCount(&L));
  bool Once = MostTurns && MostTurns->getAPInt().getActiveBits() <= Evolution.getTypeSizeInBits(Found.Counter->getType());
  return Once && isCopied(L, Target) ? Found : None;
}

/// The analyses that are kept while loops are copied.
struct Analyses {
  LoopInfo &Loops;
  ScalarEvolution &Evolution;
  DominatorTree &Tree;
};

/// Makes two loops of one.
class Splitting {
public:
  Splitting(const LeftOut &Of, Analyses &Known)
      : Of(Of), Known(Known), L(*Of.L), Header(L.getHeader()), Latch(L.getLoopLatch()), Exit(L.getExitBlock()) {}

  void run() {
    BasicBlock *Before = L.getLoopPreheader();
    numberTurns(*Before);
    // Copying a loop copies what its preheader holds.
    SplitBlock(Before, Before->getTerminator(), &Known.Tree, &Known.Loops);
    SmallVector<BasicBlock *, 8> Blocks;
    Loop *First = cloneLoopWithPreheader(Header, Before, &L, Copied, ".before", &Known.Loops, &Known.Tree, Blocks);
    remapInstructionsInBlocks(Blocks, Copied);
    BasicBlock *Start = First->getLoopPreheader();
    auto *Between = BasicBlock::Create(Header->getContext(), "", Header->getParent(), Header);
    auto *After = BasicBlock::Create(Header->getContext(), "", Header->getParent(), Between);
    Before->getTerminator()->eraseFromParent();
    IRBuilder<>(Before).CreateCondBr(AtOnce, Between, Start);
    IRBuilder<>(After).CreateCondBr(Comes, Between, Exit);
    countTurns(*First, *After);
    leaveOut(*Between, *Before, *After);
    goPast(*First->getHeader(), *cast<BasicBlock>(Copied.lookup(Latch)));
    goPast(*Header, *Latch);
    Known.Evolution.forgetLoop(&L);
    Known.Tree.recalculate(*Header->getParent());
  }

private:
  /// How many turns come before the one that is left out, and whether it comes at all.
  void numberTurns(BasicBlock &Before) {
    Type *Wide = Of.Counter->getType();
    Instruction *End = Before.getTerminator();
    SCEVExpander Expander(Known.Evolution, "");
    Value *Begin = Expander.expandCodeFor(Of.Counter->getStart(), Wide, End);
    Value *Last = Expander.expandCodeFor(Known.Evolution.getTruncateOrZeroExtend(Of.Turns, Wide), Wide, End);
    IRBuilder<> Build(End);
    Value *At = Build.CreateSub(Of.At, Begin);
    Comes = Build.CreateICmpULE(At, Last);
    AtOnce = Build.CreateICmpEQ(At, ConstantInt::get(Wide, 0));
    Turns = Build.CreateSelect(Comes, At, Build.CreateAdd(Last, ConstantInt::get(Wide, 1)));
  }

  /// Has the first loop make the turns before the one.
  void countTurns(Loop &First, BasicBlock &After) {
    BasicBlock *Begin = First.getHeader(), *End = First.getLoopLatch();
    IRBuilder<> Build(Begin, Begin->begin());
    PHINode *Left = Build.CreatePHI(Turns->getType(), 2);
    Build.SetInsertPoint(End->getTerminator());
    Value *Next = Build.CreateSub(Left, ConstantInt::get(Turns->getType(), 1));
    Build.CreateCondBr(Build.CreateICmpEQ(Next, ConstantInt::get(Turns->getType(), 0)), &After, Begin);
    Left->addIncoming(Turns, First.getLoopPreheader());
    Left->addIncoming(Next, End);
    End->getTerminator()->eraseFromParent();
  }

  /// The turn that is left out: what goes on goes on.
  void leaveOut(BasicBlock &Between, BasicBlock &Before, BasicBlock &After) {
    ValueToValueMapTy Here;
    auto In = [&](const ValueToValueMapTy &Map, Value *V) -> Value * {
      Value *Mapped = Map.lookup(V);
      return Mapped ? Mapped : V;
    };
    BasicBlock *Second = L.getLoopPreheader();
    for (PHINode &Value : Header->phis()) {
      auto *Joined = PHINode::Create(Value.getType(), 2, "", &Between);
      Joined->addIncoming(Value.getIncomingValueForBlock(Second), &Before);
      Joined->addIncoming(In(Copied, Value.getIncomingValueForBlock(Latch)), &After);
      Here[&Value] = Joined;
    }
    auto Copy = [&](BasicBlock &From) {
      for (Instruction &I : From)
        if (!isa<PHINode>(I) && !I.isTerminator()) {
          Instruction *Other = I.clone();
          Other->insertInto(&Between, Between.end());
          RemapInstruction(Other, Here, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
          Here[&I] = Other;
        }
    };
    Copy(*Header);
    for (PHINode &Value : Latch->phis())
      Here[&Value] = In(Here, Value.getIncomingValueForBlock(Header));
    Copy(*Latch);
    auto *Goes = cast<BranchInst>(Latch->getTerminator());
    BasicBlock *To[] = {Goes->getSuccessor(0) == Header ? Second : Exit, Goes->getSuccessor(1) == Header ? Second : Exit};
    IRBuilder<>(&Between).CreateCondBr(In(Here, Goes->getCondition()), To[0], To[1]);
    for (PHINode &Value : Header->phis())
      Value.setIncomingValueForBlock(Second, In(Here, Value.getIncomingValueForBlock(Latch)));
    for (PHINode &Value : Exit->phis()) {
      llvm::Value *Of = Value.getIncomingValueForBlock(Latch);
      Value.addIncoming(In(Copied, Of), &After);
      Value.addIncoming(In(Here, Of), &Between);
    }
  }

  /// Asks no more.
  void goPast(BasicBlock &Begin, BasicBlock &End) {
    auto *Asks = cast<BranchInst>(Begin.getTerminator());
    BasicBlock *Body = Asks->getSuccessor(Asks->getSuccessor(0) == &End);
    End.removePredecessor(&Begin, /*KeepOneInputPHIs=*/true);
    IRBuilder<>(Asks).CreateBr(Body);
    Asks->eraseFromParent();
  }

  const LeftOut &Of;
  Analyses &Known;
  Loop &L;
  BasicBlock *Header, *Latch, *Exit;
  ValueToValueMapTy Copied;
  Value *Turns = nullptr, *Comes = nullptr, *AtOnce = nullptr;
};

} // namespace

PreservedAnalyses SplitTurns::run(Function &F, FunctionAnalysisManager &AM) {
  Analyses Known{AM.getResult<LoopAnalysis>(F), AM.getResult<ScalarEvolutionAnalysis>(F), AM.getResult<DominatorTreeAnalysis>(F)};
  auto &Target = AM.getResult<TargetIRAnalysis>(F);
  SmallVector<Loop *, 4> Found;
  for (Loop *L : Known.Loops.getLoopsInPreorder())
    if (leftOut(*L, Known.Evolution, Target).Asks)
      Found.push_back(L);
  bool Split = false;
  for (Loop *L : Found) {
    formLCSSA(*L, Known.Tree, &Known.Loops, &Known.Evolution);
    LeftOut Turn = leftOut(*L, Known.Evolution, Target);
    SCEVExpander Expander(Known.Evolution, "");
    Instruction *Place = L->getLoopPreheader()->getTerminator();
    if (!Turn.Asks || Expander.isHighCostExpansion({Turn.Turns, Turn.Counter->getStart()}, L, SplitBudget, &Target, Place) ||
        !Expander.isSafeToExpand(Turn.Turns))
      continue;
    Splitting(Turn, Known).run();
    Split = true;
  }
  if (!Split)
    return Found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
  AM.invalidate(F, PreservedAnalyses::none());
  After.run(F, AM);
  return PreservedAnalyses::none();
}
