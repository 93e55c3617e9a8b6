; The functions of launches that keep their order: `sequence.rs` says what they are for and why they are right. They
; are the same for every program, which brings what they work with: `sequence.ptx` is made of this file, by a test.
;
; %order is a block's state, in shared memory (`__cdp_order`): 0 lock, 4 whether a child was really launched (1; 5: and
; none was run or could have been; 2: all others are launched as written; 3: all are, and none was recorded), 8 threads that came to their end, in a grid that runs records whether the last list was handed over, 12 number of records, 16 first chunk, 24 last chunk,
; 32 a chunk that the block keeps for its next records, 40 the chunk of which each block of the grid has a record, or null.
;
; 4 is written by atomic operations, since sites look at it without the lock.
;
; %head is the module's, in global memory (`__cdp_sequence_head`): 0 the list of free chunks (in the upper half how often
; one was taken from it, below it the first's number and 1), 8 the number of chunks that were ever taken, 12 of all
; chunks, 16 bytes of a record, 20 the most blocks that have their turn, 24 the chunks, 32 the cycles that a block of
; kernel number n took lately, at n % 64, 288 the number of grids that others handed over and that are not complete.
;
; A chunk: 0 the next chunk, or in the list of free ones the number of the next and 1, written by atomic operations, since who
; takes a chunk looks there while another may have taken it; 8 the record with which it goes on
; behind the list that the chunk is of, 16 how many are left from there, 8 null where nothing does; 20 how many launches
; wait where the list is run in its order, those of the lists that it is in too; then, from 32 on, 32
; records. A record: 0 kernel, 8 the kernel that runs it in its turn, 16 grid, 28 block, 40 shared bytes, 44 whose turn it is (0:
; it is launched; with the highest bit: it and all below it may run in any order, and have its shape), 48 bytes of arguments,
; with 1 << 18 if its kernel launches, 52 its number in the chunk, 56 the chunk, 64 the arguments. 0 is when it began, once it
; runs.
;
; A chunk of records that may run in any order can be handed over to a grid, each block of which has one of them. Then it
; has in 8 the chunk of the block that did that, or null, in 24 the number of its blocks that have not ended and of grids that
; they handed chunks over to, and in 28 whether the grid counts among those of %head.

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.activemask()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.eq()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.umin.i32(i32, i32)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare ptr @__cdp_get_buffer(ptr, [3 x i32], [3 x i32], i32)
declare i32 @__cdp_launch_buffer(ptr, ptr)

; Makes a block's state ready, before anything of the block. A block of one thread has nobody to share a launch with, and
; launches as written unless (%alone) what it launches launches in its turn.
define void @__cdp_sequence_begin(ptr addrspace(3) %order, i32 %alone) noinline convergent nounwind {
entry:
  %order.4 = getelementptr i8, ptr addrspace(3) %order, i64 4
  %order.8 = getelementptr i8, ptr addrspace(3) %order, i64 8
  %order.16 = getelementptr i8, ptr addrspace(3) %order, i64 16
  %order.24 = getelementptr i8, ptr addrspace(3) %order, i64 24
  %order.32 = getelementptr i8, ptr addrspace(3) %order, i64 32
  %order.40 = getelementptr i8, ptr addrspace(3) %order, i64 40
  ; The block may have done another's work before.
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %xy = or i32 %x, %y
  %xyz = or i32 %xy, %z
  %first = icmp eq i32 %xyz, 0
  br i1 %first, label %clear, label %done
clear:
  %sx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %sy = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %sz = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %sxy = mul i32 %sx, %sy
  %sxyz = mul i32 %sxy, %sz
  %single = icmp eq i32 %sxyz, 1
  %shares = icmp eq i32 %alone, 0
  %unshared = and i1 %single, %shares
  %mode = select i1 %unshared, i32 3, i32 0
  store volatile i32 0, ptr addrspace(3) %order, align 4
  store volatile i32 %mode, ptr addrspace(3) %order.4, align 4
  store volatile i64 0, ptr addrspace(3) %order.8, align 8
  store volatile i64 0, ptr addrspace(3) %order.16, align 8
  store volatile i64 0, ptr addrspace(3) %order.24, align 8
  store volatile i64 0, ptr addrspace(3) %order.32, align 8
  store volatile i64 0, ptr addrspace(3) %order.40, align 8
  br label %done
done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; The lanes %mask come to a launch, and each has a child of %work threads, or (-1) one that must be launched. Which of them
; have one that they run, all together, one after another; the lock is theirs until `__cdp_sequence_leave` then. What
; that wants to know: 1 a child that may be run, 2 one that is launched, 4 one of the block's was, 8 nobody has any. When
; they have run for too long.
;
; %model: by how much the parent's threads are shifted to the most steps of a child (8 bits), these and the lanes (8 bits),
; the least (16 bits), the most of the first and of the second where all lanes are here (16 bits each). %limits: the most threads of a child, or -1
; for what the model says; from bit 32 on the cycles for each launch of the device's blocks and 1, 0 where no time is
; taken.
define { i32, i32, i64 } @__cdp_sequence_enter(ptr addrspace(3) %order, i32 %mask, i32 %work, i64 %model, i64 %limits) noinline convergent nounwind {
entry:
  %order.4 = getelementptr i8, ptr addrspace(3) %order, i64 4
  %px = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %py = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %pz = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
  %px.wide = zext i32 %px to i64
  %py.wide = zext i32 %py to i64
  %pz.wide = zext i32 %pz to i64
  %pxy = mul i64 %px.wide, %py.wide
  %blocks = mul i64 %pxy, %pz.wide
  %sx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %sy = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %sz = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %sxy = mul i32 %sx, %sy
  %size = mul i32 %sxy, %sz
  %size.wide = zext i32 %size to i64
  %parents = mul i64 %blocks, %size.wide
  ; How many threads a child may have.
  %lanes = call i32 @llvm.ctpop.i32(i32 %mask)
  %lanes.wide = zext i32 %lanes to i64
  %shift = and i64 %model, 63
  %model.8 = lshr i64 %model, 8
  %shift.all = and i64 %model.8, 63
  %model.16 = lshr i64 %model, 16
  %least = and i64 %model.16, 65535
  %model.32 = lshr i64 %model, 32
  %most = and i64 %model.32, 65535
  %most.all = lshr i64 %model, 48
  %own.0 = lshr i64 %parents, %shift
  %own.1 = call i64 @llvm.umin.i64(i64 %own.0, i64 %most)
  ; A real launch has all later ones of the block launched: how many that are, the lanes that are here tell.
  %all.0 = mul i64 %parents, %lanes.wide
  %all.1 = lshr i64 %all.0, %shift.all
  %most.lanes.0 = mul i64 %most.all, %lanes.wide
  %most.lanes = lshr i64 %most.lanes.0, 5
  %all.2 = call i64 @llvm.umin.i64(i64 %all.1, i64 %most.lanes)
  %steps.0 = call i64 @llvm.umax.i64(i64 %own.1, i64 %all.2)
  %steps = call i64 @llvm.umax.i64(i64 %steps.0, i64 %least)
  %limit.0 = mul i64 %steps, %lanes.wide
  %limit.1 = trunc i64 %limit.0 to i32
  %stated = trunc i64 %limits to i32
  %by.model = icmp eq i32 %stated, -1
  %limit = select i1 %by.model, i32 %limit.1, i32 %stated
  %fits = icmp ne i32 %work, -1
  %little = icmp ule i32 %work, %limit
  %small = and i1 %fits, %little
  %large = xor i1 %small, true
  %some = icmp ne i32 %work, 0
  %child = and i1 %small, %some
  %any = or i1 %child, %large
  %votes.launching = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %any)
  %launching = and i32 %votes.launching, %mask
  %nobody = icmp eq i32 %launching, 0
  br i1 %nobody, label %none, label %take
none:
  ret { i32, i32, i64 } { i32 0, i32 8, i64 0 }
take:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %lead, label %locked
lead:
  call void @__cdp_sequence_lock(ptr addrspace(3) %order)
  br label %locked
locked:
  fence syncscope("block") acq_rel
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  ; What launching the children of this warp would take: the launches of the whole device wait for each other, so those
  ; of each block that is there count, of 1 << 18 threads at most.
  %room = udiv i32 262144, %size
  %room.wide = zext i32 %room to i64
  %at.once.0 = call i64 @llvm.umin.i64(i64 %blocks, i64 %room.wide)
  %at.once = add i64 %at.once.0, 1
  %count = call i32 @llvm.ctpop.i32(i32 %launching)
  %count.wide = zext i32 %count to i64
  %launches = mul i64 %at.once, %count.wide
  %taken = lshr i64 %limits, 32
  %pace = sub i64 %taken, 1
  %budget = mul i64 %launches, %pace
  %began = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %ends = add i64 %began, %budget
  %timeless = icmp eq i64 %taken, 0
  %deadline = select i1 %timeless, i64 -1, i64 %ends
  %flag = load volatile i32, ptr addrspace(3) %order.4, align 4
  %late = icmp ne i32 %flag, 0
  %early = xor i1 %late, true
  %run = and i1 %child, %early
  %votes.waiting = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %run)
  %waiting = and i32 %votes.waiting, %mask
  %bit.child = zext i1 %child to i32
  %bit.large = select i1 %large, i32 2, i32 0
  %bit.late = select i1 %late, i32 4, i32 0
  %bits = or i32 %bit.child, %bit.large
  %state = or i32 %bits, %bit.late
  %out.0 = insertvalue { i32, i32, i64 } poison, i32 %waiting, 0
  %out.1 = insertvalue { i32, i32, i64 } %out.0, i32 %state, 1
  %out = insertvalue { i32, i32, i64 } %out.1, i64 %deadline, 2
  ret { i32, i32, i64 } %out
}

