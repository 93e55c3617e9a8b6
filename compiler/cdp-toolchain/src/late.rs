//! Device code that is put into a program when it is linked already, so that the host's linker works while the
//! device's tools do. The program is linked with an empty block of code in a section of its own, which GNU ld lays behind
//! everything else that is loaded; here it becomes the block that is wanted, at the end of the file.
//!
//! Not a linker: nothing else moves, and a program that is laid out otherwise (by another linker, by a script) is left
//! alone; its device code is linked in like any other constant.
//!
//! Structures: ELF-64 gABI, "ELF Header", "Program Header"; a section's fields are named by their places there.

use std::ops::Range;

use cdp_image::bytes::{u16_at, u32_at, u64_at};
use cdp_image::pieces;
use object::elf;

use crate::elf::{Section, sections};

/// The section of the empty block: constants of the large code model, which GNU ld's own script for x86-64 lays
/// behind `.bss`, in a segment of their own.
pub const LATE_SECTION: &str = ".lrodata.cdp";

/// Bytes of `Elf64_Phdr`.
const SEGMENT_BYTES: usize = 56;

/// What such a program is linked with: the build id is written when the code is there ([`set_build_id`]), of which the
/// linker's would say nothing.
pub const LATE_BUILD_ID: &str = "-Wl,--build-id=0x0000000000000000000000000000000000000000";

/// Bytes of a build id, as ld makes it.
pub const BUILD_ID_BYTES: usize = 20;

/// The block that a program is linked with.
pub fn empty_code() -> Vec<u8> {
    pieces::join([])
}

