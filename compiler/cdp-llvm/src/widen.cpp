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
// that the pointer grows evenly. Elements that lie a number away which does not change (the rows and planes around a point of a
// grid) are addressed from that pointer, each in one instruction (`IMAD.WIDE`), since their sums do not wrap either; and
// where such a number is the step, it tells that the step fits into 32 bits. With sums of 32 bits of their own, widened in
// each turn, a stencil that goes through a volume plane by plane took 1.2 to 1.45 times as long on an H200.

#include "unroll.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

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

/// Makes no products with one or sums with zero, which no later pass removes where the loop is not unrolled.
using Folding = IRBuilder<InstSimplifyFolder>;

/// A value of the first turn and what is added in each, in front of the loop.
struct Line {
  Line(Value *V, const Loop &L, ScalarEvolution &Evolution, Type *Wide, Folding &Build)
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

/// The index of an element before it was widened; null where there is no such thing.
Value *narrowIndex(const GetElementPtrInst &Element) {
  auto *Index = Element.getNumIndices() == 1 ? dyn_cast<CastInst>(Element.getOperand(1)) : nullptr;
  bool Signed = Index && (isa<SExtInst>(Index) || (isa<ZExtInst>(Index) && Index->hasNonNeg()));
  return Signed ? Index->getOperand(0) : nullptr;
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
  Value *Index = narrowIndex(*Element);
  if (!Index || !sumOf(Index, L))
    return nullptr;
  const auto *Growth = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(Index));
  bool Strides = Growth && Growth->getLoop() == &L && Growth->isAffine() &&
                 !isa<SCEVConstant>(Growth->getStepRecurrence(Evolution));
  return Strides && isLine(Index, L, Evolution, Element->getOperand(1)->getType(), Depth) ? Element : nullptr;
}

/// What an index has beyond another one: a number that does not change in the loop, taken away where it is `Negative`.
struct Beyond {
  Value *Of;
  bool Negative;
};

/// An element that lies so far from one whose address becomes a pointer that moves, and whether it is read or written in every turn.
struct Neighbour {
  GetElementPtrInst *Element;
  bool Always;
  SmallVector<Beyond, 2> Offsets;
};

/// An element whose address becomes a pointer that moves, with those that lie around it.
struct Striding {
  GetElementPtrInst *Element;
  const Loop *L;
  SmallVector<Neighbour, 4> Around;
};

/// Puts an element to the one around which it lies, if there is one.
bool isAround(GetElementPtrInst &Element, const Loop &L, MutableArrayRef<Striding> All, const DominatorTree &Tree) {
  Value *Index = narrowIndex(Element);
  bool Always = any_of(Element.users(), [&](const User *U) {
    return getLoadStorePointerOperand(U) == &Element && Tree.dominates(cast<Instruction>(U)->getParent(), L.getLoopLatch());
  });
  SmallVector<Beyond, 2> Offsets;
  for (unsigned Left = Depth; Index && Left; Left--) {
    BinaryOperator *Sum = sumOf(Index, L);
    if (!Sum || Sum->getOpcode() == Instruction::Mul)
      return false;
    bool Second = L.isLoopInvariant(Sum->getOperand(1)), Taken = Sum->getOpcode() == Instruction::Sub;
    if (Taken && !Second)
      return false;
    Index = Sum->getOperand(!Second);
    Offsets.push_back({Sum->getOperand(Second), Taken});
    for (Striding &Other : All)
      if (Other.L == &L && Other.Element != &Element && narrowIndex(*Other.Element) == Index &&
          Other.Element->getPointerOperand() == Element.getPointerOperand() &&
          Other.Element->getSourceElementType() == Element.getSourceElementType()) {
        Other.Around.push_back({&Element, Always, Offsets});
        return true;
      }
  }
  return false;
}

/// Elements that lie around others need no pointers of their own.
void gatherAround(SmallVectorImpl<Striding> &All, const DominatorTree &Tree) {
  SmallSetVector<const Loop *, 4> Where;
  for (const Striding &Of : All)
    Where.insert(Of.L);
  for (const Loop *L : Where)
    for (BasicBlock *Block : L->blocks())
      for (Instruction &I : *Block) {
        auto *Element = dyn_cast<GetElementPtrInst>(&I);
        Striding *Own = find_if(All, [&](const Striding &Of) { return Of.Element == Element; });
        bool Alone = Own == All.end() || Own->Around.empty();
        if (Element && Alone && isAround(*Element, *L, All, Tree) && Own != All.end())
          All.erase(Own);
      }
}

/// Makes pointers that move of the address of an element and of those around it.
class Moves {
public:
  /// What the places were computed from becomes `Unused`.
  Moves(const Striding &Of, ScalarEvolution &Evolution, SmallVectorImpl<WeakTrackingVH> &Unused)
      : Of(Of), Evolution(Evolution), Unused(Unused), L(*Of.L), Type(Of.Element->getSourceElementType()),
        Wide(Of.Element->getOperand(1)->getType()),
        Build(L.getLoopPreheader(), L.getLoopPreheader()->getTerminator()->getIterator(),
              InstSimplifyFolder(Of.Element->getDataLayout())) {}

