// Loops that go back to their beginning from one place.
//
// A `continue` of a `while` that clang compiled is a branch to the condition like any other, so that a loop has
// several ways back. LLVM makes nested loops of such a one: the inner turns as long as `continue` is come to. On a GPU
// the lanes of a warp then wait in it for those that go around it often (a walk of a tree took 1.2 times as long on an
// H200). Our own front end has one place for `continue`, as is done here.

#include "unroll.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

bool join(Loop &L, DominatorTree &Tree, LoopInfo &Loops) {
  BasicBlock *Header = L.getHeader();
  SmallVector<BasicBlock *, 8> Latches;
  L.getLoopLatches(Latches);
  bool Fixed = any_of(Latches, [](const BasicBlock *Block) {
    return !isa<BranchInst>(Block->getTerminator()) && !isa<SwitchInst>(Block->getTerminator());
  });
  if (Latches.size() < 2 || Fixed || Header->isEHPad())
    return false;
  // What was said of the loop (`#pragma unroll`) stands at its ways back.
  MDNode *Said = L.getLoopID();
  BasicBlock *Latch = SplitBlockPredecessors(Header, Latches, ".latch", &Tree, &Loops);
  if (!Latch)
    return false;
  // Behind the last of them, so that the text has it where a loop ends.
  auto Blocks = reverse(*Header->getParent());
  Latch->moveAfter(&*find_if(Blocks, [&](BasicBlock &Block) { return is_contained(Latches, &Block); }));
  if (Said)
    L.setLoopID(Said);
  return true;
}

} // namespace

PreservedAnalyses OneLatch::run(Function &F, FunctionAnalysisManager &AM) {
  auto &Loops = AM.getResult<LoopAnalysis>(F);
  if (Loops.empty() || F.hasOptNone())
    return PreservedAnalyses::all();
  auto &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  bool Changed = false;
  for (Loop *L : Loops.getLoopsInPreorder())
    Changed |= join(*L, Tree, Loops);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
