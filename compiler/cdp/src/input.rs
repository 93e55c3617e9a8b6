//! What a build is made of: sources of several kinds, from files or memory.

use std::path::{Path, PathBuf};

use cdp_toolchain::{ObjectParts, is_archive};

use crate::analysis::SourceInput;

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// `.cdp` text.
    Source,
    /// `.cu` text, which clang reads.
    Cuda,
    /// C or C++ without device code, which clang reads too.
    Host,
    /// LLVM IR text or bitcode with `@cdp.launch` or without launches.
    Llvm,
    /// PTX text of any compiler.
    Ptx,
    /// A device object, a cubin, a host object with device code, a library of these, or a fat
    /// binary.
    Object,
}

impl InputKind {
    /// By the file's extension.
    pub fn of(path: &Path) -> Option<InputKind> {
        Some(match path.extension()?.to_str()? {
            "cdp" => InputKind::Source,
            "cu" => InputKind::Cuda,
            "c" | "cc" | "cpp" | "cxx" | "c++" | "C" => InputKind::Host,
            "ll" | "bc" => InputKind::Llvm,
            "ptx" => InputKind::Ptx,
            "o" | "cubin" | "a" | "fatbin" => InputKind::Object,
            _ => return None,
        })
    }

    /// By the first bytes, for standard input.
    pub fn sniff(bytes: &[u8]) -> InputKind {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        let starts = |words: &[&str]| {
            text.lines().any(|line| words.iter().any(|word| line.starts_with(word)))
        };
        if bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(b"\xde\xc0\x17\x0b") {
            InputKind::Llvm
        } else if [&b"\x7fELF"[..], b"!<arch>\n", b"!<thin>\n", b"\x50\xed\x55\xba"]
            .iter()
            .any(|magic| bytes.starts_with(magic))
        {
            InputKind::Object
        } else if starts(&[".version"]) {
            InputKind::Ptx
        } else if starts(&[
            "; ModuleID",
            "target triple",
            "target datalayout",
            "define ",
            "source_filename",
        ]) {
            InputKind::Llvm
        } else {
            InputKind::Source
        }
    }
}

/// One input of a build.
#[derive(Clone, Debug)]
pub enum Input {
    /// A `.cdp` file.
    Source(SourceInput),
    /// A file that clang reads: `.cu`, or one of the host's alone.
    Cuda(SourceInput),
    /// Name and bytes.
    Bytes(InputKind, String, Vec<u8>),
}

impl Input {
    /// A source from memory, without includes of its own.
    pub fn source(name: impl Into<String>, text: impl Into<String>) -> Input {
        Input::Source(SourceInput::text(name, text))
    }

    /// A `.cu` source from memory.
    pub fn cuda(name: impl Into<String>, text: impl Into<String>) -> Input {
        Input::Cuda(SourceInput::text(name, text))
    }

    /// A file of C or C++ without device code, for a program with `.cu` or `.cdp` files.
    pub fn host(path: impl Into<PathBuf>) -> Input {
        Input::Cuda(SourceInput::Host(path.into()))
    }

    /// A source that is read by who compiles it; `None` for kinds that are bytes.
    pub fn source_file(kind: InputKind, path: &Path) -> Option<Input> {
        Some(match kind {
            InputKind::Source => Input::Source(SourceInput::File(path.to_owned())),
            InputKind::Cuda => Input::Cuda(SourceInput::File(path.to_owned())),
            InputKind::Host => Input::host(path),
            InputKind::Llvm | InputKind::Ptx | InputKind::Object => return None,
        })
    }

    /// LLVM IR of another compiler, as text or bitcode.
    pub fn llvm(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Input {
        Input::Bytes(InputKind::Llvm, name.into(), bytes.into())
    }

    /// PTX text.
    pub fn ptx(name: impl Into<String>, text: impl Into<String>) -> Input {
        Input::Bytes(InputKind::Ptx, name.into(), text.into().into_bytes())
    }

    /// A device object, a cubin, a host object with device code, a library of these, a fat binary.
    pub fn object(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Input {
        Input::Bytes(InputKind::Object, name.into(), bytes.into())
    }

    /// The static library that `-lNAME` means among these folders, if it holds device code: the host's linker would
    /// leave that out.
    pub fn library(name: &str, folders: &[PathBuf]) -> Option<Input> {
        let path = folders.iter().find_map(|folder| {
            let names = ["so", "a"].map(|extension| folder.join(format!("lib{name}.{extension}")));
            names.into_iter().find(|path| path.is_file())
        })?;
        let bytes = std::fs::read(&path).ok()?;
        let has_device_code = is_archive(&bytes) && ObjectParts::of(&bytes).device;
        has_device_code.then(|| Input::object(path.display().to_string(), bytes))
    }

    /// Whether it is an object or a library with code for the host's linker.
    pub fn has_host_code(&self) -> bool {
        matches!(self, Input::Bytes(InputKind::Object, _, bytes) if ObjectParts::of(bytes).host)
    }

    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Input::Source(source) | Input::Cuda(source) => source.name(),
            Input::Bytes(_, name, _) => name.clone(),
        }
    }

    /// A short name for intermediate files.
    pub(crate) fn stem(&self) -> String {
        let name = self.name();
        let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| "module".into())
    }
}
