; What warps do with a pool of children once, the same for every program: `pool/mod.rs` says what it is for and why it is
; right. `pool.ptx` is made of this file, by a test.
;
; The memory: 0 when it may be used again (%globaltimer), 64 the slots. A slot: 0 word, 8 owner, 24 sum of threads (64 bits each), 16 number of records (32 bits), 64 the records. The word counts the
; warps that are in it; bit 62 says that it is being given to another grid. Of all records that were there before, all is taken.

target triple = "nvptx64-nvidia-cuda"

declare void @llvm.nvvm.nanosleep(i32)
declare i64 @llvm.nvvm.read.ptx.sreg.globaltimer()

; Brings a warp of this grid into the slot that is the grid's; when there is none, %wants one. Yields null without.
define ptr @__cdp_pool_enter(ptr addrspace(1) %memory, i64 %stride, i1 %wants) noinline nounwind {
begin:
  br i1 %wants, label %ask, label %entry
ask:
  %until = load atomic i64, ptr addrspace(1) %memory syncscope("device") monotonic, align 8
  %now = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
  %too.early = icmp ult i64 %now, %until
  br i1 %too.early, label %none, label %entry
entry:
  %grid = call i64 asm "mov.u64 $0, %gridid;", "=l"()
  %me = xor i64 %grid, 4611686018427387904
  %mixed = mul i64 %me, -7046029254386353131
  %nth = lshr i64 %mixed, 60
  %at = mul i64 %nth, %stride
  %behind = add i64 %at, 64
  %slot.global = getelementptr i8, ptr addrspace(1) %memory, i64 %behind
  %slot = addrspacecast ptr addrspace(1) %slot.global to ptr
  %owner.place = getelementptr i8, ptr %slot, i64 8
  %count.place = getelementptr i8, ptr %slot, i64 16
  %sum.place = getelementptr i8, ptr %slot, i64 24
  br label %look
look:
  %tries = phi i32 [ 0, %entry ], [ %tries.next, %wait ]
  %word = load atomic i64, ptr %slot syncscope("device") monotonic, align 8
  %owner = load atomic i64, ptr %owner.place syncscope("device") monotonic, align 8
  %free = icmp eq i64 %word, 0
  br i1 %free, label %empty, label %taken
empty:
  br i1 %wants, label %claim, label %none
claim:
  %pair = cmpxchg ptr %slot, i64 0, i64 4611686018427387904 syncscope("device") monotonic monotonic, align 8
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %open, label %again
open:
  store atomic i64 %me, ptr %owner.place syncscope("device") monotonic, align 8
  store atomic i32 0, ptr %count.place syncscope("device") monotonic, align 4
  store atomic i64 0, ptr %sum.place syncscope("device") monotonic, align 8
  fence syncscope("device") acq_rel
  ; Others may have come and gone meanwhile.
  %opened = atomicrmw add ptr %slot, i64 -4611686018427387903 syncscope("device") monotonic, align 8
  br label %done
taken:
  %mine = icmp eq i64 %owner, %me
  br i1 %mine, label %join, label %shut
join:
  %before = atomicrmw add ptr %slot, i64 1 syncscope("device") monotonic, align 8
  %some = icmp ne i64 %before, 0
  %steady = icmp ult i64 %before, 4611686018427387904
  %there = and i1 %some, %steady
  fence syncscope("device") acq_rel
  %owner.now = load atomic i64, ptr %owner.place syncscope("device") monotonic, align 8
  %still = icmp eq i64 %owner.now, %me
  %joined = and i1 %there, %still
  br i1 %joined, label %done, label %undo
undo:
  %undone = atomicrmw add ptr %slot, i64 -1 syncscope("device") monotonic, align 8
  br label %again
shut:
  ; It may be on its way to this grid.
  %moving = icmp uge i64 %word, 4611686018427387904
  br i1 %moving, label %again, label %none
again:
  %patient = icmp ult i32 %tries, 64
  %goes = and i1 %patient, %wants
  br i1 %goes, label %wait, label %none
wait:
  call void @llvm.nvvm.nanosleep(i32 100)
  %tries.next = add i32 %tries, 1
  br label %look
done:
  ret ptr %slot
none:
  ret ptr null
}

; The warp is done with all records that there were. It came at %began, or only to help (0). If that took longer than a
; launch, the grids of a while do without.
define void @__cdp_pool_leave(ptr addrspace(1) %memory, ptr %slot, i64 %began) noinline nounwind {
entry:
  fence syncscope("device") acq_rel
  %before = atomicrmw add ptr %slot, i64 -1 syncscope("device") monotonic, align 8
  %helped = icmp eq i64 %began, 0
  br i1 %helped, label %done, label %look
look:
  %now = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
  %took = sub i64 %now, %began
  %long = icmp ugt i64 %took, 30000
  br i1 %long, label %tell, label %done
tell:
  %while = mul i64 %took, 128
  %until = add i64 %now, %while
  store atomic i64 %until, ptr addrspace(1) %memory syncscope("device") monotonic, align 8
  br label %done
done:
  ret void
}
