//! LLVM IR of a run to bytes that may be called wherever they lie.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, RelocMode, Target, TargetMachine, TargetTriple};
use object::elf::{R_X86_64_PC32, R_X86_64_PLT32, SHF_ALLOC};
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags,
    SectionIndex,
};

use super::Vectors;
use super::emit::ENTRY;
use crate::error::{LowerError, Result, bug};
use crate::raw;
use crate::target::{self, CodeTarget};

/// What the processor must have, as the CPU device's own loops for whole warps.
const AVX2: &str = "+avx2,+fma,+bmi,+bmi2,+lzcnt,+popcnt";
/// The same with vectors of 512 bits.
const AVX512: &str = "+avx2,+fma,+bmi,+bmi2,+lzcnt,+popcnt,+avx512f,+avx512bw,+avx512dq,+avx512vl";
/// Loops are written as they are to be; what is left is to compute nothing twice.
const PASSES: &str = "always-inline,globaldce,function(early-cse<memssa>,\
    instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,early-cse,loop-mssa(licm),adce)";

/// Optimises the text of a module and makes code of it.
pub fn make(text: &str, vectors: Vectors) -> Result<Vec<u8>> {
    let machine = machine(vectors)?;
    let context = Context::create();
    let module =
        raw::parse_ir(&context, "run", text.as_bytes()).map_err(|m| bug("native code", m))?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    if cfg!(debug_assertions) {
        module.verify().map_err(|message| bug("native code", message.to_string()))?;
    }
    module
        .run_passes(PASSES, &machine, PassBuilderOptions::create())
        .map_err(|message| bug("native code", message.to_string()))?;
    let object = machine
        .write_to_memory_buffer(&module, FileType::Object)
        .map_err(|message| LowerError::Backend { message: message.to_string() })?;
    flat(object.as_slice()).map_err(|message| bug("native code", message))
}

fn machine(vectors: Vectors) -> Result<TargetMachine> {
    let features = match vectors {
        Vectors::Avx2 => AVX2,
        Vectors::Avx512 => AVX512,
    };
    target::initialize(CodeTarget::Host);
    let name = CodeTarget::Host.triple();
    let wrong = |message: String| LowerError::Target { triple: name.into(), message };
    let triple = TargetTriple::create(name);
    let (level, reloc) = (OptimizationLevel::Default, RelocMode::PIC);
    Target::from_triple(&triple)
        .map_err(|error| wrong(error.to_string()))?
        .create_target_machine(&triple, "x86-64", features, level, reloc, CodeModel::Small)
        .ok_or_else(|| wrong("no target machine".to_string()))
}

/// The bytes of an object's sections one after another, with the entry first and references between them
/// resolved. Refuses an object that wants more.
fn flat(bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
    let entry = file.symbols().find(|symbol| symbol.name() == Ok(ENTRY)).ok_or("no entry")?;
    let first = entry.section_index().ok_or("no entry")?;
    if entry.address() != 0 {
        return Err("the entry is not the first function".to_string());
    }
    let is_needed = |flags| matches!(flags, SectionFlags::Elf { sh_flags, .. } if sh_flags.0 & SHF_ALLOC.0 != 0);
    let kept = |section: &object::Section<'_, '_>| {
        // How frames are unwound is nobody's business here.
        is_needed(section.flags()) && section.size() > 0 && section.name() != Ok(".eh_frame")
    };
    let others = file.sections().filter(|section| kept(section) && section.index() != first);
    let sections = file.section_by_index(first).into_iter().chain(others);
    let (mut out, mut places) = (Vec::new(), Vec::new());
    for section in sections {
        let align = section.align().clamp(1, 4096) as usize;
        out.resize(out.len().next_multiple_of(align), 0);
        places.push((section.index(), out.len()));
        out.extend_from_slice(section.data().map_err(|error| error.to_string())?);
    }
    let place = |index: SectionIndex| {
        places.iter().find(|place| place.0 == index).map(|place| place.1 as i64)
    };
    for &(index, base) in &places {
        let section = file.section_by_index(index).map_err(|error| error.to_string())?;
        for (offset, relocation) in section.relocations() {
            let RelocationFlags::Elf { r_type: R_X86_64_PC32 | R_X86_64_PLT32 } =
                relocation.flags()
            else {
                return Err(format!("{:?}", relocation.flags()));
            };
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                return Err("a reference to no symbol".to_string());
            };
            let symbol = file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
            let target = symbol.section_index().and_then(place);
            let target =
                target.ok_or_else(|| format!("needs `{}`", symbol.name().unwrap_or("?")))?;
            let at = base + offset as usize;
            let value = target + symbol.address() as i64 + relocation.addend() - at as i64;
            let value = i32::try_from(value).map_err(|error| error.to_string())?;
            let word = out.get_mut(at..at + 4).ok_or("a reference outside of its section")?;
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
    Ok(out)
}
