//! Constant configurations of launches that no device runs.

use cdp_diagnostics::Code;
use cdp_ir as ir;
use cdp_ir::{Const, Dim, Expr, ExprKind};
use cdp_launch::limits::{
    MAX_BLOCK_THREADS, MAX_BLOCK_Z, MAX_GRID_X, MAX_GRID_YZ, max_shared_bytes,
};

use crate::Body;
use crate::source::{Launch, Source};

/// What comes of a configuration that no device has (H200, CUDA 13.0, the same by nvcc).
const REFUSED: &str = "the launch would fail: with cudaErrorInvalidConfiguration (9) from a kernel, with \
    cudaErrorInvalidValue (1) from host code";

/// The value of a constant integer.
fn integer(expr: &Expr, source: &dyn Source) -> Option<i128> {
    ir::evaluate::int_of(&source.constant(expr)?)
}

impl Body {
    /// The constant components of a grid or block, as far as they are known.
    pub(crate) fn axes(&self, dim: &Dim, source: &dyn Source) -> [Option<i128>; 3] {
        match dim {
            Dim::Xyz(axes) => [0, 1, 2].map(|axis| integer(&axes[axis], source)),
            Dim::Record(value) => match self.record(value, source) {
                Some(Const::Record(fields)) => [0u32, 1, 2].map(|axis| {
                    let field = fields.iter().find(|(index, _)| *index == axis);
                    field.and_then(|(_, value)| ir::evaluate::int_of(value))
                }),
                _ => [None; 3],
            },
        }
    }

    /// The constant of a record value: directly, or of a variable that is never changed.
    fn record(&self, value: &Expr, source: &dyn Source) -> Option<Const> {
        if let Some(constant) = source.constant(value) {
            return Some(constant);
        }
        let ExprKind::Load { addr, .. } = &value.kind else { return None };
        let ExprKind::LocalAddr(local) = &addr.kind else { return None };
        let facts = self.facts(*local);
        facts.initial.clone().filter(|_| !facts.changed && !facts.escaped)
    }

    pub(crate) fn check_configuration(
        &mut self,
        launch: &ir::Launch,
        made: &Launch,
        source: &dyn Source,
    ) {
        let (grid, block) = (self.axes(&launch.grid, source), self.axes(&launch.block, source));
        self.check_dimensions(grid, block, made);
        let shared = integer(&launch.shared_bytes, source);
        let arch = source.arch();
        if let (Some(value), Some(most)) = (shared, max_shared_bytes(arch))
            && value > i128::from(most)
        {
            let span = made.config.get(2).copied().unwrap_or(made.config_span);
            let message =
                format!("{value} bytes of shared memory; sm_{arch} has at most {most} for a block");
            self.report(Code::E0408, span, message);
        }
    }

    fn check_dimensions(
        &mut self,
        grid: [Option<i128>; 3],
        block: [Option<i128>; 3],
        made: &Launch,
    ) {
        let [grid_span, block_span, ..] = made.config[..] else { return };
        for (index, axis) in ["x", "y", "z"].iter().enumerate() {
            let most_block = [MAX_BLOCK_THREADS, MAX_BLOCK_THREADS, MAX_BLOCK_Z][index];
            let most_grid = [MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ][index];
            let checks = [
                (block[index], most_block, "block", block_span, Code::E0406),
                (grid[index], most_grid, "grid", grid_span, Code::E0407),
            ];
            for (value, most, what, span, code) in checks {
                let Some(value) = value else { continue };
                if value == 0 {
                    let message = format!("the {what} has no extent in {axis}");
                    self.report(code, span, message).label("this is 0").note(REFUSED);
                    return;
                }
                if value > i128::from(most) {
                    let message =
                        format!("the {what} is {value} in {axis}; at most {most} is possible");
                    self.report(code, span, message).note(REFUSED);
                    return;
                }
            }
        }
        let Some(threads) = product(block) else { return };
        if threads > i128::from(MAX_BLOCK_THREADS) {
            let message = format!("the block has {threads} threads; at most 1,024 are possible");
            self.report(Code::E0406, block_span, message).note(REFUSED);
            return;
        }
        let Some(child) = made.child else { return };
        let bound = child.max_threads;
        if bound > 0 && threads > i128::from(bound) {
            let message =
                format!("the block has {threads} threads, but the kernel promises at most {bound}");
            self.report(Code::E0406, block_span, message)
                .secondary(child.declared, format!("`__launch_bounds__({bound})` is here"))
                .note("the launch would fail");
        }
    }
}

/// The threads of a block, or blocks of a grid, if all axes are known.
pub(crate) fn product(axes: [Option<i128>; 3]) -> Option<i128> {
    axes.into_iter().try_fold(1i128, |product, axis| Some(product * axis?))
}
