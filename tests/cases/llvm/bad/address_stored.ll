; The address of the pseudo-function stored.
; error: cdp.launch
; error: can only be called

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @parent(ptr %out) {
  store ptr @cdp.launch, ptr %out
  ret void
}
