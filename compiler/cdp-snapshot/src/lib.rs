//! Snapshot tests of the PTX that kernels become, for the tests of any crate.
//!
//! ```
//! use cdp_snapshot::{PtxSnapshot, assert_ptx_snapshot};
//!
//! # fn main() -> Result<(), cdp_snapshot::SnapshotError> {
//! let source = "__global__ void child(int *out) { out[threadIdx.x] = 7; }
//!               __global__ void parent(int *out) { child<<<1, 32>>>(out); }";
//! let snapshot = PtxSnapshot::of_source("spawn.cdp", source)
//!     .option("arch", "sm_90")
//!     .option("launch-opt", "off")
//!     .function("parent")
//!     .take()?;
//! assert!(snapshot.contains("LaunchDeviceV2"));
//! assert!(!snapshot.contains("_Z5childPi("));
//! # Ok(())
//! # }
//! # // In a test: assert_ptx_snapshot!("parent", snapshot);
//! ```
//!
//! The text is the normal form that [`cdp::normalize`] makes: what changes with every version of LLVM and matters
//! to no machine is gone. ptxas assembles what is asserted, when one is found ([`Ptxas`]).
//!
//! What is absent: other outputs than PTX. Those of `cdpc --emit ir` and `--emit llvm-ir` are for people
//! and change with every version; the PTX's normal form changes when the machine code may.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use cdp::{CompileOptions, Compiler, Error, Goal, Input, InputKind, OptionError};
use cdp::{Job, JobOptions, SearchOptions};
use cdp::{NormalError, NormalForm, normalize};

#[doc(hidden)]
pub use insta;

/// Asserts that a text is the snapshot of this name, as `insta::assert_snapshot!` does; `cargo insta
/// review` and `INSTA_UPDATE` work as for every other snapshot.
#[macro_export]
macro_rules! assert_ptx_snapshot {
    ($name:expr, $snapshot:expr $(,)?) => {
        $crate::insta::with_settings!({ omit_expression => true }, {
            $crate::insta::assert_snapshot!($name, $snapshot)
        })
    };
}

/// Whether ptxas must accept the PTX that is asserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ptxas {
    /// When one for the architecture is found: on machines without CUDA the text alone is compared.
    #[default]
    IfFound,
    /// It must be there, as in a CI that is set up for it.
    Required,
    /// It is not asked.
    Never,
}

