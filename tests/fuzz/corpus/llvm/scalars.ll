; Every scalar type, a vector and an array as direct parameters; the child adds them up.
; abi: all
; run: parent 1 1
; arg: zeros f64[3]
; out: argument 0: 36 10 9

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(i1 %a, i8 %b, ptr %out, i16 %c, half %d, float %e, double %f, i64 %g, <4 x float> %v, [3 x i8] %t) {
  %a1 = uitofp i1 %a to double
  %b1 = sitofp i8 %b to double
  %c1 = sitofp i16 %c to double
  %d1 = fpext half %d to double
  %e1 = fpext float %e to double
  %g1 = sitofp i64 %g to double
  %s1 = fadd double %a1, %b1
  %s2 = fadd double %s1, %c1
  %s3 = fadd double %s2, %d1
  %s4 = fadd double %s3, %e1
  %s5 = fadd double %s4, %f
  %s6 = fadd double %s5, %g1
  store double %s6, ptr %out
  %v0 = extractelement <4 x float> %v, i32 0
  %v1 = extractelement <4 x float> %v, i32 1
  %v2 = extractelement <4 x float> %v, i32 2
  %v3 = extractelement <4 x float> %v, i32 3
  %x1 = fadd float %v0, %v1
  %x2 = fadd float %x1, %v2
  %x3 = fadd float %x2, %v3
  %x = fpext float %x3 to double
  %second = getelementptr double, ptr %out, i32 1
  store double %x, ptr %second
  %t0 = extractvalue [3 x i8] %t, 0
  %t1 = extractvalue [3 x i8] %t, 1
  %t2 = extractvalue [3 x i8] %t, 2
  %y1 = add i8 %t0, %t1
  %y2 = add i8 %y1, %t2
  %y = sitofp i8 %y2 to double
  %third = getelementptr double, ptr %out, i32 2
  store double %y, ptr %third
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, i1 true, i8 2, ptr %out, i16 3, half 4.0, float 5.0, double 6.0, i64 15, <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, [3 x i8] [i8 2, i8 3, i8 4])
  ret void
}
