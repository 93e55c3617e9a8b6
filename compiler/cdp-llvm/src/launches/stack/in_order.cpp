// A stack of children that the launching thread runs itself in the order of their stream: `launches/stack/in_order.rs` says
// when that is right.
//
// LLVM's C interface can neither split blocks nor add to a function's beginning.

#include "own.h"

namespace {

/// A launch of another kernel, which the thread may run where it launches it, if it has a body.
struct Leaf {
  CallBase *Site;
  Function *Body;
  /// The most threads of its blocks and of its grid.
  uint64_t MostThreads, MostWork;
};

/// The stack of a thread whose children have an order: those of what it is at lie on it from `Base` on, the first one
/// lowest; below them is what comes behind it, the next one on top.
class OrderedChildren : public OwnChildren {
public:
  using OwnChildren::OwnChildren;

  void make(ArrayRef<Leaf> Leaves, bool BlocksOfOne, bool Listens) {
    loop([&](IRBuilder<> &Builder) {
      Base = variable(Builder, Builder.getInt32(0));
      Written = variable(Builder, BlocksOfOne ? hasMoreThreads(Builder) : Builder.getFalse());
    });
    for (CallBase *Site : Sites)
      keepAt(Site);
    for (const Leaf &Child : Leaves)
      runAt(Child);
    end(Listens);
  }

private:
  /// `Written` is set where children are launched, as they are written.
  AllocaInst *Base, *Written;

  static Value *hasMoreThreads(IRBuilder<> &Builder) {
    Value *More = Builder.getFalse();
    for (Intrinsic::ID Size : {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                               Intrinsic::nvvm_read_ptx_sreg_ntid_z}) {
      Value *Threads = Builder.CreateIntrinsic(Size, ArrayRef<Value *>());
      More = Builder.CreateOr(More, Builder.CreateICmpNE(Threads, Builder.getInt32(1)));
    }
    return More;
  }

  /// Launches so many records before an instruction, from this one on upwards or downwards.
  void launchRecords(Instruction *At, Value *First, int Step, Value *Count) {
    BasicBlock *Before = At->getParent();
    BasicBlock *Behind = SplitBlock(Before, At);
    BasicBlock *Launch = BasicBlock::Create(Context, "stack.launch", &Kernel, Behind);
    Before->getTerminator()->eraseFromParent();
    IRBuilder<> Builder(Before);
    Builder.CreateCondBr(Builder.CreateICmpEQ(Count, Builder.getInt32(0)), Behind, Launch);
    Builder.SetInsertPoint(Launch);
    PHINode *Index = Builder.CreatePHI(Builder.getInt32Ty(), 2), *Left = Builder.CreatePHI(Builder.getInt32Ty(), 2);
    auto *Call = cast<CallBase>(Sites.front()->clone());
    for (unsigned Field = 0; Field < Fields.size(); ++Field)
      Call->setArgOperand(9 + Fields[Field], load(Builder, Index, Field));
    Builder.Insert(Call);
    say(*Call, {"again"});
    Value *Fewer = Builder.CreateSub(Left, Builder.getInt32(1));
    Index->addIncoming(First, Before);
    Left->addIncoming(Count, Before);
    Index->addIncoming(Builder.CreateAdd(Index, Builder.getInt32(Step)), Launch);
    Left->addIncoming(Fewer, Launch);
    Builder.CreateCondBr(Builder.CreateICmpEQ(Fewer, Builder.getInt32(0)), Behind, Launch);
  }

  /// Has a site launch as written, behind what its node launched before, and with it all that comes behind.
  void launchAt(Instruction *Site) {
    IRBuilder<> Builder(Site);
    Value *First = read(Builder, Base), *Mine = Builder.CreateSub(read(Builder, Top), First);
    Builder.CreateStore(First, Top);
    Builder.CreateStore(Builder.getTrue(), Written);
    launchRecords(Site, First, 1, Mine);
  }

