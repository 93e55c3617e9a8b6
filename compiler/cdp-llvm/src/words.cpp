// Copies, settings and words in the widths that memory has.
//
// A copy of known size becomes loads as wide as both alignments allow, all of them before the stores, so that they
// are on their way together. LLVM copies eight bytes at most at a time, and stores each before it loads the next
// (structs of sixteen bytes: 1.36 times as long). Of longer copies, and of zeros for an array in local memory, it
// makes loops of single bytes.
//
// A number of 64 bits made of two words that were loaded becomes their vector: LLVM's code generation would read
// it from memory once more, since it sees that the words lie side by side, but not that they are there already
// (a hash over vectors of four words: 1.3 times as long).
//
// What a vector has that is needed on a condition alone (a particle's mass, where it is near) was moved to where it is needed, and is
// loaded with the rest again: one request instead of two, the second of which is waited for in the loop.

#include "unroll.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// The longest copy that is written out, in bytes: longer ones would take too many registers.
constexpr uint64_t LongestCopy = 128;
/// The longest setting that is written out, in bytes.
constexpr uint64_t LongestSetting = 256;
/// What a turn of a loop copies or sets, in bytes.
constexpr uint64_t TurnBytes = 64;
/// The widest access, in bytes.
constexpr uint64_t Widest = 16;
/// How far from a condition the rest of a vector is looked for.
constexpr unsigned NearInstructions = 64;

/// The type of the widest access to `Left` bytes at an offset of a place with this alignment.
Type *accessType(LLVMContext &Context, uint64_t Left, Align At) {
  uint64_t Bytes = std::min<uint64_t>({Left, At.value(), Widest});
  Bytes = uint64_t(1) << Log2_64(Bytes);
  if (Bytes == Widest)
    return FixedVectorType::get(Type::getInt32Ty(Context), 4);
  return Type::getIntNTy(Context, unsigned(Bytes) * 8);
}

/// The constant size of a copy or setting that is done here; 0 for others.
uint64_t sizeOf(const MemIntrinsic &Access) {
  const auto *Size = dyn_cast<ConstantInt>(Access.getLength());
  return Size && !Access.isVolatile() ? Size->getLimitedValue() : 0;
}

/// The alignment of a place, which for a local variable is made that of the widest access.
Align alignOf(Value *Place, MaybeAlign Known, uint64_t Size) {
  auto *Local = dyn_cast<AllocaInst>(Place->stripPointerCasts());
  if (!Local)
    return Known.valueOrOne();
  if (Size >= Widest && Local->getAlign() < Align(Widest))
    Local->setAlignment(Align(Widest));
  return std::max(Known.valueOrOne(), Local->getAlign());
}

/// Calls `part` for all of `Size` bytes: before `At` for the last ones and where they are few, and in a loop for
/// the others, with the distance from the beginning.
template <class F> void inTurns(Instruction &At, uint64_t Size, uint64_t Longest, F &&Part) {
  IRBuilder<> Build(&At);
  if (Size <= Longest)
    return Part(Build, Build.getInt64(0), Size);
  uint64_t Turns = Size / TurnBytes, Rest = Size % TurnBytes;
  auto [Inside, Turn] = SplitBlockAndInsertSimpleForLoop(Build.getInt64(Turns), At.getIterator());
  IRBuilder<> InLoop(Inside);
  Part(InLoop, InLoop.CreateMul(Turn, InLoop.getInt64(TurnBytes)), TurnBytes);
  Build.SetInsertPoint(&At);
  if (Rest)
    Part(Build, Build.getInt64(Turns * TurnBytes), Rest);
}

