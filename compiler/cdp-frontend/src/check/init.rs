//! Initialisers: brace-enclosed lists with nesting, elision and designators, strings, constructor
//! arguments of CUDA's own types; their constants (static storage) and stores (automatic storage).

use cdp_ir::{Const, Expr};

use super::convert::Purpose;
use super::ctype::{Basic, CRecordKind, QualType};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast::{self, Designator, ExprKind as Ast, InitializerKind};
use crate::diagnostics::Code;
use crate::source::Span;

/// Elements that a list may reach to by designators.
const MAX_LISTED: u64 = 1 << 22;

/// An initialiser made out: every value has the machine type of its place.
#[derive(Clone, Debug)]
pub enum Node {
    /// Nothing was written: zero (ones for `dim3`).
    Default,
    Value(Expr),
    /// Elements or fields by index; what is missing is [`Node::Default`].
    Parts(Vec<(u64, Node)>),
}

/// A position in a list that several levels of aggregates may take from (brace elision).
struct Cursor<'a> {
    items: &'a [ast::InitItem],
    at: usize,
    /// The item at `at`, when it has been checked already.
    peeked: Option<Value<'a>>,
    braced: bool,
}

impl<'a> Checker<'a> {
    /// An initialiser for an object of a type; gives the type too, since a list or string decides
    /// the bound of an array. `name` is the object's, for messages.
    pub fn initializer(
        &mut self,
        ty: QualType,
        init: &'a ast::Initializer,
        name: &str,
    ) -> (QualType, Node) {
        match &init.kind {
            InitializerKind::Assign(expr) => self.init_expr(ty, expr, name),
            InitializerKind::Brace(list) => self.init_list(ty, list, init.span, name),
            InitializerKind::Paren(args) => {
                let node = self.init_paren(ty, args, init.span, name);
                (ty, node)
            }
        }
    }

    fn init_expr(&mut self, ty: QualType, expr: &'a ast::Expr, name: &str) -> (QualType, Node) {
        if let Ast::InitList(list) = &expr.kind {
            return self.init_braces(ty, list, expr.span, name);
        }
        if let (Some(literal), Some(_)) = (string_of(expr), self.types.array(ty))
            && let Some(result) = self.init_string(ty, literal, expr.span)
        {
            return result;
        }
        let value = self.expr(expr);
        if self.types.is_array(ty) {
            if !self.is_error(&value) {
                let message = format!(
                    "`{name}`, an array, cannot be initialised with {}",
                    self.show(value.ty)
                );
                self.error(Code::E0313, expr.span, message).help("write the elements in braces");
            }
            return (self.error_array(ty), Node::Default);
        }
        let expr = self.convert(value, ty.unqualified(), Purpose::Init(name));
        (ty, Node::Value(expr))
    }

    /// An array type that is complete, for going on after an error.
    fn error_array(&mut self, ty: QualType) -> QualType {
        match self.types.array(ty) {
            Some((elem, None)) => self.types.array_of(elem, Some(1)),
            _ => ty,
        }
    }

    /// A character array from a string literal; `None` when the element type does not fit.
    fn init_string(
        &mut self,
        ty: QualType,
        literal: &'a ast::StringLit,
        span: Span,
    ) -> Option<(QualType, Node)> {
        let (elem, len) = self.types.array(ty)?;
        let unit = self.string_elem(literal);
        let basic = self.types.basic(elem)?;
        let chars = matches!(basic, Basic::Char | Basic::SChar | Basic::UChar | Basic::Char8);
        if !(basic == unit || (unit == Basic::Char && chars)) {
            return None;
        }
        let need = literal.units.len() as u64 + 1;
        let ty = match len {
            Some(len) if need > len => {
                let message = format!("the string needs {need} elements, but the array has {len}");
                self.error(Code::E0313, span, message)
                    .help("leave the bound out to let the string decide it");
                return Some((ty, Node::Default));
            }
            Some(_) => ty,
            None => self.types.array_of(elem, Some(need)),
        };
        let constant = self.string_const(literal);
        let loc = self.loc(span);
        Some((ty, Node::Value(self.const_expr(constant, ty, loc))))
    }

