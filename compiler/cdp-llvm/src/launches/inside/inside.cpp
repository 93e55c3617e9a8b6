// A kernel once more, and how large the children are that it launches: `launches/inside/mod.rs` says what for.
//
// LLVM's C interface can neither copy a function nor ask between which bounds a value lies.

#include "llvm-c/Core.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// A kernel with another name that does the same.
extern "C" LLVMValueRef cdp_launches_twin(LLVMValueRef KernelRef, const char *Name, size_t Size) {
  Function &Kernel = *unwrap<Function>(KernelRef);
  ValueToValueMapTy Map;
  Function *Twin = CloneFunction(&Kernel, Map);
  Twin->setName(StringRef(Name, Size));
  Twin->setComdat(nullptr);
  return wrap(Twin);
}

/// What an operand of a call is at most, of 32 bits, where it is no negative number.
extern "C" uint64_t cdp_launches_most(LLVMValueRef CallRef, unsigned Operand) {
  auto &Call = *unwrap<CallBase>(CallRef);
  Value *Asked = Call.getArgOperand(Operand);
  const DataLayout &Layout = Call.getModule()->getDataLayout();
  AssumptionCache Assumptions(*Call.getFunction());
  LazyValueInfo Values(&Assumptions, &Layout);
  ConstantRange Positive(APInt(32, 0), APInt(32, 1u << 31));
  uint64_t Most = Values.getConstantRange(Asked, &Call, false).intersectWith(Positive).getUnsignedMax().getZExtValue();
  // A quotient of a difference that is known to be none below zero, rounded up.
  Value *From, *To;
  const APInt *Up, *By;
  if (match(Asked, m_LShr(m_NSWAdd(m_NSWSub(m_Value(To), m_Value(From)), m_APInt(Up)), m_APInt(By))) &&
      Up->isNonNegative() && By->ult(32) &&
      isImpliedByDomCondition(CmpInst::ICMP_SGE, To, From, &Call, Layout).value_or(false))
    Most = std::min<uint64_t>(Most, INT32_MAX >> By->getZExtValue());
  return Most;
}
