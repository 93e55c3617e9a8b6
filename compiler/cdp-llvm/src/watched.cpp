// Host code that tells the CPU device of what it reads and writes, and of what orders it: calls of `__cdp_host_access`
// around loads, stores, atomics and fences (cdp-runtime, `cpu/host_code`). The device drops at once what is none of its
// memory. Nothing is told of variables on the stack, nor of constants: no kernel can touch them.
//
// This comes before anything is optimised, so that every access of the source is there with its line.

#include "llvm-c/Core.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {

/// What is told, as `cpu/host_code` of the runtime has it.
enum How : unsigned { Reads = 1, Writes = 2, Fence = 4, Escapes = 8, Meets = 16, OrderShift = 8 };
enum Told : unsigned { Weak, Relaxed, Acquire, Release, Both, Volatile };

/// A function of C's library that reads or writes through pointers: which argument, and of which arguments the product is
/// the number of bytes (-1: none).
struct Known {
  const char *Name;
  unsigned Pointer, How;
  int Bytes, Times;
};

constexpr Known Library[] = {
    {"memcpy", 0, Writes, 2, -1},  {"memcpy", 1, Reads, 2, -1},  {"memmove", 0, Writes, 2, -1},
    {"memmove", 1, Reads, 2, -1},  {"memset", 0, Writes, 2, -1}, {"memcmp", 0, Reads, 2, -1},
    {"memcmp", 1, Reads, 2, -1},   {"bcmp", 0, Reads, 2, -1},    {"bcmp", 1, Reads, 2, -1},
    {"fread", 0, Writes, 1, 2},    {"fwrite", 0, Reads, 1, 2},   {"read", 1, Writes, 2, -1},
    {"write", 1, Reads, 2, -1},    {"pread", 1, Writes, 2, -1},  {"pwrite", 1, Reads, 2, -1},
};

/// Functions after which a thread may know what another one did.
constexpr StringLiteral Meeting[] = {"pthread_", "sem_", "_ZNSt6thread", "_ZNSt18condition_variable", "_ZNSt28__atomic_futex",
                                     "_ZNSt13__future_base", "mtx_", "cnd_", "thrd_", "__gthread", "_ZNSt12__basic_future"};

/// Functions that write through no pointer that they are given, but into their first.
constexpr StringLiteral Harmless[] = {"printf", "fprintf", "puts", "fputs", "putchar", "free", "__assert_fail", "abort", "exit"};

/// Whether a function is of C++'s or CUDA's headers, whose lines say nothing to who uses them.
bool isOfHeaders(const Function &F) {
  const DISubprogram *Home = F.getSubprogram();
  if (!Home || !Home->getFile())
    return false;
  StringRef File = Home->getFilename();
  return File.starts_with("/usr/include/") || File.contains("/include/c++/") ||
         (File.contains("/cuda") && File.contains("/include/"));
}

class Watcher {
  Module &M;
  const DataLayout &Layout;
  FunctionCallee Tell, Enter;
  DenseMap<std::pair<const void *, std::pair<unsigned, unsigned>>, Constant *> Places;
  DenseMap<const void *, Constant *> Files;

public:
  explicit Watcher(Module &M) : M(M), Layout(M.getDataLayout()) {
    LLVMContext &C = M.getContext();
    Type *Parameters[] = {PointerType::getUnqual(C), Type::getInt64Ty(C), Type::getInt32Ty(C), PointerType::getUnqual(C)};
    Tell = M.getOrInsertFunction("__cdp_host_access", FunctionType::get(Type::getVoidTy(C), Parameters, false));
    if (auto *F = dyn_cast<Function>(Tell.getCallee()))
      F->addFnAttr(Attribute::NoUnwind);
    Enter = M.getOrInsertFunction("__cdp_host_enters", FunctionType::get(Type::getVoidTy(C), {Parameters[3]}, false));
  }

  void watch(Function &F);

private:
  Constant *fileOf(const DILocation &At);
  Constant *placeOf(const Instruction &I);
  void tell(Instruction *Before, const Instruction &Of, Value *Address, Value *Bytes, unsigned How, unsigned Order);
  void access(Instruction &I, Value *Address, Type *T, unsigned How, unsigned Order);
  void call(CallBase &Call);
};

bool canBeShared(const Value *Address) {
  const Value *Base = getUnderlyingObject(Address, 0);
  if (isa<AllocaInst>(Base) || isa<Function>(Base))
    return false;
  auto *Variable = dyn_cast<GlobalVariable>(Base);
  return !Variable || (!Variable->isConstant() && !Variable->isThreadLocal());
}

