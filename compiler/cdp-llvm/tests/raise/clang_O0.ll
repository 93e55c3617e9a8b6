; ModuleID = 'launches.cu'
source_filename = "launches.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__cuda_builtin_threadIdx_t = type { i8 }
%struct.point = type { i32, double, i8 }
%struct.wide = type { [16 x float] }
%struct.dim3 = type { i32, i32, i32 }

$_ZN4dim3C1Ejjj = comdat any

$_Z4downIiEvPT_i = comdat any

$_Z5startIPFvPiiEJS0_iEEvT_DpT0_ = comdat any

$_ZN4dim3C2Ejjj = comdat any

@threadIdx = extern_weak dso_local addrspace(1) global %struct.__cuda_builtin_threadIdx_t, align 1
@__const._Z6parentPiiP11CUstream_st.p = private unnamed_addr constant %struct.point { i32 1, double 2.000000e+00, i8 99 }, align 8
@__clang_gpu_used_external = internal global [2 x ptr] [ptr @_Z3fari5point, ptr @_Z4downIiEvPT_i]
@llvm.compiler.used = appending global [1 x ptr] [ptr @__clang_gpu_used_external], section "llvm.metadata"

; Function Attrs: convergent mustprogress noinline norecurse nounwind optnone
define dso_local ptx_kernel void @_Z5childPi5pointfb(ptr noundef %0, ptr noundef byval(%struct.point) align 8 %1, float noundef %2, i1 noundef zeroext %3) #0 {
  %5 = alloca ptr, align 8
  %6 = alloca float, align 4
  %7 = alloca i8, align 1
  store ptr %0, ptr %5, align 8
  store float %2, ptr %6, align 4
  %8 = zext i1 %3 to i8
  store i8 %8, ptr %7, align 1
  %9 = getelementptr inbounds nuw %struct.point, ptr %1, i32 0, i32 0
  %10 = load i32, ptr %9, align 8
  %11 = load float, ptr %6, align 4
  %12 = fptosi float %11 to i32
  %13 = add nsw i32 %10, %12
  %14 = load i8, ptr %7, align 1
  %15 = trunc i8 %14 to i1
  %16 = zext i1 %15 to i32
  %17 = add nsw i32 %13, %16
  %18 = load ptr, ptr %5, align 8
  %19 = call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds nuw i32, ptr %18, i64 %20
  store i32 %17, ptr %21, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind optnone
define dso_local ptx_kernel void @_Z4overc4widePi(i8 noundef signext %0, ptr noundef byval(%struct.wide) align 64 %1, ptr noundef %2) #0 {
  %4 = alloca i8, align 1
  %5 = alloca ptr, align 8
  store i8 %0, ptr %4, align 1
  store ptr %2, ptr %5, align 8
  %6 = getelementptr inbounds nuw %struct.wide, ptr %1, i32 0, i32 0
  %7 = getelementptr inbounds [16 x float], ptr %6, i64 0, i64 15
  %8 = load float, ptr %7, align 4
  %9 = fptosi float %8 to i32
  %10 = load i8, ptr %4, align 1
  %11 = sext i8 %10 to i32
  %12 = add nsw i32 %9, %11
  %13 = load ptr, ptr %5, align 8
  %14 = getelementptr inbounds i32, ptr %13, i64 0
  store i32 %12, ptr %14, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind optnone
define dso_local ptx_kernel void @_Z4nonev() #0 {
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind optnone
define dso_local ptx_kernel void @_Z6parentPiiP11CUstream_st(ptr noundef %0, i32 noundef %1, ptr noundef %2) #0 {
  %4 = alloca ptr, align 8
  %5 = alloca i32, align 4
  %6 = alloca ptr, align 8
  %7 = alloca %struct.point, align 8
  %8 = alloca %struct.point, align 8
  %9 = alloca %struct.dim3, align 4
  %10 = alloca %struct.dim3, align 4
  %11 = alloca %struct.point, align 8
  %12 = alloca %struct.dim3, align 4
  %13 = alloca %struct.dim3, align 4
  %14 = alloca %struct.point, align 8
  %15 = alloca %struct.dim3, align 4
  %16 = alloca %struct.dim3, align 4
  %17 = alloca %struct.dim3, align 4
  %18 = alloca %struct.dim3, align 4
  %19 = alloca %struct.dim3, align 4
  %20 = alloca %struct.dim3, align 4
  %21 = alloca %struct.wide, align 64
  %22 = alloca %struct.dim3, align 4
  %23 = alloca %struct.dim3, align 4
  %24 = alloca ptr, align 8
  %25 = alloca %struct.dim3, align 4
  %26 = alloca %struct.dim3, align 4
  store ptr %0, ptr %4, align 8
  store i32 %1, ptr %5, align 4
  store ptr %2, ptr %6, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %7, ptr align 8 @__const._Z6parentPiiP11CUstream_st.p, i64 24, i1 false)
  %27 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 37) #7
  %28 = icmp ne ptr %27, null
  br i1 %28, label %29, label %40

