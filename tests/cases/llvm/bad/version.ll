; A pseudo-function of a later version.
; error: @cdp.launch.v2
; error: version 1

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch.v2(...)

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch.v2(ptr @child)
  ret void
}
