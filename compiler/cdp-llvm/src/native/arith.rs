//! The arithmetic that is written as LLVM IR, by the names of the interpreter's operations
//! (`cdp_emulator`'s `alu`), whose results these are, bit for bit. What is not here the interpreter does.

use super::read::Alu;
use super::write::Writer;

/// Writes an operation on values of the lanes; `args` are its operands. `None` if it is not known: then
/// nothing that was written counts.
pub fn operation(w: &mut Writer<'_>, alu: &Alu, args: &[String]) -> Option<String> {
    let ty = alu.result?.ty();
    let arg = |n: usize| args.get(n).map(String::as_str);
    let result = match args.len() {
        1 => unary(w, &alu.name, ty, alu, arg(0)?),
        2 => binary(w, &alu.name, ty, alu, arg(0)?, arg(1)?),
        _ => ternary(w, &alu.name, ty, alu, arg(0)?, arg(1)?, arg(2)?),
    };
    result.or_else(|| float(w, alu, args))
}

/// Whether operands are numbers in floating point, or may become one, about which LLVM must know nothing at
/// compile time: it computes other NaNs than the processor does.
pub fn is_float(alu: &Alu) -> bool {
    ["F32", "F64", "Selp"].iter().any(|part| alu.name.contains(part))
}

/// Whether an `.f32` result is made a canonical NaN if it is one; with [`Writer::any_nan`] it is not.
pub fn makes_nans(alu: &Alu) -> bool {
    let saturates = |alu: &Alu| alu.flags & 2 != 0;
    match alu.name.as_str() {
        "AddF32" | "SubF32" | "MulF32" | "DivF32" | "FmaF32" => !saturates(alu),
        "SqrtF32" | "SqrtF32Ftz" | "RcpF32" | "RcpF32Ftz" => true,
        _ => false,
    }
}

/// Whether the result is the same for all NaNs that an `.f32` operand may be.
pub fn sees_one_nan(alu: &Alu) -> bool {
    alu.name == "CmpF32"
        || makes_nans(alu)
        || ["AddF32", "SubF32", "MulF32", "DivF32", "FmaF32"].contains(&alu.name.as_str())
}

fn unary(w: &mut Writer<'_>, name: &str, ty: &str, alu: &Alu, a: &str) -> Option<String> {
    Some(match name {
        "Mov32" | "Mov64" => a.to_string(),
        "Mov16" => w.with("and", ty, a, 0xffff),
        "Not32" | "Not64" => w.with("xor", ty, a, -1),
        "Neg32" | "Neg64" => negative(w, ty, a),
        "Abs32" | "Abs64" => {
            let (below, other) = (w.with("icmp slt", ty, a, 0), negative(w, ty, a));
            w.select(&below, ty, &other, a)
        }
        "U32To64" => w.cast("zext", "i32", a, "i64"),
        "S32To64" => w.cast("sext", "i32", a, "i64"),
        "Lo64" => w.cast("trunc", "i64", a, "i32"),
        "Hi64" => {
            let high = w.with("lshr", "i64", a, 32);
            w.cast("trunc", "i64", &high, "i32")
        }
        "Popc32" => w.call("ctpop", "i32", &[a]),
        "Brev32" => w.call("bitreverse", "i32", &[a]),
        "Extract32" => {
            let moved = w.with("lshr", "i32", a, i128::from(alu.imm & 31));
            w.with("and", "i32", &moved, low_bits(alu.imm >> 8))
        }
        _ => return None,
    })
}

fn low_bits(bits: u32) -> i128 {
    if bits >= 32 { 0xffff_ffff } else { (1 << bits) - 1 }
}

fn negative(w: &mut Writer<'_>, ty: &str, a: &str) -> String {
    let zero = w.number(ty, 0);
    w.two("sub", ty, &zero, a)
}

