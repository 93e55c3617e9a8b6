//! Mending device objects whose compiler declared kernels of other objects as functions, as clang does:
//! nvlink refuses them ("not declared __global__ in all source files"). Not an assembler: the machine
//! code is the same either way, and no instruction is touched.
//!
//! ptxas 13.0 makes of `.extern .entry far` and of `.extern .func far`, with only the address of `far`
//! taken, objects that differ in three things alone: the flag of the symbol that says that it is a kernel;
//! the types of the relocations against it; and the symbol's entry in the list of indirect callees in
//! `.nv.callgraph`. So does ptxas 12.9 for sm_70 and sm_72.

use std::collections::BTreeSet;
use std::ops::Range;

use cdp_image::bytes::{u32_at, u64_at};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{LittleEndian, elf};

use crate::cubin::{CubinError, STO_CUDA_ENTRY};

type Header = elf::FileHeader64<LittleEndian>;
type Section = elf::SectionHeader64<LittleEndian>;

/// Relocation types against a function (an address; from sm_90 on an entry of the table that all functions
/// share), and what stands in their place against a kernel (its descriptor): whole ones in data, then low
/// and high halves in instructions. The numbers are those in objects of ptxas 13.0 for sm_75 to sm_120, and
/// of ptxas 12.9 for sm_70 and sm_72; for older
/// architectures ptxas makes other code, so that their objects are left alone.
const RELOCATIONS: [(u32, u32); 6] =
    [(0x02, 0x23), (0x66, 0x23), (0x38, 0x3e), (0x70, 0x3e), (0x39, 0x3f), (0x71, 0x3f)];

/// In `.nv.callgraph`, the pair that begins the list of indirect callees is 0 and this.
const INDIRECT_CALLEES: u32 = 0xffff_fffe;
/// Pairs with 0 and a number from this one on begin a list.
const FIRST_LIST: u32 = 0xffff_fff0;

/// Declares those undefined functions of a relocatable 64-bit device object as kernels that `kernels`
/// names. `None` when there are none.
///
/// # Errors
/// [`CubinError`] when such a function is also used as only a function can be, and for damaged bytes.
pub(crate) fn declare_kernels(
    bytes: &[u8],
    kernels: &BTreeSet<String>,
) -> Result<Option<Vec<u8>>, CubinError> {
    let header = Header::parse(bytes)?;
    let sections = header.sections(LittleEndian, bytes)?;
    let symbols = sections.symbols(LittleEndian, bytes, elf::SHT_SYMTAB)?;
    let Ok(table) = sections.section(symbols.section()) else { return Ok(None) };
    let table_start = offset(table)?;
    let mut mended = bytes.to_vec();
    let mut wrong = BTreeSet::new();
    for (index, symbol) in symbols.enumerate() {
        let name = String::from_utf8_lossy(symbol.name(LittleEndian, symbols.strings())?);
        let declared = symbol.is_undefined(LittleEndian) && symbol.st_type() == elf::STT_FUNC;
        if declared && symbol.st_other().0 & STO_CUDA_ENTRY == 0 && kernels.contains(&*name) {
            // `st_other` is the sixth byte of `Elf64_Sym`.
            let at = table_start + index.0 * size_of::<elf::Sym64<LittleEndian>>() + 5;
            *mended.get_mut(at).ok_or_else(damaged)? |= STO_CUDA_ENTRY;
            wrong.insert(index.0);
        }
    }
    if wrong.is_empty() {
        return Ok(None);
    }
    for section in sections.iter() {
        let name = sections.section_name(LittleEndian, section)?;
        let entry_bytes = match section.sh_type(LittleEndian) {
            elf::SHT_RELA => size_of::<elf::Rela64<LittleEndian>>(),
            elf::SHT_REL => size_of::<elf::Rel64<LittleEndian>>(),
            _ if name == b".nv.callgraph" => {
                mend_callgraph(&mut mended, section, &wrong)?;
                continue;
            }
            _ => continue,
        };
        if !name.starts_with(b".rela.debug") && !name.starts_with(b".rel.debug") {
            mend_relocations(&mut mended, section, entry_bytes, &wrong)?;
        }
    }
    Ok(Some(mended))
}

