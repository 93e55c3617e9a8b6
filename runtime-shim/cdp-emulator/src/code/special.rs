//! Special registers.

/// Special registers, reduced to what the device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `%tid`, dimension 0 to 2
    Tid(u8),
    /// `%ntid`
    Ntid(u8),
    /// `%ctaid`
    Ctaid(u8),
    /// `%nctaid`
    Nctaid(u8),
    /// `%clusterid`
    ClusterId(u8),
    /// `%nclusterid`
    Clusters(u8),
    /// `%cluster_ctaid`
    InCluster(u8),
    /// `%cluster_nctaid`
    ClusterSize(u8),
    /// `%cluster_ctarank`
    ClusterRank,
    /// `%cluster_nctarank`
    ClusterBlocks,
    /// `%is_explicit_cluster`, as 0 or 1
    IsExplicitCluster,
    /// `%laneid`
    Lane,
    /// `%warpid`
    Warp,
    /// `%nwarpid`
    Warps,
    /// `%smid`
    Sm,
    /// `%nsmid`
    Sms,
    /// `%gridid`
    Grid,
    /// `%lanemask_eq`
    MaskEq,
    /// `%lanemask_le`
    MaskLe,
    /// `%lanemask_lt`
    MaskLt,
    /// `%lanemask_ge`
    MaskGe,
    /// `%lanemask_gt`
    MaskGt,
    /// `%clock`
    ClockLo,
    /// `%clock_hi`
    ClockHi,
    /// `%clock64`
    Clock64,
    /// `%globaltimer`
    Timer,
    /// `%globaltimer_lo`
    TimerLo,
    /// `%globaltimer_hi`
    TimerHi,
    /// `%dynamic_smem_size`
    DynamicShared,
    /// `%total_smem_size`, `%aggr_smem_size`
    TotalShared,
    /// `%envreg1`: the high half of the address of a cooperative grid's barrier
    /// (`cooperative_groups/details/helpers.h`)
    GridBarrierHi,
    /// `%envreg2`: the low half.
    GridBarrierLo,
    /// `%current_graph_exec`
    GraphExec,
    /// A fixed 32-bit value.
    Fixed(u32),
    /// A fixed 64-bit value.
    Fixed64(u32),
}

impl Special {
    /// It goes on by itself.
    pub fn is_time(self) -> bool {
        use Special as S;
        matches!(self, S::ClockLo | S::ClockHi | S::Clock64 | S::Timer | S::TimerLo | S::TimerHi)
    }

    /// It has 64 bits.
    pub fn is_wide(self) -> bool {
        matches!(
            self,
            Special::Grid
                | Special::Clock64
                | Special::Timer
                | Special::GraphExec
                | Special::Fixed64(_)
        )
    }
}
