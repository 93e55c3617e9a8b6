// Atomic updates as LLVM's NVPTX back end does not write them.
//
// Those of one block's own have the scope that they ask for. The back end writes `atomicrmw` and `cmpxchg` for the whole
// device whatever their scope is. That is correct and stronger; but nvcc's text says `.cta`, and a checker of races cannot
// see that `atomicAdd_block` on a counter of all blocks is one when the text does not. Updates of shared memory are left to
// LLVM: only its block has it, but for clusters, whose programs ask for their scope.
//
// A swap of 16 bits is an instruction from sm_70 on, where the back end writes a loop around one of 32. Of a barrier behind that
// loop, in a program with much else, ptxas 13.0 has been seen not to bring the warp together (compiler/docs/reliability.md).

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

constexpr unsigned Generic = 0, Global = 1, Shared = 3;

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

/// A relaxed update.
struct Update {
  Value *Address;
  Value *Operand;
  SyncScope::ID For;
};

/// What an instruction updates; no address where it does not, or asks for an order.
Update updateOf(Instruction &I) {
  if (auto *One = dyn_cast<AtomicRMWInst>(&I); One && One->getOrdering() == AtomicOrdering::Monotonic)
    return {One->getPointerOperand(), One->getValOperand(), One->getSyncScopeID()};
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I); Swap && Swap->getMergedOrdering() == AtomicOrdering::Monotonic)
    return {Swap->getPointerOperand(), Swap->getNewValOperand(), Swap->getSyncScopeID()};
  return {};
}

/// Whether it is an update that this file is about, and LLVM writes otherwise.
bool isOurs(const Update &Of, bool Swaps, const char *Scope, unsigned Space, const AtomicSupport &Known) {
  Type *Kind = Of.Operand->getType();
  if (Kind->isIntegerTy(16))
    return Swaps && Known.ShortSwaps && (Space == Generic || Space == Global || Space == Shared);
  bool Number = Kind->isIntegerTy(32) || Kind->isIntegerTy(64) || Kind->isFloatTy() || Kind->isDoubleTy();
  return Number && StringRef(Scope) == "cta" && (Space == Generic || Space == Global);
}

void rewrite(Instruction &I, const Update &Of, const char *Scope, const AtomicSupport &Known) {
  Value *Address = Of.Address, *Operand = Of.Operand;
  auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I);
  Type *Kind = Operand->getType();
  unsigned Space = spaceOf(Address);
  if (!isOurs(Of, Swap, Scope, Space, Known))
    return;
  unsigned Bits = Kind->getScalarSizeInBits();
  std::string Operation = operation(I, Bits);
  if (Operation.empty())
    return;
  IRBuilder<> Build(&I);
  if (Space != Generic)
    Address = Build.CreateAddrSpaceCast(Address, Build.getPtrTy(Space));
  SmallVector<Value *, 3> Operands{Address};
  if (Swap)
    Operands.push_back(Swap->getCompareOperand());
  Operands.push_back(Operand);
  StringRef Letter = Kind->isFloatTy() ? "f" : Kind->isDoubleTy() ? "d" : Bits == 16 ? "h" : Bits == 32 ? "r" : "l";
  StringRef In = Space == Global ? ".global." : Space == Shared ? ".shared." : ".";
  StringRef Pointer = I.getDataLayout().getPointerSizeInBits(Space) == 32 ? ",r" : ",l";
  std::string Text = ("atom" + In + Scope + "." + Operation + " $0, [$1]").str();
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

void writeAtomics(Function &F, const AtomicSupport &Known) {
  SyncScope::ID Block = F.getContext().getOrInsertSyncScopeID("block");
  SyncScope::ID Device = F.getContext().getOrInsertSyncScopeID("device");
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    scope::Update Of = scope::updateOf(I);
    const char *Scope = Of.For == Block               ? "cta"
                        : Of.For == Device            ? "gpu"
                        : Of.For == SyncScope::System ? "sys"
                                                      : nullptr;
    if (Of.Address && Scope)
      scope::rewrite(I, Of, Scope, Known);
  }
}
