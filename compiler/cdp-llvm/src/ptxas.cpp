// What ptxas 13.0 takes wrongly, written in another way behind instruction selection. The faults were seen in its machine
// code and on an H200 (compiler/docs/facts.md).
//
// Stores of a part of what a float instruction wrote (the low half of a `double`'s bits, a byte of a `float` in a union):
// LLVM's registers have a width and no type, and a store may be narrower than its register, which cuts the value (PTX ISA,
// "Operand Size Exceeding Instruction-Type Size"). ptxas goes by the instruction that wrote the register: of
// `mul.rn.f64 %rd1, ...; st.b16 [...], %rd1` it converts the float to an integer of 16 bits. Behind a `mov.b64` the register
// is bits.
//
// Negations in minima and maxima: of `min.s32 %r1, %r2, -%r3; min.s32 %r4, %r1, %r5` it makes one instruction of three
// operands (sm_90, sm_100) and loses the sign of the inner one's second operand. It keeps that of the first.
//
// Negations and absolute values of 16 bits: ptxas computes both in 32 bits and does not cut the result before an
// instruction that asks for its sign, so that -(-32768) is 32768. Of a product by -1 it does.
//
// Halves of minima and maxima: whether the lower half of `min.s16x2`, or a `min.s16`, is the number that stood there for it ptxas
// asks by the instruction itself (`VIMNMX.S16x2 R0, P0, P0, ...`), whose answers for both halves go into one predicate (sm_90, sm_100).
// Whether it is another number it asks rightly.

#include "ptxas.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace {
namespace ptxas {

/// NVPTX's instructions that are made here. Its own header, where they have names, is not installed.
enum Made { Move16, Move32, Move64, Not, NotPredicate, Add, Multiply16, Greater16, MadeCount };
constexpr StringLiteral MadeNames[MadeCount] = {"MOV_B16_r", "MOV_B32_r", "MOV_B64_r", "NOT_b32",
                                                "NOT_pred",  "ADD32ri",   "MULT16ri",  "SMAX16rr"};

/// How integers are compared, in the last operand of a comparison.
enum Comparison { Equal = 0, Unequal = 1 };

class PtxasPass : public MachineFunctionPass {
public:
  static char ID;

  PtxasPass() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "What ptxas takes wrongly"; }

  bool runOnMachineFunction(MachineFunction &F) override;

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }

private:
  StringRef nameOf(const MachineInstr &I) const { return Instructions->getName(I.getOpcode()); }
  const MCInstrDesc &kindOf(Made Which);
  MachineInstrBuilder insert(MachineInstr &Before, Made Which, Register Like);
  bool isOfFloat(Register Of) const;
  bool copyNarrowed(MachineInstr &Store);
  Register negated(Register Of) const;
  bool negateFirst(MachineInstr &Least);
  bool cutNegated(MachineInstr &I, bool Absolute);
  bool isOfHalves(const MachineOperand &Compared) const;
  bool askUnequal(MachineInstr &Question);
  bool change(MachineInstr &I);

  const TargetInstrInfo *Instructions = nullptr;
  MachineRegisterInfo *Registers = nullptr;
  /// Found when they are first made.
  unsigned Opcodes[MadeCount] = {};
};

char PtxasPass::ID;

const MCInstrDesc &PtxasPass::kindOf(Made Which) {
  unsigned &Opcode = Opcodes[Which];
  while (Opcode + 1 < Instructions->getNumOpcodes() && Instructions->getName(Opcode) != MadeNames[Which])
    ++Opcode;
  return Instructions->get(Opcode);
}

/// An instruction that writes a new register of another one's class.
MachineInstrBuilder PtxasPass::insert(MachineInstr &Before, Made Which, Register Like) {
  Register Result = Registers->createVirtualRegister(Registers->getRegClass(Like));
  return BuildMI(*Before.getParent(), Before, Before.getDebugLoc(), kindOf(Which), Result);
}

/// Whether an instruction of floats may have written a register. The names of all of them say so; a name with
/// an F that means something else costs a move.
bool PtxasPass::isOfFloat(Register Of) const {
  SmallPtrSet<const MachineInstr *, 8> Seen;
  SmallVector<Register, 8> Work{Of};
  while (!Work.empty()) {
    Register Next = Work.pop_back_val();
    const MachineInstr *Wrote = Next.isVirtual() ? Registers->getVRegDef(Next) : nullptr;
    if (!Wrote || !Seen.insert(Wrote).second)
      continue;
    if (Wrote->isCopy() || Wrote->isPHI()) {
      for (const MachineOperand &From : drop_begin(Wrote->operands()))
        if (From.isReg())
          Work.push_back(From.getReg());
    } else if (Wrote->isInlineAsm() || nameOf(*Wrote).contains_insensitive("f")) {
      return true;
    }
  }
  return false;
}

/// Copies the values of a store that are wider than what it writes of each.
bool PtxasPass::copyNarrowed(MachineInstr &Store) {
  // The values stand first, and an immediate operand behind them.
  auto *End = find_if(Store.operands(), [](const MachineOperand &Operand) { return !Operand.isReg(); });
  MutableArrayRef<MachineOperand> Values(Store.operands_begin(), End);
  if (Values.empty() || !Store.hasOneMemOperand())
    return false;
  const TargetRegisterInfo &Kinds = *Store.getMF()->getSubtarget().getRegisterInfo();
  uint64_t Written = (*Store.memoperands_begin())->getSizeInBits().getValue() / Values.size();
  bool Changed = false;
  for (MachineOperand &Value : Values) {
    unsigned Width = Kinds.getRegSizeInBits(*Registers->getRegClass(Value.getReg()));
    if (Width <= Written || Width > 64 || !isOfFloat(Value.getReg()))
      continue;
    Made Move = Width == 64 ? Move64 : Width == 32 ? Move32 : Move16;
    Registers->clearKillFlags(Value.getReg());
    Value.setReg(insert(Store, Move, Value.getReg()).addReg(Value.getReg()).getReg(0));
    Changed = true;
  }
  return Changed;
}

