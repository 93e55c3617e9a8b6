//! Device objects to a linked cubin, through nvlink.

use std::ffi::OsString;
use std::fmt;

use crate::arch::{AddressSize, Arch};
use crate::cubin::Cubin;
use crate::device_runtime::{CdpFlavor, cdp_flavor, is_device_runtime_symbol};
use crate::error::ToolError;
use crate::inputs::prepare;
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
    /// Symbols that must come from elsewhere, as far as they are known without a tool: those of
    /// device objects.
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
    /// When an input leaves one of its symbols undefined, or is a library or cannot be looked into;
    /// nvlink takes nothing from libcudadevrt.a that it does not need.
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
    /// nvlink's warnings and those about inputs without device code, a line each.
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
/// [`ToolError::NotRelocatable`] for inputs that are linked already, [`ToolError::MixedCdp`] for CDP1
/// and CDP2 inputs together, [`ToolError::Unsupported`] when the
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
    let tools = toolchain.link_tools(options.arch, options.address_size)?;
    let mut files = Vec::new();
    let mut insides = Vec::new();
    let inputs = prepare(objects, options.arch)?;
    for object in &inputs.objects {
        let file = place(job, object)?;
        insides.push(look_inside(toolchain, job, object, &file, options.arch)?);
        files.push(file);
    }
    check_flavors(&insides)?;
    let cudadevrt = match wants_cudadevrt(&insides, options.cudadevrt) {
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
    args.extend(files.into_iter().map(OsString::from));
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
    let mut warnings = inputs.warnings;
    warnings
        .extend(text.lines().filter(|line| line.starts_with("nvlink warning")).map(str::to_owned));
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

/// What one input contains.
struct Inside {
    name: String,
    /// Undefined symbols with the architecture number of the object they are in; `None` when the
    /// input could not be looked into.
    undefined: Option<Vec<(u32, String)>>,
    /// A library, of which the linker takes only the members that are wanted.
    is_library: bool,
}

/// Device objects tell what they need; host objects, fat binaries and libraries are unpacked first.
fn look_inside(
    toolchain: &Toolchain,
    job: &Job,
    object: &DeviceObject,
    file: &str,
    arch: Arch,
) -> Result<Inside, ToolError> {
    let bad = |source| ToolError::BadObject { name: object.name.clone(), source };
    let undefined = if object.bytes.is_empty() {
        let names = object.undefined_symbols.iter();
        Some(names.map(|name| (arch.number().into(), name.clone())).collect())
    } else if Cubin::is_cubin(&object.bytes) {
        Some(undefined_in(&Cubin::read(&object.bytes).map_err(bad)?))
    } else {
        unpack(toolchain, job, file)?.map(|cubins| {
            let wanted = |cubin: &&Cubin| cubin.arch_number == u32::from(arch.number());
            cubins.iter().filter(wanted).flat_map(undefined_in).collect()
        })
    };
    Ok(Inside { name: object.name.clone(), undefined, is_library: object.extension() == "a" })
}

fn undefined_in(cubin: &Cubin) -> Vec<(u32, String)> {
    cubin.undefined_symbols.iter().map(|name| (cubin.arch_number, name.clone())).collect()
}

/// The device objects in a host object, a library or a fat binary; `None` without cuobjdump, and when
/// there are none to be found.
fn unpack(toolchain: &Toolchain, job: &Job, file: &str) -> Result<Option<Vec<Cubin>>, ToolError> {
    let Some(cuobjdump) = toolchain.cuobjdump().filter(|_| !job.is_dry_run()) else {
        return Ok(None);
    };
    let dir = job.work_dir().join(job.file_name(file, "unpacked"));
    let io = |error| ToolError::io("unpack device objects", dir.clone(), error);
    std::fs::create_dir_all(&dir).map_err(io)?;
    let input = job.work_dir().join(file);
    let args = vec!["-xelf".into(), "all".into(), input.into_os_string()];
    if job.run_in(dir.clone(), Tool::Cuobjdump, cuobjdump, args).is_err() {
        // Nothing depends on it: nvlink will say what is wrong with the file, if anything is.
        return Ok(None);
    }
    let mut cubins = Vec::new();
    for entry in std::fs::read_dir(&dir).map_err(io)? {
        let bytes = std::fs::read(entry.map_err(io)?.path()).map_err(io)?;
        cubins.extend(Cubin::read(&bytes).ok());
    }
    Ok((!cubins.is_empty()).then_some(cubins))
}

enum Wish {
    Must,
    May,
    No,
}

fn wants_cudadevrt(insides: &[Inside], choice: Cudadevrt) -> Wish {
    let needed = |inside: &Inside| {
        let undefined = inside.undefined.as_deref().unwrap_or_default();
        undefined.iter().any(|(_, name)| is_device_runtime_symbol(name))
    };
    match choice {
        Cudadevrt::Never => Wish::No,
        Cudadevrt::Always => Wish::Must,
        Cudadevrt::Auto if insides.iter().any(|inside| !inside.is_library && needed(inside)) => {
            Wish::Must
        }
        // nvlink takes nothing out of a library that it does not need.
        Cudadevrt::Auto if insides.iter().any(|i| i.undefined.is_none() || needed(i)) => Wish::May,
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
fn check_flavors(insides: &[Inside]) -> Result<(), ToolError> {
    let mut found: [Option<(String, String)>; 2] = [None, None];
    // What a library holds may not be taken from it.
    for inside in insides.iter().filter(|inside| !inside.is_library) {
        for (arch_number, name) in inside.undefined.as_deref().unwrap_or_default() {
            for used in cdp_flavor(*arch_number, [name.as_str()]) {
                let slot = match used.flavor {
                    CdpFlavor::Cdp1 => 0,
                    CdpFlavor::Cdp2 => 1,
                };
                found[slot].get_or_insert((inside.name.clone(), used.symbol));
            }
        }
    }
    match found {
        [Some(cdp1), Some(cdp2)] => Err(ToolError::MixedCdp { cdp1, cdp2 }),
        _ => Ok(()),
    }
}