fn binary(w: &mut Writer<'_>, name: &str, ty: &str, alu: &Alu, a: &str, b: &str) -> Option<String> {
    Some(match name {
        "Add32" | "Add64" => w.two("add", ty, a, b),
        "Sub32" | "Sub64" => w.two("sub", ty, a, b),
        "MulLo32" | "MulLo64" => w.two("mul", ty, a, b),
        "And32" | "And64" => w.two("and", ty, a, b),
        "Or32" | "Or64" => w.two("or", ty, a, b),
        "Xor32" | "Xor64" => w.two("xor", ty, a, b),
        "Add16" | "Sub16" | "MulLo16" => {
            let instruction = ["add", "sub", "mul"]
                [["Add16", "Sub16", "MulLo16"].iter().position(|n| *n == name)?];
            let whole = w.two(instruction, ty, a, b);
            w.with("and", ty, &whole, 0xffff)
        }
        "MulWideU32" | "MulWideS32" => wide_product(w, name.ends_with("S32"), a, b),
        "MulHiU32" | "MulHiS32" => {
            let product = wide_product(w, name.ends_with("S32"), a, b);
            let high = w.with("lshr", "i64", &product, 32);
            w.cast("trunc", "i64", &high, "i32")
        }
        "MinU32" | "MinU64" => smaller(w, "ult", ty, a, b),
        "MinS32" | "MinS64" => smaller(w, "slt", ty, a, b),
        "MaxU32" | "MaxU64" => smaller(w, "ugt", ty, a, b),
        "MaxS32" | "MaxS64" => smaller(w, "sgt", ty, a, b),
        "Shl32" => shift(w, "shl", 32, a, b),
        "Shl64" => shift(w, "shl", 64, a, b),
        "ShrU32" => shift(w, "lshr", 32, a, b),
        "ShrU64" => shift(w, "lshr", 64, a, b),
        "ShrS32" => {
            let most = w.number("i32", 31);
            let by = smaller(w, "ult", "i32", b, &most);
            w.two("ashr", "i32", a, &by)
        }
        "ShrS64" => {
            let most = w.number("i32", 63);
            let by = smaller(w, "ult", "i32", b, &most);
            let by = w.cast("zext", "i32", &by, "i64");
            w.two("ashr", "i64", a, &by)
        }
        "Pack64" => {
            let (low, high) = (w.cast("zext", "i32", a, "i64"), w.cast("zext", "i32", b, "i64"));
            let high = w.with("shl", "i64", &high, 32);
            w.two("or", "i64", &low, &high)
        }
        "CmpU32" => compare_integers(w, "i32", false, alu.flags, a, b)?,
        "CmpS32" => compare_integers(w, "i32", true, alu.flags, a, b)?,
        "CmpU64" => compare_integers(w, "i64", false, alu.flags, a, b)?,
        "CmpS64" => compare_integers(w, "i64", true, alu.flags, a, b)?,
        _ => return None,
    })
}

fn ternary(
    w: &mut Writer<'_>,
    name: &str,
    ty: &str,
    alu: &Alu,
    a: &str,
    b: &str,
    c: &str,
) -> Option<String> {
    Some(match name {
        "MadLo32" | "MadLo64" => {
            let product = w.two("mul", ty, a, b);
            w.two("add", ty, &product, c)
        }
        "MadWideU32" | "MadWideS32" => {
            let product = wide_product(w, name.ends_with("S32"), a, b);
            w.two("add", "i64", &product, c)
        }
        "MadHiU32" | "MadHiS32" => {
            let product = wide_product(w, name.ends_with("S32"), a, b);
            let high = w.with("lshr", "i64", &product, 32);
            let high = w.cast("trunc", "i64", &high, "i32");
            w.two("add", "i32", &high, c)
        }
        "ShfLWrap" => w.call("fshl", "i32", &[b, a, c]),
        "ShfRWrap" => w.call("fshr", "i32", &[b, a, c]),
        "Lop3" => truth_table(w, alu.imm, a, b, c),
        "Merge32" | "Merge64" => {
            let (inside, outside) = (w.two("and", ty, a, c), w.with("xor", ty, c, -1));
            let outside = w.two("and", ty, b, &outside);
            w.two("or", ty, &inside, &outside)
        }
        // The predicate is the third operand.
        "Selp32" | "Selp64" if alu.imm == 0 => w.select(c, ty, a, b),
        "Selp32" | "Selp64" if alu.imm == u32::MAX => w.select(c, ty, b, a),
        _ => return None,
    })
}

fn wide_product(w: &mut Writer<'_>, signed: bool, a: &str, b: &str) -> String {
    let extend = if signed { "sext" } else { "zext" };
    let (a, b) = (w.cast(extend, "i32", a, "i64"), w.cast(extend, "i32", b, "i64"));
    w.two("mul", "i64", &a, &b)
}

/// The operand for which the relation to the other one holds.
fn smaller(w: &mut Writer<'_>, relation: &str, ty: &str, a: &str, b: &str) -> String {
    let first = w.two(&format!("icmp {relation}"), ty, a, b);
    w.select(&first, ty, a, b)
}

/// A shift by a 32-bit number, with 0 for what is shifted out.
fn shift(w: &mut Writer<'_>, instruction: &str, bits: i128, a: &str, by: &str) -> String {
    let ty = if bits == 64 { "i64" } else { "i32" };
    let within = w.with("icmp ult", "i32", by, bits);
    let by = if bits == 64 { w.cast("zext", "i32", by, "i64") } else { by.to_string() };
    let (moved, zero) = (w.two(instruction, ty, a, &by), w.number(ty, 0));
    w.select(&within, ty, &moved, &zero)
}

