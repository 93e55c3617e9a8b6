// A kernel whose thread runs children of its own, one thread each, from a stack: what both orders have in common, that of
// `stack.cpp`, which nobody can tell, and that of a stream (`in_order.cpp`).

#pragma once

#include "../../axes.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

/// A child's thread is the only one of its grid: what it reads of its place in it.
Value *placeOfOne(const Instruction &I) {
  if (axisOf(I, Intrinsic::nvvm_read_ptx_sreg_ctaid_x) || axisOf(I, Intrinsic::nvvm_read_ptx_sreg_tid_x))
    return ConstantInt::get(I.getType(), 0);
  if (axisOf(I, Intrinsic::nvvm_read_ptx_sreg_nctaid_x) || axisOf(I, Intrinsic::nvvm_read_ptx_sreg_ntid_x))
    return ConstantInt::get(I.getType(), 1);
  return nullptr;
}

/// What the planning is told of a launch (`launches/parent.rs`).
void say(CallBase &Site, ArrayRef<StringRef> Words) {
  LLVMContext &Context = Site.getContext();
  unsigned Kind = Context.getMDKindID("cdp.site");
  SmallVector<Metadata *, 8> Said;
  if (const MDNode *Node = Site.getMetadata(Kind))
    Said.append(Node->op_begin(), Node->op_end());
  // Place and names.
  while (Said.size() < 5)
    Said.push_back(MDString::get(Context, ""));
  for (StringRef Word : Words)
    Said.push_back(MDString::get(Context, Word));
  Site.setMetadata(Kind, MDNode::get(Context, Said));
}

/// The parameter of a kernel that a launch hands over.
Value *operand(const CallBase &Site, unsigned Parameter) { return Site.getArgOperand(9 + Parameter); }

/// The parameters of a kernel for which children that these sites launch get other values.
SmallVector<unsigned, 16> changing(const Function &Kernel, ArrayRef<CallBase *> Sites) {
  SmallVector<unsigned, 16> Fields;
  for (const Argument &Arg : Kernel.args())
    if (any_of(Sites, [&](CallBase *Site) { return operand(*Site, Arg.getArgNo()) != &Arg; }))
      Fields.push_back(Arg.getArgNo());
  return Fields;
}

/// What such parameters lie in while a child waits.
StructType *recordOf(const Function &Kernel, ArrayRef<unsigned> Fields) {
  SmallVector<Type *, 16> Types;
  for (unsigned Field : Fields)
    Types.push_back(Kernel.getArg(Field)->getType());
  return StructType::get(Kernel.getContext(), Types);
}

Value *clockOf(IRBuilder<> &Builder) {
  return Builder.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_clock64, ArrayRef<Value *>());
}

/// A kernel that becomes a loop: its thread begins with its own work, and goes on with what is on its stack. A record
/// holds the parameters that children get other values for.
class OwnChildren {
public:
  Function &Kernel;
  LLVMContext &Context;
  SmallVector<CallBase *, 8> Sites;
  const unsigned Depth;
  SmallVector<unsigned, 16> Fields;
  StructType *Record;
  AllocaInst *Records, *Top;
  /// The kernel's code, its end, what takes the next child, and the end of the loop.
  BasicBlock *Head, *Done, *Next, *Out;

  OwnChildren(Function &Kernel, ArrayRef<CallBase *> Own, unsigned Depth)
      : Kernel(Kernel), Context(Kernel.getContext()), Sites(Own), Depth(Depth),
        Fields(changing(Kernel, Own)), Record(recordOf(Kernel, Fields)), Head(&Kernel.getEntryBlock()) {}

  /// A variable of the thread, with what it holds first.
  AllocaInst *variable(IRBuilder<> &Builder, Value *First) const {
    AllocaInst *Variable = Builder.CreateAlloca(First->getType());
    Builder.CreateStore(First, Variable);
    return Variable;
  }

  Value *read(IRBuilder<> &Builder, AllocaInst *Variable) const {
    return Builder.CreateLoad(Variable->getAllocatedType(), Variable);
  }

  Value *at(IRBuilder<> &Builder, Value *Index, unsigned Field) const {
    return Builder.CreateInBoundsGEP(Records->getAllocatedType(), Records,
                                     {Builder.getInt32(0), Index, Builder.getInt32(Field)});
  }

