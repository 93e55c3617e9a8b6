//! Sums of symbols: integers and offsets as `a * x + b * y + c`, as far as that can be told of a value. By them
//! [`super::independent`] sees that two threads mean different places.
//!
//! A sum stands for a value up to a multiple of 2 to the power of its `bits`, so that arithmetic that wraps
//! is no obstacle: two values whose sums differ by something else than such a multiple are different.

use std::collections::BTreeMap;
use std::collections::HashMap;

use inkwell::llvm_sys::LLVMOpcode;

use crate::raw::view::View;

/// What a sum is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Symbol<'ctx> {
    /// A parameter of the kernel, by its number.
    Parameter(u32),
    /// The thread's index along x.
    Thread,
    /// A value that is the same for all threads of a block, all the time.
    Uniform(View<'ctx>),
}

/// A sum: symbols with their factors, and a rest between two bounds.
#[derive(Clone, PartialEq)]
pub(super) struct Form<'ctx> {
    pub terms: HashMap<Symbol<'ctx>, i64>,
    pub low: i64,
    pub high: i64,
    pub bits: u32,
}

/// How deep a value is looked into.
const DEPTH: u32 = 12;
/// The most that a rest may be, so that sums of some do not overflow.
const MOST: i64 = 1 << 48;

impl<'ctx> Form<'ctx> {
    pub fn range(low: i64, high: i64) -> Form<'ctx> {
        Form { terms: HashMap::new(), low, high, bits: 64 }
    }

    pub fn symbol(symbol: Symbol<'ctx>) -> Form<'ctx> {
        Form { terms: HashMap::from([(symbol, 1)]), ..Form::range(0, 0) }
    }

    /// Whether the value is the same for all threads of a block.
    pub fn is_uniform(&self) -> bool {
        self.low == self.high
            && self.terms.keys().all(|symbol| matches!(symbol, Symbol::Uniform(_)))
    }

    /// The number that it is, when it is one.
    pub fn fixed(&self) -> Option<i64> {
        (self.terms.is_empty() && self.low == self.high && self.bits == 64).then_some(self.low)
    }

    /// `self + by * other`.
    pub fn plus(&self, other: &Form<'ctx>, by: i64) -> Option<Form<'ctx>> {
        let other = other.times(by)?;
        let mut sum = self.clone();
        for (symbol, factor) in other.terms {
            let at = sum.terms.entry(symbol).or_insert(0);
            *at = at.checked_add(factor)?;
        }
        sum.terms.retain(|_, factor| *factor != 0);
        sum.low = small(sum.low.checked_add(other.low)?)?;
        sum.high = small(sum.high.checked_add(other.high)?)?;
        sum.bits = sum.bits.min(other.bits);
        Some(sum)
    }

    pub fn times(&self, by: i64) -> Option<Form<'ctx>> {
        if by == 0 {
            return Some(Form::range(0, 0));
        }
        let mut terms = HashMap::new();
        for (symbol, factor) in &self.terms {
            terms.insert(*symbol, factor.checked_mul(by)?);
        }
        let (one, other) = (small(self.low.checked_mul(by)?)?, small(self.high.checked_mul(by)?)?);
        Some(Form {
            terms,
            low: one.min(other),
            high: one.max(other),
            bits: (self.bits + by.trailing_zeros()).min(64),
        })
    }

    /// What is known of it when only so many low bits of the value are.
    pub fn within(mut self, bits: u32) -> Form<'ctx> {
        self.bits = self.bits.min(bits);
        self
    }

    /// The form with every parameter replaced by what the launch gives for it.
    pub fn with(&self, argument: &dyn Fn(u32) -> Option<Form<'ctx>>) -> Option<Form<'ctx>> {
        let mut out = Form::range(self.low, self.high).within(self.bits);
        // In one order, whatever the map's.
        let mut parameters = BTreeMap::new();
        for (symbol, factor) in &self.terms {
            match symbol {
                Symbol::Parameter(index) => drop(parameters.insert(*index, *factor)),
                other => out = out.plus(&Form::symbol(*other), *factor)?,
            }
        }
        for (index, factor) in parameters {
            out = out.plus(&argument(index)?, factor)?;
        }
        Some(out)
    }
}

fn small(rest: i64) -> Option<i64> {
    (-MOST..=MOST).contains(&rest).then_some(rest)
}

/// A value as a sum; `leaf` says what the values are that are looked into no further.
pub(super) fn form<'ctx>(
    value: View<'ctx>,
    leaf: &dyn Fn(View<'ctx>) -> Option<Form<'ctx>>,
) -> Option<Form<'ctx>> {
    walk(value, leaf, 0)
}

fn walk<'ctx>(
    value: View<'ctx>,
    leaf: &dyn Fn(View<'ctx>) -> Option<Form<'ctx>>,
    depth: u32,
) -> Option<Form<'ctx>> {
    use LLVMOpcode::{
        LLVMAdd, LLVMAnd, LLVMFreeze, LLVMMul, LLVMSExt, LLVMShl, LLVMSub, LLVMTrunc, LLVMURem,
        LLVMZExt,
    };
    if let Some(number) = value.constant_int() {
        let bits = value.bits()?;
        return Some(Form::range(small(number)?, number).within(bits));
    }
    if let Some(found) = leaf(value) {
        return Some(found);
    }
    if depth == DEPTH {
        return None;
    }
    let bits = value.bits()?;
    let operands = value.operands();
    let next = |index: usize| walk(*operands.get(index)?, leaf, depth + 1);
    let constant = |index: usize| operands.get(index).and_then(|operand| operand.constant_int());
    let found = match value.opcode()? {
        LLVMAdd => next(0)?.plus(&next(1)?, 1)?,
        LLVMSub => next(0)?.plus(&next(1)?, -1)?,
        LLVMMul => match (constant(0), constant(1)) {
            (_, Some(by)) => next(0)?.times(by)?,
            (Some(by), _) => next(1)?.times(by)?,
            _ => return None,
        },
        LLVMShl => next(0)?.times(1 << constant(1).filter(|by| (0..32).contains(by))?)?,
        LLVMTrunc | LLVMFreeze => next(0)?,
        // What is widened differs from the sum by a multiple of what the narrow one wrapped at.
        LLVMSExt | LLVMZExt => {
            let from = operands.first()?.bits()?;
            match next(0) {
                Some(inner) => inner.within(from),
                None if value.opcode() == Some(LLVMZExt) && from <= 16 => {
                    Form::range(0, (1 << from) - 1)
                }
                None => return None,
            }
        }
        LLVMAnd => Form::range(0, constant(1).filter(|mask| *mask >= 0)?),
        LLVMURem => Form::range(0, constant(1).filter(|by| *by > 0)? - 1),
        _ => return None,
    };
    Some(found.within(bits))
}
