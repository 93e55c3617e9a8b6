//! [`Device`]: what host code needs of a device, whichever it is. Implemented by [`crate::gpu`] (the
//! CUDA driver) and [`crate::cpu`] (the emulator).
//!
//! A device works for one process and is called from any thread. It keeps no "last error" and knows
//! no host symbols: those are the CUDA runtime's ideas and live in [`crate::process`].

use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cdp_emulator::Report;

use crate::array::{ArrayHandle, ArrayInfo, Copy3D, Resource, TextureDesc};
use crate::error::{CudaError, DeviceError, Result};
use crate::properties::{self, DeviceProp};

/// Which implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// An NVIDIA GPU behind the CUDA driver.
    Gpu,
    /// The emulator.
    Cpu,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Gpu => "gpu",
            DeviceKind::Cpu => "cpu",
        })
    }
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub u64);
        )*
    };
}

handles! {
    /// A loaded module.
    ModuleHandle;
    /// A kernel of a loaded module.
    KernelHandle;
    /// A `cudaStream_t` as host code holds it.
    StreamHandle;
    /// A `cudaEvent_t` as host code holds it.
    EventHandle;
}

impl StreamHandle {
    /// The NULL stream, which means [`StreamHandle::LEGACY`].
    pub const NULL: StreamHandle = StreamHandle(0);
    /// `cudaStreamLegacy`
    pub const LEGACY: StreamHandle = StreamHandle(1);
    /// `cudaStreamPerThread`
    pub const PER_THREAD: StreamHandle = StreamHandle(2);
}

/// The code that a module is loaded from: a device takes the form it understands.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModuleImage<'a> {
    /// A linked cubin, or a fatbin that holds some. Empty if there is none.
    pub cubin: &'a [u8],
    /// PTX modules with their names (for reports); the CPU device links them together.
    pub ptx: &'a [(&'a str, &'a [u8])],
}

/// `cudaLaunchAttribute` and `CUlaunchAttribute`, which are the same.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchAttribute {
    /// `cudaLaunchAttributeID`
    pub id: u32,
    /// Nothing.
    pub pad: u32,
    /// `cudaLaunchAttributeValue`
    pub value: [u64; 8],
}

impl LaunchAttribute {
    /// `cudaLaunchAttributeCooperative`
    pub const COOPERATIVE: u32 = 2;
    /// `cudaLaunchAttributeClusterDimension`
    pub const CLUSTER: u32 = 4;

    /// A cooperative launch.
    pub fn cooperative() -> LaunchAttribute {
        LaunchAttribute { id: Self::COOPERATIVE, pad: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] }
    }
}

/// Grid, block, dynamic shared memory, stream and attributes of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig<'a> {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u64,
    /// Stream.
    pub stream: StreamHandle,
    /// What `<<<>>>` cannot say.
    pub attributes: &'a [LaunchAttribute],
}

impl LaunchConfig<'_> {
    fn attribute(&self, id: u32) -> Option<&LaunchAttribute> {
        self.attributes.iter().rev().find(|attribute| attribute.id == id)
    }

    /// All blocks run at once and may wait for each other.
    pub fn is_cooperative(&self) -> bool {
        self.attribute(LaunchAttribute::COOPERATIVE).is_some_and(|found| found.value[0] as u32 != 0)
    }

    /// Blocks of a cluster in x, y, z, if the launch says so.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        let value = self.attribute(LaunchAttribute::CLUSTER)?.value;
        Some([value[0] as u32, (value[0] >> 32) as u32, value[1] as u32])
    }
}

/// `cudaMemcpyKind`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CopyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// Direction found from the addresses.
    Default,
}

impl CopyKind {
    /// From the C enumerator's number.
    pub fn from_raw(raw: u32) -> Option<CopyKind> {
        Some(match raw {
            0 => CopyKind::HostToHost,
            1 => CopyKind::HostToDevice,
            2 => CopyKind::DeviceToHost,
            3 => CopyKind::DeviceToDevice,
            4 => CopyKind::Default,
            _ => return None,
        })
    }
}

