// Numbers of a sequence that each come from the one before: `s = s * a + c`.
//
// Where several follow each other, as in an unrolled loop, instruction selection computes each from the first, with a
// factor and a summand of its own. These are constants, of which a multiplication of the GPU holds one: the other takes
// an instruction (twelve numbers a step took 1.2 times as long on an H200). The order of the source is kept here: the
// factor is brought into a register once, by an instruction that LLVM does not look into and ptxas does.

#include "unroll.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Whether a number is multiplied that was made by a multiplication and an addition in the same block, and is used
/// elsewhere as well.
bool goesOn(const Instruction &Product) {
  const auto *Sum = dyn_cast<Instruction>(Product.getOperand(0));
  Instruction *Before;
  return Sum && Sum->getParent() == Product.getParent() && !Sum->hasOneUse() &&
         match(Sum, m_Add(m_Instruction(Before), m_ConstantInt())) &&
         Before->getParent() == Product.getParent() && match(Before, m_Mul(m_Value(), m_ConstantInt()));
}

/// A constant in a register, of 32 or 64 bits.
Value *inRegister(Function &F, ConstantInt *Number) {
  bool Wide = Number->getBitWidth() == 64;
  IRBuilder<> Build(&F.getEntryBlock(), F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto *Type = FunctionType::get(Number->getType(), {Number->getType()}, false);
  auto *Move = InlineAsm::get(Type, Wide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", Wide ? "=l,n" : "=r,n", false);
  CallInst *Call = Build.CreateCall(Move, {Number});
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  return Call;
}

} // namespace

PreservedAnalyses KeepChains::run(Function &F, FunctionAnalysisManager &) {
  MapVector<ConstantInt *, SmallVector<Instruction *, 8>> Found;
  for (Instruction &I : instructions(F))
    if (ConstantInt *Factor; match(&I, m_Mul(m_Value(), m_ConstantInt(Factor))) && goesOn(I) &&
                             (Factor->getBitWidth() == 32 || Factor->getBitWidth() == 64))
      Found[Factor].push_back(&I);
  for (auto &[Factor, Products] : Found) {
    Value *Register = inRegister(F, Factor);
    for (Instruction *Product : Products)
      Product->setOperand(1, Register);
  }
  return keptAfter(!Found.empty());
}
