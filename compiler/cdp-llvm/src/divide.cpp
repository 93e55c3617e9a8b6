// Unsigned divisions by constants, as multiplications of 32 by 32 bits to 64.
//
// LLVM multiplies for the upper half alone, which takes a GPU of today twice as long as the whole product
// (`IMAD.HI` against `IMAD.WIDE`; digits of decimal numbers: 1.09 times). nvcc takes the whole product for
// unsigned divisions too, and the upper half for signed ones.

#include "unroll.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/DivisionByConstantInfo.h"

using namespace llvm;

namespace {

/// The divisor, when it takes a multiplication.
const ConstantInt *divisorOf(const Instruction &I) {
  if (I.getOpcode() != Instruction::UDiv && I.getOpcode() != Instruction::URem)
    return nullptr;
  const auto *Divisor = dyn_cast<ConstantInt>(I.getOperand(1));
  if (!Divisor || !I.getType()->isIntegerTy(32))
    return nullptr;
  const APInt &By = Divisor->getValue();
  return By.ugt(1) && !By.isPowerOf2() ? Divisor : nullptr;
}

Value *quotient(IRBuilder<> &Build, Value *Number, const APInt &By) {
  auto Magic = UnsignedDivisionByConstantInfo::get(By);
  Type *Narrow = Number->getType(), *Wide = Build.getInt64Ty();
  Value *Shifted = Magic.PreShift ? Build.CreateLShr(Number, Magic.PreShift) : Number;
  Value *Product = Build.CreateMul(Build.CreateZExt(Shifted, Wide),
                                   Build.getInt64(Magic.Magic.getZExtValue()), "", /*NUW=*/true);
  if (!Magic.IsAdd)
    return Build.CreateTrunc(Build.CreateLShr(Product, 32 + Magic.PostShift), Narrow);
  // The multiplier has 33 bits: the product with the highest one is added without overflow.
  Value *Upper = Build.CreateTrunc(Build.CreateLShr(Product, 32), Narrow);
  Value *Half = Build.CreateLShr(Build.CreateSub(Number, Upper), 1);
  return Build.CreateLShr(Build.CreateAdd(Half, Upper), Magic.PostShift);
}

} // namespace

PreservedAnalyses DivideWide::run(Function &F, FunctionAnalysisManager &) {
  SmallVector<Instruction *, 8> Found;
  for (Instruction &I : instructions(F))
    if (divisorOf(I))
      Found.push_back(&I);
  for (Instruction *I : Found) {
    IRBuilder<> Build(I);
    // It is used several times, each of which must see the same.
    Value *Number = Build.CreateFreeze(I->getOperand(0));
    Value *Result = quotient(Build, Number, divisorOf(*I)->getValue());
    if (I->getOpcode() == Instruction::URem)
      Result = Build.CreateSub(Number, Build.CreateMul(Result, I->getOperand(1)));
    I->replaceAllUsesWith(Result);
    I->eraseFromParent();
  }
  return keptAfter(!Found.empty());
}
