; Structs by value: as a `byval` pointer and as the aggregate itself, one aligned to 64, which both
; sides of a launch lay out as 16.
; abi: all
; run: parent 1 1
; arg: zeros f64[4]
; out: argument 0: 2.5 7 2.5 7

target triple = "nvptx64-nvidia-cuda"

%pair = type { double, i32 }
%wide = type { [16 x float] }

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, i8 %pad, ptr byval(%wide) align 64 %w, ptr byval(%pair) align 8 %p) {
  %x = load double, ptr %p
  %second = getelementptr %pair, ptr %p, i32 0, i32 1
  %n = load i32, ptr %second
  %last = getelementptr %wide, ptr %w, i32 0, i32 0, i32 15
  %f = load float, ptr %last
  %d = fpext float %f to double
  %sum = fadd double %x, %d
  store double %sum, ptr %out
  %m = sitofp i32 %n to double
  %slot = getelementptr double, ptr %out, i32 1
  store double %m, ptr %slot
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %p = alloca %pair
  %w = alloca %wide, align 64
  store %pair { double 1.0, i32 7 }, ptr %p
  store %wide zeroinitializer, ptr %w
  %last = getelementptr %wide, ptr %w, i32 0, i32 0, i32 15
  store float 1.5, ptr %last
  %e1 = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, i8 0, ptr byval(%wide) align 64 %w, ptr byval(%pair) align 8 %p)
  %pv = load %pair, ptr %p
  %wv = load %wide, ptr %w
  %out2 = getelementptr double, ptr %out, i32 2
  %e2 = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out2, i8 0, %wide %wv, %pair %pv)
  ret void
}
