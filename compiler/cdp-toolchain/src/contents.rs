//! What is inside the inputs of a device link: the device objects for the architecture, unpacked from
//! host objects, fat binaries and libraries; which members of a library are wanted; and mending their
//! declarations. What nvlink makes of them is its own business.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;

use crate::arch::{AddressSize, Arch, ArchSuffix};
use crate::assemble::{AssembleOptions, assemble};
use crate::cubin::{Cubin, CubinError, CubinKind};
use crate::error::ToolError;
use crate::fatbin::{list_host_object_images, serves};
use crate::job::Job;
use crate::link::DeviceObject;
use crate::mend::declare_kernels;
use crate::search::Toolchain;
use crate::tool::Tool;

/// What is done with PTX in host objects and fat binaries, where there is no machine code for the
/// architecture beside it.
#[derive(Clone, Copy)]
pub(crate) enum PtxImages {
    /// nvlink assembles it.
    Leave,
    /// We do, with `-g` or without.
    Assemble(bool),
}

/// A device object and what was read in it.
pub(crate) struct Unpacked {
    pub bytes: Vec<u8>,
    pub cubin: Cubin,
}

/// What one input, or one member of a library, contains.
pub(crate) struct Contents {
    pub name: String,
    /// The device objects for the architecture; `None` when the input could not be looked into.
    pub objects: Option<Vec<Unpacked>>,
    /// A library, of which nvlink takes only the members that are wanted.
    pub is_library: bool,
    /// In a dry run there is no object, but it is known what it would leave undefined.
    expected: Vec<(u32, String)>,
}

impl Contents {
    /// What is known to be in a device object.
    pub(crate) fn of_cubin(name: String, bytes: Vec<u8>) -> Result<Contents, ToolError> {
        let read = Cubin::read(&bytes);
        let cubin = read.map_err(|source| ToolError::BadObject { name: name.clone(), source })?;
        let objects = Some(vec![Unpacked { bytes, cubin }]);
        Ok(Contents { name, objects, is_library: false, expected: Vec::new() })
    }

    /// Whether it could be looked into.
    pub fn is_known(&self) -> bool {
        self.objects.is_some()
    }

    fn cubins(&self) -> impl Iterator<Item = &Cubin> {
        self.objects.iter().flatten().map(|object| &object.cubin)
    }

    /// Undefined symbols, with the architecture number of the object that leaves them so.
    pub fn undefined(&self) -> impl Iterator<Item = (u32, &str)> {
        let found = self.cubins().flat_map(|cubin| {
            cubin.undefined_symbols.iter().map(|name| (cubin.arch_number, name.as_str()))
        });
        found.chain(self.expected.iter().map(|(arch, name)| (*arch, name.as_str())))
    }

    /// Kernels that are defined here.
    pub fn kernels(&self) -> impl Iterator<Item = String> {
        self.cubins().flat_map(|cubin| cubin.kernels.iter().map(|kernel| kernel.name.clone()))
    }

    fn defined(&self) -> impl Iterator<Item = &str> {
        self.cubins().flat_map(|cubin| {
            let kernels = cubin.kernels.iter().map(|kernel| &kernel.name);
            kernels.chain(&cubin.functions).chain(&cubin.variables).map(String::as_str)
        })
    }

    /// Whether one of these kernels is declared as a function here.
    pub fn declares_functions(&self, kernels: &BTreeSet<String>) -> bool {
        self.cubins().any(|cubin| cubin.declared_functions.iter().any(|f| kernels.contains(f)))
    }

