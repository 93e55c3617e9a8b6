//! Statements. A statement that is wrong becomes an error and is passed over to its `;` or past its
//! block; the next one is read as usual.

use super::*;

impl<'a> Parser<'a> {
    // block = "{" { statement } "}"
    pub fn block(&mut self) -> Block {
        let start = self.at;
        let close = self.group_end(start) - 1;
        self.at += 1;
        let stmts = self.scoped(|p| {
            let mut stmts = Vec::new();
            while p.at < close {
                let before = p.at;
                if p.word() == Word::Else {
                    let message = "this `else` belongs to no `if`";
                    p.error(Code::E0201, p.span_at(p.at), message)
                        .help("an `if` with several statements needs braces around them");
                } else {
                    stmts.push(p.statement());
                }
                p.at = p.at.max(before + 1);
            }
            stmts.shrink_to_fit();
            stmts
        });
        self.at = close + 1;
        Block { stmts, span: self.since(start), close_span: self.span_at(close) }
    }

    /// An error in place of a statement that began at `start`, the rest of which is passed over.
    fn skipped_statement(&mut self, start: usize) -> Stmt {
        self.skip_item();
        if self.is_specifier_at(start) {
            self.lose(start);
        }
        Stmt::new(StmtKind::Error, self.since(start))
    }

    // statement = { label | pragma } ( block | if | switch | while | do | for | "break" ";"
    //           | "continue" ";" | "goto" name ";" | "return" [ expression | braces ] ";" | asm
    //           | declaration | expression ";" | ";" )
    pub fn statement(&mut self) -> Stmt {
        let start = self.at;
        let result = self.nested("statements are", Self::prefixed);
        result.unwrap_or_else(|_| {
            let skipped = self.skipped_statement(start);
            while self.word() == Word::Else {
                self.at += 1;
                self.skip_item();
            }
            skipped
        })
    }

    fn prefixed(&mut self) -> Parsed<Stmt> {
        let start = self.at;
        let (mut labels, mut pragmas) = (Vec::new(), Vec::new());
        loop {
            if let Some(label) = self.label()? {
                labels.push(label);
            } else if let Some(pragma) = self.pragma()? {
                pragmas.push(pragma);
            } else if !self.skip_statement_attribute() {
                break;
            }
        }
        // Pragmas at the end of a block mean nothing.
        if labels.is_empty() && !pragmas.is_empty() && self.is(T::RBrace) {
            return Ok(Stmt::new(StmtKind::Empty, self.since(start)));
        }
        let first = self.at;
        let mut stmt = self.bare_statement().unwrap_or_else(|_| self.skipped_statement(first));
        if !labels.is_empty() || !pragmas.is_empty() {
            stmt.front = Some(Box::new(Front { labels, pragmas }));
            stmt.span = self.since(start);
        }
        Ok(stmt)
    }

    /// `[[fallthrough]]`, `[[likely]]`, `__attribute__((fallthrough))`: none changes what a program does.
    fn skip_statement_attribute(&mut self) -> bool {
        let gnu = (self.word() == Word::GnuAttribute).then(|| self.group_end(self.at + 1));
        let declares =
            |end: usize| self.kind_at(end) == Some(T::LBracket) || self.is_specifier_at(end);
        let end = gnu.or_else(|| self.std_attribute_end()).filter(|end| !declares(*end));
        self.at = end.unwrap_or(self.at);
        end.is_some()
    }

    // label = "case" expression [ "..." expression ] ":" | "default" ":" | name ":"
    fn label(&mut self) -> Parsed<Option<Label>> {
        let start = self.at;
        let kind = match self.word() {
            Word::Case => {
                self.at += 1;
                let first = self.expression()?;
                match self.after(T::Ellipsis, Self::expression)? {
                    Some(last) => LabelKind::CaseRange(first, last),
                    None => LabelKind::Case(first),
                }
            }
            Word::Default => {
                self.at += 1;
                LabelKind::Default
            }
            Word::Name if self.is_name() && self.kind_at(start + 1) == Some(T::Colon) => {
                LabelKind::Named(self.ident()?)
            }
            _ => return Ok(None),
        };
        self.expect(T::Colon, "`:`")?;
        Ok(Some(Label { kind, span: self.since(start) }))
    }

