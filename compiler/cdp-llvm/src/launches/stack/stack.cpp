// A stack of children that the launching thread runs itself: `launches/stack/mod.rs` says when that is right.
//
// LLVM's C interface can neither split blocks nor add to a function's beginning.

#include "llvm-c/Core.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

/// What such a kernel keeps: the records, how many there are, and when the thread began with what it is at.
struct ThreadStack {
  StructType *Record;
  AllocaInst *Records, *Top, *Began;

  Value *clock(IRBuilder<> &Builder) const {
    return Builder.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_clock64, ArrayRef<Value *>());
  }

  Value *at(IRBuilder<> &Builder, Value *Index, unsigned Field) const {
    return Builder.CreateInBoundsGEP(Records->getAllocatedType(), Records,
                                     {Builder.getInt32(0), Index, Builder.getInt32(Field)});
  }
};

/// A child's thread is the only one of its grid: what it reads of its place in it.
Value *placeOfOne(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return nullptr;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
  case Intrinsic::nvvm_read_ptx_sreg_tid_z: return ConstantInt::get(I.getType(), 0);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z: return ConstantInt::get(I.getType(), 1);
  default: return nullptr;
  }
}

/// Puts the child on the stack where there is room, and the thread has not worked for long or has nothing else to do.
void keepAt(CallBase *Site, const ThreadStack &Stack, unsigned Depth, uint64_t Cycles) {
  IRBuilder<> Builder(Site);
  Value *Count = Builder.CreateLoad(Builder.getInt32Ty(), Stack.Top);
  Value *None = Builder.CreateICmpEQ(Count, Builder.getInt32(0));
  Value *Room = Builder.CreateICmpULT(Count, Builder.getInt32(Depth));
  Value *Began = Builder.CreateLoad(Builder.getInt64Ty(), Stack.Began);
  Value *Took = Builder.CreateSub(Stack.clock(Builder), Began);
  Value *Early = Builder.CreateICmpULT(Took, Builder.getInt64(Cycles));
  Value *Keep = Builder.CreateAnd(Room, Builder.CreateOr(None, Early));
  Instruction *Kept = nullptr, *Launched = nullptr;
  SplitBlockAndInsertIfThenElse(Keep, Site->getIterator(), &Kept, &Launched);
  Site->moveBefore(Launched->getIterator());
  Builder.SetInsertPoint(Kept);
  for (unsigned Index = 0; Index < Stack.Record->getNumElements(); ++Index)
    Builder.CreateStore(Site->getArgOperand(9 + Index), Stack.at(Builder, Count, Index));
  Builder.CreateStore(Builder.CreateAdd(Count, Builder.getInt32(1)), Stack.Top);
}

} // namespace

/// Makes a loop of a kernel, whose thread runs what these sites launch behind its own work, from a stack of `Depth`
/// records; a child that it comes to after so many cycles is launched as long as others wait.
extern "C" void cdp_launches_stack(LLVMValueRef KernelRef, const LLVMValueRef *Sites, unsigned Count, unsigned Depth,
                                   uint64_t Cycles, int Listens) {
  Function &Kernel = *unwrap<Function>(KernelRef);
  LLVMContext &Context = Kernel.getContext();
  SmallVector<ReturnInst *, 8> Returns;
  SmallVector<std::pair<Instruction *, Value *>, 8> Places;
  for (Instruction &I : instructions(Kernel)) {
    if (auto *Return = dyn_cast<ReturnInst>(&I))
      Returns.push_back(Return);
    if (Value *Place = placeOfOne(I))
      Places.push_back({&I, Place});
  }
  BasicBlock *Head = &Kernel.getEntryBlock();
  BasicBlock *Start = BasicBlock::Create(Context, "stack.start", &Kernel, Head);
  IRBuilder<> Builder(Start);
  ThreadStack Stack;
  Stack.Record = StructType::get(Context, Kernel.getFunctionType()->params());
  Stack.Records = Builder.CreateAlloca(ArrayType::get(Stack.Record, Depth));
  Stack.Top = Builder.CreateAlloca(Builder.getInt32Ty());
  Stack.Began = Builder.CreateAlloca(Builder.getInt64Ty());
  Builder.CreateStore(Builder.getInt32(0), Stack.Top);
  Builder.CreateStore(Stack.clock(Builder), Stack.Began);
  Builder.CreateBr(Head);
  for (Instruction &I : make_early_inc_range(*Head))
    if (isa<AllocaInst>(I))
      I.moveBefore(Stack.Records->getIterator());
  // What the thread is at: its own work first.
  Builder.SetInsertPoint(Head, Head->begin());
  PHINode *Own = Builder.CreatePHI(Builder.getInt1Ty(), 2, "stack.own");
  SmallVector<PHINode *, 16> Arguments;
  for (Argument &Arg : Kernel.args()) {
    PHINode *Now = Builder.CreatePHI(Arg.getType(), 2, Arg.getName());
    Arg.replaceAllUsesWith(Now);
    Now->addIncoming(&Arg, Start);
    Arguments.push_back(Now);
  }
  Own->addIncoming(Builder.getTrue(), Start);
  for (auto [Read, Place] : Places) {
    Builder.SetInsertPoint(Read->getParent(), std::next(Read->getIterator()));
    auto *Chosen = cast<Instruction>(Builder.CreateSelect(Own, Read, Place));
    Read->replaceUsesWithIf(Chosen, [&](Use &U) { return U.getUser() != Chosen; });
  }
  for (unsigned Index = 0; Index < Count; ++Index)
    keepAt(cast<CallBase>(unwrap(Sites[Index])), Stack, Depth, Cycles);
  BasicBlock *Done = BasicBlock::Create(Context, "stack.done", &Kernel);
  BasicBlock *Next = BasicBlock::Create(Context, "stack.next", &Kernel);
  BasicBlock *Out = BasicBlock::Create(Context, "stack.out", &Kernel);
  for (ReturnInst *Return : Returns) {
    Builder.SetInsertPoint(Return);
    Builder.CreateBr(Done);
    Return->eraseFromParent();
  }
  Builder.SetInsertPoint(Done);
  Value *Waiting = Builder.CreateLoad(Builder.getInt32Ty(), Stack.Top);
  Builder.CreateCondBr(Builder.CreateICmpEQ(Waiting, Builder.getInt32(0)), Out, Next);
  Builder.SetInsertPoint(Out);
  Builder.CreateRetVoid();
  Builder.SetInsertPoint(Next);
  Value *Last = Builder.CreateSub(Waiting, Builder.getInt32(1));
  Builder.CreateStore(Last, Stack.Top);
  for (unsigned Index = 0; Index < Arguments.size(); ++Index) {
    Type *Ty = Stack.Record->getElementType(Index);
    Arguments[Index]->addIncoming(Builder.CreateLoad(Ty, Stack.at(Builder, Last, Index)), Next);
  }
  // With nothing else to do the thread has as much time as at its beginning.
  Value *Alone = Builder.CreateICmpEQ(Last, Builder.getInt32(0));
  Value *Before = Builder.CreateLoad(Builder.getInt64Ty(), Stack.Began);
  Builder.CreateStore(Builder.CreateSelect(Alone, Stack.clock(Builder), Before), Stack.Began);
  if (Listens)
    Builder.CreateFence(AtomicOrdering::AcquireRelease, Context.getOrInsertSyncScopeID("device"));
  Own->addIncoming(Builder.getFalse(), Next);
  Builder.CreateBr(Head);
}
