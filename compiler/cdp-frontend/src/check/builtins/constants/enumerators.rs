//! The smaller enumerations.

use super::ConstTable;

/// `enum cudaMemcpyKind`.
pub(in super::super) const MEMCPY_KIND: ConstTable = ConstTable {
    ty: "cudaMemcpyKind",
    rows: &[
        ("cudaMemcpyHostToHost", 0),
        ("cudaMemcpyHostToDevice", 1),
        ("cudaMemcpyDeviceToHost", 2),
        ("cudaMemcpyDeviceToDevice", 3),
        ("cudaMemcpyDefault", 4),
    ],
};

/// `enum cudaLimit`.
pub(in super::super) const LIMIT: ConstTable = ConstTable {
    ty: "cudaLimit",
    rows: &[
        ("cudaLimitStackSize", 0),
        ("cudaLimitPrintfFifoSize", 1),
        ("cudaLimitMallocHeapSize", 2),
        ("cudaLimitDevRuntimeSyncDepth", 3),
        ("cudaLimitDevRuntimePendingLaunchCount", 4),
        ("cudaLimitMaxL2FetchGranularity", 5),
        ("cudaLimitPersistingL2CacheSize", 6),
    ],
};

/// `enum cudaFuncCache`.
pub(in super::super) const FUNC_CACHE: ConstTable = ConstTable {
    ty: "cudaFuncCache",
    rows: &[
        ("cudaFuncCachePreferNone", 0),
        ("cudaFuncCachePreferShared", 1),
        ("cudaFuncCachePreferL1", 2),
        ("cudaFuncCachePreferEqual", 3),
    ],
};

/// `enum cudaSharedMemConfig`.
pub(in super::super) const SHARED_MEM_CONFIG: ConstTable = ConstTable {
    ty: "cudaSharedMemConfig",
    rows: &[
        ("cudaSharedMemBankSizeDefault", 0),
        ("cudaSharedMemBankSizeFourByte", 1),
        ("cudaSharedMemBankSizeEightByte", 2),
    ],
};

/// `enum cudaSharedCarveout`.
pub(in super::super) const SHARED_CARVEOUT: ConstTable = ConstTable {
    ty: "cudaSharedCarveout",
    rows: &[
        ("cudaSharedmemCarveoutDefault", -1),
        ("cudaSharedmemCarveoutMaxShared", 100),
        ("cudaSharedmemCarveoutMaxL1", 0),
    ],
};

/// `enum cudaComputeMode`.
pub(in super::super) const COMPUTE_MODE: ConstTable = ConstTable {
    ty: "cudaComputeMode",
    rows: &[
        ("cudaComputeModeDefault", 0),
        ("cudaComputeModeExclusive", 1),
        ("cudaComputeModeProhibited", 2),
        ("cudaComputeModeExclusiveProcess", 3),
    ],
};

/// `enum cudaFuncAttribute`.
pub(in super::super) const FUNC_ATTRIBUTE: ConstTable = ConstTable {
    ty: "cudaFuncAttribute",
    rows: &[
        ("cudaFuncAttributeMaxDynamicSharedMemorySize", 8),
        ("cudaFuncAttributePreferredSharedMemoryCarveout", 9),
        ("cudaFuncAttributeClusterDimMustBeSet", 10),
        ("cudaFuncAttributeRequiredClusterWidth", 11),
        ("cudaFuncAttributeRequiredClusterHeight", 12),
        ("cudaFuncAttributeRequiredClusterDepth", 13),
        ("cudaFuncAttributeNonPortableClusterSizeAllowed", 14),
        ("cudaFuncAttributeClusterSchedulingPolicyPreference", 15),
        ("cudaFuncAttributeMax", 16),
    ],
};

