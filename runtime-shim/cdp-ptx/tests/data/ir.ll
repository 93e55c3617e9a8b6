; What LLVM emits for memory that C++ does not reach so easily: packed initialisers with pointers,
; aliases, jump tables, dynamic stack memory, half and vector types, 128-bit integers,
; carry arithmetic, indirect calls with structs.
@a = addrspace(1) global [4 x i32] [i32 1, i32 2, i32 -3, i32 4]
@b = addrspace(1) global {i8, i32, ptr} {i8 1, i32 2, ptr addrspacecast (ptr addrspace(1) @a to ptr)}
@c = addrspace(1) global <{i8, ptr, i32}> <{i8 1, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @a to ptr), i64 4), i32 5}>
@d = addrspace(4) constant [3 x float] [float 1.0, float 0x7FF0000000000000, float 0x7FF8000000000000]
@e = external addrspace(3) global [0 x double], align 16
@f = internal addrspace(1) global double 0x3FB999999999999A
@g = weak addrspace(1) global i64 -1
@h = common addrspace(1) global i32 0
@i = addrspace(1) global [2 x ptr] [ptr @impl, ptr null]
@j = addrspace(1) global <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>

declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
declare {i64, i1} @llvm.uadd.with.overflow.i64(i64, i64)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)
declare void @die() noreturn

define i32 @impl(i32 %x) {
  ret i32 %x
}
@other_name = alias i32 (i32), ptr @impl

define i32 @through_alias(i32 %x) {
  %r = call i32 @other_name(i32 %x)
  ret i32 %r
}

define ptx_kernel void @jumps(i32 %x, ptr addrspace(1) %p) {
  switch i32 %x, label %out [ i32 0, label %zero i32 1, label %one i32 2, label %two i32 3, label %zero i32 4, label %four i32 5, label %one ]
zero:
  store volatile i32 1, ptr addrspace(1) %p
  br label %out
one:
  store volatile i32 2, ptr addrspace(1) %p
  br label %out
two:
  store volatile i32 3, ptr addrspace(1) %p
  call void @die()
  unreachable
four:
  store volatile i32 5, ptr addrspace(1) %p
  ret void
out:
  ret void
}

define i32 @indirect(ptr %function, i32 %x, {i32, i8} %s) {
  %r = call i32 %function(i32 %x, {i32, i8} %s)
  ret i32 %r
}

define void @stack(i64 %n, ptr %out) {
  %mark = call ptr @llvm.stacksave.p0()
  %p = alloca i8, i64 %n, align 16
  store ptr %p, ptr %out
  call void @llvm.stackrestore.p0(ptr %mark)
  ret void
}

define i128 @wide(i128 %x, i128 %y) {
  %p = mul i128 %x, %y
  %s = add i128 %p, %y
  ret i128 %s
}

define i64 @carry(i64 %x, i64 %y) {
  %r = call {i64, i1} @llvm.uadd.with.overflow.i64(i64 %x, i64 %y)
  %v = extractvalue {i64, i1} %r, 0
  %o = extractvalue {i64, i1} %r, 1
  %z = select i1 %o, i64 -1, i64 %v
  ret i64 %z
}

define <2 x half> @halves(<2 x half> %x, <2 x half> %y, ptr addrspace(3) %p) {
  %m = call <2 x half> @llvm.fma.v2f16(<2 x half> %x, <2 x half> %y, <2 x half> %x)
  %c = fcmp olt <2 x half> %m, %y
  %r = select <2 x i1> %c, <2 x half> %m, <2 x half> %y
  %old = atomicrmw fadd ptr addrspace(3) %p, <2 x half> %r monotonic
  ret <2 x half> %old
}

define double @values(ptr %p) {
  %x = load <4 x float>, ptr addrspace(1) @j, align 16
  store <4 x float> %x, ptr %p, align 16
  %k = load i32, ptr addrspace(1) @h
  %v = cmpxchg ptr addrspace(1) @g, i64 1, i64 2 syncscope("block") acq_rel monotonic
  fence syncscope("device") seq_cst
  %d = load double, ptr addrspace(1) @f
  store double %d, ptr addrspace(3) @e
  store i32 %k, ptr %p
  ret double %d
}
