; A parameter that LLVM would write as `.u24`.
; error: parameter 1 of kernel `child` has type i24
; error: 1, 8, 16, 32, 64 or 128 bits

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @child(ptr %out, i24 %number) {
  ret void
}
