// Atomic updates of one block's own, with the scope that they ask for.
//
// LLVM's NVPTX back end writes `atomicrmw` and `cmpxchg` for the whole device whatever their scope is. That is
// correct and stronger; but nvcc's text says `.cta`, and a checker of races cannot see that `atomicAdd_block` on
// a counter of all blocks is one when the text does not. Updates of shared memory are left to LLVM: only
// its block has it, but for clusters, whose programs ask for their scope.

#include "scope.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace {
namespace scope {

constexpr unsigned Generic = 0, Global = 1;

/// PTX's operation and type of an update (PTX ISA, `atom`); empty for those that PTX has not.
std::string operation(const Instruction &I, unsigned Bits) {
  const auto Of = [&](StringRef Name, char Kind) { return (Name + "." + Twine(Kind) + Twine(Bits)).str(); };
  if (isa<AtomicCmpXchgInst>(I))
    return Of("cas", 'b');
  switch (cast<AtomicRMWInst>(I).getOperation()) {
  case AtomicRMWInst::Xchg:
    return Of("exch", 'b');
  case AtomicRMWInst::Add:
    return Of("add", 'u');
  case AtomicRMWInst::FAdd:
    return Of("add", 'f');
  case AtomicRMWInst::And:
    return Of("and", 'b');
  case AtomicRMWInst::Or:
    return Of("or", 'b');
  case AtomicRMWInst::Xor:
    return Of("xor", 'b');
  case AtomicRMWInst::Min:
    return Of("min", 's');
  case AtomicRMWInst::Max:
    return Of("max", 's');
  case AtomicRMWInst::UMin:
    return Of("min", 'u');
  case AtomicRMWInst::UMax:
    return Of("max", 'u');
  case AtomicRMWInst::UIncWrap:
    return Bits == 32 ? "inc.u32" : "";
  case AtomicRMWInst::UDecWrap:
    return Bits == 32 ? "dec.u32" : "";
  default:
    return "";
  }
}

/// The space that an address is of, as far as it can be seen from where it comes.
unsigned spaceOf(const Value *Address) {
  unsigned Space = Address->getType()->getPointerAddressSpace();
  if (Space != Generic)
    return Space;
  const Value *Object = getUnderlyingObject(Address);
  while (const auto *Cast = dyn_cast<Operator>(Object)) {
    if (Cast->getOpcode() != Instruction::AddrSpaceCast)
      break;
    Object = getUnderlyingObject(Cast->getOperand(0));
  }
  if (const auto *Parameter = dyn_cast<Argument>(Object))
    if (Parameter->getParent()->getCallingConv() == CallingConv::PTX_Kernel && !Parameter->hasByValAttr())
      return Global;
  return Object->getType()->isPointerTy() ? Object->getType()->getPointerAddressSpace() : Generic;
}

/// A relaxed update for its block: its address, where it is what this file is about.
Value *addressOf(Instruction &I, SyncScope::ID Block) {
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return Update->getSyncScopeID() == Block && Update->getOrdering() == AtomicOrdering::Monotonic
               ? Update->getPointerOperand()
               : nullptr;
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return Swap->getSyncScopeID() == Block && Swap->getMergedOrdering() == AtomicOrdering::Monotonic
               ? Swap->getPointerOperand()
               : nullptr;
  return nullptr;
}

void rewrite(Instruction &I, Value *Address) {
  auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I);
  Value *Operand = Swap ? Swap->getNewValOperand() : cast<AtomicRMWInst>(I).getValOperand();
  Type *Kind = Operand->getType();
  unsigned Space = spaceOf(Address);
  bool Number = Kind->isIntegerTy(32) || Kind->isIntegerTy(64) || Kind->isFloatTy() || Kind->isDoubleTy();
  if (!Number || (Space != Generic && Space != Global))
    return;
  unsigned Bits = Kind->getScalarSizeInBits();
  std::string Operation = operation(I, Bits);
  if (Operation.empty())
    return;
  IRBuilder<> Build(&I);
  if (Space == Global)
    Address = Build.CreateAddrSpaceCast(Address, Build.getPtrTy(Global));
  SmallVector<Value *, 3> Operands{Address};
  if (Swap)
    Operands.push_back(Swap->getCompareOperand());
  Operands.push_back(Operand);
  StringRef Letter = Kind->isFloatTy() ? "f" : Kind->isDoubleTy() ? "d" : Bits == 32 ? "r" : "l";
  StringRef Pointer = I.getDataLayout().getPointerSizeInBits(Space) == 32 ? ",r" : ",l";
  std::string Text = std::string("atom") + (Space == Global ? ".global" : "") + ".cta." + Operation + " $0, [$1]";
  std::string Constraints = ("=" + Letter + Pointer).str();
  SmallVector<Type *, 3> Types{Address->getType()};
  for (unsigned At = 1; At < Operands.size(); ++At) {
    Text += ", $" + std::to_string(At + 1);
    Constraints += ("," + Letter).str();
    Types.push_back(Kind);
  }
  auto *Call = Build.CreateCall(
      InlineAsm::get(FunctionType::get(Kind, Types, false), Text + ";", Constraints + ",~{memory}", true), Operands);
  Call->setDoesNotThrow();
  Call->setDebugLoc(I.getDebugLoc());
  Value *Old = Call;
  if (Swap) {
    Value *Same = Build.CreateICmpEQ(Call, Swap->getCompareOperand());
    Old = Build.CreateInsertValue(PoisonValue::get(I.getType()), Call, 0);
    Old = Build.CreateInsertValue(Old, Same, 1);
  }
  I.replaceAllUsesWith(Old);
  I.eraseFromParent();
}

} // namespace scope
} // namespace

void writeBlockScopes(Function &F) {
  SyncScope::ID Block = F.getContext().getOrInsertSyncScopeID("block");
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (Value *Address = scope::addressOf(I, Block))
      scope::rewrite(I, Address);
}
