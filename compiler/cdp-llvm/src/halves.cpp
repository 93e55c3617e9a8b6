// Products of 64 bits whose lower half is zero, computed in 32 bits.
//
// A product by a constant whose lower half is zero has one too, and its upper half is the product of the lower half of the one and the
// upper half of the other: LLVM makes such constants where a step of a random sequence is shifted to what is asked of it (`(long long)(x *
// 6364136223846793005ull >> 23)` in 17 bits). With a constant to add, ptxas 13.0 computes it by `IMAD.HI.U32 R, RZ, R, UR`, and keeps one
// of two such instructions that differ in the upper half of what they add only: 10228034 in compiler/docs/reliability.md.
// Here it is a product and a sum of 32 bits, which is an instruction less, too.

#include "steps.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned Half = 32;

/// The upper half of a constant of 64 bits whose lower one is zero.
bool hasUpperOnly(const APInt &Of) { return Of.getBitWidth() == 2 * Half && Of.countr_zero() >= Half; }

uint32_t upper(const APInt &Of) { return Of.extractBitsAsZExtValue(Half, Half); }

/// Writes a product, and the sums that it alone goes into, as the upper half of what they are.
void multiplyUpper(Instruction &Product, Value *Of, uint32_t By) {
  IRBuilder<> Build(&Product);
  Value *Upper = Build.CreateMul(Build.CreateTrunc(Of, Build.getInt32Ty()), Build.getInt32(By));
  Instruction *Last = &Product;
  const APInt *More;
  while (Last->hasOneUse() && match(Last->user_back(), m_Add(m_Specific(Last), m_APInt(More))) && hasUpperOnly(*More)) {
    Last = Last->user_back();
    Build.SetInsertPoint(Last);
    Upper = Build.CreateAdd(Upper, Build.getInt32(upper(*More)));
  }
  Last->replaceAllUsesWith(Build.CreateShl(Build.CreateZExt(Upper, Build.getInt64Ty()), Half));
}

} // namespace

bool multiplyHalves(Function &F) {
  SmallVector<Instruction *, 8> Found;
  Value *Of;
  const APInt *By;
  for (Instruction &I : instructions(F))
    if (match(&I, m_Mul(m_Value(Of), m_APInt(By))) && I.getType()->isIntegerTy(2 * Half) && hasUpperOnly(*By))
      Found.push_back(&I);
  for (Instruction *I : Found)
    if (match(I, m_Mul(m_Value(Of), m_APInt(By))))
      multiplyUpper(*I, Of, upper(*By));
  return !Found.empty();
}
