// A stack of children that the launching thread runs itself, where nothing orders them: `launches/stack/mod.rs` says when
// that is right.
//
// LLVM's C interface can neither split blocks nor add to a function's beginning.

#include "own.h"

/// Makes a loop of a kernel, whose thread runs what these sites launch behind its own work, from a stack of `Depth`
/// records; a child that it comes to after so many cycles is launched as long as others wait.
extern "C" void cdp_launches_stack(LLVMValueRef KernelRef, const LLVMValueRef *Sites, unsigned Count, unsigned Depth,
                                   uint64_t Cycles, int Listens) {
  OwnChildren Stack(*unwrap<Function>(KernelRef), callsOf(Sites, Count), Depth);
  AllocaInst *Began = nullptr;
  Stack.loop([&](IRBuilder<> &Builder) { Began = Stack.variable(Builder, clockOf(Builder)); });
  for (CallBase *Site : Stack.Sites) {
    // Where there is room, and the thread has not worked for long or has nothing else to do.
    IRBuilder<> Builder(Site);
    Value *Waiting = Stack.read(Builder, Stack.Top);
    Value *None = Builder.CreateICmpEQ(Waiting, Builder.getInt32(0));
    Value *Room = Builder.CreateICmpULT(Waiting, Builder.getInt32(Depth));
    Value *Took = Builder.CreateSub(clockOf(Builder), Stack.read(Builder, Began));
    Value *Early = Builder.CreateICmpULT(Took, Builder.getInt64(Cycles));
    Instruction *Kept = nullptr, *Launched = nullptr;
    SplitBlockAndInsertIfThenElse(Builder.CreateAnd(Room, Builder.CreateOr(None, Early)), Site->getIterator(), &Kept,
                                  &Launched);
    Site->moveBefore(Launched->getIterator());
    Builder.SetInsertPoint(Kept);
    Stack.push(Builder, *Site, Waiting);
  }
  IRBuilder<> Builder(Stack.Done);
  Value *Waiting = Stack.read(Builder, Stack.Top);
  Builder.CreateCondBr(Builder.CreateICmpEQ(Waiting, Builder.getInt32(0)), Stack.Out, Stack.Next);
  Builder.SetInsertPoint(Stack.Next);
  // With nothing else to do the thread has as much time as at its beginning.
  Value *Alone = Builder.CreateICmpEQ(Stack.take(Builder, Waiting), Builder.getInt32(0));
  Builder.CreateStore(Builder.CreateSelect(Alone, clockOf(Builder), Stack.read(Builder, Began)), Began);
  Stack.goOn(Builder, Listens);
}
