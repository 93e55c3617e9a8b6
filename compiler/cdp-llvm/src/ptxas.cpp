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
//
// Packed sums with a constant of which one half is read: of `add.u16x2 %r1, %r2, 0x00050007; cvt.u16.u32 %rs1, %r1` it makes
// `VIADD.16x2 R0, R0, 0x0` (sm_90, sm_100), whatever the constant. Where anything reads all of the sum it is right, so is a minimum of
// it, unless it becomes one instruction of its own. An `add` in a longer text of inline PTX stays as it was written.

#include "ptxas.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
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
enum Made { Move16, Move32, Move64, Not, NotPredicate, Add, And, Xor, Apart, Multiply16, Greater16, MadeCount };
constexpr StringLiteral MadeNames[MadeCount] = {"MOV_B16_r", "MOV_B32_r", "MOV_B64_r", "NOT_b32",  "NOT_pred", "ADD32ri",
                                                "AND_b32ri", "XOR_b32rr", "XOR_b32ri", "MULT16ri", "SMAX16rr"};

/// The highest bit of each half.
constexpr uint32_t Signs = 0x80008000;

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
  uint64_t writtenBy(const MachineInstr &Store) const;
  unsigned widthOf(Register Of) const;
  bool copyNarrowed(MachineInstr &Store);
  const MachineInstr *writerOf(Register Of) const;
  Register negated(Register Of) const;
  bool negateFirst(MachineInstr &Least);
  bool cutNegated(MachineInstr &I, bool Absolute);
  bool isOfHalves(const MachineOperand &Compared) const;
  bool askUnequal(MachineInstr &Question);
  bool isNarrow(const MachineInstr &Reader) const;
  bool isReadByHalves(Register Of) const;
  std::optional<uint32_t> constant(const MachineOperand &Of) const;
  bool addByWords(MachineInstr &Sum, unsigned Result, unsigned First, unsigned Second);
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

/// The values of a store, which stand in front of an operand that is no register.
ArrayRef<MachineOperand> valuesOf(const MachineInstr &Store) {
  auto *End = find_if(Store.operands(), [](const MachineOperand &Operand) { return !Operand.isReg(); });
  return ArrayRef<MachineOperand>(Store.operands_begin(), End);
}

/// The bits that a store writes of each value; 0 where that is not known.
uint64_t PtxasPass::writtenBy(const MachineInstr &Store) const {
  ArrayRef<MachineOperand> Values = valuesOf(Store);
  if (Values.empty() || !Store.hasOneMemOperand())
    return 0;
  return (*Store.memoperands_begin())->getSizeInBits().getValue() / Values.size();
}

unsigned PtxasPass::widthOf(Register Of) const {
  return Registers->getTargetRegisterInfo()->getRegSizeInBits(*Registers->getRegClass(Of));
}

/// Copies the values of a store that are wider than what it writes of each.
bool PtxasPass::copyNarrowed(MachineInstr &Store) {
  uint64_t Written = writtenBy(Store);
  if (!Written)
    return false;
  bool Changed = false;
  for (unsigned Index : seq<unsigned>(0, valuesOf(Store).size())) {
    MachineOperand &Value = Store.getOperand(Index);
    unsigned Width = widthOf(Value.getReg());
    if (Width <= Written || Width > 64 || !isOfFloat(Value.getReg()))
      continue;
    Made Move = Width == 64 ? Move64 : Width == 32 ? Move32 : Move16;
    Registers->clearKillFlags(Value.getReg());
    Value.setReg(insert(Store, Move, Value.getReg()).addReg(Value.getReg()).getReg(0));
    Changed = true;
  }
  return Changed;
}

/// What wrote a register, behind copies; null where that is not known.
const MachineInstr *PtxasPass::writerOf(Register Of) const {
  const MachineInstr *Wrote = Of.isVirtual() ? Registers->getVRegDef(Of) : nullptr;
  while (Wrote && Wrote->isCopy() && Wrote->getOperand(1).getReg().isVirtual())
    Wrote = Registers->getVRegDef(Wrote->getOperand(1).getReg());
  return Wrote;
}

