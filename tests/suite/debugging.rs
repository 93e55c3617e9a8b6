//! Debug information in the linked cubin: lines of the source for the machine code, and with `-g -G`
//! functions, parameters and local variables by name and type.
//!
//! Whether a debugger can use it on a GPU is not asked here: `compiler/docs/debugging.md` shows that.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use object::{Object, ObjectSection};

use crate::support::{Outcome, cdpc, compiler, run_limited, trial};

const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The launch is on line 19, in `parent`.
const SOURCE: &str = "\
struct Window {
    int *data;
    unsigned long long length;
};

__global__ void child(struct Window window, int offset)
{
    int index = threadIdx.x + offset;
    if (index < window.length)
        window.data[index] = index * 3;
}

__global__ void parent(int *data, int length, float scale)
{
    struct Window window = { data, length };
    float scaled = length / 2 * scale;
    double halves[2] = { scaled * 0.5, scaled };
    if (threadIdx.x == 0) {
        child<<<1, 32>>>(window, (int)halves[length & 1]);
    }
}

__constant__ int limits[2] = { 3, 4 };

__global__ void tiles(struct Window *windows)
{
    __shared__ int tile[32];
    struct Window *window = windows + blockIdx.x;
    for (int i = 0; i < limits[0]; i++)
        tile[i] = i;
    for (int i = 0; i < limits[1]; i++) {
        int last = tile[threadIdx.x];
        window->data[i] = last;
    }
}
";

pub fn trials() -> Vec<Trial> {
    let no_disassembler = nvdisasm().is_none();
    let tests: Vec<(&str, bool, fn() -> Outcome)> = vec![
        ("lineinfo_names_the_lines", no_disassembler, lineinfo),
        ("device_debug_names_the_lines", no_disassembler, device_debug_lines),
        ("device_debug_describes_variables", false, variables),
        ("blocks_are_scopes", false, blocks),
        ("storage_is_told_by_address_classes", false, address_classes),
        ("frames_name_their_common_entries", false, frames),
        ("the_folder_leaves_no_trace", false, reproducible),
        ("nothing_without_the_options", false, nothing),
        ("the_documents_lines_are_the_programs", no_disassembler, document),
    ];
    tests
        .into_iter()
        .map(|(name, ignored, test)| {
            trial(format!("debugging::{name}"), test).with_ignored_flag(ignored)
        })
        .collect()
}

/// NVIDIA's disassembler, from beside the other tools.
pub fn nvdisasm() -> Option<std::path::PathBuf> {
    let toolkits = compiler().ok()?.toolchain().toolkits();
    let paths = toolkits.iter().map(|kit| kit.root.join("bin/nvdisasm"));
    paths.into_iter().find(|path| path.is_file())
}

/// The linked cubin of the source.
fn cubin(options: &[&str]) -> Result<(tempfile::TempDir, Vec<u8>), Failed> {
    cubin_of(SOURCE, options)
}

fn cubin_of(source: &str, options: &[&str]) -> Result<(tempfile::TempDir, Vec<u8>), Failed> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let write = std::fs::write(folder.path().join("window.cdp"), source);
    write.map_err(|error| error.to_string())?;
    let mut command = cdpc();
    if let Some(kit) = compiler()?.toolchain().toolkits().first() {
        command.env("CUDA_HOME", &kit.root);
    }
    command.current_dir(folder.path()).args(["build", "--emit", "cubin", "window.cdp", "-o"]);
    let output = run_limited(command.arg("window.cubin").args(options), TIME_LIMIT)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let bytes = std::fs::read(folder.path().join("window.cubin"));
    Ok((folder, bytes.map_err(|error| error.to_string())?))
}

/// Lines, and lines of calls with the callee.
type Lines = (Vec<u32>, Vec<(u32, String)>);

fn lines(options: &[&str], kernel: &str) -> Result<Lines, Failed> {
    lines_of(SOURCE, options, kernel)
}

