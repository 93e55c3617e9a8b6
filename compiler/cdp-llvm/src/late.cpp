// Roots that are taken, and shared memory that is read, where they are asked for; a block's size in front of its place.
//
// ptxas makes a question of each, whether its operand is one of the few that take more than the usual instructions, and so a new block,
// across which it does not move what stands before and behind. In front of another question, as that for large angles of a cosine, a root
// that is multiplied with the cosine only ends a block early: the logarithm before it and the angle's parts behind it are computed one
// after another instead of beside each other. nvcc has the root behind the cosine. LLVM moves down what some ways do not need
// (`machine-sink`), and leaves alone what all come to. Divisions, of which ptxas makes questions too, gain nothing
// (compiler/docs/device-speed.md).
//
// ptxas orders instructions anew, but chooses registers by what it finds. Of a tile's products `x[i] * y[j]`, for all `i` and `j`, of words that were
// read before the first of them it finds sixteen that are kept from the beginning, and has more registers in each other's way than where each
// is read in front of the first product that it is in, as in nvcc's PTX. Of vectors, which are several of these words, some products gain
// and others lose, and of words that are used once none gains (compiler/docs/device-speed.md).
//
// Of `blockIdx.x * blockDim.x + threadIdx.x` it has what is read first in a register of each thread, and what is read next in one of the
// warp. C's order has the place first. With the size first, as in most of nvcc's PTX, the place is one of the warp where nothing else is computed from it.

#include "axes.h"
#include "unroll.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace {

/// Whether an instruction takes an exact root.
bool takesRoot(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call || I.getType()->isVectorTy())
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::sqrt:
  case Intrinsic::nvvm_sqrt_f:
  case Intrinsic::nvvm_sqrt_rn_f:
  case Intrinsic::nvvm_sqrt_rn_d:
    return true;
  default:
    return false;
  }
}

/// The last block through which all ways to what uses a value go; null where nothing does.
BasicBlock *lastBefore(const Instruction &I, const DominatorTree &Tree) {
  BasicBlock *Last = nullptr;
  for (const Use &Of : I.uses()) {
    auto *User = cast<Instruction>(Of.getUser());
    auto *Choice = dyn_cast<PHINode>(User);
    BasicBlock *Block = Choice ? Choice->getIncomingBlock(Of) : User->getParent();
    if (!Tree.isReachableFromEntry(Block))
      return nullptr;
    Last = Last ? Tree.findNearestCommonDominator(Last, Block) : Block;
  }
  return Last;
}

/// In front of the first instruction of a block that uses a value.
void moveToUse(Instruction &I, BasicBlock &Block) {
  auto Uses = [&](const Instruction &Other) { return is_contained(Other.operand_values(), &I); };
  BasicBlock::iterator Place = Block.getFirstInsertionPt();
  while (!Place->isTerminator() && !Uses(*Place))
    ++Place;
  I.moveBefore(Block, Place);
}

} // namespace

PreservedAnalyses RootsLate::run(Function &F, FunctionAnalysisManager &AM) {
  SmallVector<Instruction *, 8> Found;
  for (Instruction &I : instructions(F))
    if (takesRoot(I) && any_of(I.users(), [&](const User *Of) { return cast<Instruction>(Of)->getParent() != I.getParent(); }))
      Found.push_back(&I);
  if (Found.empty())
    return PreservedAnalyses::all();
  const DominatorTree &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  const LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  // What one is computed from goes down behind it.
  for (Instruction *I : reverse(Found)) {
    BasicBlock *To = Tree.isReachableFromEntry(I->getParent()) ? lastBefore(*I, Tree) : nullptr;
    // Not into a loop, nor behind one, in which more would be kept.
    if (!To || To == I->getParent() || Loops.getLoopFor(To) != Loops.getLoopFor(I->getParent()))
      continue;
    moveToUse(*I, *To);
    Changed = true;
  }
  return keptAfter(Changed);
}

/// Moves reads of shared memory to where each is first used, or in front of a write or of what ends the block.
static bool readLate(BasicBlock &Block) {
  constexpr unsigned Shared = 3, ManyUses = 8;
  // From the end, so that a read that is moved does not stand between another one and where that goes.
  SmallVector<std::pair<LoadInst *, Instruction *>, 32> Moves;
  DenseMap<const Value *, Instruction *> FirstUse;
  Instruction *Write = Block.getTerminator();
  for (Instruction &I : reverse(Block)) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (Load && Load->isSimple() && Load->getPointerAddressSpace() == Shared && Load->getType()->isFloatTy() && Load->hasNUsesOrMore(ManyUses)) {
      Instruction *Use = FirstUse.lookup(Load);
      Moves.emplace_back(Load, Use ? Use : Write);
    }
    if (I.mayWriteToMemory()) {
      Write = &I;
      FirstUse.clear();
    }
    if (!isa<PHINode>(I))
      for (const Value *Operand : I.operand_values())
        if (isa<LoadInst>(Operand))
          FirstUse[Operand] = &I;
  }
  bool Changed = false;
  for (auto [Load, To] : Moves)
    if (Load->getNextNode() != To) {
      Load->moveBefore(To->getIterator());
      Changed = true;
    }
  return Changed;
}

/// Moves the read of a block's size in front of that of its place, of each dimension.
static bool readSizeFirst(BasicBlock &Block) {
  Instruction *Places[3] = {};
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(Block)) {
    if (auto Axis = axisOf(I, Intrinsic::nvvm_read_ptx_sreg_ctaid_x); Axis && !Places[*Axis])
      Places[*Axis] = &I;
    if (auto Axis = axisOf(I, Intrinsic::nvvm_read_ptx_sreg_ntid_x); Axis && Places[*Axis]) {
      I.moveBefore(Places[*Axis]->getIterator());
      Changed = true;
    }
  }
  return Changed;
}

bool readInOrder(Function &F) {
  bool Changed = false;
  for (BasicBlock &Block : F)
    Changed |= readLate(Block) | readSizeFirst(Block);
  return Changed;
}
