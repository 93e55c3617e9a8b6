//! nvcc's and gcc's spellings, turned into ours, so that a build line can be carried over. clap then knows
//! one spelling of each option. The table is nvcc's own `--help`, option by option; what it says of each
//! is in `compiler/docs/command-line.md` too.
//!
//! Arguments are words of the operating system, which need not be UTF-8.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use cdp_diagnostics::codes::lint;
use clap_lex::OsStrExt;

use super::values::{gencode, list, split};
use Means::*;

/// What an option of nvcc means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Our option, with the value if there is one.
    Ours(&'static str),
    /// Words of ours.
    Words(&'static [&'static str]),
    /// Nothing, and why that is right.
    Nothing(&'static str),
    /// What is asked for cannot be had; the cure.
    Refused(&'static str),
    /// Architectures, which `-code` narrows.
    Arch,
    Code,
    Gencode,
    /// 32 or 64.
    Machine,
    /// nvcc's kinds of warnings.
    Werror,
    /// A library to link with.
    Library,
    /// A file with more options.
    OptionsFile,
    /// Options that are nobody's go to the host compiler and its linker.
    Forward,
}

/// An option of nvcc: long name, short name, whether it has a value.
pub struct Row {
    pub long: &'static str,
    pub short: &'static str,
    pub value: bool,
    pub means: Means,
}

const fn flag(long: &'static str, short: &'static str, means: Means) -> Row {
    Row { long, short, value: false, means }
}

const fn valued(long: &'static str, short: &'static str, means: Means) -> Row {
    Row { long, short, value: true, means }
}

const SAME_CODE: &str = "the code is the same without";
const ALWAYS: &str = "always so";
const HOST_CPP: &str = "C++ that `.cdp` has not";
// What these allow is allowed in `.cu` files anyway; their headers ask whether it is.
const RELAXED_CONSTEXPR: &[&str] = &["-D__CUDACC_RELAXED_CONSTEXPR__=1"];
const EXTENDED_LAMBDA: &[&str] = &["-D__CDP_EXTENDED_LAMBDA__=1"];
const EARLY: &str = "device code is optimised before the link";
const WINDOWS: &str = "for Windows";
const NO_LTO: &str = "device code is optimised before the link; give all sources to one call";
const NO_CPP: &str = "no C++ is made on the way; --emit llvm-ir shows what is";

/// nvcc's options in the order of its `--help` (13.0), those of `cdpc` by the same name left out.
pub const NVCC: &[Row] = &[
    flag("--cuda", "-cuda", Refused(NO_CPP)),
    flag("--cubin", "-cubin", Words(&["--emit=cubin"])),
    flag("--fatbin", "-fatbin", Words(&["--emit=fatbin"])),
    flag("--ptx", "-ptx", Words(&["--emit=ptx"])),
    flag("--optix-ir", "-optix-ir", Refused("OptiX programs launch no kernels; use nvcc")),
    flag("--ltoir", "-ltoir", Refused(NO_LTO)),
    flag("--generate-dependencies", "-M", Words(&["--m"])),
    flag("--generate-nonsystem-dependencies", "-MM", Words(&["--m"])),
    flag("--generate-dependencies-with-compile", "-MD", Words(&["--md"])),
    flag("--generate-nonsystem-dependencies-with-compile", "-MMD", Words(&["--md"])),
    valued("--dependency-output", "-MF", Ours("--mf")),
    flag("--generate-dependency-targets", "-MP", Words(&["--mp"])),
    valued("--dependency-target-name", "-MT", Ours("--mt")),
    flag("--compile", "-compile", Words(&["-c"])),
    flag("--device-c", "-dc", Words(&["-c", "--emit=obj"])),
    flag("--device-w", "-dw", Words(&["-c", "--emit=obj"])),
    flag("--device-link", "-dlink", Words(&["--device-link"])),
    flag("--link", "-link", Nothing(ALWAYS)),
    flag("--lib", "-lib", Refused("make objects with -c and a library of them with `ar rcs`")),
    flag("--run", "-run", Refused("use `cdpc run`")),
    valued("--run-args", "-run-args", Refused("use `cdpc run FILE -- ARGS`")),
    valued("--output-file", "-output-file", Ours("-o")),
    valued("--pre-include", "-include", Ours("--include")),
    flag("--objdir-as-tempdir", "-objtemp", Nothing(ALWAYS)),
    valued("--library", "-library", Library),
    valued("--define-macro", "-define-macro", Ours("-D")),
    valued("--undefine-macro", "-undefine-macro", Ours("-U")),
    valued("--include-path", "-include-path", Ours("-I")),
    valued("--system-include", "-isystem", Ours("--isystem")),
    valued("--library-path", "-library-path", Ours("-L")),
    valued("--output-directory", "-odir", Ours("--output-directory")),
    valued("--compiler-bindir", "-ccbin", Ours("--ccbin")),
    flag("--allow-unsupported-compiler", "-allow-unsupported-compiler", Nothing(ALWAYS)),
    valued("--archiver-binary", "-arbin", Nothing("no libraries are made")),
    valued("--cudart", "-cudart", Nothing("programs hold cdp's own runtime")),
    valued("--cudadevrt", "-cudadevrt", Ours("--cudadevrt")),
    valued("--libdevice-directory", "-ldir", Refused("name the toolkit with --cuda-path")),
    valued("--target-directory", "-target-dir", Refused("name the toolkit with --cuda-path")),
    flag("--use-local-env", "-use-local-env", Nothing(WINDOWS)),
    flag("--force-cl-env-setup", "-force-cl-env-setup", Nothing(WINDOWS)),
    flag("--profile", "-pg", Refused("there is no code for gprof; see `cdpc run --profile`")),
    flag("--debug", "-debug", Words(&["-g"])),
    flag("--device-debug", "-device-debug", Words(&["-G"])),
    flag("--generate-line-info", "-lineinfo", Words(&["--lineinfo"])),
    valued("--optimization-info", "-opt-info", Nothing("only words on the terminal")),
    valued("--optimize", "-optimize", Ours("-O")),
    valued("--Ofast-compile", "-Ofc", Nothing("compiling is fast")),
    valued("--dopt", "-dopt", Nothing(SAME_CODE)),
    flag("--dlink-time-opt", "-dlto", Nothing(EARLY)),
    flag("--lto", "-lto", Nothing(EARLY)),
    flag("--gen-opt-lto", "-gen-opt-lto", Refused(NO_LTO)),
    valued("--ftemplate-backtrace-limit", "-ftemplate-backtrace-limit", Nothing(HOST_CPP)),
    valued("--ftemplate-depth", "-ftemplate-depth", Nothing(HOST_CPP)),
    flag("--no-exceptions", "-noeh", Nothing(HOST_CPP)),
    flag("--shared", "-shared", Words(&["--shared"])),
    valued("--x", "-language", Ours("-x")),
    valued("--std", "-std", Ours("--std")),
    flag("--no-host-device-initializer-list", "-nohdinitlist", Nothing(HOST_CPP)),
    flag("--no-host-device-move-forward", "-nohdmoveforward", Nothing(HOST_CPP)),
    flag("--expt-relaxed-constexpr", "-expt-relaxed-constexpr", Words(RELAXED_CONSTEXPR)),
    flag("--extended-lambda", "-extended-lambda", Words(EXTENDED_LAMBDA)),
    flag("--expt-extended-lambda", "-expt-extended-lambda", Words(EXTENDED_LAMBDA)),
    valued("--machine", "-m", Machine),
    flag("--m32", "-m32", Words(&["--address-size=32"])),
    flag("--m64", "-m64", Words(&["--address-size=64"])),
    valued("--compiler-options", "-Xcompiler", Ours("--xcompiler")),
    valued("--cudafe-options", "-Xcudafe", Nothing("for nvcc's own front end, not in its help")),
    valued("--linker-options", "-Xlinker", Ours("--xlinker")),
    valued("--archive-options", "-Xarchive", Nothing("no libraries are made")),
    valued("--ptxas-options", "-Xptxas", Ours("--xptxas")),
    valued("--nvlink-options", "-Xnvlink", Ours("--xnvlink")),
    valued("--fatbin-options", "-Xfatbin", Nothing("only the size differs, not in nvcc's help")),
    valued("--static-global-template-stub", "-static-global-template-stub", Nothing(HOST_CPP)),
    valued(
        "--device-entity-has-hidden-visibility",
        "-device-entity-has-hidden-visibility",
        Nothing(SAME_CODE),
    ),
    flag("--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", Forward),
    flag("--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", Forward),
    flag("--forward-unknown-opts", "-forward-unknown-opts", Forward),
    flag("--dont-use-profile", "-noprof", Nothing(ALWAYS)),
    flag("--dryrun", "-dryrun", Words(&["--dry-run"])),
    flag("--verbose", "-verbose", Words(&["-v"])),
    valued("--split-compile", "-split-compile", Nothing("modules are compiled in pieces anyway")),
    valued(
        "--split-compile-extended",
        "-split-compile-extended",
        Nothing("modules are compiled in pieces anyway"),
    ),
    flag("--fdevice-syntax-only", "-fdevice-syntax-only", Refused("use `cdpc check`")),
    valued("--fdevice-time-trace", "-fdevice-time-trace", Refused("use --report json")),
    flag("--keep-intermediate", "-keep", Words(&["--keep=."])),
    valued("--keep-dir", "-keep-dir", Ours("--keep")),
    flag("--save-temps", "-save-temps", Words(&["--keep=."])),
    flag("--clean-targets", "-clean", Refused("there is nothing to clean")),
    valued("--time", "-time", Refused("use --report json")),
    valued("--input-drive-prefix", "-idp", Nothing(WINDOWS)),
    valued("--dependency-drive-prefix", "-ddp", Nothing(WINDOWS)),
    valued("--drive-prefix", "-dp", Nothing(WINDOWS)),
    flag("--no-align-double", "-no-align-double", Nothing("only for 32-bit hosts")),
    flag("--no-device-link", "-nodlink", Refused("stop at the object with -c")),
    valued("--gpu-architecture", "-arch", Arch),
    valued("--gpu-code", "-code", Code),
    valued("--generate-code", "-gencode", Gencode),
    valued("--relocatable-device-code", "-rdc", Ours("--relocatable-device-code")),
    valued("--entries", "-e", Refused("all kernels are compiled")),
    flag("--extra-device-vectorization", "-extra-device-vectorization", Nothing(SAME_CODE)),
    flag("--keep-device-functions", "-keep-device-functions", Nothing(SAME_CODE)),
    flag("--source-in-ptx", "-src-in-ptx", Nothing("only comments")),
    flag("--restrict", "-restrict", Nothing("a promise that need not be used")),
    flag("--Wreorder", "-Wreorder", Nothing(HOST_CPP)),
    flag("--Wdefault-stream-launch", "-Wdefault-stream-launch", Nothing("no such warning")),
    flag("--Wmissing-launch-bounds", "-Wmissing-launch-bounds", Nothing("no such warning")),
    flag("--Wext-lambda-captures-this", "-Wext-lambda-captures-this", Nothing(HOST_CPP)),
    flag(
        "--Wno-deprecated-declarations",
        "-Wno-deprecated-declarations",
        Nothing("no such warning"),
    ),
    flag("--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", Nothing("no such warning")),
    valued("--Werror", "-Werror", Werror),
    flag(
        "--extensible-whole-program",
        "-ewp",
        Refused("code is relocatable or a whole program, as the build needs"),
    ),
    flag("--no-compress", "-no-compress", Nothing("only the size differs")),
    valued("--qpp-config", "-qpp-config", Nothing("for QNX")),
    flag("--compile-as-tools-patch", "-astoolspatch", Refused("use nvcc")),
    flag("--list-gpu-code", "-code-ls", Refused("use `cdpc doctor`")),
    flag("--list-gpu-arch", "-arch-ls", Refused("use `cdpc doctor`")),
    flag("--display-error-number", "-err-no", Nothing(ALWAYS)),
    flag("--no-display-error-number", "-no-err-no", Nothing("codes are always shown")),
    valued("--diag-error", "-diag-error", Ours("--diag-error")),
    valued("--diag-suppress", "-diag-suppress", Ours("--diag-suppress")),
    valued("--diag-warn", "-diag-warn", Ours("--diag-warn")),
    valued("--host-linker-script", "-hls", Nothing("none is needed")),
    flag("--augment-host-linker-script", "-aug-hls", Nothing("none is needed")),
    flag("--relocatable-link", "-r", Refused("link all objects at once with `cdpc link`")),
    valued("--brief-diagnostics", "-brief-diag", Nothing("see --message-format short")),
    valued("--jump-table-density", "-jtd", Nothing(SAME_CODE)),
    flag("--relocatable-ptx", "-reloc-ptx", Nothing(ALWAYS)),
    valued("--device-stack-protector", "-device-stack-protector", Nothing("no such code is made")),
    valued("--compress-mode", "-compress-mode", Nothing("only the size differs")),
    valued("--frandom-seed", "-frandom-seed", Nothing("outputs are the same bytes anyway")),
    valued("--sanitize", "-sanitize", Refused("`cdpc run` checks every access on the CPU device")),
    flag("--jobserver", "-jobserver", Nothing("see --threads")),
    flag("--resource-usage", "-res-usage", Words(&["--resource-usage"])),
    flag("--use_fast_math", "-use_fast_math", Words(&["--use-fast-math"])),
    valued("--maxrregcount", "-maxrregcount", Ours("--maxrregcount")),
    valued("--ftz", "-ftz", Ours("--ftz")),
    valued("--prec-div", "-prec-div", Ours("--prec-div")),
    valued("--prec-sqrt", "-prec-sqrt", Ours("--prec-sqrt")),
    valued("--fmad", "-fmad", Ours("--fmad")),
    valued("--default-stream", "-default-stream", Ours("--default-stream")),
    flag("--disable-warnings", "-disable-warnings", Words(&["-w"])),
    flag("--help", "-help", Words(&["--help"])),
    valued("--options-file", "-optf", OptionsFile),
];

/// Libraries that programs of ours have anyway.
const KNOWN_LIBRARIES: &[&str] = &["cudart", "cudart_static", "cuda", "m", "dl"];
/// Options of gcc whose value may follow without a space.
const JOINED: &[(&str, &str)] = &[
    ("-flaunch-opt=", "--flaunch-opt"),
    ("-MF", "--mf"),
    ("-MT", "--mt"),
    ("-isystem", "--isystem"),
];
/// What nvcc's `-Werror` can be given.
const WERROR_KINDS: &[&str] = &[
    "all-warnings",
    "cross-execution-space-call",
    "default-stream-launch",
    "deprecated-declarations",
    "ext-lambda-captures-this",
    "missing-launch-bounds",
    "reorder",
];
/// How deep files of options may name others.
const MAX_FILES: usize = 16;

/// Turns nvcc's spellings into ours. Words after `--` are left alone.
///
/// # Errors
/// A sentence about an option that cannot be obeyed.
pub fn normalise(args: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, String> {
    let rest: Vec<OsString> = args.into_iter().collect();
    let forwards = rest.iter().any(|word| row_of(word).is_some_and(|row| row.means == Forward));
    let mut words = Remaining { rest, files: 0, forwards };
    words.rest.reverse();
    let mut out = Line::default();
    while let Some(arg) = words.rest.pop() {
        if arg == "--" {
            out.finish();
            out.words.push(arg);
            out.words.extend(words.rest.into_iter().rev());
            return Ok(out.words);
        }
        word(arg, &mut words, &mut out)?;
    }
    out.finish();
    Ok(out.words)
}

/// What is still to be read, the next word last.
struct Remaining {
    rest: Vec<OsString>,
    files: usize,
    /// Options of the host compiler stand among the others.
    forwards: bool,
}

#[derive(Default)]
struct Line {
    words: Vec<OsString>,
    /// Of `-arch`, and of `-code`, which decides if it names machine code.
    archs: Vec<OsString>,
    code: Vec<OsString>,
}

impl Line {
    fn option(&mut self, name: &str, value: &OsStr) {
        let mut word = OsString::from(name);
        // A long option has a sign between, since its value may be empty or look like an option.
        if name.starts_with("--") {
            word.push("=");
        }
        word.push(value);
        self.words.push(word);
    }

    fn library(&mut self, name: &OsStr) {
        match name.to_str() {
            Some("cudadevrt") => self.words.push("--cudadevrt=always".into()),
            Some(known) if is_cudas_library(known) => {}
            _ => self.option("-l", name),
        }
    }

    fn finish(&mut self) {
        let archs = std::mem::take(&mut self.archs);
        let code = std::mem::take(&mut self.code);
        let real = |name: &OsString| OsStrExt::starts_with(name.as_os_str(), "sm_");
        let chosen = if code.iter().any(real) { code } else { archs };
        for arch in chosen {
            self.option("--arch", &arch);
        }
    }
}

/// Whether a program of ours has a library without asking, or in a way of its own.
fn is_cudas_library(name: &str) -> bool {
    name == "cudadevrt" || KNOWN_LIBRARIES.contains(&name)
}

/// Whether a word is an option of the host compiler and none of ours.
fn is_of_host(word: &str) -> bool {
    let ours = JOINED.iter().any(|(start, _)| word.starts_with(start));
    let warning = word.strip_prefix("-W").filter(|name| !name.is_empty());
    let is_their_warning = warning.is_some_and(|name| {
        let name = name.trim_start_matches("no-").trim_start_matches("error=");
        !["all", "extra", "error"].contains(&name) && lint(name).is_none()
    });
    let starts = ["-f", "-m", "-pedantic"];
    is_their_warning || !ours && starts.iter().any(|start| word.starts_with(start))
}

/// Where an option of gcc's goes that nvcc does not take either, to `compiler` or `linker`, and what of it goes there.
/// With `forwards` that is every option that is none of ours.
fn elsewhere(word: &str, forwards: bool) -> Option<(&'static str, &str)> {
    if let Some(rest) = word.strip_prefix("-Wl,") {
        return Some(("linker", rest));
    }
    let of_gcc =
        ["-fPIC", "-fpic", "-fPIE", "-fopenmp", "-pthread", "-march=", "-mtune=", "-mavx", "-fno-"];
    let is_theirs = of_gcc.iter().any(|start| word.starts_with(start));
    (is_theirs || forwards && is_of_host(word)).then_some(("compiler", word))
}

/// Whether a word may name a folder: it is no option and no file to compile or link.
fn may_be_folder(word: &OsStr) -> bool {
    const FILES: &[&str] = &[
        "cu", "cdp", "c", "cc", "cpp", "cxx", "ll", "bc", "ptx", "o", "obj", "a", "so", "cubin",
        "fatbin",
    ];
    let extension = Path::new(word).extension();
    let is_file = extension.is_some_and(|name| FILES.iter().any(|file| name == *file));
    !OsStrExt::starts_with(word, "-") && !is_file
}

fn row_of(name: &OsStr) -> Option<&'static Row> {
    let name = name.to_str()?;
    NVCC.iter().find(|row| row.short == name || row.long == name)
}

fn word(arg: OsString, words: &mut Remaining, out: &mut Line) -> Result<(), String> {
    let text = arg.to_str().unwrap_or_default();
    // Not nvcc's: `cdpc run` has one of this name.
    if text == "--profile" && out.words.get(1).is_some_and(|verb| verb == "run") {
        out.words.push(arg);
        return Ok(());
    }
    // Ours names a folder, nvcc's has none.
    if text == "--keep" && !words.rest.last().is_some_and(|next| may_be_folder(next)) {
        out.words.push("--keep=.".into());
        return Ok(());
    }
    if let Some(name) = text.strip_prefix("-l").filter(|name| is_cudas_library(name)) {
        out.library(OsStr::new(name));
        return Ok(());
    }
    let (name, value) = match OsStrExt::split_once(arg.as_os_str(), "=") {
        Some((name, value)) => (name, Some(value)),
        None => (arg.as_os_str(), None),
    };
    let row = if name == "-l" { row_of(OsStr::new("--library")) } else { row_of(name) };
    let Some(row) = row else {
        if let Some((option, value)) = elsewhere(text, words.forwards) {
            if !words.forwards {
                let cure = format!("-X{option}={value}");
                return Err(format!("`{text}` belongs to the host compiler\n  help: {cure}"));
            }
            out.option(&format!("--x{option}"), OsStr::new(value));
            return Ok(());
        }
        for (option, ours) in JOINED {
            if let Some(value) = OsStrExt::strip_prefix(arg.as_os_str(), option) {
                out.option(ours, value);
                return Ok(());
            }
        }
        out.words.push(arg);
        return Ok(());
    };
    let name = name.to_string_lossy().into_owned();
    let mut next = || match value {
        Some(value) => Ok(value.to_owned()),
        None => words.rest.pop().ok_or_else(|| format!("option `{name}` needs a value")),
    };
    match row.means {
        Nothing(_) if row.value => drop(next()?),
        Nothing(_) | Forward => {}
        Words(ours) => out.words.extend(ours.iter().map(OsString::from)),
        Ours(ours) => {
            let value = next()?;
            out.option(ours, &value);
        }
        Library => out.library(&next()?),
        Refused(cure) => return Err(format!("`{name}` of nvcc is not to be had\n  help: {cure}")),
        Arch => out.archs.push(next()?),
        Code => out.code.extend(list(&next()?)),
        Gencode => out.archs.extend(gencode(&next()?)),
        Machine => {
            let value = next()?;
            out.option("--address-size", &value);
        }
        Werror => werror(value, words, out),
        OptionsFile => {
            let file = next()?;
            read_options(&file, words)?;
        }
    }
    Ok(())
}

/// As gcc takes it, with a name or without, or with nvcc's kinds, between commas.
fn werror(value: Option<&OsStr>, words: &mut Remaining, out: &mut Line) {
    let kinds = |word: &OsStr| word.to_string_lossy().into_owned();
    let known = |word: &OsStr| kinds(word).split(',').all(|kind| WERROR_KINDS.contains(&kind));
    let next_is_kind = words.rest.last().is_some_and(|word| known(word));
    let kind = match value {
        Some(value) => Some(value.to_owned()),
        None if next_is_kind => words.rest.pop(),
        None => None,
    };
    match kind {
        None => out.words.push("-Werror".into()),
        Some(kind) if known(&kind) => {
            if kinds(&kind).split(',').any(|kind| kind == "all-warnings") {
                out.words.push("-Werror".into());
            }
        }
        Some(name) => out.option("-Werror=", &name),
    }
}

/// Puts the words of a file in front of what is still to be read.
fn read_options(file: &OsStr, words: &mut Remaining) -> Result<(), String> {
    let shown = file.to_string_lossy();
    words.files += 1;
    if words.files > MAX_FILES {
        return Err(format!("more than {MAX_FILES} files of options, the last is `{shown}`"));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read the options in `{shown}`: {error}"))?;
    words.rest.extend(split(&text).into_iter().rev().map(OsString::from));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let words = normalise(line.split_whitespace().map(OsString::from)).unwrap();
        words.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn every_option_of_the_table_is_taken() {
        for row in NVCC {
            for name in [row.long, row.short] {
                let forms = match row.value {
                    true => vec![format!("{name}=1"), format!("{name} 1")],
                    false => vec![name.to_string()],
                };
                for form in forms {
                    let made = normalise(form.split(' ').map(OsString::from));
                    let read = !matches!(row.means, Refused(_) | OptionsFile);
                    assert_eq!(made.is_ok(), read, "{form}: {made:?}");
                }
            }
        }
    }

    #[test]
    fn architectures() {
        assert_eq!(words("-arch=compute_80 -code=sm_86,sm_90 a.cu").len(), 3);
        assert_eq!(words("-arch=compute_80 -code=sm_86"), ["--arch=sm_86"]);
        assert_eq!(words("-arch=sm_80 -code=compute_80"), ["--arch=sm_80"]);
        let both = words(
            "-gencode arch=compute_80,code=[sm_80,compute_80] -gencode=arch=compute_90,code=sm_90",
        );
        assert_eq!(both, ["--arch=sm_80", "--arch=sm_90"]);
    }

    #[test]
    fn unknown_options_go_to_the_host_compiler_when_asked() {
        let line = "cdpc build -forward-unknown-to-host-compiler -march=native -fno-strict-aliasing -Wno-unused-variable \
                    -Wno-unknown-pragmas -flaunch-opt=off -Wl,--as-needed a.cu";
        let made =
            normalise(line.split(' ').filter(|word| !word.is_empty()).map(OsString::from)).unwrap();
        let made: Vec<_> = made.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            made[2..],
            [
                "--xcompiler=-march=native",
                "--xcompiler=-fno-strict-aliasing",
                "-Wno-unused-variable",
                "--xcompiler=-Wno-unknown-pragmas",
                "--flaunch-opt=off",
                "--xlinker=--as-needed",
                "a.cu"
            ]
        );
    }

    #[test]
    fn libraries() {
        for form in ["-lcudadevrt", "-l cudadevrt", "-l=cudadevrt", "--library cudadevrt"] {
            assert_eq!(words(form), ["--cudadevrt=always"], "{form}");
        }
        assert_eq!(words("--library=cudart -lm -l dl -lcuda"), Vec::<String>::new());
        assert_eq!(words("-lmine -l theirs --library=ours"), ["-lmine", "-ltheirs", "-lours"]);
    }

    #[test]
    fn warnings_as_errors() {
        assert_eq!(words("-Werror a.cu"), ["-Werror", "a.cu"]);
        assert_eq!(words("-Werror all-warnings a.cu"), ["-Werror", "a.cu"]);
        assert_eq!(words("-Werror=reorder a.cu"), ["a.cu"]);
        assert_eq!(words("-Werror reorder,deprecated-declarations a.cu"), ["a.cu"]);
        assert_eq!(words("-Werror reorder,all-warnings a.cu"), ["-Werror", "a.cu"]);
        assert_eq!(words("-Werror=unused-variable"), ["-Werror=unused-variable"]);
    }

    #[test]
    fn files_of_options() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("options");
        std::fs::write(&file, "-DA=\"x y\" -I 'a b'\n -arch=sm_80\\ ").unwrap();
        let words = normalise(["-optf".into(), file.into_os_string(), "z.cu".into()]).unwrap();
        assert_eq!(words[..4], ["-DA=x y", "-I", "a b", "z.cu"]);
        assert!(normalise(["-optf".into(), "/nonexistent".into()]).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn words_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let odd = OsStr::from_bytes(b"-MF\xff=\xfe.d").to_owned();
        let made = normalise([odd, "--".into(), "-arch=x".into()]).unwrap();
        assert_eq!(made[0].as_bytes(), b"--mf=\xff=\xfe.d");
        assert_eq!(made[1..], ["--", "-arch=x"]);
    }
}
