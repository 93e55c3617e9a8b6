//! The launch of one kernel with arguments made from text, and its results.

use std::fmt;
use std::path::{Path, PathBuf};

use cdp_ptx::{ScalarType, TypeClass};

use super::arg::{Arg, BufferInit, Destination};
use super::element::{Element, parse_integer};
use super::npy::{Array, read_npy};
use cdp_runtime::names::{find_kernel, ptx_kernels};
use cdp_runtime::{
    CopyKind, CudaError, Device, DeviceError, KernelHandle, LaunchConfig, ModuleHandle,
    ModuleImage, StreamHandle,
};

/// What to launch.
#[derive(Clone, Debug)]
pub struct KernelRun<'a> {
    /// Symbol, or name as in the source if the image has PTX.
    pub kernel: &'a str,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u64,
    /// An argument for each parameter.
    pub args: &'a [Arg],
}

/// A buffer after the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferResult {
    /// Which argument it was, from 0.
    pub arg: usize,
    /// Contents, type and shape.
    pub array: Array,
    /// The kernel changed it.
    pub changed: bool,
    /// What was asked to become of it.
    pub destination: Destination,
}

/// Why a kernel was not run, or ended badly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// No such kernel, or several.
    Kernel(String),
    /// The arguments do not fit the kernel.
    Args(String),
    /// A file that cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The device refuses or the kernel failed.
    Device {
        /// What was being done.
        doing: &'static str,
        /// What the device says.
        error: DeviceError,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Kernel(message) | RunError::Args(message) => f.write_str(message),
            RunError::File { path, message } => write!(f, "{}: {message}", path.display()),
            RunError::Device { doing, error } => write!(f, "{doing}: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

fn device_error(doing: &'static str) -> impl Fn(DeviceError) -> RunError {
    move |error| RunError::Device { doing, error }
}

/// Reads a grid or block: `8`, `8,4` or `8x4x2`. Missing dimensions are 1.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_dimensions(text: &str) -> Result<[u32; 3], String> {
    let mut dimensions = [1u32; 3];
    let parts: Vec<&str> = text.split([',', 'x']).map(str::trim).collect();
    if parts.len() > 3 {
        return Err(format!("`{text}` has more than three dimensions"));
    }
    for (slot, part) in dimensions.iter_mut().zip(parts) {
        let value = parse_integer(part).and_then(|value| u32::try_from(value).ok());
        *slot =
            value.ok_or_else(|| format!("`{part}` is not a dimension: `8`, `8,4` or `8,4,2`"))?;
    }
    Ok(dimensions)
}

/// A buffer on its way.
struct Buffer {
    arg: usize,
    address: u64,
    before: Array,
    destination: Destination,
}

/// Loads `image`, launches the kernel, waits for it and everything it launched, and brings the
/// buffers back. The module and the buffers are gone afterwards.
pub fn run_kernel(
    device: &dyn Device,
    image: &ModuleImage<'_>,
    run: &KernelRun<'_>,
) -> Result<Vec<BufferResult>, RunError> {
    let types = PtxFacts::read(image);
    let symbol = match types.kernels.as_slice() {
        [] => run.kernel.to_owned(),
        kernels => find_kernel(kernels, run.kernel).map_err(RunError::Kernel)?,
    };
    let module = device.load_module(image).map_err(device_error("loading the device code"))?;
    let done = run_loaded(device, module, &symbol, &types, run);
    // After a fault nothing can be unloaded; the error that matters is the first.
    let unloaded = device.unload_module(module).map_err(device_error("unloading the device code"));
    let results = done?;
    unloaded?;
    Ok(results)
}

fn run_loaded(
    device: &dyn Device,
    module: ModuleHandle,
    symbol: &str,
    types: &PtxFacts,
    run: &KernelRun<'_>,
) -> Result<Vec<BufferResult>, RunError> {
    let kernel = device.kernel(module, symbol).map_err(|error| match error.code {
        CudaError::SYMBOL_NOT_FOUND => {
            RunError::Kernel(format!("the device code has no kernel `{symbol}`"))
        }
        _ => device_error("looking the kernel up")(error),
    })?;
    let params = device.kernel_params(kernel).map_err(device_error("asking for the parameters"))?;
    let sizes: Vec<usize> = params.iter().map(|param| param.1 as usize).collect();
    if sizes.len() != run.args.len() {
        let shown: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let of = match shown.as_slice() {
            [] => String::new(),
            sizes => format!(" (bytes: {})", sizes.join(", ")),
        };
        let (takes, given) =
            (counted(sizes.len(), "parameter"), counted(run.args.len(), "argument"));
        let verb = if run.args.len() == 1 { "is" } else { "are" };
        return Err(RunError::Args(format!(
            "`{symbol}` has {takes}{of}, and {given} {verb} given"
        )));
    }
    let mut buffers = Vec::new();
    let mut values = Vec::new();
    let param_types = types.params(symbol);
    let made = sizes.iter().enumerate().try_for_each(|(index, &bytes)| {
        let ty = param_types.as_ref().and_then(|types| types.get(index).copied());
        let value = make_value(device, index, &run.args[index], bytes, ty, &mut buffers)?;
        values.push(value);
        Ok(())
    });
    let results = made.and_then(|()| launch(device, kernel, run, &values, &buffers));
    for buffer in &buffers {
        // As with the module: only the first error matters, and it is in `results`.
        let _ = device.free(buffer.address);
    }
    results
}

fn make_value(
    device: &dyn Device,
    index: usize,
    arg: &Arg,
    param_bytes: usize,
    ty: Option<ScalarType>,
    buffers: &mut Vec<Buffer>,
) -> Result<Vec<u8>, RunError> {
    let misfit = |given: usize| {
        RunError::Args(format!(
            "argument {} has {given} bytes and its parameter has {param_bytes}",
            index + 1
        ))
    };
    let value = match arg {
        Arg::Scalar(_, bytes) | Arg::Raw(bytes) => bytes.clone(),
        Arg::Untyped(text) => untyped(text, param_bytes, ty)
            .map_err(|message| RunError::Args(format!("argument {}: {message}", index + 1)))?,
        Arg::Buffer { element, shape, init, destination } => {
            if param_bytes != 8 {
                return Err(RunError::Args(format!(
                    "argument {} is a buffer and its parameter has {param_bytes} bytes, which is no \
                     pointer",
                    index + 1
                )));
            }
            let before = contents(*element, shape, init)?;
            let bytes = before.bytes.len() as u64;
            // An empty buffer still has an address.
            let allocated = device.allocate(bytes.max(1)).map_err(device_error("allocating"))?;
            let destination = destination.clone();
            buffers.push(Buffer { arg: index, address: allocated, before, destination });
            let source = &buffers[buffers.len() - 1].before.bytes;
            // SAFETY: the source is `bytes` bytes long and the copy is made before the call returns.
            unsafe {
                device.copy(allocated, source.as_ptr() as u64, bytes, CopyKind::HostToDevice, None)
            }
            .map_err(device_error("copying to the device"))?;
            allocated.to_le_bytes().to_vec()
        }
    };
    if value.len() == param_bytes { Ok(value) } else { Err(misfit(value.len())) }
}

/// A number without a type, for a parameter of a size and perhaps of a PTX type.
fn untyped(text: &str, param_bytes: usize, ty: Option<ScalarType>) -> Result<Vec<u8>, String> {
    let is_float = match ty.map(ScalarType::class) {
        Some(TypeClass::Float) => true,
        Some(TypeClass::Unsigned | TypeClass::Signed) => false,
        // Bits, or unknown: as the number is written.
        _ => parse_integer(text).is_none() && !matches!(text, "true" | "false"),
    };
    let negative = text.starts_with('-');
    let element = match (is_float, param_bytes, negative) {
        _ if matches!(text, "true" | "false") => Element::Bool,
        (true, 2, _) => Element::F16,
        (true, 4, _) => Element::F32,
        (true, 8, _) => Element::F64,
        (false, 1, true) => Element::I8,
        (false, 1, false) => Element::U8,
        (false, 2, true) => Element::I16,
        (false, 2, false) => Element::U16,
        (false, 4, true) => Element::I32,
        (false, 4, false) => Element::U32,
        (false, 8, true) => Element::I64,
        (false, 8, false) => Element::U64,
        _ => {
            return Err(format!(
                "a parameter of {param_bytes} bytes takes `hex` and its bytes, not `{text}`"
            ));
        }
    };
    element.parse_value(text)
}

/// What a buffer holds before the launch.
fn contents(
    element: Option<Element>,
    shape: &[usize],
    init: &BufferInit,
) -> Result<Array, RunError> {
    let element = element.unwrap_or(Element::U8);
    let count: usize = shape.iter().product();
    let shape = shape.to_vec();
    Ok(match init {
        BufferInit::Zeros => Array { element, shape, bytes: vec![0; count * element.bytes()] },
        BufferInit::Fill(value) => Array { element, shape, bytes: value.repeat(count) },
        BufferInit::Bytes(bytes) => Array { element, shape, bytes: bytes.clone() },
        BufferInit::Iota => {
            let mut bytes = Vec::with_capacity(count * element.bytes());
            for index in 0..count {
                // Past an integer type's largest value it starts again.
                let value = match element {
                    Element::Bool => (index & 1).to_string(),
                    Element::F16 | Element::F32 | Element::F64 => index.to_string(),
                    _ => {
                        let mut raw = index.to_le_bytes().to_vec();
                        raw.truncate(element.bytes());
                        bytes.extend(raw);
                        continue;
                    }
                };
                bytes.extend(element.parse_value(&value).map_err(RunError::Args)?);
            }
            Array { element, shape, bytes }
        }
        BufferInit::File(path) => read_file(path, element)?,
    })
}

fn read_file(path: &Path, element: Element) -> Result<Array, RunError> {
    let problem = |message: String| RunError::File { path: path.to_owned(), message };
    let bytes = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy")) {
        return read_npy(&bytes).map_err(|error| problem(error.0));
    }
    if bytes.len() % element.bytes() != 0 {
        return Err(problem(format!("{} bytes are no whole number of {element}", bytes.len())));
    }
    Ok(Array { element, shape: vec![bytes.len() / element.bytes()], bytes })
}

