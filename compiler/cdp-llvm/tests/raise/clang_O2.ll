; ModuleID = 'launches.cu'
source_filename = "launches.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.point = type { i32, double, i8 }
%struct.wide = type { [16 x float] }
%struct.dim3 = type { i32, i32, i32 }

$_Z4downIiEvPT_i = comdat any

@__const._Z6parentPiiP11CUstream_st.p = private unnamed_addr constant %struct.point { i32 1, double 2.000000e+00, i8 99 }, align 8
@__clang_gpu_used_external = internal global [2 x ptr] [ptr @_Z3fari5point, ptr @_Z4downIiEvPT_i]
@llvm.compiler.used = appending global [1 x ptr] [ptr @__clang_gpu_used_external], section "llvm.metadata"

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local ptx_kernel void @_Z5childPi5pointfb(ptr noundef writeonly captures(none) %0, ptr noundef readonly byval(%struct.point) align 8 captures(none) %1, float noundef %2, i1 noundef zeroext %3) #0 !dbg !15 {
  %5 = load i32, ptr %1, align 8, !dbg !18, !tbaa !19
  %6 = fptosi float %2 to i32, !dbg !22
  %7 = zext i1 %3 to i32, !dbg !23
  %8 = add i32 %7, %6, !dbg !24
  %9 = add i32 %8, %5, !dbg !25
  %10 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !26
  %11 = zext nneg i32 %10 to i64, !dbg !30
  %12 = getelementptr inbounds nuw i32, ptr %0, i64 %11, !dbg !30
  store i32 %9, ptr %12, align 4, !dbg !31, !tbaa !10
  ret void, !dbg !32
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local ptx_kernel void @_Z4overc4widePi(i8 noundef signext %0, ptr noundef readonly byval(%struct.wide) align 64 captures(none) %1, ptr noundef writeonly captures(none) initializes((0, 4)) %2) #0 !dbg !33 {
  %4 = getelementptr inbounds nuw i8, ptr %1, i64 60, !dbg !34
  %5 = load float, ptr %4, align 4, !dbg !34, !tbaa !35
  %6 = fptosi float %5 to i32, !dbg !34
  %7 = sext i8 %0 to i32, !dbg !37
  %8 = add nsw i32 %6, %7, !dbg !38
  store i32 %8, ptr %2, align 4, !dbg !39, !tbaa !10
  ret void, !dbg !40
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define dso_local ptx_kernel void @_Z4nonev() #1 !dbg !41 {
  ret void, !dbg !42
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z6parentPiiP11CUstream_st(ptr noundef %0, i32 noundef %1, ptr noundef %2) local_unnamed_addr #2 !dbg !43 {
  %4 = alloca %struct.dim3, align 8
  %5 = alloca %struct.dim3, align 8
  %6 = alloca %struct.dim3, align 8
  %7 = alloca %struct.dim3, align 8
  %8 = alloca %struct.dim3, align 8
  %9 = alloca %struct.dim3, align 8
  %10 = alloca %struct.dim3, align 8
  %11 = alloca %struct.dim3, align 8
  %12 = alloca %struct.dim3, align 8
  %13 = alloca %struct.dim3, align 8
  %14 = alloca %struct.dim3, align 8
  %15 = alloca %struct.dim3, align 8
  %16 = alloca %struct.dim3, align 8
  %17 = alloca %struct.dim3, align 8
  %18 = alloca %struct.dim3, align 8
  %19 = alloca %struct.dim3, align 8
  %20 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 37) #9, !dbg !44
  %21 = icmp eq ptr %20, null, !dbg !48
  br i1 %21, label %33, label %22, !dbg !48

