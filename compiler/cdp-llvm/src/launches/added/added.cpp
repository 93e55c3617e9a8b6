// Blocks whose threads add up in shared memory: `launches/added/mod.rs` says what for and why it is right.
//
// The block is run here, thread by thread and from barrier to barrier, with values that are numbers, places in shared memory,
// or sums of what threads have put there; LLVM's C interface can neither do that nor copy a kernel.

#include "known.h"
#include "llvm-c/Core.h"

namespace added {
namespace {

/// A block of one size, run with numbers that are known.
class Block {
public:
  Block(Function &F, const unsigned Size[3]) : F(F), Layout(F.getParent()->getDataLayout()), Size(Size) {
    Count = Size[0] * Size[1] * Size[2];
  }

  /// Where the threads' own part ends, if each thread comes there once and touches nothing of the block's before.
  bool findBegin();
  /// Runs the block; whether what it does is add up.
  bool run();
  /// Has each thread add its own instead.
  void rewrite();

private:
  struct Thread {
    DenseMap<const Value *, Known> Values;
    BasicBlock *Now = nullptr, *From = nullptr;
    BasicBlock::iterator Next;
    bool Ended = false;
  };
  struct Slot {
    Known Holds;
    int Writer = -1, Reader = -1;
    unsigned Phase = ~0u;
  };

  Known look(Thread &T, unsigned Id, Value *V, unsigned Depth = 0);
  Known compute(Thread &T, unsigned Id, Instruction &I, unsigned Depth);
  Known together(Instruction &I, const Known &A, const Known &B);
  Known place(Thread &T, unsigned Id, GEPOperator &GEP, unsigned Depth);
  Slot *slot(const Known &At, Type *Ty, unsigned Id, bool Writes);
  bool step(Thread &T, unsigned Id, Instruction &I);
  bool runTo(Thread &T, unsigned Id, Instruction *&Barrier);
  bool put(Thread &T, unsigned Id, StoreInst &Store);
  bool adds(Thread &T, unsigned Id, AtomicRMWInst &Atomic);
  bool isAlike(Value *V, unsigned Depth = 0);
  Constant *onEdge(Value *V, BasicBlock *From, unsigned Depth = 0);
  Value *copyOf(Value *V, IRBuilder<> &Builder, DenseMap<Value *, Value *> &Copies);
  void leaveEarly(BasicBlock *Out, ArrayRef<AtomicRMWInst *> Owns);