/// Copies `Size` bytes in the widest parts, all loads before the stores.
void copyPart(IRBuilder<> &Build, const MemTransferInst &Copy, Align From, Align To, Value *Begin,
              uint64_t Size) {
  auto *Source = Build.CreateInBoundsPtrAdd(Copy.getSource(), Begin);
  auto *Target = Build.CreateInBoundsPtrAdd(Copy.getDest(), Begin);
  Align Common = std::min(From, To);
  SmallVector<std::pair<uint64_t, Value *>, 8> Parts;
  for (uint64_t At = 0; At < Size;) {
    Type *Of = accessType(Copy.getContext(), Size - At, commonAlignment(Common, At));
    Value *Place = Build.CreateConstInBoundsGEP1_64(Build.getInt8Ty(), Source, At);
    LoadInst *Part = Build.CreateAlignedLoad(Of, Place, commonAlignment(From, At));
    // In a loop the offset from the copy's beginning is not known.
    if (isa<ConstantInt>(Begin) && cast<ConstantInt>(Begin)->isZero())
      Part->setAAMetadata(Copy.getAAMetadata().adjustForAccess(At, Of, Copy.getDataLayout()));
    Parts.push_back({At, Part});
    At += Copy.getDataLayout().getTypeStoreSize(Of);
  }
  for (auto [At, Part] : Parts) {
    Value *Place = Build.CreateConstInBoundsGEP1_64(Build.getInt8Ty(), Target, At);
    Build.CreateAlignedStore(Part, Place, commonAlignment(To, At));
  }
}

/// Writes a copy as loads and stores; false where bytes would take an access each.
bool writeOut(MemTransferInst &Copy) {
  uint64_t Size = sizeOf(Copy);
  // What overlaps may only be stored when all of it was loaded.
  if (!Size || (Size > LongestCopy && !isa<MemCpyInst>(Copy)))
    return false;
  Align From = alignOf(Copy.getSource(), Copy.getSourceAlign(), Size);
  Align To = alignOf(Copy.getDest(), Copy.getDestAlign(), Size);
  if (std::min(From, To) < Align(4))
    return false;
  From = std::min(From, Align(TurnBytes));
  To = std::min(To, Align(TurnBytes));
  inTurns(Copy, Size, LongestCopy, [&](IRBuilder<> &Build, Value *Begin, uint64_t Bytes) {
    copyPart(Build, Copy, From, To, Begin, Bytes);
  });
  Copy.eraseFromParent();
  return true;
}

/// Writes the setting of bytes to one value as stores.
bool writeOut(MemSetInst &Setting) {
  uint64_t Size = sizeOf(Setting);
  Align To = alignOf(Setting.getDest(), Setting.getDestAlign(), Size);
  if (!Size || To < Align(4))
    return false;
  To = std::min(To, Align(TurnBytes));
  IRBuilder<> Build(&Setting);
  Value *Byte = Build.CreateZExt(Setting.getValue(), Build.getInt64Ty());
  Value *Bytes = Build.CreateMul(Byte, Build.getInt64(0x0101010101010101));
  inTurns(Setting, Size, LongestSetting, [&](IRBuilder<> &Build, Value *Begin, uint64_t Part) {
    auto *Target = Build.CreateInBoundsPtrAdd(Setting.getDest(), Begin);
    for (uint64_t At = 0; At < Part;) {
      Type *Of = accessType(Setting.getContext(), Part - At, commonAlignment(To, At));
      Value *Stored = Build.CreateTrunc(Bytes, Build.getIntNTy(std::min(Of->getScalarSizeInBits(), 64u)));
      if (Of->isVectorTy())
        Stored = Build.CreateVectorSplat(4, Stored);
      Value *Place = Build.CreateConstInBoundsGEP1_64(Build.getInt8Ty(), Target, At);
      Build.CreateAlignedStore(Stored, Place, commonAlignment(To, At));
      At += Setting.getDataLayout().getTypeStoreSize(Of);
    }
  });
  Setting.eraseFromParent();
  return true;
}

/// Whether a word comes from memory as it is.
bool isLoaded(Value *V) {
  if (auto *Part = dyn_cast<ExtractElementInst>(V))
    V = Part->getVectorOperand();
  return isa<LoadInst>(V);
}

/// Makes a vector of two loaded words that are put together; false when the instruction does not do that.
bool pairWords(Instruction &I) {
  Value *Low = nullptr, *High = nullptr;
  if (!I.getType()->isIntegerTy(64) ||
      !match(&I, m_c_Or(m_ZExt(m_Value(Low)), m_Shl(m_ZExt(m_Value(High)), m_SpecificInt(32)))) ||
      !Low->getType()->isIntegerTy(32) || !High->getType()->isIntegerTy(32) || !isLoaded(Low) ||
      !isLoaded(High))
    return false;
  IRBuilder<> Build(&I);
  Value *Words = PoisonValue::get(FixedVectorType::get(Build.getInt32Ty(), 2));
  Words = Build.CreateInsertElement(Words, Low, uint64_t(0));
  Words = Build.CreateInsertElement(Words, High, uint64_t(1));
  I.replaceAllUsesWith(Build.CreateBitCast(Words, I.getType()));
  return true;
}

