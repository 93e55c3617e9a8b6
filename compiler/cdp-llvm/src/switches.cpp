// Switches, as a warp takes them.
//
// An indirect branch goes to one target after the other where the lanes of a warp choose different ones: a random walk by the
// eight values of three bits took 3.6 times as long with it on an H200 as with comparisons. ptxas makes indirect branches again of
// comparisons for equality that follow each other. So a switch becomes a tree of comparisons for less, which leaves no question
// open at its ends, where ptxas executes short ways under predicates. Only a choice among many ways that is the same for all lanes, as
// of a machine whose program all threads run, is made faster by a table.
//
// Few short ways that all lead to where the other cases go are asked for in turn, `if (x == 0) ...; if (x == 31) ...`, of which ptxas executes
// each under a predicate; a tree of comparisons is three branches before the first way (the rims of a tile in shared memory took 1.8
// times as long on an H100). Cases that all have the same way are one question.
//
// A switch that only chooses among two or three constants becomes a chain of selections: a table of them would be read from
// memory, for which all that needs the number waits (a search with a stack took 1.12 times as long).

#include "unroll.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"

using namespace llvm;

namespace {

/// Fewest cases of a switch whose table is faster than comparisons where all lanes go the same way.
constexpr unsigned ManyCases = 12;
/// Most selections that take no longer than a table in memory.
constexpr unsigned MostSelections = 3;
/// Most ways that are asked for in turn, and most comparisons of one question.
constexpr unsigned MostInTurn = 4, MostEqual = 3;
/// Most values that are looked at for whether lanes may differ.
constexpr unsigned MostValues = 64;

/// Whether an instruction has the same result for all lanes if its operands are the same.
bool keepsSame(const Instruction &I, const LoopInfo &Loops) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple();
  // Where ways meet, lanes may come from different ones.
  if (const auto *Value = dyn_cast<PHINode>(&I))
    return Loops.isLoopHeader(I.getParent()) && Value->getNumIncomingValues() == 2;
  if (const auto *Call = dyn_cast<IntrinsicInst>(&I))
    return isTriviallyVectorizable(Call->getIntrinsicID());
  return isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, FreezeInst>(I);
}

/// Whether a value is likely the same for all lanes of a warp.
bool isLikelySame(const Value &V, const LoopInfo &Loops) {
  SmallVector<const Value *, 16> Work{&V};
  SmallPtrSet<const Value *, 32> Seen;
  while (!Work.empty()) {
    const Value *Part = Work.pop_back_val();
    if (isOfBlock(*Part) || !Seen.insert(Part).second)
      continue;
    const auto *I = dyn_cast<Instruction>(Part);
    if (!I || Seen.size() > MostValues || !keepsSame(*I, Loops))
      return false;
    if (const auto *Call = dyn_cast<CallBase>(I))
      append_range(Work, Call->args());
    else
      append_range(Work, I->operand_values());
  }
  return true;
}

/// A way of a switch to where all of them meet, at once or by a block that does nothing.
struct Way {
  BasicBlock *By, *To;
};

Way wayTo(BasicBlock *First, BasicBlock *Switching) {
  auto *Goes = dyn_cast<BranchInst>(&First->front());
  bool Empty = Goes && Goes->isUnconditional();
  return Empty ? Way{First, Goes->getSuccessor(0)} : Way{Switching, First};
}

/// Chooses among few constants by selections, if the switch does no more than that.
bool selectValues(SwitchInst &Switch) {
  BasicBlock *Block = Switch.getParent();
  bool AnyOther = !Switch.defaultDestUnreachable();
  if (!Switch.getNumCases() || Switch.getNumCases() > MostSelections)
    return false;
  Way Last = wayTo(AnyOther ? Switch.getDefaultDest() : Switch.case_begin()->getCaseSuccessor(), Block);
  auto Meets = [&](const SwitchInst::CaseHandle &Case) { return wayTo(Case.getCaseSuccessor(), Block).To == Last.To; };
  if (Last.To == Block || !all_of(Switch.cases(), Meets))
    return false;
  unsigned Values = 0;
  for (PHINode &Value : Last.To->phis()) {
    Values++;
    auto IsData = [&](Way W) { return isa<ConstantData>(Value.getIncomingValueForBlock(W.By)); };
    if (!IsData(Last) || !all_of(Switch.cases(), [&](const auto &Case) { return IsData(wayTo(Case.getCaseSuccessor(), Block)); }))
      return false;
  }
  if (!Values || Values * Switch.getNumCases() > MostSelections)
    return false;
  IRBuilder<> Build(&Switch);
  for (PHINode &Value : Last.To->phis()) {
    llvm::Value *Chosen = Value.getIncomingValueForBlock(Last.By);
    for (const auto &Case : Switch.cases()) {
      llvm::Value *Own = Value.getIncomingValueForBlock(wayTo(Case.getCaseSuccessor(), Block).By);
      if (Own != Chosen)
        Chosen = Build.CreateSelect(Build.CreateICmpEQ(Switch.getCondition(), Case.getCaseValue()), Own, Chosen);
    }
    while (Value.getBasicBlockIndex(Block) >= 0)
      Value.removeIncomingValue(Block, /*DeletePHIIfEmpty=*/false);
    Value.addIncoming(Chosen, Block);
  }
  Build.CreateBr(Last.To);
  Switch.eraseFromParent();
  return true;
}

