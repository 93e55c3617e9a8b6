//! Statements: structured control flow becomes basic blocks.

use std::collections::HashMap;

use cdp_ir::{Block, Expr, LabelId, Stmt, StmtKind, SwitchLabel, Type, Unroll};
use inkwell::values::InstructionValue;

use super::body::{Body, Targets};
use crate::error::{Result, bug};
use crate::options::BYTES_PER_STATEMENT;
use crate::raw;

impl<'ctx> Body<'_, '_, 'ctx> {
    /// A block, which is a scope of its own.
    pub fn block(&mut self, block: &Block) -> Result<()> {
        let outer = self.enter_scope(block);
        let done = self.stmts(block);
        self.leave_scope(outer);
        done
    }

    /// Refuses a function before LLVM takes more memory than machines have, or than this one has.
    fn count_statement(&mut self) -> Result<()> {
        self.statements += 1;
        let options = self.unit.options;
        let there = options.memory_bytes.unwrap_or(u64::MAX);
        let needed = u64::from(self.statements) * BYTES_PER_STATEMENT;
        if self.statements <= options.max_statements && needed <= there {
            return Ok(());
        }
        let reason = match needed > there {
            true => {
                format!("; they take more than the {} MB of memory that are there", there >> 20)
            }
            false => String::new(),
        };
        let most = self.statements - 1;
        Err(self.unsupported(format!(
            "the function has more than {most} statements{reason}\n  help: cut it into several functions, or put the \
             work into a loop over a table"
        )))
    }

    pub fn stmts(&mut self, block: &Block) -> Result<()> {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        self.set_loc(stmt.loc);
        self.count_statement()?;
        match &stmt.kind {
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Declare(local) => {
                self.describe_variable(*local, self.local(*local)?);
                Ok(())
            }
            StmtKind::If { cond, then, otherwise } => self.if_stmt(cond, then, otherwise),
            StmtKind::Loop { cond, body, step, test_first, unroll } => {
                let parts = LoopParts { cond: cond.as_deref(), body, step: step.as_deref() };
                self.loop_stmt(&parts, *test_first, *unroll)
            }
            StmtKind::Switch { value, cases, default, body } => {
                self.switch_stmt(value, cases, *default, body)
            }
            StmtKind::Label(label) => {
                let found = self.labels.iter().rev().find_map(|labels| labels.get(label).copied());
                let block = found.unwrap_or_else(|| self.own_label(*label));
                self.branch(block)?;
                self.start(block);
                Ok(())
            }
            StmtKind::Goto(label) => {
                let block = self.own_label(*label);
                self.jump(Some(block))
            }
            StmtKind::Break => {
                let target = self.targets.last().map(|targets| targets.leave);
                self.jump(target)
            }
            StmtKind::Continue => {
                let target = self.targets.iter().rev().find_map(|targets| targets.next);
                self.jump(target)
            }
            StmtKind::Return(value) => {
                self.build_return(value.as_ref())?;
                self.start_dead();
                Ok(())
            }
        }
    }

