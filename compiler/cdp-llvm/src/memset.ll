; Device-side memset. NVIDIA's library ignores the value, so cdp launches this kernel instead, into the
; stream that the program names. The helpers are called by lower/runtime.rs; @cdp.launch is replaced
; by the launch ABI's own sequence (foreign.rs).

declare i32 @cdp.launch(...)
; The library's cudaMemsetAsync, by the name that it has under the launch ABI.
declare i32 @__cdp_memset_of_library(ptr, i32, i64, ptr)
declare i1 @llvm.nvvm.isspacep.local(ptr)
declare i1 @llvm.nvvm.isspacep.shared(ptr)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i64 @llvm.umin.i64(i64, i64)

; Rows go over the grid's y, bytes of a row over its x: 16 at a time where the row is aligned.
define weak_odr ptx_kernel void @__cdp_memset(ptr %dst, i64 %pitch, i64 %slice, i32 %value, i64 %width, i64 %height, i64 %rows) #0 {
entry:
  %byte = trunc i32 %value to i8
  %wide = zext i8 %byte to i32
  %word = mul i32 %wide, 16843009
  %lane0 = insertelement <4 x i32> poison, i32 %word, i32 0
  %vector = shufflevector <4 x i32> %lane0, <4 x i32> poison, <4 x i32> zeroinitializer
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %before = mul i32 %block, %threads
  %index32 = add i32 %before, %tid
  %index = zext i32 %index32 to i64
  %step32 = mul i32 %blocks, %threads
  %step = zext i32 %step32 to i64
  %row0.32 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row0 = zext i32 %row0.32 to i64
  %rowstep32 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %rowstep = zext i32 %rowstep32 to i64
  br label %rowtest

rowtest:
  %row = phi i64 [ %row0, %entry ], [ %row.next, %rowdone ]
  %more = icmp ult i64 %row, %rows
  br i1 %more, label %rowstart, label %done

rowstart:
  %z = udiv i64 %row, %height
  %y = urem i64 %row, %height
  %zoff = mul i64 %z, %slice
  %yoff = mul i64 %y, %pitch
  %off = add i64 %zoff, %yoff
  %base = getelementptr i8, ptr %dst, i64 %off
  %address = ptrtoint ptr %base to i64
  %low = and i64 %address, 15
  %aligned = icmp eq i64 %low, 0
  %whole = and i64 %width, -16
  %vectored = select i1 %aligned, i64 %whole, i64 0
  %vfirst = shl i64 %index, 4
  %vstep = shl i64 %step, 4
  br label %vtest

vtest:
  %v = phi i64 [ %vfirst, %rowstart ], [ %v.next, %vbody ]
  %vmore = icmp ult i64 %v, %vectored
  br i1 %vmore, label %vbody, label %bstart

vbody:
  %vat = getelementptr i8, ptr %base, i64 %v
  store <4 x i32> %vector, ptr %vat, align 16
  %v.next = add i64 %v, %vstep
  br label %vtest

bstart:
  %bfirst = add i64 %vectored, %index
  br label %btest

btest:
  %b = phi i64 [ %bfirst, %bstart ], [ %b.next, %bbody ]
  %bmore = icmp ult i64 %b, %width
  br i1 %bmore, label %bbody, label %rowdone

bbody:
  %bat = getelementptr i8, ptr %base, i64 %b
  store i8 %byte, ptr %bat, align 1
  %b.next = add i64 %b, %step
  br label %btest

rowdone:
  %row.next = add i64 %row, %rowstep
  br label %rowtest

done:
  ret void
}

define internal i32 @__cdp_memset_3d(ptr %dst, i64 %pitch, i64 %ysize, i32 %value, i64 %width, i64 %height, i64 %depth, ptr %stream) #1 {
entry:
  %rows = mul i64 %height, %depth
  %bytes = mul i64 %rows, %width
  %none = icmp eq i64 %bytes, 0
  br i1 %none, label %nothing, label %check

nothing:
  ret i32 0

