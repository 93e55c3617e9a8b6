//! The syntax tree as text, for `--emit ast` and for tests: a declaration or statement a line, those inside
//! it indented below.
//!
//! It is made of what `Debug` says of the tree, so that a new node needs nothing here and no field of one is
//! forgotten. Places are left out, and so is what is empty; what need not be there has its name before it.
//! For reading, not for parsing back.

use crate::ast::{Decl, TranslationUnit};
use crate::intern::Symbol;
use crate::session::Session;

/// The whole unit, what the compiler's own headers declare left out.
pub fn print(unit: &TranslationUnit, session: &Session) -> String {
    let own = |decl: &&Decl| {
        let site = session.sources.call_site(decl.span);
        session.sources.file_of(site.lo).is_none_or(|file| !session.sources.file(file).system)
    };
    let mut out = String::new();
    for decl in unit.decls.iter().filter(own) {
        let text = format!("{decl:?}");
        Reader { rest: &text, session }.value().line("", 0, &mut out);
    }
    out
}

/// Variants, and structures, of which the content says all.
const VARIANTS: &str = "Builtin Cuda Decl Expr Float Int Name Named Qualified Record String";
const STRUCTURES: &str = "AsmOperand Block DeclSpecs Declarator Designation Enumerator FloatLit Front Ident \
    InitDeclarator InitItem InitList IntLit Param QualName Qualifiers TypeName";

fn is_bare(name: &str, list: &str) -> bool {
    list.split(' ').any(|bare| bare == name)
}

/// A part of the tree.
enum Node<'t> {
    /// Nothing: `None`, an empty list, a structure of nothing.
    Absent,
    /// A place in the source.
    Place,
    Atom(&'t str),
    List(Vec<Node<'t>>),
    /// `Some`; of a place it says that what the field is named for is there.
    Given(Option<Box<Node<'t>>>),
    Tree(Tree<'t>),
}

/// A variant or structure.
struct Tree<'t> {
    head: &'t str,
    /// Each with a label or an empty one.
    parts: Vec<(&'t str, Node<'t>)>,
    /// It has a line of its own.
    line: bool,
    /// A structure, which a variant around it names.
    structure: bool,
}

impl<'t> Node<'t> {
    fn has_line(&self) -> bool {
        match self {
            Node::Tree(tree) => tree.line,
            Node::List(items) => items.iter().any(Node::has_line),
            _ => false,
        }
    }

    /// Writes what has a line of its own, and below it what in it has one.
    fn line(&self, label: &str, indent: usize, out: &mut String) {
        if let Node::List(items) = self {
            return items.iter().for_each(|item| item.line("", indent, out));
        }
        let mut below = Vec::new();
        let text = self.words(&mut below);
        let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
        out.push_str(&format!("{}{label}{}\n", "  ".repeat(indent), text.join(" ")));
        for (label, node) in below {
            node.line(label, indent + 1, out);
        }
    }

    /// Head and parts as text. What has a line of its own comes to `below`.
    fn words<'n>(&'n self, below: &mut Vec<(&'n str, &'n Node<'t>)>) -> Vec<String> {
        match self {
            Node::Tree(tree) => {
                let mut words = Vec::new();
                words.extend((!tree.head.is_empty()).then(|| tree.head.to_owned()));
                for (label, node) in &tree.parts {
                    if node.has_line() {
                        below.push((label, node));
                        continue;
                    }
                    let text = node.text(below);
                    words.push(if label.is_empty() { text } else { format!("{label}={text}") });
                }
                words
            }
            Node::Atom(text) => vec![(*text).to_owned()],
            Node::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.text(below)).collect();
                vec![format!("[{}]", items.join(", "))]
            }
            Node::Absent | Node::Place | Node::Given(_) => Vec::new(),
        }
    }

    fn text<'n>(&'n self, below: &mut Vec<(&'n str, &'n Node<'t>)>) -> String {
        let words = self.words(below);
        if words.len() == 1 { words.concat() } else { format!("({})", words.join(" ")) }
    }
}

/// Reads what `Debug` wrote.
struct Reader<'t> {
    rest: &'t str,
    session: &'t Session,
}

