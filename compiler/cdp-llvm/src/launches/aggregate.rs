//! The kernels that run many of another: which there are to be, and their place in the module.
//!
//! What is absent: what they hold ([`super::gather`], [`super::queue`]).

use inkwell::values::{BasicMetadataValueEnum, FunctionValue};

use super::argument::Argument;
use super::parent::{LaunchSite, Parent};
use super::queue::{self, Queue};
use super::site::Mode;
use super::{Pass, Plan, Plans, code, gather, prepare, sums};
use crate::error::{Result, bug};
use crate::options::LaunchOpt;
use crate::raw;

/// A kernel whose launches are aggregated, on its way into the module.
pub(super) struct Gathered {
    /// Among [`Pass::gathers`].
    pub index: usize,
    pub arguments: Vec<Argument>,
    pub queue: Option<Queue>,
    /// Whether several lanes of a warp may launch it at a site.
    pub by_warps: bool,
}

/// Whether no two lanes of a warp launch at a site at once, where its launches are aggregated.
pub(super) fn alone_in_warp(plan: &Plan<'_>) -> bool {
    plan.single && plan.child.is_none() && plan.site.in_null_stream()
}

/// So many sites have what a queue's functions do inlined in `fast`.
const FEW_QUEUES: usize = 2;

impl<'ctx> Pass<'_, 'ctx> {
    /// Gives few sites in `fast` what a queue's functions do: their calls can be noticed in grids of some ten microseconds.
    /// In `safe`, the default, it matters more how long compiling takes.
    pub(super) fn inline_queues(&self, sites: usize) -> Result<()> {
        match self.options.launch_opt == LaunchOpt::Fast && (1..=FEW_QUEUES).contains(&sites) {
            true => code::link_queue(self.context, self.module, self.options.abi),
            false => Ok(()),
        }
    }

    /// Has a kernel call a function with its parameters, and do nothing else.
    pub(super) fn enter(&self, kernel: FunctionValue<'ctx>, entry: &str) -> Result<()> {
        let entry = self.module.get_function(entry);
        let entry = entry.ok_or_else(|| bug("optimise launches", "a kernel without an entry"))?;
        raw::delete_body(kernel);
        let block = self.context.append_basic_block(kernel, "entry");
        let builder = self.context.create_builder();
        builder.position_at_end(block);
        let operands: Vec<BasicMetadataValueEnum<'ctx>> =
            kernel.get_param_iter().map(BasicMetadataValueEnum::from).collect();
        builder.build_direct_call(entry, &operands, "")?;
        builder.build_return(None)?;
        Ok(())
    }

    /// Notes the kernel of a site whose launches are aggregated.
    pub(super) fn gathered(&self, plan: &Plan<'ctx>, gathered: &mut Vec<Gathered>) {
        let Some(index) = plan.gather else { return };
        let Ok(gather) = &self.gathers[index] else { return };
        let Some(arguments) = self.arguments(&plan.site, gather.kernel) else { return };
        let tuning = &self.options.launch_tuning;
        let by_warps = !alone_in_warp(plan);
        let queue = plan
            .queued
            .then(|| Queue::new(gather, &arguments, tuning, &plan.site.said, plan.single));
        match gathered.iter_mut().find(|other| other.index == index) {
            Some(other) => {
                let shares = queue.iter().chain(&other.queue).any(|queue| queue.shares);
                other.queue = other.queue.take().or(queue);
                other.queue.iter_mut().for_each(|queue| queue.shares = shares);
                other.by_warps |= by_warps;
            }
            None => gathered.push(Gathered { index, arguments, queue, by_warps }),
        }
    }

    /// Whether a site's launches can be told from one for a whole warp by nothing but their children.
    pub(super) fn may_gather(&self, site: &LaunchSite<'ctx>, facts: &Parent) -> bool {
        self.options.launch_tuning.gather > 0
            && self.options.abi.is_v2()
            && !self.options.per_thread_stream
            && !site.said.keep
            && facts.looks_at_errors.is_none()
            && site.stream.is_some_and(|stream| {
                stream == cdp_launch::StreamConst::FireAndForget
                    || (stream.value() == 0 && facts.obstacle.is_none())
            })
            && self.is_proper(site)
    }

    /// Finds the kernels of which several small blocks may stand beside each other in one where the launches of a grid are
    /// made few: each of its threads is for itself, launches likewise and cannot tell its place in a warp.
    pub(super) fn let_pack(&mut self, plans: &Plans<'ctx>) {
        let tuning = &self.options.launch_tuning;
        let all = || plans.iter().flat_map(|(_, plans)| plans);
        for (index, gather) in self.gathers.iter_mut().enumerate() {
            let Ok(gather) = gather else { continue };
            let mut own = plans.iter().filter(|(kernel, _)| *kernel == gather.kernel);
            let free = |plan: &Plan<'ctx>| {
                let independent = matches!(plan.mode, Mode::Independent { .. });
                let queued = plan.queued && plan.gather.is_some();
                // Lanes that run a child know what is the same for a whole block, and so for them.
                independent && queued && !plan.single && plan.child.is_none()
            };
            let shared =
                all().any(|plan| plan.gather == Some(index) && plan.site.said.coarsen.is_some());
            gather.packs = tuning.pack > 0
                && tuning.waves == 0
                && !shared
                && gather.loose
                && own.next().is_some_and(|(_, plans)| plans.iter().all(free))
                && gather::packable(gather.kernel);
        }
    }

    /// Why the launches of a site's kernel are made one by one, as the remark says it.
    pub(super) fn why_not_gathered(&self, site: &LaunchSite<'ctx>) -> Option<String> {
        let kernel = site.kernel()?.get_name().to_string_lossy().into_owned();
        let reason = self.gathers[*self.gathers_by_kernel.get(&kernel)?].as_ref().err()?;
        Some(format!("those of a grid are not launched together: {reason}"))
    }

    /// Makes the kernels that run many of another.
    pub(super) fn aggregate(&mut self, gathered: &[Gathered]) -> Result<()> {
        let mut bodies = Vec::new();
        let mut kernels = String::new();
        let mut sums = Vec::new();
        for Gathered { index, arguments, queue, by_warps } in gathered {
            let Ok(gather) = &mut self.gathers[*index] else { continue };
            let body = gather.make_body();
            let body = body.ok_or_else(|| bug("optimise launches", "a kernel without a body"))?;
            if gather.repeatable && !gather.sums && self.options.launch_tuning.sums > 0 {
                let before = sums.len();
                sums.extend(sums::found_in(body, self.sums.len() + before));
                gather.sums = sums.len() > before;
            }
            let name = body.get_name().to_string_lossy().into_owned();
            if *by_warps {
                kernels += &gather::kernel(gather, &name, arguments);
            }
            if let Some(queue) = queue {
                kernels += &queue.kernel(gather, &name, arguments);
            }
            bodies.push(body);
        }
        let queue = gathered.iter().any(|gathered| gathered.queue.is_some());
        let queue = if queue { queue::DEFINITIONS } else { "" };
        let definitions = queue.to_string() + &sums::definitions(&sums);
        self.link(&definitions, "", &kernels, &bodies)?;
        self.sums.extend(sums::mark(self.context, self.module, sums)?);
        for Gathered { index, queue, .. } in gathered {
            let Ok(gather) = &self.gathers[*index] else { continue };
            self.limit_blocks(gather, &gather.name);
            if let Some(queue) = queue {
                self.limit_blocks(gather, &queue.kernel);
            }
        }
        for body in bodies {
            // It stands in one place, or in few more than it stood in anyway.
            prepare::flag(self.context, body, "alwaysinline");
        }
        Ok(())
    }
}
