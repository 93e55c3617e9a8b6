// Arithmetic with a chosen rounding, never contracted: `__fadd_rn` and its like.
//
// The suffixes are `_rn` (nearest even), `_rz` (toward zero), `_rd` (down), `_ru` (up).

each $OP | $PARAMS | $SUMMARY {
    add | $T x, $T y | x + y, rounded as named.
    sub | $T x, $T y | x - y, rounded as named.
    mul | $T x, $T y | x * y, rounded as named.
    div | $T x, $T y | x / y, rounded as named.
    rcp | $T x | 1 / x, rounded as named.
    sqrt | $T x | Square root, rounded as named.
} {
    // Single precision flushes denormals when asked.
    each $NAME | $T | $PTX {
        __f | float | [.ftz].f32
        __d | double | .f64
    } {
        /// $SUMMARY
        $T $NAME$OP_rn($PARAMS) = ptx "$OP.rn$PTX";
        $T $NAME$OP_rz($PARAMS) = ptx "$OP.rz$PTX";
        $T $NAME$OP_rd($PARAMS) = ptx "$OP.rm$PTX";
        $T $NAME$OP_ru($PARAMS) = ptx "$OP.rp$PTX";
    }
}

each $NAME | $T | $PTX | $SUMMARY {
    __fmaf | float | [.ftz].f32 | x * y + z, rounded once as named.
    __fma | double | .f64 | x * y + z, rounded once as named.
    __fmaf_ieee | float | .f32 | x * y + z, rounded once as named; denormals are kept.
} {
    /// $SUMMARY
    $T $NAME_rn($T x, $T y, $T z) = ptx "fma.rn$PTX";
    $T $NAME_rz($T x, $T y, $T z) = ptx "fma.rz$PTX";
    $T $NAME_rd($T x, $T y, $T z) = ptx "fma.rm$PTX";
    $T $NAME_ru($T x, $T y, $T z) = ptx "fma.rp$PTX";
}
