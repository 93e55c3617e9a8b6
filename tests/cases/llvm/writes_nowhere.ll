; Writes that the back end has no instruction for: atomic ones to local memory, which are plain ones, and all of
; constant memory, which a program with a fault alone comes to.
; arch: sm_75 sm_90
; abi: cdp2-v2
; run: parent 1 1
; arg: zeros i32[6]
; out: argument 0: 7 7 9 2 2 4

target triple = "nvptx64-nvidia-cuda"

@table = addrspace(4) global [4 x i32] [i32 1, i32 2, i32 3, i32 4]

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, [4 x i32] %list) {
  %own = alloca [4 x i32]
  store [4 x i32] %list, ptr %own
  %index = load i32, ptr %out
  %slot = getelementptr i32, ptr %own, i32 %index
  %pair = cmpxchg ptr %slot, i32 7, i32 9 monotonic monotonic
  %first = extractvalue { i32, i1 } %pair, 0
  store i32 %first, ptr %out
  %again = cmpxchg ptr %slot, i32 8, i32 10 seq_cst monotonic
  %same = extractvalue { i32, i1 } %again, 1
  %second = select i1 %same, i32 1, i32 7
  %out.1 = getelementptr i32, ptr %out, i64 1
  store i32 %second, ptr %out.1
  %third = atomicrmw xchg ptr %slot, i32 2 monotonic
  %out.2 = getelementptr i32, ptr %out, i64 2
  store i32 %third, ptr %out.2
  ret void
}

define ptx_kernel void @updates(ptr %out, ptr byval([4 x i32]) align 4 %list) {
  %out.5 = getelementptr i32, ptr %out, i64 5
  %index = load i32, ptr %out.5
  %slot = getelementptr i32, ptr %list, i32 %index
  %first = atomicrmw add ptr %slot, i32 2 monotonic
  %second = atomicrmw add ptr %slot, i32 2 syncscope("block") monotonic
  %out.3 = getelementptr i32, ptr %out, i64 3
  store i32 %first, ptr %out.3
  %out.4 = getelementptr i32, ptr %out, i64 4
  store i32 2, ptr %out.4
  store i32 %second, ptr %out.5
  ret void
}

define ptx_kernel void @faulty(ptr %out, i32 %index) {
  %slot = getelementptr i32, ptr addrspacecast (ptr addrspace(4) @table to ptr), i32 %index
  %a = atomicrmw add ptr %slot, i32 1 monotonic
  %b = cmpxchg ptr %slot, i32 1, i32 2 monotonic monotonic
  store i32 %a, ptr %slot
  store volatile i32 %a, ptr addrspace(4) @table
  call void @llvm.memset.p0.i64(ptr %slot, i8 4, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %slot, ptr %out, i64 16, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %slot, ptr %out, i64 16, i1 false)
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %a = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, [4 x i32] [i32 7, i32 1, i32 1, i32 1])
  %b = call i32 (...) @cdp.launch(ptr @updates, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, [4 x i32] [i32 2, i32 1, i32 1, i32 1])
  ret void
}
