// Steps of pointers that move, as products of 32 by 32 bits.
//
// A pointer of a loop that goes on by a step that is not known (`a[i * n + column]` over `i`) has a step of 64 bits,
// widened, multiplied by the size of an element and negated in front of the loop. ptxas adds such a step in two
// instructions, whose results it keeps apart and puts together for each access with two more. If it sees that the step
// is the product of a number of 32 bits with a constant, it multiplies and adds in one (`IMAD.WIDE`), as often as the pointer
// moves: nvcc's PTX has its steps so (a product of a matrix's columns with a vector took 1.04 times as long on an H200). It sees that in
// one instruction, `mul.wide`, of which instruction selection makes shifts and negations, or nothing where the number is widened in
// another block. So it is written here, after loop strength reduction, which makes many of these pointers.

#include "steps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// A number of 32 bits, widened with its sign or without, and what it is multiplied by.
struct Product {
  Value *Narrow;
  bool Signed;
  int64_t Factor;
};

/// The deepest chain of products that is looked through.
constexpr unsigned LongestChain = 4;

/// A value of 64 bits as such a product; without a number where it is none.
Product productOf(Value *V, int64_t Factor, unsigned Left) {
  Value *Of;
  const APInt *By;
  if (match(V, m_ZExt(m_Value(Of))) && Of->getType()->isIntegerTy(32))
    return {Of, cast<ZExtInst>(V)->hasNonNeg(), Factor};
  if (match(V, m_SExt(m_Value(Of))) && Of->getType()->isIntegerTy(32))
    return {Of, true, Factor};
  int64_t Next = 0;
  bool Fits = Left && ((match(V, m_Shl(m_Value(Of), m_APInt(By))) && By->ult(32) &&
                        !MulOverflow(Factor, int64_t(1) << By->getZExtValue(), Next)) ||
                       (match(V, m_Mul(m_Value(Of), m_APInt(By))) && By->isSignedIntN(32) &&
                        !MulOverflow(Factor, By->getSExtValue(), Next)) ||
                       (match(V, m_Neg(m_Value(Of))) && !MulOverflow(Factor, int64_t(-1), Next)));
  return Fits ? productOf(Of, Next, Left - 1) : Product{nullptr, false, 0};
}

/// Whether the constant is an operand of `mul.wide`.
bool isFactor(const Product &P) {
  return P.Narrow && !isa<Constant>(P.Narrow) && (P.Signed ? isInt<32>(P.Factor) : isUInt<32>(P.Factor));
}

/// The step of a pointer that moves in a loop, in elements of `Bytes`; null for other addresses.
Instruction *stepOf(const GetElementPtrInst &Place, const LoopInfo &Loops, int64_t &Bytes) {
  const Loop *L = Loops.getLoopFor(Place.getParent());
  if (!L || Place.getNumIndices() != 1 || L->isLoopInvariant(Place.getPointerOperand()))
    return nullptr;
  auto *Step = dyn_cast<Instruction>(Place.getOperand(1));
  TypeSize Size = Place.getDataLayout().getTypeAllocSize(Place.getSourceElementType());
  if (!Step || !Step->getType()->isIntegerTy(64) || L->contains(Step) || Size.isScalable())
    return nullptr;
  Bytes = int64_t(Size.getFixedValue());
  return Step;
}

} // namespace

bool multiplySteps(Function &F, const LoopInfo &Loops) {
  // By the step and the size of an element, what is added to addresses.
  MapVector<std::pair<Instruction *, int64_t>, SmallVector<GetElementPtrInst *, 8>> Found;
  for (BasicBlock &Block : F)
    for (Instruction &I : Block)
      if (auto *Place = dyn_cast<GetElementPtrInst>(&I)) {
        int64_t Bytes = 0;
        Instruction *Step = stepOf(*Place, Loops, Bytes);
        if (Step && isFactor(productOf(Step, Bytes, LongestChain)))
          Found[{Step, Bytes}].push_back(Place);
      }
  for (auto &[Key, Places] : Found) {
    auto [Step, Bytes] = Key;
    Product P = productOf(Step, Bytes, LongestChain);
    IRBuilder<> Build(Step->getParent(), std::next(Step->getIterator()));
    auto *Type = FunctionType::get(Step->getType(), {P.Narrow->getType(), Build.getInt32Ty()}, false);
    StringRef Text = P.Signed ? "mul.wide.s32 $0, $1, $2;" : "mul.wide.u32 $0, $1, $2;";
    CallInst *Added = Build.CreateCall(InlineAsm::get(Type, Text, "=l,r,n", false), {P.Narrow, Build.getInt32(uint32_t(P.Factor))});
    Added->setDoesNotAccessMemory();
    Added->setDoesNotThrow();
    for (GetElementPtrInst *Place : Places) {
      Build.SetInsertPoint(Place);
      Place->replaceAllUsesWith(Build.CreatePtrAdd(Place->getPointerOperand(), Added));
      Place->eraseFromParent();
    }
  }
  return !Found.empty();
}
