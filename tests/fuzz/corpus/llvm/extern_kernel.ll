; A kernel of another module, declared as a kernel; the object is for a link with that module.
; emit: obj
; contains: .extern .entry far
; abi: all

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)
declare ptx_kernel void @far(ptr, i32)

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @far, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, i32 3)
  ret void
}
