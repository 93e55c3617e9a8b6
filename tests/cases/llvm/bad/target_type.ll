; A kernel parameter of a type that belongs to another target.
; error: parameter 0 of kernel `parent` has a type that no kernel can have

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @parent(target("spirv.Image", void, 0) %image) {
  ret void
}
