//! What goes into a device link: every input is looked at first, since nvlink leaves out without a
//! word what it cannot link (cubins that are linked already, code of clang's driver, host objects
//! compiled without relocatable device code).

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

use crate::arch::Arch;
use crate::cubin::{Cubin, CubinError, CubinKind};
use crate::error::ToolError;
use crate::fatbin::is_fatbin;
use crate::link::DeviceObject;
use crate::offload::{OffloadImage, images_of_object};

/// Sections of host objects with relocatable device code and with linked device code.
const RELOCATABLE: &[u8] = b"__nv_relfatbin";
const WHOLE_PROGRAM: &[u8] = b".nv_fatbin";

/// The inputs that nvlink is given.
pub(crate) struct Inputs {
    pub objects: Vec<DeviceObject>,
    /// For inputs that contribute nothing, a line each.
    pub warnings: Vec<String>,
}

/// Takes what clang's driver put into host objects out of them, and refuses what nvlink would ignore.
///
/// # Errors
/// [`ToolError::NotRelocatable`], and [`ToolError::BadObject`] for damaged objects.
pub(crate) fn prepare(objects: &[DeviceObject], arch: Arch) -> Result<Inputs, ToolError> {
    let mut inputs = Inputs { objects: Vec::new(), warnings: Vec::new() };
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
        } else {
            inputs.objects.push(object.clone());
            if bytes.starts_with(b"!<arch>\n") {
                inputs.add_members(object, arch)?;
            }
        }
    }
    Ok(inputs)
}

impl Inputs {
    fn add_host_object(&mut self, object: &DeviceObject, arch: Arch) -> Result<(), ToolError> {
        let images = images_of_object(&object.bytes).map_err(|source| bad(object, source))?;
        let count = self.objects.len();
        self.add_images(object, &object.name, &images, arch)?;
        let sections = sections(&object.bytes).map_err(|source| bad(object, source))?;
        if sections.relocatable {
            self.objects.push(object.clone());
        } else if sections.whole_program {
            return Err(not_relocatable(object));
        } else if self.objects.len() == count {
            self.warnings.push(format!("warning: `{}` holds no device code", object.name));
        }
        Ok(())
    }

    /// Members of a library that clang's driver made; nvlink reads the others itself.
    fn add_members(&mut self, library: &DeviceObject, arch: Arch) -> Result<(), ToolError> {
        let failed = |error: object::read::Error| bad(library, error.into());
        let archive = ArchiveFile::parse(&*library.bytes).map_err(failed)?;
        for member in archive.members() {
            let member = member.map_err(failed)?;
            let data = member.data(&*library.bytes).map_err(failed)?;
            if data.starts_with(b"\x7fELF") && !Cubin::is_cubin(data) {
                let images = images_of_object(data).map_err(|source| bad(library, source))?;
                let name = String::from_utf8_lossy(member.name()).into_owned();
                self.add_images(library, &name, &images, arch)?;
            }
        }
        Ok(())
    }

    fn add_images(
        &mut self,
        object: &DeviceObject,
        name: &str,
        images: &[OffloadImage<'_>],
        arch: Arch,
    ) -> Result<(), ToolError> {
        let ours = || images.iter().filter(|image| image.triple.starts_with("nvptx"));
        if ours().next().is_none() {
            return Ok(());
        }
        let wanted = arch.to_string();
        let fitting: Vec<_> = ours().filter(|image| image.arch == wanted).collect();
        if fitting.is_empty() {
            let archs: Vec<_> = ours().map(|image| image.arch).collect();
            let message = format!("it holds device code for {} and not {wanted}", archs.join(", "));
            return Err(bad(object, CubinError::new(message)));
        }
        for image in fitting {
            if !Cubin::is_cubin(image.bytes) && !is_fatbin(image.bytes) {
                let message = match image.kind {
                    2 => "its device code is LLVM bitcode: compile without -foffload-lto",
                    _ => "its device code is no object: compile it with -fgpu-rdc",
                };
                return Err(bad(object, CubinError::new(message)));
            }
            let made = DeviceObject::from_bytes(name, image.bytes.to_vec())?;
            if Cubin::is_cubin(image.bytes) {
                let read = Cubin::read(image.bytes).map_err(|source| bad(object, source))?;
                if read.kind == CubinKind::Linked {
                    return Err(not_relocatable(object));
                }
            }
            self.objects.push(made);
        }
        Ok(())
    }
}

fn bad(object: &DeviceObject, source: CubinError) -> ToolError {
    ToolError::BadObject { name: object.name.clone(), source }
}

fn not_relocatable(object: &DeviceObject) -> ToolError {
    ToolError::NotRelocatable { name: object.name.clone() }
}

/// Which kinds of device code of nvcc a host object has.
struct Sections {
    relocatable: bool,
    whole_program: bool,
}

fn sections(bytes: &[u8]) -> Result<Sections, CubinError> {
    let file = object::File::parse(bytes)?;
    let has = |name: &[u8]| {
        file.sections().any(|section| section.name_bytes() == Ok(name) && section.size() > 0)
    };
    Ok(Sections { relocatable: has(RELOCATABLE), whole_program: has(WHOLE_PROGRAM) })
}
