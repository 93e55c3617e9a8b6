//! Targets: initialisation (once a process), triples, target machines.

use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple,
};

use crate::error::{LowerError, Result};
use crate::options::{LowerOptions, OptLevel};

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeTarget {
    /// NVPTX with addresses of 32 or 64 bits.
    Device { address_bits: u32 },
    /// x86-64 Linux.
    Host,
}

impl CodeTarget {
    /// The LLVM target triple.
    pub fn triple(self) -> &'static str {
        match self {
            CodeTarget::Device { address_bits: 32 } => "nvptx-nvidia-cuda",
            CodeTarget::Device { .. } => "nvptx64-nvidia-cuda",
            CodeTarget::Host => "x86_64-unknown-linux-gnu",
        }
    }
}

fn initialize(target: CodeTarget) {
    static DEVICE: Once = Once::new();
    static HOST: Once = Once::new();
    let config = InitializationConfig {
        asm_parser: false,
        asm_printer: true,
        base: true,
        disassembler: false,
        info: true,
        machine_code: true,
    };
    match target {
        CodeTarget::Device { .. } => DEVICE.call_once(|| Target::initialize_nvptx(&config)),
        // The host's inline assembly is parsed when its object is written.
        CodeTarget::Host => HOST.call_once(|| {
            Target::initialize_x86(&InitializationConfig { asm_parser: true, ..config });
        }),
    }
}

/// The target machine for a module.
pub(crate) fn machine(target: CodeTarget, options: &LowerOptions) -> Result<TargetMachine> {
    initialize(target);
    let triple = TargetTriple::create(target.triple());
    let wrong = |message: String| LowerError::Target { triple: target.triple().into(), message };
    let llvm_target = Target::from_triple(&triple).map_err(|e| wrong(e.to_string()))?;
    let (cpu, features, reloc) = match target {
        CodeTarget::Device { .. } => {
            (options.arch.as_str(), format!("+ptx{}", options.ptx_isa), RelocMode::Default)
        }
        CodeTarget::Host => ("x86-64", String::new(), RelocMode::PIC),
    };
    let level = match options.opt_level {
        OptLevel::O0 => OptimizationLevel::None,
        OptLevel::O1 => OptimizationLevel::Less,
        OptLevel::O2 => OptimizationLevel::Default,
        // `Aggressive` has global value numbering run twice more on code that had it, at a tenth of
        // the time; ptxas makes the same of both.
        OptLevel::O3 if target != CodeTarget::Host => OptimizationLevel::Default,
        OptLevel::O3 => OptimizationLevel::Aggressive,
    };
    llvm_target
        .create_target_machine(&triple, cpu, &features, level, reloc, CodeModel::Default)
        .ok_or_else(|| wrong(format!("no target machine for `{cpu}`")))
}
