// A stack of children that all lanes of a warp run: `launches/stack/warp.rs` says when that is right.
//
// LLVM's C interface can neither copy a function, split blocks nor add to a function's beginning.

#include "own.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace {

constexpr unsigned Lanes = 32;

/// When a lane launches a child instead of leaving it to the warp.
struct Limits {
  /// Records of the stack.
  unsigned Depth;
  /// Cycles of one child after which the warp keeps no more than so few: its children may be as long, and lanes that do
  /// not do the same go one after another.
  uint64_t Long;
  unsigned Few;
  /// Cycles without an empty stack after which it keeps no more than there are lanes.
  uint64_t Busy;
};

/// A kernel whose grids of one thread are blocks of one warp. The first lane begins; all of them run what any of them
/// launches, each one child at a time, and take the next ones together.
class WarpChildren {
public:
  WarpChildren(Function &Kernel, ArrayRef<CallBase *> Sites, Limits Limit)
      : Kernel(Kernel), Sites(Sites), Limit(Limit), Fields(changing(Kernel, Sites)), Builder(Kernel.getContext()), Record(recordOf(Kernel, Fields)) {}

  void make(bool Listens) {
    SmallVector<ReturnInst *, 8> Returns;
    for (Instruction &I : make_early_inc_range(instructions(Kernel))) {
      if (auto *Return = dyn_cast<ReturnInst>(&I))
        Returns.push_back(Return);
      // All of its grids are of one thread.
      if (Value *Place = placeOfOne(I)) {
        I.replaceAllUsesWith(Place);
        I.eraseFromParent();
      }
    }
    BasicBlock *Head = &Kernel.getEntryBlock();
    BasicBlock *Start = block("warp.start", Head), *Turn = block("warp.turn", Head);
    BasicBlock *Met = block("warp.met"), *Next = block("warp.next"), *Out = block("warp.out");
    for (ReturnInst *Return : Returns) {
      Builder.SetInsertPoint(Return);
      Builder.CreateBr(Met);
      Return->eraseFromParent();
    }
    Builder.SetInsertPoint(Start);
    makeRoom();
    Value *Lane = Builder.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, ArrayRef<Value *>());
    Value *First = Builder.CreateICmpEQ(Lane, Builder.getInt32(0));
    storeBy(First, Builder.getInt32(0));
    Start = Builder.GetInsertBlock();
    meet();
    Value *Begin = clockOf(Builder);
    Builder.CreateBr(Turn);
    for (Instruction &I : make_early_inc_range(*Head))
      if (isa<AllocaInst>(I))
        I.moveBefore(Kernel.getEntryBlock(), Kernel.getEntryBlock().begin());

    Builder.SetInsertPoint(Turn);
    PHINode *Has = phi(First, Start), *Began = phi(Begin, Start), *Since = phi(Begin, Start);
    SmallVector<PHINode *, 16> Arguments;
    for (unsigned Field : Fields) {
      Argument *Arg = Kernel.getArg(Field);
      PHINode *Now = Builder.CreatePHI(Arg->getType(), 2);
      Arg->replaceAllUsesWith(Now);
      Now->addIncoming(Arg, Start);
      Arguments.push_back(Now);
    }
    Builder.CreateCondBr(Has, Head, Met);
    for (CallBase *Site : Sites)
      keepAt(Site, Began, Since);

    Builder.SetInsertPoint(Met);
    meet();
    Value *Count = umin(Builder.CreateLoad(Builder.getInt32Ty(), Top), Builder.getInt32(Limit.Depth));
    Builder.CreateCondBr(Builder.CreateICmpEQ(Count, Builder.getInt32(0)), Out, Next);

    Builder.SetInsertPoint(Next);
    if (Listens)
      Builder.CreateFence(AtomicOrdering::AcquireRelease, Kernel.getContext().getOrInsertSyncScopeID("device"));
    Value *Takes = Builder.CreateICmpULT(Lane, Count);
    Value *Taken = umin(Count, Builder.getInt32(Lanes)), *Left = Builder.CreateSub(Count, Taken);
    // From the top: what lies there is the smallest. A lane without a child reads one that is there.
    Value *Behind = umin(Lane, Builder.CreateSub(Count, Builder.getInt32(1)));
    Value *Index = Builder.CreateSub(Builder.CreateSub(Count, Builder.getInt32(1)), Behind);
    SmallVector<Value *, 16> Loaded;
    for (unsigned Field = 0; Field < Fields.size(); ++Field)
      Loaded.push_back(Builder.CreateLoad(Record->getElementType(Field), at(Index, Field)));
    meet();
    storeBy(First, Left);
    meet();
    Value *Now = clockOf(Builder);
    Value *None = Builder.CreateICmpEQ(Left, Builder.getInt32(0));
    BasicBlock *Again = Builder.GetInsertBlock();
    Has->addIncoming(Takes, Again);
    Began->addIncoming(Now, Again);
    Since->addIncoming(Builder.CreateSelect(None, Now, Since), Again);
    for (auto [Argument, Value] : zip(Arguments, Loaded))
      Argument->addIncoming(Value, Again);
    Builder.CreateBr(Turn);

    Builder.SetInsertPoint(Out);
    Builder.CreateRetVoid();
  }

