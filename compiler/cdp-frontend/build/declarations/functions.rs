//! From declarations of CUDA's functions (`src/check/builtins/functions/*.cuh`) to rows of `BuiltinFn`. A file
//! is a list of
//! - `/// One sentence.`: what the functions do that follow, until the next such comment;
//! - `[attributes] int name(unsigned a, T b = 1) lowering;`: a function;
//! - `[attributes] { ... }`: functions that share attributes;
//! - `types NAMES = int, float;`: what `T` may be, for the attribute `for NAMES`;
//! - `each $NAME | $TYPE {` lines of values, with `|` between them `} { ... }`: the block once for each
//!   line. Names of values are capital letters; `\` joins a line to the next.
//!
//! A lowering is a body, or `=` and one of
//! - `PopCount`: an intrinsic as Rust spells it, below `Intrinsic`;
//! - `libdevice symbol`, `extern symbol`: a call; without a symbol, of the function's own name;
//! - `ptx "add.f16x2"`: an instruction, whose operands and registers follow from the signature unless
//!   the text has them (`$0` is the result). `[.ftz]` in it is there under `-ftz=true` only. After
//!   `ptx`, `effect` keeps it and its order, `memory` is an effect that touches memory, `warp` one that
//!   all named lanes must reach together;
//! - `unary Neg`, `binary Add`, `compare Lt`, `cast Bitcast`: an operation of the IR;
//! - `printf`, or `refuse "advice"`: not callable in this pass;
//! - `ftz ? A : B`, `fast ? A : B`, `sm_90 ? A : B`: a choice by `-ftz=true`, by `-use_fast_math`, by the
//!   architecture.
//!
//! It is what device code does; `host` and a second lowering say what host code does, or an attribute:
//! `both` the same, `c` calls the C library's function of that name. Without them host code is refused.
//! The other attributes: `std` (also `std::name`), `promoting` (`promoting_everywhere`: integer and mixed
//! arguments, in device code too), `template` and `explicit` (`T` may or must be written), `noreturn`,
//! `fp16` and `bf16` (the header), `sm_90` (from this architecture on).

use std::collections::HashMap;
use std::fmt::Write;

use super::Result;
use super::cursor::Cursor;

/// The rows of a file, as Rust expressions with a comma after each.
pub fn rows(text: &str) -> Result<String> {
    let mut reader = Reader::default();
    reader.items(text, 1, &Attributes::default())?;
    Ok(reader.rows)
}

#[derive(Default)]
struct Reader {
    rows: String,
    summary: String,
    /// What `types` named, as Rust.
    types: HashMap<String, String>,
}

#[derive(Clone, Default)]
struct Attributes {
    /// Fields of `Flags` that are set.
    flags: Vec<&'static str>,
    both: bool,
    c_library: bool,
    header: Option<&'static str>,
    min_sm: String,
    types: Option<String>,
}

impl Reader {
    fn items(&mut self, text: &str, line: usize, with: &Attributes) -> Result<()> {
        let mut cursor = Cursor::new(text, line);
        loop {
            cursor.skip_space();
            if cursor.rest().is_empty() {
                return Ok(());
            } else if cursor.rest().starts_with("///") {
                self.summary = cursor.summary();
            } else if cursor.eat_word("types") {
                let (name, list) = cursor.until(';')?.split_once('=').unwrap_or_default();
                let list: Vec<&str> = list.split(',').map(str::trim).collect();
                self.types.insert(name.trim().to_owned(), format!("&{list:?}"));
            } else if cursor.eat_word("each") {
                self.each(&mut cursor, with)?;
            } else {
                let mut attributes = with.clone();
                if cursor.eat("[") {
                    self.attributes(&mut attributes, &mut cursor)?;
                }
                cursor.skip_space();
                if cursor.rest().starts_with('{') {
                    let line = cursor.line();
                    self.items(cursor.block()?, line, &attributes)?;
                } else {
                    self.row(&mut cursor, attributes)?;
                }
            }
        }
    }

    /// After `each`.
    fn each(&mut self, cursor: &mut Cursor, with: &Attributes) -> Result<()> {
        let names: Vec<&str> = cursor.until('{')?.split('|').map(str::trim).collect();
        let mut tuples = Vec::new();
        let mut joined = String::new();
        cursor.until('\n')?;
        while !cursor.rest().trim_start_matches([' ', '\t']).starts_with('}') {
            let line = cursor.until('\n')?.trim();
            if let Some(begun) = line.strip_suffix('\\') {
                joined.push_str(begun);
                continue;
            }
            joined.push_str(line);
            if !joined.is_empty() {
                tuples.push((cursor.line() - 1, std::mem::take(&mut joined)));
            }
        }
        cursor.until('}')?;
        cursor.skip_space();
        let line = cursor.line();
        let block = cursor.block()?;
        for (line_of_tuple, tuple) in tuples {
            let values = values_of(&tuple);
            if values.len() != names.len() {
                let text = format!("{} values for {} names", values.len(), names.len());
                return Err(super::Mistake { line: line_of_tuple, text });
            }
            self.items(&substitute(block, &names, &values), line, with)?;
        }
        Ok(())
    }

