// Very large functions (large.cpp).

#pragma once

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class FunctionPass;
} // namespace llvm

/// What functions do with memory and parameters, as LLVM's `function-attrs`, of very large ones only what they themselves gain by.
struct FunctionFacts : llvm::PassInfoMixin<FunctionFacts> {
  llvm::PreservedAnalyses run(llvm::LazyCallGraph::SCC &C, llvm::CGSCCAnalysisManager &AM, llvm::LazyCallGraph &CG,
                              llvm::CGSCCUpdateResult &UR);
};

/// Turns loops so that their conditions stand at their ends, as LLVM's `loop-rotate`, in functions of very many.
struct RotateMany : llvm::PassInfoMixin<RotateMany> {
  llvm::PreservedAnalyses run(llvm::Function &F, llvm::FunctionAnalysisManager &AM);
};

/// What follows a cut: nothing that looks at parts of a block, the joining of accesses, or instruction selection.
enum class CutBefore { Nothing, Joining, Selection };

/// Cuts blocks that are too long for what follows.
void cutBlocks(llvm::Function &F, CutBefore What);

/// The last cut in front of instruction selection: the passes before it join blocks again.
llvm::FunctionPass *createCutPass();
