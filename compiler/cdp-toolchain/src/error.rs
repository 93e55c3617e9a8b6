//! The one error type of this crate: something about the machine, a tool or the embedder's request
//! that stopped a build. A user's program is never at fault here, except through a tool's message.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::arch::{AddressSize, Arch, ToolVersion};
use crate::cubin::CubinError;
use crate::explain::Explanation;
use crate::origin::{SearchedPlace, ToolkitOrigin};
use crate::tool::{Tool, ToolCommand};

/// Why a stage of this crate failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolError {
    /// No toolkit that was found has this tool or file.
    NotFound {
        /// What is missing, for example `ptxas` or `libcudadevrt.a`.
        what: String,
        /// What it was needed for.
        purpose: String,
        /// Every place that was looked at, with what was there.
        searched: Vec<SearchedPlace>,
    },
    /// Toolkits were found, but none serves this architecture and address size.
    Unsupported {
        /// `ptxas`, `nvlink` or `libcudadevrt.a`.
        what: String,
        /// The architecture asked for.
        arch: Arch,
        /// The address size asked for.
        address_size: AddressSize,
        /// What was found: path and version.
        found: Vec<(PathBuf, Option<ToolVersion>)>,
        /// What to do about it.
        cure: String,
    },
    /// No ptxas for the target reads PTX as new as this.
    PtxTooNew {
        /// What the PTX was made of.
        stem: String,
        /// Its `.version`.
        version: (u16, u16),
        /// Each ptxas for the target, with its version.
        found: Vec<(PathBuf, ToolVersion)>,
    },
    /// A tool that the user named does not work.
    Broken {
        /// The toolkit's folder.
        root: PathBuf,
        /// What named it.
        origin: ToolkitOrigin,
        /// What is wrong.
        message: String,
    },
    /// The tool exists but could not be started.
    Start {
        /// The command.
        command: Box<ToolCommand>,
        /// Why.
        source: io::Error,
    },
    /// The tool ran longer than the job's limit and was killed.
    TimedOut {
        /// The command.
        command: Box<ToolCommand>,
        /// The limit.
        limit: Duration,
        /// What it had printed, both streams.
        output: String,
    },
    /// The tool ran and reported failure.
    Failed {
        /// The command.
        command: Box<ToolCommand>,
        /// The exit status in words, `exit status: 255` or `signal: 9 (SIGKILL)`.
        status: String,
        /// What it printed, both streams, bounded in size.
        output: String,
        /// The failure in our words, where it is one that we know.
        explanation: Option<Box<Explanation>>,
    },
    /// Objects made for the old and for the new device runtime in one link (FACTS.md: they link
    /// without a word and fail when the driver loads the function).
    MixedCdp {
        /// The input that uses CDP1 and a symbol that shows it.
        cdp1: (String, String),
        /// The input that uses CDP2 and a symbol that shows it.
        cdp2: (String, String),
    },
    /// An input whose device code is a whole program already. nvlink takes nothing of it, without a
    /// word.
    NotRelocatable {
        /// The input.
        name: String,
    },
    /// A tool's output, or an input object, is not what it should be.
    BadObject {
        /// Which file.
        name: String,
        /// What is wrong.
        source: CubinError,
    },
    /// A file or folder could not be read or written.
    Io {
        /// What was being done, `write the PTX for ptxas`.
        action: String,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no clang to read a `.cu` file; the sentence says what to do.
    NoClang(String),
    /// The job was given up ([`crate::JobOptions::cancelled`]).
    Cancelled,
    /// The request itself makes no sense, for example a link of nothing.
    BadRequest(String),
}

impl ToolError {
    pub(crate) fn io(action: &str, path: impl Into<PathBuf>, source: io::Error) -> ToolError {
        ToolError::Io { action: action.to_owned(), path: path.into(), source }
    }

    /// The tool that failed or is missing, where there is one.
    pub fn tool(&self) -> Option<Tool> {
        match self {
            ToolError::Start { command, .. }
            | ToolError::TimedOut { command, .. }
            | ToolError::Failed { command, .. } => Some(command.tool),
            _ => None,
        }
    }

