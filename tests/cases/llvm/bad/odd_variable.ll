; A variable that LLVM would write as `.u31`.
; error: variable `@seen` has type i31
; error: 1, 8, 16, 32, 64 or 128 bits

target triple = "nvptx64-nvidia-cuda"

@seen = addrspace(1) global i31 0

define ptx_kernel void @mark() {
  store i32 77, ptr addrspacecast (ptr addrspace(1) @seen to ptr)
  ret void
}
