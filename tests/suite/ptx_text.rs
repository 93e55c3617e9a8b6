//! PTX as tests of device code look at it: functions, and the statements of their bodies. It works on the tokens of
//! `cdp-ptx`, not on its module, so that a test sees the text and an instruction nobody knows. What an instruction means
//! is not here, nor how often a word is in a text, which tests count themselves.

use cdp_llvm::outline::{self, Item};
use cdp_ptx::lexer::{Tok, Token};
use libtest_mimic::Failed;

/// A statement of a body; directives are left out.
pub enum Statement<'t> {
    Label(&'t str),
    Instruction(Instruction<'t>),
}

pub struct Instruction<'t> {
    /// With its modifiers: `ld.global.v4.b32`.
    pub operation: &'t str,
    /// Names and numbers in order, without brackets and signs.
    pub operands: Vec<&'t str>,
    /// All of it, with its guard.
    pub text: &'t str,
}

/// The items of a text, the header left out.
pub fn items(ptx: &str) -> Result<Vec<Item<'_>>, Failed> {
    let mut items = outline::items(ptx).map_err(|error| format!("{error}\n{ptx}"))?;
    items.retain(|item| !item.name.is_empty());
    Ok(items)
}

/// The text of the last definition whose name begins so.
pub fn function<'t>(ptx: &'t str, begins: &str) -> Result<&'t str, Failed> {
    let mut found = items(ptx)?;
    found.retain(|item| item.has_body && item.name.starts_with(begins));
    let last = found.pop().ok_or_else(|| format!("no function {begins}... in\n{ptx}"))?;
    Ok(last.text)
}

/// The statements of all functions.
pub fn statements(ptx: &str) -> Result<Vec<Statement<'_>>, Failed> {
    let items = items(ptx)?;
    Ok(items.iter().filter(|item| item.has_body).flat_map(of_body).collect())
}

/// The instructions of all functions.
pub fn instructions(ptx: &str) -> Result<Vec<Instruction<'_>>, Failed> {
    let statements = statements(ptx)?.into_iter();
    Ok(statements
        .filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            Statement::Label(_) => None,
        })
        .collect())
}

/// The text of the stretch between two labels in which there are the most of these operations.
pub fn stretch_with_most(ptx: &str, operation: &str) -> Result<String, Failed> {
    let mut stretches = vec![(0, String::new())];
    for statement in statements(ptx)? {
        match statement {
            Statement::Label(_) => stretches.push((0, String::new())),
            Statement::Instruction(instruction) => {
                if let Some((count, text)) = stretches.last_mut() {
                    *count += usize::from(instruction.operation.starts_with(operation));
                    *text += instruction.text;
                    text.push('\n');
                }
            }
        }
    }
    Ok(stretches.into_iter().max_by_key(|(count, _)| *count).unwrap_or_default().1)
}

fn of_body<'t>(item: &Item<'t>) -> Vec<Statement<'t>> {
    let mut tokens = item.tokens().skip_while(|token| token.tok != Tok::Punct(b'{'));
    let mut statements = Vec::new();
    let mut words: Vec<Token<'t>> = Vec::new();
    // In the braces of a vector of registers statements do not end.
    let mut is_open = false;
    let _body = tokens.next();
    for token in tokens {
        match token.tok {
            Tok::Punct(b':') => {
                statements.extend(words.first().map(|label| Statement::Label(label.text)));
                words.clear();
            }
            Tok::Punct(b';') => {
                statements.extend(instruction(item.text, &words).map(Statement::Instruction));
                words.clear();
            }
            Tok::Punct(b'{' | b'}') if words.is_empty() && !is_open => {}
            _ => {
                is_open = token.tok == Tok::Punct(b'{') || is_open && token.tok != Tok::Punct(b'}');
                words.push(token);
            }
        }
    }
    statements
}

/// `None` for a directive.
fn instruction<'t>(text: &'t str, words: &[Token<'t>]) -> Option<Instruction<'t>> {
    let guard = match words {
        [at, not, _, ..] if at.tok == Tok::Punct(b'@') && not.tok == Tok::Punct(b'!') => 3,
        [at, _, ..] if at.tok == Tok::Punct(b'@') => 2,
        _ => 0,
    };
    let (first, rest) = words[guard..].split_first().filter(|(word, _)| word.tok == Tok::Ident)?;
    let modifiers = rest.iter().take_while(|word| word.tok == Tok::Dot).count();
    let slice = |from: &Token<'_>, to: &Token<'_>| &text[from.start as usize..to.end as usize];
    let named = |word: &&Token<'_>| matches!(word.tok, Tok::Ident | Tok::Int | Tok::Float);
    Some(Instruction {
        operation: slice(first, &words[guard + modifiers]),
        operands: rest[modifiers..].iter().filter(named).map(|word| word.text).collect(),
        text: slice(&words[0], words.last()?),
    })
}