check:
  %local = call i1 @llvm.nvvm.isspacep.local(ptr %dst)
  %shared = call i1 @llvm.nvvm.isspacep.shared(ptr %dst)
  %private = or i1 %local, %shared
  %null = icmp eq ptr %dst, null
  ; Rows that overlap, then slices that do.
  %narrow = icmp ult i64 %pitch, %width
  %several = icmp ugt i64 %rows, 1
  %lying = and i1 %narrow, %several
  %low = icmp ult i64 %ysize, %height
  %deep = icmp ugt i64 %depth, 1
  %standing = and i1 %low, %deep
  %overlap = or i1 %lying, %standing
  %nowhere = or i1 %private, %null
  %refused = or i1 %nowhere, %overlap
  br i1 %refused, label %wrong, label %go

; The device runtime refuses this as well, and remembers it as the thread's last error.
wrong:
  %told = call i32 @__cdp_memset_of_library(ptr null, i32 0, i64 1, ptr null)
  ret i32 1

go:
  %slice = mul i64 %pitch, %ysize
  %over = add i64 %width, 4095
  %wanted = lshr i64 %over, 12
  %gx64 = call i64 @llvm.umin.i64(i64 %wanted, i64 4096)
  %gx = trunc i64 %gx64 to i32
  %gy64 = call i64 @llvm.umin.i64(i64 %rows, i64 65535)
  %gy = trunc i64 %gy64 to i32
  %error = call i32 (...) @cdp.launch(ptr @__cdp_memset, i32 %gx, i32 %gy, i32 1, i32 256, i32 1, i32 1, i32 0, ptr %stream, ptr %dst, i64 %pitch, i64 %slice, i32 %value, i64 %width, i64 %height, i64 %rows)
  ; The configuration and the buffer are right: what is invalid (1) is the stream, of which NVIDIA's says 999.
  %stranger = icmp eq i32 %error, 1
  %result = select i1 %stranger, i32 999, i32 %error
  ret i32 %result
}

%pitched = type { ptr, i64, i64, i64 }
%extent = type { i64, i64, i64 }

; cudaMemset3DAsync as CUDA's headers declare it.
define internal i32 @__cdp_memset_box(ptr byval(%pitched) align 8 %place, i32 %value, ptr byval(%extent) align 8 %size, ptr %stream) #1 {
entry:
  %dst = load ptr, ptr %place, align 8
  %pitch.at = getelementptr inbounds %pitched, ptr %place, i64 0, i32 1
  %pitch = load i64, ptr %pitch.at, align 8
  %ysize.at = getelementptr inbounds %pitched, ptr %place, i64 0, i32 3
  %ysize = load i64, ptr %ysize.at, align 8
  %width = load i64, ptr %size, align 8
  %height.at = getelementptr inbounds %extent, ptr %size, i64 0, i32 1
  %height = load i64, ptr %height.at, align 8
  %depth.at = getelementptr inbounds %extent, ptr %size, i64 0, i32 2
  %depth = load i64, ptr %depth.at, align 8
  %error = call i32 @__cdp_memset_3d(ptr %dst, i64 %pitch, i64 %ysize, i32 %value, i64 %width, i64 %height, i64 %depth, ptr %stream)
  ret i32 %error
}

define internal i32 @__cdp_memset_2d(ptr %dst, i64 %pitch, i32 %value, i64 %width, i64 %height, ptr %stream) #1 {
  %error = call i32 @__cdp_memset_3d(ptr %dst, i64 %pitch, i64 %height, i32 %value, i64 %width, i64 %height, i64 1, ptr %stream)
  ret i32 %error
}

define internal i32 @__cdp_memset_1d(ptr %dst, i32 %value, i64 %count, ptr %stream) #1 {
  %error = call i32 @__cdp_memset_3d(ptr %dst, i64 %count, i64 1, i32 %value, i64 %count, i64 1, i64 1, ptr %stream)
  ret i32 %error
}

attributes #0 = { nounwind "nvvm.maxntid"="256" }
attributes #1 = { nounwind }
