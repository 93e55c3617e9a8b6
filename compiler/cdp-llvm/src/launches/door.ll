; The door of a warp to the device runtime: `door.rs` says what it is for. How lanes enter stands in `queue_made.ll`.

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
