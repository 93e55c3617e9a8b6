; Launches in a function that is not inlined and in a loop, a recursive kernel, launches whose result
; is used, and a kernel without parameters.
; abi: all
; run: parent 1 1
; arg: zeros i32[6]
; out: argument 0: 3 3 1 0 0 77

target triple = "nvptx64-nvidia-cuda"

@seen = addrspace(1) global i32 0

declare i32 @cdp.launch(...)

define ptx_kernel void @mark() {
  store i32 77, ptr addrspacecast (ptr addrspace(1) @seen to ptr)
  ret void
}

define ptx_kernel void @count(ptr %out, i32 %depth) {
  %slot = getelementptr i32, ptr %out, i32 %depth
  %old = atomicrmw add ptr %slot, i32 1 monotonic
  %more = icmp ult i32 %depth, 2
  br i1 %more, label %deeper, label %done

deeper:
  %next = add i32 %depth, 1
  %last = icmp eq i32 %depth, 1
  %again = icmp ne i32 %old, 0
  %skip = and i1 %last, %again
  br i1 %skip, label %done, label %launch

launch:
  %error = call i32 (...) @cdp.launch(ptr @count, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, i32 %next)
  br label %done

done:
  ret void
}

define i32 @start(ptr %out) noinline {
  %error = call i32 (...) @cdp.launch(ptr @count, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, i32 0)
  ret i32 %error
}

define ptx_kernel void @finish(ptr %out) {
  %value = load i32, ptr addrspacecast (ptr addrspace(1) @seen to ptr)
  %slot = getelementptr i32, ptr %out, i32 5
  store i32 %value, ptr %slot
  ret void
}

define ptx_kernel void @parent(ptr %out) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %total, %loop ]
  %error = call i32 @start(ptr %out)
  %total = add i32 %sum, %error
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 3
  br i1 %more, label %loop, label %after

after:
  %e1 = call i32 (...) @cdp.launch(ptr @mark, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)
  %e2 = call i32 (...) @cdp.launch(ptr @finish, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out)
  %all = add i32 %e1, %e2
  %errors = add i32 %all, %total
  %slot = getelementptr i32, ptr %out, i32 4
  store i32 %errors, ptr %slot
  ret void
}
