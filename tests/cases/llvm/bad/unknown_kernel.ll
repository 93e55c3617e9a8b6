; A kernel that is neither defined nor declared.
; error: use of undefined value
; error: @nowhere

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @nowhere, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)
  ret void
}
