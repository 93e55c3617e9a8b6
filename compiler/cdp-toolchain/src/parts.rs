//! What objects and libraries of other compilers hold for each of the two machines, so that they can be
//! given beside sources. Nothing is refused here; [`crate::inputs`] does that for the device half.

use std::collections::BTreeSet;

use cdp_image::fatbin::containers;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};

use crate::cubin::Cubin;
use crate::fatbin::{
    FatbinImage, ImageKind, RELOCATABLE, is_archive, is_fatbin, list_images, list_section_images,
};
use crate::inputs::sections;
use crate::offload::{OffloadImage, images_of_object};

/// What the start of a unit of relocatable device code calls: this and the unit's id. A device link
/// defines it.
pub const UNIT_REGISTRATION: &str = "__cudaRegisterLinkedBinary";
/// In which clang lists kernels and variables, for the runtime to register.
const ENTRIES: &[u8] = b"llvm_offload_entries";
/// LLVM's number of PTX among the images that clang's driver puts into an object.
const OFFLOADED_PTX: u16 = 5;

/// What an object or a library holds for each of the two machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectParts {
    /// Device code that a device link takes.
    pub device: bool,
    /// Code for the host's linker.
    pub host: bool,
    /// Ids of the units of relocatable device code that register themselves when the program starts,
    /// by a function that the device link must define ([`UNIT_REGISTRATION`]).
    pub units: Vec<String>,
    /// Ids of the units whose registration is defined here: nvcc linked them (`nvcc -dlink`).
    pub linked_units: Vec<String>,
    /// All its device code is there as PTX, too, which the units register.
    pub units_have_ptx: bool,
    /// Texts and fat binaries with PTX that nothing registers: those of a `.fatbin` file, and what
    /// clang's driver put in.
    pub ptx: Vec<Vec<u8>>,
    /// It lists kernels and variables in clang's way.
    pub lists_entries: bool,
    /// It needs the C++ library.
    pub wants_cxx: bool,
}

impl ObjectParts {
    /// Ids of the units whose registration is left to who links them: the others belong to the image of a device link
    /// that was made before.
    pub fn open_units(&self) -> Vec<String> {
        let open = self.units.iter().filter(|unit| !self.linked_units.contains(unit));
        open.cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Looks into an object, a library, a fat binary or a cubin. What is damaged holds nothing.
    pub fn of(bytes: &[u8]) -> ObjectParts {
        if is_archive(bytes) {
            let members = members(bytes).into_iter().map(ObjectParts::of);
            return members.fold(ObjectParts::default(), ObjectParts::and);
        }
        if Cubin::is_cubin(bytes) {
            return ObjectParts { device: true, ..ObjectParts::default() };
        }
        if is_fatbin(bytes) {
            return ObjectParts { device: true, ptx: with_ptx(bytes), ..ObjectParts::default() };
        }
        object::File::parse(bytes).map(|file| of_object(bytes, &file)).unwrap_or_default()
    }

    /// Whether all its device code can run on the CPU device.
    pub fn runs_on_cpu(&self) -> bool {
        !self.device || self.units_have_ptx || !self.ptx.is_empty()
    }

    /// What both hold together.
    pub fn and(mut self, other: ObjectParts) -> ObjectParts {
        self.units_have_ptx = match (self.device, other.device) {
            (true, true) => self.units_have_ptx && other.units_have_ptx,
            (true, false) => self.units_have_ptx,
            _ => other.units_have_ptx,
        };
        self.device |= other.device;
        self.host |= other.host;
        self.units.extend(other.units);
        self.linked_units.extend(other.linked_units);
        self.ptx.extend(other.ptx);
        self.lists_entries |= other.lists_entries;
        self.wants_cxx |= other.wants_cxx;
        self
    }
}

fn of_object(bytes: &[u8], file: &object::File<'_>) -> ObjectParts {
    let relocatable = sections(bytes).is_ok_and(|sections| sections.relocatable);
    let offloaded = images_of_object(bytes).unwrap_or_default();
    let mut parts = ObjectParts {
        device: relocatable || !offloaded.is_empty(),
        host: file.section_by_name(".text").is_some() || file.symbols().next().is_some(),
        ptx: offloaded.iter().flat_map(offloaded_ptx).collect(),
        lists_entries: file.sections().any(|section| section.name_bytes() == Ok(ENTRIES)),
        ..ObjectParts::default()
    };
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        if let Some(id) = name.strip_prefix(UNIT_REGISTRATION) {
            // A weak one is for programs that nobody links so.
            let list = match symbol.is_undefined() || symbol.is_weak() {
                true => &mut parts.units,
                false => &mut parts.linked_units,
            };
            list.push(id.to_owned());
        }
        parts.wants_cxx |= symbol.is_undefined() && is_of_cxx(name);
    }
    let images = list_section_images(bytes, RELOCATABLE);
    parts.units_have_ptx =
        relocatable && !parts.units.is_empty() && images.is_ok_and(|images| has_ptx(&images));
    parts
}

