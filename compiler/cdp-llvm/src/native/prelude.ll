; What native code of runs calls: see memory.rs.

; The lowest and the highest of 32 addresses, and all bits that are set in any.
define internal { i64, i64, i64 } @extremes(ptr %addresses) noinline nounwind {
  %all = load <32 x i64>, ptr %addresses, align 32
  %lo = call i64 @llvm.vector.reduce.umin.v32i64(<32 x i64> %all)
  %hi = call i64 @llvm.vector.reduce.umax.v32i64(<32 x i64> %all)
  %bits = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %all)
  %a = insertvalue { i64, i64, i64 } poison, i64 %lo, 0
  %b = insertvalue { i64, i64, i64 } %a, i64 %hi, 1
  %c = insertvalue { i64, i64, i64 } %b, i64 %bits, 2
  ret { i64, i64, i64 } %c
}

; How many of 32 addresses, with a number added, lie in another segment of 128 bytes than the one before.
define internal i64 @segments(ptr %addresses, i64 %added) noinline nounwind {
  %all = load <32 x i64>, ptr %addresses, align 32
  %one = insertelement <32 x i64> poison, i64 %added, i32 0
  %more = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  %sum = add <32 x i64> %all, %more
  %now = lshr <32 x i64> %sum, splat (i64 7)
  %before = shufflevector <32 x i64> %now, <32 x i64> poison, <32 x i32> <i32 0, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30>
  %other = icmp ne <32 x i64> %now, %before
  %bits = bitcast <32 x i1> %other to i32
  %count = call i32 @llvm.ctpop.i32(i32 %bits)
  %wide = zext i32 %count to i64
  %result = add i64 %wide, 1
  ret i64 %result
}
