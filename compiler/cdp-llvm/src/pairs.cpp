// Two halves that go through a loop, as the one word that they are.
//
// A variable of two short parts (`half2`, an accumulator of two `half`s a register of a tensor core's product) that is somewhere set or
// asked for part by part becomes two variables of LLVM's. In a loop whose turns make the word as one, each turn takes it apart, and
// the next one puts it together again. Here what goes from turn to turn is the word, and a part is taken out where it
// is asked for. Of `wgmma` instructions, which work while the thread goes on, ptxas lets each wait for the one before where a
// register is put together between them.

#include "unroll.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned HalfSize = 16;
constexpr uint64_t HalfMask = 0xffff;

/// The lower 16 bits of a value that is moved down by a number of bits.
struct HalfOf {
  Value *Of;
  unsigned Down = 0;
};

/// What the lower 16 bits of a number are, or those of a float of that size.
HalfOf halfOf(Value *V) {
  HalfOf Found{V};
  const APInt *By;
  while (true) {
    Value *Inner;
    if (match(Found.Of, m_ZExt(m_Value(Inner))) || match(Found.Of, m_SExt(m_Value(Inner))) || match(Found.Of, m_Trunc(m_Value(Inner)))) {
      if (std::min(Inner->getType()->getScalarSizeInBits(), Found.Of->getType()->getScalarSizeInBits()) < Found.Down + HalfSize)
        return Found;
    } else if (match(Found.Of, m_BitCast(m_Value(Inner)))) {
      if (Inner->getType()->isVectorTy() || Found.Of->getType()->isVectorTy())
        return Found;
    } else if (match(Found.Of, m_And(m_Value(Inner), m_APInt(By)))) {
      if ((By->lshr(Found.Down) & HalfMask) != HalfMask)
        return Found;
    } else if (Found.Down == 0 && match(Found.Of, m_LShr(m_Value(Inner), m_SpecificInt(HalfSize))) && Inner->getType()->isIntegerTy(2 * HalfSize)) {
      Found.Down = HalfSize;
    } else {
      return Found;
    }
    Found.Of = Inner;
  }
}

/// The bits of a part that is known.
std::optional<uint64_t> bitsOf(const HalfOf &Of) {
  if (const auto *Number = dyn_cast<ConstantInt>(Of.Of))
    return Number->getValue().lshr(Of.Down).getLoBits(std::min(HalfSize, Number->getBitWidth())).getZExtValue();
  if (const auto *Number = dyn_cast<ConstantFP>(Of.Of))
    return Number->getValueAPF().bitcastToAPInt().lshr(Of.Down).getLoBits(HalfSize).getZExtValue();
  if (isa<UndefValue>(Of.Of))
    return 0;
  return std::nullopt;
}

/// The two parts of a word that comes from somewhere.
struct TwoHalves {
  HalfOf Upper, Lower;

  bool isOneWord() const {
    return Upper.Of == Lower.Of && Upper.Down == HalfSize && Lower.Down == 0 && Upper.Of->getType()->isIntegerTy(2 * HalfSize);
  }

  /// Both from the same block's choice, by the way that led there.
  bool areChosen() const {
    const auto *First = dyn_cast<PHINode>(Upper.Of), *Second = dyn_cast<PHINode>(Lower.Of);
    return First && Second && First != Second && First->getParent() == Second->getParent() && Upper.Down == 0 && Lower.Down == 0;
  }
};

/// Whether a word is put together of two halves, and of which.
bool putsTogether(Instruction &I, TwoHalves &Of) {
  Value *Upper, *Lower;
  if (!I.getType()->isIntegerTy(2 * HalfSize) || !match(&I, m_c_Or(m_Shl(m_Value(Upper), m_SpecificInt(HalfSize)), m_Value(Lower))))
    return false;
  Value *Kept;
  bool IsHalf = match(Lower, m_And(m_Value(Kept), m_SpecificInt(HalfMask))) ||
                (match(Lower, m_ZExt(m_Value(Kept))) && Kept->getType()->isIntegerTy(HalfSize));
  Of = {halfOf(Upper), halfOf(Lower)};
  return IsHalf;
}

