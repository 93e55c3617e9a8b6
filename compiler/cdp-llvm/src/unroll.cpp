// Loop unrolling of device code.
//
// LLVM's own pass does the work and has a policy for CPUs: the thresholds are those of the command line,
// the same for every target. Here the loops are chosen for a GPU, as nvcc chooses: nests of constant trip
// counts are unrolled in full far beyond the size that pays on a CPU, since local arrays then become
// registers and table entries operands; other loops mostly by four, so that several loads are on their way at
// once. What stands in a loop's metadata (`#pragma unroll`) goes first, as in LLVM. The transformation is
// LLVM's, and so is the calculation of counts from the limits given here.

#include "unroll.h"

#include "llvm/ADT/PriorityWorklist.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CodeMetrics.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace {

/// Most instructions of a loop that is unrolled in full, and most turns of it.
constexpr unsigned FullSize = 1000, FullCount = 32;
/// Most instructions of a loop that is unrolled in part.
constexpr unsigned PartSize = 250;
/// How often a loop is unrolled whose number of turns is not known ([`partCount`]).
constexpr unsigned PartCount = 4, FewCount = 2, ManyCount = 8;
/// Loads of a turn that make many, and values carried from turn to turn that leave registers.
constexpr unsigned ManyLoads = 5, FewCarried = 4;
/// Most instructions of one with a known number of turns.
constexpr unsigned KnownPartSize = 250;
/// Instructions that may be spent on the number of turns before the loop, if there is no division.
constexpr unsigned TripCountBudget = 16;
/// How often loops are looked at whose numbers of turns have become known, or which were copied, when one
/// around them was unrolled.
constexpr unsigned Rounds = 4;

/// What a function's loops are judged by.
struct Facts {
  Facts(Function &F, FunctionAnalysisManager &AM)
      : Loops(AM.getResult<LoopAnalysis>(F)), Evolution(AM.getResult<ScalarEvolutionAnalysis>(F)),
        Target(AM.getResult<TargetIRAnalysis>(F)), Tree(AM.getResult<DominatorTreeAnalysis>(F)),
        Assumptions(AM.getResult<AssumptionAnalysis>(F)), Remarks(&F) {}

  LoopInfo &Loops;
  ScalarEvolution &Evolution;
  const TargetTransformInfo &Target;
  DominatorTree &Tree;
  AssumptionCache &Assumptions;
  OptimizationRemarkEmitter Remarks;
};

/// Whether the number of turns takes a division by something that is not constant, as where threads go
/// over an array in strides of the grid.
bool dividesForTurns(Loop &L, ScalarEvolution &Evolution) {
  const SCEV *Turns = Evolution.getBackedgeTakenCount(&L);
  return SCEVExprContains(Turns, [](const SCEV *Part) {
    const auto *Division = dyn_cast<SCEVUDivExpr>(Part);
    return Division && !isa<SCEVConstant>(Division->getRHS());
  });
}

/// Whether an address in a loop comes from memory that the loop reads.
bool isIndirect(const LoadInst &Load, const Loop &L) {
  SmallVector<const Value *, 8> Work{Load.getPointerOperand()};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const auto *Part = dyn_cast<Instruction>(Work.pop_back_val());
    if (!Part || !L.contains(Part) || isa<PHINode>(Part) || !Seen.insert(Part).second)
      continue;
    if (isa<LoadInst>(Part))
      return true;
    append_range(Work, Part->operand_values());
  }
  return false;
}

/// How often a loop is unrolled whose number of turns is not known: by four, so that several loads are on their
/// way. By eight where loads wait for nothing and feed sums of floats, which otherwise wait for each other; by two
/// where a turn has many loads and stores, more of which do not get under way at once (compiler/docs/device-speed.md),
/// and then no more by ptxas either.
unsigned partCount(const Loop &L) {
  unsigned Loads = 0, Stores = 0, Carried = 0;
  bool Floats = false, Waits = false;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      Carried += isa<PHINode>(I) && Block == L.getHeader();
      Stores += isa<StoreInst>(I);
      Floats |= I.getType()->isFloatTy() && (isa<BinaryOperator>(I) || isa<CallBase>(I));
      Waits |= I.getType()->isDoubleTy();
      if (const auto *Load = dyn_cast<LoadInst>(&I)) {
        Loads++;
        Waits |= isIndirect(*Load, L);
      }
    }
  if (Loads >= ManyLoads)
    return Stores ? FewCount : PartCount;
  bool Many = Loads && Floats && !Waits && Carried <= FewCarried && L.getNumBlocks() <= 3;
  return Many ? ManyCount : PartCount;
}

