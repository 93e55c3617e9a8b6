// Conversions between 128-bit integers and floats on the device.
//
// LLVM calls a library for these, which no GPU has, and gives up. It can expand them itself, with branches
// and digit by digit; here they are conversions of 64 bits, put together.

#include "wide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// 2^64, 2^127 and 2^128.
constexpr double Two64 = 0x1p64, Two127 = 0x1p127, Two128 = 0x1p128;

/// 2^(64 - Shift), put together from its exponent.
Value *powerOfTwo(IRBuilder<> &Build, Value *Shift, Type *Float) {
  bool Double = Float->isDoubleTy();
  Type *Int = Double ? Build.getInt64Ty() : Build.getInt32Ty();
  Value *Exponent = Build.CreateSub(ConstantInt::get(Int, (Double ? 1023 : 127) + 64),
                                    Build.CreateTrunc(Shift, Int));
  return Build.CreateBitCast(Build.CreateShl(Exponent, Double ? 52 : 23), Float);
}

/// Rounds to nearest even, once: the magnitude is shifted until its top bit is set, its upper half (with
/// the lower half's bits collected in the lowest) is converted and scaled by a power of two. Formats of
/// 16 bits go through single precision, which has enough digits for the second rounding not to show.
Value *toFloat(IRBuilder<> &Build, Value *Number, bool Signed, Type *To) {
  Type *Float = To->isDoubleTy() ? To : Build.getFloatTy();
  Type *Wide = Number->getType(), *Half = Build.getInt64Ty();
  Value *Zero = ConstantInt::get(Wide, 0);
  // It is used several times, each of which must see the same.
  Number = Build.CreateFreeze(Number);
  Value *Negative = Build.CreateICmpSLT(Number, Zero);
  Value *Magnitude =
      Signed ? Build.CreateSelect(Negative, Build.CreateNeg(Number), Number) : Number;
  Value *Zeros = Build.CreateBinaryIntrinsic(Intrinsic::ctlz, Magnitude, Build.getFalse());
  // A zero has 128 leading zeros; it is shifted by 0 then, and stays zero.
  Value *Shift = Build.CreateSelect(Build.CreateICmpEQ(Magnitude, Zero), Zero, Zeros);
  Value *Shifted = Build.CreateShl(Magnitude, Shift);
  Value *High = Build.CreateTrunc(Build.CreateLShr(Shifted, 64), Half);
  Value *Low = Build.CreateTrunc(Shifted, Half);
  Value *Sticky = Build.CreateZExt(Build.CreateICmpNE(Low, Build.getInt64(0)), Half);
  Value *Digits = Build.CreateUIToFP(Build.CreateOr(High, Sticky), Float);
  Value *Scaled = Build.CreateFMul(Digits, powerOfTwo(Build, Shift, Float));
  if (Signed)
    Scaled = Build.CreateSelect(Negative, Build.CreateFNeg(Scaled), Scaled);
  return To == Float ? Scaled : Build.CreateFPTrunc(Scaled, To);
}

/// Toward zero; out of range saturates, a NaN gives 0, as nvcc's code does.
Value *toInteger(IRBuilder<> &Build, Value *Number, bool Signed, Type *Wide) {
  Type *Double = Build.getDoubleTy();
  if (!Number->getType()->isDoubleTy())
    Number = Build.CreateFPExt(Number, Double);
  Number = Build.CreateFreeze(Number);
  auto ToU64 = [&](Value *Of) {
    return Build.CreateIntrinsic(Build.getInt64Ty(), Intrinsic::nvvm_d2ull_rz, {Of});
  };
  Value *Magnitude = Build.CreateUnaryIntrinsic(Intrinsic::fabs, Number);
  Value *High = ToU64(Build.CreateFMul(Magnitude, ConstantFP::get(Double, 1 / Two64)));
  // The rest is exact: the upper part holds a prefix of the value's digits.
  Value *Taken = Build.CreateFNeg(Build.CreateUIToFP(High, Double));
  Value *Low = ToU64(Build.CreateIntrinsic(
      Double, Intrinsic::fma, {Taken, ConstantFP::get(Double, Two64), Magnitude}));
  Value *Whole = Build.CreateOr(Build.CreateShl(Build.CreateZExt(High, Wide), 64),
                                Build.CreateZExt(Low, Wide));
  Value *Zero = ConstantInt::get(Wide, 0);
  APInt Most = Signed ? APInt::getSignedMaxValue(128) : APInt::getMaxValue(128);
  APInt Least = Signed ? APInt::getSignedMinValue(128) : APInt(128, 0);
  Value *Limit = ConstantFP::get(Double, Signed ? Two127 : Two128);
  Value *Over = Build.CreateFCmpOGE(Magnitude, Limit);
  Value *Positive = Build.CreateSelect(Over, ConstantInt::get(Wide, Most), Whole);
  Value *Minus = Signed ? Build.CreateNeg(Whole) : Zero;
  Value *Negative = Build.CreateSelect(Over, ConstantInt::get(Wide, Least), Minus);
  Value *Below = Build.CreateFCmpOLT(Number, ConstantFP::get(Double, 0));
  Value *Result = Build.CreateSelect(Below, Negative, Positive);
  return Build.CreateSelect(Build.CreateFCmpUNO(Number, Number), Zero, Result);
}

/// What a conversion of 128 bits becomes; null for other instructions.
Value *expanded(Instruction &I) {
  IRBuilder<> Build(&I);
  Value *From = I.getNumOperands() ? I.getOperand(0) : nullptr;
  Type *To = I.getType();
  bool Saturates = false, Signed = isa<SIToFPInst>(I) || isa<FPToSIInst>(I);
  if (const auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    Signed = Call->getIntrinsicID() == Intrinsic::fptosi_sat;
    Saturates = Signed || Call->getIntrinsicID() == Intrinsic::fptoui_sat;
  }
  if ((isa<SIToFPInst>(I) || isa<UIToFPInst>(I)) && From->getType()->isIntegerTy(128))
    return toFloat(Build, From, Signed, To);
  if ((isa<FPToSIInst>(I) || isa<FPToUIInst>(I) || Saturates) && To->isIntegerTy(128))
    return toInteger(Build, From, Signed, To);
  return nullptr;
}

} // namespace

void expandWideConversions(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (Value *Result = expanded(I)) {
      I.replaceAllUsesWith(Result);
      I.eraseFromParent();
    }
  }
}
