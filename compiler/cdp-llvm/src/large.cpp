// Very large functions, as generators of code write them.
//
// Some of what LLVM does takes time or memory by the square of a function's length, or of a block's, and more. What is here keeps
// functions and blocks away from that which are longer than anybody writes by hand; of others not a byte of their code changes.

#include "large.h"
#include "unroll.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Transforms/IPO/FunctionAttrs.h"
#include "llvm/Transforms/Utils/LoopRotationUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

/// Most blocks of a function of which callers learn what it writes to memory that they hand to it. LLVM collects for each block
/// what is written behind it: a kernel of 100,000 statements with 14,000 branches took 6.8 GB.
constexpr size_t MostBlocks = 2000;

/// The most instructions of a block. Instruction selection, the joining of loads and scheduling look at a
/// block as a whole, in time that grows with the square of its length.
constexpr size_t MostInBlock = 4000;

/// Most parts of a sum in a block. Instruction selection looks at
/// each two parts of each sum, by time that grows with the cube of their number: 2,500 took minutes.
constexpr unsigned MostParts = 100;

/// Most loads and stores of a block. Those that lie side by side are compared with all that stand between them:
/// 1,000 copies of a struct of 16 words took more than 20 s.
constexpr unsigned MostAccesses = 500;

/// Most instructions of a loop's condition that are put in front of the loop too, which is LLVM's number.
constexpr unsigned MostOfCondition = 16;

/// How many parts the sums that end with an instruction have in its block, kept by instruction.
class SumParts {
public:
  unsigned of(const Instruction &I) {
    if (I.getOpcode() != Instruction::Add)
      return 1;
    unsigned Count = 0;
    for (const Value *Part : I.operand_values()) {
      const auto *Before = dyn_cast<Instruction>(Part);
      bool Same = Before && Before->getOpcode() == I.getOpcode() && Before->getParent() == I.getParent();
      Count += Same ? std::max(Known.lookup(Before), 1u) : 1;
    }
    Known[&I] = std::min(Count, 2 * MostParts);
    return Count;
  }

  void clear() { Known.clear(); }

private:
  DenseMap<const Instruction *, unsigned> Known;
};

/// Cuts in front of instruction selection.
class CutPass : public FunctionPass {
public:
  static char ID;

  CutPass() : FunctionPass(ID) {}

  bool runOnFunction(Function &F) override {
    size_t Before = F.size();
    cutBlocks(F, CutBefore::Selection);
    return F.size() != Before;
  }
};

char CutPass::ID;

} // namespace

PreservedAnalyses FunctionFacts::run(LazyCallGraph::SCC &C, CGSCCAnalysisManager &AM, LazyCallGraph &CG,
                                     CGSCCUpdateResult &UR) {
  bool Large = any_of(C, [](LazyCallGraph::Node &N) { return N.getFunction().size() > MostBlocks; });
  return PostOrderFunctionAttrsPass(/*SkipNonRecursive=*/Large).run(C, AM, CG, UR);
}

/// LLVM's pass keeps the tree of blocks up to date, and has what is known of values that go from loop to loop forgotten, for each loop
/// anew: of 2,000 loops it took half of the time. Here both are made anew once, by who asks next.
PreservedAnalyses RotateMany::run(Function &F, FunctionAnalysisManager &AM) {
  LoopInfo &Loops = AM.getResult<LoopAnalysis>(F);
  SmallVector<Loop *, 4> All = Loops.getLoopsInPreorder();
  if (All.size() <= MostLoops)
    return PreservedAnalyses::all();
  auto &Tree = AM.getResult<DominatorTreeAnalysis>(F);
  auto &Assumptions = AM.getResult<AssumptionAnalysis>(F);
  auto &Costs = AM.getResult<TargetIRAnalysis>(F);
  for (Loop *Outer : Loops)
    simplifyLoop(Outer, &Tree, &Loops, nullptr, &Assumptions, nullptr, /*PreserveLCSSA=*/false);
  for (Loop *Outer : Loops)
    formLCSSARecursively(*Outer, Tree, &Loops, nullptr);
  // Those inside of others first.
  All = Loops.getLoopsInPreorder();
  for (Loop *L : reverse(All))
    LoopRotation(L, &Loops, &Costs, &Assumptions, /*DT=*/nullptr, /*SE=*/nullptr, /*MSSAU=*/nullptr,
                 SimplifyQuery(F.getDataLayout()), /*RotationOnly=*/false, MostOfCondition, /*IsUtilMode=*/false);
  return PreservedAnalyses::none();
}

/// Control falls through to what is cut off, so that ptxas sees the same code. What is
/// allocated in a function's first block stays there, where its size is part of the frame.
void cutBlocks(Function &F, CutBefore What) {
  SumParts Parts;
  for (auto Block = F.begin(); Block != F.end(); ++Block) {
    SmallVector<Instruction *, 8> Places;
    size_t Count = 0;
    unsigned Accesses = 0;
    Parts.clear();
    for (Instruction &I : *Block) {
      if (isa<AllocaInst>(I))
        Places.clear();
      auto *Before = dyn_cast_or_null<CallInst>(I.getPrevNode());
      bool Movable = !isa<PHINode>(I) && !I.isEHPad() && !I.isTerminator();
      Accesses += What == CutBefore::Joining && isa<LoadInst, StoreInst>(I);
      bool Long = ++Count >= MostInBlock || Accesses > MostAccesses ||
                  (What == CutBefore::Selection && Parts.of(I) > MostParts);
      if (!Long || !Movable || (Before && Before->isMustTailCall()))
        continue;
      Places.push_back(&I);
      Count = Accesses = 0;
      Parts.clear();
    }
    // From the end, so that no instruction moves twice.
    for (Instruction *Place : reverse(Places))
      Block->splitBasicBlock(Place);
  }
}

FunctionPass *createCutPass() { return new CutPass(); }

/// Has functions of more instructions left as they are, and assembled as such: what registers hold where takes time by the
/// square of their length, and nobody writes such a one by hand.
extern "C" void cdp_spare_large(LLVMModuleRef Module, size_t Most) {
  for (Function &F : *unwrap(Module))
    if (F.getInstructionCount() > Most && !F.hasFnAttribute(Attribute::AlwaysInline)) {
      F.addFnAttr(Attribute::NoInline);
      F.addFnAttr(Attribute::OptimizeNone);
    }
}
