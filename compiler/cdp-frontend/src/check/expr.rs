//! Expressions: names, literals, members, subscripts, `sizeof` and its like. Operators are in
//! `operators`, calls in `call`, casts in `cast`, launches in `launch`.

use cdp_ir as ir;
use cdp_ir::{Const, Expr, ExprKind};

use super::at::At;
use super::ctype::{Basic, QualType};
use super::state::Checker;
use super::value::{Checked, Kind, Value};
use crate::ast::{self, Encoding, ExprKind as Ast, FloatSuffix, IntSuffix};
use crate::diagnostics::Code;
use crate::near::nearest;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks an expression.
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Value<'a> {
        match self.checked(expr) {
            Some(value) => value,
            None => self.error_value(expr.span),
        }
    }

    /// The value of an expression; `None` for something wrong, about which an error has been given.
    fn checked(&mut self, expr: &'a ast::Expr) -> Checked<'a> {
        let span = expr.span;
        Some(match &expr.kind {
            Ast::Error => return None,
            Ast::Int(literal) => self.int_literal(literal, span),
            Ast::Float(literal) => self.float_literal(literal, span),
            Ast::Char(literal) => self.char_literal(literal, span),
            Ast::String(literal) => self.string_literal(literal, span),
            Ast::Bool(value) => self.bool_value(*value, span),
            Ast::Nullptr => {
                let expr = self.dummy(Basic::Nullptr.into());
                Value { null: true, ..Value::rvalue(expr, Basic::Nullptr.into(), span) }
            }
            Ast::Name(name) => self.name(&ast::QualName::plain(ast::Ident { name: *name, span })),
            Ast::Qualified(name) => self.name(name),
            Ast::TemplateName(with) => return self.builtin_template(with, span),
            Ast::Paren(inner) => {
                let mut value = self.expr(inner);
                value.span = span;
                value
            }
            Ast::Unary(unary) => return self.unary(unary, span),
            Ast::Postfix(postfix) => return self.postfix(postfix, span),
            Ast::Binary(binary) => return self.binary(binary, span),
            Ast::Assign(assign) => return self.assign(assign, span),
            Ast::Comma(sides) => return self.comma(&sides[0], &sides[1], span),
            Ast::Conditional(parts) => return self.conditional(parts, span),
            Ast::Call(call) => return self.call(call, span),
            Ast::Launch(launch) => self.launch(launch, span),
            Ast::Index(parts) => return self.index(&parts[0], &parts[1], span),
            Ast::Member(access) => return self.member_access(access, span),
            Ast::Cast(cast) => return self.cast_expr(cast, span),
            Ast::Construct(made) => return self.construct(made, span),
            Ast::CompoundLiteral(made) => return self.compound_literal(made, span),
            Ast::SizeofExpr(operand) => {
                let ty = self.unevaluated_type(operand);
                return self.size_of(ty, operand.span, span);
            }
            Ast::SizeofType(name) => {
                let ty = self.type_name(name);
                return self.size_of(ty, name.span, span);
            }
            Ast::AlignofExpr(operand) => {
                let ty = self.unevaluated_type(operand);
                return self.align_of(ty, operand.span, span);
            }
            Ast::AlignofType(name) => {
                let ty = self.type_name(name);
                return self.align_of(ty, name.span, span);
            }
            Ast::Offsetof(of) => return self.offset_of(of, span),
            Ast::VaArg(arg) => return self.va_arg(arg, span),
            Ast::New(new) => return self.new_expr(new, span),
            Ast::Delete { operand, .. } => return self.delete_expr(operand, span),
            Ast::InitList(list) => Value::new(Kind::Braces(list), Basic::Error.into(), span),
        })
    }

    // --- literals --------------------------------------------------------------------------

    pub fn int_value(&mut self, value: i128, ty: QualType, span: Span) -> Value<'a> {
        let loc = self.loc(span);
        let expr = self.const_int(value, ty, loc);
        Value::rvalue(expr, ty, span)
    }

    pub fn bool_value(&mut self, value: bool, span: Span) -> Value<'a> {
        self.int_value(i128::from(value), Basic::Bool.into(), span)
    }

    fn int_literal(&mut self, literal: &ast::IntLit, span: Span) -> Value<'a> {
        let order: &[Basic] = match (literal.size, literal.unsigned) {
            (IntSuffix::None, false) => {
                &[Basic::Int, Basic::UInt, Basic::Long, Basic::ULong, Basic::LongLong]
            }
            (IntSuffix::None, true) => &[Basic::UInt, Basic::ULong],
            (IntSuffix::Long, false) => &[Basic::Long, Basic::ULong, Basic::LongLong],
            (IntSuffix::Long, true) | (IntSuffix::Size, true) => &[Basic::ULong],
            (IntSuffix::Size, false) => &[Basic::Long, Basic::ULong],
            (IntSuffix::LongLong, false) => &[Basic::LongLong],
            (IntSuffix::LongLong, true) => &[],
        };
        let value = i128::from(literal.value);
        let ty = order
            .iter()
            .copied()
            // A decimal literal without `u` never gets an unsigned type.
            .filter(|basic| literal.unsigned || literal.based || basic.is_signed())
            .find(|&basic| value <= self.int_range(basic).1)
            .unwrap_or(if literal.unsigned || value > i128::from(i64::MAX) {
                Basic::ULongLong
            } else {
                Basic::LongLong
            });
        let mut result = self.int_value(value, ty.into(), span);
        result.null = literal.value == 0;
        result
    }

    fn float_literal(&mut self, literal: &ast::FloatLit, span: Span) -> Value<'a> {
        let basic = match literal.suffix {
            FloatSuffix::F => Basic::Float,
            FloatSuffix::None | FloatSuffix::L => Basic::Double,
        };
        if literal.suffix == FloatSuffix::L {
            self.outside(Code::E0244, span, "`long double` is", "leave the `L` out");
        }
        let constant = self.float_const(literal.value, basic);
        let loc = self.loc(span);
        Value::rvalue(self.const_expr(constant, basic.into(), loc), basic.into(), span)
    }

    fn char_literal(&mut self, literal: &ast::CharLit, span: Span) -> Value<'a> {
        let basic = match literal.encoding {
            _ if literal.multi => Basic::Int,
            encoding => character(encoding),
        };
        self.int_value(i128::from(literal.value), basic.into(), span)
    }

    /// The element type of a string literal.
    pub fn string_elem(&self, literal: &ast::StringLit) -> Basic {
        character(literal.encoding)
    }

    /// A string literal's constant, terminator included.
    pub fn string_const(&self, literal: &ast::StringLit) -> Const {
        if self.string_elem(literal) == Basic::Char {
            let mut bytes = literal.bytes();
            bytes.push(0);
            return Const::Bytes(bytes);
        }
        Const::Array(literal.units.iter().map(|&unit| Const::Int(i128::from(unit))).collect())
    }

    fn string_literal(&mut self, literal: &'a ast::StringLit, span: Span) -> Value<'a> {
        let elem: QualType = QualType::from(self.string_elem(literal)).as_const();
        let ty = self.types.array_of(elem, Some(literal.units.len() as u64 + 1));
        let constant = self.string_const(literal);
        let ir_ty = self.types.ir_type(ty);
        let addr = self.string_global(constant, ir_ty, span);
        Value { string: Some(literal), ..Value::lvalue(addr, ty, span) }
    }

    /// The address of a constant array with this content, shared between equal ones.
    pub fn string_global(&mut self, constant: Const, ir_ty: ir::TypeId, span: Span) -> Expr {
        let key = text_key(&constant);
        let pointer = self.types.ir.pointer_to(ir_ty);
        let loc = self.loc(span);
        let skipped = self.f.skips() || self.around.unevaluated > 0;
        let id = match self.constants.strings.get(&(key.clone(), ir_ty)) {
            Some(&id) => id,
            None if skipped && self.may_be_evaluated() => {
                let id = super::state::TEXT_ID | self.constants.values.len() as u32;
                self.constants.values.insert(id, std::rc::Rc::new((constant, ir_ty)));
                ir::GlobalId(id)
            }
            None if skipped => ir::GlobalId(super::state::NO_ID),
            None => {
                let name = format!("$str{}", self.constants.strings.len());
                let id = self.module.add_global(ir::Global {
                    name: name.clone(),
                    symbol: name,
                    ty: ir_ty,
                    space: ir::AddressSpace::Global,
                    align: self.types.ir.layout(ir_ty).align,
                    linkage: ir::Linkage::Internal,
                    defined: true,
                    init: Some(constant),
                    managed: false,
                    constant: true,
                    device_shadow: false,
                    function: None,
                    loc,
                });
                self.constants.strings.insert((key, ir_ty), id);
                self.constants.texts.insert(id.0);
                id
            }
        };
        Expr::new(ExprKind::GlobalAddr(id), pointer, loc)
    }

    /// Whether IR that is thrown away may be run when compiling: that of `constexpr` functions, and of initialisers.
    fn may_be_evaluated(&self) -> bool {
        let constexpr = self.f.func.is_none_or(|func| self.names.func(func).constexpr);
        self.around.unevaluated == 0 && (constexpr || self.around.constant > 0)
    }

    // --- members and subscripts --------------------------------------------------------------

    fn member_access(&mut self, access: &'a ast::MemberExpr, span: Span) -> Checked<'a> {
        let ast::MemberExpr { base, arrow, op_span, member } = access;
        let at = At { op: *op_span, whole: span };
        let value = self.expr(base);
        value.sound(&self.types)?;
        let value = if *arrow {
            let pointer = self.rvalue(value);
            pointer.sound(&self.types)?;
            let Some(pointee) = self.types.pointee(pointer.ty) else {
                let message = format!("`->` needs a pointer, not {}", self.show(pointer.ty));
                let record = self.types.record_id(pointer.ty).is_some();
                let found = self.error(Code::E0309, at.op, message);
                match record {
                    true => found.suggest("use `.`", at.op, "."),
                    false => found,
                };
                return None;
            };
            let addr = self.expr_of(pointer);
            Value::lvalue(addr, pointee, base.span)
        } else {
            value
        };
        if let Some(pointee) = self.types.pointee(value.ty)
            && self.types.record_id(pointee).is_some()
        {
            let message = format!("`.` on a pointer, {}", self.show(value.ty));
            self.error(Code::E0309, at.op, message).suggest("use `->`", at.op, "->");
            return None;
        }
        self.field(value, *member, at.whole)
    }

    /// `value.member`.
    fn field(&mut self, value: Value<'a>, member: ast::Ident, span: Span) -> Checked<'a> {
        let text = self.text(member.name);
        if let Kind::Fns(_) | Kind::Braces(_) = value.kind {
            let value = self.rvalue(value);
            let message = format!("{} has no members", self.show(value.ty));
            if !self.is_error(&value) {
                self.error(Code::E0309, span, message);
            }
            return None;
        }
        let Some(record) = self.types.record_id(value.ty) else {
            let message = format!("{} has no members", self.show(value.ty));
            self.error(Code::E0309, member.span, message);
            return None;
        };
        if !self.types.record(record).complete {
            let message = format!("the type {} is incomplete here", self.show(value.ty));
            self.error(Code::E0308, value.span, message);
            return None;
        }
        let Some(path) = self.types.find_field(record, text) else {
            self.no_member(value.ty, member);
            return None;
        };
        if let Kind::Builtin(variable) = value.kind {
            let axis = [ir::Axis::X, ir::Axis::Y, ir::Axis::Z][path[0].min(2) as usize];
            let ty: QualType = Basic::UInt.into();
            let (loc, ir_ty) = (self.loc(span), self.types.ir_type(ty));
            let expr = self.read_axis(variable, axis, ir_ty, loc);
            return Some(Value::new(Kind::RValue(expr), ty, span));
        }
        let expiring = value.expiring;
        let mut value = value;
        for index in path {
            value = self.field_at(value, index, span)?;
        }
        Some(Value { expiring, ..value })
    }

    fn no_member(&mut self, ty: QualType, member: ast::Ident) {
        let used = (self.types.record_id(ty), member.name);
        if self.quiet.lost.contains(&member.name)
            || self.has_lost(ty)
            || !self.f.refused.insert(used)
        {
            return;
        }
        let text = self.text(member.name);
        let message = format!("{} has no member `{text}`", self.show(ty));
        let record = self.types.record_id(ty).map(|id| self.types.record(id));
        let fields = record.map_or(&[][..], |record| &record.fields);
        let near = nearest(text, fields.iter().map(|field| field.name.as_str())).map(str::to_owned);
        let named = fields.iter().filter(|field| !field.name.is_empty());
        let list: Vec<String> = named.map(|field| format!("`{}`", field.name)).collect();
        let few = (1..=8).contains(&fields.len());
        let found = self.error(Code::E0309, member.span, message);
        match near {
            Some(near) => found.suggest("a member with a similar name exists", member.span, near),
            None if few => found.note(format!("its members are {}", list.join(", "))),
            None => found,
        };
    }

    /// One field of a record value, by index.
    pub fn field_at(&mut self, value: Value<'a>, index: u32, span: Span) -> Checked<'a> {
        let record = self.types.record_id(value.ty)?;
        let field = &self.types.record(record).fields[index as usize];
        let (field_ty, bits) = (field.ty, field.bit_width.is_some());
        let ty = self.qualify(field_ty, value.ty.quals.cv());
        let loc = self.loc(span);
        if let Kind::RValue(expr) = value.kind {
            if !bits && !self.types.is_array(ty) {
                let ir_ty = self.types.ir_type(ty);
                let kind = ExprKind::Extract { record: Box::new(expr), field: index };
                return Some(Value::rvalue(Expr::new(kind, ir_ty, loc), ty, span));
            }
            let base = self.temporary(expr, value.ty, value.span);
            return Some(self.field_of_address(base, index, ty, bits, span));
        }
        let base = self.address(value);
        Some(self.field_of_address(base, index, ty, bits, span))
    }

    fn field_of_address(
        &mut self,
        base: Expr,
        field: u32,
        ty: QualType,
        bits: bool,
        span: Span,
    ) -> Value<'a> {
        if bits {
            return Value::new(Kind::BitField { base, field }, ty, span);
        }
        let loc = self.loc(span);
        let addr = self.field_addr(base, field, ty, loc);
        Value::lvalue(addr, ty, span)
    }

    fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Checked<'a> {
        let base = self.expr(base);
        let index = self.expr(index);
        base.sound(&self.types)?;
        index.sound(&self.types)?;
        let array = self.types.array(base.ty).and_then(|(_, len)| len);
        let base = self.rvalue(base);
        let index = self.promote(index);
        base.sound(&self.types)?;
        index.sound(&self.types)?;
        let (base, index) =
            if self.types.is_pointer(base.ty) { (base, index) } else { (index, base) };
        let index = self.promote(index);
        let Some(elem) = self.types.pointee(base.ty) else {
            let message =
                format!("a subscript needs an array or pointer, not {}", self.show(base.ty));
            self.error(Code::E0320, span, message);
            return None;
        };
        if !self.types.is_integer(index.ty) {
            let message = format!("a subscript is an integer, not {}", self.show(index.ty));
            self.error(Code::E0320, index.span, message);
            return None;
        }
        if self.types.is_void(elem) {
            self.error(Code::E0320, span, "a subscript of a pointer to `void`")
                .help("cast it to a pointer to the type of the elements first");
            return None;
        }
        self.check_arithmetic_pointee(elem, base.span)?;
        let index_span = index.span;
        let base = self.expr_of(base);
        let index = self.expr_of(index);
        if let (Some(len), Some(at)) = (array, self.const_int_value(&index)) {
            self.warn_out_of_bounds(at, len, index_span);
        }
        let index = self.to_index(index);
        let loc = self.loc(span);
        let addr = self.index_addr(base, index, loc);
        Some(Value::lvalue(addr, elem, span))
    }

    fn warn_out_of_bounds(&mut self, at: i128, len: u64, span: Span) {
        if (at < 0 || at >= i128::from(len)) && self.around.unevaluated == 0 {
            let message = format!("the index {at} is outside the array's {len} elements");
            self.error(Code::W0702, span, message);
        }
    }

    /// Pointer arithmetic needs the size of what is pointed to.
    pub fn check_arithmetic_pointee(&mut self, pointee: QualType, span: Span) -> Option<()> {
        if self.types.is_error(pointee) {
            return None;
        }
        if self.types.is_void(pointee) {
            // As in GNU C++, `void` counts in bytes. nvcc and gcc say so too.
            if !self.f.builtin_body {
                self.error(Code::W0737, span, "arithmetic on a pointer to `void` counts in bytes")
                    .help("cast it to `char *` to say so");
            }
            return Some(());
        }
        if self.types.is_complete(pointee) {
            return Some(());
        }
        let message = format!("arithmetic on a pointer to {}", self.show(pointee));
        let function = self.types.is_function(pointee);
        let reason =
            if function { "" } else { "the type is incomplete here, so its size is not known" };
        self.error(Code::E0320, span, message).note(reason);
        None
    }

    /// What `++`, `--` and differences need: nvcc counts `void` in bytes for `+` and `-` with a number alone.
    pub fn check_stepped_pointee(&mut self, pointee: QualType, span: Span) -> Option<()> {
        if self.types.is_void(pointee) {
            self.error(Code::E0320, span, "arithmetic on a pointer to `void`")
                .help("cast it to `char *` to count in bytes");
            return None;
        }
        self.check_arithmetic_pointee(pointee, span)
    }

    // --- sizes -------------------------------------------------------------------------------

    /// The type of an expression that is not evaluated.
    pub fn unevaluated_type(&mut self, operand: &'a ast::Expr) -> QualType {
        self.around.unevaluated += 1;
        let mut value = self.expr(operand);
        if matches!(value.kind, Kind::Braces(_)) {
            value = self.rvalue(value);
        }
        self.around.unevaluated -= 1;
        if matches!(value.kind, Kind::Fns(_)) {
            self.error(Code::E0308, operand.span, "a function has no size");
            return Basic::Error.into();
        }
        if let Kind::BitField { .. } = value.kind {
            self.error(Code::E0308, operand.span, "a bit-field has no size in bytes");
            return Basic::Error.into();
        }
        value.ty
    }

    fn size_of(&mut self, ty: QualType, operand: Span, span: Span) -> Checked<'a> {
        self.sized(ty, operand)?;
        let size = i128::from(self.types.layout(ty).size);
        let ty = self.types.size_t();
        Some(self.int_value(size, ty, span))
    }

    fn align_of(&mut self, ty: QualType, operand: Span, span: Span) -> Checked<'a> {
        let elem = self.types.array(ty).map_or(ty, |(elem, _)| elem);
        self.sized(elem, operand)?;
        let align = i128::from(self.types.layout(elem).align);
        let ty = self.types.size_t();
        Some(self.int_value(align, ty, span))
    }

    /// Nothing, with a word on why, for a type without a size.
    fn sized(&mut self, ty: QualType, span: Span) -> Option<()> {
        let ty = self.types.strip_ref(ty);
        if self.types.is_error(ty) {
            return None;
        }
        if !self.types.is_complete(ty) || self.types.is_void(ty) {
            let message = format!("the size of {} is not known", self.show(ty));
            self.error(Code::E0308, span, message);
            return None;
        }
        Some(())
    }

    fn offset_of(&mut self, of: &'a ast::OffsetofExpr, span: Span) -> Checked<'a> {
        let ast::OffsetofExpr { ty: name, path } = of;
        let mut ty = self.type_name(name);
        let mut offset = 0u64;
        for step in path {
            if self.types.is_error(ty) {
                return None;
            }
            match step {
                ast::Designator::Field(member) => {
                    let text = self.text(member.name);
                    let record = self.types.record_id(ty);
                    let found = record.and_then(|record| self.types.find_field(record, text));
                    let Some(found) = found else {
                        self.no_member(ty, *member);
                        return None;
                    };
                    for index in found {
                        let Some(record) = self.types.record_id(ty) else { break };
                        let info = self.types.record(record);
                        let field = &self.types.ir.record(info.ir).fields[index as usize];
                        if field.bits.is_some() {
                            self.error(Code::E0309, member.span, "`offsetof` of a bit-field");
                            return None;
                        }
                        offset += field.offset;
                        ty = info.fields[index as usize].ty;
                    }
                }
                ast::Designator::Index(index) => {
                    let Some((elem, _)) = self.types.array(ty) else {
                        self.error(Code::E0320, index.span, "a subscript of no array");
                        return None;
                    };
                    let (at, _) = self.const_integer(index, "an index of `offsetof`")?;
                    let size = self.types.layout(elem).size;
                    offset = offset.wrapping_add((at as u64).wrapping_mul(size));
                    ty = elem;
                }
            }
        }
        let ty = self.types.size_t();
        Some(self.int_value(i128::from(offset), ty, span))
    }
}

/// What tells texts of one type apart.
fn text_key(constant: &Const) -> Vec<u8> {
    match constant {
        Const::Bytes(bytes) => bytes.clone(),
        Const::Array(units) => {
            let values =
                units.iter().map(|unit| if let Const::Int(value) = unit { *value } else { 0 });
            values.flat_map(|value| (value as u32).to_le_bytes()).collect()
        }
        _ => Vec::new(),
    }
}

/// The type of a literal's characters.
fn character(encoding: Encoding) -> Basic {
    match encoding {
        Encoding::Plain | Encoding::Utf8 => Basic::Char,
        Encoding::Utf16 => Basic::Char16,
        Encoding::Utf32 => Basic::Char32,
        Encoding::Wide => Basic::WChar,
    }
}
