// Code generation of device modules without the passes that ptxas makes superfluous.
//
// LLVM's C interface makes code with a fixed list of passes. LLVM's own way to leave some out is a
// pass manager that does not add them, for which its C++ interface is needed. Which ones are left out
// is decided in pipeline.rs. Nothing else is here.

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {

/// A pass manager that drops passes of the given command-line names.
class Selective : public legacy::PassManager {
public:
  explicit Selective(ArrayRef<const char *> Dropped) : Dropped(Dropped) {}

  void add(Pass *P) override {
    // A pass is in the registry once one of its kind was made, that is, from here on.
    const PassInfo *Info = PassRegistry::getPassRegistry()->getPassInfo(P->getPassID());
    if (Info && is_contained(Dropped, Info->getPassArgument())) {
      delete P;
      return;
    }
    legacy::PassManager::add(P);
  }

private:
  ArrayRef<const char *> Dropped;
};

} // namespace

/// Writes the assembly text of a module. False, and `Text` untouched, when the target has none.
/// The caller owns the buffer.
extern "C" LLVMBool cdp_emit_assembly(LLVMTargetMachineRef Machine, LLVMModuleRef Module,
                                      const char *const *Dropped, size_t DroppedCount,
                                      LLVMMemoryBufferRef *Text) {
  TargetMachine &Target = *reinterpret_cast<TargetMachine *>(Machine);
  llvm::Module &M = *unwrap(Module);
  SmallString<0> Bytes;
  raw_svector_ostream Out(Bytes);
  M.setDataLayout(Target.createDataLayout());
  Selective Passes(ArrayRef(Dropped, DroppedCount));
  if (Target.addPassesToEmitFile(Passes, Out, nullptr, CodeGenFileType::AssemblyFile))
    return false;
  Passes.run(M);
  *Text = LLVMCreateMemoryBufferWithMemoryRangeCopy(Bytes.data(), Bytes.size(), "");
  return true;
}