  Function &F;
  const DataLayout &Layout;
  const unsigned *Size;
  unsigned Count = 0, Phase = 0, Steps = 0;
  BasicBlock *Begin = nullptr;
  std::map<std::pair<const GlobalVariable *, int64_t>, Slot> Memory;
  DenseMap<const GlobalVariable *, uint64_t> Width;
  MapVector<AtomicRMWInst *, StoreInst *> Found;
};

bool Block::findBegin() {
  ReversePostOrderTraversal<Function *> Order(&F);
  for (BasicBlock *At : Order)
    if (any_of(*At, isOfBlock)) {
      Begin = At;
      break;
    }
  if (!Begin)
    return false;
  SmallPtrSet<BasicBlock *, 16> Behind;
  SmallVector<BasicBlock *, 16> Work(successors(Begin));
  while (!Work.empty()) {
    BasicBlock *At = Work.pop_back_val();
    if (Behind.insert(At).second)
      append_range(Work, successors(At));
  }
  if (Behind.count(Begin))
    return false;
  for (BasicBlock &At : F) {
    if (&At == Begin || Behind.count(&At))
      continue;
    if (any_of(At, isOfBlock) || succ_empty(&At))
      return false;
    if (any_of(successors(&At), [&](BasicBlock *Next) { return Next != Begin && Behind.count(Next); }))
      return false;
  }
  return true;
}

Known Block::place(Thread &T, unsigned Id, GEPOperator &GEP, unsigned Depth) {
  Known Base = look(T, Id, GEP.getPointerOperand(), Depth + 1);
  if (Base.Kind != Known::Place)
    return {};
  SmallMapVector<Value *, APInt, 4> Variable;
  APInt Fixed(Layout.getIndexTypeSizeInBits(GEP.getType()), 0);
  if (!GEP.collectOffset(Layout, Fixed.getBitWidth(), Variable, Fixed))
    return {};
  Base.At += Fixed.getSExtValue();
  for (auto &[Index, Scale] : Variable) {
    Known By = look(T, Id, Index, Depth + 1);
    const auto *Found = By.Kind == Known::Number ? dyn_cast<ConstantInt>(By.Of) : nullptr;
    if (!Found)
      return {};
    Base.At += Found->getSExtValue() * Scale.getSExtValue();
  }
  return Base;
}

Known Block::together(Instruction &I, const Known &A, const Known &B) {
  std::optional<Op> How = operation(I);
  if (!How || A.Kind != Known::Sum || B.Kind != Known::Sum || A.By != B.By)
    return {};
  if ((A.How && A.How != How) || (B.How && B.How != How))
    return {};
  // Twice the same is not the same for all operations.
  if (A.Who.anyCommon(B.Who))
    return {};
  Known Both = A;
  Both.Who |= B.Who;
  Both.How = How;
  return Both;
}

Known Block::look(Thread &T, unsigned Id, Value *V, unsigned Depth) {
  if (auto *Variable = dyn_cast<GlobalVariable>(V)) {
    Known At;
    if (Variable->getAddressSpace() != Shared)
      return At;
    At.Kind = Known::Place;
    At.In = Variable;
    return At;
  }
  if (isa<ConstantInt>(V))
    return number(cast<Constant>(V));
  if (Depth > 16)
    return {};
  if (auto *GEP = dyn_cast<GEPOperator>(V); GEP && isa<Constant>(V))
    return place(T, Id, *GEP, Depth);
  if (auto *Cast = dyn_cast<AddrSpaceCastOperator>(V); Cast && isa<Constant>(V))
    return look(T, Id, Cast->getPointerOperand(), Depth + 1);
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return {};
  if (auto Found = T.Values.find(I); Found != T.Values.end())
    return Found->second;
  // Of what a thread did before: what it computed of its number.
  if (isa<PHINode>(I) || I->mayReadOrWriteMemory())
    return {};
  Known Result = compute(T, Id, *I, Depth);
  T.Values[I] = Result;
  return Result;
}

Known Block::compute(Thread &T, unsigned Id, Instruction &I, unsigned Depth) {
  if (auto Axis = axisOfSize(I))
    return number(ConstantInt::get(I.getType(), Size[*Axis]));
  if (auto Axis = axisOfThread(I)) {
    unsigned Of[3] = {Id % Size[0], Id / Size[0] % Size[1], Id / Size[0] / Size[1]};
    return number(ConstantInt::get(I.getType(), Of[*Axis]));
  }
  if (auto *GEP = dyn_cast<GEPOperator>(&I))
    return place(T, Id, *GEP, Depth);
  if (isa<AddrSpaceCastInst>(I))
    return look(T, Id, I.getOperand(0), Depth + 1);
  if (auto *Choice = dyn_cast<SelectInst>(&I)) {
    Known Condition = look(T, Id, Choice->getCondition(), Depth + 1);
    if (Condition.Kind != Known::Number)
      return {};
    return look(T, Id, Condition.isZero() ? Choice->getFalseValue() : Choice->getTrueValue(), Depth + 1);
  }
  const bool Folds = isa<BinaryOperator, CmpInst, CastInst, IntrinsicInst>(I);
  if (!Folds || I.mayReadOrWriteMemory() || !I.getType()->isIntegerTy())
    return {};
  SmallVector<Known, 2> All;
  SmallVector<Constant *, 2> Numbers;
  const unsigned Operands = isa<CallBase>(I) ? cast<CallBase>(I).arg_size() : I.getNumOperands();
  for (unsigned Index = 0; Index < Operands; ++Index) {
    All.push_back(look(T, Id, I.getOperand(Index), Depth + 1));
    if (All.back().Kind == Known::Number)
      Numbers.push_back(All.back().Of);
  }
  if (Numbers.size() == Operands) {
    Constant *Folded = nullptr;
    if (auto *Compare = dyn_cast<CmpInst>(&I))
      Folded = ConstantFoldCompareInstOperands(Compare->getPredicate(), Numbers[0], Numbers[1], Layout);
    else if (auto *Call = dyn_cast<CallBase>(&I))
      Folded = Call->getCalledFunction() ? ConstantFoldCall(Call, Call->getCalledFunction(), Numbers) : nullptr;
    else
      Folded = ConstantFoldInstOperands(&I, Numbers, Layout);
    return Folded && isa<ConstantInt>(Folded) ? number(Folded) : Known();
  }
  return Operands == 2 ? together(I, All[0], All[1]) : Known();
}

/// The word at a place; none where two threads touch it without a barrier between, and one of them writes.
Block::Slot *Block::slot(const Known &At, Type *Ty, unsigned Id, bool Writes) {
  const uint64_t Bytes = Layout.getTypeStoreSize(Ty).getFixedValue();
  uint64_t &Each = Width[At.In];
  if (Each == 0)
    Each = Bytes;
  if (Each != Bytes || At.At < 0 || At.At % Bytes != 0)
    return nullptr;
  Slot &Found = Memory[{At.In, At.At}];
  if (Found.Phase != Phase) {
    Found.Phase = Phase;
    Found.Writer = Found.Reader = -1;
  }
  const int Own = Id;
  const bool OthersWrite = Found.Writer >= 0 && Found.Writer != Own;
  const bool OthersRead = Found.Reader >= 0 && Found.Reader != Own;
  if (OthersWrite || (Writes && OthersRead))
    return nullptr;
  if (Writes)
    Found.Writer = Own;
  else
    // Several are as good as another.
    Found.Reader = OthersRead || Found.Reader == static_cast<int>(Count) ? Count : Own;
  return &Found;
}

bool Block::put(Thread &T, unsigned Id, StoreInst &Store) {
  Known At = look(T, Id, Store.getPointerOperand());
  Type *Ty = Store.getValueOperand()->getType();
  if (!Store.isSimple() || At.Kind != Known::Place || !Ty->isIntegerTy())
    return false;
  Slot *To = slot(At, Ty, Id, /*Writes=*/true);
  if (!To)
    return false;
  Known What = look(T, Id, Store.getValueOperand());
  if (What.Kind == Known::Place)
    return false;
  // A thread's own value, which is put there before the first barrier; numbers that are known are such too.
  if (Phase == 0 && Store.getParent() == Begin && What.Kind != Known::Sum) {
    What = Known();
    What.Kind = Known::Sum;
    What.By = &Store;
    What.Who = BitVector(Count);
    What.Who.set(Id);
  }
  if (What.Kind == Known::Nothing)
    return false;
  To->Holds = What;
  return true;
}

/// Whether a value is the same for all threads of the block, and any of them can compute it where the block begins.
bool Block::isAlike(Value *V, unsigned Depth) {
  if (isa<Argument>(V))
    return true;
  if (isa<Constant>(V))
    return !leadsToShared(V);
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth > 16 || axisOfThread(*I))
    return false;
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    // Of a struct that the kernel takes, and leaves as it is.
    auto *From = dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand()));
    if (!From || !From->hasByValAttr() || !Load->isSimple())
      return false;
    SmallVector<Value *, 8> Work{From};
    while (!Work.empty())
      for (User *By : Work.pop_back_val()->users()) {
        if (isa<GetElementPtrInst, AddrSpaceCastInst>(By))
          Work.push_back(By);
        else if (!isa<LoadInst>(By))
          return false;
      }
    return isAlike(Load->getPointerOperand(), Depth + 1);
  }
  const bool Register = isa<IntrinsicInst>(I) && !I->mayReadOrWriteMemory() &&
                        (axisOfSize(*I) || axisOf(*I, Intrinsic::nvvm_read_ptx_sreg_ctaid_x) ||
                         axisOf(*I, Intrinsic::nvvm_read_ptx_sreg_nctaid_x));
  if (!Register && !isa<GetElementPtrInst, AddrSpaceCastInst, CastInst>(I)) {
    auto *Binary = dyn_cast<BinaryOperator>(I);
    if (!Binary || Binary->isIntDivRem())
      return false;
  }
  return Register || all_of(I->operands(), [&](const Use &U) { return isAlike(U, Depth + 1); });
}