; The lanes %mask have run what they run; %unserved are those whose children were left over. Gives the lock back. Whether
; the lane's child is to be launched.
define i32 @__cdp_sequence_leave(ptr addrspace(3) %order, i32 %mask, i32 %state, i32 %unserved, i64 %deadline) noinline convergent nounwind {
entry:
  %order.4 = getelementptr i8, ptr addrspace(3) %order, i64 4
  %nobody = icmp eq i32 %state, 8
  br i1 %nobody, label %none, label %some
none:
  ret i32 0
some:
  %large.bit = and i32 %state, 2
  %large = icmp ne i32 %large.bit, 0
  %votes.all.large = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %large)
  %all.large = and i32 %votes.all.large, %mask
  %small.bit = and i32 %state, 1
  %small = icmp ne i32 %small.bit, 0
  %votes.all.small = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %small)
  %all.small = and i32 %votes.all.small, %mask
  %some.small = icmp ne i32 %all.small, 0
  %sign = select i1 %some.small, i32 1, i32 5
  %launched.0 = or i32 %all.large, %unserved
  %launched.1 = icmp ne i32 %launched.0, 0
  %now = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %slow = icmp ugt i64 %now, %deadline
  %launched = or i1 %launched.1, %slow
  %late.bit = and i32 %state, 4
  %early = icmp eq i32 %late.bit, 0
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %lead, label %left
lead:
  %marks = and i1 %launched, %early
  br i1 %marks, label %mark, label %unlock
mark:
  store atomic i32 %sign, ptr addrspace(3) %order.4 syncscope("block") monotonic, align 4
  br label %unlock
unlock:
  call void @__cdp_sequence_unlock(ptr addrspace(3) %order)
  br label %left
left:
  ; Its own is large, came late, or was left over.
  %late = lshr exact i32 %late.bit, 2
  %missed = and i32 %state, %late
  %over.0 = lshr i32 %unserved, %lane
  %over = and i32 %over.0, 1
  %really.0 = or i32 %missed, %over
  %really = or i32 %really.0, %large.bit
  ret i32 %really
}

; Launches of the lanes that come here, each as %site says, which is like a record, but for 44 the kernel's number and 52
; what is to be known of it: the most threads of its blocks, 1 << 16 if its threads have loops, 1 << 17 if it asks for its
; grid's y or z, 1 << 18 if it launches, 1 << 19 if each lane comes for itself alone. They are recorded, or launched as written.
define void @__cdp_sequence_record(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %site) noinline convergent nounwind {
entry:
  %site.52 = getelementptr i8, ptr %site, i64 52
  %facts = load i32, ptr %site.52, align 4
  %lone.bit = and i32 %facts, 524288
  %lone = icmp ne i32 %lone.bit, 0
  %order.4 = getelementptr i8, ptr addrspace(3) %order, i64 4
  %mode = load atomic i32, ptr addrspace(3) %order.4 syncscope("block") monotonic, align 4
  %is.written = icmp eq i32 %mode, 3
  %together = xor i1 %lone, true
  %at.once = and i1 %is.written, %together
  br i1 %at.once, label %each, label %look
look:
  %mask.here = call i32 @llvm.nvvm.activemask()
  %site.16 = getelementptr i8, ptr %site, i64 16
  %site.32 = getelementptr i8, ptr %site, i64 32
  %site.48 = getelementptr i8, ptr %site, i64 48
  %quad.0 = load <4 x i32>, ptr %site, align 16
  %quad.1 = load <4 x i32>, ptr %site.16, align 16
  %quad.2 = load <4 x i32>, ptr %site.32, align 16
  %bytes = load i32, ptr %site.48, align 16
  %gx = extractelement <4 x i32> %quad.1, i32 0
  %gy = extractelement <4 x i32> %quad.1, i32 1
  %gz = extractelement <4 x i32> %quad.1, i32 2
  %bx = extractelement <4 x i32> %quad.1, i32 3
  %by = extractelement <4 x i32> %quad.2, i32 0
  %bz = extractelement <4 x i32> %quad.2, i32 1
  %shared = extractelement <4 x i32> %quad.2, i32 2
  %number = extractelement <4 x i32> %quad.2, i32 3
  %mask.own = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.eq()
  %mask = select i1 %lone, i32 %mask.own, i32 %mask.here
  ; Would the launches succeed, of grids that are not too large to look at?
  %deep.bit = and i32 %facts, 131072
  %deep = icmp ne i32 %deep.bit, 0
  %most.deep = select i1 %deep, i32 65535, i32 1
  %most.narrow = and i32 %facts, 65535
  %most = zext i32 %most.narrow to i64
  %gx.less = sub i32 %gx, 1
  %gy.less = sub i32 %gy, 1
  %gz.less = sub i32 %gz, 1
  %bx.less = sub i32 %bx, 1
  %by.less = sub i32 %by, 1
  %bz.less = sub i32 %bz, 1
  %fits.1 = icmp ult i32 %gx.less, 1048576
  %fits.2 = icmp ult i32 %gy.less, %most.deep
  %fits.3 = icmp ult i32 %gz.less, %most.deep
  %fits.4 = icmp ult i32 %bx.less, 1024
  %fits.5 = icmp ult i32 %by.less, 1024
  %fits.6 = icmp ult i32 %bz.less, 64
  %fits.7 = icmp ule i32 %shared, 49152
  %gx.wide = zext i32 %gx to i64
  %gy.wide = zext i32 %gy to i64
  %gz.wide = zext i32 %gz to i64
  %gxy = mul i64 %gx.wide, %gy.wide
  %blocks = mul i64 %gxy, %gz.wide
  %bx.wide = zext i32 %bx to i64
  %by.wide = zext i32 %by to i64
  %bz.wide = zext i32 %bz to i64
  %bxy = mul i64 %bx.wide, %by.wide
  %threads = mul i64 %bxy, %bz.wide
  %fits.8 = icmp ule i64 %blocks, 1048576
  %fits.9 = icmp ule i64 %threads, %most
  %fits.12 = and i1 %fits.1, %fits.2
  %fits.34 = and i1 %fits.3, %fits.4
  %fits.56 = and i1 %fits.5, %fits.6
  %fits.78 = and i1 %fits.7, %fits.8
  %fits.14 = and i1 %fits.12, %fits.34
  %fits.58 = and i1 %fits.56, %fits.78
  %fits.18 = and i1 %fits.14, %fits.58
  %fits = and i1 %fits.18, %fits.9
  %votes.good = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %fits)
  %good = and i32 %votes.good, %mask
  %all = icmp eq i32 %good, %mask
  br i1 %all, label %ask, label %odd
odd:
  call void @__cdp_sequence_stop(ptr addrspace(1) %head, ptr addrspace(3) %order, i32 %mask)
  br label %written
ask:
  ; Whose turn it is: the more blocks of the parent's there are, the longer their launches wait for each other, and the
  ; less is left of the device for the blocks of a child.
  %px = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %py = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %pz = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
  %px.wide = zext i32 %px to i64
  %py.wide = zext i32 %py to i64
  %pz.wide = zext i32 %pz to i64
  %pxy = mul i64 %px.wide, %py.wide
  %parents = mul i64 %pxy, %pz.wide
  %loop.bit = and i32 %facts, 65536
  %loops = icmp ne i32 %loop.bit, 0
  %shift = select i1 %loops, i64 4, i64 2
  %part = lshr i64 %parents, %shift
  %limit.place = getelementptr i8, ptr addrspace(1) %head, i64 20
  %limit.narrow = load i32, ptr addrspace(1) %limit.place, align 4
  %limit = zext i32 %limit.narrow to i64
  %at.most = call i64 @llvm.umin.i64(i64 %part, i64 %limit)
  %turns.0 = call i64 @llvm.umax.i64(i64 %at.most, i64 1)
  ; What the blocks of a child launch is not ordered with each other: one that runs several is to make up for that by the
  ; launches alone.
  %nest.bit = and i32 %facts, 262144
  %nests = icmp ne i32 %nest.bit, 0
  %turns.most = select i1 %nests, i64 4, i64 %turns.0
  %turns = call i64 @llvm.umin.i64(i64 %turns.0, i64 %turns.most)
  %few = icmp ule i64 %blocks, %turns
  ; The children of a few blocks' threads that are all too large to have a turn would be launched one by one later, which
  ; takes longer.
  %votes.some.few = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %few)
  %some.few = and i32 %votes.some.few, %mask
  %all.many = icmp eq i32 %some.few, 0
  %few.parents = icmp ule i64 %parents, 8
  %bare = xor i1 %nests, true
  %heavy.0 = and i1 %all.many, %few.parents
  %heavy = and i1 %heavy.0, %bare
  %record = call ptr @__cdp_sequence_reserve(ptr addrspace(1) %head, ptr addrspace(3) %order, i32 %mask, i1 %heavy)
  %none = icmp eq ptr %record, null
  br i1 %none, label %written, label %fill
