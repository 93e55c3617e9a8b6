//! The launch optimiser: passes over LLVM IR in which a launch is one call of `@cdp.launch`, whoever wrote
//! it. The files of this folder, in the order in which they work:
//!
//! - [`prepare`]: variables into registers, functions that launch into the kernels that call them; [`handed`]: structs that
//!   a kernel hands on are its own;
//! - [`streams`]: a stream that is created for one launch is not;
//! - [`stack`]: a thread that launches its own kernel in grids of one thread runs short ones itself;
//! - [`added`]: a block that adds up is threads that add;
//! - [`parent`], [`child`], [`guard`], [`stride`], [`waiting`], with [`calls`]: analyses, which change nothing;
//! - [`independent`] and [`single`], with [`access`] and [`form`], asked in [`proof`]: an analysis too, whether children that different
//!   threads launch may overlap;
//! - [`distribute`], with [`rounds`], [`argument`] and [`emit`]: small children are run by the launching warp;
//!   [`limit`] with [`tuning`] says how small;
//! - [`late`]: launches move to the end of their kernel, where all lanes of a warp are there;
//! - [`sums`] and [`once`]: what a child adds up is added up in registers first; who did what all do is enough;
//! - [`ranges`]: of one counter that all threads of a parent take from, a warp takes by one operation;
//! - [`gather`], with [`records`]: what is still launched, and may overlap, is one launch for a whole warp;
//! - [`pool`]: what is too large for a warp, and too small for a launch, is run by all warps of the grid;
//! - [`queue`], with [`turns`]: what no stream orders is one launch, or few, for a whole grid;
//! - [`relax`]: what is still launched, and ordered by nothing, goes into the fire-and-forget stream;
//! - [`sequence`]: what keeps its order is one launch, or few, for a whole block, where [`recording`], with [`together`],
//!   finds that it can be;
//! - [`inside`]: a kernel once more that runs all its children, and knows no device runtime;
//! - [`door`] and [`meet`]: lanes of a warp are not at several launches at once;
//! - [`carry`], with [`aggregate`]: all that is carried out; [`code`]: what is the same in every program; [`direct`]: what
//!   becomes PTX without LLVM;
//! - [`remark`], [`words`]: what was done with each site, and why not more; [`print`](mod@print): the module between
//!   them.
//!
//! What is left of `@cdp.launch` is lowered by [`crate::foreign`]. Below `-O2`, in a debug build, on
//! devices before sm_70 (whose warps cannot wait for each other) and with 32-bit addresses nothing is done.
//!
//! What is absent: the calls that other compilers write for a launch, which are raised to `@cdp.launch` before.

mod access;
mod added;
mod aggregate;
mod argument;
mod calls;
mod candidate;
mod carry;
mod child;
pub(crate) mod code;
pub(crate) mod direct;
mod distribute;
mod dominators;
mod door;
mod emit;
mod form;
mod gather;
mod guard;
mod handed;
mod independent;
mod inside;
mod late;
mod limit;
mod meet;
mod once;
pub(crate) mod parent;
mod pool;
mod prepare;
pub mod print;
mod proof;
mod queue;
mod ranges;
mod recording;
mod records;
mod relax;
pub mod remark;
mod rounds;
pub(crate) mod sequence;
mod single;
mod site;
mod stack;
mod streams;
mod stride;
mod sums;
#[cfg(test)]
mod testing;
mod together;
pub mod tuning;
mod turns;
mod waiting;
mod words;