/// `enum cudaMemoryType`.
pub(in super::super) const MEMORY_TYPE: ConstTable = ConstTable {
    ty: "cudaMemoryType",
    rows: &[
        ("cudaMemoryTypeUnregistered", 0),
        ("cudaMemoryTypeHost", 1),
        ("cudaMemoryTypeDevice", 2),
        ("cudaMemoryTypeManaged", 3),
    ],
};

/// `enum cudaMemoryAdvise`.
pub(in super::super) const MEMORY_ADVISE: ConstTable = ConstTable {
    ty: "cudaMemoryAdvise",
    rows: &[
        ("cudaMemAdviseSetReadMostly", 1),
        ("cudaMemAdviseUnsetReadMostly", 2),
        ("cudaMemAdviseSetPreferredLocation", 3),
        ("cudaMemAdviseUnsetPreferredLocation", 4),
        ("cudaMemAdviseSetAccessedBy", 5),
        ("cudaMemAdviseUnsetAccessedBy", 6),
    ],
};

/// `enum cudaMemLocationType`.
pub(in super::super) const MEM_LOCATION_TYPE: ConstTable = ConstTable {
    ty: "cudaMemLocationType",
    rows: &[
        ("cudaMemLocationTypeInvalid", 0),
        ("cudaMemLocationTypeNone", 0),
        ("cudaMemLocationTypeDevice", 1),
        ("cudaMemLocationTypeHost", 2),
        ("cudaMemLocationTypeHostNuma", 3),
        ("cudaMemLocationTypeHostNumaCurrent", 4),
    ],
};

/// `enum cudaCGScope`.
pub(in super::super) const CG_SCOPE: ConstTable = ConstTable {
    ty: "cudaCGScope",
    rows: &[("cudaCGScopeInvalid", 0), ("cudaCGScopeGrid", 1), ("cudaCGScopeReserved", 2)],
};

/// `enum cudaSurfaceBoundaryMode`.
pub(in super::super) const SURFACE_BOUNDARY_MODE: ConstTable = ConstTable {
    ty: "cudaSurfaceBoundaryMode",
    rows: &[("cudaBoundaryModeZero", 0), ("cudaBoundaryModeClamp", 1), ("cudaBoundaryModeTrap", 2)],
};

/// `enum cudaSurfaceFormatMode`.
pub(in super::super) const SURFACE_FORMAT_MODE: ConstTable = ConstTable {
    ty: "cudaSurfaceFormatMode",
    rows: &[("cudaFormatModeForced", 0), ("cudaFormatModeAuto", 1)],
};

/// `enum cudaTextureAddressMode`.
pub(in super::super) const TEXTURE_ADDRESS_MODE: ConstTable = ConstTable {
    ty: "cudaTextureAddressMode",
    rows: &[
        ("cudaAddressModeWrap", 0),
        ("cudaAddressModeClamp", 1),
        ("cudaAddressModeMirror", 2),
        ("cudaAddressModeBorder", 3),
    ],
};

/// `enum cudaTextureFilterMode`.
pub(in super::super) const TEXTURE_FILTER_MODE: ConstTable = ConstTable {
    ty: "cudaTextureFilterMode",
    rows: &[("cudaFilterModePoint", 0), ("cudaFilterModeLinear", 1)],
};

/// `enum cudaTextureReadMode`.
pub(in super::super) const TEXTURE_READ_MODE: ConstTable = ConstTable {
    ty: "cudaTextureReadMode",
    rows: &[("cudaReadModeElementType", 0), ("cudaReadModeNormalizedFloat", 1)],
};

