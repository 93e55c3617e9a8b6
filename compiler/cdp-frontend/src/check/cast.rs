//! Explicit conversions: casts of all styles, `T(x)`, `T{...}`, compound literals, `new`, `delete`.

use cdp_ir as ir;
use cdp_ir::{BinaryOp, Expr, ExprKind};

use super::at::CallAt;
use super::convert::Purpose;
use super::ctype::{Basic, CType, QualType};
use super::init::Node;
use super::state::Checker;
use super::value::{Checked, Kind, Value, is_simple};
use crate::ast::{self, CastStyle, DeclaratorPart};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    pub fn cast_expr(&mut self, cast: &'a ast::CastExpr, span: Span) -> Checked<'a> {
        let to = self.type_name(&cast.ty);
        let value = self.expr(&cast.operand);
        self.cast_value(cast.style, value, to, span)
    }

    /// Casts a checked value.
    pub fn cast_value(
        &mut self,
        style: CastStyle,
        value: Value<'a>,
        to: QualType,
        span: Span,
    ) -> Checked<'a> {
        if self.is_error(&value) || self.types.is_error(to) {
            return None;
        }
        if self.types.is_void(to) {
            let ty = self.types.ir.void();
            let loc = self.loc(span);
            let zero = Expr::new(ExprKind::Const(ir::Const::Zero), ty, loc);
            let expr = match self.discard(value) {
                Some(effect) if effect.ty == ty => effect,
                Some(effect) => self.sequence(vec![effect], zero),
                None => zero,
            };
            return Some(Value::rvalue(expr, Basic::Void.into(), span));
        }
        if let CType::Reference { to: referent, rvalue } = *self.types.get(to.id) {
            return self.cast_reference(style, value, to, referent, rvalue, span);
        }
        if self.types.is_array(to) || self.types.is_function(to) {
            let message = format!("a cast to {}", self.show(to));
            self.error(Code::E0319, span, message);
            return None;
        }
        let to = to.unqualified();
        if style != CastStyle::Reinterpret
            && style != CastStyle::Const
            && self.rank(&value, to).is_some()
        {
            let expr = self.apply(value, to);
            return Some(Value::rvalue(expr, to, span));
        }
        let value = if let (Kind::Fns(functions), Some(_)) = (&value.kind, self.types.pointee(to)) {
            match self.chosen_address(functions, to, span) {
                Some(expr) => {
                    let expr = self.pointer_cast(expr, to);
                    return Some(Value::rvalue(expr, to, span));
                }
                None => self.rvalue(value),
            }
        } else {
            self.rvalue(value)
        };
        value.sound(&self.types)?;
        if let Some(problem) = self.bad_cast(style, value.ty, to, value.null) {
            self.report_cast(style, value.ty, to, problem, span);
            return None;
        }
        let from = value.ty;
        self.warn_small_integer(from, to, span);
        let expr = self.expr_of(value);
        let expr = self.convert_rvalue(expr, from, to);
        Some(Value::rvalue(expr, to, span))
    }

    /// An address cut to a smaller integer.
    fn warn_small_integer(&mut self, from: QualType, to: QualType, span: Span) {
        if !self.types.is_pointer(from) || self.types.is_pointer(to) || self.types.is_bool(to) {
            return;
        }
        if self.types.layout(to).size < self.types.pointer_bytes() {
            let message = format!("{} cannot hold an address", self.show(to));
            self.error(Code::W0722, span, message)
                .help("cast to `size_t` first, if half of the address is meant");
        }
    }

    fn report_cast(
        &mut self,
        style: CastStyle,
        from: QualType,
        to: QualType,
        problem: &'static str,
        span: Span,
    ) {
        if self.has_lost(from) || self.has_lost(to) {
            return;
        }
        let word = match style {
            CastStyle::C => "a cast",
            CastStyle::Static => "`static_cast`",
            CastStyle::Reinterpret => "`reinterpret_cast`",
            CastStyle::Const => "`const_cast`",
        };
        let message =
            format!("{word} from {} to {} is not possible", self.show(from), self.show(to));
        self.error(Code::E0319, span, message).help(problem);
    }

    /// Why a cast between two scalar types is not allowed, when there is no implicit conversion.
    fn bad_cast(
        &mut self,
        style: CastStyle,
        from: QualType,
        to: QualType,
        null: bool,
    ) -> Option<&'static str> {
        let number = |ty| self.types.is_arithmetic(ty) || self.types.enum_id(ty).is_some();
        let integer = |ty| self.types.is_integer(ty) || self.types.enum_id(ty).is_some();
        let (a, b) = (self.types.pointee(from), self.types.pointee(to));
        let half = |ty| self.types.is_half(ty);
        match style {
            CastStyle::Const => match (a, b) {
                (Some(x), Some(y)) if self.similar(x, y) => None,
                _ if from.id == to.id => None,
                _ => Some("`const_cast` changes qualifiers only"),
            },
            CastStyle::Static => match (a, b) {
                (Some(x), Some(y)) => {
                    if !y.quals.cv().has(x.quals.cv()) {
                        return Some("it would drop a qualifier; that wants `const_cast`");
                    }
                    if self.types.is_void(x) || self.types.is_void(y) {
                        return None;
                    }
                    Some("unrelated pointers want `reinterpret_cast`")
                }
                (None, None) if number(from) && number(to) => None,
                (None, None) if half(from) && number(to) || number(from) && half(to) => None,
                (None, Some(_)) | (Some(_), None) => {
                    Some("between pointers and integers use `reinterpret_cast`")
                }
                _ => Some(""),
            },
            CastStyle::Reinterpret | CastStyle::C => match (a, b) {
                (Some(x), Some(y)) => {
                    let drops = style == CastStyle::Reinterpret && !y.quals.cv().has(x.quals.cv());
                    drops.then_some("it would drop a qualifier; that wants `const_cast`")
                }
                (Some(_), None) if integer(to) => None,
                (None, Some(_)) if integer(from) => None,
                (None, None) if self.types.is_nullptr(from) && integer(to) => None,
                (None, None) if style == CastStyle::C && number(from) && number(to) => None,
                (None, None)
                    if style == CastStyle::C
                        && (half(from) && number(to) || number(from) && half(to)) =>
                {
                    None
                }
                (None, None) if integer(from) && from.id == to.id => None,
                _ if null && b.is_some() => None,
                _ => Some(""),
            },
        }
    }

    /// The same type but for qualifiers at any level (C++ [conv.qual]).
    fn similar(&self, a: QualType, b: QualType) -> bool {
        if a.id == b.id {
            return true;
        }
        match (self.types.array(a), self.types.array(b)) {
            (Some((x, n)), Some((y, m))) => return n == m && self.similar(x, y),
            (None, None) => {}
            _ => return false,
        }
        match (self.types.pointee(a), self.types.pointee(b)) {
            (Some(x), Some(y)) => self.similar(x, y),
            _ => false,
        }
    }

    /// A cast to a reference: the same object seen as another type.
    fn cast_reference(
        &mut self,
        style: CastStyle,
        value: Value<'a>,
        to: QualType,
        referent: QualType,
        rvalue: bool,
        span: Span,
    ) -> Checked<'a> {
        if self.rank(&value, to).is_some() {
            let addr = self.apply(value, to);
            return Some(Value::referred(addr, referent, rvalue, span));
        }
        let same = self.similar(value.ty, referent);
        let object = value.is_lvalue()
            && !matches!(value.kind, Kind::BitField { .. } | Kind::Builtin(_) | Kind::Fns(_));
        let allowed = object
            && match style {
                CastStyle::C | CastStyle::Reinterpret => true,
                CastStyle::Const => same,
                CastStyle::Static => same && (rvalue || referent.quals.has(value.ty.quals.cv())),
            };
        if !allowed {
            let help = if object { "" } else { "only an object can be seen through a reference" };
            self.report_cast(style, value.ty, to, help, span);
            return None;
        }
        let addr = self.address(value);
        let addr = self.pointer_cast(addr, to);
        Some(Value::referred(addr, referent, rvalue, span))
    }

    /// `T(args)` and `T{args}`.
    pub fn construct(&mut self, made: &'a ast::ConstructExpr, span: Span) -> Checked<'a> {
        let ast::ConstructExpr { ty: name, args, braces, args_span } = made;
        let (braces, at) = (*braces, CallAt { name: name.span, args: *args_span, whole: span });
        if let (ast::TypeSpecKind::Named(function), false) = (&name.specs.ty.kind, braces)
            && let Some(super::scope::Entity::Fns(_)) =
                self.find_name(function).and_then(|slot| slot.other)
        {
            // A function hides a record of the same name.
            let target = self.name(function);
            return self.call_value(target, args, at);
        }
        let mut ty = self.type_name(name);
        let mut values: Vec<Value<'a>> = Vec::with_capacity(args.len());
        if self.types.is_error(ty) {
            for arg in args {
                self.expr(arg);
            }
            return None;
        }
        if braces
            && let [one] = args.as_slice()
            && let ast::ExprKind::InitList(list) = &one.kind
        {
            return self.list_value(ty, list, at.whole);
        }
        for arg in args {
            values.push(self.expr(arg));
        }
        if self.types.basic(ty) == Some(Basic::Auto) {
            self.error(Code::E0331, at.whole, "`auto` cannot be constructed");
            return None;
        }
        ty = ty.unqualified();
        if self.types.is_void(ty) && values.is_empty() {
            let expr = self.dummy(ty);
            return Some(Value::rvalue(expr, ty, at.whole));
        }
        if !braces && values.len() == 1 {
            let value = values.pop()?;
            return self.cast_value(CastStyle::C, value, ty, at.whole);
        }
        if !self.types.is_complete(ty) {
            let message = format!("{} is incomplete here", self.show(ty));
            self.error(Code::E0308, name.span, message);
            return None;
        }
        if values.iter().any(|value| self.is_error(value)) {
            return None;
        }
        let node = self.constructor_node(ty, values, at.args);
        let expr = self.node_value(node, ty, at.whole);
        Some(Value::rvalue(expr, ty, at.whole))
    }

    /// `T{...}` with the list as written.
    pub fn list_value(&mut self, ty: QualType, list: &'a ast::InitList, span: Span) -> Checked<'a> {
        let (ty, node) = self.init_list(ty, list, span, "");
        let ty = ty.unqualified();
        if self.types.is_error(ty) {
            return None;
        }
        let expr = self.node_value(node, ty, span);
        if self.types.is_array(ty) {
            let addr = self.temporary(expr, ty, span);
            return Some(Value::lvalue(addr, ty, span));
        }
        Some(Value::rvalue(expr, ty, span))
    }

    /// GNU `(T){ ... }`.
    pub fn compound_literal(&mut self, made: &'a ast::CompoundLiteral, span: Span) -> Checked<'a> {
        let ast::CompoundLiteral { ty: name, init: list } = made;
        let ty = self.type_name(name);
        if self.types.is_error(ty) {
            return None;
        }
        self.list_value(ty, list, span)
    }

    // --- new and delete ------------------------------------------------------------------------

    /// `new T`, `new T[n]`, `new T(x)`, `new T{...}`, `new (place) T`.
    pub fn new_expr(&mut self, new: &'a ast::NewExpr, span: Span) -> Checked<'a> {
        let (ty, count) = self.new_type(&new.ty);
        let place = match new.placement.as_slice() {
            [] => None,
            [place] => {
                let value = self.expr(place);
                let pointer = self.types.pointer_to(Basic::Void.into());
                Some(self.convert(value, pointer, Purpose::Operand("the place for `new`")))
            }
            [_, extra, ..] => {
                self.error(Code::E0334, extra.span, "`new` takes one place");
                return None;
            }
        };
        if self.types.is_error(ty) {
            return None;
        }
        if !self.types.is_complete(ty) || self.types.referent(ty).is_some() {
            let message = format!("`new` cannot make {}", self.show(ty));
            self.error(Code::E0334, new.ty.span, message);
            return None;
        }
        let pointer = self.types.pointer_to(ty);
        let ir_pointer = self.types.ir_type(pointer);
        let loc = self.loc(span);
        let (count, mut effects) = self.new_count(count, loc);
        let raw = match place {
            Some(place) => place,
            None => {
                let bytes = self.new_bytes(ty, count.clone(), loc);
                let made = self.call_by_name("malloc", vec![bytes], span)?;
                self.expr_of(made)
            }
        };
        let raw = self.cast(raw, ir_pointer);
        let defaults =
            new.init.as_ref().is_none_or(|init| init.is_empty()) && self.has_defaults(ty);
        if new.init.is_none() && !defaults {
            let value = if effects.is_empty() { raw } else { self.sequence(effects, raw) };
            return Some(Value::rvalue(value, pointer, span));
        }
        let slot = self.temporary_slot(ir_pointer, loc);
        effects.push(self.store(slot.clone(), raw, false, loc));
        let object = self.load_from(slot, false, loc);
        match &new.init {
            Some(init) if !defaults => {
                self.new_init(init, ty, object.clone(), count, &mut effects, span);
            }
            _ => self.new_defaults(ty, object.clone(), count.as_ref(), &mut effects, new.ty.span),
        }
        let value = self.sequence(effects, object);
        Some(Value::rvalue(value, pointer, span))
    }

    /// The element type and the bound of an array `new`.
    fn new_type(&mut self, name: &'a ast::TypeName) -> (QualType, Option<&'a ast::Expr>) {
        let base = self.spec_type(&name.specs);
        // The outermost bound need not be constant: it stands first among the parts.
        if let Some(DeclaratorPart::Array { size: Some(size), .. }) = name.declarator.parts.first()
        {
            let mut ty = base;
            for part in name.declarator.parts[1..].iter().rev() {
                ty = self.apply_part(ty, part);
            }
            return (ty, Some(size));
        }
        (self.declarator_type(base, &name.declarator), None)
    }

    /// The number of elements, evaluated once, as an integer of the address size.
    fn new_count(
        &mut self,
        count: Option<&'a ast::Expr>,
        loc: ir::Loc,
    ) -> (Option<Expr>, Vec<Expr>) {
        let Some(size) = count else { return (None, Vec::new()) };
        let value = self.expr(size);
        let ty = self.types.size_t();
        let value = self.convert(value, ty, Purpose::Operand("the number of elements"));
        if matches!(value.kind, ExprKind::Const(_)) || is_simple(&value) {
            return (Some(value), Vec::new());
        }
        let slot = self.temporary_slot(value.ty, loc);
        let keep = self.store(slot.clone(), value, false, loc);
        (Some(self.load_from(slot, false, loc)), vec![keep])
    }

    fn new_bytes(&mut self, ty: QualType, count: Option<Expr>, loc: ir::Loc) -> Expr {
        let size = i128::from(self.types.layout(ty).size);
        let size_t = self.types.size_t();
        let size = self.const_int(size, size_t, loc);
        match count {
            None => size,
            Some(count) => {
                let ir_ty = size.ty;
                let kind = ExprKind::Binary {
                    op: BinaryOp::Mul,
                    lhs: Box::new(count),
                    rhs: Box::new(size),
                };
                self.folded(Expr::new(kind, ir_ty, loc))
            }
        }
    }

    fn new_init(
        &mut self,
        init: &'a ast::Initializer,
        ty: QualType,
        object: Expr,
        count: Option<Expr>,
        effects: &mut Vec<Expr>,
        span: Span,
    ) {
        let loc = self.loc(span);
        let empty = init.is_empty();
        if let Some(count) = count {
            if !empty {
                self.new_array_values(init, ty, object, &count, effects);
                return;
            }
            let pointer = self.types.pointer_to(Basic::Void.into());
            let target = self.pointer_cast(object, pointer);
            let zero = self.const_int(0, Basic::Int.into(), loc);
            let bytes = self.new_bytes(ty, Some(count), loc);
            let kind =
                ExprKind::Intrinsic { op: ir::Intrinsic::MemSet, args: vec![target, zero, bytes] };
            let void = self.types.ir.void();
            effects.push(Expr::new(kind, void, loc));
            return;
        }
        let node = if empty { Node::Default } else { self.initializer(ty, init, "").1 };
        self.node_stores(object, node, ty, effects);
    }

    /// `new T[n]{...}`: the elements of an array whose bound is known.
    fn new_array_values(
        &mut self,
        init: &'a ast::Initializer,
        ty: QualType,
        object: Expr,
        count: &Expr,
        effects: &mut Vec<Expr>,
    ) {
        let known = self.const_int_value(count).and_then(|count| u64::try_from(count).ok());
        let Some(len) = known.filter(|len| (1..1 << 24).contains(len)) else {
            let message = "initial values need an array of a constant number of elements";
            self.error(Code::E0334, init.span, message);
            return;
        };
        let array = self.types.array_of(ty, Some(len));
        let pointer = self.types.pointer_to(array);
        let addr = self.pointer_cast(object, pointer);
        let (_, node) = self.initializer(array, init, "");
        self.node_stores(addr, node, array, effects);
    }

    /// `delete p`, `delete[] p`.
    pub fn delete_expr(&mut self, operand: &'a ast::Expr, span: Span) -> Checked<'a> {
        let value = self.expr(operand);
        let value = self.rvalue(value);
        value.sound(&self.types)?;
        if !self.types.is_pointer(value.ty) {
            let message = format!("`delete` needs a pointer, not {}", self.show(value.ty));
            self.error(Code::E0334, operand.span, message);
            return None;
        }
        let pointer = self.types.pointer_to(Basic::Void.into());
        let expr = self.expr_of(value);
        let expr = self.pointer_cast(expr, pointer);
        let freed = self.call_by_name("free", vec![expr], span)?;
        Some(Value { span, ..freed })
    }
}
