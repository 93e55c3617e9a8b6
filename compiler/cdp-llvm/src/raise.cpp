// What the raising of launches (`raise/`) needs of LLVM that its C interface lacks: inlining one call,
// making registers of variables, and the place in the source that an instruction comes from.

#include "llvm-c/Core.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

/// Takes the debug information out of a function that is to vanish into its callers, so that its
/// instructions get the places of the calls.
extern "C" void cdp_raise_forget_places(LLVMValueRef Function) {
  stripDebugInfo(*unwrap<llvm::Function>(Function));
}

/// Makes registers of the variables whose address stays at home.
extern "C" void cdp_raise_promote(LLVMValueRef Function) {
  auto &F = *unwrap<llvm::Function>(Function);
  SmallVector<AllocaInst *> Variables;
  for (Instruction &I : F.getEntryBlock())
    if (auto *Variable = dyn_cast<AllocaInst>(&I))
      if (isAllocaPromotable(Variable))
        Variables.push_back(Variable);
  if (Variables.empty())
    return;
  DominatorTree Tree(F);
  AssumptionCache Assumptions(F);
  PromoteMemToReg(Variables, Tree, &Assumptions);
}

/// Puts the body of the called function in the place of a call.
extern "C" LLVMBool cdp_raise_inline(LLVMValueRef Call) {
  InlineFunctionInfo Info;
  return InlineFunction(*unwrap<CallBase>(Call), Info).isSuccess();
}

/// The file of the place that an instruction comes from in the function that holds it, whatever was
/// inlined; the caller frees it with `LLVMDisposeMessage`. Null without one.
extern "C" char *cdp_raise_place(LLVMValueRef Instruction, unsigned *Line, unsigned *Column) {
  const DILocation *Place = unwrap<llvm::Instruction>(Instruction)->getDebugLoc().get();
  if (!Place)
    return nullptr;
  while (const DILocation *Outer = Place->getInlinedAt())
    Place = Outer;
  *Line = Place->getLine();
  *Column = Place->getColumn();
  return LLVMCreateMessage(Place->getFilename().str().c_str());
}

/// The name of a C++ function without its parameters, which the caller frees with
/// `LLVMDisposeMessage`. Null for other symbols.
extern "C" char *cdp_raise_name(const char *Symbol, size_t Size) {
  std::string Text(Symbol, Size);
  ItaniumPartialDemangler Demangler;
  if (Demangler.partialDemangle(Text.c_str()) || !Demangler.isFunction())
    return nullptr;
  size_t Length = 0;
  char *Name = Demangler.getFunctionName(nullptr, &Length);
  if (!Name)
    return nullptr;
  char *Message = LLVMCreateMessage(Name);
  free(Name);
  return Message;
}

/// Removes a variable that only LLVM's lists of what is kept mention.
extern "C" void cdp_raise_forget_list(LLVMModuleRef Module, const char *Name, size_t Size) {
  GlobalVariable *List = unwrap(Module)->getNamedGlobal(StringRef(Name, Size));
  if (!List)
    return;
  removeFromUsedLists(*unwrap(Module), [List](Constant *Kept) {
    return Kept->stripPointerCasts() == List;
  });
  if (List->use_empty())
    List->eraseFromParent();
}

/// Takes functions and variables out of their groups, which PTX has not.
extern "C" void cdp_raise_forget_groups(LLVMModuleRef Module) {
  for (GlobalObject &Object : unwrap(Module)->global_objects())
    Object.setComdat(nullptr);
}