    /// After `[`, to `]`.
    fn attributes(&self, to: &mut Attributes, cursor: &mut Cursor) -> Result<()> {
        for word in cursor.until(']')?.split(',').map(str::trim) {
            match word {
                "std" => to.flags.push("std"),
                "promoting" => to.flags.push("promote"),
                "promoting_everywhere" => to.flags.extend(["promote", "promote_on_device"]),
                "template" => to.flags.push("template"),
                "explicit" => to.flags.push("explicit_type"),
                "noreturn" => to.flags.push("noreturn"),
                "both" => to.both = true,
                "c" => to.c_library = true,
                "fp16" => to.header = Some("Fp16"),
                "bf16" => to.header = Some("Bf16"),
                "" => {}
                _ => match (word.strip_prefix("sm_"), word.strip_prefix("for ")) {
                    (Some(sm), _) if sm.bytes().all(|b| b.is_ascii_digit()) => {
                        to.min_sm = sm.into()
                    }
                    (_, Some(name)) if self.types.contains_key(name) => {
                        to.types = self.types.get(name).cloned();
                    }
                    _ => return Err(cursor.mistake(format!("`{word}` is no attribute"))),
                },
            }
        }
        Ok(())
    }

    /// A function, its attributes read.
    fn row(&mut self, cursor: &mut Cursor, mut attributes: Attributes) -> Result<()> {
        let head = cursor.until('(')?.trim_end();
        let start = head.find("operator").or_else(|| Some(head.rfind([' ', '*', '&'])? + 1));
        let Some((result, name)) = start.map(|start| head.split_at(start)) else {
            return Err(cursor.mistake(format!("`{head}(` has no result type")));
        };
        let params = tidy(cursor.until(')')?).replace(", ", ",").replace(" = ", "=");
        let function = Function { name, result: result.trim_end(), params: &params };
        let device = function.lowering(cursor)?;
        let mut end = *cursor;
        cursor.skip_space();
        let host = if cursor.eat_word("host") {
            let host = function.lowering(cursor)?;
            end = *cursor;
            host
        } else if attributes.both {
            device.clone()
        } else if attributes.c_library {
            format!("Lower::Extern({name:?})")
        } else {
            "Lower::Refuse(\"\")".to_owned()
        };
        if !cursor.eat(";") && !end.ends_block() {
            return Err(end.mistake(format!("no `;` after `{name}`")));
        }
        if self.summary.is_empty() {
            return Err(cursor.mistake(format!("`{name}` has no `///`")));
        }
        if name.starts_with("__cdp_") {
            attributes.flags.push("internal");
        }
        let flags: String = attributes.flags.iter().map(|flag| format!("{flag}: true, ")).collect();
        let sm = if attributes.min_sm.is_empty() { "0" } else { &attributes.min_sm };
        let _ = writeln!(
            self.rows,
            "BuiltinFn {{ name: {name:?}, signature: {:?}, types: {}, header: Header::{}, min_sm: {sm}, \
             device: {device}, host: {host}, flags: Flags {{ {flags}..Flags::NONE }}, summary: {:?} }},",
            format!("{}({params})", function.result),
            attributes.types.as_deref().unwrap_or("&[]"),
            attributes.header.unwrap_or("None"),
            self.summary,
        );
        Ok(())
    }
}

struct Function<'t> {
    name: &'t str,
    result: &'t str,
    params: &'t str,
}

