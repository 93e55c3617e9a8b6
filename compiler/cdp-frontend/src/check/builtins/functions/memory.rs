//! Memory: cache-hinted loads and stores, address spaces, and what the C library does with bytes.

use cdp_ir::{AddressSpace, CacheOp, Intrinsic};

use super::{BuiltinFn, Lower, device, intrinsic, row};

/// What a hinted access can move: CUDA declares no `char3` and its like.
const HINTED: &[&str] = &[
    "char",
    "signed char",
    "short",
    "int",
    "long",
    "long long",
    "unsigned char",
    "unsigned short",
    "unsigned int",
    "unsigned long",
    "unsigned long long",
    "float",
    "double",
    "char2",
    "char4",
    "short2",
    "short4",
    "int2",
    "int4",
    "longlong2",
    "uchar2",
    "uchar4",
    "ushort2",
    "ushort4",
    "uint2",
    "uint4",
    "ulonglong2",
    "float2",
    "float4",
    "double2",
];

const fn load(name: &'static str, op: CacheOp, summary: &'static str) -> BuiltinFn {
    intrinsic(name, "T(const T* address)", Intrinsic::CacheLoad(op), summary).family(HINTED)
}

const fn store(name: &'static str, op: CacheOp, summary: &'static str) -> BuiltinFn {
    intrinsic(name, "void(T* address,T value)", Intrinsic::CacheStore(op), summary).family(HINTED)
}

/// A question about the space of an address, answered as CUDA does with an `unsigned`.
const fn is_space(name: &'static str, body: &'static str, summary: &'static str) -> BuiltinFn {
    device(name, "unsigned(const void* address)", Lower::Inline(body), summary)
}

const fn space_bool(name: &'static str, space: Option<AddressSpace>) -> BuiltinFn {
    intrinsic(name, "bool(const void* address)", Intrinsic::IsSpace(space), "`isspacep`.")
}

const fn to_space(name: &'static str, space: Option<AddressSpace>) -> BuiltinFn {
    intrinsic(
        name,
        "size_t(const void* address)",
        Intrinsic::GenericToSpace(space),
        "The address within its space.",
    )
}

const fn to_generic(name: &'static str, space: Option<AddressSpace>) -> BuiltinFn {
    intrinsic(
        name,
        "void*(size_t address)",
        Intrinsic::SpaceToGeneric(space),
        "A generic address from an address within a space.",
    )
}

