//! Macro definitions and the table of them. How they are expanded is in `expand` and `substitute`.

use std::sync::Arc;

use crate::intern::{Interner, Symbol};
use crate::lex::{Token, TokenKind};
use crate::source::Span;

/// Marks a body token that is no parameter.
pub const NO_PARAM: u16 = u16::MAX;

/// A token of a replacement list.
#[derive(Clone, Copy, Debug)]
pub struct BodyToken {
    pub token: Token,
    /// The parameter it names, or [`NO_PARAM`].
    pub param: u16,
}

/// A macro whose replacement is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    File,
    BaseFile,
    Line,
    Counter,
    Date,
    Time,
    Timestamp,
    IncludeLevel,
    Pragma,
}

/// A macro.
#[derive(Clone, Debug)]
pub struct Macro {
    pub name: Symbol,
    /// The name in the `#define`.
    pub name_span: Span,
    /// `None` for an object-like macro.
    pub params: Option<Vec<Symbol>>,
    /// The last parameter takes the rest of the arguments.
    pub variadic: bool,
    pub body: Vec<BodyToken>,
    pub builtin: Option<Builtin>,
}

impl Macro {
    /// True if the two definitions count as the same (C 6.10.3): same kind, parameters and
    /// replacement, white space counting only as present or absent.
    pub fn same_as(&self, other: &Macro) -> bool {
        let body = |macro_: &Macro| macro_.body.len();
        self.params == other.params
            && self.variadic == other.variadic
            && body(self) == body(other)
            && self.body.iter().zip(&other.body).enumerate().all(|(index, (a, b))| {
                a.token.symbol == b.token.symbol
                    && (index == 0 || a.token.spaced() == b.token.spaced())
            })
    }
}

/// The macros whose replacement is computed.
pub const COMPUTED: &[(&str, Builtin)] = &[
    ("__FILE__", Builtin::File),
    ("__BASE_FILE__", Builtin::BaseFile),
    ("__LINE__", Builtin::Line),
    ("__COUNTER__", Builtin::Counter),
    ("__DATE__", Builtin::Date),
    ("__TIME__", Builtin::Time),
    ("__TIMESTAMP__", Builtin::Timestamp),
    ("__INCLUDE_LEVEL__", Builtin::IncludeLevel),
    ("_Pragma", Builtin::Pragma),
];

/// All macros, looked up by symbol number.
#[derive(Clone, Default)]
pub struct MacroTable {
    /// By symbol: the macro's index plus one, or 0.
    by_symbol: Vec<u32>,
    /// The first macros, which copies of the table have in common.
    shared: Arc<[Macro]>,
    /// The others.
    own: Vec<Macro>,
    /// By index: the macro's replacement is being read.
    active: Vec<bool>,
}

impl MacroTable {
    /// The table with the computed macros in it.
    pub fn new(names: &mut Interner) -> Self {
        let mut table = MacroTable::default();
        for &(name, builtin) in COMPUTED {
            let name = names.intern(name);
            table.define(Macro {
                name,
                name_span: Span::NONE,
                params: None,
                variadic: false,
                body: Vec::new(),
                builtin: Some(builtin),
            });
        }
        table
    }

    /// The index of the macro with this name.
    pub fn get(&self, name: Symbol) -> Option<u32> {
        self.by_symbol.get(name.0 as usize).copied().unwrap_or(0).checked_sub(1)
    }

    /// A macro by index.
    pub fn macro_at(&self, index: u32) -> &Macro {
        let index = index as usize;
        match index.checked_sub(self.shared.len()) {
            Some(own) => &self.own[own],
            None => &self.shared[index],
        }
    }

    /// Makes copies of the table cheap.
    pub fn share(&mut self) {
        let all = self.shared.iter().cloned().chain(std::mem::take(&mut self.own));
        self.shared = all.collect();
    }

    /// True while the replacement of the macro with this name is being read.
    pub fn is_active(&self, name: Symbol) -> bool {
        self.get(name).is_some_and(|index| self.active[index as usize])
    }

    /// Marks a macro as being read or not.
    pub fn set_active(&mut self, index: u32, active: bool) {
        self.active[index as usize] = active;
    }

    /// Adds a macro in place of any with the same name. The old one keeps its index, since frames
    /// may still refer to it. A macro in whose arguments it is redefined is still being read.
    pub fn define(&mut self, macro_: Macro) {
        let place = macro_.name.0 as usize;
        if self.by_symbol.len() <= place {
            self.by_symbol.resize(place + 64, 0);
        }
        self.active.push(self.is_active(macro_.name));
        self.own.push(macro_);
        self.by_symbol[place] = self.active.len() as u32;
    }

    /// Forgets a name.
    pub fn undefine(&mut self, name: Symbol) {
        if let Some(entry) = self.by_symbol.get_mut(name.0 as usize) {
            *entry = 0;
        }
    }

    /// Makes a name mean what it meant when `index` was taken from [`get`](Self::get).
    pub fn restore(&mut self, name: Symbol, index: Option<u32>) {
        match index {
            Some(index) => {
                let place = name.0 as usize;
                if self.by_symbol.len() <= place {
                    self.by_symbol.resize(place + 64, 0);
                }
                self.by_symbol[place] = index + 1;
            }
            None => self.undefine(name),
        }
    }
}