    /// Declares those functions as kernels that are kernels in another input. Whether any were.
    ///
    /// # Errors
    /// [`ToolError::BadObject`] when one is used in a way that no kernel is.
    pub fn mend(
        &mut self,
        kernels: &BTreeSet<String>,
        warnings: &mut Vec<String>,
    ) -> Result<bool, ToolError> {
        let mut any = false;
        for object in self.objects.iter_mut().flatten() {
            let declared = object.cubin.declared_functions.iter();
            let wrong: Vec<String> = declared.filter(|f| kernels.contains(*f)).cloned().collect();
            let cannot = |source: CubinError| ToolError::BadObject {
                name: self.name.clone(),
                source: CubinError::new(format!(
                    "it declares the kernel {} as a function, which cannot be mended: {source}",
                    quoted(&wrong)
                )),
            };
            if let Some(bytes) = declare_kernels(&object.bytes, kernels).map_err(cannot)? {
                object.cubin = Cubin::read(&bytes).map_err(cannot)?;
                object.bytes = bytes;
                warnings.push(format!(
                    "warning: `{}` declares {} as a function; linked with the declaration as a kernel",
                    self.name,
                    quoted(&wrong)
                ));
                any = true;
            }
        }
        Ok(any)
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Device objects tell what they need; host objects, fat binaries and libraries are unpacked first.
///
/// # Errors
/// [`ToolError::NotRelocatable`] and [`ToolError::BadObject`] for an input of which nvlink would take
/// nothing, without a word.
pub(crate) fn look_inside(
    toolchain: &Toolchain,
    job: &Job,
    object: &DeviceObject,
    file: &str,
    arch: Arch,
    ptx: PtxImages,
) -> Result<Contents, ToolError> {
    let is_library = object.extension() == "a";
    let mut contents =
        Contents { name: object.name.clone(), objects: None, is_library, expected: Vec::new() };
    if object.bytes.is_empty() {
        let names = object.undefined_symbols.iter();
        contents.expected = names.map(|name| (arch.number().into(), name.clone())).collect();
        contents.objects = Some(Vec::new());
    } else if Cubin::is_cubin(&object.bytes) {
        return Contents::of_cubin(object.name.clone(), object.bytes.clone());
    } else if let Some(cubins) = unpack(toolchain, job, file)? {
        let chosen = for_arch(cubins, arch);
        if !is_library && !chosen.is_empty() && chosen.iter().all(is_linked) {
            return Err(ToolError::NotRelocatable { name: object.name.clone() });
        }
        contents.objects = Some(chosen).filter(|chosen| !chosen.is_empty());
    }
    if let (None, PtxImages::Assemble(debug), false) = (&contents.objects, ptx, is_library) {
        contents.objects = assemble_ptx(toolchain, job, file, arch, debug)?;
    }
    Ok(contents)
}

fn is_linked(object: &Unpacked) -> bool {
    object.cubin.kind == CubinKind::Linked
}

/// Of several architectures the one that nvlink takes: this, or the nearest below that it serves.
fn for_arch(all: Vec<Unpacked>, arch: Arch) -> Vec<Unpacked> {
    let numbers = all.iter().map(|object| object.cubin.arch_number);
    let best = numbers.filter(|number| serves(*number, arch)).max();
    all.into_iter().filter(|object| Some(object.cubin.arch_number) == best).collect()
}

/// The device objects in a host object, a library or a fat binary; `None` without cuobjdump, and when
/// there are none to be found.
fn unpack(
    toolchain: &Toolchain,
    job: &Job,
    file: &str,
) -> Result<Option<Vec<Unpacked>>, ToolError> {
    let mut objects = Vec::new();
    for bytes in extract(toolchain, job, file, "-xelf")?.unwrap_or_default() {
        if let Ok(cubin) = Cubin::read(&bytes) {
            objects.push(Unpacked { bytes, cubin });
        }
    }
    Ok((!objects.is_empty()).then_some(objects))
}

/// The files that cuobjdump extracts, in their order in the input; `None` when it is missing or fails.
fn extract(
    toolchain: &Toolchain,
    job: &Job,
    file: &str,
    what: &str,
) -> Result<Option<Vec<Vec<u8>>>, ToolError> {
    let Some(cuobjdump) = toolchain.cuobjdump().filter(|_| !job.is_dry_run()) else {
        return Ok(None);
    };
    let dir = job.work_dir().join(job.file_name(file, "unpacked"));
    let io = |error| ToolError::io("unpack device objects", dir.clone(), error);
    // With a folder that is kept, an earlier build may have left files here.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).map_err(io)?;
    let input = job.work_dir().join(file);
    let args = vec![what.into(), "all".into(), input.into_os_string()];
    if job.run_in(dir.clone(), Tool::Cuobjdump, cuobjdump, args).is_err() {
        // Nothing depends on it: nvlink will say what is wrong with the file, if anything is.
        return Ok(None);
    }
    let entries = std::fs::read_dir(&dir).map_err(io)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(io)?;
    paths.sort_by_key(|path| (position(path), path.clone()));
    let files = paths.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>().map_err(io)?;
    Ok(Some(files))
}

/// The number in `name.12.sm_90.cubin`.
fn position(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.rsplit('.').nth(2)?.parse().ok()
}

/// The PTX in a host object or fat binary that is best for the architecture, assembled.
fn assemble_ptx(
    toolchain: &Toolchain,
    job: &Job,
    file: &str,
    arch: Arch,
    debug: bool,
) -> Result<Option<Vec<Unpacked>>, ToolError> {
    let texts = extract(toolchain, job, file, "-xptx")?.unwrap_or_default();
    let texts = texts.into_iter().map(|bytes| {
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    });
    let fitting: Vec<_> = texts.filter_map(|text| Some((target(&text, arch)?, text))).collect();
    let Some(best) = fitting.iter().map(|(number, _)| *number).max() else { return Ok(None) };
    let mut objects = Vec::new();
    for (_, text) in fitting.iter().filter(|(number, _)| *number == best) {
        let mut options = AssembleOptions::new(arch, AddressSize::Bits64);
        options.debug = debug;
        let stem = Path::new(file).with_extension("");
        let made = assemble(toolchain, job, &stem.to_string_lossy(), text, &options)?;
        let read = Cubin::read(&made.object.bytes);
        let cubin = read.map_err(|source| ToolError::BadObject { name: file.into(), source })?;
        objects.push(Unpacked { bytes: made.object.bytes, cubin });
    }
    Ok(Some(objects))
}

/// The number of PTX's `.target`, when code for `arch` can be made of it.
fn target(text: &str, arch: Arch) -> Option<u16> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    let target = Arch::parse(line.split([',', '/']).next()?.trim()).ok()?;
    let fits = match target.suffix() {
        ArchSuffix::None => target.number() <= arch.number(),
        _ => target == arch,
    };
    fits.then(|| target.number())
}

/// The members of a library with device code, one by one; `None` when one of them cannot be looked
/// into, so that nvlink has to.
pub(crate) fn split_library(
    toolchain: &Toolchain,
    job: &Job,
    library: &DeviceObject,
    arch: Arch,
    ptx: PtxImages,
) -> Result<Option<Vec<Contents>>, ToolError> {
    let failed = |error: object::read::Error| ToolError::BadObject {
        name: library.name.clone(),
        source: error.into(),
    };
    let archive = ArchiveFile::parse(&*library.bytes).map_err(failed)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(failed)?;
        let data = member.data(&*library.bytes).map_err(failed)?;
        if !data.starts_with(b"\x7fELF") || Cubin::is_cubin(data) {
            continue;
        }
        if list_host_object_images(data).is_ok_and(|images| images.is_empty()) {
            continue;
        }
        let name = format!("{}({})", library.name, String::from_utf8_lossy(member.name()));
        let object = DeviceObject::from_bytes(&name, data.to_vec())?;
        let file = job.file_name(
            &PathBuf::from(&*String::from_utf8_lossy(member.name()))
                .with_extension("")
                .to_string_lossy(),
            "o",
        );
        job.write(&file, data)?;
        match look_inside(toolchain, job, &object, &file, arch, ptx) {
            Ok(contents) if contents.is_known() => members.push(contents),
            // A member that cannot be linked may be one that nobody wants.
            Ok(_) | Err(_) => return Ok(None),
        }
    }
    Ok(Some(members))
}

/// The members of libraries that define something that is wanted, by an input or by another such
/// member: all of them when an input could not be looked into.
pub(crate) fn wanted_members(inputs: &[Contents], members: Vec<Contents>) -> Vec<Contents> {
    if inputs.iter().any(|input| !input.is_known()) {
        return members;
    }
    let mut defined: HashSet<String> =
        inputs.iter().flat_map(Contents::defined).map(String::from).collect();
    let mut wanted: HashSet<String> =
        inputs.iter().flat_map(Contents::undefined).map(|(_, name)| name.to_owned()).collect();
    let (mut taken, mut rest) = (Vec::new(), members);
    loop {
        let is_wanted = |member: &Contents| {
            member.defined().any(|name| wanted.contains(name) && !defined.contains(name))
        };
        let Some(index) = rest.iter().position(is_wanted) else { return taken };
        let member = rest.remove(index);
        defined.extend(member.defined().map(String::from));
        wanted.extend(member.undefined().map(|(_, name)| name.to_owned()));
        taken.push(member);
    }
}
