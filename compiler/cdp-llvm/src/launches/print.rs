//! The module as a pass of the launch optimiser leaves it, for `--print-after`.

use inkwell::module::Module;

/// A pass of the launch optimiser, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchPass {
    /// Variables in registers, functions that launch in the kernels that call them.
    Prepare,
    /// Streams that are created for one launch are not.
    Streams,
    /// Each launch site that changes is a call of a function made for it.
    Sites,
    /// These functions, and what they call, stand where they are called.
    Inline,
}

impl LaunchPass {
    /// Every pass, in the order in which they run.
    pub const ALL: [LaunchPass; 4] =
        [LaunchPass::Prepare, LaunchPass::Streams, LaunchPass::Sites, LaunchPass::Inline];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LaunchPass::Prepare => "prepare",
            LaunchPass::Streams => "streams",
            LaunchPass::Sites => "sites",
            LaunchPass::Inline => "inline",
        }
    }

    /// The pass of a name.
    pub fn from_name(name: &str) -> Option<LaunchPass> {
        Self::ALL.into_iter().find(|pass| pass.name() == name)
    }
}

/// Keeps the module's text after one pass.
pub(super) struct Printer {
    wanted: Option<LaunchPass>,
    pub printed: Option<String>,
}

impl Printer {
    pub fn new(wanted: Option<LaunchPass>) -> Printer {
        Printer { wanted, printed: None }
    }

    pub fn after(&mut self, pass: LaunchPass, module: &Module<'_>) {
        if self.wanted == Some(pass) {
            self.printed = Some(module.print_to_string().to_string());
        }
    }
}