bool Block::adds(Thread &T, unsigned Id, AtomicRMWInst &Atomic) {
  Known What = look(T, Id, Atomic.getValOperand());
  if (!Atomic.use_empty() || Atomic.isVolatile() || Atomic.getOrdering() != AtomicOrdering::Monotonic)
    return false;
  if (What.Kind != Known::Sum || What.How != Atomic.getOperation() || !What.Who.all())
    return false;
  auto Other = [&](auto &Pair) { return Pair.first == &Atomic || Pair.second == What.By; };
  if (any_of(Found, Other) || !isAlike(Atomic.getPointerOperand()))
    return false;
  Found[&Atomic] = What.By;
  return true;
}

/// One instruction of a thread; false where it does something else than adding up.
bool Block::step(Thread &T, unsigned Id, Instruction &I) {
  if (++Steps > MostSteps)
    return false;
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return put(T, Id, *Store);
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    return adds(T, Id, *Atomic);
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    Known At = look(T, Id, Load->getPointerOperand());
    Known Read;
    if (!Load->isSimple())
      return false;
    if (At.Kind == Known::Place) {
      Slot *From = slot(At, Load->getType(), Id, /*Writes=*/false);
      if (!From || From->Holds.Kind == Known::Nothing)
        return false;
      Read = From->Holds;
    }
    T.Values[&I] = Read;
    return true;
  }
  if (isa<PHINode>(I))
    return true;
  if (I.mayReadOrWriteMemory() && !I.isLifetimeStartOrEnd() && !isa<DbgInfoIntrinsic>(I))
    return false;
  T.Values[&I] = compute(T, Id, I, 0);
  return true;
}

