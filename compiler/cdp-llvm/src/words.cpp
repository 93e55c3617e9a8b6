// Copies and words in the widths that memory has.
//
// A copy of known size becomes loads as wide as both alignments allow, all of them before the stores, so that they
// are on their way together. LLVM copies eight bytes at most at a time, and stores each before it loads the next
// (structs of sixteen bytes: 1.36 times as long).
//
// A number of 64 bits made of two words that were loaded becomes their vector: LLVM's code generation would read
// it from memory once more, since it sees that the words lie side by side, but not that they are there already
// (a hash over vectors of four words: 1.3 times as long).

#include "unroll.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// The longest copy that is written out, in bytes: longer ones would take too many registers.
constexpr uint64_t LongestCopy = 128;

/// The type of the widest access to `Left` bytes at an offset of a place with this alignment.
Type *accessType(LLVMContext &Context, uint64_t Left, Align At) {
  uint64_t Bytes = std::min<uint64_t>({Left, At.value(), 16});
  Bytes = uint64_t(1) << Log2_64(Bytes);
  if (Bytes == 16)
    return FixedVectorType::get(Type::getInt32Ty(Context), 4);
  return Type::getIntNTy(Context, unsigned(Bytes) * 8);
}

/// Whether a copy is written out.
bool isShort(const MemTransferInst &Copy) {
  const auto *Size = dyn_cast<ConstantInt>(Copy.getLength());
  if (!Size || Copy.isVolatile() || Size->getValue().ugt(LongestCopy) || Size->isZero())
    return false;
  // Bytes would take an access each.
  return std::min(Copy.getSourceAlign().valueOrOne(), Copy.getDestAlign().valueOrOne()) >= 4;
}

void writeOut(MemTransferInst &Copy) {
  IRBuilder<> Build(&Copy);
  uint64_t Size = cast<ConstantInt>(Copy.getLength())->getZExtValue();
  Align From = Copy.getSourceAlign().valueOrOne(), To = Copy.getDestAlign().valueOrOne();
  Align Common = std::min(From, To);
  SmallVector<std::pair<uint64_t, Value *>, 8> Parts;
  for (uint64_t At = 0; At < Size;) {
    Type *Of = accessType(Copy.getContext(), Size - At, commonAlignment(Common, At));
    Value *Place = Build.CreateConstInBoundsGEP1_64(Build.getInt8Ty(), Copy.getSource(), At);
    LoadInst *Part = Build.CreateAlignedLoad(Of, Place, commonAlignment(From, At));
    Part->setAAMetadata(Copy.getAAMetadata().adjustForAccess(At, Of, Copy.getDataLayout()));
    Parts.push_back({At, Part});
    At += Copy.getDataLayout().getTypeStoreSize(Of);
  }
  for (auto [At, Part] : Parts) {
    Value *Place = Build.CreateConstInBoundsGEP1_64(Build.getInt8Ty(), Copy.getDest(), At);
    Build.CreateAlignedStore(Part, Place, commonAlignment(To, At));
  }
  Copy.eraseFromParent();
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

} // namespace

PreservedAnalyses WideWords::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Copy = dyn_cast<MemTransferInst>(&I);
    if (Copy && isShort(*Copy)) {
      writeOut(*Copy);
      Changed = true;
    } else {
      Changed |= pairWords(I);
    }
  }
  if (!Changed)
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
