; The address of a struct where the kernel takes the struct.
; error: in function `parent`, argument 0 of
; error: is a pointer, and the kernel takes
; error: by value

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

%pair = type { double, i32 }

define ptx_kernel void @child(ptr byval(%pair) align 8 %p) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out)
  ret void
}
