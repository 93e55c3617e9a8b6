// Indices of array elements, computed in the width of addresses.
//
// `a[i + d]` with `int` indices is a 32-bit sum that is widened and added to the address. In a loop over `d`
// the address could simply go on by an element, but where the access is conditional LLVM does not see that:
// nothing tells it that the narrow sum never wraps. C says so (`nsw`), so the sum is taken apart here, before
// unrolling: each part is widened, what does not change in front of the loop, and the rest is a sum of
// 64 bits, of which loop strength reduction makes a pointer that moves (a running mean: 1.19 times). A counter
// gets a wide one beside it. This is done before induction variables are brought into their usual form too,
// because that forgets that counters do not wrap.
//
// An address that grows by a step that is not known (`a[j * n + row]`) becomes a pointer to which the step is
// added, as nvcc makes it. Loop strength reduction would make a pointer of every copy of the unrolled body,
// each with additions of its own; the mark of another object (`launder`), which costs nothing, hides from it
// that the pointer grows evenly.

#include "unroll.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace {

/// The deepest sum that is taken apart.
constexpr unsigned Depth = 4;

/// Signed arithmetic that does not wrap, in the loop, one side of which does not change there. With `Evolution` that side may
/// still be computed there.
BinaryOperator *sumOf(Value *V, const Loop &L, ScalarEvolution *Evolution = nullptr) {
  auto *Sum = dyn_cast<BinaryOperator>(V);
  if (!Sum || !L.contains(Sum))
    return nullptr;
  switch (Sum->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
    break;
  default:
    return nullptr;
  }
  bool Splits = any_of(Sum->operands(), [&](Value *Side) {
    return L.isLoopInvariant(Side) || (Evolution && Evolution->isLoopInvariant(Evolution->getSCEV(Side), &L));
  });
  return Sum->hasNoSignedWrap() && Splits ? Sum : nullptr;
}

/// The addition of a constant that a counter of the loop goes on by, which does not wrap.
BinaryOperator *incrementOf(Value *V, const Loop &L) {
  auto *Counter = dyn_cast<PHINode>(V);
  if (!Counter || Counter->getParent() != L.getHeader() || !L.getLoopLatch())
    return nullptr;
  auto *Next = dyn_cast<BinaryOperator>(Counter->getIncomingValueForBlock(L.getLoopLatch()));
  bool Counts = Next && Next->getOpcode() == Instruction::Add && Next->hasNoSignedWrap() &&
                Next->getOperand(0) == Counter && isa<ConstantInt>(Next->getOperand(1));
  return Counts ? Next : nullptr;
}

/// A counter of 64 bits that goes beside a narrow one.
Value *wideCounter(PHINode *Counter, BinaryOperator *Next, Type *Wide, const Loop &L) {
  BasicBlock *Entry = L.getLoopPreheader();
  IRBuilder<> Build(Counter);
  PHINode *Result = Build.CreatePHI(Wide, 2);
  Build.SetInsertPoint(Entry->getTerminator());
  Result->addIncoming(Build.CreateSExt(Counter->getIncomingValueForBlock(Entry), Wide), Entry);
  Build.SetInsertPoint(Next);
  auto Step = cast<ConstantInt>(Next->getOperand(1))->getSExtValue();
  Value *Sum = Build.CreateNSWAdd(Result, ConstantInt::getSigned(Wide, Step));
  Result->addIncoming(Sum, L.getLoopLatch());
  return Result;
}

/// The value with its sign extended, where it may be computed.
Value *widened(Value *V, Type *Wide, const Loop &L, ScalarEvolution &Evolution, Instruction *Before, unsigned Left) {
  if (BinaryOperator *Next = incrementOf(V, L))
    return wideCounter(cast<PHINode>(V), Next, Wide, L);
  bool Fixed = Evolution.isLoopInvariant(Evolution.getSCEV(V), &L);
  if (auto *Sum = Left && !Fixed ? sumOf(V, L, &Evolution) : nullptr) {
    IRBuilder<> Build(Sum);
    Value *First = widened(Sum->getOperand(0), Wide, L, Evolution, Sum, Left - 1);
    Value *Second = widened(Sum->getOperand(1), Wide, L, Evolution, Sum, Left - 1);
    Value *Result = Build.CreateBinOp(Sum->getOpcode(), First, Second);
    if (auto *Made = dyn_cast<BinaryOperator>(Result))
      Made->setHasNoSignedWrap(true);
    return Result;
  }
  if (L.isLoopInvariant(V))
    Before = L.getLoopPreheader()->getTerminator();
  return IRBuilder<>(Before).CreateSExt(V, Wide);
}