/// What is wrong with a `#define`, and where.
pub struct DefineError {
    pub span: Span,
    pub message: String,
}

/// The parts of a macro that the text after its name gives. `line` is everything after the name;
/// `name_token` the name.
pub fn parse_definition(
    name_token: Token,
    line: &[Token],
    names: &Interner,
    va_args: Symbol,
    va_opt: Symbol,
) -> Result<Macro, DefineError> {
    let mut macro_ = Macro {
        name: name_token.symbol,
        name_span: name_token.span,
        params: None,
        variadic: false,
        body: Vec::new(),
        builtin: None,
    };
    let mut body = line;
    if let Some(open) = line.first().filter(|open| open.kind == TokenKind::LParen && !open.spaced())
    {
        let length = parse_params(&mut macro_, line, names, va_args)
            .map_err(|(span, message)| DefineError { span: span.unwrap_or(open.span), message })?;
        body = &line[length..];
    }
    let params = macro_.params.clone().unwrap_or_default();
    for &token in body {
        let param = match token.kind {
            TokenKind::Ident => params.iter().position(|&param| param == token.symbol),
            _ => None,
        };
        if (token.symbol == va_args || token.symbol == va_opt) && !macro_.variadic {
            let message =
                format!("`{}` can stand only in a macro with `...`", &names[token.symbol]);
            return Err(DefineError { span: token.span, message });
        }
        macro_.body.push(BodyToken { token, param: param.map_or(NO_PARAM, |at| at as u16) });
    }
    check_operators(&macro_, va_opt)?;
    Ok(macro_)
}

/// Reads `(a, b, ...)`; gives the number of tokens.
fn parse_params(
    macro_: &mut Macro,
    line: &[Token],
    names: &Interner,
    va_args: Symbol,
) -> Result<usize, (Option<Span>, String)> {
    let mut params: Vec<Symbol> = Vec::new();
    let mut at = 1;
    let unclosed = || (None, "the parameter list has no `)`".to_owned());
    if line.get(1).is_some_and(|token| token.kind == TokenKind::RParen) {
        macro_.params = Some(params);
        return Ok(2);
    }
    loop {
        let token = line.get(at).ok_or_else(unclosed)?;
        match token.kind {
            TokenKind::Ident if params.contains(&token.symbol) => {
                return Err((
                    Some(token.span),
                    format!("parameter `{}` is named twice", &names[token.symbol]),
                ));
            }
            TokenKind::Ident => {
                params.push(token.symbol);
                at += 1;
                if line.get(at).is_some_and(|next| next.kind == TokenKind::Ellipsis) {
                    macro_.variadic = true;
                    at += 1;
                }
            }
            TokenKind::Ellipsis => {
                params.push(va_args);
                macro_.variadic = true;
                at += 1;
            }
            _ => return Err((Some(token.span), "expected the name of a parameter".to_owned())),
        }
        if params.len() >= NO_PARAM as usize {
            return Err((Some(token.span), "too many parameters".to_owned()));
        }
        let next = line.get(at).ok_or_else(unclosed)?;
        match next.kind {
            TokenKind::RParen => break,
            TokenKind::Comma if !macro_.variadic => at += 1,
            _ if macro_.variadic => {
                return Err((Some(next.span), "expected `)` after `...`".to_owned()));
            }
            _ => {
                return Err((
                    Some(next.span),
                    "expected `,` or `)` in the parameter list".to_owned(),
                ));
            }
        }
    }
    macro_.params = Some(params);
    Ok(at + 1)
}

/// `##` stands between tokens, and `#` before a parameter of a function-like macro.
fn check_operators(macro_: &Macro, va_opt: Symbol) -> Result<(), DefineError> {
    let body = &macro_.body;
    let is_paste = |entry: Option<&BodyToken>| {
        entry.filter(|entry| entry.token.kind == TokenKind::HashHash).copied()
    };
    if let Some(entry) = is_paste(body.first()).or(is_paste(body.last())) {
        let message = "`##` cannot stand at either end of a macro's replacement".to_owned();
        return Err(DefineError { span: entry.token.span, message });
    }
    if macro_.params.is_none() {
        return Ok(());
    }
    for (index, entry) in body.iter().enumerate() {
        let hash = entry.token.kind == TokenKind::Hash;
        let next = body.get(index + 1);
        if hash && !next.is_some_and(|next| next.param != NO_PARAM || next.token.symbol == va_opt) {
            let message = "`#` must be followed by a parameter of the macro".to_owned();
            return Err(DefineError { span: entry.token.span, message });
        }
        if entry.token.symbol == va_opt && va_opt_end(body, index).is_none() {
            let message = "`__VA_OPT__` needs a parenthesised list".to_owned();
            return Err(DefineError { span: entry.token.span, message });
        }
    }
    Ok(())
}

/// For `__VA_OPT__` at `index`, the index of its closing parenthesis.
pub fn va_opt_end(body: &[BodyToken], index: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, entry) in body.iter().enumerate().skip(index + 1) {
        match entry.token.kind {
            TokenKind::LParen => depth += 1,
            TokenKind::RParen => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
