// Barriers, exchanges and instructions on matrices that the lanes of a warp may come to apart, though ptxas takes them to be together.
//
// ptxas has a loop with an atomic operation say `YIELD`, and lanes that wait at the end of a branch for one that says it go on without
// it (compiler/docs/facts.md). They come to a barrier apart. `bar.sync` says that lanes are together there, and mostly ptxas has them meet in
// front of it (`WARPSYNC.ALL`), but not always: then what it computes behind the barrier in registers that a warp shares, as the sum of
// lanes that add to one word, is that of some of the lanes (compiler/docs/reliability.md, 10100070). `barrier.sync` does not say so, and ptxas asks
// at each whether lanes are apart, and has them meet then (eight histograms and two other kernels take as long as before, within 2 %, on an H200).
//
// Nor do lanes always meet behind a call. Functions may keep a register in which a warp remembers who waits for whom, and lanes that
// are in different ones at once write it for each other. ptxas takes who was together in front of the call to be so behind it, asks in front of it
// already, and a shuffle of all lanes is one of some (10133086), a `barrier.sync` lets others go before they came (10233014). With a mask that it
// does not know it asks: exchanges of all lanes get such a one, and in front of all else stands a `bar.warp.sync` with one.
// All lanes that have not ended do come there: PTX wants that of what is `.aligned`, and ptxas has all meet at barriers that are not.

#include "places.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// Whether an instruction is an atomic operation.
bool isAtomic(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  const auto *Text = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(I) || (Text && StringRef(Text->getAsmString()).contains("atom"));
}

/// The barrier that does not say that lanes are together, for one that says it.
Intrinsic::ID forLanesApart(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  switch (Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
    return Intrinsic::nvvm_barrier_cta_sync_all;
  case Intrinsic::nvvm_barrier_cta_sync_aligned_count:
    return Intrinsic::nvvm_barrier_cta_sync_count;
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
    return Intrinsic::nvvm_barrier_cta_red_and_all;
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
    return Intrinsic::nvvm_barrier_cta_red_or_all;
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
    return Intrinsic::nvvm_barrier_cta_red_popc_all;
  default:
    return Intrinsic::not_intrinsic;
  }
}

/// Whether text is of an instruction that all lanes of a warp come to, or of an exchange of all.
bool meetsInText(StringRef Text) {
  bool All = any_of(ArrayRef<StringRef>{".aligned", "bar.sync", "bar.red", "bar.arrive", "bar.cta.", "barrier.sync", "barrier.red",
                                        "barrier.arrive", "barrier.cta.", "barrier.cluster."},
                    [&](StringRef Kind) { return Text.contains(Kind); });
  return All || (Text.contains(".sync") && (Text.contains_insensitive("0xffffffff") || Text.contains("-1")));
}

/// Whether all lanes of a warp come to an instruction, which has no mask of them.
bool needsAll(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (const auto *Text = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr)
    return meetsInText(Text->getAsmString());
  if (!isa<IntrinsicInst>(I))
    return false;
  StringRef Name = Intrinsic::getBaseName(cast<IntrinsicInst>(I).getIntrinsicID());
  return Name.consume_front("llvm.nvvm.") && any_of(ArrayRef<StringRef>{"barrier.", "mma.", "wmma.", "wgmma.", "ldmatrix.", "stmatrix.", "setmaxnreg.",
                                                                         "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinq", "tcgen05.ld.",
                                                                         "tcgen05.st.", "tcgen05.wait."},
                                                    [&](StringRef Kind) { return Name.starts_with(Kind); });
}

/// Whether a value is the mask of all lanes, of which ptxas knows that.
bool isAll(const Value *Mask) {
  const auto *Known = dyn_cast<ConstantInt>(Mask);
  return Known && Known->getBitWidth() == 32 && Known->isMinusOne();
}

/// The mask of all lanes that an exchange is given in text, as a register.
Use *maskInText(CallBase &Call, const InlineAsm &Text) {
  if (!StringRef(Text.getAsmString()).contains(".sync"))
    return nullptr;
  unsigned Place = 0;
  for (const InlineAsm::ConstraintInfo &Constraint : Text.ParseConstraints())
    if (Constraint.hasArg()) {
      Use &Given = Call.getArgOperandUse(Place++);
      if (isAll(Given) && is_contained(Constraint.Codes, "r"))
        return &Given;
    }
  return nullptr;
}

/// The mask of an exchange of all lanes of a warp; null for other instructions, and where the mask is another one, about which ptxas asks.
Use *maskOfAll(Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (const auto *Text = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr)
    return maskInText(*Call, *Text);
  if (!isa<IntrinsicInst>(I))
    return nullptr;
  StringRef Name = Intrinsic::getBaseName(cast<IntrinsicInst>(I).getIntrinsicID());
  bool Reduces = Name.starts_with("llvm.nvvm.redux.sync.");
  bool First = Name.starts_with("llvm.nvvm.shfl.sync.") || Name.starts_with("llvm.nvvm.match.") || Name == "llvm.nvvm.bar.warp.sync" ||
               Name == "llvm.nvvm.elect.sync" || (Name.starts_with("llvm.nvvm.vote.") && Name.ends_with(".sync"));
  if (!Reduces && !First)
    return nullptr;
  Use &Mask = Call->getArgOperandUse(Reduces);
  return isAll(Mask) ? &Mask : nullptr;
}