/// A rectangle of bytes to copy; `height` rows of `width_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy2D {
    /// First destination byte.
    pub dst: u64,
    /// Bytes from one destination row to the next.
    pub dst_pitch_bytes: usize,
    /// First source byte.
    pub src: u64,
    /// Bytes from one source row to the next.
    pub src_pitch_bytes: usize,
    /// Bytes of a row.
    pub width_bytes: usize,
    /// Rows.
    pub height: usize,
}

/// `cudaMemoryType`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MemoryType {
    Unregistered = 0,
    Host = 1,
    Device = 2,
    Managed = 3,
}

/// `cudaMemLocation`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// `cudaMemLocationType`
    pub kind: u32,
    /// Which device or node of the host.
    pub id: i32,
}

impl Location {
    /// `cudaMemLocationTypeDevice`
    pub const DEVICE: u32 = 1;
    /// `cudaMemLocationTypeHost`
    pub const HOST: u32 = 2;
}

/// A function of the host that waits in a stream; it is told whether the work before it went well.
pub type HostWork = Box<dyn FnOnce(CudaError) + Send>;

/// What a device knows about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerInfo {
    /// Kind of memory.
    pub memory: MemoryType,
    /// The address kernels use, 0 if they cannot.
    pub device_address: u64,
    /// The address host code uses, 0 if it cannot.
    pub host_address: u64,
}

/// `cudaLimit`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Limit {
    StackBytes = 0,
    PrintfFifoBytes = 1,
    MallocHeapBytes = 2,
    SyncDepth = 3,
    PendingLaunches = 4,
    MaxL2FetchGranularity = 5,
    PersistingL2Bytes = 6,
}

impl Limit {
    /// From the C enumerator's number.
    pub fn from_raw(raw: u32) -> Option<Limit> {
        use Limit::*;
        let all = [
            StackBytes,
            PrintfFifoBytes,
            MallocHeapBytes,
            SyncDepth,
            PendingLaunches,
            MaxL2FetchGranularity,
            PersistingL2Bytes,
        ];
        all.get(raw as usize).copied()
    }
}

/// The part of `cudaFuncAttributes` that a device knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelAttributes {
    /// Static shared memory of a block.
    pub shared_bytes: u64,
    /// Constant memory declared by the module's author.
    pub constant_bytes: u64,
    /// Local memory of a thread.
    pub local_bytes: u64,
    /// Most threads a block of this kernel may have.
    pub max_block_threads: i32,
    /// Registers of a thread.
    pub registers: i32,
    /// 10 * major + minor of the PTX the kernel was compiled from.
    pub ptx_version: i32,
    /// 10 * major + minor of the machine code.
    pub binary_version: i32,
    /// Loads cached in L1 by option.
    pub cache_mode_ca: i32,
    /// Most dynamic shared memory that a launch may ask for.
    pub max_dynamic_shared_bytes: i32,
    /// Preferred shared memory in per cent, -1 for the driver's choice.
    pub preferred_carveout: i32,
    /// The kernel may only be launched with a cluster.
    pub cluster_must_be_set: i32,
    /// Required cluster in x, y, z; 0 if free.
    pub required_cluster: [i32; 3],
    /// `cudaClusterSchedulingPolicy`
    pub cluster_scheduling_policy: i32,
    /// Clusters over the portable size allowed.
    pub non_portable_cluster: i32,
}

/// A step of a graph that kernels may launch.
pub struct GraphStep {
    /// What is done.
    pub work: GraphWork,
    /// The steps, by place, that are done before; all of them come earlier.
    pub after: Vec<usize>,
}

/// What a step of such a graph does.
pub enum GraphWork {
    /// Nothing: others meet here.
    Nothing,
    /// Runs a kernel.
    #[allow(missing_docs)]
    Launch {
        kernel: KernelHandle,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u64,
        attributes: Vec<LaunchAttribute>,
        /// The bytes of each parameter.
        params: Vec<Box<[u8]>>,
    },
    /// Copies a rectangle within device memory.
    Copy(Copy2D),
    /// Sets rows of elements of 1, 2 or 4 bytes.
    #[allow(missing_docs)]
    Set {
        dst: u64,
        pitch_bytes: usize,
        value: u32,
        element_bytes: u32,
        /// Elements of a row.
        width: usize,
        height: usize,
    },
}

