//! From the preprocessor's tokens to those of the parser: prototypes of the compiler's headers that no one
//! names are left out, then what a parser need not see; brackets match; each token is twelve bytes.
//!
//! What this is not: any knowledge of productions. Of a token only its word and its brackets matter, and where
//! in its line it stands.

mod brackets;
mod packed;
mod readable;
mod unused;

use crate::diagnostics::Diagnostics;
use crate::lex::{Spellings, Token, TokenKind};
use crate::preprocess::Preprocessed;
use crate::session::Session;
use crate::source::Span;
use crate::words::{Word, Words};
pub(crate) use packed::Packed;

/// Tokens that are being made ready.
struct Raw<'a> {
    tokens: Vec<Token>,
    /// Where the file ends.
    end: Span,
    /// Something before that was not read.
    cut: bool,
    spellings: Spellings,
    words: &'a Words,
    session: &'a mut Session,
    out: &'a mut Diagnostics,
}

/// Makes the parser's tokens of what the preprocessor put out.
pub(crate) fn prepare(
    preprocessed: Preprocessed,
    words: &Words,
    session: &mut Session,
    out: &mut Diagnostics,
) -> Packed {
    let Preprocessed { tokens, end, cut, spellings, .. } = preprocessed;
    let mut raw = Raw { tokens, end, cut, spellings, words, session, out };
    raw.leave_out_unused();
    raw.make_readable();
    let (packed, all_match) = Packed::new(&raw.tokens, spellings);
    if all_match {
        return packed;
    }
    raw.mend_brackets();
    Packed::new(&raw.tokens, spellings).0
}

impl Raw<'_> {
    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn word(&self, at: usize) -> Word {
        self.tokens.get(at).map_or(Word::Name, |token| self.words.get(token.symbol))
    }
}