written:
  br i1 %lone, label %one, label %each
one:
  ; The device runtime has one lane of the block at a time (`door.rs` says why).
  call void @__cdp_sequence_lock(ptr addrspace(3) %order)
  call void @__cdp_sequence_launch(ptr %site, ptr null)
  call void @__cdp_sequence_unlock(ptr addrspace(3) %order)
  ret void
each:
  call void @__cdp_sequence_launch(ptr %site, ptr null)
  ret void
fill:
  %turn = select i1 %few, i32 %number, i32 0
  %quad.turn = insertelement <4 x i32> %quad.2, i32 %turn, i32 3
  %record.16 = getelementptr i8, ptr %record, i64 16
  %record.32 = getelementptr i8, ptr %record, i64 32
  %record.48 = getelementptr i8, ptr %record, i64 48
  store <4 x i32> %quad.0, ptr %record, align 16
  store <4 x i32> %quad.1, ptr %record.16, align 16
  store <4 x i32> %quad.turn, ptr %record.32, align 16
  %bytes.nest = or i32 %bytes, %nest.bit
  store i32 %bytes.nest, ptr %record.48, align 16
  %bytes.wide = zext i32 %bytes to i64
  %end = add i64 %bytes.wide, 64
  br label %copy
copy:
  ; Both have room for whole pieces of 16 bytes.
  %at = phi i64 [ 64, %fill ], [ %at.next, %piece ]
  %more = icmp ult i64 %at, %end
  br i1 %more, label %piece, label %filled
piece:
  %from = getelementptr i8, ptr %site, i64 %at
  %to = getelementptr i8, ptr %record, i64 %at
  %quad = load <4 x i32>, ptr %from, align 16
  store <4 x i32> %quad, ptr %to, align 16
  %at.next = add i64 %at, 16
  br label %copy
filled:
  fence syncscope("device") acq_rel
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %unlock, label %done
unlock:
  call void @__cdp_sequence_unlock(ptr addrspace(3) %order)
  br label %done
done:
  ret void
}

; A thread comes to its end; the block's last launches what was recorded.
define void @__cdp_sequence_end(ptr addrspace(1) %head, ptr addrspace(3) %order) noinline convergent nounwind {
entry:
  %order.8 = getelementptr i8, ptr addrspace(3) %order, i64 8
  %mask = call i32 @llvm.nvvm.activemask()
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %arrive, label %done
arrive:
  %count = call i32 @llvm.ctpop.i32(i32 %mask)
  fence syncscope("block") acq_rel
  %before = atomicrmw add ptr addrspace(3) %order.8, i32 %count syncscope("block") monotonic, align 4
  fence syncscope("block") acq_rel
  %after = add i32 %before, %count
  %x = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %xy = mul i32 %x, %y
  %xyz = mul i32 %xy, %z
  %is.last = icmp eq i32 %after, %xyz
  br i1 %is.last, label %flush, label %done
flush:
  call void @__cdp_sequence_flush(ptr addrspace(1) %head, ptr addrspace(3) %order)
  br label %done
done:
  ret void
}

; The record that comes first (%moves is 0), or the one behind %record, if it has its turn in the kernel that asks, all
; threads of a block of which come here: the kernel is number %number, and runs blocks like those of %record. With how many
; are left of its list; null where no record is left, or others run what is. %moves has 2 in it where the kernel launches:
; what its block recorded comes before all that is behind %record, as children belong to the grid that launched them.
define { ptr, i32 } @__cdp_sequence_step(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %record, i32 %left, i32 %number, i32 %moves) noinline convergent nounwind {
entry:
  %next = call { ptr, i32 } @__cdp_sequence_move(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %record, i32 %left, i32 %number, i32 %moves, i1 false)
  ret { ptr, i32 } %next
}

; The same in a kernel whose grids may run in any order: what the block recorded may be handed over to others instead. %left is
; below 0 where each block of the grid has a record of its own, counted from %record on when they begin.
define { ptr, i32 } @__cdp_sequence_step_apart(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %record, i32 %left, i32 %number, i32 %moves) noinline convergent nounwind {
entry:
  %next = call { ptr, i32 } @__cdp_sequence_move(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %record, i32 %left, i32 %number, i32 %moves, i1 true)
  ret { ptr, i32 } %next
}

