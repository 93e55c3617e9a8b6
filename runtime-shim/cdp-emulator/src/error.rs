//! Errors of the emulator and of its caller: a module that cannot be loaded, a call with bad
//! arguments, memory that the host will not give. A kernel that misbehaves is not an error here
//! but a [`crate::Report`].

use std::fmt;

use crate::report::Bytes;

/// A place in a PTX text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxPlace {
    /// Name of the text, as given to [`crate::Source`].
    pub file: String,
    /// Line from 1; 0 if the error is about the text as a whole.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
}

impl fmt::Display for PtxPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => write!(f, "{}", self.file),
            (line, 0) => write!(f, "{}:{line}", self.file),
            (line, column) => write!(f, "{}:{line}:{column}", self.file),
        }
    }
}

/// Why the emulator did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The text is not PTX that `cdp-ptx` knows.
    Parse {
        /// Where in the PTX.
        place: PtxPlace,
        /// What was found and what is known.
        message: String,
    },
    /// The PTX is well-formed and the emulator does not run it.
    Unsupported {
        /// Where in the PTX.
        place: PtxPlace,
        /// What is not run.
        message: String,
    },
    /// A name that nothing defines.
    UndefinedSymbol {
        /// The first use.
        place: PtxPlace,
        /// The name as the PTX has it.
        name: String,
    },
    /// A name that two modules define.
    DuplicateSymbol {
        /// The second definition.
        place: PtxPlace,
        /// The name as the PTX has it.
        name: String,
        /// The first definition.
        other: PtxPlace,
    },
    /// Two modules disagree about a name (kind, size, parameters).
    SymbolMismatch {
        /// The declaration that was read last.
        place: PtxPlace,
        /// The name as the PTX has it.
        name: String,
        /// In what they differ.
        message: String,
    },
    /// Modules of a kind that the device cannot hold together (address size, target).
    Incompatible {
        /// The module that came last.
        place: PtxPlace,
        /// In what it differs from those that are loaded.
        message: String,
    },
    /// No kernel of that name in the module.
    NoSuchKernel {
        /// The name that was asked for.
        name: String,
        /// The kernels that the module has.
        known: Vec<String>,
    },
    /// No variable of that name in the module.
    NoSuchVariable {
        /// The name that was asked for.
        name: String,
    },
    /// A handle that was never given out or is no longer valid.
    InvalidHandle {
        /// The kind: a stream, an event, a module.
        what: &'static str,
    },
    /// The launch configuration breaks a limit of the device.
    InvalidConfiguration {
        /// Which limit, with both numbers.
        message: String,
    },
    /// The clusters of a launch break a limit, or the grid is no whole number of them.
    InvalidCluster {
        /// Which limit, with both numbers.
        message: String,
    },
    /// An argument out of range.
    InvalidValue {
        /// Which argument, and what it may be.
        message: String,
    },
    /// A device address range that is not allocated.
    InvalidAddress {
        /// A device address.
        address: u64,
        /// The bytes from it on that were asked for.
        size_bytes: u64,
        /// What lies there.
        message: String,
    },
    /// The device memory is used up.
    OutOfMemory {
        /// The size of the allocation.
        asked_bytes: u64,
        /// What is left in one piece.
        free_bytes: u64,
    },
    /// The host refuses memory for the device itself.
    HostMemory {
        /// What the device wanted from the system.
        asked_bytes: u64,
    },
    /// An earlier report ended the program; nothing more runs until [`crate::Emulator::reset`].
    Faulted,
}

impl Error {
    /// The `cudaError_t` that the CUDA runtime would return in this situation.
    pub fn cuda_code(&self) -> u32 {
        match self {
            Error::Parse { .. } => 218,
            Error::Unsupported { .. } => 801,
            Error::UndefinedSymbol { .. } | Error::NoSuchKernel { .. } => 98,
            Error::DuplicateSymbol { .. } | Error::SymbolMismatch { .. } => 302,
            Error::Incompatible { .. } => 209,
            Error::NoSuchVariable { .. } => 13,
            Error::InvalidHandle { .. } => 400,
            Error::InvalidConfiguration { .. } => 9,
            Error::InvalidCluster { .. } => 912,
            Error::InvalidValue { .. } | Error::InvalidAddress { .. } => 1,
            Error::OutOfMemory { .. } | Error::HostMemory { .. } => 2,
            Error::Faulted => 719,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Parse { place, message } => write!(f, "{place}: {message}"),
            Error::Unsupported { place, message } => {
                write!(f, "{place}: the CPU device does not run this: {message}")
            }
            Error::UndefinedSymbol { place, name } => write!(
                f,
                "{place}: `{name}` is declared here and defined in none of the linked modules"
            ),
            Error::DuplicateSymbol { place, name, other } => {
                write!(f, "{place}: `{name}` is already defined at {other}")
            }
            Error::SymbolMismatch { place, name, message } => {
                write!(f, "{place}: `{name}`: {message}")
            }
            Error::Incompatible { place, message } => write!(f, "{place}: {message}"),
            Error::NoSuchKernel { name, known } if known.is_empty() => {
                write!(f, "no kernel `{name}`: the module has no kernels")
            }
            Error::NoSuchKernel { name, known } => {
                write!(f, "no kernel `{name}`; the module has {}", known.join(", "))
            }
            Error::NoSuchVariable { name } => {
                write!(f, "no device variable `{name}` in the module")
            }
            Error::InvalidHandle { what } => write!(f, "this {what} was never made or is gone"),
            Error::InvalidConfiguration { message } | Error::InvalidCluster { message } => {
                write!(f, "launch refused: {message}")
            }
            Error::InvalidValue { message } => f.write_str(message),
            Error::InvalidAddress { address, size_bytes, message } => {
                write!(f, "{} at {address:#x}: {message}", Bytes(*size_bytes))
            }
            Error::OutOfMemory { asked_bytes, free_bytes } => {
                write!(f, "{asked_bytes} bytes asked for, {free_bytes} bytes of device memory free")
            }
            Error::HostMemory { asked_bytes } => {
                write!(f, "the system refuses to reserve {asked_bytes} bytes of address space")
            }
            Error::Faulted => f.write_str("an earlier fault ended the program; reset the device"),
        }
    }
}

impl std::error::Error for Error {}
