// SIMD within a word: two half-words or four bytes in an `unsigned`, and the DPX functions.
//
// Of the byte forms machines have absolute differences alone, and only sm_90 has some half-word ones, so the others are
// written over whole words: H is the top bit of each lane, L the lowest, M all but the top. Sums
// are made without the top bits, which are then put right by exclusive or, so that nothing carries
// from lane to lane; comparisons leave their answer in the top bits, from where `prmt` spreads it.

// The functions of one lane width: suffix, H, M, L, shift from H to L.
each $N | $H | $M | $L | $S | $SPREAD {
    2 | 0x80008000u | 0x7fff7fffu | 0x00010001u | 15 | 0xbb99
    4 | 0x80808080u | 0x7f7f7f7fu | 0x01010101u | 7 | 0xba98
} {
    /// The top bit of each lane in all its bits.
    unsigned __cdp_spread$N(unsigned a) = ptx "prmt.b32 $0, $1, 0, $SPREAD;";
    // The top bits say where a is less than b.
    /// A step of the SIMD functions.
    unsigned __cdp_ltu$N(unsigned a, unsigned b)
        { return (~a & b) | (~(a ^ b) & ~((a | $H) - (b & $M))); }
    unsigned __cdp_lts$N(unsigned a, unsigned b)
        { return (a & ~b) | (~(a ^ b) & ~((a | $H) - (b & $M))); }
    // The top bits say where a and b differ.
    unsigned __cdp_ne$N(unsigned a, unsigned b) { unsigned x = a ^ b; return ((x & $M) + $M) | x; }
    unsigned __cdp_add$N(unsigned a, unsigned b)
        { return ((a & $M) + (b & $M)) ^ ((a ^ b) & $H); }

    /// Difference of each lane.
    unsigned __vsub$N(unsigned a, unsigned b) { return ((a | $H) - (b & $M)) ^ ((a ^ ~b) & $H); }
    /// Unsigned saturated sum of each lane.
    unsigned __vaddus$N(unsigned a, unsigned b)
        { unsigned r = __vadd$N(a, b); return r | __cdp_spread$N((a & b) | ((a | b) & ~r)); }
    /// Unsigned saturated difference of each lane.
    unsigned __vsubus$N(unsigned a, unsigned b) { return __vsub$N(a, b) & ~__vcmpltu$N(a, b); }
    // Overflow when both operands have one sign and the sum the other; then the limit on the side of a.
    /// Signed saturated sum of each lane.
    unsigned __vaddss$N(unsigned a, unsigned b) {
        unsigned r = __vadd$N(a, b); unsigned o = __cdp_spread$N((r ^ a) & (r ^ b));
        return (r & ~o) | ((__cdp_spread$N(a) ^ $M) & o);
    }
    /// Signed saturated difference of each lane.
    unsigned __vsubss$N(unsigned a, unsigned b) {
        unsigned r = __vsub$N(a, b); unsigned o = __cdp_spread$N((a ^ b) & (r ^ a));
        return (r & ~o) | ((__cdp_spread$N(a) ^ $M) & o);
    }
    /// Negation of each lane.
    unsigned __vneg$N(unsigned a) { return ($H - (a & $M)) ^ (~a & $H); }
    /// Negation of each lane, saturated.
    unsigned __vnegss$N(unsigned a)
        { unsigned r = __vneg$N(a); return r - ((r & a & $H) >> $S); }
    /// Absolute value of each lane.
    unsigned __vabs$N(unsigned a) { unsigned m = __cdp_spread$N(a); return (a ^ m) + (m & $L); }
    /// Absolute value of each lane, saturated.
    unsigned __vabsss$N(unsigned a) { unsigned r = __vabs$N(a); return r - ((r & $H) >> $S); }
    /// Average of each lane, rounded up.
    unsigned __vavgu$N(unsigned a, unsigned b) { return (a | b) - (((a ^ b) & ~$L) >> 1); }
    /// Average of each lane, rounded down.
    unsigned __vhaddu$N(unsigned a, unsigned b) { return (a & b) + (((a ^ b) & ~$L) >> 1); }
    // Rounded down over values biased to unsigned; then up where the result is not negative and a
    // bit was lost.
    /// Average of each lane, rounded up.
    unsigned __vavgs$N(unsigned a, unsigned b) {
        unsigned x = a ^ b; unsigned r = (((a ^ $H) & (b ^ $H)) + ((x & ~$L) >> 1)) ^ $H;
        return r + (x & $L & ~(r >> $S));
    }

    // What is compared, by steps that are less than or different.
    each $C | $A | $NOT {
        eq | ne$N(a, b) | ~
        ne | ne$N(a, b) |
        ltu | ltu$N(a, b) |
        lts | lts$N(a, b) |
        gtu | ltu$N(b, a) |
        gts | lts$N(b, a) |
    } {
        /// Compares lane by lane; all bits of a lane answer.
        unsigned __vcmp$C$N(unsigned a, unsigned b) { return $NOT__cdp_spread$N(__cdp_$A); }
        /// Compares lane by lane; 1 or 0 answers.
        unsigned __vset$C$N(unsigned a, unsigned b) { return ($NOT__cdp_$A & $H) >> $S; }
    }
    each $C | $A {
        leu | ltu$N(b, a)
        les | lts$N(b, a)
        geu | ltu$N(a, b)
        ges | lts$N(a, b)
    } {
        /// Compares lane by lane; all bits of a lane answer.
        unsigned __vcmp$C$N(unsigned a, unsigned b) { return __cdp_spread$N(~__cdp_$A); }
        /// Compares lane by lane; 1 or 0 answers.
        unsigned __vset$C$N(unsigned a, unsigned b) { return (~__cdp_$A & $H) >> $S; }
    }
}