impl Function<'_> {
    /// A lowering as Rust, its `=` included.
    fn lowering(&self, cursor: &mut Cursor) -> Result<String> {
        cursor.skip_space();
        cursor.eat("=");
        cursor.skip_space();
        if cursor.rest().starts_with('{') {
            return Ok(format!("Lower::Inline({:?})", format!("{{{}}}", tidy(cursor.block()?))));
        }
        let word = cursor.word();
        let before = cursor.at;
        cursor.at += word.len();
        cursor.skip_space();
        if cursor.eat("?") {
            let yes = self.lowering(cursor)?;
            cursor.skip_space();
            if !cursor.eat(":") {
                return Err(cursor.mistake(format!("no `:` after `{word} ?`")));
            }
            let no = self.lowering(cursor)?;
            return match word.strip_prefix("sm_") {
                _ if word == "ftz" => Ok(format!("Lower::IfFtz(&{yes}, &{no})")),
                _ if word == "fast" => Ok(format!("Lower::IfFast(&{yes}, &{no})")),
                Some(sm) => Ok(format!("Lower::IfSm({sm}, &{yes}, &{no})")),
                None => Err(cursor.mistake(format!("`{word}` is no condition"))),
            };
        }
        Ok(match word {
            "extern" => format!("Lower::Extern({:?})", self.symbol(cursor)),
            "libdevice" => {
                format!("Lower::Intrinsic(Intrinsic::Libdevice({:?}))", self.symbol(cursor))
            }
            "refuse" => format!("Lower::Refuse({:?})", cursor.string()?),
            "printf" => "Lower::Printf".to_owned(),
            "unary" => format!("Lower::Unary(UnaryOp::{})", cursor.take_word()),
            "binary" => format!("Lower::Binary(BinaryOp::{})", cursor.take_word()),
            "compare" => format!("Lower::Compare(CompareOp::{})", cursor.take_word()),
            "cast" => format!("Lower::Cast(CastKind::{})", cursor.take_word()),
            "ptx" => self.ptx(cursor)?,
            _ => {
                cursor.at = before;
                let text = cursor.expression();
                if text.is_empty() {
                    return Err(cursor.mistake(format!("`{}` has no lowering", self.name)));
                }
                format!("Lower::Intrinsic(Intrinsic::{text})")
            }
        })
    }

    fn symbol(&self, cursor: &mut Cursor) -> String {
        match cursor.word() {
            "" | "host" => self.name.to_owned(),
            _ => cursor.take_word().to_owned(),
        }
    }

    /// After `ptx`.
    fn ptx(&self, cursor: &mut Cursor) -> Result<String> {
        let (effect, convergent, memory) = match cursor.take_word() {
            "effect" => (true, false, false),
            "memory" => (true, false, true),
            "warp" => (true, true, true),
            _ => (false, false, false),
        };
        let text = cursor.string()?;
        let register = |ty: &str| {
            register(ty).ok_or_else(|| cursor.mistake(format!("no register holds `{ty}`")))
        };
        let results = register(self.result)?;
        let params = self.params.split(',').filter(|param| !param.is_empty());
        let args: String = params.map(|param| register(type_of(param))).collect::<Result<_>>()?;
        let text = if text.ends_with(';') {
            text.to_owned()
        } else {
            let operands: Vec<String> =
                (0..results.len() + args.len()).map(|operand| format!("${operand}")).collect();
            format!("{text} {};", operands.join(", "))
        };
        let template = |text: String| {
            format!(
                "Lower::Intrinsic(Intrinsic::Ptx(&PtxTemplate {{ name: {text:?}, text: {text:?}, \
                 results: {results:?}, args: {args:?}, side_effects: {effect}, \
                 convergent: {convergent}, memory: {memory} }}))"
            )
        };
        Ok(if text.contains("[.ftz]") {
            let (yes, no) = (text.replace("[.ftz]", ".ftz"), text.replace("[.ftz]", ""));
            format!("Lower::IfFtz(&{}, &{})", template(yes), template(no))
        } else {
            template(text)
        })
    }
}

/// The letter of the PTX register that holds a C type; empty for `void`.
fn register(ty: &str) -> Option<&'static str> {
    Some(match ty.trim_start_matches("const ") {
        "void" => "",
        "short" | "unsigned short" | "__half" | "__nv_bfloat16" => "h",
        "int" | "unsigned" | "unsigned int" => "r",
        "long" | "long long" | "unsigned long long" | "size_t" => "l",
        "float" => "f",
        "double" => "d",
        _ => return None,
    })
}

/// The type of a named parameter.
fn type_of(param: &str) -> &str {
    let declared = param.split('=').next().unwrap_or(param);
    declared.rsplit_once(' ').map_or(declared, |(ty, _)| ty)
}

/// The text with white space as single spaces, but for strings.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '"' && !out.ends_with('\\');
        if quoted || !c.is_whitespace() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

/// The values of a line, between single `|`.
fn values_of(line: &str) -> Vec<&str> {
    let mut values = Vec::new();
    let (mut rest, mut searched) = (line, 0);
    while let Some(bar) = rest[searched..].find('|').map(|at| searched + at) {
        if rest[bar..].starts_with("||") {
            searched = bar + 2;
        } else {
            values.push(rest[..bar].trim());
            (rest, searched) = (&rest[bar + 1..], 0);
        }
    }
    values.push(rest.trim());
    values
}

/// The block with the values in the place of their names; a longer name that begins so is another.
fn substitute(block: &str, names: &[&str], values: &[&str]) -> String {
    let mut parts = block.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(part.len());
        match names.iter().position(|name| name.strip_prefix('$') == Some(&part[..end])) {
            Some(index) => out.extend([values[index], &part[end..]]),
            None => out.extend(["$", part]),
        }
    }
    out
}