use std::collections::{HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::{TargetData, TargetMachine};
use inkwell::types::BasicType;
use inkwell::values::FunctionValue;

use crate::error::Result;
use crate::kernel::LAUNCH;
use crate::options::{DebugInfo, LaunchOpt, LowerOptions, OptLevel};
use crate::raw;
use crate::raw::view::View;

use argument::Argument;
use cdp_ir::Aggregate;
use child::{Child, is_kernel};
use direct::Direct;
use gather::Gather;
use independent::{Dependence, Independent};
use parent::{LaunchSite, sites_of};
use print::{LaunchPass, Printer};
use recording::Recording;
pub(crate) use remark::Optimized;
use remark::{LaunchOutcome, LaunchRemark};
use site::Mode;
use words::{advice, done, kept, stacked};

/// Whether launches are optimised at all, with these options.
pub(crate) fn is_on(options: &LowerOptions, address_bits: u32) -> bool {
    options.launch_opt != LaunchOpt::Off
        && options.opt_level >= OptLevel::O2
        && options.debug != DebugInfo::Full
        && options.arch_sm() >= 70
        && address_bits == 64
}

/// What becomes of a site, and why.
struct Plan<'ctx> {
    site: LaunchSite<'ctx>,
    /// The kernel among the children, when it is run.
    child: Option<usize>,
    mode: Mode,
    /// [`Parent::listens`].
    listens: bool,
    /// What is launched goes into the fire-and-forget stream.
    relaxed: bool,
    /// [`site::Site::flat`].
    flat: bool,
    /// The kernel among those whose launches are aggregated.
    gather: Option<usize>,
    /// Whether those of a whole grid may be.
    queued: bool,
    /// Whether a block may do the work of several of theirs ([`Gather::repeatable`]).
    repeatable: bool,
    /// Whether the launch moves to the kernel's end.
    late: bool,
    /// Whether nobody looks at the launch's error.
    unasked: bool,
    /// Whether one thread of a block launches, always the same.
    single: bool,
    /// Whether lanes of a warp come to it at different times, so that launches as written go through its door.
    parted: bool,
    /// Whether each lane of a warp comes to it for itself alone, as lanes at different times must ([`together`]).
    lone: bool,
    /// The kernel, among those whose launches are aggregated, when its launches are recorded.
    sequence: Option<usize>,
    /// Where nobody can tell in which order these and all below them run: the shape of those.
    unordered: Option<sequence::Shape>,
    /// Who can tell that order, where they have a shape.
    told: Option<Dependence>,
    /// [`site::Site::inside`].
    inside: bool,
    /// [`site::Site::tells`].
    tells: Option<String>,
    /// What else is not done with a launch that nothing orders, and why, in words.
    left: Option<String>,
}

impl Plan<'_> {
    fn changes(&self) -> bool {
        self.child.is_some()
            || self.relaxed
            || self.gather.is_some()
            || self.sequence.is_some()
            || self.parted
    }

    /// Whether its children may be run by any warp of the grid, when that comes to its end.
    fn pools(&self) -> bool {
        let independent = matches!(self.mode, Mode::Independent { .. });
        independent && self.late && self.queued && self.gather.is_some() && !self.single
    }
}

/// Optimises the launches of a module. Calls that are no proper launches are left for the lowering to
/// refuse.
pub(crate) fn optimize<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    options: &LowerOptions,
    untouched: Untouched,
) -> Result<Optimized> {
    let mut printer = Printer::new(options.print_after);
    if !has_launches(module) {
        return Ok(Optimized::default());
    }
    let trial = (untouched == Untouched::Kept).then(|| module.clone());
    let looked_at = trial.as_ref().unwrap_or(module);
    let (pass, plans) = Pass::look(context, looked_at, machine, options, &mut printer)?;
    if plans.is_empty() && pass.created.is_empty() && pass.stacked.is_empty() {
        let remarks = pass.remarks;
        return Ok(Optimized { remarks, printed: printer.printed, ..Optimized::default() });
    }
    let (mut pass, plans) = match &trial {
        Some(_) => Pass::look(context, module, machine, options, &mut Printer::new(None))?,
        None => (pass, plans),
    };
    pass.carry_out(plans)?;
    printer.after(LaunchPass::Sites, module);
    prepare::run(module, machine, "always-inline,globaldce")?;
    if !pass.sums.is_empty() || once::is_marked(module) {
        pass.settle()?;
        prepare::run(module, machine, "always-inline,globaldce")?;
    }
    printer.after(LaunchPass::Inline, module);
    let recorded = (code::is_called(module) || !pass.direct.is_empty()).then_some(options.abi);
    let Pass { direct, remarks, .. } = pass;
    let direct = direct.into();
    Ok(Optimized { changed: true, recorded, direct, remarks, printed: printer.printed })
}

/// What becomes of a module in which nothing is to be done. Looking at it changes its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Untouched {
    /// It goes on as it was: the look is taken at a copy first.
    Kept,
    /// Nobody uses it any more.
    Dropped,
}

/// What is to be done with the sites of each kernel.
type Plans<'ctx> = Vec<(FunctionValue<'ctx>, Vec<Plan<'ctx>>)>;

fn has_launches(module: &Module<'_>) -> bool {
    module.get_function(LAUNCH).is_some_and(raw::has_uses)
}

