// Places that a loop goes over, as pointers that move.
//
// `a[row * n + i]` over `i` is a place that goes on by an element in every turn, of which loop strength reduction makes a pointer
// once the loop is unrolled. What is left over of an unrolled loop is then another loop (or a few turns in a row), for which the place is
// computed anew from the number of turns that were made, and what it is computed from is kept all the while. In a loop over the taps
// of a filter, which has few turns, that takes as many instructions as the taps do. A pointer that moves before the
// loop is unrolled goes on where the unrolled turns left it.
//
// So does one that goes on by a step that is not known (`a[c * height * width + i]` over `c`, in 64 bits), to which the step is added
// after each turn, as nvcc makes it. Loop strength reduction would keep how far each access of the unrolled turns is from one
// pointer, in registers of its own: of an image that is enlarged, four places by four turns, it took 72 where 36 do. The mark of
// another object (`launder`), which costs nothing, hides from it that the pointer grows evenly. Steps of 32 bits that are
// widened are those of widen.cpp.

#include "unroll.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

/// Most pointers of a loop: more take registers that sums of a counter and what does not change do not, unless their step is not known.
constexpr unsigned MostPointers = 4, MostStriding = 8;
/// What the first place of a pointer may cost to compute.
constexpr unsigned PlaceBudget = 16;

/// A use of a place, so many bytes from where its pointer is.
struct Access {
  Use *Place;
  const SCEV *Offset;
};

/// Places that lie known distances apart.
struct Moving {
  const SCEVAddRecExpr *First;
  SmallVector<Access, 4> Accesses;
};

/// Whether a pointer goes on by a step that is not known.
bool isStriding(const SCEVAddRecExpr &Place, ScalarEvolution &Evolution) {
  return !isa<SCEVConstant>(Place.getStepRecurrence(Evolution));
}

/// The place of an access, where it goes on by as much in each turn.
const SCEVAddRecExpr *placeOf(Value *Pointer, const Loop &L, ScalarEvolution &Evolution) {
  auto *Element = dyn_cast<GetElementPtrInst>(Pointer);
  if (!Element || !L.contains(Element))
    return nullptr;
  const auto *Place = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Element));
  bool Moves = Place && Place->getLoop() == &L && Place->isAffine() &&
               (!isStriding(*Place, Evolution) || isGlobal(Element, *Element->getFunction()));
  return Moves ? Place : nullptr;
}

/// Puts an access to those that lie a known distance from it.
void add(SmallVectorImpl<Moving> &All, const SCEVAddRecExpr *Place, Use &Of, ScalarEvolution &Evolution) {
  for (Moving &Known : All)
    if (Known.First->getType() == Place->getType())
      if (const auto *Offset = dyn_cast<SCEVConstant>(Evolution.getMinusSCEV(Place, Known.First))) {
        Known.Accesses.push_back({&Of, Offset});
        return;
      }
  All.push_back({Place, {{&Of, nullptr}}});
}

/// The operand of an access to memory that says where.
Use *pointerOf(Instruction &I) {
  if (isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(I))
    return &I.getOperandUse(0);
  return isa<StoreInst>(I) ? &I.getOperandUse(StoreInst::getPointerOperandIndex()) : nullptr;
}

/// What a loop goes over; nothing where a place is left that comes from a counter, which is kept for it then.
SmallVector<Moving, 4> placesOf(const Loop &L, ScalarEvolution &Evolution) {
  auto Counts = [&](const SCEV *Part) {
    const auto *Steps = dyn_cast<SCEVAddRecExpr>(Part);
    return Steps && Steps->getLoop() == &L;
  };
  SmallVector<Moving, 4> All;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block) {
      Use *Pointer = pointerOf(I);
      if (!Pointer)
        continue;
      if (const SCEVAddRecExpr *Place = placeOf(*Pointer, L, Evolution))
        add(All, Place, *Pointer, Evolution);
      else if (!isa<PHINode>(*Pointer) && SCEVExprContains(Evolution.getSCEV(*Pointer), Counts))
        return {};
    }
  return All;
}

