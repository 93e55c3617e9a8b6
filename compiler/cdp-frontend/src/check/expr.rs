//! Expressions: names, literals, members, subscripts, `sizeof` and its like. Operators are in
//! `operators`, calls in `call`, casts in `cast`, launches in `launch`.

use cdp_ir as ir;
use cdp_ir::{Const, Expr, ExprKind};

use super::builtins;
use super::ctype::{Basic, QualType};
use super::scope::{Entity, FnId, Memory, SetId, VarId};
use super::state::Checker;
use super::value::{FnRef, Kind, Value};
use crate::ast::{self, Encoding, ExprKind as Ast, FloatSuffix, IntSuffix};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks an expression.
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Value<'a> {
        let span = expr.span;
        match &expr.kind {
            Ast::Error => self.error_value(span),
            Ast::Int(literal) => self.int_literal(literal, span),
            Ast::Float(literal) => self.float_literal(literal, span),
            Ast::Char(literal) => self.char_literal(literal, span),
            Ast::String(literal) => self.string_literal(literal, span),
            Ast::Bool(value) => self.bool_value(*value, span),
            Ast::Nullptr => {
                let expr = self.dummy(Basic::Nullptr.into());
                Value { null: true, ..Value::rvalue(expr, Basic::Nullptr.into(), span) }
            }
            Ast::Name(name) => self.name(name),
            Ast::Paren(inner) => {
                let mut value = self.expr(inner);
                value.span = span;
                value
            }
            Ast::Unary { op, op_span, operand } => self.unary(*op, *op_span, operand, span),
            Ast::Postfix { op, op_span, operand } => self.postfix(*op, *op_span, operand, span),
            Ast::Binary { op, op_span, lhs, rhs } => self.binary(*op, *op_span, lhs, rhs, span),
            Ast::Assign { op, op_span, lhs, rhs } => self.assign(*op, *op_span, lhs, rhs, span),
            Ast::Comma { lhs, rhs, .. } => self.comma(lhs, rhs, span),
            Ast::Conditional { condition, then, otherwise, question_span, .. } => {
                self.conditional(condition, then, otherwise, *question_span, span)
            }
            Ast::Call { callee, args, args_span } => self.call(callee, args, *args_span, span),
            Ast::Launch(launch) => self.launch(launch, span),
            Ast::Index { base, index } => self.index(base, index, span),
            Ast::Member { base, arrow, op_span, member } => {
                self.member_access(base, *arrow, *op_span, *member, span)
            }
            Ast::Cast { style, ty, operand } => self.cast_expr(*style, ty, operand, span),
            Ast::Construct { ty, args, braces, args_span } => {
                self.construct(ty, args, *braces, *args_span, span)
            }
            Ast::CompoundLiteral { ty, init } => self.compound_literal(ty, init, span),
            Ast::SizeofExpr(operand) => {
                let ty = self.unevaluated_type(operand);
                self.size_of(ty, operand.span, span)
            }
            Ast::SizeofType(name) => {
                let ty = self.type_name(name);
                self.size_of(ty, name.span, span)
            }
            Ast::AlignofExpr(operand) => {
                let ty = self.unevaluated_type(operand);
                self.align_of(ty, operand.span, span)
            }
            Ast::AlignofType(name) => {
                let ty = self.type_name(name);
                self.align_of(ty, name.span, span)
            }
            Ast::Offsetof { ty, path } => self.offset_of(ty, path, span),
            Ast::New(new) => self.new_expr(new, span),
            Ast::Delete { operand, .. } => self.delete_expr(operand, span),
            Ast::InitList(list) => Value::new(Kind::Braces(list), Basic::Error.into(), span),
        }
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
            .filter(|basic| literal.unsigned || !literal.decimal || basic.is_signed())
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
            let message = "`long double` is outside the `.cdp` subset";
            self.error(Code::E0244, span, message);
        }
        let constant = self.float_const(literal.value, basic);
        let loc = self.loc(span);
        let ty = self.types.ir_type(basic.into());
        Value::rvalue(Expr::new(ExprKind::Const(constant), ty, loc), basic.into(), span)
    }

    fn char_literal(&mut self, literal: &ast::CharLit, span: Span) -> Value<'a> {
        let basic = match literal.encoding {
            _ if literal.multi => Basic::Int,
            Encoding::Plain | Encoding::Utf8 => Basic::Char,
            Encoding::Utf16 => Basic::Char16,
            Encoding::Utf32 => Basic::Char32,
            Encoding::Wide => Basic::WChar,
        };
        self.int_value(i128::from(literal.value), basic.into(), span)
    }

    /// The element type of a string literal.
    pub fn string_elem(&self, literal: &ast::StringLit) -> Basic {
        match literal.encoding {
            Encoding::Plain | Encoding::Utf8 => Basic::Char,
            Encoding::Utf16 => Basic::Char16,
            Encoding::Utf32 => Basic::Char32,
            Encoding::Wide => Basic::WChar,
        }
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
        let key: Vec<u8> = literal.units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let addr = self.string_global(key, constant, ty, span);
        Value { string: Some(literal), ..Value::lvalue(addr, ty, span) }
    }

    /// The address of a constant array with this content, shared between equal ones.
    pub fn string_global(
        &mut self,
        key: Vec<u8>,
        constant: Const,
        ty: QualType,
        span: Span,
    ) -> Expr {
        let ir_ty = self.types.ir_type(ty);
        let pointer = self.types.ir.pointer_to(ir_ty);
        let loc = self.loc(span);
        let skipped = self.f.skips() || self.unevaluated > 0;
        let id = match self.strings.get(&(key.clone(), ir_ty)) {
            Some(&id) => id,
            None if skipped => ir::GlobalId(super::state::NO_ID),
            None => {
                let name = format!("$str{}", self.strings.len());
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
                    loc,
                });
                self.strings.insert((key, ir_ty), id);
                id
            }
        };
        Expr::new(ExprKind::GlobalAddr(id), pointer, loc)
    }

    // --- names -----------------------------------------------------------------------------

    pub fn name(&mut self, name: &'a ast::QualName) -> Value<'a> {
        let span = name.span;
        if let Some(slot) = self.find_name(name) {
            if let Some(value) = self.through_usings(name) {
                return value;
            }
            return match slot.entity() {
                Some(Entity::Var(var)) => self.var_value(var, span),
                Some(Entity::Fns(set)) => self.functions_value(name, set),
                Some(Entity::Enumerator(id, index)) => self.enumerator_value(id, index, span),
                Some(Entity::Type(_)) => {
                    let text = self.text(name.base.name);
                    let message = format!("`{text}` is a type, where a value is expected");
                    self.error(Code::E0207, span, message);
                    self.error_value(span)
                }
                Some(Entity::Namespace(_)) | None => {
                    let text = self.text(name.base.name);
                    let message = format!("`{text}` is a namespace, where a value is expected");
                    self.error(Code::E0207, span, message);
                    self.error_value(span)
                }
            };
        }
        if let Some(value) = self.builtin_name(name) {
            return value;
        }
        self.undeclared(name);
        self.error_value(span)
    }

    /// A name that several namespaces give through `using namespace`: functions overload, anything
    /// else is ambiguous.
    fn through_usings(&mut self, name: &'a ast::QualName) -> Option<Value<'a>> {
        let symbol = name.as_plain()?;
        if self.spaces.list.len() < 3 || self.f.blocks.find(symbol).is_some() {
            return None;
        }
        let mut ns = Some(self.ns);
        while let Some(id) = ns {
            if self.spaces.get(id).members.contains_key(&symbol) {
                return None;
            }
            let found = self.spaces.find_through_usings(id, symbol);
            if found.len() > 1 {
                return Some(self.several(name, &found));
            }
            if !found.is_empty() {
                return None;
            }
            ns = self.spaces.get(id).parent;
        }
        None
    }

    fn several(&mut self, name: &'a ast::QualName, found: &[super::scope::Slot]) -> Value<'a> {
        let text = self.text(name.base.name).to_owned();
        let mut user = Vec::new();
        for slot in found {
            match slot.entity() {
                Some(Entity::Fns(set)) => user.extend(self.set(set).iter().copied()),
                _ => {
                    let message = format!("`{text}` is declared in several namespaces in use here");
                    let mut diagnostic = Diagnostic::new(Code::E0307, name.span, message)
                        .help("write the namespace before the name");
                    for slot in found {
                        diagnostic = diagnostic.secondary(slot.span, "one of them");
                    }
                    self.report(diagnostic);
                    return self.error_value(name.span);
                }
            }
        }
        let kind = Kind::Fns(FnRef { name: text, user, builtin: Vec::new() });
        Value::new(kind, Basic::Error.into(), name.span)
    }

    fn enumerator_value(&mut self, id: super::ctype::CEnumId, index: u32, span: Span) -> Value<'a> {
        let info = self.types.enumeration(id);
        let value = info.enumerators[index as usize].value;
        let ty = if info.complete {
            self.types.enum_type(id)
        } else if info.fixed {
            info.underlying.into()
        } else if value > i128::from(i32::MAX) || value < i128::from(i32::MIN) {
            Basic::LongLong.into()
        } else {
            Basic::Int.into()
        };
        self.int_value(value, ty, span)
    }

    /// What the name means when the program does not declare it.
    fn builtin_name(&mut self, name: &'a ast::QualName) -> Option<Value<'a>> {
        let text = self.text(name.base.name);
        let span = name.span;
        let in_std = match name.scopes.as_slice() {
            [] => false,
            [scope] if self.text(scope.name) == "std" => true,
            _ => return None,
        };
        if !in_std {
            if let Some(variable) = builtins::lookup_variable(text) {
                return Some(self.builtin_variable(variable, span));
            }
            if let Some(constant) = self.builtin_constant(text, span) {
                return Some(constant);
            }
            if matches!(text, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__")
                && let Some(func) = self.f.func
            {
                return Some(self.function_name(func, span));
            }
        }
        let builtin = self.visible_builtins(text, in_std);
        if builtin.is_empty() {
            return None;
        }
        let kind = Kind::Fns(FnRef { name: text.to_owned(), user: Vec::new(), builtin });
        Some(Value::new(kind, Basic::Error.into(), span))
    }

    fn function_name(&mut self, func: FnId, span: Span) -> Value<'a> {
        let mut bytes = self.text(self.func(func).name).as_bytes().to_vec();
        bytes.push(0);
        let elem = QualType::from(Basic::Char).as_const();
        let ty = self.types.array_of(elem, Some(bytes.len() as u64));
        let key =
            bytes[..bytes.len() - 1].iter().flat_map(|&b| u32::from(b).to_le_bytes()).collect();
        let addr = self.string_global(key, Const::Bytes(bytes), ty, span);
        Value::lvalue(addr, ty, span)
    }

    /// A function name: the program's overloads, with the builtin ones of the same name when the
    /// set stands at file scope, as if a header had declared them.
    fn functions_value(&mut self, name: &'a ast::QualName, set: SetId) -> Value<'a> {
        let user = self.set(set).to_vec();
        let text = self.text(name.base.name);
        let global = user.first().is_some_and(|&id| self.func(id).ns == super::ctype::NsId::GLOBAL);
        let builtin = if global { self.visible_builtins(text, false) } else { Vec::new() };
        let ty = match user.as_slice() {
            [one] if builtin.is_empty() => self.func(*one).ty,
            _ => Basic::Error.into(),
        };
        let kind = Kind::Fns(FnRef { name: text.to_owned(), user, builtin });
        Value::new(kind, ty, name.span)
    }

    /// E0301 with the nearest name.
    fn undeclared(&mut self, name: &'a ast::QualName) {
        let text = self.text(name.base.name);
        let shown = match name.scopes.as_slice() {
            [] => text.to_owned(),
            _ => self.source_text(name.span),
        };
        let mut diagnostic =
            Diagnostic::new(Code::E0301, name.span, format!("`{shown}` is not declared"));
        if let Some(near) = self.near_name(text, false) {
            let text = format!("a similar name exists: `{near}`");
            diagnostic = diagnostic.suggest(text, name.base.span, near);
        }
        self.report(diagnostic);
    }

    /// A variable's value, with the judgement of whether this side may use it.
    pub fn var_value(&mut self, id: VarId, span: Span) -> Value<'a> {
        let var = self.var(id);
        let ty = var.ty;
        if self.types.is_error(ty) {
            return self.error_value(span);
        }
        let referent = self.types.referent(ty);
        if referent.is_none()
            && let Some(constant) = &var.value
            && self.types.is_scalar(ty)
        {
            let kind = Kind::ConstVar(id, constant.clone());
            return Value::new(kind, ty, span);
        }
        if !self.check_var_side(id, span) {
            return self.error_value(span);
        }
        let addr = self.var_address(id, span);
        match referent {
            Some(referent) => {
                let loc = self.loc(span);
                let pointer = self.load_from(addr, false, loc);
                if self.types.is_function(referent) {
                    return Value::rvalue(pointer, self.types.pointer_to(referent), span);
                }
                Value::lvalue(pointer, referent, span)
            }
            None => Value::lvalue(addr, ty, span),
        }
    }

    /// The address of a variable's own storage.
    pub fn var_address(&mut self, id: VarId, span: Span) -> Expr {
        let loc = self.loc(span);
        if let Some(local) = self.var(id).local {
            if (local.0 as usize) < self.f.locals.len() {
                return self.local_addr(local, loc);
            }
            return self.dummy(Basic::Nullptr.into());
        }
        if self.var(id).memory == Memory::Host && self.on_device() {
            self.check_var_side(id, span);
        }
        let global = self.ir_global(id);
        let ty = self.var(id).ty;
        let ty = self.types.ir_type(ty);
        let ty = self.types.ir.pointer_to(ty);
        Expr::new(ExprKind::GlobalAddr(global), ty, loc)
    }

    /// The address of a function.
    pub fn function_address(&mut self, id: FnId, span: Span) -> Expr {
        let host = self.func(id).space == super::scope::Space::Host;
        if host && self.f.space.device_only() {
            self.check_call_side(id, span);
        }
        let function = self.ir_func(id);
        let ty = self.func(id).ty;
        let ty = self.types.pointer_to(ty);
        let ty = self.types.ir_type(ty);
        let loc = self.loc(span);
        Expr::new(ExprKind::FunctionAddr(function), ty, loc)
    }

    // --- members and subscripts --------------------------------------------------------------

    fn member_access(
        &mut self,
        base: &'a ast::Expr,
        arrow: bool,
        op_span: Span,
        member: ast::Ident,
        span: Span,
    ) -> Value<'a> {
        let value = self.expr(base);
        if self.is_error(&value) {
            return self.error_value(span);
        }
        let value = if arrow {
            let pointer = self.rvalue(value);
            if self.is_error(&pointer) {
                return self.error_value(span);
            }
            let Some(pointee) = self.types.pointee(pointer.ty) else {
                let message = format!("`->` needs a pointer, not {}", self.show(pointer.ty));
                let mut diagnostic = Diagnostic::new(Code::E0309, op_span, message);
                if self.types.record_id(pointer.ty).is_some() {
                    diagnostic = diagnostic.suggest("use `.`", op_span, ".");
                }
                self.report(diagnostic);
                return self.error_value(span);
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
            self.report(
                Diagnostic::new(Code::E0309, op_span, message).suggest("use `->`", op_span, "->"),
            );
            return self.error_value(span);
        }
        self.field(value, member, span)
    }

    /// `value.member`.
    fn field(&mut self, value: Value<'a>, member: ast::Ident, span: Span) -> Value<'a> {
        let text = self.text(member.name);
        if let Kind::Fns(_) | Kind::Braces(_) = value.kind {
            let value = self.rvalue(value);
            let message = format!("{} has no members", self.show(value.ty));
            if !self.is_error(&value) {
                self.error(Code::E0309, span, message);
            }
            return self.error_value(span);
        }
        let Some(record) = self.types.record_id(value.ty) else {
            let message = format!("{} has no members", self.show(value.ty));
            self.report(Diagnostic::new(Code::E0309, member.span, message));
            return self.error_value(span);
        };
        if !self.types.record(record).complete {
            let message = format!("the type {} is incomplete here", self.show(value.ty));
            self.error(Code::E0308, value.span, message);
            return self.error_value(span);
        }
        let Some(path) = self.types.find_field(record, text) else {
            self.no_member(value.ty, member);
            return self.error_value(span);
        };
        if let Kind::Builtin(variable) = value.kind {
            let axis = [ir::Axis::X, ir::Axis::Y, ir::Axis::Z][path[0].min(2) as usize];
            let ty: QualType = Basic::UInt.into();
            let (loc, ir_ty) = (self.loc(span), self.types.ir_type(ty));
            let expr = self.read_axis(variable, axis, ir_ty, loc);
            return Value::new(Kind::RValue(expr), ty, span);
        }
        let mut value = value;
        for index in path {
            value = self.field_at(value, index, span);
        }
        value
    }

    fn no_member(&mut self, ty: QualType, member: ast::Ident) {
        let text = self.text(member.name);
        let message = format!("{} has no member `{text}`", self.show(ty));
        let mut diagnostic = Diagnostic::new(Code::E0309, member.span, message);
        let record = self.types.record_id(ty).map(|id| self.types.record(id));
        let names: Vec<&str> = record
            .map(|record| record.fields.iter().map(|field| field.name.as_str()).collect())
            .unwrap_or_default();
        if let Some(near) = nearest(text, names.iter().copied()) {
            let near = near.to_owned();
            diagnostic =
                diagnostic.suggest("a member with a similar name exists", member.span, near);
        } else if !names.is_empty() && names.len() <= 8 {
            let list: Vec<String> =
                names.iter().filter(|name| !name.is_empty()).map(|n| format!("`{n}`")).collect();
            diagnostic = diagnostic.note(format!("its members are {}", list.join(", ")));
        }
        self.report(diagnostic);
    }

    /// One field of a record value, by index.
    pub fn field_at(&mut self, value: Value<'a>, index: u32, span: Span) -> Value<'a> {
        let Some(record) = self.types.record_id(value.ty) else { return self.error_value(span) };
        let field = &self.types.record(record).fields[index as usize];
        let (field_ty, bits) = (field.ty, field.bit_width.is_some());
        let ty = self.qualify(field_ty, value.ty.quals.cv());
        let loc = self.loc(span);
        if let Kind::RValue(expr) = value.kind {
            if !bits && !self.types.is_array(ty) {
                let ir_ty = self.types.ir_type(ty);
                let kind = ExprKind::Extract { record: Box::new(expr), field: index };
                return Value::rvalue(Expr::new(kind, ir_ty, loc), ty, span);
            }
            let base = self.temporary(expr, value.ty, value.span);
            return self.field_of_address(base, index, ty, bits, span);
        }
        let base = self.address(value);
        self.field_of_address(base, index, ty, bits, span)
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

    fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Value<'a> {
        let base = self.expr(base);
        let index = self.expr(index);
        if self.is_error(&base) || self.is_error(&index) {
            return self.error_value(span);
        }
        let array = self.types.array(base.ty).and_then(|(_, len)| len);
        let base = self.rvalue(base);
        let index = self.promote(index);
        if self.is_error(&base) || self.is_error(&index) {
            return self.error_value(span);
        }
        let (base, index) =
            if self.types.is_pointer(base.ty) { (base, index) } else { (index, base) };
        let Some(elem) = self.types.pointee(base.ty) else {
            let message =
                format!("a subscript needs an array or pointer, not {}", self.show(base.ty));
            self.error(Code::E0320, span, message);
            return self.error_value(span);
        };
        if !self.types.is_integer(index.ty) {
            let message = format!("a subscript is an integer, not {}", self.show(index.ty));
            self.error(Code::E0320, index.span, message);
            return self.error_value(span);
        }
        if self.types.is_void(elem) {
            self.report(
                Diagnostic::new(Code::E0320, span, "a subscript of a pointer to `void`")
                    .help("cast it to a pointer to the type of the elements first"),
            );
            return self.error_value(span);
        }
        if !self.check_arithmetic_pointee(elem, base.span) {
            return self.error_value(span);
        }
        let index_span = index.span;
        let base = self.expr_of(base);
        let index = self.expr_of(index);
        if let (Some(len), Some(at)) = (array, self.const_int_value(&index)) {
            self.warn_out_of_bounds(at, len, index_span);
        }
        let index = self.to_index(index);
        let loc = self.loc(span);
        let addr = self.index_addr(base, index, loc);
        Value::lvalue(addr, elem, span)
    }

    fn warn_out_of_bounds(&mut self, at: i128, len: u64, span: Span) {
        if (at < 0 || at >= i128::from(len)) && self.unevaluated == 0 {
            let message = format!("the index {at} is outside the array's {len} elements");
            self.report(Diagnostic::new(Code::W0702, span, message));
        }
    }

    /// Pointer arithmetic needs the size of what is pointed to.
    pub fn check_arithmetic_pointee(&mut self, pointee: QualType, span: Span) -> bool {
        if self.types.is_error(pointee) {
            return false;
        }
        // As in GNU C++ (and nvcc), `void` counts in bytes.
        if self.types.is_complete(pointee) || self.types.is_void(pointee) {
            return true;
        }
        let message = format!("arithmetic on a pointer to {}", self.show(pointee));
        let mut diagnostic = Diagnostic::new(Code::E0320, span, message);
        if !self.types.is_function(pointee) {
            diagnostic = diagnostic.note("the type is incomplete here, so its size is not known");
        }
        self.report(diagnostic);
        false
    }

    // --- sizes -------------------------------------------------------------------------------

    /// The type of an expression that is not evaluated.
    pub fn unevaluated_type(&mut self, operand: &'a ast::Expr) -> QualType {
        self.unevaluated += 1;
        let mut value = self.expr(operand);
        if matches!(value.kind, Kind::Braces(_)) {
            value = self.rvalue(value);
        }
        self.unevaluated -= 1;
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

    fn size_of(&mut self, ty: QualType, operand: Span, span: Span) -> Value<'a> {
        let size = match self.sized(ty, operand) {
            true => i128::from(self.types.layout(ty).size),
            false => return self.error_value(span),
        };
        let ty = self.types.size_t();
        self.int_value(size, ty, span)
    }

    fn align_of(&mut self, ty: QualType, operand: Span, span: Span) -> Value<'a> {
        let elem = self.types.array(ty).map_or(ty, |(elem, _)| elem);
        let align = match self.sized(elem, operand) {
            true => i128::from(self.types.layout(elem).align),
            false => return self.error_value(span),
        };
        let ty = self.types.size_t();
        self.int_value(align, ty, span)
    }

    fn sized(&mut self, ty: QualType, span: Span) -> bool {
        let ty = self.types.strip_ref(ty);
        if self.types.is_error(ty) {
            return false;
        }
        if !self.types.is_complete(ty) && !self.types.is_void(ty) {
            let message = format!("the size of {} is not known", self.show(ty));
            self.error(Code::E0308, span, message);
            return false;
        }
        true
    }

    fn offset_of(
        &mut self,
        name: &'a ast::TypeName,
        path: &'a [ast::Designator],
        span: Span,
    ) -> Value<'a> {
        let mut ty = self.type_name(name);
        let mut offset = 0u64;
        for step in path {
            if self.types.is_error(ty) {
                return self.error_value(span);
            }
            match step {
                ast::Designator::Field(member) => {
                    let text = self.text(member.name);
                    let record = self.types.record_id(ty);
                    let found = record.and_then(|record| self.types.find_field(record, text));
                    let Some(found) = found else {
                        self.no_member(ty, *member);
                        return self.error_value(span);
                    };
                    for index in found {
                        let Some(record) = self.types.record_id(ty) else { break };
                        let info = self.types.record(record);
                        let field = &self.types.ir.record(info.ir).fields[index as usize];
                        if field.bits.is_some() {
                            self.error(Code::E0309, member.span, "`offsetof` of a bit-field");
                            return self.error_value(span);
                        }
                        offset += field.offset;
                        ty = info.fields[index as usize].ty;
                    }
                }
                ast::Designator::Index(index) => {
                    let Some((elem, _)) = self.types.array(ty) else {
                        self.error(Code::E0320, index.span, "a subscript of no array");
                        return self.error_value(span);
                    };
                    let Some((at, _)) = self.const_integer(index, "an index of `offsetof`") else {
                        return self.error_value(span);
                    };
                    let size = self.types.layout(elem).size;
                    offset = offset.wrapping_add((at as u64).wrapping_mul(size));
                    ty = elem;
                }
            }
        }
        let ty = self.types.size_t();
        self.int_value(i128::from(offset), ty, span)
    }

    // --- suggestions -------------------------------------------------------------------------

    /// The name in sight that is most like `text`, if one is like it at all.
    pub fn near_name(&self, text: &str, types: bool) -> Option<String> {
        let fits = |entity: Option<Entity>| match entity {
            Some(Entity::Type(_)) => types,
            Some(Entity::Namespace(_)) | None => false,
            Some(_) => !types,
        };
        let mut names: Vec<&str> = Vec::new();
        for name in self.f.blocks.all() {
            if fits(self.f.blocks.find(name).and_then(|slot| slot.entity())) {
                names.push(self.text(name));
            }
        }
        let mut ns = Some(self.ns);
        while let Some(id) = ns {
            let space = self.spaces.get(id);
            let members = space.members.iter();
            names.extend(
                members.filter(|(_, slot)| fits(slot.entity())).map(|(name, _)| self.text(*name)),
            );
            ns = space.parent;
        }
        names.sort_unstable();
        let own = nearest(text, names.into_iter());
        if let Some(own) = own {
            return Some(own.to_owned());
        }
        if types {
            return nearest(text, builtins::types::all_types().map(|def| def.name))
                .map(str::to_owned);
        }
        let functions = builtins::all_functions().filter(|row| !row.flags.internal);
        let builtin = functions
            .map(|row| row.name)
            .chain(builtins::constants::all_constants().map(|constant| constant.name))
            .chain(builtins::variables::VARIABLES.iter().map(|variable| variable.name));
        nearest(text, builtin).map(str::to_owned)
    }
}

/// The candidate within a third of the text's length in edits, the nearest first.
pub fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (text.len() / 3).clamp(1, 3);
    if text.len() < 2 {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        if name.len().abs_diff(text.len()) > limit || name == text || name.is_empty() {
            continue;
        }
        let distance = edit_distance(text.as_bytes(), name.as_bytes(), limit);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Damerau's distance (insert, delete, replace, swap neighbours); case changes count as nothing
/// more than a replacement. Gives up above `limit`.
fn edit_distance(a: &[u8], b: &[u8], limit: usize) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        if row.iter().min().is_some_and(|&least| least > limit) {
            return limit + 1;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
