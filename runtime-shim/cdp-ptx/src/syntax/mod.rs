//! How a row of the table (`table.rs`) is read and written. A row names its modifiers and operands in
//! the order of the text; what one is follows from the type of the field it goes to and from the value
//! in parentheses after it. Each kind has its two directions side by side here.
//!
//! No instruction is named here.

mod modifiers;
mod operands;

pub(crate) use self::modifiers::*;
pub(crate) use self::operands::*;
use crate::parse::mods::Mods;
use crate::parse::{Parser, Result};
use crate::print::Printer;

/// Something between the dots after an opcode. Words are found wherever they stand, and written in the
/// order of the row.
pub(crate) trait Modifier<Spec>: Sized {
    fn read(parser: &Parser, mods: &mut Mods, spec: Spec) -> Result<Self>;
    fn write(&self, printer: &mut Printer, spec: Spec);
}

/// Something between the commas.
pub(crate) trait Arg<Spec>: Sized {
    fn read(parser: &mut Parser, spec: Spec) -> Result<Self>;
    fn write(&self, printer: &mut Printer, spec: Spec);

    /// With what separates it from the operand before it.
    fn read_after(separator: Separator, parser: &mut Parser, spec: Spec) -> Result<Self> {
        match separator {
            Separator::Start => {}
            Separator::Comma => parser.comma()?,
            Separator::Bar => parser.expect(b'|')?,
        }
        Self::read(parser, spec)
    }

    fn write_after(&self, separator: Separator, printer: &mut Printer, spec: Spec) {
        printer.out.push_str(separator.text());
        self.write(printer, spec);
    }
}

/// What stands before an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Start,
    Comma,
    Bar,
}

impl Separator {
    fn text(self) -> &'static str {
        match self {
            Separator::Start => " ",
            Separator::Comma => ", ",
            Separator::Bar => "|",
        }
    }
}
