//! The forms of machine code that a program carries: cubin (an ELF file) and fatbin. Only what is
//! needed to hand them to a driver safely, to choose a device and to check a launch: how long they say
//! they are, which architectures they (and PTX texts) are for, how many parameters their kernels have.
//! Containers and headers are cdp-image's affair.
//!
//! Facts: ELF-64 gABI.

use std::collections::HashMap;
use std::ffi::CStr;

use cdp_image::bytes::{u16_at, u32_at, u64_at};
use cdp_image::cubin::{self, ELF_MAGIC, attribute};
use cdp_image::fatbin::{self, EntryKind};

use crate::error::{CudaError, DeviceError, Result};

/// Bytes that the image's own headers claim; `None` if it is no cubin or fatbin.
fn claimed_bytes(image: &[u8]) -> Option<u64> {
    if image.starts_with(&ELF_MAGIC) {
        cubin::claimed_bytes(image)
    } else {
        fatbin::claimed_bytes(image)
    }
}

/// Checks that `image` is a cubin or fatbin and whole.
///
/// # Errors
/// `cudaErrorInvalidKernelImage` with what is wrong.
pub fn check_extent(image: &[u8]) -> Result<()> {
    let fail = |detail: String| Err(DeviceError::new(CudaError::INVALID_KERNEL_IMAGE, detail));
    match claimed_bytes(image) {
        None => fail("the machine code is neither a cubin nor a fatbin, or is cut off".to_owned()),
        Some(claimed) if claimed > image.len() as u64 => fail(format!(
            "the machine code is cut off: its header speaks of {claimed} bytes, there are {}",
            image.len()
        )),
        Some(_) => Ok(()),
    }
}

/// Whether a driver can load this for a GPU of this compute capability (90 for 9.0): machine code for the
/// same major and no higher minor version (CUDA guide, "Cubin Compatibility"), or PTX in a fatbin for no
/// higher version, which the driver compiles. An empty image is for none.
pub fn runs_on(image: &[u8], capability: u32) -> bool {
    let machine_code = match image.starts_with(&ELF_MAGIC) {
        true => cubin::arch_number(image).into_iter().collect(),
        false => fatbin::architectures(image, EntryKind::MachineCode),
    };
    machine_code.into_iter().any(|made_for| cubin::machine_code_runs_on(made_for, capability))
        || fatbin::architectures(image, EntryKind::Ptx)
            .iter()
            .any(|made_for| *made_for <= capability)
}

/// What the CPU device claims to be for a program without PTX.
pub const DEFAULT_CAPABILITY: u32 = 90;

/// The highest architecture that PTX texts are made for (90 for sm_90); [`DEFAULT_CAPABILITY`] without any.
pub fn ptx_capability<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let targets = texts.into_iter().filter_map(|text| {
        let at = text.windows(7).position(|window| window == b".target")?;
        let rest = &text[at + 7..];
        let sm = rest.windows(3).take(64).position(|window| window == b"sm_")?;
        let digits: Vec<u8> =
            rest[sm + 3..].iter().copied().take_while(u8::is_ascii_digit).take(4).collect();
        std::str::from_utf8(&digits).ok()?.parse().ok()
    });
    targets.max().unwrap_or(DEFAULT_CAPABILITY)
}

/// How many parameters the kernels of an image have, by symbol: of a cubin, or of a fatbin with a cubin
/// that is not compressed. Those of a fatbin are of one source, so that any of them tells.
pub fn param_counts(image: &[u8]) -> HashMap<String, usize> {
    if !image.starts_with(&ELF_MAGIC) {
        let cubins = fatbin::entries(image).into_iter().map(|entry| entry.stored());
        return cubins
            .filter(|cubin| cubin.starts_with(&ELF_MAGIC))
            .map(param_counts)
            .next()
            .unwrap_or_default();
    }
    let names =
        u16_at(image, 0x3E).and_then(|index| section(image, index.into())).unwrap_or_default();
    let count = u16_at(image, 0x3C).unwrap_or(0);
    (0..count.into()).filter_map(|index| section_params(image, names.1, index)).collect()
}

