; A `byval` pointer to another struct than the kernel's.
; error: in function `parent`, argument 0 of
; error: byval
; error: 8 bytes
; error: 16

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

%pair = type { double, i32 }
%small = type { i32, i32 }

define ptx_kernel void @child(ptr byval(%pair) align 8 %p) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr byval(%small) align 4 %out)
  ret void
}
