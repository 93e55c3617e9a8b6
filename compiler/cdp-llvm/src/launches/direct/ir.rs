//! LLVM IR as the optimiser writes it, read: one instruction a line, types that kernels' arguments have, no metadata.
//!
//! What is absent: what instructions do ([`super::body`]).

use std::fmt;

use super::value::GENERIC;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Void,
    Int(u32),
    /// Of so many bits.
    Float(u32),
    /// With the number of its address space.
    Ptr(u32),
    /// Bytes of a struct that goes by value.
    Array(u64, Box<Ty>),
    Struct(Vec<Ty>),
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Void => f.write_str("void"),
            Ty::Int(bits) => write!(f, "i{bits}"),
            Ty::Float(16) => f.write_str("half"),
            Ty::Float(32) => f.write_str("float"),
            Ty::Float(_) => f.write_str("double"),
            Ty::Ptr(GENERIC) => f.write_str("ptr"),
            Ty::Ptr(space) => write!(f, "ptr addrspace({space})"),
            Ty::Array(count, element) => write!(f, "[{count} x {element}]"),
            Ty::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(Ty::to_string).collect();
                write!(f, "{{ {} }}", fields.join(", "))
            }
        }
    }
}

impl Ty {
    /// Bytes and alignment in memory.
    pub fn size(&self) -> (u64, u64) {
        match self {
            Ty::Void => (0, 1),
            Ty::Int(bits) | Ty::Float(bits) => {
                let bytes = u64::from(bits.div_ceil(8));
                (bytes, bytes)
            }
            Ty::Ptr(_) => (8, 8),
            Ty::Array(count, element) => {
                let (bytes, align) = element.size();
                (count * bytes, align)
            }
            Ty::Struct(fields) => {
                let (mut end, mut most) = (0_u64, 1);
                for (bytes, align) in fields.iter().map(Ty::size) {
                    end = end.next_multiple_of(align) + bytes;
                    most = align.max(most);
                }
                (end.next_multiple_of(most), most)
            }
        }
    }

    /// Bits of a register that holds it.
    pub fn bits(&self) -> u32 {
        match self {
            Ty::Int(bits) | Ty::Float(bits) => *bits,
            _ => 64,
        }
    }

    /// The fields of a struct or an array, each with where it begins; of any other type itself.
    pub fn fields(&self) -> Vec<(u64, Ty)> {
        match self {
            Ty::Array(count, element) => {
                (0..*count).map(|index| (index * element.size().0, (**element).clone())).collect()
            }
            Ty::Struct(fields) => {
                let mut end = 0_u64;
                let place = |field: &Ty| {
                    let (bytes, align) = field.size();
                    let at = end.next_multiple_of(align);
                    end = at + bytes;
                    (at, field.clone())
                };
                fields.iter().map(place).collect()
            }
            other => vec![(0, other.clone())],
        }
    }
}

/// An operand as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A value by its name.
    Named(String),
    Number(i64),
    /// A variable or a function, so many bytes behind its beginning.
    Symbol(String, i64),
    /// No value in particular.
    Nothing,
}

/// A parameter of a function, or an argument of a call.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    pub ty: Ty,
    /// Bytes of what is passed by value.
    pub by_value: Option<u64>,
    /// What is said of a pointer's alignment; 1 for nothing.
    pub align: u64,
    pub operand: Operand,
}

/// A function's head.
#[derive(Debug)]
pub(super) struct Head {
    pub name: String,
    pub is_kernel: bool,
    pub result: Ty,
    pub params: Vec<Passed>,
}

/// What is left of a line.
pub(super) struct Line<'t> {
    rest: &'t str,
}

/// `None` where the text is not as it is written here.
pub(super) type Read<T> = Option<T>;

