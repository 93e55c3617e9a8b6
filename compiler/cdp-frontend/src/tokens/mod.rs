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
use crate::preprocess::Preprocessed;
use crate::session::Session;
use crate::words::Words;
pub(crate) use packed::Packed;

/// Makes the parser's tokens of what the preprocessor put out.
pub(crate) fn prepare(
    preprocessed: Preprocessed,
    words: &Words,
    session: &mut Session,
    out: &mut Diagnostics,
) -> Packed {
    let Preprocessed { mut tokens, end, cut, spellings, .. } = preprocessed;
    unused::leave_out(&mut tokens, session);
    readable::make_readable(&mut tokens, words, &spellings, session, out);
    brackets::balance(&mut tokens, end, cut, words, &spellings, session, out);
    Packed::new(tokens, spellings)
}
