//! Whether children that different threads of a block launch into the NULL stream may overlap, although the stream
//! would have them run one after another: whether nobody can tell. An analysis, which answers in words.
//!
//! Children of one thread stay in order whatever is found here, children of different blocks never were. What
//! remains are two children of different threads of a block, of one site or of two. They may overlap when one thread
//! of a block does all launches ([`super::single`]), or when of each two accesses of such children
//!
//! - none writes; or
//! - they begin at different objects: different variables, or pointers that the parent takes, of which one is
//!   `__restrict__`. A launch is to `__restrict__` what a call is: what children do by a pointer counts as
//!   their parent's doing, as their grids are part of the parent's. What a *child* says of its own pointers is no
//!   proof, since it speaks of one child; or
//! - both are the same atomic operation on integers, for the whole device, whose result nobody looks at: sums,
//!   least, greatest, bits. Sums of floating-point numbers depend on their order: where the program orders its launches
//!   (by barriers, or with one thread), its result is the same each time, so the order is kept; or
//! - both store the same value, in one piece; or
//! - they begin at one object and the distance between them grows with the threads' indices: `out[row]`,
//!   `out[row * 16 + 3]` where the row is an argument and a thread's index and something else. This asks for blocks of
//!   one dimension, which is looked at when the parent runs. Segments whose bounds come from memory
//!   (`start[row]` to `start[row + 1]`) are not known to be apart.
//!
//! Nor may anybody else tell which of two children was first. A child that has a fence, volatile accesses, or atomic
//! operations at whose results it looks, is refused: without these no other thread is ordered with what it does
//! before its grid ends. A parent that looks, by such means, at what its children write is refused. A child that
//! launches is refused: as its siblings run at the same time, more of its own launches wait at a time than would in
//! order, and the device has room for as many as the program asked for. [`nested`] is asked of these.
//!
//! What is absent: what is done with children that may overlap ([`super::relax`], [`super::distribute`],
//! [`super::sequence`]).

pub(super) mod nested;

use std::collections::HashSet;

use inkwell::llvm_sys::{LLVMAtomicRMWBinOp, LLVMOpcode};
use inkwell::values::FunctionValue;

use super::access::{Access, Act, Base, Function, Launching, Place, Stored, accesses};
use super::calls::{Callee, callee};
use super::form::{Form, Symbol};
use super::parent::{LaunchSite, listens};
use super::single;
use crate::raw;
use crate::raw::view::View;

/// That children may overlap, and what for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Independent {
    /// One thread of a block does all launches.
    pub single: bool,
    /// Only in blocks of one dimension.
    pub flat: bool,
}

/// Why children may not overlap, in words, and what the user could write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Dependence {
    pub reason: String,
    pub advice: String,
}

/// Blocks have no more threads along x than this.
const MOST_THREADS: i64 = 1024;
/// What a user could write.
pub(super) const PRAGMA: &str = "if children that different threads launch may overlap, as those of different blocks do, say so \
                      with `#pragma cdp independent`, or give -flaunch-opt=fast";

/// An access of a child in terms of its parent.
struct Touch<'ctx> {
    site: usize,
    access: Access<'ctx>,
}

/// Whether the children of these sites, all that the kernel launches into its NULL stream, may overlap when different
/// threads of a block launch them.
pub(super) fn independent<'ctx>(
    parent: FunctionValue<'ctx>,
    sites: &[&LaunchSite<'ctx>],
) -> Result<Independent, Dependence> {
    if single::one_thread(parent, sites) {
        return Ok(Independent { single: true, flat: true });
    }
    let function = Function::parent(View::function(parent));
    let mut touches = Vec::new();
    for (number, site) in sites.iter().enumerate() {
        let found = touched(&function, site);
        let found = found.map_err(|what| refused(format!("a child {what}")))?;
        touches.extend(found.into_iter().map(|access| Touch { site: number, access }));
    }
    watched(parent, &function, &touches)?;
    let mut flat = false;
    for (number, one) in touches.iter().enumerate() {
        for other in &touches[number..] {
            let said = sites[one.site].said.independent && sites[other.site].said.independent;
            if !said {
                flat |= apart(&function, &one.access, &other.access)?;
            }
        }
    }
    Ok(Independent { single: false, flat })
}

fn refused(reason: String) -> Dependence {
    Dependence { reason, advice: PRAGMA.into() }
}

