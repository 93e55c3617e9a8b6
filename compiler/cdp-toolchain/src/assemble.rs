//! PTX text to a relocatable device object or a whole program, through ptxas.

use std::ffi::OsString;
use std::path::Path;

use cdp_ir::OptLevel;

use crate::arch::{AddressSize, Arch, ToolVersion};
use crate::cubin::Cubin;
use crate::error::ToolError;
use crate::explain::FailureKind;
use crate::job::Job;
use crate::link::DeviceObject;
use crate::room;
use crate::search::{Toolchain, Toolkit};
use crate::tool::Tool;

/// How to assemble.
#[derive(Clone, Debug)]
pub struct AssembleOptions {
    /// The architecture to make code for.
    pub arch: Arch,
    /// The PTX's `.address_size`.
    pub address_size: AddressSize,
    /// Optimisation level; the highest is ptxas's default.
    pub opt_level: OptLevel,
    /// `-maxrregcount`: most registers a thread may have.
    pub max_registers: Option<u32>,
    /// `-g`: device debugging; ptxas then does not optimise.
    pub debug: bool,
    /// `-lineinfo`: line tables only.
    pub line_info: bool,
    /// `-c`: a relocatable object. Without it the output is a whole program that cannot be linked.
    pub relocatable: bool,
    /// Further arguments as the user gave them with `-Xptxas`.
    pub extra_args: Vec<String>,
}

impl AssembleOptions {
    /// A relocatable, optimised object without debug information.
    pub fn new(arch: Arch, address_size: AddressSize) -> AssembleOptions {
        AssembleOptions {
            arch,
            address_size,
            opt_level: OptLevel::default(),
            max_registers: None,
            debug: false,
            line_info: false,
            relocatable: true,
            extra_args: Vec::new(),
        }
    }
}

/// What ptxas says of one function with `-v`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionUsage {
    /// Symbol name.
    pub name: String,
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Registers a thread; unknown for device functions, whose line has none.
    pub registers: Option<u32>,
    /// Barriers used.
    pub barriers: u32,
    /// Stack frame, in bytes.
    pub stack_bytes: u32,
    /// Bytes of register contents stored to memory for want of registers.
    pub spill_store_bytes: u32,
    /// Bytes loaded back.
    pub spill_load_bytes: u32,
    /// Static shared memory, in bytes.
    pub shared_bytes: u32,
    /// Constant memory by bank, in bytes.
    pub constant_bytes: Vec<(u32, u32)>,
}

/// A device object and what ptxas said while making it.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The object; its bytes are empty in a dry run.
    pub object: DeviceObject,
    /// Resources by function, in ptxas's order.
    pub usage: Vec<FunctionUsage>,
    /// ptxas's warnings, a line each.
    pub warnings: Vec<String>,
    /// What ptxas says of each function's resources, as it says it.
    pub info: Vec<String>,
}

/// Assembles PTX. `stem` names the intermediate files, `<stem>.<arch>.ptx` and `.o`, and the object in
/// messages; it does not influence the output's bytes.
///
/// # Errors
/// A missing or failing ptxas, see [`ToolError`].
pub fn assemble(
    toolchain: &Toolchain,
    job: &Job,
    stem: &str,
    ptx: &str,
    options: &AssembleOptions,
) -> Result<Assembled, ToolError> {
    let (toolkit, ptxas) = assembler(toolchain, stem, ptx, options)?;
    let name = format!("{stem}.{}", options.arch);
    let input = job.file_name(&name, "ptx");
    let output = job.file_name(&name, if options.relocatable { "o" } else { "cubin" });
    job.write(&input, ptx.as_bytes())?;
    let old = toolkit.version().is_some_and(|version| version.major < 12);
    let run = || job.run(Tool::Ptxas, ptxas, arguments(options, old, &input, &output));
    let said = match run() {
        Err(error) => match room::raised(ptx, error.output()) {
            Some(raised) => {
                job.write(&input, raised.as_bytes())?;
                run()
            }
            None => Err(error),
        },
        said => said,
    };
    let said = said.map_err(|error| with_target(error, stem, ptx, options.arch))?;
    let text = format!("{}\n{}", said.stdout, said.stderr);
    let undefined_symbols = match job.is_dry_run() {
        true => extern_functions(ptx),
        false => Vec::new(),
    };
    let mut object =
        DeviceObject { name: output.clone(), bytes: job.read(&output)?, undefined_symbols };
    if options.debug && options.relocatable && !job.is_dry_run() {
        crate::frame::repair(&mut object.bytes);
        job.write(&object.name, &object.bytes)?;
    }
    if !job.is_dry_run() {
        let read = Cubin::read(&object.bytes);
        let cubin = read.map_err(|source| ToolError::BadObject { name: output, source })?;
        object.undefined_symbols = cubin.undefined_symbols;
    }
    Ok(Assembled {
        object,
        usage: parse_usage(&text),
        warnings: warnings(&text),
        info: info(&text),
    })
}

