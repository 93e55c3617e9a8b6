//! Device objects to a linked cubin, through nvlink.

use std::ffi::OsString;
use std::fmt;

use crate::arch::{AddressSize, Arch};
use crate::contents::{Contents, PtxImages, look_inside, split_library, wanted_members};
use crate::cubin::Cubin;
use crate::device_runtime::{CdpFlavor, cdp_flavor, is_device_runtime_symbol};
use crate::error::ToolError;
use crate::explain::FailureKind;
use crate::inputs::prepare;
use crate::job::Job;
use crate::search::Toolchain;
use crate::tool::Tool;

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
        } else if crate::fatbin::is_archive(&object.bytes) {
            crate::fatbin::list_archive_images(&object.bytes).map_err(bad)?;
        } else if crate::fatbin::is_fatbin(&object.bytes) {
            crate::fatbin::list_images(&object.bytes).map_err(bad)?;
        } else {
            return Err(bad(crate::cubin::CubinError::new(crate::inputs::what_it_is(
                &object.bytes,
            ))));
        }
        Ok(object)
    }

    pub(crate) fn extension(&self) -> &'static str {
        if crate::fatbin::is_archive(&self.bytes) {
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
    /// Mend inputs that declare kernels of other inputs as functions, as clang does.
    pub mend_declarations: bool,
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
            mend_declarations: false,
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
    /// nvlink's warnings and ours (inputs without device code, mended declarations), a line each.
    pub warnings: Vec<String>,
}