/// Runs a thread up to its next barrier, or its end.
bool Block::runTo(Thread &T, unsigned Id, Instruction *&Barrier) {
  Barrier = nullptr;
  while (true) {
    Instruction &I = *T.Next;
    if (!I.isTerminator()) {
      ++T.Next;
      if (isBarrier(I)) {
        Barrier = &I;
        return ++Steps <= MostSteps;
      }
      if (!step(T, Id, I))
        return false;
      continue;
    }
    if (isa<ReturnInst>(I)) {
      T.Ended = true;
      return true;
    }
    auto *Branch = dyn_cast<BranchInst>(&I);
    if (!Branch || ++Steps > MostSteps)
      return false;
    unsigned Way = 0;
    if (Branch->isConditional()) {
      Known Condition = look(T, Id, Branch->getCondition());
      if (Condition.Kind != Known::Number)
        return false;
      Way = Condition.isZero();
    }
    BasicBlock *To = Branch->getSuccessor(Way);
    SmallVector<std::pair<PHINode *, Known>, 4> Phis;
    for (PHINode &Phi : To->phis())
      Phis.emplace_back(&Phi, look(T, Id, Phi.getIncomingValueForBlock(T.Now)));
    for (auto &[Phi, Value] : Phis)
      T.Values[Phi] = Value;
    T.Now = To;
    T.Next = To->getFirstNonPHIIt();
  }
}

bool Block::run() {
  std::vector<Thread> Threads(Count);
  for (Thread &T : Threads) {
    T.Now = Begin;
    T.Next = Begin->getFirstNonPHIIt();
  }
  for (bool More = true; More; ++Phase) {
    More = false;
    Instruction *Meets = nullptr;
    for (unsigned Id = 0; Id < Count; ++Id) {
      Thread &T = Threads[Id];
      if (T.Ended)
        continue;
      Instruction *Barrier = nullptr;
      if (!runTo(T, Id, Barrier))
        return false;
      if (T.Ended)
        continue;
      if (Meets && Meets != Barrier)
        return false;
      Meets = Barrier;
      More = true;
    }
  }
  return !Found.empty();
}

/// What a value is that the threads have which come from a block, where that is a number.
Constant *Block::onEdge(Value *V, BasicBlock *From, unsigned Depth) {
  if (auto *Number = dyn_cast<ConstantInt>(V))
    return Number;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || I->getParent() != Begin || Depth > 8)
    return nullptr;
  if (auto *Phi = dyn_cast<PHINode>(I))
    return dyn_cast<ConstantInt>(Phi->getIncomingValueForBlock(From));
  if (auto *Choice = dyn_cast<SelectInst>(I)) {
    Constant *One = onEdge(Choice->getTrueValue(), From, Depth + 1);
    return One && One == onEdge(Choice->getFalseValue(), From, Depth + 1) ? One : nullptr;
  }
  if (!isa<BinaryOperator, CastInst>(I))
    return nullptr;
  SmallVector<Constant *, 2> All;
  for (Value *Operand : I->operands()) {
    All.push_back(onEdge(Operand, From, Depth + 1));
    if (!All.back())
      return nullptr;
  }
  return dyn_cast_or_null<ConstantInt>(ConstantFoldInstOperands(I, All, Layout));
}

