//! Settles in a relocatable object what a linker would settle anew in every program that it goes into:
//! references from a section into itself, and calls through the global offset table to functions that are
//! no other object's affair. Not a linker: nothing moves, and what is not understood stays as it is.
//!
//! Structures and relocations: ELF-64 gABI; System V ABI, AMD64 supplement, section 4.4. The instructions
//! that take the place of those that go through the table: the supplement's section B.2.

use std::collections::{HashMap, HashSet};

use cdp_image::bytes::{u16_at, u32_at, u64_at};
use object::elf;

use crate::elf::{Section, sections};

/// Bytes of `Elf64_Sym` and `Elf64_Rela`.
const SYMBOL_BYTES: usize = 24;
const RELA_BYTES: usize = 24;
/// The addend of a reference whose instruction ends with it.
const AT_THE_END: i64 = -4;

struct Symbol {
    bytes: [u8; SYMBOL_BYTES],
    is_local: bool,
    kind: elf::SymbolType,
    section: u16,
    value: i64,
}

struct Relocation {
    place: usize,
    kind: elf::RelocationType,
    symbol: usize,
    addend: i64,
}

/// The object with fewer relocations and symbols; `None` if it is none for x86-64, or a damaged one.
pub(super) fn settle(object: &[u8]) -> Option<Vec<u8>> {
    let mut object = object.to_vec();
    let sections = (u16_at(&object, 16)? == elf::ET_REL.0).then(|| sections(&object))??;
    // More sections than a symbol can name are written otherwise.
    let all_named = sections.iter().all(|section| section.kind != elf::SHT_SYMTAB_SHNDX);
    all_named.then_some(())?;
    let table = sections.iter().position(|section| section.kind == elf::SHT_SYMTAB)?;
    let symbols = symbols(&object, &sections[table])?;
    let of_section: HashMap<u16, usize> = symbols
        .iter()
        .enumerate()
        .filter(|(_, symbol)| symbol.kind == elf::STT_SECTION)
        .map(|(index, symbol)| (symbol.section, index))
        .collect();
    let mut left = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        if section.kind == elf::SHT_RELA {
            let rows = settle_section(&mut object, &sections, section, &symbols, &of_section)?;
            left.push((index, rows));
        }
    }
    let kept = kept(&sections, &symbols, &left);
    write(&mut object, &sections, table, &symbols, &kept, &left);
    Some(object)
}

/// Settles what can be of one section's references; the others.
fn settle_section(
    object: &mut [u8],
    sections: &[Section],
    section: &Section,
    symbols: &[Symbol],
    of_section: &HashMap<u16, usize>,
) -> Option<Vec<Relocation>> {
    let target = sections.get(usize::try_from(section.info).ok()?)?;
    let mut left = Vec::new();
    for mut relocation in relocations_of(object, section)? {
        let symbol = symbols.get(relocation.symbol)?;
        let is_inside = symbol.is_local && u32::from(symbol.section) == section.info;
        if is_inside && refer(object, target, &relocation, symbol).is_some() {
            continue;
        }
        // By its section the symbol's name is needed no more. In a section that is merged with others'
        // a place alone says something else.
        if let Some(&base) = of_section.get(&symbol.section)
            && symbol.is_local
            && is_plain(relocation.kind)
            && !is_merged(sections.get(usize::from(symbol.section))?)
        {
            relocation.symbol = base;
            relocation.addend = relocation.addend.checked_add(symbol.value)?;
        }
        left.push(relocation);
    }
    Some(left)
}

fn is_merged(section: &Section) -> bool {
    section.flags & elf::SHF_MERGE.0 != 0
}

fn symbols(object: &[u8], table: &Section) -> Option<Vec<Symbol>> {
    let rows = object.get(table.offset..table.offset + table.bytes)?.chunks_exact(SYMBOL_BYTES);
    let symbol = |row: &[u8]| {
        Some(Symbol {
            bytes: row.try_into().ok()?,
            is_local: row[4] >> 4 == elf::STB_LOCAL.0,
            kind: elf::SymbolType(row[4] & 15),
            section: u16_at(row, 6)?,
            value: u64_at(row, 8)?.cast_signed(),
        })
    };
    rows.map(symbol).collect()
}

