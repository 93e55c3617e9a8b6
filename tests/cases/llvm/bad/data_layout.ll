; A data layout with pointers of another size.
; error: data layout
; error: p:32:32

target datalayout = "e-p:32:32-i64:64-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr null)
  ret void
}
