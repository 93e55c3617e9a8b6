//! A function of LLVM IR as PTX: blocks, values that meet where blocks do, and what computes values.
//!
//! Little is optimised, since ptxas does: what is constant is computed, and what changes nothing is left out, so that what a
//! launch site says of its configuration costs nothing.
//!
//! What is absent: memory and calls ([`super::memory`], [`super::calls`]).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Entries;
use super::ir::{Line, Operand, Read, Ty};
use super::value::{Code, GENERIC, GLOBAL, SHARED, Value, mov};

/// A value that depends on the block from which control comes.
struct Phi {
    name: String,
    ty: Ty,
    register: Option<String>,
    from: HashMap<String, Operand>,
}

/// A function on its way into PTX.
pub(super) struct Body<'a> {
    pub code: Code,
    pub entries: &'a Entries,
    /// Declarations of the functions that it calls, by their names.
    pub called: &'a mut BTreeMap<String, String>,
    values: HashMap<String, Value>,
    phis: HashMap<String, Vec<Phi>>,
    /// Blocks to which control goes.
    reached: HashSet<String>,
    /// The block that is being written.
    block: String,
}

/// A block's name and its lines.
type Block<'t> = (&'t str, Vec<Cow<'t, str>>);

impl<'a> Body<'a> {
    pub fn new(entries: &'a Entries, called: &'a mut BTreeMap<String, String>) -> Body<'a> {
        Body {
            code: Code::default(),
            entries,
            called,
            values: HashMap::new(),
            phis: HashMap::new(),
            reached: HashSet::from(["entry".to_string()]),
            block: String::new(),
        }
    }

    /// Names a value.
    pub fn know(&mut self, name: String, value: Value) {
        self.values.insert(name, value);
    }

    pub fn value(&self, operand: &Operand) -> Read<Value> {
        Some(match operand {
            Operand::Named(name) => self.values.get(name)?.clone(),
            Operand::Number(number) => Value::Number(*number),
            Operand::Symbol(name, at) => Value::Symbol(name.clone(), *at),
            Operand::Nothing => Value::Nothing,
        })
    }

    /// An operand as PTX has it.
    pub fn operand(&mut self, operand: &Operand, ty: &Ty) -> Read<String> {
        let value = self.value(operand)?;
        self.code.operand(&value, ty)
    }

    /// All blocks that control comes to.
    pub fn write(&mut self, text: &str) -> Read<()> {
        let mut blocks = blocks(text);
        for (name, lines) in &blocks {
            self.meet(name, lines)?;
        }
        while let Some(next) = blocks.iter().position(|(name, _)| self.reached.contains(*name)) {
            let (name, lines) = blocks.remove(next);
            self.block = name.to_string();
            self.code.label(&label(name));
            for line in &lines {
                self.line(line)?;
            }
        }
        Some(())
    }

    /// Registers for what depends on where control comes from.
    fn meet(&mut self, block: &str, lines: &[Cow<'_, str>]) -> Read<()> {
        for line in lines {
            let mut line = Line::new(line);
            let Some(name) = line.name("%") else { break };
            line.expect("=")?;
            if !line.take("phi") {
                break;
            }
            let ty = line.ty()?;
            let mut from = HashMap::new();
            while line.take("[") || (line.take(",") && line.take("[")) {
                let operand = line.operand()?;
                line.expect(",")?;
                from.insert(line.name("%")?, operand);
                line.expect("]")?;
            }
            // Where control comes from one place alone, it is the same value.
            let register = (from.len() > 1).then(|| self.code.register(&ty));
            if let Some(register) = &register {
                self.know(name.clone(), Value::Register(register.clone()));
            }
            self.phis.entry(block.to_string()).or_default().push(Phi { name, ty, register, from });
        }
        Some(())
    }

    fn line(&mut self, text: &str) -> Read<()> {
        let mut line = Line::new(text);
        let name = line.name("%");
        if name.is_some() {
            line.expect("=")?;
        }
        if line.take("br") {
            return self.branch(&mut line);
        }
        if line.take("ret") {
            return self.leave(&mut line);
        }
        if line.take("phi") {
            return Some(());
        }
        let value = if line.take("call") {
            self.call(&mut line)?
        } else {
            let word = line.word()?;
            match self.memory(word, &mut line)? {
                Some(value) => value,
                None => self.computed(word, &mut line)?,
            }
        };
        if let Some(name) = name {
            self.know(name, value);
        }
        Some(())
    }

    fn branch(&mut self, line: &mut Line<'_>) -> Read<()> {
        if line.take("i1") {
            let condition = line.operand()?;
            line.expect(",")?;
            let yes = line.target()?;
            line.expect(",")?;
            let no = line.target()?;
            return match self.value(&condition)? {
                Value::Number(number) => self.go(if number & 1 == 1 { &yes } else { &no }),
                _ if yes == no => self.go(&yes),
                value => {
                    let condition = self.code.operand(&value, &Ty::Int(1))?;
                    if !self.phis.contains_key(&yes) {
                        self.code.line(&format!("@{condition} bra \t{}", label(&yes)));
                        self.reached.insert(yes);
                        return self.go(&no);
                    }
                    let other = self.code.new_label();
                    self.code.line(&format!("@!{condition} bra \t{other}"));
                    self.go(&yes)?;
                    self.code.label(&other);
                    self.go(&no)
                }
            };
        }
        let to = line.target()?;
        self.go(&to)
    }

    /// Goes to a block, with what it is to know.
    fn go(&mut self, to: &str) -> Read<()> {
        let mut moves = Vec::new();
        for index in 0..self.phis.get(to).map_or(0, Vec::len) {
            let phi = &self.phis.get(to)?[index];
            let (ty, operand) = (phi.ty.clone(), phi.from.get(&self.block)?.clone());
            let Some(register) = phi.register.clone() else {
                let (name, value) = (phi.name.clone(), self.value(&operand)?);
                self.know(name, value);
                continue;
            };
            if operand != Operand::Nothing {
                let value = self.operand(&operand, &ty)?;
                moves.push((ty, register, value));
            }
        }
        moves.retain(|(_, register, value)| register != value);
        let written: HashSet<String> =
            moves.iter().map(|(_, register, _)| register.clone()).collect();
        // What is written here is read first.
        for (ty, _, value) in &mut moves {
            if written.contains(value) {
                let Value::Register(copy) = self.code.set(ty, &mov(ty), &[value]) else {
                    return None;
                };
                *value = copy;
            }
        }
        for (ty, register, value) in &moves {
            self.code.line(&format!("{} \t{register}, {value}", mov(ty)));
        }
        self.code.line(&format!("bra \t{}", label(to)));
        self.reached.insert(to.to_string());
        Some(())
    }

    fn computed(&mut self, word: &str, line: &mut Line<'_>) -> Read<Value> {
        match word {
            "zext" | "sext" | "trunc" | "bitcast" | "ptrtoint" | "inttoptr" | "addrspacecast" => {
                let (from, operand) = line.typed()?;
                line.expect("to")?;
                let to = line.ty()?;
                let value = self.value(&operand)?;
                self.cast(word, value, &from, &to)
            }
            "icmp" => {
                let condition = line.word()?;
                let (ty, left) = line.typed()?;
                line.expect(",")?;
                let right = line.operand()?;
                let (left, right) = (self.value(&left)?, self.value(&right)?);
                self.compare(condition, &ty, &left, &right)
            }
            "select" => {
                let (_, condition) = line.typed()?;
                line.expect(",")?;
                let (ty, yes) = line.typed()?;
                line.expect(",")?;
                let (_, no) = line.typed()?;
                let condition = self.value(&condition)?;
                let (yes, no) = (self.value(&yes)?, self.value(&no)?);
                self.select(condition, &ty, yes, no)
            }
            "extractvalue" => {
                let (_, all) = line.typed()?;
                line.expect(",")?;
                let index = usize::try_from(line.number()?).ok()?;
                match self.value(&all)? {
                    Value::Fields(fields) => fields.get(index).cloned(),
                    _ => None,
                }
            }
            "insertvalue" => {
                let (ty, all) = line.typed()?;
                line.expect(",")?;
                let (_, one) = line.typed()?;
                line.expect(",")?;
                let index = usize::try_from(line.number()?).ok()?;
                let mut fields = match self.value(&all)? {
                    Value::Fields(fields) => fields,
                    Value::Nothing => vec![Value::Nothing; ty.fields().len()],
                    _ => return None,
                };
                *fields.get_mut(index)? = self.value(&one)?;
                Some(Value::Fields(fields))
            }
            operation => {
                while line.take("nuw") || line.take("nsw") {}
                let (ty, left) = line.typed()?;
                line.expect(",")?;
                let right = line.operand()?;
                let (left, right) = (self.value(&left)?, self.value(&right)?);
                self.combine(operation, &ty, &left, &right)
            }
        }
    }

    /// What an operation makes of two integers.
    pub fn combine(
        &mut self,
        operation: &str,
        ty: &Ty,
        left: &Value,
        right: &Value,
    ) -> Read<Value> {
        let &Ty::Int(bits) = ty else { return None };
        let wrap = |number: i64| wrapped(number, bits);
        if let (Value::Number(a), Value::Number(b)) = (left, right) {
            return Some(Value::Number(wrap(folded(operation, *a, *b, bits)?)));
        }
        let swapped =
            matches!((left, operation), (Value::Number(_), "add" | "mul" | "and" | "or" | "xor"));
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        if let Value::Number(number) = right {
            match (operation, wrap(*number)) {
                ("add" | "sub" | "or" | "xor" | "shl" | "lshr", 0)
                | ("mul" | "udiv", 1)
                | ("and", -1) => {
                    return Some(left.clone());
                }
                ("mul" | "and", 0) | ("urem", 1) => return Some(Value::Number(0)),
                ("or", -1) => return Some(Value::Number(-1)),
                _ => {}
            }
        }
        let a = self.code.operand(left, ty)?;
        if bits == 1 {
            let word = match (operation, right) {
                ("xor", Value::Number(_)) => return Some(self.code.set(ty, "not.pred", &[&a])),
                ("and" | "or" | "xor", _) => operation,
                _ => return None,
            };
            let b = self.code.operand(right, ty)?;
            return Some(self.code.set(ty, &format!("{word}.pred"), &[&a, &b]));
        }
        if bits < 32 {
            return None;
        }
        let shifts = matches!(operation, "shl" | "lshr");
        let mut b = self.code.operand(right, ty)?;
        if shifts && bits == 64 && !matches!(right, Value::Number(_)) {
            b = self.narrow(&b)?;
        }
        let word = match operation {
            "add" | "sub" => format!("{operation}.s{bits}"),
            "mul" => format!("mul.lo.s{bits}"),
            "udiv" => format!("div.u{bits}"),
            "urem" => format!("rem.u{bits}"),
            "and" | "or" | "xor" | "shl" => format!("{operation}.b{bits}"),
            "lshr" => format!("shr.u{bits}"),
            // As intrinsics have them.
            "umin" => format!("min.u{bits}"),
            "umax" => format!("max.u{bits}"),
            "smin" => format!("min.s{bits}"),
            "smax" => format!("max.s{bits}"),
            _ => return None,
        };
        Some(self.code.set(ty, &word, &[&a, &b]))
    }

    /// The lower half of a register.
    fn narrow(&mut self, wide: &str) -> Read<String> {
        let narrow = self.code.set(&Ty::Int(32), "cvt.u32.u64", &[wide]);
        self.code.operand(&narrow, &Ty::Int(32))
    }

    fn compare(&mut self, condition: &str, ty: &Ty, left: &Value, right: &Value) -> Read<Value> {
        let bits = ty.bits();
        if let (Value::Number(a), Value::Number(b)) = (left, right) {
            let holds = compared(condition, wrapped(*a, bits), wrapped(*b, bits), bits)?;
            return Some(Value::Number(holds.into()));
        }
        if bits < 32 {
            return None;
        }
        let (word, kind) = match condition {
            "eq" | "ne" => (condition, "b"),
            _ => {
                let (sign, word) = condition.split_at(1);
                (word, if sign == "u" { "u" } else { "s" })
            }
        };
        let (a, b) = (self.code.operand(left, ty)?, self.code.operand(right, ty)?);
        Some(self.code.set(&Ty::Int(1), &format!("setp.{word}.{kind}{bits}"), &[&a, &b]))
    }

    fn select(&mut self, condition: Value, ty: &Ty, yes: Value, no: Value) -> Read<Value> {
        if let Value::Number(number) = condition {
            return Some(if number & 1 == 1 { yes } else { no });
        }
        if yes == no {
            return Some(yes);
        }
        let bit = Ty::Int(1);
        if *ty != bit {
            let word = format!("selp.b{}", ty.bits().max(16));
            let (a, b) = (self.code.operand(&yes, ty)?, self.code.operand(&no, ty)?);
            let c = self.code.operand(&condition, &bit)?;
            return Some(self.code.set(ty, &word, &[&a, &b, &c]));
        }
        let number = |value: &Value| match value {
            Value::Number(number) => Some(number & 1),
            _ => None,
        };
        match (number(&yes), number(&no)) {
            (_, Some(0)) => self.combine("and", ty, &condition, &yes),
            (Some(1), _) => self.combine("or", ty, &condition, &no),
            (yes_is, no_is) => {
                let other = self.combine("xor", ty, &condition, &Value::Number(1))?;
                match (yes_is, no_is) {
                    (Some(_), _) => self.combine("and", ty, &other, &no),
                    (_, Some(_)) => self.combine("or", ty, &other, &yes),
                    _ => {
                        let yes = self.combine("and", ty, &condition, &yes)?;
                        let no = self.combine("and", ty, &other, &no)?;
                        self.combine("or", ty, &yes, &no)
                    }
                }
            }
        }
    }

    pub fn cast(&mut self, word: &str, value: Value, from: &Ty, to: &Ty) -> Read<Value> {
        let (old, new) = (from.bits(), to.bits());
        match (word, from, to) {
            ("addrspacecast", Ty::Ptr(GENERIC), Ty::Ptr(space @ (GLOBAL | SHARED))) => {
                match value {
                    Value::In(known, inner) if known == *space => Some(*inner),
                    Value::Number(0) => Some(value),
                    value => {
                        let a = self.code.operand(&value, from)?;
                        let name = if *space == GLOBAL { "global" } else { "shared" };
                        Some(self.code.set(to, &format!("cvta.to.{name}.u64"), &[&a]))
                    }
                }
            }
            ("addrspacecast", Ty::Ptr(space), Ty::Ptr(GENERIC)) => match value {
                Value::Number(0) => Some(value),
                value => Some(Value::In(*space, Box::new(value))),
            },
            ("bitcast" | "ptrtoint" | "inttoptr", ..) if old == new => Some(value),
            ("zext" | "sext" | "trunc", Ty::Int(_), Ty::Int(_)) => {
                if let Value::Number(number) = value {
                    let number = wrapped(number, old);
                    let number = match word {
                        "zext" if old < 64 => number & ((1 << old) - 1),
                        _ => number,
                    };
                    return Some(Value::Number(wrapped(number, new)));
                }
                let a = self.code.operand(&value, from)?;
                if word == "trunc" && new == 1 {
                    let low = self.code.set(from, &format!("and.b{}", old.max(16)), &[&a, "1"]);
                    let low = self.code.operand(&low, from)?;
                    let compare = format!("setp.ne.b{}", old.max(16));
                    return Some(self.code.set(to, &compare, &[&low, "0"]));
                }
                if old == 1 {
                    let one = if word == "sext" { "-1" } else { "1" };
                    return Some(self.code.set(
                        to,
                        &format!("selp.b{}", new.max(16)),
                        &[one, "0", &a],
                    ));
                }
                let kind = if word == "sext" { "s" } else { "u" };
                let convert = match word {
                    "trunc" => format!("cvt.u{}.u{old}", new.max(16)),
                    _ => format!("cvt.{kind}{}.{kind}{old}", new.max(16)),
                };
                Some(self.code.set(to, &convert, &[&a]))
            }
            _ => None,
        }
    }
}

