// Conditions that stand one after another and stay so.
//
// Of `if (x == 0) ...; if (x == 31) ...` LLVM makes a `switch`, since only one of both can hold. On a GPU that is
// worse: ptxas executes two short bodies that follow each other under predicates, with the loads of both on their way at
// once, and branches to those of a `switch` (the edges of a tile in shared memory took 1.08 times as long on an H200).
//
// So it does with `if (x == 0) ...; else if (x == 31) ...`, where bodies store: each body leads to the next question instead of past it, which no lane
// answers with yes that was in a body before (such edges took 1.055 times as long on an H100).

#include "unroll.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Most questions of a chain, most instructions of a body, and most that a question takes.
constexpr size_t MostQuestions = 4, LongestBody = 16, LongestQuestion = 4;

/// What the end of a block compares with a constant for being equal; null where it does something else.
const Value *compared(const BasicBlock &Block) {
  const auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  if (!Branch || !Branch->isConditional())
    return nullptr;
  const auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
  bool Fits = Compare && Compare->isEquality() && isa<ConstantInt>(Compare->getOperand(1));
  return Fits ? Compare->getOperand(0) : nullptr;
}

/// Whether a block asks for a value after the body of a condition of the same value.
bool asksAgain(const BasicBlock &Block) {
  const Value *Of = compared(Block);
  return Of && any_of(predecessors(&Block), [&](const BasicBlock *First) {
    return First != &Block && compared(*First) == Of && any_of(successors(First), [&](const BasicBlock *Body) {
      return Body != &Block && Body->getSinglePredecessor() == First && Body->getSingleSuccessor() == &Block;
    });
  });
}

/// A question and what is done where the answer is yes, which comes from one of two ends of its block.
struct Question {
  BasicBlock *Block, *Body;

  BranchInst *branch() const { return cast<BranchInst>(Block->getTerminator()); }
  bool isYes() const { return branch()->getSuccessor(0) == Body; }
  BasicBlock *other() const { return branch()->getSuccessor(isYes()); }
};

/// Whether a block that one other alone leads to does nothing but ask, and may as well do so for lanes that do not come to it.
bool onlyAsks(const BasicBlock &Block) {
  const auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  return Branch && Branch->isConditional() && !Branch->hasMetadata(LLVMContext::MD_loop) && Block.getUniquePredecessor() &&
         !isa<PHINode>(Block.front()) && Block.size() <= LongestQuestion + 1 && all_of(Block, [](const Instruction &I) {
           return I.isTerminator() || (!I.mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(&I));
         });
}

bool writes(const Instruction &I) { return I.mayWriteToMemory(); }

/// The chain of questions that begins in a block: `if ...; else if ...`, without a last `else`. Each body stores, and no value meets behind
/// the chain: what bodies only compute is chosen, or copied from register to register on each way.
SmallVector<Question, 4> chainFrom(BasicBlock &Head) {
  SmallVector<Question, 4> Chain;
  auto *First = dyn_cast<BranchInst>(Head.getTerminator());
  if (!First || !First->isConditional() || First->hasMetadata(LLVMContext::MD_loop))
    return Chain;
  for (unsigned Side : {0, 1}) {
    BasicBlock *End = First->getSuccessor(Side)->getSingleSuccessor();
    bool Meets = End && isa<PHINode>(End->front());
    Chain.clear();
    for (BasicBlock *At = &Head; End && !Meets && Chain.size() < MostQuestions;) {
      auto *Branch = cast<BranchInst>(At->getTerminator());
      unsigned Yes = At == &Head ? Side : isShortBody(*Branch->getSuccessor(0), *At, *End) ? 0 : 1;
      if (BasicBlock &Body = *Branch->getSuccessor(Yes); !isShortBody(Body, *At, *End) || none_of(Body, writes))
        break;
      Chain.push_back({At, Branch->getSuccessor(Yes)});
      At = Branch->getSuccessor(1 - Yes);
      if (At == End && Chain.size() > 1)
        return Chain;
      if (!onlyAsks(*At))
        break;
    }
  }
  return {};
}

