//! Functions and kernels that the optimiser writes as LLVM IR, as PTX without LLVM: what a launch site and who runs records
//! do is put together from pieces in which LLVM would find little to optimise, and making code of them takes it as long as
//! the program's own. A program's module declares them, and what they call is visible in it until its PTX is made.
//!
//! Where something is not understood, LLVM does it ([`Direct::add`] yields nothing).
//!
//! What is absent: what the functions do ([`super::distribute`], [`super::sequence`]), and where the text goes
//! ([`super::code`]).

mod body;
mod calls;
mod ir;
mod memory;
mod module;
mod value;

use module::Taken;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use cdp_launch::{EntryPoint, LaunchAbi};
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;

use body::Body;
use ir::{Head, Line, Passed, Read, Ty};
use value::{GENERIC, PARAM, Value};

use super::emit::ORDER;
use super::sequence::HEAD_NAME;
use crate::error::{Result, bug};
use crate::raw;
use crate::raw::view::View;

/// The entry points by which launches are made.
pub(super) struct Entries {
    get: &'static str,
    launch: &'static str,
}

/// PTX that was made so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direct {
    /// Of all that is called, and of what is here.
    pub declarations: BTreeMap<String, String>,
    /// The functions and kernels.
    pub ptx: String,
    /// The same as LLVM IR, for those who want that.
    pub ir: String,
    /// How sites' functions take what is passed to them.
    pub taken: HashMap<String, Vec<Taken>>,
    /// What is visible in the module for their sake alone.
    pub hidden: Vec<String>,
}

impl Direct {
    pub fn is_empty(&self) -> bool {
        self.ptx.is_empty()
    }

    /// Adds a function that is LLVM IR with what limits a kernel's blocks, as PTX has it; `None` where LLVM is to make it.
    pub fn add(&mut self, function: &str, limits: &str, abi: LaunchAbi) -> Option<()> {
        let entries = Entries {
            get: abi.symbol(EntryPoint::GetParameterBuffer, false),
            launch: abi.symbol(EntryPoint::LaunchDevice, false),
        };
        let mut called = BTreeMap::new();
        let (head, body) = function.split_once("{\nentry:")?;
        let body = body.trim_end().strip_suffix('}')?;
        let head = Line::new(head).head()?;
        let mut writer = Body::new(&entries, &mut called);
        let opens = if head.is_kernel { kernel_head(&head) } else { function_head(&head) };
        for (index, passed) in head.params.iter().enumerate() {
            take(&mut writer, &head, index, passed)?;
        }
        writer.write(&format!("entry:{body}"))?;
        let code = writer.code.finish();
        called.remove(entries.get);
        called.remove(entries.launch);
        let _ = write!(self.ptx, "{opens}{limits}{code}");
        self.declarations.extend(called);
        self.declarations.insert(head.name, opens + ";\n");
        self.ir += function;
        Some(())
    }
}

impl Direct {
    /// PTX of the module without what is visible for these functions' sake.
    pub fn hide(&self, ptx: String) -> String {
        let order = format!(".shared .align 8 .b8 {ORDER}[");
        let ptx = match self.is_empty() {
            true => ptx,
            false => ptx.replacen(&format!(".visible {order}"), &order, 1),
        };
        self.hidden.iter().fold(ptx, |ptx, name| {
            let hide = |ptx: String, kind: &str| {
                let visible = format!(".visible {kind} {name}(");
                ptx.replace(&visible, &visible[".visible ".len()..])
            };
            hide(hide(ptx, ".func"), ".entry")
        })
    }

    /// The module's declarations, and behind them those of what these functions mention and the module does not declare. What
    /// they define is no other file's.
    pub fn declare(&self, declared: &str) -> String {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let mut out = String::new();
        let mut known = HashSet::new();
        for piece in declared.split_inclusive(';') {
            let name = piece.split_once(".func").and_then(|(_, rest)| {
                let mut words = rest.split(|c: char| !is_name(c)).filter(|word| !word.is_empty());
                words.find(|word| self.declarations.contains_key(*word))
            });
            known.extend(name);
            match name.is_some_and(|name| self.defines(name)) {
                true => out += &piece.replacen(".extern ", "", 1),
                false => out += piece,
            }
        }
        let missing = self.declarations.iter().filter(|(name, _)| !known.contains(name.as_str()));
        missing.fold(String::from("\n"), |all, (_, declaration)| all + declaration) + &out
    }

