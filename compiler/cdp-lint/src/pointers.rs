//! Pointers to local and shared memory that are given to child grids, or returned.
//!
//! Where a pointer points is judged without following control flow: a local pointer variable points to what
//! any assignment in its function gave it. All local or shared: certain, an error. Some: possible, a
//! warning. Anything that came through memory or a call is unknown, and silent.

use std::borrow::Cow;

use cdp_diagnostics::Code;
use cdp_diagnostics::source::Span;
use cdp_ir as ir;
use cdp_ir::{AddressSpace, Expr, Loc, Type};

use crate::Body;
use crate::source::{Site, Source, Variable};
use crate::values::{Origin, origins};

/// What a pointer is used for that local and shared memory are not good for.
enum Use {
    LaunchArgument {
        kernel: Cow<'static, str>,
        number: usize,
    },
    /// `cudaMemcpyAsync` and its like.
    Copy {
        function: Cow<'static, str>,
    },
}

/// A pointer to judge at the end of the function.
pub(crate) struct Deferred {
    origins: Vec<Origin>,
    span: Span,
    purpose: Use,
}

impl Body {
    /// Keeps the pointers among the arguments of a launch.
    pub(crate) fn defer_arguments(
        &mut self,
        launch: &ir::Launch,
        site: &Site,
        source: &dyn Source,
    ) {
        let written = launch.args.iter().zip(&launch.params).zip(&site.args);
        for (index, ((arg, param), span)) in written.enumerate() {
            if matches!(source.types().get(*param), Type::Pointer(_) | Type::Record(_)) {
                let purpose = Use::LaunchArgument { kernel: site.name.clone(), number: index + 1 };
                self.defer(arg, *span, purpose, source);
            }
        }
    }

    /// Keeps the pointers of a copy or fill; the last argument is its stream.
    pub(crate) fn defer_copy(&mut self, args: &[Expr], loc: Loc, source: &dyn Source) {
        let (Some(site), Some((_, args))) = (self.take_site(loc), args.split_last()) else {
            return;
        };
        for (arg, span) in args.iter().zip(&site.args) {
            if source.types().is_pointer(arg.ty) {
                self.defer(arg, *span, Use::Copy { function: site.name.clone() }, source);
            }
        }
    }

    fn defer(&mut self, arg: &Expr, span: Span, purpose: Use, source: &dyn Source) {
        let origins = origins(arg, source);
        let matters = |origin: &Origin| match origin {
            Origin::Variable(_) => true,
            origin => nearby(*origin, source).is_some(),
        };
        if origins.iter().any(matters) {
            self.deferred.push(Deferred { origins, span, purpose });
        }
    }

    /// All places that origins may be, variables followed; `None` stands for those that children reach.
    fn places(&self, origins: &[Origin], source: &dyn Source) -> Vec<Option<Variable>> {
        let mut places = Vec::new();
        let mut seen = Vec::new();
        let mut queue = origins.to_vec();
        while let Some(origin) = queue.pop() {
            let mut place = nearby(origin, source);
            if let Origin::Variable(local) = origin {
                if seen.contains(&local) {
                    continue;
                }
                seen.push(local);
                let facts = self.facts(local);
                queue.extend(&facts.origins);
                if !facts.escaped && !self.is_param(local) && !facts.origins.is_empty() {
                    continue;
                }
                place = None;
            }
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// Judges the pointers that were kept.
    pub(crate) fn judge_pointers(&mut self, source: &dyn Source) {
        for deferred in std::mem::take(&mut self.deferred) {
            let places = self.places(&deferred.origins, source);
            let certain = !places.contains(&None);
            if let Some(place) = places.into_iter().flatten().next() {
                self.report_pointer(&deferred, place, certain, source);
            }
        }
    }

    fn report_pointer(
        &mut self,
        deferred: &Deferred,
        place: Variable,
        certain: bool,
        source: &dyn Source,
    ) {
        let (name, declared) = source.variable(place);
        let local = matches!(place, Variable::Local(_));
        let (kind, lives) = match local {
            true => ("local", "local memory of the launching thread"),
            false => ("shared", "shared memory of the launching block"),
        };
        let may = if certain { "points" } else { "may point" };
        let subject = match name {
            "" => format!("a temporary in {kind} memory"),
            name => format!("`{name}`"),
        };
        let (code, what, reason, cure) = match &deferred.purpose {
            Use::LaunchArgument { kernel, number } => (
                match (certain, local) {
                    (true, true) => Code::E0403,
                    (true, false) => Code::E0404,
                    (false, _) => Code::W0710,
                },
                format!("argument {number} of the launch of `{kernel}`"),
                "a child grid cannot reach its parent's local and shared memory",
                match local {
                    true => {
                        "let it point to global memory: `cudaMalloc`, `new`, or a `__device__` variable"
                    }
                    false => "copy the data to global memory before the launch",
                },
            ),
            Use::Copy { function } => (
                if certain { Code::E0605 } else { Code::W0711 },
                format!("an argument of `{function}`"),
                "the copy may run as a grid of its own, which cannot reach local and shared memory",
                "copy between places in global memory, or assign in a loop",
            ),
        };
        let label = format!("`{name}` lives in {lives}");
        self.report(code, deferred.span, format!("{what} {may} to {subject}, in {kind} memory"))
            .secondary(declared, label)
            .note(reason)
            .help(cure);
    }

    /// `return` of the address of a local.
    pub(crate) fn returned(&mut self, value: &Expr, loc: Loc, source: &dyn Source) {
        let Some(site) = self.take_site(loc) else { return };
        let [Origin::Local(local)] = origins(value, source)[..] else { return };
        let name = source.variable(Variable::Local(local)).0;
        if name.is_empty() {
            return;
        }
        let message = format!("the address of the local variable `{name}` is returned");
        self.report(Code::W0708, site.span, message)
            .note("the variable is gone when the function has returned");
    }
}

/// The variable in local or shared memory whose address an origin is.
fn nearby(origin: Origin, source: &dyn Source) -> Option<Variable> {
    match origin {
        Origin::Local(local) => Some(Variable::Local(local)),
        Origin::Global(global) => {
            let known = source.module().globals.get(global.0 as usize)?;
            (known.space == AddressSpace::Shared).then_some(Variable::Global(global))
        }
        Origin::Variable(_) | Origin::Other => None,
    }
}
