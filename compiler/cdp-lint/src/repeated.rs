//! Launches that every thread of a block makes alike, which is rarely meant.

use std::collections::HashMap;

use cdp_diagnostics::source::Span;
use cdp_diagnostics::{Code, Diagnostic};
use cdp_ir as ir;

use crate::Body;
use crate::configuration::product;
use crate::results::{Pending, Told};
use crate::source::{Launch, Site, Source};

/// What is known of a whole program.
#[derive(Default)]
pub struct Unit {
    /// By kernel: the threads of a block of each launch of it, where known.
    block_threads: HashMap<u32, Vec<Option<i128>>>,
    repeated: Vec<Repeated>,
    pub(crate) pending: Vec<Pending>,
    /// By kernel whose body has come.
    pub(crate) kernels: HashMap<u32, Told>,
}

/// A launch that does not depend on the thread.
struct Repeated {
    parent: u32,
    child: Option<u32>,
    name: String,
    span: Span,
}

impl Body {
    pub(crate) fn note_repeated(
        &mut self,
        launch: &ir::Launch,
        site: &Site,
        made: &Launch,
        source: &dyn Source,
    ) {
        if let Some(child) = made.child {
            let threads = product(self.axes(&launch.block, source));
            self.unit.block_threads.entry(child.key).or_default().push(threads);
        }
        let here = self.function.kernel && !self.conditions.divergent() && !made.in_loop;
        let alike = here
            && self.is_dim_uniform(&launch.grid)
            && self.is_dim_uniform(&launch.block)
            && self.is_uniform(&launch.shared_bytes)
            && launch.args.iter().all(|arg| self.is_uniform(arg));
        if alike {
            let (parent, child) = (self.function.key, made.child.map(|child| child.key));
            let name = site.name.to_string();
            self.unit.repeated.push(Repeated { parent, child, name, span: site.span });
        }
    }
}

impl Unit {
    /// Adds what a function has told.
    pub(crate) fn extend(&mut self, other: Unit) {
        for (kernel, threads) in other.block_threads {
            self.block_threads.entry(kernel).or_default().extend(threads);
        }
        self.repeated.extend(other.repeated);
        self.pending.extend(other.pending);
        self.kernels.extend(other.kernels);
    }

    /// What is known only at the end of the program.
    pub fn finish(&mut self, source: &dyn Source) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for repeated in &self.repeated {
            let threads = self.block_threads.get(&repeated.parent);
            let many = threads
                .is_some_and(|list| list.iter().all(|count| count.is_some_and(|count| count > 1)));
            // A child that counts its launches is meant to be launched many times.
            let counts = repeated
                .child
                .is_some_and(|child| self.kernels.get(&child).is_none_or(|told| told.counts));
            if !many || counts {
                continue;
            }
            let (parent, child) = (source.function(repeated.parent), &repeated.name);
            let message =
                format!("every thread of `{parent}` launches `{child}` with the same arguments");
            let mut lint = Diagnostic::new(Code::W0712, repeated.span, message);
            lint.note("a launch is made by each thread that reaches it")
                .help("let one thread of the block launch: `if (threadIdx.x == 0) { ... }`");
            found.push(lint);
        }
        let judge = |pending: &Pending| pending.judge(&self.kernels, source);
        found.extend(self.pending.iter().filter_map(judge));
        found
    }
}
