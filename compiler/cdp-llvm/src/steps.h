// Steps of pointers in the form that ptxas adds in one instruction (steps.cpp).

#pragma once

namespace llvm {
class Function;
class LoopInfo;
} // namespace llvm

/// Writes the steps of pointers that move in loops as products of 32 by 32 bits. True where it changed something.
bool multiplySteps(llvm::Function &F, const llvm::LoopInfo &Loops);