22:                                               ; preds = %3
  %23 = icmp sgt i32 %1, 1, !dbg !49
  store ptr %0, ptr %20, align 64, !dbg !48, !tbaa !50
  %24 = getelementptr inbounds nuw i8, ptr %20, i64 8, !dbg !48
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %24, ptr noundef nonnull align 8 dereferenceable(24) @__const._Z6parentPiiP11CUstream_st.p, i64 24, i1 false), !dbg !48, !tbaa.struct !53
  %25 = getelementptr inbounds nuw i8, ptr %20, i64 32, !dbg !48
  store float 3.500000e+00, ptr %25, align 32, !dbg !48, !tbaa !35
  %26 = getelementptr inbounds nuw i8, ptr %20, i64 36, !dbg !48
  %27 = zext i1 %23 to i8, !dbg !48
  store i8 %27, ptr %26, align 4, !dbg !48, !tbaa !56
  call void @llvm.lifetime.start.p0(ptr nonnull %19), !dbg !58
  call void @llvm.lifetime.start.p0(ptr nonnull %18), !dbg !58
  store i32 32, ptr %18, align 8, !dbg !58
  %28 = getelementptr inbounds nuw i8, ptr %18, i64 4, !dbg !58
  store i32 1, ptr %28, align 4, !dbg !58
  %29 = getelementptr inbounds nuw i8, ptr %18, i64 8, !dbg !58
  store i32 1, ptr %29, align 8, !dbg !58
  store i32 %1, ptr %19, align 8, !dbg !58
  %30 = getelementptr inbounds nuw i8, ptr %19, i64 4, !dbg !58
  store i32 1, ptr %30, align 4, !dbg !58
  %31 = getelementptr inbounds nuw i8, ptr %19, i64 8, !dbg !58
  store i32 1, ptr %31, align 8, !dbg !58
  %32 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z5childPi5pointfb, ptr noundef nonnull %20, ptr noundef nonnull byval(%struct.dim3) align 4 %19, ptr noundef nonnull byval(%struct.dim3) align 4 %18, i32 noundef 0, ptr noundef null) #9, !dbg !58
  call void @llvm.lifetime.end.p0(ptr nonnull %19), !dbg !61
  call void @llvm.lifetime.end.p0(ptr nonnull %18), !dbg !61
  br label %33, !dbg !48

33:                                               ; preds = %22, %3
  %34 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 37) #9, !dbg !62
  %35 = icmp eq ptr %34, null, !dbg !64
  br i1 %35, label %48, label %36, !dbg !64

36:                                               ; preds = %33
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 4, !dbg !65
  store ptr %37, ptr %34, align 64, !dbg !64, !tbaa !50
  %38 = getelementptr inbounds nuw i8, ptr %34, i64 8, !dbg !64
  store i32 %1, ptr %38, align 8, !dbg !64, !tbaa !10
  %39 = getelementptr inbounds nuw i8, ptr %34, i64 16, !dbg !64
  store double 1.000000e+00, ptr %39, align 16, !dbg !64, !tbaa !54
  %40 = getelementptr inbounds nuw i8, ptr %34, i64 24, !dbg !64
  store i8 120, ptr %40, align 8, !dbg !64, !tbaa !55
  %41 = getelementptr inbounds nuw i8, ptr %34, i64 32, !dbg !64
  store float 1.000000e+00, ptr %41, align 32, !dbg !64, !tbaa !35
  %42 = getelementptr inbounds nuw i8, ptr %34, i64 36, !dbg !64
  store i8 1, ptr %42, align 4, !dbg !64, !tbaa !56
  call void @llvm.lifetime.start.p0(ptr nonnull %17), !dbg !66
  call void @llvm.lifetime.start.p0(ptr nonnull %16), !dbg !66
  store i32 %1, ptr %16, align 8, !dbg !66
  %43 = getelementptr inbounds nuw i8, ptr %16, i64 4, !dbg !66
  store i32 4, ptr %43, align 4, !dbg !66
  %44 = getelementptr inbounds nuw i8, ptr %16, i64 8, !dbg !66
  store i32 1, ptr %44, align 8, !dbg !66
  store i32 2, ptr %17, align 8, !dbg !66
  %45 = getelementptr inbounds nuw i8, ptr %17, i64 4, !dbg !66
  store i32 3, ptr %45, align 4, !dbg !66
  %46 = getelementptr inbounds nuw i8, ptr %17, i64 8, !dbg !66
  store i32 1, ptr %46, align 8, !dbg !66
  %47 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z5childPi5pointfb, ptr noundef nonnull %34, ptr noundef nonnull byval(%struct.dim3) align 4 %17, ptr noundef nonnull byval(%struct.dim3) align 4 %16, i32 noundef 128, ptr noundef nonnull inttoptr (i64 4 to ptr)) #9, !dbg !66
  call void @llvm.lifetime.end.p0(ptr nonnull %17), !dbg !68
  call void @llvm.lifetime.end.p0(ptr nonnull %16), !dbg !68
  br label %48, !dbg !64

