// What several branches end with, in each of them.
//
// Of `if (up) { if (a > b) swap } else { if (a < b) swap }` LLVM makes one exchange, which both conditions lead to. On a GPU that is
// worse: the lanes that come to it from both sides have to wait for each other first, so that ptxas makes regions that are left in the
// middle, where two short bodies would be executed under predicates (a sorting network in shared memory took 1.45 times as
// long on an H200). Each condition gets the body of its own back, as it stands in nvcc's PTX.

#include "unroll.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace {

/// Most instructions of a body that is copied, and most copies.
constexpr unsigned LongestTail = 8, MostTails = 4;

/// Whether a block is the body of several conditions that each lead past it else, and only stores what is known before it.
bool isTail(const BasicBlock &Tail) {
  const auto *End = dyn_cast<BranchInst>(Tail.getTerminator());
  if (!End || End->isConditional() || Tail.size() > LongestTail || isa<PHINode>(Tail.front()))
    return false;
  const BasicBlock *Next = End->getSuccessor(0);
  auto IsUsedHere = [&](const Instruction &I) {
    return none_of(I.users(), [&](const User *Of) { return cast<Instruction>(Of)->getParent() != &Tail; });
  };
  auto IsSimple = [&](const Instruction &I) {
    return I.isTerminator() || (!isa<CallBase>(I) && !I.mayReadFromMemory() && IsUsedHere(I));
  };
  auto LeadsPast = [&](const BasicBlock *From) {
    const auto *Branch = dyn_cast<BranchInst>(From->getTerminator());
    return Branch && Branch->isConditional() && Branch->getSuccessor(0) != Branch->getSuccessor(1) &&
           is_contained(Branch->successors(), Next);
  };
  bool Stores = any_of(Tail, [](const Instruction &I) { return isa<StoreInst>(I); });
  return Stores && Next != &Tail && pred_size(&Tail) > 1 && pred_size(&Tail) <= MostTails && all_of(Tail, IsSimple) &&
         all_of(predecessors(&Tail), LeadsPast);
}

/// Gives a condition a body of its own.
void copyFor(BasicBlock &From, BasicBlock &Tail) {
  BasicBlock *Next = Tail.getSingleSuccessor();
  auto *Copy = BasicBlock::Create(Tail.getContext(), "", Tail.getParent(), &Tail);
  ValueToValueMapTy Copied;
  for (const Instruction &I : Tail) {
    Instruction *Other = I.clone();
    Other->insertInto(Copy, Copy->end());
    RemapInstruction(Other, Copied, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Copied[&I] = Other;
  }
  From.getTerminator()->replaceSuccessorWith(&Tail, Copy);
  for (PHINode &Value : Next->phis())
    Value.addIncoming(Value.getIncomingValueForBlock(&Tail), Copy);
}

} // namespace

PreservedAnalyses SplitTails::run(Function &F, FunctionAnalysisManager &) {
  SmallVector<BasicBlock *, 4> Found;
  for (BasicBlock &Block : F)
    if (isTail(Block))
      Found.push_back(&Block);
  for (BasicBlock *Tail : Found) {
    SmallVector<BasicBlock *, 4> Before(predecessors(Tail));
    for (BasicBlock *From : ArrayRef(Before).drop_front())
      copyFor(*From, *Tail);
  }
  return Found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}