    /// Defines the functions in the module that declares them, for who goes on with its LLVM IR.
    pub fn link<'ctx>(&self, context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
        let unlinked = |message: String| bug("link functions of launches", message);
        let text = self.declared() + &self.ir;
        let functions = raw::parse_ir(context, "direct", text.as_bytes()).map_err(unlinked)?;
        functions.set_triple(&module.get_triple());
        functions.set_data_layout(&module.get_data_layout());
        let own: Vec<String> = functions
            .get_functions()
            .filter(|function| function.count_basic_blocks() > 0)
            .map(|function| View::function(function).name())
            .collect();
        for function in own.iter().filter_map(|name| functions.get_function(name)) {
            function.set_linkage(Linkage::External);
        }
        let variables = [ORDER, HEAD_NAME].map(|name| module.get_global(name));
        variables.iter().flatten().for_each(|variable| variable.set_linkage(Linkage::External));
        module.link_in_module(functions).map_err(|message| unlinked(message.to_string()))?;
        variables.iter().flatten().for_each(|variable| variable.set_linkage(Linkage::Internal));
        for function in own.iter().chain(&self.hidden).filter_map(|name| module.get_function(name))
        {
            function.set_linkage(Linkage::Internal);
        }
        Ok(())
    }

    /// What the functions mention, as LLVM IR.
    fn declared(&self) -> String {
        let mut all = BTreeMap::new();
        for (at, _) in self.ir.match_indices('@') {
            let (before, rest) = self.ir.split_at(at);
            let Some(name) = Line::new(rest).name("@") else { continue };
            let before = before.trim_end();
            let declared = if before.ends_with("ptr addrspace(3)") {
                format!("@{name} = external addrspace(3) global i8")
            } else if before.ends_with("ptr addrspace(1)") {
                format!("@{name} = external addrspace(1) global i8")
            } else if before.ends_with("ptr") {
                format!("declare ptx_kernel void @\"{name}\"()")
            } else {
                continue;
            };
            all.insert(name, declared);
        }
        for line in self.ir.lines() {
            let Some((_, call)) = line.split_once("call ") else { continue };
            let mut call = Line::new(call);
            let Some((result, name)) = call.ty().zip(call.name("@")) else { continue };
            let Some(passed) = call.passed().filter(|_| !name.starts_with("llvm.")) else {
                continue;
            };
            let types: Vec<String> = passed.iter().map(|passed| passed.ty.to_string()).collect();
            let declared = format!("declare {result} @\"{name}\"({})", types.join(", "));
            all.insert(name, declared + " convergent nounwind");
        }
        let own = |name: &str| self.ir.contains(&format!("@\"{name}\"(")) && self.defines(name);
        let declared = all.iter().filter(|(name, _)| !own(name));
        declared.map(|(_, declared)| declared.as_str()).collect::<Vec<_>>().join("\n") + "\n"
    }

    fn defines(&self, name: &str) -> bool {
        self.ptx.contains(&format!(" {name}(\n"))
    }
}

/// What a kernel says of its blocks, as PTX has it behind a kernel's parameters.
pub(super) fn limits(kernel: FunctionValue<'_>) -> String {
    let directives = [".maxntid", ".reqntid", ".minnctapersm", ".maxnreg"];
    let said = |(key, directive): (&str, &str)| {
        let value = kernel.get_string_attribute(AttributeLoc::Function, key)?;
        Some(format!("{directive} {}\n", value.get_string_value().to_string_lossy()))
    };
    super::gather::LIMITS.into_iter().zip(directives).filter_map(said).collect()
}

fn function_head(head: &Head) -> String {
    calls::head(&head.name, &head.result, head.params.iter().map(|passed| &passed.ty))
}

fn kernel_head(head: &Head) -> String {
    let name = &head.name;
    let param = |(index, passed): (usize, &Passed)| match passed.by_value {
        Some(bytes) => {
            format!("\t.param .align {} .b8 {name}_param_{index}[{bytes}]", passed.align)
        }
        None => format!("\t.param .u{} {name}_param_{index}", passed.ty.bits()),
    };
    let params: Vec<String> = head.params.iter().enumerate().map(param).collect();
    format!(".entry {name}(\n{}\n)\n", params.join(",\n"))
}

/// Names a parameter, and reads it.
fn take(body: &mut Body<'_>, head: &Head, index: usize, passed: &Passed) -> Read<()> {
    let ir::Operand::Named(name) = &passed.operand else { return None };
    let place = Value::Symbol(format!("{}_param_{index}", head.name), 0);
    let value = match passed.by_value {
        Some(_) => {
            let base = body.code.operand(&place, &Ty::Ptr(GENERIC))?;
            Value::In(PARAM, Box::new(Value::Register(base)))
        }
        None => body.loaded(&passed.ty, &place, PARAM, "")?,
    };
    body.know(name.clone(), value);
    Some(())
}

#[cfg(test)]
mod tests;
