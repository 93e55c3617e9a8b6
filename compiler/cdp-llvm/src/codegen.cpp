// Code generation of device modules without the passes that ptxas makes superfluous.
//
// LLVM's C interface makes code with a fixed list of passes, which it makes anew for every module. LLVM's
// own way to leave some out is a pass manager that does not add them, and its own way to make code of
// several modules (`llc -compile-twice`) is to run one pass manager on each; both need its C++
// interface, as does the order of variables. Which passes are left out is decided in pipeline.rs.

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopPass.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Pass.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include "large.h"
#include "matrices.h"
#include "places.h"
#include "ptxas.h"
#include "registers.h"
#include "scope.h"
#include "steps.h"
#include "unroll.h"
#include "wide.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Whether nearly all of the addresses that a function computes are of shared memory.
bool isAboutShared(const Function &F) {
  constexpr unsigned Shared = 3;
  constexpr int Most = 4;
  int More = 0;
  for (const BasicBlock &Block : F)
    for (const Instruction &I : Block)
      if (const auto *Place = dyn_cast<GetElementPtrInst>(&I); Place && !Place->hasAllConstantIndices())
        More += Place->getPointerAddressSpace() == Shared ? 1 : -Most;
  return More > 0;
}

/// The most instructions of a function in which `slsr` looks for addresses: it keeps up to 70 KB for each of a long chain of
/// computations, since every one has those before it in its expression.
constexpr unsigned MostForAddresses = 4000;

/// Whether no sum of a function has very many parts. `slsr` asks of each two sums what they differ by, which takes time and memory
/// by their parts: 500 sums, each of what stood before it and a number more, took 30 s and 800 MB.
bool hasShortSums(const Function &F) {
  constexpr unsigned MostParts = 64;
  DenseMap<const Value *, unsigned> Parts;
  for (const BasicBlock &Block : F)
    for (const Instruction &I : Block) {
      bool Adds = isa<GetElementPtrInst>(I) || I.getOpcode() == Instruction::Add || I.getOpcode() == Instruction::Sub;
      if (!Adds && !isa<CastInst>(I) && I.getOpcode() != Instruction::Mul && I.getOpcode() != Instruction::Shl)
        continue;
      unsigned Count = 0;
      for (const Value *Part : I.operand_values())
        Count += isa<Constant>(Part) ? 0 : std::max(Parts.lookup(Part), 1u);
      if (Count > MostParts)
        return false;
      Parts[&I] = Count;
    }
  return true;
}

/// Runs a pass on functions that are short and not about shared memory alone.
class OfShortUnshared : public FunctionPass {
public:
  static char ID;

  explicit OfShortUnshared(FunctionPass *Inner) : FunctionPass(ID), Inner(Inner) {}

  // What answers for analyses is this pass's own.
  ~OfShortUnshared() override { Inner->setResolver(nullptr); }

  bool doInitialization(llvm::Module &M) override { return Inner->doInitialization(M); }

  bool runOnFunction(Function &F) override {
    if (F.getInstructionCount() > MostForAddresses || !hasShortSums(F) || isAboutShared(F))
      return false;
    Inner->setResolver(getResolver());
    return Inner->runOnFunction(F);
  }

  bool doFinalization(llvm::Module &M) override { return Inner->doFinalization(M); }

  void getAnalysisUsage(AnalysisUsage &Usage) const override { Inner->getAnalysisUsage(Usage); }

private:
  std::unique_ptr<FunctionPass> Inner;
};

char OfShortUnshared::ID;

/// Runs a pass on loops of functions that have not very many.
class OfFewLoops : public LoopPass {
public:
  static char ID;

  explicit OfFewLoops(LoopPass *Inner) : LoopPass(ID), Inner(Inner) {}

  ~OfFewLoops() override { Inner->setResolver(nullptr); }

  // For each loop before the first is run on.
  bool doInitialization(Loop *, LPPassManager &) override {
    Loops++;
    return false;
  }

  bool runOnLoop(Loop *L, LPPassManager &Manager) override {
    if (Loops > MostLoops)
      return false;
    Inner->setResolver(getResolver());
    return Inner->runOnLoop(L, Manager);
  }

  // For each function.
  bool doFinalization() override {
    Loops = 0;
    return false;
  }