/// The blocks of a function's text, behind its head.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open = 0_usize;
    for line in text.lines() {
        let opens = |at: &usize| line[..*at].bytes().next_back().is_none_or(|byte| byte == b' ');
        let comment = line.match_indices(';').map(|(at, _)| at).find(opens);
        let line = comment.map_or(line, |comment| &line[..comment]).trim_end();
        if line.is_empty() {
            continue;
        }
        match (line.strip_suffix(':'), blocks.last_mut()) {
            (Some(name), _) if !line.starts_with(' ') => blocks.push((name, Vec::new())),
            (_, Some((_, lines))) => {
                match (open, lines.last_mut()) {
                    (1.., Some(last)) => {
                        let last = last.to_mut();
                        last.push(' ');
                        last.push_str(line.trim_start());
                    }
                    _ => lines.push(line.trim_start().into()),
                }
                let count = |sign: u8| line.bytes().filter(|byte| *byte == sign).count();
                open = (open + count(b'(')).saturating_sub(count(b')'));
            }
            (_, None) => {}
        }
    }
    blocks
}

fn label(block: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '$' };
    format!("$L_{}", block.chars().map(plain).collect::<String>())
}

/// A number of so many bits, as a signed one.
fn wrapped(number: i64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (number << unused) >> unused
}

