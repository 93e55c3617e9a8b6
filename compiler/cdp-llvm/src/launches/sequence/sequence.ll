; The functions of launches that keep their order: `sequence.rs` says what they are for and why they are right.
;
; A block's state, in shared memory (`__cdp_order`): 0 lock, 4 whether a child was really launched (2: all others are
; launched as written), 8 threads that came to their end, 12 number of records, 16 first chunk, 24 last chunk.
;
; A chunk: 0 the next chunk, or in the list of free ones the number of the next and 1; then, from 16 on, 32 records. A
; record: 0 kernel, 8 the kernel that runs it in its turn, 16 grid, 28 block, 40 shared bytes, 44 whose turn it is (0:
; it is launched), 48 bytes of arguments, 64 the arguments.

@__cdp_sequence_pool = internal addrspace(1) global [POOL x i8] zeroinitializer, align 16
; The list of free chunks: in the upper half how often one was taken from it, below it the first's number and 1.
@__cdp_sequence_free = internal addrspace(1) global i64 0, align 8
; Chunks that were never taken begin here.
@__cdp_sequence_fresh = internal addrspace(1) global i32 0, align 4

; A chunk, or null.
define internal ptr @__cdp_sequence_take() noinline nounwind {
entry:
  %free = load atomic i64, ptr addrspace(1) @__cdp_sequence_free syncscope("device") monotonic, align 8
  br label %look
look:
  %head = phi i64 [ %free, %entry ], [ %found, %pop ]
  %top = trunc i64 %head to i32
  %none = icmp eq i32 %top, 0
  br i1 %none, label %fresh, label %pop
pop:
  %index = sub i32 %top, 1
  %wide = zext i32 %index to i64
  %at = mul i64 %wide, CHUNK
  %place = getelementptr i8, ptr addrspace(1) @__cdp_sequence_pool, i64 %at
  fence syncscope("device") acq_rel
  %next = load atomic i64, ptr addrspace(1) %place syncscope("device") monotonic, align 8
  %next.low = and i64 %next, 4294967295
  %times = and i64 %head, -4294967296
  %times.more = add i64 %times, 4294967296
  %new = or i64 %times.more, %next.low
  %pair = cmpxchg ptr addrspace(1) @__cdp_sequence_free, i64 %head, i64 %new syncscope("device") monotonic monotonic, align 8
  %found = extractvalue { i64, i1 } %pair, 0
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %taken, label %look
fresh:
  %seen = load atomic i32, ptr addrspace(1) @__cdp_sequence_fresh syncscope("device") monotonic, align 4
  %some = icmp ult i32 %seen, CHUNKS
  br i1 %some, label %first, label %no
first:
  %number = atomicrmw add ptr addrspace(1) @__cdp_sequence_fresh, i32 1 syncscope("device") monotonic, align 4
  %there = icmp ult i32 %number, CHUNKS
  br i1 %there, label %taken, label %no
taken:
  %mine = phi i32 [ %index, %pop ], [ %number, %first ]
  fence syncscope("device") acq_rel
  %mine.wide = zext i32 %mine to i64
  %mine.at = mul i64 %mine.wide, CHUNK
  %global = getelementptr i8, ptr addrspace(1) @__cdp_sequence_pool, i64 %mine.at
  %chunk = addrspacecast ptr addrspace(1) %global to ptr
  ret ptr %chunk
no:
  ret ptr null
}

; Gives a chunk back that nobody reads any more.
define internal void @__cdp_sequence_give(ptr %chunk) noinline nounwind {
entry:
  %pool = ptrtoint ptr addrspacecast (ptr addrspace(1) @__cdp_sequence_pool to ptr) to i64
  %address = ptrtoint ptr %chunk to i64
  %at = sub i64 %address, %pool
  %index = udiv i64 %at, CHUNK
  %number = add i64 %index, 1
  %free = load atomic i64, ptr addrspace(1) @__cdp_sequence_free syncscope("device") monotonic, align 8
  br label %push
push:
  %head = phi i64 [ %free, %entry ], [ %found, %push ]
  %low = and i64 %head, 4294967295
  store atomic i64 %low, ptr %chunk syncscope("device") monotonic, align 8
  fence syncscope("device") acq_rel
  %times = and i64 %head, -4294967296
  %new = or i64 %times, %number
  %pair = cmpxchg ptr addrspace(1) @__cdp_sequence_free, i64 %head, i64 %new syncscope("device") monotonic monotonic, align 8
  %found = extractvalue { i64, i1 } %pair, 0
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %done, label %push
done:
  ret void
}