/// Functions that the driver defines: they are not looked for in other objects.
const DRIVERS: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Whether PTX needs nothing of other objects or of the device runtime. Such code can be assembled without
/// `-c`: ptxas then knows where shared variables lie and which kernels call a function, which relocatable code
/// leaves to the linker.
pub fn is_whole_program(ptx: &str) -> bool {
    let mut declarations = ptx.split(".extern ").skip(1);
    let at_home = declarations.all(|rest| rest.starts_with(".func") || rest.starts_with(".shared"));
    at_home && extern_functions(ptx).iter().all(|name| DRIVERS.contains(&name.as_str()))
}

/// The version of the PTX ISA that a text is in, its `.version`.
pub fn ptx_version(ptx: &str) -> Option<(u16, u16)> {
    let line = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".version"))?;
    let number = line.trim_start().split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The first toolkit whose ptxas serves the target and reads the text.
fn assembler<'t>(
    toolchain: &'t Toolchain,
    stem: &str,
    ptx: &str,
    options: &AssembleOptions,
) -> Result<(&'t Toolkit, &'t Path), ToolError> {
    let first = toolchain.assembler(options.arch, options.address_size)?;
    let Some(version) = ptx_version(ptx) else {
        return Ok((first, toolchain.ptxas_for(options.arch, options.address_size)?));
    };
    let serving = toolchain.toolkits().iter().filter_map(|toolkit| {
        let known = toolkit.version()?;
        let serves = options.arch.assembled_by(known, options.address_size);
        Some((toolkit, toolkit.ptxas.as_deref()?, known)).filter(|_| serves)
    });
    let mut found = Vec::new();
    for (toolkit, ptxas, known) in serving {
        // A release later than the table reads at least what the latest in it does.
        if version <= known.max_ptx_isa() || known > ToolVersion::NEWEST {
            return Ok((toolkit, ptxas));
        }
        found.push((ptxas.to_owned(), known));
    }
    Err(ToolError::PtxTooNew { stem: stem.to_owned(), version, found })
}

/// Says which PTX is too new, and how new.
fn with_target(mut error: ToolError, stem: &str, ptx: &str, arch: Arch) -> ToolError {
    if let ToolError::Failed { explanation: Some(explanation), .. } = &mut error
        && explanation.kind == FailureKind::ArchMismatch
        && let Some(target) = ptx.lines().find_map(|line| line.trim().strip_prefix(".target "))
    {
        let target = target.split([',', ' ', '/']).next().unwrap_or_default();
        explanation.summary =
            format!("the PTX of `{stem}` is for {target} (its .target) and later, not for {arch}");
    }
    error
}

fn info(text: &str) -> Vec<String> {
    let of_info = |line: &&str| line.starts_with("ptxas info") || line.starts_with("    ");
    text.lines().filter(of_info).map(str::to_owned).collect()
}

/// `-v` is always given: ptxas records its options in the object, so a switch for it would make two
/// outputs out of one program.
fn arguments(options: &AssembleOptions, old: bool, input: &str, output: &str) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec![format!("-arch={}", options.arch).into()];
    // ptxas 11.8 wants to be told; later ones have 64 bits only.
    if old {
        args.push(format!("-m{}", options.address_size.bits()).into());
    }
    if options.relocatable {
        args.push("-c".into());
    }
    args.push("-v".into());
    // Code for a debugger is not optimised, whatever the level, which nvcc gives to host code only.
    let level = match options.opt_level {
        _ if options.debug => None,
        OptLevel::O0 => Some("-O0"),
        OptLevel::O1 => Some("-O1"),
        OptLevel::O2 => Some("-O2"),
        OptLevel::O3 => None,
    };
    args.extend(level.map(OsString::from));
    args.extend(
        options.max_registers.map(|count| OsString::from(format!("-maxrregcount={count}"))),
    );
    if options.debug {
        args.push("-g".into());
    }
    if options.line_info {
        args.push("-lineinfo".into());
    }
    args.extend(options.extra_args.iter().map(OsString::from));
    args.extend([input, "-o", output].map(OsString::from));
    args
}