fn launch(
    device: &dyn Device,
    kernel: KernelHandle,
    run: &KernelRun<'_>,
    values: &[Vec<u8>],
    buffers: &[Buffer],
) -> Result<Vec<BufferResult>, RunError> {
    let config = LaunchConfig {
        grid: run.grid,
        block: run.block,
        shared_bytes: run.shared_bytes,
        stream: StreamHandle::NULL,
        attributes: &[],
    };
    let params: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    // SAFETY: the kernel gets what its user asked for.
    unsafe { device.launch(kernel, &config, &params) }
        .map_err(device_error("launching the kernel"))?;
    device.synchronize().map_err(device_error("running the kernel"))?;
    let mut results = Vec::new();
    for buffer in buffers {
        let mut bytes = vec![0u8; buffer.before.bytes.len()];
        let target = bytes.as_mut_ptr() as u64;
        let count = bytes.len() as u64;
        // SAFETY: the target is `count` bytes long and the copy is made before the call returns.
        unsafe { device.copy(target, buffer.address, count, CopyKind::DeviceToHost, None) }
            .map_err(device_error("copying from the device"))?;
        let changed = bytes != buffer.before.bytes;
        let array = Array { bytes, ..buffer.before.clone() };
        let destination = buffer.destination.clone();
        results.push(BufferResult { arg: buffer.arg, array, changed, destination });
    }
    Ok(results)
}

