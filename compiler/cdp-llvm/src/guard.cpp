// LLVM's handler for allocations that fail, which its C interface cannot set. Damaged bitcode can ask for
// more memory than there is; LLVM then ends the process, and does not ask its handler for fatal errors.

#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>

/// Has `Handler` called with a message when LLVM gets no memory. Should it return, the process ends.
extern "C" void cdp_install_bad_alloc_handler(void (*Handler)(const char *)) {
  // What `new` does not get is told there too; by itself it would throw, which LLVM is not built for.
  llvm::install_out_of_memory_new_handler();
  llvm::install_bad_alloc_error_handler(
      [](void *Handler, const char *Reason, bool) {
        reinterpret_cast<void (*)(const char *)>(Handler)(Reason);
        abort();
      },
      reinterpret_cast<void *>(Handler));
}