    /// `T x{...}` and `T{...}`, which are direct: a number alone in the list may become an enumeration whose underlying
    /// type is fixed (C++17 [dcl.init.list]).
    pub fn init_list(
        &mut self,
        ty: QualType,
        list: &'a ast::InitList,
        span: Span,
        name: &str,
    ) -> (QualType, Node) {
        if let ([one], Some(id)) = (list.items.as_slice(), self.types.enum_id(ty))
            && one.path.is_none()
            && self.types.enumeration(id).fixed
            && let given = self.alone(&one.value).ty
            && self.types.is_arithmetic(given)
        {
            let underlying = self.types.enumeration(id).underlying.into();
            let (_, node) = self.init_braces(underlying, list, span, name);
            let Node::Value(number) = node else { return (ty, node) };
            let ir_ty = self.types.ir_type(ty);
            return (ty, Node::Value(self.cast(number, ir_ty)));
        }
        self.init_braces(ty, list, span, name)
    }

    pub fn init_braces(
        &mut self,
        ty: QualType,
        list: &'a ast::InitList,
        span: Span,
        name: &str,
    ) -> (QualType, Node) {
        if self.types.is_error(ty) {
            for item in &list.items {
                self.expr(&item.value);
            }
            return (ty, Node::Default);
        }
        // `char s[] = {"text"}`
        if let [one] = list.items.as_slice()
            && one.path.is_none()
            && let Some(literal) = string_of(&one.value)
            && self.types.is_array(ty)
            && let Some(result) = self.init_string(ty, literal, one.value.span)
        {
            return result;
        }
        if let Some((elem, len)) = self.types.array(ty) {
            let mut cursor = Cursor { items: &list.items, at: 0, peeked: None, braced: true };
            let (node, count) = self.fill_array(elem, len, &mut cursor, name);
            self.check_all_used(&mut cursor, name);
            let ty = match len {
                Some(_) => ty,
                None => {
                    if count == 0 {
                        self.error(Code::E0312, span, "an array of no elements");
                    }
                    self.types.array_of(elem, Some(count.max(1)))
                }
            };
            return (ty, node);
        }
        if self.types.record_id(ty).is_some() {
            return (ty, self.init_record(ty, list, name));
        }
        let node = match list.items.as_slice() {
            [] => Node::Default,
            [one] => {
                let value = self.expr(&one.value);
                if let Kind::Braces(inner) = value.kind {
                    return self.init_braces(ty, inner, one.value.span, name);
                }
                self.check_narrowing(&value, ty);
                Node::Value(self.convert(value, ty.unqualified(), Purpose::Init(name)))
            }
            [_, second, ..] => {
                let message = format!("`{name}` takes one value, but the list has more");
                self.error(Code::E0313, second.value.span, message);
                Node::Default
            }
        };
        (ty, node)
    }

    fn init_record(&mut self, ty: QualType, list: &'a ast::InitList, name: &str) -> Node {
        if !self.types.is_complete(ty) {
            let message = format!("{} is incomplete here", self.show(ty));
            self.error(Code::E0308, list.span, message);
            return Node::Default;
        }
        let mut peeked = None;
        // `{value}` with a value of the record's own type copies it.
        if let [one] = list.items.as_slice()
            && one.path.is_none()
            && !matches!(one.value.kind, Ast::InitList(_))
        {
            let value = self.expr(&one.value);
            if value.ty.id == ty.id
                || (self.is_dim3(ty) && self.types.record_id(value.ty).is_some())
            {
                return Node::Value(self.convert(value, ty.unqualified(), Purpose::Init(name)));
            }
            peeked = Some(value);
        }
        let mut cursor = Cursor { items: &list.items, at: 0, peeked, braced: true };
        let node = self.fill_record(ty, &mut cursor, name);
        self.check_all_used(&mut cursor, name);
        node
    }

    fn check_all_used(&mut self, cursor: &mut Cursor<'a>, name: &str) {
        if let Some(extra) = cursor.items.get(cursor.at) {
            let message = format!("the list has more values than `{name}` has room for");
            let message = message.replace("`` has", "the object has");
            self.error(Code::E0313, extra.value.span, message);
            for item in &cursor.items[cursor.at + 1..] {
                self.quiet(|checker| checker.expr(&item.value));
            }
            cursor.at = cursor.items.len();
        }
    }

