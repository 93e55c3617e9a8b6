; Names with dots are LLVM's to change where no other module sees them.
; abi: cdp2-v2
; run: parent 1 1
; arg: zeros i32[2]
; out: argument 0: 5 6

target triple = "nvptx64-nvidia-cuda"

@my.table = internal global [2 x i32] [i32 5, i32 6]

declare i32 @cdp.launch(...)
declare void @not.used()

define internal void @my.helper(ptr %out) noinline {
  %first = load i32, ptr @my.table
  store i32 %first, ptr %out
  %second.slot = getelementptr i32, ptr @my.table, i64 1
  %second = load i32, ptr %second.slot
  %out.slot = getelementptr i32, ptr %out, i64 1
  store i32 %second, ptr %out.slot
  ret void
}

define ptx_kernel void @child(ptr %out) {
  call void @my.helper(ptr %out)
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out)
  ret void
}
