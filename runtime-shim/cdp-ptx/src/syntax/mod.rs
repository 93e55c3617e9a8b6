//! How a row of the table (`table.rs`) is read and written. A row names its modifiers and operands in
//! the order of the text; what one is follows from the type of the field it goes to and from the value
//! in parentheses after it. Each kind has its two directions side by side here.
//!
//! No instruction is named here; `video` has the kinds that video instructions alone use.

mod modifiers;
mod operands;
mod video;

pub(crate) use self::modifiers::*;
pub(crate) use self::operands::*;
pub(crate) use self::video::*;
use crate::parse::mods::Mods;
use crate::parse::{Parser, Result};
use crate::print::Printer;

/// Something between the dots after an opcode. Words are found wherever they stand, and written in the
/// order of the row.
pub(crate) trait Modifier<Spec>: Sized {
    fn read(parser: &Parser, mods: &mut Mods, spec: Spec) -> Result<Self>;
    fn write(&self, printer: &mut Printer, spec: Spec);
}

/// Something between the commas, with what separates it from the operand before it.
pub(crate) trait Arg<Spec>: Sized {
    fn read(parser: &mut Parser, spec: Spec) -> Result<Self>;
    fn write(&self, printer: &mut Printer, spec: Spec);
}
