// What several branches end with, in each of them.
//
// Of `if (up) { if (a > b) swap } else { if (a < b) swap }` LLVM makes one exchange, which both conditions lead to. On a GPU that is
// worse: the lanes that come to it from both sides have to wait for each other first, so that ptxas makes regions that are left in the
// middle, where two short bodies would be executed under predicates (a sorting network in shared memory took 1.45 times as
// long on an H200). Each condition gets the body of its own back, as it stands in nvcc's PTX.
//
// Of `if (best < 0 || far[i] < far[best]) best = i;` LLVM makes an empty block, which both conditions lead to and after which the value is
// another one. The second of them chooses the value instead, so that lanes wait for each other once.
//
// Of `v = x[i]; if (v > most) { sum = sum * f(most - v) + 1; most = v; } else sum += f(v - most);` the value that was loaded or the old one is
// the next one, and code generation has the load write into the register of the old one, so that ptxas cannot move it, in an unrolled
// loop, in front of what asks for that. It is chosen in front of the branch (a softmax in one pass: four loads at once instead of three).

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

/// Whether the last condition of a block decides between another block, which is empty, and the one behind it.
bool decidesValue(const BasicBlock &From, const BasicBlock &Empty, const BasicBlock &Next) {
  const auto *Branch = dyn_cast<BranchInst>(From.getTerminator());
  return Branch && Branch->isConditional() && is_contained(Branch->successors(), &Empty) &&
         is_contained(Branch->successors(), &Next);
}

/// Has a block that decides whether the way leads through an empty one choose the only value that this makes another one.
bool chooseInstead(BasicBlock &From, BasicBlock &Empty, BasicBlock &Next) {
  auto Differs = [&](const PHINode &Value) {
    return Value.getIncomingValueForBlock(&From) != Value.getIncomingValueForBlock(&Empty);
  };
  if (!decidesValue(From, Empty, Next) || count_if(Next.phis(), Differs) != 1)
    return false;
  auto *Branch = cast<BranchInst>(From.getTerminator());
  bool First = Branch->getSuccessor(0) == &Empty;
  for (PHINode &Value : Next.phis()) {
    llvm::Value *Through = Value.getIncomingValueForBlock(&Empty), *Past = Value.getIncomingValueForBlock(&From);
    if (Through == Past)
      continue;
    auto *Chosen = SelectInst::Create(Branch->getCondition(), First ? Through : Past, First ? Past : Through, "",
                                      Branch->getIterator());
    Value.setIncomingValueForBlock(&From, Chosen);
  }
  BranchInst::Create(&Next, Branch->getIterator())->copyMetadata(*Branch, {LLVMContext::MD_loop, LLVMContext::MD_dbg});
  Branch->eraseFromParent();
  return true;
}

/// The same for all but one of the conditions that lead to an empty block.
bool chooseInstead(BasicBlock &Empty) {
  BasicBlock *Next = Empty.getSingleSuccessor();
  if (&*Empty.getFirstNonPHIIt() != Empty.getTerminator() || isa<PHINode>(Empty.front()) || !Next || Next == &Empty)
    return false;
  bool Changed = false;
  for (BasicBlock *From : SmallVector<BasicBlock *, 4>(predecessors(&Empty)))
    if (!Empty.hasNPredecessors(1))
      Changed |= chooseInstead(*From, Empty, *Next);
  return Changed;
}

/// The block whose last condition alone leads to one of the two blocks that a third one comes after.
BasicBlock *headOf(const BasicBlock &End) {
  if (!End.hasNPredecessors(2))
    return nullptr;
  const BasicBlock *First = *pred_begin(&End), *Second = *std::next(pred_begin(&End));
  BasicBlock *Head = const_cast<BasicBlock *>(First->getSinglePredecessor());
  bool Both = Head && Head == Second->getSinglePredecessor() && First != Second && isa<BranchInst>(Head->getTerminator());
  return Both && First->getSingleSuccessor() && Second->getSingleSuccessor() ? Head : nullptr;
}

/// Has what a block loads, or what was there before, be chosen before its condition sends lanes to two sides.
bool chooseLoaded(BasicBlock &End) {
  BasicBlock *Head = headOf(End);
  if (!Head)
    return false;
  auto *Branch = cast<BranchInst>(Head->getTerminator());
  bool Changed = false;
  for (PHINode &Value : make_early_inc_range(End.phis())) {
    llvm::Value *Chosen[2];
    for (unsigned Side : {0, 1})
      Chosen[Side] = Value.getIncomingValueForBlock(Branch->getSuccessor(Side));
    auto IsLoaded = [&](const llvm::Value *One) { return isa<LoadInst>(One) && cast<LoadInst>(One)->getParent() == Head; };
    // What is computed on a side is not known before.
    auto IsKnown = [&](const llvm::Value *One) {
      const auto *Made = dyn_cast<Instruction>(One);
      return !Made || (Made->getParent() != Branch->getSuccessor(0) && Made->getParent() != Branch->getSuccessor(1));
    };
    if (!any_of(Chosen, IsLoaded) || !all_of(Chosen, IsKnown) || Chosen[0] == Chosen[1])
      continue;
    auto *Instead = SelectInst::Create(Branch->getCondition(), Chosen[0], Chosen[1], "", Branch->getIterator());
    Value.replaceAllUsesWith(Instead);
    Value.eraseFromParent();
    Changed = true;
  }
  return Changed;
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
  bool Changed = !Found.empty();
  for (BasicBlock &Block : F)
    Changed |= chooseInstead(Block) | chooseLoaded(Block);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