48:                                               ; preds = %36, %33
  %49 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 32) #9, !dbg !69
  %50 = icmp eq ptr %49, null, !dbg !71
  br i1 %50, label %58, label %51, !dbg !71

51:                                               ; preds = %48
  store i32 %1, ptr %49, align 64, !dbg !71, !tbaa !10
  %52 = getelementptr inbounds nuw i8, ptr %49, i64 8, !dbg !71
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %52, ptr noundef nonnull align 8 dereferenceable(24) @__const._Z6parentPiiP11CUstream_st.p, i64 24, i1 false), !dbg !71, !tbaa.struct !53
  call void @llvm.lifetime.start.p0(ptr nonnull %15), !dbg !72
  call void @llvm.lifetime.start.p0(ptr nonnull %14), !dbg !72
  store i32 1, ptr %14, align 8, !dbg !72
  %53 = getelementptr inbounds nuw i8, ptr %14, i64 4, !dbg !72
  store i32 1, ptr %53, align 4, !dbg !72
  %54 = getelementptr inbounds nuw i8, ptr %14, i64 8, !dbg !72
  store i32 1, ptr %54, align 8, !dbg !72
  store i32 1, ptr %15, align 8, !dbg !72
  %55 = getelementptr inbounds nuw i8, ptr %15, i64 4, !dbg !72
  store i32 1, ptr %55, align 4, !dbg !72
  %56 = getelementptr inbounds nuw i8, ptr %15, i64 8, !dbg !72
  store i32 1, ptr %56, align 8, !dbg !72
  %57 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z3fari5point, ptr noundef nonnull %49, ptr noundef nonnull byval(%struct.dim3) align 4 %15, ptr noundef nonnull byval(%struct.dim3) align 4 %14, i32 noundef 0, ptr noundef %2) #9, !dbg !72
  call void @llvm.lifetime.end.p0(ptr nonnull %15), !dbg !74
  call void @llvm.lifetime.end.p0(ptr nonnull %14), !dbg !74
  br label %58, !dbg !71

58:                                               ; preds = %51, %48
  %59 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 0) #9, !dbg !75
  %60 = icmp eq ptr %59, null, !dbg !77
  br i1 %60, label %67, label %61, !dbg !77

61:                                               ; preds = %58
  call void @llvm.lifetime.start.p0(ptr nonnull %13), !dbg !78
  call void @llvm.lifetime.start.p0(ptr nonnull %12), !dbg !78
  store i32 1, ptr %12, align 8, !dbg !78
  %62 = getelementptr inbounds nuw i8, ptr %12, i64 4, !dbg !78
  store i32 1, ptr %62, align 4, !dbg !78
  %63 = getelementptr inbounds nuw i8, ptr %12, i64 8, !dbg !78
  store i32 1, ptr %63, align 8, !dbg !78
  store i32 1, ptr %13, align 8, !dbg !78
  %64 = getelementptr inbounds nuw i8, ptr %13, i64 4, !dbg !78
  store i32 1, ptr %64, align 4, !dbg !78
  %65 = getelementptr inbounds nuw i8, ptr %13, i64 8, !dbg !78
  store i32 1, ptr %65, align 8, !dbg !78
  %66 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z4nonev, ptr noundef nonnull %59, ptr noundef nonnull byval(%struct.dim3) align 4 %13, ptr noundef nonnull byval(%struct.dim3) align 4 %12, i32 noundef 0, ptr noundef null) #9, !dbg !78
  call void @llvm.lifetime.end.p0(ptr nonnull %13), !dbg !80
  call void @llvm.lifetime.end.p0(ptr nonnull %12), !dbg !80
  br label %67, !dbg !77