/// The widening of an index that grows by as much in every turn, where its value is not seen to do so, or
/// will be forgotten to.
CastInst *growingIndex(Instruction &I, const Loop &L, ScalarEvolution &Evolution, bool Forgotten) {
  auto *Element = dyn_cast<GetElementPtrInst>(&I);
  if (!Element || Element->getNumIndices() != 1)
    return nullptr;
  auto *Index = dyn_cast<CastInst>(Element->getOperand(1));
  // Where a value is known to be positive, both widenings are the same.
  bool Signed = Index && (isa<SExtInst>(Index) || (isa<ZExtInst>(Index) && Index->hasNonNeg()));
  if (!Signed || !L.contains(Index) || !sumOf(Index->getOperand(0), L, &Evolution))
    return nullptr;
  const auto *Growth = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Index->getOperand(0)));
  if (!Growth || Growth->getLoop() != &L || !Growth->isAffine())
    return nullptr;
  // With a step that is not known, an addition of its own for each address would take longer.
  bool KnownStep = isa<SCEVConstant>(Growth->getStepRecurrence(Evolution));
  bool Seen = !Forgotten && isa<SCEVAddRecExpr>(Evolution.getSCEV(Index));
  return KnownStep && !Seen ? Index : nullptr;
}

/// Whether a value is a start and as often a step as the loop has turned, if it has a value at all.
bool isLine(Value *V, const Loop &L, ScalarEvolution &Evolution, Type *Wide, unsigned Left) {
  if (L.isLoopInvariant(V))
    return true;
  if (isa<PHINode>(V)) {
    const SCEV *Narrow = Evolution.getSCEV(V);
    const auto *Growth = dyn_cast<SCEVAddRecExpr>(Narrow);
    return Growth && Growth->getLoop() == &L && Growth->isAffine() &&
           isa<SCEVConstant>(Growth->getStepRecurrence(Evolution)) &&
           isa<SCEVAddRecExpr>(Evolution.getSignExtendExpr(Narrow, Wide));
  }
  BinaryOperator *Sum = Left ? sumOf(V, L) : nullptr;
  return Sum && isLine(Sum->getOperand(0), L, Evolution, Wide, Left - 1) &&
         isLine(Sum->getOperand(1), L, Evolution, Wide, Left - 1);
}

/// A value of the first turn and what is added in each, in front of the loop.
struct Line {
  Line(Value *V, const Loop &L, ScalarEvolution &Evolution, Type *Wide, IRBuilder<> &Build)
      : Step(ConstantInt::get(Wide, 0)) {
    if (L.isLoopInvariant(V)) {
      Start = Build.CreateSExt(V, Wide);
      return;
    }
    if (auto *Counter = dyn_cast<PHINode>(V)) {
      const auto *Growth = cast<SCEVAddRecExpr>(Evolution.getSCEV(V));
      const auto *By = cast<SCEVConstant>(Growth->getStepRecurrence(Evolution));
      Start = Build.CreateSExt(Counter->getIncomingValueForBlock(L.getLoopPreheader()), Wide);
      Step = ConstantInt::getSigned(Wide, By->getAPInt().getSExtValue());
      return;
    }
    auto *Sum = cast<BinaryOperator>(V);
    Line First(Sum->getOperand(0), L, Evolution, Wide, Build);
    Line Second(Sum->getOperand(1), L, Evolution, Wide, Build);
    auto Together = [&](Value *A, Value *B) { return Build.CreateBinOp(Sum->getOpcode(), A, B); };
    Start = Together(First.Start, Second.Start);
    if (Sum->getOpcode() != Instruction::Mul)
      Step = Together(First.Step, Second.Step);
    else if (L.isLoopInvariant(Sum->getOperand(0)))
      Step = Together(First.Start, Second.Step);
    else
      Step = Together(First.Step, Second.Start);
  }

  Value *Start = nullptr, *Step;
};

/// Whether a pointer comes from a kernel's parameter: it points to global memory.
bool isGlobal(Value *Pointer, const Function &F) {
  while (auto *Element = dyn_cast<GetElementPtrInst>(Pointer))
    Pointer = Element->getPointerOperand();
  auto *Parameter = dyn_cast<Argument>(Pointer);
  return Parameter && F.getCallingConv() == CallingConv::PTX_Kernel &&
         Parameter->getType()->getPointerAddressSpace() == 0 && !Parameter->hasByValAttr();
}

