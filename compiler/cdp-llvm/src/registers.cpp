// How many registers a kernel may have whose time is that of its loops.
//
// ptxas is not told how large blocks are, and mostly settles for as many registers as let a multiprocessor have all the threads it can
// have, or for the next step. In a loop that loads and adds up that is too few: of the loads of turns that were unrolled together some
// wait for sums of others, of which there is no register left for the result. With a limit of its own (`.maxnreg`) a kernel is
// arranged for as many registers as the limit allows. The largest block may have that many, so that the limit takes no launch away, and
// nothing is said where more might be needed, which would be spilled. Loops with barriers keep what ptxas
// chooses: while a block waits, others are to have something to do. What was measured is in compiler/docs/device-speed.md.
//
// The loops are judged in IR (`room-for-loops`), which knows what adds up; the registers are counted in machine code, where addresses
// and copies are as they will be.

#include "registers.h"
#include "unroll.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {
namespace registers {

/// The limit that a kernel may be given, between the two passes.
constexpr StringLiteral Mark = "cdp-room", Limit = "nvvm.maxnreg";
/// Most values of 32 bits that are kept at a time by a kernel with the limit. Of 408 kernels ptxas spilled 13, of which the
/// one that keeps fewer than 68 has no loop.
constexpr unsigned MostKept = 60;
/// Most registers of a function whose values are counted.
constexpr unsigned MostRegisters = 1 << 14;
/// Most branches of a turn, the one back among them: others do not load what is behind one beforehand.
constexpr unsigned MostBranches = 2;

/// A barrier, as an intrinsic or in text.
bool isBarrier(const CallBase &Call) {
  if (const auto *Text = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return StringRef(Text->getAsmString()).contains("bar");
  return isa<IntrinsicInst>(Call) && Intrinsic::getBaseName(Call.getIntrinsicID()).contains("bar");
}

/// Whether an instruction calls a function: what that takes is not known here.
bool callsFunction(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call && !Call->isInlineAsm() && !isa<IntrinsicInst>(Call);
}

bool isSum(const Value *V) {
  const auto *Sum = dyn_cast<Instruction>(V);
  if (const auto *Fused = dyn_cast<IntrinsicInst>(V))
    return Fused->getIntrinsicID() == Intrinsic::fma || Fused->getIntrinsicID() == Intrinsic::fmuladd;
  return Sum && (Sum->getOpcode() == Instruction::FAdd || Sum->getOpcode() == Instruction::FSub);
}

/// Whether a turn loads, computes with floats, and adds up or stores, without waiting for other threads.
bool loadsAndSums(const Loop &L) {
  unsigned Branches = 0;
  bool Loads = false, Floats = false, Results = false;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      if (isa<SwitchInst, IndirectBrInst>(I) || (isa<CallBase>(I) && isBarrier(cast<CallBase>(I))))
        return false;
      Branches += isa<BranchInst>(I) && cast<BranchInst>(I).isConditional();
      bool Local = getLoadStorePointerOperand(&I) && isa<AllocaInst>(getUnderlyingObject(getLoadStorePointerOperand(&I)));
      Loads |= loads(I) && !Local;
      Results |= isa<StoreInst>(I) && !Local;
      if (!I.getType()->isFloatTy() && !I.getType()->isDoubleTy())
        continue;
      Floats |= isa<BinaryOperator>(I) || isSum(&I);
      if (const auto *Kept = dyn_cast<PHINode>(&I); Kept && Block == L.getHeader() && L.getLoopLatch())
        Results |= isSum(Kept->getIncomingValueForBlock(L.getLoopLatch()));
    }
  return Loads && Floats && Results && Branches <= MostBranches;
}

/// Counts the values that a function keeps at a time, in registers of 32 bits.
class Pressure {
public:
  explicit Pressure(const MachineFunction &F)
      : F(F), Registers(F.getRegInfo()), Kinds(*F.getSubtarget().getRegisterInfo()), Begin(F.getNumBlockIDs()) {}