    /// The block of a label that no switch lists.
    fn own_label(&mut self, label: LabelId) -> inkwell::basic_block::BasicBlock<'ctx> {
        if let Some(block) = self.own_labels.get(&label) {
            return *block;
        }
        let block = self.new_block("label");
        self.own_labels.insert(label, block);
        block
    }

    fn jump(&mut self, target: Option<inkwell::basic_block::BasicBlock<'ctx>>) -> Result<()> {
        let target = target.ok_or_else(|| bug("lower", "a jump out of nothing"))?;
        self.branch(target)?;
        self.start_dead();
        Ok(())
    }

    fn if_stmt(&mut self, cond: &Expr, then: &Block, otherwise: &Block) -> Result<()> {
        let cond = self.condition(cond)?;
        let yes = self.new_block("then");
        let join = self.new_block("join");
        let no = if otherwise.stmts.is_empty() { join } else { self.new_block("else") };
        self.builder.build_conditional_branch(cond, yes, no)?;
        self.start(yes);
        self.block(then)?;
        self.branch(join)?;
        if no != join {
            self.start(no);
            self.block(otherwise)?;
            self.branch(join)?;
        }
        self.start(join);
        Ok(())
    }

    fn loop_stmt(
        &mut self,
        parts: &LoopParts<'_>,
        test_first: bool,
        unroll: Option<Unroll>,
    ) -> Result<()> {
        let test = self.new_block("test");
        let turn = self.new_block("turn");
        let step = self.new_block("step");
        let leave = self.new_block("leave");
        self.branch(if test_first { test } else { turn })?;
        if test_first {
            self.start(test);
            self.test(parts.cond, turn, leave)?;
        }
        self.start(turn);
        self.targets.push(Targets { leave, next: Some(step) });
        let done = self.block(parts.body);
        self.targets.pop();
        done?;
        self.branch(step)?;
        self.start(step);
        if let Some(expr) = parts.step {
            self.set_loc(expr.loc);
            self.effect(expr)?;
        }
        let back = if test_first {
            self.builder.build_unconditional_branch(test)?
        } else {
            self.builder.build_unconditional_branch(test)?;
            self.start(test);
            self.test(parts.cond, turn, leave)?
        };
        self.unroll(back, unroll);
        self.start(leave);
        Ok(())
    }

    /// Ends the block with the loop's test.
    fn test(
        &mut self,
        cond: Option<&Expr>,
        turn: inkwell::basic_block::BasicBlock<'ctx>,
        leave: inkwell::basic_block::BasicBlock<'ctx>,
    ) -> Result<InstructionValue<'ctx>> {
        Ok(match cond {
            Some(cond) => {
                self.set_loc(cond.loc);
                let cond = self.condition(cond)?;
                self.builder.build_conditional_branch(cond, turn, leave)?
            }
            None => self.builder.build_unconditional_branch(turn)?,
        })
    }

    /// What the program asks for; without a request the device pipeline decides.
    fn unroll(&self, back: InstructionValue<'ctx>, unroll: Option<Unroll>) {
        let properties: &[(&str, Option<u32>)] = match unroll {
            None => return,
            Some(Unroll::Full) => &[("llvm.loop.unroll.full", None)],
            Some(Unroll::Count(0 | 1)) => &[("llvm.loop.unroll.disable", None)],
            Some(Unroll::Count(count)) => &[("llvm.loop.unroll.count", Some(count))],
        };
        raw::set_loop_metadata(self.unit.context, back, properties);
    }

    fn switch_stmt(
        &mut self,
        value: &Expr,
        cases: &[SwitchLabel],
        default: Option<LabelId>,
        body: &Block,
    ) -> Result<()> {
        let scalar = self.int_of(value)?;
        let mut labels = HashMap::new();
        let mut places = Vec::new();
        for case in cases {
            let block = *labels.entry(case.label).or_insert_with(|| self.new_block("case"));
            places.push((self.case_value(value, case.value)?, block));
        }
        let leave = self.new_block("leave");
        let other = match default {
            Some(label) => *labels.entry(label).or_insert_with(|| self.new_block("default")),
            None => leave,
        };
        self.builder.build_switch(scalar, other, &places)?;
        self.start_dead();
        self.labels.push(labels);
        self.targets.push(Targets { leave, next: None });
        let done = self.block(body);
        self.targets.pop();
        self.labels.pop();
        done?;
        self.branch(leave)?;
        self.start(leave);
        Ok(())
    }

    fn case_value(&self, value: &Expr, case: i128) -> Result<inkwell::values::IntValue<'ctx>> {
        match self.unit.ir.types.get(value.ty) {
            Type::Int { bits, .. } => {
                use inkwell::types::AsTypeRef;
                let ty = self.unit.int_type(u32::from(*bits));
                Ok(raw::const_int(ty.as_type_ref(), case))
            }
            _ => Err(bug("lower", "a switch on something that is no integer")),
        }
    }
}

struct LoopParts<'a> {
    cond: Option<&'a Expr>,
    body: &'a Block,
    step: Option<&'a Expr>,
}
