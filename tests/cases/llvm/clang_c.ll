; What clang 22 makes of clang_c.c.
; abi: all
; run: parent 1 1
; arg: zeros i32[2]
; out: argument 0: 21 0
; ModuleID = 'clang_c.c'
source_filename = "clang_c.c"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.point = type { double, float }

@__const.parent.p = private unnamed_addr constant { double, float, [4 x i8] } { double 2.100000e+01, float 2.000000e+00, [4 x i8] zeroinitializer }, align 8

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local ptx_kernel void @child(ptr noundef readonly byval(%struct.point) align 8 captures(none) %0, float noundef %1, ptr noundef writeonly captures(none) initializes((0, 4)) %2) #0 {
  %4 = load double, ptr %0, align 8, !tbaa !7
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %6 = load float, ptr %5, align 8, !tbaa !11
  %7 = fpext float %6 to double
  %8 = fmul double %4, %7
  %9 = fpext float %1 to double
  %10 = fmul double %8, %9
  %11 = fptosi double %10 to i32
  store i32 %11, ptr %2, align 4, !tbaa !3
  ret void
}

; Function Attrs: convergent nounwind
define dso_local ptx_kernel void @parent(ptr noundef %0) local_unnamed_addr #1 {
  %2 = tail call i32 @cdp.launch(ptr noundef nonnull @child, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 0, ptr noundef null, ptr noundef nonnull byval(%struct.point) align 8 @__const.parent.p, float noundef 5.000000e-01, ptr noundef %0) #3
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 4
  store i32 %2, ptr %3, align 4, !tbaa !3
  ret void
}

; Function Attrs: convergent
declare dso_local i32 @cdp.launch(ptr noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, ptr noundef, ptr noundef byval(%struct.point) align 8, float noundef, ptr noundef) local_unnamed_addr #2

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx42,+ptx80,+sm_90" }
attributes #1 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx42,+ptx80,+sm_90" }
attributes #2 = { convergent "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx42,+ptx80,+sm_90" }
attributes #3 = { convergent nounwind }

!llvm.module.flags = !{!0, !1}
!llvm.ident = !{!2}
!llvm.errno.tbaa = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !5, i64 0}
!5 = !{!"omnipotent char", !6, i64 0}
!6 = !{!"Simple C/C++ TBAA"}
!7 = !{!8, !9, i64 0}
!8 = !{!"point", !9, i64 0, !10, i64 8}
!9 = !{!"double", !5, i64 0}
!10 = !{!"float", !5, i64 0}
!11 = !{!8, !10, i64 8}