67:                                               ; preds = %61, %58
  %68 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 12) #9, !dbg !81
  %69 = icmp eq ptr %68, null, !dbg !83
  br i1 %69, label %77, label %70, !dbg !83

70:                                               ; preds = %67
  store ptr %0, ptr %68, align 64, !dbg !83, !tbaa !50
  %71 = getelementptr inbounds nuw i8, ptr %68, i64 8, !dbg !83
  store i32 2, ptr %71, align 8, !dbg !83, !tbaa !10
  call void @llvm.lifetime.start.p0(ptr nonnull %11), !dbg !84
  call void @llvm.lifetime.start.p0(ptr nonnull %10), !dbg !84
  store i32 1, ptr %10, align 8, !dbg !84
  %72 = getelementptr inbounds nuw i8, ptr %10, i64 4, !dbg !84
  store i32 1, ptr %72, align 4, !dbg !84
  %73 = getelementptr inbounds nuw i8, ptr %10, i64 8, !dbg !84
  store i32 1, ptr %73, align 8, !dbg !84
  store i32 1, ptr %11, align 8, !dbg !84
  %74 = getelementptr inbounds nuw i8, ptr %11, i64 4, !dbg !84
  store i32 1, ptr %74, align 4, !dbg !84
  %75 = getelementptr inbounds nuw i8, ptr %11, i64 8, !dbg !84
  store i32 1, ptr %75, align 8, !dbg !84
  %76 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z4downIiEvPT_i, ptr noundef nonnull %68, ptr noundef nonnull byval(%struct.dim3) align 4 %11, ptr noundef nonnull byval(%struct.dim3) align 4 %10, i32 noundef 0, ptr noundef null) #9, !dbg !84
  call void @llvm.lifetime.end.p0(ptr nonnull %11), !dbg !86
  call void @llvm.lifetime.end.p0(ptr nonnull %10), !dbg !86
  br label %77, !dbg !83

77:                                               ; preds = %70, %67
  %78 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 136) #9, !dbg !87
  %79 = icmp eq ptr %78, null, !dbg !89
  br i1 %79, label %88, label %80, !dbg !89

80:                                               ; preds = %77
  store i8 99, ptr %78, align 64, !dbg !89, !tbaa !55
  %81 = getelementptr inbounds nuw i8, ptr %78, i64 64, !dbg !89
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 64 dereferenceable(64) %81, i8 0, i64 64, i1 false), !dbg !89
  %82 = getelementptr inbounds nuw i8, ptr %78, i64 128, !dbg !89
  store ptr %0, ptr %82, align 64, !dbg !89, !tbaa !50
  call void @llvm.lifetime.start.p0(ptr nonnull %9), !dbg !90
  call void @llvm.lifetime.start.p0(ptr nonnull %8), !dbg !90
  store i32 1, ptr %8, align 8, !dbg !90
  %83 = getelementptr inbounds nuw i8, ptr %8, i64 4, !dbg !90
  store i32 1, ptr %83, align 4, !dbg !90
  %84 = getelementptr inbounds nuw i8, ptr %8, i64 8, !dbg !90
  store i32 1, ptr %84, align 8, !dbg !90
  store i32 1, ptr %9, align 8, !dbg !90
  %85 = getelementptr inbounds nuw i8, ptr %9, i64 4, !dbg !90
  store i32 1, ptr %85, align 4, !dbg !90
  %86 = getelementptr inbounds nuw i8, ptr %9, i64 8, !dbg !90
  store i32 1, ptr %86, align 8, !dbg !90
  %87 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z4overc4widePi, ptr noundef nonnull %78, ptr noundef nonnull byval(%struct.dim3) align 4 %9, ptr noundef nonnull byval(%struct.dim3) align 4 %8, i32 noundef 0, ptr noundef null) #9, !dbg !90
  call void @llvm.lifetime.end.p0(ptr nonnull %9), !dbg !92
  call void @llvm.lifetime.end.p0(ptr nonnull %8), !dbg !92
  br label %88, !dbg !89