; Launches %left records, from number %index of %chunk on, into %stream, which orders them: until one comes that has its
; turn in a kernel that goes on from there. After many that have not, such a kernel goes on too, so that no more are
; pending at a time.
define internal void @__cdp_sequence_go(ptr %chunk, i32 %index, i32 %left, ptr %stream) noinline nounwind {
entry:
  br label %each
each:
  %c = phi ptr [ %chunk, %entry ], [ %c.next, %behind ]
  %i = phi i32 [ %index, %entry ], [ %i.next, %behind ]
  %l = phi i32 [ %left, %entry ], [ %l.next, %behind ]
  %n = phi i32 [ 0, %entry ], [ %n.next, %behind ]
  %i.wide = zext i32 %i to i64
  %i.at = mul i64 %i.wide, RECORD
  %i.behind = add i64 %i.at, 16
  %record = getelementptr i8, ptr %c, i64 %i.behind
  %kernel = load ptr, ptr %record, align 8
  %runner.place = getelementptr i8, ptr %record, i64 8
  %runner = load ptr, ptr %runner.place, align 8
  %grid.place = getelementptr i8, ptr %record, i64 16
  %grid = load [3 x i32], ptr %grid.place, align 4
  %block.place = getelementptr i8, ptr %record, i64 28
  %block = load [3 x i32], ptr %block.place, align 4
  %shared.place = getelementptr i8, ptr %record, i64 40
  %shared = load i32, ptr %shared.place, align 4
  %turn.place = getelementptr i8, ptr %record, i64 44
  %turn = load i32, ptr %turn.place, align 4
  %in.turn = icmp ne i32 %turn, 0
  %many = icmp uge i32 %n, 16
  %hand = or i1 %in.turn, %many
  br i1 %hand, label %ask, label %launch
ask:
  %buffer = call ptr @GET(ptr %runner, [3 x i32] [i32 1, i32 1, i32 1], [3 x i32] %block, i32 %shared)
  %no.room = icmp eq ptr %buffer, null
  br i1 %no.room, label %launch, label %hand.over
hand.over:
  store ptr %c, ptr %buffer, align 16
  %buffer.index = getelementptr i8, ptr %buffer, i64 8
  store i32 %i, ptr %buffer.index, align 8
  %buffer.left = getelementptr i8, ptr %buffer, i64 12
  store i32 %l, ptr %buffer.left, align 4
  %refused = call i32 @FIRE(ptr %buffer, ptr %stream)
  %gone = icmp eq i32 %refused, 0
  br i1 %gone, label %done, label %launch
launch:
  %own = call ptr @GET(ptr %kernel, [3 x i32] %grid, [3 x i32] %block, i32 %shared)
  %own.none = icmp eq ptr %own, null
  br i1 %own.none, label %next, label %fill
fill:
  %bytes.place = getelementptr i8, ptr %record, i64 48
  %bytes = load i32, ptr %bytes.place, align 4
  %arguments = getelementptr i8, ptr %record, i64 64
  br label %copy
copy:
  %at = phi i32 [ 0, %fill ], [ %at.next, %one ], [ %at.word, %word ]
  %rest = sub i32 %bytes, %at
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
  %error = call i32 @FIRE(ptr %own, ptr %stream)
  br label %next
next:
  %n.next = add i32 %n, 1
  %l.next = sub i32 %l, 1
  %i.more = add i32 %i, 1
  %over = icmp eq i32 %i.more, 32
  %last = icmp eq i32 %l.next, 0
  %leave = or i1 %over, %last
  br i1 %leave, label %free, label %behind
free:
  %further = load ptr, ptr %c, align 16
  call void @__cdp_sequence_give(ptr %c)
  br i1 %last, label %done, label %behind
behind:
  %c.next = phi ptr [ %c, %next ], [ %further, %free ]
  %i.next = phi i32 [ %i.more, %next ], [ 0, %free ]
  br label %each
done:
  ret void
}

; Launches what the block recorded. Its lock is held, or nobody else is there.
define internal void @__cdp_sequence_flush() noinline nounwind {
entry:
  %left = load volatile i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 12), align 4
  %none = icmp eq i32 %left, 0
  br i1 %none, label %done, label %go
go:
  %first = load volatile ptr, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 16), align 8
  store volatile i32 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 12), align 4
  fence syncscope("device") acq_rel
  call void @__cdp_sequence_go(ptr %first, i32 0, i32 %left, ptr null)
  br label %done
done:
  ret void
}

define internal void @__cdp_sequence_lock() alwaysinline nounwind {
entry:
  br label %spin
spin:
  %held = atomicrmw xchg ptr addrspace(3) @__cdp_order, i32 1 syncscope("block") monotonic, align 4
  %free = icmp eq i32 %held, 0
  br i1 %free, label %locked, label %spin
locked:
  fence syncscope("block") acq_rel
  ret void
}

define internal void @__cdp_sequence_unlock() alwaysinline nounwind {
entry:
  fence syncscope("block") acq_rel
  %was = atomicrmw xchg ptr addrspace(3) @__cdp_order, i32 0 syncscope("block") monotonic, align 4
  ret void
}

; A record for each of the lanes %mask, behind those of the block that there are. They hold the lock until the call of
; `__cdp_sequence_keep`. Null, and no lock, where the lanes are to launch as written.
define internal ptr @__cdp_sequence_record(i32 %mask) noinline convergent nounwind {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first.lane = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first.lane
  br i1 %leads, label %lead, label %meet
lead:
  call void @__cdp_sequence_lock()
  %mode = load volatile i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4), align 4
  %as.written = icmp eq i32 %mode, 2
  br i1 %as.written, label %refuse, label %ask