/// `enum cudaChannelFormatKind`.
pub(in super::super) const CHANNEL_FORMAT_KIND: ConstTable = ConstTable {
    ty: "cudaChannelFormatKind",
    rows: &[
        ("cudaChannelFormatKindSigned", 0),
        ("cudaChannelFormatKindUnsigned", 1),
        ("cudaChannelFormatKindFloat", 2),
        ("cudaChannelFormatKindNone", 3),
        ("cudaChannelFormatKindNV12", 4),
        ("cudaChannelFormatKindUnsignedNormalized8X1", 5),
        ("cudaChannelFormatKindUnsignedNormalized8X2", 6),
        ("cudaChannelFormatKindUnsignedNormalized8X4", 7),
        ("cudaChannelFormatKindUnsignedNormalized16X1", 8),
        ("cudaChannelFormatKindUnsignedNormalized16X2", 9),
        ("cudaChannelFormatKindUnsignedNormalized16X4", 10),
        ("cudaChannelFormatKindSignedNormalized8X1", 11),
        ("cudaChannelFormatKindSignedNormalized8X2", 12),
        ("cudaChannelFormatKindSignedNormalized8X4", 13),
        ("cudaChannelFormatKindSignedNormalized16X1", 14),
        ("cudaChannelFormatKindSignedNormalized16X2", 15),
        ("cudaChannelFormatKindSignedNormalized16X4", 16),
        ("cudaChannelFormatKindUnsignedBlockCompressed1", 17),
        ("cudaChannelFormatKindUnsignedBlockCompressed1SRGB", 18),
        ("cudaChannelFormatKindUnsignedBlockCompressed2", 19),
        ("cudaChannelFormatKindUnsignedBlockCompressed2SRGB", 20),
        ("cudaChannelFormatKindUnsignedBlockCompressed3", 21),
        ("cudaChannelFormatKindUnsignedBlockCompressed3SRGB", 22),
        ("cudaChannelFormatKindUnsignedBlockCompressed4", 23),
        ("cudaChannelFormatKindSignedBlockCompressed4", 24),
        ("cudaChannelFormatKindUnsignedBlockCompressed5", 25),
        ("cudaChannelFormatKindSignedBlockCompressed5", 26),
        ("cudaChannelFormatKindUnsignedBlockCompressed6H", 27),
        ("cudaChannelFormatKindSignedBlockCompressed6H", 28),
        ("cudaChannelFormatKindUnsignedBlockCompressed7", 29),
        ("cudaChannelFormatKindUnsignedBlockCompressed7SRGB", 30),
        ("cudaChannelFormatKindUnsignedNormalized1010102", 31),
    ],
};

/// `enum cudaResourceType`.
pub(in super::super) const RESOURCE_TYPE: ConstTable = ConstTable {
    ty: "cudaResourceType",
    rows: &[
        ("cudaResourceTypeArray", 0),
        ("cudaResourceTypeMipmappedArray", 1),
        ("cudaResourceTypeLinear", 2),
        ("cudaResourceTypePitch2D", 3),
    ],
};

/// `enum cudaResourceViewFormat`.
pub(in super::super) const RESOURCE_VIEW_FORMAT: ConstTable = ConstTable {
    ty: "cudaResourceViewFormat",
    rows: &[
        ("cudaResViewFormatNone", 0),
        ("cudaResViewFormatUnsignedChar1", 1),
        ("cudaResViewFormatUnsignedChar2", 2),
        ("cudaResViewFormatUnsignedChar4", 3),
        ("cudaResViewFormatSignedChar1", 4),
        ("cudaResViewFormatSignedChar2", 5),
        ("cudaResViewFormatSignedChar4", 6),
        ("cudaResViewFormatUnsignedShort1", 7),
        ("cudaResViewFormatUnsignedShort2", 8),
        ("cudaResViewFormatUnsignedShort4", 9),
        ("cudaResViewFormatSignedShort1", 10),
        ("cudaResViewFormatSignedShort2", 11),
        ("cudaResViewFormatSignedShort4", 12),
        ("cudaResViewFormatUnsignedInt1", 13),
        ("cudaResViewFormatUnsignedInt2", 14),
        ("cudaResViewFormatUnsignedInt4", 15),
        ("cudaResViewFormatSignedInt1", 16),
        ("cudaResViewFormatSignedInt2", 17),
        ("cudaResViewFormatSignedInt4", 18),
        ("cudaResViewFormatHalf1", 19),
        ("cudaResViewFormatHalf2", 20),
        ("cudaResViewFormatHalf4", 21),
        ("cudaResViewFormatFloat1", 22),
        ("cudaResViewFormatFloat2", 23),
        ("cudaResViewFormatFloat4", 24),
        ("cudaResViewFormatUnsignedBlockCompressed1", 25),
        ("cudaResViewFormatUnsignedBlockCompressed2", 26),
        ("cudaResViewFormatUnsignedBlockCompressed3", 27),
        ("cudaResViewFormatUnsignedBlockCompressed4", 28),
        ("cudaResViewFormatSignedBlockCompressed4", 29),
        ("cudaResViewFormatUnsignedBlockCompressed5", 30),
        ("cudaResViewFormatSignedBlockCompressed5", 31),
        ("cudaResViewFormatUnsignedBlockCompressed6H", 32),
        ("cudaResViewFormatSignedBlockCompressed6H", 33),
        ("cudaResViewFormatUnsignedBlockCompressed7", 34),
    ],
};

