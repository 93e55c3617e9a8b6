//! What the commands share: options from arguments, inputs from paths, messages to the terminal.

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use cdp::Format;
use cdp::MacroOption;
use cdp::{
    Arch, CdpVersion, CompileOptions, Compiler, Error, Failure, Input, InputKind, LaunchRemark,
    Report, SourceInput, render_reports,
};
use cdp::{HostLinkOptions, SearchOptions};
use cdp_diagnostics::Level;
use cdp_diagnostics::codes::{Code, lint};

use crate::args::{Color, HostLink, MessageFormat, Source};
use crate::output::print;
use crate::{EXIT_PROGRAM, EXIT_TOOL, EXIT_USAGE, memory};

/// A message about the command line; the exit code is [`EXIT_USAGE`].
pub struct Usage(pub String);

/// Whether colours are wanted: <https://no-color.org> and CLICOLOR as most programs read them.
fn colors(var: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> bool {
    let set = |name: &str| var(name).is_some_and(|value| !value.is_empty() && value != "0");
    if var("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return false;
    }
    if set("CLICOLOR_FORCE") {
        return true;
    }
    let dumb = var("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !dumb && var("CLICOLOR").is_none_or(|value| value != "0")
}

/// Whether the terminal's characters are UTF-8, as its locale says; otherwise frames are ASCII.
fn unicode(var: impl Fn(&str) -> Option<OsString>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let locale = locale.filter_map(var).find(|value| !value.is_empty());
    let locale = locale.unwrap_or_default().to_string_lossy().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// How messages are shown.
#[derive(Clone, Copy)]
pub struct Messages {
    pub format: Format,
    /// Nothing else is written to standard output, so that JSON may go there.
    stdout_is_free: bool,
    /// Frames of source lines may have the characters for it.
    unicode: bool,
}

impl Messages {
    pub fn new(source: &Source) -> Messages {
        let color = match source.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => colors(|name| std::env::var_os(name), std::io::stderr().is_terminal()),
        };
        let format = match source.message_format {
            MessageFormat::Human if color => Format::Colored,
            MessageFormat::Human => Format::Human,
            MessageFormat::Short => Format::Short,
            MessageFormat::Json => Format::Json,
        };
        let unicode = matches!(format, Format::Short | Format::Json)
            || unicode(|name| std::env::var_os(name));
        memory::set_json(format == Format::Json);
        Messages { format, stdout_is_free: false, unicode }
    }

    /// For commands without options about messages.
    pub fn plain() -> Messages {
        Messages { format: Format::Human, stdout_is_free: false, unicode: true }
    }

    /// The same for a command that may write nothing but messages to standard output.
    pub fn with_stdout(self, is_free: bool) -> Messages {
        Messages { stdout_is_free: is_free, ..self }
    }

    /// Messages go to standard error; JSON to standard output, unless that has another use.
    pub fn show(&self, reports: &[Report]) {
        let text = render_reports(reports, self.format);
        self.write(&if self.unicode { text } else { in_ascii(&text) });
    }

    /// A message that cannot be written cannot be told either.
    fn write(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        cdp_toolchain::go_on();
        crate::progress::clear();
        if self.format == Format::Json && self.stdout_is_free {
            if let Err(error) = print(text.as_bytes()) {
                let _ = writeln!(std::io::stderr(), "error: {error}");
                std::process::exit(EXIT_TOOL);
            }
        } else {
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    /// Remarks go where diagnostics go.
    pub fn remarks(&self, remarks: &[LaunchRemark]) {
        for remark in remarks {
            if self.format == Format::Json {
                let place = remark.place.as_ref().map(|place| {
                    serde_json::json!({
                        "file": place.file, "line": place.line, "column": place.column,
                    })
                });
                let object = serde_json::json!({
                    "severity": "remark", "place": place, "parent": remark.parent,
                    "child": remark.child, "outcome": remark.outcome.name(),
                    "message": remark.message, "help": remark.advice,
                });
                self.write(&format!("{object}\n"));
            } else {
                self.write(&format!("{remark}\n"));
            }
        }
    }

    /// A message that belongs to no place in a source.
    pub fn error(&self, message: &str) {
        self.say("error", message);
    }

    fn say(&self, severity: &str, message: &str) {
        self.write(&if self.format == Format::Json {
            format!("{}\n", serde_json::json!({"severity": severity, "message": message}))
        } else {
            format!("{severity}: {message}\n")
        });
    }

    /// Writes what was asked for to standard output; the exit code.
    pub fn print(&self, text: &str) -> i32 {
        match print(text.as_bytes()) {
            Ok(()) => 0,
            Err(error) => {
                self.error(&error.to_string());
                exit_code(&error)
            }
        }
    }

    /// Shows a failure; the exit code that goes with it.
    pub fn failure(&self, failure: Failure) -> i32 {
        match failure {
            Failure::Program(reports) => {
                self.show(&reports);
                EXIT_PROGRAM
            }
            Failure::Error { error, reports } => {
                self.show(&reports);
                self.error(&error.to_string());
                exit_code(&error)
            }
        }
    }

    pub fn usage(&self, usage: Usage) -> i32 {
        self.error(&usage.0);
        EXIT_USAGE
    }
}

/// The frames of source lines as a terminal without UTF-8 can show them.
fn in_ascii(text: &str) -> String {
    let text = text.replace("┌─", "-->");
    let frame = |c: char| match c {
        '─' => '-',
        '│' | '┆' | '·' => '|',
        '┌' | '╭' => ',',
        '└' | '╰' => '`',
        '├' => '|',
        '━' => '=',
        '▼' | '▲' => '^',
        other => other,
    };
    text.chars().map(frame).collect()
}

pub fn exit_code(error: &Error) -> i32 {
    match error {
        Error::Request { .. } | Error::Abi(_) => EXIT_USAGE,
        Error::Input { .. } => EXIT_PROGRAM,
        _ => EXIT_TOOL,
    }
}

/// The compiler with the tools of this machine.
pub fn compiler(source: &Source) -> Result<Compiler, Error> {
    let clang = source.clang.clone();
    Compiler::new(&SearchOptions { clang, ..search(source.cuda_path.as_deref()) })
}

pub fn search(cuda_path: Option<&Path>) -> SearchOptions {
    let mut search = SearchOptions::from_process();
    search.cuda_path = cuda_path.map(Path::to_owned);
    search
}

pub fn compile_options(source: &Source) -> Result<CompileOptions, Usage> {
    let mut options = CompileOptions::default();
    options.archs = archs(&source.arch)?;
    options.memory_bytes = crate::memory::available_bytes();
    set_by_name(source, &mut options)?;
    options.launch_abi = source
        .launch_abi
        .parse()
        .map_err(|error: cdp::AbiError| Usage(format!("{error}\n  help: {}", error.cure())))?;
    if let Some(text) = &source.launch_tuning {
        cdp::set_launch_tuning(&mut options.launch_tuning, text)
            .ok_or_else(|| Usage(format!("no constants of the launch optimiser: `{text}`")))?;
    }
    options.include_dirs = [&source.include_dirs[..], &source.system_dirs].concat();
    options.forced_includes = source.include.clone();
    macros(source, &mut options);
    options.warnings.silent = source.no_warnings;
    warnings(source, &mut options)?;
    lints(source, &mut options)?;
    if let Some(version) = &source.ptx_version {
        let parsed = version.parse();
        options.ptx_version =
            Some(parsed.map_err(|error: cdp::PtxVersionError| Usage(error.to_string()))?);
    }
    options.threads = source.threads;
    options.cxx_standard = source.std.clone();
    options.cache_dir = cache_dir();
    options.source_date_epoch =
        std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    Ok(options)
}

/// The options that the library sets by their names too.
fn set_by_name(source: &Source, options: &mut CompileOptions) -> Result<(), Usage> {
    let mut set = |name: &str, value: &str| {
        options.set(name, value).map_err(|error| Usage(error.to_string()))
    };
    set("address-size", &source.address_size.to_string())?;
    let cudadevrt = match source.cudadevrt.as_str() {
        // nvcc's words stand beside ours.
        "static" => "always",
        "none" => "never",
        ours => ours,
    };
    set("cudadevrt", cudadevrt)?;
    if let Some(version) = source.cdp {
        set("cdp", &version.to_string())?;
    }
    if let Some(level) = source.opt_level {
        set("opt-level", &level.to_string())?;
    }
    if let Some(level) = &source.launch_opt {
        set("launch-opt", level)?;
    }
    if source.watch_host {
        set("watch-host", "true")?;
    }
    if let Some(stream) = &source.default_stream {
        set("default-stream", stream)?;
    }
    if source.use_fast_math {
        set("use-fast-math", "true")?;
    }
    let properties = [
        ("fmad", source.fmad),
        ("ftz", source.ftz),
        ("prec-div", source.prec_div),
        ("prec-sqrt", source.prec_sqrt),
    ];
    for (name, value) in properties {
        if let Some(value) = value {
            set(name, &value.to_string())?;
        }
    }
    Ok(())
}

/// Macros of the command line, and nvcc's way to ask for CDP1 by one.
fn macros(source: &Source, options: &mut CompileOptions) {
    let defines = source.defines.iter().filter(|word| !is_lint_name(word));
    options.macros = defines.cloned().map(MacroOption::Define).collect();
    options.macros.extend(source.undefines.iter().cloned().map(MacroOption::Undefine));
    if options.macros.contains(&MacroOption::Define("CUDA_FORCE_CDP1_IF_SUPPORTED".into()))
        && options.cdp.is_none()
        && options.archs.iter().all(|arch| arch.number() < 90)
    {
        options.cdp = Some(CdpVersion::Cdp1);
    }
}

/// Lints that are allowed or denied by name.
fn lints(source: &Source, options: &mut CompileOptions) -> Result<(), Usage> {
    let unknown =
        |name: String| Usage(format!("there is no lint `{name}`; `cdpc explain` lists all"));
    for name in &source.allow {
        options.warnings.set(name, Level::Allow).map_err(unknown)?;
    }
    for name in source.deny.iter().chain(source.defines.iter().filter(|word| is_lint_name(word))) {
        options.warnings.set(name, Level::Deny).map_err(unknown)?;
    }
    Ok(())
}

/// What `-Xcompiler` gives to the host's compiler: nvcc's shell takes its value apart at spaces too.
pub fn host_words(args: &HostLink) -> Vec<String> {
    args.xcompiler.iter().flat_map(|word| word.split_whitespace()).map(str::to_owned).collect()
}

/// The libraries of `-l`: those that hold device code as inputs, and the names of the others, which are the host
/// linker's alone. The device runtime has options of its own.
pub fn libraries(args: &HostLink) -> (Vec<Input>, Vec<String>) {
    let (mut inputs, mut of_host) = (Vec::new(), Vec::new());
    for name in &args.libraries {
        let is_cudas = name.starts_with("cudart") || name == "cudadevrt";
        match (!is_cudas).then(|| Input::library(name, &args.library_dirs)).flatten() {
            Some(library) => inputs.push(library),
            None => of_host.push(name.clone()),
        }
    }
    (inputs, of_host)
}

/// What the host's linker is told; `libraries` are those that are its alone.
pub fn host_link(args: &HostLink, libraries: &[String]) -> HostLinkOptions {
    let linker = args.xlinker.iter().flat_map(|word| ["-Xlinker".to_owned(), word.clone()]);
    let compiler = host_words(args).into_iter();
    HostLinkOptions {
        compiler: args.ccbin.as_deref().map(host_compiler),
        library_dirs: args.library_dirs.clone(),
        libraries: libraries.to_vec(),
        extra_args: compiler.chain(linker).collect(),
        ..HostLinkOptions::default()
    }
}

/// A compiler, or the one in a folder.
fn host_compiler(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let names = ["gcc", "cc", "clang"].map(|name| path.join(name));
    names.iter().find(|path| path.is_file()).unwrap_or(&names[0]).clone()
}

/// `-W` and `-diag-...`.
fn warnings(source: &Source, options: &mut CompileOptions) -> Result<(), Usage> {
    let unknown =
        |name: String| Usage(format!("there is no warning `{name}`; `cdpc explain` lists all"));
    for word in &source.warnings {
        let everything = matches!(word.as_str(), "pedantic" | "everything");
        let word = if everything { "extra" } else { word.as_str() };
        options.warnings.apply(word).map_err(unknown)?;
    }
    let groups =
        [(&source.diag_warn, ""), (&source.diag_error, "error="), (&source.diag_suppress, "no-")];
    for (list, prefix) in groups {
        for word in list {
            if let Some(name) = diagnostic_name(word).map_err(unknown)? {
                options.warnings.apply(&format!("{prefix}{name}")).map_err(unknown)?;
            }
        }
    }
    Ok(())
}

/// nvcc's numbers of warnings that we have too, by our names.
const NVCC_NUMBERS: &[(u32, &str)] = &[
    (69, "constant-conversion"),
    (177, "unused-variable"),
    (186, "tautological-compare"),
    (187, "parentheses"),
    (550, "unused-variable"),
    (940, "return-type"),
];

/// The warning with a code, a name or a number of nvcc's; `None` for a number that is none of ours.
fn diagnostic_name(word: &str) -> Result<Option<String>, String> {
    let known = |name: &str| lint(name).map(|_| name.to_owned());
    if let Ok(number) = word.parse::<u32>() {
        let same = NVCC_NUMBERS.iter().find(|(known, _)| *known == number);
        return Ok(same.and_then(|(_, name)| known(name)));
    }
    let by_code = Code::parse(word).and_then(|code| code.info().name).map(str::to_owned);
    by_code.or_else(|| known(word)).map(Some).ok_or_else(|| word.to_owned())
}

/// `CDP_CACHE_DIR`, or the system's place for caches; an empty `CDP_CACHE_DIR` says that nothing is kept.
pub fn cache_dir() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("CDP_CACHE_DIR") {
        return (!folder.is_empty()).then(|| folder.into());
    }
    let given = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")));
    caches.map(|caches| caches.join("cdp"))
}

/// `-D launch-block` denies a lint: no macro has such a name.
fn is_lint_name(word: &str) -> bool {
    word.contains('-') && lint(word).is_some()
}

/// This machine's GPU; as with nvcc, the default and a warning without one.
fn native() -> Arch {
    let found = cdp_runtime::gpu::compute_capability(0).ok().and_then(Arch::from_number);
    found.unwrap_or_else(|| {
        let default = Arch::SM_90;
        eprintln!("warning: there is no GPU for --arch native, so that {default} is taken");
        default
    })
}

fn archs(names: &[String]) -> Result<Vec<Arch>, Usage> {
    let mut archs = Vec::new();
    for name in names {
        if name == "all" || name == "all-major" {
            let wanted = |arch: &Arch| {
                let number = arch.number();
                number == 75 || number > 75 && (name == "all" || number.is_multiple_of(10))
            };
            archs.extend(Arch::all_plain().filter(wanted));
            continue;
        }
        if name == "native" {
            archs.push(native());
            continue;
        }
        let arch = Arch::parse(name).map_err(|error| Usage(error.to_string()))?;
        if !archs.contains(&arch) {
            archs.push(arch);
        }
    }
    Ok(archs)
}

/// Standard input need not end; a library of objects may be large.
const MAX_STDIN_BYTES: u64 = 256 << 20;

/// Reads inputs; `-` is standard input, which can be read once.
pub struct Reader<'a> {
    source: &'a Source,
    /// What every input is, if that was said.
    kind: Option<InputKind>,
    stdin_was_read: bool,
}

impl<'a> Reader<'a> {
    /// Reads inputs as `-x` says, else as they are named.
    pub fn new(source: &'a Source) -> Reader<'a> {
        Reader { source, kind: source.language.map(InputKind::from), stdin_was_read: false }
    }

    /// Inputs that nothing else names are of this kind.
    pub fn or(self, kind: InputKind) -> Reader<'a> {
        Reader { kind: self.kind.or(Some(kind)), ..self }
    }

    /// Reads an input. A source is only named, unless it comes from standard input.
    pub fn read(&mut self, path: &Path) -> Result<Input, Failure> {
        if path == Path::new("-") {
            return self.read_stdin();
        }
        let kind = self.kind.or_else(|| InputKind::of(path));
        if let Some(source) = kind.and_then(|kind| Input::source_file(kind, path)) {
            return Ok(source);
        }
        let failed = |source| Error::Io { action: "read".into(), path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        Ok(match kind.unwrap_or_else(|| InputKind::sniff(&bytes)) {
            InputKind::Source => Input::Source(SourceInput::File(path.to_owned())),
            kind => of_bytes(kind, path, bytes),
        })
    }

    fn read_stdin(&mut self) -> Result<Input, Failure> {
        if std::mem::replace(&mut self.stdin_was_read, true) {
            let message = "standard input (`-`) can be read only once".into();
            return Err(Error::Request { message, cure: None }.into());
        }
        let name = self.source.stdin_filename.as_deref();
        let path = name.unwrap_or(Path::new("<stdin>"));
        let failed = |source| Error::Io { action: "read".into(), path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let mut stdin = std::io::stdin().take(MAX_STDIN_BYTES + 1);
        stdin.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_STDIN_BYTES {
            let limit = format!("it has more than {} MB", MAX_STDIN_BYTES >> 20);
            return Err(failed(std::io::Error::other(limit)).into());
        }
        let named = name.and_then(InputKind::of);
        let kind = self.kind.or(named).unwrap_or_else(|| InputKind::sniff(&bytes));
        Ok(of_bytes(kind, path, bytes))
    }
}

fn of_bytes(kind: InputKind, path: &Path, bytes: Vec<u8>) -> Input {
    let read = |bytes: Vec<u8>| SourceInput::Read { path: path.to_owned(), bytes: bytes.into() };
    match kind {
        InputKind::Source => return Input::Source(read(bytes)),
        InputKind::Cuda | InputKind::Host => return Input::Cuda(read(bytes)),
        _ => {}
    }
    if kind == InputKind::Llvm {
        // LLVM is not built for damaged bitcode; the guard reports its crash as an error of the input.
        cdp_llvm::catch_crashes();
    }
    Input::Bytes(kind, path.display().to_string(), bytes)
}
