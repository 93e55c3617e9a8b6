// The body of a kernel as a function: `launches/body.rs` says what for.
//
// LLVM's C interface can neither copy a function nor match expressions.

#include "../axes.h"

#include "llvm-c/Core.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// What follows the kernel's own parameters: indices and dimensions x, y, z, then the thread's number
/// along x in the whole grid.
enum Extra { BlockIdx = 0, ThreadIdx = 3, GridDim = 6, BlockDim = 9, GlobalX = 12, Extras = 13 };

/// The parameter that stands for a special register, or -1.
int extraOf(const Instruction &I) {
  constexpr std::pair<Intrinsic::ID, Extra> Registers[] = {{Intrinsic::nvvm_read_ptx_sreg_ctaid_x, BlockIdx},
                                                           {Intrinsic::nvvm_read_ptx_sreg_tid_x, ThreadIdx},
                                                           {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, GridDim},
                                                           {Intrinsic::nvvm_read_ptx_sreg_ntid_x, BlockDim}};
  for (auto [X, First] : Registers)
    if (auto Axis = axisOf(I, X))
      return First + *Axis;
  return -1;
}

/// Puts parameters in the place of special registers.
void replaceRegisters(Function &Body, unsigned First) {
  for (Instruction &I : make_early_inc_range(instructions(Body))) {
    int Extra = extraOf(I);
    if (Extra < 0)
      continue;
    I.replaceAllUsesWith(Body.getArg(First + Extra));
    I.eraseFromParent();
  }
}

/// Puts the thread's number in the whole grid in the place of `blockIdx.x * blockDim.x + threadIdx.x`. The
/// callers see to it that it fits into 31 bits.
void foldGlobalIndex(Function &Body, unsigned First) {
  Value *Block = Body.getArg(First + BlockIdx), *Thread = Body.getArg(First + ThreadIdx);
  Value *Threads = Body.getArg(First + BlockDim), *Global = Body.getArg(First + GlobalX);
  auto Wide = [](Value *V) { return m_ZExtOrSExt(m_Specific(V)); };
  // What stays behind would count as a use of the parameters.
  SmallVector<WeakTrackingVH, 8> Behind;
  for (Instruction &I : make_early_inc_range(instructions(Body))) {
    Value *Base = nullptr, *Found = nullptr;
    IRBuilder<> Builder(&I);
    auto Narrow = m_c_Mul(m_Specific(Block), m_Specific(Threads));
    auto WideProduct = m_c_Mul(Wide(Block), Wide(Threads));
    if (match(&I, m_c_Add(Narrow, m_Specific(Thread))))
      Found = Global;
    else if (match(&I, m_c_Add(m_c_Add(m_Value(Base), Narrow), m_Specific(Thread))) ||
             match(&I, m_c_Add(m_c_Add(m_Value(Base), m_Specific(Thread)), Narrow)))
      Found = Builder.CreateAdd(Base, Global);
    else if (I.getType()->isIntegerTy(64) &&
             (match(&I, m_c_Add(WideProduct, Wide(Thread))) ||
              match(&I, m_c_Add(m_ZExtOrSExt(Narrow), Wide(Thread)))))
      Found = Builder.CreateZExt(Global, I.getType());
    if (!Found)
      continue;
    I.replaceAllUsesWith(Found);
    Behind.append(I.op_begin(), I.op_end());
    I.eraseFromParent();
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(Behind);
}

/// A kernel's struct parameters are its own, and a thread may change them: the body works on copies.
void copyStructs(const Function &Kernel, Function &Body) {
  const DataLayout &Layout = Body.getParent()->getDataLayout();
  IRBuilder<> Builder(&Body.getEntryBlock(), Body.getEntryBlock().getFirstInsertionPt());
  for (unsigned Index = 0; Index < Kernel.arg_size(); ++Index) {
    Type *Ty = Kernel.getParamByValType(Index);
    if (!Ty)
      continue;
    Argument *Arg = Body.getArg(Index);
    Align Alignment = Kernel.getParamAlign(Index).value_or(Layout.getABITypeAlign(Ty));
    AllocaInst *Copy = Builder.CreateAlloca(Ty, Layout.getAllocaAddrSpace());
    Copy->setAlignment(Alignment);
    Value *Generic = Builder.CreatePointerBitCastOrAddrSpaceCast(Copy, Arg->getType());
    Arg->replaceAllUsesWith(Generic);
    Builder.CreateMemCpy(Generic, Alignment, Arg, Alignment, Layout.getTypeAllocSize(Ty));
  }
}

/// Loads through the cache that nothing keeps coherent are made ordinary ones: what is constant during a
/// child is written by its parent, and both are one grid where the child is run by its parent.
void makeCoherent(Function &F) {
  for (Instruction &I : instructions(F)) {
    I.setMetadata(LLVMContext::MD_invariant_load, nullptr);
    I.setMetadata(LLVMContext::MD_invariant_group, nullptr);
    auto *Call = dyn_cast<CallBase>(&I);
    auto *Assembly = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
    if (!Assembly)
      continue;
    constexpr StringRef Incoherent = "ld.global.nc", Ordinary = "ld.global";
    std::string Text(Assembly->getAsmString());
    std::string Constraints(Assembly->getConstraintString());
    size_t At = Text.find(Incoherent);
    if (At == std::string::npos)
      continue;
    for (; At != std::string::npos; At = Text.find(Incoherent, At))
      Text.replace(At, Incoherent.size(), Ordinary);
    if (Constraints.find("~{memory}") == std::string::npos)
      Constraints += ",~{memory}";
    Call->setCalledOperand(InlineAsm::get(Assembly->getFunctionType(), Text, Constraints,
                                          /*hasSideEffects=*/true, Assembly->isAlignStack()));
    Call->removeFnAttr(Attribute::Memory);
    Call->removeFnAttr(Attribute::Speculatable);
  }
}

} // namespace