pub(super) const ROWS: &[BuiltinFn] = &[
    load("__ldg", CacheOp::NonCoherent, "Reads memory that nothing writes during the grid."),
    load("__ldca", CacheOp::All, "Reads, and keeps the line in every cache."),
    load("__ldcg", CacheOp::Global, "Reads, and keeps the line in the L2 cache only."),
    load("__ldcs", CacheOp::Streaming, "Reads data that will likely be read once."),
    load("__ldlu", CacheOp::LastUse, "Reads data that will not be read again."),
    load("__ldcv", CacheOp::Volatile, "Reads past the caches."),
    store("__stwb", CacheOp::WriteBack, "Writes, and keeps the line in every cache."),
    store("__stcg", CacheOp::Global, "Writes, and keeps the line in the L2 cache only."),
    store("__stcs", CacheOp::Streaming, "Writes data that will likely be read once."),
    store("__stwt", CacheOp::WriteThrough, "Writes through the L2 cache to system memory."),
    space_bool("__cdp_is_global", Some(AddressSpace::Global)),
    space_bool("__cdp_is_shared", Some(AddressSpace::Shared)),
    space_bool("__cdp_is_constant", Some(AddressSpace::Constant)),
    space_bool("__cdp_is_local", None),
    is_space("__isGlobal", "{ return __cdp_is_global(address); }", "Whether in global memory."),
    is_space("__isShared", "{ return __cdp_is_shared(address); }", "Whether in shared memory."),
    is_space(
        "__isConstant",
        "{ return __cdp_is_constant(address); }",
        "Whether in constant memory.",
    ),
    is_space("__isLocal", "{ return __cdp_is_local(address); }", "Whether in local memory."),
    is_space(
        "__isGridConstant",
        "{ int found; asm(\"{ .reg .pred p; isspacep.param p, %1; selp.s32 %0, 1, 0, p; }\"\
         : \"=r\"(found) : \"l\"((unsigned long long)address)); return (unsigned)found; }",
        "Whether in a `__grid_constant__` parameter.",
    )
    .since(70),
    to_space("__cvta_generic_to_global", Some(AddressSpace::Global)),
    to_space("__cvta_generic_to_shared", Some(AddressSpace::Shared)),
    to_space("__cvta_generic_to_constant", Some(AddressSpace::Constant)),
    to_space("__cvta_generic_to_local", None),
    to_generic("__cvta_global_to_generic", Some(AddressSpace::Global)),
    to_generic("__cvta_shared_to_generic", Some(AddressSpace::Shared)),
    to_generic("__cvta_constant_to_generic", Some(AddressSpace::Constant)),
    to_generic("__cvta_local_to_generic", None),
    device(
        "__cvta_generic_to_grid_constant",
        "size_t(const void* address)",
        Lower::Inline(
            "{ unsigned long long inside; asm(\"cvta.to.param.u64 %0, %1;\" : \"=l\"(inside)\
             : \"l\"((unsigned long long)address)); return inside; }",
        ),
        "The address within the parameter space.",
    )
    .since(70),
    device(
        "__cvta_grid_constant_to_generic",
        "void*(size_t address)",
        Lower::Inline(
            "{ unsigned long long generic; asm(\"cvta.param.u64 %0, %1;\" : \"=l\"(generic)\
             : \"l\"((unsigned long long)address)); return (void*)generic; }",
        ),
        "A generic address from an address within the parameter space.",
    )
    .since(70),
];

const fn c_library(
    name: &'static str,
    signature: &'static str,
    device: Lower,
    summary: &'static str,
) -> BuiltinFn {
    row(name, signature, device, Lower::Extern(name), summary).in_std()
}

/// What device code shares with the host's C library.
pub(super) const C_LIBRARY: &[BuiltinFn] = &[
    c_library(
        "printf",
        "int(const char* format,...)",
        Lower::Printf,
        "Prints to the host's standard output; on the device when the grid ends or the host waits.",
    ),
    c_library(
        "malloc",
        "void*(size_t size)",
        Lower::Extern("malloc"),
        "Allocates; on the device from the device heap (`cudaLimitMallocHeapSize`).",
    ),
    c_library("free", "void(void* address)", Lower::Extern("free"), "Frees what `malloc` gave."),
    c_library(
        "memcpy",
        "void*(void* destination,const void* source,size_t size)",
        Lower::Inline("{ __cdp_memcpy(destination, source, size); return destination; }"),
        "Copies bytes between areas that do not overlap.",
    ),
    c_library(
        "memset",
        "void*(void* destination,int value,size_t size)",
        Lower::Inline("{ __cdp_memset(destination, value, size); return destination; }"),
        "Sets bytes.",
    ),
    c_library(
        "memmove",
        "void*(void* destination,const void* source,size_t size)",
        Lower::Refuse("device code has `memcpy` only: copy through a temporary, or in a loop"),
        "Copies bytes between areas that may overlap.",
    ),
    intrinsic(
        "__cdp_memcpy",
        "void(void* destination,const void* source,size_t size)",
        Intrinsic::MemCopy { overlap: false },
        "The copy itself.",
    ),
    intrinsic(
        "__cdp_memset",
        "void(void* destination,int value,size_t size)",
        Intrinsic::MemSet,
        "The filling itself.",
    ),
    device(
        "__nv_aligned_device_malloc",
        "void*(size_t size,size_t align)",
        Lower::Extern("__cuda_syscall_aligned_malloc"),
        "Allocates from the device heap with an alignment in bytes.",
    ),
];
