//! Which of the tools that were found serves a target.

use std::path::Path;

use super::{LinkTools, Toolchain, Toolkit};
use crate::arch::{AddressSize, Arch};
use crate::error::ToolError;
use crate::origin::SearchedPlace;

impl Toolchain {
    /// That the toolkit which the user named works: another one does not take its place without a word.
    fn check_named(&self) -> Result<(), ToolError> {
        let broken = |root: &Path, origin, message: String| {
            Err(ToolError::Broken { root: root.to_owned(), origin, message })
        };
        if let Some(SearchedPlace { origin, path, found }) = &self.broken {
            return broken(path, *origin, found.clone());
        }
        match self.toolkits.first().filter(|toolkit| toolkit.origin.is_named()) {
            Some(toolkit) if toolkit.version().is_none() => {
                let what = toolkit.ptxas.as_ref().or(toolkit.nvlink.as_ref());
                let what = what.map_or("ptxas".into(), |path| path.display().to_string());
                let message = format!(
                    "`{what} --version` names no version of CUDA, or does not end within seconds"
                );
                broken(&toolkit.root, toolkit.origin, message)
            }
            _ => Ok(()),
        }
    }

    /// The toolkit whose ptxas assembles `arch` with these addresses.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] without any ptxas, [`ToolError::Unsupported`] when none serves,
    /// [`ToolError::Broken`] when the user names one that does not work.
    pub fn assembler(&self, arch: Arch, address_size: AddressSize) -> Result<&Toolkit, ToolError> {
        self.check_named()?;
        let with_ptxas = || self.toolkits.iter().filter(|toolkit| toolkit.ptxas.is_some());
        let serves = |toolkit: &&Toolkit| {
            toolkit.version().is_some_and(|v| arch.assembled_by(v, address_size))
        };
        if let Some(toolkit) = with_ptxas().find(serves) {
            return Ok(toolkit);
        }
        if with_ptxas().next().is_none() {
            return Err(self.not_found("ptxas", &format!("to assemble PTX for {arch}")));
        }
        let found = with_ptxas()
            .filter_map(|toolkit| Some((toolkit.ptxas.clone()?, toolkit.version())))
            .collect();
        let cure = assembler_cure(arch, address_size);
        Err(ToolError::Unsupported { what: "ptxas".to_owned(), arch, address_size, found, cure })
    }

    /// The ptxas that assembles `arch` with these addresses.
    ///
    /// # Errors
    /// As [`Toolchain::assembler`].
    pub fn ptxas_for(&self, arch: Arch, address_size: AddressSize) -> Result<&Path, ToolError> {
        let toolkit = self.assembler(arch, address_size)?;
        toolkit.ptxas.as_deref().ok_or_else(|| self.not_found("ptxas", "to assemble PTX"))
    }

    /// The linker for `arch`, with a device runtime that has an image for it if there is one. Both
    /// come from one toolkit where possible; an older library works with a newer nvlink.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] without any nvlink, [`ToolError::Unsupported`] when none serves; always
    /// for 32-bit addresses, which no nvlink that can still be had links (FACTS.md).
    pub fn link_tools(
        &self,
        arch: Arch,
        address_size: AddressSize,
    ) -> Result<LinkTools, ToolError> {
        self.check_named()?;
        let with_nvlink = || self.toolkits.iter().filter(|toolkit| toolkit.nvlink.is_some());
        let serves = |toolkit: &&Toolkit| {
            address_size == AddressSize::Bits64
                && toolkit.version().is_some_and(|version| arch.known_to(version))
        };
        let Some(toolkit) = with_nvlink().find(serves) else {
            if with_nvlink().next().is_none() {
                return Err(self.not_found("nvlink", &format!("to link device code for {arch}")));
            }
            let found = with_nvlink()
                .filter_map(|toolkit| Some((toolkit.nvlink.clone()?, toolkit.version())))
                .collect();
            let cure = linker_cure(arch, address_size);
            return Err(ToolError::Unsupported {
                what: "nvlink".to_owned(),
                arch,
                address_size,
                found,
                cure,
            });
        };
        let nvlink = toolkit
            .nvlink
            .clone()
            .ok_or_else(|| self.not_found("nvlink", "to link device code"))?;
        let usable = |other: &&Toolkit| {
            other.version() <= toolkit.version()
                && other
                    .cudadevrt()
                    .is_some_and(|library| library.images.contains(&u32::from(arch.number())))
        };
        let mut candidates = std::iter::once(toolkit).chain(self.toolkits.iter());
        let cudadevrt = candidates.find(usable).and_then(|other| other.cudadevrt_path.clone());
        Ok(LinkTools { nvlink, version: toolkit.version(), cudadevrt })
    }

    /// Any fatbinary; it packs images of every architecture.
    ///
    /// # Errors
    /// [`ToolError::NotFound`].
    pub fn fatbinary(&self) -> Result<&Path, ToolError> {
        let path = self.toolkits.iter().find_map(|toolkit| toolkit.fatbinary.as_deref());
        path.ok_or_else(|| self.not_found("fatbinary", "to pack device images"))
    }

    /// The newest libdevice; a newer one serves every architecture that an older one does.
    ///
    /// # Errors
    /// [`ToolError::NotFound`].
    pub fn libdevice(&self) -> Result<&Path, ToolError> {
        let path = self.toolkits.iter().find_map(|toolkit| toolkit.libdevice.as_deref());
        path.ok_or_else(|| self.not_found("libdevice.10.bc", "for the device math functions"))
    }

    /// Any cuobjdump, to look into host objects. What it is wanted for can be done without.
    pub fn cuobjdump(&self) -> Option<&Path> {
        self.toolkits.iter().find_map(|toolkit| toolkit.cuobjdump.as_deref())
    }

    /// An nvcc, for tests and benchmarks that compare with it.
    pub fn nvcc(&self) -> Option<&Path> {
        self.toolkits.iter().find_map(|toolkit| toolkit.nvcc.as_deref())
    }
}

fn assembler_cure(arch: Arch, address_size: AddressSize) -> String {
    let facts = arch.facts();
    if address_size == AddressSize::Bits32 {
        return if arch.number() >= 90 {
            "32-bit addresses ended with sm_89; use -m64".to_owned()
        } else {
            "32-bit PTX needs ptxas 11.8 or older; `cargo xtask setup` fetches 11.8".to_owned()
        };
    }
    match facts.last_tools {
        Some(last) => format!("{arch} needs a CUDA toolkit from {} to {last}", facts.first_tools),
        None => format!("{arch} needs CUDA {} or newer", facts.first_tools),
    }
}

fn linker_cure(arch: Arch, address_size: AddressSize) -> String {
    if address_size == AddressSize::Bits32 {
        return "32-bit device code ends at the relocatable object: use -c, or -m64 for a cubin"
            .to_owned();
    }
    match arch.facts().last_tools {
        Some(last) => format!(
            "linking {arch} needs the nvlink of CUDA {last} or older: `cargo xtask setup` fetches one, \
             or name such a toolkit with --cuda-path, or stop at the relocatable object with -c"
        ),
        None => format!("{arch} needs CUDA {} or newer", arch.facts().first_tools),
    }
}
