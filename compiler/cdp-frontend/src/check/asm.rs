//! Inline PTX and host assembly: constraints, operands, and the numbers in the template.

use cdp_ir::{AsmOperand, AsmOutput, Expr, ExprKind, InlineAsm, StmtKind};

use super::ctype::{Basic, QualType};
use super::state::Checker;
use super::value::{Kind, Value};
use crate::ast;
use crate::diagnostics::Code;
use crate::source::Span;

/// A PTX constraint letter: its register, and the bytes that operands have.
fn register(letter: char) -> Option<(&'static str, &'static [u64], bool)> {
    Some(match letter {
        'h' => (".u16", &[2], false),
        'r' => (".u32", &[4], false),
        'l' => (".u64", &[8], false),
        'q' => (".u128", &[16], false),
        'f' => (".f32", &[4], true),
        'd' => (".f64", &[8], true),
        'n' => ("an immediate", &[1, 2, 4, 8], false),
        _ => return None,
    })
}

impl<'a> Checker<'a> {
    /// `asm volatile ("template" : outputs : inputs : clobbers);`
    pub fn asm_stmt(&mut self, stmt: &'a ast::AsmStmt, span: Span) {
        let ptx = self.on_device();
        let outputs = stmt.outputs.iter().map(|operand| self.asm_output(operand, ptx));
        let outputs: Vec<Option<AsmOutput>> = outputs.collect();
        let inputs = stmt.inputs.iter().map(|operand| self.asm_input(operand, ptx));
        let inputs: Vec<Option<AsmOperand>> = inputs.collect();
        let mut failed = false;
        let clobbers: Vec<String> = stmt.clobbers.iter().map(ast::StringLit::to_text).collect();
        for (clobber, literal) in clobbers.iter().zip(&stmt.clobbers) {
            if ptx && clobber != "memory" {
                let message = format!("the clobber `{clobber}` has no meaning in PTX");
                self.error(Code::E0328, literal.span, message)
                    .help("PTX has only the clobber \"memory\"");
                failed = true;
            }
        }
        let text = stmt.template.to_text();
        let mut template = if stmt.basic { text.replace('%', "%%") } else { text };
        if !ptx {
            template = self.with_numbers(&template, stmt);
        }
        let count = stmt.outputs.len() + stmt.inputs.len();
        self.check_template(&template, count, stmt.template.span);
        for register in ["%%smid", "%%warpid"] {
            if ptx && template.contains(register) {
                let message = format!("`{}` may change while the thread runs", &register[1..]);
                self.error(Code::W0718, stmt.template.span, message);
            }
        }
        let outputs: Option<Vec<AsmOutput>> = outputs.into_iter().collect();
        let inputs: Option<Vec<AsmOperand>> = inputs.into_iter().collect();
        let (Some(outputs), Some(inputs), false) = (outputs, inputs, failed) else { return };
        // An asm without outputs is kept, as nvcc keeps it.
        let volatile = stmt.volatile.is_some() || outputs.is_empty();
        let asm = InlineAsm { template, outputs, inputs, clobbers, volatile };
        let (void, loc) = (self.types.ir.void(), self.loc(span));
        let expr = Expr::new(ExprKind::Asm(Box::new(asm)), void, loc);
        self.emit(StmtKind::Expr(expr), loc);
    }

    fn asm_output(&mut self, operand: &'a ast::AsmOperand, ptx: bool) -> Option<AsmOutput> {
        self.check_unnamed(operand, ptx)?;
        let constraint = operand.constraint.to_text();
        let (read_write, letters) = match constraint.strip_prefix('=') {
            Some(rest) => (false, rest),
            None => match constraint.strip_prefix('+') {
                Some(rest) => (true, rest),
                None => {
                    self.error(
                        Code::E0328,
                        operand.constraint.span,
                        "the constraint of an output begins with `=` or `+`",
                    )
                    .suggest(
                        "write to it",
                        operand.constraint.span,
                        format!("\"={constraint}\""),
                    );
                    return None;
                }
            },
        };
        let value = self.expr(&operand.expr);
        value.sound(&self.types)?;
        self.check_assignable(&value, "asm")?;
        if let Kind::BitField { .. } = value.kind {
            self.error(Code::E0328, operand.expr.span, "a bit-field as an output");
            return None;
        }
        let mut letters = letters.to_owned();
        if ptx {
            self.check_register(&letters, value.ty, operand)?;
        } else {
            let early = letters.contains('&');
            letters = self.host_constraint(&letters, &value, operand)?;
            if letters == "i" || letters.starts_with(|c: char| c.is_ascii_digit()) {
                let message = "an output is a register or memory";
                self.error(Code::E0328, operand.constraint.span, message);
                return None;
            }
            if early && letters != "m" {
                letters.insert(0, '&');
            }
        }
        let addr = self.address(value);
        Some(AsmOutput { constraint: letters, addr, read_write })
    }

