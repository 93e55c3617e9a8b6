//! Range-based `for` over arrays (C++ [stmt.ranged]): the array is evaluated once, and the variable
//! of each turn is an element or a reference to it. Other ranges call member functions, which the
//! subset does not have.

use cdp_ir as ir;
use cdp_ir::{BinaryOp, CompareOp, Expr, ExprKind, StmtKind, Unroll};

use super::convert::Purpose;
use super::ctype::{Basic, QualType};
use super::init::Node;
use super::scope::Memory;
use super::state::Checker;
use super::value::Value;
use super::variable::VarRequest;
use crate::ast::{self, StorageKind};
use crate::diagnostics::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    pub fn range_for(&mut self, stmt: &'a ast::RangeForStmt, unroll: Option<Unroll>, loc: ir::Loc) {
        self.names.scopes.enter_head();
        if let Some(init) = &stmt.init {
            self.stmt(init);
        }
        let (base, elem, len) = self.range(&stmt.range);
        let index_ty = self.types.size_t();
        let index = self.new_local("range_index".to_owned(), index_ty, 0, stmt.keyword_span);
        self.emit(StmtKind::Declare(index), loc);
        let index_addr = self.local_addr(index, loc);
        let zero = self.const_int(0, index_ty, loc);
        self.emit_store(index_addr.clone(), zero, loc);

        let at = self.load_from(index_addr.clone(), false, loc);
        let end = self.const_int(i128::from(len), index_ty, loc);
        let ir_bool = self.types.ir.bool();
        let kind =
            ExprKind::Compare { op: CompareOp::Lt, lhs: Box::new(at.clone()), rhs: Box::new(end) };
        let cond = Some(Box::new(Expr::new(kind, ir_bool, loc)));

        self.names.scopes.enter_head();
        let mut body = self.block(|checker| {
            let place = checker.to_index(at.clone());
            let addr = checker.index_addr(base, place, loc);
            let element = match checker.types.is_error(elem) {
                true => checker.error_value(stmt.range.span),
                false => Value::lvalue(addr, elem, stmt.range.span),
            };
            checker.range_variable(&stmt.variable, element);
        });
        let inner = self.loop_body(&stmt.body);
        self.names.scopes.leave();
        body.stmts.push(ir::Stmt { kind: StmtKind::Block(inner), loc });

        let one = self.const_int(1, index_ty, loc);
        let ty = one.ty;
        let kind = ExprKind::Binary { op: BinaryOp::Add, lhs: Box::new(at), rhs: Box::new(one) };
        let next = Expr::new(kind, ty, loc);
        let step = Some(Box::new(self.store(index_addr, next, false, loc)));
        self.names.scopes.leave();
        self.emit(StmtKind::Loop { cond, body, step, test_first: true, unroll }, loc);
    }

    /// A pointer to the first element of the range, which is evaluated here, the type of its
    /// elements, and their number.
    fn range(&mut self, range: &'a ast::Expr) -> (Expr, QualType, u64) {
        let value = self.expr(range);
        let error: QualType = Basic::Error.into();
        let array = self.types.array(value.ty).and_then(|(elem, len)| Some((elem, len?)));
        let Some((elem, len)) = array.filter(|_| !self.is_error(&value)) else {
            if value.is_braces() || !self.is_error(&value) {
                self.report_range(&value, range.span);
            }
            let pointer = self.types.pointer_to(error);
            return (self.poison(pointer), error, 0);
        };
        let pointer = self.types.pointer_to(elem);
        let loc = self.loc(range.span);
        let value = self.rvalue(value);
        let first = self.expr_of(value);
        let first = self.pointer_cast(first, pointer);
        if super::value::is_simple(&first) {
            return (first, elem, len);
        }
        let slot = self.new_local("range".to_owned(), pointer, 0, range.span);
        self.emit(StmtKind::Declare(slot), loc);
        let addr = self.local_addr(slot, loc);
        self.emit_store(addr.clone(), first, loc);
        (self.load_from(addr, false, loc), elem, len)
    }

    fn report_range(&mut self, value: &Value<'a>, span: Span) {
        let (what, cure) = if value.is_braces() {
            ("a list".to_owned(), "give the list a name: `const int values[] = { ... };`")
        } else {
            let cure = "count with an index: `for (int i = 0; i < n; ++i)`";
            (self.show(value.ty), cure)
        };
        let message = format!("range-based `for` over {what} is outside the `.cdp` subset");
        self.error(Code::E0229, span, message)
            .note("it takes arrays whose bound is known")
            .help(cure);
    }

    /// The variable of one turn, initialised with an element.
    fn range_variable(&mut self, decl: &'a ast::SimpleDecl, element: Value<'a>) {
        let specs = &decl.specs;
        let base = self.spec_type(specs);
        self.around.auto_type = None;
        let Some(declarator) = decl.declarators.first() else { return };
        let pattern = self.declarator_type(base, &declarator.declarator);
        let Some(name) = &declarator.declarator.name else {
            self.error(Code::E0316, declarator.span, "a variable without a name");
            return;
        };
        for kind in [StorageKind::Static, StorageKind::Extern, StorageKind::Typedef] {
            if let Some(span) = specs.storage_span(kind) {
                let message = "this word does not belong to the variable of a range-based `for`";
                self.error(Code::E0316, span, message);
            }
        }
        let (memory, memory_span) = self.memory_of(specs, &declarator.declarator);
        if memory != Memory::Auto {
            let message = "the variable of a range-based `for` is a local one";
            self.error(Code::E0505, memory_span, message);
        }
        let text = self.text(name.base.name);
        let ty = match self.has_auto(pattern) {
            true => self.deduce(pattern, element.clone(), text, name.span),
            false => pattern,
        };
        let ty = self.object_type(ty, name.span);
        let align = self.align_attrs(&[&specs.attrs, &declarator.declarator.attrs]);
        let request = VarRequest {
            specs,
            declarator,
            name,
            ty,
            memory: Memory::Auto,
            memory_span,
            align,
            constexpr: false,
        };
        let id = self.new_var(&request, Memory::Auto);
        self.check_complete(id, name.span);
        self.make_local(id);
        self.bind_var(name.base, id);
        let ty = self.names.var(id).ty;
        if self.types.is_error(ty) || self.is_error(&element) {
            return;
        }
        if self.types.is_array(ty) {
            let message = format!("`{text}`, an array, cannot be initialised with an element");
            self.error(Code::E0313, name.span, message)
                .help(format!("make it a reference: `auto &{text}`"));
            return;
        }
        if self.types.referent(ty).is_some() {
            let loc = self.loc(name.span);
            let pointer = self.convert(element, ty, Purpose::Init(text));
            let addr = self.var_address(id, name.span);
            self.emit_store(addr, pointer, loc);
            return;
        }
        let value = self.convert(element, ty.unqualified(), Purpose::Init(text));
        self.init_local(id, Node::Value(value), name.span, false);
    }
}
