// Atomic updates with the scope of a block; see scope.cpp.

#pragma once

namespace llvm {
class Function;
}

/// Replaces relaxed atomic updates of global memory for the function's block by PTX that says so. For sm_60 and later.
void writeBlockScopes(llvm::Function &F);
