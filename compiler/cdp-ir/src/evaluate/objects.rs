//! The objects of an evaluation: locals of the functions that run, temporaries of the expression around them, and
//! variables whose values are known. A place is an object and the way into it; a pointer is an object and bytes, as
//! a constant has it for variables, and becomes a place by the type that is read or written through it.

use super::{Env, Evaluator, int_of};
use crate::{
    BinaryOp, CastKind, Const, Expr, ExprKind, GlobalId, LocalId, RecordKind, Type, TypeId,
    UpdateYield,
};

/// Objects have the ids of variables from here on, which no module reaches.
const FIRST: u32 = 0xc000_0000;

/// The objects that there are at a time.
#[derive(Default)]
pub(super) struct Objects {
    all: Vec<Object>,
    /// The first local of the function that runs; `None` outside one.
    frame: Option<usize>,
    /// Locals of the function that the expression stands in.
    around: Vec<(LocalId, usize)>,
}

struct Object {
    ty: TypeId,
    /// Nothing before it is initialised.
    value: Option<Const>,
    /// It cannot be changed.
    fixed: bool,
}

impl Objects {
    /// Locals of a function, which begin with its arguments; gives what [`Objects::leave`] wants.
    pub(super) fn enter(&mut self, types: &[TypeId], args: Vec<Const>) -> Option<usize> {
        let outer = self.frame.replace(self.all.len());
        let mut args = args.into_iter();
        let locals = types.iter().map(|&ty| Object { ty, value: args.next(), fixed: false });
        self.all.extend(locals);
        outer
    }

    /// Ends the function that runs, and its locals.
    pub(super) fn leave(&mut self, outer: Option<usize>) {
        if let Some(first) = std::mem::replace(&mut self.frame, outer) {
            self.all.truncate(first);
        }
    }

    /// A local begins anew.
    pub(super) fn forget(&mut self, local: LocalId) -> Option<()> {
        let at = self.frame? + local.0 as usize;
        self.all.get_mut(at)?.value = None;
        Some(())
    }
}

/// Whether a value means something when the evaluation is over: no pointer to one of its objects is part of it.
pub(super) fn outlives(value: &Const) -> bool {
    value.all(&|part| match part {
        // The greatest id stands for a variable that the module at hand has not.
        Const::GlobalAddr { global, .. } => global.0 < FIRST || global.0 == u32::MAX,
        _ => true,
    })
}

/// A part of an aggregate.
enum Part {
    Field(u32),
    Index(u64),
}

/// What a place is in.
#[derive(Clone, Copy)]
enum Root {
    Object(usize),
    Global(GlobalId),
}