/// The kernel's loads as `makeCoherent` has them.
extern "C" void cdp_launches_coherent(LLVMValueRef KernelRef) {
  makeCoherent(*unwrap<Function>(KernelRef));
}

/// Text and constraints of inline assembly, and whether it does more than compute its results. The text
/// lives as long as the module.
extern "C" const char *cdp_launches_assembly(LLVMValueRef AssemblyRef, size_t *Size, int *Effects) {
  const auto *Assembly = cast<InlineAsm>(unwrap(AssemblyRef));
  StringRef Constraints = Assembly->getConstraintString();
  *Effects = Assembly->hasSideEffects() || Constraints.contains("~{memory}") || Constraints.contains("*");
  StringRef Text = Assembly->getAsmString();
  *Size = Text.size();
  return Text.data();
}

/// A device function that does what one thread of the kernel does, and takes which one it is.
extern "C" LLVMValueRef cdp_launches_body(LLVMValueRef KernelRef, const char *Name, size_t Size) {
  Function &Kernel = *unwrap<Function>(KernelRef);
  LLVMContext &Context = Kernel.getContext();
  SmallVector<Type *, 24> Params(Kernel.getFunctionType()->params());
  const unsigned First = Params.size();
  Params.append(Extras, Type::getInt32Ty(Context));
  auto *Ty = FunctionType::get(Type::getVoidTy(Context), Params, false);
  Function *Body = Function::Create(Ty, GlobalValue::InternalLinkage, StringRef(Name, Size),
                                    Kernel.getParent());
  ValueToValueMapTy Map;
  for (unsigned Index = 0; Index < First; ++Index) {
    Body->getArg(Index)->setName(Kernel.getArg(Index)->getName());
    Map[Kernel.getArg(Index)] = Body->getArg(Index);
  }
  SmallVector<ReturnInst *, 8> Returns;
  CloneFunctionInto(Body, &Kernel, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
  Body->setCallingConv(CallingConv::C);
  Body->setVisibility(GlobalValue::DefaultVisibility);
  Body->setUnnamedAddr(GlobalValue::UnnamedAddr::None);
  Body->setComdat(nullptr);
  // Attributes of a kernel say nothing of a function, and `noalias` would promise more of many threads
  // in a row than the kernel promised of each. Of floating point they say how it rounds.
  AttributeList Kept;
  for (StringRef Key : {"denormal-fp-math", "denormal-fp-math-f32", "frame-pointer"})
    if (Kernel.hasFnAttribute(Key))
      Kept = Kept.addFnAttribute(Context, Kernel.getFnAttribute(Key));
  for (Attribute::AttrKind Kind : {Attribute::NoUnwind, Attribute::NoRecurse})
    if (Kernel.hasFnAttribute(Kind))
      Kept = Kept.addFnAttribute(Context, Kind);
  Body->setAttributes(Kept);
  replaceRegisters(*Body, First);
  makeCoherent(*Body);
  copyStructs(Kernel, *Body);
  foldGlobalIndex(*Body, First);
  return wrap(Body);
}