/// `enum cudaStreamCaptureStatus`.
pub(in super::super) const STREAM_CAPTURE_STATUS: ConstTable = ConstTable {
    ty: "cudaStreamCaptureStatus",
    rows: &[
        ("cudaStreamCaptureStatusNone", 0),
        ("cudaStreamCaptureStatusActive", 1),
        ("cudaStreamCaptureStatusInvalidated", 2),
    ],
};

/// `enum cudaStreamCaptureMode`.
pub(in super::super) const STREAM_CAPTURE_MODE: ConstTable = ConstTable {
    ty: "cudaStreamCaptureMode",
    rows: &[
        ("cudaStreamCaptureModeGlobal", 0),
        ("cudaStreamCaptureModeThreadLocal", 1),
        ("cudaStreamCaptureModeRelaxed", 2),
    ],
};

/// `enum cudaGraphKernelNodeField`.
pub(in super::super) const GRAPH_KERNEL_NODE_FIELD: ConstTable = ConstTable {
    ty: "cudaGraphKernelNodeField",
    rows: &[
        ("cudaGraphKernelNodeFieldInvalid", 0),
        ("cudaGraphKernelNodeFieldGridDim", 1),
        ("cudaGraphKernelNodeFieldParam", 2),
        ("cudaGraphKernelNodeFieldEnabled", 3),
    ],
};

/// `enum cudaGraphConditionalHandleFlags`.
pub(in super::super) const GRAPH_CONDITIONAL_HANDLE_FLAGS: ConstTable = ConstTable {
    ty: "cudaGraphConditionalHandleFlags",
    rows: &[("cudaGraphCondAssignDefault", 1)],
};

/// `enum cudaAccessProperty`.
pub(in super::super) const ACCESS_PROPERTY: ConstTable = ConstTable {
    ty: "cudaAccessProperty",
    rows: &[
        ("cudaAccessPropertyNormal", 0),
        ("cudaAccessPropertyStreaming", 1),
        ("cudaAccessPropertyPersisting", 2),
    ],
};

/// `enum cudaClusterSchedulingPolicy`.
pub(in super::super) const CLUSTER_SCHEDULING_POLICY: ConstTable = ConstTable {
    ty: "cudaClusterSchedulingPolicy",
    rows: &[
        ("cudaClusterSchedulingPolicyDefault", 0),
        ("cudaClusterSchedulingPolicySpread", 1),
        ("cudaClusterSchedulingPolicyLoadBalancing", 2),
    ],
};

/// `enum cudaRoundMode`.
pub(in super::super) const ROUND_MODE: ConstTable = ConstTable {
    ty: "cudaRoundMode",
    rows: &[
        ("cudaRoundNearest", 0),
        ("cudaRoundZero", 1),
        ("cudaRoundPosInf", 2),
        ("cudaRoundMinInf", 3),
    ],
};
