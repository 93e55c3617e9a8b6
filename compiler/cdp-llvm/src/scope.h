// Atomic updates as PTX has them and LLVM does not write them; see scope.cpp.

#pragma once

namespace llvm {
class Function;
}

/// What a target's atomic updates have (PTX ISA, `atom`).
struct AtomicSupport {
  /// Scopes: sm_60 and later.
  bool Scopes;
  /// Swaps of 16 bits: sm_70 and later.
  bool ShortSwaps;
};

/// Replaces relaxed atomic updates of global memory for the function's block, and swaps of 16 bits, by PTX that says so.
/// For targets with scopes.
void writeAtomics(llvm::Function &F, const AtomicSupport &Known);
