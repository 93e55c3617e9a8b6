//! Operators: each with its spelling, for messages, printed trees, names of operator functions and their
//! symbols.

use crate::spelled::spelled;

spelled! {
    UnaryOp,
    /// The operator as it is written, before its operand.
    text {
        Plus = "+", Minus = "-", Not = "!", BitNot = "~", Deref = "*", AddrOf = "&", PreInc = "++", PreDec = "--",
    }

    BinaryOp,
    /// The operator as it is written.
    text {
        Mul = "*", Div = "/", Rem = "%", Add = "+", Sub = "-", Shl = "<<", Shr = ">>",
        Lt = "<", Gt = ">", Le = "<=", Ge = ">=", Eq = "==", Ne = "!=",
        BitAnd = "&", BitXor = "^", BitOr = "|", LogAnd = "&&", LogOr = "||",
    }
}

impl BinaryOp {
    /// Whether it shifts: its operands keep types of their own.
    pub fn shifts(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
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
