; A launch by `invoke`: a launch does not unwind.
; error: in function `parent`
; error: invoke

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}

declare i32 @personality(...)

define ptx_kernel void @parent(ptr %out) personality ptr @personality {
  %error = invoke i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, float 1.0) to label %done unwind label %failed

done:
  ret void

failed:
  %pad = landingpad { ptr, i32 } cleanup
  ret void
}