/// What the PTX says of kernels and parameters, where there is PTX.
struct PtxFacts {
    kernels: Vec<String>,
    modules: Vec<cdp_ptx::Module>,
}

impl PtxFacts {
    fn read(image: &ModuleImage<'_>) -> PtxFacts {
        let mut facts = PtxFacts { kernels: Vec::new(), modules: Vec::new() };
        for (_, bytes) in image.ptx {
            let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
            // What is wrong with a text is said when the device loads it.
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            facts.kernels.extend(ptx_kernels(text));
            facts.modules.extend(cdp_ptx::parse_lenient(text));
        }
        facts
    }

    /// Element types of a kernel's scalar parameters; arrays count as bits.
    fn params(&self, symbol: &str) -> Option<Vec<ScalarType>> {
        self.modules.iter().find_map(|module| {
            let function = &module.functions[module.function(symbol)?.index()];
            function.body.as_ref()?;
            let ty = |param: &cdp_ptx::Param| match param.array_len {
                None => param.ty,
                Some(_) => ScalarType::B8,
            };
            Some(function.params.iter().map(ty).collect())
        })
    }
}

/// `1 parameter`, `2 parameters`
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions() {
        assert_eq!(parse_dimensions("8"), Ok([8, 1, 1]));
        assert_eq!(parse_dimensions("8, 4"), Ok([8, 4, 1]));
        assert_eq!(parse_dimensions("8x4x2"), Ok([8, 4, 2]));
        assert!(parse_dimensions("").is_err() && parse_dimensions("1,2,3,4").is_err());
        assert!(parse_dimensions("-1").is_err() && parse_dimensions("99999999999").is_err());
    }

    #[test]
    fn a_number_takes_the_parameters_type() {
        let f32s = |value: f32| Ok(value.to_le_bytes().to_vec());
        assert_eq!(untyped("2", 4, Some(ScalarType::F32)), f32s(2.0));
        assert_eq!(untyped("2", 4, Some(ScalarType::U32)), Ok(vec![2, 0, 0, 0]));
        assert_eq!(untyped("2.5", 4, Some(ScalarType::B32)), f32s(2.5));
        assert_eq!(untyped("2.5", 4, None), f32s(2.5));
        assert_eq!(untyped("-1", 8, None), Ok(vec![0xff; 8]));
        assert_eq!(untyped("true", 1, None), Ok(vec![1]));
        assert!(untyped("2.5", 4, Some(ScalarType::U32)).is_err());
        assert!(untyped("1", 12, None).unwrap_err().contains("hex"));
    }

    #[test]
    fn buffers_before_the_launch() {
        let array = contents(Some(Element::U8), &[300], &BufferInit::Iota).unwrap();
        assert_eq!((array.bytes[255], array.bytes[256]), (255, 0));
        let array = contents(Some(Element::F32), &[2], &BufferInit::Iota).unwrap();
        assert_eq!(array.bytes[4..], 1f32.to_le_bytes());
        let array = contents(Some(Element::I16), &[2, 2], &BufferInit::Fill(vec![1, 2])).unwrap();
        assert_eq!(array.bytes, [1, 2, 1, 2, 1, 2, 1, 2]);
    }
}
