// Writes to places that LLVM's NVPTX back end does not expect them at.
//
// A kernel may change its parameters, which are its own: the back end makes a local copy of those that are stored to, or whose
// address goes where it does not follow it. Large ones it copies byte by byte, all of them, where a copy of ours is as wide as memory
// is and leaves out what nobody looks at. An atomic update it takes for a read, and leaves it without an address (LLVM 22.1,
// NVPTXLowerArgs). And constant
// memory is only read by a program without a fault. For one with a fault there must be code too, since it may never
// come there: PTX has no instruction that writes to `.const`, but a generic address reaches it, and the device says
// what is wrong. Nor has PTX atomic updates of local memory: only its thread sees it, so that plain ones do.

#include "places.h"
#include "unroll.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

using namespace llvm;

namespace {
namespace places {

constexpr unsigned Global = 1, Constant = 4, Local = 5;
/// Bytes above which the back end copies by a loop, one byte a turn (LLVM 22.1, NVPTXLowerAggrCopies).
constexpr uint64_t MostAtOnce = 128;

/// The operand that an atomic update changes; null for other instructions.
Use *updated(Instruction &I) {
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I))
    return &Update->getOperandUse(AtomicRMWInst::getPointerOperandIndex());
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return &Swap->getOperandUse(AtomicCmpXchgInst::getPointerOperandIndex());
  return nullptr;
}

/// Whether a pointer, or one that is made of it, is used so.
bool isUsed(Argument &Pointer, function_ref<bool(Use &)> So) {
  SmallPtrSet<Value *, 16> Seen{&Pointer};
  SmallVector<Value *, 16> Work{&Pointer};
  while (!Work.empty())
    for (Use &Next : Work.pop_back_val()->uses()) {
      if (So(Next))
        return true;
      User *By = Next.getUser();
      bool Leads = isa<GetElementPtrInst, CastInst, PHINode, SelectInst, IntrinsicInst>(By) && By->getType()->isPointerTy();
      if (Leads && Seen.insert(By).second)
        Work.push_back(By);
    }
  return false;
}

/// Whether an atomic update changes what a pointer leads to.
bool isUpdated(Argument &Pointer) {
  return isUsed(Pointer, [](Use &Next) { return updated(*cast<Instruction>(Next.getUser())) == &Next; });
}

/// Whether a pointer's use only reads what it leads to, or leads on to it.
bool reads(Use &Pointer) {
  User *By = Pointer.getUser();
  if (auto *Copy = dyn_cast<MemTransferInst>(By))
    return &Pointer == &Copy->getRawSourceUse();
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(By))
    return Intrinsic->isAssumeLikeIntrinsic();
  return isa<LoadInst, ICmpInst, GetElementPtrInst, CastInst, PHINode, SelectInst>(By) && !isa<PtrToIntInst>(By);
}

/// Whether all that is done with a pointer is to read what it leads to. What functions that are called do with it is known by now.
bool isOnlyRead(Argument &Pointer) {
  return Pointer.onlyReadsMemory() || !isUsed(Pointer, [](Use &Next) { return !reads(Next); });
}

/// Has the back end know what it tells of a parameter alone: that the pointers in it lead to global memory (NVPTXLowerArgs).
void markGlobal(Argument &Parameter) {
  for (Instruction &I : make_early_inc_range(instructions(*Parameter.getParent()))) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->isSimple() || Load->getType() != Parameter.getType() ||
        getUnderlyingObject(Load->getPointerOperand()) != &Parameter)
      continue;
    IRBuilder<> Build(Load);
    LoadInst *Known = Build.CreateAlignedLoad(Build.getPtrTy(Global), Load->getPointerOperand(), Load->getAlign());
    Known->setAAMetadata(Load->getAAMetadata());
    Load->replaceAllUsesWith(Build.CreateAddrSpaceCast(Known, Load->getType()));
    Load->eraseFromParent();
  }
}

