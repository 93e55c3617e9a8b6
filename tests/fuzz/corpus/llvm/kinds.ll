target triple = "nvptx64-nvidia-cuda"
@table = addrspace(4) constant [3 x i32] [i32 1, i32 2, i32 3]
@shared = internal addrspace(3) global [64 x float] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare float @__nv_sinf(float)
declare i32 @cdp.launch(ptr, ...)
define ptx_kernel void @child(ptr %p, i32 %n) { ret void }
define ptx_kernel void @k(ptr noalias %p, i64 %n, <4 x float> %v, { i8, i64 } %s) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = sext i32 %t to i64
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %x = phi double [ 0.0, %entry ], [ %sum, %latch ]
  %at = getelementptr inbounds double, ptr %p, i64 %i
  %l = load double, ptr %at, align 8
  %sum = fadd fast double %x, %l
  %q = sdiv i64 %i, 7
  switch i64 %q, label %latch [ i64 1, label %one
                                i64 2, label %two ]
one:
  %a = atomicrmw add ptr %p, i32 1 seq_cst
  %c = cmpxchg ptr %p, i32 0, i32 %a acq_rel monotonic
  br label %latch
two:
  fence syncscope("block") acquire
  %e = extractelement <4 x float> %v, i32 %t
  %b = bitcast float %e to i32
  %r = call i32 @llvm.ctpop.i32(i32 %b)
  %o = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %r, i32 3)
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %done = icmp sge i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 64, i1 false)
  %f = fptoui double %x to i128
  %g = udiv i128 %f, 10
  %h = trunc i128 %g to i32
  %err = call i32 (ptr, ...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 %h, i32 1, i32 1, i32 0, ptr null, ptr %p, i32 %h)
  ret void
}
declare i32 @llvm.ctpop.i32(i32)
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
