; The functions of a queue of launches: `queue.rs` says what it is for and why it is right.
;
; A bucket: 0 owner, 8 word, 16 shape, 24 closed word (64 bits each), 32 written, 36 left, 40 hint (32 bits
; each), 48 the records; below 0, from the first one down, the ends of its records' blocks. The word: bit 63 open, bit 62
; closed, from bit 40 on the number of records, below it that of blocks.
; %buckets small buckets come first, then large ones, %total in all.

declare void @llvm.nvvm.nanosleep(i32)

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
define internal { i32, i64 } @__cdp_queue_reserve(ptr addrspace(1) %memory, i32 %buckets, i32 %total, i64 %small.first,
    i64 %stride, i64 %large.first, i64 %large.stride, i64 %small.most, i64 %large.most, i64 %bytes, i64 %shape, i32 %count,
    i32 %blocks) #0 {
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
define internal i64 @__cdp_queue_close(ptr addrspace(1) %own, i64 %most, i32 %quiet, i32 %patience) #0 {
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

; The bucket is done with by %blocks of its blocks; the last gives it back.
define internal void @__cdp_queue_leave(ptr %bucket, i32 %blocks) nounwind alwaysinline {
entry:
  %word.place = getelementptr i8, ptr %bucket, i64 8
  %left.place = getelementptr i8, ptr %bucket, i64 36
  %left.global = addrspacecast ptr %left.place to ptr addrspace(1)
  %minus = sub i32 0, %blocks
  ; No fence of LLVM's: it would empty the cache of every block's multiprocessor, and what was read is only to be
  ; read before.
  %left = call i32 asm sideeffect "atom.release.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(
      ptr addrspace(1) %left.global, i32 %minus)
  %last = icmp eq i32 %left, %blocks
  br i1 %last, label %free, label %done
free:
  fence syncscope("device") acq_rel
  store atomic i64 0, ptr %word.place syncscope("device") monotonic, align 8
  fence syncscope("device") acq_rel
  store atomic i64 0, ptr %bucket syncscope("device") monotonic, align 8
  br label %done
done:
  ret void
}

; What hardly ever happens is not worth the code of an unrolled loop.
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