    fn asm_input(&mut self, operand: &'a ast::AsmOperand, ptx: bool) -> Option<AsmOperand> {
        self.check_unnamed(operand, ptx)?;
        let constraint = operand.constraint.to_text();
        if constraint.starts_with(['=', '+']) {
            let message = format!("the input constraint \"{constraint}\" says that it is written");
            self.error(Code::E0328, operand.constraint.span, message);
            return None;
        }
        let value = self.expr(&operand.expr);
        if self.is_error(&value) {
            return None;
        }
        if !ptx {
            let letters = self.host_constraint(&constraint, &value, operand)?;
            if letters == "m" {
                let value = self.address(value);
                return Some(AsmOperand { constraint: letters, value });
            }
            let value = self.rvalue(value);
            let value = self.expr_of(value);
            let constant = self.const_eval(&value);
            if letters == "i" && constant.is_none() {
                let message =
                    format!("the operand of \"{constraint}\" must be a constant expression");
                self.error(Code::E0310, operand.expr.span, message);
                return None;
            }
            return Some(AsmOperand { constraint: letters, value });
        }
        let value = self.rvalue(value);
        if self.is_error(&value) {
            return None;
        }
        self.check_register(&constraint, value.ty, operand)?;
        let expr = self.expr_of(value);
        if ptx && constraint == "n" && self.const_eval(&expr).is_none() {
            let message = "the operand of an \"n\" constraint must be a constant expression";
            self.error(Code::E0310, operand.expr.span, message);
            return None;
        }
        Some(AsmOperand { constraint, value: expr })
    }

    /// A constraint of x86 host assembly as one of: a register class, `m`, `i`, or the number of an
    /// output. Of several choices the register is taken.
    fn host_constraint(
        &mut self,
        letters: &str,
        value: &Value<'a>,
        operand: &'a ast::AsmOperand,
    ) -> Option<String> {
        let bare = letters.trim_start_matches(['&', '%']);
        let scalar =
            matches!(value.kind, Kind::Fns(_)) || self.types.is_scalar(self.decayed(value.ty));
        let any = |set: &str| bare.contains(|c| set.contains(c));
        let all = |set: &str| !bare.is_empty() && bare.chars().all(|c| set.contains(c));
        let chosen = if !bare.is_empty() && bare.bytes().all(|c| c.is_ascii_digit()) {
            Some(bare)
        } else if scalar && all("grqQRlimoVXneN") && any("grqQRlX") {
            Some("r")
        } else if all("inIJKLMNeZ") {
            Some("i")
        } else if all("moVgin") {
            Some("m")
        } else if scalar && bare.len() == 1 && any("abcdSDxv") {
            Some(bare)
        } else {
            None
        };
        if chosen.is_none() {
            let message = match scalar {
                true => format!("the constraint \"{letters}\" is outside the `.cdp` subset"),
                false => format!("{} does not go into a register", self.show(value.ty)),
            };
            self.error(Code::E0328, operand.constraint.span, message).note(
                "host assembly has the constraints r, q, a, b, c, d, S, D, x, m, g, i, n and the \
                 number of an output",
            );
        }
        chosen.map(str::to_owned)
    }

    fn decayed(&self, ty: QualType) -> QualType {
        match self.types.array(ty) {
            Some(_) => Basic::ULong.into(),
            None => ty,
        }
    }

