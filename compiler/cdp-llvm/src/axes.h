// Special registers of which there is one for each dimension.

#pragma once

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <optional>

/// Of which dimension what a value reads is, if it reads one of three registers, of which that of x is named: 0, 1 or 2.
inline std::optional<unsigned> axisOf(const llvm::Value &V, llvm::Intrinsic::ID X) {
  using namespace llvm;
  // LLVM numbers intrinsics by their names.
  static_assert(Intrinsic::nvvm_read_ptx_sreg_tid_z == Intrinsic::nvvm_read_ptx_sreg_tid_x + 2 &&
                Intrinsic::nvvm_read_ptx_sreg_ntid_z == Intrinsic::nvvm_read_ptx_sreg_ntid_x + 2 &&
                Intrinsic::nvvm_read_ptx_sreg_ctaid_z == Intrinsic::nvvm_read_ptx_sreg_ctaid_x + 2 &&
                Intrinsic::nvvm_read_ptx_sreg_nctaid_z == Intrinsic::nvvm_read_ptx_sreg_nctaid_x + 2);
  const auto *Read = dyn_cast<IntrinsicInst>(&V);
  if (!Read || Read->getIntrinsicID() < X || Read->getIntrinsicID() > X + 2)
    return std::nullopt;
  return Read->getIntrinsicID() - X;
}
