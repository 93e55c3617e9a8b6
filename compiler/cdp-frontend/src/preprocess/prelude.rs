//! What stands before every program: the predefined macros and the headers that nvcc reads before a
//! file. Reading them takes longer than a small program does, so the state that they leave behind is
//! kept, one for each list of predefined macros, and a new session begins with a copy.
//!
//! Not here: what the command line adds, which differs from call to call. With `-I` nothing kept is
//! used, since any of the headers may be another one there.

use std::sync::{Arc, Mutex, PoisonError};

use super::include::{FileCache, MemoryLoader};
use super::macros::MacroTable;
use super::predefined::Predefined;
use super::{FileLoader, KnownNames, PreprocessOptions, Preprocessor};
use crate::lex::{Spellings, Token};
use crate::session::Session;

/// The state after the prelude.
struct Prelude {
    predefined: Vec<Predefined>,
    session: Session,
    spellings: Spellings,
    words: KnownNames,
    macros: MacroTable,
    cache: FileCache,
    budget: u64,
    counter: u32,
    out: Vec<Token>,
}

/// The most preludes kept, of a few hundred KiB at most: there is one for each architecture and pass.
const MAX_KEPT: usize = 16;

/// The newest last.
static KEPT: Mutex<Vec<Arc<Prelude>>> = Mutex::new(Vec::new());

/// A preprocessor that has read the predefined macros and headers.
pub(super) fn begin<'a>(
    session: &'a mut Session,
    loader: &'a dyn FileLoader,
    options: &'a PreprocessOptions,
) -> Preprocessor<'a> {
    if session.is_new()
        && options.include_dirs.is_empty()
        && let Some(prelude) = find(&options.predefined)
    {
        return prelude.copy(session, loader, options);
    }
    let mut preprocessor = Preprocessor::new(session, loader, options);
    preprocessor.built_in();
    preprocessor
}

/// A kept prelude, or a new one. `None` when it says something about the macros, which a copy would
/// not.
fn find(predefined: &[Predefined]) -> Option<Arc<Prelude>> {
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = kept().iter().find(|kept| kept.predefined == predefined) {
        return Some(Arc::clone(found));
    }
    let prelude = Arc::new(Prelude::read(predefined)?);
    let mut kept = kept();
    if kept.len() >= MAX_KEPT {
        kept.remove(0);
    }
    kept.push(Arc::clone(&prelude));
    Some(prelude)
}

impl Prelude {
    fn read(predefined: &[Predefined]) -> Option<Prelude> {
        let mut session = Session::new();
        session.vocabulary();
        let loader = MemoryLoader::default();
        let options =
            PreprocessOptions { predefined: predefined.to_vec(), ..PreprocessOptions::default() };
        let mut preprocessor = Preprocessor::new(&mut session, &loader, &options);
        preprocessor.built_in();
        if !preprocessor.diagnostics.is_empty() || preprocessor.stopped {
            return None;
        }
        let Preprocessor { spellings, words, mut macros, cache, budget, counter, out, .. } =
            preprocessor;
        macros.share();
        let predefined = options.predefined;
        Some(Prelude { predefined, session, spellings, words, macros, cache, budget, counter, out })
    }

    fn copy<'a>(
        &self,
        session: &'a mut Session,
        loader: &'a dyn FileLoader,
        options: &'a PreprocessOptions,
    ) -> Preprocessor<'a> {
        session.clone_from(&self.session);
        Preprocessor {
            macros: self.macros.clone(),
            cache: self.cache.clone(),
            budget: self.budget,
            counter: self.counter,
            out: self.out.clone(),
            ..Preprocessor::with_words(session, loader, options, self.spellings, self.words)
        }
    }
}
