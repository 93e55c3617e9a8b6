//! Calls: what intrinsics of LLVM are in PTX, functions, launches, and what a function gives back.

use std::fmt::Write as _;

use cdp_launch::{ParamSize, buffer_layout};

use super::body::Body;
use super::ir::{Line, Operand, Passed, Read, Ty};
use super::value::{GENERIC, PARAM, Value};
use crate::kernel::LAUNCH;

/// What is passed to a function, or given back by it: its `.param` by name.
pub(super) fn param(ty: &Ty, name: &str) -> String {
    match ty {
        Ty::Array(..) | Ty::Struct(_) | Ty::Float(16) => {
            let (bytes, align) = ty.size();
            format!(".param .align {align} .b8 {name}[{bytes}]")
        }
        ty => format!(".param .b{} {name}", ty.bits().max(32)),
    }
}

/// A function's head in PTX, up to its body.
pub(super) fn head<'t>(name: &str, result: &Ty, params: impl Iterator<Item = &'t Ty>) -> String {
    let params: Vec<String> = params
        .enumerate()
        .map(|(index, ty)| format!("\t{}", param(ty, &format!("{name}_param_{index}"))))
        .collect();
    let result = match result {
        Ty::Void => String::new(),
        ty => format!(" ({})", param(ty, "func_retval0")),
    };
    format!(".func{result} {name}(\n{}\n)\n", params.join(",\n"))
}