/// All lanes, in a way that ptxas does not see through.
Value *unknownMask(Instruction &Before) {
  Type *Word = Type::getInt32Ty(Before.getContext());
  auto *Text = InlineAsm::get(FunctionType::get(Word, false),
                              "{ .reg .b32 below; mov.u32 below, %lanemask_lt; mov.u32 $0, %lanemask_ge; or.b32 $0, $0, below; }", "=r",
                              /*hasSideEffects=*/false);
  return CallInst::Create(Text, "", Before.getIterator());
}

/// Whether ptxas makes a call of an operation under a condition.
bool isRoutine(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::FDiv:
  case Instruction::FRem:
    return true;
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return I.getType()->getScalarSizeInBits() > 32;
  default:
    break;
  }
  if (!isa<IntrinsicInst>(I))
    return false;
  StringRef Name = Intrinsic::getBaseName(cast<IntrinsicInst>(I).getIntrinsicID());
  return Name == "llvm.sqrt" || (Name.consume_front("llvm.nvvm.") && !Name.contains(".approx") &&
                                 (Name.starts_with("div.") || Name.starts_with("rcp.") || Name.starts_with("sqrt.")));
}

/// Whether a function may keep the register: it calls others, or has more branches inside each other than there are registers that nobody keeps.
bool mayKeep(const Function &F) {
  // Six are free (`B0` to `B5`); a loop that ptxas unrolls takes three.
  constexpr unsigned Free = 6, OfLoop = 3;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> Back;
  FindFunctionBackedges(F, Back);
  unsigned Branches = Back.size() * (OfLoop - 1);
  for (const BasicBlock &Block : F)
    Branches += succ_size(&Block) > 1;
  return Branches > Free || any_of(instructions(F), [](const Instruction &I) {
           const auto *Deeper = dyn_cast<CallBase>(&I);
           return isRoutine(I) || (Deeper && !isa<IntrinsicInst>(Deeper) && !Deeper->isInlineAsm());
         });
}

/// Whether lanes may come back from a call apart: of a function that nobody knows, or that may keep the register.
bool comesBackApart(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call) || Call->isInlineAsm())
    return false;
  const Function *Called = Call->getCalledFunction();
  return !Called || Called->isDeclaration() || mayKeep(*Called);
}

/// What lanes may be apart by. Of two it is the latter that is mended.
enum class By { Nothing, Loop, Call };

/// Where the lanes of a function may come to be apart, and where they meet.
class Lanes {
public:
  Lanes(Function &F, const LoopInfo &Loops) : F(F), Loops(Loops) {}

  /// What is reached by lanes that may be apart, and by what.
  SmallVector<std::pair<Instruction *, By>, 8> apart() {
    ReversePostOrderTraversal<Function *> Order(&F);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (BasicBlock *Block : Order)
        Changed |= walk(*Block, nullptr);
    }
    SmallVector<std::pair<Instruction *, By>, 8> Found;
    for (BasicBlock *Block : Order)
      walk(*Block, &Found);
    return Found;
  }

private:
  Function &F;
  const LoopInfo &Loops;
  /// By what lanes may be apart at the end of a block.
  DenseMap<const BasicBlock *, By> Ends;

  bool walk(BasicBlock &Block, SmallVectorImpl<std::pair<Instruction *, By>> *Found) {
    // Who calls a function may come from such a call.
    By Now = Block.isEntryBlock() && F.getCallingConv() != CallingConv::PTX_Kernel ? By::Call : By::Nothing;
    for (const BasicBlock *Before : predecessors(&Block))
      Now = std::max(Now, Ends.lookup(Before));
    for (Instruction &I : Block)
      if (comesBackApart(I))
        Now = By::Call;
      else if (needsAll(I) || maskOfAll(I)) {
        if (Found && Now != By::Nothing)
          Found->push_back({&I, Now});
        Now = By::Nothing;
      } else if (Loops.getLoopFor(&Block) && isAtomic(I))
        Now = std::max(Now, By::Loop);
    By &End = Ends[&Block];
    bool IsNew = Now > End;
    End = std::max(End, Now);
    return IsNew;
  }
};

/// Has lanes meet at an instruction. Those that a loop has apart meet at what does not say that they are together, and ptxas asks at that itself.
void meet(Instruction &I, By Why) {
  Module *M = I.getModule();
  Intrinsic::ID Asking = forLanesApart(I);
  if (Use *Mask = maskOfAll(I))
    Mask->set(unknownMask(I));
  if (Why == By::Call && needsAll(I))
    CallInst::Create(Intrinsic::getOrInsertDeclaration(M, Intrinsic::nvvm_bar_warp_sync), {unknownMask(I)}, "", I.getIterator());
  else if (Asking != Intrinsic::not_intrinsic)
    cast<IntrinsicInst>(I).setCalledFunction(Intrinsic::getOrInsertDeclaration(M, Asking));
}

} // namespace

bool partBarriers(Function &F, const LoopInfo &Loops) {
  if (none_of(instructions(F), [](Instruction &I) { return needsAll(I) || maskOfAll(I); }))
    return false;
  auto Found = Lanes(F, Loops).apart();
  for (auto [I, Why] : Found)
    meet(*I, Why);
  return !Found.empty();
}
