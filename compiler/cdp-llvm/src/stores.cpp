// Stores of what is there already.
//
// Of a record that is read, changed in part and written back, LLVM removes the stores of unchanged fields only where
// nothing is stored in between, not even the changed fields. A stack of such records in local memory is read and
// written with every step of a search.

#include "unroll.h"

#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace {

/// The load whose value a store writes back to where it came from; null when there is none.
const LoadInst *origin(const StoreInst &Store) {
  const auto *Load = dyn_cast<LoadInst>(Store.getValueOperand());
  bool Fits = Load && Store.isSimple() && Load->isSimple() && Load->getPointerOperand() == Store.getPointerOperand();
  return Fits ? Load : nullptr;
}

} // namespace

PreservedAnalyses DropSameStores::run(Function &F, FunctionAnalysisManager &AM) {
  SmallVector<StoreInst *, 8> Found;
  for (Instruction &I : instructions(F))
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && origin(*Store))
      Found.push_back(Store);
  if (Found.empty())
    return PreservedAnalyses::all();
  MemorySSA &Memory = AM.getResult<MemorySSAAnalysis>(F).getMSSA();
  MemorySSAWalker &Walker = *Memory.getWalker();
  SmallVector<StoreInst *, 8> Same;
  for (StoreInst *Store : Found) {
    // The last that may have written there is the same for both, so that nothing has in between.
    MemoryAccess *Read = Walker.getClobberingMemoryAccess(origin(*Store));
    auto *Written = cast<MemoryDef>(Memory.getMemoryAccess(Store));
    if (Walker.getClobberingMemoryAccess(Written->getDefiningAccess(), MemoryLocation::get(Store)) == Read)
      Same.push_back(Store);
  }
  // None makes another one needed: what is there stays there.
  for (StoreInst *Store : Same)
    Store->eraseFromParent();
  return keptAfter(!Same.empty());
}

// Stores at the ends of two branches become one, whose line is neither's. A call that does nothing and must not be
// merged, before and behind each store, is what passes stop at; code generation drops it.
PreservedAnalyses StoresApart::run(Function &F, FunctionAnalysisManager &) {
  SmallVector<StoreInst *, 32> Stores;
  for (Instruction &I : instructions(F))
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && !isa<AllocaInst>(getUnderlyingObject(Store->getPointerOperand())))
      Stores.push_back(Store);
  Function *Nothing = Intrinsic::getOrInsertDeclaration(F.getParent(), Intrinsic::sideeffect);
  for (StoreInst *Store : Stores)
    for (Instruction *Place : {static_cast<Instruction *>(Store), Store->getNextNode()})
      IRBuilder<>(Place).CreateCall(Nothing)->addFnAttr(Attribute::NoMerge);
  return keptAfter(!Stores.empty());
}
