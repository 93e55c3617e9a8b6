//! Machine code in memory: written first, then executable, never both.

use super::run::Entry;
use crate::pages::Pages;

/// Code that can be called; who could call it borrows the run that owns it.
#[derive(Debug)]
pub struct Mapped {
    pages: Pages,
}

impl Mapped {
    /// Puts code into memory. `None` if there is none, or the system does not let it.
    pub fn new(code: &[u8]) -> Option<Mapped> {
        let pages = (!code.is_empty()).then(|| Pages::new(code.len()))??;
        // SAFETY: new pages, as long as what is copied to them.
        unsafe { pages.start().copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        pages.make_executable().then_some(Mapped { pages })
    }

    /// Its first instruction.
    #[inline(always)]
    pub fn entry(&self) -> Entry {
        // SAFETY: the maker's code begins with a function of this type (`Maker::make`).
        unsafe { std::mem::transmute::<*mut u8, Entry>(self.pages.start()) }
    }
}
