// `__managed__` variables in host code of clang's, which has no such thing (managed.rs): every use of the
// variable becomes a use of the place that the runtime gives it.

#include "llvm-c/Core.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

/// Constructors of programs run after this one.
static constexpr int RegisteringPriority = 101;

static bool isEntry(const User *Use) {
  if (auto *Variable = dyn_cast<GlobalVariable>(Use))
    // The last is clang's list of what device code of this file uses of other files.
    return Variable->getSection() == "llvm_offload_entries" || Variable->getName().starts_with("llvm.") ||
           Variable->getName() == "__clang_gpu_used_external";
  return isa<Constant>(Use) && all_of(Use->users(), isEntry) && !Use->user_empty();
}

/// The symbol in device code, which clang's entry for the variable has when it is not the variable's own.
static StringRef deviceSymbol(GlobalVariable &Variable) {
  for (const User *Entry : Variable.users())
    if (isa<ConstantStruct>(Entry) && isEntry(Entry))
      for (const Use &Field : Entry->operands())
        if (auto *Name = dyn_cast<GlobalVariable>(Field->stripPointerCasts()))
          if (Name != &Variable && Name->hasInitializer())
            if (auto *Text = dyn_cast<ConstantDataSequential>(Name->getInitializer()))
              if (Text->isCString())
                return Text->getAsCString();
  return Variable.getName();
}

/// A function that yields the variable's place, asking the runtime the first time; `Handle` is where the unit's
/// handle is kept, null for a program of ours.
static Function *accessor(Module &M, StringRef Symbol, GlobalVariable *Slot, GlobalVariable *Handle) {
  LLVMContext &C = M.getContext();
  auto *Pointer = PointerType::getUnqual(C);
  FunctionCallee Init = M.getOrInsertFunction("__cudaInitModule", Type::getInt8Ty(C), Pointer);
  auto *F = Function::Create(FunctionType::get(Pointer, false), GlobalValue::InternalLinkage,
                             "__cdp_managed_" + Symbol, M);
  F->addFnAttr(Attribute::AlwaysInline);
  F->addFnAttr(Attribute::NoUnwind);
  auto *Entry = BasicBlock::Create(C, "", F), *Ask = BasicBlock::Create(C, "ask", F),
       *Known = BasicBlock::Create(C, "known", F);
  IRBuilder<> B(Entry);
  B.CreateCondBr(B.CreateIsNull(B.CreateLoad(Pointer, Slot)), Ask, Known);
  B.SetInsertPoint(Ask);
  Value *Unit = ConstantPointerNull::get(Pointer);
  B.CreateCall(Init, Handle ? B.CreateLoad(Pointer, Handle) : Unit);
  B.CreateBr(Known);
  B.SetInsertPoint(Known);
  B.CreateRet(B.CreateLoad(Pointer, Slot));
  return F;
}

/// The pointer through which host code reaches a variable has the variable's symbol, as nvcc's host code has it: files of
/// both may share the variable. What clang made becomes the file's own, by which entries of programs of ours name it.
static GlobalVariable *slotOf(Module &M, GlobalVariable &Variable) {
  auto *Pointer = PointerType::getUnqual(M.getContext());
  bool IsDeclared = Variable.isDeclaration();
  auto *Slot = new GlobalVariable(M, Pointer, false, Variable.getLinkage(),
                                  IsDeclared ? nullptr : ConstantPointerNull::get(Pointer));
  Slot->setVisibility(Variable.getVisibility());
  std::string Symbol = Variable.getName().str();
  Slot->takeName(&Variable);
  if (Comdat *Group = Variable.getComdat()) {
    Slot->setComdat(Group);
    Variable.setComdat(nullptr);
  }
  if (!IsDeclared) {
    Variable.setVisibility(GlobalValue::DefaultVisibility);
    Variable.setLinkage(GlobalValue::InternalLinkage);
    Variable.setName("__cdp_shadow_" + Symbol);
  }
  return Slot;
}

/// Tells the runtime of the pointer of a variable that this file defines.
static void registerSlot(Module &M, IRBuilder<> &B, GlobalVariable &Variable, GlobalVariable *Slot, Value *Handle,
                         StringRef Symbol) {
  Type *Int = B.getInt32Ty(), *Pointer = B.getPtrTy();
  Type *Parameters[] = {Pointer, Pointer, Pointer, Pointer, Int, B.getInt64Ty(), Int, Int};
  FunctionCallee Register = M.getOrInsertFunction(
      "__cudaRegisterManagedVar", FunctionType::get(B.getVoidTy(), Parameters, false));
  Value *Unit = Handle ? Handle : ConstantPointerNull::get(B.getPtrTy());
  Value *Name = B.CreateGlobalString(Symbol);
  uint64_t Bytes = M.getDataLayout().getTypeAllocSize(Variable.getValueType());
  B.CreateCall(Register, {Unit, Slot, Name, Name, B.getInt32(0), B.getInt64(Bytes), B.getInt32(0), B.getInt32(0)});
}

