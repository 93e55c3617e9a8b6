//! Instructions of LLVM IR as text, for values of one lane or of several.

use std::fmt::Write;

/// A stretch of code that grows, for values of so many lanes.
pub struct Writer<'a> {
    /// The code.
    pub out: &'a mut String,
    /// Names are numbers; the last one given.
    pub names: &'a mut u32,
    /// 1, or as many as a vector has.
    pub lanes: usize,
    /// Results in floating point may be any NaN where they are one.
    pub any_nan: bool,
}

impl<'a> Writer<'a> {
    /// Writes there.
    pub fn new(out: &'a mut String, names: &'a mut u32, lanes: usize) -> Writer<'a> {
        Writer { out, names, lanes, any_nan: false }
    }

    /// A new name, given to what the text does.
    pub fn set(&mut self, text: std::fmt::Arguments<'_>) -> String {
        *self.names += 1;
        let name = format!("%v{}", self.names);
        let _ = writeln!(self.out, "  {name} = {text}");
        name
    }

    /// The type of a value with this type in each lane.
    pub fn ty(&self, lane: &str) -> String {
        vector(self.lanes, lane)
    }

    /// A number in all lanes.
    pub fn number(&self, lane: &str, value: i128) -> String {
        if self.lanes == 1 { value.to_string() } else { format!("splat ({lane} {value})") }
    }

    /// An instruction of two operands of one type.
    pub fn two(&mut self, instruction: &str, lane: &str, a: &str, b: &str) -> String {
        let ty = self.ty(lane);
        self.set(format_args!("{instruction} {ty} {a}, {b}"))
    }

    /// The same with a number as the second one.
    pub fn with(&mut self, instruction: &str, lane: &str, a: &str, b: i128) -> String {
        let b = self.number(lane, b);
        self.two(instruction, lane, a, &b)
    }

    /// A conversion.
    pub fn cast(&mut self, instruction: &str, from: &str, value: &str, to: &str) -> String {
        let (from, to) = (self.ty(from), self.ty(to));
        self.set(format_args!("{instruction} {from} {value} to {to}"))
    }

    /// One of two values.
    pub fn select(&mut self, choice: &str, lane: &str, a: &str, b: &str) -> String {
        let (choices, ty) = (self.ty("i1"), self.ty(lane));
        self.set(format_args!("select {choices} {choice}, {ty} {a}, {ty} {b}"))
    }

    /// A call of one of LLVM's functions, whose operands have the type of its result.
    pub fn call(&mut self, function: &str, lane: &str, args: &[&str]) -> String {
        let ty = self.ty(lane);
        let args: Vec<String> = args.iter().map(|arg| format!("{ty} {arg}")).collect();
        let suffix =
            if self.lanes == 1 { short(lane) } else { format!("v{}{}", self.lanes, short(lane)) };
        self.set(format_args!("call {ty} @llvm.{function}.{suffix}({})", args.join(", ")))
    }

    /// A conversion by one of LLVM's functions.
    pub fn convert(&mut self, function: &str, from: &str, value: &str, to: &str) -> String {
        let name = |lane| {
            if self.lanes == 1 { short(lane) } else { format!("v{}{}", self.lanes, short(lane)) }
        };
        let (suffix, result, operand) =
            (format!("{}.{}", name(to), name(from)), self.ty(to), self.ty(from));
        self.set(format_args!("call {result} @llvm.{function}.{suffix}({operand} {value})"))
    }

    /// A value of one lane in all lanes.
    pub fn broadcast(&mut self, lane: &str, value: &str) -> String {
        let ty = self.ty(lane);
        if lane == "i1" {
            return self.set(format_args!(
                "select i1 {value}, {ty} splat (i1 true), {ty} zeroinitializer"
            ));
        }
        let first = self.set(format_args!("insertelement {ty} poison, {lane} {value}, i32 0"));
        let zeros = format!("<{} x i32> zeroinitializer", self.lanes);
        self.set(format_args!("shufflevector {ty} {first}, {ty} poison, {zeros}"))
    }
}

/// LLVM's type of so many lanes.
pub fn vector(lanes: usize, lane: &str) -> String {
    if lanes == 1 { lane.to_string() } else { format!("<{lanes} x {lane}>") }
}

fn short(lane: &str) -> String {
    match lane {
        "float" => "f32".to_string(),
        "double" => "f64".to_string(),
        other => other.to_string(),
    }
}