/// Offset of the name and contents of a section.
fn section(image: &[u8], index: u64) -> Option<(u32, &[u8])> {
    let entry = u64_at(image, 0x28)?.checked_add(u64::from(u16_at(image, 0x3A)?) * index)?;
    let entry = usize::try_from(entry).ok()?;
    let header = image.get(entry..entry.checked_add(0x40)?)?;
    let begin = usize::try_from(u64_at(header, 0x18)?).ok()?;
    let bytes = usize::try_from(u64_at(header, 0x20)?).ok()?;
    Some((u32_at(header, 0)?, image.get(begin..begin.checked_add(bytes)?)?))
}

/// The kernel that a section describes, and the number of its parameters.
fn section_params(image: &[u8], names: &[u8], index: u64) -> Option<(String, usize)> {
    let (name, records) = section(image, index)?;
    let name = CStr::from_bytes_until_nul(names.get(usize::try_from(name).ok()?..)?).ok()?;
    let kernel = name.to_str().ok()?.strip_prefix(".nv.info.")?;
    const PARAM: [u8; 2] = [attribute::KPARAM_INFO, attribute::KPARAM_INFO_V2];
    let attributes = cubin::attributes(records).ok()?;
    let count = attributes.iter().filter(|attribute| PARAM.contains(&attribute.number)).count();
    Some((kernel.to_owned(), count))
}