88:                                               ; preds = %80, %77
  %89 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 12) #9, !dbg !93
  %90 = icmp eq ptr %89, null, !dbg !97
  br i1 %90, label %98, label %91, !dbg !97

91:                                               ; preds = %88
  store ptr %0, ptr %89, align 64, !dbg !97, !tbaa !50
  %92 = getelementptr inbounds nuw i8, ptr %89, i64 8, !dbg !97
  store i32 1, ptr %92, align 8, !dbg !97, !tbaa !10
  call void @llvm.lifetime.start.p0(ptr nonnull %7), !dbg !98
  call void @llvm.lifetime.start.p0(ptr nonnull %6), !dbg !98
  store i32 1, ptr %6, align 8, !dbg !98
  %93 = getelementptr inbounds nuw i8, ptr %6, i64 4, !dbg !98
  store i32 1, ptr %93, align 4, !dbg !98
  %94 = getelementptr inbounds nuw i8, ptr %6, i64 8, !dbg !98
  store i32 1, ptr %94, align 8, !dbg !98
  store i32 1, ptr %7, align 8, !dbg !98
  %95 = getelementptr inbounds nuw i8, ptr %7, i64 4, !dbg !98
  store i32 1, ptr %95, align 4, !dbg !98
  %96 = getelementptr inbounds nuw i8, ptr %7, i64 8, !dbg !98
  store i32 1, ptr %96, align 8, !dbg !98
  %97 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z4downIiEvPT_i, ptr noundef nonnull %89, ptr noundef nonnull byval(%struct.dim3) align 4 %7, ptr noundef nonnull byval(%struct.dim3) align 4 %6, i32 noundef 0, ptr noundef null) #9, !dbg !98
  call void @llvm.lifetime.end.p0(ptr nonnull %7), !dbg !100
  call void @llvm.lifetime.end.p0(ptr nonnull %6), !dbg !100
  br label %98, !dbg !97

98:                                               ; preds = %88, %91
  %99 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 12) #9, !dbg !101
  %100 = icmp eq ptr %99, null, !dbg !103
  br i1 %100, label %110, label %101, !dbg !103

101:                                              ; preds = %98
  %102 = icmp sgt i32 %1, 5, !dbg !104
  %103 = select i1 %102, ptr @_Z4downIiEvPT_i, ptr null, !dbg !105
  store ptr %0, ptr %99, align 64, !dbg !103, !tbaa !50
  %104 = getelementptr inbounds nuw i8, ptr %99, i64 8, !dbg !103
  store i32 7, ptr %104, align 8, !dbg !103, !tbaa !10
  call void @llvm.lifetime.start.p0(ptr nonnull %5), !dbg !106
  call void @llvm.lifetime.start.p0(ptr nonnull %4), !dbg !106
  store i32 1, ptr %4, align 8, !dbg !106
  %105 = getelementptr inbounds nuw i8, ptr %4, i64 4, !dbg !106
  store i32 1, ptr %105, align 4, !dbg !106
  %106 = getelementptr inbounds nuw i8, ptr %4, i64 8, !dbg !106
  store i32 1, ptr %106, align 8, !dbg !106
  store i32 %1, ptr %5, align 8, !dbg !106
  %107 = getelementptr inbounds nuw i8, ptr %5, i64 4, !dbg !106
  store i32 1, ptr %107, align 4, !dbg !106
  %108 = getelementptr inbounds nuw i8, ptr %5, i64 8, !dbg !106
  store i32 1, ptr %108, align 8, !dbg !106
  %109 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef %103, ptr noundef nonnull %99, ptr noundef nonnull byval(%struct.dim3) align 4 %5, ptr noundef nonnull byval(%struct.dim3) align 4 %4, i32 noundef 0, ptr noundef null) #9, !dbg !106
  call void @llvm.lifetime.end.p0(ptr nonnull %5), !dbg !108
  call void @llvm.lifetime.end.p0(ptr nonnull %4), !dbg !108
  br label %110, !dbg !103