29:                                               ; preds = %3
  %30 = load ptr, ptr %4, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %8, ptr align 8 %7, i64 24, i1 false)
  %31 = load i32, ptr %5, align 4
  %32 = icmp sgt i32 %31, 1
  %33 = getelementptr inbounds i8, ptr %27, i64 0
  store ptr %30, ptr %33, align 64
  %34 = getelementptr inbounds i8, ptr %27, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %34, ptr align 8 %8, i64 24, i1 false)
  %35 = getelementptr inbounds i8, ptr %27, i64 32
  store float 3.500000e+00, ptr %35, align 32
  %36 = getelementptr inbounds i8, ptr %27, i64 36
  %37 = zext i1 %32 to i8
  store i8 %37, ptr %36, align 4
  %38 = load i32, ptr %5, align 4
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %9, i32 noundef %38, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %10, i32 noundef 32, i32 noundef 1, i32 noundef 1) #7
  %39 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef @_Z5childPi5pointfb, ptr noundef %27, ptr noundef byval(%struct.dim3) align 4 %9, ptr noundef byval(%struct.dim3) align 4 %10, i32 noundef 0, ptr noundef null) #7
  br label %40

40:                                               ; preds = %29, %3
  %41 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 37) #7
  %42 = icmp ne ptr %41, null
  br i1 %42, label %43, label %56

43:                                               ; preds = %40
  %44 = load ptr, ptr %4, align 8
  %45 = getelementptr inbounds i32, ptr %44, i64 1
  %46 = getelementptr inbounds nuw %struct.point, ptr %11, i32 0, i32 0
  %47 = load i32, ptr %5, align 4
  store i32 %47, ptr %46, align 8
  %48 = getelementptr inbounds nuw %struct.point, ptr %11, i32 0, i32 1
  store double 1.000000e+00, ptr %48, align 8
  %49 = getelementptr inbounds nuw %struct.point, ptr %11, i32 0, i32 2
  store i8 120, ptr %49, align 8
  %50 = getelementptr inbounds i8, ptr %41, i64 0
  store ptr %45, ptr %50, align 64
  %51 = getelementptr inbounds i8, ptr %41, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %51, ptr align 8 %11, i64 24, i1 false)
  %52 = getelementptr inbounds i8, ptr %41, i64 32
  store float 1.000000e+00, ptr %52, align 32
  %53 = getelementptr inbounds i8, ptr %41, i64 36
  store i8 1, ptr %53, align 4
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %12, i32 noundef 2, i32 noundef 3, i32 noundef 1) #7
  %54 = load i32, ptr %5, align 4
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %13, i32 noundef %54, i32 noundef 4, i32 noundef 1) #7
  %55 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef @_Z5childPi5pointfb, ptr noundef %41, ptr noundef byval(%struct.dim3) align 4 %12, ptr noundef byval(%struct.dim3) align 4 %13, i32 noundef 128, ptr noundef inttoptr (i64 4 to ptr)) #7
  br label %56

56:                                               ; preds = %43, %40
  %57 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 32) #7
  %58 = icmp ne ptr %57, null
  br i1 %58, label %59, label %65

