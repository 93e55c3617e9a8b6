// The built-in variables of device code of clang's (builtins.rs), which are variables that nobody defines: what reads them
// reads the registers that they stand for.

#include "llvm-c/Core.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

static constexpr unsigned Dimensions = 3;
static constexpr int64_t WordBytes = 4;

namespace {
struct Builtin {
  const char *Name;
  Intrinsic::ID Registers[Dimensions];
};
} // namespace

static constexpr Builtin Builtins[] = {
    {"threadIdx", {Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y, Intrinsic::nvvm_read_ptx_sreg_tid_z}},
    {"blockIdx", {Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y, Intrinsic::nvvm_read_ptx_sreg_ctaid_z}},
    {"blockDim", {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y, Intrinsic::nvvm_read_ptx_sreg_ntid_z}},
    {"gridDim", {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y, Intrinsic::nvvm_read_ptx_sreg_nctaid_z}},
};

/// Puts registers in the place of loads of single words from `Offset` bytes behind the variable's beginning. What is left
/// is used otherwise.
static void readRegisters(Instruction &Place, int64_t Offset, const Builtin &Variable) {
  const DataLayout &Layout = Place.getModule()->getDataLayout();
  for (User *U : make_early_inc_range(Place.users())) {
    auto *At = cast<Instruction>(U);
    APInt Further(Layout.getIndexTypeSizeInBits(Place.getType()), 0);
    if (isa<AddrSpaceCastInst>(At))
      readRegisters(*At, Offset, Variable);
    else if (auto *Step = dyn_cast<GetElementPtrInst>(At); Step && Step->accumulateConstantOffset(Layout, Further))
      readRegisters(*At, Offset + Further.getSExtValue(), Variable);
    else if (auto *Load = dyn_cast<LoadInst>(At);
             Load && Load->getType()->isIntegerTy(32) && Offset % WordBytes == 0 && Offset >= 0 && Offset / WordBytes < Dimensions) {
      Load->replaceAllUsesWith(IRBuilder<>(Load).CreateIntrinsic(Variable.Registers[Offset / WordBytes], {}));
      Load->eraseFromParent();
    }
  }
  if (Place.use_empty())
    Place.eraseFromParent();
}

/// A variable of the function's own that has what the registers say.
static Value *copyIn(Function &F, GlobalVariable &Global, const Builtin &Variable) {
  IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().begin());
  Value *Copy = B.CreateAlloca(Global.getValueType(), nullptr, Variable.Name);
  for (unsigned I = 0; I < Dimensions; ++I)
    B.CreateStore(B.CreateIntrinsic(Variable.Registers[I], {}), B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), Copy, I));
  return B.CreateAddrSpaceCast(Copy, B.getPtrTy());
}

/// Has device code read the registers that its built-in variables stand for.
extern "C" void cdp_builtins_read(LLVMModuleRef Module) {
  auto &M = *unwrap(Module);
  for (const Builtin &Variable : Builtins) {
    GlobalVariable *Global = M.getNamedGlobal(Variable.Name);
    if (!Global || !Global->isDeclaration())
      continue;
    convertUsersOfConstantsToInstructions({Global});
    // Each use, an instruction, begins a place.
    DenseMap<Function *, Value *> Copies;
    for (Use &U : make_early_inc_range(Global->uses())) {
      auto *At = dyn_cast<Instruction>(U.getUser());
      if (!At)
        continue;
      // What reads the variable itself goes the same way as what reads a place in it.
      IRBuilder<> B(At);
      auto *Place = cast<Instruction>(CastInst::CreatePointerBitCastOrAddrSpaceCast(Global, B.getPtrTy(), "", At->getIterator()));
      if (isa<AddrSpaceCastInst>(At) && At->getType() == Place->getType())
        At->replaceAllUsesWith(Place), At->eraseFromParent();
      else
        U.set(Place);
      readRegisters(*Place, 0, Variable);
    }
    for (Use &U : make_early_inc_range(Global->uses()))
      if (auto *Cast = dyn_cast<Instruction>(U.getUser())) {
        Value *&Copy = Copies[Cast->getFunction()];
        if (!Copy)
          Copy = copyIn(*Cast->getFunction(), *Global, Variable);
        Cast->replaceAllUsesWith(Copy);
        Cast->eraseFromParent();
      }
    if (Global->use_empty())
      Global->eraseFromParent();
  }
}