  void getAnalysisUsage(AnalysisUsage &Usage) const override { Inner->getAnalysisUsage(Usage); }

private:
  std::unique_ptr<LoopPass> Inner;
  size_t Loops = 0;
};

char OfFewLoops::ID;

/// Gives the steps of pointers the form of steps.cpp.
class MultiplySteps : public FunctionPass {
public:
  static char ID;

  MultiplySteps() : FunctionPass(ID) {}

  bool runOnFunction(Function &F) override {
    return multiplySteps(F, getAnalysis<LoopInfoWrapperPass>().getLoopInfo());
  }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<LoopInfoWrapperPass>();
    Usage.setPreservesCFG();
  }
};

char MultiplySteps::ID;

/// Writes to places of which LLVM has found out the address space since (places.cpp).
class WritePlaces : public FunctionPass {
public:
  static char ID;

  WritePlaces() : FunctionPass(ID) {}

  bool runOnFunction(Function &F) override {
    bool Changed = updateLocalPlainly(F);
    return writeByGenericAddress(F) || Changed;
  }

  void getAnalysisUsage(AnalysisUsage &Usage) const override { Usage.setPreservesCFG(); }
};

char WritePlaces::ID;

/// Has loops go back where their condition holds. Where what follows a loop stands elsewhere, instruction selection writes a branch for what
/// holds and one behind it: with the one back behind the other, ptxas does not unroll the loop (compiler/docs/device-speed.md).
bool goBackIf(const LoopInfo &Loops) {
  bool Changed = false;
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    BasicBlock *Latch = L->getLoopLatch();
    auto *Back = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
    auto *Leaves = Back && Back->isConditional() ? dyn_cast<ICmpInst>(Back->getCondition()) : nullptr;
    if (!Leaves || !Leaves->hasOneUse() || Back->getSuccessor(1) != L->getHeader())
      continue;
    Leaves->setPredicate(Leaves->getInversePredicate());
    Back->swapSuccessors();
    Changed = true;
  }
  return Changed;
}

/// Gives code the order that ptxas makes the most of, behind all that brings it into another one.
class OrderForPtxas : public FunctionPass {
public:
  static char ID;

  OrderForPtxas() : FunctionPass(ID) {}

  bool runOnFunction(Function &F) override {
    if (F.hasOptNone())
      return false;
    bool Changed = goBackIf(getAnalysis<LoopInfoWrapperPass>().getLoopInfo());
    return readInOrder(F) || Changed;
  }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<LoopInfoWrapperPass>();
    Usage.setPreservesCFG();
  }
};

char OrderForPtxas::ID;

/// What ptxas takes wrongly at every level: barriers that lanes come to apart (barriers.cpp), and products in halves (halves.cpp).
class AvoidFaults : public FunctionPass {
public:
  static char ID;

  AvoidFaults() : FunctionPass(ID) {}

  bool runOnFunction(Function &F) override {
    bool Changed = multiplyHalves(F);
    return partBarriers(F, getAnalysis<LoopInfoWrapperPass>().getLoopInfo()) || Changed;
  }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<LoopInfoWrapperPass>();
    Usage.setPreservesCFG();
  }
};

char AvoidFaults::ID;

/// The name of a pass on the command line. It is in the registry once one of its kind was made, that is, when it is added.
StringRef nameOf(const Pass &P) {
  const PassInfo *Info = PassRegistry::getPassRegistry()->getPassInfo(P.getPassID());
  return Info ? Info->getPassArgument() : "";
}

/// A pass manager that cuts blocks by the last pass in front of instruction selection, which is there at every level.
class Cutting : public legacy::PassManager {
public:
  void add(Pass *P) override {
    if (nameOf(*P) == "stack-protector")
      legacy::PassManager::add(createCutPass());
    legacy::PassManager::add(P);
  }
};

/// A pass manager that drops passes of the given command-line names.
class Selective : public legacy::PassManager {
public:
  explicit Selective(ArrayRef<const char *> Dropped) : Dropped(Dropped) {}