    // pragma = "#unroll" [ expression ] end | "#nounroll" | "#cdp"
    pub fn pragma(&mut self) -> Parsed<Option<Pragma>> {
        let start = self.at;
        let Some(kind @ (T::PragmaUnroll | T::PragmaNoUnroll | T::PragmaCdp)) = self.kind() else {
            return Ok(None);
        };
        self.at += 1;
        let kind = match kind {
            T::PragmaUnroll => {
                let count = self.unless(T::PragmaEnd, Self::expression)?;
                self.expect(T::PragmaEnd, "the end of the line")?;
                PragmaKind::Unroll(count)
            }
            T::PragmaNoUnroll => PragmaKind::NoUnroll,
            _ => PragmaKind::Cdp(self.symbol_at(start)),
        };
        Ok(Some(Pragma { kind, span: self.since(start) }))
    }

    fn bare_statement(&mut self) -> Parsed<Stmt> {
        let (start, word, keyword) = (self.at, self.word(), self.span_at(self.at));
        self.at += usize::from(word.begins_statement());
        let kind = match word {
            Word::If => self.if_statement(keyword)?,
            Word::Switch => self.switch_statement(keyword)?,
            Word::While => self.while_statement(keyword)?,
            Word::Do => self.do_statement(keyword)?,
            Word::For => self.for_statement(keyword)?,
            Word::Break => self.jump("`break`", StmtKind::Break)?,
            Word::Continue => self.jump("`continue`", StmtKind::Continue)?,
            Word::Goto => self.goto_statement()?,
            Word::Return => self.return_statement()?,
            Word::Asm => self.asm_statement()?,
            Word::Refused(Refusal::Try) => {
                self.refuse_word(Refusal::Try);
                self.at += 1;
                let body = self.bare_statement();
                while self.word() == Word::Refused(Refusal::Catch) {
                    self.skip_item();
                }
                return body;
            }
            // It stays for the `if` around this statement.
            Word::Else => {
                self.at = start;
                self.expected("a statement");
                StmtKind::Error
            }
            _ if self.is(T::LBrace) => self.block().into(),
            _ if self.eat(T::Semi) => StmtKind::Empty,
            Word::Using | Word::StaticAssert | Word::Namespace => self.declaration_statement()?,
            _ if self.declares() => self.declaration_statement()?,
            _ => self.expression_statement()?,
        };
        Ok(Stmt::new(kind, self.since(start)))
    }

    fn declaration_statement(&mut self) -> Parsed<StmtKind> {
        self.decl(|p| p.any_declaration(Context::Block)).map(StmtKind::Decl)
    }

    fn expression_statement(&mut self) -> Parsed<StmtKind> {
        if !self.begins_expression() {
            return Err(self.expected("a statement"));
        }
        let value = self.expression()?;
        self.semicolon("this expression", "`;` or `,`")?;
        Ok(StmtKind::Expr(value))
    }

    // ---- Branches and loops ------------------------------------------------------------------------

    /// `"(" ... ")"` after a keyword. What is wrong in it becomes `error`, and the body is read.
    fn head<X>(&mut self, contents: impl Rule<'a, X>, error: fn(Expr) -> X) -> Parsed<X> {
        let (start, is_group) = (self.at, self.is(T::LParen));
        if is_group && let Ok(head) = self.group("`)`", contents) {
            return Ok(head);
        }
        if !is_group {
            self.bare_head()?;
        }
        let first = start + usize::from(is_group);
        if self.is_specifier_at(first) {
            self.lose(first);
        }
        Ok(error(self.error_expr(start)))
    }

    /// What stands in place of a head, reported and passed up to the `{` on its line.
    fn bare_head(&mut self) -> Parsed<()> {
        let start = self.at;
        let message = format!("expected `(`, found {}", self.found());
        self.error(Code::E0201, self.span_at(start), message)
            .help("what a statement tests stands in parentheses");
        let ends = |at| matches!(self.kind_at(at), None | Some(T::LBrace | T::RBrace));
        let mut at = start;
        while !ends(at) && (at == start || !self.starts_line(at)) {
            at = self.group_end(at);
        }
        if self.kind_at(at) != Some(T::LBrace) || self.starts_line(at) {
            return Err(Fault::Syntax);
        }
        self.at = at;
        Ok(())
    }

