// Sums of short numbers in whole registers, and distances of numbers by one instruction.
//
// LLVM computes what ends in 8 or 16 bits in as many, since NVPTX has such registers. The GPU has none: ptxas cuts each number to its
// size and puts it into the lower half of a register, where C had computed in `int`. What grows from such numbers (sums, differences,
// products, bits) has the same lower bits however wide it is computed, so that it is here as wide as a register, and cut where
// it ends.
//
// Of `abs(a - b)` of short numbers LLVM makes the larger less the smaller one, in 16 bits. PTX has an instruction for the
// distance of two numbers and a summand, which is one of the GPU's.

#include "unroll.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Most numbers that are looked at together.
constexpr size_t MostNumbers = 256;

bool isShort(const Type &T) { return T.isIntegerTy(8) || T.isIntegerTy(16); }

/// Whether the lower bits of a number depend on nothing but those of what it is made of.
bool growsFromLower(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::PHI:
  case Instruction::Select:
    return isShort(*I.getType());
  default:
    return false;
  }
}

/// Numbers that grow from each other.
struct Web {
  SmallSetVector<Instruction *, 16> Members;
  SmallDenseMap<Value *, Value *> Wide;

  bool isOperandOf(const Instruction &I, unsigned Number) const { return !isa<SelectInst>(I) || Number > 0; }

  /// All that is connected with a number; false where that is too much.
  bool gather(Instruction &First) {
    Members.insert(&First);
    for (size_t At = 0; At < Members.size(); At++) {
      Instruction *I = Members[At];
      auto Take = [&](Value *V) {
        if (auto *Next = dyn_cast<Instruction>(V); Next && growsFromLower(*Next) && Next->getType() == First.getType())
          Members.insert(Next);
      };
      for (const Use &Operand : I->operands())
        if (isOperandOf(*I, Operand.getOperandNo()))
          Take(Operand);
      for (const Use &U : I->uses())
        if (isOperandOf(*cast<Instruction>(U.getUser()), U.getOperandNo()))
          Take(U.getUser());
      if (Members.size() > MostNumbers)
        return false;
    }
    return true;
  }

  /// Whether something is computed, and all that it begins with lies in whole registers.
  bool pays() const {
    bool Sums = false, Begins = false;
    for (const Instruction *I : Members) {
      Sums |= I->getOpcode() == Instruction::Add || I->getOpcode() == Instruction::Sub || I->getOpcode() == Instruction::Mul;
      for (const Use &Operand : I->operands()) {
        const Value *V = Operand;
        if (!isOperandOf(*I, Operand.getOperandNo()) || isa<ConstantInt, UndefValue>(V) ||
            (isa<Instruction>(V) && Members.contains(const_cast<Instruction *>(cast<Instruction>(V)))))
          continue;
        if (!isa<TruncInst, ZExtInst, SExtInst>(V))
          return false;
        Begins |= isa<TruncInst>(V);
      }
    }
    return Sums && Begins;
  }

  /// A number that the web begins with, as wide as a register; what is above its own bits does not matter.
  Value *begin(Value *V, Type *Register) {
    if (auto *C = dyn_cast<ConstantInt>(V))
      return ConstantInt::getSigned(Register, C->getSExtValue());
    if (isa<UndefValue>(V))
      return isa<PoisonValue>(V) ? PoisonValue::get(Register) : UndefValue::get(Register);
    auto *Cut = cast<CastInst>(V);
    IRBuilder<> Build(Cut);
    Value *From = Cut->getOperand(0);
    return isa<SExtInst>(Cut) ? Build.CreateSExt(From, Register) : Build.CreateZExtOrTrunc(From, Register);
  }

  Value *wide(Value *V, Type *Register) {
    Value *&Found = Wide[V];
    if (!Found)
      Found = begin(V, Register);
    return Found;
  }

  void widen() {
    Type *Register = Type::getInt32Ty(Members.front()->getContext());
    for (Instruction *I : Members) {
      IRBuilder<> Build(I);
      if (auto *Phi = dyn_cast<PHINode>(I))
        Wide[I] = Build.CreatePHI(Register, Phi->getNumIncomingValues());
      else if (auto *Choice = dyn_cast<SelectInst>(I))
        Wide[I] = SelectInst::Create(Choice->getCondition(), PoisonValue::get(Register), PoisonValue::get(Register), "", I->getIterator());
      else
        Wide[I] = BinaryOperator::Create(cast<BinaryOperator>(I)->getOpcode(), PoisonValue::get(Register), PoisonValue::get(Register), "",
                                         I->getIterator());
      cast<Instruction>(Wide[I])->setDebugLoc(I->getDebugLoc());
    }
    for (Instruction *I : Members) {
      auto *To = cast<Instruction>(Wide[I]);
      if (auto *Phi = dyn_cast<PHINode>(I)) {
        for (unsigned At = 0; At < Phi->getNumIncomingValues(); At++)
          cast<PHINode>(To)->addIncoming(wide(Phi->getIncomingValue(At), Register), Phi->getIncomingBlock(At));
        continue;
      }
      for (unsigned At = isa<SelectInst>(I); At < I->getNumOperands(); At++)
        To->setOperand(At, wide(I->getOperand(At), Register));
    }
    for (Instruction *I : Members)
      cut(*I);
    for (Instruction *I : Members)
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
    for (Instruction *I : Members)
      I->eraseFromParent();
  }