/// Sum of each lane.
unsigned __vadd2(unsigned a, unsigned b) = sm_90 ? ptx "add.u16x2" : { return __cdp_add2(a, b); }
unsigned __vadd4(unsigned a, unsigned b) { return __cdp_add4(a, b); }

// The comparison chooses b over a (`max`) or a over b (`min`).
each $SIGN {
    u
    s
} {
    /// The larger value of each lane.
    unsigned __vmax$SIGN2(unsigned a, unsigned b) = sm_90 ? ptx "max.$SIGN16x2"
        : { unsigned m = __vcmplt$SIGN2(a, b); return (b & m) | (a & ~m); }
    unsigned __vmax$SIGN4(unsigned a, unsigned b)
        { unsigned m = __vcmplt$SIGN4(a, b); return (b & m) | (a & ~m); }
    /// The smaller value of each lane.
    unsigned __vmin$SIGN2(unsigned a, unsigned b) = sm_90 ? ptx "min.$SIGN16x2"
        : { unsigned m = __vcmplt$SIGN2(a, b); return (a & m) | (b & ~m); }
    unsigned __vmin$SIGN4(unsigned a, unsigned b)
        { unsigned m = __vcmplt$SIGN4(a, b); return (a & m) | (b & ~m); }
    /// Absolute difference of each lane.
    unsigned __vabsdiff$SIGN2(unsigned a, unsigned b)
        { unsigned m = __vcmplt$SIGN2(a, b); return (__vsub2(a, b) ^ m) + (m & 0x00010001u); }
    /// The sum of the absolute differences of all lanes.
    unsigned __vsad$SIGN2(unsigned a, unsigned b)
        { unsigned r = __vabsdiff$SIGN2(a, b); return (r & 0xffffu) + (r >> 16); }
}

