; Parameters of more than 4,096 bytes.
; error: in function `parent`
; error: 4104 bytes
; error: 4096

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

%big = type { [4096 x i8] }

define ptx_kernel void @child(ptr %out, ptr byval(%big) align 8 %b) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, %big zeroinitializer)
  ret void
}