/// The lines of `window.cdp` in the machine code of a function, and those of its calls by callee.
fn lines_of(source: &str, options: &[&str], kernel: &str) -> Result<Lines, Failed> {
    let (folder, _) = cubin_of(source, options)?;
    let mut command = Command::new(nvdisasm().ok_or("no nvdisasm")?);
    command.args(["-g", "-c"]).arg(folder.path().join("window.cubin"));
    let output = run_limited(&mut command, TIME_LIMIT)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let section = format!(".section\t.text.{kernel},");
    let begin = text.find(&section).ok_or_else(|| format!("no `{section}` in:\n{text}"))?;
    let body = &text[begin + section.len()..];
    let body = &body[..body.find("\t.section\t").unwrap_or(body.len())];
    let (mut lines, mut calls) = (Vec::new(), Vec::new());
    for line in body.lines() {
        if let Some((file, number)) =
            line.trim().strip_prefix("//## File \"").and_then(|rest| rest.split_once("\", line "))
        {
            let digits = number.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            if !file.ends_with("window.cdp") {
                return Err(format!("another file: {file}").into());
            }
            lines.push(digits.parse::<u32>().map_err(|error| error.to_string())?);
        } else if let Some((_, callee)) =
            line.split_once("CALL").and_then(|(_, c)| c.split_once("`("))
        {
            let callee = callee.split(')').next().unwrap_or_default().to_owned();
            calls.push((lines.last().copied().unwrap_or(0), callee));
        }
    }
    Ok((lines, calls))
}

/// The launch becomes calls of the device runtime, all of them on the launch's line.
fn launch_is_on_its_line(options: &[&str]) -> Outcome {
    let (_, calls) = lines(options, "_Z6parentPiif")?;
    for wanted in ["GetParameterBuffer", "LaunchDevice"] {
        let found: Vec<_> = calls.iter().filter(|(_, callee)| callee.contains(wanted)).collect();
        if found.is_empty() || found.iter().any(|(line, _)| *line != 19) {
            return Err(format!("{options:?}: {wanted} should be on line 19: {calls:?}").into());
        }
    }
    Ok(())
}

fn has_lines(options: &[&str], kernel: &str, wanted: &[u32], within: [u32; 2]) -> Outcome {
    let (found, _) = lines(options, kernel)?;
    let outside = |line: &u32| *line < within[0] || *line > within[1];
    match wanted.iter().find(|line| !found.contains(line)).or(found.iter().find(|l| outside(l))) {
        Some(line) => Err(format!("{options:?}, {kernel}: line {line} in {found:?}").into()),
        None => Ok(()),
    }
}

fn lineinfo() -> Outcome {
    // Of launches as they are written: a child that its parent's warp runs has its lines there.
    let options = ["--lineinfo", "-flaunch-opt=off"];
    has_lines(&options, "_Z5child6Windowi", &[8, 9, 10], [6, 11])?;
    has_lines(&options, "_Z6parentPiif", &[18, 19], [13, 21])?;
    has_lines(&["--lineinfo", "-flaunch-opt=safe"], "_Z6parentPiif", &[8, 9, 10, 18, 19], [6, 21])?;
    launch_is_on_its_line(&options)
}

fn device_debug_lines() -> Outcome {
    // The last line is that of the closing brace, where the function returns.
    has_lines(&["-g", "-G"], "_Z5child6Windowi", &[8, 9, 10, 11], [6, 11])?;
    has_lines(&["-g", "-G"], "_Z6parentPiif", &[15, 16, 17, 18, 19, 21], [13, 21])?;
    launch_is_on_its_line(&["-g", "-G"])
}

fn variables() -> Outcome {
    let (_, bytes) = cubin(&["-g", "-G"])?;
    let found = Dwarf::read(&bytes)?.variables()?;
    let wanted = [
        "child parameter window: Window",
        "child parameter offset: int",
        "child variable index: int",
        "parent parameter data: int *",
        "parent parameter length: int",
        "parent parameter scale: float",
        "parent variable window: Window",
        "parent variable scaled: float",
        "parent variable halves: double []",
        "Window member data: int *",
        "Window member length: unsigned long long",
        "tiles parameter windows: Window *",
        "tiles variable tile: int []",
        "tiles variable window: Window *",
    ];
    match wanted.iter().find(|line| !found.iter().any(|found| found == *line)) {
        Some(line) => Err(format!("no `{line}` in:\n{}", found.join("\n")).into()),
        None => Ok(()),
    }
}

