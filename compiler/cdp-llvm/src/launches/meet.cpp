// Lanes that were together before a launch site are together again behind it: `launches/meet.rs` says what for.
//
// A pair of blocks is a head, which sends lanes to different sides, one of which has a site, and the block where all sides meet. The
// head notes which lanes are there, and where they meet they wait for each other. Legal where each comes from the one to the
// other once, and does nothing between that takes others.
//
// LLVM's C interface knows no dominators.

#include "llvm-c/Core.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace {

using Blocks = SmallPtrSet<BasicBlock *, 16>;
/// A head and where its sides meet.
using Pair = std::pair<BasicBlock *, BasicBlock *>;

/// Whether an instruction is the device runtime's business, which lanes at several places do not share.
bool isOfRuntime(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  const Function *Called = Call ? Call->getCalledFunction() : nullptr;
  StringRef Name = Called ? Called->getName() : "";
  return Name == "cdp.launch" || Name.starts_with("cuda") || Name.starts_with("__cudaCDP2");
}

/// Whether an instruction may need other lanes, or be a lane's last.
bool takesOthers(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isOfRuntime(I))
    return false;
  const Function *Called = Call->getCalledFunction();
  return !Called || !Called->isDeclaration() || Call->isConvergent() || Call->doesNotReturn() ||
         Called->getName().contains("exit");
}

class Meetings {
public:
  explicit Meetings(Function &F) : Above(F), Below(F), Loops(Above) {}

  /// The pairs around sites behind which the device runtime is called again.
  SmallSetVector<Pair, 8> around(ArrayRef<Instruction *> Sites) const {
    SmallSetVector<Pair, 8> Found;
    for (Instruction *Site : Sites)
      around(*Site->getParent(), Found);
    return Found;
  }

  /// Whether lanes come from a site to the device runtime again before they meet at one of these places.
  static bool goesOn(Instruction &Site, const Blocks &Meets) {
    auto Behind = make_range(std::next(Site.getIterator()), Site.getParent()->end());
    auto Calls = [](const BasicBlock *Block) { return any_of(*Block, isOfRuntime); };
    return any_of(Behind, isOfRuntime) || any_of(from(*Site.getParent(), Meets), Calls);
  }

private:
  DominatorTree Above;
  PostDominatorTree Below;
  LoopInfo Loops;

  void around(BasicBlock &Site, SmallSetVector<Pair, 8> &Found) const {
    BasicBlock *At = &Site;
    while (BasicBlock *Meet = next(At)) {
      if (BasicBlock *Head = headOf(*Meet))
        if (Head != At && Above.dominates(Head, &Site) && goesOn(*Meet) && isPlain(*Head, *Meet))
          Found.insert({Head, Meet});
      At = Meet;
    }
  }

  /// The next block that every way from one goes through.
  BasicBlock *next(BasicBlock *Block) const {
    const auto *Node = Below.getNode(Block);
    return Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
  }

  /// The last block before one, in the same loop, that every way goes through, if lanes may part there.
  BasicBlock *headOf(BasicBlock &Meet) const {
    const auto *Node = Above.getNode(&Meet);
    do
      Node = Node ? Node->getIDom() : nullptr;
    while (Node && Loops.getLoopFor(Node->getBlock()) != Loops.getLoopFor(&Meet));
    BasicBlock *Head = Node ? Node->getBlock() : nullptr;
    return Head && succ_size(Head) > 1 && Below.dominates(&Meet, Head) ? Head : nullptr;
  }

  /// The blocks that control comes to from one before it comes to one of `Ends`.
  static Blocks from(BasicBlock &Begin, const Blocks &Ends) {
    Blocks Seen;
    SmallVector<BasicBlock *, 16> Work(successors(&Begin));
    while (!Work.empty()) {
      BasicBlock *Block = Work.pop_back_val();
      if (!Ends.contains(Block) && Seen.insert(Block).second)
        append_range(Work, successors(Block));
    }
    return Seen;
  }

  static bool goesOn(BasicBlock &Meet) {
    Blocks After = from(Meet, {});
    After.insert(&Meet);
    return any_of(After, [](const BasicBlock *Block) { return any_of(*Block, isOfRuntime); });
  }

  /// Whether a lane comes from the head to where its sides meet once, and on the way needs no other.
  static bool isPlain(BasicBlock &Head, BasicBlock &Meet) {
    Blocks Between = from(Head, {&Meet});
    return !Between.contains(&Head) && !from(Meet, {&Head}).contains(&Meet) &&
           none_of(Between, [](const BasicBlock *Block) { return any_of(*Block, takesOthers); });
  }
};

/// Has the lanes that are at `Before` wait for each other at `Behind`.
void meet(BasicBlock::iterator Before, BasicBlock::iterator Behind) {
  IRBuilder<> Builder(Before->getParent(), Before);
  Value *Mask = Builder.CreateIntrinsic(Intrinsic::nvvm_activemask, {});
  Builder.SetInsertPoint(Behind->getParent(), Behind);
  Builder.SetCurrentDebugLocation(DebugLoc());
  Builder.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {Mask});
}

} // namespace

extern "C" void cdp_launches_meet(LLVMValueRef Kernel, const LLVMValueRef *Sites, unsigned Count) {
  Function &F = *cast<Function>(unwrap(Kernel));
  SmallVector<Instruction *, 8> All;
  for (LLVMValueRef Site : ArrayRef(Sites, Count))
    All.push_back(cast<Instruction>(unwrap(Site)));
  SmallSetVector<Pair, 8> Pairs = Meetings(F).around(All);
  Blocks Meets;
  for (auto [Head, Meet] : Pairs)
    Meets.insert(Meet);
  erase_if(All, [&](Instruction *Site) { return !Meetings::goesOn(*Site, Meets); });
  for (auto [Head, Meet] : Pairs)
    meet(Head->getTerminator()->getIterator(), Meet->getFirstInsertionPt());
  for (Instruction *Site : All)
    meet(Site->getIterator(), std::next(Site->getIterator()));
}
