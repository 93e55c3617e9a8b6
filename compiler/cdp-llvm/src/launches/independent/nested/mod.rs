//! Whether children, with all that they launch in their turn and so on down, may run in any order: an analysis of
//! kernels that launch each other, or themselves. Who knows this may let many of them run at a time as long as no more
//! launches wait than in order, which is [`super::super::sequence`]'s business.
//!
//! The rules are [`super`]'s, for every two of all grids below a kernel, one thread's too, whoever launched them. Of an
//! address no more is known than where it begins: how far behind it a grid far below reads or writes is not. So what
//! remains is what is only read, what is only added up (or of which the least, the greatest or the bits are taken), the
//! same value stored by all, and pointers of which one is `__restrict__`.

use std::collections::HashMap;

use inkwell::values::FunctionValue;

use super::super::access::{Access, Act, Base, Function, Launching, Place, Stored, accesses};
use super::super::parent::{LaunchSite, sites_of};
use super::{Dependence, Touch, apart, places, refused, watched};
use crate::raw::view::View;

/// What kernels and all below them touch, each in terms of its own parameters.
type Touched<'ctx> = HashMap<FunctionValue<'ctx>, Vec<Access<'ctx>>>;

/// More are not looked at: each is compared with each.
const MOST_ACCESSES: usize = 200;
const MANY: &str = "children, with all that they launch, touch too many places to compare them";

/// That nobody can tell in which order what a kernel launches, and all below it, runs.
pub(in super::super) fn nested<'ctx>(
    parent: FunctionValue<'ctx>,
    sites: &[LaunchSite<'ctx>],
) -> Result<(), Dependence> {
    let below = below(sites).map_err(refused)?;
    let function = Function::parent(View::function(parent));
    let mut touches: Vec<Touch<'ctx>> = Vec::new();
    for (number, site) in sites.iter().enumerate() {
        let found = site.kernel().and_then(|kernel| below.get(&kernel));
        let found = found.into_iter().flatten();
        let found = found.flat_map(|access| seen_from(&function, site, access));
        touches.extend(found.map(|access| Touch { site: number, access }));
    }
    if touches.len() > MOST_ACCESSES {
        return Err(refused(MANY.into()));
    }
    watched(parent, &function, &touches)?;
    for (number, one) in touches.iter().enumerate() {
        for other in &touches[number..] {
            apart(&function, &one.access, &other.access)?;
        }
    }
    Ok(())
}

/// What the kernels of these sites and all below them touch.
fn below<'ctx>(sites: &[LaunchSite<'ctx>]) -> Result<Touched<'ctx>, String> {
    let kernel_of =
        |site: &LaunchSite<'ctx>| site.kernel().ok_or("a child is a kernel that is not known");
    let mut found = Touched::new();
    let mut inner: HashMap<FunctionValue<'ctx>, Vec<LaunchSite<'ctx>>> = HashMap::new();
    let mut work: Vec<FunctionValue<'ctx>> = Vec::new();
    for site in sites {
        work.push(kernel_of(site)?);
    }
    while let Some(kernel) = work.pop() {
        if found.contains_key(&kernel) {
            continue;
        }
        let view = View::function(kernel);
        if view.blocks().is_empty() {
            return Err("a child is not defined in this file".into());
        }
        let own = accesses(view, Launching::LeftOut).map_err(|what| format!("a child {what}"))?;
        found.insert(
            kernel,
            own.iter().map(|access| far(access.place.base.clone(), access)).collect(),
        );
        let launched = sites_of(kernel);
        for site in &launched {
            work.push(kernel_of(site)?);
        }
        inner.insert(kernel, launched);
    }
    // Round and round, since kernels may launch each other; there are no more places than parameters and variables.
    loop {
        let mut changed = false;
        for (kernel, launched) in &inner {
            let function = Function::new(View::function(*kernel));
            for site in launched {
                let child = site.kernel().and_then(|child| found.get(&child));
                let child = child.into_iter().flatten();
                let seen: Vec<_> =
                    child.flat_map(|access| seen_from(&function, site, access)).collect();
                let own = found.entry(*kernel).or_default();
                for access in seen {
                    if !own.iter().any(|other| is_same(other, &access)) {
                        own.push(access);
                        changed = true;
                    }
                }
                if own.len() > MOST_ACCESSES {
                    return Err(MANY.into());
                }
            }
        }
        if !changed {
            return Ok(found);
        }
    }
}

/// A child's access in terms of who launches it.
fn seen_from<'ctx>(
    parent: &Function<'ctx>,
    site: &LaunchSite<'ctx>,
    access: &Access<'ctx>,
) -> Vec<Access<'ctx>> {
    let argument = |index: u32| site.operands.get(9 + index as usize).map(|v| View::value(*v));
    let found = places(parent, &access.place.base, &argument);
    found.into_iter().map(|place| far(place.base, access)).collect()
}

/// An access at a place of which only the beginning counts, and of what is stored only what is the same everywhere.
fn far<'ctx>(base: Base, access: &Access<'ctx>) -> Access<'ctx> {
    let act = match &access.act {
        Act::Write(Some(Stored::Sum(sum)))
            if !sum.terms.is_empty()
                || sum.low != sum.high
                || u64::from(sum.bits) < access.bytes * 8 =>
        {
            Act::Write(None)
        }
        other => other.clone(),
    };
    Access { place: Place { base, offset: None }, bytes: access.bytes, act }
}

fn is_same(one: &Access<'_>, other: &Access<'_>) -> bool {
    one.place.base == other.place.base && one.bytes == other.bytes && one.act == other.act
}

#[cfg(test)]
mod tests;