fn relocations_of(object: &[u8], section: &Section) -> Option<Vec<Relocation>> {
    let rows = object.get(section.offset..section.offset + section.bytes)?.chunks_exact(RELA_BYTES);
    let relocation = |row: &[u8]| {
        Some(Relocation {
            place: usize::try_from(u64_at(row, 0)?).ok()?,
            kind: elf::RelocationType(u32_at(row, 8)?),
            symbol: usize::try_from(u32_at(row, 12)?).ok()?,
            addend: u64_at(row, 16)?.cast_signed(),
        })
    };
    rows.map(relocation).collect()
}

/// Whether a reference may as well be to the symbol's section and its place there.
fn is_plain(kind: elf::RelocationType) -> bool {
    matches!(kind, elf::R_X86_64_64 | elf::R_X86_64_PC32 | elf::R_X86_64_PLT32)
}

/// Writes where a reference leads that stays inside one section; `None` if it cannot be written.
fn refer(
    object: &mut [u8],
    section: &Section,
    relocation: &Relocation,
    symbol: &Symbol,
) -> Option<()> {
    let code = object.get_mut(section.offset..section.offset.checked_add(section.bytes)?)?;
    let place = relocation.place;
    let at = i64::try_from(place).ok()?;
    let is_code_or_data =
        matches!(symbol.kind, elf::STT_NOTYPE | elf::STT_OBJECT | elf::STT_FUNC | elf::STT_SECTION);
    is_code_or_data.then_some(())?;
    match relocation.kind {
        elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
            let distance = symbol.value.checked_add(relocation.addend)?.checked_sub(at)?;
            put(code, place, distance)
        }
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX
            if relocation.addend == AT_THE_END =>
        {
            directly(code, place, symbol.value.checked_sub(at + 4)?)
        }
        _ => None,
    }
}

/// Has an instruction that reads an address from the table take the address itself, which lies `distance`
/// after the instruction.
fn directly(code: &mut [u8], place: usize, distance: i64) -> Option<()> {
    let start = place.checked_sub(3)?;
    match *code.get(start..place)? {
        // call *table(%rip): addr32 call, of the same six bytes.
        [_, 0xff, 0x15] => {
            put(code, place, distance)?;
            code[place - 2..place].copy_from_slice(&[0x67, 0xe8]);
        }
        // jmp *table(%rip): jmp and nop; the jump ends a byte earlier.
        [_, 0xff, 0x25] => {
            put(code, place - 1, distance + 1)?;
            code[place - 2] = 0xe9;
            code[place + 3] = 0x90;
        }
        // mov table(%rip), %r64: lea.
        [0x48..=0x4f, 0x8b, mode] if mode & 0xc7 == 0x05 => {
            put(code, place, distance)?;
            code[place - 2] = 0x8d;
        }
        _ => return None,
    }
    Some(())
}

fn put(code: &mut [u8], place: usize, distance: i64) -> Option<()> {
    let bytes = i32::try_from(distance).ok()?.to_le_bytes();
    code.get_mut(place..place.checked_add(4)?)?.copy_from_slice(&bytes);
    Some(())
}

/// The symbols that something names, in their order.
fn kept(sections: &[Section], symbols: &[Symbol], left: &[(usize, Vec<Relocation>)]) -> Vec<usize> {
    let groups = sections.iter().filter(|section| section.kind == elf::SHT_GROUP);
    let named: HashSet<usize> = left
        .iter()
        .flat_map(|(_, relocations)| relocations.iter().map(|relocation| relocation.symbol))
        .chain(groups.filter_map(|group| usize::try_from(group.info).ok()))
        .collect();
    let is_kept = |&index: &usize| {
        let symbol = &symbols[index];
        index == 0 || !symbol.is_local || symbol.kind == elf::STT_SECTION || named.contains(&index)
    };
    (0..symbols.len()).filter(is_kept).collect()
}

