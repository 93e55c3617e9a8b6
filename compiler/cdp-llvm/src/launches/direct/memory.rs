//! Instructions that have to do with memory: places, loads, stores, copies, atomic operations, fences.

use super::body::Body;
use super::ir::{Line, Passed, Read, Ty};
use super::value::{GENERIC, Value};

/// How a load or a store is ordered.
struct Order {
    is_volatile: bool,
    is_atomic: bool,
}

impl Order {
    /// What comes behind the instruction's name.
    fn read(line: &mut Line<'_>) -> Order {
        let is_atomic = line.take("atomic");
        Order { is_atomic, is_volatile: line.take("volatile") }
    }

    /// As PTX has it; the rest of the line says of which scope an atomic one is.
    fn suffix(&self, line: &mut Line<'_>) -> Read<String> {
        if self.is_atomic {
            let scope = scope(line)?;
            line.expect("monotonic")?;
            return Some(format!(".relaxed.{scope}"));
        }
        Some(if self.is_volatile { ".volatile" } else { "" }.to_string())
    }
}

fn scope(line: &mut Line<'_>) -> Read<&'static str> {
    line.expect("syncscope")?;
    line.expect("(")?;
    let scope = match line.quoted()? {
        "block" => "cta",
        "device" => "gpu",
        _ => return None,
    };
    line.expect(")")?;
    Some(scope)
}

impl Body<'_> {
    /// What such an instruction yields; nothing for another one.
    pub fn memory(&mut self, word: &str, line: &mut Line<'_>) -> Read<Option<Value>> {
        Some(Some(match word {
            "load" => self.load(line)?,
            "store" => self.store(line)?,
            "getelementptr" => self.behind(line)?,
            "atomicrmw" => self.atomic(line)?,
            "alloca" => {
                let (bytes, _) = line.ty()?.size();
                self.code.rooms.push(bytes);
                Value::Room(self.code.rooms.len() - 1, 0)
            }
            "fence" => {
                let scope = scope(line)?;
                line.expect("acq_rel")?;
                self.code.line(&format!("fence.acq_rel.{scope}"));
                Value::Nothing
            }
            _ => return Some(None),
        }))
    }

    fn load(&mut self, line: &mut Line<'_>) -> Read<Value> {
        let order = Order::read(line);
        let ty = line.ty()?;
        line.expect(",")?;
        let (Ty::Ptr(space), pointer) = line.typed()? else { return None };
        let pointer = self.value(&pointer)?;
        let order = order.suffix(line)?;
        self.loaded(&ty, &pointer, space, &order)
    }

    /// The value of a type at a place.
    pub fn loaded(&mut self, ty: &Ty, pointer: &Value, space: u32, order: &str) -> Read<Value> {
        let (space, address) = self.code.place(pointer, space)?;
        let bits = ty.bits().max(8);
        let name = format!("ld{order}{space}.{}{bits}", if bits == 8 { "u" } else { "b" });
        if *ty != Ty::Int(1) {
            return Some(self.code.set(ty, &name, &[&address]));
        }
        let byte = Ty::Int(8);
        let loaded = self.code.set(&byte, &name, &[&address]);
        self.cast("trunc", loaded, &byte, ty)
    }

    fn store(&mut self, line: &mut Line<'_>) -> Read<Value> {
        let order = Order::read(line);
        let (ty, value) = line.typed()?;
        line.expect(",")?;
        let (Ty::Ptr(space), pointer) = line.typed()? else { return None };
        let (value, pointer) = (self.value(&value)?, self.value(&pointer)?);
        let order = order.suffix(line)?;
        self.stored(&ty, &value, &pointer, space, &order)
    }

    /// Puts a value of a type to a place.
    pub fn stored(
        &mut self,
        ty: &Ty,
        value: &Value,
        pointer: &Value,
        space: u32,
        order: &str,
    ) -> Read<Value> {
        if *ty == Ty::Int(1) {
            let byte = Ty::Int(8);
            let wide = self.cast("zext", value.clone(), ty, &byte)?;
            return self.stored(&byte, &wide, pointer, space, order);
        }
        let value = self.code.operand(value, ty)?;
        let (space, address) = self.code.place(pointer, space)?;
        let bits = ty.bits();
        self.code.line(&format!("st{order}{space}.b{bits} \t{address}, {value}"));
        Some(Value::Nothing)
    }

    fn behind(&mut self, line: &mut Line<'_>) -> Read<Value> {
        let (size, _) = line.ty()?.size();
        line.expect(",")?;
        let (_, pointer) = line.typed()?;
        line.expect(",")?;
        let (ty, index) = line.typed()?;
        let (pointer, index) = (self.value(&pointer)?, self.value(&index)?);
        let size = Value::Number(i64::try_from(size).ok()?);
        let bytes = self.combine("mul", &ty, &index, &size)?;
        if let Value::Number(number) = bytes {
            return pointer.behind(number);
        }
        self.further(&pointer, &bytes)
    }

    /// The address so many bytes behind another, in the same address space.
    fn further(&mut self, pointer: &Value, bytes: &Value) -> Read<Value> {
        match pointer {
            Value::In(space, inner) => {
                Some(Value::In(*space, Box::new(self.further(inner, bytes)?)))
            }
            // What is added at last stands in the instruction.
            Value::Behind(name, at) => {
                let base = Value::Register(name.clone());
                self.combine("add", &Ty::Int(64), &base, bytes)?.behind(*at)
            }
            base => self.combine("add", &Ty::Int(64), base, bytes),
        }
    }

    fn atomic(&mut self, line: &mut Line<'_>) -> Read<Value> {
        let operation = line.word()?;
        let (Ty::Ptr(space), pointer) = line.typed()? else { return None };
        line.expect(",")?;
        let (ty, value) = line.typed()?;
        let scope = scope(line)?;
        line.expect("monotonic")?;
        let bits = ty.bits();
        let word = match operation {
            "add" => format!("add.u{bits}"),
            "xchg" => format!("exch.b{bits}"),
            _ => return None,
        };
        let value = self.operand(&value, &ty)?;
        let pointer = self.value(&pointer)?;
        let (space, address) = self.code.place(&pointer, space)?;
        let name = format!("atom.relaxed.{scope}{space}.{word}");
        Some(self.code.set(&ty, &name, &[&address, &value]))
    }

    /// Copies a number of bytes, as wide at a time as the alignment allows.
    pub fn copy(&mut self, to: &Value, from: &Value, bytes: u64, align: u64) -> Read<()> {
        for (at, bits) in super::super::argument::words(bytes, align) {
            let (ty, at) = (Ty::Int(u32::try_from(bits).ok()?), i64::try_from(at).ok()?);
            let word = self.loaded(&ty, &from.behind(at)?, GENERIC, "")?;
            self.stored(&ty, &word, &to.behind(at)?, GENERIC, "")?;
        }
        Some(())
    }

    /// The copies of LLVM, and what it fills with zeros.
    pub fn moves_memory(&mut self, name: &str, passed: &[Passed]) -> Read<()> {
        let [to, second, bytes, _] = passed else { return None };
        let to_value = self.value(&to.operand)?;
        let Value::Number(bytes) = self.value(&bytes.operand)? else { return None };
        let bytes = u64::try_from(bytes).ok()?;
        let from = self.value(&second.operand)?;
        if name.starts_with("llvm.memcpy") {
            return self.copy(&to_value, &from, bytes, to.align.min(second.align));
        }
        if from != Value::Number(0) {
            return None;
        }
        for at in 0..i64::try_from(bytes).ok()? {
            self.stored(&Ty::Int(8), &from, &to_value.behind(at)?, GENERIC, "")?;
        }
        Some(())
    }
}