impl<'t> Line<'t> {
    pub fn new(text: &'t str) -> Line<'t> {
        Line { rest: text.trim() }
    }

    /// What stands before the next token is passed over.
    fn trim(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    /// Takes a word or a sign where it comes next.
    pub fn take(&mut self, token: &str) -> bool {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let Some(rest) = self.trim().strip_prefix(token) else { return false };
        if token.ends_with(is_word) && rest.starts_with(is_word) {
            return false;
        }
        self.rest = rest;
        true
    }

    pub fn expect(&mut self, token: &str) -> Read<()> {
        self.take(token).then_some(())
    }

    /// A word.
    pub fn word(&mut self) -> Read<&'t str> {
        let text = self.trim();
        let end = text
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_.-$".contains(c)))
            .unwrap_or(text.len());
        (end > 0).then(|| {
            self.rest = &text[end..];
            &text[..end]
        })
    }

    /// A name behind a sign, in quotes or not.
    pub fn name(&mut self, sign: &str) -> Read<String> {
        if !self.take(sign) {
            return None;
        }
        match self.rest.strip_prefix('"') {
            // No name that has to be spelt otherwise in PTX.
            Some(quoted) => {
                let (name, rest) = quoted.split_once('"')?;
                self.rest = rest;
                is_plain(name).then(|| name.to_owned())
            }
            None => self.word().map(str::to_owned),
        }
    }

    pub fn number(&mut self) -> Read<i64> {
        self.word()?.parse().ok()
    }

    /// What stands between quotes.
    pub fn quoted(&mut self) -> Read<&'t str> {
        self.expect("\"")?;
        let (text, rest) = self.rest.split_once('"')?;
        self.rest = rest;
        Some(text)
    }

    pub fn ty(&mut self) -> Read<Ty> {
        if self.take("{") {
            let mut fields = vec![self.ty()?];
            while self.take(",") {
                fields.push(self.ty()?);
            }
            self.expect("}")?;
            return Some(Ty::Struct(fields));
        }
        if self.take("[") {
            let count = u64::try_from(self.number()?).ok()?;
            self.expect("x")?;
            let element = self.ty()?;
            self.expect("]")?;
            return Some(Ty::Array(count, Box::new(element)));
        }
        Some(match self.word()? {
            "void" => Ty::Void,
            "half" | "bfloat" => Ty::Float(16),
            "float" => Ty::Float(32),
            "double" => Ty::Float(64),
            "ptr" => Ty::Ptr(self.space()?),
            word => Ty::Int(word.strip_prefix('i')?.parse().ok()?),
        })
    }

    fn space(&mut self) -> Read<u32> {
        if !self.take("addrspace") {
            return Some(0);
        }
        self.expect("(")?;
        let number = self.number()?;
        self.expect(")")?;
        u32::try_from(number).ok()
    }

    pub fn operand(&mut self) -> Read<Operand> {
        if self.trim().starts_with('%') {
            return self.name("%").map(Operand::Named);
        }
        if self.rest.starts_with('@') {
            return self.name("@").map(|name| Operand::Symbol(name, 0));
        }
        Some(match self.word()? {
            "poison" | "undef" => Operand::Nothing,
            "true" => Operand::Number(1),
            "false" | "null" => Operand::Number(0),
            "getelementptr" => {
                self.expect("(")?;
                self.expect("i8")?;
                self.expect(",")?;
                self.ty()?;
                let name = self.name("@")?;
                self.expect(",")?;
                self.ty()?;
                let bytes = self.number()?;
                self.expect(")")?;
                Operand::Symbol(name, bytes)
            }
            "inttoptr" => {
                self.expect("(")?;
                self.ty()?;
                let number = self.number()?;
                self.expect("to")?;
                self.ty()?;
                self.expect(")")?;
                Operand::Number(number)
            }
            word => Operand::Number(word.parse().ok()?),
        })
    }

    /// A type and an operand of it.
    pub fn typed(&mut self) -> Read<(Ty, Operand)> {
        Some((self.ty()?, self.operand()?))
    }

    /// Types, attributes and operands between parentheses.
    pub fn passed(&mut self) -> Read<Vec<Passed>> {
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.take(")") {
            if !all.is_empty() {
                self.expect(",")?;
            }
            let ty = self.ty()?;
            let mut by_value = None;
            if self.take("byval") {
                self.expect("(")?;
                by_value = Some(self.ty()?.size().0);
                self.expect(")")?;
            }
            let align = if self.take("align") { u64::try_from(self.number()?).ok()? } else { 1 };
            all.push(Passed { ty, by_value, align, operand: self.operand()? });
        }
        Some(all)
    }

    /// A block, behind `label`.
    pub fn target(&mut self) -> Read<String> {
        self.expect("label")?;
        self.name("%")
    }

    /// A function's head.
    pub fn head(&mut self) -> Read<Head> {
        self.expect("define")?;
        self.take("internal");
        let is_kernel = self.take("ptx_kernel");
        let result = self.ty()?;
        let name = self.name("@")?;
        Some(Head { name, is_kernel, result, params: self.passed()? })
    }
}

/// Whether PTX spells a name as LLVM IR does.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}