Value *Block::copyOf(Value *V, IRBuilder<> &Builder, DenseMap<Value *, Value *> &Copies) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return V;
  Value *&Copy = Copies[V];
  if (Copy)
    return Copy;
  Instruction *New = I->clone();
  for (Use &U : New->operands())
    U.set(copyOf(U.get(), Builder, Copies));
  Builder.Insert(New);
  return Copies[V] = New;
}

/// Threads that have nothing to add end where that is known.
void Block::leaveEarly(BasicBlock *Out, ArrayRef<AtomicRMWInst *> Owns) {
  for (BasicBlock *From : SmallVector<BasicBlock *, 4>(predecessors(Begin))) {
    auto Nothing = [&](AtomicRMWInst *Own) {
      Constant *Part = onEdge(Own->getValOperand(), From);
      return Part && Part == identity(Own->getOperation(), Part->getType());
    };
    Instruction *End = From->getTerminator();
    if (count(successors(From), Begin) != 1 || !all_of(Owns, Nothing))
      continue;
    Begin->removePredecessor(From, /*KeepOneInputPHIs=*/true);
    End->replaceSuccessorWith(Begin, Out);
  }
  // Those that have come by the same test before know where it leads.
  SmallVector<BasicBlock *, 4> Work(predecessors(Out));
  while (!Work.empty()) {
    BasicBlock *At = Work.pop_back_val();
    auto *Branch = dyn_cast<BranchInst>(At->getTerminator());
    if (!Branch || !Branch->isConditional() || &*At->getFirstNonPHIOrDbg() != Branch)
      continue;
    for (BasicBlock *From : SmallVector<BasicBlock *, 4>(predecessors(At))) {
      auto *Before = dyn_cast<BranchInst>(From->getTerminator());
      if (!Before || !Before->isConditional() || Before->getCondition() != Branch->getCondition() ||
          Before->getSuccessor(0) == Before->getSuccessor(1))
        continue;
      const unsigned Way = Before->getSuccessor(1) == At;
      if (Branch->getSuccessor(Way) != Out)
        continue;
      At->removePredecessor(From, /*KeepOneInputPHIs=*/true);
      Before->setSuccessor(Way, Out);
      Work.push_back(From);
    }
  }
}

void Block::rewrite() {
  // In the order in which the parts are computed, so that all are where the last is.
  StoreInst *Last = nullptr;
  for (Instruction &I : *Begin)
    if (any_of(Found, [&](auto &Pair) { return Pair.second == &I; }))
      Last = cast<StoreInst>(&I);
  BasicBlock *Rest = SplitBlock(Begin, std::next(Last->getIterator()));
  BasicBlock *Out = BasicBlock::Create(F.getContext(), "out", &F);
  ReturnInst::Create(F.getContext(), Out);
  Instruction *End = Begin->getTerminator();
  IRBuilder<> Builder(End);
  SmallVector<AtomicRMWInst *, 4> Owns;
  for (auto &[Atomic, Part] : Found) {
    DenseMap<Value *, Value *> Copies;
    Value *To = copyOf(Atomic->getPointerOperand(), Builder, Copies);
    auto *Own = cast<AtomicRMWInst>(Atomic->clone());
    Own->setOperand(0, To);
    Own->setOperand(1, Part->getValueOperand());
    Builder.Insert(Own);
    Owns.push_back(Own);
  }
  for (Instruction &I : make_early_inc_range(*Begin))
    if (isa<StoreInst>(I))
      I.eraseFromParent();
  Rest->removePredecessor(Begin);
  End->eraseFromParent();
  BranchInst::Create(Out, Begin);
  leaveEarly(Out, Owns);
  removeUnreachableBlocks(F);
  for (BasicBlock &At : F)
    SimplifyInstructionsInBlock(&At);
}

} // namespace
} // namespace added

/// A copy of a kernel in blocks of one size, whose threads each add what the block adds up; none where it does something else.
extern "C" LLVMValueRef cdp_launches_added(LLVMValueRef KernelRef, unsigned X, unsigned Y, unsigned Z) {
  Function &Kernel = *unwrap<Function>(KernelRef);
  const unsigned Size[3] = {X, Y, Z};
  if (Kernel.isDeclaration())
    return nullptr;
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&Kernel, Map);
  added::Block Found(*Copy, Size);
  if (!Found.findBegin() || !Found.run()) {
    Copy->eraseFromParent();
    return nullptr;
  }
  Found.rewrite();
  return wrap(Copy);
}
