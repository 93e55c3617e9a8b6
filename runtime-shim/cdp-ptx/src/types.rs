//! The words of PTX that instructions and declarations are made of: scalar types, state spaces,
//! scopes, rounding modes, comparison operators, special registers.
//!
//! Every enum here knows its own spelling (`as_str`, `from_str` without the leading dot), so the
//! parser and the printer cannot disagree. No instruction is described here.
//! Source of the lists: PTX ISA 9.x, chapters "State Spaces, Types, and Variables", "Instruction
//! Operands" and "Special Registers".

/// A word of one kind: the enums that [`words!`] declares. A variant spelled "" is what no word means.
pub(crate) trait Word: Copy + PartialEq + 'static {
    const WORDS: &'static [Self];
    fn word(self) -> &'static str;
    fn of(text: &str) -> Option<Self>;
    /// What no word means.
    fn unwritten() -> Option<Self> {
        Self::WORDS.iter().copied().find(|word| word.word().is_empty())
    }
}

/// Declares enums whose variants are spelled as PTX modifiers, with both directions of the spelling. A variant
/// may have other spellings, which are read and not written.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$vmeta:meta])* $variant:ident = $text:literal $(| $alias:literal)*,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$vmeta])* #[doc = concat!("`", $text, "`")] $variant,)*
        }
        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            /// The spelling, without a leading dot.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
            /// The variant spelled `text` (without a leading dot), which is not empty.
            #[allow(clippy::should_implement_trait)]
            pub fn from_str(text: &str) -> Option<$name> {
                match text {
                    _ if text.is_empty() => None,
                    $($text $(| $alias)* => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
        impl Word for $name {
            const WORDS: &'static [$name] = $name::ALL;
            fn word(self) -> &'static str {
                self.as_str()
            }
            fn of(text: &str) -> Option<$name> {
                $name::from_str(text)
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

pub(crate) use words;

words! {
    /// A fundamental or packed type, as written on instructions and declarations.
    ScalarType {
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", BF16 = "bf16", BF16x2 = "bf16x2",
        F32 = "f32", F32x2 = "f32x2", F64 = "f64",
        U16x2 = "u16x2", S16x2 = "s16x2",
        /// Only as the destination of `cvt`.
        TF32 = "tf32",
        /// One bit. Occupies no memory.
        Pred = "pred",
    }

    /// Pairs of floats of 8 bits and fewer, which only `cvt` and matrix instructions know.
    TinyPair {
        E4m3x2 = "e4m3x2", E5m2x2 = "e5m2x2", E2m3x2 = "e2m3x2", E3m2x2 = "e3m2x2",
        E2m1x2 = "e2m1x2",
        /// Powers of two.
        Ue8m0x2 = "ue8m0x2",
    }
}

impl TinyPair {
    /// The type of the register that holds a pair.
    pub const fn register(self) -> ScalarType {
        match self {
            TinyPair::E2m1x2 => ScalarType::B8,
            _ => ScalarType::B16,
        }
    }
}

/// What kind of bits a [`ScalarType`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// `.b*`
    Bits,
    /// `.u*`
    Unsigned,
    /// `.s*`
    Signed,
    /// `.f16`, `.bf16`, `.f32`, `.f64`, `.tf32`
    Float,
    /// `.f16x2`, `.bf16x2`, `.f32x2`
    PackedFloat,
    /// `.u16x2`, `.s16x2`
    PackedInt,
    /// `.pred`
    Predicate,
}

impl ScalarType {
    /// Width in bits: 1 for `.pred`, and the whole register for packed types.
    pub const fn bits(self) -> u32 {
        use ScalarType::*;
        match self {
            Pred => 1,
            B8 | U8 | S8 => 8,
            B16 | U16 | S16 | F16 | BF16 => 16,
            B32 | U32 | S32 | F32 | F16x2 | BF16x2 | U16x2 | S16x2 | TF32 => 32,
            B64 | U64 | S64 | F64 | F32x2 => 64,
            B128 => 128,
        }
    }

    /// Size and natural alignment in memory, in bytes. 0 for `.pred`, which has no address.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// What kind of bits this type holds.
    pub const fn class(self) -> TypeClass {
        use ScalarType::*;
        match self {
            B8 | B16 | B32 | B64 | B128 => TypeClass::Bits,
            U8 | U16 | U32 | U64 => TypeClass::Unsigned,
            S8 | S16 | S32 | S64 => TypeClass::Signed,
            F16 | BF16 | F32 | F64 | TF32 => TypeClass::Float,
            F16x2 | BF16x2 | F32x2 => TypeClass::PackedFloat,
            U16x2 | S16x2 => TypeClass::PackedInt,
            Pred => TypeClass::Predicate,
        }
    }

    /// `.s*` only (packed types are not).
    pub const fn is_signed(self) -> bool {
        matches!(self.class(), TypeClass::Signed)
    }

    /// `.f*` and `.bf*`, packed ones included.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), TypeClass::Float | TypeClass::PackedFloat)
    }

    /// `.u*` and `.s*` of one element.
    pub const fn is_int(self) -> bool {
        matches!(self.class(), TypeClass::Unsigned | TypeClass::Signed)
    }
}

words! {
    /// Where a memory instruction or a variable lives. `Shared` is `.shared` and `.shared::cta`.
    Space {
        /// No state space on the instruction: the address is generic.
        Generic = "",
        Global = "global",
        Shared = "shared" | "shared::cta",
        /// The shared memory of any block of the cluster. In a cluster of one block it is `Shared`.
        SharedCluster = "shared::cluster",
        Local = "local",
        Const = "const",
        /// Kernel parameters in a kernel; function parameters and call parameters otherwise.
        Param = "param",
        /// Kernel parameters, even inside a device function.
        ParamEntry = "param::entry",
        /// Function and call parameters.
        ParamFunc = "param::func",
    }

    /// The set of threads with respect to which an ordering or atomicity holds.
    Scope { Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys", }

    /// Rounding of floating-point arithmetic: nearest even, toward zero, toward minus infinity,
    /// toward plus infinity.
    Rounding { Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", }

    /// Rounding of `cvt`. The `*i` forms round to an integral value.
    CvtRounding {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp",
        Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        /// To nearest, ties away from zero (`.tf32` only).
        Rna = "rna",
    }

    /// Comparison of `set` and `setp`. `.lo`, `.ls`, `.hi`, `.hs` are parsed as `Lt`, `Le`, `Gt`,
    /// `Ge`, which mean the same on the unsigned types they are legal for.
    CmpOp {
        Eq = "eq", Ne = "ne", Lt = "lt" | "lo", Le = "le" | "ls", Gt = "gt" | "hi", Ge = "ge" | "hs",
        /// Unordered forms: true if either operand is NaN.
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu",
        /// Both operands are numbers.
        Num = "num",
        /// Either operand is NaN.
        Nan = "nan",
    }

    /// How `set` and `setp` combine the comparison with a predicate.
    BoolOp { And = "and", Or = "or", Xor = "xor", }

    /// Which part of the product `mul`, `mad` and `mul24`, `mad24` keep.
    MulPart { Lo = "lo", Hi = "hi", Wide = "wide", }

    /// The operation of `atom`. `red` has all but `Cas` and `Exch`.
    AtomOp {
        And = "and", Or = "or", Xor = "xor", Cas = "cas", Exch = "exch",
        Add = "add", Inc = "inc", Dec = "dec", Min = "min", Max = "max",
    }

    /// Memory ordering of `atom` and `red`.
    AtomOrder { Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcqRel = "acq_rel", }

    /// The operation of `redux.sync`.
    ReduxOp {
        Add = "add", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor",
    }

    /// `vote` and `vote.sync`. `Ballot` writes a 32-bit mask, the rest a predicate.
    VoteMode { All = "all", Any = "any", Uni = "uni", Ballot = "ballot", }

    /// `match.sync`: the mask of lanes with my value, or of all lanes if they agree.
    MatchMode { Any = "any", All = "all", }

    /// Which lane `shfl` reads.
    ShflMode { Up = "up", Down = "down", Bfly = "bfly", Idx = "idx", }

    /// `testp`: the property of a floating-point number that is asked for.
    TestpOp {
        Finite = "finite", Infinite = "infinite", Number = "number", NotANumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal",
    }

    /// Modes of `prmt`. `Generic` (no modifier) takes four selectors.
    PrmtMode {
        Generic = "",
        ForwardExtract = "f4e", BackwardExtract = "b4e", Replicate8 = "rc8",
        EdgeClampLeft = "ecl", EdgeClampRight = "ecr", Replicate16 = "rc16",
    }

    /// What a shift, field mask or field extension does with a count past its width.
    ShiftMode { Clamp = "clamp", Wrap = "wrap", }

    /// `fence`, `fence.sc`, `fence.acquire` and so on.
    FenceOrder { Sc = "sc", AcqRel = "acq_rel", Acquire = "acquire", Release = "release", }

    /// The level of the old `membar`: block, device, system.
    MembarLevel { Cta = "cta", Gl = "gl", Sys = "sys", }

    /// What `fence.proxy` and `membar.proxy` order between.
    ProxyKind {
        Alias = "alias", Async = "async", AsyncGlobal = "async.global",
        AsyncSharedCta = "async.shared::cta", AsyncSharedCluster = "async.shared::cluster",
    }

    /// Cache operator of a load (`.ca` to `.cv`) or a store (`.wb`, `.cg`, `.cs`, `.wt`).
    CacheOp {
        Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt",
    }

    /// Eviction priority in the first-level cache.
    L1Eviction {
        Normal = "L1::evict_normal", Unchanged = "L1::evict_unchanged",
        First = "L1::evict_first", Last = "L1::evict_last", NoAllocate = "L1::no_allocate",
    }

    /// Eviction priority in the second-level cache.
    L2Eviction {
        Normal = "L2::evict_normal", First = "L2::evict_first", Last = "L2::evict_last",
        Unchanged = "L2::evict_unchanged",
    }

    /// How much a load asks the second-level cache to prefetch.
    L2Prefetch { B64 = "L2::64B", B128 = "L2::128B", B256 = "L2::256B", }

    /// Which cache `prefetch` fills.
    PrefetchLevel {
        L1 = "L1", L2 = "L2", L2EvictLast = "L2::evict_last", L2EvictNormal = "L2::evict_normal",
    }

    /// How `div`, `rcp` and `sqrt` compute.
    DivMode {
        Approx = "approx",
        /// `div.f32` only: approximate over the full range.
        Full = "full",
        /// With a rounding: IEEE 754.
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp",
    }

    /// Memory ordering of a load or store; all but the first two have a scope.
    AccessOrder {
        Weak = "" | "weak",
        /// Relaxed at system scope, never removed.
        Volatile = "volatile",
        Relaxed = "relaxed", Acquire = "acquire", Release = "release",
        /// `.mmio.relaxed`
        Mmio = "mmio",
    }

    /// The operation of a video instruction, which its opcode names between `v` and the number of lanes.
    VideoOp {
        Add = "add", Sub = "sub", AbsDiff = "absdiff", Min = "min", Max = "max",
        /// SIMD only.
        Average = "avrg",
        /// Scalar only.
        Shl = "shl",
        /// Scalar only.
        Shr = "shr",
        Set = "set",
    }

    /// A part of a 32-bit register.
    VideoSelect {
        Whole = "", B0 = "b0", B1 = "b1", B2 = "b2", B3 = "b3", H0 = "h0", H1 = "h1",
    }

    /// `griddepcontrol`.
    GriddepAction { LaunchDependents = "launch_dependents", Wait = "wait", }

    /// Shape of a texture or surface.
    TexGeometry {
        D1 = "1d", D2 = "2d", D3 = "3d", A1 = "a1d", A2 = "a2d", Cube = "cube", ACube = "acube",
        D2Ms = "2dms", A2Ms = "a2dms",
    }

    /// Dimensions of a tensor.
    TensorDims { D1 = "1d", D2 = "2d", D3 = "3d", D4 = "4d", D5 = "5d", }
}

impl DivMode {
    /// The rounding of the IEEE 754 modes.
    pub fn rounding(self) -> Option<Rounding> {
        Rounding::from_str(self.as_str())
    }
}

impl AccessOrder {
    /// Is there a scope beside?
    pub fn is_scoped(self) -> bool {
        !matches!(self, AccessOrder::Weak | AccessOrder::Volatile)
    }
}

impl TensorDims {
    /// How many there are.
    pub const fn count(self) -> usize {
        self as usize + 1
    }
}

words! {
    /// How `tex` chooses a mipmap level.
    TexLod { Implicit = "", Base = "base", Level = "level", Gradient = "grad", }

    /// The component that `tld4` gathers.
    TexComponent { R = "r", G = "g", B = "b", A = "a", }

    /// What an access to the memories behind a multicast address does.
    MultimemAccess { LoadReduce = "ld_reduce", Store = "st", Reduce = "red", }

    /// What a surface access out of bounds does.
    SurfaceClamp { Trap = "trap", Clamp = "clamp", Zero = "zero", }

    /// What `txq` and `suq` ask.
    TexQuery {
        Width = "width", Height = "height", Depth = "depth",
        ChannelDataType = "channel_data_type", ChannelOrder = "channel_order",
        NormalizedCoords = "normalized_coords", ForceUnnormalizedCoords = "force_unnormalized_coords",
        FilterMode = "filter_mode", AddrMode0 = "addr_mode_0", AddrMode1 = "addr_mode_1",
        AddrMode2 = "addr_mode_2", ArraySize = "array_size", NumMipmapLevels = "num_mipmap_levels",
        NumSamples = "num_samples", MemoryLayout = "memory_layout",
    }

    /// The opaque type that `istypep` asks about.
    OpaqueType { Texref = "texref", Samplerref = "samplerref", Surfref = "surfref", }

    /// One of the three (for some registers four) components of an index or size. `W` reads 0,
    /// or 1 for the sizes.
    Dim { X = "x", Y = "y", Z = "z", W = "w", }
}

/// Declares the predefined registers: each with its name and type, in both directions.
macro_rules! special_registers {
    (
        dimensions { $($(#[$dim_doc:meta])* $dim:ident = $dim_name:literal,)* }
        numbered { $($(#[$number_doc:meta])* $number:ident = $before:literal # $after:literal below $limit:literal: $number_ty:ident,)* }
        plain { $($(#[$doc:meta])* $name:ident = $text:literal: $ty:ident,)* }
    ) => {
        /// A predefined, read-only register.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SpecialReg {
            $(#[doc = concat!("`%", $dim_name, ".x` ..: ")] $(#[$dim_doc])* $dim(Dim),)*
            $(#[doc = concat!("`%", $before, "0", $after, "` .., below ", $limit)] $(#[$number_doc])* $number(u8),)*
            $(#[doc = concat!("`%", $text, "`, `.", stringify!($ty), "`")] $(#[$doc])* $name,)*
        }

        impl SpecialReg {
            /// The type that the register reads as.
            pub const fn ty(self) -> ScalarType {
                match self {
                    $(SpecialReg::$dim(_) => ScalarType::U32,)*
                    $(SpecialReg::$number(_) => ScalarType::$number_ty,)*
                    $(SpecialReg::$name => ScalarType::$ty,)*
                }
            }

            /// The register called `name` (`%` included), or `None` if the name is not predefined.
            pub fn from_name(name: &str) -> Option<SpecialReg> {
                let name = name.strip_prefix('%')?;
                if let Some((base, dim)) = name.rsplit_once('.') {
                    let dim = Dim::from_str(dim)?;
                    return match base {
                        $($dim_name => Some(SpecialReg::$dim(dim)),)*
                        _ => None,
                    };
                }
                match name {
                    $($text => Some(SpecialReg::$name),)*
                    _ => None$(.or_else(|| {
                        numbered(name, $before, $after, $limit).map(SpecialReg::$number)
                    }))*,
                }
            }
        }

        impl std::fmt::Display for SpecialReg {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(SpecialReg::$dim(dim) => write!(f, concat!("%", $dim_name, ".{}"), dim),)*
                    $(SpecialReg::$number(n) => write!(f, concat!("%", $before, "{}", $after), n),)*
                    $(SpecialReg::$name => f.write_str(concat!("%", $text)),)*
                }
            }
        }
    };
}

/// The number in `name`, written without needless zeros and less than `limit`.
fn numbered(name: &str, before: &str, after: &str, limit: u8) -> Option<u8> {
    let digits = name.strip_prefix(before)?.strip_suffix(after)?;
    let value: u8 = digits.parse().ok()?;
    (value < limit && value.to_string() == digits).then_some(value)
}

special_registers! {
    dimensions {
        /// the thread's index in its block.
        Tid = "tid",
        /// threads a block.
        Ntid = "ntid",
        /// the block's index in its grid.
        Ctaid = "ctaid",
        /// blocks a grid.
        Nctaid = "nctaid",
        /// the cluster's index in its grid.
        Clusterid = "clusterid",
        /// clusters a grid.
        Nclusterid = "nclusterid",
        /// the block's index in its cluster.
        ClusterCtaid = "cluster_ctaid",
        /// blocks a cluster.
        ClusterNctaid = "cluster_nctaid",
    }
    numbered {
        Pm = "pm" # "" below 8: U32,
        Pm64 = "pm" # "_64" below 8: U64,
        Envreg = "envreg" # "" below 32: U32,
        ReservedSmemOffset = "reserved_smem_offset_" # "" below 2: U32,
    }
    plain {
        /// The block's flat index in its cluster.
        ClusterCtarank = "cluster_ctarank": U32,
        /// Number of blocks in the cluster.
        ClusterNctarank = "cluster_nctarank": U32,
        IsExplicitCluster = "is_explicit_cluster": Pred,
        Laneid = "laneid": U32,
        Warpid = "warpid": U32,
        Nwarpid = "nwarpid": U32,
        Smid = "smid": U32,
        Nsmid = "nsmid": U32,
        Gridid = "gridid": U64,
        LanemaskEq = "lanemask_eq": U32,
        LanemaskLe = "lanemask_le": U32,
        LanemaskLt = "lanemask_lt": U32,
        LanemaskGe = "lanemask_ge": U32,
        LanemaskGt = "lanemask_gt": U32,
        /// The low 32 bits of `%clock64`.
        Clock = "clock": U32,
        /// The high 32 bits of `%clock64`.
        ClockHi = "clock_hi": U32,
        Clock64 = "clock64": U64,
        /// In nanoseconds.
        Globaltimer = "globaltimer": U64,
        GlobaltimerLo = "globaltimer_lo": U32,
        GlobaltimerHi = "globaltimer_hi": U32,
        ReservedSmemOffsetBegin = "reserved_smem_offset_begin": U32,
        ReservedSmemOffsetEnd = "reserved_smem_offset_end": U32,
        ReservedSmemOffsetCap = "reserved_smem_offset_cap": U32,
        /// Bytes of shared memory of the block, reserved ones excluded.
        TotalSmemSize = "total_smem_size": U32,
        /// Bytes of shared memory of the block, reserved ones included.
        AggrSmemSize = "aggr_smem_size": U32,
        /// Bytes of shared memory asked for at launch.
        DynamicSmemSize = "dynamic_smem_size": U32,
        CurrentGraphExec = "current_graph_exec": U64,
    }
}