define internal { ptr, i32 } @__cdp_sequence_move(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %record, i32 %left, i32 %number, i32 %moves, i1 %free) alwaysinline convergent nounwind {
entry:
  %order.4 = getelementptr i8, ptr addrspace(3) %order, i64 4
  %order.8 = getelementptr i8, ptr addrspace(3) %order, i64 8
  %order.12 = getelementptr i8, ptr addrspace(3) %order, i64 12
  %order.16 = getelementptr i8, ptr addrspace(3) %order, i64 16
  %order.24 = getelementptr i8, ptr addrspace(3) %order, i64 24
  %order.32 = getelementptr i8, ptr addrspace(3) %order, i64 32
  %order.40 = getelementptr i8, ptr addrspace(3) %order, i64 40
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %xy = or i32 %x, %y
  %xyz = or i32 %xy, %z
  %first = icmp eq i32 %xyz, 0
  %own.left = icmp slt i32 %left, 0
  %own = and i1 %own.left, %free
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %shared.place = getelementptr i8, ptr %record, i64 40
  %shared = load i32, ptr %shared.place, align 4
  %nest.bit = and i32 %moves, 2
  %nests = icmp ne i32 %nest.bit, 0
  %begins = icmp eq i32 %moves, 0
  br i1 %begins, label %enter, label %move
enter:
  br i1 %free, label %begin, label %choose
begin:
  br i1 %own, label %begin.own, label %look
begin.own:
  %bytes.own.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %bytes.own = zext i32 %bytes.own.narrow to i64
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %block.wide = zext i32 %block to i64
  %block.at = mul i64 %block.wide, %bytes.own
  %r.own = getelementptr i8, ptr %record, i64 %block.at
  br i1 %first, label %begin.note, label %look
begin.note:
  %own.chunk.place = getelementptr i8, ptr %record, i64 56
  %own.chunk = load ptr, ptr %own.chunk.place, align 8
  store volatile ptr %own.chunk, ptr addrspace(3) %order.40, align 8
  br label %look
choose:
  ; All threads read these behind the barrier.
  br i1 %first, label %ask.slow, label %look
ask.slow:
  ; Whether any of so many blocks as may have a turn would be slow.
  %most.place = getelementptr i8, ptr addrspace(1) %head, i64 20
  %most = load i32, ptr addrspace(1) %most.place, align 4
  %slot.number = and i32 %number, 63
  %slot.wide = zext i32 %slot.number to i64
  %slot.bytes = shl i64 %slot.wide, 2
  %slot.at = add i64 %slot.bytes, 32
  %slot = getelementptr i8, ptr addrspace(1) %head, i64 %slot.at
  %cycles = load atomic i32, ptr addrspace(1) %slot syncscope("device") monotonic, align 4
  %most.wide = zext i32 %most to i64
  %cycles.wide = zext i32 %cycles to i64
  %most.cycles = mul i64 %most.wide, %cycles.wide
  %some.slow = icmp ugt i64 %most.cycles, 50000
  br i1 %some.slow, label %pick, label %look
pick:
  call void @__cdp_sequence_pick(ptr addrspace(1) %head, ptr %record, i32 %left)
  br label %look
move:
  ; What is read here nobody writes any more: it is on its way while others are still at work.
  %chunk.place = getelementptr i8, ptr %record, i64 56
  %chunk = load ptr, ptr %chunk.place, align 8
  %index.place = getelementptr i8, ptr %record, i64 52
  %index = load i32, ptr %index.place, align 4
  %up.place = getelementptr i8, ptr %chunk, i64 8
  %up.left.place = getelementptr i8, ptr %chunk, i64 16
  %blocks = call i32 @__cdp_sequence_blocks(ptr %record)
  br i1 %nests, label %ask, label %asked
ask:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %mode.now = load volatile i32, ptr addrspace(3) %order.4, align 4
  %count.now = load volatile i32, ptr addrspace(3) %order.12, align 4
  %list.now = load volatile ptr, ptr addrspace(3) %order.16, align 8
  br label %asked
asked:
  %mode.new = phi i32 [ 0, %move ], [ %mode.now, %ask ]
  %count = phi i32 [ 0, %move ], [ %count.now, %ask ]
  %list = phi ptr [ null, %move ], [ %list.now, %ask ]
  %fewer = sub i32 %left, 1
  %last.list = icmp eq i32 %fewer, 0
  %last = or i1 %own, %last.list
  br i1 %last, label %behind, label %more
behind:
  ; Nothing is behind a record that is its block's own.
  br i1 %own, label %rest, label %up
up:
  %up.record = load ptr, ptr %up.place, align 8
  %up.left = load i32, ptr %up.left.place, align 8
  br label %rest
more:
  %over = icmp eq i32 %index, 31
  br i1 %over, label %turn.over, label %beside
turn.over:
  %further = load ptr, ptr %chunk, align 16
  %record.further = getelementptr i8, ptr %further, i64 32
  br i1 %first, label %keep, label %rest
keep:
  call void @__cdp_sequence_pass(ptr %chunk, ptr %further)
  br label %rest
beside:
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  %record.beside = getelementptr i8, ptr %record, i64 %record.bytes
  br label %rest
rest:
  %r.rest = phi ptr [ null, %behind ], [ %up.record, %up ], [ %record.further, %turn.over ], [ %record.further, %keep ], [ %record.beside, %beside ]
  %l.rest = phi i32 [ 0, %behind ], [ %up.left, %up ], [ %fewer, %turn.over ], [ %fewer, %keep ], [ %fewer, %beside ]
  %old.new = phi ptr [ null, %behind ], [ %chunk, %up ], [ %chunk, %turn.over ], [ %chunk, %keep ], [ null, %beside ]
  %inner = icmp ne i32 %count, 0
  br i1 %inner, label %nest, label %next
nest:
  br i1 %free, label %share, label %stay
share:
  br i1 %first, label %share.try, label %share.seen
share.try:
  %handed.over = call i1 @__cdp_sequence_hand_over(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %list, i32 %count, ptr %chunk)
  %handed.word = zext i1 %handed.over to i32
  store volatile i32 %handed.word, ptr addrspace(3) %order.8, align 4
  br label %share.seen
share.seen:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %gone.word = load volatile i32, ptr addrspace(3) %order.8, align 4
  %is.gone = icmp ne i32 %gone.word, 0
  br i1 %is.gone, label %next, label %stay
stay:
  %r.list = getelementptr i8, ptr %list, i64 32
  br i1 %first, label %note, label %next
note:
  %list.up = getelementptr i8, ptr %list, i64 8
  %list.left = getelementptr i8, ptr %list, i64 16
  store ptr %r.rest, ptr %list.up, align 8
  store i32 %l.rest, ptr %list.left, align 8
  br i1 %free, label %note.waits, label %next
note.waits:
  %waits.place = getelementptr i8, ptr %chunk, i64 20
  %waits = load i32, ptr %waits.place, align 4
  %waits.list = add i32 %waits, %count
  %list.waits = getelementptr i8, ptr %list, i64 20
  store i32 %waits.list, ptr %list.waits, align 4
  br label %next
next:
  %r.next = phi ptr [ %r.rest, %rest ], [ %r.rest, %share.seen ], [ %r.list, %stay ], [ %r.list, %note ], [ %r.list, %note.waits ]
  %l.next = phi i32 [ %l.rest, %rest ], [ %l.rest, %share.seen ], [ %count, %stay ], [ %count, %note ], [ %count, %note.waits ]
  br label %look
look:
  %r = phi ptr [ %record, %begin ], [ %r.own, %begin.own ], [ %r.own, %begin.note ], [ %record, %choose ], [ %record, %ask.slow ], [ %record, %pick ], [ %r.next, %next ]
  %l = phi i32 [ %left, %begin ], [ %left, %begin.own ], [ %left, %begin.note ], [ %left, %choose ], [ %left, %ask.slow ], [ %left, %pick ], [ %l.next, %next ]
  %old = phi ptr [ null, %begin ], [ null, %begin.own ], [ null, %begin.note ], [ null, %choose ], [ null, %ask.slow ], [ null, %pick ], [ %old.new, %next ]
  %blocks.done = phi i32 [ 1, %begin ], [ 1, %begin.own ], [ 1, %begin.note ], [ 1, %choose ], [ 1, %ask.slow ], [ 1, %pick ], [ %blocks, %next ]
  %mode = phi i32 [ 0, %begin ], [ 0, %begin.own ], [ 0, %begin.note ], [ 0, %choose ], [ 0, %ask.slow ], [ 0, %pick ], [ %mode.new, %next ]
  %some = icmp ne ptr %r, null
  br i1 %some, label %see, label %seen
see:
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %bz = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %bx.place = getelementptr i8, ptr %r, i64 28
  %by.place = getelementptr i8, ptr %r, i64 32
  %bz.place = getelementptr i8, ptr %r, i64 36
  %shared.now.place = getelementptr i8, ptr %r, i64 40
  %turn.place = getelementptr i8, ptr %r, i64 44
  %bx.now = load i32, ptr %bx.place, align 4
  %by.now = load i32, ptr %by.place, align 4
  %bz.now = load i32, ptr %bz.place, align 4
  %shared.now = load i32, ptr %shared.now.place, align 4
  %turn.whole = load i32, ptr %turn.place, align 4
  %turn = and i32 %turn.whole, 2147483647
  %is.bx = icmp eq i32 %bx, %bx.now
  %is.by = icmp eq i32 %by, %by.now
  %is.bz = icmp eq i32 %bz, %bz.now
  %is.shared = icmp eq i32 %shared, %shared.now
  %is.turn = icmp eq i32 %turn, %number
  %is.1 = and i1 %is.bx, %is.by
  %is.2 = and i1 %is.bz, %is.shared
  %is.3 = and i1 %is.1, %is.2
  %is.4 = and i1 %is.3, %is.turn
  ; What the child really launched comes first.
  %mode.written = and i32 %mode, 2
  %is.quiet = icmp eq i32 %mode.written, 0
  %is.mine = and i1 %is.4, %is.quiet
  br label %seen
seen:
  %mine = phi i1 [ false, %look ], [ %is.mine, %see ]
  ; The next child sees all that this one did, and all threads have read what is given back, here or by others.
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %settle, label %settled
settle:
  br i1 %nests, label %timed, label %time
time:
  br i1 %begins, label %timed, label %measure
measure:
  call void @__cdp_sequence_note(ptr addrspace(1) %head, ptr %record, i32 %number, i32 %blocks.done)
  br label %timed
timed:
  %leaves = icmp ne ptr %old, null
  br i1 %leaves, label %gone, label %given
gone:
  ; A block that records has use for one, which it takes from nobody then.
  br i1 %nests, label %keeps, label %give
keeps:
  %kept = load volatile ptr, ptr addrspace(3) %order.32, align 8
  %full = icmp ne ptr %kept, null
  br i1 %full, label %give, label %put
put:
  store volatile ptr %old, ptr addrspace(3) %order.32, align 8
  br label %given
give:
  call void @__cdp_sequence_give(ptr addrspace(1) %head, ptr %old)
  br label %given
given:
  br i1 %nests, label %clear, label %settled
clear:
  store volatile i32 0, ptr addrspace(3) %order.4, align 4
  store volatile i32 0, ptr addrspace(3) %order.12, align 4
  store volatile i64 0, ptr addrspace(3) %order.16, align 8
  store volatile i64 0, ptr addrspace(3) %order.24, align 8
  br label %settled
settled:
  br i1 %mine, label %have, label %hand
have:
  ; Before a thread records again all see the state as it is now.
  br i1 %nests, label %meet, label %start
meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %ready
start:
  br i1 %first, label %clock, label %ready
clock:
  ; Nobody asks for its kernel any more.
  %starts = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  store i64 %starts, ptr %r, align 8
  br label %ready
ready:
  %out.0 = insertvalue { ptr, i32 } poison, ptr %r, 0
  %out = insertvalue { ptr, i32 } %out.0, i32 %l, 1
  ret { ptr, i32 } %out
hand:
  br i1 %first, label %end, label %none
end:
  br i1 %nests, label %hand.look, label %handed
hand.look:
  %spare = load volatile ptr, ptr addrspace(3) %order.32, align 8
  %spare.some = icmp ne ptr %spare, null
  br i1 %spare.some, label %hand.back, label %handed
hand.back:
  call void @__cdp_sequence_give(ptr addrspace(1) %head, ptr %spare)
  br label %handed
handed:
  br i1 %some, label %go, label %leave.look
go:
  fence syncscope("device") acq_rel
  ; The tail stream.
  call void @__cdp_sequence_go(ptr addrspace(1) %head, ptr %r, i32 %l, ptr inttoptr (i64 3 to ptr))
  br label %leave.look
leave.look:
  br i1 %free, label %leave.own, label %none
leave.own:
  %mine.chunk = load volatile ptr, ptr addrspace(3) %order.40, align 8
  %no.chunk = icmp eq ptr %mine.chunk, null
  br i1 %no.chunk, label %none, label %leave
leave:
  call void @__cdp_sequence_ended(ptr addrspace(1) %head, ptr %mine.chunk)
  br label %none
none:
  ret { ptr, i32 } zeroinitializer
}

