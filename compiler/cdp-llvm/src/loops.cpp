// What is asked of loops of device code by several passes: the number of a turn, what adds up from turn to turn, what an address is
// computed from, what is the same for all threads of a block.

#include "axes.h"
#include "unroll.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

Value *countTurns(const Loop &L) {
  BasicBlock *Header = L.getHeader(), *Latch = L.getLoopLatch();
  IRBuilder<> Build(Header, Header->begin());
  auto *Turn = Build.CreatePHI(Build.getInt32Ty(), 2);
  Build.SetInsertPoint(Latch->getTerminator());
  Value *Next = Build.CreateAdd(Turn, Build.getInt32(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  Turn->addIncoming(Build.getInt32(0), L.getLoopPreheader());
  Turn->addIncoming(Next, Latch);
  return Next;
}

bool addsUp(const PHINode &Kept, const Loop &L) {
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Latch)
    return false;
  // What the next turn's value may be, and whether something was added on the way.
  SmallVector<std::pair<const Value *, bool>, 8> Work{{Kept.getIncomingValueForBlock(Latch), false}};
  SmallSet<std::pair<const Value *, bool>, 16> Seen;
  while (!Work.empty()) {
    auto [Part, Added] = Work.pop_back_val();
    if (Part == &Kept && Added)
      return true;
    const auto *I = dyn_cast<Instruction>(Part);
    if (!I || I == &Kept || !L.contains(I) || !Seen.insert({Part, Added}).second)
      continue;
    const auto *Call = dyn_cast<IntrinsicInst>(I);
    bool Fused = Call && (Call->getIntrinsicID() == Intrinsic::fma || Call->getIntrinsicID() == Intrinsic::fmuladd);
    bool Sum = I->getOpcode() == Instruction::FAdd || I->getOpcode() == Instruction::FSub;
    if (Fused)
      Work.emplace_back(I->getOperand(2), true);
    else if (Sum || isa<PHINode, SelectInst>(I))
      for (const Value *Operand : I->operand_values())
        Work.emplace_back(Operand, Added || Sum);
  }
  return false;
}

SmallVector<const Instruction *, 4> numbersOf(const Instruction &Load, const Loop &L) {
  SmallVector<const Instruction *, 4> Numbers;
  SmallVector<const Value *, 8> Work(Load.operand_values());
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const auto *Part = dyn_cast<Instruction>(Work.pop_back_val());
    if (!Part || !L.contains(Part) || isa<PHINode>(Part) || !Seen.insert(Part).second)
      continue;
    if (loads(*Part))
      Numbers.push_back(Part);
    else
      append_range(Work, Part->operand_values());
  }
  return Numbers;
}

bool loads(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  const auto *Asm = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
  return Asm ? Asm->getAsmString().starts_with("ld.") : isa<LoadInst>(I);
}

bool isOfBlock(const Value &V) {
  if (const auto *A = dyn_cast<Argument>(&V))
    return A->getParent()->getCallingConv() == CallingConv::PTX_Kernel;
  return isa<Constant>(V) || axisOf(V, Intrinsic::nvvm_read_ptx_sreg_ntid_x) || axisOf(V, Intrinsic::nvvm_read_ptx_sreg_ctaid_x) ||
         axisOf(V, Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
}