fn truth_table(w: &mut Writer<'_>, table: u32, a: &str, b: &str, c: &str) -> String {
    let not = [a, b, c].map(|value| w.with("xor", "i32", value, -1));
    let mut sum = w.number("i32", 0);
    for row in (0..8).filter(|row| table >> row & 1 != 0) {
        let pick = |n: usize, value: &str| match row >> (2 - n) & 1 {
            0 => not[n].clone(),
            _ => value.to_string(),
        };
        let (x, y, z) = (pick(0, a), pick(1, b), pick(2, c));
        let both = w.two("and", "i32", &x, &y);
        let all = w.two("and", "i32", &both, &z);
        sum = w.two("or", "i32", &sum, &all);
    }
    sum
}

fn compare_integers(
    w: &mut Writer<'_>,
    ty: &str,
    signed: bool,
    relation: u32,
    a: &str,
    b: &str,
) -> Option<String> {
    let word = match (relation, signed) {
        (0, _) => "eq",
        (1, _) => "ne",
        (2, true) => "slt",
        (3, true) => "sle",
        (4, true) => "sgt",
        (5, true) => "sge",
        (2, false) => "ult",
        (3, false) => "ule",
        (4, false) => "ugt",
        (5, false) => "uge",
        _ => return None,
    };
    Some(w.two(&format!("icmp {word}"), ty, a, b))
}

/// LLVM's words for the relations between floating-point numbers, in the interpreter's order.
const RELATIONS: [&str; 14] = [
    "oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord",
    "uno",
];

/// Operations in floating point, and between it and integers.
fn float(w: &mut Writer<'_>, alu: &Alu, args: &[String]) -> Option<String> {
    let (name, flags, imm) = (alu.name.as_str(), alu.flags, alu.imm);
    let (flush, saturate) = (flags & 1 != 0, flags & 2 != 0);
    let a = args.first()?.as_str();
    let b = args.get(1).map_or("", String::as_str);
    let c = args.get(2).map_or("", String::as_str);
    Some(match name {
        "AddF32" | "SubF32" | "MulF32" | "DivF32" => {
            let (a, b) = (f32_of(w, flush, a), f32_of(w, flush, b));
            let result = w.two(instruction_of(name), "float", &a, &b);
            finish(w, flush, saturate, &result)
        }
        "FmaF32" => {
            let (a, b, c) = (f32_of(w, flush, a), f32_of(w, flush, b), f32_of(w, flush, c));
            let result = w.call("fma", "float", &[&a, &b, &c]);
            finish(w, flush, saturate, &result)
        }
        "SqrtF32" | "SqrtF32Ftz" | "RcpF32" | "RcpF32Ftz" => {
            let flush = name.ends_with("Ftz");
            let a = f32_of(w, flush, a);
            let result = match name.starts_with("Sqrt") {
                true => w.call("sqrt", "float", &[&a]),
                false => {
                    let one = if w.lanes == 1 {
                        "1.0".to_string()
                    } else {
                        "splat (float 1.0)".to_string()
                    };
                    w.two("fdiv", "float", &one, &a)
                }
            };
            finish(w, flush, false, &result)
        }
        "AddF64" | "SubF64" | "MulF64" => {
            let (x, y) =
                (w.cast("bitcast", "i64", a, "double"), w.cast("bitcast", "i64", b, "double"));
            let result = w.two(instruction_of(name), "double", &x, &y);
            let result = w.cast("bitcast", "double", &result, "i64");
            last_nan(w, b, &result)
        }
        "DivF64" => {
            let (x, y) =
                (w.cast("bitcast", "i64", a, "double"), w.cast("bitcast", "i64", b, "double"));
            let result = w.two("fdiv", "double", &x, &y);
            w.cast("bitcast", "double", &result, "i64")
        }
        "FmaF64" => {
            let [x, y, z] = [a, b, c].map(|v| w.cast("bitcast", "i64", v, "double"));
            let result = w.call("fma", "double", &[&x, &y, &z]);
            let result = w.cast("bitcast", "double", &result, "i64");
            let result = last_nan(w, c, &result);
            last_nan(w, b, &result)
        }
        "SqrtF64" => {
            let x = w.cast("bitcast", "i64", a, "double");
            let result = w.call("sqrt", "double", &[&x]);
            w.cast("bitcast", "double", &result, "i64")
        }
        "MinF64" | "MaxF64" => smaller_f64(w, name == "MaxF64", a, b),
        "MinF32" | "MaxF32" => smaller_f32(w, name == "MaxF32", imm, a, b),
        "AbsF32" | "NegF32" => {
            let changed = match name {
                "AbsF32" => w.with("and", "i32", a, 0x7fff_ffff),
                _ => w.with("xor", "i32", a, 0x8000_0000),
            };
            let changed = if imm != 0 { flushed(w, &changed) } else { changed };
            let (nan, canonical) = (is_nan32(w, a), w.number("i32", 0x7fff_ffff));
            w.select(&nan, "i32", &canonical, &changed)
        }
        "AbsF64" | "NegF64" => {
            let changed = match name {
                "AbsF64" => w.with("and", "i64", a, i128::from(i64::MAX)),
                _ => w.with("xor", "i64", a, 1 << 63),
            };
            let nan = is_nan64(w, a);
            w.select(&nan, "i64", a, &changed)
        }
        "CmpF32" => {
            let flush = flags >> 8 & 1 != 0;
            let relation = RELATIONS.get((flags & 0xff) as usize)?;
            let (a, b) = (f32_of(w, flush, a), f32_of(w, flush, b));
            w.two(&format!("fcmp {relation}"), "float", &a, &b)
        }
        "CmpF64" => {
            let relation = RELATIONS.get(flags as usize)?;
            let (a, b) =
                (w.cast("bitcast", "i64", a, "double"), w.cast("bitcast", "i64", b, "double"));
            w.two(&format!("fcmp {relation}"), "double", &a, &b)
        }
        _ => return conversion(w, name, a),
    })
}

