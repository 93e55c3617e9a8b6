//! The compilers and tools that benchmarks compare, found once.

use std::path::PathBuf;
use std::process::Command;

use cdp_toolchain::{AddressSize, Arch, SearchOptions, Toolchain};
use xtask::Common;
use xtask::cargo::{build_cdpc, in_path, root};
use xtask::failure::{Failure, Outcome};

/// The architecture of all measurements.
pub const ARCH: Arch = Arch::SM_90;

/// What is compared.
pub struct Tools {
    /// Ours, made for release.
    pub cdpc: PathBuf,
    /// The folder of the toolkit.
    pub cuda_root: PathBuf,
    pub nvcc: PathBuf,
    pub ptxas: PathBuf,
    pub clang: Option<PathBuf>,
    pub nvlink: PathBuf,
    pub cudadevrt: PathBuf,
    pub common: Common,
}

/// A tool that the benchmark cannot do without.
fn absent(what: &str) -> Failure {
    Failure::new(format!("the benchmark compares with {what}, which is not here"))
}

impl Tools {
    /// Builds ours and looks for the others.
    pub fn find(common: &Common) -> Outcome<Tools> {
        let options = SearchOptions {
            cuda_path: common.cuda_path.clone(),
            start_dirs: vec![root()],
            ..SearchOptions::from_process()
        };
        let toolchain = Toolchain::find(&options)?;
        let toolkit = toolchain.assembler(ARCH, AddressSize::Bits64)?;
        let link = toolchain.link_tools(ARCH, AddressSize::Bits64)?;
        Ok(Tools {
            cuda_root: toolkit.root.clone(),
            nvcc: toolkit.nvcc.clone().ok_or_else(|| absent("nvcc"))?,
            ptxas: toolkit.ptxas.clone().ok_or_else(|| absent("ptxas"))?,
            clang: in_path("clang-22"),
            cdpc: build_cdpc()?,
            nvlink: link.nvlink,
            cudadevrt: link.cudadevrt.ok_or_else(|| absent("libcudadevrt.a"))?,
            common: common.clone(),
        })
    }

    /// A tool that lies beside nvcc.
    pub fn beside(&self, name: &str) -> Command {
        Command::new(self.nvcc.with_file_name(name))
    }
}