59:                                               ; preds = %56
  %60 = load i32, ptr %5, align 4
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %14, ptr align 8 %7, i64 24, i1 false)
  %61 = getelementptr inbounds i8, ptr %57, i64 0
  store i32 %60, ptr %61, align 64
  %62 = getelementptr inbounds i8, ptr %57, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %62, ptr align 8 %14, i64 24, i1 false)
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %15, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %16, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  %63 = load ptr, ptr %6, align 8
  %64 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef @_Z3fari5point, ptr noundef %57, ptr noundef byval(%struct.dim3) align 4 %15, ptr noundef byval(%struct.dim3) align 4 %16, i32 noundef 0, ptr noundef %63) #7
  br label %65

65:                                               ; preds = %59, %56
  %66 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 0) #7
  %67 = icmp ne ptr %66, null
  br i1 %67, label %68, label %70

68:                                               ; preds = %65
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %17, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %18, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  %69 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef @_Z4nonev, ptr noundef %66, ptr noundef byval(%struct.dim3) align 4 %17, ptr noundef byval(%struct.dim3) align 4 %18, i32 noundef 0, ptr noundef null) #7
  br label %70

70:                                               ; preds = %68, %65
  %71 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 12) #7
  %72 = icmp ne ptr %71, null
  br i1 %72, label %73, label %78

73:                                               ; preds = %70
  %74 = load ptr, ptr %4, align 8
  %75 = getelementptr inbounds i8, ptr %71, i64 0
  store ptr %74, ptr %75, align 64
  %76 = getelementptr inbounds i8, ptr %71, i64 8
  store i32 2, ptr %76, align 8
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %19, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %20, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  %77 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef @_Z4downIiEvPT_i, ptr noundef %71, ptr noundef byval(%struct.dim3) align 4 %19, ptr noundef byval(%struct.dim3) align 4 %20, i32 noundef 0, ptr noundef null) #7
  br label %78

78:                                               ; preds = %73, %70
  %79 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 136) #7
  %80 = icmp ne ptr %79, null
  br i1 %80, label %81, label %88

81:                                               ; preds = %78
  call void @llvm.memset.p0.i64(ptr align 64 %21, i8 0, i64 64, i1 false)
  %82 = getelementptr inbounds nuw %struct.wide, ptr %21, i32 0, i32 0
  %83 = load ptr, ptr %4, align 8
  %84 = getelementptr inbounds i8, ptr %79, i64 0
  store i8 99, ptr %84, align 64
  %85 = getelementptr inbounds i8, ptr %79, i64 64
  call void @llvm.memcpy.p0.p0.i64(ptr align 64 %85, ptr align 64 %21, i64 64, i1 false)
  %86 = getelementptr inbounds i8, ptr %79, i64 128
  store ptr %83, ptr %86, align 64
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %22, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %23, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  %87 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef @_Z4overc4widePi, ptr noundef %79, ptr noundef byval(%struct.dim3) align 4 %22, ptr noundef byval(%struct.dim3) align 4 %23, i32 noundef 0, ptr noundef null) #7
  br label %88

88:                                               ; preds = %81, %78
  %89 = load ptr, ptr %4, align 8
  call void @_Z5startIPFvPiiEJS0_iEEvT_DpT0_(ptr noundef @_Z4downIiEvPT_i, ptr noundef %89, i32 noundef 1) #7
  %90 = load i32, ptr %5, align 4
  %91 = icmp sgt i32 %90, 5
  %92 = zext i1 %91 to i64
  %93 = select i1 %91, ptr @_Z4downIiEvPT_i, ptr null
  store ptr %93, ptr %24, align 8
  %94 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 12) #7
  %95 = icmp ne ptr %94, null
  br i1 %95, label %96, label %103

96:                                               ; preds = %88
  %97 = load ptr, ptr %24, align 8
  %98 = load ptr, ptr %4, align 8
  %99 = getelementptr inbounds i8, ptr %94, i64 0
  store ptr %98, ptr %99, align 64
  %100 = getelementptr inbounds i8, ptr %94, i64 8
  store i32 7, ptr %100, align 8
  %101 = load i32, ptr %5, align 4
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %25, i32 noundef %101, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %26, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  %102 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef %97, ptr noundef %94, ptr noundef byval(%struct.dim3) align 4 %25, ptr noundef byval(%struct.dim3) align 4 %26, i32 noundef 0, ptr noundef null) #7
  br label %103

103:                                              ; preds = %96, %88
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #1

