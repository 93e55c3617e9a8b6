// Comparisons of 16-bit floating values: ordered ones answer no for a NaN, unordered ones (`u`)
// answer yes. Four forms each: a scalar, a pair of 1.0 or 0.0, a mask, and whether both hold.

each $S | $V | $HEADER | $FROM {
    __half | __half2 | fp16 | __float2half_rn
    __nv_bfloat16 | __nv_bfloat162 | bf16 | __float2bfloat16_rn
} {
    [$HEADER] {
        each $NAME | $SCALAR | $SUMMARY {
            eq | = compare Eq; | a equals b
            ne | { return __hlt(a, b) || __hgt(a, b); } | a and b are ordered and differ
            lt | = compare Lt; | a is less than b
            le | = compare Le; | a is less than or equal to b
            gt | = compare Gt; | a is greater than b
            ge | = compare Ge; | a is greater than or equal to b
            equ | { return !__hne(a, b); } | a equals b, or one is a NaN
            neu | = compare Ne; | a differs from b, or one is a NaN
            ltu | { return !__hge(a, b); } | a is less than b, or one is a NaN
            leu | { return !__hgt(a, b); } | a is less than or equal to b, or one is a NaN
            gtu | { return !__hle(a, b); } | a is greater than b, or one is a NaN
            geu | { return !__hlt(a, b); } | a is greater than or equal to b, or one is a NaN
        } {
            /// Whether $SUMMARY.
            bool __h$NAME($S a, $S b) $SCALAR
            /// 1.0 for each half where $SUMMARY, else 0.0.
            $V __h$NAME2($V a, $V b) {
                $V r; r.x = $FROM(__h$NAME(a.x, b.x) ? 1.0f : 0.0f);
                r.y = $FROM(__h$NAME(a.y, b.y) ? 1.0f : 0.0f); return r;
            }
            /// All bits of each half where $SUMMARY.
            unsigned __h$NAME2_mask($V a, $V b)
                { return (__h$NAME(a.x, b.x) ? 0xffffu : 0u) | (__h$NAME(a.y, b.y) ? 0xffff0000u : 0u); }
            /// Whether in both halves $SUMMARY.
            bool __hb$NAME2($V a, $V b) { return __h$NAME(a.x, b.x) && __h$NAME(a.y, b.y); }
        }
    }
}
