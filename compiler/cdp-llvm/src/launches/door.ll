; The door of a warp to the device runtime: `door.rs` says what it is for.

@__cdp_door = internal addrspace(1) global [16384 x i32] zeroinitializer, align 4

; Waits until no other lane of this warp is behind the door. Yields what is given back; a warp that is moved to another place
; meanwhile has its door with it. What one lane knows is not passed on to the next: neither fence nor cache is asked.
define internal ptr addrspace(1) @__cdp_door_enter() noinline nounwind {
entry:
  %multiprocessor = call i32 @llvm.nvvm.read.ptx.sreg.smid()
  %warp = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  %before = shl i32 %multiprocessor, 6
  %number = add i32 %before, %warp
  %nth = and i32 %number, 16383
  %wide = zext i32 %nth to i64
  %door = getelementptr i32, ptr addrspace(1) @__cdp_door, i64 %wide
  br label %try
try:
  %was = atomicrmw xchg ptr addrspace(1) %door, i32 1 syncscope("device") monotonic, align 4
  %free = icmp eq i32 %was, 0
  br i1 %free, label %entered, label %wait
wait:
  call void @llvm.nvvm.nanosleep(i32 200)
  br label %try
entered:
  ret ptr addrspace(1) %door
}

define internal void @__cdp_door_leave(ptr addrspace(1) %door) alwaysinline nounwind {
entry:
  store atomic i32 0, ptr addrspace(1) %door syncscope("device") monotonic, align 4
  ret void
}

; Whether all lanes that this warp has are in `mask`, so that none can be behind the door.
define internal i1 @__cdp_door_whole(i32 %mask) alwaysinline nounwind {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %wide = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %high = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %deep = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %planes = mul i32 %z, %high
  %row = add i32 %planes, %y
  %rows = mul i32 %row, %wide
  %thread = add i32 %rows, %x
  %first = and i32 %thread, -32
  %plane = mul i32 %wide, %high
  %threads = mul i32 %plane, %deep
  %rest = sub i32 %threads, %first
  %lanes = call i32 @llvm.umin.i32(i32 %rest, i32 32)
  %here = call i32 @llvm.ctpop.i32(i32 %mask)
  %whole = icmp eq i32 %here, %lanes
  ret i1 %whole
}
