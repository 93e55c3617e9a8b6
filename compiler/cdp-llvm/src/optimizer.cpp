// Optimisation of device modules.
//
// LLVM's C interface runs pipelines too, and makes everything that passes need anew for each: what it
// knows of the target, its analyses, instruments for printing and timing. Here that is kept for the next
// module, and the instruments are left out but for the one that spares functions marked `optnone`.
// Which pipeline runs is decided in pipeline.rs.

#include "apart.h"
#include "large.h"
#include "matrices.h"
#include "unroll.h"

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {

/// Runs passes on functions that have loops, but not too many.
struct IfLoops : PassInfoMixin<IfLoops> {
  IfLoops(FunctionPassManager Passes, size_t Most) : Passes(std::move(Passes)), Most(Most) {}

  PreservedAnalyses run(Function &F, FunctionAnalysisManager &AM) {
    LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
    // No loop is without a block.
    if (Loops.empty() || (F.size() > Most && Loops.getLoopsInPreorder().size() > Most))
      return PreservedAnalyses::all();
    return Passes.run(F, AM);
  }

  FunctionPassManager Passes;
  size_t Most;
};

/// The text that a parsed pipeline came from.
std::string textOf(ArrayRef<PassBuilder::PipelineElement> Pipeline) {
  std::string Text;
  for (const PassBuilder::PipelineElement &Element : Pipeline) {
    if (!Text.empty())
      Text += ',';
    Text += Element.Name;
    if (!Element.InnerPipeline.empty())
      Text += "(" + textOf(Element.InnerPipeline) + ")";
  }
  return Text;
}

/// Functions whose code is as it is to be (`launches/sequence/mod.rs`).
bool isPlain(const Any &IR) {
  if (const auto *const *F = any_cast<const Function *>(&IR))
    return (*F)->hasFnAttribute("cdp-plain");
  if (const auto *const *L = any_cast<const Loop *>(&IR))
    return (*L)->getHeader()->getParent()->hasFnAttribute("cdp-plain");
  return false;
}

/// What the turns of a loop that is gone have in common with the next turns of the one around it (where threads copy a tile, its places)
/// was moved out of the former alone.
constexpr StringLiteral AroundLoops = "widen-counters,loop-mssa(licm)";

PipelineTuningOptions tuning() {
  PipelineTuningOptions Tuning;
  Tuning.LoopVectorization = false;
  Tuning.LoopInterleaving = false;
  return Tuning;
}

} // namespace

/// What the passes for modules of one target machine need.
struct CdpOptimizer {
  explicit CdpOptimizer(TargetMachine &Target)
      : OptNone(false), Builder(&Target, tuning(), std::nullopt, &Callbacks) {
    OptNone.registerCallbacks(Callbacks);
    Callbacks.registerShouldRunOptionalPassCallback([](StringRef, Any IR) { return !isPlain(IR); });
    Builder.registerPipelineParsingCallback([this](StringRef Name, FunctionPassManager &Passes,
                                                   ArrayRef<PassBuilder::PipelineElement> Inner) {
      auto Is = [&](StringRef Wanted, auto Pass) {
        if (Name == Wanted)
          Passes.addPass(std::move(Pass));
        return Name == Wanted;
      };
      if (Is("widen-counters", WidenIndices(/*Last=*/false)) || Is("widen-indices", WidenIndices(/*Last=*/true)) ||
          Is("move-pointers", MovePointers()) ||
          Is("one-latch", OneLatch()) || Is("rotate-many", RotateMany()) || Is("join-conditions", JoinConditions()) || Is("keep-ifs", KeepIfs()) ||
          Is("drop-marks", DropMarks()) || Is("else-in-turn", ElseInTurn()) || Is("keep-chains", KeepChains()) ||
          Is("drop-same-stores", DropSameStores()) || Is("stores-apart", StoresApart()) || Is("split-tails", SplitTails()) ||
          Is("parts-apart", PartsApart()) || Is("join-ends", JoinEnds()) || Is("keep-clamps", KeepClamps()) || Is("add-lower", AddLower()) ||
          Is("decide-nulls", DecideNulls()) || Is("select-values", SelectValues()) || Is("compare-cases", CompareCases()) ||
          Is("fold-exact", FoldExact()) || Is("widen-shorts", WidenShorts()) || Is("join-halves", JoinHalves()) || Is("align-accesses", AlignAccesses()) ||
          Is("roots-late", RootsLate()) || Is("fill-tiles", FillTiles()) || Is("bound-turns", BoundTurns()) ||
          Is("divide-wide", DivideWide()) || Is("wide-words", WideWords()))
        return true;
      if (StringRef Registers = Name; Registers.consume_front("room-for-loops<") && Registers.consume_back(">"))
        return Passes.addPass(RoomForLoops(Registers)), true;
      FunctionPassManager Body, Around;
      bool Known = Name == "if-loops" || Name == "few-loops" || Name == "unroll-full" || Name == "unroll-part" || Name == "split-turns" ||
                   Name == "own-parameters";
      if (!Known || errorToBool(Builder.parsePassPipeline(Body, textOf(Inner))))
        return false;
      if (Name == "if-loops" || Name == "few-loops")
        Passes.addPass(IfLoops(std::move(Body), Name == "few-loops" ? MostLoops : SIZE_MAX));
      else if (Name == "own-parameters")
        Passes.addPass(OwnParameters(std::move(Body)));
      else if (Name == "split-turns")
        Passes.addPass(SplitTurns(std::move(Body)));
      else if (errorToBool(Builder.parsePassPipeline(Around, AroundLoops)))
        return false;
      else
        Passes.addPass(UnrollForDevice(Name == "unroll-full", std::move(Body), std::move(Around)));
      return true;
    });
    Builder.registerPipelineParsingCallback(
        [](StringRef Name, ModulePassManager &Passes, ArrayRef<PassBuilder::PipelineElement>) {
          if (Name == "weigh-calls")
            Passes.addPass(WeighCalls());
          return Name == "weigh-calls";
        });
    Builder.registerPipelineParsingCallback(
        [](StringRef Name, CGSCCPassManager &Passes, ArrayRef<PassBuilder::PipelineElement>) {
          if (Name == "function-facts")
            Passes.addPass(FunctionFacts());
          return Name == "function-facts";
        });
    // The first to be registered stays.
    Functions.registerPass([] { return ParametersApart(); });
    Functions.registerPass([this] {
      AAManager Aliases = Builder.buildDefaultAAPipeline();
      Aliases.registerFunctionAnalysis<ParametersApart>();
      return Aliases;
    });
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  }