/// The accesses of a site's child, in terms of the parent.
fn touched<'ctx>(
    parent: &Function<'ctx>,
    site: &LaunchSite<'ctx>,
) -> Result<Vec<Access<'ctx>>, String> {
    let kernel = site.operands.first().and_then(|operand| raw::as_function(*operand));
    let kernel = View::function(kernel.ok_or("is a kernel that is not known")?);
    if kernel.blocks().is_empty() {
        return Err("is not defined in this file".into());
    }
    let argument = |index: u32| site.operands.get(9 + index as usize).map(|v| View::value(*v));
    let sum = |index: u32| parent.form(argument(index)?);
    let mut found = Vec::new();
    for Access { place, bytes, act } in accesses(kernel, Launching::Refused)? {
        let offset = place.offset.and_then(|offset| offset.with(&sum));
        let act = match act {
            Act::Write(Some(Stored::Sum(value))) => {
                let value = value.with(&sum).filter(|value| value.is_uniform());
                let value = value.filter(|value| u64::from(value.bits) >= bytes * 8);
                Act::Write(value.map(Stored::Sum))
            }
            other => other,
        };
        for begin in places(parent, &place.base, &argument) {
            let offset = begin.offset.zip(offset.as_ref()).and_then(|(b, o)| b.plus(o, 1));
            let place = Place { base: begin.base, offset };
            found.push(Access { place, bytes, act: act.clone() });
        }
    }
    Ok(found)
}

/// What a place in a child is to its parent.
fn places<'ctx>(
    parent: &Function<'ctx>,
    base: &Base,
    argument: &dyn Fn(u32) -> Option<View<'ctx>>,
) -> Vec<Place<'ctx>> {
    let unknown = || vec![Place { base: Base::Unknown, offset: None }];
    match base {
        Base::Parameter(index) => argument(*index).map_or_else(unknown, |v| parent.places(v)),
        Base::Variable(_) => vec![Place { base: base.clone(), offset: Some(Form::range(0, 0)) }],
        Base::Field(index, at) => {
            let given = argument(*index).map_or_else(unknown, |value| parent.places(value));
            match &given[..] {
                [Place { base: Base::Struct(index), offset: Some(begin) }] => {
                    let field = begin.fixed().filter(|_| parent.is_unchanged(*index));
                    field.map_or_else(unknown, |begin| {
                        let base = Base::Field(*index, begin + at);
                        vec![Place { base, offset: Some(Form::range(0, 0)) }]
                    })
                }
                _ => unknown(),
            }
        }
        _ => unknown(),
    }
}

/// That the parent does not look at what its children write while they may run.
fn watched<'ctx>(
    kernel: FunctionValue<'ctx>,
    parent: &Function<'ctx>,
    touches: &[Touch<'ctx>],
) -> Result<(), Dependence> {
    let written: Vec<&Base> = touches
        .iter()
        .filter(|touch| !matches!(touch.access.act, Act::Read))
        .map(|touch| &touch.access.place.base)
        .collect();
    let looks = || refused("the parent may look at what its children write".into());
    let (mut seen, mut work) = (HashSet::new(), vec![View::function(kernel)]);
    while let Some(view) = work.pop() {
        if !seen.insert(view) {
            continue;
        }
        for instruction in view.instructions() {
            if let Some(Callee::Defined(next)) = instruction.callee().map(callee) {
                work.push(next);
            }
            let opcode = instruction.opcode();
            if !listens(instruction) || opcode == Some(LLVMOpcode::LLVMFence) {
                continue;
            }
            if opcode == Some(LLVMOpcode::LLVMCall) {
                let name = instruction.callee().map(View::name).unwrap_or_default();
                let fence = ["llvm.nvvm.membar", "llvm.nvvm.fence"];
                match fence.iter().any(|start| name.starts_with(start)) {
                    true => continue,
                    false => return Err(looks()),
                }
            }
            let found = match instruction.operand(0) {
                Some(address) => Function::new(view).places(address),
                None => return Err(looks()),
            };
            for place in found {
                let outside = view != View::function(kernel)
                    && matches!(place.base, Base::Parameter(_) | Base::Field(..));
                let base = if outside { Base::Unknown } else { place.base };
                if written.iter().any(|written| !differ(parent, &base, written)) {
                    return Err(looks());
                }
            }
        }
    }
    Ok(())
}

