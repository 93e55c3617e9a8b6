// How many registers kernels may have (registers.cpp).

#pragma once

namespace llvm {
class FunctionPass;
}

/// A pass in front of where values that come from several blocks become copies: it gives kernels that `room-for-loops` marked the
/// limit, unless they might need more.
llvm::FunctionPass *createLimitPass();