110:                                              ; preds = %101, %98
  ret void, !dbg !109
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #4

; Function Attrs: convergent nounwind
declare dso_local void @_Z3fari5point(i32 noundef, ptr noundef byval(%struct.point) align 8) #5

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define weak_odr dso_local ptx_kernel void @_Z4downIiEvPT_i(ptr noundef %0, i32 noundef %1) #2 comdat !dbg !110 {
  %3 = alloca %struct.dim3, align 8
  %4 = alloca %struct.dim3, align 8
  store i32 %1, ptr %0, align 4, !dbg !111, !tbaa !10
  %5 = icmp sgt i32 %1, 0, !dbg !112
  br i1 %5, label %6, label %17, !dbg !112

6:                                                ; preds = %2
  %7 = tail call noundef ptr @__cudaCDP2GetParameterBuffer(i64 noundef 64, i64 noundef 12) #9, !dbg !113
  %8 = icmp eq ptr %7, null, !dbg !115
  br i1 %8, label %17, label %9, !dbg !115

9:                                                ; preds = %6
  %10 = add nsw i32 %1, -1, !dbg !116
  store ptr %0, ptr %7, align 64, !dbg !115, !tbaa !50
  %11 = getelementptr inbounds nuw i8, ptr %7, i64 8, !dbg !115
  store i32 %10, ptr %11, align 8, !dbg !115, !tbaa !10
  call void @llvm.lifetime.start.p0(ptr nonnull %4), !dbg !117
  call void @llvm.lifetime.start.p0(ptr nonnull %3), !dbg !117
  store i32 1, ptr %3, align 8, !dbg !117
  %12 = getelementptr inbounds nuw i8, ptr %3, i64 4, !dbg !117
  store i32 1, ptr %12, align 4, !dbg !117
  %13 = getelementptr inbounds nuw i8, ptr %3, i64 8, !dbg !117
  store i32 1, ptr %13, align 8, !dbg !117
  store i32 1, ptr %4, align 8, !dbg !117
  %14 = getelementptr inbounds nuw i8, ptr %4, i64 4, !dbg !117
  store i32 1, ptr %14, align 4, !dbg !117
  %15 = getelementptr inbounds nuw i8, ptr %4, i64 8, !dbg !117
  store i32 1, ptr %15, align 8, !dbg !117
  %16 = tail call noundef i32 @__cudaCDP2LaunchDevice(ptr noundef nonnull @_Z4downIiEvPT_i, ptr noundef nonnull %7, ptr noundef nonnull byval(%struct.dim3) align 4 %4, ptr noundef nonnull byval(%struct.dim3) align 4 %3, i32 noundef 0, ptr noundef nonnull inttoptr (i64 3 to ptr)) #9, !dbg !117
  call void @llvm.lifetime.end.p0(ptr nonnull %4), !dbg !119
  call void @llvm.lifetime.end.p0(ptr nonnull %3), !dbg !119
  br label %17, !dbg !115

17:                                               ; preds = %6, %9, %2
  ret void, !dbg !120
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #6

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #7

; Function Attrs: convergent nounwind
declare dso_local ptr @__cudaCDP2GetParameterBuffer(i64 noundef, i64 noundef) local_unnamed_addr #8

; Function Attrs: convergent nounwind
declare dso_local i32 @__cudaCDP2LaunchDevice(ptr noundef, ptr noundef, ptr noundef byval(%struct.dim3) align 4, ptr noundef byval(%struct.dim3) align 4, i32 noundef, ptr noundef) local_unnamed_addr #8

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }
attributes #1 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }
attributes #2 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }
attributes #3 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" "uniform-work-group-size"="true" }
attributes #6 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #7 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" }
attributes #9 = { convergent nounwind }

