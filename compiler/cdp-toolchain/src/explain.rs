//! Failures of ptxas and nvlink that people meet, said in our words with the cure. The tool's own
//! message is always shown as well; this only goes above it.

use std::fmt;

use crate::device_runtime::is_device_runtime_symbol;
use crate::tool::{Tool, ToolCommand};

/// A known failure of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// Device-runtime symbols are undefined because libcudadevrt.a was not linked.
    CudadevrtNotLinked,
    /// libcudadevrt.a was linked, but has no image for this architecture.
    CudadevrtWithoutImage,
    /// Another symbol is undefined.
    UndefinedSymbol,
    /// A kernel was declared as a function (`.extern .func`) where another file defines it.
    KernelDeclaredAsFunction,
    /// `cudaDeviceSynchronize` in device code on sm_90 or later.
    DeviceSynchronize,
    /// Objects of different address sizes, or 32-bit PTX given to a ptxas without it.
    AddressSize,
    /// An object for another architecture, or PTX whose `.target` is newer.
    ArchMismatch,
    /// PTX of a newer language version than this ptxas reads.
    PtxVersion,
    /// One symbol defined twice.
    MultipleDefinition,
    /// PTX that launches kernels was assembled as a whole program, which wants a device link.
    NeedsDeviceLink,
}

/// A failure in our words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Which of the known failures.
    pub kind: FailureKind,
    /// What happened.
    pub summary: String,
    /// What to do.
    pub cure: String,
    /// Symbols that the tool named.
    pub symbols: Vec<String>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.summary, self.cure)
    }
}

/// The quoted words `'...'` of a message.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('\'').skip(1).step_by(2)
}

