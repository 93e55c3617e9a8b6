// Loop unrolling of device code.
//
// LLVM's own pass does the work and has a policy for CPUs: the thresholds are those of the command line,
// the same for every target. Here the loops are chosen for a GPU, as nvcc chooses: nests of constant trip
// counts are unrolled in full far beyond the size that pays on a CPU, since local arrays then become
// registers and table entries operands; other loops mostly by four, so that several loads are on their way at
// once. What stands in a loop's metadata (`#pragma unroll`) goes first, as in LLVM. The transformation is
// LLVM's, and so is the calculation of counts from the limits given here.

#include "axes.h"
#include "unroll.h"

#include "llvm/ADT/PriorityWorklist.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CodeMetrics.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace {

/// Most instructions of a loop that is unrolled in full, and most turns of it.
constexpr unsigned FullSize = 1000, FullCount = 32;
/// The same where that makes the places of a local array known.
constexpr unsigned LocalSize = 4000, LocalCount = 128;
/// Most instructions of all turns of a loop of up to so many turns that asks for no memory.
constexpr unsigned BitsSize = 1200, BitsCount = 64;
/// Most places of a loop's arrays that may so become registers, of which a thread has at most 255.
constexpr uint64_t LocalPlaces = 208;
/// Most instructions of a loop that is unrolled in part.
constexpr unsigned PartSize = 250;
/// Most instructions of a loop whose left-over turns, fewer than it was unrolled by, follow each other without a loop;
/// and of one in another loop, at each of whose turns some are left over.
constexpr unsigned RestSize = 10, InnerRestSize = 40;
/// Most blocks of such a one in another loop, as where a turn has one condition; of others one.
constexpr unsigned InnerRestBlocks = 3;
/// How often a loop is unrolled whose number of turns is not known ([`partCount`]).
constexpr unsigned PartCount = 4, FewCount = 2, ManyCount = 8;
/// Loads of a turn that make many, and values carried from turn to turn that leave registers.
constexpr unsigned ManyLoads = 5, FewCarried = 4;
/// Requests to memory of a turn of which eight turns get under way at once, and the bytes of the widest.
constexpr unsigned FewRequests = 2;
constexpr int64_t WidestLoad = 16;
/// How deep a loop stands in others that has few turns mostly, as those over the taps of a filter and its channels.
constexpr unsigned DeepLoop = 3;
/// Most instructions of one with a known number of turns.
constexpr unsigned KnownPartSize = 250;
/// Most turns of a loop that is unrolled in full, though it may have fewer, where a turn reads much of shared memory.
constexpr unsigned WindowTurns = 2;
/// Most turns of a loop that is unrolled in full, though each asks what it loads whether there is another one, and most instructions of these.
constexpr unsigned MostAskedTurns = 8, MostOfAskedTurns = 120;
/// For loops that are measured otherwise.
constexpr unsigned NoThreshold = std::numeric_limits<unsigned>::max();
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
  /// There are so many loops that those are left alone of which nothing is said.
  bool Many = false;
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

/// Whether a value is computed from how many blocks there are.
bool isOfGrid(const SCEV *Of) {
  return SCEVExprContains(Of, [](const SCEV *Part) {
    const auto *Leaf = dyn_cast<SCEVUnknown>(Part);
    return Leaf && axisOf(*Leaf->getValue(), Intrinsic::nvvm_read_ptx_sreg_nctaid_x) == 0u;
  });
}

/// Whether the address of a load in a loop comes from memory that the loop reads.
bool isIndirect(const Instruction &Load, const Loop &L) { return !numbersOf(Load, L).empty(); }

/// Whether a load reads a table that never changes.
bool readsTable(const Instruction &I) {
  const auto *Load = dyn_cast<LoadInst>(&I);
  const auto *Table = Load ? dyn_cast<GlobalVariable>(getUnderlyingObject(Load->getPointerOperand())) : nullptr;
  return Table && Load->isSimple() && Table->isConstant() && Table->hasDefinitiveInitializer();
}

