// What `added.cpp` knows of values, and of instructions by themselves.
//
// It is part of `added.cpp` alone.

#include "../../axes.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include <map>
#include <optional>

using namespace llvm;

namespace added {
namespace {

using Op = AtomicRMWInst::BinOp;
constexpr unsigned Shared = 3;
/// Instructions that are run before a block is given up.
constexpr unsigned MostSteps = 400000;

/// What a value is in one thread.
struct Known {
  enum { Nothing, Number, Place, Sum } Kind = Nothing;
  Constant *Of = nullptr;           // a number
  const GlobalVariable *In = nullptr; // a place: a variable of the block, and bytes from its beginning
  int64_t At = 0;
  StoreInst *By = nullptr;          // a sum: the store that put its parts there, in which threads
  BitVector Who;
  std::optional<Op> How;            // none for one part alone

  bool isZero() const { return Kind == Number && Of->isNullValue(); }
};

Known number(Constant *Of) {
  Known Result;
  Result.Kind = Known::Number;
  Result.Of = Of;
  return Result;
}

std::optional<unsigned> axisOfThread(const Instruction &I) { return axisOf(I, Intrinsic::nvvm_read_ptx_sreg_tid_x); }
std::optional<unsigned> axisOfSize(const Instruction &I) { return axisOf(I, Intrinsic::nvvm_read_ptx_sreg_ntid_x); }

bool isBarrier(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call || Call->getIntrinsicID() != Intrinsic::nvvm_barrier_cta_sync_aligned_all)
    return false;
  const auto *Which = dyn_cast<ConstantInt>(Call->getArgOperand(0));
  return Which && Which->isZero();
}

bool leadsToShared(const Value *V, unsigned Depth = 0) {
  if (const auto *Variable = dyn_cast<GlobalVariable>(V))
    return Variable->getAddressSpace() == Shared;
  const auto *Expression = dyn_cast<Constant>(V);
  if (!Expression || isa<GlobalValue>(V) || Depth > 8)
    return false;
  return any_of(Expression->operands(), [&](const Use &U) { return leadsToShared(U, Depth + 1); });
}

bool isOfBlock(const Instruction &I) {
  return isBarrier(I) || any_of(I.operands(), [](const Use &U) { return leadsToShared(U); });
}

/// The operation that puts two sums together, if an instruction is one.
std::optional<Op> operation(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::Add: return Op::Add;
  case Instruction::And: return Op::And;
  case Instruction::Or: return Op::Or;
  case Instruction::Xor: return Op::Xor;
  default: break;
  }
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  switch (Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::smax: return Op::Max;
  case Intrinsic::smin: return Op::Min;
  case Intrinsic::umax: return Op::UMax;
  case Intrinsic::umin: return Op::UMin;
  default: return std::nullopt;
  }
}

/// What changes nothing.
Constant *identity(Op How, Type *Ty) {
  const unsigned Bits = Ty->getIntegerBitWidth();
  switch (How) {
  case Op::And:
  case Op::UMin: return ConstantInt::get(Ty, APInt::getAllOnes(Bits));
  case Op::Max: return ConstantInt::get(Ty, APInt::getSignedMinValue(Bits));
  case Op::Min: return ConstantInt::get(Ty, APInt::getSignedMaxValue(Bits));
  default: return ConstantInt::get(Ty, 0);
  }
}

} // namespace
} // namespace added
