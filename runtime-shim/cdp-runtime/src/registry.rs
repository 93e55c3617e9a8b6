//! What compiled code has registered: images of device code, and the kernels and variables that host code
//! knows by address. Registration only records; nothing is loaded, decompressed or looked up here.
//!
//! Two doors lead in: the tables of our own compiler's objects ([`crate::abi`]) and the calls that nvcc's
//! and clang's objects make before `main` ([`crate::capi`]).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::error::{CudaError, DeviceError, Result};
use crate::image::ptx_capability;
use cdp_image::fatbin;

/// Where a symbol is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// In every image.
    Anywhere,
    /// In the image that it was registered with, then in the others: a device link may have put it there.
    First(usize),
    /// In one image only.
    Only(usize),
}

impl Home {
    /// The image that it was registered with.
    pub fn image(self) -> Option<usize> {
        match self {
            Home::Anywhere => None,
            Home::First(image) | Home::Only(image) => Some(image),
        }
    }
}

/// A kernel as recorded.
#[derive(Clone, Copy)]
pub struct KernelRecord {
    /// Symbol in the device code.
    pub symbol: &'static str,
    /// Where it is looked for.
    pub home: Home,
    /// Bytes of each parameter, if host code tells; else they are the device code's.
    pub param_sizes: Option<&'static [u32]>,
}

/// A variable as recorded.
#[derive(Clone, Copy)]
pub struct VariableRecord {
    /// Symbol in the device code.
    pub symbol: &'static str,
    /// Where it is looked for.
    pub home: Home,
    /// Declared `__managed__`.
    pub managed: bool,
}

/// Device code as recorded.
#[derive(Clone)]
pub struct ImageRecord {
    /// For GPUs: a linked cubin or a fat binary. Empty if there is none.
    pub machine_code: &'static [u8],
    /// For the CPU device.
    pub ptx: Ptx,
}

/// Where the PTX of an image lies.
#[derive(Clone, Default)]
pub struct Ptx {
    /// Texts of our own compiler, and fat binaries that hold one.
    pub texts: Vec<&'static [u8]>,
    /// Fat binaries of which each holds a text: those of the linked members of a relocatable program, or
    /// the program's one.
    pub fatbins: Vec<&'static [u8]>,
}

impl Ptx {
    fn plain_texts(&self) -> impl Iterator<Item = &'static [u8]> + Clone {
        self.texts.iter().copied().filter(|text| !fatbin::is_fatbin(text))
    }

    fn containers(&self) -> impl Iterator<Item = &'static [u8]> {
        let among_texts = self.texts.iter().copied().filter(|text| fatbin::is_fatbin(text));
        among_texts.chain(self.fatbins.iter().copied())
    }
}

/// Defined in the PTX of NVIDIA's own device runtime, which nvcc links into programs that launch from
/// kernels. The CPU device is that runtime.
const DEVICE_RUNTIME_MARK: &[u8] = b"__CNPRT_VERSION_NUMBER__";

impl ImageRecord {
    /// The PTX texts.
    ///
    /// # Errors
    /// There is none, which says what there is instead and what to do; or it does not decompress.
    pub fn texts(&self) -> Result<Vec<Cow<'static, [u8]>>> {
        let mut texts: Vec<_> = self.ptx.plain_texts().map(Cow::Borrowed).collect();
        for container in self.ptx.containers() {
            match fatbin::newest_ptx(container) {
                Ok(Some(text)) if contains(&text, DEVICE_RUNTIME_MARK) => {}
                Ok(Some(text)) => texts.push(text),
                // A member without device code.
                Ok(None) if fatbin::entries(container).is_empty() => {}
                Ok(None) => return Err(without_ptx(container)),
                Err(damaged) => {
                    let code = CudaError::INVALID_KERNEL_IMAGE;
                    return Err(DeviceError::new(code, damaged.to_string()));
                }
            }
        }
        Ok(texts)
    }

    /// The highest architecture that the PTX is made for, 90 for compute_90.
    pub fn ptx_architecture(&self) -> Option<u32> {
        let own = self.ptx.plain_texts();
        let own = (own.clone().next().is_some()).then(|| ptx_capability(own));
        // The device runtime's own text is for the newest architecture there is. It comes with a program's
        // members, never alone.
        let newest = self.ptx.containers().filter_map(|container| {
            let newest =
                fatbin::architectures(container, fatbin::EntryKind::Ptx).into_iter().max()?;
            (!is_device_runtime(container)).then_some(newest)
        });
        newest.chain(own).max()
    }
}