/// Whether a place in a local array is decided by the number of a loop's turn, also by way of a table, as of the words of a message
/// that a round of a hash takes.
bool isDecidedByTurn(const Value *Place, const Loop &L, ScalarEvolution &Evolution) {
  SmallVector<const Value *, 8> Work{Place};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const Value *Part = Work.pop_back_val();
    if (isa<Constant, AllocaInst>(Part) || !Seen.insert(Part).second)
      continue;
    const auto *I = dyn_cast<Instruction>(Part);
    if (!I || !L.contains(I))
      return false;
    if (isa<PHINode>(I)) {
      if (!Evolution.isSCEVable(I->getType()))
        return false;
      const auto *Steps = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(const_cast<Instruction *>(I)));
      if (!Steps || !isa<SCEVConstant>(Steps->getStart()) || !Steps->isAffine() ||
          !isa<SCEVConstant>(Steps->getStepRecurrence(Evolution)))
        return false;
    } else if (isa<BinaryOperator, CastInst, GetElementPtrInst>(I) || readsTable(*I)) {
      append_range(Work, I->operand_values());
    } else {
      return false;
    }
  }
  return true;
}

/// Which way a turn of a loop goes at the end of a block; null when that is not known beforehand.
const BasicBlock *wayOfTurn(const BasicBlock &Block, unsigned Turn, const Loop &L,
                            ScalarEvolution &Evolution) {
  const auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  if (!Branch || Branch->isUnconditional())
    return Branch ? Branch->getSuccessor(0) : nullptr;
  const auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
  if (!Compare)
    return nullptr;
  auto AtTurn = [&](Value *Of) -> const SCEVConstant * {
    if (!Evolution.isSCEVable(Of->getType()))
      return nullptr;
    const SCEV *Known = Evolution.getSCEV(Of);
    if (const auto *Steps = dyn_cast<SCEVAddRecExpr>(Known); Steps && Steps->getLoop() == &L)
      Known = Steps->evaluateAtIteration(Evolution.getConstant(Steps->getType(), Turn), Evolution);
    return dyn_cast<SCEVConstant>(Known);
  };
  const SCEVConstant *Left = AtTurn(Compare->getOperand(0)), *Right = AtTurn(Compare->getOperand(1));
  if (!Left || !Right)
    return nullptr;
  bool Holds = ICmpInst::compare(Left->getAPInt(), Right->getAPInt(), Compare->getPredicate());
  return Branch->getSuccessor(!Holds);
}

/// How many instructions the turns of an innermost loop have together, without what is decided by the turn's number.
unsigned sizeOfTurns(const Loop &L, unsigned Turns, ScalarEvolution &Evolution) {
  unsigned Size = 0;
  for (unsigned Turn = 0; Turn < Turns && Size <= LocalSize; Turn++) {
    SmallVector<const BasicBlock *, 8> Work{L.getHeader()};
    SmallPtrSet<const BasicBlock *, 16> Seen{L.getHeader()};
    while (!Work.empty()) {
      const BasicBlock *Block = Work.pop_back_val();
      Size += count_if(*Block, [](const Instruction &I) {
        return !isa<PHINode, CastInst, GetElementPtrInst>(I);
      });
      auto Go = [&](const BasicBlock *To) {
        if (L.contains(To) && Seen.insert(To).second)
          Work.push_back(To);
      };
      if (const BasicBlock *Only = wayOfTurn(*Block, Turn, L, Evolution))
        Go(Only);
      else
        for_each(successors(Block), Go);
    }
  }
  return Size;
}

/// How many requests to memory the loads of a turn are: parts of a vector are one.
unsigned requestsOf(const Loop &L) {
  unsigned Requests = 0;
  // The bytes behind what an aligned load begins with, by what it is a part of.
  DenseMap<const Value *, std::pair<int64_t, int64_t>> Vectors;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      const auto *Load = dyn_cast<LoadInst>(&I);
      Requests += !Load && loads(I);
      if (!Load)
        continue;
      const DataLayout &Layout = I.getDataLayout();
      int64_t Offset = 0, Size = Layout.getTypeStoreSize(Load->getType()).getFixedValue();
      const Value *Base = GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, Layout);
      auto [From, To] = Vectors.lookup(Base);
      if (Offset >= From && Offset + Size <= To)
        continue;
      Requests++;
      Vectors[Base] = {Offset, Offset + std::min<int64_t>(Load->getAlign().value(), WidestLoad)};
    }
  return Requests;
}

/// Whether an instruction multiplies by a number that stays the same in a loop, and is not known.
bool multipliesByUnknown(const Instruction &I, const Loop &L) {
  return I.getOpcode() == Instruction::Mul && !isa<Constant>(I.getOperand(1)) &&
         any_of(I.operands(), [&](const Use &U) { return L.isLoopInvariant(U.get()); });
}