; Function Attrs: convergent mustprogress noinline nounwind optnone
define internal noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef %0, i64 noundef %1) #2 {
  %3 = alloca i64, align 8
  %4 = alloca i64, align 8
  store i64 %0, ptr %3, align 8
  store i64 %1, ptr %4, align 8
  %5 = load i64, ptr %3, align 8
  %6 = load i64, ptr %4, align 8
  %7 = call ptr @__cudaCDP2GetParameterBuffer(i64 noundef %5, i64 noundef %6) #7
  ret ptr %7
}

; Function Attrs: convergent mustprogress noinline nounwind optnone
define internal noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef %0, ptr noundef %1, ptr noundef byval(%struct.dim3) align 4 %2, ptr noundef byval(%struct.dim3) align 4 %3, i32 noundef %4, ptr noundef %5) #2 {
  %7 = alloca ptr, align 8
  %8 = alloca ptr, align 8
  %9 = alloca i32, align 4
  %10 = alloca ptr, align 8
  %11 = alloca %struct.dim3, align 4
  %12 = alloca %struct.dim3, align 4
  store ptr %0, ptr %7, align 8
  store ptr %1, ptr %8, align 8
  store i32 %4, ptr %9, align 4
  store ptr %5, ptr %10, align 8
  %13 = load ptr, ptr %7, align 8
  %14 = load ptr, ptr %8, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %11, ptr align 4 %2, i64 12, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %12, ptr align 4 %3, i64 12, i1 false)
  %15 = load i32, ptr %9, align 4
  %16 = load ptr, ptr %10, align 8
  %17 = call i32 @__cudaCDP2LaunchDevice(ptr noundef %13, ptr noundef %14, ptr noundef byval(%struct.dim3) align 4 %11, ptr noundef byval(%struct.dim3) align 4 %12, i32 noundef %15, ptr noundef %16) #7
  ret i32 %17
}

; Function Attrs: convergent mustprogress noinline nounwind optnone
define linkonce_odr dso_local void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %0, i32 noundef %1, i32 noundef %2, i32 noundef %3) unnamed_addr #2 comdat align 2 {
  %5 = alloca ptr, align 8
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  store ptr %0, ptr %5, align 8
  store i32 %1, ptr %6, align 4
  store i32 %2, ptr %7, align 4
  store i32 %3, ptr %8, align 4
  %9 = load ptr, ptr %5, align 8
  %10 = load i32, ptr %6, align 4
  %11 = load i32, ptr %7, align 4
  %12 = load i32, ptr %8, align 4
  call void @_ZN4dim3C2Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %9, i32 noundef %10, i32 noundef %11, i32 noundef %12) #7
  ret void
}

; Function Attrs: convergent nounwind
declare dso_local void @_Z3fari5point(i32 noundef, ptr noundef byval(%struct.point) align 8) #3

; Function Attrs: convergent mustprogress noinline norecurse nounwind optnone
define weak_odr dso_local ptx_kernel void @_Z4downIiEvPT_i(ptr noundef %0, i32 noundef %1) #0 comdat {
  %3 = alloca ptr, align 8
  %4 = alloca i32, align 4
  %5 = alloca %struct.dim3, align 4
  %6 = alloca %struct.dim3, align 4
  store ptr %0, ptr %3, align 8
  store i32 %1, ptr %4, align 4
  %7 = load i32, ptr %4, align 4
  %8 = load ptr, ptr %3, align 8
  store i32 %7, ptr %8, align 4
  %9 = load i32, ptr %4, align 4
  %10 = icmp sgt i32 %9, 0
  br i1 %10, label %11, label %22

11:                                               ; preds = %2
  %12 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 12) #7
  %13 = icmp ne ptr %12, null
  br i1 %13, label %14, label %21

14:                                               ; preds = %11
  %15 = load ptr, ptr %3, align 8
  %16 = load i32, ptr %4, align 4
  %17 = sub nsw i32 %16, 1
  %18 = getelementptr inbounds i8, ptr %12, i64 0
  store ptr %15, ptr %18, align 64
  %19 = getelementptr inbounds i8, ptr %12, i64 8
  store i32 %17, ptr %19, align 8
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %5, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %6, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  %20 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef @_Z4downIiEvPT_i, ptr noundef %12, ptr noundef byval(%struct.dim3) align 4 %5, ptr noundef byval(%struct.dim3) align 4 %6, i32 noundef 0, ptr noundef inttoptr (i64 3 to ptr)) #7
  br label %21