/// An element of global memory whose index grows by a step that is not known, in every turn.
GetElementPtrInst *stridingElement(Instruction &I, const Loop &L, ScalarEvolution &Evolution,
                                   const DominatorTree &Tree) {
  auto *Element = dyn_cast<GetElementPtrInst>(&I);
  if (!Element || Element->getNumIndices() != 1 || !Element->getType()->isPointerTy() ||
      !L.isLoopInvariant(Element->getPointerOperand()) || !L.getLoopLatch() ||
      !Tree.dominates(I.getParent(), L.getLoopLatch()) ||
      !isGlobal(Element->getPointerOperand(), *I.getFunction()))
    return nullptr;
  auto *Index = dyn_cast<CastInst>(Element->getOperand(1));
  bool Signed = Index && (isa<SExtInst>(Index) || (isa<ZExtInst>(Index) && Index->hasNonNeg()));
  if (!Signed || !sumOf(Index->getOperand(0), L))
    return nullptr;
  const auto *Growth = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Index->getOperand(0)));
  bool Strides = Growth && Growth->getLoop() == &L && Growth->isAffine() &&
                 !isa<SCEVConstant>(Growth->getStepRecurrence(Evolution));
  return Strides && isLine(Index->getOperand(0), L, Evolution, Index->getType(), Depth) ? Element
                                                                                        : nullptr;
}

/// Makes a pointer that moves of an element's address.
void makePointer(GetElementPtrInst *Element, const Loop &L, ScalarEvolution &Evolution) {
  auto *Index = cast<CastInst>(Element->getOperand(1));
  Type *Of = Element->getSourceElementType();
  auto *Global = PointerType::get(Element->getContext(), /*AddressSpace=*/1);
  BasicBlock *Entry = L.getLoopPreheader(), *Latch = L.getLoopLatch();
  IRBuilder<> Build(Entry->getTerminator());
  Line Moves(Index->getOperand(0), L, Evolution, Index->getType(), Build);
  Value *Base = Build.CreateAddrSpaceCast(Element->getPointerOperand(), Global);
  Value *First = Build.CreateGEP(Of, Base, Moves.Start);
  Build.SetInsertPoint(L.getHeader(), L.getHeader()->begin());
  PHINode *Place = Build.CreatePHI(Global, 2);
  Place->addIncoming(First, Entry);
  Build.SetInsertPoint(Latch->getTerminator());
  Value *Next = Build.CreateGEP(Of, Place, Moves.Step);
  Place->addIncoming(Build.CreateLaunderInvariantGroup(Next), Latch);
  Build.SetInsertPoint(Element);
  Evolution.forgetValue(Element);
  Element->replaceAllUsesWith(Build.CreateAddrSpaceCast(Place, Element->getType()));
  Element->eraseFromParent();
}

} // namespace

PreservedAnalyses WidenIndices::run(Function &F, FunctionAnalysisManager &AM) {
  LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
  auto &Evolution = AM.getResult<ScalarEvolutionAnalysis>(F);
  auto &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  SmallSetVector<std::pair<CastInst *, Loop *>, 16> Found;
  SmallVector<std::pair<GetElementPtrInst *, Loop *>, 8> Striding;
  for (BasicBlock &Block : F) {
    Loop *L = Loops.getLoopFor(&Block);
    if (!L || !L->isInnermost() || !L->getLoopPreheader())
      continue;
    // Where an access is made in every turn, the address itself tells later that it does not wrap.
    bool Always = L->getLoopLatch() && Tree.dominates(&Block, L->getLoopLatch());
    // A loop in another one often has few turns, for which pointers of its own do not pay.
    bool Few = !L->isOutermost() && !Evolution.getSmallConstantMaxTripCount(L);
    if (!Last && (Always || Few))
      continue;
    for (Instruction &I : Block)
      if (CastInst *Index = growingIndex(I, *L, Evolution, !Last))
        Found.insert({Index, L});
      else if (auto *Element = Last ? stridingElement(I, *L, Evolution, Tree) : nullptr)
        Striding.push_back({Element, L});
  }
  for (auto [Index, L] : Found) {
    Value *Wide = widened(Index->getOperand(0), Index->getType(), *L, Evolution, Index, Depth);
    Evolution.forgetValue(Index);
    Index->replaceAllUsesWith(Wide);
    Index->eraseFromParent();
  }
  for (auto [Element, L] : Striding)
    makePointer(Element, *L, Evolution);
  if (Found.empty() && Striding.empty())
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