/// What a load reads: so many bytes from a place.
struct Part {
  explicit Part(const LoadInst &Load)
      : Base(GetPointerBaseWithConstantOffset(Load.getPointerOperand(), From, Load.getDataLayout())),
        Bytes(int64_t(Load.getDataLayout().getTypeStoreSize(Load.getType()).getKnownMinValue())) {}

  int64_t From = 0;
  const Value *Base;
  int64_t Bytes;
};

/// The last load near the end of a block, with no write after it, of the vector that `Wanted` is a part of, if all that stands before it in the
/// vector is loaded there; null otherwise.
LoadInst *loadBeside(const Part &Wanted, BasicBlock &Block) {
  LoadInst *Last = nullptr;
  SmallVector<Part, 4> Loaded;
  unsigned Left = NearInstructions;
  for (Instruction &I : reverse(Block)) {
    if (I.mayWriteToMemory() || !Left--)
      return nullptr;
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->isSimple())
      continue;
    Part Of(*Load);
    if (Of.Base != Wanted.Base || Of.Bytes != Wanted.Bytes)
      continue;
    Last = Last ? Last : Load;
    Loaded.push_back(Of);
    int64_t Width = std::min<int64_t>(int64_t(Load->getAlign().value()), Widest), Distance = Wanted.From - Of.From;
    if (Distance <= 0 || Distance + Wanted.Bytes > Width)
      continue;
    auto Has = [&](int64_t At) { return any_of(Loaded, [&](const Part &P) { return P.From == At; }); };
    for (int64_t At = Of.From; At < Wanted.From; At += Wanted.Bytes)
      if (!Has(At))
        return nullptr;
    return Last;
  }
  return nullptr;
}

/// Loads a part of a vector where the parts before it are loaded, in front of the condition under which it is needed. Nothing is
/// written before it in its block.
bool loadTogether(LoadInst &Load) {
  BasicBlock *Block = Load.getParent(), *Before = Block->getSinglePredecessor();
  if (!Before || Before == Block || !Load.isSimple() || Load.getType()->isVectorTy())
    return false;
  Part Wanted(Load);
  LoadInst *Beside = loadBeside(Wanted, *Before);
  if (!Beside)
    return false;
  Load.moveAfter(Beside);
  Load.dropUBImplyingAttrsAndMetadata();
  IRBuilder<> Build(&Load);
  Value *Offset = Build.getInt64(uint64_t(Wanted.From - Part(*Beside).From));
  Load.setOperand(0, Build.CreatePtrAdd(Beside->getPointerOperand(), Offset));
  return true;
}

} // namespace

PreservedAnalyses WideWords::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false, Written = false;
  SmallVector<MemIntrinsic *, 8> Accesses;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (auto *Local = dyn_cast<AllocaInst>(&I); Local && Local->isStaticAlloca()) {
      auto Size = Local->getAllocationSize(I.getDataLayout());
      if (Size && !Size->isScalable() && *Size && *Size % Widest == 0 && Local->getAlign() < Align(Widest)) {
        Local->setAlignment(Align(Widest));
        Changed = true;
      }
    }
    if (&I == &I.getParent()->front())
      Written = false;
    Written |= I.mayWriteToMemory();
    if (auto *Load = dyn_cast<LoadInst>(&I); Load && !Written)
      Changed |= loadTogether(*Load);
    if (isa<MemTransferInst>(I) || isa<MemSetInst>(I))
      Accesses.push_back(cast<MemIntrinsic>(&I));
    else
      Changed |= pairWords(I);
  }
  // Afterwards, since a loop cuts the block that it stands in.
  for (MemIntrinsic *Access : Accesses) {
    if (auto *Copy = dyn_cast<MemTransferInst>(Access))
      Changed |= writeOut(*Copy);
    else
      Changed |= writeOut(*cast<MemSetInst>(Access));
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
