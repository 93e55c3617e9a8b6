//! The functions of recorded launches, which are the same in every program: ptxas compiles them once for a target, and
//! what it made is kept, in the process and in the cache folder. A program is linked with it.
//!
//! What a file holds is its name: the functions, the architecture, the level and the tools. Output is the same whether
//! it was kept or not.
//!
//! What is not here: the functions themselves (`cdp-llvm`), and what is not linked by us, whose PTX has them in it.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use cdp_launch::limits::REGISTERS_OF_LARGEST_BLOCK;
use cdp_toolchain::{Arch, DeviceObject, Job};

use crate::compiler::Compiler;
use crate::digest::Digest;
use crate::error::Error;
use crate::options::CompileOptions;
use cdp_llvm::DebugInfo;
use cdp_toolchain::AddressSize;

/// Objects that a process keeps.
const KEPT: usize = 16;
/// The name in messages and of intermediate files.
const STEM: &str = "recorded-launches";

/// Those used last come last.
static OBJECTS: Mutex<Vec<(String, Vec<u8>)>> = Mutex::new(Vec::new());

/// Registers of the functions: kernels that call them are limited to so many, or need not be limited
/// (`launches/carry.rs`), and nvlink links no kernel with a function that has more than its limit.
const REGISTERS: u32 = REGISTERS_OF_LARGEST_BLOCK;

/// A program's PTX without the functions, and the functions; `None` where it has none, or where options or kernels say
/// how all of the program is to be compiled.
pub(crate) fn apart(job: &Job, ptx: &str, options: &CompileOptions) -> Option<(String, String)> {
    let plain = options.address_size == AddressSize::Bits64
        && options.max_registers.is_none()
        && options.ptxas_args.is_empty()
        && options.nvlink_args.is_empty()
        && options.debug == DebugInfo::None
        && !job.is_dry_run()
        && !limits_registers(ptx);
    if plain { cdp_llvm::split_recorded_launches(ptx) } else { None }
}

/// Whether a kernel is to have fewer registers than the functions take.
fn limits_registers(ptx: &str) -> bool {
    ptx.lines().any(|line| {
        let mut words = line.split_whitespace();
        match words.next() {
            Some(".minnctapersm") => true,
            Some(".maxnreg") => {
                words.next().and_then(|n| n.parse().ok()).is_none_or(|n: u32| n < REGISTERS)
            }
            _ => false,
        }
    })
}

impl Compiler {
    /// The functions as an object, for an architecture.
    pub(crate) fn recorded_launches(
        &self,
        job: &Job,
        functions: &str,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<DeviceObject, Error> {
        let key = self.key(functions, arch, options);
        let file = options
            .cache_dir
            .as_ref()
            .map(|cache| cache.join("recorded").join(&key).with_extension("o"));
        let known = known(&key).or_else(|| std::fs::read(file.as_ref()?).ok());
        let known = known.and_then(|bytes| DeviceObject::from_bytes(STEM, bytes).ok());
        let is_known = known.is_some();
        let object = match known {
            Some(object) => object,
            None => {
                let few = CompileOptions { max_registers: Some(REGISTERS), ..options.clone() };
                self.assemble(job, STEM, functions, arch, &few)?.object
            }
        };
        // A file that held no object is written anew.
        if let Some(file) = file.filter(|file| !is_known || !file.exists()) {
            // Without it the next process makes it anew.
            let _ = keep(&file, &object.bytes);
        }
        remember(key, &object.bytes);
        Ok(object)
    }

    fn key(&self, functions: &str, arch: Arch, options: &CompileOptions) -> String {
        let mut digest = Digest::new();
        digest.add(functions);
        digest.add(arch.to_string());
        digest.add(format!("{:?} {REGISTERS}", options.opt_level));
        for ptxas in self.toolchain().toolkits().iter().filter_map(|kit| kit.ptxas.as_ref()) {
            digest.add_tool(ptxas);
        }
        digest.finish()
    }
}

fn known(key: &str) -> Option<Vec<u8>> {
    let objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    objects.iter().find(|(known, _)| known == key).map(|(_, bytes)| bytes.clone())
}

fn remember(key: String, bytes: &[u8]) {
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    objects.retain(|(known, _)| *known != key);
    if objects.len() == KEPT {
        objects.remove(0);
    }
    objects.push((key, bytes.to_vec()));
}

/// Writes an object whole or not at all.
fn keep(path: &Path, bytes: &[u8]) -> Option<()> {
    let folder = path.parent()?;
    std::fs::create_dir_all(folder).ok()?;
    let mut file = tempfile::Builder::new().prefix(".making-").tempfile_in(folder).ok()?;
    file.write_all(bytes).ok()?;
    file.persist(path).ok()?;
    Some(())
}
