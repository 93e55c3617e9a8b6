//! Which statements of a body are kept when only findings are wanted and no code.
//!
//! Finished bodies are asked a few questions only: whether control reaches their end (`flow`), what is read
//! after a launch (`results`), and whether anything of a kind stands in them (`warnings`, `results`). So
//! control flow stays, and of the expressions those behind a launch, those that do not come back, and the
//! first of each kind. A kernel of a million statements then takes the memory of its tree.

use cdp_ir as ir;
use cdp_ir::{Expr, StmtKind};

use super::results::written_pointer;
use super::state::Checker;
use super::warnings::{expr_has, is_counting};

impl Checker<'_> {
    /// Whether a statement may be left out.
    pub fn is_superfluous(&mut self, kind: &StmtKind) -> bool {
        let StmtKind::Expr(expr) = kind else { return false };
        let constexpr = self.f.func.is_none_or(|id| self.func(id).constexpr);
        if self.options.module || constexpr || self.f.builtin_body || !self.f.sites.is_empty() {
            return false;
        }
        !ir::flow::never_returns(expr, &self.module) && !self.answers_more(expr)
    }

    /// Whether an expression says what no kept one says.
    fn answers_more(&mut self, expr: &Expr) -> bool {
        let known = &self.f.witnesses;
        let counts = !known.counts && expr_has(expr, &is_counting);
        let mut written = Vec::new();
        collect_written(expr, &mut written);
        written.retain(|local| !known.written.contains(local));
        let more = counts || !written.is_empty();
        let known = &mut self.f.witnesses;
        known.counts |= counts;
        known.written.extend(written);
        more
    }
}

/// The pointer variables that an expression stores through.
fn collect_written(expr: &Expr, out: &mut Vec<ir::LocalId>) {
    out.extend(written_pointer(expr));
    ir::for_each_child(expr, &mut |child| collect_written(child, out));
}
