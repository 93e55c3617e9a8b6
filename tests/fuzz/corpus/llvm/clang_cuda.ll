; What clang 22 makes of clang_cuda.cu.
; abi: all
; run: _Z6parentPi 1 1
; arg: zeros i32[2]
; out: argument 0: 21 0
; ModuleID = 'clang_cuda.cu'
source_filename = "clang_cuda.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.point = type { double, float }

@__const._Z6parentPi.p = private unnamed_addr constant %struct.point { double 2.100000e+01, float 2.000000e+00 }, align 8

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local ptx_kernel void @_Z5child5pointfPi(ptr noundef readonly byval(%struct.point) align 8 captures(none) %0, float noundef %1, ptr noundef writeonly captures(none) initializes((0, 4)) %2) #0 {
  %4 = load double, ptr %0, align 8, !tbaa !8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %6 = load float, ptr %5, align 8, !tbaa !12
  %7 = fpext contract float %6 to double
  %8 = fmul contract double %4, %7
  %9 = fpext contract float %1 to double
  %10 = fmul contract double %8, %9
  %11 = fptosi double %10 to i32
  store i32 %11, ptr %2, align 4, !tbaa !4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z6parentPi(ptr noundef %0) local_unnamed_addr #1 {
  %2 = tail call i32 @cdp.launch(ptr noundef nonnull @_Z5child5pointfPi, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 0, ptr noundef null, ptr noundef nonnull byval(%struct.point) align 8 @__const._Z6parentPi.p, float noundef 5.000000e-01, ptr noundef %0) #3
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 4
  store i32 %2, ptr %3, align 4, !tbaa !4
  ret void
}

; Function Attrs: convergent nounwind
declare dso_local i32 @cdp.launch(ptr noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, ptr noundef, ptr noundef byval(%struct.point) align 8, float noundef, ptr noundef) local_unnamed_addr #2

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx80,+sm_90" "uniform-work-group-size"="true" }
attributes #1 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx80,+sm_90" "uniform-work-group-size"="true" }
attributes #2 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx80,+sm_90" }
attributes #3 = { convergent nounwind }

!llvm.module.flags = !{!0, !1, !2}
!llvm.ident = !{!3}
!llvm.errno.tbaa = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!2 = !{i32 7, !"frame-pointer", i32 2}
!3 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C++ TBAA"}
!8 = !{!9, !10, i64 0}
!9 = !{!"_ZTS5point", !10, i64 0, !11, i64 8}
!10 = !{!"double", !6, i64 0}
!11 = !{!"float", !6, i64 0}
!12 = !{!9, !11, i64 8}
