//! What an object starts with where its program writes nothing: default member initialisers
//! (`struct S { int a = 3; };`), and the ones of `dim3`. All of it is constant: an initialiser of a
//! member that is no constant is refused by name. Texts are constants here whose variables each module makes itself.

use cdp_ir::{Const, Expr, ExprKind};

use super::convert::Purpose;
use super::ctype::{CField, CRecordId, CRecordKind, QualType};
use super::init::Node;
use super::scope::Memory;
use super::state::{Checker, TEXT_ID};
use super::variable::{MAX_DEFAULT_BYTES, VarRequest};
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

/// How a default member initialiser is written.
pub enum MemberInit<'a> {
    /// `= 3`, `{3}`, `= {1, 2}`
    Whole(&'a ast::Initializer),
    /// What follows the `=` after a bit-field's width.
    Value(&'a ast::Expr),
}

impl<'a> Checker<'a> {
    /// The constant of a default member initialiser. `before` are the members declared so far.
    pub fn member_default(
        &mut self,
        ty: QualType,
        init: MemberInit<'a>,
        name: &str,
        record: CRecordId,
        before: &[CField],
    ) -> Option<Const> {
        let span = match &init {
            MemberInit::Whole(init) => init.span,
            MemberInit::Value(value) => value.span,
        };
        if self.types.record(record).kind == CRecordKind::Union {
            self.refuse_default(span, "default member initialisers of a union are");
            return None;
        }
        if self.types.is_error(ty) {
            return None;
        }
        let text = self.source_text(span);
        // Between quotes stand no names.
        let uses_member = text
            .split('"')
            .step_by(2)
            .flat_map(|code| code.split(|c: char| !(c.is_alphanumeric() || c == '_')))
            .any(|word| !word.is_empty() && before.iter().any(|field| field.name == word));
        let what = "default member initialisers that are no constants are";
        if uses_member {
            self.refuse_default(span, what);
            return None;
        }
        // Nothing of it becomes code: constants do not need any.
        let outer = std::mem::replace(&mut self.f.discard_ir, true);
        let node = match init {
            MemberInit::Whole(init) => self.initializer(ty, init, name).1,
            MemberInit::Value(value) => {
                let value = self.expr(value);
                Node::Value(self.convert(value, ty.unqualified(), Purpose::Init(name)))
            }
        };
        let constant = self.node_const(&node, ty).filter(|value| self.is_of_any_place(value));
        self.f.discard_ir = outer;
        if self.node_poisoned(&node) {
            return None;
        }
        match &constant {
            Some(value) => self.constants.default_texts |= has_text(value),
            None => self.refuse_default(span, what),
        }
        constant
    }

    /// Whether a value may be that of a member wherever its objects are: texts are the only addresses that both sides,
    /// and every function, have.
    fn is_of_any_place(&self, value: &Const) -> bool {
        value.all(&|part| match part {
            Const::GlobalAddr { global, .. } => {
                global.0 >= TEXT_ID || self.constants.texts.contains(&global.0)
            }
            Const::FunctionAddr(_) => false,
            _ => true,
        })
    }

    /// A value as the module at hand has it: texts that the checker alone knows (of default member initialisers, and of
    /// objects of the other side) become variables of it.
    pub fn placed_texts(&mut self, value: Const) -> Const {
        let apart = self.constants.default_texts || !self.f.lent.is_empty();
        if !apart || self.f.skips() || !has_text(&value) {
            return value;
        }
        match value {
            Const::GlobalAddr { global, offset } => {
                let Some(known) = self.constants.values.get(&global.0).cloned() else {
                    return Const::GlobalAddr { global, offset };
                };
                let text = self.string_global(known.0.clone(), known.1, Span::NONE);
                let ExprKind::GlobalAddr(global) = text.kind else { unreachable!("a text") };
                Const::GlobalAddr { global, offset }
            }
            Const::Array(items) => {
                Const::Array(items.into_iter().map(|item| self.placed_texts(item)).collect())
            }
            Const::Record(fields) => {
                let placed = |(at, value)| (at, self.placed_texts(value));
                Const::Record(fields.into_iter().map(placed).collect())
            }
            scalar => scalar,
        }
    }

    fn refuse_default(&mut self, span: Span, what: &str) {
        let cure = "initialise the member where the object is made";
        self.outside(Code::E0239, span, what, cure);
    }

    /// Whether leaving an object of the type out gives something else than zero.
    pub fn has_defaults(&self, ty: QualType) -> bool {
        self.starts_with(ty, true)
    }

    /// Whether the type has default member initialisers anywhere, or with `ones` a `dim3`.
    fn starts_with(&self, ty: QualType, ones: bool) -> bool {
        if let Some((elem, _)) = self.types.array(ty) {
            return self.starts_with(elem, ones);
        }
        let Some(id) = self.types.record_id(ty) else { return false };
        let record = self.types.record(id);
        if record.builtin {
            return ones && self.is_dim3(ty);
        }
        record
            .fields
            .iter()
            .any(|field| field.default.is_some() || self.starts_with(field.ty, ones))
    }

    /// Whether every member gets a value by default, so that the object needs no initialiser.
    pub fn all_defaulted(&self, ty: QualType) -> bool {
        if let Some((elem, _)) = self.types.array(ty) {
            return self.all_defaulted(elem);
        }
        self.is_dim3(ty)
            || self.types.record_id(ty).is_some_and(|id| {
                let fields = &self.types.record(id).fields;
                fields.iter().all(|field| field.default.is_some() || self.all_defaulted(field.ty))
            })
    }

    /// The constant that an object has when nothing is written.
    pub fn default_const(&self, ty: QualType) -> Const {
        if self.is_dim3(ty) {
            return Const::Record((0..3).map(|axis| (axis, Const::Int(1))).collect());
        }
        if !self.has_defaults(ty) {
            return Const::Zero;
        }
        if let Some((elem, len)) = self.types.array(ty) {
            let one = self.default_const(elem);
            return Const::Array(vec![one; len.unwrap_or(0) as usize]);
        }
        let Some(id) = self.types.record_id(ty) else { return Const::Zero };
        let fields = self.types.record(id).fields.iter().enumerate();
        let values =
            fields.filter_map(|(index, field)| Some((index as u32, self.field_default(field)?)));
        Const::Record(values.collect())
    }

    /// What a member starts with that a list leaves out, if it is not zero.
    pub fn field_default(&self, field: &CField) -> Option<Const> {
        match &field.default {
            Some(constant) => Some(constant.clone()),
            None => self.has_defaults(field.ty).then(|| self.default_const(field.ty)),
        }
    }

    /// A static variable without an initialiser whose type has default member initialisers: shared
    /// memory has no initial values, and device memory only constant ones (CUDA C++ Programming
    /// Guide, "Dynamic Initialization"), which members without any are not.
    pub fn check_default_initialised(&mut self, request: &VarRequest<'a>, memory: Memory) {
        let ty = request.ty;
        if self.types.is_error(ty) || !self.starts_with(ty, false) {
            return;
        }
        let span = request.name.span;
        if memory == Memory::Shared {
            let shown = self.show(ty);
            let message =
                format!("a `__shared__` variable of {shown}, whose members have defaults");
            self.error(Code::E0506, span, message)
                .note("shared memory starts without values")
                .help(
                    "use a type without default member initialisers, and let the threads assign it",
                );
        } else if memory != Memory::Host && !self.all_defaulted(ty) {
            let message = "a variable in device memory needs a constant initialiser";
            let shown = self.show(ty);
            self.error(Code::E0330, span, message)
                .note(format!("some members of {shown} have defaults and others have none"))
                .help("write `= {}` after it");
        }
    }

    /// The stores that give the objects that `new` made their defaults.
    pub fn new_defaults(
        &mut self,
        ty: QualType,
        object: Expr,
        count: Option<&Expr>,
        effects: &mut Vec<Expr>,
        span: Span,
    ) {
        let Some(count) = count else {
            return self.node_stores(object, Node::Default, ty, effects);
        };
        let known = self.const_int_value(count).and_then(|count| u64::try_from(count).ok());
        let size = self.types.layout(ty).size.max(1);
        let Some(len) = known.filter(|len| *len <= MAX_DEFAULT_BYTES / size) else {
            let message = format!(
                "an array of {}, whose members have defaults, needs a constant number of elements",
                self.show(ty)
            );
            self.error(Code::E0334, span, message)
                .help("allocate with `malloc`, and assign the elements in a loop");
            return;
        };
        if len > 0 {
            let array = self.types.array_of(ty, Some(len));
            let pointer = self.types.pointer_to(array);
            let addr = self.pointer_cast(object, pointer);
            self.node_stores(addr, Node::Default, array, effects);
        }
    }
}

/// Whether texts that the checker alone knows are part of it.
fn has_text(constant: &Const) -> bool {
    !constant.all(&|part| !matches!(part, Const::GlobalAddr { global, .. } if global.0 >= TEXT_ID))
}
