//! Device objects to a linked cubin, through nvlink.

use std::ffi::OsString;
use std::fmt;

use crate::arch::{AddressSize, Arch};
use crate::cubin::{CdpFlavor, Cubin, cdp_flavor, is_device_runtime_symbol};
use crate::error::ToolError;
use crate::job::{Job, Tool};
use crate::search::Toolchain;

/// An input of the device link: a relocatable device object (ptxas, `nvcc -dc -cubin`), a host object
/// with device code inside (`nvcc -dc`), or a library of these.
#[derive(Clone, PartialEq, Eq)]
pub struct DeviceObject {
    /// Its name in messages; the file name's last part counts.
    pub name: String,
    /// The contents; empty in a dry run.
    pub bytes: Vec<u8>,
    /// Symbols that must come from elsewhere, where they are known: device objects tell, host
    /// objects and libraries do not.
    pub undefined_symbols: Vec<String>,
}

impl fmt::Debug for DeviceObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceObject")
            .field("name", &self.name)
            .field("bytes", &format_args!("[{}]", self.bytes.len()))
            .field("undefined_symbols", &self.undefined_symbols)
            .finish()
    }
}

impl DeviceObject {
    /// Looks at bytes from a file.
    ///
    /// # Errors
    /// [`ToolError::BadObject`] for a damaged device object, or something that is no input of a
    /// device link at all.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<DeviceObject, ToolError> {
        let bad = |source| ToolError::BadObject { name: name.to_owned(), source };
        let mut object =
            DeviceObject { name: name.to_owned(), bytes, undefined_symbols: Vec::new() };
        if Cubin::is_cubin(&object.bytes) {
            object.undefined_symbols = Cubin::read(&object.bytes).map_err(bad)?.undefined_symbols;
        } else if object.bytes.starts_with(b"\x7fELF") {
            crate::fatbin::list_host_object_images(&object.bytes).map_err(bad)?;
        } else if object.bytes.starts_with(b"!<arch>\n") {
            crate::fatbin::list_archive_images(&object.bytes).map_err(bad)?;
        } else if crate::fatbin::is_fatbin(&object.bytes) {
            crate::fatbin::list_images(&object.bytes).map_err(bad)?;
        } else {
            return Err(bad(crate::cubin::CubinError::new(
                "neither an object nor a library nor a fat binary",
            )));
        }
        Ok(object)
    }

    fn arch_number(&self) -> Option<u32> {
        Cubin::is_cubin(&self.bytes)
            .then(|| Cubin::read(&self.bytes).ok().map(|cubin| cubin.arch_number))
            .flatten()
    }

    fn is_transparent(&self) -> bool {
        self.bytes.is_empty() || Cubin::is_cubin(&self.bytes)
    }

    fn extension(&self) -> &'static str {
        if self.bytes.starts_with(b"!<arch>\n") {
            "a"
        } else if crate::fatbin::is_fatbin(&self.bytes) {
            "fatbin"
        } else {
            "o"
        }
    }
}

/// Whether to link the device runtime, libcudadevrt.a.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cudadevrt {
    /// When an input leaves one of its symbols undefined, or cannot be looked into (host objects).
    #[default]
    Auto,
    /// Always, as nvcc's `-lcudadevrt`.
    Always,
    /// Never.
    Never,
}

/// How to link.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// The architecture of all inputs.
    pub arch: Arch,
    /// The address size of all inputs.
    pub address_size: AddressSize,
    /// The device runtime.
    pub cudadevrt: Cudadevrt,
    /// `-g`: keep debug information.
    pub debug: bool,
    /// Further arguments for nvlink.
    pub extra_args: Vec<String>,
}

impl LinkOptions {
    /// The device runtime only when needed, no debug information.
    pub fn new(arch: Arch, address_size: AddressSize) -> LinkOptions {
        LinkOptions {
            arch,
            address_size,
            cudadevrt: Cudadevrt::Auto,
            debug: false,
            extra_args: Vec::new(),
        }
    }
}

/// A linked program.
#[derive(Clone)]
pub struct Linked {
    /// The cubin; empty in a dry run.
    pub bytes: Vec<u8>,
    /// What was read back from it; `None` in a dry run.
    pub cubin: Option<Cubin>,
    /// Whether libcudadevrt.a was given to nvlink.
    pub cudadevrt_linked: bool,
    /// nvlink's warnings, a line each.
    pub warnings: Vec<String>,
}

impl fmt::Debug for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = self.cubin.iter().flat_map(|cubin| &cubin.kernels);
        f.debug_struct("Linked")
            .field("bytes", &format_args!("[{}]", self.bytes.len()))
            .field("kernels", &kernels.map(|kernel| &*kernel.name).collect::<Vec<_>>())
            .field("cudadevrt_linked", &self.cudadevrt_linked)
            .field("warnings", &self.warnings)
            .finish()
    }
}