/// Takes out the call that registers the variable as a plain one, in objects that register themselves. The
/// symbol in device code.
static std::string unregister(Function &Globals, GlobalVariable &Variable) {
  std::string Symbol = Variable.getName().str();
  for (Instruction &I : make_early_inc_range(instructions(Globals))) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !Call->getCalledFunction() || Call->getCalledFunction()->getName() != "__cudaRegisterVar" ||
        Call->getArgOperand(1)->stripPointerCasts() != &Variable)
      continue;
    auto *Name = dyn_cast<GlobalVariable>(Call->getArgOperand(3)->stripPointerCasts());
    auto *Text = Name && Name->hasInitializer() ? dyn_cast<ConstantDataSequential>(Name->getInitializer()) : nullptr;
    if (Text && Text->isCString())
      Symbol = Text->getAsCString().str();
    Call->eraseFromParent();
  }
  return Symbol;
}

/// Puts calls of the accessor where the variable is used. The name of another variable whose initial value
/// has this one's address; null when there is none.
static GlobalVariable *redirect(GlobalVariable &Variable, Function *Accessor) {
  convertUsersOfConstantsToInstructions({&Variable});
  SmallVector<Use *> Uses;
  for (Use &U : Variable.uses())
    if (isa<Instruction>(U.getUser()))
      Uses.push_back(&U);
    else if (!isEntry(U.getUser())) {
      const User *Holder = U.getUser();
      while (!isa<GlobalVariable>(Holder) && !Holder->user_empty())
        Holder = *Holder->user_begin();
      if (auto *Other = dyn_cast<GlobalVariable>(Holder))
        return const_cast<GlobalVariable *>(Other);
    }
  for (Use *U : Uses) {
    auto *At = cast<Instruction>(U->getUser());
    if (auto *Phi = dyn_cast<PHINode>(At))
      At = Phi->getIncomingBlock(*U)->getTerminator();
    CallInst *Place = IRBuilder<>(At).CreateCall(Accessor);
    if (auto *Phi = dyn_cast<PHINode>(U->getUser()))
      // Edges from one block have one value.
      for (unsigned I = 0; I < Phi->getNumIncomingValues(); ++I) {
        if (Phi->getIncomingBlock(I) == At->getParent() && Phi->getIncomingValue(I) == &Variable)
          Phi->setIncomingValue(I, Place);
      }
    else
      U->set(Place);
  }
  return nullptr;
}

/// Gives every variable of a section to the runtime. Null, or what cannot be done, which the caller frees
/// with `LLVMDisposeMessage`.
extern "C" char *cdp_managed_host(LLVMModuleRef Module, const char *Section, size_t Size) {
  auto &M = *unwrap(Module);
  SmallVector<GlobalVariable *> Variables;
  for (GlobalVariable &V : M.globals())
    if (V.getSection() == StringRef(Section, Size))
      Variables.push_back(&V);
  if (Variables.empty())
    return nullptr;
  // clang writes this function into objects that register themselves; programs of ours have a constructor of
  // their own.
  Function *Globals = M.getFunction("__cuda_register_globals");
  if (Globals && (Globals->isDeclaration() || Globals->arg_size() != 1))
    return LLVMCreateMessage("`__cuda_register_globals` is not clang's");
  auto *Pointer = PointerType::getUnqual(M.getContext());
  Function *Home = Globals;
  if (!Home) {
    Home = Function::Create(FunctionType::get(Type::getVoidTy(M.getContext()), false),
                            GlobalValue::InternalLinkage, "__cdp_register_managed", M);
    ReturnInst::Create(M.getContext(), BasicBlock::Create(M.getContext(), "", Home));
    appendToGlobalCtors(M, Home, RegisteringPriority);
  }
  Instruction *End = Home->back().getTerminator();
  GlobalVariable *Kept = nullptr;
  if (Globals) {
    Kept = new GlobalVariable(M, Pointer, false, GlobalValue::InternalLinkage, ConstantPointerNull::get(Pointer),
                              "__cdp_unit");
    IRBuilder<>(End).CreateStore(Globals->getArg(0), Kept);
  }
  for (GlobalVariable *V : Variables) {
    std::string Symbol = Globals ? unregister(*Globals, *V) : deviceSymbol(*V).str();
    std::string Known = V->getName().str();
    GlobalVariable *Slot = slotOf(M, *V);
    if (GlobalVariable *Other = redirect(*V, accessor(M, Known, Slot, Kept)))
      return LLVMCreateMessage(("the initial value of `" + Other->getName() +
                                "` has the address of `__managed__` variable `" + Known + "`")
                                   .str()
                                   .c_str());
    if (V->isDeclaration()) {
      V->replaceAllUsesWith(Slot);
      V->eraseFromParent();
      continue;
    }
    IRBuilder<> B(End);
    registerSlot(M, B, *V, Slot, Globals ? Globals->getArg(0) : nullptr, Symbol);
    V->setSection("");
  }
  return nullptr;
}
