//! What goes into a device link: every input is looked at first, since nvlink leaves out without a
//! word what it cannot link (cubins that are linked already, code of clang's driver, host objects
//! compiled without relocatable device code).

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

use crate::arch::Arch;
use crate::contents::Contents;
use crate::cubin::{Cubin, CubinError, CubinKind};
use crate::error::ToolError;
use crate::fatbin::{
    FatbinImage, RELOCATABLE, WHOLE_PROGRAM, is_fatbin, list_images, list_section_images, serves,
};
use crate::link::DeviceObject;
use crate::offload::{OffloadImage, images_of_object};

/// Most members that a library's notes name.
const MAX_NOTES: usize = 4;

/// The inputs that nvlink is given.
pub(crate) struct Inputs {
    pub objects: Vec<DeviceObject>,
    /// Members of libraries that nvlink would not find there: device objects, and what clang's driver
    /// put into host objects. They are wanted where they define what another input lacks.
    pub members: Vec<Contents>,
    /// For inputs that contribute nothing, a line each.
    pub warnings: Vec<String>,
    /// What libraries hold that cannot be linked, a line each: it matters when a symbol is missing.
    pub notes: Vec<String>,
}

/// What bytes are that are no input of a device link, and what to do.
pub(crate) fn what_it_is(bytes: &[u8]) -> String {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let text = || {
        let begin = &bytes[..bytes.len().min(4096)];
        let begin = String::from_utf8_lossy(begin);
        begin.lines().map(|line| line.trim_start().to_owned()).collect::<Vec<_>>()
    };
    let what = if bytes.is_empty() {
        "it is empty"
    } else if starts(b"!<thin>\n") {
        "it is a thin library, which names the files of its members and does not hold them\n  \
         make it without T (`ar rcs`), or give its members"
    } else if starts(b"BC\xc0\xde") || starts(b"\xde\xc0\x17\x0b") {
        "it is LLVM bitcode\n  compile without -flto; LLVM IR as an input has the extension .bc, or \
         `-x bc` before it"
    } else if text().iter().any(|line| line.starts_with(".version")) {
        "it is PTX text\n  give it the extension .ptx, or `-x ptx` before it"
    } else if starts(b"\x1f\x8b") || starts(b"\x28\xb5\x2f\xfd") {
        "it is compressed\n  unpack it first"
    } else if starts(b"MZ") || starts(b"\xcf\xfa\xed\xfe") || starts(b"\x64\x86") {
        "it is an object of another operating system than Linux"
    } else {
        "neither an object nor a library nor a fat binary"
    };
    what.to_owned()
}

/// Takes what clang's driver put into host objects out of them, and refuses what nvlink would ignore.
///
/// # Errors
/// [`ToolError::NotRelocatable`], and [`ToolError::BadObject`] for damaged objects.
pub(crate) fn prepare(objects: &[DeviceObject], arch: Arch) -> Result<Inputs, ToolError> {
    let mut inputs = Inputs {
        objects: Vec::new(),
        members: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
    };
    for object in objects {
        let bytes = &object.bytes;
        if Cubin::is_cubin(bytes) {
            let read = Cubin::read(bytes).map_err(|source| bad(object, source))?;
            if read.kind == CubinKind::Linked {
                return Err(not_relocatable(object));
            }
            inputs.objects.push(object.clone());
        } else if bytes.starts_with(b"\x7fELF") {
            inputs.add_host_object(object, arch)?;
        } else if is_fatbin(bytes) {
            let images = list_images(bytes).map_err(|source| bad(object, source))?;
            check_images(object, &images, arch)?;
            inputs.objects.push(object.clone());
        } else if crate::fatbin::is_archive(bytes) {
            inputs.add_library(object, arch)?;
        } else {
            inputs.objects.push(object.clone());
        }
    }
    Ok(inputs)
}

