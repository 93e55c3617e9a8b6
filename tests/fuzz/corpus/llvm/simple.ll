; The smallest useful module: no triple, no data layout, a variadic declaration.
; abi: all
; arch: sm_75 sm_90 sm_120
; run: parent 1 1
; arg: zeros i32[8]
; out: argument 0: 0 10 20 30 40 50 60 70

declare i32 @cdp.launch(...)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @child(ptr %out, i32 %step) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 4
  %index = add i32 %first, %tid
  %value = mul i32 %index, %step
  %slot = getelementptr i32, ptr %out, i32 %index
  store i32 %value, ptr %slot
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 2, i32 1, i32 1, i32 4, i32 1, i32 1, i32 0, ptr null, ptr %out, i32 10)
  ret void
}