    /// The template of host assembly with numbers for the names of operands: `%[name]`, `%k[name]`.
    fn with_numbers(&mut self, template: &str, stmt: &'a ast::AsmStmt) -> String {
        let mut text = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find('%') {
            let modifier = rest[at + 1..].chars().next().filter(char::is_ascii_alphabetic);
            let start = at + 1 + modifier.map_or(0, char::len_utf8);
            let name = rest[start..].strip_prefix('[').and_then(|name| name.split_once(']'));
            let Some((name, after)) = name else {
                // `%%` is one sign.
                let end = at + 1 + usize::from(rest[at + 1..].starts_with('%'));
                text.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            };
            let mut operands = stmt.outputs.iter().chain(&stmt.inputs);
            let named = |operand: &ast::AsmOperand| {
                operand.name.is_some_and(|known| self.text(known.name) == name)
            };
            let number = operands.position(named);
            if number.is_none() {
                let message = format!("`%[{name}]` names no operand");
                self.error(Code::E0328, stmt.template.span, message)
                    .help(format!("write `[{name}]` before the operand that is meant"));
            }
            text.push_str(&rest[..start]);
            text.push_str(&number.unwrap_or_default().to_string());
            rest = after;
        }
        text + rest
    }

    fn check_unnamed(&mut self, operand: &'a ast::AsmOperand, ptx: bool) -> Option<()> {
        let Some(name) = operand.name.filter(|_| ptx) else { return Some(()) };
        let message = "named operands are not part of inline PTX";
        self.error(Code::E0328, name.span, message).help("use its number: `%0`, `%1`, ...");
        None
    }

    fn check_register(
        &mut self,
        letters: &str,
        ty: QualType,
        operand: &'a ast::AsmOperand,
    ) -> Option<()> {
        let span = operand.constraint.span;
        let mut chars = letters.chars();
        let known = chars.next().filter(|_| chars.next().is_none()).and_then(register);
        let Some((name, sizes, floating)) = known else {
            let message = format!("PTX has no constraint \"{letters}\"");
            self.error(Code::E0328, span, message).note(
                "the constraints are h (16 bits), r (32), l (64), q (128), f (float), \
                     d (double), n (immediate)",
            );
            return None;
        };
        let scalar = self.types.is_scalar(ty);
        let size = if scalar { self.types.layout(ty).size } else { 0 };
        let is_float = self.types.is_floating(ty);
        if scalar && sizes.contains(&size) && is_float == floating {
            return Some(());
        }
        let right = self.letter_for(ty);
        let message =
            format!("the operand is {}, which does not fit \"{letters}\" ({name})", self.show(ty));
        let cure =
            right.map(|right| format!("use the constraint \"{right}\", or cast the operand"));
        self.error(Code::E0328, operand.expr.span, message).help(cure.unwrap_or_default());
        None
    }

    fn letter_for(&mut self, ty: QualType) -> Option<&'static str> {
        if !self.types.is_scalar(ty) {
            return None;
        }
        match (self.types.basic(ty), self.types.layout(ty).size) {
            (Some(Basic::Float), _) => Some("f"),
            (Some(Basic::Double), _) => Some("d"),
            (_, 2) => Some("h"),
            (_, 4) => Some("r"),
            (_, 8) => Some("l"),
            (_, 16) => Some("q"),
            _ => None,
        }
    }

    /// `%0` to `%n` name operands, `%%` is a percent sign.
    fn check_template(&mut self, template: &str, count: usize, span: Span) {
        let mut rest = template;
        while let Some(at) = rest.find('%') {
            rest = &rest[at + 1..];
            let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = &rest[..rest.len() - after.len()];
            if let Some(behind) = rest.strip_prefix('%') {
                rest = behind;
            } else if !number.is_empty() {
                let number = number.parse::<usize>().unwrap_or(usize::MAX);
                if number >= count {
                    let message = format!("`%{number}` names no operand: there are {count}");
                    self.error(Code::E0328, span, message);
                }
            } else if self.on_device() {
                // A register whose `%` was not doubled; host assembly has modifiers.
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let word = &rest[..end.unwrap_or(rest.len())];
                self.error(Code::E0328, span, format!("`%{word}` in a template names no operand"))
                    .help(format!("write `%%{word}` for the register"));
            }
        }
    }
}
