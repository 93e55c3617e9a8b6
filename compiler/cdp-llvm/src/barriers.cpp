// Barriers behind loops in which lanes of a warp wait for each other.
//
// ptxas has a loop with an atomic operation say `YIELD`, and lanes that wait at the end of a branch for one that says it go on without
// it (compiler/docs/facts.md). They come to a barrier apart. `bar.sync` says that lanes are together there, and mostly ptxas has them meet in
// front of it (`WARPSYNC.ALL`), but not always: then what it computes behind the barrier in registers that a warp shares, as the sum of
// lanes that add to one word, is that of some of the lanes (compiler/docs/reliability.md, 10100070). `barrier.sync` does not say so, and ptxas asks
// at each whether lanes are apart, and has them meet then (eight histograms and two other kernels take as long as before, within 2 %, on an H200).

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

} // namespace

bool partBarriers(Function &F, const LoopInfo &Loops) {
  if (Loops.empty() || none_of(instructions(F), [](const Instruction &I) { return forLanesApart(I) != Intrinsic::not_intrinsic; }))
    return false;
  // Whether lanes may be apart at the end of a block.
  DenseMap<const BasicBlock *, bool> Apart;
  SmallVector<IntrinsicInst *, 8> Found;
  auto Walk = [&](BasicBlock &Block, bool Collect) {
    bool Now = any_of(predecessors(&Block), [&](const BasicBlock *Before) { return Apart.lookup(Before); });
    for (Instruction &I : Block)
      if (Loops.getLoopFor(&Block) && isAtomic(I))
        Now = true;
      else if (forLanesApart(I) != Intrinsic::not_intrinsic) {
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
  for (IntrinsicInst *Barrier : Found)
    Barrier->setCalledFunction(Intrinsic::getOrInsertDeclaration(F.getParent(), forLanesApart(*Barrier)));
  return !Found.empty();
}