/// Why there is no snapshot.
#[derive(Debug)]
#[non_exhaustive]
pub enum SnapshotError {
    /// An option has no such name or value.
    Option(OptionError),
    /// The input does not compile; the message has a line for each error.
    Compile(String),
    /// A function that was asked for is not in the PTX.
    Normal(NormalError),
    /// ptxas does not accept the PTX, or is missing where it is required.
    Ptxas(Error),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotError::Option(error) => error.fmt(f),
            SnapshotError::Compile(message) => f.write_str(message),
            SnapshotError::Normal(error) => error.fmt(f),
            SnapshotError::Ptxas(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SnapshotError {}

/// What is compiled and what of it is shown.
#[derive(Clone, Debug)]
#[must_use]
pub struct PtxSnapshot {
    input: Result<Input, String>,
    options: CompileOptions,
    wrong_option: Option<OptionError>,
    form: NormalForm,
    ptxas: Ptxas,
}

impl PtxSnapshot {
    fn of(input: Result<Input, String>) -> PtxSnapshot {
        PtxSnapshot {
            input,
            options: CompileOptions::default(),
            wrong_option: None,
            form: NormalForm::new(),
            ptxas: Ptxas::default(),
        }
    }

    /// Of CUDA source text; `name` stands in messages.
    pub fn of_source(name: impl Into<String>, text: impl Into<String>) -> PtxSnapshot {
        PtxSnapshot::of(Ok(Input::source(name, text)))
    }

    /// Of a file, whose extension says what it is. A relative path begins at the package's folder, where
    /// cargo runs tests.
    pub fn of_file(path: impl Into<PathBuf>) -> PtxSnapshot {
        let path = path.into();
        let name = path.display().to_string();
        let kind = InputKind::of(&path).ok_or_else(|| format!("`{name}` has no known extension"));
        PtxSnapshot::of(kind.and_then(|kind| {
            match kind {
                InputKind::Source => Ok(Input::Source(cdp::SourceInput::File(path))),
                kind => std::fs::read(&path)
                    .map(|bytes| Input::Bytes(kind, name.clone(), bytes))
                    .map_err(|error| format!("cannot read `{name}`: {error}")),
            }
        }))
    }

    /// Of another compiler's LLVM IR, as text or bitcode.
    pub fn of_llvm(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> PtxSnapshot {
        PtxSnapshot::of(Ok(Input::llvm(name, bytes)))
    }

    /// Sets an option of [`cdp::OPTIONS`]: `("arch", "sm_75")`, `("opt-level", "0")`.
    pub fn option(mut self, name: &str, value: &str) -> PtxSnapshot {
        if let Err(error) = self.options.set(name, value) {
            self.wrong_option.get_or_insert(error);
        }
        self
    }

    /// Shows this function, by symbol or by its name in the source, and no others than those asked for.
    pub fn function(mut self, name: impl Into<String>) -> PtxSnapshot {
        self.form = self.form.function(name);
        self
    }

    /// Whether `.version`, `.target` and `.address_size` are shown; they are not by default.
    pub fn header(mut self, shown: bool) -> PtxSnapshot {
        self.form = self.form.header(shown);
        self
    }

    /// Whether ptxas must accept the PTX.
    pub fn ptxas(mut self, ptxas: Ptxas) -> PtxSnapshot {
        self.ptxas = ptxas;
        self
    }

    /// Compiles, has ptxas check all of the PTX, and takes the normal form of what is shown.
    ///
    /// # Errors
    /// [`SnapshotError`].
    pub fn take(self) -> Result<String, SnapshotError> {
        if let Some(error) = self.wrong_option {
            return Err(SnapshotError::Option(error));
        }
        let input = self.input.map_err(SnapshotError::Compile)?;
        let compiler = compiler(self.ptxas)?;
        let made = compiler
            .compile(std::slice::from_ref(&input), Goal::Ptx, &self.options)
            .map_err(|failure| SnapshotError::Compile(failure.to_string()))?;
        let ptx = made.text();
        check(&compiler, &ptx, self.ptxas, &self.options)?;
        normalize(&ptx, &self.form).map_err(SnapshotError::Normal)
    }
}

/// With the tools of this machine, which are searched for once a process.
fn compiler(ptxas: Ptxas) -> Result<Compiler, SnapshotError> {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let make = || Compiler::new(&SearchOptions::from_process());
    let found = *FOUND.get_or_init(|| make().is_ok());
    match ptxas {
        Ptxas::Never => Ok(Compiler::without_tools()),
        Ptxas::IfFound if !found => Ok(Compiler::without_tools()),
        _ => make().map_err(SnapshotError::Ptxas),
    }
}

fn check(
    compiler: &Compiler,
    ptx: &str,
    ptxas: Ptxas,
    options: &CompileOptions,
) -> Result<(), SnapshotError> {
    let Some(&arch) = options.archs.first() else { return Ok(()) };
    let is_there = compiler.toolchain().ptxas_for(arch, options.address_size).is_ok();
    if ptxas == Ptxas::Never || ptxas == Ptxas::IfFound && !is_there {
        return Ok(());
    }
    let job = Job::new(JobOptions::default())
        .map_err(|error| SnapshotError::Ptxas(Error::Tool(error)))?;
    let made = compiler.assemble(&job, "snapshot", ptx, arch, options);
    made.map(|_| ()).map_err(SnapshotError::Ptxas)
}
