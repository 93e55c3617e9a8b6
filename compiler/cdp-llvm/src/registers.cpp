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
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

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
/// Sums of floats that are work enough while a block waits.
constexpr unsigned ManySums = 8;
/// Most instructions that a value is traced back through.
constexpr unsigned MostParts = 256;

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

/// Whether an address is of global memory, as those that come from parameters, or of shared memory.
bool isOf(const Value *Place, unsigned Space) {
  return getUnderlyingObject(Place)->getType()->getPointerAddressSpace() == Space || Place->getType()->getPointerAddressSpace() == Space;
}

/// Whether a turn loads, computes with floats, and adds up or stores, without waiting for other threads. What is multiplied before something is
/// added to it, as by Horner's scheme, waits for itself (doubles gain all the same). Where it does wait, only if
/// it keeps many sums, which are work enough for the while, or goes on through global memory, reading and writing, as from plane to plane
/// of a volume: of these there are few threads mostly.
bool loadsAndSums(const Loop &L) {
  constexpr unsigned Shared = 3;
  unsigned Branches = 0, Sums = 0;
  bool Loads = false, Floats = false, Results = false, Waits = false, Reads = false, Writes = false;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      if (isa<SwitchInst, IndirectBrInst>(I))
        return false;
      Waits |= isa<CallBase>(I) && isBarrier(cast<CallBase>(I));
      Branches += isa<BranchInst>(I) && cast<BranchInst>(I).isConditional();
      const Value *Place = getLoadStorePointerOperand(&I);
      bool Local = Place && isa<AllocaInst>(getUnderlyingObject(Place));
      bool Far = Place && !Local && !isOf(Place, Shared);
      Loads |= loads(I) && !Local;
      Reads |= loads(I) && Far;
      Writes |= isa<StoreInst>(I) && Far;
      Results |= isa<StoreInst>(I) && !Local;
      if (!I.getType()->isFloatTy() && !I.getType()->isDoubleTy())
        continue;
      Floats |= isa<BinaryOperator>(I) || isSum(&I);
      if (const auto *Kept = dyn_cast<PHINode>(&I); Kept && Block == L.getHeader() && L.getLoopLatch())
        Sums += isSum(Kept->getIncomingValueForBlock(L.getLoopLatch())) && (I.getType()->isDoubleTy() || addsUp(*Kept, L));
    }
  bool Works = Sums >= ManySums || (Reads && Writes);
  return Loads && Floats && (Results || Sums) && (Waits ? Works : Branches <= MostBranches);
}

/// Whether a value may differ between threads with different first numbers. What decides which way they come to it is not looked at.
bool isOfLane(const Value *Of) {
  SmallVector<const Value *, 8> Work{Of};
  SmallPtrSet<const Value *, 32> Seen;
  while (!Work.empty()) {
    const auto *Part = dyn_cast<Instruction>(Work.pop_back_val());
    if (!Part || !Seen.insert(Part).second)
      continue;
    const auto *Call = dyn_cast<CallBase>(Part);
    if (Seen.size() > MostParts || (Call && (!isa<IntrinsicInst>(Call) || Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_x ||
                                             Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_laneid)))
      return true;
    append_range(Work, Part->operand_values());
  }
  return false;
}

/// Whether a loop loads by numbers that it loaded and that are the same for all lanes of a warp, side by side: rows of a dense matrix
/// by the places of a sparse one. More warps are worth more there than more loads of each.
bool loadsSideBySide(const Loop &L) {
  return any_of(L.blocks(), [&](const BasicBlock *Block) {
    return any_of(*Block, [&](const Instruction &I) {
      if (!loads(I))
        return false;
      auto Numbers = numbersOf(I, L);
      return !Numbers.empty() && none_of(Numbers, isOfLane) && isOfLane(&I);
    });
  });
}

/// Counts the values that a function keeps at a time, in registers of 32 bits.
class Pressure {
public:
  explicit Pressure(const MachineFunction &F)
      : F(F), Registers(F.getRegInfo()), Kinds(*F.getSubtarget().getRegisterInfo()), Instructions(*F.getSubtarget().getInstrInfo()),
        Begin(F.getNumBlockIDs()) {}

  /// The most that are kept anywhere; more than any limit where there are too many to count.
  unsigned most() {
    if (Registers.getNumVirtRegs() > MostRegisters)
      return MostRegisters;
    for (BitVector &Of : Begin)
      Of.resize(Registers.getNumVirtRegs());
    for (unsigned Index = 0; Index < Registers.getNumVirtRegs(); Index++)
      Width.push_back(widthNeeded(Register::index2VirtReg(Index)));
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
  /// Whether a value is made anew where it is used: constants, addresses of variables, and parameters, which are constants to a GPU.
  bool isMadeAnew(Register Of) const {
    const MachineInstr *Made = Registers.getVRegDef(Of);
    if (!Made || Made->getNumExplicitDefs() != 1)
      return false;
    StringRef Name = Instructions.getName(Made->getOpcode());
    if (Name.starts_with("cvta_to_"))
      return Made->getOperand(1).isReg() && isMadeAnew(Made->getOperand(1).getReg());
    bool Parameter = Made->mayLoad() && any_of(Made->operands(), [](const MachineOperand &Part) { return Part.isSymbol(); });
    bool Constant = Name.contains("MOV") && Made->getNumOperands() == 2 && !Made->getOperand(1).isReg();
    return Parameter || Constant;
  }

  /// Conditions have registers of their own.
  unsigned widthOf(Register Of) const { return Width[Of.virtRegIndex()]; }

  uint8_t widthNeeded(Register Of) const {
    unsigned Bits = Kinds.getRegSizeInBits(*Registers.getRegClass(Of));
    return Bits == 1 || isMadeAnew(Of) ? 0 : (Bits + 31) / 32;
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
  const TargetInstrInfo &Instructions;
  /// The registers of 32 bits that each value takes.
  SmallVector<uint8_t, 0> Width;
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
    if (L->isInnermost() && registers::loadsAndSums(*L) && !registers::loadsSideBySide(*L)) {
      F.addFnAttr(registers::Mark, Registers);
      break;
    }
  return PreservedAnalyses::all();
}

FunctionPass *createLimitPass() { return new registers::LimitPass(); }