  void add(Pass *P) override {
    StringRef Name = nameOf(*P);
    // The last one in front of instruction selection, at every level.
    if (Name == "stack-protector") {
      legacy::PassManager::add(new AvoidFaults());
      legacy::PassManager::add(new OrderForPtxas());
      legacy::PassManager::add(createCutPass());
    }
    if (is_contained(Dropped, Name)) {
      delete P;
      return;
    }
    // `slsr` makes an address of another one by an addition. In global memory that saves arithmetic of 64 bits; in
    // shared memory it hides from ptxas which words lie side by side (compiler/docs/device-speed.md).
    if (Name == "codegenprepare") {
      legacy::PassManager::add(new WritePlaces());
      legacy::PassManager::add(new MultiplySteps());
    }
    if (Name == "phi-node-elimination")
      legacy::PassManager::add(createLimitPass());
    bool Selected = Name == "finalize-isel";
    if (Name == "slsr")
      P = new OfShortUnshared(static_cast<FunctionPass *>(P));
    // Of each loop it asks what holds where it begins, which LLVM looks for in all loops before it: two thirds of the time of 300 loops.
    if (Name == "loop-reduce")
      P = new OfFewLoops(static_cast<LoopPass *>(P));
    legacy::PassManager::add(P);
    if (Selected)
      legacy::PassManager::add(createPtxasPass());
  }

private:
  ArrayRef<const char *> Dropped;
};

/// Puts a variable into `Order` after those that its initialiser mentions.
void place(GlobalVariable &Variable, SmallPtrSetImpl<GlobalVariable *> &Seen,
           SmallVectorImpl<GlobalVariable *> &Order) {
  if (!Seen.insert(&Variable).second)
    return;
  if (Variable.hasInitializer()) {
    SmallPtrSet<Constant *, 16> Known;
    SmallVector<Constant *, 16> Work{Variable.getInitializer()};
    while (!Work.empty()) {
      Constant *Next = Work.pop_back_val();
      if (auto *Mentioned = dyn_cast<GlobalVariable>(Next))
        place(*Mentioned, Seen, Order);
      else if (!isa<GlobalValue>(Next))
        for (Value *Operand : reverse(Next->operand_values()))
          if (auto *Part = dyn_cast<Constant>(Operand); Part && Known.insert(Part).second)
            Work.push_back(Part);
    }
  }
  Order.push_back(&Variable);
}

/// Puts every variable after those that its initialiser mentions. Where they are not yet, LLVM writes
/// them in the order of their addresses, so that the text would differ from run to run.
void orderVariables(llvm::Module &M) {
  SmallPtrSet<GlobalVariable *, 16> Seen;
  SmallVector<GlobalVariable *, 16> Order;
  for (GlobalVariable &Variable : M.globals())
    place(Variable, Seen, Order);
  if (equal(Order, make_pointer_range(M.globals())))
    return;
  for (GlobalVariable *Variable : Order) {
    M.removeGlobalVariable(Variable);
    M.insertGlobalVariable(Variable);
  }
}

/// Puts what ends a function behind the rest. What several ends were made one of stands where the first one was, before the loops
/// that a kernel's first question (`if (i >= n) return;`) is asked in front of: a loop then goes back by a branch of its own behind
/// the one that leaves it, before which ptxas copies what goes from turn to turn.
void endLast(llvm::Function &F) {
  SmallVector<BasicBlock *, 4> Ends;
  for (BasicBlock &Block : drop_begin(F))
    if (isa<ReturnInst>(Block.getTerminator()))
      Ends.push_back(&Block);
  for (BasicBlock *End : Ends)
    if (End != &F.back())
      End->moveAfter(&F.back());
}

/// Whether NVPTX's printer may go on to write other modules. It keeps, by the addresses of functions, the
/// shared variables that it wrote into their bodies, and does not forget them at the end of a module, so
/// that a function of another module that comes to stand there would get them too. Nor does its streamer
/// forget that it opened a section of DWARF, whose closing brace another module would begin with.
bool leavesNothing(const llvm::Module &M) {
  if (M.getNamedMetadata("llvm.dbg.cu"))
    return false;
  constexpr unsigned Shared = 3;
  return none_of(M.globals(), [](const GlobalVariable &Variable) {
    return Variable.getAddressSpace() == Shared && Variable.hasLocalLinkage();
  });
}

AtomicSupport atomicSupport(const TargetMachine &Target) {
  StringRef Number = Target.getTargetCPU();
  unsigned Sm = 0;
  if (!Number.consume_front("sm_") || Number.consumeInteger(10, Sm))
    return {};
  return {Sm >= 60, Sm >= 70};
}

} // namespace

