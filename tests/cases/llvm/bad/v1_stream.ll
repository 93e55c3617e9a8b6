; A tail launch with entry points that fail for it.
; flags: --launch-abi cdp2
; error: in function `parent`
; error: cudaStreamTailLaunch
; error: v2

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr inttoptr (i64 3 to ptr), ptr %out, float 1.0)
  ret void
}