impl Body<'_> {
    /// A call, behind that word.
    pub fn call(&mut self, line: &mut Line<'_>) -> Read<Value> {
        let result = line.ty()?;
        if line.take("asm") {
            return self.assembly(&result, line);
        }
        // The type of a function that takes any number of arguments.
        line.take("(...)");
        let name = line.name("@")?;
        let passed = line.passed()?;
        if name == LAUNCH {
            return self.launch(&passed);
        }
        match name.strip_prefix("llvm.") {
            Some(_) if name.starts_with("llvm.mem") => {
                self.moves_memory(&name, &passed)?;
                Some(Value::Nothing)
            }
            Some(intrinsic) => self.intrinsic(intrinsic, &result, &passed),
            None => {
                let passed: Read<Vec<(Ty, Value)>> = passed
                    .iter()
                    .map(|passed| Some((passed.ty.clone(), self.value(&passed.operand)?)))
                    .collect();
                self.calls(&name, &result, &passed?)
            }
        }
    }

    /// Inline assembly that gives one value back.
    fn assembly(&mut self, result: &Ty, line: &mut Line<'_>) -> Read<Value> {
        line.take("sideeffect");
        let mut text = line.quoted()?.to_string();
        line.expect(",")?;
        line.quoted()?;
        let passed = line.passed()?;
        let to = self.code.register(result);
        text = text.replace("$0", &to);
        for (index, passed) in passed.iter().enumerate() {
            let operand = self.operand(&passed.operand, &passed.ty)?;
            text = text.replace(&format!("${}", index + 1), &operand);
        }
        self.code.line(text.trim_end_matches(';'));
        Some(Value::Register(to))
    }

    fn intrinsic(&mut self, name: &str, result: &Ty, passed: &[Passed]) -> Read<Value> {
        if let Some(register) = name.strip_prefix("nvvm.read.ptx.sreg.") {
            let (group, axis) = register.split_once('.').unwrap_or((register, ""));
            let register = match axis {
                "" => format!("%{group}"),
                "x" | "y" | "z" => format!("%{group}.{axis}"),
                other => format!("%{group}_{other}"),
            };
            return Some(self.code.set(result, &format!("mov.u{}", result.bits()), &[&register]));
        }
        if let Some((operation @ ("umin" | "umax" | "smin" | "smax"), _)) = name.split_once('.') {
            let [left, right] = passed else { return None };
            let (left, right) = (self.value(&left.operand)?, self.value(&right.operand)?);
            return self.combine(operation, result, &left, &right);
        }
        let known = if name == "cttz.i32" { 1 } else { passed.len() };
        let operands: Read<Vec<String>> = passed[..known]
            .iter()
            .map(|passed| self.operand(&passed.operand, &passed.ty))
            .collect();
        let operands = operands?;
        Some(match (name, &operands[..]) {
            ("nvvm.activemask", []) => {
                let to = self.code.register(result);
                self.code.line(&format!("activemask.b32 \t{to}"));
                Value::Register(to)
            }
            ("ctpop.i32", [a]) => self.code.set(result, "popc.b32", &[a]),
            ("cttz.i32", [a]) => {
                let turned = self.code.set(result, "brev.b32", &[a]);
                let turned = self.code.operand(&turned, result)?;
                self.code.set(result, "bfind.shiftamt.u32", &[&turned])
            }
            ("nvvm.shfl.sync.idx.i32", [mask, word, lane, clamp]) => {
                self.code.set(result, "shfl.sync.idx.b32", &[word, lane, clamp, mask])
            }
            ("nvvm.shfl.sync.up.i32", [mask, word, lane, clamp]) => {
                self.code.set(result, "shfl.sync.up.b32", &[word, lane, clamp, mask])
            }
            ("nvvm.vote.ballot.sync", [mask, vote]) => {
                self.code.set(result, "vote.sync.ballot.b32", &[vote, mask])
            }
            ("nvvm.bar.warp.sync", [mask]) => {
                self.code.line(&format!("bar.warp.sync \t{mask}"));
                Value::Nothing
            }
            ("nvvm.barrier.cta.sync.aligned.all", [number]) => {
                self.code.line(&format!("bar.sync \t{number}"));
                Value::Nothing
            }
            _ => return None,
        })
    }

    /// A call of a function.
    pub fn calls(&mut self, name: &str, result: &Ty, passed: &[(Ty, Value)]) -> Read<Value> {
        let declaration = || head(name, result, passed.iter().map(|(ty, _)| ty)) + ";\n";
        self.called.entry(name.to_string()).or_insert_with(declaration);
        // What is computed for it stands before.
        let mut stores = String::new();
        let mut places = Vec::new();
        let mut opens = String::from("\t{\n");
        for (index, (ty, value)) in passed.iter().enumerate() {
            let place = format!("param{index}");
            let _ = writeln!(opens, "\t{};", param(ty, &place));
            let values = match value {
                Value::Fields(values) => values.clone(),
                value => vec![value.clone()],
            };
            for ((at, ty), value) in ty.fields().into_iter().zip(values) {
                let (ty, operand) = self.widened(&ty, &value)?;
                let at = if at == 0 { String::new() } else { format!("+{at}") };
                let _ = writeln!(stores, "\tst.param.b{} \t[{place}{at}], {operand};", ty.bits());
            }
            places.push(place);
        }
        let mut given = "";
        if *result != Ty::Void {
            let _ = writeln!(opens, "\t{};", param(result, "retval0"));
            given = "(retval0), ";
        }
        self.code.text += &(opens + &stores);
        self.code.line(&format!("call.uni \t{given}{name}, ({})", places.join(", ")));
        let mut fields = Vec::new();
        for (at, ty) in result.fields().into_iter().filter(|_| *result != Ty::Void) {
            fields.push(self.loaded(
                &ty,
                &Value::Symbol("retval0".into(), at as i64),
                PARAM,
                "",
            )?);
        }
        self.code.text += "\t}\n";
        Some(match (result, fields.pop()) {
            (_, None) => Value::Nothing,
            (Ty::Struct(_) | Ty::Array(..), Some(last)) => {
                fields.push(last);
                Value::Fields(fields)
            }
            (_, Some(one)) => one,
        })
    }

    /// A value as it is stored for a call: narrow integers as words.
    fn widened(&mut self, ty: &Ty, value: &Value) -> Read<(Ty, String)> {
        let word = Ty::Int(32);
        match ty {
            Ty::Int(bits) if *bits < 32 => {
                let wide = self.cast("zext", value.clone(), ty, &word)?;
                Some((word.clone(), self.code.operand(&wide, &word)?))
            }
            ty => Some((ty.clone(), self.code.operand(value, ty)?)),
        }
    }

    /// What the function gives back, behind `ret`.
    pub fn leave(&mut self, line: &mut Line<'_>) -> Read<()> {
        let ty = line.ty()?;
        if ty != Ty::Void {
            let operand: Operand = line.operand()?;
            let value = self.value(&operand)?;
            let (ty, operand) = self.widened(&ty, &value)?;
            self.code.line(&format!("st.param.b{} \t[func_retval0], {operand}", ty.bits()));
        }
        self.code.line("ret");
        Some(())
    }

    /// A launch: a buffer, and if there is one the arguments in it and the launch. Nobody looks at the error.
    fn launch(&mut self, passed: &[Passed]) -> Read<Value> {
        let (fixed, arguments) = passed.split_at_checked(9)?;
        let value = |index: usize| self.value(&fixed[index].operand);
        let (word, address) = (Ty::Int(32), Ty::Ptr(GENERIC));
        let axes = |from: usize| -> Read<Value> {
            Some(Value::Fields((from..from + 3).map(value).collect::<Read<_>>()?))
        };
        let dimensions = Ty::Array(3, Box::new(word.clone()));
        let (kernel, grid, block) = (value(0)?, axes(1)?, axes(4)?);
        let (shared, stream) = (value(7)?, value(8)?);
        let size = |passed: &Passed| {
            let (size_bytes, align_bytes) = match passed.by_value {
                Some(bytes) => (bytes, passed.align),
                None => passed.ty.size(),
            };
            ParamSize { size_bytes, align_bytes }
        };
        let layout = buffer_layout(&arguments.iter().map(size).collect::<Vec<_>>()).ok()?;
        let given = [
            (address.clone(), kernel),
            (dimensions.clone(), grid),
            (dimensions, block),
            (word.clone(), shared),
        ];
        let buffer = self.calls(self.entries.get, &address, &given)?;
        let none = self.code.operand(&buffer, &address)?;
        let none = self.code.set(&Ty::Int(1), "setp.eq.b64", &[&none, "0"]);
        let none = self.code.operand(&none, &Ty::Int(1))?;
        let behind = self.code.new_label();
        self.code.line(&format!("@{none} bra \t{behind}"));
        for (slot, passed) in layout.slots.iter().zip(arguments) {
            let value = self.value(&passed.operand)?;
            let to = buffer.behind(i64::try_from(slot.offset_bytes).ok()?)?;
            match passed.by_value {
                Some(bytes) => self.copy(&to, &value, bytes, slot.align_bytes)?,
                None => drop(self.stored(&passed.ty, &value, &to, GENERIC, "")?),
            }
        }
        self.calls(self.entries.launch, &word, &[(address.clone(), buffer), (address, stream)])?;
        self.code.label(&behind);
        Some(Value::Number(0))
    }
}
