//! Kernels and launches of inputs that are no sources: LLVM IR of another compiler, and PTX.

use std::collections::BTreeSet;

use cdp_launch::LaunchAbi;
use cdp_llvm::{ForeignFacts, ForeignKernel, ForeignParam};
use cdp_ptx::inst::CallTarget;
use cdp_ptx::{Function, FunctionKind, Inst, Operand, Symbol};
use cdp_toolchain::Arch;

use crate::compiler::Compiler;
use crate::describe::{KernelDescription, describe_foreign_kernel};
use crate::error::Error;
use crate::graph::{LaunchEdge, LaunchGraph};
use crate::options::CompileOptions;

/// What is known of an input without making code of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The kernels that it defines.
    pub kernels: Vec<KernelDescription>,
    /// Who launches whom.
    pub graph: LaunchGraph,
}

impl Description {
    pub(crate) fn of_foreign(file: &str, facts: &ForeignFacts) -> Description {
        let edge = |launch: &cdp_llvm::ForeignLaunch| LaunchEdge {
            parent: launch.parent.clone(),
            from_device: true,
            child: launch.child.clone(),
            grid: launch.grid.clone(),
            block: launch.block.clone(),
            shared: launch.shared.clone(),
            stream: launch.stream.clone(),
            file: launch.place.as_ref().map_or_else(|| file.to_owned(), |place| place.file.clone()),
            line: launch.place.as_ref().map_or(0, |place| place.line),
            column: 0,
        };
        Description {
            kernels: facts.kernels.iter().map(describe_foreign_kernel).collect(),
            graph: LaunchGraph::of(
                facts.launches.iter().map(edge).collect(),
                facts.calls.iter().cloned(),
            ),
        }
    }
}

impl Compiler {
    /// Kernels and launches of LLVM IR, as text or bitcode.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`], before any code is made.
    pub fn describe_foreign(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<Description, Error> {
        let facts = self.foreign_facts(name, bytes, arch, options)?;
        Ok(Description::of_foreign(name, &facts))
    }
}

/// Kernels and launches of PTX. A launch in PTX is a call of the device runtime with the address of a
/// kernel; what it is launched with is known at run time only.
///
/// # Errors
/// [`Error::Input`] for a text that is no PTX.
pub fn describe_ptx(name: &str, bytes: &[u8]) -> Result<Description, Error> {
    let wrong = |message: String| Error::Input { name: name.to_owned(), message };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| wrong(format!("PTX is text, and this is not UTF-8: {error}")))?;
    let module = cdp_ptx::parse(text).map_err(|error| wrong(error.to_string()))?;
    let defined = || {
        module.functions.iter().filter(|function| function.body.is_some() && is_kernel(function))
    };
    let mut launches = Vec::new();
    let mut calls = BTreeSet::new();
    for function in module.functions.iter().filter(|function| function.body.is_some()) {
        let body = function.body.as_ref().map(|body| &body.instructions[..]).unwrap_or_default();
        let mut children = Vec::new();
        let mut launches_here = false;
        for instruction in body {
            if let Inst::Call { target: CallTarget::Direct(callee), .. } = &instruction.inst {
                let callee = &module.functions[callee.0 as usize];
                launches_here |= LaunchAbi::is_entry_point(&callee.name);
                if callee.body.is_some() {
                    calls.insert((function.name.clone(), callee.name.clone()));
                }
            }
            if let Inst::Mov { src: Operand::Address { symbol, .. }, .. } = &instruction.inst
                && let Symbol::Function(id) = symbol
                && is_kernel(&module.functions[id.0 as usize])
            {
                let child = module.functions[id.0 as usize].name.clone();
                children.push((child, instruction.line.0));
            }
        }
        children.dedup_by(|a, b| a.0 == b.0);
        launches.extend(children.into_iter().filter(|_| launches_here).map(|(child, line)| {
            LaunchEdge {
                parent: function.name.clone(),
                from_device: true,
                child,
                grid: "?".into(),
                block: "?".into(),
                shared: String::new(),
                stream: String::new(),
                file: name.to_owned(),
                line,
                column: 0,
            }
        }));
    }
    Ok(Description {
        kernels: defined().map(|kernel| describe_foreign_kernel(&of_ptx(kernel))).collect(),
        graph: LaunchGraph::of(launches, calls),
    })
}

fn is_kernel(function: &Function) -> bool {
    function.kind == FunctionKind::Kernel
}

/// PTX tells sizes and alignments.
fn of_ptx(kernel: &Function) -> ForeignKernel {
    let param = |param: &cdp_ptx::Param| ForeignParam {
        name: param.name.clone(),
        ty: match param.array_len {
            Some(length) => format!("{}[{length}]", param.ty),
            None => param.ty.to_string(),
        },
        size_bytes: u64::from(param.ty.bytes()) * param.array_len.unwrap_or(1),
        align_bytes: u64::from(param.align_bytes),
    };
    ForeignKernel { symbol: kernel.name.clone(), params: kernel.params.iter().map(param).collect() }
}