unsigned orderOf(AtomicOrdering Order) {
  switch (Order) {
  case AtomicOrdering::NotAtomic:
    return Weak;
  case AtomicOrdering::Unordered:
  case AtomicOrdering::Monotonic:
    return Relaxed;
  case AtomicOrdering::Acquire:
    return Acquire;
  case AtomicOrdering::Release:
    return Release;
  default:
    return Both;
  }
}

template <typename Access> unsigned orderOf(const Access &I) {
  return I.isAtomic() ? orderOf(I.getOrdering()) : I.isVolatile() ? Volatile : Weak;
}

Constant *Watcher::fileOf(const DILocation &At) {
  Constant *&File = Files[At.getFile()];
  if (!File) {
    std::string Name = At.getFilename().str();
    auto *Text = ConstantDataArray::getString(M.getContext(), Name);
    auto *Home = new GlobalVariable(M, Text->getType(), true, GlobalValue::PrivateLinkage, Text, "__cdp_file");
    File = Home;
  }
  return File;
}

/// A constant with file, line and column; null where no line is known, and in headers, where the last call of them stands for
/// it.
Constant *Watcher::placeOf(const Instruction &I) {
  auto *Null = ConstantPointerNull::get(PointerType::getUnqual(M.getContext()));
  const DILocation *At = I.getDebugLoc();
  if (!At || At->getLine() == 0 || isOfHeaders(*I.getFunction()))
    return Null;
  Constant *&Place = Places[{At->getFile(), {At->getLine(), At->getColumn()}}];
  if (!Place) {
    Type *Int = Type::getInt32Ty(M.getContext());
    Constant *Fields[] = {fileOf(*At), ConstantInt::get(Int, At->getLine()), ConstantInt::get(Int, At->getColumn())};
    auto *Value = ConstantStruct::getAnon(Fields);
    Place = new GlobalVariable(M, Value->getType(), true, GlobalValue::PrivateLinkage, Value, "__cdp_place");
  }
  return Place;
}

void Watcher::tell(Instruction *Before, const Instruction &Of, Value *Address, Value *Bytes, unsigned How, unsigned Order) {
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(Of.getDebugLoc());
  auto *Word = B.getInt32(How | Order << OrderShift);
  B.CreateCall(Tell, {Address, B.CreateZExtOrTrunc(Bytes, B.getInt64Ty()), Word, placeOf(Of)});
}

/// A thread reads what others released after it has read, and releases before it writes.
void Watcher::access(Instruction &I, Value *Address, Type *T, unsigned How, unsigned Order) {
  if (!canBeShared(Address) || Address->getType()->getPointerAddressSpace() != 0)
    return;
  TypeSize Size = Layout.getTypeStoreSize(T);
  if (Size.isScalable() || Size.isZero())
    return;
  auto *Bytes = ConstantInt::get(Type::getInt64Ty(M.getContext()), Size.getFixedValue());
  bool IsUpdate = How == (Reads | Writes);
  Instruction *Next = I.getNextNode();
  if (How != Reads || Order == Weak || !Next)
    tell(&I, I, Address, Bytes, How, Order);
  if (Order != Weak && Next && (How == Reads || IsUpdate))
    tell(Next, I, Address, Bytes, Reads, Order);
}

