//! `manifest.json` of a GPU bundle: the cases that `cdp-gpu-runner` runs on a machine with a GPU.
//! These structs are the format; who assembles bundles writes JSON of the same shape.
//!
//! ```json
//! {
//!   "format": 1, "arch": "sm_90", "commit": "…",
//!   "cases": [
//!     { "name": "samples/bfs",
//!       "executable": "cases/samples/bfs/program", "args": [],
//!       "expected_stdout": "cases/samples/bfs/expected.out", "expected_exit_code": 0,
//!       "time_limit_ms": 60000 },
//!     { "name": "signatures/cdp2-v2/017",
//!       "cubin": "cases/signatures/cdp2-v2/017.cubin",
//!       "launches": [
//!         { "name": "s0421", "kernel": "parent_0421", "args": ["zeros u8[512]"],
//!           "expected": [{ "arg": 0, "hex": "00ff…" }] }
//!       ] }
//!   ]
//! }
//! ```
//!
//! A case with `launches` is run from its cubin by the runner itself, in one child process for the
//! whole case: put many small launches into one case, since a process needs most of a second to start
//! on a GPU. Any other case is a program that `cdpc build` made. Unknown fields are ignored.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The version of the format that this crate reads.
pub const FORMAT: u32 = 1;

/// A bundle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`]
    pub format: u32,
    /// Architecture of the machine code, for the report.
    #[serde(default)]
    pub arch: String,
    /// The commit it was made from, for the report.
    #[serde(default)]
    pub commit: String,
    /// Cases in order.
    pub cases: Vec<Case>,
    /// Cases that are not in the bundle, for the report.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// A case that is not in the bundle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// A program, or a cubin whose kernels are launched. Paths are relative to the manifest's folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Case {
    /// `samples/bfs`
    pub name: String,
    /// Linked machine code. What [`Case::launches`] are launched from.
    #[serde(default)]
    pub cubin: Option<String>,
    /// PTX texts, for a run on the CPU device.
    #[serde(default)]
    pub ptx: Vec<String>,
    /// The program, if the case is one.
    #[serde(default)]
    pub executable: Option<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// File with the standard output wanted, byte for byte. For launches: what the kernels print.
    /// Without it the output is not looked at.
    #[serde(default)]
    pub expected_stdout: Option<String>,
    /// The exit code wanted of a program.
    #[serde(default)]
    pub expected_exit_code: i32,
    /// Time that the case may take.
    #[serde(default = "default_time_limit_ms")]
    pub time_limit_ms: u64,
    /// Launches, in order, each with its own buffers.
    #[serde(default)]
    pub launches: Vec<Launch>,
}

fn default_time_limit_ms() -> u64 {
    60_000
}

/// One launch from the host and what it must leave behind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Launch {
    /// For the report; the kernel if empty.
    #[serde(default)]
    pub name: String,
    /// Symbol.
    pub kernel: String,
    /// Blocks.
    #[serde(default = "ones")]
    pub grid: [u32; 3],
    /// Threads of a block.
    #[serde(default = "ones")]
    pub block: [u32; 3],
    /// Dynamic shared memory.
    #[serde(default)]
    pub shared_bytes: u64,
    /// Arguments as `cdpc run --kernel` takes them: `zeros u8[256]`, `i32 5`, `hex 01020304`. Files
    /// are relative to the manifest's folder.
    #[serde(default)]
    pub args: Vec<String>,
    /// Buffers afterwards.
    #[serde(default)]
    pub expected: Vec<Expected>,
    /// The `cudaError_t` that launch or synchronisation must return; 0 for none.
    #[serde(default)]
    pub expected_error: u32,
}

fn ones() -> [u32; 3] {
    [1; 3]
}

/// What a buffer must hold: `hex` or the contents of `file`, compared from its start. Bytes past
/// their end are not looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Expected {
    /// Which argument, from 0.
    pub arg: usize,
    /// Bytes in hexadecimal.
    #[serde(default)]
    pub hex: Option<String>,
    /// A file: raw, or NPY if its name ends so.
    #[serde(default)]
    pub file: Option<String>,
}

impl Launch {
    /// What the report calls it.
    pub fn title(&self) -> &str {
        if self.name.is_empty() { &self.kernel } else { &self.name }
    }
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// A sentence with the file and what is wrong.
    pub fn read(path: &Path) -> Result<Manifest, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let manifest: Manifest =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        if manifest.format != FORMAT {
            return Err(format!(
                "{}: format {} is not known to this runner, which reads format {FORMAT}",
                path.display(),
                manifest.format
            ));
        }
        for case in &manifest.cases {
            let is_program = case.executable.is_some() && case.launches.is_empty();
            let is_cubin = case.cubin.is_some() && !case.launches.is_empty();
            if !is_program && !is_cubin {
                return Err(format!(
                    "{}: case `{}` has neither an executable nor a cubin with launches",
                    path.display(),
                    case.name
                ));
            }
        }
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_reads() {
        let text = r#"{ "format": 1, "arch": "sm_90", "commit": "x", "cases": [
            { "name": "samples/bfs", "source": ["a.cdp"], "cubin": "c", "executable": "p", "args": [],
              "expected_stdout": "o", "expected_exit_code": 3, "time_limit_ms": 60000 },
            { "name": "s", "cubin": "c", "launches": [
                { "name": "s0421", "kernel": "parent_0421", "args": ["zeros u8[512]"],
                  "expected": [{ "arg": 0, "hex": "00ff" }] } ] } ] }"#;
        let manifest: Manifest = serde_json::from_str(text).unwrap();
        assert_eq!(manifest.cases[0].expected_exit_code, 3);
        let launch = &manifest.cases[1].launches[0];
        assert_eq!((launch.grid, launch.block, launch.title()), ([1; 3], [1; 3], "s0421"));
    }
}