!llvm.module.flags = !{!0, !1, !2, !3, !4, !5}
!llvm.dbg.cu = !{!6}
!llvm.ident = !{!8, !9}
!llvm.errno.tbaa = !{!10}
!nvvmir.version = !{!14}

!0 = !{i32 2, !"SDK Version", [2 x i32] [i32 12, i32 9]}
!1 = !{i32 7, !"Dwarf Version", i32 2}
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 1, !"wchar_size", i32 4}
!4 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !7, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly, splitDebugInlining: false, nameTableKind: None)
!7 = !DIFile(filename: "launches.cu", directory: ".")
!8 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!9 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
!10 = !{!11, !11, i64 0}
!11 = !{!"int", !12, i64 0}
!12 = !{!"omnipotent char", !13, i64 0}
!13 = !{!"Simple C++ TBAA"}
!14 = !{i32 2, i32 0}
!15 = distinct !DISubprogram(name: "child", scope: !7, file: !7, line: 7, type: !16, scopeLine: 7, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!16 = !DISubroutineType(types: !17)
!17 = !{}
!18 = !DILocation(line: 7, column: 82, scope: !15)
!19 = !{!20, !11, i64 0}
!20 = !{!"_ZTS5point", !11, i64 0, !21, i64 8, !12, i64 16}
!21 = !{!"double", !12, i64 0}
!22 = !DILocation(line: 7, column: 91, scope: !15)
!23 = !DILocation(line: 7, column: 95, scope: !15)
!24 = !DILocation(line: 7, column: 84, scope: !15)
!25 = !DILocation(line: 7, column: 93, scope: !15)
!26 = !DILocation(line: 53, column: 27, scope: !27, inlinedAt: !29)
!27 = distinct !DISubprogram(name: "__fetch_builtin_x", scope: !28, file: !28, line: 53, type: !16, scopeLine: 53, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!28 = !DIFile(filename: "/usr/lib/llvm-22/lib/clang/22/include/__clang_cuda_builtin_vars.h", directory: "")
!29 = distinct !DILocation(line: 7, column: 65, scope: !15)
!30 = !DILocation(line: 7, column: 61, scope: !15)
!31 = !DILocation(line: 7, column: 78, scope: !15)
!32 = !DILocation(line: 7, column: 98, scope: !15)
!33 = distinct !DISubprogram(name: "over", scope: !7, file: !7, line: 8, type: !16, scopeLine: 8, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!34 = !DILocation(line: 8, column: 64, scope: !33)
!35 = !{!36, !36, i64 0}
!36 = !{!"float", !12, i64 0}
!37 = !DILocation(line: 8, column: 74, scope: !33)
!38 = !DILocation(line: 8, column: 72, scope: !33)
!39 = !DILocation(line: 8, column: 57, scope: !33)
!40 = !DILocation(line: 8, column: 77, scope: !33)
!41 = distinct !DISubprogram(name: "none", scope: !7, file: !7, line: 9, type: !16, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!42 = !DILocation(line: 9, column: 25, scope: !41)
!43 = distinct !DISubprogram(name: "parent", scope: !7, file: !7, line: 18, type: !16, scopeLine: 18, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!44 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !47)
!45 = distinct !DISubprogram(name: "cudaGetParameterBuffer", scope: !46, file: !46, line: 715, type: !16, scopeLine: 716, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!46 = !DIFile(filename: "cuda/include/cuda_device_runtime_api.h", directory: "")
!47 = distinct !DILocation(line: 20, column: 5, scope: !43)
!48 = !DILocation(line: 20, column: 5, scope: !43)
!49 = !DILocation(line: 20, column: 38, scope: !43)
!50 = !{!51, !51, i64 0}
!51 = !{!"p1 int", !52, i64 0}
!52 = !{!"any pointer", !12, i64 0}
!53 = !{i64 0, i64 4, !10, i64 8, i64 8, !54, i64 16, i64 1, !55}
!54 = !{!21, !21, i64 0}
!55 = !{!12, !12, i64 0}
!56 = !{!57, !57, i64 0}
!57 = !{!"bool", !12, i64 0}
!58 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !60)
!59 = distinct !DISubprogram(name: "cudaLaunchDevice", scope: !46, file: !46, line: 801, type: !16, scopeLine: 802, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!60 = distinct !DILocation(line: 20, column: 5, scope: !43)
!61 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !60)
!62 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !63)
!63 = distinct !DILocation(line: 21, column: 5, scope: !43)
!64 = !DILocation(line: 21, column: 5, scope: !43)
!65 = !DILocation(line: 21, column: 73, scope: !43)
!66 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !67)
!67 = distinct !DILocation(line: 21, column: 5, scope: !43)
!68 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !67)
!69 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !70)
!70 = distinct !DILocation(line: 22, column: 5, scope: !43)
!71 = !DILocation(line: 22, column: 5, scope: !43)
!72 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !73)
!73 = distinct !DILocation(line: 22, column: 5, scope: !43)
!74 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !73)
!75 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !76)
!76 = distinct !DILocation(line: 23, column: 5, scope: !43)
!77 = !DILocation(line: 23, column: 5, scope: !43)
!78 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !79)
!79 = distinct !DILocation(line: 23, column: 5, scope: !43)
!80 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !79)
!81 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !82)
!82 = distinct !DILocation(line: 24, column: 5, scope: !43)
!83 = !DILocation(line: 24, column: 5, scope: !43)
!84 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !85)
!85 = distinct !DILocation(line: 24, column: 5, scope: !43)
!86 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !85)
!87 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !88)
!88 = distinct !DILocation(line: 25, column: 5, scope: !43)
!89 = !DILocation(line: 25, column: 5, scope: !43)
!90 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !91)
!91 = distinct !DILocation(line: 25, column: 5, scope: !43)
!92 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !91)
!93 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !94)
!94 = distinct !DILocation(line: 16, column: 77, scope: !95, inlinedAt: !96)
!95 = distinct !DISubprogram(name: "start<void (*)(int *, int), int *, int>", scope: !7, file: !7, line: 16, type: !16, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!96 = distinct !DILocation(line: 26, column: 5, scope: !43)
!97 = !DILocation(line: 16, column: 77, scope: !95, inlinedAt: !96)
!98 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !99)
!99 = distinct !DILocation(line: 16, column: 77, scope: !95, inlinedAt: !96)
!100 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !99)
!101 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !102)
!102 = distinct !DILocation(line: 28, column: 5, scope: !43)
!103 = !DILocation(line: 28, column: 5, scope: !43)
!104 = !DILocation(line: 27, column: 36, scope: !43)
!105 = !DILocation(line: 27, column: 34, scope: !43)
!106 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !107)
!107 = distinct !DILocation(line: 28, column: 5, scope: !43)
!108 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !107)
!109 = !DILocation(line: 29, column: 1, scope: !43)
!110 = distinct !DISubprogram(name: "down<int>", scope: !7, file: !7, line: 11, type: !16, scopeLine: 11, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!111 = !DILocation(line: 12, column: 10, scope: !110)
!112 = !DILocation(line: 13, column: 11, scope: !110)
!113 = !DILocation(line: 717, column: 12, scope: !45, inlinedAt: !114)
!114 = distinct !DILocation(line: 14, column: 9, scope: !110)
!115 = !DILocation(line: 14, column: 9, scope: !110)
!116 = !DILocation(line: 14, column: 59, scope: !110)
!117 = !DILocation(line: 803, column: 16, scope: !59, inlinedAt: !118)
!118 = distinct !DILocation(line: 14, column: 9, scope: !110)
!119 = !DILocation(line: 803, column: 9, scope: !59, inlinedAt: !118)
!120 = !DILocation(line: 15, column: 1, scope: !110)
