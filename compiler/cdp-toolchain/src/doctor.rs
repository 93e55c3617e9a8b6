//! What this machine can do, as data for `cdpc doctor`.

use std::path::{Path, PathBuf};

use crate::arch::{AddressSize, Arch, ToolVersion};
use crate::origin::{SearchedPlace, ToolkitOrigin};
use crate::search::Toolchain;

/// One toolkit that was found.
#[derive(Clone, Debug)]
pub struct ToolkitReport {
    /// Its root.
    pub root: PathBuf,
    /// How it was found.
    pub origin: ToolkitOrigin,
    /// Its version, where it tells.
    pub version: Option<ToolVersion>,
    /// `ptxas, nvlink, ...`.
    pub contents: String,
    /// Architectures that its libcudadevrt.a has images for.
    pub cudadevrt_images: Vec<u32>,
}

/// How far a program for one architecture can get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkSupport {
    /// No nvlink serves it: it ends at the relocatable object. Why, in words.
    None(String),
    /// Links, but kernels cannot launch kernels: there is no device runtime.
    WithoutDeviceRuntime,
    /// Links with the device runtime.
    Full,
}

/// What works for one architecture and address size.
#[derive(Clone, Debug)]
pub struct ArchSupport {
    /// The architecture.
    pub arch: Arch,
    /// The address size.
    pub address_size: AddressSize,
    /// The ptxas that assembles it.
    pub ptxas: Option<PathBuf>,
    /// Whether and how it links.
    pub link: LinkSupport,
}

/// What there is of a GPU. Nothing is loaded or started to find out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuPresence {
    /// Device files of GPUs, `/dev/nvidia0`.
    pub devices: Vec<PathBuf>,
    /// The driver's library, `libcuda.so.1`.
    pub driver_library: Option<PathBuf>,
    /// The kernel driver's version line.
    pub driver_version: Option<String>,
}

impl GpuPresence {
    /// Whether a program can be expected to run on a GPU here.
    pub fn is_usable(&self) -> bool {
        !self.devices.is_empty() && self.driver_library.is_some()
    }

    /// Looks at device files and library folders below `root` (`/` outside tests).
    pub fn detect(root: &Path) -> GpuPresence {
        let entries = std::fs::read_dir(root.join("dev")).into_iter().flatten().flatten();
        let is_gpu = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.strip_prefix("nvidia")
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        let mut devices: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_gpu).collect();
        devices.sort();
        // WSL has no device files of this kind.
        let wsl = root.join("dev/dxg");
        let library_dirs = [
            format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH),
            format!("lib/{}-linux-gnu", std::env::consts::ARCH),
            "usr/lib64".to_owned(),
            "usr/lib".to_owned(),
            "usr/local/nvidia/lib64".to_owned(),
            "usr/lib/wsl/lib".to_owned(),
        ];
        let libraries = library_dirs.iter().map(|dir| root.join(dir).join("libcuda.so.1"));
        let driver_library = libraries.into_iter().find(|path| path.exists());
        if driver_library.is_some() && wsl.exists() && devices.is_empty() {
            devices.push(wsl);
        }
        let version = std::fs::read_to_string(root.join("proc/driver/nvidia/version")).ok();
        let driver_version = version.and_then(|text| text.lines().next().map(str::to_owned));
        GpuPresence { devices, driver_library, driver_version }
    }
}

/// Everything that `cdpc doctor` shows about tools and GPU.
#[derive(Clone, Debug)]
pub struct DoctorReport {
    /// Everything that was looked at.
    pub searched: Vec<SearchedPlace>,
    /// The toolkits, best first.
    pub toolkits: Vec<ToolkitReport>,
    /// Every known architecture with 64-bit addresses, then those that 32-bit PTX exists for.
    pub archs: Vec<ArchSupport>,
    /// libdevice, which the math functions need.
    pub libdevice: Option<PathBuf>,
    /// The GPU.
    pub gpu: GpuPresence,
}

/// Looks at everything.
pub fn doctor(toolchain: &Toolchain) -> DoctorReport {
    let toolkits = toolchain.toolkits().iter().map(|toolkit| ToolkitReport {
        root: toolkit.root.clone(),
        origin: toolkit.origin,
        version: toolkit.version(),
        contents: toolkit.contents(),
        cudadevrt_images: toolkit
            .cudadevrt()
            .map(|library| library.images.clone())
            .unwrap_or_default(),
    });
    let wide = Arch::all().map(|arch| (arch, AddressSize::Bits64));
    let narrow =
        Arch::all_plain().filter(|arch| arch.number() < 90).map(|arch| (arch, AddressSize::Bits32));
    DoctorReport {
        searched: toolchain.searched().to_vec(),
        toolkits: toolkits.collect(),
        archs: wide.chain(narrow).map(|(arch, size)| arch_support(toolchain, arch, size)).collect(),
        libdevice: toolchain.libdevice().ok().map(Path::to_owned),
        gpu: GpuPresence::detect(Path::new("/")),
    }
}

fn arch_support(toolchain: &Toolchain, arch: Arch, address_size: AddressSize) -> ArchSupport {
    let link = match toolchain.link_tools(arch, address_size) {
        Ok(tools) if tools.cudadevrt.is_some() => LinkSupport::Full,
        Ok(_) => LinkSupport::WithoutDeviceRuntime,
        Err(crate::ToolError::Unsupported { cure, .. }) => LinkSupport::None(cure),
        Err(_) => LinkSupport::None("no nvlink found".to_owned()),
    };
    let ptxas = toolchain.ptxas_for(arch, address_size).ok().map(Path::to_owned);
    ArchSupport { arch, address_size, ptxas, link }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_gpu_by_its_files() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(GpuPresence::detect(root.path()), GpuPresence::default());
        let lib = root.path().join("usr/lib64");
        std::fs::create_dir_all(root.path().join("dev")).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        for name in ["nvidia0", "nvidiactl", "nvidia-uvm", "nvidia"] {
            std::fs::write(root.path().join("dev").join(name), "").unwrap();
        }
        assert!(!GpuPresence::detect(root.path()).is_usable());
        std::fs::write(lib.join("libcuda.so.1"), "").unwrap();
        let gpu = GpuPresence::detect(root.path());
        assert_eq!(gpu.devices, [root.path().join("dev/nvidia0")]);
        assert!(gpu.is_usable());
    }
}