    fn fill_array(
        &mut self,
        elem: QualType,
        len: Option<u64>,
        cursor: &mut Cursor<'a>,
        name: &str,
    ) -> (Node, u64) {
        let mut parts: Vec<(u64, Node)> = Vec::new();
        let (mut next, mut count) = (0u64, 0u64);
        while let Some(item) = cursor.items.get(cursor.at) {
            if let Some(first) = item.designators().first() {
                if !cursor.braced {
                    break;
                }
                let Designator::Index(index) = first else {
                    self.error(Code::E0313, item.value.span, "a field designator in an array");
                    cursor.at += 1;
                    continue;
                };
                let at = self.const_integer(index, "an array designator").map(|(at, _)| at);
                if at.is_some_and(|at| at != i128::from(next)) && self.is_host_text() {
                    let message =
                        "nvcc's host compiler takes designators of an array in order, without gaps";
                    self.error(Code::E0313, index.span, message);
                }
                let bound = len.unwrap_or(MAX_LISTED).min(MAX_LISTED);
                match at.and_then(|at| u64::try_from(at).ok()).filter(|at| *at < bound) {
                    Some(at) => next = at,
                    None => {
                        if at.is_some() {
                            let message = "the index is outside the array, or too large for a list";
                            self.error(Code::E0313, index.span, message);
                        }
                        cursor.at += 1;
                        continue;
                    }
                }
                let node = self.designated(elem, &[], &item.designators()[1..], cursor, name);
                merge(&mut parts, next, node);
            } else {
                if len.is_some_and(|len| next >= len) {
                    break;
                }
                let node = self.fill_one(elem, cursor, name);
                merge(&mut parts, next, node);
            }
            next += 1;
            count = count.max(next);
        }
        (Node::Parts(parts), count)
    }

    fn fill_record(&mut self, ty: QualType, cursor: &mut Cursor<'a>, name: &str) -> Node {
        let Some(id) = self.types.record_id(ty) else { return Node::Default };
        let record = self.types.record(id);
        let is_union = record.kind == CRecordKind::Union;
        let fields: Vec<QualType> = record.fields.iter().map(|field| field.ty).collect();
        let mut parts: Vec<(u64, Node)> = Vec::new();
        let mut next = 0usize;
        while let Some(item) = cursor.items.get(cursor.at) {
            if let Some(first) = item.designators().first() {
                if !cursor.braced {
                    break;
                }
                let Some(path) = self.designated_field(ty, first) else {
                    cursor.at += 1;
                    continue;
                };
                let last = parts.last().map_or(0, |(at, _)| *at);
                if u64::from(path[0]) < last {
                    let message = "C++ wants designators in the order of the members";
                    self.error(Code::E0313, item.value.span, message);
                }
                next = path[0] as usize;
                let node = self.designated(
                    fields[next],
                    &path[1..],
                    &item.designators()[1..],
                    cursor,
                    name,
                );
                if is_union {
                    parts.clear();
                }
                merge(&mut parts, next as u64, node);
            } else {
                if next >= fields.len() || (is_union && next > 0) {
                    break;
                }
                let node = self.fill_one(fields[next], cursor, name);
                merge(&mut parts, next as u64, node);
            }
            next += 1;
        }
        Node::Parts(parts)
    }

    fn designated_field(&mut self, ty: QualType, designator: &'a Designator) -> Option<Vec<u32>> {
        let Designator::Field(member) = designator else {
            self.error(Code::E0313, Span::NONE, "an index designator in a record");
            return None;
        };
        let text = self.text(member.name);
        let found = self.types.record_id(ty).and_then(|id| self.types.find_field(id, text));
        if found.is_none() {
            let message = format!("{} has no member `{text}`", self.show(ty));
            self.error(Code::E0309, member.span, message);
        }
        found
    }