impl Inputs {
    fn add_host_object(&mut self, object: &DeviceObject, arch: Arch) -> Result<(), ToolError> {
        let bytes = &object.bytes;
        let images = images_of_object(bytes).map_err(|source| bad(object, source))?;
        let clangs = images_for(object, &images, arch)?;
        let sections = sections(bytes).map_err(|source| bad(object, source))?;
        if sections.relocatable {
            let images = list_section_images(bytes, RELOCATABLE);
            check_images(object, &images.map_err(|source| bad(object, source))?, arch)?;
            self.objects.push(object.clone());
        } else if sections.whole_program {
            return Err(not_relocatable(object));
        } else if clangs.is_empty() {
            self.warnings.push(format!("warning: `{}` holds no device code", object.name));
        }
        for image in clangs {
            self.objects.push(DeviceObject::from_bytes(&object.name, image.bytes.to_vec())?);
        }
        Ok(())
    }

    /// nvlink finds host objects of nvcc in a library by itself, and nothing else.
    fn add_library(&mut self, library: &DeviceObject, arch: Arch) -> Result<(), ToolError> {
        let failed = |error: object::read::Error| bad(library, error.into());
        let archive = ArchiveFile::parse(&*library.bytes).map_err(failed)?;
        let (members, notes) = (self.members.len(), self.notes.len());
        let mut for_nvlink = false;
        for member in archive.members() {
            let member = member.map_err(failed)?;
            let data = member.data(&*library.bytes).map_err(failed)?;
            let short = String::from_utf8_lossy(member.name()).into_owned();
            let name = format!("{}({short})", library.name);
            if Cubin::is_cubin(data) {
                self.add_member(name, data, arch)?;
            } else if data.starts_with(b"\x7fELF") {
                for_nvlink |= self.add_host_member(library, name, data, arch)?;
            }
        }
        if for_nvlink {
            self.objects.push(library.clone());
        } else if self.members.len() == members && self.notes.len() == notes {
            self.warnings.push(format!("warning: `{}` holds no device code", library.name));
        }
        self.notes.truncate(notes + MAX_NOTES);
        Ok(())
    }

    /// A device object in a library.
    fn add_member(&mut self, name: String, data: &[u8], arch: Arch) -> Result<(), ToolError> {
        let member = Contents::of_cubin(name.clone(), data.to_vec())?;
        let is_linked = |cubin: &Cubin| cubin.kind == CubinKind::Linked;
        match member.objects.iter().flatten().map(|object| &object.cubin).next() {
            Some(cubin) if is_linked(cubin) => {
                self.notes.push(format!("`{name}` is linked already"))
            }
            Some(cubin) if !serves(cubin.arch_number, arch) => {
                self.notes.push(format!("`{name}` is for sm_{}, not {arch}", cubin.arch_number));
            }
            _ => self.members.push(member),
        }
        Ok(())
    }

    /// A host object in a library. Whether nvlink is to look into it.
    fn add_host_member(
        &mut self,
        library: &DeviceObject,
        name: String,
        data: &[u8],
        arch: Arch,
    ) -> Result<bool, ToolError> {
        let failed = |source| bad(library, source);
        let sections = sections(data).map_err(failed)?;
        if sections.relocatable {
            let images = list_section_images(data, RELOCATABLE).map_err(failed)?;
            if !images.iter().any(|image| image.can_serve(arch)) {
                let archs = archs(&images);
                self.notes.push(format!("`{name}` holds device code for {archs}, not {arch}"));
            }
        } else if sections.whole_program {
            let how = "compiled as a whole program (nvcc -c without -rdc=true)";
            self.notes.push(format!("`{name}` is {how}"));
        }
        let member = DeviceObject { name: name.clone(), ..library.clone() };
        let images = images_of_object(data).map_err(failed)?;
        match images_for(&member, &images, arch) {
            Ok(images) => {
                for image in images {
                    if Cubin::is_cubin(image.bytes) {
                        let member = Contents::of_cubin(name.clone(), image.bytes.to_vec())?;
                        self.members.push(member);
                    } else {
                        self.objects.push(DeviceObject::from_bytes(&name, image.bytes.to_vec())?);
                    }
                }
            }
            // It may be a member that nobody wants.
            Err(error) => self.notes.push(error.to_string()),
        }
        Ok(sections.relocatable)
    }
}