/// How often a loop is unrolled whose number of turns is not known: by four, so that several loads are on their
/// way. By eight where one or two loads wait for nothing and feed sums of floats (`addsUp`), which otherwise wait for each other,
/// unless the loop is in another one, as those over the taps of a filter are: such often have few turns. Where a turn adds nothing up, each waits
/// for the one before, or its loads for the store before it, also in the up to seven turns that would be left over. By two where a turn has
/// many loads and stores, more of which do not get under way at once (compiler/docs/device-speed.md), and then no more
/// by ptxas either.
unsigned partCount(const Loop &L) {
  unsigned Loads = 0, Stores = 0, Carried = 0;
  bool Sums = false, Waits = false, Multiplies = false;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      Multiplies |= multipliesByUnknown(I, L);
      bool Goes = isa<PHINode>(I) && Block == L.getHeader();
      Carried += Goes;
      Sums |= Goes && I.getType()->isFloatTy() && addsUp(cast<PHINode>(I), L);
      Stores += isa<StoreInst>(I);
      Waits |= I.getType()->isDoubleTy();
      if (loads(I)) {
        Loads++;
        Waits |= isIndirect(I, L);
      }
    }
  if (Loads >= ManyLoads)
    return Stores ? FewCount : PartCount;
  bool Many = Loads && Sums && !Waits && Carried <= FewCarried && L.getNumBlocks() <= (Multiplies ? 1 : 3) && L.isOutermost() &&
              requestsOf(L) <= FewRequests;
  return Many ? ManyCount : PartCount;
}

/// Whether what is left over of a loop is short enough to follow it without a loop of its own, in which each load would
/// wait for the turn before.
bool isShort(const Loop &L, unsigned Count) {
  if (Count > PartCount || L.getNumBlocks() > (L.isOutermost() ? 1 : InnerRestBlocks))
    return false;
  unsigned Size = 0;
  for (const BasicBlock *Block : L.blocks())
    Size += count_if(*Block, [](const Instruction &I) { return !isa<PHINode, CastInst>(I); });
  return Size <= (L.isOutermost() ? RestSize : InnerRestSize);
}

/// Whether a loop goes on by more than one and loads by what it loads, as lanes go over a row of a sparse matrix together. Each has few turns:
/// ptxas unrolls such a loop with less around it than there would be here.
bool isOfLanes(const Loop &L, ScalarEvolution &Evolution) {
  const SCEV *Turns = Evolution.getBackedgeTakenCount(&L);
  while (const auto *Cast = dyn_cast<SCEVCastExpr>(Turns))
    Turns = Cast->getOperand();
  return L.getNumBlocks() == 1 && isa<SCEVUDivExpr>(Turns) &&
         any_of(*L.getHeader(), [&](const Instruction &I) { return loads(I) && isIndirect(I, L); });
}

/// Whether a loop reads an array in strides of the grid, and writes nothing. Of those, which have many turns, it is worth a division to know how many;
/// nothing else is on its way while a turn's loads are, and ptxas leaves those alone whose counter has 64 bits.
bool readsByGrid(const Loop &L, ScalarEvolution &Evolution) {
  const SCEV *Turns = Evolution.getBackedgeTakenCount(&L);
  auto Writes = [](const Instruction &I) {
    const auto *Mark = dyn_cast<IntrinsicInst>(&I);
    return I.mayWriteToMemory() && !(Mark && Mark->getIntrinsicID() == Intrinsic::launder_invariant_group);
  };
  bool Reads = any_of(*L.getHeader(), loads) && none_of(*L.getHeader(), [&](const Instruction &I) {
                 return Writes(I) || (loads(I) && isIndirect(I, L));
               });
  return Reads && L.getNumBlocks() == 1 && L.isOutermost() && SCEVExprContains(Turns, [](const SCEV *Part) {
           const auto *Division = dyn_cast<SCEVUDivExpr>(Part);
           return Division && isOfGrid(Division->getRHS());
         });
}

/// Whether a turn calls a function that stays one. What is behind a call is on its way only when the call is over, and a
/// launch, whose code is long, takes a thousand times what a turn's own instructions take.
bool callsFunctions(const Loop &L, const TargetTransformInfo &Target) {
  return any_of(L.blocks(), [&](const BasicBlock *Block) {
    return any_of(*Block, [&](const Instruction &I) {
      const auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || Call->isInlineAsm())
        return false;
      const Function *Called = Call->getCalledFunction();
      return !Called || Target.isLoweredToCall(Called);
    });
  });
}