  /// The most that are kept anywhere; more than any limit where there are too many to count.
  unsigned most() {
    if (Registers.getNumVirtRegs() > MostRegisters)
      return MostRegisters;
    for (BitVector &Of : Begin)
      Of.resize(Registers.getNumVirtRegs());
    bool Changed = true;
    while (Changed) {
      Changed = false;
      for (const MachineBasicBlock &Block : reverse(F)) {
        BitVector Kept = atEnd(Block);
        for (const MachineInstr &I : reverse(Block))
          step(I, Kept);
        Changed |= Kept != Begin[Block.getNumber()];
        Begin[Block.getNumber()] = std::move(Kept);
      }
    }
    unsigned Most = 0;
    for (const MachineBasicBlock &Block : F) {
      BitVector Kept = atEnd(Block);
      unsigned Size = 0;
      for (unsigned Index : Kept.set_bits())
        Size += widthOf(Register::index2VirtReg(Index));
      Most = std::max(Most, Size);
      for (const MachineInstr &I : reverse(Block)) {
        Size += step(I, Kept);
        Most = std::max(Most, Size);
      }
    }
    return Most;
  }

private:
  /// Conditions have registers of their own.
  unsigned widthOf(Register Of) const {
    unsigned Bits = Kinds.getRegSizeInBits(*Registers.getRegClass(Of));
    return Bits == 1 ? 0 : (Bits + 31) / 32;
  }

  /// What is kept behind a block: what its successors use, and what they choose of it.
  BitVector atEnd(const MachineBasicBlock &Block) const {
    BitVector Kept(Registers.getNumVirtRegs());
    for (const MachineBasicBlock *Next : Block.successors()) {
      Kept |= Begin[Next->getNumber()];
      for (const MachineInstr &Choice : Next->phis())
        for (unsigned At = 1; At < Choice.getNumOperands(); At += 2)
          if (Choice.getOperand(At + 1).getMBB() == &Block && Choice.getOperand(At).getReg().isVirtual())
            Kept.set(Choice.getOperand(At).getReg().virtRegIndex());
    }
    return Kept;
  }

  /// Goes from behind an instruction to before it, and says by how much what is kept grows.
  int step(const MachineInstr &I, BitVector &Kept) const {
    int Grows = 0;
    for (const MachineOperand &Operand : I.operands())
      if (Operand.isReg() && Operand.getReg().isVirtual() && Operand.isDef() && Kept.test(Operand.getReg().virtRegIndex())) {
        Kept.reset(Operand.getReg().virtRegIndex());
        Grows -= widthOf(Operand.getReg());
      }
    if (I.isPHI() || I.isDebugInstr())
      return Grows;
    for (const MachineOperand &Operand : I.operands())
      if (Operand.isReg() && Operand.getReg().isVirtual() && Operand.isUse() && !Kept.test(Operand.getReg().virtRegIndex())) {
        Kept.set(Operand.getReg().virtRegIndex());
        Grows += widthOf(Operand.getReg());
      }
    return Grows;
  }

  const MachineFunction &F;
  const MachineRegisterInfo &Registers;
  const TargetRegisterInfo &Kinds;
  /// What is kept before each block, by its number.
  SmallVector<BitVector, 0> Begin;
};

class LimitPass : public MachineFunctionPass {
public:
  static char ID;

  LimitPass() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "Registers for loops"; }

  bool runOnMachineFunction(MachineFunction &F) override {
    Function &Of = F.getFunction();
    Attribute Given = Of.getFnAttribute(Mark);
    if (!Given.isValid())
      return false;
    if (Pressure(F).most() <= MostKept)
      Of.addFnAttr(Limit, Given.getValueAsString());
    Of.removeFnAttr(Mark);
    return false;
  }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }
};

char LimitPass::ID;

} // namespace registers
} // namespace

PreservedAnalyses RoomForLoops::run(Function &F, FunctionAnalysisManager &AM) {
  bool Said = F.hasFnAttribute(registers::Limit) || F.hasFnAttribute("nvvm.minctasm");
  if (F.getCallingConv() != CallingConv::PTX_Kernel || Said || any_of(instructions(F), registers::callsFunction))
    return PreservedAnalyses::all();
  for (const Loop *L : AM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
    if (L->isInnermost() && registers::loadsAndSums(*L)) {
      F.addFnAttr(registers::Mark, Registers);
      break;
    }
  return PreservedAnalyses::all();
}

FunctionPass *createLimitPass() { return new registers::LimitPass(); }