/// Whether an answer is no, and not poison, where another one was yes: both ask whether the same number, or one that is so much more,
/// is a certain one.
bool excludes(const Question &Before, const Question &After) {
  auto Asked = [](const Question &Of) -> ICmpInst * {
    auto *Compare = dyn_cast<ICmpInst>(Of.branch()->getCondition());
    bool Equal = Compare && Compare->getPredicate() == (Of.isYes() ? ICmpInst::ICMP_EQ : ICmpInst::ICMP_NE);
    return Equal && isa<ConstantInt>(Compare->getOperand(1)) ? Compare : nullptr;
  };
  ICmpInst *First = Asked(Before), *Second = Asked(After);
  if (!First || !Second)
    return false;
  const APInt &Was = cast<ConstantInt>(First->getOperand(1))->getValue(), &Is = cast<ConstantInt>(Second->getOperand(1))->getValue();
  Value *Number = First->getOperand(0), *Other = Second->getOperand(0);
  const APInt *More;
  if (Other == Number)
    return Was != Is;
  if (match(Number, m_Add(m_Specific(Other), m_APInt(More))))
    return Was - *More != Is;
  if (!match(Other, m_Add(m_Specific(Number), m_APInt(More))))
    return false;
  auto *Sum = cast<OverflowingBinaryOperator>(Other);
  bool Wraps = false, WrapsUnsigned = false;
  (void)Was.sadd_ov(*More, Wraps);
  (void)Was.uadd_ov(*More, WrapsUnsigned);
  return Was + *More != Is && !(Wraps && Sum->hasNoSignedWrap()) && !(WrapsUnsigned && Sum->hasNoUnsignedWrap());
}

/// Has each body of a chain lead to the next question. An answer that is poison where it was not asked for counts for nothing, since one
/// before it is yes.
void askInTurn(ArrayRef<Question> Chain) {
  BasicBlock *End = Chain.back().other();
  // Before any answer is another one.
  SmallVector<SmallVector<bool, 4>, 4> Excluded;
  for (const Question &After : Chain) {
    Excluded.emplace_back();
    for (const Question &Before : Chain.take_front(Excluded.size() - 1))
      Excluded.back().push_back(excludes(Before, After));
  }
  SmallVector<Value *, 4> Yes;
  for (auto [At, Asked] : enumerate(Chain)) {
    if (At)
      for (Instruction &I : make_early_inc_range(*Asked.Block))
        if (!I.isTerminator()) {
          I.dropUBImplyingAttrsAndMetadata();
          I.moveBefore(Chain.front().branch()->getIterator());
        }
    BranchInst *Branch = Asked.branch();
    IRBuilder<> Build(Branch);
    Value *Answer = Branch->getCondition();
    bool Alone = all_of(Excluded[At], [](bool Is) { return Is; });
    if (!Asked.isYes())
      Answer = Build.CreateNot(Answer);
    for (auto [Is, Before] : zip(Excluded[At], Yes))
      if (!Is)
        Answer = Build.CreateSelect(Before, Build.getFalse(), Answer);
    Yes.push_back(Answer);
    if (Alone)
      continue;
    if (!Asked.isYes())
      Branch->swapSuccessors();
    Branch->setCondition(Answer);
  }
  for (auto [Before, After] : zip(Chain, Chain.drop_front()))
    Before.Body->getTerminator()->replaceSuccessorWith(End, After.Block);
}

} // namespace

bool isShortBody(const BasicBlock &Body, const BasicBlock &From, const BasicBlock &End) {
  auto Converges = [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return Call && Call->isConvergent();
  };
  return Body.getUniquePredecessor() == &From && Body.getSingleSuccessor() == &End && isa<BranchInst>(Body.getTerminator()) &&
         !isa<PHINode>(Body.front()) && Body.size() <= LongestBody && none_of(Body, Converges) &&
         !Body.getTerminator()->hasMetadata(LLVMContext::MD_loop);
}

PreservedAnalyses ElseInTurn::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (BasicBlock &Block : F)
    if (SmallVector<Question, 4> Chain = chainFrom(Block); !Chain.empty()) {
      askInTurn(Chain);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses KeepIfs::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (BasicBlock &Block : F) {
    auto *Mark = dyn_cast<IntrinsicInst>(&*Block.getFirstNonPHIIt());
    bool Marked = Mark && Mark->getIntrinsicID() == Intrinsic::sideeffect;
    if (Marked || !asksAgain(Block))
      continue;
    // Blocks are joined to a `switch` that have nothing but the question.
    IRBuilder<> Build(&Block, Block.getFirstInsertionPt());
    Build.CreateIntrinsic(Intrinsic::sideeffect, ArrayRef<Value *>());
    Changed = true;
  }
  return keptAfter(Changed);
}

PreservedAnalyses DropMarks::run(Function &F, FunctionAnalysisManager &) {
  for (BasicBlock &Block : F)
    for (Instruction &I : make_early_inc_range(Block))
      if (auto *Mark = dyn_cast<IntrinsicInst>(&I); Mark && Mark->getIntrinsicID() == Intrinsic::sideeffect)
        Mark->eraseFromParent();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
