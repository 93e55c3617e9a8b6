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
// Packed operations of which one half is read: ptxas computes that half alone, in the lower half of a register. Of a sum it adds 0 for a half
// of an operand that it knows (`add.u16x2 %r1, %r2, 0x00050007; cvt.u16.u32 %rs1, %r1` is `VIADD.16x2 R0, R0, 0x0`; sm_90, sm_100), and of
// an operand that was loaded or widened from 16 bits it takes the lower half for the upper one, which is zero or signs. Where anything
// reads both halves it is right. An `add` in a longer text of inline PTX stays as it was written.
//
// Differences from a product's upper half: of `mul.hi.u32`, `cvt.u64.u32` and `sub.s64` it makes `IMAD.HI.U32` with a carry, which is none
// where the lower half of what is taken away is 0, and the upper half of the difference is one less.
//
// Numbers without a sign as floats: of `bfe.s32` with 8 or 16 bits, and of `abs.s32`, `cvt.rn.f32.u32` makes a float of a number with one.

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
enum Made { Move16, Move32, Move64, Not, NotPredicate, Add, Sum, And, Negate, Greater, Left, Right, Multiply16, Greater16, Right16, Constant16, Narrow, Pack, Wide, WideBy, Right64, MadeCount };
constexpr StringLiteral MadeNames[MadeCount] = {"MOV_B16_r", "MOV_B32_r", "MOV_B64_r", "NOT_b32",  "NOT_pred", "ADD32ri",   "ADD32rr",     "AND_b32ri",   "NEG_S32",
                                                "SMAX32rr",  "SHL32_ri",  "SRA32_ri",  "MULT16ri", "SMAX16rr", "SRA16_ri", "MOV_B16_i", "CVT_u16_u32", "V2I16toI32",
                                                "MUL_WIDEu32_rr", "MUL_WIDEu32_ri", "SRL64_ri"};

/// Which halves of a word are read, and whether all of it is.
enum Halves : unsigned { NoHalf = 0, Low = 1, High = 2, All = 4 };

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
  MachineInstrBuilder insert(MachineInstr &Before, Made Which);
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
  bool isPacked(const MachineInstr &I) const;
  unsigned halfReadBy(const MachineInstr &Reader) const;
  unsigned halvesRead(Register Of) const;
  bool addWords(MachineInstr &Packed, unsigned Result, unsigned First, unsigned Second);
  bool isWidened(Register Of, bool &BySign) const;
  bool packWidened(MachineInstr &Packed);
  bool widenProduct(MachineInstr &Conversion, const MachineInstr &Product);
  bool convertUnsigned(MachineInstr &Conversion);
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

/// An instruction that writes a new register.
MachineInstrBuilder PtxasPass::insert(MachineInstr &Before, Made Which) {
  const TargetRegisterClass *Kind = Registers->getTargetRegisterInfo()->getRegClass(kindOf(Which).operands()[0].RegClass);
  Register Result = Registers->createVirtualRegister(Kind);
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
    Value.setReg(insert(Store, Move).addReg(Value.getReg()).getReg(0));
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
  Register Inverse = insert(Least, Not).addReg(Of).getReg(0);
  Second.setReg(insert(Least, Add).addReg(Inverse).addImm(1).getReg(0));
  return true;
}