; The list of a block of a grid that runs records is handed over to a grid of its own, whose blocks have one each, if no more
; launches wait then than where it is run in its order, after the record of %chunk that launched it: the list has one chunk,
; and the grids that were handed over elsewhere are few. Whether that was done.
define internal i1 @__cdp_sequence_hand_over(ptr addrspace(1) %head, ptr addrspace(3) %order, ptr %list, i32 %count, ptr %chunk) noinline nounwind {
entry:
  %order.40 = getelementptr i8, ptr addrspace(3) %order, i64 40
  %count.less = sub i32 %count, 2
  %fits = icmp ult i32 %count.less, 31
  br i1 %fits, label %ask, label %no
ask:
  %waits.place = getelementptr i8, ptr %chunk, i64 20
  %waits = load i32, ptr %waits.place, align 4
  %waits.list = add i32 %waits, %count
  %handed.place = getelementptr i8, ptr addrspace(1) %head, i64 288
  %handed = atomicrmw add ptr addrspace(1) %handed.place, i32 1 syncscope("device") monotonic, align 4
  ; This one, and the grid that the first list of all was handed to.
  %waiting = add i32 %handed, 2
  %room = icmp ule i32 %waiting, %waits.list
  br i1 %room, label %hand, label %back
hand:
  %parent = load volatile ptr, ptr addrspace(3) %order.40, align 8
  %done = call i1 @__cdp_sequence_share(ptr addrspace(1) %head, ptr %list, i32 %count, i32 %waits.list, ptr %parent, i32 1, ptr inttoptr (i64 4 to ptr))
  br i1 %done, label %yes, label %back
yes:
  ret i1 true
back:
  %undone = atomicrmw sub ptr addrspace(1) %handed.place, i32 1 syncscope("device") monotonic, align 4
  br label %no
no:
  ret i1 false
}

