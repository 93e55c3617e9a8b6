; The functions of a queue of launches: `queue.rs` says what it is for and why it is right. Those that no program has to
; compile stand in `queue_made.ll`.
;
; A bucket: 0 owner, 8 word, 16 shape, 24 closed word (64 bits each), 32 written, 36 left, 40 hint (32 bits
; each), 48 the records; below 0, from the first one down, the ends of its records' blocks. The word: bit 63 open, bit 62
; closed, from bit 40 on the number of records, below it that of blocks.
; %buckets small buckets come first, then large ones, %total in all.

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
