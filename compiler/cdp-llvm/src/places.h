// What is written in another way just before code is made: places that NVPTX's code for them does not reach (places.cpp), and barriers
// (barriers.cpp).

#pragma once

namespace llvm {
class Function;
class LoopInfo;
}

/// Gives a kernel copies of its own of the parameters that it updates atomically.
void copyUpdatedParameters(llvm::Function &Kernel);

/// Makes atomic updates of local memory plain ones. True where it changed something.
bool updateLocalPlainly(llvm::Function &F);

/// Makes writes to constant memory writes to a generic address. True where it changed something.
bool writeByGenericAddress(llvm::Function &F);

/// Has the lanes of a warp meet at barriers, exchanges and instructions on matrices that they may come to apart (barriers.cpp). True where
/// it changed something.
bool partBarriers(llvm::Function &F, const llvm::LoopInfo &Loops);