/// The passes that write modules of one target machine as assembly, one after another.
struct CdpEmitter {
  CdpEmitter(const TargetMachine &Target, ArrayRef<const char *> Dropped)
      : Layout(Target.createDataLayout()), Atomics(atomicSupport(Target)),
        Joins(Target.getOptLevel() != CodeGenOptLevel::None), Out(Text), Passes(Dropped) {}

  const DataLayout Layout;
  const AtomicSupport Atomics;
  /// Whether accesses that lie side by side become one.
  const bool Joins;
  SmallString<0> Text;
  raw_svector_ostream Out;
  Selective Passes;
};

/// An emitter for a target machine, which must outlive it; null when the target has no assembly. The
/// passes of the given command-line names are left out.
extern "C" CdpEmitter *cdp_emitter_create(LLVMTargetMachineRef Machine, const char *const *Dropped,
                                          size_t DroppedCount) {
  TargetMachine &Target = *reinterpret_cast<TargetMachine *>(Machine);
  auto *Emitter = new CdpEmitter(Target, ArrayRef(Dropped, DroppedCount));
  if (Target.addPassesToEmitFile(Emitter->Passes, Emitter->Out, nullptr,
                                 CodeGenFileType::AssemblyFile)) {
    delete Emitter;
    return nullptr;
  }
  return Emitter;
}

/// Reads constant memory as such where its address is a constant that was made one of global memory, as of
/// `__ldg(&table[2])` in clang's code: instruction selection takes such an address for undefined.
static void readConstantMemory(Function &F) {
  constexpr unsigned Global = 1, Constant = 4;
  const DataLayout &Layout = F.getDataLayout();
  for (Instruction &I : instructions(F)) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || Load->getPointerAddressSpace() != Global || !isa<ConstantExpr>(Load->getPointerOperand()))
      continue;
    APInt Offset(Layout.getIndexTypeSizeInBits(Load->getPointerOperandType()), 0);
    Value *Base = Load->getPointerOperand()->stripAndAccumulateConstantOffsets(Layout, Offset, true);
    auto *Variable = dyn_cast<GlobalVariable>(Base);
    if (!Variable || Variable->getAddressSpace() != Constant)
      continue;
    auto *Byte = Type::getInt8Ty(F.getContext());
    auto *Number = ConstantInt::get(F.getContext(), Offset);
    Load->setOperand(LoadInst::getPointerOperandIndex(), ConstantExpr::getGetElementPtr(Byte, Variable, Number));
  }
}

/// Chooses a condition's number as a float instead of converting it: one instruction, and ptxas 13.0 can lose the conversion
/// where it keeps the condition across a call (`selp.b32` and `cvt.rn.f32.u32` become a `SEL` of 1, not of 1.0).
static void chooseFloats(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    Value *Of;
    bool Positive = match(&I, m_UIToFP(m_ZExtOrSelf(m_Value(Of)))) || match(&I, m_SIToFP(m_ZExt(m_Value(Of))));
    if (!(Positive || match(&I, m_SIToFP(m_SExtOrSelf(m_Value(Of))))) || !Of->getType()->isIntegerTy(1))
      continue;
    Type *Float = I.getType();
    auto *Chosen = SelectInst::Create(Of, ConstantFP::get(Float, Positive ? 1.0 : -1.0),
                                      ConstantFP::get(Float, 0.0), "", I.getIterator());
    Chosen->setDebugLoc(I.getDebugLoc());
    I.replaceAllUsesWith(Chosen);
    I.eraseFromParent();
  }
}

/// Makes bytes of what a kernel has by value with less alignment than its type's (records of `#pragma pack`): LLVM would align
/// the parameter by its type, and who launches the kernel aligns it as the source says.
static void alignParameters(Function &Kernel) {
  if (Kernel.getCallingConv() != CallingConv::PTX_Kernel)
    return;
  const DataLayout &Layout = Kernel.getDataLayout();
  for (Argument &Parameter : Kernel.args()) {
    Type *Kind = Parameter.getParamByValType();
    MaybeAlign Said = Parameter.getParamAlign();
    if (!Kind || !Said || *Said >= Layout.getABITypeAlign(Kind))
      continue;
    LLVMContext &Context = Kernel.getContext();
    auto *Bytes = ArrayType::get(Type::getInt8Ty(Context), Layout.getTypeAllocSize(Kind));
    Parameter.removeAttr(Attribute::ByVal);
    Parameter.addAttr(Attribute::getWithByValType(Context, Bytes));
  }
}