    // if = "if" [ "constexpr" ] "(" [ init ] condition ")" statement [ "else" statement ]
    fn if_statement(&mut self, keyword_span: Span) -> Parsed<StmtKind> {
        let constexpr = self.is_text(self.at, "constexpr").then(|| self.span_at(self.at));
        self.at += usize::from(constexpr.is_some());
        self.scoped(|p| {
            let (init, condition) = p.test()?;
            let then = p.statement();
            let otherwise = (p.word() == Word::Else).then(|| {
                p.at += 1;
                p.statement()
            });
            Ok(IfStmt { keyword_span, constexpr, init, condition, then, otherwise }.into())
        })
    }

    // switch = "switch" "(" [ init ] condition ")" statement
    fn switch_statement(&mut self, keyword_span: Span) -> Parsed<StmtKind> {
        self.scoped(|p| {
            let (init, condition) = p.test()?;
            Ok(SwitchStmt { keyword_span, init, condition, body: p.statement() }.into())
        })
    }

    // while = "while" "(" condition ")" statement
    fn while_statement(&mut self, keyword_span: Span) -> Parsed<StmtKind> {
        self.scoped(|p| {
            let condition = Box::new(p.head(Self::condition, Condition::Expr)?);
            let body = Box::new(p.statement());
            Ok(StmtKind::While { keyword_span, condition, body })
        })
    }

    // do = "do" statement "while" "(" expression ")" ";"
    fn do_statement(&mut self, keyword_span: Span) -> Parsed<StmtKind> {
        let body = Box::new(self.statement());
        if self.word() != Word::While {
            return Err(self.expected("`while`"));
        }
        self.at += 1;
        let condition = Box::new(self.head(Self::expression, |error| error)?);
        self.semicolon("`do ... while (...)`", "`;`")?;
        Ok(StmtKind::DoWhile { keyword_span, body, condition })
    }

    // for = "for" "(" init [ condition ] ";" [ expression ] ")" statement
    //     | "for" "(" [ init ] specifiers declarator ":" initialiser-clause ")" statement
    fn for_statement(&mut self, keyword_span: Span) -> Parsed<StmtKind> {
        self.scoped(|p| {
            if p.is(T::LParen) && p.is_range_for(p.at) {
                return p.range_for(keyword_span);
            }
            let head = |p: &mut Self| {
                let init = p.init()?;
                let condition = p.unless(T::Semi, Self::condition)?;
                p.expect(T::Semi, "`;`")?;
                Ok((init, condition, p.unless(T::RParen, Self::expression)?))
            };
            let (init, condition, step) = p.head(head, |error| {
                let span = error.span;
                (Stmt::new(StmtKind::Expr(error), span), None, None)
            })?;
            Ok(ForStmt { keyword_span, init, condition, step, body: p.statement() }.into())
        })
    }

    fn range_for(&mut self, keyword_span: Span) -> Parsed<StmtKind> {
        let head = self.group("`)`", |p| {
            let (init, variable) = (p.optional_init()?, p.variable()?);
            p.expect(T::Colon, "`:`")?;
            Ok((init, variable, p.initialiser_clause()?))
        });
        let body = self.statement();
        let Ok((init, variable, range)) = head else { return Ok(StmtKind::Error) };
        Ok(RangeForStmt { keyword_span, init, variable, range, body }.into())
    }

    /// `[ init ]`: if a `;` follows in these parentheses.
    fn optional_init(&mut self) -> Parsed<Option<Stmt>> {
        let end = self.find(self.at, |kind| kind == T::Semi);
        if self.kind_at(end) == Some(T::Semi) { self.init().map(Some) } else { Ok(None) }
    }

    // "(" [ init ] condition ")"
    fn test(&mut self) -> Parsed<(Option<Stmt>, Condition)> {
        let test = |p: &mut Self| Ok((p.optional_init()?, p.condition()?));
        self.head(test, |error| (None, Condition::Expr(error)))
    }