ask:
  %before = load volatile i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 12), align 4
  %last = load volatile ptr, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 24), align 8
  %at.first = and i32 %before, 31
  %begins = icmp eq i32 %at.first, 0
  br i1 %begins, label %take, label %have
take:
  %new = call ptr @__cdp_sequence_take()
  %new.none = icmp eq ptr %new, null
  br i1 %new.none, label %dry, label %link
link:
  %none.before = icmp eq i32 %before, 0
  br i1 %none.before, label %link.first, label %link.next
link.first:
  store volatile ptr %new, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 16), align 8
  br label %have
link.next:
  store ptr %new, ptr %last, align 16
  br label %have
have:
  %one = phi ptr [ %last, %ask ], [ %new, %link.first ], [ %new, %link.next ]
  %count = call i32 @llvm.ctpop.i32(i32 %mask)
  %end = add i32 %at.first, %count
  %over = icmp ugt i32 %end, 32
  br i1 %over, label %take.other, label %ready
take.other:
  %second = call ptr @__cdp_sequence_take()
  %second.none = icmp eq ptr %second, null
  br i1 %second.none, label %dry, label %link.other
link.other:
  store ptr %second, ptr %one, align 16
  br label %ready
ready:
  %other = phi ptr [ %one, %have ], [ %second, %link.other ]
  store volatile ptr %other, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 24), align 8
  %after = add i32 %before, %count
  store volatile i32 %after, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 12), align 4
  store volatile i32 1, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4), align 4
  br label %meet
dry:
  ; A first chunk that was taken for this holds none, and goes back when the second is not there. `begins` is false when
  ; it was there before.
  %unused = phi ptr [ null, %take ], [ %one, %take.other ]
  %some = icmp ne ptr %unused, null
  %back = and i1 %some, %begins
  br i1 %back, label %give, label %stop
give:
  call void @__cdp_sequence_give(ptr %unused)
  br label %stop
stop:
  store volatile i32 2, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4), align 4
  call void @__cdp_sequence_flush()
  br label %refuse
refuse:
  call void @__cdp_sequence_unlock()
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
  %offset = mul i64 %number.wide, RECORD
  %behind = add i64 %offset, 16
  %record = getelementptr i8, ptr %chunk, i64 %behind
  ret ptr %record
nothing:
  ret ptr null
}

define internal ptr @__cdp_sequence_pointer_of(i32 %mask, ptr %own, i32 %from) alwaysinline convergent nounwind {
entry:
  %wide = ptrtoint ptr %own to i64
  %low.0 = trunc i64 %wide to i32
  %high.wide = lshr i64 %wide, 32
  %high.0 = trunc i64 %high.wide to i32
  %low = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %low.0, i32 %from, i32 31)
  %high = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %high.0, i32 %from, i32 31)
  %low.1 = zext i32 %low to i64
  %high.1 = zext i32 %high to i64
  %high.2 = shl i64 %high.1, 32
  %both = or i64 %high.2, %low.1
  %pointer = inttoptr i64 %both to ptr
  ret ptr %pointer
}

; The lanes %mask have written their records.
define internal void @__cdp_sequence_keep(i32 %mask) noinline convergent nounwind {
entry:
  fence syncscope("device") acq_rel
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %unlock, label %done
unlock:
  call void @__cdp_sequence_unlock()
  br label %done
done:
  ret void
}

; What comes now, and all that follows in the block, is launched as written, behind what was recorded.
define internal void @__cdp_sequence_stop(i32 %mask) noinline convergent nounwind {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %stop, label %done
stop:
  call void @__cdp_sequence_lock()
  store volatile i32 2, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4), align 4
  call void @__cdp_sequence_flush()
  call void @__cdp_sequence_unlock()
  br label %done
done:
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  ret void
}

; A thread comes to its end; the block's last launches what was recorded.
define internal void @__cdp_sequence_end() noinline convergent nounwind {
entry:
  %mask = call i32 @llvm.nvvm.activemask()
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %leads = icmp eq i32 %lane, %first
  br i1 %leads, label %arrive, label %done
arrive:
  %count = call i32 @llvm.ctpop.i32(i32 %mask)
  fence syncscope("block") acq_rel
  %before = atomicrmw add ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 8), i32 %count syncscope("block") monotonic, align 4
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
  call void @__cdp_sequence_flush()
  br label %done
done:
  ret void
}

; A block of one thread has nobody to share a launch with.
define internal void @__cdp_sequence_begin() alwaysinline nounwind {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %xy = mul i32 %x, %y
  %xyz = mul i32 %xy, %z
  %single = icmp eq i32 %xyz, 1
  br i1 %single, label %plain, label %done
plain:
  store volatile i32 2, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4), align 4
  br label %done
done:
  ret void
}