fn quoted_after<'a>(output: &'a str, needle: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for line in output.lines() {
        if let Some(at) = line.find(needle)
            && let Some(name) = quoted(&line[at..]).next()
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(shown.len());
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn explanation(
    kind: FailureKind,
    symbols: &[&str],
    summary: String,
    cure: &str,
) -> Option<Explanation> {
    let symbols = symbols.iter().map(|name| (*name).to_owned()).collect();
    Some(Explanation { kind, summary, cure: cure.to_owned(), symbols })
}

/// The explanation of a tool's failure message, if it is a known one.
pub fn explain_failure(command: &ToolCommand, output: &str) -> Option<Explanation> {
    match command.tool {
        Tool::Ptxas => explain_ptxas(output),
        Tool::Nvlink => {
            let linked =
                command.args.iter().any(|arg| arg.to_string_lossy().ends_with("libcudadevrt.a"));
            let arch = command.args.iter().find_map(|arg| {
                let text = arg.to_str()?;
                Some(text.strip_prefix("-arch=")?.to_owned())
            });
            explain_nvlink(output, linked, arch.as_deref().unwrap_or("this architecture"))
        }
        Tool::Fatbinary | Tool::Cuobjdump | Tool::Clang | Tool::Cc => None,
    }
}

fn explain_ptxas(output: &str) -> Option<Explanation> {
    if output.contains("Unsupported Function 'cudaDeviceSynchronize'") {
        return explanation(
            FailureKind::DeviceSynchronize,
            &["cudaDeviceSynchronize"],
            "device code cannot wait for its children with cudaDeviceSynchronize from sm_90 on (CDP2)".to_owned(),
            "launch what must run afterwards into cudaStreamTailLaunch, or compile for sm_89 or older with --cdp 1",
        );
    }
    let unresolved = quoted_after(output, "Unresolved extern function ");
    if !unresolved.is_empty() {
        let launches = unresolved.iter().any(|name| is_device_runtime_symbol(name));
        let what = if launches { "the device runtime" } else { "other objects" };
        return explanation(
            FailureKind::NeedsDeviceLink,
            &unresolved,
            format!(
                "{} must come from {what}, but the PTX was assembled as a whole program",
                list(&unresolved)
            ),
            "assemble it with -c and link it (`cdpc link a.ptx`): a driver that is given such PTX \
             refuses it for the same reason",
        );
    }
    if output.contains("32-Bit compilation is no longer supported")
        || output.contains("not defined for option 'machine'")
        || output.contains("32-Bit ABI (--machine 32")
    {
        return explanation(
            FailureKind::AddressSize,
            &[],
            "this is 32-bit PTX, which only ptxas 11.8 and older assemble, for sm_89 and older"
                .to_owned(),
            "use -m64, or let `cargo xtask setup` fetch ptxas 11.8",
        );
    }
    if output.contains("SM version specified by .target is higher") {
        return explanation(
            FailureKind::ArchMismatch,
            &[],
            "the PTX was made for a newer architecture (its .target) than the one asked for"
                .to_owned(),
            "raise --arch, or make the PTX for the lower architecture",
        );
    }
    if let Some(line) = output.lines().find(|line| line.contains("Unsupported .version")) {
        let versions: Vec<&str> = line.split(|c: char| !(c.is_ascii_digit() || c == '.')).collect();
        let versions: Vec<&&str> =
            versions.iter().filter(|word| word.len() >= 3 && word.contains('.')).collect();
        let found = versions.first().map_or("a newer version", |version| **version);
        return explanation(
            FailureKind::PtxVersion,
            &[],
            format!("the PTX is of version {found}, newer than this ptxas reads"),
            "use a newer CUDA toolkit, or make the PTX for an older version",
        );
    }
    None
}

fn explain_nvlink(output: &str, cudadevrt_linked: bool, arch: &str) -> Option<Explanation> {
    let undefined = quoted_after(output, "Undefined reference to ");
    let runtime: Vec<&str> =
        undefined.iter().copied().filter(|name| is_device_runtime_symbol(name)).collect();
    if !runtime.is_empty() {
        if cudadevrt_linked {
            return explanation(
                FailureKind::CudadevrtWithoutImage,
                &runtime,
                format!(
                    "libcudadevrt.a has no image for {arch}, so {} stayed undefined",
                    list(&runtime)
                ),
                "link for an architecture that it has an image for; `cdpc doctor` lists them",
            );
        }
        return explanation(
            FailureKind::CudadevrtNotLinked,
            &runtime,
            format!("{} belong to the device runtime, which was not linked", list(&runtime)),
            "link libcudadevrt.a (--cudadevrt auto or always)",
        );
    }
    let functions = quoted_after(output, "Function ");
    if output.contains("not declared __global__ in all source files") {
        return explanation(
            FailureKind::KernelDeclaredAsFunction,
            &functions,
            format!(
                "{} is a kernel where it is defined, but another object declares it as a plain function (`.extern \
                 .func`)",
                list(&functions)
            ),
            "link with --fix, which mends the declaration (clang declares kernels of other files like \
             this); or declare it as a kernel: `.extern .entry` in PTX, the calling convention \
             `ptx_kernel` in LLVM IR",
        );
    }
    if output.contains("size does not match target") {
        let objects = quoted_after(output, "Input file ");
        return explanation(
            FailureKind::AddressSize,
            &objects,
            format!("{} has 32-bit addresses, which nvlink no longer links", list(&objects)),
            "compile it with -m64",
        );
    }
    if output.contains("arch does not match target") {
        let objects = quoted_after(output, "Input file ");
        return explanation(
            FailureKind::ArchMismatch,
            &objects,
            format!("{} was made for another architecture than {arch}", list(&objects)),
            "compile all inputs of a link for one architecture",
        );
    }
    let doubles = quoted_after(output, "Multiple definition of ");
    if !doubles.is_empty() {
        return explanation(
            FailureKind::MultipleDefinition,
            &doubles,
            format!("{} is defined in more than one input", list(&doubles)),
            "define it once, or make it `static`",
        );
    }
    if !undefined.is_empty() {
        return explanation(
            FailureKind::UndefinedSymbol,
            &undefined,
            format!("no input defines {}", list(&undefined)),
            "add the object that does; for CUDA C++ objects compile with -rdc=true (-dc)",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages as nvlink 13.0 and ptxas 11.8 to 13.0 print them.
    #[test]
    fn known_nvlink_messages() {
        let undefined =
            "nvlink error   : Undefined reference to '__cudaCDP2LaunchDeviceV2' in 'a.o'\n";
        assert_eq!(
            explain_nvlink(undefined, false, "sm_90").unwrap().kind,
            FailureKind::CudadevrtNotLinked
        );
        let without = explain_nvlink(undefined, true, "sm_87").unwrap();
        assert_eq!(without.kind, FailureKind::CudadevrtWithoutImage);
        assert!(
            without.to_string().contains("sm_87")
                && without.symbols == ["__cudaCDP2LaunchDeviceV2"]
        );
        let cases = [
            (
                "nvlink error   : Undefined reference to 'foo' in 'a.o'",
                FailureKind::UndefinedSymbol,
            ),
            (
                "nvlink error   : Function 'far' not declared __global__ in all source files",
                FailureKind::KernelDeclaredAsFunction,
            ),
            (
                "nvlink fatal   : Input file 'm32.o' size does not match target '-m64'",
                FailureKind::AddressSize,
            ),
            (
                "nvlink fatal   : Input file 'a.o' arch does not match target 'sm_80'",
                FailureKind::ArchMismatch,
            ),
            (
                "nvlink error   : Multiple definition of 'k' in 'b.o', first defined in 'a.o'",
                FailureKind::MultipleDefinition,
            ),
        ];
        for (message, kind) in cases {
            assert_eq!(explain_nvlink(message, true, "sm_80").unwrap().kind, kind, "{message}");
        }
        assert_eq!(explain_nvlink("nvlink fatal   : something new", true, "sm_80"), None);
    }

    #[test]
    fn known_ptxas_messages() {
        let cases = [
            (
                "ptxas a.ptx, line 5; fatal   : Unsupported Function 'cudaDeviceSynchronize' on arch 'sm_90' or higher",
                FailureKind::DeviceSynchronize,
            ),
            (
                "ptxas fatal   :  32-Bit compilation is no longer supported",
                FailureKind::AddressSize,
            ),
            (
                "ptxas fatal   : SM version specified by .target is higher than default SM version assumed",
                FailureKind::ArchMismatch,
            ),
            (
                "ptxas fatal   : Unresolved extern function '__cudaCDP2LaunchDeviceV2'",
                FailureKind::NeedsDeviceLink,
            ),
            (
                "ptxas a.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '9.0'",
                FailureKind::PtxVersion,
            ),
        ];
        for (message, kind) in cases {
            assert_eq!(explain_ptxas(message).unwrap().kind, kind, "{message}");
        }
        let version = explain_ptxas(cases[4].0).unwrap();
        assert!(version.summary.contains("9.9"), "{version}");
        assert_eq!(explain_ptxas("ptxas a.ptx, line 1; error : syntax error"), None);
    }
}