/// Variables of the same name are told apart by where the program is.
fn blocks() -> Outcome {
    let (_, bytes) = cubin(&["-g", "-G"])?;
    let found = Dwarf::read(&bytes)?.variables()?;
    let count = |wanted: &str| found.iter().filter(|found| *found == wanted).count();
    let loops = count("tiles, block variable i: int");
    let inner = count("tiles, block, block variable last: int");
    if (loops, inner) == (2, 1) {
        return Ok(());
    }
    Err(format!("{loops} times `i`, {inner} times `last` in:\n{}", found.join("\n")).into())
}

/// `DW_AT_address_class`, by which cuda-gdb knows what kind of memory an address is of.
fn address_classes() -> Outcome {
    // `ptxStorageKind` in CUDA's `cudadebugger.h`.
    const CONSTANT: Option<u64> = Some(4);
    const LOCAL: Option<u64> = Some(6);
    const SHARED: Option<u64> = Some(8);
    const GENERIC: Option<u64> = Some(12);
    let (_, bytes) = cubin(&["-g", "-G"])?;
    let entries = Dwarf::read(&bytes)?.entries()?;
    let class = |name: &str| entries.values().find(|entry| entry.name == name)?.class;
    for (name, wanted) in [("limits", CONSTANT), ("halves", LOCAL), ("tile", SHARED)] {
        if class(name) != wanted {
            return Err(format!("{name} is in {:?}, not in {wanted:?}", class(name)).into());
        }
    }
    let mut pointers = entries.values().filter(|entry| entry.tag == 0x0f);
    match pointers.find(|pointer| pointer.class != GENERIC) {
        Some(pointer) => Err(format!("a pointer of class {:?}", pointer.class).into()),
        None => Ok(()),
    }
}

/// Without a frame a debugger finds no local: the frames of the three kernels, which come before those of
/// NVIDIA's library, build on common entries that are there.
fn frames() -> Outcome {
    let (_, bytes) = cubin(&["-g", "-G"])?;
    let file = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
    let section = file.section_by_name(".debug_frame").ok_or("no .debug_frame")?;
    let data = section.data().map_err(|error| error.to_string())?;
    let mut reader = Reader(data, 0);
    let (mut common, mut frames) = (Vec::new(), Vec::new());
    while reader.1 < data.len() {
        let start = reader.1 as u64;
        if reader.number(4)? != 0xffff_ffff {
            return Err(format!("an entry of 32-bit DWARF at {start:#x}").into());
        }
        let length = reader.number(8)? as usize;
        match reader.number(8)? {
            u64::MAX => common.push(start),
            entry => frames.push((start, entry)),
        }
        reader.bytes(length - 8)?;
    }
    match frames.iter().take(3).find(|(_, entry)| !common.contains(entry)) {
        Some((frame, entry)) => Err(format!("{frame:#x} builds on {entry:#x}: {common:x?}").into()),
        None if frames.len() < 3 => Err(format!("only {} frames", frames.len()).into()),
        None => Ok(()),
    }
}

/// The same source makes the same bytes in every folder, debug information included.
fn reproducible() -> Outcome {
    for options in [&["-g", "-G"][..], &["--lineinfo"]] {
        let ((folder, first), (_, second)) = (cubin(options)?, cubin(options)?);
        let name = folder.path().as_os_str().as_encoded_bytes();
        if first != second || first.windows(name.len()).any(|window| window == name) {
            return Err(format!("{options:?}: the folder shows in the cubin").into());
        }
    }
    let (_, bytes) = cubin(&["-g", "-G"])?;
    let entries = Dwarf::read(&bytes)?.entries()?;
    match entries.values().next() {
        Some(unit) if unit.directory.as_deref() == Some(".") => Ok(()),
        unit => Err(format!("the directory is {:?}", unit.map(|unit| &unit.directory)).into()),
    }
}