fn mend_relocations(
    bytes: &mut [u8],
    section: &Section,
    entry_bytes: usize,
    wrong: &BTreeSet<usize>,
) -> Result<(), CubinError> {
    for at in range(section, bytes)?.step_by(entry_bytes) {
        // `r_info` is the second field: the type below, the symbol above.
        let symbol = u32_at(bytes, at + 12).ok_or_else(damaged)?;
        if !wrong.contains(&(symbol as usize)) {
            continue;
        }
        let kind = u32_at(bytes, at + 8).ok_or_else(damaged)?;
        let known = RELOCATIONS.iter().find(|(from, to)| [*from, *to].contains(&kind));
        let Some((_, kind)) = known else {
            let message = format!(
                "it is used as a function, or the code is for an architecture before sm_70 \
                 (relocation {kind:#x})"
            );
            return Err(CubinError::new(message));
        };
        bytes[at + 8..at + 12].copy_from_slice(&kind.to_le_bytes());
    }
    Ok(())
}

fn mend_callgraph(
    bytes: &mut [u8],
    section: &Section,
    wrong: &BTreeSet<usize>,
) -> Result<(), CubinError> {
    let mut list = 0;
    for at in range(section, bytes)?.step_by(8) {
        let pair = u64_at(bytes, at).ok_or_else(damaged)?;
        let (first, second) = (pair as u32, (pair >> 32) as u32);
        if first == 0 && second >= FIRST_LIST {
            list = second;
        } else if list == INDIRECT_CALLEES && wrong.contains(&(first as usize)) {
            bytes[at + 4..at + 8].fill(0);
        }
    }
    Ok(())
}

fn damaged() -> CubinError {
    CubinError::new("its tables reach past its end")
}

fn offset(section: &Section) -> Result<usize, CubinError> {
    usize::try_from(section.sh_offset(LittleEndian)).map_err(|_| damaged())
}