; Hands a chunk of %count records over to a grid, into %stream: if they have one shape and may run in any order, and half of the
; memory was never in use. Whether that was done.
define internal i1 @__cdp_sequence_share(ptr addrspace(1) %head, ptr %chunk, i32 %count, i32 %waits, ptr %parent, i32 %counts, ptr %stream) noinline nounwind {
entry:
  %record = getelementptr i8, ptr %chunk, i64 32
  %runner.place = getelementptr i8, ptr %chunk, i64 40
  %runner = load ptr, ptr %runner.place, align 8
  %block.place = getelementptr i8, ptr %chunk, i64 60
  %block = load [3 x i32], ptr %block.place, align 4
  %shared.place = getelementptr i8, ptr %chunk, i64 72
  %shared = load i32, ptr %shared.place, align 4
  %turn.place = getelementptr i8, ptr %chunk, i64 76
  %turn = load i32, ptr %turn.place, align 4
  %free = icmp slt i32 %turn, 0
  %fresh.place = getelementptr i8, ptr addrspace(1) %head, i64 8
  %fresh = load atomic i32, ptr addrspace(1) %fresh.place syncscope("device") monotonic, align 4
  %chunks.place = getelementptr i8, ptr addrspace(1) %head, i64 12
  %chunks = load i32, ptr addrspace(1) %chunks.place, align 4
  %half = lshr i32 %chunks, 1
  %roomy = icmp ule i32 %fresh, %half
  %good = and i1 %free, %roomy
  br i1 %good, label %compare, label %no
compare:
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  %block.x = extractvalue [3 x i32] %block, 0
  %block.y = extractvalue [3 x i32] %block, 1
  %block.z = extractvalue [3 x i32] %block, 2
  br label %each
each:
  %n = phi i32 [ 1, %compare ], [ %n.next, %same ]
  %before = phi ptr [ %record, %compare ], [ %other, %same ]
  %all = icmp uge i32 %n, %count
  br i1 %all, label %ask, label %one
one:
  %other = getelementptr i8, ptr %before, i64 %record.bytes
  %x.place = getelementptr i8, ptr %other, i64 28
  %y.place = getelementptr i8, ptr %other, i64 32
  %z.place = getelementptr i8, ptr %other, i64 36
  %other.shared.place = getelementptr i8, ptr %other, i64 40
  %other.turn.place = getelementptr i8, ptr %other, i64 44
  %x = load i32, ptr %x.place, align 4
  %y = load i32, ptr %y.place, align 4
  %z = load i32, ptr %z.place, align 4
  %other.shared = load i32, ptr %other.shared.place, align 4
  %other.turn = load i32, ptr %other.turn.place, align 4
  %is.x = icmp eq i32 %x, %block.x
  %is.y = icmp eq i32 %y, %block.y
  %is.z = icmp eq i32 %z, %block.z
  %is.shared = icmp eq i32 %other.shared, %shared
  %is.turn = icmp eq i32 %other.turn, %turn
  %is.1 = and i1 %is.x, %is.y
  %is.2 = and i1 %is.z, %is.shared
  %is.3 = and i1 %is.1, %is.2
  %is.4 = and i1 %is.3, %is.turn
  br i1 %is.4, label %same, label %no
same:
  %n.next = add i32 %n, 1
  br label %each
ask:
  %grid.0 = insertvalue [3 x i32] [i32 1, i32 1, i32 1], i32 %count, 0
  %buffer = call ptr @__cdp_get_buffer(ptr %runner, [3 x i32] %grid.0, [3 x i32] %block, i32 %shared)
  %no.room = icmp eq ptr %buffer, null
  br i1 %no.room, label %no, label %fill
fill:
  %up.place = getelementptr i8, ptr %chunk, i64 8
  %waits.place = getelementptr i8, ptr %chunk, i64 20
  %open.place = getelementptr i8, ptr %chunk, i64 24
  %counts.place = getelementptr i8, ptr %chunk, i64 28
  store ptr %parent, ptr %up.place, align 8
  store i32 %waits, ptr %waits.place, align 4
  store i32 %count, ptr %open.place, align 4
  store i32 %counts, ptr %counts.place, align 4
  %some = icmp ne ptr %parent, null
  %parent.open = getelementptr i8, ptr %parent, i64 24
  br i1 %some, label %join, label %launch
join:
  %joined = atomicrmw add ptr %parent.open, i32 1 syncscope("device") monotonic, align 4
  br label %launch
launch:
  store ptr %record, ptr %buffer, align 8
  %buffer.left = getelementptr i8, ptr %buffer, i64 8
  %left = or i32 %count, -2147483648
  store i32 %left, ptr %buffer.left, align 8
  fence syncscope("device") acq_rel
  %refused = call i32 @__cdp_launch_buffer(ptr %buffer, ptr %stream)
  %gone = icmp eq i32 %refused, 0
  br i1 %gone, label %yes, label %undo
undo:
  br i1 %some, label %part, label %no
part:
  ; The block that hands over has not ended itself.
  %parted = atomicrmw sub ptr %parent.open, i32 1 syncscope("device") monotonic, align 4
  br label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; A block has ended that had a record of this chunk, or a grid that such a block handed a chunk over to is complete. With the
; last the chunk's own grid is, and goes back.
define internal void @__cdp_sequence_ended(ptr addrspace(1) %head, ptr %chunk) noinline nounwind {
entry:
  br label %each
each:
  %now = phi ptr [ %chunk, %entry ], [ %parent, %gone ]
  %open.place = getelementptr i8, ptr %now, i64 24
  fence syncscope("device") acq_rel
  %open = atomicrmw sub ptr %open.place, i32 1 syncscope("device") monotonic, align 4
  fence syncscope("device") acq_rel
  %last = icmp eq i32 %open, 1
  br i1 %last, label %close, label %done
close:
  %parent.place = getelementptr i8, ptr %now, i64 8
  %counts.place = getelementptr i8, ptr %now, i64 28
  %parent = load ptr, ptr %parent.place, align 8
  %counts = load i32, ptr %counts.place, align 4
  call void @__cdp_sequence_give(ptr addrspace(1) %head, ptr %now)
  %counted = icmp ne i32 %counts, 0
  br i1 %counted, label %uncount, label %gone
uncount:
  %handed.place = getelementptr i8, ptr addrspace(1) %head, i64 288
  %before = atomicrmw sub ptr addrspace(1) %handed.place, i32 1 syncscope("device") monotonic, align 4
  br label %gone
gone:
  %top = icmp eq ptr %parent, null
  br i1 %top, label %done, label %each
done:
  ret void
}

; What goes on behind a list goes on behind its next chunk.
define internal void @__cdp_sequence_pass(ptr %chunk, ptr %further) alwaysinline nounwind {
entry:
  %up.place = getelementptr i8, ptr %chunk, i64 8
  %left.place = getelementptr i8, ptr %chunk, i64 16
  %up = load ptr, ptr %up.place, align 8
  %left.waits = load i64, ptr %left.place, align 8
  %to.up = getelementptr i8, ptr %further, i64 8
  %to.left = getelementptr i8, ptr %further, i64 16
  store ptr %up, ptr %to.up, align 8
  store i64 %left.waits, ptr %to.left, align 8
  ret void
}

; A chunk, or null.
define internal ptr @__cdp_sequence_take(ptr addrspace(1) %head) noinline nounwind {
entry:
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  %chunk.records = shl i64 %record.bytes, 5
  %chunk.bytes = add i64 %chunk.records, 32
  %memory.place = getelementptr i8, ptr addrspace(1) %head, i64 24
  %memory = load ptr addrspace(1), ptr addrspace(1) %memory.place, align 8
  %fresh.place = getelementptr i8, ptr addrspace(1) %head, i64 8
  %chunks.place = getelementptr i8, ptr addrspace(1) %head, i64 12
  %chunks = load i32, ptr addrspace(1) %chunks.place, align 4
  %free = load atomic i64, ptr addrspace(1) %head syncscope("device") monotonic, align 8
  br label %look
look:
  %top.now = phi i64 [ %free, %entry ], [ %found, %pop ]
  %top = trunc i64 %top.now to i32
  %none = icmp eq i32 %top, 0
  br i1 %none, label %fresh, label %pop
pop:
  %index = sub i32 %top, 1
  %wide = zext i32 %index to i64
  %at = mul i64 %wide, %chunk.bytes
  %place = getelementptr i8, ptr addrspace(1) %memory, i64 %at
  fence syncscope("device") acq_rel
  %next = load atomic i64, ptr addrspace(1) %place syncscope("device") monotonic, align 8
  %next.low = and i64 %next, 4294967295
  %times = and i64 %top.now, -4294967296
  %times.more = add i64 %times, 4294967296
  %new = or i64 %times.more, %next.low
  %pair = cmpxchg ptr addrspace(1) %head, i64 %top.now, i64 %new syncscope("device") monotonic monotonic, align 8
  %found = extractvalue { i64, i1 } %pair, 0
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %taken, label %look
fresh:
  %seen = load atomic i32, ptr addrspace(1) %fresh.place syncscope("device") monotonic, align 4
  %some = icmp ult i32 %seen, %chunks
  br i1 %some, label %first, label %no
first:
  %number = atomicrmw add ptr addrspace(1) %fresh.place, i32 1 syncscope("device") monotonic, align 4
  %there = icmp ult i32 %number, %chunks
  br i1 %there, label %taken, label %no
taken:
  %mine = phi i32 [ %index, %pop ], [ %number, %first ]
  fence syncscope("device") acq_rel
  %mine.wide = zext i32 %mine to i64
  %mine.at = mul i64 %mine.wide, %chunk.bytes
  %global = getelementptr i8, ptr addrspace(1) %memory, i64 %mine.at
  %chunk = addrspacecast ptr addrspace(1) %global to ptr
  ret ptr %chunk
no:
  ret ptr null
}

; The chunk that the block keeps, or another, or null. The block's lock is held.
define internal ptr @__cdp_sequence_next(ptr addrspace(1) %head, ptr addrspace(3) %order) alwaysinline nounwind {
entry:
  %order.32 = getelementptr i8, ptr addrspace(3) %order, i64 32
  %kept = load volatile ptr, ptr addrspace(3) %order.32, align 8
  %none = icmp eq ptr %kept, null
  br i1 %none, label %take, label %have
take:
  %other = call ptr @__cdp_sequence_take(ptr addrspace(1) %head)
  ret ptr %other
have:
  store volatile i64 0, ptr addrspace(3) %order.32, align 8
  ret ptr %kept
}

; Gives a chunk back that nobody reads any more.
define internal void @__cdp_sequence_give(ptr addrspace(1) %head, ptr %chunk) noinline nounwind {
entry:
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  %chunk.records = shl i64 %record.bytes, 5
  %chunk.bytes = add i64 %chunk.records, 32
  %memory.place = getelementptr i8, ptr addrspace(1) %head, i64 24
  %memory = load ptr addrspace(1), ptr addrspace(1) %memory.place, align 8
  %memory.generic = addrspacecast ptr addrspace(1) %memory to ptr
  %pool = ptrtoint ptr %memory.generic to i64
  %address = ptrtoint ptr %chunk to i64
  %at = sub i64 %address, %pool
  %index = udiv i64 %at, %chunk.bytes
  %number = add i64 %index, 1
  %free = load atomic i64, ptr addrspace(1) %head syncscope("device") monotonic, align 8
  br label %push
push:
  %top.now = phi i64 [ %free, %entry ], [ %found, %push ]
  %low = and i64 %top.now, 4294967295
  store atomic i64 %low, ptr %chunk syncscope("device") monotonic, align 8
  fence syncscope("device") acq_rel
  %times = and i64 %top.now, -4294967296
  %new = or i64 %times, %number
  %pair = cmpxchg ptr addrspace(1) %head, i64 %top.now, i64 %new syncscope("device") monotonic monotonic, align 8
  %found = extractvalue { i64, i1 } %pair, 0
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %done, label %push
done:
  ret void
}

; Launches one as its record says, into %stream.
define internal void @__cdp_sequence_launch(ptr %record, ptr %stream) noinline nounwind {
entry:
  %kernel = load ptr, ptr %record, align 8
  %grid.place = getelementptr i8, ptr %record, i64 16
  %grid = load [3 x i32], ptr %grid.place, align 4
  %block.place = getelementptr i8, ptr %record, i64 28
  %block = load [3 x i32], ptr %block.place, align 4
  %shared.place = getelementptr i8, ptr %record, i64 40
  %shared = load i32, ptr %shared.place, align 4
  %own = call ptr @__cdp_get_buffer(ptr %kernel, [3 x i32] %grid, [3 x i32] %block, i32 %shared)
  %own.none = icmp eq ptr %own, null
  br i1 %own.none, label %done, label %fill
fill:
  %count.place = getelementptr i8, ptr %record, i64 48
  %count.nest = load i32, ptr %count.place, align 4
  %count = and i32 %count.nest, 65535
  %arguments = getelementptr i8, ptr %record, i64 64
  br label %copy
copy:
  %at = phi i32 [ 0, %fill ], [ %at.next, %one ], [ %at.word, %word ]
  %rest = sub i32 %count, %at
  %at.wide = zext i32 %at to i64
  %from = getelementptr i8, ptr %arguments, i64 %at.wide
  %to = getelementptr i8, ptr %own, i64 %at.wide
  %is.word = icmp uge i32 %rest, 4
  br i1 %is.word, label %word, label %tail
word:
  %w = load i32, ptr %from, align 4
  store i32 %w, ptr %to, align 4
  %at.word = add i32 %at, 4
  br label %copy
tail:
  %some = icmp ne i32 %rest, 0
  br i1 %some, label %one, label %fire
one:
  %b = load i8, ptr %from, align 1
  store i8 %b, ptr %to, align 1
  %at.next = add i32 %at, 1
  br label %copy
fire:
  %error = call i32 @__cdp_launch_buffer(ptr %own, ptr %stream)
  br label %done
done:
  ret void
}

; Launches %left records, from %first on, and what goes on behind them, into %stream, which orders them: until one comes
; that has its turn in a kernel that goes on from there. After many that have not, such a kernel goes on too, so that no more are pending at a time.
define internal void @__cdp_sequence_go(ptr addrspace(1) %head, ptr %first, i32 %left, ptr %stream) noinline nounwind {
entry:
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  br label %each
each:
  %record = phi ptr [ %first, %entry ], [ %record.next, %behind ]
  %l = phi i32 [ %left, %entry ], [ %l.behind, %behind ]
  %n = phi i32 [ 0, %entry ], [ %n.next, %behind ]
  %runner.place = getelementptr i8, ptr %record, i64 8
  %runner = load ptr, ptr %runner.place, align 8
  %block.place = getelementptr i8, ptr %record, i64 28
  %block = load [3 x i32], ptr %block.place, align 4
  %shared.place = getelementptr i8, ptr %record, i64 40
  %shared = load i32, ptr %shared.place, align 4
  %turn.place = getelementptr i8, ptr %record, i64 44
  %turn = load i32, ptr %turn.place, align 4
  %in.turn = icmp ne i32 %turn, 0
  %many = icmp uge i32 %n, 16
  br i1 %many, label %ask, label %weigh
weigh:
  br i1 %in.turn, label %worth, label %launch
worth:
  %good = call i1 @__cdp_sequence_worth(ptr addrspace(1) %head, ptr %record, i32 %l)
  br i1 %good, label %ask, label %launch
ask:
  %buffer = call ptr @__cdp_get_buffer(ptr %runner, [3 x i32] [i32 1, i32 1, i32 1], [3 x i32] %block, i32 %shared)
  %no.room = icmp eq ptr %buffer, null
  br i1 %no.room, label %launch, label %hand.over
hand.over:
  store ptr %record, ptr %buffer, align 8
  %buffer.left = getelementptr i8, ptr %buffer, i64 8
  store i32 %l, ptr %buffer.left, align 8
  %refused = call i32 @__cdp_launch_buffer(ptr %buffer, ptr %stream)
  %gone = icmp eq i32 %refused, 0
  br i1 %gone, label %done, label %launch
launch:
  call void @__cdp_sequence_launch(ptr %record, ptr %stream)
  br label %next
next:
  %n.next = add i32 %n, 1
  %l.next = sub i32 %l, 1
  %chunk.place = getelementptr i8, ptr %record, i64 56
  %chunk = load ptr, ptr %chunk.place, align 8
  %index.place = getelementptr i8, ptr %record, i64 52
  %index = load i32, ptr %index.place, align 4
  %record.beside = getelementptr i8, ptr %record, i64 %record.bytes
  %over = icmp eq i32 %index, 31
  %last = icmp eq i32 %l.next, 0
  %leave = or i1 %over, %last
  br i1 %leave, label %free, label %behind
free:
  br i1 %last, label %free.last, label %free.over
free.over:
  %further = load ptr, ptr %chunk, align 16
  %record.further = getelementptr i8, ptr %further, i64 32
  call void @__cdp_sequence_pass(ptr %chunk, ptr %further)
  call void @__cdp_sequence_give(ptr addrspace(1) %head, ptr %chunk)
  br label %behind
free.last:
  %up.place = getelementptr i8, ptr %chunk, i64 8
  %up.left.place = getelementptr i8, ptr %chunk, i64 16
  %up = load ptr, ptr %up.place, align 8
  %up.left = load i32, ptr %up.left.place, align 8
  call void @__cdp_sequence_give(ptr addrspace(1) %head, ptr %chunk)
  %top = icmp eq ptr %up, null
  br i1 %top, label %done, label %behind
behind:
  %record.next = phi ptr [ %record.beside, %next ], [ %record.further, %free.over ], [ %up, %free.last ]
  %l.behind = phi i32 [ %l.next, %next ], [ %l.next, %free.over ], [ %up.left, %free.last ]
  br label %each
done:
  ret void
}

; Whether a block took so long for those of a kernel lately that the blocks of this record's take longer one after another
; than a launch and what goes on behind it, which are some 50,000 cycles.
define internal i1 @__cdp_sequence_slow(ptr addrspace(1) %head, ptr %record) alwaysinline nounwind {
entry:
  %turn.place = getelementptr i8, ptr %record, i64 44
  %turn = load i32, ptr %turn.place, align 4
  %blocks = call i32 @__cdp_sequence_blocks(ptr %record)
  %others = sub i32 %blocks, 1
  %slot.number = and i32 %turn, 63
  %slot.wide = zext i32 %slot.number to i64
  %slot.bytes = shl i64 %slot.wide, 2
  %slot.at = add i64 %slot.bytes, 32
  %slot = getelementptr i8, ptr addrspace(1) %head, i64 %slot.at
  %cycles = load atomic i32, ptr addrspace(1) %slot syncscope("device") monotonic, align 4
  %others.wide = zext i32 %others to i64
  %cycles.wide = zext i32 %cycles to i64
  %more = mul i64 %others.wide, %cycles.wide
  %slow = icmp ugt i64 %more, 50000
  ret i1 %slow
}

; Whether a record that may have its turn is worth a kernel that goes on from there: one that launches is; others are if
; two more have their turn there too, or all that is left has, and they are not slow. What goes on waits for what is
; launched before it, while a thread launches the next as others run.
define internal i1 @__cdp_sequence_worth(ptr addrspace(1) %head, ptr %record, i32 %left) alwaysinline nounwind {
entry:
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  %count.place = getelementptr i8, ptr %record, i64 48
  %count = load i32, ptr %count.place, align 4
  %nests = icmp uge i32 %count, 65536
  br i1 %nests, label %yes, label %time
time:
  %slow = call i1 @__cdp_sequence_slow(ptr addrspace(1) %head, ptr %record)
  br i1 %slow, label %no, label %alone
alone:
  %single = icmp eq i32 %left, 1
  br i1 %single, label %no, label %beside
beside:
  %index.place = getelementptr i8, ptr %record, i64 52
  %index = load i32, ptr %index.place, align 4
  %over = icmp uge i32 %index, 30
  br i1 %over, label %yes, label %compare
compare:
  %next = getelementptr i8, ptr %record, i64 %record.bytes
  %same = call i1 @__cdp_sequence_same(ptr %record, ptr %next)
  br i1 %same, label %further, label %no
further:
  %pair = icmp eq i32 %left, 2
  br i1 %pair, label %yes, label %third
third:
  %next.next = getelementptr i8, ptr %next, i64 %record.bytes
  %all = call i1 @__cdp_sequence_same(ptr %record, ptr %next.next)
  ret i1 %all
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether two records have their turn in one kernel.
define internal i1 @__cdp_sequence_same(ptr %record, ptr %next) alwaysinline nounwind {
entry:
  %block.place = getelementptr i8, ptr %record, i64 28
  %block = load <2 x i32>, ptr %block.place, align 4
  %rest.place = getelementptr i8, ptr %record, i64 36
  %rest = load <2 x i32>, ptr %rest.place, align 4
  %turn.place = getelementptr i8, ptr %record, i64 44
  %turn = load i32, ptr %turn.place, align 4
  %next.block.place = getelementptr i8, ptr %next, i64 28
  %next.block = load <2 x i32>, ptr %next.block.place, align 4
  %next.rest.place = getelementptr i8, ptr %next, i64 36
  %next.rest = load <2 x i32>, ptr %next.rest.place, align 4
  %next.turn.place = getelementptr i8, ptr %next, i64 44
  %next.turn = load i32, ptr %next.turn.place, align 4
  %same.block = icmp eq <2 x i32> %block, %next.block
  %same.rest = icmp eq <2 x i32> %rest, %next.rest
  %same.xyz = and <2 x i1> %same.block, %same.rest
  %same.0 = extractelement <2 x i1> %same.xyz, i32 0
  %same.1 = extractelement <2 x i1> %same.xyz, i32 1
  %same.turn = icmp eq i32 %turn, %next.turn
  %same.2 = and i1 %same.0, %same.1
  %same = and i1 %same.2, %same.turn
  ret i1 %same
}

; The records behind this one in its chunk that are slow are launched.
define internal void @__cdp_sequence_pick(ptr addrspace(1) %head, ptr %record, i32 %left) noinline nounwind {
entry:
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  %index.place = getelementptr i8, ptr %record, i64 52
  %index = load i32, ptr %index.place, align 4
  br label %each
each:
  %r = phi ptr [ %record, %entry ], [ %r.next, %after ]
  %i = phi i32 [ %index, %entry ], [ %i.next, %after ]
  %l = phi i32 [ %left, %entry ], [ %l.next, %after ]
  %over = icmp eq i32 %i, 31
  %last = icmp eq i32 %l, 1
  %ends = or i1 %over, %last
  br i1 %ends, label %done, label %look
look:
  %r.next = getelementptr i8, ptr %r, i64 %record.bytes
  %i.next = add i32 %i, 1
  %l.next = sub i32 %l, 1
  %slow = call i1 @__cdp_sequence_slow(ptr addrspace(1) %head, ptr %r.next)
  br i1 %slow, label %mark, label %after
mark:
  %turn.place = getelementptr i8, ptr %r.next, i64 44
  store i32 0, ptr %turn.place, align 4
  br label %after
after:
  br label %each
done:
  ret void
}

; The blocks of a record.
define internal i32 @__cdp_sequence_blocks(ptr %record) alwaysinline nounwind {
entry:
  %gx.place = getelementptr i8, ptr %record, i64 16
  %gy.place = getelementptr i8, ptr %record, i64 20
  %gz.place = getelementptr i8, ptr %record, i64 24
  %gx = load i32, ptr %gx.place, align 4
  %gy = load i32, ptr %gy.place, align 4
  %gz = load i32, ptr %gz.place, align 4
  %gxy = mul i32 %gx, %gy
  %blocks = mul i32 %gxy, %gz
  ret i32 %blocks
}

; Notes how long the blocks of a record took, of which there are so many, and which began when it says.
define internal void @__cdp_sequence_note(ptr addrspace(1) %head, ptr %record, i32 %number, i32 %blocks) alwaysinline nounwind {
entry:
  %began = load i64, ptr %record, align 8
  %now = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %took = sub i64 %now, %began
  %took.some = call i64 @llvm.umin.i64(i64 %took, i64 4294967295)
  %took.narrow = trunc i64 %took.some to i32
  %each = udiv i32 %took.narrow, %blocks
  %slot.number = and i32 %number, 63
  %slot.wide = zext i32 %slot.number to i64
  %slot.bytes = shl i64 %slot.wide, 2
  %slot.at = add i64 %slot.bytes, 32
  %slot = getelementptr i8, ptr addrspace(1) %head, i64 %slot.at
  store atomic i32 %each, ptr addrspace(1) %slot syncscope("device") monotonic, align 4
  ret void
}

; Launches what the block recorded. Its lock is held, or nobody else is there.
define internal void @__cdp_sequence_flush(ptr addrspace(1) %head, ptr addrspace(3) %order) noinline nounwind {
entry:
  %order.12 = getelementptr i8, ptr addrspace(3) %order, i64 12
  %order.16 = getelementptr i8, ptr addrspace(3) %order, i64 16
  %left = load volatile i32, ptr addrspace(3) %order.12, align 4
  %none = icmp eq i32 %left, 0
  br i1 %none, label %done, label %go
go:
  %order.40 = getelementptr i8, ptr addrspace(3) %order, i64 40
  %first = load volatile ptr, ptr addrspace(3) %order.16, align 8
  %parent = load volatile ptr, ptr addrspace(3) %order.40, align 8
  store volatile i32 0, ptr addrspace(3) %order.12, align 4
  fence syncscope("device") acq_rel
  br label %each
each:
  ; Chunks are handed over as far as possible.
  %chunk = phi ptr [ %first, %go ], [ %further, %shared ]
  %l = phi i32 [ %left, %go ], [ %l.next, %shared ]
  %further = load ptr, ptr %chunk, align 16
  %several = icmp ugt i32 %l, 1
  br i1 %several, label %share, label %list
share:
  %n = call i32 @llvm.umin.i32(i32 %l, i32 32)
  %handed = call i1 @__cdp_sequence_share(ptr addrspace(1) %head, ptr %chunk, i32 %n, i32 %left, ptr %parent, i32 0, ptr null)
  br i1 %handed, label %shared, label %list
shared:
  %l.next = sub i32 %l, %n
  %all = icmp eq i32 %l.next, 0
  br i1 %all, label %done, label %each
list:
  %up.place = getelementptr i8, ptr %chunk, i64 8
  %waits.place = getelementptr i8, ptr %chunk, i64 20
  store ptr null, ptr %up.place, align 8
  store i32 %left, ptr %waits.place, align 4
  %record = getelementptr i8, ptr %chunk, i64 32
  call void @__cdp_sequence_go(ptr addrspace(1) %head, ptr %record, i32 %l, ptr null)
  br label %done
done:
  ret void
}

define internal void @__cdp_sequence_lock(ptr addrspace(3) %order) alwaysinline nounwind {
entry:
  br label %spin
spin:
  %held = atomicrmw xchg ptr addrspace(3) %order, i32 1 syncscope("block") monotonic, align 4
  %free = icmp eq i32 %held, 0
  br i1 %free, label %locked, label %spin
locked:
  fence syncscope("block") acq_rel
  ret void
}

define internal void @__cdp_sequence_unlock(ptr addrspace(3) %order) alwaysinline nounwind {
entry:
  fence syncscope("block") acq_rel
  %was = atomicrmw xchg ptr addrspace(3) %order, i32 0 syncscope("block") monotonic, align 4
  ret void
}

; A record for each of the lanes %mask, behind those of the block that there are; null for all of them where there is no
; memory, or they are the block's first, none of it was run, and they are not worth it (%heavy).
define internal ptr @__cdp_sequence_reserve(ptr addrspace(1) %head, ptr addrspace(3) %order, i32 %mask, i1 %heavy) alwaysinline convergent nounwind {
entry:
  %order.4 = getelementptr i8, ptr addrspace(3) %order, i64 4
  %order.12 = getelementptr i8, ptr addrspace(3) %order, i64 12
  %order.16 = getelementptr i8, ptr addrspace(3) %order, i64 16
  %order.24 = getelementptr i8, ptr addrspace(3) %order, i64 24
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first.lane = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first.lane
  br i1 %leads, label %lead, label %meet
lead:
  call void @__cdp_sequence_lock(ptr addrspace(3) %order)
  %mode = load volatile i32, ptr addrspace(3) %order.4, align 4
  %written.bit = and i32 %mode, 2
  %as.written = icmp ne i32 %written.bit, 0
  br i1 %as.written, label %refuse, label %weigh
weigh:
  %before = load volatile i32, ptr addrspace(3) %order.12, align 4
  %none.before.0 = icmp eq i32 %before, 0
  %none.run = icmp ne i32 %mode, 1
  %untouched = and i1 %none.before.0, %none.run
  %leave.off = and i1 %untouched, %heavy
  br i1 %leave.off, label %off, label %ask
off:
  store atomic i32 3, ptr addrspace(3) %order.4 syncscope("block") monotonic, align 4
  br label %refuse
ask:
  %last = load volatile ptr, ptr addrspace(3) %order.24, align 8
  %at.first = and i32 %before, 31
  %begins = icmp eq i32 %at.first, 0
  br i1 %begins, label %take, label %have
take:
  %new = call ptr @__cdp_sequence_next(ptr addrspace(1) %head, ptr addrspace(3) %order)
  %new.none = icmp eq ptr %new, null
  br i1 %new.none, label %dry, label %link
link:
  %none.before = icmp eq i32 %before, 0
  br i1 %none.before, label %link.first, label %link.next
link.first:
  %new.up = getelementptr i8, ptr %new, i64 8
  store ptr null, ptr %new.up, align 8
  store volatile ptr %new, ptr addrspace(3) %order.16, align 8
  br label %have
link.next:
  store atomic ptr %new, ptr %last syncscope("device") monotonic, align 16
  br label %have
have:
  %one = phi ptr [ %last, %ask ], [ %new, %link.first ], [ %new, %link.next ]
  %count = call i32 @llvm.ctpop.i32(i32 %mask)
  %end = add i32 %at.first, %count
  %over = icmp ugt i32 %end, 32
  br i1 %over, label %take.other, label %ready
take.other:
  %second = call ptr @__cdp_sequence_next(ptr addrspace(1) %head, ptr addrspace(3) %order)
  %second.none = icmp eq ptr %second, null
  br i1 %second.none, label %dry, label %link.other
link.other:
  store atomic ptr %second, ptr %one syncscope("device") monotonic, align 16
  br label %ready
ready:
  %other = phi ptr [ %one, %have ], [ %second, %link.other ]
  store volatile ptr %other, ptr addrspace(3) %order.24, align 8
  %after = add i32 %before, %count
  store volatile i32 %after, ptr addrspace(3) %order.12, align 4
  store atomic i32 1, ptr addrspace(3) %order.4 syncscope("block") monotonic, align 4
  br label %meet
dry:
  ; A first chunk that was taken for this holds none, and goes back when the second is not there. `begins` is false when
  ; it was there before.
  %unused = phi ptr [ null, %take ], [ %one, %take.other ]
  %some = icmp ne ptr %unused, null
  %back = and i1 %some, %begins
  br i1 %back, label %give, label %stop
give:
  call void @__cdp_sequence_give(ptr addrspace(1) %head, ptr %unused)
  br label %stop
stop:
  store atomic i32 2, ptr addrspace(3) %order.4 syncscope("block") monotonic, align 4
  call void @__cdp_sequence_flush(ptr addrspace(1) %head, ptr addrspace(3) %order)
  br label %refuse
refuse:
  call void @__cdp_sequence_unlock(ptr addrspace(3) %order)
  br label %meet
meet:
  %mine.one = phi ptr [ null, %entry ], [ %one, %ready ], [ null, %refuse ]
  %mine.other = phi ptr [ null, %entry ], [ %other, %ready ], [ null, %refuse ]
  %mine.at = phi i32 [ 0, %entry ], [ %at.first, %ready ], [ 0, %refuse ]
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %chunk.one = call ptr @__cdp_sequence_pointer_of(i32 %mask, ptr %mine.one, i32 %first.lane)
  %chunk.other = call ptr @__cdp_sequence_pointer_of(i32 %mask, ptr %mine.other, i32 %first.lane)
  %at.leader = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %mine.at, i32 %first.lane, i32 31)
  %none = icmp eq ptr %chunk.one, null
  br i1 %none, label %nothing, label %place
place:
  %below = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  %lower = and i32 %mask, %below
  %rank = call i32 @llvm.ctpop.i32(i32 %lower)
  %nth = add i32 %at.leader, %rank
  %in.one = icmp ult i32 %nth, 32
  %chunk = select i1 %in.one, ptr %chunk.one, ptr %chunk.other
  %number = and i32 %nth, 31
  %number.wide = zext i32 %number to i64
  %bytes.place = getelementptr i8, ptr addrspace(1) %head, i64 16
  %bytes.narrow = load i32, ptr addrspace(1) %bytes.place, align 4
  %record.bytes = zext i32 %bytes.narrow to i64
  %offset = mul i64 %number.wide, %record.bytes
  %behind = add i64 %offset, 32
  %record = getelementptr i8, ptr %chunk, i64 %behind
  %index.place = getelementptr i8, ptr %record, i64 52
  store i32 %number, ptr %index.place, align 4
  %chunk.place = getelementptr i8, ptr %record, i64 56
  store ptr %chunk, ptr %chunk.place, align 8
  ret ptr %record
nothing:
  ret ptr null
}

define internal ptr @__cdp_sequence_pointer_of(i32 %mask, ptr %own, i32 %from) alwaysinline convergent nounwind {
entry:
  %wide = ptrtoint ptr %own to i64
  %word = call i64 @__cdp_sequence_word_of(i32 %mask, i64 %wide, i32 %from)
  %pointer = inttoptr i64 %word to ptr
  ret ptr %pointer
}

define internal i64 @__cdp_sequence_word_of(i32 %mask, i64 %own, i32 %from) alwaysinline convergent nounwind {
entry:
  %low.0 = trunc i64 %own to i32
  %high.wide = lshr i64 %own, 32
  %high.0 = trunc i64 %high.wide to i32
  %low = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %low.0, i32 %from, i32 31)
  %high = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %high.0, i32 %from, i32 31)
  %low.1 = zext i32 %low to i64
  %high.1 = zext i32 %high to i64
  %high.2 = shl i64 %high.1, 32
  %both = or i64 %high.2, %low.1
  ret i64 %both
}

; What comes now, and all that follows in the block, is launched as written, behind what was recorded.
define internal void @__cdp_sequence_stop(ptr addrspace(1) %head, ptr addrspace(3) %order, i32 %mask) noinline convergent nounwind {
entry:
  %order.4 = getelementptr i8, ptr addrspace(3) %order, i64 4
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %stop, label %done
stop:
  call void @__cdp_sequence_lock(ptr addrspace(3) %order)
  store atomic i32 2, ptr addrspace(3) %order.4 syncscope("block") monotonic, align 4
  call void @__cdp_sequence_flush(ptr addrspace(1) %head, ptr addrspace(3) %order)
  call void @__cdp_sequence_unlock(ptr addrspace(3) %order)
  br label %done
done:
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  ret void
}
