; The functions of a queue of launches, and of the door of a warp, that are the same for every program: `queue.rs` and
; `door.rs` say what they are for and why they are right. `queue_made.ptx` is made of this file, by a test.
;
; A bucket: 0 owner, 8 word, 16 shape, 24 closed word (64 bits each), 32 written, 36 left, 40 hint (32 bits
; each), 48 the records; below 0, from the first one down, the ends of its records' blocks. The word: bit 63 open, bit 62
; closed, from bit 40 on the number of records, below it that of blocks.
; %buckets small buckets come first, then large ones, %total in all.

target triple = "nvptx64-nvidia-cuda"

declare void @llvm.nvvm.nanosleep(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.smid()
declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
declare i32 @llvm.nvvm.read.ptx.sreg.nsmid()
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare ptr @__cdp_get_buffer(ptr, [3 x i32], [3 x i32], i32)
declare i32 @__cdp_launch_buffer(ptr, ptr)

@__cdp_door = internal addrspace(1) global [16384 x i32] zeroinitializer, align 4

; Where a bucket is.
define internal ptr @__cdp_queue_bucket(ptr %queue, i32 %k, i32 %buckets, i64 %first, i64 %stride, i64 %large.first,
    i64 %large.stride) nounwind alwaysinline {
entry:
  %large = icmp uge i32 %k, %buckets
  %k.large = sub i32 %k, %buckets
  %nth = select i1 %large, i32 %k.large, i32 %k
  %step = select i1 %large, i64 %large.stride, i64 %stride
  %base = select i1 %large, i64 %large.first, i64 %first
  %nth.wide = zext i32 %nth to i64
  %at = mul i64 %nth.wide, %step
  %behind = add i64 %at, %base
  %bucket = getelementptr i8, ptr %queue, i64 %behind
  ret ptr %bucket
}

; A place for %count records of %blocks blocks together, in a bucket of this grid whose shape is %shape. Yields
; the bucket's index, or -1, and where records and blocks begin; bit 63 of these says that the caller has to
; launch the bucket.
define { i32, i64 } @__cdp_queue_reserve(ptr addrspace(1) %memory, i32 %buckets, i32 %total, i64 %small.first,
    i64 %stride, i64 %large.first, i64 %large.stride, i64 %small.most, i64 %large.most, i64 %bytes, i64 %shape, i32 %count,
    i32 %blocks) noinline nounwind {
entry:
  %queue = addrspacecast ptr addrspace(1) %memory to ptr
  %grid = call i64 asm "mov.u64 $0, %gridid;", "=l"()
  %me = xor i64 %grid, 4611686018427387904
  %n = zext i32 %count to i64
  %b = zext i32 %blocks to i64
  %n.high = shl i64 %n, 40
  %delta = or i64 %n.high, %b
  %mixed = mul i64 %me, -7046029254386353131
  %high = lshr i64 %mixed, 40
  %start = trunc i64 %high to i32
  %mask = sub i32 %buckets, 1
  %home = and i32 %start, %mask
  %home.bucket = call ptr @__cdp_queue_bucket(ptr %queue, i32 %home, i32 %buckets, i64 %small.first, i64 %stride,
      i64 %large.first, i64 %large.stride)
  %hint.place = getelementptr i8, ptr %home.bucket, i64 40
  %hint = load atomic i32, ptr %hint.place syncscope("device") monotonic, align 8
  br label %probe

probe:
  %k = phi i32 [ %hint, %entry ], [ %k.next, %next ]
  %been = phi i1 [ false, %entry ], [ %been.next, %next ]
  %p = phi i32 [ 0, %entry ], [ %p.next, %next ]
  %tries = phi i32 [ 0, %entry ], [ %tries.next, %next ]
  %more = icmp ult i32 %p, %total
  br i1 %more, label %look, label %none
look:
  %bucket = call ptr @__cdp_queue_bucket(ptr %queue, i32 %k, i32 %buckets, i64 %small.first, i64 %stride, i64 %large.first,
      i64 %large.stride)
  %is.large = icmp uge i32 %k, %buckets
  %most = select i1 %is.large, i64 %large.most, i64 %small.most
  %most.short = trunc i64 %most to i32
  %word.place = getelementptr i8, ptr %bucket, i64 8
  %shape.place = getelementptr i8, ptr %bucket, i64 16
  %closed.place = getelementptr i8, ptr %bucket, i64 24
  %written.place = getelementptr i8, ptr %bucket, i64 32
  ; One look at all three: what is seen here need not fit together, since it is looked at again behind the addition.
  %owner = load atomic i64, ptr %bucket syncscope("device") monotonic, align 8
  %word = load atomic i64, ptr %word.place syncscope("device") monotonic, align 8
  %its.shape = load atomic i64, ptr %shape.place syncscope("device") monotonic, align 8
  %seen.shift = shl i64 %word, 1
  %seen.flag = lshr i64 %seen.shift, 41
  %seen = and i64 %seen.flag, 4194303
  %seen.end = add i64 %seen, %n
  %fits = icmp ule i64 %seen.end, %most
  %alike = icmp eq i64 %its.shape, %shape
  %is.open = icmp slt i64 %word, 0
  %free = icmp eq i64 %owner, 0
  br i1 %free, label %claim, label %taken
claim:
  %pair = cmpxchg ptr %bucket, i64 0, i64 %me syncscope("device") monotonic monotonic, align 8
  %found = extractvalue { i64, i1 } %pair, 0
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %open, label %lost
open:
  store atomic i64 %shape, ptr %shape.place syncscope("device") monotonic, align 8
  store atomic i64 0, ptr %closed.place syncscope("device") monotonic, align 8
  store atomic i32 0, ptr %written.place syncscope("device") monotonic, align 8
  fence syncscope("device") acq_rel
  %first = or i64 %delta, -9223372036854775808
  %before.open = atomicrmw xchg ptr %word.place, i64 %first syncscope("device") monotonic, align 8
  store atomic i32 %k, ptr %hint.place syncscope("device") monotonic, align 8
  br label %done
lost:
  %its.mine = icmp eq i64 %found, %me
  br i1 %its.mine, label %opening, label %pass
taken:
  %mine = icmp eq i64 %owner, %me
  br i1 %mine, label %peek, label %pass
peek:
  br i1 %is.open, label %room, label %shut
shut:
  ; Between the claim and the opening it is about to be there.
  %flag = and i64 %word, 4611686018427387904
  %is.shut = icmp ne i64 %flag, 0
  br i1 %is.shut, label %behind, label %opening
opening:
  %patient = icmp ult i32 %tries, 256
  br i1 %patient, label %wait, label %pass
wait:
  ; Whoever opens it comes through to it sooner.
  call void @llvm.nvvm.nanosleep(i32 100)
  %tries.more = add i32 %tries, 1
  br label %next
room:
  %try = and i1 %alike, %fits
  br i1 %try, label %add, label %behind
behind:
  ; As many buckets on as those that found no room would fill: they would all come to the next one otherwise, and wait
  ; for each other there again.
  %fits.not = xor i1 %fits, true
  %is.full = and i1 %alike, %fits.not
  %seen.short = trunc i64 %seen to i32
  %lost.count = select i1 %alike, i32 %seen.short, i32 0
  %spread = udiv i32 %lost.count, %most.short
  %spread.least = call i32 @llvm.umax.i32(i32 %spread, i32 1)
  %draw = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %drawn = urem i32 %draw, %spread.least
  %drawn.on = add i32 %drawn, 1
  br label %pass
add:
  %old = atomicrmw add ptr %word.place, i64 %delta syncscope("device") monotonic, align 8
  %was.open = icmp slt i64 %old, 0
  br i1 %was.open, label %check, label %pass
check:
  %index.shift = shl i64 %old, 1
  %index = lshr i64 %index.shift, 41
  %index.end = add i64 %index, %n
  %base = and i64 %old, 1099511627775
  %base.end = add i64 %base, %b
  %few = icmp ule i64 %index.end, %most
  %small = icmp ule i64 %base.end, 1073741824
  %good = and i1 %few, %small
  br i1 %good, label %reserved, label %over
over:
  ; Exactly one finds the bucket as it was before it was too much: it tells where the good ones end.
  %good.index = icmp ule i64 %index, %most
  %good.base = icmp ule i64 %base, 1073741824
  %tells = and i1 %good.index, %good.base
  ; Its number says which of the next ones it would have filled.
  %index.short = trunc i64 %index to i32
  %nth.short = udiv i32 %index.short, %most.short
  br i1 %tells, label %tell, label %pass
tell:
  %before.tell = atomicrmw xchg ptr %closed.place, i64 %old syncscope("device") monotonic, align 8
  br label %pass
reserved:
  fence syncscope("device") acq_rel
  ; Until these records are written the bucket stays its owner's, and now it can be seen whose that is.
  %owner.now = load atomic i64, ptr %bucket syncscope("device") monotonic, align 8
  %shape.now = load atomic i64, ptr %shape.place syncscope("device") monotonic, align 8
  %still = icmp eq i64 %owner.now, %me
  %still.alike = icmp eq i64 %shape.now, %shape
  %ours = and i1 %still, %still.alike
  %clean = and i64 %old, 9223372036854775807
  br i1 %ours, label %done, label %void
void:
  ; Another's by now: records whose blocks do nothing.
  %i = phi i64 [ 0, %reserved ], [ %i.next, %void ]
  %nth.record = add i64 %index, %i
  %end.below = sub i64 -1, %nth.record
  %end.place = getelementptr i32, ptr %bucket, i64 %end.below
  %end = trunc i64 %base.end to i32
  store i32 %end, ptr %end.place, align 4
  %record.at = mul i64 %nth.record, %bytes
  %record.behind = add i64 %record.at, 48
  %record = getelementptr i8, ptr %bucket, i64 %record.behind
  store i32 0, ptr %record, align 4
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %n
  br i1 %i.more, label %void, label %void.done, !llvm.loop !0
void.done:
  fence syncscope("device") acq_rel
  %written.before = atomicrmw add ptr %written.place, i32 %count syncscope("device") monotonic, align 8
  br label %pass
pass:
  %far = phi i32 [ 1, %lost ], [ 1, %taken ], [ 1, %opening ], [ %drawn.on, %behind ], [ 1, %add ],
      [ %nth.short, %over ], [ %nth.short, %tell ], [ 1, %void.done ]
  %full = phi i1 [ false, %lost ], [ false, %taken ], [ false, %opening ], [ %is.full, %behind ], [ false, %add ],
      [ true, %over ], [ true, %tell ], [ false, %void.done ]
  ; What a small bucket has no room for goes to the large ones, which are few launches.
  %k.up = add i32 %k, 1
  %up.is = icmp ult i32 %k.up, %total
  %large.next = select i1 %up.is, i32 %k.up, i32 %home
  %far.part = and i32 %far, %mask
  %far.least = call i32 @llvm.umax.i32(i32 %far.part, i32 1)
  %k.far = add i32 %k, %far.least
  %k.round = and i32 %k.far, %mask
  %larges = icmp ult i32 %buckets, %total
  %been.not = xor i1 %been, true
  %full.first = and i1 %full, %been.not
  %enlarge = and i1 %full.first, %larges
  %small.next = select i1 %enlarge, i32 %buckets, i32 %k.round
  %k.pass = select i1 %is.large, i32 %large.next, i32 %small.next
  %been.pass = or i1 %been, %is.large
  %p.more = add i32 %p, 1
  br label %next
next:
  %k.next = phi i32 [ %k, %wait ], [ %k.pass, %pass ]
  %been.next = phi i1 [ %been, %wait ], [ %been.pass, %pass ]
  %p.next = phi i32 [ %p, %wait ], [ %p.more, %pass ]
  %tries.next = phi i32 [ %tries.more, %wait ], [ 0, %pass ]
  br label %probe

done:
  %place = phi i64 [ -9223372036854775808, %open ], [ %clean, %reserved ]
  br label %none
none:
  %result.index = phi i32 [ -1, %probe ], [ %k, %done ]
  %result.place = phi i64 [ 0, %probe ], [ %place, %done ]
  %result.0 = insertvalue { i32, i64 } poison, i32 %result.index, 0
  %result = insertvalue { i32, i64 } %result.0, i64 %result.place, 1
  ret { i32, i64 } %result
}

; Waits until no record came for %quiet looks, but no longer than %patience looks, and closes the bucket once all
; that were begun are written. Yields its word.
define internal i64 @__cdp_queue_close(ptr addrspace(1) %own, i64 %most, i32 %quiet, i32 %patience) alwaysinline nounwind {
entry:
  %bucket = addrspacecast ptr addrspace(1) %own to ptr
  %word.place = getelementptr i8, ptr %bucket, i64 8
  %closed.place = getelementptr i8, ptr %bucket, i64 24
  %written.place = getelementptr i8, ptr %bucket, i64 32
  %left.place = getelementptr i8, ptr %bucket, i64 36
  br label %poll
poll:
  %looks = phi i32 [ 0, %entry ], [ %looks.next, %nap ]
  %last = phi i64 [ 0, %entry ], [ %word, %nap ]
  %still = phi i32 [ 0, %entry ], [ %still.next, %nap ]
  %word = load atomic i64, ptr %word.place syncscope("device") monotonic, align 8
  %moved = icmp ne i64 %word, %last
  %still.more = add i32 %still, 1
  %still.next = select i1 %moved, i32 0, i32 %still.more
  %restless = icmp ult i32 %still.next, %quiet
  %time = icmp ult i32 %looks, %patience
  %seen.shift = shl i64 %word, 1
  %seen = lshr i64 %seen.shift, 41
  %room = icmp ult i64 %seen, %most
  %wait.0 = and i1 %restless, %time
  %wait = and i1 %wait.0, %room
  br i1 %wait, label %nap, label %shut
nap:
  call void @llvm.nvvm.nanosleep(i32 500)
  %looks.next = add i32 %looks, 1
  br label %poll
shut:
  %set = atomicrmw xor ptr %word.place, i64 -4611686018427387904 syncscope("device") monotonic, align 8
  %set.shift = shl i64 %set, 1
  %set.records = lshr i64 %set.shift, 41
  %set.blocks = and i64 %set, 1099511627775
  %few = icmp ule i64 %set.records, %most
  %small = icmp ule i64 %set.blocks, 1073741824
  %good = and i1 %few, %small
  br i1 %good, label %all, label %told
told:
  %told.word = load atomic i64, ptr %closed.place syncscope("device") monotonic, align 8
  %is.told = icmp ne i64 %told.word, 0
  br i1 %is.told, label %all, label %told
all:
  %final = phi i64 [ %set, %shut ], [ %told.word, %told ]
  %final.shift = shl i64 %final, 1
  %final.records = lshr i64 %final.shift, 41
  %count = trunc i64 %final.records to i32
  br label %fill
fill:
  %written = load atomic i32, ptr %written.place syncscope("device") monotonic, align 8
  %full = icmp eq i32 %written, %count
  br i1 %full, label %ready, label %fill
ready:
  fence syncscope("device") acq_rel
  %blocks = trunc i64 %final to i32
  store atomic i32 %blocks, ptr %left.place syncscope("device") monotonic, align 4
  %clean = and i64 %final, 4611686018427387903
  ret i64 %clean
}

; Closes a bucket whose records are to be run by %runner, and launches that; where this cannot be done each record by
; itself, of the kernel as it was written. With %several other lanes of the warp may be about to launch, so that the device
; runtime is asked behind the door. The grid has no more blocks than %waves times fit on the device, if that is not 0, and
; one for each %coarsen blocks at most, if that is not 0. Where %pack is not 0, as many blocks of less than a warp as have so
; many threads stand beside each other in one of the grid, whose blocks are in one dimension. %layout is that of a record: 0
; bytes, 16 where its arguments begin, 32 their bytes (16 bits each), 48 whether it has all of the grid's dimensions.
define void @__cdp_queue_launch(ptr addrspace(1) %own, i64 %most, i32 %quiet, i32 %patience, ptr %runner, ptr %kernel,
    i64 %layout, i32 %bx, i32 %by, i32 %bz, i32 %shared, i32 %waves, i32 %coarsen, ptr %stream, i32 %several,
    i32 %pack) noinline nounwind {
entry:
  %bucket = addrspacecast ptr addrspace(1) %own to ptr
  %word = call i64 @__cdp_queue_close(ptr addrspace(1) %own, i64 %most, i32 %quiet, i32 %patience)
  %count.shift = shl i64 %word, 1
  %count.wide = lshr i64 %count.shift, 41
  %count = trunc i64 %count.wide to i32
  %blocks = trunc i64 %word to i32
  %plane = mul i32 %bx, %by
  %threads = mul i32 %plane, %bz
  %fit = udiv i32 2048, %threads
  %fit.most = call i32 @llvm.umin.i32(i32 %fit, i32 32)
  %multiprocessors = call i32 @llvm.nvvm.read.ptx.sreg.nsmid()
  %resident = mul i32 %fit.most, %multiprocessors
  %in.waves = mul i32 %resident, %waves
  %no.waves = icmp eq i32 %waves, 0
  %wave.blocks = select i1 %no.waves, i32 -1, i32 %in.waves
  %pack.fit = udiv i32 %pack, %threads
  %pack.many = call i32 @llvm.umax.i32(i32 %pack.fit, i32 1)
  %is.part = icmp ult i32 %threads, 32
  %beside = select i1 %is.part, i32 %pack.many, i32 1
  %beside.less = sub i32 %beside, 1
  %beside.above = add i32 %blocks, %beside.less
  %packed = udiv i32 %beside.above, %beside
  %grid.waves = call i32 @llvm.umin.i32(i32 %packed, i32 %wave.blocks)
  %each = call i32 @llvm.umax.i32(i32 %coarsen, i32 1)
  %less = sub i32 %each, 1
  %above = add i32 %blocks, %less
  %coarse = udiv i32 %above, %each
  %grid = call i32 @llvm.umin.i32(i32 %grid.waves, i32 %coarse)
  %others = icmp ne i32 %several, 0
  br i1 %others, label %enter, label %ask
enter:
  %entered = call ptr addrspace(1) @__cdp_door_enter()
  br label %ask
ask:
  %door = phi ptr addrspace(1) [ null, %entry ], [ %entered, %enter ]
  %grid.x = insertvalue [3 x i32] [i32 poison, i32 1, i32 1], i32 %grid, 0
  %block.x = insertvalue [3 x i32] poison, i32 %bx, 0
  %block.y = insertvalue [3 x i32] %block.x, i32 %by, 1
  %block = insertvalue [3 x i32] %block.y, i32 %bz, 2
  %packs = icmp ne i32 %pack, 0
  %row = mul i32 %beside, %threads
  %row.block = insertvalue [3 x i32] [i32 poison, i32 1, i32 1], i32 %row, 0
  %run.block = select i1 %packs, [3 x i32] %row.block, [3 x i32] %block
  %buffer = call ptr @__cdp_get_buffer(ptr %runner, [3 x i32] %grid.x, [3 x i32] %run.block, i32 %shared)
  %none = icmp eq ptr %buffer, null
  br i1 %none, label %alone, label %fill
fill:
  store ptr %bucket, ptr %buffer, align 16
  %count.place = getelementptr i8, ptr %buffer, i64 8
  store i32 %count, ptr %count.place, align 8
  %blocks.place = getelementptr i8, ptr %buffer, i64 12
  store i32 %blocks, ptr %blocks.place, align 4
  %error = call i32 @__cdp_launch_buffer(ptr %buffer, ptr %stream)
  %good = icmp eq i32 %error, 0
  br i1 %good, label %launched, label %alone
alone:
  %bytes = and i64 %layout, 65535
  %first.shift = lshr i64 %layout, 16
  %first = and i64 %first.shift, 65535
  %size.shift = lshr i64 %layout, 32
  %size.wide = and i64 %size.shift, 65535
  %size = trunc i64 %size.wide to i32
  %deep.shift = lshr i64 %layout, 48
  %deep = icmp ne i64 %deep.shift, 0
  %records = getelementptr i8, ptr %bucket, i64 48
  br label %one
one:
  %i = phi i64 [ 0, %alone ], [ %i.next, %next ]
  %record.at = mul i64 %i, %bytes
  %record = getelementptr i8, ptr %records, i64 %record.at
  %gx = load i32, ptr %record, align 4
  %void = icmp eq i32 %gx, 0
  br i1 %void, label %next, label %dims
dims:
  br i1 %deep, label %above.x, label %get
above.x:
  %y.place = getelementptr i8, ptr %record, i64 4
  %y = load i32, ptr %y.place, align 4
  %z.place = getelementptr i8, ptr %record, i64 8
  %z = load i32, ptr %z.place, align 4
  br label %get
get:
  %gy = phi i32 [ 1, %dims ], [ %y, %above.x ]
  %gz = phi i32 [ 1, %dims ], [ %z, %above.x ]
  %its.x = insertvalue [3 x i32] poison, i32 %gx, 0
  %its.y = insertvalue [3 x i32] %its.x, i32 %gy, 1
  %its.grid = insertvalue [3 x i32] %its.y, i32 %gz, 2
  %its = call ptr @__cdp_get_buffer(ptr %kernel, [3 x i32] %its.grid, [3 x i32] %block, i32 %shared)
  %its.none = icmp eq ptr %its, null
  br i1 %its.none, label %next, label %arguments
arguments:
  ; They begin at a word: a record does, and has words before them.
  %from.first = getelementptr i8, ptr %record, i64 %first
  br label %copy
copy:
  %at = phi i32 [ 0, %arguments ], [ %at.byte, %byte ], [ %at.word, %word.copy ]
  %rest = sub i32 %size, %at
  %at.wide = zext i32 %at to i64
  %from = getelementptr i8, ptr %from.first, i64 %at.wide
  %to = getelementptr i8, ptr %its, i64 %at.wide
  %is.word = icmp uge i32 %rest, 4
  br i1 %is.word, label %word.copy, label %tail
word.copy:
  %w = load i32, ptr %from, align 4
  store i32 %w, ptr %to, align 4
  %at.word = add i32 %at, 4
  br label %copy
tail:
  %some = icmp ne i32 %rest, 0
  br i1 %some, label %byte, label %fire
byte:
  %c = load i8, ptr %from, align 1
  store i8 %c, ptr %to, align 1
  %at.byte = add i32 %at, 1
  br label %copy
fire:
  %its.error = call i32 @__cdp_launch_buffer(ptr %its, ptr %stream)
  br label %next
next:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %count.wide
  br i1 %more, label %one, label %back, !llvm.loop !0
back:
  ; The bucket is done with, as its blocks would say (`__cdp_queue_leave`): nobody else has a part in it.
  %word.place = getelementptr i8, ptr %bucket, i64 8
  fence syncscope("device") acq_rel
  store atomic i64 0, ptr %word.place syncscope("device") monotonic, align 8
  fence syncscope("device") acq_rel
  store atomic i64 0, ptr %bucket syncscope("device") monotonic, align 8
  br label %launched
launched:
  br i1 %others, label %leave, label %done
leave:
  store atomic i32 0, ptr addrspace(1) %door syncscope("device") monotonic, align 4
  br label %done
done:
  ret void
}

; Waits until no other lane of this warp is behind the door. Yields what is given back; a warp that is moved to another place
; meanwhile has its door with it. What one lane knows is not passed on to the next: neither fence nor cache is asked.
define ptr addrspace(1) @__cdp_door_enter() noinline nounwind {
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

; What hardly ever happens is not worth the code of an unrolled loop.
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