    // init = declaration | [ expression ] ";"
    fn init(&mut self) -> Parsed<Stmt> {
        let start = self.at;
        let kind = if self.eat(T::Semi) {
            StmtKind::Empty
        } else if self.declares() {
            StmtKind::Decl(self.decl(|p| p.declaration(Context::Block))?)
        } else {
            let value = self.expression()?;
            self.expect(T::Semi, "`;` or `,`")?;
            StmtKind::Expr(value)
        };
        Ok(Stmt::new(kind, self.since(start)))
    }

    // condition = expression | specifiers init-declarator
    fn condition(&mut self) -> Parsed<Condition> {
        if !self.declares() {
            return Ok(Condition::Expr(self.expression()?));
        }
        self.decl(|p| Ok(p.variable()?.into())).map(Condition::Decl)
    }

    /// `specifiers init-declarator` in a head
    fn variable(&mut self) -> Parsed<SimpleDecl> {
        let specs = self.specifiers(Context::Block)?;
        let declarators = vec![self.init_declarator(&specs)?];
        Ok(SimpleDecl { specs: specs.specs, declarators })
    }

    // ---- Jumps and assembly ------------------------------------------------------------------------

    fn jump(&mut self, what: &str, kind: StmtKind) -> Parsed<StmtKind> {
        self.semicolon(what, "`;`")?;
        Ok(kind)
    }

    fn goto_statement(&mut self) -> Parsed<StmtKind> {
        let name = self.ident()?;
        self.semicolon("this statement", "`;`")?;
        Ok(StmtKind::Goto(name))
    }

    fn return_statement(&mut self) -> Parsed<StmtKind> {
        let value = match self.kind() {
            Some(T::LBrace) => Some(self.initialiser_clause()?),
            _ if self.begins_expression() => Some(self.expression()?),
            _ => None,
        };
        let wanted = if value.is_some() { "`;` or `,`" } else { "`;`" };
        self.semicolon("`return`", wanted)?;
        Ok(StmtKind::Return(value))
    }

    // asm      = "asm" { qualifier } "(" string [ ":" operands [ ":" operands [ ":" clobbers ] ] ] ")" ";"
    // operands = [ operand { "," operand } ]
    // operand  = [ "[" name "]" ] string "(" expression ")"
    fn asm_statement(&mut self) -> Parsed<StmtKind> {
        let mut volatile = None;
        while matches!(self.word(), Word::Qualifier | Word::Storage) {
            if self.text_at(self.at).contains("volatile") {
                volatile = volatile.or(Some(self.span_at(self.at)));
            }
            self.at += 1;
        }
        let asm = self.parenthesised("`:` or `)`", |p| {
            let template = p.required_string()?;
            let basic = p.is(T::RParen);
            let (mut operands, mut clobbers) = ([Vec::new(), Vec::new()], Vec::new());
            // How many colons were passed.
            let mut list = 0;
            while let Some(colons @ (T::Colon | T::ColonColon)) = p.kind() {
                list += if colons == T::Colon { 1 } else { 2 };
                if list > 3 {
                    return Err(p.expected("a clobber or `)`"));
                }
                p.at += 1;
                match p.kind() {
                    Some(T::Colon | T::ColonColon | T::RParen) => {}
                    _ if list == 3 => clobbers = p.list(Self::required_string)?,
                    _ => operands[list - 1] = p.list(Self::asm_operand)?,
                }
            }
            let [outputs, inputs] = operands;
            Ok(AsmStmt { volatile, template, outputs, inputs, clobbers, basic })
        })?;
        self.semicolon("this `asm`", "`;`")?;
        Ok(asm.into())
    }

    fn asm_operand(&mut self) -> Parsed<AsmOperand> {
        let start = self.at;
        let named = self.is(T::LBracket);
        let name = if named { Some(self.group("`]`", Self::ident)?) } else { None };
        let constraint = self.required_string()?;
        let expr = self.parenthesised("`,` or `)`", Self::expression)?;
        Ok(AsmOperand { name, constraint, expr, span: self.since(start) })
    }
}