/// Whether a loop has instructions on matrices, which LLVM weighs by each of their many operands, and is short without that.
bool isShortOfMatrices(const Loop &L) {
  unsigned Size = 0;
  bool Matrices = false;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      Matrices |= isa<IntrinsicInst>(I) && I.getType()->isStructTy();
      Size += !isa<PHINode, CastInst, GetElementPtrInst, ExtractValueInst>(I);
    }
  return Matrices && Size * PartCount <= PartSize;
}

/// Whether a loop's turns only compute.
bool onlyComputes(const Loop &L) {
  return none_of(L.blocks(), [](const BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) { return I.mayReadOrWriteMemory(); });
  });
}

/// Whether an innermost loop with one end only computes, as over the bits of a number: in full, what it computes from the number of a
/// turn are constants.
bool asksNoMemory(const Loop &L) {
  return L.isInnermost() && L.getExitingBlock() && onlyComputes(L);
}

/// Whether a short loop that reads memory ends with its last turn, or before that by one question. Several turns then need not ask how many
/// there were. What only computes has each turn wait for the one before, and gains nothing for its size; nor does a loop in which a turn
/// multiplies two integers that come of the turn before: what LLVM finds out of products of products of eight turns takes it longer than
/// all the rest of a kernel.
bool leavesEarly(const Loop &L) {
  constexpr unsigned MostBlocks = 3;
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  if (!L.isInnermost() || Exiting.size() != 2 || L.getNumBlocks() > MostBlocks || onlyComputes(L))
    return false;
  auto Changes = [&](const Value *Of) { return !L.isLoopInvariant(Of) && !isa<LoadInst>(Of); };
  auto Multiplies = [&](const Instruction &I) {
    return I.getOpcode() == Instruction::Mul && Changes(I.getOperand(0)) && Changes(I.getOperand(1));
  };
  return none_of(L.blocks(), [&](const BasicBlock *Block) { return any_of(*Block, Multiplies); });
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
  if (Turns && Turns <= LocalCount && L.isInnermost() &&
      walksLocals(L, Known.Evolution) && sizeOfTurns(L, Turns, Known.Evolution) <= LocalSize) {
    Limits.Threshold = LocalSize * L.getNumBlocks();
    Limits.FullUnrollMaxCount = LocalCount;
  }
  if (Turns > FullCount && Turns <= BitsCount && asksNoMemory(L) && sizeOfTurns(L, Turns, Known.Evolution) <= BitsSize) {
    Limits.Threshold = LocalSize;
    Limits.FullUnrollMaxCount = BitsCount;
  }
  Limits.PartialThreshold = Turns ? KnownPartSize : PartSize;
  if (!Turns)
    Limits.DefaultUnrollRuntimeCount = Limits.MaxCount = FullOnly ? PartCount : partCount(L);
  // With LLVM's limit those of fewer turns than eight would stay as they are.
  Limits.MaxUpperBound = PartCount;
  Limits.SCEVExpansionBudget = TripCountBudget;
  Limits.Partial = Limits.Runtime = !FullOnly && L.isInnermost() && L.getExitingBlock();
  if (!FullOnly && Turns && leavesEarly(L)) {
    Limits.Partial = true;
    Limits.MaxCount = ManyCount;
  }
  if (Limits.Partial && callsFunctions(L, Known.Target))
    Limits.Partial = Limits.Runtime = false;
  if (Limits.Runtime && !Turns && dividesForTurns(L, Known.Evolution)) {
    Limits.Runtime = Limits.AllowExpensiveTripCount = readsByGrid(L, Known.Evolution);
    Limits.DefaultUnrollRuntimeCount = Limits.MaxCount = PartCount;
  }
  if (Limits.Runtime && !Turns && isOfLanes(L, Known.Evolution))
    Limits.Runtime = false;
  if (Limits.Partial && isShortOfMatrices(L))
    Limits.PartialThreshold = NoThreshold;
  return Limits;
}

/// Whether a value is computed from what the same turn of a loop loads.
bool isOfLoad(const Value &Of, const Loop &L) {
  const auto *I = dyn_cast<Instruction>(&Of);
  return I && L.contains(I) && !isa<PHINode>(I) && (loads(*I) || !numbersOf(*I, L).empty());
}

/// Whether a turn goes on or not by what it loads, as where the bytes of a number of few bytes are read one after another.
bool asksWhatItLoads(const Loop &L) {
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  return any_of(Exiting, [&](const BasicBlock *Block) {
    const auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    return Branch && Branch->isConditional() && isOfLoad(*Branch->getCondition(), L);
  });
}

