//! `-x`: what inputs are, by the names that the command line has for it.

use cdp::InputKind;
use clap::ValueEnum;

/// What an input is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Cdp,
    #[value(alias = "cuda")]
    Cu,
    #[value(aliases = ["bc", "ir"])]
    Ll,
    Ptx,
}

impl From<Language> for InputKind {
    fn from(language: Language) -> InputKind {
        match language {
            Language::Cdp => InputKind::Source,
            Language::Cu => InputKind::Cuda,
            Language::Ll => InputKind::Llvm,
            Language::Ptx => InputKind::Ptx,
        }
    }
}