void copy(Argument &Parameter) {
  Function &Kernel = *Parameter.getParent();
  const DataLayout &Layout = Kernel.getDataLayout();
  Type *Kind = Parameter.getParamByValType();
  Align Alignment = Parameter.getParamAlign().value_or(Layout.getABITypeAlign(Kind));
  IRBuilder<> Build(&*Kernel.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Own = Build.CreateAlloca(Kind);
  Own->setAlignment(Alignment);
  Parameter.replaceAllUsesWith(Own);
  // It is read now, if nothing else did.
  Parameter.removeAttr(Attribute::WriteOnly);
  Parameter.removeAttr(Attribute::Initializes);
  Build.CreateMemCpy(Own, Alignment, &Parameter, Alignment, Layout.getTypeAllocSize(Kind));
}

/// The operand of a pointer to constant memory that an instruction writes through; null where it does not.
Use *writtenConstant(Instruction &I) {
  Use *Place = updated(I);
  if (auto *Store = dyn_cast<StoreInst>(&I))
    Place = &Store->getOperandUse(StoreInst::getPointerOperandIndex());
  if (!Place || Place->get()->getType()->getPointerAddressSpace() != Constant)
    return nullptr;
  return Place;
}

/// Copies and fills name the spaces of their operands, so that they are made anew.
bool writeAnew(MemIntrinsic &Old) {
  if (Old.getDestAddressSpace() != Constant)
    return false;
  IRBuilder<> Build(&Old);
  Value *Place = Build.CreateAddrSpaceCast(Old.getRawDest(), Build.getPtrTy());
  bool Volatile = Old.isVolatile();
  if (auto *Fill = dyn_cast<MemSetInst>(&Old))
    Build.CreateMemSet(Place, Fill->getValue(), Fill->getLength(), Fill->getDestAlign(), Volatile);
  else if (auto *Copy = cast<MemTransferInst>(&Old); isa<MemMoveInst>(Copy))
    Build.CreateMemMove(Place, Copy->getDestAlign(), Copy->getRawSource(), Copy->getSourceAlign(),
                        Copy->getLength(), Volatile);
  else
    Build.CreateMemCpy(Place, Copy->getDestAlign(), Copy->getRawSource(), Copy->getSourceAlign(),
                       Copy->getLength(), Volatile);
  Old.eraseFromParent();
  return true;
}

/// Whether a pointer leads into the thread's own memory for certain.
bool isLocal(const Value *Pointer) {
  return Pointer->getType()->getPointerAddressSpace() == Local || isa<AllocaInst>(getUnderlyingObject(Pointer));
}

} // namespace places
} // namespace

void copyUpdatedParameters(Function &Kernel) {
  if (Kernel.isDeclaration() || Kernel.getCallingConv() != CallingConv::PTX_Kernel)
    return;
  for (Argument &Parameter : Kernel.args())
    if (Parameter.hasByValAttr() && places::isUpdated(Parameter))
      places::copy(Parameter);
}

PreservedAnalyses OwnParameters::run(Function &F, FunctionAnalysisManager &AM) {
  if (F.getCallingConv() != CallingConv::PTX_Kernel)
    return PreservedAnalyses::all();
  bool Changed = false;
  for (Argument &Parameter : F.args()) {
    if (!Parameter.hasByValAttr() || Parameter.hasAttribute("nvvm.grid_constant") ||
        F.getDataLayout().getTypeAllocSize(Parameter.getParamByValType()) <= places::MostAtOnce || places::isOnlyRead(Parameter))
      continue;
    places::markGlobal(Parameter);
    places::copy(Parameter);
    Changed = true;
  }
  if (!Changed)
    return PreservedAnalyses::all();
  AM.invalidate(F, PreservedAnalyses::none());
  Passes.run(F, AM);
  return PreservedAnalyses::none();
}

bool updateLocalPlainly(Function &F) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    Use *Place = places::updated(I);
    if (!Place || !places::isLocal(Place->get()))
      continue;
    if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      Changed |= lowerAtomicCmpXchgInst(Swap);
    else
      Changed |= lowerAtomicRMWInst(cast<AtomicRMWInst>(&I));
  }
  return Changed;
}

bool writeByGenericAddress(Function &F) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (auto *Block = dyn_cast<MemIntrinsic>(&I)) {
      Changed |= places::writeAnew(*Block);
    } else if (Use *Place = places::writtenConstant(I)) {
      IRBuilder<> Build(&I);
      Place->set(Build.CreateAddrSpaceCast(Place->get(), Build.getPtrTy()));
      Changed = true;
    }
  }
  return Changed;
}
