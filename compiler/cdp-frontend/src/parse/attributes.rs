//! Attributes and CUDA specifiers: `__global__`, `__launch_bounds__(...)`, `alignas(...)`,
//! `__attribute__((...))`, `[[...]]`. Which of them mean something is the checker's matter.

use super::parser::{Parsed, Parser};
use crate::ast::*;
use crate::attributes::{Known, is_refused, known};
use crate::diagnostics::Code;
use crate::lex::TokenKind as T;
use crate::source::Span;
use crate::words::Word;

impl Parser<'_> {
    /// `attributes = { attribute }`
    pub fn attributes(&mut self, list: &mut Vec<Attr>) -> Parsed<()> {
        while self.attribute(list)? {}
        Ok(())
    }

    /// ```text
    /// attribute = word | word "(" assignment { "," assignment } ")"
    ///           | "alignas" "(" ( type-name | assignment ) ")"
    ///           | "__attribute__" "(" "(" gnu { "," gnu } ")" ")" | "[[" names "]]"
    /// ```
    /// False if there is none here.
    pub fn attribute(&mut self, list: &mut Vec<Attr>) -> Parsed<bool> {
        let start = self.at;
        let kind = match self.word() {
            Word::Attribute => {
                self.at += 1;
                let mut attributes = word_attributes().into_iter();
                let found = attributes.find(|(word, _)| self.is_text(start, word));
                found.map_or(AttrKind::NoInline, |(_, kind)| kind)
            }
            Word::AttributeCall => {
                self.at += 1;
                let mut args = self.parenthesised("`,` or `)`", |p| p.list(Self::assignment))?;
                match self.text_at(start) {
                    "__launch_bounds__" => AttrKind::LaunchBounds(args),
                    "__maxnreg__" => AttrKind::MaxNReg(args),
                    "__block_size__" => AttrKind::BlockSize(args),
                    "__cluster_dims__" => AttrKind::ClusterDims(args),
                    _ => AttrKind::Align(Some(args.swap_remove(0))),
                }
            }
            Word::Alignas => self.alignas()?,
            Word::GnuAttribute => {
                self.gnu_attributes(list)?;
                return Ok(true);
            }
            _ => return Ok(self.std_attribute(list)),
        };
        list.push(Attr { kind, span: self.since(start) });
        Ok(true)
    }

    fn alignas(&mut self) -> Parsed<AttrKind> {
        self.at += 1;
        self.parenthesised("`)`", |p| {
            Ok(match p.is_type_name_at(p.at) {
                true => AttrKind::AlignType(Box::new(p.type_name()?)),
                false => AttrKind::Align(Some(p.assignment()?)),
            })
        })
    }

    /// `gnu = [ name [ "(" [ assignment { "," assignment } ] ")" ] ]`
    fn gnu_attributes(&mut self, list: &mut Vec<Attr>) -> Parsed<()> {
        self.at += 1;
        self.parenthesised("`)`", |p| {
            p.parenthesised("`,` or `)`", |p| {
                loop {
                    if p.is(T::Ident) {
                        list.push(p.gnu_attribute()?);
                    }
                    if !p.eat(T::Comma) {
                        return Ok(());
                    }
                }
            })
        })
    }

    fn gnu_attribute(&mut self) -> Parsed<Attr> {
        let start = self.at;
        self.at += 1;
        let mut args = Vec::new();
        if self.is(T::LParen) {
            args = self.group("`,` or `)`", |p| p.list_before(T::RParen, Self::assignment))?;
        }
        let name = self.ident_at(start);
        let text = self.text_at(start);
        let bare = text.strip_prefix("__").and_then(|text| text.strip_suffix("__")).unwrap_or(text);
        let (refused, known) = (is_refused(bare), known(bare));
        let symbol = self.session.names.lookup(bare).unwrap_or(name.name);
        if refused {
            self.refuse_attribute(symbol, name.span);
        }
        let kind = match known {
            Some(Known::Aligned) if args.len() <= 1 => AttrKind::Align(args.pop()),
            _ => AttrKind::Gnu { name: Ident { name: symbol, ..name }, args },
        };
        Ok(Attr { kind, span: self.since(start) })
    }

    /// An attribute that changes what a program means, and that nothing here carries out.
    fn refuse_attribute(&mut self, name: crate::intern::Symbol, span: Span) {
        let name = self.session.names[name].trim_matches('_').to_owned();
        self.outside(Code::E0239, span, &format!("the attribute `{name}` is"), "");
    }

    /// `[[ [ scope "::" ] name ... ]]`; what follows the name is not kept.
    fn std_attribute(&mut self, list: &mut Vec<Attr>) -> bool {
        let Some(end) = self.std_attribute_end() else { return false };
        let span = self.span(self.at, end);
        let first = self.at + 2;
        let scoped = self.kind_at(first + 1) == Some(T::ColonColon);
        let ident = |at: usize| Ident { name: self.symbol_at(at), span };
        let scope = scoped.then(|| ident(first));
        let name = ident(first + 2 * usize::from(scoped));
        if scoped && self.is_text(first, "gnu") && is_refused(self.session.name(name.name)) {
            self.refuse_attribute(name.name, span);
        }
        self.at = end;
        list.push(Attr { kind: AttrKind::Std { scope, name }, span });
        true
    }
}

/// CUDA's specifiers without arguments.
pub(super) fn word_attributes() -> [(&'static str, AttrKind); 9] {
    [
        ("__global__", AttrKind::Global),
        ("__device__", AttrKind::Device),
        ("__host__", AttrKind::Host),
        ("__shared__", AttrKind::Shared),
        ("__constant__", AttrKind::Constant),
        ("__managed__", AttrKind::Managed),
        ("__grid_constant__", AttrKind::GridConstant),
        ("__forceinline__", AttrKind::ForceInline),
        ("__noinline__", AttrKind::NoInline),
    ]
}