/// Writes the shorter tables in the place of the old ones.
fn write(
    object: &mut [u8],
    sections: &[Section],
    table: usize,
    symbols: &[Symbol],
    kept: &[usize],
    left: &[(usize, Vec<Relocation>)],
) {
    let number: HashMap<usize, u32> = kept.iter().copied().zip(0..).collect();
    let set = |object: &mut [u8], at: usize, bytes: &[u8]| {
        object[at..at + bytes.len()].copy_from_slice(bytes);
    };
    for (index, relocations) in left {
        let section = &sections[*index];
        for (row, relocation) in relocations.iter().enumerate() {
            let at = section.offset + row * RELA_BYTES;
            set(object, at, &(relocation.place as u64).to_le_bytes());
            set(object, at + 8, &relocation.kind.0.to_le_bytes());
            set(object, at + 12, &number[&relocation.symbol].to_le_bytes());
            set(object, at + 16, &relocation.addend.to_le_bytes());
        }
        let bytes = (relocations.len() * RELA_BYTES) as u64;
        set(object, section.header + 32, &bytes.to_le_bytes());
    }
    for (row, index) in kept.iter().enumerate() {
        set(object, sections[table].offset + row * SYMBOL_BYTES, &symbols[*index].bytes);
    }
    let header = sections[table].header;
    set(object, header + 32, &((kept.len() * SYMBOL_BYTES) as u64).to_le_bytes());
    let local = kept.iter().filter(|index| symbols[**index].is_local).count();
    set(object, header + 44, &u32::try_from(local).unwrap_or(u32::MAX).to_le_bytes());
    for group in sections.iter().filter(|section| section.kind == elf::SHT_GROUP) {
        if let Some(symbol) = number.get(&(group.info as usize)) {
            set(object, group.header + 44, &symbol.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use object::{Object, ObjectSection, ObjectSymbol};

    use super::*;

    /// Every form that is settled, and beside it what must stay: a name that others may replace, a
    /// variable of another section, a comparison with the table.
    const TEXT: &str = "
        .text
        .globl shown, main
        helper: lea 1(%rdi), %eax
                ret
        shown:  jmp *helper@GOTPCREL(%rip)
        main:   push %rbx
                mov helper@GOTPCREL(%rip), %rbx
                cmp helper@GOTPCREL(%rip), %rbx
                jne bad
                mov $1, %edi
                call *helper@GOTPCREL(%rip)
                mov %eax, %edi
                call helper
                mov %eax, %edi
                call *%rbx
                mov %eax, %edi
                call shown@PLT
                add number(%rip), %eax
                mov table(%rip), %rdi
                add (%rdi), %eax
                pop %rbx
                ret
        bad:    mov $1, %eax
                pop %rbx
                ret
        .data
        spare:  .long 9
        number: .long 20
        table:  .quad number
        .section .note.GNU-stack,\"\",@progbits
    ";

    fn run(folder: &Path, program: &str, args: &[&str]) -> Option<i32> {
        Command::new(program).args(args).current_dir(folder).status().unwrap().code()
    }

    #[test]
    fn a_settled_object_does_the_same() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.s"), TEXT).unwrap();
        assert_eq!(run(folder.path(), "cc", &["-c", "a.s"]), Some(0));
        let before = std::fs::read(folder.path().join("a.o")).unwrap();
        let after = settle(&before).expect("an object for x86-64");
        std::fs::write(folder.path().join("b.o"), &after).unwrap();
        for name in ["a", "b"] {
            let object = format!("{name}.o");
            assert_eq!(run(folder.path(), "cc", &[&object, "-o", name]), Some(0));
            assert_eq!(run(folder.path(), &format!("./{name}"), &[]), Some(45), "{name}");
        }
        let file = object::File::parse(&*after).unwrap();
        let left = file.section_by_name(".text").unwrap().relocations().count();
        // cmp, shown, number and table.
        assert_eq!(left, 4);
        let names: Vec<&str> = file.symbols().filter_map(|symbol| symbol.name().ok()).collect();
        assert!(!names.contains(&"number") && names.contains(&"shown"), "{names:?}");
    }

    #[test]
    fn damaged_objects_are_refused_or_settled_and_never_stop_the_compiler() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.s"), TEXT).unwrap();
        assert_eq!(run(folder.path(), "cc", &["-c", "a.s"]), Some(0));
        let whole = std::fs::read(folder.path().join("a.o")).unwrap();
        for at in 0..whole.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                let _ = settle(&damaged);
            }
            let _ = settle(&whole[..at]);
        }
        assert_eq!(settle(b"no object"), None);
    }
}
