; What rustc makes of rustc.rs (structs as arrays of integers; it compiles for sm_70 unless told otherwise).
; abi: all
; run: parent 1 1
; arg: zeros f32[4]
; out: argument 0: 0 2.828125 2 0.5
; ModuleID = 'rustc.5ae09db3ffdb8e5d-cgu.0'
source_filename = "rustc.5ae09db3ffdb8e5d-cgu.0"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write)
define ptx_kernel void @child([2 x i64] %0, float noundef %scale, ptr noundef writeonly captures(none) initializes((0, 16)) %out) unnamed_addr #0 {
start:
  %.fca.0.extract = extractvalue [2 x i64] %0, 0
  %.fca.1.extract = extractvalue [2 x i64] %0, 1
  %.sroa.4.sroa.0.0.extract.trunc = trunc i64 %.fca.1.extract to i32
  store i64 %.fca.0.extract, ptr %out, align 8
  %_4.sroa.4.0.out.sroa_idx = getelementptr inbounds nuw i8, ptr %out, i64 8
  store i32 %.sroa.4.sroa.0.0.extract.trunc, ptr %_4.sroa.4.0.out.sroa_idx, align 8
  %_4.sroa.5.0.out.sroa_idx = getelementptr inbounds nuw i8, ptr %out, i64 12
  store float %scale, ptr %_4.sroa.5.0.out.sroa_idx, align 4
  ret void
}

; Function Attrs: convergent nounwind
define ptx_kernel void @parent(ptr noundef %out) unnamed_addr #1 {
start:
  %_2 = tail call noundef i32 @cdp.launch(ptr noundef nonnull @child, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 1, i32 noundef 0, ptr noundef null, [2 x i64] [i64 4626604192193052672, i64 1073741824], float noundef 5.000000e-01, ptr noundef %out) #2
  ret void
}

; Function Attrs: convergent nounwind
declare noundef i32 @cdp.launch(ptr noundef nonnull, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, ptr noundef, [2 x i64], float noundef, ptr noundef) unnamed_addr #1

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write) "target-cpu"="sm_70" "target-features"="+ptx70" }
attributes #1 = { convergent nounwind "target-cpu"="sm_70" "target-features"="+ptx70" }
attributes #2 = { nounwind }

!llvm.module.flags = !{!0}
!llvm.ident = !{!1}

!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{!"rustc version 1.97.0-nightly (e50aa6fba 2026-05-19)"}
