// Approximations of powers of two and of their logarithms, where they are exact.
//
// `__powf(2, i)` and `__log2f(16)`, as text books write them, are instructions of the GPU, which LLVM does not look into: a
// loop up to the one has no number of turns, and a remainder by the other is a division. The GPU's answers to whole exponents
// and to powers of two are exact, and they are what stands here instead (four steps of a sum by halves took 1.3 times as long
// on an H200).

#include "unroll.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace {

enum class Approximation { None, Power, Logarithm };

/// What a call approximates: by a name of LLVM's, as headers for clang have it, or by PTX, as ours have.
Approximation approximationOf(const CallBase &Call) {
  switch (Call.getIntrinsicID()) {
  case Intrinsic::nvvm_ex2_approx:
  case Intrinsic::nvvm_ex2_approx_ftz:
    return Approximation::Power;
  case Intrinsic::nvvm_lg2_approx_f:
  case Intrinsic::nvvm_lg2_approx_ftz_f:
    return Approximation::Logarithm;
  default:
    break;
  }
  const auto *Text = dyn_cast<InlineAsm>(Call.getCalledOperand());
  if (!Text || Call.arg_size() != 1)
    return Approximation::None;
  StringRef Asm = Text->getAsmString();
  if (Asm == "ex2.approx.f32 $0, $1;" || Asm == "ex2.approx.ftz.f32 $0, $1;")
    return Approximation::Power;
  if (Asm == "lg2.approx.f32 $0, $1;" || Asm == "lg2.approx.ftz.f32 $0, $1;")
    return Approximation::Logarithm;
  return Approximation::None;
}

/// The exact answer; nothing where there is none, or it is no normal number.
std::optional<APFloat> exactAnswer(Approximation Of, const APFloat &To) {
  constexpr int Least = -126, Most = 127;
  if (Of == Approximation::Power) {
    if (!To.isInteger())
      return std::nullopt;
    APSInt Exponent(/*BitWidth=*/16, /*isUnsigned=*/false);
    bool IsExact;
    if (To.convertToInteger(Exponent, APFloat::rmTowardZero, &IsExact) != APFloat::opOK || Exponent < Least || Exponent > Most)
      return std::nullopt;
    return scalbn(APFloat(1.0f), static_cast<int>(Exponent.getExtValue()), APFloat::rmNearestTiesToEven);
  }
  int Exponent = To.getExactLog2();
  if (Exponent < Least)
    return std::nullopt;
  return APFloat(static_cast<float>(Exponent));
}

} // namespace

PreservedAnalyses FoldExact::run(Function &F, FunctionAnalysisManager &) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !Call->getType()->isFloatTy())
      continue;
    Approximation Of = approximationOf(*Call);
    auto *To = Of == Approximation::None ? nullptr : dyn_cast<ConstantFP>(Call->getArgOperand(0));
    auto Answer = To ? exactAnswer(Of, To->getValueAPF()) : std::nullopt;
    if (!Answer)
      continue;
    Call->replaceAllUsesWith(ConstantFP::get(Call->getContext(), *Answer));
    Call->eraseFromParent();
    Changed = true;
  }
  return keptAfter(Changed);
}
