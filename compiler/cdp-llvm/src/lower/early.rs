//! The first passes over functions that have just been lowered, in modules that have very many of them.
//!
//! LLVM keeps the instructions of all functions until code is made of them, and with variables in memory they are twice as
//! many as afterwards: of 3,000 kernels of seven lines they took 29 times the memory of the text, and half as much again while
//! they are written for the codegen units. Smaller modules have these passes with the others, and code that does not depend on this.

use std::cell::{Cell, RefCell};

use inkwell::values::FunctionValue;

use crate::error::Result;
use crate::options::{DebugInfo, LowerOptions, OptLevel};
use crate::pipeline;
use crate::target::Machine;

/// Statements of functions that are optimised together. A longer function has these passes with the others too: twice over one, they
/// take branches for selections until LLVM needs twice the memory.
const STATEMENTS_AT_ONCE: u32 = 4_000;

/// Functions that wait for it.
pub(super) struct Early<'u, 'ctx> {
    machine: &'u Machine,
    pipeline: String,
    functions: RefCell<Vec<FunctionValue<'ctx>>>,
    statements: Cell<u32>,
}

impl<'u, 'ctx> Early<'u, 'ctx> {
    /// For device code; `None` where nothing is optimised in that way.
    pub fn new(machine: &'u Machine, options: &LowerOptions) -> Option<Self> {
        let optimised = matches!(options.opt_level, OptLevel::O2 | OptLevel::O3);
        (optimised && options.debug == DebugInfo::None).then(|| Early {
            machine,
            pipeline: pipeline::device_early(options.stores_apart),
            functions: RefCell::default(),
            statements: Cell::new(0),
        })
    }

    /// After a function of so many statements, whose body nobody goes on building.
    pub fn add(&self, function: FunctionValue<'ctx>, statements: u32) -> Result<()> {
        if statements >= STATEMENTS_AT_ONCE {
            return Ok(());
        }
        self.functions.borrow_mut().push(function);
        self.statements.update(|before| before.saturating_add(statements));
        if self.statements.get() < STATEMENTS_AT_ONCE {
            return Ok(());
        }
        self.statements.set(0);
        self.machine.optimize_functions(&self.functions.take(), &self.pipeline)
    }
}
