; Tail and fire-and-forget streams, which the v2 entry points alone take; the tail launch sees what
; the child wrote.
; abi: cdp2-v2 documented-v2
; run: parent 1 1
; arg: zeros i32[2]
; out: argument 0: 5 6

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out) {
  store i32 5, ptr %out
  ret void
}

define ptx_kernel void @tail(ptr %out) {
  %seen = load i32, ptr %out
  %next = add i32 %seen, 1
  %slot = getelementptr i32, ptr %out, i32 1
  store i32 %next, ptr %slot
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %a = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr inttoptr (i64 4 to ptr), ptr %out)
  %b = call i32 (...) @cdp.launch(ptr @tail, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr inttoptr (i64 3 to ptr), ptr %out)
  ret void
}
