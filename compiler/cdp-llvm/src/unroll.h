// Passes of device code of our own: unrolling (unroll.cpp), loops that leave out a turn (split.cpp), that end with an array (arrays.cpp),
// that copy to tiles (tiles.cpp), wide indices (widen.cpp), pointers that move (pointers.cpp), divisions by constants (divide.cpp), copies and words (words.cpp), loops with several ways back (latch.cpp), choices by two
// conditions (join.cpp), conditions one after another (ifs.cpp), sequences of numbers (chain.cpp), stores of what is
// there (stores.cpp), parts of vectors (parts.cpp), ends of ranges (ranges.cpp), what branches end with (tails.cpp), switches (switches.cpp),
// last elements of groups (masks.cpp), comparisons with null (null.cpp), exact approximations (exact.cpp), short numbers (shorts.cpp), pairs of halves (pairs.cpp), shared memory (shared.cpp),
// roots and reads of shared memory (late.cpp), and what is inlined (inline.cpp). What several of them ask of a loop is in loops.cpp.

#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class BasicBlock;
class Loop;
class ScalarEvolution;
} // namespace llvm

/// What holds behind a pass that leaves blocks and branches as they are.
inline llvm::PreservedAnalyses keptAfter(bool Changed) {
  if (!Changed)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses Kept;
  Kept.preserveSet<llvm::CFGAnalyses>();
  return Kept;
}

/// Most loops of a function in which each is unrolled in part without being asked for (with each, the tree of blocks and what is known
/// of values that go from loop to loop are computed anew: 2,000 loops took twenty times as long as 500), and in which it is asked
/// what holds where a loop begins, for which LLVM goes back over all loops before it.
constexpr size_t MostLoops = 256;

/// Unrolls loops, and runs further passes on a function in which it did, and others where a loop in another one is none any more.
struct UnrollForDevice : llvm::PassInfoMixin<UnrollForDevice> {
  /// `FullOnly`: those that thereby are no loops any more.
  UnrollForDevice(bool FullOnly, llvm::FunctionPassManager After, llvm::FunctionPassManager Around)
      : FullOnly(FullOnly), After(std::move(After)), Around(std::move(Around)) {}

  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);

  bool FullOnly;
  llvm::FunctionPassManager After, Around;
};

/// Most turns of a loop over a local array of which nothing else says how many there are.
constexpr unsigned MostTurnsOfArray = 16;

/// Whether a loop goes over a local array in steps that are known once it is unrolled, as rounds of a hash do over the
/// last words of a message.
bool walksLocals(const llvm::Loop &L, llvm::ScalarEvolution &Evolution);

/// Has loops that go over small local arrays end with them.
struct BoundTurns : llvm::PassInfoMixin<BoundTurns> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Makes two loops of one that leaves out a turn, and runs further passes on a function in which it did.
struct SplitTurns : llvm::PassInfoMixin<SplitTurns> {
  explicit SplitTurns(llvm::FunctionPassManager After) : After(std::move(After)) {}

  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);

  llvm::FunctionPassManager After;
};

/// Computes indices that grow by equal steps in the width of addresses.
struct WidenIndices : llvm::PassInfoMixin<WidenIndices> {
  /// `Last`: makes pointers of those whose step is not known, too, of which no later pass makes sense.
  explicit WidenIndices(bool Last) : Last(Last) {}

  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);

  bool Last;
};

/// Goes over arrays with pointers that move.
struct MovePointers : llvm::PassInfoMixin<MovePointers> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Divides unsigned numbers by constants with multiplications of 32 by 32 bits to 64.
struct DivideWide : llvm::PassInfoMixin<DivideWide> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Copies in wide parts, and words put together without reading them again.
struct WideWords : llvm::PassInfoMixin<WideWords> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Gives loops one block that goes back to the beginning.
struct OneLatch : llvm::PassInfoMixin<OneLatch> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Keeps two conditions of a choice one.
struct JoinConditions : llvm::PassInfoMixin<JoinConditions> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Keeps conditions of one value that follow each other from becoming a `switch`, by marks.
struct KeepIfs : llvm::PassInfoMixin<KeepIfs> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Removes the marks of `KeepIfs`.
struct DropMarks : llvm::PassInfoMixin<DropMarks> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Whether a block alone leads to a short one, in which no lanes meet and which then goes on to a certain one.
bool isShortBody(const llvm::BasicBlock &Body, const llvm::BasicBlock &From, const llvm::BasicBlock &End);

