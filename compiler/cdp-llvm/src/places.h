// Writes to places that NVPTX's code for them does not reach; see places.cpp.

#pragma once

namespace llvm {
class Function;
}

/// Gives a kernel copies of its own of the parameters that it updates atomically.
void copyUpdatedParameters(llvm::Function &Kernel);

/// Makes atomic updates of local memory plain ones. True where it changed something.
bool updateLocalPlainly(llvm::Function &F);

/// Makes writes to constant memory writes to a generic address. True where it changed something.
bool writeByGenericAddress(llvm::Function &F);