  OptNoneInstrumentation OptNone;
  PassInstrumentationCallbacks Callbacks;
  PassBuilder Builder;
  // In this order, since those of smaller units are reached through those of larger ones.
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
};

/// An optimiser for a target machine, which must outlive it.
extern "C" CdpOptimizer *cdp_optimizer_create(LLVMTargetMachineRef Machine) {
  return new CdpOptimizer(*reinterpret_cast<TargetMachine *>(Machine));
}

/// Runs a pipeline in LLVM's textual form, in which `if-loops(...)` stands for function passes that are
/// run on functions with loops only, `few-loops(...)` for such that are left out where loops are very many, and
/// `unroll-full(...)` and `unroll-part(...)` for the unrolling of unroll.cpp and the passes that clean up after it. A message, which the caller frees with `LLVMDisposeMessage`, when
/// it cannot be read; else null.
extern "C" char *cdp_optimizer_run(CdpOptimizer *Optimizer, LLVMModuleRef Module,
                                   const char *Pipeline, size_t Size) {
  ModulePassManager Passes;
  if (Error E = Optimizer->Builder.parsePassPipeline(Passes, StringRef(Pipeline, Size)))
    return LLVMCreateMessage(toString(std::move(E)).c_str());
  haveMatricesReturn(*unwrap(Module));
  alignShared(*unwrap(Module));
  Passes.run(*unwrap(Module), Optimizer->Modules);
  Optimizer->Modules.clear();
  Optimizer->Components.clear();
  Optimizer->Functions.clear();
  Optimizer->Loops.clear();
  return nullptr;
}

/// Runs function passes of a pipeline in LLVM's textual form on some functions; a message as above.
extern "C" char *cdp_optimizer_run_on(CdpOptimizer *Optimizer, const LLVMValueRef *Functions, size_t Count,
                                      const char *Pipeline, size_t Size) {
  FunctionPassManager Passes;
  if (Error E = Optimizer->Builder.parsePassPipeline(Passes, StringRef(Pipeline, Size)))
    return LLVMCreateMessage(toString(std::move(E)).c_str());
  for (LLVMValueRef Value : ArrayRef(Functions, Count)) {
    auto *F = unwrap<Function>(Value);
    Passes.run(*F, Optimizer->Functions);
    Optimizer->Functions.clear(*F, F->getName());
  }
  Optimizer->Functions.clear();
  return nullptr;
}

/// Forgets the names of what functions hold, and has no new ones made: most of what passes write gets one, which costs
/// as much as a pass, and nobody reads them.
extern "C" void cdp_forget_names(LLVMModuleRef Module) {
  llvm::Module &M = *unwrap(Module);
  M.getContext().setDiscardValueNames(true);
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    for (Argument &A : F.args())
      A.setName("");
    for (BasicBlock &Block : F) {
      Block.setName("");
      for (Instruction &I : Block)
        I.setName("");
    }
  }
}

extern "C" void cdp_optimizer_dispose(CdpOptimizer *Optimizer) { delete Optimizer; }