/// The ways of a switch that are not the one of all other cases, and the cases of each.
using Ways = MapVector<BasicBlock *, SmallVector<ConstantInt *, 4>>;

/// Whether a number is none of some cases.
Value *isNone(IRBuilder<> &Build, Value *Number, ArrayRef<ConstantInt *> Cases) {
  Value *None = nullptr;
  for (ConstantInt *Case : Cases) {
    Value *Other = Build.CreateICmpNE(Number, Case);
    None = None ? Build.CreateAnd(None, Other) : Other;
  }
  return None;
}

/// Asks for the cases of a switch way by way. A way that was gone does not change the number, so that none of the others is gone
/// after it; what meets behind the last one meets behind each.
bool askInTurn(SwitchInst &Switch) {
  BasicBlock *At = Switch.getParent(), *End = Switch.getDefaultDest();
  Ways Found;
  for (const auto &Case : Switch.cases())
    if (Case.getCaseSuccessor() != End)
      Found[Case.getCaseSuccessor()].push_back(Case.getCaseValue());
  bool Short = all_of(Found, [](const auto &Way) { return Way.second.size() <= MostEqual; });
  bool InTurn = Found.size() <= MostInTurn && all_of(Found, [&](const auto &Way) { return isShortBody(*Way.first, *At, *End); });
  if (Switch.defaultDestUnreachable() || Switch.hasMetadata(LLVMContext::MD_loop) || Found.empty() || !Short || (Found.size() > 1 && !InTurn))
    return false;
  // One edge to each.
  SmallPtrSet<BasicBlock *, 8> Seen;
  for (BasicBlock *To : successors(At))
    if (!Seen.insert(To).second)
      To->removePredecessor(At, /*KeepOneInputPHIs=*/true);
  IRBuilder<> Build(&Switch);
  Value *Number = Switch.getCondition();
  SmallVector<Value *, 4> Before;
  for (PHINode &Value : End->phis())
    Before.push_back(Value.getIncomingValueForBlock(At));
  BasicBlock *First = At;
  for (const auto &[Way, Cases] : Found) {
    bool Last = Way == Found.back().first;
    BasicBlock *Next = Last ? End : BasicBlock::Create(Switch.getContext(), "", At->getParent(), Way->getNextNode());
    Build.CreateCondBr(isNone(Build, Number, Cases), Next, Way);
    if (Last)
      break;
    Way->getTerminator()->replaceSuccessorWith(End, Next);
    Build.SetInsertPoint(Next);
    for (auto [Value, Known] : zip(End->phis(), Before)) {
      auto *Met = Build.CreatePHI(Value.getType(), 2);
      Met->addIncoming(Known, At);
      Met->addIncoming(Value.removeIncomingValue(Way, /*DeletePHIIfEmpty=*/false), Way);
      Known = Met;
    }
    At = Next;
  }
  for (auto [Value, Known] : zip(End->phis(), Before)) {
    Value.removeIncomingValue(First, /*DeletePHIIfEmpty=*/false);
    Value.addIncoming(Known, At);
  }
  Switch.eraseFromParent();
  return true;
}

} // namespace

PreservedAnalyses SelectValues::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (BasicBlock &Block : F)
    if (auto *Switch = dyn_cast<SwitchInst>(Block.getTerminator()))
      Changed |= selectValues(*Switch);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses CompareCases::run(Function &F, FunctionAnalysisManager &AM) {
  SmallVector<SwitchInst *, 4> Found;
  for (BasicBlock &Block : F)
    if (auto *Switch = dyn_cast<SwitchInst>(Block.getTerminator())) {
      if (Switch->getNumCases() >= ManyCases && isLikelySame(*Switch->getCondition(), AM.getResult<LoopAnalysis>(F)))
        return PreservedAnalyses::all();
      Found.push_back(Switch);
    }
  if (Found.empty())
    return PreservedAnalyses::all();
  bool Any = false;
  for (SwitchInst *Switch : Found)
    Any |= askInTurn(*Switch);
  if (Any)
    AM.invalidate(F, PreservedAnalyses::none());
  LowerSwitchPass().run(F, AM);
  return PreservedAnalyses::none();
}