impl Evaluator<'_> {
    /// `*addr`.
    pub(super) fn eval_load(&self, addr: &Expr, env: &mut Env) -> Option<Const> {
        let mut path = Vec::new();
        match self.place(addr, &mut path, env)? {
            Root::Object(at) => {
                let object = env.objects.all.get(at)?;
                self.load_path(object.value.as_ref()?, object.ty, &path)
            }
            Root::Global(global) => {
                let (value, ty) = self.known.global(global)?;
                self.load_path(value, ty, &path)
            }
        }
    }

    /// `*addr = value`.
    pub(super) fn eval_store(&self, addr: &Expr, value: Const, env: &mut Env) -> Option<()> {
        let mut path = Vec::new();
        let root = self.place(addr, &mut path, env)?;
        self.store_path(root, &path, value, env)
    }

    fn store_path(&self, root: Root, path: &[Part], value: Const, env: &mut Env) -> Option<()> {
        let Root::Object(at) = root else { return None };
        let object = env.objects.all.get_mut(at).filter(|object| !object.fixed)?;
        let mut whole = object.value.take().unwrap_or(Const::Zero);
        let ty = object.ty;
        self.store_in(&mut whole, ty, path, value)?;
        env.objects.all.get_mut(at)?.value = Some(whole);
        Some(())
    }

    pub(super) fn eval_update(
        &self,
        addr: &Expr,
        op: BinaryOp,
        rhs: &Expr,
        compute: TypeId,
        yields: UpdateYield,
        env: &mut Env,
    ) -> Option<Const> {
        let ty = self.types.pointee(addr.ty)?;
        // The right side first; the address once, since it may have effects of its own.
        let right = self.eval_in(rhs, env)?;
        let mut path = Vec::new();
        let root = self.place(addr, &mut path, env)?;
        let Root::Object(at) = root else { return None };
        let object = env.objects.all.get(at)?;
        let before = self.load_path(object.value.as_ref()?, object.ty, &path)?;
        let after = if self.types.is_pointer(ty) {
            let count = int_of(&right)?;
            let count = if op == BinaryOp::Sub { -count } else { count };
            self.moved(before.clone(), count, self.types.pointee(ty)?)?
        } else {
            let wide = self.convert_const(before.clone(), ty, compute)?;
            let result = self.eval_binary(op, wide, right, compute)?;
            self.convert_const(result, compute, ty)?
        };
        self.store_path(root, &path, after.clone(), env)?;
        Some(match yields {
            UpdateYield::Before => before,
            UpdateYield::After => after,
        })
    }

    /// A constant of one scalar type as another.
    fn convert_const(&self, value: Const, from: TypeId, to: TypeId) -> Option<Const> {
        if from == to {
            return Some(value);
        }
        self.eval_cast(CastKind::between(self.types, from, to)?, value, from, to)
    }

    /// A pointer moved by a number of elements.
    pub(super) fn moved(&self, pointer: Const, count: i128, elem: TypeId) -> Option<Const> {
        let bytes = count.checked_mul(i128::from(self.types.layout(elem).size))?;
        shifted(pointer, i64::try_from(bytes).ok()?)
    }

    /// The address of a local.
    pub(super) fn eval_local(&self, local: LocalId, ty: TypeId, env: &mut Env) -> Option<Const> {
        let at = self.object_of(local, ty, env)?;
        let global = GlobalId(FIRST.checked_add(u32::try_from(at).ok()?)?);
        Some(Const::GlobalAddr { global, offset: 0 })
    }

    /// The object of a local, whose address has the type `ty`.
    fn object_of(&self, local: LocalId, ty: TypeId, env: &mut Env) -> Option<usize> {
        if let Some(frame) = env.objects.frame {
            return Some(frame + local.0 as usize);
        }
        if let Some((_, at)) = env.objects.around.iter().find(|(known, _)| *known == local) {
            return Some(*at);
        }
        let value = self.known.local(local).cloned();
        // What a variable holds is known or not; temporaries are this expression's own.
        let fixed = value.is_some();
        if !fixed && !self.known.is_temporary(local) {
            return None;
        }
        let at = env.objects.all.len();
        env.objects.all.push(Object { ty: self.types.pointee(ty)?, value, fixed });
        env.objects.around.push((local, at));
        Some(at)
    }

    /// What an address is part of, and the way into it, outermost first.
    fn place(&self, addr: &Expr, path: &mut Vec<Part>, env: &mut Env) -> Option<Root> {
        match &addr.kind {
            ExprKind::LocalAddr(local) => self.object_of(*local, addr.ty, env).map(Root::Object),
            ExprKind::GlobalAddr(global) => Some(Root::Global(*global)),
            ExprKind::FieldAddr { base, field } => {
                let root = self.place(base, path, env)?;
                path.push(Part::Field(*field));
                Some(root)
            }
            ExprKind::IndexAddr { base, index } if let Some(array) = self.array_behind(base) => {
                let root = self.place(array, path, env)?;
                let index = int_of(&self.eval_in(index, env)?)?;
                path.push(Part::Index(u64::try_from(index).ok()?));
                Some(root)
            }
            _ => {
                let Const::GlobalAddr { global, offset } = self.eval_in(addr, env)? else {
                    return None;
                };
                let (root, ty) = match global.0.checked_sub(FIRST) {
                    Some(at) if global.0 != u32::MAX => {
                        let at = at as usize;
                        (Root::Object(at), env.objects.all.get(at)?.ty)
                    }
                    _ => (Root::Global(global), self.known.global(global)?.1),
                };
                let wanted = self.types.pointee(addr.ty)?;
                self.way(ty, u64::try_from(offset).ok()?, wanted, path)?;
                Some(root)
            }
        }
    }

    /// The array whose first element an expression points to, where it says so itself.
    fn array_behind<'e>(&self, base: &'e Expr) -> Option<&'e Expr> {
        let ExprKind::Cast { kind: CastKind::PointerToPointer, operand } = &base.kind else {
            return None;
        };
        let array = self.types.pointee(operand.ty)?;
        match self.types.get(array) {
            Type::Array { elem, .. } if Some(*elem) == self.types.pointee(base.ty) => Some(operand),
            _ => None,
        }
    }

    /// The way to the part of a type that lies at an offset and has the type that is wanted.
    fn way(&self, ty: TypeId, offset: u64, wanted: TypeId, path: &mut Vec<Part>) -> Option<()> {
        if offset == 0 && ty == wanted {
            return Some(());
        }
        match self.types.get(ty) {
            Type::Array { elem, len } => {
                let size = self.types.layout(*elem).size;
                let index = offset.checked_div(size).filter(|index| index < len)?;
                path.push(Part::Index(index));
                self.way(*elem, offset % size, wanted, path)
            }
            Type::Record(id) => {
                let before = path.len();
                for (index, field) in self.types.record(*id).fields.iter().enumerate() {
                    let Some(inside) = offset.checked_sub(field.offset) else { continue };
                    if field.bits.is_some() || inside >= self.types.layout(field.ty).size {
                        continue;
                    }
                    path.push(Part::Field(index as u32));
                    if self.way(field.ty, inside, wanted, path).is_some() {
                        return Some(());
                    }
                    path.truncate(before);
                }
                None
            }
            _ => None,
        }
    }

    /// The part of a constant that a way leads to.
    fn load_path(&self, whole: &Const, ty: TypeId, path: &[Part]) -> Option<Const> {
        let Some((first, rest)) = path.split_first() else { return Some(whole.clone()) };
        match (first, self.types.get(ty)) {
            (Part::Index(index), Type::Array { elem, len }) if index < len => {
                let item = self.element_of(whole, *index)?;
                self.load_path(&item, *elem, rest)
            }
            (Part::Field(field), Type::Record(id)) => {
                let field_ty = self.types.record(*id).fields.get(*field as usize)?.ty;
                let part = self.field_of(whole, ty, *field)?;
                self.load_path(&part, field_ty, rest)
            }
            _ => None,
        }
    }

    fn store_in(&self, target: &mut Const, ty: TypeId, path: &[Part], value: Const) -> Option<()> {
        let Some((first, rest)) = path.split_first() else {
            *target = value;
            return Some(());
        };
        match (first, self.types.get(ty)) {
            (Part::Index(index), Type::Array { elem, len }) if index < len => {
                let items = match target {
                    Const::Array(items) => items,
                    Const::Zero => {
                        *target = Const::Array(Vec::new());
                        let Const::Array(items) = target else { return None };
                        items
                    }
                    Const::Bytes(bytes) => {
                        let byte = |byte: &u8| Const::Int(i128::from(*byte as i8));
                        *target = Const::Array(bytes.iter().map(byte).collect());
                        let Const::Array(items) = target else { return None };
                        items
                    }
                    _ => return None,
                };
                let index = *index as usize;
                if items.len() <= index {
                    items.resize(index + 1, Const::Zero);
                }
                self.store_in(&mut items[index], *elem, rest, value)
            }
            (Part::Field(field), Type::Record(id)) => {
                let record = self.types.record(*id);
                let field_ty = record.fields.get(*field as usize)?.ty;
                if *target == Const::Zero {
                    *target = Const::Record(Vec::new());
                }
                let Const::Record(fields) = target else { return None };
                if record.kind == RecordKind::Union {
                    fields.retain(|(index, _)| index == field);
                }
                let at = match fields.binary_search_by_key(field, |(index, _)| *index) {
                    Ok(at) => at,
                    Err(at) => {
                        fields.insert(at, (*field, Const::Zero));
                        at
                    }
                };
                self.store_in(&mut fields[at].1, field_ty, rest, value)
            }
            _ => None,
        }
    }
}

/// A pointer some bytes further.
pub(super) fn shifted(pointer: Const, bytes: i64) -> Option<Const> {
    match pointer {
        Const::GlobalAddr { global, offset } => {
            Some(Const::GlobalAddr { global, offset: offset.checked_add(bytes)? })
        }
        Const::Int(address) => Some(Const::Int(address.checked_add(i128::from(bytes))?)),
        Const::Zero => Some(Const::Int(i128::from(bytes))),
        _ => None,
    }
}