fn nothing() -> Outcome {
    let (_, bytes) = cubin(&[])?;
    let file = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
    for name in [".debug_line", ".debug_info", ".nv_debug_line_sass"] {
        if file.section_by_name(name).is_some_and(|section| section.size() > 0) {
            return Err(format!("{name} without debug options").into());
        }
    }
    let (_, bytes) = cubin(&["--lineinfo"])?;
    let file = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
    let Some(section) = file.section_by_name(".debug_line") else {
        return Err("no .debug_line".into());
    };
    let data = section.data().map_err(|error| error.to_string())?;
    if data.windows(10).any(|window| window == b"window.cdp") {
        Ok(())
    } else {
        Err("the line table does not name the source".into())
    }
}

/// The program of `debugging.md` has the lines that its transcripts quote, and code on them.
fn document() -> Outcome {
    let page = include_str!("../../compiler/docs/debugging.md");
    let program = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    let program = program.ok_or("no program in debugging.md")?;
    let kernels = ["_Z11fill_window6Windowi", "_Z13launch_windowPiii", "_Z5weighii"];
    let mut known = Vec::new();
    for kernel in kernels {
        known.extend(lines_of(program, &["-g", "-G"], kernel)?.0);
    }
    let mut quoted = 0;
    for line in page.lines() {
        let Some((number, text)) = line.split_once('\t') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        quoted += 1;
        if program.lines().nth(number.wrapping_sub(1)) != Some(text) {
            return Err(format!("line {number} is not `{text}`").into());
        }
        if !known.contains(&(number as u32)) {
            return Err(format!("no code on line {number}: {known:?}").into());
        }
    }
    if quoted >= 10 { Ok(()) } else { Err(format!("only {quoted} lines quoted").into()) }
}

/// As much of DWARF 2 (sections 7.5.3 to 7.5.5) as the one unit of a small program has.
struct Dwarf {
    info: Vec<u8>,
    abbreviations: BTreeMap<u64, Abbreviation>,
}

/// Tag, whether children follow, attributes as name and form.
type Abbreviation = (u64, bool, Vec<(u64, u64)>);

/// An entry: tag, depth, name, offset of the type, address class, compilation directory.
struct Entry {
    tag: u64,
    depth: usize,
    name: String,
    ty: Option<u64>,
    class: Option<u64>,
    directory: Option<String>,
}

/// Length, version, offset of the abbreviations, size of an address.
const UNIT_HEADER_BYTES: usize = 11;

struct Reader<'a>(&'a [u8], usize);

impl Reader<'_> {
    fn bytes(&mut self, count: usize) -> Result<&[u8], Failed> {
        let bytes = self.0.get(self.1..self.1 + count).ok_or("DWARF ends early")?;
        self.1 += count;
        Ok(bytes)
    }

    fn number(&mut self, count: usize) -> Result<u64, Failed> {
        Ok(self.bytes(count)?.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
    }

    fn leb128(&mut self) -> Result<u64, Failed> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.number(1)?;
            value |= (byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
    }

    fn string(&mut self) -> Result<String, Failed> {
        let rest = self.0.get(self.1..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == 0).ok_or("a string without end")?;
        let text = String::from_utf8_lossy(&rest[..length]).into_owned();
        self.1 += length + 1;
        Ok(text)
    }

    /// The value of a form, as a number or a text.
    fn value(&mut self, form: u64) -> Result<(u64, String), Failed> {
        let number = match form {
            0x08 => return Ok((0, self.string()?)),       // string
            0x01 => self.number(8)?,                      // addr
            0x0b | 0x0c | 0x11 => self.number(1)?,        // data1, flag, ref1
            0x05 | 0x12 => self.number(2)?,               // data2, ref2
            0x06 | 0x0e | 0x13 | 0x17 => self.number(4)?, // data4, strp, ref4, sec_offset
            0x07 | 0x14 => self.number(8)?,               // data8, ref8
            0x0d | 0x0f => self.leb128()?,                // sdata, udata
            0x0a => {
                let length = self.number(1)?; // block1
                self.bytes(length as usize)?;
                0
            }
            other => return Err(format!("form {other:#x}").into()),
        };
        Ok((number, String::new()))
    }
}

