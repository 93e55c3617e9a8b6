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
        let text = name.strip_prefix("operator")?.trim_start();
        let place = overloadable().position(|[known, ..]| known == text)?;
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