/// Says of records that a function returns the alignment that they are stored with. Of a function that this module alone
/// calls LLVM takes that for 16 (`getFunctionParamOptimizedAlign`), whatever `alignstack` says, by which it declares the
/// place of the record: the stores would need more than the place has.
static void alignReturned(Function &F) {
  const Align Taken(16);
  MaybeAlign Said = F.getAttributes().getRetStackAlignment();
  if (!Said || *Said >= Taken || !F.hasLocalLinkage() || F.hasAddressTaken(nullptr, false, true, true))
    return;
  Attribute New = Attribute::getWithStackAlignment(F.getContext(), Taken);
  F.removeRetAttr(Attribute::StackAlignment);
  F.addRetAttr(New);
  for (User *Of : F.users())
    if (auto *Call = dyn_cast<CallBase>(Of); Call && Call->getCalledFunction() == &F) {
      Call->removeRetAttr(Attribute::StackAlignment);
      Call->addRetAttr(New);
    }
}

/// Writes the assembly text of a module, which gets the target machine's data layout. The text, of
/// `*Size` bytes, is the emitter's until it runs again, which it must not unless `*Reusable` is true.
extern "C" const char *cdp_emitter_run(CdpEmitter *Emitter, LLVMModuleRef Module, size_t *Size,
                                       LLVMBool *Reusable) {
  llvm::Module &M = *unwrap(Module);
  if (M.getDataLayout() != Emitter->Layout)
    M.setDataLayout(Emitter->Layout);
  orderVariables(M);
  nameSpacesOfMatrices(M);
  for (Function &F : M) {
    alignReturned(F);
    alignParameters(F);
    chooseFloats(F);
    expandWideConversions(F);
    readConstantMemory(F);
    copyUpdatedParameters(F);
    updateLocalPlainly(F);
    writeByGenericAddress(F);
    if (Emitter->Atomics.Scopes)
      writeAtomics(F, Emitter->Atomics);
    if (!F.isDeclaration())
      endLast(F);
    cutBlocks(F, Emitter->Joins ? CutBefore::Joining : CutBefore::Nothing);
  }
  // What a large module needed is not kept.
  if (Emitter->Text.capacity() > (1 << 20))
    SmallString<0>().swap(Emitter->Text);
  Emitter->Text.clear();
  Emitter->Passes.run(M);
  *Reusable = leavesNothing(M);
  *Size = Emitter->Text.size();
  return Emitter->Text.data();
}

extern "C" void cdp_emitter_dispose(CdpEmitter *Emitter) { delete Emitter; }

namespace {

/// A stream into memory of the caller's: an object file is made there once, and nowhere else.
class Output final : public raw_pwrite_stream {
public:
  using Write = void (*)(void *To, const char *Bytes, size_t Size, uint64_t At);

  Output(void *To, Write Into) : To(To), Into(Into) {}
  ~Output() override { flush(); }

private:
  void write_impl(const char *Bytes, size_t Size) override {
    Into(To, Bytes, Size, Written);
    Written += Size;
  }

  void pwrite_impl(const char *Bytes, size_t Size, uint64_t At) override {
    flush();
    Into(To, Bytes, Size, At);
  }

  uint64_t current_pos() const override { return Written; }

  void *To;
  Write Into;
  uint64_t Written = 0;
};

} // namespace

/// Writes the object file of a module, which gets the target machine's data layout. False when the target has none.
extern "C" LLVMBool cdp_emit_object(LLVMTargetMachineRef Machine, LLVMModuleRef Module, void *To, Output::Write Into) {
  TargetMachine &Target = *reinterpret_cast<TargetMachine *>(Machine);
  llvm::Module &M = *unwrap(Module);
  M.setDataLayout(Target.createDataLayout());
  Output Out(To, Into);
  Cutting Passes;
  if (Target.addPassesToEmitFile(Passes, Out, nullptr, CodeGenFileType::ObjectFile))
    return false;
  Passes.run(M);
  return true;
}