  Value *load(IRBuilder<> &Builder, Value *Index, unsigned Field) const {
    return Builder.CreateLoad(Record->getElementType(Field), at(Builder, Index, Field));
  }

  /// Puts what a site launches on the stack.
  void push(IRBuilder<> &Builder, const CallBase &Site, Value *Count) const {
    for (unsigned Field = 0; Field < Fields.size(); ++Field)
      Builder.CreateStore(operand(Site, Fields[Field]), at(Builder, Count, Field));
    Builder.CreateStore(Builder.CreateAdd(Count, Builder.getInt32(1)), Top);
  }

  /// Makes the loop; its variables are those that `begin` makes where the kernel begins.
  void loop(function_ref<void(IRBuilder<> &)> Begin) {
    SmallVector<ReturnInst *, 8> Returns;
    SmallVector<std::pair<Instruction *, Value *>, 8> Places;
    for (Instruction &I : instructions(Kernel)) {
      if (auto *Return = dyn_cast<ReturnInst>(&I))
        Returns.push_back(Return);
      if (Value *Place = placeOfOne(I))
        Places.push_back({&I, Place});
    }
    BasicBlock *Start = BasicBlock::Create(Context, "stack.start", &Kernel, Head);
    IRBuilder<> Builder(Start);
    Records = Builder.CreateAlloca(ArrayType::get(Record, Depth));
    Top = variable(Builder, Builder.getInt32(0));
    Begin(Builder);
    Builder.CreateBr(Head);
    for (Instruction &I : make_early_inc_range(*Head))
      if (isa<AllocaInst>(I))
        I.moveBefore(Records->getIterator());
    // What the thread is at: its own work first.
    Builder.SetInsertPoint(Head, Head->begin());
    Own = Builder.CreatePHI(Builder.getInt1Ty(), 2, "stack.own");
    Own->addIncoming(Builder.getTrue(), Start);
    for (unsigned Field : Fields) {
      Argument *Arg = Kernel.getArg(Field);
      PHINode *Now = Builder.CreatePHI(Arg->getType(), 2, Arg->getName());
      Arg->replaceAllUsesWith(Now);
      Now->addIncoming(Arg, Start);
      Arguments.push_back(Now);
    }
    for (auto [Read, Place] : Places) {
      Builder.SetInsertPoint(Read->getParent(), std::next(Read->getIterator()));
      auto *Chosen = cast<Instruction>(Builder.CreateSelect(Own, Read, Place));
      Read->replaceUsesWithIf(Chosen, [&](Use &U) { return U.getUser() != Chosen; });
    }
    Done = BasicBlock::Create(Context, "stack.done", &Kernel);
    Next = BasicBlock::Create(Context, "stack.next", &Kernel);
    Out = BasicBlock::Create(Context, "stack.out", &Kernel);
    for (ReturnInst *Return : Returns) {
      Builder.SetInsertPoint(Return);
      Builder.CreateBr(Done);
      Return->eraseFromParent();
    }
    Builder.SetInsertPoint(Out);
    Builder.CreateRetVoid();
  }

  /// Takes the last child of so many from the stack; yields how many are left. It ends `Next`, behind which the thread goes
  /// on with that child (`goOn`).
  Value *take(IRBuilder<> &Builder, Value *Waiting) {
    Value *Left = Builder.CreateSub(Waiting, Builder.getInt32(1));
    Builder.CreateStore(Left, Top);
    for (unsigned Field = 0; Field < Fields.size(); ++Field)
      Arguments[Field]->addIncoming(load(Builder, Left, Field), Next);
    return Left;
  }

  void goOn(IRBuilder<> &Builder, bool Listens) {
    if (Listens)
      Builder.CreateFence(AtomicOrdering::AcquireRelease, Context.getOrInsertSyncScopeID("device"));
    Own->addIncoming(Builder.getFalse(), Next);
    Builder.CreateBr(Head);
  }

private:
  PHINode *Own;
  SmallVector<PHINode *, 16> Arguments;
};

SmallVector<CallBase *, 8> callsOf(const LLVMValueRef *Sites, unsigned Count) {
  SmallVector<CallBase *, 8> Calls;
  for (LLVMValueRef Site : ArrayRef(Sites, Count))
    Calls.push_back(cast<CallBase>(unwrap(Site)));
  return Calls;
}

} // namespace