fn instruction_of(name: &str) -> &'static str {
    match &name[..3] {
        "Add" => "fadd",
        "Sub" => "fsub",
        "Mul" => "fmul",
        _ => "fdiv",
    }
}

fn conversion(w: &mut Writer<'_>, name: &str, a: &str) -> Option<String> {
    let from_integer = |w: &mut Writer<'_>, instruction, from, to, bits| {
        let value = w.cast(instruction, from, a, to);
        Some(w.cast("bitcast", to, &value, bits))
    };
    match name {
        "S32ToF32" => from_integer(w, "sitofp", "i32", "float", "i32"),
        "U32ToF32" => from_integer(w, "uitofp", "i32", "float", "i32"),
        "S32ToF64" => from_integer(w, "sitofp", "i32", "double", "i64"),
        "U32ToF64" => from_integer(w, "uitofp", "i32", "double", "i64"),
        "F32ToS32" | "F32ToU32" => {
            let value = w.cast("bitcast", "i32", a, "float");
            let function = if name.ends_with("S32") { "fptosi.sat" } else { "fptoui.sat" };
            Some(w.convert(function, "float", &value, "i32"))
        }
        "F64ToS32" | "F64ToU32" => {
            let value = w.cast("bitcast", "i64", a, "double");
            let function = if name.ends_with("S32") { "fptosi.sat" } else { "fptoui.sat" };
            let whole = w.convert(function, "double", &value, "i32");
            let (nan, indefinite) = (is_nan64(w, a), w.number("i32", 0x8000_0000));
            Some(w.select(&nan, "i32", &indefinite, &whole))
        }
        "F32ToF64" => {
            let value = w.cast("bitcast", "i32", a, "float");
            let value = w.cast("fpext", "float", &value, "double");
            Some(w.cast("bitcast", "double", &value, "i64"))
        }
        "F64ToF32" | "F64ToF32Ftz" => {
            let value = w.cast("bitcast", "i64", a, "double");
            let value = w.cast("fptrunc", "double", &value, "float");
            let bits = w.cast("bitcast", "float", &value, "i32");
            // LLVM takes a number that was widened before as it was: it does not care which NaN that is.
            let (nan, quiet) = (is_nan32(w, &bits), w.with("or", "i32", &bits, 1 << 22));
            let bits = w.select(&nan, "i32", &quiet, &bits);
            Some(if name.ends_with("Ftz") { flushed(w, &bits) } else { bits })
        }
        _ => None,
    }
}

/// The bits of an `.f32` with subnormal numbers as zeros of their sign.
fn flushed(w: &mut Writer<'_>, bits: &str) -> String {
    let exponent = w.with("and", "i32", bits, 0x7f80_0000);
    let (small, sign) =
        (w.with("icmp eq", "i32", &exponent, 0), w.with("and", "i32", bits, 0x8000_0000));
    w.select(&small, "i32", &sign, bits)
}

fn f32_of(w: &mut Writer<'_>, flush: bool, bits: &str) -> String {
    let bits = if flush { flushed(w, bits) } else { bits.to_string() };
    w.cast("bitcast", "i32", &bits, "float")
}

