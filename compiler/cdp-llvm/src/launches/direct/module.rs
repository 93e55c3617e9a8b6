//! What the module knows of functions that LLVM has no part in: declarations of what it calls, and what they call, which has
//! to be there though nobody in the module mentions it.
//!
//! What is absent: how they become PTX ([`super`]).

use inkwell::AddressSpace;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::{BasicMetadataTypeEnum, IntType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, FunctionValue, PointerValue,
};

use super::super::argument::{Argument, words};
use super::super::child::is_kernel;
use super::super::distribute::LAUNCHED;
use super::super::emit::{ORDER, quoted};
use super::super::sequence::{HEAD_NAME, MEMORY_NAME};
use super::super::{Pass, Plan, prepare};
use crate::error::{Result, bug};
use crate::options::DebugInfo;
use crate::raw;
use crate::raw::view::View;

impl<'ctx> Pass<'_, 'ctx> {
    /// Whether anything is made without LLVM: not where somebody looks at its IR, or wants to know which line code is of.
    pub(in super::super) fn makes_directly(&self) -> bool {
        let options = self.options;
        options.debug == DebugInfo::None && options.print_after.is_none() && options.abi.is_v2()
    }

    /// Makes a site's function, and declares it; whether that was done.
    pub(in super::super) fn site_directly(
        &mut self,
        plan: &Plan<'ctx>,
        name: &str,
        function: &str,
    ) -> bool {
        if !self.makes_directly() || plan.late {
            return false;
        }
        let mut operands: Vec<Option<BasicValueEnum<'ctx>>> =
            plan.site.operands[1..].iter().copied().map(Some).collect();
        if function.contains(LAUNCHED) {
            operands.insert(8, None);
        }
        let Some(arguments) = self.site_arguments(plan) else { return false };
        let first = operands.len() - arguments.len();
        let passed = |(index, operand): (usize, &Option<BasicValueEnum<'ctx>>)| {
            let argument = index.checked_sub(first).and_then(|index| arguments[index].by_value);
            match (argument, operand.and_then(constant)) {
                (Some((bytes, align)), _) => Passing::Struct(bytes, align),
                (None, Some(number)) => Passing::Number(number),
                (None, None) => Passing::Value,
            }
        };
        let passing: Vec<Passing> = operands.iter().enumerate().map(passed).collect();
        let Some((function, taken)) = with_passing(function, &passing) else { return false };
        if self.direct.add(&function, "", self.options.abi).is_none() {
            return false;
        }
        let flag = self.context.ptr_type(AddressSpace::default()).into();
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        for (operand, taken) in operands.iter().zip(&taken) {
            match *taken {
                Taken::Not => {}
                Taken::Value => params.push(operand.map_or(flag, |value| value.get_type().into())),
                Taken::Words(bytes, align) => {
                    params.extend(words(bytes, align).into_iter().map(|(_, bits)| self.word(bits)));
                }
            }
        }
        let ty = self.context.i32_type().fn_type(&params, false);
        let declared = self.module.add_function(name, ty, None);
        for attribute in ["convergent", "nounwind"] {
            prepare::flag(self.context, declared, attribute);
        }
        self.direct.taken.insert(name.to_string(), taken);
        true
    }

    /// The arguments of a site's launch.
    fn site_arguments(&self, plan: &Plan<'ctx>) -> Option<Vec<Argument>> {
        self.arguments(&plan.site, raw::as_function(plan.site.operands[0])?)
    }

    fn word(&self, bits: u64) -> BasicMetadataTypeEnum<'ctx> {
        self.integer(bits).into()
    }

    fn integer(&self, bits: u64) -> IntType<'ctx> {
        match bits {
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            32 => self.context.i32_type(),
            _ => self.context.i64_type(),
        }
    }

    /// What a site's function is called with, of all that there is; `flag` says whether the thread launched.
    pub(in super::super) fn passed(
        &self,
        function: FunctionValue<'ctx>,
        mut operands: Vec<BasicMetadataValueEnum<'ctx>>,
        flag: PointerValue<'ctx>,
        builder: &Builder<'ctx>,
    ) -> Result<Vec<BasicMetadataValueEnum<'ctx>>> {
        let taken = self.direct.taken.get(&View::function(function).name());
        if taken.map_or(function.count_params() as usize, Vec::len) > operands.len() {
            operands.insert(8, flag.into());
        }
        let Some(taken) = taken else { return Ok(operands) };
        let mut passed = Vec::new();
        for (operand, taken) in operands.into_iter().zip(taken) {
            match (*taken, operand) {
                (Taken::Words(bytes, align), BasicMetadataValueEnum::PointerValue(address)) => {
                    for (at, bits) in words(bytes, align) {
                        let at = self.context.i64_type().const_int(at, false);
                        let byte = self.context.i8_type();
                        // SAFETY: within the struct.
                        let place = unsafe { builder.build_gep(byte, address, &[at], "")? };
                        let word = builder.build_load(self.integer(bits), place, "")?;
                        if let Some(load) = word.as_instruction_value() {
                            let set = load.set_alignment((bits / 8) as u32);
                            set.map_err(|error| bug("optimise launches", error.to_string()))?;
                        }
                        passed.push(word.into());
                    }
                }
                (Taken::Not, _) => {}
                (_, operand) => passed.push(operand),
            }
        }
        Ok(passed)
    }

    /// Definitions to be linked in, of which these functions may be the only ones to mention variables.
    pub(in super::super) fn visible_for_direct(&self, definitions: String) -> String {
        match self.direct.is_empty() {
            true => definitions,
            false => definitions.replace(" = internal addrspace", " = addrspace"),
        }
    }

    /// Makes the variables of recorded launches the module's own again. What one kernel alone mentions of shared memory would
    /// stand in that kernel.
    pub(in super::super) fn hide_variables(&self) {
        for name in [ORDER, HEAD_NAME, MEMORY_NAME] {
            let linkage = match name == ORDER && !self.direct.is_empty() {
                true => Linkage::External,
                false => Linkage::Internal,
            };
            if let Some(variable) = self.module.get_global(name) {
                variable.set_linkage(linkage);
            }
        }
    }

    /// Has what these functions call and launch stay, visible for now.
    pub(in super::super) fn keep_for_direct(&mut self) {
        self.hide_variables();
        if self.direct.is_empty() {
            return;
        }
        for function in self.module.get_functions() {
            let name = View::function(function).name();
            let used = match is_kernel(function) {
                true => self.direct.ir.contains(&format!("ptr {}", quoted(&name))),
                false => self.direct.declarations.contains_key(&name),
            };
            if !used || function.count_basic_blocks() == 0 {
                continue;
            }
            match function.get_linkage() {
                Linkage::Internal | Linkage::Private => {
                    function.set_linkage(Linkage::External);
                    self.direct.hidden.push(name);
                }
                Linkage::LinkOnceODR => function.set_linkage(Linkage::WeakODR),
                Linkage::LinkOnceAny => function.set_linkage(Linkage::WeakAny),
                _ => {}
            }
        }
    }
}