21:                                               ; preds = %14, %11
  br label %22

22:                                               ; preds = %21, %2
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #4

; Function Attrs: convergent mustprogress noinline nounwind optnone
define linkonce_odr dso_local void @_Z5startIPFvPiiEJS0_iEEvT_DpT0_(ptr noundef %0, ptr noundef %1, i32 noundef %2) #2 comdat {
  %4 = alloca ptr, align 8
  %5 = alloca ptr, align 8
  %6 = alloca i32, align 4
  %7 = alloca %struct.dim3, align 4
  %8 = alloca %struct.dim3, align 4
  store ptr %0, ptr %4, align 8
  store ptr %1, ptr %5, align 8
  store i32 %2, ptr %6, align 4
  %9 = call noundef ptr @_ZL22cudaGetParameterBuffermm(i64 noundef 64, i64 noundef 12) #7
  %10 = icmp ne ptr %9, null
  br i1 %10, label %11, label %18

11:                                               ; preds = %3
  %12 = load ptr, ptr %4, align 8
  %13 = load ptr, ptr %5, align 8
  %14 = load i32, ptr %6, align 4
  %15 = getelementptr inbounds i8, ptr %9, i64 0
  store ptr %13, ptr %15, align 64
  %16 = getelementptr inbounds i8, ptr %9, i64 8
  store i32 %14, ptr %16, align 8
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %7, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  call void @_ZN4dim3C1Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %8, i32 noundef 1, i32 noundef 1, i32 noundef 1) #7
  %17 = call noundef i32 @_ZL16cudaLaunchDevicePvS_4dim3S0_jP11CUstream_st(ptr noundef %12, ptr noundef %9, ptr noundef byval(%struct.dim3) align 4 %7, ptr noundef byval(%struct.dim3) align 4 %8, i32 noundef 0, ptr noundef null) #7
  br label %18

18:                                               ; preds = %11, %3
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #5

; Function Attrs: convergent nounwind
declare dso_local ptr @__cudaCDP2GetParameterBuffer(i64 noundef, i64 noundef) #6

; Function Attrs: convergent nounwind
declare dso_local i32 @__cudaCDP2LaunchDevice(ptr noundef, ptr noundef, ptr noundef byval(%struct.dim3) align 4, ptr noundef byval(%struct.dim3) align 4, i32 noundef, ptr noundef) #6

; Function Attrs: convergent mustprogress noinline nounwind optnone
define linkonce_odr dso_local void @_ZN4dim3C2Ejjj(ptr noundef nonnull align 4 dereferenceable(12) %0, i32 noundef %1, i32 noundef %2, i32 noundef %3) unnamed_addr #2 comdat align 2 {
  %5 = alloca ptr, align 8
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  store ptr %0, ptr %5, align 8
  store i32 %1, ptr %6, align 4
  store i32 %2, ptr %7, align 4
  store i32 %3, ptr %8, align 4
  %9 = load ptr, ptr %5, align 8
  %10 = getelementptr inbounds nuw %struct.dim3, ptr %9, i32 0, i32 0
  %11 = load i32, ptr %6, align 4
  store i32 %11, ptr %10, align 4
  %12 = getelementptr inbounds nuw %struct.dim3, ptr %9, i32 0, i32 1
  %13 = load i32, ptr %7, align 4
  store i32 %13, ptr %12, align 4
  %14 = getelementptr inbounds nuw %struct.dim3, ptr %9, i32 0, i32 2
  %15 = load i32, ptr %8, align 4
  store i32 %15, ptr %14, align 4
  ret void
}

attributes #0 = { convergent mustprogress noinline norecurse nounwind optnone "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent mustprogress noinline nounwind optnone "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" }
attributes #3 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }
attributes #4 = { nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #5 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" }
attributes #7 = { convergent nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4, !5}
!nvvmir.version = !{!6}

!0 = !{i32 2, !"SDK Version", [2 x i32] [i32 12, i32 9]}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!3 = !{i32 7, !"frame-pointer", i32 2}
!4 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!5 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
!6 = !{i32 2, i32 0}