/// Whether the C++ library of the system defines this.
fn is_of_cxx(name: &str) -> bool {
    const BEGINNINGS: [&str; 9] =
        ["__gxx_personality", "__cxa_", "_ZSt", "_ZNSt", "_ZNKSt", "_ZTV", "_ZTI", "_Zn", "_Zd"];
    // The C library has these itself.
    let of_c =
        ["__cxa_atexit", "__cxa_finalize", "__cxa_thread_atexit_impl", "__cxa_at_quick_exit"];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && !of_c.contains(&name)
}

fn offloaded_ptx(image: &OffloadImage<'_>) -> Vec<Vec<u8>> {
    if !image.triple.starts_with("nvptx") {
        Vec::new()
    } else if image.kind == OFFLOADED_PTX {
        vec![image.bytes.to_vec()]
    } else {
        with_ptx(image.bytes)
    }
}

/// The fat binaries with PTX among those that stand one behind the other.
fn with_ptx(bytes: &[u8]) -> Vec<Vec<u8>> {
    let wanted = |container: &&[u8]| list_images(container).is_ok_and(|images| has_ptx(&images));
    containers(bytes).into_iter().filter(wanted).map(<[u8]>::to_vec).collect()
}

fn has_ptx(images: &[FatbinImage]) -> bool {
    images.iter().any(|image| image.kind == ImageKind::Ptx)
}

/// What clang puts before the name of the function that launches a kernel. nvcc and we name it as the kernel
/// itself.
const STUB: &str = "__device_stub__";

/// Undefined names of launching functions that other objects define in the other compiler's spelling, with
/// that spelling.
pub fn launch_stub_names<'o>(objects: impl Iterator<Item = &'o [u8]>) -> Vec<(String, String)> {
    let (mut defined, mut undefined) = (BTreeSet::new(), BTreeSet::new());
    for object in objects {
        for_each_object(object, &mut |file| {
            for symbol in file.symbols().filter(ObjectSymbol::is_global) {
                let list = if symbol.is_undefined() { &mut undefined } else { &mut defined };
                list.extend(symbol.name().ok().map(str::to_owned));
            }
        });
    }
    let of_clang = defined.iter().filter_map(|name| Some((kernel_of_stub(name)?, name)));
    let of_clang: std::collections::BTreeMap<String, &String> = of_clang.collect();
    let missing = undefined.difference(&defined).filter_map(|name| {
        let other = match kernel_of_stub(name) {
            Some(kernel) => defined.get(&kernel)?,
            None => of_clang.get(name.as_str())?,
        };
        Some((name.clone(), other.clone()))
    });
    missing.collect()
}

fn for_each_object(bytes: &[u8], work: &mut impl FnMut(&object::File<'_>)) {
    let objects = if is_archive(bytes) { members(bytes) } else { vec![bytes] };
    for object in objects {
        let _ = object::File::parse(object).map(|file| work(&file));
    }
}

/// The members of an archive that can be read.
fn members(archive: &[u8]) -> Vec<&[u8]> {
    let Ok(parsed) = ArchiveFile::parse(archive) else { return Vec::new() };
    parsed.members().flatten().filter_map(|member| member.data(archive).ok()).collect()
}

/// `_ZN1n3farEPi` for `_ZN1n18__device_stub__farEPi`: the mangled name says how long each part is.
fn kernel_of_stub(name: &str) -> Option<String> {
    let (before, after) = name.split_once(STUB)?;
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        // A kernel with C's linkage.
        return before.is_empty().then(|| after.to_owned());
    }
    let (before, length) = before.split_at(before.len() - digits);
    let length = length.parse::<usize>().ok()?.checked_sub(STUB.len())?;
    Some(format!("{before}{length}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_of_a_stub() {
        let kernel = |name: &str| kernel_of_stub(name);
        assert_eq!(kernel("_Z18__device_stub__farPii").as_deref(), Some("_Z3farPii"));
        assert_eq!(kernel("_ZN1n18__device_stub__farEPi").as_deref(), Some("_ZN1n3farEPi"));
        let template = "_Z27__device_stub__twelve_charsIiEvT_";
        assert_eq!(kernel(template).as_deref(), Some("_Z12twelve_charsIiEvT_"));
        assert_eq!(kernel("__device_stub__plain").as_deref(), Some("plain"));
        for other in ["_Z3farPii", "_Z9__device_stub__farPii", "x__device_stub__far"] {
            assert_eq!(kernel(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_damaged_holds_nothing() {
        for bytes in [&b""[..], b"\x7fELF", b"!<arch>\n", b"!<arch>\nx", b"\x50\xed\x55\xba"] {
            let parts = ObjectParts::of(bytes);
            assert_eq!((parts.host, parts.units.len(), parts.ptx.len()), (false, 0, 0));
            assert!(launch_stub_names([bytes].into_iter()).is_empty());
        }
    }
}
