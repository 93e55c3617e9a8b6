//! `constexpr` functions: their bodies run on constants.
//!
//! Locals hold whole constants; pointers to them do not exist as values, so what takes the address
//! of a local is not constant. Bounds on steps and depth end what does not end by itself.

use super::{Evaluator, int_of, truth_of};
use crate::{
    BinaryOp, Block, CastKind, Const, Expr, ExprKind, FuncId, LabelId, RecordKind, StmtKind, Type,
    TypeId, UpdateYield,
};

/// Statements and turns of loops that one evaluation may take.
const MAX_STEPS: u32 = 1 << 20;
/// Calls inside calls.
const MAX_DEPTH: u32 = 128;

/// Where an evaluation stands.
#[derive(Default)]
pub struct Env {
    /// The locals of the function that runs; `None` outside one.
    pub(super) frame: Option<Vec<Option<Const>>>,
    types: Vec<TypeId>,
    steps: u32,
    depth: u32,
}

impl Env {
    /// Nothing when there have been too many.
    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MAX_STEPS).then_some(())
    }
}

/// How a statement ended.
enum Ended {
    Next,
    Break,
    Continue,
    Return(Const),
}

/// A part of an aggregate.
enum Part {
    Field(u32),
    Index(u64),
}

impl Evaluator<'_> {
    /// What a function returns for constant arguments.
    pub fn call(&self, function: FuncId, args: &[Expr]) -> Option<Const> {
        self.eval_call(function, args, &mut Env::default())
    }

    pub(super) fn eval_call(
        &self,
        function: FuncId,
        args: &[Expr],
        env: &mut Env,
    ) -> Option<Const> {
        let body = self.known.body(function)?;
        if env.depth >= MAX_DEPTH {
            return None;
        }
        let mut frame: Vec<Option<Const>> = vec![None; body.types.len()];
        for (slot, arg) in frame.iter_mut().zip(args) {
            *slot = Some(self.eval_in(arg, env)?);
        }
        let mut inner = Env {
            frame: Some(frame),
            types: body.types.clone(),
            steps: env.steps,
            depth: env.depth + 1,
        };
        let ended = self.run(&body.block, &mut inner);
        env.steps = inner.steps;
        match ended? {
            Ended::Return(value) => Some(value),
            _ => None,
        }
    }

    fn run(&self, block: &Block, env: &mut Env) -> Option<Ended> {
        self.run_from(block, 0, env)
    }

    fn run_from(&self, block: &Block, start: usize, env: &mut Env) -> Option<Ended> {
        for stmt in &block.stmts[start..] {
            match self.run_stmt(&stmt.kind, env)? {
                Ended::Next => {}
                ended => return Some(ended),
            }
        }
        Some(Ended::Next)
    }

    fn run_stmt(&self, stmt: &StmtKind, env: &mut Env) -> Option<Ended> {
        env.step()?;
        match stmt {
            StmtKind::Expr(expr) => {
                self.eval_in(expr, env)?;
                Some(Ended::Next)
            }
            StmtKind::Block(block) => self.run(block, env),
            StmtKind::Declare(local) => {
                *env.frame.as_mut()?.get_mut(local.0 as usize)? = None;
                Some(Ended::Next)
            }
            StmtKind::If { cond, then, otherwise } => {
                let yes = truth_of(self.eval_in(cond, env)?)?;
                self.run(if yes { then } else { otherwise }, env)
            }
            StmtKind::Loop { cond, body, step, test_first, .. } => {
                self.run_loop(cond.as_ref(), body, step.as_ref(), *test_first, env)
            }
            StmtKind::Switch { value, cases, default, body } => {
                let value = int_of(&self.eval_in(value, env)?)?;
                let case = cases.iter().find(|case| case.value == value).map(|case| case.label);
                match case.or(*default) {
                    Some(label) => self.run_switch(body, label, env),
                    None => Some(Ended::Next),
                }
            }
            StmtKind::Label(_) => Some(Ended::Next),
            StmtKind::Goto(_) => None,
            StmtKind::Break => Some(Ended::Break),
            StmtKind::Continue => Some(Ended::Continue),
            StmtKind::Return(Some(value)) => Some(Ended::Return(self.eval_in(value, env)?)),
            StmtKind::Return(None) => Some(Ended::Return(Const::Zero)),
        }
    }

    fn run_loop(
        &self,
        cond: Option<&Expr>,
        body: &Block,
        step: Option<&Expr>,
        test_first: bool,
        env: &mut Env,
    ) -> Option<Ended> {
        let mut first = !test_first;
        loop {
            env.step()?;
            if let (Some(cond), false) = (cond, first)
                && !truth_of(self.eval_in(cond, env)?)?
            {
                return Some(Ended::Next);
            }
            first = false;
            match self.run(body, env)? {
                Ended::Break => return Some(Ended::Next),
                Ended::Return(value) => return Some(Ended::Return(value)),
                Ended::Next | Ended::Continue => {}
            }
            if let Some(step) = step {
                self.eval_in(step, env)?;
            }
        }
    }

    /// Runs a `switch` from a label at the top level of its body.
    fn run_switch(&self, body: &Block, label: LabelId, env: &mut Env) -> Option<Ended> {
        let start = body.stmts.iter().position(|stmt| stmt.kind == StmtKind::Label(label))?;
        match self.run_from(body, start, env)? {
            Ended::Break => Some(Ended::Next),
            ended => Some(ended),
        }
    }

    // --- locals --------------------------------------------------------------------------------

    /// `*addr = value` for a local of the running function.
    pub(super) fn eval_store(&self, addr: &Expr, value: Const, env: &mut Env) -> Option<()> {
        let mut path = Vec::new();
        let local = self.place(addr, &mut path, env)?;
        self.store_path(local, &path, value, env)
    }

    fn store_path(&self, local: usize, path: &[Part], value: Const, env: &mut Env) -> Option<()> {
        let ty = *env.types.get(local)?;
        let slot = env.frame.as_mut()?.get_mut(local)?;
        let mut whole = slot.take().unwrap_or(Const::Zero);
        self.store_in(&mut whole, ty, path, value)?;
        *slot = Some(whole);
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
        if self.types.is_pointer(ty) {
            return None;
        }
        // The right side first; the address once, since it may have effects of its own.
        let right = self.eval_in(rhs, env)?;
        let mut path = Vec::new();
        let local = self.place(addr, &mut path, env)?;
        let whole_ty = *env.types.get(local)?;
        let whole = env.frame.as_ref()?.get(local)?.as_ref()?;
        let before = self.load_path(whole, whole_ty, &path)?;
        let wide = self.convert_const(before.clone(), ty, compute)?;
        let result = self.eval_binary(op, wide, right, compute)?;
        let after = self.convert_const(result, compute, ty)?;
        self.store_path(local, &path, after.clone(), env)?;
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

    /// The local that an address is part of, and the way into it, outermost first.
    fn place(&self, addr: &Expr, path: &mut Vec<Part>, env: &mut Env) -> Option<usize> {
        match &addr.kind {
            ExprKind::LocalAddr(local) => Some(local.0 as usize),
            ExprKind::FieldAddr { base, field } => {
                let local = self.place(base, path, env)?;
                path.push(Part::Field(*field));
                Some(local)
            }
            ExprKind::IndexAddr { base, index } => {
                let ExprKind::Cast { kind: CastKind::PointerToPointer, operand } = &base.kind
                else {
                    return None;
                };
                let local = self.place(operand, path, env)?;
                let index = int_of(&self.eval_in(index, env)?)?;
                path.push(Part::Index(u64::try_from(index).ok()?));
                Some(local)
            }
            _ => None,
        }
    }

    /// The part of a constant that a way leads to.
    fn load_path(&self, whole: &Const, ty: TypeId, path: &[Part]) -> Option<Const> {
        let Some((first, rest)) = path.split_first() else { return Some(whole.clone()) };
        match (first, self.types.get(ty)) {
            (Part::Index(index), Type::Array { elem, len }) if index < len => {
                let item = match whole {
                    Const::Array(items) => items.get(*index as usize).unwrap_or(&Const::Zero),
                    Const::Zero => whole,
                    _ => return None,
                };
                self.load_path(item, *elem, rest)
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
