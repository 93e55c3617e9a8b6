// Instructions on matrices: what LLVM does not know of them (matrices.cpp).

#pragma once

namespace llvm {
class Module;
}

/// Says of the intrinsics that they return.
void haveMatricesReturn(llvm::Module &M);

/// Has the intrinsics that load and store fragments of matrices say the address space of what they are given.
void nameSpacesOfMatrices(llvm::Module &M);
