; The address of the pseudo-function in a variable.
; error: cdp.launch
; error: can only be called

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

@table = addrspace(1) global ptr @cdp.launch

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}