impl Dwarf {
    fn read(cubin: &[u8]) -> Result<Dwarf, Failed> {
        let file = object::File::parse(cubin).map_err(|error| error.to_string())?;
        let section = |name: &str| -> Result<Vec<u8>, Failed> {
            let section = file.section_by_name(name).ok_or_else(|| format!("no {name}"))?;
            Ok(section.data().map_err(|error| error.to_string())?.to_vec())
        };
        let table = section(".debug_abbrev")?;
        let mut reader = Reader(&table, 0);
        let mut abbreviations = BTreeMap::new();
        loop {
            let code = reader.leb128()?;
            if code == 0 {
                break;
            }
            let (tag, children) = (reader.leb128()?, reader.number(1)? == 1);
            let mut attributes = Vec::new();
            loop {
                match (reader.leb128()?, reader.leb128()?) {
                    (0, 0) => break,
                    attribute => attributes.push(attribute),
                }
            }
            abbreviations.insert(code, (tag, children, attributes));
        }
        Ok(Dwarf { info: section(".debug_info")?, abbreviations })
    }

    /// All entries of the first unit, by offset.
    fn entries(&self) -> Result<BTreeMap<u64, Entry>, Failed> {
        let mut reader = Reader(&self.info, UNIT_HEADER_BYTES);
        let (mut entries, mut depth) = (BTreeMap::new(), 0);
        loop {
            let offset = reader.1 as u64;
            let code = reader.leb128()?;
            if code == 0 {
                depth -= 1;
            } else {
                let (tag, children, attributes) =
                    self.abbreviations.get(&code).ok_or("an abbreviation that is not there")?;
                let mut entry = Entry {
                    tag: *tag,
                    depth,
                    name: String::new(),
                    ty: None,
                    class: None,
                    directory: None,
                };
                for (attribute, form) in attributes {
                    let (number, text) = reader.value(*form)?;
                    match attribute {
                        0x03 => entry.name = text,            // name
                        0x49 => entry.ty = Some(number),      // type
                        0x33 => entry.class = Some(number),   // address_class
                        0x1b => entry.directory = Some(text), // comp_dir
                        _ => {}
                    }
                }
                entries.insert(offset, entry);
                depth += usize::from(*children);
            }
            if depth == 0 {
                return Ok(entries);
            }
        }
    }

    /// Parameters, variables and members, each as `owner kind name: type`, with a `, block` after
    /// the owner for every block around it.
    fn variables(&self) -> Result<Vec<String>, Failed> {
        let entries = self.entries()?;
        let (mut owner, mut found) = (String::new(), Vec::new());
        for entry in entries.values() {
            let kind = match entry.tag {
                0x05 => "parameter",
                0x34 => "variable",
                0x0d => "member",
                _ => {
                    if entry.depth == 1 {
                        owner.clone_from(&entry.name);
                    }
                    continue;
                }
            };
            let blocks = ", block".repeat(entry.depth.saturating_sub(2));
            let ty = type_name(&entries, entry.ty);
            found.push(format!("{owner}{blocks} {kind} {}: {ty}", entry.name));
        }
        Ok(found)
    }
}

fn type_name(entries: &BTreeMap<u64, Entry>, ty: Option<u64>) -> String {
    let Some(entry) = ty.and_then(|offset| entries.get(&offset)) else { return "void".into() };
    match entry.tag {
        0x0f => format!("{} *", type_name(entries, entry.ty)), // pointer
        0x01 => format!("{} []", type_name(entries, entry.ty)), // array
        _ => entry.name.clone(),
    }
}