/// The members of a program that nvcc links have machine code for one architecture or a few; the device
/// runtime has it for every one of the toolkit.
fn is_device_runtime(container: &[u8]) -> bool {
    let machine_code = fatbin::architectures(container, fatbin::EntryKind::MachineCode);
    machine_code.len() > 4
        && matches!(fatbin::newest_ptx(container), Ok(Some(text)) if contains(&text, DEVICE_RUNTIME_MARK))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn without_ptx(container: &[u8]) -> DeviceError {
    let kinds: Vec<String> = fatbin::entries(container)
        .iter()
        .map(|entry| match entry.kind {
            fatbin::EntryKind::MachineCode => format!("machine code for sm_{}", entry.architecture),
            _ => format!("intermediate code for sm_{}", entry.architecture),
        })
        .collect();
    DeviceError::new(
        CudaError::NO_KERNEL_IMAGE_FOR_DEVICE,
        format!(
            "the program carries {} and no PTX, which is what the CPU device runs; compile every file of it \
             with PTX too: nvcc -arch=sm_90, or -gencode arch=compute_90,code=compute_90 beside what you \
             have; clang --cuda-include-ptx=all",
            kinds.join(", ")
        ),
    )
}

/// What is known of the process's compiled code.
#[derive(Default)]
pub struct Registry {
    /// By number. What has been unregistered leaves a gap, so that numbers stay.
    pub images: Vec<Option<ImageRecord>>,
    /// Numbers of the images of our own compiler's programs and libraries, by their record's address.
    pub own_images: HashMap<usize, usize>,
    /// By the address that host code uses.
    pub kernels: HashMap<usize, KernelRecord>,
    /// By the address that host code uses.
    pub variables: HashMap<usize, VariableRecord>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

/// Works on the process's registry.
pub fn with<T>(work: impl FnOnce(&mut Registry) -> T) -> T {
    // Nothing that is done here is left half-done by a panic.
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    work(registry.get_or_insert_with(Registry::default))
}

/// Records device code; its number.
pub fn add_image(image: ImageRecord) -> usize {
    with(|registry| {
        registry.images.push(Some(image));
        registry.images.len() - 1
    })
}

/// Records the device code of a program or library of our own, once; its number.
pub fn add_own_image(address: usize, record: impl FnOnce() -> ImageRecord) -> usize {
    with(|registry| {
        *registry.own_images.entry(address).or_insert_with(|| {
            registry.images.push(Some(record()));
            registry.images.len() - 1
        })
    })
}

/// Records kernels and variables by the addresses that host code uses.
pub fn add_names(
    kernels: impl Iterator<Item = (usize, KernelRecord)>,
    variables: impl Iterator<Item = (usize, VariableRecord)>,
) {
    with(|registry| {
        registry.kernels.extend(kernels);
        registry.variables.extend(variables);
    });
}

/// Forgets an image with its kernels and variables, whose addresses it returns.
pub fn remove_image(number: usize) -> (Vec<usize>, Vec<usize>) {
    with(|registry| {
        if let Some(image) = registry.images.get_mut(number) {
            *image = None;
        }
        let of_image = Some(number);
        let kernels = registry.kernels.extract_if(|_, kernel| kernel.home.image() == of_image);
        let kernels = kernels.map(|(address, _)| address).collect();
        let variables =
            registry.variables.extract_if(|_, variable| variable.home.image() == of_image);
        (kernels, variables.map(|(address, _)| address).collect())
    })
}

/// The images that are there.
pub fn images() -> Vec<ImageRecord> {
    with(|registry| registry.images.iter().flatten().cloned().collect())
}