/// The words that a word in a loop comes from, turn by turn.
class WordsOfHalves {
public:
  WordsOfHalves(BasicBlock &Home, const LoopInfo &Loops) : Around(Loops.getLoopFor(&Home)) {}

  /// Finds all of them; false where a turn makes a half alone.
  bool find(const TwoHalves &Root) {
    Chosen.insert({keyOf(Root), nullptr});
    SmallVector<TwoHalves, 8> Work{Root};
    while (!Work.empty()) {
      TwoHalves Next = Work.pop_back_val();
      auto *Upper = cast<PHINode>(Next.Upper.Of), *Lower = cast<PHINode>(Next.Lower.Of);
      if (!Halves.insert(Upper).second || !Halves.insert(Lower).second)
        return false;
      for (unsigned Way = 0; Way < Upper->getNumIncomingValues(); ++Way) {
        TwoHalves From = cameFrom(Next, Way);
        if (From.areChosen()) {
          if (Chosen.insert({keyOf(From), nullptr}).second)
            Work.push_back(From);
        } else if (!From.isOneWord() && !areKnown(From) && (!Around || Around->contains(Upper->getIncomingBlock(Way)))) {
          return false;
        }
      }
    }
    return all_of(Halves, [&](const PHINode *One) { return isAskedForAsHalf(*One); });
  }

  /// Makes them.
  Value *make(const TwoHalves &Root) {
    for (auto &[Key, Word] : Chosen) {
      IRBuilder<> Build(Key.first);
      Word = Build.CreatePHI(Build.getInt32Ty(), Key.first->getNumIncomingValues());
    }
    for (auto &[Key, Word] : Chosen)
      for (unsigned Way = 0; Way < Key.first->getNumIncomingValues(); ++Way) {
        BasicBlock *From = Key.first->getIncomingBlock(Way);
        // More than once from a `switch`: the same value each time.
        Value *Before = Word->getBasicBlockIndex(From) >= 0 ? Word->getIncomingValueForBlock(From) : nullptr;
        Word->addIncoming(Before ? Before : wordOf(cameFrom({{Key.first}, {Key.second}}, Way), *From), From);
      }
    for (auto &[Key, Word] : Chosen) {
      takeOut(*Key.first, *Word, HalfSize);
      takeOut(*Key.second, *Word, 0);
    }
    Value *Result = Chosen.lookup(keyOf(Root));
    for (PHINode *One : Halves)
      One->replaceAllUsesWith(PoisonValue::get(One->getType()));
    for (PHINode *One : Halves)
      One->eraseFromParent();
    return Result;
  }

private:
  using Key = std::pair<PHINode *, PHINode *>;

  static Key keyOf(const TwoHalves &Of) { return {cast<PHINode>(Of.Upper.Of), cast<PHINode>(Of.Lower.Of)}; }

  static TwoHalves cameFrom(const TwoHalves &Of, unsigned Way) {
    auto *Upper = cast<PHINode>(Of.Upper.Of), *Lower = cast<PHINode>(Of.Lower.Of);
    return {halfOf(Upper->getIncomingValue(Way)), halfOf(Lower->getIncomingValueForBlock(Upper->getIncomingBlock(Way)))};
  }

  static bool areKnown(const TwoHalves &Of) { return bitsOf(Of.Upper) && bitsOf(Of.Lower); }