/// The images for an architecture among those that clang's driver put into a host object.
fn images_for<'i, 'data>(
    object: &DeviceObject,
    images: &'i [OffloadImage<'data>],
    arch: Arch,
) -> Result<Vec<&'i OffloadImage<'data>>, ToolError> {
    let ours = || images.iter().filter(|image| image.triple.starts_with("nvptx"));
    if ours().next().is_none() {
        return Ok(Vec::new());
    }
    let wanted = arch.to_string();
    // Of several the one that nvlink would take: this architecture, or the nearest below that it serves.
    let plain = |image: &OffloadImage<'_>| {
        let found = Arch::parse(image.arch).ok().filter(|found| *found == found.plain())?;
        serves(found.number().into(), arch).then(|| found.number())
    };
    let best = ours().filter_map(plain).max();
    let exact = ours().any(|image| image.arch == wanted);
    let fits = |image: &&OffloadImage<'_>| match exact {
        true => image.arch == wanted,
        false => best.is_some() && plain(image) == best,
    };
    let fitting: Vec<_> = ours().filter(fits).collect();
    if fitting.is_empty() {
        let archs: Vec<_> = ours().map(|image| image.arch).collect();
        return Err(bad(object, without_arch(&archs.join(", "), arch)));
    }
    for image in &fitting {
        if !Cubin::is_cubin(image.bytes) && !is_fatbin(image.bytes) {
            let message = match image.kind {
                2 => "its device code is LLVM bitcode: compile without -foffload-lto",
                _ => "its device code is no object: compile it with -fgpu-rdc",
            };
            return Err(bad(object, CubinError::new(message)));
        }
        if Cubin::is_cubin(image.bytes) {
            let read = Cubin::read(image.bytes).map_err(|source| bad(object, source))?;
            if read.kind == CubinKind::Linked {
                return Err(not_relocatable(object));
            }
        }
    }
    Ok(fitting)
}

/// nvlink takes nothing of an object without code for the architecture, with a warning at most.
fn check_images(
    object: &DeviceObject,
    images: &[FatbinImage],
    arch: Arch,
) -> Result<(), ToolError> {
    if images.is_empty() || images.iter().any(|image| image.can_serve(arch)) {
        return Ok(());
    }
    Err(bad(object, without_arch(&archs(images), arch)))
}

fn archs(images: &[FatbinImage]) -> String {
    let mut names: Vec<String> = images.iter().map(ToString::to_string).collect();
    names.dedup();
    names.join(", ")
}

fn without_arch(archs: &str, arch: Arch) -> CubinError {
    CubinError::new(format!(
        "it holds device code for {archs} and not {arch}\n  compile it for {arch} as well, or link for \
         what it holds (--arch)"
    ))
}

fn bad(object: &DeviceObject, source: CubinError) -> ToolError {
    ToolError::BadObject { name: object.name.clone(), source }
}

fn not_relocatable(object: &DeviceObject) -> ToolError {
    ToolError::NotRelocatable { name: object.name.clone() }
}

/// Which kinds of device code of nvcc a host object has.
pub(crate) struct Sections {
    pub relocatable: bool,
    pub whole_program: bool,
}

pub(crate) fn sections(bytes: &[u8]) -> Result<Sections, CubinError> {
    let file = object::File::parse(bytes)?;
    let has = |name: &[u8]| {
        file.sections().any(|section| section.name_bytes() == Ok(name) && section.size() > 0)
    };
    Ok(Sections { relocatable: has(RELOCATABLE), whole_program: has(WHOLE_PROGRAM) })
}