  void run(ArrayRef<Striding> All) {
    auto *Global = PointerType::get(Type->getContext(), /*AddressSpace=*/1);
    BasicBlock *Entry = L.getLoopPreheader(), *Latch = L.getLoopLatch();
    Line Places(narrowIndex(*Of.Element), L, Evolution, Wide, Build);
    Value *Step = narrowStep(Places.Step, All);
    Value *Base = Build.CreateAddrSpaceCast(Of.Element->getPointerOperand(), Global);
    Value *First = Build.CreateGEP(Type, Base, Places.Start);
    Build.SetInsertPoint(L.getHeader(), L.getHeader()->begin());
    Place = Build.CreatePHI(Global, 2);
    Place->addIncoming(First, Entry);
    // An element that is a step further is where the pointer goes.
    bool Further = any_of(Of.Around, [&](const Neighbour &Other) { return isStep(Other); });
    Build.SetInsertPoint(Further ? L.getHeader() : Latch,
                         Further ? L.getHeader()->getFirstInsertionPt() : Latch->getTerminator()->getIterator());
    Next = Build.CreateGEP(Type, Place, Step);
    Build.SetInsertPoint(Latch->getTerminator());
    Place->addIncoming(Build.CreateLaunderInvariantGroup(Next), Latch);
    for (const Neighbour &Other : Of.Around)
      replace(*Other.Element, isStep(Other) ? Next : beside(Other));
    replace(*Of.Element, Place);
  }

private:
  /// The step as a number of 32 bits that was widened, where elements lie so far from each other: a product of numbers is then
  /// no larger than that.
  Value *narrowStep(Value *Step, ArrayRef<Striding> All) {
    for (const Striding &Any : All)
      for (const Neighbour &Other : Any.Around) {
        Value *Number = Other.Offsets.front().Of;
        if (Any.L != &L || Other.Offsets.size() != 1 || !Other.Always || !isWidened(Number, Step))
          continue;
        Narrow = Number;
        return Build.CreateSExt(Number, Wide);
      }
    return Step;
  }

  /// Whether the step is as much as the number, which is not too large for its type.
  bool isWidened(Value *Number, Value *Step) {
    auto Widened = [&](Value *V) { return Evolution.getSignExtendExpr(Evolution.getSCEV(V), Wide); };
    Value *Left, *Right;
    bool Product = match(Number, m_NSWMul(m_Value(Left), m_Value(Right)));
    return Evolution.getSCEV(Step) == (Product ? Evolution.getMulExpr(Widened(Left), Widened(Right)) : Widened(Number));
  }

  bool isStep(const Neighbour &Other) const {
    return Narrow && Other.Offsets.size() == 1 && Other.Offsets.front().Of == Narrow && !Other.Offsets.front().Negative;
  }

  /// The address of an element around the pointer.
  Value *beside(const Neighbour &Other) {
    Value *Address = Place;
    for (const Beyond &Offset : Other.Offsets) {
      Build.SetInsertPoint(L.getLoopPreheader()->getTerminator());
      Value *Far = Build.CreateSExt(Offset.Of, Wide);
      if (Offset.Negative)
        Far = Build.CreateNeg(Far);
      Build.SetInsertPoint(Other.Element);
      Address = Build.CreateGEP(Type, Address, Far);
    }
    return Address;
  }

  void replace(GetElementPtrInst &Element, Value *Address) {
    Build.SetInsertPoint(&Element);
    Evolution.forgetValue(&Element);
    Element.replaceAllUsesWith(Build.CreateAddrSpaceCast(Address, Element.getType()));
    Unused.emplace_back(Element.getOperand(1));
    Element.eraseFromParent();
  }

  const Striding &Of;
  ScalarEvolution &Evolution;
  SmallVectorImpl<WeakTrackingVH> &Unused;
  const Loop &L;
  llvm::Type *Type, *Wide;
  Folding Build;
  PHINode *Place = nullptr;
  Value *Next = nullptr, *Narrow = nullptr;
};

} // namespace

bool isGlobal(Value *Pointer, const Function &F) {
  while (auto *Element = dyn_cast<GetElementPtrInst>(Pointer))
    Pointer = Element->getPointerOperand();
  auto *Parameter = dyn_cast<Argument>(Pointer);
  return Parameter && F.getCallingConv() == CallingConv::PTX_Kernel &&
         Parameter->getType()->getPointerAddressSpace() == 0 && !Parameter->hasByValAttr();
}

PreservedAnalyses WidenIndices::run(Function &F, FunctionAnalysisManager &AM) {
  LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
  auto &Evolution = AM.getResult<ScalarEvolutionAnalysis>(F);
  auto &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  SmallSetVector<std::pair<CastInst *, Loop *>, 16> Found;
  SmallVector<Striding, 8> Pointers;
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
        Pointers.push_back({Element, L, {}});
  }
  for (auto [Index, L] : Found) {
    Value *Wide = widened(Index->getOperand(0), Index->getType(), *L, Evolution, Index, Depth);
    Evolution.forgetValue(Index);
    Index->replaceAllUsesWith(Wide);
    Index->eraseFromParent();
  }
  gatherAround(Pointers, Tree);
  SmallVector<WeakTrackingVH, 16> Unused;
  for (const Striding &Of : Pointers)
    Moves(Of, Evolution, Unused).run(Pointers);
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Unused);
  return keptAfter(!Found.empty() || !Pointers.empty());
}
