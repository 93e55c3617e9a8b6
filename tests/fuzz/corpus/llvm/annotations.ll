; Kernels in the older form: a normal function that `nvvm.annotations` names.
; abi: all
; run: parent 1 1
; arg: zeros i64[2]
; out: argument 0: 42 7

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define void @child(ptr %out, i64 %value, i8 %small) {
  store i64 %value, ptr %out
  %wide = zext i8 %small to i64
  %second = getelementptr i64, ptr %out, i32 1
  store i64 %wide, ptr %second
  ret void
}

define void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, i64 42, i8 7)
  ret void
}

!nvvm.annotations = !{!0, !1}
!0 = !{ptr @child, !"kernel", i32 1}
!1 = !{ptr @parent, !"kernel", i32 1}