    /// A value behind fields and designators that lead deeper.
    fn designated(
        &mut self,
        ty: QualType,
        path: &[u32],
        rest: &'a [Designator],
        cursor: &mut Cursor<'a>,
        name: &str,
    ) -> Node {
        if let Some((&first, deeper)) = path.split_first() {
            let Some(id) = self.types.record_id(ty) else { return Node::Default };
            let field = self.types.record(id).fields[first as usize].ty;
            let node = self.designated(field, deeper, rest, cursor, name);
            return Node::Parts(vec![(u64::from(first), node)]);
        }
        let Some((first, deeper)) = rest.split_first() else {
            return self.fill_one(ty, cursor, name);
        };
        match first {
            Designator::Field(_) => match self.designated_field(ty, first) {
                Some(path) => {
                    let Some(id) = self.types.record_id(ty) else { return Node::Default };
                    let field = self.types.record(id).fields[path[0] as usize].ty;
                    let node = self.designated(field, &path[1..], deeper, cursor, name);
                    Node::Parts(vec![(u64::from(path[0]), node)])
                }
                None => {
                    cursor.at += 1;
                    Node::Default
                }
            },
            Designator::Index(index) => {
                let at = self.const_integer(index, "an array designator");
                match (self.types.array(ty), at) {
                    (Some((elem, len)), Some((at, _)))
                        if at >= 0 && len.is_none_or(|len| at < i128::from(len)) =>
                    {
                        let node = self.designated(elem, &[], deeper, cursor, name);
                        Node::Parts(vec![(at as u64, node)])
                    }
                    _ => {
                        self.error(Code::E0313, index.span, "the designator fits no element");
                        cursor.at += 1;
                        Node::Default
                    }
                }
            }
        }
    }

    /// One element or field: a nested list, a value, or (braces left out) the next values.
    fn fill_one(&mut self, ty: QualType, cursor: &mut Cursor<'a>, name: &str) -> Node {
        let Some(item) = cursor.items.get(cursor.at) else { return Node::Default };
        if let Ast::InitList(list) = &item.value.kind {
            cursor.at += 1;
            cursor.peeked = None;
            return self.init_braces(ty, list, item.value.span, name).1;
        }
        if let (Some(literal), Some(_)) = (string_of(&item.value), self.types.array(ty))
            && let Some((_, node)) = self.init_string(ty, literal, item.value.span)
        {
            cursor.at += 1;
            cursor.peeked = None;
            return node;
        }
        let value = match cursor.peeked.take() {
            Some(value) => value,
            None => self.expr(&item.value),
        };
        let aggregate = self.types.is_array(ty) || self.types.record_id(ty).is_some();
        if aggregate && !self.is_error(&value) && self.rank(&value, ty.unqualified()).is_none() {
            cursor.peeked = Some(value);
            let braced = std::mem::replace(&mut cursor.braced, false);
            let at = cursor.at;
            let node = match self.types.array(ty) {
                Some((elem, len)) => self.fill_array(elem, len, cursor, name).0,
                None => self.fill_record(ty, cursor, name),
            };
            cursor.braced = braced;
            if cursor.at == at {
                // An empty record takes nothing.
                cursor.at += 1;
                cursor.peeked = None;
            }
            return node;
        }
        cursor.at += 1;
        if self.types.is_array(ty) {
            return Node::Default;
        }
        self.check_narrowing(&value, ty);
        Node::Value(self.convert(value, ty.unqualified(), Purpose::Init(name)))
    }

    /// `T x(args)`.
    fn init_paren(&mut self, ty: QualType, args: &'a [ast::Expr], span: Span, name: &str) -> Node {
        let record = self.types.record_id(ty);
        if let ([one], false) = (args, self.types.is_array(ty)) {
            let value = self.expr(one);
            if record.is_some() && !self.is_dim3(ty) && value.ty.id != ty.id {
                return self.no_constructor(ty, span);
            }
            return Node::Value(self.convert(value, ty.unqualified(), Purpose::Init(name)));
        }
        let values: Vec<Value<'a>> = args.iter().map(|arg| self.expr(arg)).collect();
        self.constructor_node(ty, values, span)
    }

    fn no_constructor(&mut self, ty: QualType, span: Span) -> Node {
        if self.has_lost(ty) {
            return Node::Default;
        }
        let message = format!("{} has no constructor", self.show(ty));
        self.error(Code::E0313, span, message).help("write the members in braces: `{...}`");
        Node::Default
    }