    /// What a failed tool printed; empty for other failures.
    pub(crate) fn output(&self) -> &str {
        match self {
            ToolError::Failed { output, .. } => output,
            _ => "",
        }
    }

    /// The explanation of a known failure.
    pub fn explanation(&self) -> Option<&Explanation> {
        match self {
            ToolError::Failed { explanation, .. } => explanation.as_deref(),
            _ => None,
        }
    }
}

fn write_output(f: &mut fmt::Formatter<'_>, output: &str) -> fmt::Result {
    for line in output.trim_end().lines() {
        write!(f, "\n    {line}")?;
    }
    Ok(())
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolError::NotFound { what, purpose, searched } => {
                write!(f, "{what} not found, needed {purpose}; looked for it in:")?;
                for place in searched {
                    write!(f, "\n    {place}")?;
                }
                let named =
                    searched.last().is_some_and(|place| place.origin == ToolkitOrigin::Explicit);
                f.write_str(if named {
                    "\n  name the root folder of a CUDA toolkit, the one with bin/ptxas in it"
                } else {
                    "\n  `cargo xtask setup` fetches it, or name a CUDA toolkit with --cuda-path"
                })
            }
            ToolError::Unsupported { what, arch, address_size, found, cure } => {
                write!(f, "no {what} here serves {arch} with {address_size} addresses; found")?;
                for (index, (path, version)) in found.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { " " } else { ", " }, path.display())?;
                    if let Some(version) = version {
                        write!(f, " ({version})")?;
                    }
                }
                write!(f, "\n  {cure}")
            }
            ToolError::PtxTooNew { stem, version: (major, minor), found } => {
                write!(
                    f,
                    "the PTX of `{stem}` is in version {major}.{minor}, which no ptxas here reads:"
                )?;
                for (path, version) in found {
                    let (major, minor) = version.max_ptx_isa();
                    write!(f, "\n    {} ({version}) reads up to {major}.{minor}", path.display())?;
                }
                f.write_str(
                    "\n  install a newer CUDA toolkit, or ask for an older version with --ptx-version",
                )
            }
            ToolError::Broken { root, origin, message } => write!(
                f,
                "the CUDA toolkit in {}, which {origin} names, does not work: {message}\n  mend it, or \
                 name another one",
                root.display()
            ),
            ToolError::Start { command, source } => {
                write!(f, "{} could not be started: {source}\n  command: {command}", command.tool)
            }
            ToolError::TimedOut { command, limit, output } => {
                write!(
                    f,
                    "{} was stopped after {} s without finishing\n  command: {command}",
                    command.tool,
                    limit.as_secs_f64()
                )?;
                write_output(f, output)
            }
            ToolError::Failed { command, status, output, explanation } => {
                if let Some(explanation) = explanation {
                    write!(f, "{explanation}\n  ")?;
                }
                write!(f, "{} failed ({status})\n  command: {command}", command.tool)?;
                write_output(f, output)
            }
            ToolError::MixedCdp { cdp1, cdp2 } => write!(
                f,
                "`{}` uses the CDP1 device runtime (`{}`) and `{}` the CDP2 one (`{}`); a program linked from \
                 both is refused when the driver loads it\n  compile all inputs for one of them: with the same \
                 `--cdp`, in nvcc with -DCUDA_FORCE_CDP1_IF_SUPPORTED for CDP1 and without it for CDP2",
                cdp1.0, cdp1.1, cdp2.0, cdp2.1
            ),
            ToolError::NotRelocatable { name } => write!(
                f,
                "the device code of `{name}` is linked already, so it cannot be linked with anything\n  \
                 compile it as relocatable device code: cdpc build -c, nvcc -dc, clang -fgpu-rdc -c, \
                 ptxas -c"
            ),
            ToolError::BadObject { name, source } => {
                write!(f, "`{name}` is not a usable device object: {source}")
            }
            ToolError::Io { action, path, source } => {
                write!(f, "could not {action} ({}): {source}", path.display())
            }
            ToolError::Cancelled => f.write_str("cancelled"),
            ToolError::BadRequest(message) | ToolError::NoClang(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ToolError::Start { source, .. } | ToolError::Io { source, .. } => Some(source),
            ToolError::BadObject { source, .. } => Some(source),
            _ => None,
        }
    }
}