/// The limits for a loop; `Turns` is their number or 0.
TargetTransformInfo::UnrollingPreferences limits(Loop &L, unsigned Turns, Facts &Known,
                                                 bool FullOnly) {
  auto Limits = gatherUnrollingPreferences(&L, Known.Evolution, Known.Target, nullptr, nullptr,
                                           Known.Remarks, 3, std::nullopt, std::nullopt,
                                           std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  Limits.Threshold = FullSize;
  Limits.MaxPercentThresholdBoost = 100;
  Limits.FullUnrollMaxCount = FullCount;
  Limits.PartialThreshold = Turns ? KnownPartSize : PartSize;
  if (!Turns)
    Limits.DefaultUnrollRuntimeCount = Limits.MaxCount = FullOnly ? PartCount : partCount(L);
  Limits.SCEVExpansionBudget = TripCountBudget;
  Limits.Partial = Limits.Runtime = !FullOnly && L.isInnermost() && L.getExitingBlock();
  if (Limits.Runtime && !Turns && dividesForTurns(L, Known.Evolution))
    Limits.Runtime = false;
  return Limits;
}

/// The number of turns, or what it is a multiple of.
struct Turns {
  Turns(Loop &L, ScalarEvolution &Evolution) {
    SmallVector<BasicBlock *, 8> Exiting;
    L.getExitingBlocks(Exiting);
    for (BasicBlock *Block : Exiting)
      if (unsigned Exact = Evolution.getSmallConstantTripCount(&L, Block))
        if (!Count || Exact < Count)
          Count = Multiple = Exact;
    if (Count)
      return;
    BasicBlock *Block = L.getLoopLatch();
    if (!Block || !L.isLoopExiting(Block))
      Block = L.getExitingBlock();
    if (Block)
      Multiple = Evolution.getSmallConstantTripMultiple(&L, Block);
    Most = Evolution.getSmallConstantMaxTripCount(&L);
    MostOrNone = Evolution.isBackedgeTakenCountMaxOrZero(&L);
  }

  unsigned Count = 0, Multiple = 1, Most = 0;
  bool MostOrNone = false;
};

LoopUnrollResult unroll(Loop &L, Facts &Known, bool FullOnly) {
  if (!L.isLoopSimplifyForm() || hasUnrollTransformation(&L) & TM_Disable)
    return LoopUnrollResult::Unmodified;
  SmallPtrSet<const Value *, 32> Ephemeral;
  CodeMetrics::collectEphemeralValues(&L, &Known.Assumptions, Ephemeral);
  Turns Turn(L, Known.Evolution);
  auto Limits = limits(L, Turn.Count, Known, FullOnly);
  UnrollCostEstimator Cost(&L, Known.Target, Ephemeral, Limits.BEInsns);
  if (!Cost.canUnroll() || Cost.NumInlineCandidates != 0)
    return LoopUnrollResult::Unmodified;
  // A barrier must not get under a condition that it was not under.
  Limits.AllowRemainder &= Cost.ConvergenceAllowsRuntime;
  TargetTransformInfo::PeelingPreferences Peeling{};
  bool UpperBound = false;
  bool Asked = computeUnrollCount(&L, Known.Target, Known.Tree, &Known.Loops, &Known.Assumptions,
                                  Known.Evolution, Ephemeral, &Known.Remarks, Turn.Count, Turn.Most,
                                  Turn.MostOrNone, Turn.Multiple, Cost, Limits, Peeling, UpperBound);
  unsigned All = Turn.Count ? Turn.Count : Turn.Most;
  if (!Limits.Count || Peeling.PeelCount || (FullOnly && (!All || Limits.Count < All)))
    return LoopUnrollResult::Unmodified;
  Limits.Runtime &= Cost.ConvergenceAllowsRuntime && !Turn.Count && Turn.Multiple % Limits.Count;
  // ptxas would unroll the simplest of these again.
  bool Few = !Turn.Count && !FullOnly && partCount(L) == FewCount;

  UnrollLoopOptions Options{};
  Options.Count = Limits.Count;
  Options.Force = Limits.Force;
  Options.Runtime = Limits.Runtime;
  Options.AllowExpensiveTripCount = Limits.AllowExpensiveTripCount;
  Options.UnrollRemainder = Limits.UnrollRemainder;
  Options.SCEVExpansionBudget = Limits.SCEVExpansionBudget;
  Options.RuntimeUnrollMultiExit = Limits.RuntimeUnrollMultiExit;
  Loop *Rest = nullptr;
  auto Result = UnrollLoop(&L, Options, &Known.Loops, &Known.Evolution, &Known.Tree,
                           &Known.Assumptions, &Known.Target, &Known.Remarks,
                           /*PreserveLCSSA=*/true, &Rest);
  if (Rest)
    Rest->setLoopAlreadyUnrolled();
  if (Result == LoopUnrollResult::PartiallyUnrolled && (Asked || Few))
    L.setLoopAlreadyUnrolled();
  return Result;
}

} // namespace

PreservedAnalyses UnrollForDevice::run(Function &F, FunctionAnalysisManager &AM) {
  if (AM.getResult<LoopAnalysis>(F).empty())
    return PreservedAnalyses::all();
  Facts Known(F, AM);
  bool Changed = false;
  for (Loop *L : Known.Loops) {
    Changed |= simplifyLoop(L, &Known.Tree, &Known.Loops, &Known.Evolution, &Known.Assumptions,
                            nullptr, false);
    Changed |= formLCSSARecursively(*L, Known.Tree, &Known.Loops, &Known.Evolution);
  }
  bool Unrolled = false, Again = true;
  for (unsigned Round = 0; Again && Round < Rounds; Round++) {
    Again = false;
    SmallPriorityWorklist<Loop *, 4> Work;
    appendLoopsToWorklist(Known.Loops, Work);
    while (!Work.empty()) {
      Loop &L = *Work.pop_back_val();
      bool Outer = !L.isInnermost();
      auto Result = unroll(L, Known, FullOnly);
      Unrolled |= Result != LoopUnrollResult::Unmodified;
      Again |= Outer && Result == LoopUnrollResult::FullyUnrolled;
    }
  }
  if (!Unrolled)
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  AM.invalidate(F, PreservedAnalyses::none());
  After.run(F, AM);
  return PreservedAnalyses::none();
}
