//! Several device images in one file, through fatbinary.

use std::ffi::OsString;

use crate::arch::{AddressSize, Arch};
use crate::error::ToolError;
use crate::fatbin::ImageKind;
use crate::job::Job;
use crate::search::Toolchain;
use crate::tool::Tool;

/// One image to pack.
#[derive(Clone, Debug)]
pub struct FatbinInput {
    /// PTX (for the driver to compile on GPUs that none of the cubins fits) or a cubin.
    pub kind: ImageKind,
    /// Its architecture.
    pub arch: Arch,
    /// The text or the cubin.
    pub bytes: Vec<u8>,
}

/// How to pack.
#[derive(Clone, Copy, Debug)]
pub struct FatbinOptions {
    /// Address size of all images.
    pub address_size: AddressSize,
    /// Compress the images, as nvcc does.
    pub compress: bool,
    /// For a host object that a device link reads: the images are relocatable.
    pub relocatable: bool,
}

/// Packs images into a fat binary, in the order given.
///
/// # Errors
/// [`ToolError::BadRequest`] without images or with one that is neither PTX nor ELF, and what a
/// missing or failing fatbinary brings.
pub fn fatbinary(
    toolchain: &Toolchain,
    job: &Job,
    stem: &str,
    images: &[FatbinInput],
    options: FatbinOptions,
) -> Result<Vec<u8>, ToolError> {
    if images.is_empty() {
        return Err(ToolError::BadRequest("a fat binary needs at least one image".to_owned()));
    }
    let output = job.file_name(stem, "fatbin");
    let mut args: Vec<OsString> = vec![
        format!("--create={output}").into(),
        format!("-{}", options.address_size.bits()).into(),
        format!("--compress={}", options.compress).into(),
    ];
    if options.compress {
        args.push("--compress-all".into());
    }
    if options.relocatable {
        args.push("--device-c".into());
    }
    for image in images {
        let (kind, extension) = match image.kind {
            ImageKind::Ptx => ("ptx", "ptx"),
            ImageKind::Elf => ("elf", "cubin"),
            ImageKind::Other(number) => {
                return Err(ToolError::BadRequest(format!(
                    "cannot pack an image of kind {number}"
                )));
            }
        };
        let file = job.file_name(&format!("{stem}.{}", image.arch), extension);
        job.write(&file, &image.bytes)?;
        args.push(format!("--image3=kind={kind},sm={},file={file}", image.arch.bare_name()).into());
    }
    job.run(Tool::Fatbinary, toolchain.fatbinary()?, args)?;
    job.read(&output)
}