/// What a site says of an operand that is the same wherever it comes to the launch.
fn constant(operand: BasicValueEnum<'_>) -> Option<i64> {
    match operand {
        BasicValueEnum::PointerValue(pointer) => pointer.is_null().then_some(0),
        operand => View::value(operand).constant_int().filter(|_| operand.is_int_value()),
    }
}

/// How a function gets what it is called with.
#[derive(Clone, Copy)]
pub(super) enum Passing {
    Value,
    /// It is always the same.
    Number(i64),
    /// By its bytes, so many, and aligned so.
    Struct(u64, u64),
}

/// How a function takes what is passed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It knows it, or never mentions it.
    Not,
    Value,
    /// A struct of so many bytes, and aligned so, as its words.
    Words(u64, u64),
}

/// A function that gets its parameters so, and how it takes each.
pub(super) fn with_passing(function: &str, passing: &[Passing]) -> Option<(String, Vec<Taken>)> {
    let (head, body) = function.split_once("{\nentry:\n")?;
    let (opens, rest) = head.split_once('(')?;
    let (params, attributes) = rest.rsplit_once(')')?;
    let params: Vec<&str> = params.split(", ").collect();
    let mut taken = Vec::new();
    let mut known = String::new();
    let mut left = Vec::new();
    for (param, passing) in params.iter().zip(passing) {
        let (ty, name) = param.split_once(' ')?;
        let is_mentioned = mentions(body, name);
        taken.push(match *passing {
            Passing::Value if is_mentioned => {
                left.push((*param).to_string());
                Taken::Value
            }
            Passing::Struct(bytes, align) if is_mentioned => {
                known += &format!("  {name} = alloca [{bytes} x i8], align {align}\n");
                for (at, bits) in words(bytes, align) {
                    let (word, place) = (format!("{name}.{at}"), format!("{name}.at.{at}"));
                    left.push(format!("i{bits} {word}"));
                    known += &format!("  {place} = getelementptr i8, ptr {name}, i64 {at}\n");
                    known += &format!("  store i{bits} {word}, ptr {place}, align {}\n", bits / 8);
                }
                Taken::Words(bytes, align)
            }
            Passing::Number(number) if is_mentioned => {
                known += &match ty {
                    "ptr" => format!("  {name} = inttoptr i64 {number} to ptr\n"),
                    ty => format!("  {name} = add {ty} {number}, 0\n"),
                };
                Taken::Not
            }
            _ => Taken::Not,
        });
    }
    let left = left.join(", ");
    (params.len() == passing.len())
        .then(|| (format!("{opens}({left}){attributes}{{\nentry:\n{known}{body}"), taken))
}

/// Whether a text has a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "_.-$".contains(c);
    text.match_indices(name).any(|(at, _)| !text[at + name.len()..].starts_with(goes_on))
}
