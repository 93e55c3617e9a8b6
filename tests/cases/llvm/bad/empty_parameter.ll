; A parameter without bytes, on which LLVM gives up.
; error: parameter 0 of kernel `child` has type {}; it is empty

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @child({} %nothing, ptr %out) {
  ret void
}