/// Has a program that was linked with [`empty_code`] in [`LATE_SECTION`] carry `code`; `None` if it is not laid out as
/// this needs, and then it is as it was.
pub fn put_code(program: &mut Vec<u8>, code: &[u8]) -> Option<()> {
    (usize::from(u16_at(program, 54)?) == SEGMENT_BYTES).then_some(())?;
    let (section, filled) = empty_section(program)?;
    let (segment, place) = last_segment(program)?;
    // The segment is the section and nothing else.
    let same = |in_section: usize, in_segment: usize| {
        Some(u64_at(program, section + in_section)? == u64_at(program, segment + in_segment)?)
    };
    (same(16, 16)? && same(24, 8)? && same(32, 32)? && same(32, 40)?).then_some(())?;
    let bytes = (filled + code.len()) as u64;
    // What is loaded lies in the file as it does in memory, but for whole pages.
    let align = u64_at(program, segment + 48)?;
    (align.is_power_of_two() && align <= 1 << 21).then_some(())?;
    let offset = (program.len() as u64).checked_next_multiple_of(align)? + place.start % align;
    place.start.checked_add(bytes)?;
    program.resize(usize::try_from(offset).ok()? + filled, 0);
    program.extend(code);
    for (at, value) in [
        (section + 24, offset),
        (section + 32, bytes),
        (segment + 8, offset),
        (segment + 32, bytes),
        (segment + 40, bytes),
    ] {
        program[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    Some(())
}

/// Has a program that was linked with [`LATE_BUILD_ID`] say `id`; one with another id, or with none, stays as it is.
pub fn set_build_id(program: &mut [u8], id: [u8; BUILD_ID_BYTES]) {
    // Bytes of name and id, type, name.
    let head: Vec<u8> = [4, BUILD_ID_BYTES as u32, elf::NT_GNU_BUILD_ID.0]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .chain(*b"GNU\0")
        .collect();
    let note = [&head[..], &[0; BUILD_ID_BYTES]].concat();
    let place = |section: Section| {
        let is_note = section.kind == elf::SHT_NOTE;
        let is_late = is_note && program.get(section.offset..)?.starts_with(&note);
        is_late.then_some(section.offset + head.len())
    };
    if let Some(at) = sections(program).into_iter().flatten().find_map(place) {
        program[at..at + BUILD_ID_BYTES].copy_from_slice(&id);
    }
}

/// The header of the one section that is an empty block of code, and the bytes before that: the linker begins the
/// section where the segment before it ends, and fills up to the block's alignment.
fn empty_section(program: &[u8]) -> Option<(usize, usize)> {
    let empty = empty_code();
    let filled = |section: Section| {
        let filled = section.bytes.checked_sub(empty.len()).filter(|it| *it < pieces::ALIGN)?;
        let contents = program.get(section.offset..)?.get(..section.bytes)?;
        let is_empty_code = section.kind == elf::SHT_PROGBITS
            && contents[filled..] == empty
            && contents[..filled].iter().all(|byte| *byte == 0);
        is_empty_code.then_some((section.header, filled))
    };
    let mut found = sections(program)?.into_iter().filter_map(filled);
    found.next().filter(|_| found.next().is_none())
}

/// The header of the segment that lies behind all others in memory, and where that is.
fn last_segment(program: &[u8]) -> Option<(usize, Range<u64>)> {
    let mut places = Vec::new();
    let first = usize::try_from(u64_at(program, 32)?).ok()?;
    let end = first.checked_add(usize::from(u16_at(program, 56)?) * SEGMENT_BYTES)?;
    (end <= program.len()).then_some(())?;
    for header in (first..end).step_by(SEGMENT_BYTES) {
        if u32_at(program, header)? == elf::PT_LOAD.0 {
            let start = u64_at(program, header + 16)?;
            places.push((header, start..start.checked_add(u64_at(program, header + 40)?)?));
        }
    }
    let last = places.pop()?;
    places.iter().all(|(_, place)| place.end <= last.1.start).then_some(last)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::*;
    use crate::error::ToolError;
    use crate::job::{Job, JobOptions};
    use crate::tool::Tool;

    /// Prints its block of code, whose first piece is a text, and whether what lies around it is as it should be.
    const SOURCE: &str = r#"
#include <stdio.h>
extern const char *block;
static char zeros[100000 + ODD];
static int ones[1000] = {1};
int main(void) {
  const char *code = block;
  unsigned long bytes = *(const unsigned long *)(code + 8);
  for (int i = 0; i < 100000; i++) if (zeros[i]) return 1;
  printf("%lu %s %d %d\n", bytes, bytes > 16 ? code + 32 : "none", ones[0], (int)((unsigned long)code % 16));
  return 0;
}
"#;

    fn cc(job: &Job, args: &[&str]) {
        let args = args.iter().map(OsString::from).collect();
        job.run(Tool::Cc, Path::new("cc"), args).unwrap();
    }

    /// The program, linked with an empty block in a section.
    fn linked(job: &Job, section: &str, options: &[&str]) -> Vec<u8> {
        let bytes: Vec<String> = empty_code().iter().map(u8::to_string).collect();
        let assembly = format!(
            ".section {section},\"al\"\n.balign 16\ncode: .byte {}\n\
             .section .data.rel.ro,\"aw\"\n.globl block\n.balign 8\nblock: .quad code\n.section .note.GNU-stack,\"\"\n",
            bytes.join(",")
        );
        job.write("code.s", assembly.as_bytes()).unwrap();
        job.write("main.c", SOURCE.as_bytes()).unwrap();
        cc(job, &[&["main.c", "code.s", "-o", "program"], options].concat());
        job.read("program").unwrap()
    }

    fn printed(job: &Job, program: &[u8]) -> String {
        use std::os::unix::fs::PermissionsExt;
        job.write("filled", program).unwrap();
        let path = job.work_dir().join("filled");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        // Another test's process that is just starting may still hold the file open for writing.
        for _ in 0..50 {
            match job.run(Tool::Cc, &path, Vec::new()) {
                Err(ToolError::Start { source, .. })
                    if source.kind() == std::io::ErrorKind::ExecutableFileBusy =>
                {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                ran => return ran.unwrap().stdout,
            }
        }
        panic!("the program stays busy");
    }

    #[test]
    fn a_linked_program_gets_its_code() {
        let job = Job::new(JobOptions::default()).unwrap();
        let text = "long ".repeat(30_000);
        let code = pieces::join([text.as_bytes(), b"other"]);
        let wanted = format!("{} {text} 1 0\n", code.len());
        // With an odd number of zeros the segment before ends at no multiple of 16.
        let kinds = ["-pie", "-no-pie", "-static", "-static-pie", "-s", "-Wl,--gc-sections"];
        let odd = ["-DODD=0", "-DODD=1", "-DODD=9"];
        for options in kinds.iter().flat_map(|kind| odd.map(|odd| [*kind, odd])) {
            let mut program =
                linked(&job, LATE_SECTION, &[&options[..], &[LATE_BUILD_ID]].concat());
            assert_eq!(printed(&job, &program), "16 none 1 0\n");
            put_code(&mut program, &code).unwrap();
            let id = *b"an id of twenty byte";
            assert!(!program.windows(BUILD_ID_BYTES).any(|bytes| bytes == id));
            set_build_id(&mut program, id);
            assert!(program.windows(BUILD_ID_BYTES).any(|bytes| bytes == id));
            assert_eq!(printed(&job, &program), wanted, "{options:?}");
        }
        // Other tools know it for a program, too.
        job.run(Tool::Cc, Path::new("strip"), vec!["filled".into()]).unwrap();
        let stripped = job.read("filled").unwrap();
        assert_eq!(printed(&job, &stripped), wanted);
    }

    #[test]
    fn a_program_laid_out_otherwise_is_left_alone() {
        let job = Job::new(JobOptions::default()).unwrap();
        let program = linked(&job, ".rodata.code", &["-DODD=0"]);
        let mut same = program.clone();
        assert_eq!(put_code(&mut same, &pieces::join([&b"code"[..]])), None);
        set_build_id(&mut same, [1; BUILD_ID_BYTES]);
        assert_eq!(same, program);
    }

    #[test]
    fn damage_is_no_program() {
        let job = Job::new(JobOptions::default()).unwrap();
        let program = linked(&job, LATE_SECTION, &["-DODD=0"]);
        let code = pieces::join([&b"code"[..]]);
        for at in (0..64).chain(64..program.len().min(2000)).step_by(3) {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = program.clone();
                damaged[at] = value;
                let _ = put_code(&mut damaged, &code);
                set_build_id(&mut damaged, [1; BUILD_ID_BYTES]);
            }
            assert_eq!(put_code(&mut program[..at].to_vec(), &code), None);
        }
    }
}
