// Conversions between 128-bit integers and floats, which NVPTX lacks (wide.cpp).

#pragma once

namespace llvm {
class Function;
}

/// Writes each as operations that NVPTX has.
void expandWideConversions(llvm::Function &F);