/// What a register is the negation of; no register where it is none.
Register PtxasPass::negated(Register Of) const {
  const MachineInstr *Wrote = writerOf(Of);
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

/// Whether an instruction reads 16 bits, or fewer, of a wider register.
bool PtxasPass::isNarrow(const MachineInstr &Reader) const {
  StringRef Name = nameOf(Reader);
  if (Name.starts_with("ST_") || Name.starts_with("STV_"))
    return writtenBy(Reader) != 0 && writtenBy(Reader) <= 16;
  for (StringRef Begin : {"CVT_u16_", "CVT_s16_", "CVT_INREG_", "I32to", "I64toV4I16"})
    if (Name.starts_with(Begin))
      return true;
  return false;
}

/// Whether a word is read by instructions of 16 bits alone, also by such behind instructions that work on both halves or hand the word
/// on, as a part of 64 bits too. Anything else has ptxas take all of it.
bool PtxasPass::isReadByHalves(Register Of) const {
  SmallPtrSet<const MachineInstr *, 8> Seen;
  SmallVector<Register, 8> Work{Of};
  while (!Work.empty()) {
    Register Next = Work.pop_back_val();
    for (const MachineInstr &Reader : Registers->use_nodbg_instructions(Next)) {
      StringRef Name = nameOf(Reader);
      if (isNarrow(Reader) || !Seen.insert(&Reader).second)
        continue;
      bool OnHalves = Name.contains_insensitive("16x2") ||
                      (Reader.isInlineAsm() &&
                       StringRef(Reader.getOperand(InlineAsm::MIOp_AsmString).getSymbolName()).contains("16x2"));
      bool Passes = Reader.isCopy() || Reader.isPHI() || Name.starts_with("MOV_B") || Name.starts_with("CVT_u64_") ||
                    Name.starts_with("CVT_s64_") || Name.starts_with("I64to") || Name.starts_with("V2I32to");
      if (!OnHalves && !Passes)
        return false;
      for (const MachineOperand &Result : Reader.all_defs())
        if (Result.getReg().isVirtual())
          Work.push_back(Result.getReg());
    }
  }
  return true;
}

/// The constant that a register holds.
std::optional<uint32_t> PtxasPass::constant(const MachineOperand &Of) const {
  const MachineInstr *Wrote = Of.isReg() ? writerOf(Of.getReg()) : nullptr;
  if (!Wrote || nameOf(*Wrote) != "MOV_B32_i" || !Wrote->getOperand(1).isImm())
    return std::nullopt;
  return uint32_t(Wrote->getOperand(1).getImm());
}

/// Makes a packed sum with a constant of instructions of 32 bits: the sum of what is below the halves' highest bits, which carries into
/// no other half, and the highest bits without a carry.
bool PtxasPass::addByWords(MachineInstr &Sum, unsigned Result, unsigned First, unsigned Second) {
  std::optional<uint32_t> By = constant(Sum.getOperand(Second));
  if (!By) {
    std::swap(First, Second);
    By = constant(Sum.getOperand(Second));
  }
  Register To = Sum.getOperand(Result).getReg(), Of = Sum.getOperand(First).getReg();
  if (!By || !To.isVirtual() || !Of.isVirtual() || !isReadByHalves(To))
    return false;
  Registers->clearKillFlags(Of);
  Register Low = insert(Sum, And, To).addReg(Of).addImm(int32_t(~Signs)).getReg(0);
  Register Added = insert(Sum, Add, To).addReg(Low).addImm(int32_t(*By & ~Signs)).getReg(0);
  Register High = insert(Sum, And, To).addReg(Of).addImm(int32_t(Signs)).getReg(0);
  Register Words = insert(Sum, Xor, To).addReg(Added).addReg(High).getReg(0);
  if (*By & Signs)
    Words = insert(Sum, Apart, To).addReg(Words).addImm(int32_t(*By & Signs)).getReg(0);
  Registers->replaceRegWith(To, Words);
  Sum.eraseFromParent();
  return true;
}

/// Whether inline PTX is one packed sum of two registers into a third; operands are written `$0` or `${0}`.
bool isPackedSum(const MachineInstr &I) {
  SmallString<32> Text;
  for (char C : StringRef(I.getOperand(InlineAsm::MIOp_AsmString).getSymbolName()))
    if (!isSpace(C) && C != '{' && C != '}')
      Text.push_back(C);
  return Text == "add.u16x2$0,$1,$2;" || Text == "add.s16x2$0,$1,$2;";
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
  if (Name == "ADD16x2")
    return addByWords(I, 0, 1, 2);
  if (I.isInlineAsm() && isPackedSum(I))
    // Each operand stands behind a word about it.
    return addByWords(I, InlineAsm::MIOp_FirstOperand + 1, InlineAsm::MIOp_FirstOperand + 3, InlineAsm::MIOp_FirstOperand + 5);
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