struct Pass<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    options: &'a LowerOptions,
    data: TargetData,
    /// Kernels that were looked at as children, and what was found.
    children: Vec<std::result::Result<Child<'ctx>, String>>,
    by_kernel: HashMap<String, usize>,
    /// The same of kernels whose launches may be aggregated.
    gathers: Vec<std::result::Result<Gather<'ctx>, String>>,
    gathers_by_kernel: HashMap<String, usize>,
    /// Launches whose streams were created for them alone.
    created: HashSet<View<'ctx>>,
    /// Launches whose children the launching thread may run itself.
    stacked: HashSet<View<'ctx>>,
    /// Kernels of warps that run children of one thread ([`stack`]).
    warps: stack::warp::Warps<'ctx>,
    /// Kernels that launch, and whether all that they launch is recorded ([`recording`]).
    nested: HashMap<FunctionValue<'ctx>, bool>,
    /// Kernels that launch, and whether nobody can tell in which order that and all below it runs; or who can.
    unordered: HashMap<FunctionValue<'ctx>, std::result::Result<(), Dependence>>,
    /// What is added up in registers.
    sums: Vec<sums::Kind>,
    /// What is PTX already.
    direct: Direct,
    remarks: Vec<LaunchRemark>,
}

impl<'a, 'ctx> Pass<'a, 'ctx> {
    /// Prepares a module, and decides what is to be done with it.
    fn look(
        context: &'ctx Context,
        module: &'a Module<'ctx>,
        machine: &TargetMachine,
        options: &'a LowerOptions,
        printer: &mut Printer,
    ) -> Result<(Pass<'a, 'ctx>, Plans<'ctx>)> {
        prepare::prepare(context, module, machine)?;
        printer.after(LaunchPass::Prepare, module);
        let created = match options.abi.is_v2() && !options.per_thread_stream {
            true => streams::relax(context, module)?,
            false => HashSet::new(),
        };
        printer.after(LaunchPass::Streams, module);
        let mut pass = Pass {
            context,
            module,
            options,
            data: machine.get_target_data(),
            children: Vec::new(),
            by_kernel: HashMap::new(),
            gathers: Vec::new(),
            gathers_by_kernel: HashMap::new(),
            created,
            stacked: HashSet::new(),
            warps: Vec::new(),
            nested: HashMap::new(),
            unordered: HashMap::new(),
            sums: Vec::new(),
            direct: Direct::default(),
            remarks: Vec::new(),
        };
        let mut plans = Vec::new();
        let mut parents = pass.parents();
        pass.keep_own(&mut parents);
        for (kernel, sites) in parents {
            if let Some(planned) = pass.plan(kernel, sites) {
                plans.push((kernel, planned));
            }
        }
        Ok((pass, plans))
    }

    /// The kernels that launch, each with its sites in the order of its code.
    fn parents(&mut self) -> Vec<(FunctionValue<'ctx>, Vec<LaunchSite<'ctx>>)> {
        let mut parents = Vec::new();
        for function in self.module.get_functions() {
            let sites = sites_of(function);
            if sites.is_empty() {
                continue;
            }
            let reason = match is_kernel(function) {
                true if sites.len() <= parent::MOST_SITES => {
                    parents.push((function, sites));
                    continue;
                }
                true => parent::too_many(sites.len()),
                false if !raw::has_uses(function) => continue,
                false => "it launches from a device function that cannot be inlined".into(),
            };
            for site in &sites {
                self.remark(function, site, LaunchOutcome::Kept, reason.clone(), None);
            }
        }
        parents
    }

    fn remark(
        &mut self,
        parent: FunctionValue<'ctx>,
        site: &LaunchSite<'ctx>,
        outcome: LaunchOutcome,
        message: String,
        advice: Option<String>,
    ) {
        let symbol =
            |function: FunctionValue<'_>| function.get_name().to_string_lossy().into_owned();
        let said = &site.said;
        if said.again {
            return;
        }
        self.remarks.push(LaunchRemark {
            place: said.place.clone(),
            parent: said.parent.clone().unwrap_or_else(|| symbol(parent)),
            child: said.child.clone().unwrap_or_else(|| {
                site.kernel().map_or("?".into(), |kernel| symbol(self.written(kernel)))
            }),
            outcome,
            message,
            advice,
        });
    }