impl Linked {
    /// A whole program, which ptxas made without `-c`.
    ///
    /// # Errors
    /// [`ToolError::BadObject`] for something else.
    pub fn of_whole_program(object: DeviceObject) -> Result<Linked, ToolError> {
        let DeviceObject { name, bytes, .. } = object;
        let cubin = match bytes.is_empty() {
            true => None,
            false => {
                Some(Cubin::read(&bytes).map_err(|source| ToolError::BadObject { name, source })?)
            }
        };
        Ok(Linked { bytes, cubin, cudadevrt_linked: false, warnings: Vec::new() })
    }
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
/// [`ToolError::NotRelocatable`] for inputs that are linked already, [`ToolError::BadObject`] for those
/// without code for the architecture, [`ToolError::MixedCdp`] for CDP1 and CDP2 inputs together,
/// [`ToolError::Unsupported`] when the device runtime is needed and has no image for the architecture,
/// and all that a missing or failing nvlink brings.
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
    let Gathered { files, contents, mut warnings, notes } =
        gather(toolchain, job, objects, options)?;
    check_flavors(&contents)?;
    let cudadevrt = match wants_cudadevrt(&contents, options.cudadevrt) {
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
    // nvlink 13.0 drops kernels that the host code of its inputs does not launch; a program that loads the
    // cubin launches them by name. Without host objects the option says nothing.
    let has_host_code =
        objects.iter().any(|object| !object.bytes.is_empty() && !Cubin::is_cubin(&object.bytes));
    let knows_option = tools.version.is_some_and(|version| version.major >= 13);
    if has_host_code && knows_option {
        args.push("-ignore-host-info".into());
    }
    args.extend(options.extra_args.iter().map(OsString::from));
    args.extend(files.into_iter().map(OsString::from));
    // As a file and not as `-L dir -l name`: nvlink records the latter, with the folder, in the cubin.
    args.extend(cudadevrt.iter().map(|path| path.as_os_str().to_owned()));
    let output = job.file_name(&format!("{stem}.{}", options.arch), "cubin");
    args.extend(["-o".into(), OsString::from(&output)]);
    let said = job
        .run(Tool::Nvlink, &tools.nvlink, args)
        .map_err(|error| with_what_is_known(error, &contents, &notes))?;
    let bytes = job.read(&output)?;
    let cubin = match job.is_dry_run() {
        true => None,
        false => Some(
            Cubin::read(&bytes).map_err(|source| ToolError::BadObject { name: output, source })?,
        ),
    };
    let text = format!("{}\n{}", said.stdout, said.stderr);
    warnings
        .extend(text.lines().filter(|line| line.starts_with("nvlink warning")).map(str::to_owned));
    Ok(Linked { bytes, cubin, cudadevrt_linked: cudadevrt.is_some(), warnings })
}

/// What nvlink is given, and what is known of it.
struct Gathered {
    files: Vec<String>,
    contents: Vec<Contents>,
    warnings: Vec<String>,
    /// What inputs and members of libraries hold that cannot be linked, a line each.
    notes: Vec<String>,
}

fn gather(
    toolchain: &Toolchain,
    job: &Job,
    objects: &[DeviceObject],
    options: &LinkOptions,
) -> Result<Gathered, ToolError> {
    let mend = options.mend_declarations && !job.is_dry_run();
    let inputs = prepare(objects, options.arch)?;
    let (mut files, mut contents) = (Vec::new(), Vec::new());
    let (mut members, mut warnings) = (inputs.members, inputs.warnings);
    let ptx = if mend { PtxImages::Assemble(options.debug) } else { PtxImages::Leave };
    for object in inputs.objects {
        if mend
            && object.extension() == "a"
            && let Some(split) = split_library(toolchain, job, &object, options.arch, ptx)?
        {
            members.extend(split);
            continue;
        }
        let file = place(job, &object)?;
        contents.push(look_inside(toolchain, job, &object, &file, options.arch, ptx)?);
        files.push(Some(file));
    }
    contents.extend(wanted_members(&contents, members));
    files.resize(contents.len(), None);
    if mend {
        let kernels = contents.iter().flat_map(Contents::kernels).collect();
        for (content, file) in contents.iter_mut().zip(&mut files) {
            if content.mend(&kernels, &mut warnings)? {
                *file = None;
            }
        }
    }
    let mut placed = Vec::new();
    for (content, file) in contents.iter().zip(files) {
        let Some(file) = file else {
            for object in content.objects.iter().flatten() {
                let object = DeviceObject::from_bytes(&content.name, object.bytes.clone())?;
                placed.push(place(job, &object)?);
            }
            continue;
        };
        placed.push(file);
    }
    let mut notes = inputs.notes;
    let unknown = contents.iter().filter(|content| !content.is_known());
    if mend && toolchain.cuobjdump().is_none() {
        notes.extend(unknown.map(|content| {
            format!("`{}` cannot be looked into without cuobjdump, nor mended", content.name)
        }));
    }
    notes.extend(warnings.iter().map(|warning| warning.replace("warning: ", "")));
    if placed.is_empty() {
        let lines: String = notes.iter().map(|line| format!("\n  {line}")).collect();
        return Err(ToolError::BadRequest(format!("no input can be linked as device code{lines}")));
    }
    Ok(Gathered { files: placed, contents, warnings, notes })
}

/// Adds to the explanation of a failure which inputs it is about.
fn with_what_is_known(mut error: ToolError, contents: &[Contents], notes: &[String]) -> ToolError {
    let ToolError::Failed { explanation: Some(explanation), .. } = &mut error else { return error };
    let mut lines: Vec<String> = Vec::new();
    match explanation.kind {
        FailureKind::UndefinedSymbol => lines.extend(notes.iter().cloned()),
        FailureKind::KernelDeclaredAsFunction => {
            let kernels = contents.iter().flat_map(Contents::kernels).collect();
            let wrong = contents.iter().filter(|content| content.declares_functions(&kernels));
            lines.extend(wrong.map(|content| format!("`{}` declares it so", content.name)));
            lines.extend(notes.iter().filter(|note| note.contains("cuobjdump")).cloned());
        }
        FailureKind::ArchMismatch => {
            for content in contents {
                let archs = content.objects.iter().flatten().map(|object| object.cubin.arch_number);
                lines.extend(
                    explanation
                        .symbols
                        .iter()
                        .filter(|name| **name == content.name)
                        .flat_map(|_| archs.clone())
                        .map(|arch| format!("`{}` is for sm_{arch}", content.name)),
                );
            }
        }
        _ => {}
    }
    lines.dedup();
    for line in lines {
        explanation.summary += &format!("\n  {line}");
    }
    error
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

fn wants_cudadevrt(insides: &[Contents], choice: Cudadevrt) -> Wish {
    let needed =
        |inside: &Contents| inside.undefined().any(|(_, name)| is_device_runtime_symbol(name));
    match choice {
        Cudadevrt::Never => Wish::No,
        Cudadevrt::Always => Wish::Must,
        Cudadevrt::Auto if insides.iter().any(|inside| !inside.is_library && needed(inside)) => {
            Wish::Must
        }
        // nvlink takes nothing out of a library that it does not need.
        Cudadevrt::Auto if insides.iter().any(|i| !i.is_known() || needed(i)) => Wish::May,
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
fn check_flavors(insides: &[Contents]) -> Result<(), ToolError> {
    let mut found: [Option<(String, String)>; 2] = [None, None];
    // What a library holds may not be taken from it.
    for inside in insides.iter().filter(|inside| !inside.is_library) {
        for (arch_number, name) in inside.undefined() {
            for used in cdp_flavor(arch_number, [name]) {
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