  /// Whether nobody needs more of a half than its 16 bits.
  bool isAskedForAsHalf(const PHINode &One) const {
    if (One.getType()->getScalarSizeInBits() == HalfSize)
      return true;
    return One.getType()->isIntegerTy(2 * HalfSize) && all_of(One.users(), [&](const User *Of) {
             const APInt *By;
             if (const auto *Other = dyn_cast<PHINode>(Of))
               return Halves.contains(const_cast<PHINode *>(Other));
             return match(Of, m_And(m_Specific(&One), m_APInt(By))) ? By->ule(HalfMask)
                    : match(Of, m_Shl(m_Specific(&One), m_APInt(By))) ? By->uge(HalfSize)
                                                                       : isa<TruncInst>(Of) && Of->getType()->getScalarSizeInBits() <= HalfSize;
           });
  }

  static Value *numberOf(IRBuilder<> &Build, const HalfOf &Of) {
    Value *Number = Of.Of;
    if (!Number->getType()->isIntegerTy())
      Number = Build.CreateBitCast(Number, Build.getIntNTy(Number->getType()->getScalarSizeInBits()));
    // A word is poison where one half is, and who asks for the other half alone must not see that.
    if (!isGuaranteedNotToBePoison(Number))
      Number = Build.CreateFreeze(Number);
    return Build.CreateAnd(Build.CreateZExtOrTrunc(Build.CreateLShr(Number, Of.Down), Build.getInt32Ty()), HalfMask);
  }

  /// The word that comes into a block from another one.
  Value *wordOf(const TwoHalves &Of, BasicBlock &From) const {
    if (Of.isOneWord())
      return Of.Lower.Of;
    if (Of.areChosen())
      return Chosen.lookup(keyOf(Of));
    IRBuilder<> Build(From.getTerminator());
    if (areKnown(Of))
      return Build.getInt32(*bitsOf(Of.Upper) << HalfSize | *bitsOf(Of.Lower));
    return Build.CreateOr(Build.CreateShl(numberOf(Build, Of.Upper), HalfSize), numberOf(Build, Of.Lower));
  }

  /// Has all that asks for a half but other choices ask the word.
  void takeOut(PHINode &One, PHINode &Word, unsigned Down) const {
    Value *Taken = nullptr;
    for (Use &Of : make_early_inc_range(One.uses())) {
      auto *Choice = dyn_cast<PHINode>(Of.getUser());
      if (Choice && Halves.contains(Choice))
        continue;
      if (!Taken) {
        BasicBlock *Block = One.getParent();
        IRBuilder<> Build(Block, Block->getFirstInsertionPt());
        Taken = Down ? Build.CreateLShr(&Word, Down) : &Word;
        if (One.getType() != Taken->getType())
          Taken = Build.CreateBitCast(Build.CreateTrunc(Taken, Build.getInt16Ty()), One.getType());
      }
      // The word has bits above the half, which may be lost now.
      if (Taken == &Word)
        cast<Instruction>(Of.getUser())->dropPoisonGeneratingFlags();
      Of.set(Taken);
    }
  }

  const Loop *Around;
  MapVector<Key, PHINode *> Chosen;
  SmallPtrSet<PHINode *, 16> Halves;
};

} // namespace

PreservedAnalyses JoinHalves::run(Function &F, FunctionAnalysisManager &AM) {
  SmallVector<WeakTrackingVH, 16> Roots;
  TwoHalves Of;
  for (Instruction &I : instructions(F))
    if (putsTogether(I, Of) && Of.areChosen())
      Roots.push_back(&I);
  bool Changed = false;
  for (const WeakTrackingVH &Handle : Roots) {
    auto *Root = cast_or_null<Instruction>(static_cast<Value *>(Handle));
    if (!Root || !putsTogether(*Root, Of))
      continue;
    Value *Word = Of.isOneWord() ? Of.Lower.Of : nullptr;
    if (!Word && Of.areChosen())
      if (WordsOfHalves From(*Root->getParent(), AM.getResult<LoopAnalysis>(F)); From.find(Of))
        Word = From.make(Of);
    if (!Word)
      continue;
    Root->replaceAllUsesWith(Word);
    RecursivelyDeleteTriviallyDeadInstructions(Root);
    Changed = true;
  }
  return keptAfter(Changed);
}