/// Links device objects into a cubin. `stem` names the intermediate file.
///
/// # Errors
/// [`ToolError::MixedCdp`] for CDP1 and CDP2 inputs together, [`ToolError::Unsupported`] when the
/// device runtime is needed and has no image for the architecture, and all that a missing or failing
/// nvlink brings.
pub fn link(
    toolchain: &Toolchain,
    job: &Job,
    stem: &str,
    objects: &[DeviceObject],
    options: &LinkOptions,
) -> Result<Linked, ToolError> {
    if objects.is_empty() {
        return Err(ToolError::BadRequest("a device link needs at least one object".to_owned()));
    }
    check_flavors(objects, options)?;
    let tools = toolchain.link_tools(options.arch, options.address_size)?;
    let cudadevrt = match wants_cudadevrt(objects, options.cudadevrt) {
        Wish::Must => {
            Some(tools.cudadevrt.clone().ok_or_else(|| no_cudadevrt(toolchain, options))?)
        }
        Wish::May => tools.cudadevrt.clone(),
        Wish::No => None,
    };
    let mut args: Vec<OsString> = vec![format!("-arch={}", options.arch).into()];
    if options.debug {
        args.push("-g".into());
    }
    args.extend(options.extra_args.iter().map(OsString::from));
    for object in objects {
        args.push(place(job, object)?.into());
    }
    // As a file and not as `-L dir -l name`: nvlink records the latter, with the folder, in the cubin.
    args.extend(cudadevrt.iter().map(|path| path.as_os_str().to_owned()));
    let output = job.file_name(&format!("{stem}.{}", options.arch), "cubin");
    args.extend(["-o".into(), OsString::from(&output)]);
    let said = job.run(Tool::Nvlink, &tools.nvlink, args)?;
    let bytes = job.read(&output)?;
    let cubin = match job.is_dry_run() {
        true => None,
        false => Some(
            Cubin::read(&bytes).map_err(|source| ToolError::BadObject { name: output, source })?,
        ),
    };
    let text = format!("{}\n{}", said.stdout, said.stderr);
    let warnings =
        text.lines().filter(|line| line.starts_with("nvlink warning")).map(str::to_owned).collect();
    Ok(Linked { bytes, cubin, cudadevrt_linked: cudadevrt.is_some(), warnings })
}

/// Puts an object into the work folder and returns its file name there.
fn place(job: &Job, object: &DeviceObject) -> Result<String, ToolError> {
    // An object that `assemble` made in this job is there already, under this very name.
    let existing = job.work_dir().join(&object.name);
    let is_bare = !object.name.contains('/');
    let same = || std::fs::read(&existing).is_ok_and(|bytes| bytes == object.bytes);
    if is_bare && (same() || (job.is_dry_run() && object.bytes.is_empty())) {
        return Ok(object.name.clone());
    }
    let base = object.name.rsplit('/').next().unwrap_or_default();
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
    let name = job.file_name(stem, object.extension());
    job.write(&name, &object.bytes)?;
    Ok(name)
}

enum Wish {
    Must,
    May,
    No,
}

fn wants_cudadevrt(objects: &[DeviceObject], choice: Cudadevrt) -> Wish {
    let undefined = || objects.iter().flat_map(|object| &object.undefined_symbols);
    match choice {
        Cudadevrt::Never => Wish::No,
        Cudadevrt::Always => Wish::Must,
        Cudadevrt::Auto if undefined().any(|name| is_device_runtime_symbol(name)) => Wish::Must,
        // nvlink takes nothing out of a library that it does not need.
        Cudadevrt::Auto if objects.iter().any(|object| !object.is_transparent()) => Wish::May,
        Cudadevrt::Auto => Wish::No,
    }
}

fn no_cudadevrt(toolchain: &Toolchain, options: &LinkOptions) -> ToolError {
    let libraries: Vec<_> =
        toolchain.toolkits().iter().filter_map(|toolkit| toolkit.cudadevrt()).collect();
    if libraries.is_empty() {
        return ToolError::NotFound {
            what: "libcudadevrt.a".to_owned(),
            purpose: "to link device code that launches kernels".to_owned(),
            searched: toolchain.searched().to_vec(),
        };
    }
    let mut images: Vec<u32> =
        libraries.iter().flat_map(|library| library.images.iter().copied()).collect();
    images.sort_unstable();
    images.dedup();
    let images: Vec<String> = images.iter().map(|number| format!("sm_{number}")).collect();
    ToolError::Unsupported {
        what: "libcudadevrt.a".to_owned(),
        arch: options.arch,
        address_size: options.address_size,
        found: libraries.iter().map(|library| (library.path.clone(), None)).collect(),
        cure: format!(
            "there is no device runtime for {}, so its kernels cannot launch kernels; there is one for {}",
            options.arch,
            images.join(", ")
        ),
    }
}

/// CDP1 and CDP2 objects link without a word from nvlink, and the driver then refuses the result.
fn check_flavors(objects: &[DeviceObject], options: &LinkOptions) -> Result<(), ToolError> {
    let mut found: [Option<(String, String)>; 2] = [None, None];
    for object in objects {
        let number = object.arch_number().unwrap_or(options.arch.number().into());
        for used in cdp_flavor(number, object.undefined_symbols.iter().map(String::as_str)) {
            let slot = match used.flavor {
                CdpFlavor::Cdp1 => 0,
                CdpFlavor::Cdp2 => 1,
            };
            found[slot].get_or_insert((object.name.clone(), used.symbol));
        }
    }
    match found {
        [Some(cdp1), Some(cdp2)] => Err(ToolError::MixedCdp { cdp1, cdp2 }),
        _ => Ok(()),
    }
}
