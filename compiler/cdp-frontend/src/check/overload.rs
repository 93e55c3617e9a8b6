//! Overload resolution: which function a call means (C++17 [over.match], without templates).

use std::rc::Rc;

use super::builtins::Overload;
use super::ctype::Basic;
use super::rank::{Class, Rank};
use super::scope::{ExecutionSpace, FnId};
use super::signatures::Accepts;
use super::state::Checker;
use super::value::{FnRef, Kind, Value};
use crate::diagnostics::Code;
use crate::diagnostics::render::counted;
use crate::scopes::ScopeId;
use crate::source::Span;

/// What a candidate is.
#[derive(Clone, Copy, Debug)]
pub enum Callable {
    User(FnId),
    Builtin(Overload),
}

/// A function that a call may mean.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub callable: Callable,
    pub params: Rc<[Accepts]>,
    pub required: usize,
    pub variadic: bool,
}

/// The outcome of resolution.
pub enum Choice {
    One(Candidate),
    /// One of C++'s extra overloads for integer and mixed arguments, which CUDA leaves to host
    /// code.
    HostOnly(Candidate),
    None,
    Ambiguous(Vec<Candidate>),
}

impl<'a> Checker<'a> {
    /// All candidates behind a function name, with those of the arguments' namespaces.
    pub fn candidates(&mut self, functions: &FnRef, args: &[Value<'a>]) -> Vec<Candidate> {
        let mut user = functions.user.clone();
        for ns in self.associated_namespaces(args) {
            let Some(symbol) = self.session.names.lookup(&functions.name) else { continue };
            for id in self.functions_of(&self.names.scopes.lookup_in(ns, symbol, |_| true)) {
                if !user.contains(&id) {
                    user.push(id);
                }
            }
        }
        let mut list: Vec<Candidate> = user.into_iter().map(|id| self.user_candidate(id)).collect();
        for overload in &functions.builtin {
            let candidate = self.builtin_candidate(*overload);
            // A prototype of a library function says nothing that the row does not say better.
            list.retain(|other| match other.callable {
                Callable::User(id) => {
                    let func = self.names.func(id);
                    let library =
                        func.extern_c && !func.defined && func.space == ExecutionSpace::Host;
                    !(library && other.params == candidate.params)
                }
                Callable::Builtin(_) => true,
            });
            // The program's own definition replaces a builtin of the same parameters.
            let replaced = list.iter().any(|other| {
                matches!(other.callable, Callable::User(_)) && other.params == candidate.params
            });
            if !replaced {
                list.push(candidate);
            }
        }
        list
    }

    pub fn user_candidate(&self, id: FnId) -> Candidate {
        let func = self.names.func(id);
        Candidate {
            callable: Callable::User(id),
            params: func.params.iter().map(|param| Accepts::Type(param.ty)).collect(),
            required: func.required(),
            variadic: func.variadic,
        }
    }

    /// The namespaces of the arguments' class and enumeration types (C++ [basic.lookup.argdep]).
    fn associated_namespaces(&self, args: &[Value<'a>]) -> Vec<ScopeId> {
        let mut found = Vec::new();
        for arg in args {
            let mut ty = arg.ty;
            loop {
                if let Some(to) = self.types.pointee(ty) {
                    ty = to;
                } else if let Some((elem, _)) = self.types.array(ty) {
                    ty = elem;
                } else {
                    break;
                }
            }
            let ns = match (self.types.record_id(ty), self.types.enum_id(ty)) {
                (Some(id), _) => self.types.record(id).ns,
                (_, Some(id)) => self.types.enumeration(id).ns,
                _ => continue,
            };
            if !found.contains(&ns) {
                found.push(ns);
            }
        }
        found
    }

    fn rank_param(&mut self, arg: &Value<'a>, param: Accepts) -> Option<Rank> {
        match param {
            Accepts::Type(ty) => self.rank(arg, ty),
            Accepts::AnyPointer { levels, is_const } => self.rank_any(arg, levels, is_const),
            Accepts::Kernel => match &arg.kind {
                Kind::Fns(functions) => (!functions.user.is_empty()).then_some(Rank::EXACT),
                _ => {
                    let ty = self.decay(arg.ty);
                    self.types.is_pointer(ty).then_some(Rank::EXACT)
                }
            },
            Accepts::Symbol => arg.is_lvalue().then_some(Rank::EXACT),
        }
    }

    fn rank_any(&mut self, arg: &Value<'a>, levels: u8, is_const: bool) -> Option<Rank> {
        let exact = Rank { detail: 2, ..Rank::EXACT };
        if arg.null {
            return Some(exact);
        }
        if let Kind::Fns(functions) = &arg.kind {
            return (levels == 1 && functions.user.len() == 1).then_some(exact);
        }
        if self.types.is_nullptr(arg.ty) {
            return Some(exact);
        }
        let mut ty = self.decay(arg.ty);
        for _ in 0..levels {
            ty = self.types.pointee(ty)?;
        }
        if levels == 1 && !is_const && ty.is_const() {
            return None;
        }
        Some(exact)
    }

    fn ranks(&mut self, candidate: &Candidate, args: &[Value<'a>]) -> Option<Vec<Rank>> {
        let count = candidate.params.len();
        if args.len() < candidate.required || (args.len() > count && !candidate.variadic) {
            return None;
        }
        args.iter()
            .enumerate()
            .map(|(index, arg)| match candidate.params.get(index) {
                Some(&param) => self.rank_param(arg, param),
                None => Some(Rank::ELLIPSIS),
            })
            .collect()
    }

    /// Chooses among candidates.
    pub fn resolve(&mut self, candidates: &[Candidate], args: &[Value<'a>]) -> Choice {
        let mut viable: Vec<(usize, Vec<Rank>)> = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            if let Some(ranks) = self.ranks(candidate, args) {
                viable.push((index, ranks));
            }
        }
        if let Some(index) = self.promoting_row(candidates, &viable, args) {
            let candidate = candidates[index].clone();
            let host_only = match candidate.callable {
                Callable::Builtin(row) => !row.func.flags.promote_on_device,
                Callable::User(_) => false,
            };
            let in_device_code = self.f.space.device_only() && !self.f.builtin_body;
            return if host_only && in_device_code && self.around.unevaluated == 0 {
                Choice::HostOnly(candidate)
            } else {
                Choice::One(candidate)
            };
        }
        let best: Vec<usize> = viable
            .iter()
            .filter(|(index, ranks)| {
                viable.iter().all(|(other, theirs)| {
                    index == other
                        || self.better((&candidates[*index], ranks), (&candidates[*other], theirs))
                        || self.tie_break(&candidates[*index], &candidates[*other], ranks, theirs)
                })
            })
            .map(|(index, _)| *index)
            .collect();
        match (best.as_slice(), viable.as_slice()) {
            ([one], _) => Choice::One(candidates[*one].clone()),
            (_, []) => Choice::None,
            _ => Choice::Ambiguous(
                viable.iter().map(|(index, _)| candidates[*index].clone()).collect(),
            ),
        }
    }

    /// Whether the first sequence of conversions is nowhere worse and somewhere better. A value and
    /// a reference do not differ by the qualifiers that the reference adds.
    fn better(&self, ours: (&Candidate, &[Rank]), theirs: (&Candidate, &[Rank])) -> bool {
        let reference = |candidate: &Candidate, index: usize| match candidate.params.get(index) {
            Some(Accepts::Type(ty)) => self.types.referent(*ty).is_some(),
            _ => false,
        };
        let mut some_better = false;
        for (index, (a, b)) in ours.1.iter().zip(theirs.1).enumerate() {
            let mixed = reference(ours.0, index) != reference(theirs.0, index);
            match if mixed { a.unbound().cmp(&b.unbound()) } else { a.cmp(b) } {
                std::cmp::Ordering::Greater => return false,
                std::cmp::Ordering::Less => some_better = true,
                std::cmp::Ordering::Equal => {}
            }
        }
        some_better
    }

    /// Equal conversions: the program's own function wins over a builtin, and a function without
    /// an ellipsis over one with.
    fn tie_break(&self, a: &Candidate, b: &Candidate, ours: &[Rank], theirs: &[Rank]) -> bool {
        ours == theirs
            && matches!(a.callable, Callable::User(_))
            && matches!(b.callable, Callable::Builtin(_))
    }

    /// C++'s extra overloads of the mathematical functions: when the arguments are arithmetic, not
    /// all of one floating type, integers count as `double`, and the largest type wins.
    fn promoting_row(
        &mut self,
        candidates: &[Candidate],
        viable: &[(usize, Vec<Rank>)],
        args: &[Value<'a>],
    ) -> Option<usize> {
        let promotes = |candidate: &Candidate| match candidate.callable {
            Callable::Builtin(overload) => overload.func.flags.promote,
            Callable::User(_) => false,
        };
        if !candidates.iter().any(promotes) {
            return None;
        }
        let exact = |ranks: &[Rank]| ranks.iter().all(|rank| rank.class == Class::Exact);
        if viable.iter().any(|(_, ranks)| exact(ranks)) {
            return None;
        }
        let mut widest = Basic::Float;
        let mut floating: Option<Basic> = None;
        let mut mixed = false;
        for (index, arg) in args.iter().enumerate() {
            // Only the floating parameters of the rows take part (`ldexp(float, int)`, `frexp(float, int*)`).
            let floating_param = candidates.iter().filter(|c| promotes(c)).any(|candidate| {
                matches!(candidate.params.get(index),
                    Some(Accepts::Type(ty)) if self.types.is_floating(*ty))
            });
            if !floating_param {
                continue;
            }
            let ty = self.promoted_type(arg.ty);
            let basic = self.types.basic(ty).filter(|basic| basic.is_arithmetic())?;
            mixed |= floating.is_some_and(|other| other != basic) || !basic.is_floating();
            floating = Some(basic);
            if basic != Basic::Float {
                widest = Basic::Double;
            }
        }
        // Of one floating type: the ordinary overloads, whatever the other arguments are.
        if !mixed {
            return None;
        }
        candidates.iter().position(|candidate| {
            promotes(candidate)
                && candidate.params.len() == args.len()
                && candidate.params.iter().all(|param| match param {
                    Accepts::Type(ty) => {
                        !self.types.is_floating(*ty) || self.types.basic(*ty) == Some(widest)
                    }
                    _ => false,
                })
        })
    }

    /// `atomicAdd(x, 1)`: the argument whose address one of the functions takes, and what to write.
    fn address_argument(
        &mut self,
        candidates: &[Candidate],
        args: &[Value<'a>],
    ) -> Option<(Span, String)> {
        let fits = |checker: &mut Self, index: usize| {
            let address = checker.types.pointer_to(args[index].ty);
            candidates.iter().any(|candidate| {
                candidate.params.len() == args.len()
                    && candidate.params.iter().zip(args).enumerate().all(|(at, (param, arg))| {
                        match param {
                            Accepts::Type(ty) if at == index => ty.id == address.id,
                            Accepts::Type(ty) => checker.rank(arg, *ty).is_some(),
                            _ => at != index,
                        }
                    })
            })
        };
        let index = (0..args.len())
            .find(|&index| matches!(args[index].kind, Kind::LValue(_)) && fits(self, index))?;
        Some((args[index].span, format!("&{}", self.source_text(args[index].span))))
    }

    // --- messages ----------------------------------------------------------------------------

    /// `sin(3)` in device code: the overload that takes it is a function of the host.
    pub fn report_host_overload(
        &mut self,
        candidate: &Candidate,
        name: &str,
        args: &[Value<'a>],
        span: Span,
    ) {
        let types: Vec<String> = args.iter().map(|arg| self.types.show(arg.ty)).collect();
        let wanted: Vec<String> = candidate
            .params
            .iter()
            .map(|param| match param {
                Accepts::Type(ty) => self.types.show(*ty),
                _ => "...".to_owned(),
            })
            .collect();
        let message =
            format!("`{name}({})` is an overload that only host code has", types.join(", "));
        let help = format!("cast the arguments: `{name}` takes ({})", wanted.join(", "));
        self.error(Code::E0501, span, message)
            .note("the overloads for integer and mixed arguments are the C++ library's")
            .help(help);
    }

    /// E0306 or E0307 for a call whose function could not be chosen.
    pub fn report_choice(
        &mut self,
        name: &str,
        candidates: &[Candidate],
        ambiguous: bool,
        args: &[Value<'a>],
        span: Span,
    ) {
        let types: Vec<String> = args
            .iter()
            .map(|arg| match &arg.kind {
                Kind::Fns(functions) => functions.name.clone(),
                Kind::Braces(_) => "{...}".to_owned(),
                _ => self.types.show(arg.ty),
            })
            .collect();
        let types = types.join(", ");
        let cure = if ambiguous { None } else { self.address_argument(candidates, args) };
        let mut notes = Vec::new();
        if !ambiguous
            && let Some(count) = one_count(candidates)
            && count != args.len()
        {
            let (wanted, given) = (counted(count, "argument"), args.len());
            let verb = if given == 1 { "is" } else { "are" };
            notes.push(format!("it takes {wanted}, but {given} {verb} given"));
        }
        let mut places = Vec::new();
        for candidate in candidates.iter().take(6) {
            match candidate.callable {
                Callable::User(id) => places.push(self.names.func(id).span),
                Callable::Builtin(overload) => {
                    notes.push(format!("a candidate: `{}`", self.show_builtin(&overload)));
                }
            }
        }
        if candidates.len() > 6 {
            notes.push(format!("and {} more", candidates.len() - 6));
        }
        let found = if ambiguous {
            let message = format!("the call `{name}({types})` fits several functions equally well");
            self.error(Code::E0307, span, message)
                .help("cast an argument to the parameter type of the one that is meant")
        } else {
            self.error(Code::E0306, span, format!("no function `{name}` takes ({types})"))
        };
        for place in places {
            found.secondary(place, "a candidate");
        }
        match cure {
            Some((place, address)) => {
                found.suggest("take the address", place, address);
            }
            None => found.notes = notes,
        }
        let written = super::builtins::lookup_function(name);
        if let Some(row) = written.iter().find(|row| row.func.flags.explicit_type) {
            let ty = row.subst.unwrap_or("T");
            found.help(format!(
                "to get the value as the result, write its type: `{name}<{ty}>(...)`"
            ));
        }
    }
}

/// The number of arguments that all candidates take, if it is one.
fn one_count(candidates: &[Candidate]) -> Option<usize> {
    let count = candidates.first()?.params.len();
    let fixed = |candidate: &Candidate| !candidate.variadic && candidate.required == count;
    let all = |candidate: &Candidate| fixed(candidate) && candidate.params.len() == count;
    candidates.iter().all(all).then_some(count)
}