/// Whether two places that begin so are never the same.
fn differ(parent: &Function<'_>, one: &Base, other: &Base) -> bool {
    use Base::{Constant, Field, Own, Parameter, Struct, Unknown, Variable};
    let restrict = |base: &Base| matches!(base, Parameter(index) if parent.is_restrict(*index));
    match (one, other) {
        (Own | Struct(_) | Constant, _) | (_, Own | Struct(_) | Constant) => true,
        (Unknown, _) | (_, Unknown) => false,
        (Variable(one), Variable(other)) => one != other,
        (Parameter(_) | Field(..) | Variable(_), Parameter(_) | Field(..) | Variable(_)) => {
            one != other && (restrict(one) || restrict(other))
        }
    }
}

/// That two accesses of children of different threads are not in each other's way. Yields whether that is so in
/// blocks of one dimension only.
fn apart<'ctx>(
    parent: &Function<'ctx>,
    one: &Access<'ctx>,
    other: &Access<'ctx>,
) -> Result<bool, Dependence> {
    let same = one.bytes == other.bytes && one.bytes != 0;
    match (&one.act, &other.act) {
        (Act::Read, Act::Read) => return Ok(false),
        _ if differ(parent, &one.place.base, &other.place.base) => return Ok(false),
        (Act::Reduce(a), Act::Reduce(b)) if a == b && same && commutes(*a) => return Ok(false),
        (Act::Write(Some(a)), Act::Write(Some(b))) if a == b && same => return Ok(false),
        _ => {}
    }
    let known = !matches!(one.place.base, Base::Unknown) && one.place.base == other.place.base;
    if let (true, Some(a), Some(b)) = (known, &one.place.offset, &other.place.offset)
        && are_apart(a, b, one.bytes.max(other.bytes))
        && one.bytes != 0
        && other.bytes != 0
    {
        return Ok(true);
    }
    Err(conflict(one, other))
}

fn commutes(kind: LLVMAtomicRMWBinOp) -> bool {
    kind != LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd
}

/// Whether two offsets are at least so many bytes apart whenever the threads are two.
fn are_apart(one: &Form<'_>, other: &Form<'_>, bytes: u64) -> bool {
    let thread = |form: &Form<'_>| form.terms.get(&Symbol::Thread).copied().unwrap_or(0);
    let factor = thread(one);
    if factor == 0 || one.terms != other.terms {
        return false;
    }
    let uniform = |symbol: &Symbol<'_>| !matches!(symbol, Symbol::Parameter(_));
    let (factor, bits) = (i128::from(factor).abs(), one.bits.min(other.bits));
    let slack = i128::from(one.high - other.low).abs().max(i128::from(one.low - other.high).abs());
    let bytes = i128::from(bytes);
    // The nearest are neighbours; the farthest must not come round to where the first began.
    let farthest = factor * i128::from(MOST_THREADS - 1) + slack + bytes;
    one.terms.keys().all(uniform) && factor - slack >= bytes && farthest <= 1_i128 << bits
}

/// Why two accesses may be in each other's way.
fn conflict(one: &Access<'_>, other: &Access<'_>) -> Dependence {
    let name = |base: &Base| match base {
        Base::Parameter(index) => format!("parameter {} of the parent", index + 1),
        Base::Field(index, at) => {
            format!("the pointer at byte {at} of parameter {} of the parent", index + 1)
        }
        Base::Variable(name) => format!("`{name}`"),
        _ => "an address that is not known here".to_string(),
    };
    let (a, b) = (name(&one.place.base), name(&other.place.base));
    let float = |act: &Act<'_>| matches!(act, Act::Reduce(kind) if !commutes(*kind));
    if float(&one.act) && float(&other.act) {
        let reason = "children add up floating-point numbers, whose sum depends on their order";
        return refused(reason.into());
    }
    let reads = |act: &Act<'_>| matches!(act, Act::Read);
    let reason = match (reads(&one.act), reads(&other.act)) {
        (true, false) => format!("a child may read by {a} what another writes by {b}"),
        (false, true) => format!("a child may read by {b} what another writes by {a}"),
        _ if a == b => format!("two children may write the same place by {a}"),
        _ => format!("two children may write the same place by {a} and {b}"),
    };
    let pointers = [&one.place.base, &other.place.base];
    let restrict = one.place.base != other.place.base
        && pointers.iter().any(|base| matches!(base, Base::Parameter(_)))
        && !pointers.iter().any(|base| matches!(base, Base::Unknown));
    let advice = match restrict {
        true => format!(
            "if these never lead to the same memory, declare them `__restrict__` in the parent; {PRAGMA}"
        ),
        false => PRAGMA.into(),
    };
    Dependence { reason, advice }
}

#[cfg(test)]
mod tests;
