// Warp primitives: votes, shuffles, matches, reductions, lane masks.

// What every shuffle moves as one value.
types SHUFFLED = int, unsigned int, long, unsigned long, long long, unsigned long long, float, double;
types MATCHED = int, unsigned int, long, unsigned long, long long, unsigned long long;
types REDUCED = int, unsigned int;

/// Whether the predicate is not zero in all lanes of the mask.
int __all_sync(unsigned mask, int predicate) = Vote(VoteMode::All);
/// Whether the predicate is not zero in any lane of the mask.
int __any_sync(unsigned mask, int predicate) = Vote(VoteMode::Any);
/// Whether the predicate is the same in all lanes of the mask.
int __uni_sync(unsigned mask, int predicate) = Vote(VoteMode::Uni);
/// The lanes of the mask whose predicate is not zero, one bit each.
unsigned __ballot_sync(unsigned mask, int predicate) = Ballot;
/// The lanes that are here now.
unsigned __activemask() = ActiveMask;

[for SHUFFLED] {
    /// The value of another lane.
    T __shfl_sync(unsigned mask, T value, int lane, int width = 32) = Shuffle(ShuffleMode::Index);
    /// The value of the lane that is `delta` lower.
    T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) = Shuffle(ShuffleMode::Up);
    /// The value of the lane that is `delta` higher.
    T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) = Shuffle(ShuffleMode::Down);
    /// The value of the lane whose number differs in the bits of `lane_mask`.
    T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) = Shuffle(ShuffleMode::Xor);
}

[sm_70] {
    /// The lanes of the mask that have the same value.
    [for MATCHED] unsigned __match_any_sync(unsigned mask, T value) = MatchAny;
    /// The lanes of the mask that have the same bits.
    unsigned __match_any_sync(unsigned mask, float value)
        { return __match_any_sync(mask, __float_as_uint(value)); }
    unsigned __match_any_sync(unsigned mask, double value)
        { return __match_any_sync(mask, __double_as_longlong(value)); }
    /// The mask if all its lanes have the same value, else 0; says so in the predicate.
    [for MATCHED] unsigned __match_all_sync(unsigned mask, T value, int* predicate) = MatchAll;
    /// The mask if all its lanes have the same bits, else 0; says so in the predicate.
    unsigned __match_all_sync(unsigned mask, float value, int* predicate)
        { return __match_all_sync(mask, __float_as_uint(value), predicate); }
    unsigned __match_all_sync(unsigned mask, double value, int* predicate)
        { return __match_all_sync(mask, __double_as_longlong(value), predicate); }
}

[sm_80] {
    /// The sum over the lanes of the mask.
    [for REDUCED] T __reduce_add_sync(unsigned mask, T value) = Reduce(BinaryOp::Add);
    /// The smallest value in the lanes of the mask.
    [for REDUCED] T __reduce_min_sync(unsigned mask, T value) = ReduceMin;
    /// The largest value in the lanes of the mask.
    [for REDUCED] T __reduce_max_sync(unsigned mask, T value) = ReduceMax;
    /// The conjunction of the values in the lanes of the mask.
    unsigned __reduce_and_sync(unsigned mask, unsigned value) = Reduce(BinaryOp::And);
    /// The disjunction of the values in the lanes of the mask.
    unsigned __reduce_or_sync(unsigned mask, unsigned value) = Reduce(BinaryOp::Or);
    /// The exclusive or of the values in the lanes of the mask.
    unsigned __reduce_xor_sync(unsigned mask, unsigned value) = Reduce(BinaryOp::Xor);
}

/// This lane's bit. nvcc has it as PTX only.
unsigned __lanemask_eq() = Builtin(BuiltinVar::LaneMaskEq);
/// The lower lanes. nvcc has it as PTX only.
unsigned __lanemask_lt() = Builtin(BuiltinVar::LaneMaskLt);
/// This lane and the lower ones. nvcc has it as PTX only.
unsigned __lanemask_le() = Builtin(BuiltinVar::LaneMaskLe);
/// The higher lanes. nvcc has it as PTX only.
unsigned __lanemask_gt() = Builtin(BuiltinVar::LaneMaskGt);
/// This lane and the higher ones. nvcc has it as PTX only.
unsigned __lanemask_ge() = Builtin(BuiltinVar::LaneMaskGe);

// The functions without a mask, which CUDA 9 replaced and sm_70 cannot do.
/// Removed from CUDA.
[both] {
    int __all(int) = refuse "use `__all_sync`, whose first argument names the lanes";
    int __any(int) = refuse "use `__any_sync`, whose first argument names the lanes";
    unsigned __ballot(int) = refuse "use `__ballot_sync`, whose first argument names the lanes";
    int __shfl(int, int, int = 32) = refuse "use `__shfl_sync`, whose first argument names the lanes";
    int __shfl_up(int, unsigned, int = 32) = refuse "use `__shfl_up_sync`, with a lane mask first";
    int __shfl_down(int, unsigned, int = 32) = refuse "use `__shfl_down_sync`, with a lane mask first";
    int __shfl_xor(int, int, int = 32) = refuse "use `__shfl_xor_sync`, with a lane mask first";
}
