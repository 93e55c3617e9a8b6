// Instructions as ptxas takes them rightly (ptxas.cpp).

#pragma once

namespace llvm {
class FunctionPass;
}

/// A pass behind instruction selection that writes in another way what ptxas 13.0 takes wrongly.
llvm::FunctionPass *createPtxasPass();