/// Negates 16 bits by a product.
bool PtxasPass::cutNegated(MachineInstr &I, bool Absolute) {
  Register Result = I.getOperand(0).getReg(), Of = I.getOperand(1).getReg();
  Registers->clearKillFlags(Of);
  Register Cut = insert(I, Multiply16).addReg(Of).addImm(-1).getReg(0);
  if (Absolute)
    Cut = insert(I, Greater16).addReg(Of).addReg(Cut).getReg(0);
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

StringRef textOf(const MachineInstr &I) {
  return I.isInlineAsm() ? I.getOperand(InlineAsm::MIOp_AsmString).getSymbolName() : StringRef();
}

/// Whether an instruction works on both halves of words alike.
bool PtxasPass::isPacked(const MachineInstr &I) const {
  return nameOf(I).contains("16x2") || textOf(I).contains("16x2");
}

/// Which half of a word, or of a part of 64 bits, an instruction reads, if it reads a half.
unsigned PtxasPass::halfReadBy(const MachineInstr &Reader) const {
  StringRef Name = nameOf(Reader);
  auto IsUsed = [&](unsigned Result) { return !Registers->use_nodbg_empty(Reader.getOperand(Result).getReg()); };
  if (Name == "I32toV2I16")
    return (IsUsed(0) ? Low : NoHalf) | (IsUsed(1) ? High : NoHalf);
  if (Name.starts_with("I32toI16H"))
    return High;
  if (Name.starts_with("ST_") || Name.starts_with("STV_"))
    return writtenBy(Reader) && writtenBy(Reader) <= 16 ? Low : All;
  for (StringRef Begin : {"CVT_u16_", "CVT_s16_", "CVT_INREG_", "I32toI16L"})
    if (Name.starts_with(Begin))
      return Low;
  return All;
}

/// Which halves of a word are read, also behind instructions that work on both halves or hand the word on, as a part of 64 bits too.
unsigned PtxasPass::halvesRead(Register Of) const {
  SmallPtrSet<const MachineInstr *, 8> Seen;
  SmallVector<Register, 8> Work{Of};
  unsigned Read = NoHalf;
  while (!Work.empty() && !(Read & All)) {
    Register Next = Work.pop_back_val();
    for (const MachineInstr &Reader : Registers->use_nodbg_instructions(Next)) {
      StringRef Name = nameOf(Reader);
      bool Passes = isPacked(Reader) || Reader.isCopy() || Reader.isPHI() || Name.starts_with("MOV_B") || Name.starts_with("CVT_u64_") ||
                    Name.starts_with("CVT_s64_") || Name.starts_with("I64to") || Name.starts_with("V2I32to");
      if (!Passes)
        Read |= halfReadBy(Reader);
      else if (Seen.insert(&Reader).second)
        for (const MachineOperand &Result : Reader.all_defs())
          if (Result.getReg().isVirtual())
            Work.push_back(Result.getReg());
    }
  }
  return Read;
}

/// Makes a packed sum of which one half is read of instructions of 32 bits: the lower half is that of the words' sum, and the upper one
/// where nothing is added below it.
bool PtxasPass::addWords(MachineInstr &Packed, unsigned Result, unsigned First, unsigned Second) {
  Register To = Packed.getOperand(Result).getReg(), One = Packed.getOperand(First).getReg(), Other = Packed.getOperand(Second).getReg();
  if (!To.isVirtual() || !One.isVirtual() || !Other.isVirtual())
    return false;
  unsigned Read = halvesRead(To);
  if (Read != Low && Read != High)
    return false;
  Registers->clearKillFlags(One);
  Registers->clearKillFlags(Other);
  if (Read == High)
    Other = insert(Packed, And).addReg(Other).addImm(int32_t(0xffff0000)).getReg(0);
  Registers->replaceRegWith(To, insert(Packed, Sum).addReg(One).addReg(Other).getReg(0));
  Packed.eraseFromParent();
  return true;
}

/// Whether a word was loaded or widened from 16 bits or fewer, and by its sign.
bool PtxasPass::isWidened(Register Of, bool &BySign) const {
  const MachineInstr *Wrote = writerOf(Of);
  if (!Wrote || widthOf(Of) != 32)
    return false;
  StringRef Name = nameOf(*Wrote);
  if (Name.starts_with("LD_i32") && Wrote->hasOneMemOperand()) {
    // The fourth of the operands says of what kind a number is; 1 has a sign.
    BySign = Wrote->getOperand(4).isImm() && Wrote->getOperand(4).getImm() == 1;
    return (*Wrote->memoperands_begin())->getSizeInBits().getValue() <= 16;
  }
  BySign = Name.starts_with("CVT_s32_");
  return Name == "CVT_u32_u16" || Name == "CVT_u32_u8" || Name == "CVT_s32_s16" || Name == "CVT_s32_s8";
}

/// Has words that were 16 bits made of two halves again where a packed operation takes them of which the upper half is read.
bool PtxasPass::packWidened(MachineInstr &Packed) {
  bool Changed = false;
  for (const MachineOperand &Result : Packed.all_defs())
    if (!Result.getReg().isVirtual() || halvesRead(Result.getReg()) != High)
      return false;
  for (MachineOperand &Taken : Packed.all_uses()) {
    bool BySign = false;
    if (!Taken.getReg().isVirtual() || Taken.isTied() || !isWidened(Taken.getReg(), BySign))
      continue;
    Registers->clearKillFlags(Taken.getReg());
    Register Lower = insert(Packed, Narrow).addReg(Taken.getReg()).addImm(0).getReg(0);
    Register Upper = BySign ? insert(Packed, Right16).addReg(Lower).addImm(15).getReg(0) : insert(Packed, Constant16).addImm(0).getReg(0);
    Taken.setReg(insert(Packed, Pack).addReg(Lower).addReg(Upper).getReg(0));
    Changed = true;
  }
  return Changed;
}

/// Makes a product's upper half of 64 bits of all of the product.
bool PtxasPass::widenProduct(MachineInstr &Conversion, const MachineInstr &Product) {
  Register Result = Conversion.getOperand(0).getReg();
  const MachineOperand &By = Product.getOperand(2);
  MachineInstrBuilder All = insert(Conversion, By.isReg() ? Wide : WideBy).addReg(Product.getOperand(1).getReg());
  if (By.isReg())
    All.addReg(By.getReg());
  else
    All.addImm(By.getImm());
  for (const MachineOperand &Taken : Product.uses())
    if (Taken.isReg())
      Registers->clearKillFlags(Taken.getReg());
  Registers->replaceRegWith(Result, insert(Conversion, Right64).addReg(All.getReg(0)).addImm(32).getReg(0));
  Conversion.eraseFromParent();
  return true;
}

/// Writes what a number without a sign is converted from so that ptxas takes it for what it is: a part or a magnitude for one without a
/// sign, a product's upper half for no place to put a difference.
bool PtxasPass::convertUnsigned(MachineInstr &Conversion) {
  MachineOperand &Taken = Conversion.getOperand(1);
  const MachineInstr *Wrote = Taken.isReg() ? writerOf(Taken.getReg()) : nullptr;
  if (!Wrote)
    return false;
  StringRef Name = nameOf(*Wrote);
  if (Name == "BFE_S32rii") {
    int64_t Begin = Wrote->getOperand(2).getImm(), Bits = Wrote->getOperand(3).getImm();
    if (Bits < 1 || Begin < 0 || Begin + Bits > 32)
      return false;
    Register Part = Wrote->getOperand(1).getReg();
    Registers->clearKillFlags(Part);
    if (Begin + Bits < 32)
      Part = insert(Conversion, Left).addReg(Part).addImm(32 - Begin - Bits).getReg(0);
    Taken.setReg(insert(Conversion, Right).addReg(Part).addImm(32 - Bits).getReg(0));
    return true;
  }
  if (Name.starts_with("MUL_HI_U32") && nameOf(Conversion) == "CVT_u64_u32")
    return widenProduct(Conversion, *Wrote);
  if (Name != "ABS_S32")
    return false;
  Register Of = Wrote->getOperand(1).getReg();
  Registers->clearKillFlags(Of);
  Register Inverse = insert(Conversion, Negate).addReg(Of).getReg(0);
  Taken.setReg(insert(Conversion, Greater).addReg(Inverse).addReg(Of).getReg(0));
  return true;
}

/// Whether inline PTX is one packed sum of two registers into a third; operands are written `$0` or `${0}`.
bool isPackedSum(const MachineInstr &I) {
  SmallString<32> Text;
  for (char C : textOf(I))
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
  if ((Name.starts_with("CVT_f") && Name.ends_with("_u32")) || Name == "CVT_u64_u32")
    return convertUnsigned(I);
  if (!isPacked(I))
    return false;
  // In inline PTX each operand stands behind a word about it.
  constexpr unsigned Begin = InlineAsm::MIOp_FirstOperand;
  if (Name == "ADD16x2" ? addWords(I, 0, 1, 2) : isPackedSum(I) && addWords(I, Begin + 1, Begin + 3, Begin + 5))
    return true;
  return packWidened(I);
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
