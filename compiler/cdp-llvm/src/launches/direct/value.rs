//! What is known of a value while PTX is written, and the registers that hold the rest.
//!
//! What is absent: what computes values ([`super::body`]).

use std::fmt::Write as _;

use super::ir::Ty;

/// Address spaces by LLVM's numbers.
pub(super) const GENERIC: u32 = 0;
pub(super) const GLOBAL: u32 = 1;
pub(super) const SHARED: u32 = 3;
pub(super) const PARAM: u32 = 101;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A register by its name.
    Register(String),
    /// The address so many bytes behind one in a register.
    Behind(String, i64),
    Number(i64),
    /// So many bytes behind a variable's or a function's beginning.
    Symbol(String, i64),
    /// Generic, so many bytes into one of the function's variables in local memory.
    Room(usize, i64),
    /// The generic address of a place in an address space.
    In(u32, Box<Value>),
    /// The fields of a struct.
    Fields(Vec<Value>),
    Nothing,
}

impl Value {
    /// The address so many bytes behind this one; `None` where that is to be computed.
    pub fn behind(&self, bytes: i64) -> Option<Value> {
        Some(match self {
            Value::Register(name) => Value::Behind(name.clone(), bytes),
            Value::Behind(name, at) => Value::Behind(name.clone(), at + bytes),
            Value::Symbol(name, at) => Value::Symbol(name.clone(), at + bytes),
            Value::Room(room, at) => Value::Room(*room, at + bytes),
            Value::In(space, inner) => Value::In(*space, Box::new(inner.behind(bytes)?)),
            Value::Number(_) | Value::Fields(_) | Value::Nothing => return None,
        })
    }
}

/// What a register can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Predicate,
    Short,
    Word,
    Wide,
}

impl Class {
    const ALL: [Class; 4] = [Class::Predicate, Class::Short, Class::Word, Class::Wide];

    fn of(ty: &Ty) -> Class {
        match ty.bits() {
            1 => Class::Predicate,
            2..=16 => Class::Short,
            17..=32 => Class::Word,
            _ => Class::Wide,
        }
    }

    /// Its type, and what the names of such registers begin with.
    fn spelt(self) -> (&'static str, &'static str) {
        match self {
            Class::Predicate => (".pred", "%p"),
            Class::Short => (".b16", "%rs"),
            Class::Word => (".b32", "%r"),
            Class::Wide => (".b64", "%rd"),
        }
    }
}

/// The instruction that fills a register with what another one has.
pub(super) fn mov(ty: &Ty) -> String {
    format!("mov{}", Class::of(ty).spelt().0)
}

/// Instructions in the making, and the registers that they name.
#[derive(Default)]
pub(super) struct Code {
    pub text: String,
    registers: [u32; 4],
    /// Bytes of the function's variables in local memory.
    pub rooms: Vec<u64>,
    labels: u32,
}

impl Code {
    pub fn line(&mut self, line: &str) {
        self.text.push('\t');
        self.text += line;
        self.text += ";\n";
    }

    pub fn label(&mut self, name: &str) {
        let goes = format!("\tbra \t{name};\n");
        if self.text.ends_with(&goes) {
            self.text.truncate(self.text.len() - goes.len());
        }
        self.text += name;
        self.text += ":\n";
    }

    /// A label of its own.
    pub fn new_label(&mut self) -> String {
        self.labels += 1;
        format!("$L_edge_{}", self.labels)
    }

    /// A register that nobody has.
    pub fn register(&mut self, ty: &Ty) -> String {
        let class = Class::of(ty);
        let count = &mut self.registers[class as usize];
        *count += 1;
        format!("{}{count}", class.spelt().1)
    }

    /// A register with what an operation of a type makes of operands.
    pub fn set(&mut self, ty: &Ty, operation: &str, operands: &[&str]) -> Value {
        let to = self.register(ty);
        self.text.push('\t');
        self.text += operation;
        self.text += " \t";
        self.text += &to;
        for operand in operands {
            self.text += ", ";
            self.text += operand;
        }
        self.text += ";\n";
        Value::Register(to)
    }

    /// The value as an operand.
    pub fn operand(&mut self, value: &Value, ty: &Ty) -> Option<String> {
        let wide = Ty::Int(64);
        let made = match value {
            Value::Register(name) => return Some(name.clone()),
            Value::Number(number) if ty.bits() == 1 => {
                self.set(ty, "mov.pred", &[&(number & 1).to_string()])
            }
            Value::Number(number) if ty.bits() == 64 => return Some(number.to_string()),
            Value::Number(number) => return Some((*number as i32).to_string()),
            Value::Nothing if ty.bits() == 1 => self.set(ty, "mov.pred", &["0"]),
            Value::Nothing => return Some("0".into()),
            Value::Behind(name, 0) => return Some(name.clone()),
            Value::Behind(name, at) => self.set(&wide, "add.s64", &[name, &at.to_string()]),
            Value::Symbol(name, at) => {
                let made = self.set(&wide, "mov.b64", &[name]);
                match at {
                    0 => made,
                    at => return self.operand(&made.behind(*at)?, ty),
                }
            }
            Value::Room(room, at) => {
                let local = self.set(&wide, "mov.b64", &[&room_name(*room)]);
                let local = self.operand(&local, &wide)?;
                let made = self.set(&wide, "cvta.local.u64", &[&local]);
                return self.operand(&made.behind(*at)?, ty);
            }
            Value::In(space, inner) => {
                let inner = self.operand(inner, &wide)?;
                self.set(&wide, &format!("cvta.{}.u64", name_of(*space)?), &[&inner])
            }
            Value::Fields(_) => return None,
        };
        self.operand(&made, ty)
    }

    /// A place in memory: the suffix for its address space, and the address. `space` is that of the pointer's type.
    pub fn place(&mut self, pointer: &Value, space: u32) -> Option<(String, String)> {
        let (space, pointer) = match (space, pointer) {
            (GENERIC, Value::In(space, inner)) => (*space, &**inner),
            (GENERIC, Value::Room(room, at)) => {
                return Some((".local".into(), behind(&room_name(*room), *at)));
            }
            (space, pointer) => (space, pointer),
        };
        let address = match pointer {
            Value::Behind(name, at) | Value::Symbol(name, at) => behind(name, *at),
            other => format!("[{}]", self.operand(other, &Ty::Int(64))?),
        };
        let suffix = match space {
            GENERIC => String::new(),
            space => format!(".{}", name_of(space)?),
        };
        Some((suffix, address))
    }

    /// A function's or a kernel's body around these instructions.
    pub fn finish(self) -> String {
        let mut out = String::from("{\n");
        for (room, bytes) in self.rooms.iter().enumerate() {
            let _ = writeln!(out, "\t.local .align 16 .b8 \t{}[{bytes}];", room_name(room));
        }
        for class in Class::ALL {
            let (ty, prefix) = class.spelt();
            match self.registers[class as usize] {
                0 => {}
                count => drop(writeln!(out, "\t.reg {ty} \t{prefix}<{}>;", count + 1)),
            }
        }
        out.push('\n');
        out + &self.text + "\n}\n"
    }
}

fn room_name(room: usize) -> String {
    format!("__local_depot{room}")
}

fn behind(name: &str, at: i64) -> String {
    match at {
        0 => format!("[{name}]"),
        at => format!("[{name}+{at}]"),
    }
}

/// An address space as PTX calls it.
fn name_of(space: u32) -> Option<&'static str> {
    Some(match space {
        GLOBAL => "global",
        SHARED => "shared",
        PARAM => "param",
        _ => return None,
    })
}
