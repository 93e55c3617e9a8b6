//! `constexpr` functions: their bodies run on constants. Their locals are objects (`objects`). Bounds on steps and
//! depth end what does not end by itself.

use super::objects::Objects;
use super::{Evaluator, int_of, truth_of};
use crate::{Block, Const, Expr, FuncId, LabelId, StmtKind};

/// Statements and turns of loops that one evaluation may take.
const MAX_STEPS: u32 = 1 << 20;
/// Calls inside calls.
const MAX_DEPTH: u32 = 128;

/// Where an evaluation stands.
#[derive(Default)]
pub struct Env {
    /// Locals of the functions that run, and temporaries of the expression around them.
    pub(super) objects: Objects,
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

impl Evaluator<'_> {
    /// What a function returns for constant arguments.
    pub fn call(&self, function: FuncId, args: &[Expr]) -> Option<Const> {
        self.eval_call(function, args, false, &mut Env::default()).filter(super::outlives)
    }

    pub(super) fn eval_call(
        &self,
        function: FuncId,
        args: &[Expr],
        void: bool,
        env: &mut Env,
    ) -> Option<Const> {
        let body = self.known.body(function)?;
        if env.depth >= MAX_DEPTH {
            return None;
        }
        let args = args.iter().map(|arg| self.eval_in(arg, env)).collect::<Option<Vec<_>>>()?;
        let outer = env.objects.enter(&body.types, args);
        env.depth += 1;
        let ended = self.run(&body.block, env);
        env.depth -= 1;
        env.objects.leave(outer);
        match ended? {
            Ended::Return(value) => Some(value),
            Ended::Next if void => Some(Const::Zero),
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
                env.objects.forget(*local)?;
                Some(Ended::Next)
            }
            StmtKind::If { cond, then, otherwise } => {
                let yes = truth_of(self.eval_in(cond, env)?)?;
                self.run(if yes { then } else { otherwise }, env)
            }
            StmtKind::Loop { cond, body, step, test_first, .. } => {
                self.run_loop(cond.as_deref(), body, step.as_deref(), *test_first, env)
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
}