/// The bits of an `.f32` result: canonical NaN, flush, saturation.
fn finish(w: &mut Writer<'_>, flush: bool, saturate: bool, value: &str) -> String {
    let number = |w: &Writer<'_>, text: &str| match w.lanes {
        1 => text.to_string(),
        _ => format!("splat (float {text})"),
    };
    let bits = if saturate {
        let (zero, one) = (number(w, "0.0"), number(w, "1.0"));
        let above = w.two("fcmp ogt", "float", value, &zero);
        let low = w.select(&above, "float", value, &zero);
        let below = w.two("fcmp olt", "float", &low, &one);
        let clamped = w.select(&below, "float", &low, &one);
        w.cast("bitcast", "float", &clamped, "i32")
    } else if w.any_nan {
        w.cast("bitcast", "float", value, "i32")
    } else {
        let nan = w.two("fcmp uno", "float", value, value);
        let (bits, canonical) =
            (w.cast("bitcast", "float", value, "i32"), w.number("i32", 0x7fff_ffff));
        w.select(&nan, "i32", &canonical, &bits)
    };
    if flush { flushed(w, &bits) } else { bits }
}

fn is_nan32(w: &mut Writer<'_>, bits: &str) -> String {
    let magnitude = w.with("and", "i32", bits, 0x7fff_ffff);
    w.with("icmp ugt", "i32", &magnitude, 0x7f80_0000)
}

fn is_nan64(w: &mut Writer<'_>, bits: &str) -> String {
    let magnitude = w.with("and", "i64", bits, i128::from(i64::MAX));
    w.with("icmp ugt", "i64", &magnitude, 0x7ff0_0000_0000_0000)
}

/// An `.f64` result, unless this operand is NaN: then that one, made quiet.
fn last_nan(w: &mut Writer<'_>, operand: &str, result: &str) -> String {
    let (nan, quiet) = (is_nan64(w, operand), w.with("or", "i64", operand, 1 << 51));
    w.select(&nan, "i64", &quiet, result)
}

/// A number in the order of sign-magnitude numbers as integers.
fn key(w: &mut Writer<'_>, ty: &str, bits: &str) -> String {
    let sign = w.with("ashr", ty, bits, if ty == "i64" { 63 } else { 31 });
    let turn = w.with("lshr", ty, &sign, 1);
    w.two("xor", ty, bits, &turn)
}

fn smaller_f64(w: &mut Writer<'_>, max: bool, a: &str, b: &str) -> String {
    let (x, y) = (key(w, "i64", a), key(w, "i64", b));
    let first = w.two(if max { "icmp sgt" } else { "icmp slt" }, "i64", &x, &y);
    let result = w.select(&first, "i64", a, b);
    let (a_nan, b_nan) = (is_nan64(w, a), is_nan64(w, b));
    let result = w.select(&b_nan, "i64", a, &result);
    w.select(&a_nan, "i64", b, &result)
}

/// `imm` bit 0 flushes, bit 1 hands NaN on, bit 2 takes magnitudes and the product of the signs.
fn smaller_f32(w: &mut Writer<'_>, max: bool, imm: u32, a: &str, b: &str) -> String {
    let (mut a, mut b) = (a.to_string(), b.to_string());
    if imm & 1 != 0 {
        (a, b) = (flushed(w, &a), flushed(w, &b));
    }
    let signs = (imm & 4 != 0).then(|| {
        let signs = w.two("xor", "i32", &a, &b);
        (a, b) = (w.with("and", "i32", &a, 0x7fff_ffff), w.with("and", "i32", &b, 0x7fff_ffff));
        w.with("and", "i32", &signs, 0x8000_0000)
    });
    let (x, y) = (key(w, "i32", &a), key(w, "i32", &b));
    let less = w.two("icmp slt", "i32", &x, &y);
    // Of equal ones, which are the same bits, either.
    let mut result =
        if max { w.select(&less, "i32", &b, &a) } else { w.select(&less, "i32", &a, &b) };
    let (a_nan, b_nan) = (is_nan32(w, &a), is_nan32(w, &b));
    result = w.select(&a_nan, "i32", &b, &result);
    result = w.select(&b_nan, "i32", &a, &result);
    if let Some(signs) = signs {
        result = w.two("or", "i32", &result, &signs);
    }
    let nan = w.two(if imm & 2 != 0 { "or" } else { "and" }, "i1", &a_nan, &b_nan);
    let canonical = w.number("i32", 0x7fff_ffff);
    w.select(&nan, "i32", &canonical, &result)
}
