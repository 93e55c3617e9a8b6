// Steps of pointers in the form that ptxas adds in one instruction (steps.cpp), and products in halves (halves.cpp).

#pragma once

namespace llvm {
class Function;
class LoopInfo;
} // namespace llvm

/// Writes the steps of pointers that move in loops as products of 32 by 32 bits. True where it changed something.
bool multiplySteps(llvm::Function &F, const llvm::LoopInfo &Loops);

/// Writes products of 64 bits whose lower half is zero as products of 32 bits. True where it changed something.
bool multiplyHalves(llvm::Function &F);