/// The first function of the device runtime that PTX declares. A driver cannot load such PTX.
pub fn device_runtime_symbol(ptx: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(ptx);
    let names = text.split(".extern .func").skip(1).map(|declaration| {
        let rest = declaration.trim_start();
        // A result in parentheses may stand before the name.
        let rest =
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |r| r.1);
        let name = rest.trim_start();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        name[..end].to_owned()
    });
    let begins = ["__cudaCDP2", "cudaLaunchDevice", "cudaGetParameterBuffer"];
    names.into_iter().find(|name| begins.iter().any(|begin| name.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cdp_image::testing::container;

    fn elf(abi_version: u8, flags: u32) -> Vec<u8> {
        let mut image = vec![0; 64];
        image[..4].copy_from_slice(&ELF_MAGIC);
        image[8] = abi_version;
        image[48..52].copy_from_slice(&flags.to_le_bytes());
        image
    }

    #[test]
    fn ptx_that_launches_is_known() {
        let found = |text: &str| device_runtime_symbol(text.as_bytes());
        let v2 =
            ".extern .func  (.param .b64 r) __cudaCDP2GetParameterBufferV2\n(\n.param .b64 a\n);";
        assert_eq!(found(v2).as_deref(), Some("__cudaCDP2GetParameterBufferV2"));
        let void = ".extern .func helper (.param .b32 x);\n.extern .func (.param .b32 r) cudaLaunchDevice(";
        assert_eq!(found(void).as_deref(), Some("cudaLaunchDevice"));
        for text in ["", ".extern .func", ".extern .func (", ".visible .func cudaLaunchDevice()"] {
            assert_eq!(found(text), None, "{text}");
        }
        assert_eq!(found(".extern .func (.param .b32 r) vprintf (.param .b64 a);"), None);
    }

    #[test]
    fn the_architecture_is_read_from_both_forms_of_cubin() {
        assert!(runs_on(&elf(8, 0x0600_5a04), 90));
        assert!(!runs_on(&elf(8, 0x0600_5a04), 100));
        assert!(runs_on(&elf(7, 0x0050_0550), 86));
        assert!(!runs_on(&elf(7, 0x004b_054b), 70));
        assert!(!runs_on(&[], 90));
    }

    #[test]
    fn a_fatbin_runs_by_its_machine_code_or_its_ptx() {
        let fatbin = container(&[(2, 90, 0x11, 0, &[0; 8]), (1, 75, 0x11, 0, &[0; 8])]);
        assert!(runs_on(&fatbin, 90) && runs_on(&fatbin, 75) && runs_on(&fatbin, 120));
        assert!(!runs_on(&fatbin, 70));
        let fatbin = container(&[(2, 90, 0x11, 0, &[0; 8])]);
        assert!(runs_on(&fatbin, 90) && !runs_on(&fatbin, 100) && !runs_on(&fatbin, 80));
        assert!(check_extent(&fatbin).is_ok());
    }

    /// A cubin with the given sections; the last holds their names.
    fn cubin(sections: &[(&str, &[u8])]) -> Vec<u8> {
        let mut image = elf(8, 0x0600_5a04);
        let (mut headers, mut names) = (Vec::new(), Vec::new());
        let mut add = |image: &mut Vec<u8>, name: usize, contents: &[u8]| {
            let mut header = [0u8; 0x40];
            header[..4].copy_from_slice(&(name as u32).to_le_bytes());
            header[0x18..0x20].copy_from_slice(&(image.len() as u64).to_le_bytes());
            header[0x20..0x28].copy_from_slice(&(contents.len() as u64).to_le_bytes());
            headers.extend(header);
            image.extend(contents);
        };
        for (name, contents) in sections {
            add(&mut image, names.len(), contents);
            names.extend(name.as_bytes());
            names.push(0);
        }
        add(&mut image, 0, &names);
        let at = image.len() as u64;
        image[0x28..0x30].copy_from_slice(&at.to_le_bytes());
        image[0x3A..0x3C].copy_from_slice(&0x40u16.to_le_bytes());
        image[0x3C..0x3E].copy_from_slice(&(sections.len() as u16 + 1).to_le_bytes());
        image[0x3E..0x40].copy_from_slice(&(sections.len() as u16).to_le_bytes());
        image.extend(headers);
        image
    }

    #[test]
    fn the_parameters_of_a_cubins_kernels_are_counted() {
        // REGCOUNT, a parameter in each form, a flag in the header alone.
        let attributes =
            [[4, 0x2f, 4, 0].as_slice(), &[0; 4], &[4, 0x17, 12, 0], &[0; 12], &[1, 0x50, 0, 0]];
        let first = [attributes.concat(), [[4, 0x45, 8, 0].as_slice(), &[0; 8]].concat()].concat();
        let sections: [(&str, &[u8]); 4] = [
            (".text.first", &[1, 2, 3, 4]),
            (".nv.info.first", &first),
            (".nv.info.second", &[1, 0x50, 0, 0]),
            (".nv.info.broken", &[4, 0x17, 12, 0]),
        ];
        let image = cubin(&sections);
        assert!(check_extent(&image).is_ok());
        let counts = param_counts(&image);
        assert_eq!(counts, HashMap::from([("first".into(), 2), ("second".into(), 0)]));
        assert!(param_counts(&image[..100]).is_empty());
        let fatbin = container(&[(2, 90, 0x11, 0, &image)]);
        assert_eq!(param_counts(&fatbin), counts);
        assert!(param_counts(b"//PTX").is_empty());
    }

    #[test]
    fn a_cut_off_image_is_refused() {
        let fatbin = container(&[(1, 90, 0, 0, &[])]);
        assert!(check_extent(&fatbin).is_ok());
        assert_eq!(check_extent(&fatbin[..20]).unwrap_err().code, CudaError::INVALID_KERNEL_IMAGE);
        assert!(check_extent(b"PTX?").is_err());
        assert!(check_extent(b"\x7fELF").is_err());
    }

    #[test]
    fn the_highest_target_counts() {
        let texts: [&[u8]; 3] =
            [b".version 8.0\n.target sm_75\n", b".target\tsm_90a, debug", b"no target"];
        assert_eq!(ptx_capability(texts), 90);
        assert_eq!(ptx_capability([texts[0]]), 75);
        assert_eq!(ptx_capability([]), 90);
    }
}