private:
  Function &Kernel;
  const SmallVector<CallBase *, 8> Sites;
  const Limits Limit;
  const SmallVector<unsigned, 16> Fields;
  IRBuilder<> Builder;
  StructType *const Record;
  /// In shared memory: how many wanted a place, and the records.
  Value *Top = nullptr, *Records = nullptr;

  BasicBlock *block(const char *Name, BasicBlock *Before = nullptr) {
    return BasicBlock::Create(Kernel.getContext(), Name, &Kernel, Before);
  }

  PHINode *phi(Value *Initial, BasicBlock *From) {
    PHINode *Phi = Builder.CreatePHI(Initial->getType(), 2);
    Phi->addIncoming(Initial, From);
    return Phi;
  }

  Value *umin(Value *A, Value *B) { return Builder.CreateBinaryIntrinsic(Intrinsic::umin, A, B); }

  /// Lanes see what others wrote before.
  void meet() { Builder.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {Builder.getInt32(-1)}); }

  void makeRoom() {
    auto shared = [&](Type *Ty, const char *Name) {
      auto *Variable =
          new GlobalVariable(*Kernel.getParent(), Ty, false, GlobalValue::InternalLinkage, UndefValue::get(Ty), Name,
                             nullptr, GlobalValue::NotThreadLocal, 3);
      Variable->setAlignment(Align(16));
      return Variable;
    };
    Top = shared(Builder.getInt32Ty(), "__cdp_warp_top");
    Records = shared(ArrayType::get(Record, Limit.Depth), "__cdp_warp_records");
  }

  Value *at(Value *Index, unsigned Field) {
    return Builder.CreateInBoundsGEP(ArrayType::get(Record, Limit.Depth), Records,
                                     {Builder.getInt32(0), Index, Builder.getInt32(Field)});
  }

  /// The first lane says how many records there are.
  void storeBy(Value *First, Value *Count) {
    BasicBlock *Store = block("warp.store"), *Behind = block("warp.stored");
    Builder.CreateCondBr(First, Store, Behind);
    Builder.SetInsertPoint(Store);
    Builder.CreateStore(Count, Top);
    Builder.CreateBr(Behind);
    Builder.SetInsertPoint(Behind);
  }

  /// Leaves a child to the warp where there is room, and it is not better launched. A place is asked for by those only
  /// that would use it, so that records have no holes.
  void keepAt(CallBase *Site, Value *Began, Value *Since) {
    BasicBlock *Here = Site->getParent(), *Behind = SplitBlock(Here, Site->getNextNode());
    BasicBlock *Launch = SplitBlock(Here, Site), *Ask = block("warp.ask", Launch), *Keep = block("warp.keep", Launch);
    Here->getTerminator()->eraseFromParent();
    Builder.SetInsertPoint(Here);
    Value *Now = clockOf(Builder), *Depth = Builder.getInt32(Limit.Depth);
    Value *Busy = Builder.CreateICmpUGT(Builder.CreateSub(Now, Since), Builder.getInt64(Limit.Busy));
    Value *Long = Builder.CreateICmpUGT(Builder.CreateSub(Now, Began), Builder.getInt64(Limit.Long));
    Value *Most = Builder.CreateSelect(Long, Builder.getInt32(Limit.Few),
                                       Builder.CreateSelect(Busy, Builder.getInt32(Lanes), Depth));
    LoadInst *Waiting = Builder.CreateAlignedLoad(Builder.getInt32Ty(), Top, Align(4));
    SyncScope::ID Scope = Kernel.getContext().getOrInsertSyncScopeID("block");
    Waiting->setAtomic(AtomicOrdering::Monotonic, Scope);
    Builder.CreateCondBr(Builder.CreateICmpULT(Waiting, Most), Ask, Launch);
    Builder.SetInsertPoint(Ask);
    Value *Place = Builder.CreateAtomicRMW(AtomicRMWInst::Add, Top, Builder.getInt32(1), Align(4),
                                           AtomicOrdering::Monotonic, Scope);
    Builder.CreateCondBr(Builder.CreateICmpULT(Place, Depth), Keep, Launch);
    Builder.SetInsertPoint(Keep);
    for (unsigned Field = 0; Field < Fields.size(); ++Field)
      Builder.CreateStore(operand(*Site, Fields[Field]), at(Place, Field));
    Builder.CreateBr(Behind);
  }
};

} // namespace

/// A copy of a kernel for grids of one thread, as blocks of one warp whose lanes run what these sites launch. What is said
/// of its launches was said of the kernel's.
extern "C" LLVMValueRef cdp_launches_of_warp(LLVMValueRef KernelRef, const LLVMValueRef *Sites, unsigned Count,
                                             const char *Name, size_t Size, unsigned Depth, uint64_t Long,
                                             unsigned Few, uint64_t Busy, int Listens) {
  auto &Kernel = *unwrap<Function>(KernelRef);
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&Kernel, Map);
  Copy->setName(StringRef(Name, Size));
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setComdat(nullptr);
  SmallVector<CallBase *, 8> Own;
  for (CallBase *Site : callsOf(Sites, Count))
    Own.push_back(cast<CallBase>(&*Map[Site]));
  for (Instruction &I : instructions(*Copy)) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Called = Call ? Call->getCalledFunction() : nullptr;
    if (Called && Called == Own.front()->getCalledFunction())
      say(*Call, {"again"});
  }
  WarpChildren(*Copy, Own, {std::min(Depth, 1u << 16), Long, Few, Busy}).make(Listens);
  return wrap(Copy);
}

/// Has a site that launches one thread launch a kernel in blocks of one warp.
extern "C" void cdp_launches_by_warp(LLVMValueRef SiteRef, LLVMValueRef KernelRef) {
  auto *Site = cast<CallBase>(unwrap(SiteRef));
  Site->setArgOperand(0, unwrap(KernelRef));
  Site->setArgOperand(4, ConstantInt::get(Site->getArgOperand(4)->getType(), Lanes));
}