  void keepAt(CallBase *Site) {
    IRBuilder<> Builder(Site);
    Value *Waiting = read(Builder, Top);
    Value *Room = Builder.CreateICmpULT(Waiting, Builder.getInt32(Depth));
    Value *Keep = Builder.CreateAnd(Builder.CreateNot(read(Builder, Written)), Room);
    Instruction *Kept = nullptr, *Launched = nullptr;
    SplitBlockAndInsertIfThenElse(Keep, Site->getIterator(), &Kept, &Launched);
    Site->moveBefore(Launched->getIterator());
    launchAt(Site);
    Builder.SetInsertPoint(Kept);
    push(Builder, *Site, Waiting);
  }

  /// A small grid of another kernel, along x, before which the thread has nothing else to run.
  void runAt(const Leaf &Child) {
    if (!Child.Body)
      return launchAt(Child.Site);
    IRBuilder<> Builder(Child.Site);
    auto Size = [&](unsigned Index) { return Child.Site->getArgOperand(Index); };
    Value *Waiting = read(Builder, Top);
    Value *Run = Builder.CreateICmpEQ(Waiting, read(Builder, Base));
    Run = Builder.CreateAnd(Run, Builder.CreateNot(read(Builder, Written)));
    for (unsigned Index : {2, 3, 5, 6})
      Run = Builder.CreateAnd(Run, Builder.CreateICmpEQ(Size(Index), Builder.getInt32(1)));
    Value *Blocks = Builder.CreateZExt(Size(1), Builder.getInt64Ty());
    Value *Threads = Builder.CreateZExt(Size(4), Builder.getInt64Ty());
    Value *Work = Builder.CreateMul(Blocks, Threads);
    Run = Builder.CreateAnd(Run, Builder.CreateICmpNE(Work, Builder.getInt64(0)));
    Run = Builder.CreateAnd(Run, Builder.CreateICmpULE(Work, Builder.getInt64(Child.MostWork)));
    Run = Builder.CreateAnd(Run, Builder.CreateICmpULE(Threads, Builder.getInt64(Child.MostThreads)));
    Instruction *Ran = nullptr, *Launched = nullptr;
    SplitBlockAndInsertIfThenElse(Run, Child.Site->getIterator(), &Ran, &Launched);
    SmallVector<Value *, 24> Given;
    for (unsigned Index = 9; Index < Child.Site->arg_size(); ++Index)
      Given.push_back(Child.Site->getArgOperand(Index));
    runThreads(Child.Body, Given, Size(1), Size(4), Ran);
    Child.Site->moveBefore(Launched->getIterator());
    launchAt(Child.Site);
  }

  /// All threads of a grid along x, one after another.
  void runThreads(Function *Body, ArrayRef<Value *> Given, Value *Blocks, Value *Threads, Instruction *Ran) {
    BasicBlock *Before = Ran->getParent();
    BasicBlock *Behind = SplitBlock(Before, Ran);
    BasicBlock *Turn = BasicBlock::Create(Context, "stack.thread", &Kernel, Behind);
    Before->getTerminator()->setSuccessor(0, Turn);
    IRBuilder<> Builder(Turn);
    Builder.SetCurrentDebugLocation(Ran->getDebugLoc());
    Type *Word = Builder.getInt32Ty();
    Value *Zero = Builder.getInt32(0), *One = Builder.getInt32(1);
    PHINode *Global = Builder.CreatePHI(Word, 2), *Block = Builder.CreatePHI(Word, 2);
    PHINode *Thread = Builder.CreatePHI(Word, 2);
    SmallVector<Value *, 24> All(Given);
    All.append({Block, Zero, Zero, Thread, Zero, Zero, Blocks, One, One, Threads, One, One, Global});
    Builder.CreateCall(Body, All);
    Value *NextThread = Builder.CreateAdd(Thread, One), *NextGlobal = Builder.CreateAdd(Global, One);
    Value *Whole = Builder.CreateICmpEQ(NextThread, Threads);
    Value *NextBlock = Builder.CreateSelect(Whole, Builder.CreateAdd(Block, One), Block);
    Value *First = Builder.CreateSelect(Whole, Zero, NextThread);
    for (auto [Now, Then] : {std::pair{Global, NextGlobal}, {Block, NextBlock}, {Thread, First}}) {
      Now->addIncoming(Zero, Before);
      Now->addIncoming(Then, Turn);
    }
    Builder.CreateCondBr(Builder.CreateICmpEQ(NextBlock, Blocks), Behind, Turn);
  }