  /// Gives what is made of a number elsewhere its lower bits.
  void cut(Instruction &I) {
    auto Elsewhere = [&](const Use &U) { return !Members.contains(cast<Instruction>(U.getUser())) || !isOperandOf(*cast<Instruction>(U.getUser()), U.getOperandNo()); };
    if (none_of(I.uses(), Elsewhere))
      return;
    auto *From = cast<Instruction>(Wide[&I]);
    IRBuilder<> Build(I.getContext());
    Build.SetInsertPoint(isa<PHINode>(From) ? &*From->getParent()->getFirstInsertionPt() : From->getNextNode());
    Value *Cut = Build.CreateTrunc(From, I.getType());
    I.replaceUsesWithIf(Cut, [&](Use &U) { return U.getUser() != Cut && Elsewhere(U); });
  }
};

/// Two numbers whose distance something is.
struct Distance {
  Value *One = nullptr, *Other = nullptr;
  bool Signed = true;
};

/// Of the forms that C's ways of saying it become. In those with a choice the difference that is chosen is never negative, so
/// that it does not matter whether the other one wraps.
std::optional<Distance> distanceOf(Instruction &I) {
  Distance D;
  if (!I.getType()->isIntegerTy(32))
    return std::nullopt;
  if (match(&I, m_Intrinsic<Intrinsic::abs>(m_OneUse(m_NSWSub(m_Value(D.One), m_Value(D.Other))), m_Value())))
    return D;
  if (match(&I, m_Sub(m_OneUse(m_SMax(m_Value(D.One), m_Value(D.Other))), m_OneUse(m_c_SMin(m_Deferred(D.One), m_Deferred(D.Other))))))
    return D;
  D.Signed = false;
  if (match(&I, m_Sub(m_OneUse(m_UMax(m_Value(D.One), m_Value(D.Other))), m_OneUse(m_c_UMin(m_Deferred(D.One), m_Deferred(D.Other))))))
    return D;
  CmpPredicate Less;
  Value *Left, *Right;
  if (!match(&I, m_Select(m_ICmp(Less, m_Value(Left), m_Value(Right)), m_OneUse(m_Sub(m_Value(D.One), m_Value(D.Other))),
                          m_OneUse(m_Sub(m_Deferred(D.Other), m_Deferred(D.One))))))
    return std::nullopt;
  bool Turned = Left == D.Other && Right == D.One;
  if ((Left != D.One || Right != D.Other) && !Turned)
    return std::nullopt;
  ICmpInst::Predicate Kind = Turned ? ICmpInst::getSwappedPredicate(Less) : static_cast<ICmpInst::Predicate>(Less);
  if (Kind != ICmpInst::ICMP_SGT && Kind != ICmpInst::ICMP_SGE && Kind != ICmpInst::ICMP_UGT && Kind != ICmpInst::ICMP_UGE)
    return std::nullopt;
  D.Signed = ICmpInst::isSigned(Kind);
  return D;
}

/// Writes a distance, with the number that it is added to if that is all that is done with it.
void writeDistance(Instruction &I, const Distance &D) {
  Instruction *Sum = I.hasOneUse() ? dyn_cast<BinaryOperator>(I.user_back()) : nullptr;
  if (Sum && (Sum->getOpcode() != Instruction::Add || Sum->getParent() != I.getParent()))
    Sum = nullptr;
  Instruction *At = Sum ? Sum : &I;
  IRBuilder<> Build(At);
  Value *To = Sum ? Sum->getOperand(Sum->getOperand(0) == &I) : Build.getInt32(0);
  Intrinsic::ID Name = D.Signed ? Intrinsic::nvvm_sad_i : Intrinsic::nvvm_sad_ui;
  At->replaceAllUsesWith(Build.CreateIntrinsic(Name, {D.One, D.Other, To}));
  RecursivelyDeleteTriviallyDeadInstructions(At);
}

bool widenSums(Function &F) {
  SmallPtrSet<Instruction *, 32> Seen;
  SmallVector<Web, 4> Webs;
  for (Instruction &I : instructions(F)) {
    if (!growsFromLower(I) || isa<PHINode, SelectInst>(I) || Seen.contains(&I))
      continue;
    Web Found;
    bool Whole = Found.gather(I);
    Seen.insert(Found.Members.begin(), Found.Members.end());
    if (Whole && Found.pays())
      Webs.push_back(std::move(Found));
  }
  for (Web &Found : Webs)
    Found.widen();
  return !Webs.empty();
}

bool joinDistances(Function &F) {
  SmallVector<WeakTrackingVH, 16> Found;
  for (Instruction &I : instructions(F))
    if (distanceOf(I))
      Found.push_back(&I);
  bool Changed = false;
  for (WeakTrackingVH &At : Found)
    if (auto *I = dyn_cast_or_null<Instruction>(At))
      if (auto D = distanceOf(*I)) {
        writeDistance(*I, *D);
        Changed = true;
      }
  return Changed;
}

} // namespace

PreservedAnalyses WidenShorts::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = widenSums(F);
  Changed |= joinDistances(F);
  return keptAfter(Changed);
}
