; A kernel with a result.
; error: kernel `child` returns i32, and kernels return nothing

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel i32 @child(ptr %out) {
  ret i32 0
}