/// Has what follows an `else` be asked behind the body before it.
struct ElseInTurn : llvm::PassInfoMixin<ElseInTurn> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Keeps numbers that each come from the one before so.
struct KeepChains : llvm::PassInfoMixin<KeepChains> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Takes roots where they are asked for.
struct RootsLate : llvm::PassInfoMixin<RootsLate> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Reads words of shared memory that many products share where the first of them is, and a block's size in front of its place.
bool readInOrder(llvm::Function &F);

/// Removes stores of values that were loaded from the same place.
struct DropSameStores : llvm::PassInfoMixin<DropSameStores> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Keeps stores of different lines apart, for reports that name theirs.
struct StoresApart : llvm::PassInfoMixin<StoresApart> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Asks for both ends of a range at once.
struct JoinEnds : llvm::PassInfoMixin<JoinEnds> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Keeps sums that are brought into a range by their larger or smaller in front of it.
struct KeepClamps : llvm::PassInfoMixin<KeepClamps> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Tells accesses to different parts of vectors apart.
struct PartsApart : llvm::PassInfoMixin<PartsApart> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Gives each of several conditions the stores that they lead to.
struct SplitTails : llvm::PassInfoMixin<SplitTails> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Computes numbers that have lower bits set from those that have them cleared.
struct AddLower : llvm::PassInfoMixin<AddLower> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Whether a loop copies to shared memory, and does nothing else to memory.
bool copiesToShared(const llvm::Loop &L);

/// Gives threads that have all turns of a loop that copies a tile one of their own.
struct FillTiles : llvm::PassInfoMixin<FillTiles> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Gives kernels copies of their own of large parameters that they may change (places.cpp), and runs passes where it did.
struct OwnParameters : llvm::PassInfoMixin<OwnParameters> {
  explicit OwnParameters(llvm::FunctionPassManager Passes) : Passes(std::move(Passes)) {}
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
  llvm::FunctionPassManager Passes;
};

/// Decides comparisons of variables' addresses with null.
struct DecideNulls : llvm::PassInfoMixin<DecideNulls> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Chooses among few constants by selections.
struct SelectValues : llvm::PassInfoMixin<SelectValues> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Makes trees of comparisons of switches.
struct CompareCases : llvm::PassInfoMixin<CompareCases> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Gives approximations the answers that are exact.
struct FoldExact : llvm::PassInfoMixin<FoldExact> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Computes sums of short numbers in whole registers, and distances of numbers at once.
struct WidenShorts : llvm::PassInfoMixin<WidenShorts> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Has words of two halves go through loops as such.
struct JoinHalves : llvm::PassInfoMixin<JoinHalves> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Has shared arrays begin where the widest accesses may.
void alignShared(llvm::Module &M);

/// Gives accesses to shared variables the alignment that their places have.
struct AlignAccesses : llvm::PassInfoMixin<AlignAccesses> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// Whether a value is the same for all threads of a block, of those that are no instructions or read what the block is.
bool isOfBlock(const llvm::Value &V);

/// A load, or PTX that is one, as `__ldg` is.
bool loads(const llvm::Instruction &I);

/// Whether a value that goes from turn to turn of a loop is a sum, to which each turn adds; one that is multiplied first, as of Horner's scheme,
/// is none.
bool addsUp(const llvm::PHINode &Kept, const llvm::Loop &L);

/// What the address of a load in a loop is computed from that the loop loads itself.
llvm::SmallVector<const llvm::Instruction *, 4> numbersOf(const llvm::Instruction &Load, const llvm::Loop &L);

/// Has a loop with a preheader and one latch count its turns from 0 on; yields how many there were, at the end of each.
llvm::Value *countTurns(const llvm::Loop &L);

/// Has larger functions inlined than LLVM would.
struct WeighCalls : llvm::PassInfoMixin<WeighCalls> {
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
};

/// Marks kernels whose time is that of loops that load and add up, for a limit of registers (registers.cpp).
struct RoomForLoops : llvm::PassInfoMixin<RoomForLoops> {
  explicit RoomForLoops(llvm::StringRef Registers) : Registers(Registers) {}

  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);

  std::string Registers;
};

/// Whether a pointer comes from a kernel's parameter: it points to global memory.
bool isGlobal(llvm::Value *Pointer, const llvm::Function &F);