/// Makes a pointer that moves of places, whose computation is then `Unused`.
void movePointer(const Moving &Places, const Loop &L, ScalarEvolution &Evolution, SCEVExpander &Expander,
                 SmallVectorImpl<WeakTrackingVH> &Unused) {
  bool Striding = isStriding(*Places.First, Evolution);
  BasicBlock *Entry = L.getLoopPreheader(), *Latch = L.getLoopLatch();
  const SCEV *By = Places.First->getStepRecurrence(Evolution);
  Value *Start = Expander.expandCodeFor(Places.First->getStart(), Places.First->getType(), Entry->getTerminator());
  Value *Step = Expander.expandCodeFor(By, By->getType(), Entry->getTerminator());
  IRBuilder<> Build(Entry->getTerminator());
  if (Striding)
    Start = Build.CreateAddrSpaceCast(Start, Build.getPtrTy(/*AddrSpace=*/1));
  Build.SetInsertPoint(L.getHeader(), L.getHeader()->begin());
  PHINode *Place = Build.CreatePHI(Start->getType(), 2);
  Place->addIncoming(Start, Entry);
  Build.SetInsertPoint(Latch->getTerminator());
  Value *Next = Build.CreatePtrAdd(Place, Step);
  Place->addIncoming(Striding ? Build.CreateLaunderInvariantGroup(Next) : Next, Latch);
  for (const Access &Of : Places.Accesses) {
    Unused.emplace_back(Of.Place->get());
    Build.SetInsertPoint(cast<Instruction>(Of.Place->getUser()));
    Value *At = Of.Offset ? Build.CreatePtrAdd(Place, cast<SCEVConstant>(Of.Offset)->getValue()) : Place;
    Of.Place->set(Build.CreateAddrSpaceCast(At, Of.Place->get()->getType()));
  }
}

/// Whether so many pointers are worth their registers.
bool isFew(ArrayRef<Moving> All, ScalarEvolution &Evolution) {
  auto Striding = count_if(All, [&](const Moving &Places) { return isStriding(*Places.First, Evolution); });
  return All.size() - Striding <= MostPointers && Striding <= MostStriding;
}

} // namespace

PreservedAnalyses MovePointers::run(Function &F, FunctionAnalysisManager &AM) {
  auto &Evolution = AM.getResult<ScalarEvolutionAnalysis>(F);
  auto &Target = AM.getResult<TargetIRAnalysis>(F);
  SmallVector<WeakTrackingVH, 16> Unused;
  for (Loop *L : AM.getResult<LoopAnalysis>(F).getLoopsInPreorder()) {
    if (!L->isInnermost() || !L->isLoopSimplifyForm() || L->getExitingBlock() != L->getLoopLatch() ||
        Evolution.getSmallConstantTripCount(L) || isa<SCEVCouldNotCompute>(Evolution.getBackedgeTakenCount(L)))
      continue;
    SmallVector<Moving, 4> All = placesOf(*L, Evolution);
    if (All.empty() || !isFew(All, Evolution))
      continue;
    SCEVExpander Expander(Evolution, "");
    const Instruction *Before = L->getLoopPreheader()->getTerminator();
    auto Cheap = [&](const Moving &Places) {
      const SCEV *Start = Places.First->getStart(), *Step = Places.First->getStepRecurrence(Evolution);
      return Expander.isSafeToExpandAt(Start, Before) && Expander.isSafeToExpandAt(Step, Before) &&
             !Expander.isHighCostExpansion({Start, Step}, L, PlaceBudget, &Target, Before);
    };
    if (!all_of(All, Cheap))
      continue;
    for (const Moving &Places : All)
      movePointer(Places, *L, Evolution, Expander, Unused);
    Evolution.forgetLoop(L);
  }
  if (Unused.empty())
    return PreservedAnalyses::all();
  // What stands in a loop decides how often it is unrolled.
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Unused);
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
