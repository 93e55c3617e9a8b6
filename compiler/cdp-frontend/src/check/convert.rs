//! Implicit conversions: which exist, how good they are (for overload resolution), and their IR.
//!
//! Rules: C++17 [conv], [over.best.ics]; the only class-type conversions are those of CUDA's own
//! types (`dim3`, `__half`, `__nv_bfloat16`).

use cdp_ir as ir;
use cdp_ir::{Const, Expr, ExprKind, Type};

use super::ctype::{Basic, CType, QualType, Quals};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

/// What a value is converted for; gives the words of a message.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'s> {
    /// A variable or member of this name.
    Init(&'s str),
    Assign,
    Return,
    /// Argument number (from 1) of a function.
    Argument(usize, &'s str),
    /// Some operand, in words.
    Operand(&'s str),
}

impl<'a> Checker<'a> {
    // --- application -----------------------------------------------------------------------

    /// Converts a value implicitly, or reports that there is no conversion.
    pub fn convert(&mut self, value: Value<'a>, to: QualType, purpose: Purpose<'_>) -> Expr {
        if self.is_error(&value) || self.types.is_error(to) {
            return self.poison(to);
        }
        if let Kind::Braces(list) = value.kind {
            return self.convert_braces(list, value.span, to, purpose);
        }
        match self.rank(&value, to) {
            Some(rank) => {
                if value.string.is_some() && rank.drops_const() {
                    self.warn_string_to_char(value.span, to);
                }
                if !matches!(purpose, Purpose::Operand(_)) {
                    self.warn_constant_conversion(&value, to);
                }
                self.apply(value, to)
            }
            None => {
                self.report_no_conversion(&value, to, purpose);
                self.poison(to)
            }
        }
    }

    /// `{x}` binds a reference to `x`; every other list makes a temporary (C++ [dcl.init.list]).
    fn convert_braces(
        &mut self,
        list: &'a ast::InitList,
        span: Span,
        to: QualType,
        purpose: Purpose<'_>,
    ) -> Expr {
        if let CType::Reference { to: referent, rvalue } = *self.types.get(to.id) {
            if let Some(object) = self.object_in_braces(list, referent) {
                let value = self.expr(object);
                return self.convert(value, to, purpose);
            }
            if !rvalue && (!self.is_const_object(referent) || referent.is_volatile()) {
                let message = format!("{} cannot be bound to a temporary", self.show(to));
                self.error(Code::E0323, span, message)
                    .label("this list makes one")
                    .help("name an object, or bind a reference to `const`");
                return self.poison(to);
            }
        }
        self.braces_value(list, to, span)
    }

    /// The object of a reference's own type that is alone in a list.
    pub(super) fn object_in_braces(
        &mut self,
        list: &'a ast::InitList,
        referent: QualType,
    ) -> Option<&'a ast::Expr> {
        let [one] = list.items.as_slice() else { return None };
        if one.path.is_some() || matches!(one.value.kind, ast::ExprKind::InitList(_)) {
            return None;
        }
        (self.alone(&one.value).ty.id == referent.id).then_some(&one.value)
    }

    fn warn_string_to_char(&mut self, span: Span, to: QualType) {
        let message = format!("a string literal becomes {}, which is not const", self.show(to));
        self.error(Code::W0701, span, message).help("declare the pointer as `const char *`");
    }

    /// Applies an implicit conversion that [`Self::rank`] found.
    pub fn apply(&mut self, value: Value<'a>, to: QualType) -> Expr {
        let span = value.span;
        if let CType::Reference { to: referent, .. } = *self.types.get(to.id) {
            return self.bind_reference(value, referent, to);
        }
        if let Kind::Braces(list) = value.kind {
            return self.braces_value(list, to, span);
        }
        if let Kind::Fns(functions) = &value.kind
            && let Some(expr) = self.chosen_address(functions, to, span)
        {
            return self.pointer_cast(expr, to);
        }
        if value.null && self.types.is_pointer(to) {
            let loc = self.loc(span);
            return self.const_expr(Const::Zero, to, loc);
        }
        let value = self.rvalue(value);
        let from = value.ty;
        let expr = self.expr_of(value);
        self.convert_rvalue(expr, from, to)
    }

    /// The IR of an rvalue.
    pub fn expr_of(&mut self, value: Value<'a>) -> Expr {
        match value.kind {
            Kind::RValue(expr) => expr,
            _ => {
                let value = self.rvalue(value);
                match value.kind {
                    Kind::RValue(expr) => expr,
                    _ => self.poison(value.ty),
                }
            }
        }
    }

    /// Converts an rvalue between types that convert implicitly.
    pub fn convert_rvalue(&mut self, expr: Expr, from: QualType, to: QualType) -> Expr {
        if from.id == to.id {
            return expr;
        }
        if self.types.record_id(to).is_some() {
            return self.to_dim(expr, from, to);
        }
        let ty = self.types.ir_type(to);
        self.cast(expr, ty)
    }

    /// A number, `uint3` or `dim3` to `dim3` or `uint3`.
    fn to_dim(&mut self, expr: Expr, from: QualType, to: QualType) -> Expr {
        let (uint, loc) = (self.types.ir.int(32, false), expr.loc);
        let ty = self.types.ir_type(to);
        if self.types.record_id(from).is_none() {
            let x = self.cast(expr, uint);
            let one = Expr::new(ExprKind::Const(Const::Int(1)), uint, loc);
            let fields = vec![(0, x), (1, one.clone()), (2, one)];
            return Expr::new(ExprKind::MakeRecord(fields), ty, loc);
        }
        if let ExprKind::MakeRecord(fields) = expr.kind {
            return Expr::new(ExprKind::MakeRecord(fields), ty, loc);
        }
        // The two have one layout: read the one through the other.
        let addr = self.temporary_ir(expr, loc);
        let pointer = self.types.ir.pointer_to(ty);
        let addr = self.cast(addr, pointer);
        self.load_from(addr, false, loc)
    }

    /// Stores an IR value in a new local and gives its address.
    pub fn temporary_ir(&mut self, value: Expr, loc: ir::Loc) -> Expr {
        let addr = self.temporary_slot(value.ty, loc);
        let store = self.store(addr.clone(), value, false, loc);
        self.sequence(vec![store], addr)
    }

    fn bind_reference(&mut self, value: Value<'a>, referent: QualType, to: QualType) -> Expr {
        let span = value.span;
        if let Kind::Fns(functions) = &value.kind {
            return match self.choose_function(functions, referent) {
                Some(function) => self.function_address(function, span),
                None => self.poison(to),
            };
        }
        let same = value.ty.id == referent.id;
        let binds = value.is_lvalue() && !matches!(value.kind, Kind::BitField { .. });
        let array = self.types.is_array(referent) && self.types.is_array(value.ty);
        if (same || array) && binds {
            let addr = self.address(value);
            return self.pointer_cast(addr, to);
        }
        let target = referent.unqualified();
        let expr = self.apply(value, target);
        let addr = self.temporary(expr, target, span);
        self.pointer_cast(addr, to)
    }

    /// The type of a value, or which function it is.
    pub fn show_value(&self, value: &Value<'a>) -> String {
        match &value.kind {
            Kind::Fns(functions) => format!("the function `{}`", functions.name),
            _ => self.show(value.ty),
        }
    }

    fn report_no_conversion(&mut self, value: &Value<'a>, to: QualType, purpose: Purpose<'_>) {
        if self.has_lost(value.ty) || self.has_lost(to) {
            return;
        }
        let from = self.show_value(value);
        let target = self.show(to);
        let message = match purpose {
            Purpose::Init("") => {
                format!("{target} cannot be initialised with {from}")
            }
            Purpose::Init(name) => {
                format!("`{name}` is {target}, which cannot be initialised with {from}")
            }
            Purpose::Assign => format!("{from} cannot be assigned to {target}"),
            Purpose::Return => format!("{from} cannot be returned as {target}"),
            Purpose::Argument(number, function) => format!(
                "argument {number} of `{function}` is {from}, which does not convert to {target}"
            ),
            Purpose::Operand(what) => {
                format!("{what} is {from}, which does not convert to {target}")
            }
        };
        let code = if self.types.referent(to).is_some() { Code::E0323 } else { Code::E0303 };
        let (text, cast) = self.conversion_cure(value, to).unwrap_or_default();
        let found = self.error(code, value.span, message);
        match cast {
            Some(cast) => found.suggest(text, value.span, cast),
            None => found.help(text),
        };
    }

    /// What helps when a conversion does not exist.
    fn conversion_cure(
        &mut self,
        value: &Value<'a>,
        to: QualType,
    ) -> Option<(String, Option<String>)> {
        if let Some(referent) = self.types.referent(to) {
            if value.ty.id == referent.id && !value.is_lvalue() {
                return Some(("give the value a name, or take a `const` reference".into(), None));
            }
            return None;
        }
        let from = self.decay(value.ty);
        let source = operand_text(self.source_text(value.span));
        let cast = |checker: &Self| Some(format!("({}){source}", checker.types.show(to)));
        if value.is_lvalue()
            && !matches!(value.kind, Kind::BitField { .. } | Kind::Fns(_))
            && let Some(address) = self.address_cure(value.ty, to)
        {
            return Some(("take the address".into(), Some(format!("{address}{source}"))));
        }
        let text = source.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        let bytes = self.types.pointee(to).map(|to| to.unqualified());
        if let Some(text) = text
            && bytes.is_some_and(|to| to.id == QualType::from(Basic::Char).id)
        {
            let cure = (!text.contains('"')).then(|| format!("\"{text}\""));
            return Some(("a string stands between double quotes".into(), cure));
        }
        if value.string.is_some() && self.types.is_arithmetic(to) {
            let letter = source.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            let letter = letter.filter(|text| text.chars().count() == 1 && *text != "'");
            return letter.map(|letter| {
                ("a character stands between single quotes".into(), Some(format!("'{letter}'")))
            });
        }
        match (self.types.pointee(from), self.types.pointee(to)) {
            (Some(a), Some(b)) => {
                if a.id == b.id && !b.quals.has(a.quals.cv()) {
                    let lost = if a.is_const() && !b.is_const() { "const" } else { "volatile" };
                    return Some((format!("the conversion would drop `{lost}`"), None));
                }
                if self.types.is_void(a) {
                    let text = "C++ wants a cast from `void *`".to_owned();
                    return Some((text, cast(self)));
                }
                Some(("a cast says that this is meant".into(), cast(self)))
            }
            (Some(pointee), None) if pointee.id == to.id => {
                Some(("dereference the pointer".into(), Some(format!("*{source}"))))
            }
            (None, Some(_)) if self.types.is_integer(from) => {
                Some(("an integer becomes a pointer only by a cast".into(), cast(self)))
            }
            (Some(_), None) if self.types.is_integer(to) => {
                Some(("a pointer becomes an integer only by a cast".into(), cast(self)))
            }
            _ if self.types.enum_id(to).is_some() && self.types.is_integer(from) => {
                Some(("an integer becomes an enumeration only by a cast".into(), cast(self)))
            }
            _ if self.types.is_scoped_enum(from) && self.types.is_arithmetic(to) => {
                Some(("a scoped enumeration becomes a number only by a cast".into(), cast(self)))
            }
            _ => None,
        }
    }

    /// What to write before a variable of type `from` whose address is probably meant where a pointer is wanted.
    fn address_cure(&mut self, from: QualType, to: QualType) -> Option<&'static str> {
        let pointee = self.types.pointee(to)?;
        if self.types.is_pointer(from)
            && self.types.pointee(pointee).is_some_and(|to| self.types.is_void(to))
        {
            // `cudaMalloc` and functions like it.
            return Some("(void **)&");
        }
        if self.types.is_array(from) || self.types.is_void(pointee) && self.types.is_pointer(from) {
            return None;
        }
        let address = self.types.pointer_to(from);
        self.rank_types(address, to).map(|_| "&")
    }

    // --- arithmetic conversions --------------------------------------------------------------

    /// Integral promotion of a scalar's type.
    pub fn promoted_type(&self, ty: QualType) -> QualType {
        if let Some(id) = self.types.enum_id(ty) {
            let info = self.types.enumeration(id);
            if info.scoped {
                return ty.unqualified();
            }
            let basic = if info.fixed { info.underlying.promoted() } else { info.promotes_to };
            return basic.into();
        }
        match self.types.basic(ty) {
            Some(basic) => basic.promoted().into(),
            None => ty.unqualified(),
        }
    }

    /// Integral promotion of a value (C++ [conv.prom]); a bit-field promotes by its width.
    pub fn promote(&mut self, value: Value<'a>) -> Value<'a> {
        let decayed = self.decay(value.ty);
        let to = self.bit_promotion(&value).unwrap_or_else(|| self.promoted_type(decayed));
        let span = value.span;
        let null = value.null;
        let value = self.rvalue(value);
        if self.is_error(&value) || to.id == value.ty.id {
            return value;
        }
        let from = value.ty;
        let expr = self.expr_of(value);
        let expr = self.convert_rvalue(expr, from, to);
        Value { null, ..Value::rvalue(expr, to, span) }
    }

    /// What a value promotes to that is or was a bit-field.
    pub fn bit_promotion(&self, value: &Value<'a>) -> Option<QualType> {
        match &value.kind {
            Kind::BitField { base, field } => Some(self.promoted_bits(value.ty, base, *field)),
            _ => value.promoted,
        }
    }

    fn promoted_bits(&self, ty: QualType, base: &Expr, field: u32) -> QualType {
        let promoted = self.promoted_type(ty);
        let Some(Type::Record(id)) =
            self.types.ir.pointee(base.ty).map(|record| self.types.ir.get(record))
        else {
            return promoted;
        };
        let Some(bits) = self.types.ir.record(*id).fields[field as usize].bits else {
            return promoted;
        };
        // An unsigned field narrower than int fits int; wider fields keep their type.
        match self.types.basic(promoted) {
            Some(Basic::UInt) if bits.width < 32 => Basic::Int.into(),
            Some(Basic::ULong | Basic::ULongLong | Basic::Long | Basic::LongLong)
                if bits.width < 32
                    || (bits.width == 32
                        && self.types.basic(promoted).is_some_and(Basic::is_signed)) =>
            {
                Basic::Int.into()
            }
            Some(Basic::ULong | Basic::ULongLong) if bits.width == 32 => Basic::UInt.into(),
            _ => promoted,
        }
    }

    /// The type of C's usual arithmetic conversions; the operands are promoted arithmetic types.
    pub fn usual_type(&self, a: QualType, b: QualType) -> QualType {
        let (Some(x), Some(y)) = (self.types.basic(a), self.types.basic(b)) else { return a };
        if x == Basic::Double || y == Basic::Double {
            return Basic::Double.into();
        }
        if x == Basic::Float || y == Basic::Float {
            return Basic::Float.into();
        }
        if x == y {
            return x.into();
        }
        let (signed, unsigned) = match (x.is_signed(), y.is_signed()) {
            (true, false) => (x, y),
            (false, true) => (y, x),
            _ => return if x.rank() >= y.rank() { x.into() } else { y.into() },
        };
        if unsigned.rank() >= signed.rank() {
            return unsigned.into();
        }
        // The signed type wins when it holds every value of the unsigned one.
        if self.types.int_bits(signed).0 > self.types.int_bits(unsigned).0 {
            return signed.into();
        }
        signed.to_unsigned().into()
    }

    /// A value as a condition: `Bool`.
    pub fn condition(&mut self, value: Value<'a>) -> Expr {
        let span = value.span;
        if self.is_error(&value) {
            return self.poison(Basic::Bool.into());
        }
        self.warn_known_condition(&value);
        let value = self.rvalue(value);
        if self.is_error(&value) {
            return self.poison(Basic::Bool.into());
        }
        let ty = value.ty;
        let fits = self.types.is_arithmetic(ty)
            || self.types.is_half(ty)
            || self.types.is_pointer(ty)
            || self.types.is_unscoped_enum(ty)
            || self.types.is_nullptr(ty);
        if !fits {
            let message = format!("{} cannot be a condition", self.show(ty));
            let scoped = self.types.is_scoped_enum(ty);
            let cure = if scoped { "compare it with an enumerator, or cast it" } else { "" };
            self.error(Code::E0303, span, message).help(cure);
            return self.poison(Basic::Bool.into());
        }
        let expr = self.expr_of(value);
        let bool_ty = self.types.ir.bool();
        self.cast(expr, bool_ty)
    }

    /// The type two pointers (or a pointer and null) have in common, for comparisons and `?:`.
    pub fn composite_pointer(&mut self, a: QualType, b: QualType) -> Option<QualType> {
        let (x, y) = (self.types.pointee(a)?, self.types.pointee(b)?);
        let quals = x.quals.union(y.quals).cv();
        if x.id == y.id {
            return Some(self.types.pointer_to(x.with(quals)));
        }
        if self.types.is_void(x) || self.types.is_void(y) {
            if self.types.is_function(x) || self.types.is_function(y) {
                return None;
            }
            let void: QualType = Basic::Void.into();
            return Some(self.types.pointer_to(void.with(quals)));
        }
        if self.rank_types(a, b).is_some() {
            return Some(b.unqualified());
        }
        if self.rank_types(b, a).is_some() {
            return Some(a.unqualified());
        }
        let inner = self.composite_pointer(x.unqualified(), y.unqualified())?;
        let inner = inner.with(quals).with(Quals::CONST);
        Some(self.types.pointer_to(inner))
    }
}

/// An expression's text as an operator before it takes it: in parentheses if it has operators of its own.
fn operand_text(text: String) -> String {
    let mut depth = 0;
    let mut before = ' ';
    let whole = !text.starts_with(['"', '\''])
        && text.char_indices().any(|(at, c)| {
            depth +=
                i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
            let arrow = c == '-' && text[at..].starts_with("->") || c == '>' && before == '-';
            before = c;
            depth == 0 && at > 0 && !arrow && "+-*/%<>=?|&^".contains(c)
        });
    if whole { format!("({text})") } else { text }
}