// The one byte form that machines have, whose summand is nothing here. Numbers with a sign are as far from each other as the same
// numbers moved up by 128.
/// A step of the SIMD functions.
unsigned __cdp_distances4(unsigned a, unsigned b, unsigned c) = ptx "vabsdiff4.u32.u32.u32";
unsigned __cdp_distance4(unsigned a, unsigned b, unsigned c) = ptx "vabsdiff4.u32.u32.u32.add";
/// Absolute difference of each lane.
unsigned __vabsdiffu4(unsigned a, unsigned b) { return __cdp_distances4(a, b, 0); }
unsigned __vabsdiffs4(unsigned a, unsigned b) { return __cdp_distances4(a ^ 0x80808080u, b ^ 0x80808080u, 0); }
/// The sum of the absolute differences of all lanes.
unsigned __vsadu4(unsigned a, unsigned b) { return __cdp_distance4(a, b, 0); }
unsigned __vsads4(unsigned a, unsigned b) { return __cdp_distance4(a ^ 0x80808080u, b ^ 0x80808080u, 0); }

// The DPX functions of one type.
each $T | $N | $MAX | $MIN | $SUM {
    int | s32 | max | min | (int)((unsigned)a + (unsigned)b)
    unsigned | u32 | max | min | a + b
    unsigned | s16x2 | __vmaxs2 | __vmins2 | __vadd2(a, b)
    unsigned | u16x2 | __vmaxu2 | __vminu2 | __vadd2(a, b)
} {
    /// The extreme of the arguments; `_relu` takes 0 in too.
    $T __vimax3_$N($T a, $T b, $T c) { return $MAX($MAX(a, b), c); }
    $T __vimin3_$N($T a, $T b, $T c) { return $MIN($MIN(a, b), c); }
    /// The sum of a and b, then the extreme with c.
    $T __viaddmax_$N($T a, $T b, $T c) { return $MAX($SUM, c); }
    $T __viaddmin_$N($T a, $T b, $T c) { return $MIN($SUM, c); }
}
each $T | $N | $MAX | $MIN | $SUM {
    int | s32 | max | min | (int)((unsigned)a + (unsigned)b)
    unsigned | s16x2 | __vmaxs2 | __vmins2 | __vadd2(a, b)
} {
    /// The extreme of the arguments; `_relu` takes 0 in too.
    $T __vimax_$N_relu($T a, $T b) { return $MAX($MAX(a, b), ($T)0); }
    $T __vimin_$N_relu($T a, $T b) { return $MAX($MIN(a, b), ($T)0); }
    $T __vimax3_$N_relu($T a, $T b, $T c) { return $MAX($MAX($MAX(a, b), c), ($T)0); }
    $T __vimin3_$N_relu($T a, $T b, $T c) { return $MAX($MIN($MIN(a, b), c), ($T)0); }
    /// The sum of a and b, then the extreme with c.
    $T __viaddmax_$N_relu($T a, $T b, $T c) { return $MAX($MAX($SUM, c), ($T)0); }
    $T __viaddmin_$N_relu($T a, $T b, $T c) { return $MAX($MIN($SUM, c), ($T)0); }
}

// The DPX functions that also say which argument they took.
/// The extreme of a and b, and whether it is a.
each $T | $N {
    int | s32
    unsigned | u32
} {
    $T __vibmax_$N($T a, $T b, bool* chose_a) { *chose_a = a >= b; return a >= b ? a : b; }
    $T __vibmin_$N($T a, $T b, bool* chose_a) { *chose_a = a <= b; return a <= b ? a : b; }
}
each $NAME | $EXTREME {
    __vibmax_s16x2 | __vmaxs2
    __vibmin_s16x2 | __vmins2
    __vibmax_u16x2 | __vmaxu2
    __vibmin_u16x2 | __vminu2
} {
    unsigned $NAME(unsigned a, unsigned b, bool* chose_high, bool* chose_low) {
        unsigned r = $EXTREME(a, b); *chose_high = ((r ^ a) & 0xffff0000u) == 0u;
        *chose_low = ((r ^ a) & 0xffffu) == 0u; return r;
    }
}