    /// Decides on the sites of a kernel; `None` when nothing is to be done with any.
    fn plan(
        &mut self,
        kernel: FunctionValue<'ctx>,
        sites: Vec<LaunchSite<'ctx>>,
    ) -> Option<Vec<Plan<'ctx>>> {
        let facts = parent::parent(kernel);
        let fast = self.options.launch_opt == LaunchOpt::Fast;
        let alone = relax::alone(&sites);
        let lonely = !fast && single::calls_itself_alone(kernel, &sites);
        let lonely_block = single::block_calls_itself_alone(kernel, &sites);
        // Lanes of such a warp launch for themselves, at different times.
        let parted = self.written(kernel) != kernel;
        let proof = self.proof_of(kernel, &sites, &alone);
        let flat = matches!(proof, Some(Ok(Independent { flat: true, .. })));
        let why = proof.as_ref().and_then(|proof| proof.as_ref().err());
        let keeps = why.is_some() || self.walks(kernel, &sites, &alone, &facts);
        let recording = (keeps && facts.crowded.is_none())
            .then(|| self.recording(kernel, &sites, &facts))
            .filter(|found| why.is_some() || matches!(found, Recording::Done { .. }));
        let in_order = recording.is_some();
        let sequenced = matches!(recording, Some(Recording::Done { .. }));
        let lone = matches!(recording, Some(Recording::Done { lone: true }));
        let free = why.is_none() && !in_order;
        let unrecorded = match recording {
            Some(Recording::Impossible(reason)) => Some(reason),
            _ => None,
        };
        let own = stack::left(kernel, &sites);
        let mut plans = Vec::new();
        let mut candidates = Vec::new();
        for (site, alone) in sites.into_iter().zip(alone) {
            let mode = match site.in_null_stream() {
                false => Mode::Independent { tracked: false },
                true if unrecorded.is_some() => Mode::AsWritten,
                true if in_order => Mode::InOrder,
                true => Mode::Independent { tracked: true },
            };
            let relaxed = alone
                && mode == (Mode::Independent { tracked: true })
                && !(site.said.keep || site.ordered() && !free)
                && site.stream.is_some_and(|stream| stream.value() == 0)
                && facts.obstacle.is_none()
                && self.options.abi.is_v2()
                && self.is_proper(&site);
            let candidate = self.candidate(&site, &facts, free).and_then(|child| match unrecorded
                .as_ref()
                .filter(|_| mode == Mode::AsWritten)
            {
                Some(reason) => Err(words::not_mixed(reason)),
                None => Ok(child),
            });
            let child = candidate.as_ref().ok().copied();
            let independent = matches!(mode, Mode::Independent { .. }) && (free || !site.ordered());
            // The launches of a block's one thread have others of their grid beside them alone. A child that a warp can run
            // is rarely launched, and the code of one that launches would stand three times.
            let single = matches!(proof, Some(Ok(Independent { single: true, .. })));
            let apart = single && !(relaxed && child.is_none() && !recording::nests(&site));
            let lonely = lonely
                || lonely_block && !site.in_null_stream()
                || single::one_of_grid(kernel, &site);
            let lonely = lonely && site.said.aggregate.is_none();
            let wanted = independent && !apart && !lonely && self.may_gather(&site, &facts);
            let gather = if wanted { self.gather(&site, child) } else { None };
            let left = match wanted && gather.is_none() {
                true => self.why_not_gathered(&site),
                false => own.clone().filter(|_| stack::is_kept(&site, kernel)),
            };
            let queued = self.options.launch_tuning.queue > 0
                && site.said.aggregate != Some(Aggregate::Warp)
                && (relaxed || site.stream == Some(cdp_launch::StreamConst::FireAndForget));
            let repeatable = gather
                .and_then(|index| self.gathers[index].as_ref().ok())
                .is_some_and(|gather| gather.repeatable);
            let sequence = match sequenced && mode == Mode::InOrder {
                true => self.gather(&site, child),
                false => None,
            };
            let call = View::instruction(raw::instruction(site.call));
            let unasked = facts.looks_at_errors.is_none() && call.users().is_empty();
            let child_kernel = site.kernel().filter(|_| sequence.is_some());
            let (unordered, told) = match child_kernel.and_then(|child| self.unordered(child)) {
                Some(Ok(shape)) => (Some(shape), None),
                Some(Err(dependence)) => (None, Some(dependence)),
                None => (None, None),
            };
            plans.push(Plan {
                unordered,
                told,
                left,
                site,
                child,
                mode,
                listens: facts.listens,
                relaxed,
                flat,
                gather,
                queued,
                repeatable,
                late: false,
                unasked,
                single,
                parted: parted && gather.is_none(),
                lone: lone && sequence.is_some(),
                sequence,
                inside: false,
                tells: None,
            });
            candidates.push(candidate);
        }
        self.move_late(kernel, &mut plans);
        for (plan, candidate) in plans.iter().zip(candidates) {
            let Plan { site, .. } = plan;
            let (outcome, message, advice) = match candidate {
                Ok(_) => done(plan, why),
                Err(reason) => {
                    let order = plan.told.as_ref().or(why);
                    let order = order.filter(|_| self.may_gather(site, &facts));
                    let call = View::instruction(raw::instruction(site.call));
                    let created = self.created.contains(&call);
                    let relaxed = match (created, plan.relaxed) {
                        (true, _) => Some("its stream is created for it alone"),
                        (false, true) => {
                            Some("its thread launches nothing else into its NULL stream")
                        }
                        (false, false) => None,
                    };
                    match self.stacked.contains(&call) {
                        true => stacked(plan, site.kernel() == Some(kernel)),
                        false => kept(relaxed, plan, reason, advice(site, &facts, fast, order)),
                    }
                }
            };
            self.remark(kernel, site, outcome, message, advice);
        }
        plans.iter().any(Plan::changes).then_some(plans)
    }

    /// Moves the launches of a kernel to its end where that helps those that are run, and may be.
    fn move_late(&self, kernel: FunctionValue<'ctx>, plans: &mut [Plan<'ctx>]) {
        let moves = |plan: &Plan<'ctx>| plan.child.is_some() || plan.site.in_null_stream();
        let good = |plan: &Plan<'ctx>| {
            matches!(plan.mode, Mode::Independent { .. })
                && !plan.site.said.keep
                && self.is_proper(&plan.site)
        };
        let sites: Vec<_> = plans.iter().filter(|p| moves(p)).map(|plan| &plan.site).collect();
        let may = self.options.launch_tuning.late > 0
            && plans.iter().any(|plan| plan.child.is_some())
            && plans.iter().filter(|plan| moves(plan)).all(good)
            && late::why_not(kernel, &sites).is_ok();
        if may {
            plans.iter_mut().for_each(|plan| plan.late = moves(plan));
        }
    }

    /// The kernel of a site, ready for aggregation.
    fn gather(&mut self, site: &LaunchSite<'ctx>, child: Option<usize>) -> Option<usize> {
        let kernel = site.kernel()?;
        let name = kernel.get_name().to_string_lossy().into_owned();
        let index = match self.gathers_by_kernel.get(&name) {
            Some(index) => *index,
            None => {
                let child = child.and_then(|child| self.children[child].as_ref().ok());
                let arguments = self.arguments(site, kernel)?;
                let found = gather::gather(kernel, child).and_then(|found| {
                    match gather::fits(&found, &arguments) {
                        true => Ok(found.first_at(site)),
                        false => Err("its arguments are too large for a warp's".into()),
                    }
                });
                self.gathers.push(found);
                self.gathers_by_kernel.insert(name, self.gathers.len() - 1);
                self.gathers.len() - 1
            }
        };
        self.gathers[index].as_mut().ok()?.is_launched_at(site);
        Some(index)
    }

    /// Whether a call is as the lowering wants it; what it refuses is not touched.
    fn is_proper(&self, site: &LaunchSite<'ctx>) -> bool {
        let Some((fixed, arguments)) = site.operands.split_at_checked(9) else { return false };
        let Some(kernel) = raw::as_function(fixed[0]).filter(|kernel| is_kernel(*kernel)) else {
            return false;
        };
        let words = fixed[1..8].iter().all(|operand| View::value(*operand).bits() == Some(32));
        words
            && fixed[8].is_pointer_value()
            && arguments.len() == kernel.count_params() as usize
            && self.arguments(site, kernel).is_some()
    }

    /// The arguments as the site's function takes them; `None` for types that it cannot take.
    fn arguments(
        &self,
        site: &LaunchSite<'ctx>,
        kernel: FunctionValue<'ctx>,
    ) -> Option<Vec<Argument>> {
        let parent = raw::owner(raw::instruction(site.call))?;
        let byval = Attribute::get_named_enum_kind_id("byval");
        let mut arguments = Vec::new();
        for (index, operand) in site.operands[9..].iter().enumerate() {
            let index = index as u32;
            let parameter = View::function(kernel).parameter(index)?;
            let view = View::value(*operand);
            let wanted = kernel.get_enum_attribute(AttributeLoc::Param(index), byval).is_some();
            let by_value = match wanted {
                false => None,
                true => {
                    let ty = raw::byval_type(kernel, index)?;
                    raw::call_byval_type(site.call, 9 + index)?;
                    let kind = Attribute::get_named_enum_kind_id("align");
                    let stated = kernel.get_enum_attribute(AttributeLoc::Param(index), kind);
                    let natural = u64::from(self.data.get_abi_alignment(&ty));
                    let align = stated.map_or(natural, |stated| stated.get_enum_value());
                    Some((self.data.get_abi_size(&ty.as_basic_type_enum()), align))
                }
            };
            if view.type_text() != parameter.type_text() {
                return None;
            }
            let uniform = parent::is_uniform(*operand, parent);
            arguments.push(Argument { ty: view.type_text(), by_value, uniform });
        }
        Some(arguments)
    }
}