/// The functions that PTX declares `.extern`, for a dry run, which has no object to look in.
fn extern_functions(ptx: &str) -> Vec<String> {
    let mut names = Vec::new();
    for declaration in ptx.split(".extern .func").skip(1) {
        let mut rest = declaration.trim_start();
        if rest.starts_with('(') {
            rest = rest.split_once(')').map_or("", |(_, after)| after).trim_start();
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_$%".contains(c);
        let name: String = rest.chars().take_while(|c| is_name(*c)).collect();
        if !name.is_empty() {
            names.push(name);
        }
    }
    names
}

fn warnings(text: &str) -> Vec<String> {
    // Code without lines of the source has no such sections, and nothing is wrong with that.
    let is_usual = |line: &str| line.contains("section not found") && line.contains(" .debug_");
    let lines = text
        .lines()
        .filter(|line| line.starts_with("ptxas") && line.contains("warning") && !is_usual(line));
    lines.map(str::to_owned).collect()
}

/// Reads ptxas's `-v` report.
pub fn parse_usage(text: &str) -> Vec<FunctionUsage> {
    let mut all: Vec<FunctionUsage> = Vec::new();
    let mut current: Option<usize> = None;
    for line in text.lines() {
        let line = line.strip_prefix("ptxas info    : ").unwrap_or(line).trim();
        if let Some(rest) = line.strip_prefix("Compiling entry function '") {
            current = Some(entry_for(&mut all, rest.split('\'').next().unwrap_or_default()));
            all[current.unwrap_or_default()].is_kernel = true;
        } else if let Some(name) = line.strip_prefix("Function properties for ") {
            current = Some(entry_for(&mut all, name.trim_matches('\'')));
        } else if let Some(usage) = current.and_then(|index| all.get_mut(index)) {
            read_numbers(usage, line);
        }
    }
    all
}

fn entry_for(all: &mut Vec<FunctionUsage>, name: &str) -> usize {
    if let Some(index) = all.iter().position(|usage| usage.name == name) {
        return index;
    }
    all.push(FunctionUsage { name: name.to_owned(), ..FunctionUsage::default() });
    all.len() - 1
}

/// One line of the report, `8 bytes stack frame, 0 bytes spill stores, ...` or `Used 24 registers, ...`.
fn read_numbers(usage: &mut FunctionUsage, line: &str) {
    for part in line.split(',') {
        let part = part.trim().trim_start_matches("Used ").trim_start_matches("used ");
        let Some((number, what)) = part.split_once(' ') else { continue };
        let Ok(number) = number.parse::<u32>() else { continue };
        match what {
            "registers" => usage.registers = Some(number),
            "barriers" => usage.barriers = number,
            "bytes stack frame" => usage.stack_bytes = number,
            "bytes spill stores" => usage.spill_store_bytes = number,
            "bytes spill loads" => usage.spill_load_bytes = number,
            "bytes smem" => usage.shared_bytes = number,
            _ => {
                let bank = what.strip_prefix("bytes cmem[").and_then(|rest| rest.strip_suffix(']'));
                if let Some(bank) = bank.and_then(|bank| bank.parse().ok()) {
                    usage.constant_bytes.push((bank, number));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_others_complete_is_no_whole_program() {
        let whole = ".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 a,\n)\n;\n\
                     .extern .shared .align 16 .b8 dynamic[];\n.visible .entry k()\n{\n}\n";
        assert!(is_whole_program(whole));
        assert!(is_whole_program(".visible .entry k()\n{\n}\n"));
        for other in [
            ".extern .func helper\n(\n)\n;\n",
            ".extern .func  (.param .b64 func_retval0) cudaGetParameterBufferV2\n(\n)\n;\n",
            ".extern .entry child\n(\n)\n;\n",
            ".extern .global .align 4 .u32 counter;\n",
        ] {
            assert!(!is_whole_program(&format!("{whole}{other}")), "{other}");
        }
    }

    #[test]
    fn reads_the_report_of_ptxas() {
        let text = "ptxas info    : 7 bytes gmem\n\
            ptxas info    : Compiling entry function '_Z5childPi' for 'sm_75'\n\
            ptxas info    : Function properties for _Z5childPi\n    \
            16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 10 registers, used 1 barriers, 128 bytes smem, 377 bytes cmem[0], 8 bytes cmem[2]\n\
            ptxas info    : Compile time = 4.094 ms\n\
            ptxas info    : Function properties for helper\n    \
            8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
        let usage = parse_usage(text);
        assert_eq!(usage.len(), 2);
        let expected = FunctionUsage {
            name: "_Z5childPi".to_owned(),
            is_kernel: true,
            registers: Some(10),
            barriers: 1,
            stack_bytes: 16,
            spill_store_bytes: 8,
            spill_load_bytes: 12,
            shared_bytes: 128,
            constant_bytes: vec![(0, 377), (2, 8)],
        };
        assert_eq!(usage[0], expected);
        assert_eq!(
            (usage[1].is_kernel, usage[1].stack_bytes, usage[1].registers),
            (false, 8, None)
        );
    }

    #[test]
    fn finds_declared_functions_in_text() {
        let ptx = ".extern .func  (.param .b64 func_retval0) cudaGetParameterBuffer\n(\n.param .b64 a,\n.param .b64 b\n);\n\
            .extern .func plain(.param .b32 x);\n.extern .entry other(.param .b32 x);";
        assert_eq!(extern_functions(ptx), ["cudaGetParameterBuffer", "plain"]);
    }
}
