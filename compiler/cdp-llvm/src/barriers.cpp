// Barriers and exchanges of a warp that its lanes may come to apart, though ptxas takes them to be together.
//
// ptxas has a loop with an atomic operation say `YIELD`, and lanes that wait at the end of a branch for one that says it go on without
// it (compiler/docs/facts.md). They come to a barrier apart. `bar.sync` says that lanes are together there, and mostly ptxas has them meet in
// front of it (`WARPSYNC.ALL`), but not always: then what it computes behind the barrier in registers that a warp shares, as the sum of
// lanes that add to one word, is that of some of the lanes (compiler/docs/reliability.md, 10100070). `barrier.sync` does not say so, and ptxas asks
// at each whether lanes are apart, and has them meet then (eight histograms and two other kernels take as long as before, within 2 %, on an H200).
//
// Nor do lanes always meet behind a call. Functions that call others under a condition keep the register in which a warp remembers who waits for
// whom, and lanes that call different ones at once write it for each other. ptxas does not ask behind the call, and a shuffle of all lanes is one of
// some (10133086). With a mask that it does not know it does ask.

#include "places.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// Whether an instruction is an atomic operation.
bool isAtomic(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  const auto *Text = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(I) || (Text && StringRef(Text->getAsmString()).contains("atom"));
}

/// The barrier that does not say that lanes are together, for one that says it.
Intrinsic::ID forLanesApart(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  switch (Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
    return Intrinsic::nvvm_barrier_cta_sync_all;
  case Intrinsic::nvvm_barrier_cta_sync_aligned_count:
    return Intrinsic::nvvm_barrier_cta_sync_count;
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
    return Intrinsic::nvvm_barrier_cta_red_and_all;
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
    return Intrinsic::nvvm_barrier_cta_red_or_all;
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
    return Intrinsic::nvvm_barrier_cta_red_popc_all;
  default:
    return Intrinsic::not_intrinsic;
  }
}

/// The mask of an exchange of all lanes of a warp; null for other instructions, and where the mask is another one, about which ptxas asks.
Use *maskOfAll(Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return nullptr;
  StringRef Name = Intrinsic::getBaseName(Call->getIntrinsicID());
  bool Reduces = Name.starts_with("llvm.nvvm.redux.sync.");
  bool First = Name.starts_with("llvm.nvvm.shfl.sync.") || Name.starts_with("llvm.nvvm.match.") || Name == "llvm.nvvm.bar.warp.sync" ||
               (Name.starts_with("llvm.nvvm.vote.") && Name.ends_with(".sync"));
  if (!Reduces && !First)
    return nullptr;
  Use &Mask = Call->getArgOperandUse(Reduces);
  const auto *Known = dyn_cast<ConstantInt>(Mask);
  return Known && Known->isMinusOne() ? &Mask : nullptr;
}

/// All lanes, in a way that ptxas does not see through.
Value *unknownMask(Instruction &Before) {
  Type *Word = Type::getInt32Ty(Before.getContext());
  auto *Text = InlineAsm::get(FunctionType::get(Word, false),
                              "{ .reg .b32 below; mov.u32 below, %lanemask_lt; mov.u32 $0, %lanemask_ge; or.b32 $0, $0, below; }", "=r",
                              /*hasSideEffects=*/false);
  return CallInst::Create(Text, "", Before.getIterator());
}

/// Whether lanes may come back from a call apart: of a function that nobody knows, or that calls others itself.
bool comesBackApart(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call) || Call->isInlineAsm())
    return false;
  const Function *Called = Call->getCalledFunction();
  return !Called || Called->isDeclaration() || any_of(instructions(*Called), [](const Instruction &Inner) {
    const auto *Deeper = dyn_cast<CallBase>(&Inner);
    return Deeper && !isa<IntrinsicInst>(Deeper) && !Deeper->isInlineAsm();
  });
}

} // namespace

bool partBarriers(Function &F, const LoopInfo &Loops) {
  if (none_of(instructions(F), [](Instruction &I) { return forLanesApart(I) != Intrinsic::not_intrinsic || maskOfAll(I); }))
    return false;
  bool IsKernel = F.getCallingConv() == CallingConv::PTX_Kernel;
  // Whether lanes may be apart at the end of a block.
  DenseMap<const BasicBlock *, bool> Apart;
  SmallVector<IntrinsicInst *, 8> Found;
  auto Walk = [&](BasicBlock &Block, bool Collect) {
    // Who calls a function may come from such a call.
    bool Now = Block.isEntryBlock() ? !IsKernel : any_of(predecessors(&Block), [&](const BasicBlock *Before) { return Apart.lookup(Before); });
    for (Instruction &I : Block)
      if ((Loops.getLoopFor(&Block) && isAtomic(I)) || comesBackApart(I))
        Now = true;
      else if (forLanesApart(I) != Intrinsic::not_intrinsic || maskOfAll(I)) {
        if (Now && Collect)
          Found.push_back(cast<IntrinsicInst>(&I));
        Now = false;
      }
    bool &Known = Apart[&Block], IsNew = Now && !Known;
    Known |= Now;
    return IsNew;
  };
  ReversePostOrderTraversal<Function *> Order(&F);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (BasicBlock *Block : Order)
      Changed |= Walk(*Block, false);
  }
  for (BasicBlock *Block : Order)
    Walk(*Block, true);
  for (IntrinsicInst *Meeting : Found)
    if (Use *Mask = maskOfAll(*Meeting))
      Mask->set(unknownMask(*Meeting));
    else
      Meeting->setCalledFunction(Intrinsic::getOrInsertDeclaration(F.getParent(), forLanesApart(*Meeting)));
  return !Found.empty();
}