  /// What the thread does when it has come to the end of what it was at.
  void end(bool Listens) {
    BasicBlock *Rest = BasicBlock::Create(Context, "stack.rest", &Kernel);
    BasicBlock *Turns = BasicBlock::Create(Context, "stack.turn", &Kernel);
    BasicBlock *Swap = BasicBlock::Create(Context, "stack.swap", &Kernel);
    BasicBlock *Some = BasicBlock::Create(Context, "stack.some", &Kernel);
    IRBuilder<> Builder(Done);
    Value *Zero = Builder.getInt32(0), *One = Builder.getInt32(1);
    Value *Waiting = read(Builder, Top), *First = read(Builder, Base);
    Value *Highest = Builder.CreateSub(Waiting, One);
    Builder.CreateCondBr(read(Builder, Written), Rest, Turns);
    // What comes behind launched children is launched behind them.
    Builder.SetInsertPoint(Rest);
    launchRecords(Builder.CreateBr(Out), Highest, -1, Waiting);
    // The first child is to be on top.
    Builder.SetInsertPoint(Turns);
    PHINode *Low = Builder.CreatePHI(Builder.getInt32Ty(), 2), *High = Builder.CreatePHI(Builder.getInt32Ty(), 2);
    Low->addIncoming(First, Done);
    High->addIncoming(Highest, Done);
    Builder.CreateCondBr(Builder.CreateICmpSLT(Low, High), Swap, Some);
    Builder.SetInsertPoint(Swap);
    for (unsigned Field = 0; Field < Fields.size(); ++Field) {
      Value *Lower = load(Builder, Low, Field), *Higher = load(Builder, High, Field);
      Builder.CreateStore(Higher, at(Builder, Low, Field));
      Builder.CreateStore(Lower, at(Builder, High, Field));
    }
    Low->addIncoming(Builder.CreateAdd(Low, One), Swap);
    High->addIncoming(Builder.CreateSub(High, One), Swap);
    Builder.CreateBr(Turns);
    Builder.SetInsertPoint(Some);
    Builder.CreateCondBr(Builder.CreateICmpEQ(Waiting, Zero), Out, Next);
    Builder.SetInsertPoint(Next);
    Builder.CreateStore(take(Builder, Waiting), Base);
    goOn(Builder, Listens);
  }
};

} // namespace

/// Makes a loop of a kernel, whose thread runs what these sites launch behind its own work in its order, from a stack of
/// `Depth` records, and the bodies of leaves where it launches them; where `BlocksOfOne`, in blocks of one thread only.
/// What is launched all the same may be `Recorded`.
extern "C" void cdp_launches_stack_in_order(LLVMValueRef KernelRef, const LLVMValueRef *Sites, unsigned Count,
                                            const LLVMValueRef *LeafSites, const LLVMValueRef *LeafBodies,
                                            const uint64_t *LeafLimits, unsigned LeafCount, unsigned Depth,
                                            int BlocksOfOne, int Recorded, int Listens) {
  SmallVector<Leaf, 4> Leaves;
  for (unsigned Index = 0; Index < LeafCount; ++Index)
    Leaves.push_back({cast<CallBase>(unwrap(LeafSites[Index])), cast_or_null<Function>(unwrap(LeafBodies[Index])),
                      LeafLimits[2 * Index], LeafLimits[2 * Index + 1]});
  auto Own = callsOf(Sites, Count);
  auto Behind = [&](CallBase &Site) { Recorded ? say(Site, {"behind"}) : say(Site, {"behind", "keep"}); };
  for (CallBase *Site : Own)
    Behind(*Site);
  for (const Leaf &Child : Leaves)
    Behind(*Child.Site);
  OrderedChildren(*unwrap<Function>(KernelRef), Own, Depth).make(Leaves, BlocksOfOne, Listens);
}