/// Where a section lies in the file.
fn range(section: &Section, bytes: &[u8]) -> Result<Range<usize>, CubinError> {
    let start = offset(section)?;
    let size = usize::try_from(section.sh_size(LittleEndian)).map_err(|_| damaged())?;
    let end = start.checked_add(size).filter(|end| *end <= bytes.len()).ok_or_else(damaged)?;
    Ok(start..end)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};

    use super::*;
    use crate::{AddressSize, Arch, AssembleOptions, Job, JobOptions, SearchOptions, Toolchain};

    /// The address of `far` in code, in a table, in a structure and in constant memory.
    const USES: &str = ".global .align 8 .u64 table[3] = {0, far, 0};\n\
        .const .align 8 .u64 constant[1] = {far};\n\
        .func (.param .b64 r) get(.param .b32 s) { .reg .b64 %a; mov.u64 %a, far;\n\
        st.param.b64 [r], %a; ret; }\n\
        .visible .entry k(.param .u64 out, .param .u32 s) {\n\
        .reg .b64 %o, %a, %b; .reg .b32 %s; .reg .pred %p; .param .b32 p0; .param .b64 r0;\n\
        ld.param.u64 %o, [out]; ld.param.u32 %s, [s]; mov.u64 %a, far; st.global.u64 [%o], %a;\n\
        ld.global.u64 %b, [table+8]; st.global.u64 [%o+8], %b; ld.const.u64 %b, [constant];\n\
        st.global.u64 [%o+16], %b; st.param.b32 [p0], %s; call.uni (r0), get, (p0);\n\
        ld.param.b64 %b, [r0]; add.u64 %b, %b, 4; st.global.u64 [%o+24], %b; ret; }\n";
    const CALL: &str = ".visible .entry k(.param .u64 p) { .param .b64 x; .reg .b64 %a;\n\
        ld.param.u64 %a, [p]; st.param.b64 [x], %a; call.uni far, (x); ret; }\n";

    fn assembled(arch: Arch, kind: &str, body: &str) -> Vec<u8> {
        let toolchain = Toolchain::find(&SearchOptions::from_process()).unwrap();
        let job = Job::new(JobOptions::default()).unwrap();
        let version = if arch.number() < 100 { "8.0" } else { "8.7" };
        let text = format!(
            ".version {version}\n.target {arch}\n.address_size 64\n.extern {kind} far(.param .b64 x);\n{body}"
        );
        let options = AssembleOptions::new(arch, AddressSize::Bits64);
        crate::assemble(&toolchain, &job, "case", &text, &options).unwrap().object.bytes
    }

    fn far() -> BTreeSet<String> {
        BTreeSet::from(["far".to_owned()])
    }

    /// What the linker sees: code and data, relocations with the names of their symbols, the flags
    /// of symbols, the call graph. Numbers of symbols differ, for their order does.
    fn seen(bytes: &[u8]) -> BTreeMap<String, String> {
        let file = object::File::parse(bytes).unwrap();
        let name = |index: u32| match file.symbol_by_index(object::SymbolIndex(index as usize)) {
            Ok(symbol) => symbol.name().unwrap().to_owned(),
            Err(_) => format!("{index:x}"),
        };
        let mut seen = BTreeMap::new();
        for section in file.sections() {
            let (at, data) = (section.name().unwrap().to_owned(), section.data().unwrap());
            if [".text", ".nv.global", ".nv.constant"].iter().any(|begin| at.starts_with(begin)) {
                seen.insert(at.clone(), format!("{data:?}"));
            }
            for (offset, relocation) in section.relocations() {
                let RelocationFlags::Elf { r_type } = relocation.flags() else { panic!() };
                let RelocationTarget::Symbol(index) = relocation.target() else { panic!() };
                let what = format!("{r_type:?} {}", name(index.0 as u32));
                seen.entry(format!("{at} {offset:x}")).or_default().push_str(&what);
            }
            if at == ".nv.callgraph" {
                let pairs = (0..data.len()).step_by(8).map(|at| {
                    let (first, second) = (u32_at(data, at), u32_at(data, at + 4));
                    format!("{} {}\n", name(first.unwrap()), name(second.unwrap()))
                });
                seen.insert(at, pairs.collect());
            }
        }
        for symbol in file.symbols() {
            let key = format!("symbol {}", symbol.name().unwrap());
            seen.insert(key, format!("{:?}", symbol.flags()));
        }
        seen
    }

    #[test]
    fn a_mended_object_is_the_one_of_the_right_declaration() {
        for arch in ["sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"] {
            let arch = Arch::parse(arch).unwrap();
            let wrong = assembled(arch, ".func", USES);
            let right = assembled(arch, ".entry", USES);
            let mended = declare_kernels(&wrong, &far()).unwrap().unwrap();
            assert_ne!(seen(&wrong), seen(&right), "{arch}");
            let (mended_seen, right) = (seen(&mended), seen(&right));
            let differ = |key: &&String| mended_seen.get(*key) != right.get(*key);
            let differ = mended_seen.keys().chain(right.keys()).filter(differ);
            let differ: Vec<_> =
                differ.map(|key| (key, mended_seen.get(key), right.get(key))).collect();
            assert!(differ.is_empty(), "{arch}: {differ:?}");
            assert_eq!(declare_kernels(&mended, &far()).unwrap(), None, "{arch}");
            assert_eq!(declare_kernels(&wrong, &BTreeSet::new()).unwrap(), None, "{arch}");
        }
    }

    #[test]
    fn a_function_that_is_called_is_no_kernel() {
        let error = declare_kernels(&assembled(Arch::SM_90, ".func", CALL), &far()).unwrap_err();
        assert!(error.to_string().contains("used as a function"), "{error}");
    }

    #[test]
    fn damaged_objects_are_errors() {
        let object = assembled(Arch::SM_90, ".func", USES);
        for length in 0..object.len() {
            let _ = declare_kernels(&object[..length], &far());
        }
        // The headers and tables begin and end the file; code in between is not read.
        for at in (0..64).chain(object.len() - 2048..object.len()) {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = object.clone();
                bytes[at] = value;
                let _ = declare_kernels(&bytes, &far());
            }
        }
    }
}
