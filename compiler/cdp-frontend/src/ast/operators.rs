//! Operators: each with its spelling, for messages, printed trees, names of operator functions and their
//! symbols, and with its tokens and precedence, for the parser.

use crate::lex::TokenKind;

/// A row: the variant; its spelling; how tightly it binds, the tighter the higher; its tokens, and after `and` that of
/// the assignment which computes it.
macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident {
        $($variant:ident = $text:literal, $level:literal, $($token:ident)|+ $(and $assigns:ident)?;)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// The operator as it is written.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The operator that a token is, and how tightly it binds.
            pub fn of(kind: TokenKind) -> Option<(Self, u8)> {
                Some(match kind {
                    $($(TokenKind::$token)|+ => ($name::$variant, $level),)*
                    _ => return None,
                })
            }

            /// The operator whose assignment a token is.
            pub fn assigned_by(kind: TokenKind) -> Option<Self> {
                match kind {
                    $($(TokenKind::$assigns => Some($name::$variant),)?)*
                    _ => None,
                }
            }
        }
    )*};
}

operators! {
    /// Before an operand.
    UnaryOp {
        Plus = "+", 11, Plus; Minus = "-", 11, Minus; Not = "!", 11, Bang; BitNot = "~", 11, Tilde;
        Deref = "*", 11, Star; AddrOf = "&", 11, Amp; PreInc = "++", 11, PlusPlus; PreDec = "--", 11, MinusMinus;
    }

    /// Between operands; all associate to the left.
    BinaryOp {
        Mul = "*", 10, Star and StarEq;
        Div = "/", 10, Slash and SlashEq; Rem = "%", 10, Percent and PercentEq;
        Add = "+", 9, Plus and PlusEq; Sub = "-", 9, Minus and MinusEq;
        Shl = "<<", 8, Shl and ShlEq; Shr = ">>", 8, Shr and ShrEq;
        Lt = "<", 7, Lt; Gt = ">", 7, Gt; Le = "<=", 7, Le; Ge = ">=", 7, Ge;
        Eq = "==", 6, EqEq; Ne = "!=", 6, Ne;
        BitAnd = "&", 5, Amp and AmpEq; BitXor = "^", 4, Caret and CaretEq; BitOr = "|", 3, Pipe and PipeEq;
        LogAnd = "&&", 2, AndAnd; LogOr = "||", 1, OrOr;
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
const OVERLOADABLE: &str = "+ ps pl; - ng mi; * de ml; / - dv; % - rm; ^ - eo; & ad an; | - or; ~ co co; ! nt nt; = - \
     aS; < - lt; > - gt; += - pL; -= - mI; *= - mL; /= - dV; %= - rM; ^= - eO; &= - aN; |= - oR; \
     << - ls; >> - rs; <<= - lS; >>= - rS; == - eq; != - ne; <= - le; >= - ge; && - aa; || - oo; \
     ++ pp pp; -- mm mm; , - cm; -> pt pt; ->* - pm; () cl cl; [] ix ix; new nw nw; delete dl dl";

/// The rows of the table.
fn overloadable() -> impl Iterator<Item = [&'static str; 3]> {
    let rows = OVERLOADABLE.split("; ").map(|row| row.split(' '));
    rows.map(|mut words| [(); 3].map(|()| words.next().unwrap_or_default()))
}

impl Overloadable {
    /// The operator of a function named `operator+` and the like.
    pub fn of(name: &str) -> Option<Self> {
        let text = name.strip_prefix("operator")?;
        let place = overloadable().position(|[known, ..]| match known.as_bytes() {
            [b'a'..=b'z', ..] => text.strip_prefix(' ') == Some(known),
            _ => known == text,
        })?;
        u8::try_from(place).ok().map(Overloadable)
    }

    fn row(self) -> [&'static str; 3] {
        overloadable().nth(self.0.into()).unwrap_or_default()
    }

    /// Its spelling.
    pub fn text(self) -> &'static str {
        self.row()[0]
    }

    /// Its letters in the symbol of a function with this many parameters.
    pub fn letters(self, parameters: usize) -> &'static str {
        match self.row() {
            [_, letters, _] if parameters == 1 && letters != "-" => letters,
            [.., letters] => letters,
        }
    }
}
