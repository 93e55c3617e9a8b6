//! How well a value fits a type: the ranks of conversions that overload resolution compares.

use cdp_ir::{Expr, ExprKind};

use super::builtins::{Lower, Overload};
use super::ctype::{Basic, CType, QualType};
use super::scope::FnId;
use super::signatures::Accepts;
use super::state::Checker;
use super::value::{FnRef, Kind, Value};
use crate::source::Span;

/// How good a conversion is: smaller is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    pub class: Class,
    /// Within the class.
    pub detail: u8,
    /// How a reference binds, which counts between two references only: the qualifiers that it adds, and whether it
    /// is one to an lvalue that binds to something else.
    pub binding: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    Exact,
    Promotion,
    Conversion,
    User,
    Ellipsis,
}

/// Of an exact conversion that is only taken because C took it.
const DEPRECATED: u8 = 8;

impl Rank {
    pub const EXACT: Rank = Rank { class: Class::Exact, detail: 0, binding: 0 };
    pub const ELLIPSIS: Rank = Rank { class: Class::Ellipsis, detail: 0, binding: 0 };

    /// The conversion without the reference that binds to its result.
    pub fn unbound(self) -> Rank {
        Rank { binding: 0, ..self }
    }

    /// A string literal loses its `const`.
    pub fn drops_const(self) -> bool {
        self.class == Class::Exact && self.detail >= DEPRECATED
    }

    fn new(class: Class, detail: u8) -> Self {
        Rank { class, detail, binding: 0 }
    }
}

impl<'a> Checker<'a> {
    /// The conversion sequence from a value to a type; `None` when there is none.
    pub fn rank(&mut self, value: &Value<'a>, to: QualType) -> Option<Rank> {
        if self.types.is_error(to) || self.is_error(value) {
            return Some(Rank::EXACT);
        }
        if let CType::Reference { to: referent, rvalue } = *self.types.get(to.id) {
            return self.rank_reference(value, referent, rvalue);
        }
        if let Kind::Braces(list) = &value.kind {
            return self.rank_braces(list, to);
        }
        if let Kind::Fns(functions) = &value.kind {
            let found = self.choose_function(functions, to).is_some()
                || self.choose_builtin(functions, to).is_some();
            return found.then_some(Rank::EXACT);
        }
        if value.null && self.types.is_pointer(to) {
            return Some(Rank::new(Class::Conversion, 0));
        }
        if value.string.is_some() && self.string_to_char(value, to) {
            return Some(Rank::new(Class::Exact, DEPRECATED));
        }
        let from = self.decay(value.ty);
        self.rank_types(from, to)
    }

    /// A string literal to a pointer to plain characters: deprecated, but taken.
    pub(super) fn string_to_char(&self, value: &Value<'a>, to: QualType) -> bool {
        let Some(pointee) = self.types.pointee(to) else { return false };
        let elem = self.types.array(value.ty);
        elem.is_some_and(|(elem, _)| elem.id == pointee.id) && pointee == pointee.unqualified()
    }

    pub(super) fn rank_reference(
        &mut self,
        value: &Value<'a>,
        referent: QualType,
        rvalue: bool,
    ) -> Option<Rank> {
        if let Kind::Braces(list) = value.kind
            && let Some(object) = self.object_in_braces(list, referent)
        {
            let value = self.alone(object);
            return self.rank_reference(&value, referent, rvalue);
        }
        let same = value.ty.id == referent.id && !value.is_braces();
        let binds = value.is_lvalue() && !matches!(value.kind, Kind::BitField { .. });
        if let Kind::Fns(functions) = &value.kind {
            return self.choose_function(functions, referent).map(|_| Rank::EXACT);
        }
        if rvalue == value.expiring && same && binds && referent.quals.has(value.ty.quals.cv()) {
            let added = referent.quals.cv().without(value.ty.quals);
            return Some(Rank { binding: added.count(), ..Rank::EXACT });
        }
        if binds
            && self.types.is_array(value.ty)
            && self.types.is_array(referent)
            && let Some(added) = self.qualification(value.ty, referent, true)
        {
            return Some(Rank { binding: added, ..Rank::EXACT });
        }
        // Anything else needs a temporary: only for a reference to const, or an rvalue reference.
        let takes_temporary = rvalue || (referent.is_const() && !referent.is_volatile());
        if !takes_temporary || (rvalue && same && binds && !value.expiring) {
            return None;
        }
        let object = binds || self.types.record_id(referent).is_some();
        if same && object && !referent.quals.has(value.ty.quals.cv()) {
            return None;
        }
        let rank = self.rank(value, referent.unqualified())?;
        // A temporary binds better to an rvalue reference (C++ [over.ics.rank]).
        let added = referent.quals.cv().without(value.ty.quals).count();
        Some(Rank { binding: added + if rvalue { 0 } else { 4 }, ..rank })
    }