void Watcher::call(CallBase &Call) {
  Type *Int = Type::getInt64Ty(M.getContext());
  if (auto *Copy = dyn_cast<AnyMemIntrinsic>(&Call)) {
    unsigned Order = isa<MemIntrinsic>(Copy) && cast<MemIntrinsic>(Copy)->isVolatile() ? Volatile : Weak;
    if (auto *Transfer = dyn_cast<AnyMemTransferInst>(Copy))
      if (canBeShared(Transfer->getRawSource()))
        tell(&Call, Call, Transfer->getRawSource(), Copy->getLength(), Reads, Order);
    if (canBeShared(Copy->getRawDest()))
      tell(&Call, Call, Copy->getRawDest(), Copy->getLength(), Writes, Order);
    return;
  }
  Function *Callee = Call.getCalledFunction();
  if (Call.isInlineAsm() || isa<IntrinsicInst>(Call))
    return;
  if (Callee && !Callee->isDeclaration()) {
    if (isOfHeaders(*Callee) && !isOfHeaders(*Call.getFunction()) && Call.getDebugLoc())
      IRBuilder<>(&Call).CreateCall(Enter, {placeOf(Call)})->setDebugLoc(Call.getDebugLoc());
    return;
  }
  StringRef Name = Callee ? Callee->getName() : "";
  auto Begins = [&](StringRef Start) { return Name.starts_with(Start); };
  if (any_of(Meeting, Begins) && Call.getNextNode())
    tell(Call.getNextNode(), Call, ConstantPointerNull::get(PointerType::getUnqual(M.getContext())), ConstantInt::get(Int, 0),
         Meets, Weak);
  if (Begins("cuda") || Begins("__cuda") || Begins("__cdp") || (Begins("cu") && Name.size() > 2 && isUpper(Name[2])))
    return;
  bool IsKnown = false;
  for (const Known &K : Library) {
    if (Name != K.Name || Call.arg_size() <= unsigned(std::max(K.Bytes, K.Times)))
      continue;
    IsKnown = true;
    Value *Address = Call.getArgOperand(K.Pointer), *Bytes = Call.getArgOperand(K.Bytes);
    if (!Address->getType()->isPointerTy() || !Bytes->getType()->isIntegerTy() || !canBeShared(Address))
      continue;
    if (K.Times >= 0)
      Bytes = IRBuilder<>(&Call).CreateMul(Bytes, Call.getArgOperand(K.Times));
    tell(&Call, Call, Address, Bytes, K.How, Weak);
  }
  if (IsKnown || is_contained(Harmless, Name) || Call.onlyReadsMemory())
    return;
  // What nobody watches may write wherever it is led.
  for (Value *Argument : Call.args())
    if (Argument->getType()->isPointerTy() && !isa<Constant>(Argument) && canBeShared(Argument))
      tell(&Call, Call, Argument, ConstantInt::get(Int, 0), Escapes, Weak);
}

void Watcher::watch(Function &F) {
  SmallVector<Instruction *, 64> Found;
  for (Instruction &I : instructions(F))
    if (isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst, FenceInst, CallBase>(I))
      Found.push_back(&I);
  for (Instruction *I : Found) {
    if (auto *Load = dyn_cast<LoadInst>(I))
      access(*I, Load->getPointerOperand(), Load->getType(), Reads, orderOf(*Load));
    else if (auto *Store = dyn_cast<StoreInst>(I))
      access(*I, Store->getPointerOperand(), Store->getValueOperand()->getType(), Writes, orderOf(*Store));
    else if (auto *Update = dyn_cast<AtomicRMWInst>(I))
      access(*I, Update->getPointerOperand(), Update->getType(), Reads | Writes, orderOf(Update->getOrdering()));
    else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(I))
      access(*I, Swap->getPointerOperand(), Swap->getCompareOperand()->getType(), Reads | Writes,
             orderOf(Swap->getSuccessOrdering()));
    else if (auto *Order = dyn_cast<FenceInst>(I)) {
      auto *Null = ConstantPointerNull::get(PointerType::getUnqual(M.getContext()));
      if (Order->getSyncScopeID() != SyncScope::SingleThread)
        tell(I, *I, Null, ConstantInt::get(Type::getInt64Ty(M.getContext()), 0), Fence, orderOf(Order->getOrdering()));
    } else
      call(*cast<CallBase>(I));
  }
}

} // namespace

/// Puts the calls into every function of a host module but those that compilers make for themselves.
extern "C" void cdp_watch_host(LLVMModuleRef Module) {
  llvm::Module &M = *unwrap(Module);
  SmallVector<Function *, 32> Functions;
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked) && !F.getName().starts_with("__cdp_") &&
        !F.getName().starts_with("__cuda_") && !F.getName().starts_with("__device_stub__"))
      Functions.push_back(&F);
  if (Functions.empty())
    return;
  Watcher Watch(M);
  for (Function *F : Functions)
    Watch.watch(*F);
  // Before anything of the program's own runs.
  FunctionCallee Begin = M.getOrInsertFunction("__cdp_host_watched", Type::getVoidTy(M.getContext()));
  auto *Home = Function::Create(FunctionType::get(Type::getVoidTy(M.getContext()), false), GlobalValue::InternalLinkage,
                                "__cdp_begin_watch", M);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "", Home));
  B.CreateCall(Begin);
  B.CreateRetVoid();
  appendToGlobalCtors(M, Home, 101);
}