    /// The constructors that CUDA's own types have: `dim3(x, y, z)`, `__half2(x, y)`.
    pub fn constructor_node(&mut self, ty: QualType, args: Vec<Value<'a>>, span: Span) -> Node {
        if args.is_empty() || self.types.is_error(ty) {
            return Node::Default;
        }
        let most = if self.is_dim3(ty) {
            3
        } else if self.is_half_pair(ty) && args.len() == 2 {
            2
        } else if self.types.record_id(ty).is_some() || self.types.is_array(ty) {
            return self.no_constructor(ty, span);
        } else {
            1
        };
        if args.len() > most {
            let message = format!("{} takes at most {most} values", self.show(ty));
            self.error(Code::E0313, span, message);
            return Node::Default;
        }
        let Some(id) = self.types.record_id(ty) else {
            let mut args = args;
            let Some(value) = args.pop() else { return Node::Default };
            return Node::Value(self.convert(value, ty.unqualified(), Purpose::Init("")));
        };
        let fields: Vec<QualType> =
            self.types.record(id).fields.iter().map(|field| field.ty).collect();
        let parts = args
            .into_iter()
            .enumerate()
            .map(|(index, arg)| {
                let value = self.convert(arg, fields[index], Purpose::Init(""));
                (index as u64, Node::Value(value))
            })
            .collect();
        Node::Parts(parts)
    }

    fn is_half_pair(&self, ty: QualType) -> bool {
        self.types.record_id(ty).is_some_and(|id| {
            let record = self.types.record(id);
            record.builtin && matches!(record.name.as_str(), "__half2" | "__nv_bfloat162")
        })
    }

    /// C++ [dcl.init.list]: a list does not narrow. A constant that fits is fine.
    fn check_narrowing(&mut self, value: &Value<'a>, to: QualType) {
        let (Some(from), Some(target)) = (self.types.basic(value.ty), self.types.basic(to)) else {
            return;
        };
        let Kind::RValue(expr) = &value.kind else { return };
        let Some(constant) = self.const_eval(expr) else { return };
        let message = match (&constant, from.is_floating(), target) {
            (Const::Float(_), true, target) if target.is_integer() => {
                format!("{} narrows to {}", self.source_text(value.span), self.show(to))
            }
            (Const::Int(number), false, target)
                if from.is_integer() && !is_exact(*number, target) =>
            {
                format!("{number} has no exact value of {}", self.show(to))
            }
            (Const::Int(number), false, target) if target.is_integer() && from.is_integer() => {
                let (min, max) = self.int_range(target);
                if (min..=max).contains(number) {
                    return;
                }
                format!("{number} does not fit {}", self.show(to))
            }
            _ => return,
        };
        self.quiet.narrowed = Some(value.span);
        // nvcc's host compiler refuses what its device compiler takes.
        let code = if self.is_host_text() { Code::E0313 } else { Code::W0721 };
        self.error(code, value.span, message)
            .note("a list in braces is meant to convert without loss")
            .help("write the conversion as a cast");
    }

    /// Whether nvcc gives the initialiser at hand to its host compiler.
    fn is_host_text(&self) -> bool {
        match self.f.in_function() {
            true => self.f.space.on_host() && !self.f.builtin_body,
            false => self.around.host_variable,
        }
    }
}

/// Whether an integer is a value of a floating type; `true` for other types.
fn is_exact(number: i128, target: Basic) -> bool {
    let digits = match target {
        Basic::Float => f32::MANTISSA_DIGITS,
        Basic::Double => f64::MANTISSA_DIGITS,
        _ => return true,
    };
    let size = number.unsigned_abs();
    size == 0 || 128 - size.leading_zeros() - size.trailing_zeros() <= digits
}

fn merge(parts: &mut Vec<(u64, Node)>, index: u64, node: Node) {
    if parts.last().is_none_or(|(at, _)| *at < index) {
        parts.push((index, node));
        return;
    }
    match parts.iter_mut().rev().find(|(at, _)| *at == index) {
        Some((_, old)) => match (old, node) {
            // Designators may reach into one element several times.
            (Node::Parts(old), Node::Parts(new)) => {
                for (at, part) in new {
                    merge(old, at, part);
                }
            }
            (old, node) => *old = node,
        },
        None => parts.push((index, node)),
    }
}

/// The literal of a string expression, parentheses aside.
fn string_of(expr: &ast::Expr) -> Option<&ast::StringLit> {
    match &expr.kind {
        Ast::String(literal) => Some(literal),
        Ast::Paren(inner) => string_of(inner),
        _ => None,
    }
}
