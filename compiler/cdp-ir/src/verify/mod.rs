//! The verifier. [`Verified`] is the only door to the back end, and only [`verify`] makes one.
//!
//! What is promised of a verified module:
//!
//! 1. Every id (type, record, global, function, local, field, label) exists.
//! 2. Symbols are unique among definitions; a kernel returns `Void` and is not variadic; parameters
//!    come first among the locals; no variable has type `Void`, a function type or an incomplete
//!    record; alignments are powers of two, at least the type's own.
//! 3. Each expression's operands and result have the types that its variant documents. In
//!    particular operands of a binary operation have one type, conditions are `Bool`, a load's or
//!    store's type is the pointee of its address, call and launch arguments have exactly the
//!    callee's parameter types, casts connect the kinds they name.
//! 4. `Break` and `Continue` stand inside a loop (or switch); every label of a switch stands exactly
//!    once in its body; a value is returned exactly from functions that are not `Void`.
//! 5. Constant initialisers fit the shape of their type.
//! 6. A device module has no host functions with bodies; a host module has no kernel bodies.
//!
//! What it does not judge: the user's program. A failure here is a mistake of the producer, and is
//! reported as such.

mod body;

pub use body::{for_each_child, for_each_expr};

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;

use crate::expr::Const;
use crate::module::{FunctionKind, Module, Target};
use crate::types::{Type, TypeId};

/// A module that passed [`verify`]. It cannot be changed without being verified again.
#[derive(Clone, Debug)]
pub struct Verified<T>(T);

impl<T> Deref for Verified<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Verified<T> {
    /// Gives the module back for rewriting.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// A broken promise: where, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The function's or variable's source name; empty for the module.
    pub place: String,
    /// The broken promise in words, with the source line in a function.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid IR in `{}`: {}", self.place, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks every promise of the module's header; all failures are returned.
pub fn verify(module: Module) -> Result<Verified<Module>, Vec<VerifyError>> {
    let mut errors = Vec::new();
    verify_symbols(&module, &mut errors);
    for global in &module.globals {
        let mut fail = |message: String| {
            errors.push(VerifyError { place: global.name.clone(), message });
        };
        if let Err(message) = check_storage(&module, global.ty, global.align, true) {
            fail(message);
        }
        if let Some(init) = &global.init {
            if !global.defined {
                fail("a declaration has an initialiser".into());
            }
            if let Err(message) = check_const(&module, init, global.ty) {
                fail(format!("initialiser: {message}"));
            }
        }
    }
    for function in &module.functions {
        let mut fail = |message: String| {
            errors.push(VerifyError { place: function.name.clone(), message });
        };
        if function.param_count as usize > function.locals.len() {
            fail("more parameters than locals".into());
            continue;
        }
        for local in &function.locals {
            if let Err(message) = check_storage(&module, local.ty, local.align, false) {
                fail(format!("local `{}`: {message}", local.name));
            }
        }
        if function.is_kernel() {
            if *module.types.get(function.ret) != Type::Void {
                fail("a kernel returns a value".into());
            }
            if function.variadic {
                fail("a kernel is variadic".into());
            }
        }
        if function.body.is_some() {
            match (module.target, function.kind) {
                (Target::Device { .. }, FunctionKind::Host) => {
                    fail("a host function has a body in a device module".into());
                }
                (Target::Host, FunctionKind::Kernel | FunctionKind::Device) => {
                    fail("a device function has a body in a host module".into());
                }
                _ => body::verify_body(&module, function, &mut errors),
            }
        }
    }
    if errors.is_empty() { Ok(Verified(module)) } else { Err(errors) }
}

fn verify_symbols(module: &Module, errors: &mut Vec<VerifyError>) {
    let mut seen = HashSet::new();
    let functions =
        module.functions.iter().filter(|f| f.body.is_some()).map(|f| (&f.name, &f.symbol));
    let globals = module.globals.iter().filter(|g| g.defined).map(|g| (&g.name, &g.symbol));
    for (name, symbol) in functions.chain(globals) {
        if symbol.is_empty() || symbol.contains('\0') {
            let message = format!("bad symbol `{}`", symbol.escape_default());
            errors.push(VerifyError { place: name.clone(), message });
        } else if !seen.insert(symbol) {
            let message = format!("symbol `{symbol}` is defined twice");
            errors.push(VerifyError { place: name.clone(), message });
        }
    }
}

fn check_storage(
    module: &Module,
    ty: TypeId,
    align: u64,
    unsized_array: bool,
) -> Result<(), String> {
    if ty.0 as usize >= module.types.len() {
        return Err(format!("no type {ty:?}"));
    }
    check_object_type(module, ty, unsized_array)?;
    let natural = module.types.layout(ty).align;
    if !align.is_power_of_two() || align < natural {
        return Err(format!("alignment {align} where the type needs {natural}"));
    }
    Ok(())
}

fn check_object_type(module: &Module, ty: TypeId, unsized_array: bool) -> Result<(), String> {
    match module.types.get(ty) {
        Type::Void => Err("an object of type void".into()),
        Type::Function { .. } => Err("an object of function type".into()),
        Type::Record(record) if !module.types.record(*record).complete => {
            Err(format!("record `{}` is incomplete", module.types.record(*record).name))
        }
        Type::Array { len: 0, .. } if !unsized_array => Err("an array without elements".into()),
        Type::Array { elem, .. } => check_object_type(module, *elem, false),
        _ => Ok(()),
    }
}

/// Whether a constant fits the shape of a type.
pub(crate) fn check_const(module: &Module, value: &Const, ty: TypeId) -> Result<(), String> {
    let kind = module.types.get(ty);
    match (value, kind) {
        (Const::Zero, _) => Ok(()),
        (Const::Int(_), Type::Bool | Type::Int { .. } | Type::Pointer(_)) => Ok(()),
        (Const::Float(_), Type::Float(_)) => Ok(()),
        (Const::Bytes(bytes), Type::Array { elem, len }) => {
            if !matches!(module.types.get(*elem), Type::Int { bits: 8, .. }) {
                Err("bytes for an array of something else".into())
            } else if bytes.len() as u64 > *len {
                Err(format!("{} bytes for an array of {len}", bytes.len()))
            } else {
                Ok(())
            }
        }
        (Const::Array(items), Type::Array { elem, len }) => {
            if items.len() as u64 > *len {
                return Err(format!("{} elements for an array of {len}", items.len()));
            }
            items.iter().try_for_each(|item| check_const(module, item, *elem))
        }
        (Const::Record(items), Type::Record(record)) => {
            let fields = &module.types.record(*record).fields;
            let mut next = 0;
            for (index, item) in items {
                let field = fields.get(*index as usize).ok_or("no such field")?;
                if *index < next {
                    return Err("fields are not in order".into());
                }
                next = index + 1;
                check_const(module, item, field.ty)?;
            }
            Ok(())
        }
        (Const::GlobalAddr { global, .. }, Type::Pointer(_) | Type::Int { .. }) => {
            if (global.0 as usize) < module.globals.len() {
                Ok(())
            } else {
                Err(format!("no global {global:?}"))
            }
        }
        (Const::FunctionAddr(function), Type::Pointer(_) | Type::Int { .. }) => {
            if (function.0 as usize) < module.functions.len() {
                Ok(())
            } else {
                Err(format!("no function {function:?}"))
            }
        }
        _ => Err(format!("{value:?} does not fit {kind:?}")),
    }
}
