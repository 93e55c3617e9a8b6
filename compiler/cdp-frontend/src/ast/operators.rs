//! How operators are spelled: the one home of each spelling, for messages, printed trees, names of operator
//! functions and their symbols.

use super::{BinaryOp, UnaryOp};

impl BinaryOp {
    /// The operator as it is written.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::LogAnd => "&&",
            BinaryOp::LogOr => "||",
        }
    }
}

impl UnaryOp {
    /// The operator as it is written, before its operand.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
            UnaryOp::Deref => "*",
            UnaryOp::AddrOf => "&",
            UnaryOp::PreInc => "++",
            UnaryOp::PreDec => "--",
        }
    }
}

/// An operator that C++ lets functions overload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Overloadable(u8);

/// Each with the letters that stand for it in a symbol (Itanium C++ ABI, 5.1.3): with one operand, where
/// it has a meaning of its own then, and otherwise.
const OVERLOADABLE: &[(&str, &str, &str)] = &[
    ("+", "ps", "pl"),
    ("-", "ng", "mi"),
    ("*", "de", "ml"),
    ("/", "", "dv"),
    ("%", "", "rm"),
    ("^", "", "eo"),
    ("&", "ad", "an"),
    ("|", "", "or"),
    ("~", "co", "co"),
    ("!", "nt", "nt"),
    ("=", "", "aS"),
    ("<", "", "lt"),
    (">", "", "gt"),
    ("+=", "", "pL"),
    ("-=", "", "mI"),
    ("*=", "", "mL"),
    ("/=", "", "dV"),
    ("%=", "", "rM"),
    ("^=", "", "eO"),
    ("&=", "", "aN"),
    ("|=", "", "oR"),
    ("<<", "", "ls"),
    (">>", "", "rs"),
    ("<<=", "", "lS"),
    (">>=", "", "rS"),
    ("==", "", "eq"),
    ("!=", "", "ne"),
    ("<=", "", "le"),
    (">=", "", "ge"),
    ("&&", "", "aa"),
    ("||", "", "oo"),
    ("++", "pp", "pp"),
    ("--", "mm", "mm"),
    (",", "", "cm"),
    ("->", "pt", "pt"),
    ("->*", "", "pm"),
    ("()", "cl", "cl"),
    ("[]", "ix", "ix"),
    ("new", "nw", "nw"),
    ("delete", "dl", "dl"),
];

impl Overloadable {
    /// The operator of a function named `operator+` and the like.
    pub fn of(name: &str) -> Option<Self> {
        let text = name.strip_prefix("operator")?.trim_start();
        let place = OVERLOADABLE.iter().position(|(known, ..)| *known == text)?;
        u8::try_from(place).ok().map(Overloadable)
    }

    /// Its spelling.
    pub fn text(self) -> &'static str {
        OVERLOADABLE[usize::from(self.0)].0
    }

    /// Its letters in the symbol of a function with this many parameters.
    pub fn letters(self, parameters: usize) -> &'static str {
        match OVERLOADABLE[usize::from(self.0)] {
            (_, "", letters) => letters,
            (_, letters, _) if parameters == 1 => letters,
            (.., letters) => letters,
        }
    }
}
