// That what a kernel's parameters lead to is not in shared memory (apart.cpp).

#pragma once

#include "llvm/Analysis/AliasAnalysis.h"

/// The analysis's answers.
struct ParametersApartResult : llvm::AAResultBase {
  llvm::AliasResult alias(const llvm::MemoryLocation &A, const llvm::MemoryLocation &B, llvm::AAQueryInfo &,
                          const llvm::Instruction *);

  bool invalidate(llvm::Function &, const llvm::PreservedAnalyses &, llvm::FunctionAnalysisManager::Invalidator &) {
    return false;
  }
};

/// Tells shared memory from what a kernel's parameters lead to.
struct ParametersApart : llvm::AnalysisInfoMixin<ParametersApart> {
  using Result = ParametersApartResult;

  Result run(llvm::Function &, llvm::FunctionAnalysisManager &) { return Result(); }

  static llvm::AnalysisKey Key;
};
