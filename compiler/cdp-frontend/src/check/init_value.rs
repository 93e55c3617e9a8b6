//! What becomes of an initialiser: a constant, stores, or a value.

use cdp_ir::{Const, Evaluator, Expr, ExprKind};

use super::ctype::{CRecordKind, QualType};
use super::init::Node;
use super::state::Checker;
use crate::ast;
use crate::diagnostics::{Code, NAME_IT_CU};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// The constant an initialiser makes, when all its values are constant.
    pub fn node_const(&self, node: &Node, ty: QualType) -> Option<Const> {
        self.node_const_by(self.evaluator(), node, ty)
    }

    fn node_const_by(&self, by: Evaluator<'_>, node: &Node, ty: QualType) -> Option<Const> {
        match node {
            Node::Default => Some(self.default_const(ty)),
            Node::Value(expr) => by.value(expr).filter(|value| self.may_stand(value)),
            Node::Parts(parts) => {
                if let Some((elem, len)) = self.types.array(ty) {
                    let last = parts.iter().map(|(index, _)| index + 1).max().unwrap_or(0);
                    let count = if self.has_defaults(elem) { len.unwrap_or(last) } else { last };
                    let mut items = vec![self.default_const(elem); count as usize];
                    for (index, part) in parts {
                        items[*index as usize] = self.node_const_by(by, part, elem)?;
                    }
                    return Some(Const::Array(items));
                }
                let id = self.types.record_id(ty)?;
                let record = self.types.record(id);
                let mut fields: Vec<(u32, Const)> = Vec::new();
                for (index, field) in record.fields.iter().enumerate() {
                    let index = index as u32;
                    match parts.iter().find(|(at, _)| *at == u64::from(index)) {
                        Some((_, part)) => {
                            fields.push((index, self.node_const_by(by, part, field.ty)?))
                        }
                        None if self.is_dim3(ty) => fields.push((index, Const::Int(1))),
                        None if record.kind == CRecordKind::Struct => {
                            let default = self.field_default(field);
                            fields.extend(default.map(|value| (index, value)));
                        }
                        None => {}
                    }
                }
                Some(Const::Record(fields))
            }
        }
    }

    /// Whether something wrong, about which an error was given, is part of the initialiser.
    pub fn node_poisoned(&self, node: &Node) -> bool {
        match node {
            Node::Default => false,
            Node::Value(expr) => super::value::is_poisoned(expr),
            Node::Parts(parts) => parts.iter().any(|(_, part)| self.node_poisoned(part)),
        }
    }

    /// Where the first value that is no constant stands, and why it is none.
    pub fn node_not_const(&self, node: &Node) -> Option<String> {
        match node {
            Node::Default => None,
            Node::Value(expr) => match self.const_eval(expr) {
                Some(_) => None,
                None => self.why_not_constant(expr),
            },
            Node::Parts(parts) => parts.iter().find_map(|(_, part)| self.node_not_const(part)),
        }
    }

    /// The stores that initialise the object at `addr`, which may be evaluated many times.
    pub fn node_stores(&mut self, addr: Expr, node: Node, ty: QualType, out: &mut Vec<Expr>) {
        let loc = addr.loc;
        if let Some(constant) = self.node_const(&node, ty) {
            let value = self.const_expr(constant, ty, loc);
            out.push(self.store(addr, value, ty.is_volatile(), loc));
            return;
        }
        match node {
            Node::Value(value) => out.push(self.store(addr, value, ty.is_volatile(), loc)),
            Node::Default => {}
            Node::Parts(parts) => {
                if !self.covers(&parts, ty) {
                    let constant = self.default_const(ty);
                    let value = self.const_expr(constant, ty, loc);
                    out.push(self.store(addr.clone(), value, false, loc));
                }
                for (index, part) in parts {
                    self.part_store(&addr, index, part, ty, out);
                }
            }
        }
    }

    fn part_store(
        &mut self,
        addr: &Expr,
        index: u64,
        part: Node,
        ty: QualType,
        out: &mut Vec<Expr>,
    ) {
        let loc = addr.loc;
        if let Some((elem, _)) = self.types.array(ty) {
            let pointer = self.types.pointer_to(elem);
            let base = self.pointer_cast(addr.clone(), pointer);
            let at = self.const_int(i128::from(index), self.types.ptrdiff_t(), loc);
            let elem_addr = self.index_addr(base, at, loc);
            self.node_stores(elem_addr, part, elem, out);
            return;
        }
        let Some(id) = self.types.record_id(ty) else { return };
        let field = &self.types.record(id).fields[index as usize];
        let (field_ty, bits) = (field.ty, field.bit_width.is_some());
        if bits {
            let value = match part {
                Node::Value(value) => value,
                _ => self.dummy(field_ty),
            };
            let ir_ty = self.types.ir_type(field_ty);
            let kind = ExprKind::StoreBits {
                base: Box::new(addr.clone()),
                field: index as u32,
                value: Box::new(value),
                volatile: false,
            };
            out.push(Expr::new(kind, ir_ty, loc));
            return;
        }
        let field_addr = self.field_addr(addr.clone(), index as u32, field_ty, loc);
        self.node_stores(field_addr, part, field_ty, out);
    }

    /// Whether the parts initialise every element or field, so that nothing needs zeroing first.
    fn covers(&self, parts: &[(u64, Node)], ty: QualType) -> bool {
        if let Some((_, len)) = self.types.array(ty) {
            return len == Some(parts.len() as u64);
        }
        self.types.record_id(ty).is_some_and(|id| {
            let record = self.types.record(id);
            record.kind == CRecordKind::Struct
                && record.fields.len() == parts.len()
                && record.fields.iter().all(|field| field.bit_width.is_none())
        })
    }

    /// An initialiser as a value: a constant, a record of values, or a temporary read back.
    pub fn node_value(&mut self, node: Node, ty: QualType, span: Span) -> Expr {
        let loc = self.loc(span);
        if let Some(constant) = self.node_const(&node, ty) {
            return self.const_expr(constant, ty, loc);
        }
        let ir_ty = self.types.ir_type(ty);
        let node = match node {
            Node::Value(expr) => return expr,
            node => node,
        };
        if let Some(fields) = self.record_values(&node, ty, span) {
            return Expr::new(ExprKind::MakeRecord(fields), ir_ty, loc);
        }
        let slot = self.temporary_slot(ir_ty, loc);
        let mut stores = Vec::new();
        self.node_stores(slot.clone(), node, ty, &mut stores);
        let value = self.load_from(slot, false, loc);
        self.sequence(stores, value)
    }

    /// The fields of a record of scalars and records, without arrays and bit-fields.
    fn record_values(&mut self, node: &Node, ty: QualType, span: Span) -> Option<Vec<(u32, Expr)>> {
        let Node::Parts(parts) = node else { return None };
        let id = self.types.record_id(ty)?;
        let record = self.types.record(id);
        let plain = record
            .fields
            .iter()
            .all(|field| field.bit_width.is_none() && !self.types.is_array(field.ty));
        if !plain {
            return None;
        }
        let dim3 = self.is_dim3(ty);
        let is_union = record.kind == CRecordKind::Union;
        let fields: Vec<(QualType, Option<Const>)> =
            record.fields.iter().map(|field| (field.ty, self.field_default(field))).collect();
        let mut values = Vec::with_capacity(fields.len());
        for (index, (field, default)) in fields.into_iter().enumerate() {
            let part = parts.iter().find(|(at, _)| *at == index as u64).map(|(_, part)| part);
            let value = match part {
                Some(part) => self.node_value(part.clone(), field, span),
                None if is_union => continue,
                None if dim3 => {
                    let loc = self.loc(span);
                    self.const_int(1, field, loc)
                }
                None => match default {
                    Some(constant) => {
                        let loc = self.loc(span);
                        self.const_expr(constant, field, loc)
                    }
                    None => continue,
                },
            };
            values.push((index as u32, value));
        }
        Some(values)
    }

    /// `{...}` where a value of a type is wanted: an argument, a returned value, the right side of
    /// an assignment.
    pub fn braces_value(&mut self, list: &'a ast::InitList, to: QualType, span: Span) -> Expr {
        let target = match self.types.referent(to) {
            Some(referent) => referent.unqualified(),
            None => to.unqualified(),
        };
        let (_, node) = self.init_braces(target, list, span, "");
        let value = self.node_value(node, target, span);
        if self.types.referent(to).is_some() {
            let addr = self.temporary(value, target, span);
            return self.pointer_cast(addr, to);
        }
        value
    }

    /// The bytes of storage that a static variable starts with, or the reason why that is not
    /// known when compiling.
    pub fn static_const(
        &mut self,
        node: &Node,
        ty: QualType,
        span: Span,
        device: bool,
    ) -> Option<Const> {
        let by = Evaluator { clamps: !device, ..self.evaluator() };
        if let Some(constant) = self.node_const_by(by, node, ty) {
            return Some(constant);
        }
        if self.node_poisoned(node) {
            return None;
        }
        let message = if device {
            "a variable in device memory needs a constant initialiser"
        } else {
            "initialising a static variable when the program starts is outside the `.cdp` subset"
        };
        let reason = self.node_not_const(node).unwrap_or_default();
        self.error(Code::E0330, span, message)
            .note(reason)
            .help("assign the value in a function before it is needed")
            .help(if device { "" } else { NAME_IT_CU });
        None
    }
}

/// The value [`Const`] holds for a scalar, if it is one.
pub fn scalar_const(constant: &Const) -> bool {
    !matches!(constant, Const::Array(_) | Const::Record(_) | Const::Bytes(_))
}