/// What a register is the negation of; no register where it is none.
Register PtxasPass::negated(Register Of) const {
  const MachineInstr *Wrote = Registers->getVRegDef(Of);
  while (Wrote && Wrote->isCopy() && Wrote->getOperand(1).getReg().isVirtual())
    Wrote = Registers->getVRegDef(Wrote->getOperand(1).getReg());
  if (!Wrote)
    return Register();
  StringRef Name = nameOf(*Wrote);
  if (Name == "NEG_S32" || (Name == "MULT32ri" && Wrote->getOperand(2).getImm() == -1))
    return Wrote->getOperand(1).getReg();
  if (Name == "SUB32ir" && Wrote->getOperand(1).getImm() == 0)
    return Wrote->getOperand(2).getReg();
  return Register();
}

/// Puts the negated operand of a minimum or maximum first; of two the second one is negated by an addition.
bool PtxasPass::negateFirst(MachineInstr &Least) {
  MachineOperand &First = Least.getOperand(1), &Second = Least.getOperand(2);
  Register Of = negated(Second.getReg());
  if (!Of)
    return false;
  if (!negated(First.getReg())) {
    Register Other = First.getReg();
    First.setReg(Second.getReg());
    Second.setReg(Other);
    Registers->clearKillFlags(Other);
    Registers->clearKillFlags(First.getReg());
    return true;
  }
  Registers->clearKillFlags(Of);
  Register Inverse = insert(Least, Not, Of).addReg(Of).getReg(0);
  Second.setReg(insert(Least, Add, Of).addReg(Inverse).addImm(1).getReg(0));
  return true;
}

/// Negates 16 bits by a product.
bool PtxasPass::cutNegated(MachineInstr &I, bool Absolute) {
  Register Result = I.getOperand(0).getReg(), Of = I.getOperand(1).getReg();
  Registers->clearKillFlags(Of);
  Register Cut = insert(I, Multiply16, Of).addReg(Of).addImm(-1).getReg(0);
  if (Absolute)
    Cut = insert(I, Greater16, Of).addReg(Of).addReg(Cut).getReg(0);
  Registers->replaceRegWith(Result, Cut);
  I.eraseFromParent();
  return true;
}

/// Whether a number is a half of two minima or maxima, or one of 16 bits, perhaps as a wider number.
bool PtxasPass::isOfHalves(const MachineOperand &Compared) const {
  Register Of = Compared.isReg() ? Compared.getReg() : Register();
  while (Of.isVirtual()) {
    const MachineInstr *Wrote = Registers->getVRegDef(Of);
    if (!Wrote)
      return false;
    if (Wrote->isInlineAsm()) {
      StringRef Text = Wrote->getOperand(InlineAsm::MIOp_AsmString).getSymbolName();
      return (Text.contains("min") || Text.contains("max")) && Text.contains("16");
    }
    StringRef Name = nameOf(*Wrote);
    if (Name.contains("MIN16") || Name.contains("MAX16"))
      return true;
    if (!Wrote->isCopy() && !Name.starts_with("CVT_") && !Name.starts_with("I32toI16"))
      return false;
    Of = Wrote->getOperand(1).getReg();
  }
  return false;
}

/// Asks whether halves are unequal instead of equal, and takes the opposite of the answer.
bool PtxasPass::askUnequal(MachineInstr &Question) {
  MachineOperand &How = Question.getOperand(3);
  if (How.getImm() != Equal || !(isOfHalves(Question.getOperand(1)) || isOfHalves(Question.getOperand(2))))
    return false;
  How.setImm(Unequal);
  Register Answer = Question.getOperand(0).getReg(), Opposite = Registers->cloneVirtualRegister(Answer);
  Question.getOperand(0).setReg(Opposite);
  BuildMI(*Question.getParent(), std::next(Question.getIterator()), Question.getDebugLoc(), kindOf(NotPredicate), Answer).addReg(Opposite);
  return true;
}

/// Writes an instruction in another way, if ptxas takes it wrongly.
bool PtxasPass::change(MachineInstr &I) {
  StringRef Name = nameOf(I);
  if (Name.starts_with("ST_") || Name.starts_with("STV_"))
    return copyNarrowed(I);
  if (Name == "SMIN32rr" || Name == "SMAX32rr")
    return negateFirst(I);
  if (Name == "NEG_S16" || Name == "ABS_S16")
    return cutNegated(I, Name == "ABS_S16");
  if (Name.starts_with("SETP_i16") || Name.starts_with("SETP_i32"))
    return askUnequal(I);
  return false;
}

bool PtxasPass::runOnMachineFunction(MachineFunction &F) {
  Instructions = F.getSubtarget().getInstrInfo();
  Registers = &F.getRegInfo();
  bool Changed = false;
  for (MachineBasicBlock &Block : F)
    for (MachineInstr &I : make_early_inc_range(Block))
      Changed |= change(I);
  return Changed;
}

} // namespace ptxas
} // namespace

FunctionPass *createPtxasPass() { return new ptxas::PtxasPass(); }