    pub(super) fn rank_braces(
        &mut self,
        list: &'a crate::ast::InitList,
        to: QualType,
    ) -> Option<Rank> {
        match list.items.as_slice() {
            [] => (!self.types.is_function(to)).then_some(Rank::EXACT),
            [one] if self.types.is_scalar(to) && one.path.is_none() => {
                let value = self.alone(&one.value);
                self.rank(&value, to)
            }
            _ if self.types.is_scalar(to) => None,
            _ => self.types.record_id(to).map(|_| Rank::new(Class::User, 0)),
        }
    }

    /// The one element of a list by itself, for its type only. It is checked once: each list inside would be checked twice
    /// as often as the one around it.
    pub(super) fn alone(&mut self, element: &'a crate::ast::Expr) -> Value<'a> {
        let key = std::ptr::from_ref(element);
        if let Some(known) = self.alone.get(&key) {
            return known.clone();
        }
        let value = self.quiet(|checker| checker.expr(element));
        self.alone.insert(key, value.clone());
        value
    }

    /// Checks an expression for its type only.
    pub fn quiet<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.around.unevaluated += 1;
        let result = self.unheard(check);
        self.around.unevaluated -= 1;
        result
    }

    /// Checks something without a word.
    pub fn unheard<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let diags = std::mem::take(&mut self.diags);
        let result = check(self);
        self.diags = diags;
        result
    }

    /// The rank between decayed types.
    pub fn rank_types(&mut self, from: QualType, to: QualType) -> Option<Rank> {
        if from.id == to.id {
            return Some(Rank::EXACT);
        }
        let (from_kind, to_kind) = (self.types.get(from.id).clone(), self.types.get(to.id).clone());
        match (from_kind, to_kind) {
            (CType::Basic(from), CType::Basic(to)) => rank_basic(from, to),
            (CType::Enum(id), CType::Basic(to)) => {
                let info = self.types.enumeration(id);
                if info.scoped {
                    return None;
                }
                if to == info.promotes_to || (info.fixed && to == info.underlying) {
                    return Some(Rank::new(Class::Promotion, 0));
                }
                if to.is_half() {
                    return Some(Rank::new(Class::User, 0));
                }
                (to.is_arithmetic()).then_some(Rank::new(Class::Conversion, 0))
            }
            (CType::Pointer(from), CType::Pointer(to)) => self.rank_pointers(from, to),
            (CType::Pointer(_), CType::Basic(Basic::Bool)) => Some(Rank::new(Class::Conversion, 9)),
            (CType::Basic(Basic::Nullptr), CType::Pointer(_)) => {
                Some(Rank::new(Class::Conversion, 0))
            }
            (CType::Basic(from), CType::Record(_)) if from.is_arithmetic() => {
                self.is_dim3(to).then_some(Rank::new(Class::User, 0))
            }
            (CType::Enum(id), CType::Record(_)) if !self.types.enumeration(id).scoped => {
                self.is_dim3(to).then_some(Rank::new(Class::User, 0))
            }
            (CType::Record(_), CType::Record(_)) => {
                let (a, b) = (self.dim_name(from), self.dim_name(to));
                (a.is_some() && b.is_some()).then_some(Rank::new(Class::User, 0))
            }
            _ => None,
        }
    }

    pub(super) fn rank_pointers(&mut self, from: QualType, to: QualType) -> Option<Rank> {
        if let Some(added) = self.qualification(from, to, true) {
            return Some(Rank::new(Class::Exact, added));
        }
        let quals_fit = to.quals.has(from.quals.cv());
        if self.types.is_void(to) && !self.types.is_function(from) && quals_fit {
            let added = to.quals.cv().without(from.quals);
            return Some(Rank::new(Class::Conversion, 1 + added.count()));
        }
        None
    }

    /// Whether a pointer to `from` becomes a pointer to `to` by adding qualifiers, and how many it adds. C++
    /// [conv.qual]; of two such conversions the one that adds fewer is the better ([over.ics.rank]).
    pub(super) fn qualification(
        &self,
        from: QualType,
        to: QualType,
        all_const: bool,
    ) -> Option<u8> {
        let (a, b) = (from.quals.cv(), to.quals.cv());
        if !b.has(a) {
            return None;
        }
        let added = b.without(a).count();
        if added > 0 && !all_const {
            return None;
        }
        if from.id == to.id {
            return Some(added);
        }
        let next_const = all_const && to.is_const();
        match (self.types.get(from.id), self.types.get(to.id)) {
            (CType::Pointer(x), CType::Pointer(y)) => {
                self.qualification(*x, *y, next_const).map(|deeper| deeper.saturating_add(added))
            }
            (CType::Array { elem: x, len: n }, CType::Array { elem: y, len: m })
                if n == m || m.is_none() =>
            {
                self.qualification(*x, *y, all_const).map(|deeper| deeper.saturating_add(added))
            }
            _ => None,
        }
    }

    /// `dim3`.
    pub fn is_dim3(&self, ty: QualType) -> bool {
        self.dim_name(ty) == Some("dim3")
    }

    /// `dim3` or `uint3`, which convert into each other.
    pub(super) fn dim_name(&self, ty: QualType) -> Option<&str> {
        let record = self.types.record(self.types.record_id(ty)?);
        (record.builtin && matches!(record.name.as_str(), "dim3" | "uint3"))
            .then_some(record.name.as_str())
    }

    /// The function of a set that a pointer (or reference) type asks for.
    pub fn choose_function(&self, functions: &FnRef, to: QualType) -> Option<FnId> {
        let want = self.types.pointee(to).unwrap_or(to);
        functions.user.iter().copied().find(|&id| self.names.func(id).ty.id == want.id)
    }

    /// The builtin function of a set that a pointer type asks for.
    pub(super) fn choose_builtin(&mut self, functions: &FnRef, to: QualType) -> Option<Overload> {
        let want = self.types.pointee(to).unwrap_or(to);
        let want = self.types.fn_type(want)?.clone();
        functions.builtin.iter().copied().find(|row| {
            let sig = self.builtin_sig(*row);
            let same = |(param, ty): (&Accepts, &QualType)| *param == Accepts::Type(*ty);
            let fits = sig.ret == want.ret
                && sig.variadic == want.variadic
                && sig.params.len() == want.params.len()
                && sig.params.iter().zip(&want.params).all(same);
            fits && !matches!(self.builtin_lowering(*row), Lower::Refuse(_))
        })
    }

    /// The address of the function of a set that a pointer type asks for.
    pub fn chosen_address(&mut self, functions: &FnRef, to: QualType, span: Span) -> Option<Expr> {
        if let Some(function) = self.choose_function(functions, to) {
            return Some(self.function_address(function, span));
        }
        let row = self.choose_builtin(functions, to)?;
        let function = self.builtin_as_function(row)?;
        let ty = self.types.ir_type(to);
        Some(Expr::new(ExprKind::FunctionAddr(function), ty, self.loc(span)))
    }
}

fn rank_basic(from: Basic, to: Basic) -> Option<Rank> {
    if from == to {
        return Some(Rank::EXACT);
    }
    if from.is_half() || to.is_half() {
        // Through a converting constructor or conversion function of the class.
        let other = if from.is_half() { to } else { from };
        let detail = match other {
            Basic::Float => 0,
            Basic::Double => 1,
            _ => 2,
        };
        return (other.is_arithmetic() || other.is_half())
            .then_some(Rank::new(Class::User, detail));
    }
    if from == Basic::Nullptr {
        return None;
    }
    if !(from.is_arithmetic() && to.is_arithmetic()) {
        return None;
    }
    let promotes = (from == Basic::Float && to == Basic::Double)
        || (from.is_integer() && from.promoted() == to && from.promoted() != from);
    Some(if promotes { Rank::new(Class::Promotion, 0) } else { Rank::new(Class::Conversion, 0) })
}