/// Whether a loop copies to a tile in shared memory, and is in no other one: elsewhere there is work to do while loads are on their way.
bool fillsTile(const Loop &L) { return L.isOutermost() && copiesToShared(L); }

/// Whether a turn reads much of shared memory, as a column of a filter does, much of which is the next turn's too.
bool readsMuchShared(const Loop &L) {
  constexpr unsigned Shared = 3;
  unsigned Loads = 0;
  for (const BasicBlock *Block : L.blocks())
    Loads += count_if(*Block, [](const Instruction &I) {
      const auto *Load = dyn_cast<LoadInst>(&I);
      return Load && getUnderlyingObject(Load->getPointerOperand())->getType()->getPointerAddressSpace() == Shared;
    });
  return Loads >= ManyLoads && L.isOutermost();
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

/// Whether a loop has as many turns for each thread of a block. What its threads do together they then do in the same
/// copy of its body, also where one of its turns follows the unrolled ones.
bool turnsTogether(const Loop &L, ScalarEvolution &Evolution) {
  const SCEV *Turns = Evolution.getBackedgeTakenCount(&L);
  auto Differs = [](const SCEV *Part) {
    const auto *Leaf = dyn_cast<SCEVUnknown>(Part);
    // Threads may be in different turns of a loop around this one.
    return isa<SCEVAddRecExpr>(Part) || (Leaf && !isOfBlock(*Leaf->getValue()));
  };
  return !isa<SCEVCouldNotCompute>(Turns) && !SCEVExprContains(Turns, Differs);
}

/// Leaves a loop the turns that are unrolled together, and another one, which follows it, the rest, if there are fewer. Of one that turns
/// at most as often as it is unrolled LLVM would leave each turn by a question of its own, and each load would wait for the store before it.
bool takeRest(Loop &L, const UnrollLoopOptions &Options, Facts &Known, Loop *&Rest) {
  return UnrollRuntimeLoopRemainder(&L, Options.Count, Options.AllowExpensiveTripCount, /*UseEpilogRemainder=*/true,
                                    /*UnrollRemainder=*/false, /*ForgetAllSCEV=*/false, &Known.Loops, &Known.Evolution,
                                    &Known.Tree, &Known.Assumptions, &Known.Target, /*PreserveLCSSA=*/true,
                                    Options.SCEVExpansionBudget, Options.RuntimeUnrollMultiExit, &Rest);
}

LoopUnrollResult unroll(Loop &L, Facts &Known, bool FullOnly) {
  if (!L.isLoopSimplifyForm() || hasUnrollTransformation(&L) & TM_Disable)
    return LoopUnrollResult::Unmodified;
  if (!FullOnly && Known.Many && hasUnrollTransformation(&L) != TM_ForcedByUser)
    return LoopUnrollResult::Unmodified;
  // Without numbers, which each change of the tree takes away, a question goes from block to block.
  Known.Tree.updateDFSNumbers();
  SmallPtrSet<const Value *, 32> Ephemeral;
  CodeMetrics::collectEphemeralValues(&L, &Known.Assumptions, Ephemeral);
  Turns Turn(L, Known.Evolution);
  auto Limits = limits(L, Turn.Count, Known, FullOnly);
  Limits.UpperBound |= Turn.Most && Turn.Most <= WindowTurns && readsMuchShared(L);
  if (!Turn.Count && Turn.Most && Turn.Most <= MostAskedTurns && L.isInnermost() && asksWhatItLoads(L)) {
    Limits.UpperBound = true;
    Limits.MaxUpperBound = MostAskedTurns;
    Limits.Threshold = MostOfAskedTurns;
  }
  if (!Turn.Count && Turn.Most && Turn.Most <= MostTurnsOfArray && walksLocals(L, Known.Evolution)) {
    Limits.UpperBound = true;
    Limits.MaxUpperBound = MostTurnsOfArray;
  }
  UnrollCostEstimator Cost(&L, Known.Target, Ephemeral, Limits.BEInsns);
  if (!Cost.canUnroll() || Cost.NumInlineCandidates != 0)
    return LoopUnrollResult::Unmodified;
  // A barrier must not get under a condition that it was not under, unless that is the same for all of a block.
  bool Rests = Cost.ConvergenceAllowsRuntime || turnsTogether(L, Known.Evolution);
  Limits.AllowRemainder &= Rests;
  TargetTransformInfo::PeelingPreferences Peeling{};
  bool UpperBound = false;
  bool Asked = computeUnrollCount(&L, Known.Target, Known.Tree, &Known.Loops, &Known.Assumptions,
                                  Known.Evolution, Ephemeral, &Known.Remarks, Turn.Count, Turn.Most,
                                  Turn.MostOrNone, Turn.Multiple, Cost, Limits, Peeling, UpperBound);
  unsigned All = Turn.Count ? Turn.Count : Turn.Most;
  if (!Limits.Count || Peeling.PeelCount || (FullOnly && (!All || Limits.Count < All)))
    return LoopUnrollResult::Unmodified;
  Limits.Runtime &= Rests && !Turn.Count && Turn.Multiple % Limits.Count;
  // ptxas would unroll the simplest of these again, by four once more, for which they have too few turns.
  bool Short = Turn.Most && Turn.Most <= PartCount * PartCount;
  bool Asks = !L.isOutermost() && L.getNumBlocks() > 1, Deep = L.getLoopDepth() >= DeepLoop;
  bool Few = !Turn.Count && !FullOnly && (Short || Asks || Deep || partCount(L) == FewCount);

  UnrollLoopOptions Options{};
  Options.Count = Limits.Count;
  Options.Force = Limits.Force;
  Options.Runtime = Limits.Runtime;
  Options.AllowExpensiveTripCount = Limits.AllowExpensiveTripCount;
  Options.UnrollRemainder = Limits.UnrollRemainder || isShort(L, Options.Count);
  Options.SCEVExpansionBudget = Limits.SCEVExpansionBudget;
  Options.RuntimeUnrollMultiExit = Limits.RuntimeUnrollMultiExit;
  Loop *Rest = nullptr;
  if (Limits.Runtime && Turn.Most == Limits.Count && fillsTile(L))
    Options.Runtime = !takeRest(L, Options, Known, Rest);
  auto Result = UnrollLoop(&L, Options, &Known.Loops, &Known.Evolution, &Known.Tree,
                           &Known.Assumptions, &Known.Target, &Known.Remarks,
                           /*PreserveLCSSA=*/true, Rest ? nullptr : &Rest);
  if (Rest)
    Rest->setLoopAlreadyUnrolled();
  if (Result == LoopUnrollResult::PartiallyUnrolled && (Asked || Few))
    L.setLoopAlreadyUnrolled();
  return Result;
}

} // namespace

