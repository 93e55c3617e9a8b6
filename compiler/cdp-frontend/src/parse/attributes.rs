//! Attributes and CUDA specifiers: `__global__`, `__launch_bounds__(...)`, `alignas(...)`,
//! `__attribute__((...))`, `[[...]]`. Which of them mean something is the checker's matter.

use super::*;
use crate::attributes::{Known, is_refused, known};

impl Parser<'_> {
    // attributes = { attribute }
    pub fn attributes(&mut self, list: &mut Vec<Attr>) -> Parsed<()> {
        while self.attribute(list)? {}
        Ok(())
    }

    // attribute = word | word "(" assignment { "," assignment } ")"
    //           | "alignas" "(" ( type-name | expression ) ")"
    //           | "__attribute__" "((" named { "," named } "))" | "[[" named { "," named } "]]"
    /// False if there is none here.
    pub fn attribute(&mut self, list: &mut Vec<Attr>) -> Parsed<bool> {
        let start = self.at;
        let kind = match self.word() {
            Word::Attribute => {
                self.at += 1;
                AttrKind::Cuda(CudaWord::of(self.text_at(start)).unwrap_or(CudaWord::NoInline))
            }
            Word::AttributeCall => {
                self.at += 1;
                let mut args = self.parenthesised("`,` or `)`", |p| p.list(Self::assignment))?;
                match self.text_at(start) {
                    "__launch_bounds__" => AttrKind::LaunchBounds(args),
                    "__maxnreg__" => AttrKind::MaxNReg(args),
                    "__cluster_dims__" => AttrKind::ClusterDims(args),
                    _ => AttrKind::Align(Some(args.swap_remove(0))),
                }
            }
            Word::Alignas => {
                let of_expression = |value: Box<Expr>| AttrKind::Align(Some(*value));
                self.type_or_expression(AttrKind::AlignType, of_expression)?
            }
            word => {
                let gnu = word == Word::GnuAttribute;
                if gnu || self.std_attribute_end().is_some() {
                    self.attribute_list(gnu, list)?;
                }
                return Ok(self.at > start);
            }
        };
        list.push(Attr { kind, span: self.since(start) });
        Ok(true)
    }

    /// The lists of `__attribute__((...))` and `[[...]]`; of the latter what cannot be read is passed.
    fn attribute_list(&mut self, gnu: bool, list: &mut Vec<Attr>) -> Parsed<()> {
        self.at += usize::from(gnu);
        let close = self.group_end(self.at + 1) - 1;
        let names = |p: &mut Self| {
            loop {
                if p.is(T::Ident) {
                    list.push(p.named_attribute(gnu)?);
                }
                if !p.eat(T::Comma) {
                    p.at = if gnu { p.at } else { close };
                    return Ok(());
                }
            }
        };
        if gnu {
            self.parenthesised("`)`", |p| p.parenthesised("`,` or `)`", names))
        } else {
            self.group("`]`", |p| p.group("`]`", names))
        }
    }

    /// `named = [ [ name "::" ] name [ "(" [ assignment { "," assignment } ] ")" ] ]`; arguments are GNU's alone.
    fn named_attribute(&mut self, gnu: bool) -> Parsed<Attr> {
        let start = self.at;
        let scoped = self.kind_at(start + 1) == Some(T::ColonColon);
        let scope = scoped.then(|| self.ident_at(start));
        self.at += 2 * usize::from(scoped);
        let (name, text) = (self.ident_at(self.at), self.text_at(self.at));
        let bare = text.strip_prefix("__").and_then(|text| text.strip_suffix("__")).unwrap_or(text);
        let (refused, known) = (is_refused(bare), known(bare));
        let symbol = self.session.names.lookup(bare).unwrap_or(name.name);
        if refused && (gnu || scoped && self.is_text(start, "gnu")) {
            // It changes what a program means, and nothing here carries it out.
            let what = format!("the attribute `{bare}` is");
            self.outside(Code::E0239, name.span, &what, "");
        }
        self.at += 1;
        let mut args = Vec::new();
        if gnu && self.is(T::LParen) {
            args = self.group("`,` or `)`", |p| p.list_before(T::RParen, Self::assignment))?;
        }
        self.skip_parentheses();
        let kind = match known {
            _ if !gnu => AttrKind::Std { scope, name },
            Some(Known::Aligned) if args.len() <= 1 => AttrKind::Align(args.pop()),
            _ => AttrKind::Gnu { name: Ident { name: symbol, ..name }, args },
        };
        Ok(Attr { kind, span: self.since(start) })
    }
}
