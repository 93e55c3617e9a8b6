//! Warp primitives: votes, shuffles, matches, reductions, lane masks.

use cdp_ir::{BinaryOp, BuiltinVar, Intrinsic, ShuffleMode, VoteMode};

use super::{BuiltinFn, Lower, device, intrinsic, row};

/// What every shuffle moves as one value.
const SHUFFLED: &[&str] = &[
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "float",
    "double",
];
const MATCHED: &[&str] =
    &["int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"];
const REDUCED: &[&str] = &["int", "unsigned int"];

/// The functions without a mask, which CUDA 9 replaced and sm_70 cannot do.
const fn removed(name: &'static str, signature: &'static str, advice: &'static str) -> BuiltinFn {
    row(name, signature, Lower::Refuse(advice), Lower::Refuse(advice), "Removed from CUDA.")
}

const fn lane_mask(name: &'static str, var: BuiltinVar, summary: &'static str) -> BuiltinFn {
    intrinsic(name, "unsigned()", Intrinsic::Builtin(var), summary)
}

pub(super) const ROWS: &[BuiltinFn] = &[
    intrinsic(
        "__all_sync",
        "int(unsigned mask,int predicate)",
        Intrinsic::Vote(VoteMode::All),
        "Whether the predicate is not zero in all lanes of the mask.",
    ),
    intrinsic(
        "__any_sync",
        "int(unsigned mask,int predicate)",
        Intrinsic::Vote(VoteMode::Any),
        "Whether the predicate is not zero in any lane of the mask.",
    ),
    intrinsic(
        "__uni_sync",
        "int(unsigned mask,int predicate)",
        Intrinsic::Vote(VoteMode::Uni),
        "Whether the predicate is the same in all lanes of the mask.",
    ),
    intrinsic(
        "__ballot_sync",
        "unsigned(unsigned mask,int predicate)",
        Intrinsic::Ballot,
        "The lanes of the mask whose predicate is not zero, one bit each.",
    ),
    intrinsic("__activemask", "unsigned()", Intrinsic::ActiveMask, "The lanes that are here now."),
    intrinsic(
        "__shfl_sync",
        "T(unsigned mask,T value,int lane,int width=32)",
        Intrinsic::Shuffle(ShuffleMode::Index),
        "The value of another lane.",
    )
    .family(SHUFFLED),
    intrinsic(
        "__shfl_up_sync",
        "T(unsigned mask,T value,unsigned delta,int width=32)",
        Intrinsic::Shuffle(ShuffleMode::Up),
        "The value of the lane that is `delta` lower.",
    )
    .family(SHUFFLED),
    intrinsic(
        "__shfl_down_sync",
        "T(unsigned mask,T value,unsigned delta,int width=32)",
        Intrinsic::Shuffle(ShuffleMode::Down),
        "The value of the lane that is `delta` higher.",
    )
    .family(SHUFFLED),
    intrinsic(
        "__shfl_xor_sync",
        "T(unsigned mask,T value,int lane_mask,int width=32)",
        Intrinsic::Shuffle(ShuffleMode::Xor),
        "The value of the lane whose number differs in the bits of `lane_mask`.",
    )
    .family(SHUFFLED),
    intrinsic(
        "__match_any_sync",
        "unsigned(unsigned mask,T value)",
        Intrinsic::MatchAny,
        "The lanes of the mask that have the same value.",
    )
    .family(MATCHED)
    .since(70),
    device(
        "__match_any_sync",
        "unsigned(unsigned mask,float value)",
        Lower::Inline("{ return __match_any_sync(mask, __float_as_uint(value)); }"),
        "The lanes of the mask that have the same bits.",
    )
    .since(70),
    device(
        "__match_any_sync",
        "unsigned(unsigned mask,double value)",
        Lower::Inline("{ return __match_any_sync(mask, __double_as_longlong(value)); }"),
        "The lanes of the mask that have the same bits.",
    )
    .since(70),
    intrinsic(
        "__match_all_sync",
        "unsigned(unsigned mask,T value,int* predicate)",
        Intrinsic::MatchAll,
        "The mask if all its lanes have the same value, else 0; says so in the predicate.",
    )
    .family(MATCHED)
    .since(70),
    device(
        "__match_all_sync",
        "unsigned(unsigned mask,float value,int* predicate)",
        Lower::Inline("{ return __match_all_sync(mask, __float_as_uint(value), predicate); }"),
        "The mask if all its lanes have the same bits, else 0; says so in the predicate.",
    )
    .since(70),
    device(
        "__match_all_sync",
        "unsigned(unsigned mask,double value,int* predicate)",
        Lower::Inline("{ return __match_all_sync(mask, __double_as_longlong(value), predicate); }"),
        "The mask if all its lanes have the same bits, else 0; says so in the predicate.",
    )
    .since(70),
    intrinsic(
        "__reduce_add_sync",
        "T(unsigned mask,T value)",
        Intrinsic::Reduce(BinaryOp::Add),
        "The sum over the lanes of the mask.",
    )
    .family(REDUCED)
    .since(80),
    intrinsic(
        "__reduce_min_sync",
        "T(unsigned mask,T value)",
        Intrinsic::ReduceMin,
        "The smallest value in the lanes of the mask.",
    )
    .family(REDUCED)
    .since(80),
    intrinsic(
        "__reduce_max_sync",
        "T(unsigned mask,T value)",
        Intrinsic::ReduceMax,
        "The largest value in the lanes of the mask.",
    )
    .family(REDUCED)
    .since(80),
    intrinsic(
        "__reduce_and_sync",
        "unsigned(unsigned mask,unsigned value)",
        Intrinsic::Reduce(BinaryOp::And),
        "The conjunction of the values in the lanes of the mask.",
    )
    .since(80),
    intrinsic(
        "__reduce_or_sync",
        "unsigned(unsigned mask,unsigned value)",
        Intrinsic::Reduce(BinaryOp::Or),
        "The disjunction of the values in the lanes of the mask.",
    )
    .since(80),
    intrinsic(
        "__reduce_xor_sync",
        "unsigned(unsigned mask,unsigned value)",
        Intrinsic::Reduce(BinaryOp::Xor),
        "The exclusive or of the values in the lanes of the mask.",
    )
    .since(80),
    lane_mask("__lanemask_eq", BuiltinVar::LaneMaskEq, "This lane's bit. nvcc has it as PTX only."),
    lane_mask("__lanemask_lt", BuiltinVar::LaneMaskLt, "The lower lanes. nvcc has it as PTX only."),
    lane_mask(
        "__lanemask_le",
        BuiltinVar::LaneMaskLe,
        "This lane and the lower ones. nvcc has it as PTX only.",
    ),
    lane_mask(
        "__lanemask_gt",
        BuiltinVar::LaneMaskGt,
        "The higher lanes. nvcc has it as PTX only.",
    ),
    lane_mask(
        "__lanemask_ge",
        BuiltinVar::LaneMaskGe,
        "This lane and the higher ones. nvcc has it as PTX only.",
    ),
    removed("__all", "int(int)", "use `__all_sync`, whose first argument names the lanes"),
    removed("__any", "int(int)", "use `__any_sync`, whose first argument names the lanes"),
    removed(
        "__ballot",
        "unsigned(int)",
        "use `__ballot_sync`, whose first argument names the lanes",
    ),
    removed(
        "__shfl",
        "int(int,int,int=32)",
        "use `__shfl_sync`, whose first argument names the lanes",
    ),
    removed(
        "__shfl_up",
        "int(int,unsigned,int=32)",
        "use `__shfl_up_sync`, with a lane mask first",
    ),
    removed(
        "__shfl_down",
        "int(int,unsigned,int=32)",
        "use `__shfl_down_sync`, with a lane mask first",
    ),
    removed("__shfl_xor", "int(int,int,int=32)", "use `__shfl_xor_sync`, with a lane mask first"),
];