impl<'t> Reader<'t> {
    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        text
    }

    /// Up to one of these characters, or the end.
    fn until(&mut self, ends: &[char]) -> &'t str {
        self.take(self.rest.find(ends).unwrap_or(self.rest.len()))
    }

    fn value(&mut self) -> Node<'t> {
        if self.eat("[") {
            let items = self.values("]");
            return if items.is_empty() { Node::Absent } else { Node::List(items) };
        }
        if self.rest.starts_with('"') {
            let mut escaped = false;
            let end = self.rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            return Node::Atom(self.take(end.map_or(self.rest.len(), |end| end + 2)));
        }
        let name = self.until(&[' ', ',', '(', ')', ']']);
        if self.eat("(") {
            return self.variant(name);
        }
        if self.eat(" { ") {
            return self.structure(name);
        }
        if name.is_empty() {
            // Nothing that the tree has: it is passed all the same, so that reading ends.
            let length = self.rest.chars().next().map_or(0, char::len_utf8);
            return Node::Atom(self.take(length));
        }
        if matches!(name, "None" | "Plain") { Node::Absent } else { Node::Atom(name) }
    }

    fn values(&mut self, close: &str) -> Vec<Node<'t>> {
        let mut values = Vec::new();
        while !self.eat(close) && !self.rest.is_empty() {
            values.push(self.value());
            self.eat(", ");
        }
        values
    }

    /// `Name(value, ...)`
    fn variant(&mut self, name: &'t str) -> Node<'t> {
        if name == "Symbol" {
            let number = self.until(&[')']).parse().unwrap_or_default();
            self.eat(")");
            return Node::Atom(self.session.name(Symbol(number)));
        }
        let mut values = self.values(")");
        let value = values.pop().unwrap_or(Node::Absent);
        match value {
            Node::Place if name == "Some" => Node::Given(None),
            Node::Absent if name == "Some" => Node::Given(Some(Box::new(Node::List(Vec::new())))),
            value if name == "Some" => Node::Given(Some(Box::new(value))),
            value if is_bare(name, VARIANTS) => value,
            Node::Absent => Node::Atom(name),
            Node::Tree(tree) if tree.structure => {
                Node::Tree(Tree { head: name, structure: false, ..tree })
            }
            Node::Given(Some(value)) => tree(name, [*value]),
            Node::List(items) => tree(name, items),
            value => tree(name, [value]),
        }
    }

    /// `Name { field: value, ... }`
    fn structure(&mut self, name: &'t str) -> Node<'t> {
        let (mut head, mut parts) = (None, Vec::new());
        while !self.eat("}") && !self.rest.is_empty() {
            let field = self.until(&[':']);
            self.eat(": ");
            match self.value() {
                Node::Absent | Node::Place | Node::Atom("false") => {}
                // The operator is the name.
                _ if matches!(field, "depth" | "operator") => {}
                Node::Atom(kind) if field == "kind" => head = Some(kind),
                Node::Tree(tree) if field == "kind" => {
                    head = Some(tree.head);
                    parts.splice(0..0, tree.parts);
                }
                Node::Atom("true") | Node::Given(None) => {
                    parts.push(("", Node::Atom(field.trim_end_matches('_'))));
                }
                Node::Given(Some(value)) => parts.push((field, *value)),
                value @ Node::List(_) => parts.push((field, value)),
                value => parts.push(("", value)),
            }
            if !self.eat(", ") {
                self.eat(" ");
            }
        }
        let line = matches!(name, "Decl" | "Stmt");
        let bare = is_bare(name, STRUCTURES);
        match parts.len() {
            _ if name == "Span" => Node::Place,
            0 if bare => Node::Absent,
            1 if bare => parts.remove(0).1,
            _ => {
                let structure = head.is_none();
                let head = head.unwrap_or(if bare { "" } else { name });
                Node::Tree(Tree { head, parts, line, structure })
            }
        }
    }
}

fn tree<'t>(head: &'t str, items: impl IntoIterator<Item = Node<'t>>) -> Node<'t> {
    let parts = items.into_iter().map(|item| ("", item)).collect();
    Node::Tree(Tree { head, parts, line: false, structure: false })
}