bool walksLocals(const Loop &L, ScalarEvolution &Evolution) {
  bool Walks = false;
  uint64_t Places = 0;
  SmallPtrSet<const AllocaInst *, 4> Arrays;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      const Value *Place = getLoadStorePointerOperand(&I);
      const auto *Array = Place ? dyn_cast<AllocaInst>(getUnderlyingObject(Place)) : nullptr;
      if (!Array)
        continue;
      const DataLayout &Layout = I.getDataLayout();
      auto Bytes = Array->getAllocationSize(Layout);
      if (!Bytes || Bytes->isScalable() || !isDecidedByTurn(Place, L, Evolution))
        return false;
      if (Arrays.insert(Array).second)
        Places += Bytes->getFixedValue() / Layout.getTypeStoreSize(getLoadStoreType(&I)).getFixedValue();
      if (Places > LocalPlaces)
        return false;
      Walks |= !L.isLoopInvariant(Place);
    }
  return Walks;
}

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
  Known.Many = Known.Loops.getLoopsInPreorder().size() > MostLoops;
  bool Unrolled = false, Again = true, Gone = false;
  for (unsigned Round = 0; Again && Round < Rounds; Round++) {
    Again = false;
    SmallPriorityWorklist<Loop *, 4> Work;
    appendLoopsToWorklist(Known.Loops, Work);
    while (!Work.empty()) {
      Loop &L = *Work.pop_back_val();
      bool Outer = !L.isInnermost(), Inner = !L.isOutermost();
      auto Result = unroll(L, Known, FullOnly);
      Unrolled |= Result != LoopUnrollResult::Unmodified;
      Gone |= Inner && Result == LoopUnrollResult::FullyUnrolled;
      Again |= Outer && Result == LoopUnrollResult::FullyUnrolled;
    }
  }
  if (!Unrolled)
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  AM.invalidate(F, PreservedAnalyses::none());
  After.run(F, AM);
  if (Gone)
    Around.run(F, AM);
  return PreservedAnalyses::none();
}