/// The same without a sign.
fn unsigned(number: i64, bits: u32) -> u64 {
    let unused = 64 - bits.clamp(1, 64);
    ((number as u64) << unused) >> unused
}

fn folded(operation: &str, a: i64, b: i64, bits: u32) -> Read<i64> {
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
    let (sa, sb) = (wrapped(a, bits), wrapped(b, bits));
    Some(match operation {
        "add" => a.wrapping_add(b),
        "sub" => a.wrapping_sub(b),
        "mul" => a.wrapping_mul(b),
        "udiv" => ua.checked_div(ub)? as i64,
        "urem" => ua.checked_rem(ub)? as i64,
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "shl" if ub < u64::from(bits) => a << ub,
        "lshr" if ub < u64::from(bits) => (ua >> ub) as i64,
        "umin" => ua.min(ub) as i64,
        "umax" => ua.max(ub) as i64,
        "smin" => sa.min(sb),
        "smax" => sa.max(sb),
        _ => return None,
    })
}

fn compared(condition: &str, a: i64, b: i64, bits: u32) -> Read<bool> {
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
    Some(match condition {
        "eq" => a == b,
        "ne" => a != b,
        "ugt" => ua > ub,
        "uge" => ua >= ub,
        "ult" => ua < ub,
        "ule" => ua <= ub,
        "sgt" => a > b,
        "sge" => a >= b,
        "slt" => a < b,
        "sle" => a <= b,
        _ => return None,
    })
}
