// Parts of vectors lie apart.
//
// In `a[i].x += b[i].x; a[i].y += b[i].y;` both pointers may lead to the same memory, but not so that one vector's first part is
// another one's second: vectors are aligned. Accesses whose addresses are known modulo 16 are marked by the bytes of 16 that they
// touch, so that code generation loads vectors and stores vectors as wholes, as nvcc does. What pointers of the same part may
// share stays in order. Which accesses become one is decided there, not here.

#include "unroll.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace {
namespace parts {

/// The bytes of the widest vector.
constexpr uint64_t Widest = 16;
constexpr uint32_t AllBytes = (1 << Widest) - 1;

/// A load or store of so many bytes at a distance from a pointer.
struct Access {
  explicit Access(Instruction &I)
      : At(&I), Base(GetPointerBaseWithConstantOffset(getLoadStorePointerOperand(&I), Offset, I.getDataLayout())),
        Bytes(I.getDataLayout().getTypeStoreSize(getLoadStoreType(&I)).getKnownMinValue()),
        Alignment(std::min(getLoadStoreAlignment(&I).value(), Widest)) {}

  Instruction *At;
  int64_t Offset = 0;
  const Value *Base;
  uint64_t Bytes, Alignment;
};

/// What is known of a pointer: this far behind it an address is a multiple of this.
struct Known {
  uint64_t Multiple = 1;
  int64_t Behind = 0;
};

/// Which of 16 bytes an access may touch, a bit each.
uint32_t bytesOf(const Access &Of, const Known &Pointer) {
  uint64_t From = uint64_t(Of.Offset - Pointer.Behind) % Pointer.Multiple;
  if (From + Of.Bytes > Pointer.Multiple)
    return AllBytes;
  uint32_t Touched = 0;
  for (uint64_t Vector = 0; Vector < Widest; Vector += Pointer.Multiple)
    for (uint64_t Byte = 0; Byte < Of.Bytes; Byte++)
      Touched |= 1u << (Vector + From + Byte);
  return Touched;
}

/// Marks accesses by the bytes that they touch.
class Marks {
public:
  explicit Marks(LLVMContext &Context) : Context(Context), Build(Context) {}

  void set(Instruction &I, uint32_t Touched) {
    add(I, LLVMContext::MD_alias_scope, Touched);
    add(I, LLVMContext::MD_noalias, ~Touched & AllBytes);
  }

private:
  void add(Instruction &I, unsigned Kind, uint32_t Bytes) {
    if (Scopes.empty()) {
      MDNode *Domain = Build.createAnonymousAliasScopeDomain();
      for (uint64_t Byte = 0; Byte < Widest; Byte++)
        Scopes.push_back(Build.createAnonymousAliasScope(Domain));
    }
    SmallVector<Metadata *, Widest> List;
    for (uint64_t Byte = 0; Byte < Widest; Byte++)
      if (Bytes >> Byte & 1)
        List.push_back(Scopes[Byte]);
    I.setMetadata(Kind, MDNode::concatenate(I.getMetadata(Kind), MDNode::get(Context, List)));
  }

  LLVMContext &Context;
  MDBuilder Build;
  SmallVector<Metadata *, Widest> Scopes;
};

/// Marks accesses all of which are made where one is. Each tells of its pointer what the others need.
bool markTogether(ArrayRef<Access> Accesses, Marks &Mark) {
  SmallDenseMap<const Value *, Known, 8> Pointers;
  bool Stores = false;
  for (const Access &Of : Accesses) {
    Known &Pointer = Pointers[Of.Base];
    if (Of.Alignment > Pointer.Multiple)
      Pointer = {Of.Alignment, Of.Offset};
    Stores |= isa<StoreInst>(Of.At);
  }
  // Distances from one pointer are compared without this.
  if (!Stores || Pointers.size() < 2)
    return false;
  bool Changed = false;
  for (const Access &Of : Accesses)
    if (uint32_t Touched = bytesOf(Of, Pointers[Of.Base]); Touched != AllBytes) {
      Mark.set(*Of.At, Touched);
      Changed = true;
    }
  return Changed;
}

bool isPlain(const Instruction &I) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple();
  const auto *Store = dyn_cast<StoreInst>(&I);
  return Store && Store->isSimple();
}

} // namespace parts
} // namespace

PreservedAnalyses PartsApart::run(Function &F, FunctionAnalysisManager &) {
  parts::Marks Mark(F.getContext());
  bool Changed = false;
  SmallVector<parts::Access, 16> Accesses;
  for (BasicBlock &Block : F) {
    for (Instruction &I : Block) {
      if (parts::isPlain(I))
        Accesses.emplace_back(I);
      if (isGuaranteedToTransferExecutionToSuccessor(&I) && !I.isTerminator())
        continue;
      Changed |= parts::markTogether(Accesses, Mark);
      Accesses.clear();
    }
  }
  return keptAfter(Changed);
}
