// Which functions are inlined.
//
// A call on a GPU costs more than its instructions: what is passed by address is in local memory, registers are saved,
// and addresses are of no known space, so that every access asks for it. nvcc inlines until a function has grown by some
// 40,000 instructions, whoever may call the inlined one too. LLVM stops at a callee of about 500 and asks whether
// another file may call it. Here a function is inlined while all its copies together stay below a limit: a product of
// matrices in a template took 2.8 times as long by a call (compiler/docs/device-speed.md). Small functions are inlined
// as LLVM has it.

#include "unroll.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/ReplayInlineAdvisor.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// Most that all copies of a function may cost, in the units of LLVM's inliner, five of which an instruction costs.
constexpr int CopiesCost = 40000;
/// What a function may cost that LLVM inlines by itself on this target, and one that is said to be `inline`.
constexpr int UsualCost = 2475, HintedCost = 3575;
/// By how much LLVM multiplies what it is given, for this target.
constexpr int TargetFactor = 11;

/// How often a function is called by others. 0 when it calls itself, or something else is done with it.
int callsOf(const Function &F) {
  int Calls = 0;
  for (const Use &U : F.uses()) {
    const auto *Call = dyn_cast<CallInst>(U.getUser());
    if (!Call || !Call->isCallee(&U) || Call->getFunction() == &F)
      return 0;
    Calls++;
  }
  return Calls;
}

} // namespace

PreservedAnalyses WeighCalls::run(llvm::Module &M, ModuleAnalysisManager &AM) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    int Calls = callsOf(F);
    int Usual = F.hasFnAttribute(Attribute::InlineHint) ? HintedCost : UsualCost;
    F.addFnAttr("function-inline-threshold", itostr(Calls ? std::max(CopiesCost / Calls, Usual) : Usual));
  }
  // LLVM does not come to ask for a function's own limit beyond this one.
  AM.getResult<InlineAdvisorAnalysis>(M).tryCreate(getInlineParams(CopiesCost / TargetFactor), InliningAdvisorMode::Default,
                                                  ReplayInlinerSettings{}, {ThinOrFullLTOPhase::None, InlinePass::CGSCCInliner});
  return PreservedAnalyses::all();
}