fn no_record() -> DeviceError {
    let detail = "only the CPU device records what kernels do; on a GPU use Nsight Systems and Nsight Compute";
    DeviceError::new(CudaError::NOT_SUPPORTED, detail)
}

/// A device.
///
/// Addresses are `u64`: device addresses for device memory, host addresses for host memory.
/// Methods without a stream argument that move data return when it has moved.
pub trait Device: Send + Sync {
    /// Which implementation.
    fn kind(&self) -> DeviceKind;

    /// The device's name, as `cudaDeviceProp::name`.
    fn name(&self) -> String;

    /// A `cudaDeviceAttr` by number (= `CUdevice_attribute`). `cudaErrorInvalidValue` if unknown.
    fn attribute(&self, attribute: u32) -> Result<i32>;

    /// Bytes of device memory: free, total.
    fn memory_bytes(&self) -> Result<(u64, u64)>;

    /// 16 bytes that identify the device.
    fn uuid(&self) -> [u8; 16];

    /// All properties, from the attributes.
    fn properties(&self) -> Result<DeviceProp> {
        properties::from_device(self)
    }

    /// Loads a module. The error says what is wrong with the code and where.
    fn load_module(&self, image: &ModuleImage<'_>) -> Result<ModuleHandle>;
    /// Unloads a module; its kernels and symbols are gone.
    fn unload_module(&self, module: ModuleHandle) -> Result<()>;
    /// Finds a kernel by symbol name; `cudaErrorSymbolNotFound` if there is none.
    fn kernel(&self, module: ModuleHandle, symbol: &str) -> Result<KernelHandle>;
    /// Address and bytes of a module variable; `cudaErrorSymbolNotFound` if there is none.
    fn variable(&self, module: ModuleHandle, symbol: &str) -> Result<(u64, u64)>;
    /// Offset and bytes of each parameter, as the device has them.
    fn kernel_params(&self, kernel: KernelHandle) -> Result<Vec<(u64, u64)>>;
    /// `cudaFuncGetAttributes`
    fn kernel_attributes(&self, kernel: KernelHandle) -> Result<KernelAttributes>;
    /// `cudaFuncSetAttribute`; attribute by number.
    fn set_kernel_attribute(&self, kernel: KernelHandle, attribute: u32, value: i32) -> Result<()>;
    /// Blocks of the kernel that fit on a multiprocessor at once.
    fn max_active_blocks(
        &self,
        kernel: KernelHandle,
        block_threads: i32,
        shared_bytes: u64,
        flags: u32,
    ) -> Result<i32>;

    /// Clusters of the kernel that the device runs at once, with a launch's attributes, block and shared memory.
    fn max_active_clusters(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32>;
    /// Most blocks of a cluster with which the kernel can be launched; the clusters of `config` do not matter.
    fn max_cluster_blocks(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32>;

    /// Launches a kernel. `params[i]` holds the bytes of parameter `i`.
    ///
    /// # Safety
    /// What the kernel does with the memory that its parameters lead to is the caller's affair.
    unsafe fn launch(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<()>;

    /// Allocates device memory, aligned to 256 bytes or more. Zero bytes give address 0.
    fn allocate(&self, bytes: u64) -> Result<u64>;
    /// Allocates rows of `width_bytes`; address and pitch.
    fn allocate_pitched(&self, width_bytes: u64, height: u64) -> Result<(u64, u64)>;
    /// Allocates memory that host and device use by one address.
    fn allocate_managed(&self, bytes: u64, flags: u32) -> Result<u64>;
    /// Allocates page-locked host memory; the flags of `cudaHostAlloc`.
    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64>;
    /// The flags with which [`Device::allocate_host`] gave the memory around an address.
    fn host_flags(&self, address: u64) -> Result<u32>;
    /// Frees what [`Device::allocate`] and [`Device::allocate_managed`] gave. 0 is ignored.
    fn free(&self, address: u64) -> Result<()>;
    /// Frees what [`Device::allocate_host`] gave. 0 is ignored.
    fn free_host(&self, address: u64) -> Result<()>;
    /// What the address belongs to.
    fn pointer_info(&self, address: u64) -> Result<PointerInfo>;

    /// Lets kernels use host memory of the program; the flags of `cudaHostRegister`.
    fn register_host(&self, address: u64, bytes: u64, flags: u32) -> Result<()>;
    /// Undoes [`Device::register_host`].
    fn unregister_host(&self, address: u64) -> Result<()>;
    /// `cudaMemAdvise` of managed memory.
    fn advise(&self, address: u64, bytes: u64, advice: u32, location: Location) -> Result<()>;
    /// `cudaMemPrefetchAsync` of managed memory.
    fn prefetch(
        &self,
        address: u64,
        bytes: u64,
        location: Location,
        stream: StreamHandle,
    ) -> Result<()>;
    /// `cudaMemRangeGetAttribute` of managed memory.
    fn range_attribute(
        &self,
        attribute: u32,
        address: u64,
        bytes: u64,
        data: &mut [u8],
    ) -> Result<()>;

    /// Copies bytes: in stream order if a stream is given, else at once as `cudaMemcpy`.
    ///
    /// # Safety
    /// Host addresses must be valid for `bytes` until the copy has been made.
    unsafe fn copy(
        &self,
        dst: u64,
        src: u64,
        bytes: u64,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// Copies a rectangle.
    ///
    /// # Safety
    /// As for [`Device::copy`].
    unsafe fn copy_2d(
        &self,
        copy: &Copy2D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// Sets `bytes` bytes to `value`.
    ///
    /// # Safety
    /// Managed and host addresses must be valid until it is done.
    unsafe fn fill(
        &self,
        dst: u64,
        value: u8,
        bytes: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// Sets `height` rows of `width_bytes`, `pitch_bytes` apart.
    ///
    /// # Safety
    /// As for [`Device::fill`].
    unsafe fn fill_2d(
        &self,
        dst: u64,
        pitch_bytes: u64,
        value: u8,
        width_bytes: u64,
        height: u64,
        stream: Option<StreamHandle>,
    ) -> Result<()>;

    /// Makes a CUDA array.
    fn create_array(&self, info: &ArrayInfo) -> Result<ArrayHandle>;
    /// Frees an array.
    fn destroy_array(&self, array: ArrayHandle) -> Result<()>;
    /// What the array was made as.
    fn array_info(&self, array: ArrayHandle) -> Result<ArrayInfo>;
    /// Copies a box of which a side may lie in an array.
    ///
    /// # Safety
    /// As for [`Device::copy`].
    unsafe fn copy_3d(
        &self,
        copy: &Copy3D,
        kind: CopyKind,
        stream: Option<StreamHandle>,
    ) -> Result<()>;
    /// Makes a texture object; what kernels get.
    fn create_texture(&self, resource: &Resource, texture: &TextureDesc) -> Result<u64>;
    /// Destroys a texture object.
    fn destroy_texture(&self, object: u64) -> Result<()>;
    /// Makes a surface object of an array with `cudaArraySurfaceLoadStore`.
    fn create_surface(&self, array: ArrayHandle) -> Result<u64>;
    /// Destroys a surface object.
    fn destroy_surface(&self, object: u64) -> Result<()>;

    /// Makes a stream; `cudaStreamNonBlocking` is flag 1.
    fn create_stream(&self, flags: u32, priority: i32) -> Result<StreamHandle>;
    /// Destroys a stream; its work still runs.
    fn destroy_stream(&self, stream: StreamHandle) -> Result<()>;
    /// Waits for the work of a stream.
    fn synchronize_stream(&self, stream: StreamHandle) -> Result<()>;
    /// `cudaErrorNotReady` if the stream has work left.
    fn query_stream(&self, stream: StreamHandle) -> Result<()>;
    /// Later work of the stream waits for the event.
    fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle, flags: u32)
    -> Result<()>;
    /// Calls a function of the host when the work now in the stream is done. What comes after it in the
    /// stream waits for it.
    fn call_host(&self, stream: StreamHandle, work: HostWork) -> Result<()>;
    /// Flags of the stream.
    fn stream_flags(&self, stream: StreamHandle) -> Result<u32>;
    /// Priority of the stream.
    fn stream_priority(&self, stream: StreamHandle) -> Result<i32>;
    /// Least (a number no smaller than the other) and greatest priority.
    fn stream_priority_range(&self) -> Result<(i32, i32)>;

    /// Makes an event; the flags of `cudaEventCreateWithFlags`.
    fn create_event(&self, flags: u32) -> Result<EventHandle>;
    /// Destroys an event.
    fn destroy_event(&self, event: EventHandle) -> Result<()>;
    /// Records the event after the work now in the stream.
    fn record_event(&self, event: EventHandle, stream: StreamHandle, flags: u32) -> Result<()>;
    /// Waits until the event has happened.
    fn synchronize_event(&self, event: EventHandle) -> Result<()>;
    /// `cudaErrorNotReady` if the event has not happened.
    fn query_event(&self, event: EventHandle) -> Result<()>;
    /// Milliseconds from one event to the other.
    fn elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32>;

    /// Makes a graph that host code and the kernels of such graphs launch. The handle is what both use.
    fn create_graph(&self, steps: &[GraphStep]) -> Result<u64>;
    /// Changes what later launches of such a graph do.
    fn change_graph(&self, graph: u64, steps: &[GraphStep]) -> Result<()>;
    /// Destroys such a graph.
    fn destroy_graph(&self, graph: u64) -> Result<()>;
    /// Makes it ready for launches by kernels.
    fn upload_graph(&self, graph: u64, stream: StreamHandle) -> Result<()>;
    /// Launches it into a stream.
    fn launch_graph(&self, graph: u64, stream: StreamHandle) -> Result<()>;

    /// Ends the program with `cudaErrorLaunchTimeout` when its kernels run longer than this from now on;
    /// `None` for no limit. On the CPU device; a GPU's kernels run as long as the driver lets them.
    fn set_timeout(&self, _timeout: Option<Duration>) -> Result<()> {
        Ok(())
    }
    /// Begins or ends the record of grids that [`Device::trace_json`] tells; what was recorded stays.
    ///
    /// # Errors
    /// `cudaErrorNotSupported` on a GPU, whose tools are NVIDIA's.
    fn set_trace(&self, _on: bool) -> Result<()> {
        Err(no_record())
    }
    /// Waits for all work, and gives the recorded grids as Chrome trace JSON.
    ///
    /// # Errors
    /// As [`Device::set_trace`], and faults.
    fn trace_json(&self) -> Result<String> {
        Err(no_record())
    }
    /// Waits for all work, and gives what each kernel did since the device was opened, as JSON.
    ///
    /// # Errors
    /// As [`Device::trace_json`].
    fn profile_json(&self) -> Result<String> {
        Err(no_record())
    }
    /// Waits for all work, and gives what the checks that were asked for have found since the last call, one
    /// report for each pair of source places; and memory that is allocated now, if leaks are looked for. What
    /// ended the program, if anything did, is told by other calls.
    ///
    /// # Errors
    /// [`CudaError::NOT_SUPPORTED`] on a GPU.
    fn findings(&self) -> Result<Vec<Arc<Report>>> {
        let detail = "only the CPU device checks programs; on a GPU use compute-sanitizer";
        Err(DeviceError::new(CudaError::NOT_SUPPORTED, detail))
    }
    /// Waits for all work. Faults of earlier launches show here.
    fn synchronize(&self) -> Result<()>;
    /// Destroys everything on the device: memory, modules, streams, events, a sticky error.
    fn reset(&self) -> Result<()>;
    /// A limit's value.
    fn limit(&self, limit: Limit) -> Result<u64>;
    /// Sets a limit.
    fn set_limit(&self, limit: Limit, value: u64) -> Result<()>;
    /// `cudaDeviceGetCacheConfig`
    fn cache_config(&self) -> Result<u32>;
    /// `cudaDeviceSetCacheConfig`: a preference.
    fn set_cache_config(&self, config: u32) -> Result<()>;
    /// Version of the driver as 1000 * major + 10 * minor.
    fn driver_version(&self) -> Result<i32>;
    /// A function of the driver by name, 0 without a driver.
    fn driver_function(&self, _name: &CStr, _version: i32, _flags: u64) -> Result<u64> {
        Ok(0)
    }
    /// What is left to say when the process ends (traces, profiles). Work has been waited for.
    fn finish(&self) {}
}
