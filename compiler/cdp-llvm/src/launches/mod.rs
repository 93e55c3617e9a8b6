//! The launch optimiser: passes over LLVM IR in which a launch is one call of `@cdp.launch`, whoever wrote
//! it. The files of this folder, in the order in which they work:
//!
//! - [`prepare`]: variables into registers, functions that launch into the kernels that call them;
//! - [`streams`]: a stream that is created for one launch is not;
//! - [`parent`], [`child`], [`guard`], with [`calls`]: analyses, which change nothing;
//! - [`independent`] and [`single`], with [`access`] and [`form`]: an analysis too, whether children that different
//!   threads launch may overlap;
//! - [`distribute`], with [`emit`]: small children are run by the launching warp; [`tuning`] says how small;
//! - [`late`]: launches move to the end of their kernel, where all lanes of a warp are there;
//! - [`sums`]: what a child adds up by atomic operations is added up in registers first;
//! - [`gather`]: what is still launched, and may overlap, is one launch for a whole warp;
//! - [`queue`]: what no stream orders is one launch, or few, for a whole grid;
//! - [`relax`]: what is still launched, and ordered by nothing, goes into the fire-and-forget stream;
//! - [`remark`], [`words`]: what was done with each site, and why not more; [`print`](mod@print): the module between
//!   them.
//!
//! What is left of `@cdp.launch` is lowered by [`crate::foreign`]. Below `-O2`, in a debug build, on
//! devices before sm_70 (whose warps cannot wait for each other) and with 32-bit addresses nothing is done.
//!
//! What is absent: the sequences of calls that other compilers write for a launch, which are raised to
//! `@cdp.launch` before.

mod access;
mod calls;
mod child;
mod distribute;
mod emit;
mod form;
mod gather;
mod guard;
mod independent;
mod late;
pub(crate) mod parent;
mod prepare;
pub mod print;
mod queue;
mod relax;
pub mod remark;
mod single;
mod streams;
mod sums;
pub mod tuning;
mod words;

use std::collections::{HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::{TargetData, TargetMachine};
use inkwell::types::BasicType;
use inkwell::values::{
    BasicMetadataValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, PointerValue,
};

use crate::error::{Result, bug};
use crate::foreign::parse;
use crate::kernel::LAUNCH;
use crate::options::{DebugInfo, LaunchOpt, LowerOptions, OptLevel};
use crate::raw;
use crate::raw::view::View;

use cdp_ir::Aggregate;
use child::{Child, is_kernel};
use distribute::{Argument, Mode, Site};
use emit::quoted;
use gather::{Calls, Gather};
use independent::{Dependence, Independent};
use late::Late;
use parent::{LaunchSite, Parent};
use print::{LaunchPass, Printer};
use queue::Queue;
pub(crate) use remark::Optimized;
use remark::{LaunchOutcome, LaunchRemark};
use words::{advice, done, kept};

/// A body of at most so many instructions is inlined where it is run.
const INLINED_INSTRUCTIONS: usize = 600;
/// Registers of a kernel that got its children's bodies: what leaves room for a block of 1,024 threads,
/// which it may have been launched with before.
const MOST_REGISTERS: &str = "64";

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
    /// [`distribute::Site::flat`].
    flat: bool,
    /// The kernel among those whose launches are aggregated.
    gather: Option<usize>,
    /// Whether those of a whole grid may be.
    queued: bool,
    /// Whether the launch moves to the kernel's end.
    late: bool,
}

/// A kernel whose launches are aggregated, on its way into the module.
struct Gathered {
    /// Among [`Pass::gathers`].
    index: usize,
    arguments: Vec<Argument>,
    queue: Option<Queue>,
}

impl Plan<'_> {
    /// Whose launches become one, where some do.
    fn together(&self) -> Option<&'static str> {
        self.gather.map(|_| match (self.queued, self.site.said.aggregate) {
            (true, Some(Aggregate::Block)) => "a block",
            (true, _) => "a grid",
            (false, _) => "a warp",
        })
    }

    fn changes(&self) -> bool {
        self.child.is_some() || self.relaxed || self.gather.is_some()
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
    if plans.is_empty() && pass.created.is_empty() {
        return Ok(Optimized { changed: false, remarks: pass.remarks, printed: printer.printed });
    }
    let (mut pass, plans) = match &trial {
        Some(_) => Pass::look(context, module, machine, options, &mut Printer::new(None))?,
        None => (pass, plans),
    };
    pass.carry_out(plans)?;
    printer.after(LaunchPass::Sites, module);
    prepare::run(module, machine, "always-inline,globaldce")?;
    if !pass.sums.is_empty() {
        pass.settle_sums()?;
        prepare::run(module, machine, "always-inline,globaldce")?;
    }
    printer.after(LaunchPass::Inline, module);
    Ok(Optimized { changed: true, remarks: pass.remarks, printed: printer.printed })
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
    /// What is added up in registers.
    sums: Vec<sums::Kind>,
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
            sums: Vec::new(),
            remarks: Vec::new(),
        };
        let mut plans = Vec::new();
        for (kernel, sites) in pass.parents() {
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
            let mut sites = Vec::new();
            for instruction in function.get_basic_block_iter().flat_map(|b| b.get_instructions()) {
                let launches = instruction.get_opcode() == InstructionOpcode::Call
                    && View::instruction(instruction)
                        .callee()
                        .is_some_and(|called| called.name() == LAUNCH);
                if let (true, Ok(call)) = (launches, CallSiteValue::try_from(instruction)) {
                    sites.push(LaunchSite::new(call));
                }
            }
            if sites.is_empty() {
                continue;
            }
            if is_kernel(function) {
                parents.push((function, sites));
            } else if raw::has_uses(function) {
                let reason = "it launches from a device function that cannot be inlined";
                for site in &sites {
                    self.remark(function, site, LaunchOutcome::Kept, reason.into(), None);
                }
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
        let child = site.operands.first().and_then(|operand| raw::as_function(*operand));
        let said = &site.said;
        self.remarks.push(LaunchRemark {
            place: said.place.clone(),
            parent: said.parent.clone().unwrap_or_else(|| symbol(parent)),
            child: said.child.clone().unwrap_or_else(|| child.map_or("?".into(), symbol)),
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
        let ordered = |site: &LaunchSite<'_>| site.in_null_stream() && !site.said.independent;
        let alone = relax::alone(&sites);
        let proof =
            (!fast && sites.iter().any(ordered)).then(|| self.proof(kernel, &sites, &alone));
        let in_order = matches!(proof, Some(Err(_))) && facts.crowded.is_none();
        let flat = matches!(proof, Some(Ok(Independent { flat: true, .. })));
        let why = proof.as_ref().and_then(|proof| proof.as_ref().err());
        let free = why.is_none();
        let mut plans = Vec::new();
        let mut candidates = Vec::new();
        for (site, alone) in sites.into_iter().zip(alone) {
            let mode = match site.in_null_stream() {
                false => Mode::Independent { tracked: false },
                true if in_order => Mode::InOrder,
                true => Mode::Independent { tracked: true },
            };
            let relaxed = alone
                && mode == (Mode::Independent { tracked: true })
                && !(site.said.keep || ordered(&site) && !free)
                && site.stream.is_some_and(|stream| stream.value() == 0)
                && facts.obstacle.is_none()
                && self.options.abi.is_v2()
                && self.is_proper(&site);
            let candidate = self.candidate(&site, &facts, free);
            let child = candidate.as_ref().ok().copied();
            let independent = mode != Mode::InOrder && (free || !ordered(&site));
            // One thread's launches are nobody else's.
            let single = matches!(proof, Some(Ok(Independent { single: true, .. })));
            let gather = match independent && !single && self.may_gather(&site, &facts) {
                true => self.gather(&site, child),
                false => None,
            };
            let queued = self.options.launch_tuning.queue > 0
                && site.said.aggregate != Some(Aggregate::Warp)
                && (relaxed || site.stream == Some(cdp_launch::StreamConst::FireAndForget));
            let listens = facts.listens;
            let late = false;
            plans.push(Plan { site, child, mode, listens, relaxed, flat, gather, queued, late });
            candidates.push(candidate);
        }
        self.move_late(kernel, &mut plans);
        for (plan, candidate) in plans.iter().zip(candidates) {
            let Plan { site, .. } = plan;
            let (outcome, message, advice) = match candidate {
                Ok(_) => done(plan, why),
                Err(reason) => {
                    let order = why.filter(|_| self.may_gather(site, &facts));
                    let created = raw::instruction(site.call);
                    let created = self.created.contains(&View::instruction(created));
                    let relaxed = match (created, plan.relaxed) {
                        (true, _) => Some("its stream is created for it alone"),
                        (false, true) => Some("its thread launches nothing else"),
                        (false, false) => None,
                    };
                    kept(relaxed, plan, reason, advice(site, &facts, fast, order))
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
            plan.mode != Mode::InOrder && !plan.site.said.keep && self.is_proper(&plan.site)
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

    /// Whether the children of a kernel may overlap though the NULL stream orders them. Only where what is launched
    /// then needs no stream that orders it: such streams now and then lose one of a few launches, as the page says.
    fn proof(
        &self,
        kernel: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        alone: &[bool],
    ) -> std::result::Result<Independent, Dependence> {
        let ordered: Vec<&LaunchSite<'ctx>> =
            sites.iter().filter(|site| site.in_null_stream()).collect();
        let found = independent::independent(kernel, &ordered)?;
        let once = sites.iter().zip(alone).all(|(site, alone)| *alone || !site.in_null_stream());
        match found.single || (once && self.options.abi.is_v2()) {
            true => Ok(found),
            false => Err(Dependence {
                reason: "a thread may launch several, and what is launched keeps their order"
                    .into(),
                advice: independent::PRAGMA.into(),
            }),
        }
    }

    /// Whether a site's launches can be told from one for a whole warp by nothing but their children.
    fn may_gather(&self, site: &LaunchSite<'ctx>, facts: &Parent) -> bool {
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

    /// The kernel of a site, ready for aggregation.
    fn gather(&mut self, site: &LaunchSite<'ctx>, child: Option<usize>) -> Option<usize> {
        let kernel = site.operands.first().and_then(|operand| raw::as_function(*operand))?;
        let name = kernel.get_name().to_string_lossy().into_owned();
        let index = match self.gathers_by_kernel.get(&name) {
            Some(index) => *index,
            None => {
                let child = child.and_then(|child| self.children[child].as_ref().ok());
                let arguments = self.arguments(site, kernel)?;
                let found = gather::gather(kernel, child).and_then(|found| {
                    match gather::fits(&found, &arguments) {
                        true => Ok(found),
                        false => Err("its arguments are too large for a warp's".into()),
                    }
                });
                self.gathers.push(found);
                self.gathers_by_kernel.insert(name, self.gathers.len() - 1);
                self.gathers.len() - 1
            }
        };
        self.gathers[index].is_ok().then_some(index)
    }

    /// The child that a site's threads can run; or why not.
    fn candidate(
        &mut self,
        site: &LaunchSite<'ctx>,
        facts: &Parent,
        free: bool,
    ) -> std::result::Result<usize, String> {
        if site.said.keep {
            return Err("left alone, as `#pragma cdp keep` says".into());
        }
        if !self.is_proper(site) {
            return Err("it is not understood".into());
        }
        match site.stream {
            Some(cdp_launch::StreamConst::TailLaunch) => {
                return Err("a tail launch runs after its parent".into());
            }
            Some(stream) if stream.value() == 0 || !site.in_null_stream() => {}
            Some(_) => return Err("it names a default stream other than 0".into()),
            None => return Err("its stream is not known, and may order it with others".into()),
        }
        if let (Some(obstacle), true) = (&facts.obstacle, site.in_null_stream()) {
            return Err(obstacle.clone());
        }
        let fast = self.options.launch_opt == LaunchOpt::Fast;
        let ordered = site.in_null_stream() && !site.said.independent && !free;
        if let (Some(what), true) = (facts.crowded, ordered) {
            return Err(format!("the parent {what}, so that there may be no room for a lock"));
        }
        if let (Some(look), false) = (facts.looks_at_errors, fast) {
            return Err(format!(
                "the parent calls `{look}`, and a child that is not launched cannot fail for lack of room"
            ));
        }
        let kernel = site.operands.first().and_then(|operand| raw::as_function(*operand));
        let kernel = kernel.ok_or_else(|| String::from("its kernel is not known"))?;
        let name = kernel.get_name().to_string_lossy().into_owned();
        let index = match self.by_kernel.get(&name) {
            Some(index) => *index,
            None => {
                self.children.push(child::child(kernel));
                self.by_kernel.insert(name, self.children.len() - 1);
                self.children.len() - 1
            }
        };
        match &self.children[index] {
            Ok(_) => Ok(index),
            Err(reason) => Err(reason.clone()),
        }
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
        let parent = raw::instruction(site.call).get_parent()?.get_parent()?;
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

    /// Makes the sites' functions and calls them instead; then the kernels that run many of another, whose
    /// bodies are to have these calls too.
    fn carry_out(&mut self, plans: Plans<'ctx>) -> Result<()> {
        if plans.is_empty() {
            return Ok(());
        }
        let calls = Calls::of(self.options.abi);
        let mut sums = Vec::new();
        for child in self.children.iter_mut().flatten() {
            if child.instructions <= INLINED_INSTRUCTIONS && self.options.launch_tuning.sums > 0 {
                let first = sums.len();
                sums.extend(found_sums(child.body, first));
                child.sums = sums.len() > first;
            }
        }
        let summed: HashSet<FunctionValue<'ctx>> =
            self.children.iter().flatten().filter(|c| c.sums).map(|child| child.body).collect();
        for gather in self.gathers.iter_mut().flatten() {
            gather.sums = gather.repeatable && gather.body.is_some_and(|b| summed.contains(&b));
        }
        let mut functions = String::new();
        let mut gathered: Vec<Gathered> = Vec::new();
        let mut names = Vec::new();
        for (parent, plan) in
            plans.iter().flat_map(|(parent, plans)| plans.iter().map(move |p| (parent, p)))
        {
            let name = format!("__cdp_site_{}", names.len());
            functions += &self.function(*parent, plan, name.clone(), &calls).unwrap_or_default();
            names.push(name);
            self.gathered(plan, &mut gathered);
        }
        let bodies: Vec<FunctionValue<'ctx>> =
            self.children.iter().flatten().map(|child| child.body).collect();
        let mut declarations = calls.declarations();
        for Gathered { index, queue, .. } in &gathered {
            declarations +=
                &self.gathers[*index].as_ref().map_or(String::new(), gather::declaration);
            declarations += &queue.as_ref().map_or(String::new(), Queue::declarations);
        }
        let definitions =
            distribute::DEFINITIONS.to_string() + queue::FUNCTIONS + &sums::definitions(&sums);
        self.link(&definitions, &declarations, &functions, &bodies)?;
        self.sums = sums::mark(self.context, self.module, sums)?;
        for child in self.children.iter().flatten() {
            if child.instructions <= INLINED_INSTRUCTIONS {
                prepare::flag(self.context, child.body, "alwaysinline");
            }
        }
        let mut names = names.into_iter();
        for (parent, plans) in plans {
            let launched = self.begin(parent, &plans)?;
            let mut moved = Vec::new();
            for plan in plans {
                let name = names.next().unwrap_or_default();
                match self.module.get_function(&name) {
                    Some(function) if plan.late => moved.push((plan.site, function)),
                    Some(function) => self.call(&plan.site, function, launched)?,
                    None => {}
                }
            }
            if !moved.is_empty() {
                self.launch_late(parent, launched, &moved)?;
            }
        }
        self.aggregate(&gathered)
    }

    /// Launches at the end of a kernel, in the order of their sites.
    fn launch_late(
        &self,
        kernel: FunctionValue<'ctx>,
        launched: PointerValue<'ctx>,
        moved: &[(LaunchSite<'ctx>, FunctionValue<'ctx>)],
    ) -> Result<()> {
        let sites: Vec<_> = moved.iter().map(|(site, _)| site).collect();
        let mut late = Late::new(self.context, self.module, kernel, launched);
        for index in late::in_order(&sites) {
            let (site, function) = &moved[index];
            let child = raw::as_function(site.operands[0]);
            let arguments = child.and_then(|child| self.arguments(site, child));
            late.note(site, *function, &arguments.unwrap_or_default())?;
        }
        late.finish()
    }

    /// Notes the kernel of a site whose launches are aggregated.
    fn gathered(&self, plan: &Plan<'ctx>, gathered: &mut Vec<Gathered>) {
        let Some(index) = plan.gather else { return };
        let Ok(gather) = &self.gathers[index] else { return };
        let Some(arguments) = self.arguments(&plan.site, gather.kernel) else { return };
        let tuning = &self.options.launch_tuning;
        let queue = plan.queued.then(|| Queue::new(gather, &arguments, tuning, &plan.site.said));
        match gathered.iter_mut().find(|other| other.index == index) {
            Some(other) => {
                let shares = queue.iter().chain(&other.queue).any(|queue| queue.shares);
                other.queue = other.queue.take().or(queue);
                other.queue.iter_mut().for_each(|queue| queue.shares = shares);
            }
            None => gathered.push(Gathered { index, arguments, queue }),
        }
    }

    /// Makes the kernels that run many of another.
    fn aggregate(&mut self, gathered: &[Gathered]) -> Result<()> {
        let mut bodies = Vec::new();
        let mut kernels = String::new();
        let mut sums = Vec::new();
        for Gathered { index, arguments, queue } in gathered {
            let Ok(gather) = &mut self.gathers[*index] else { continue };
            let body = gather.make_body();
            let body = body.ok_or_else(|| bug("optimise launches", "a kernel without a body"))?;
            if gather.repeatable && !gather.sums && self.options.launch_tuning.sums > 0 {
                let before = sums.len();
                sums.extend(found_sums(body, self.sums.len() + before));
                gather.sums = sums.len() > before;
            }
            let name = body.get_name().to_string_lossy().into_owned();
            kernels += &gather::kernel(gather, &name, arguments);
            if let Some(queue) = queue {
                kernels += &queue.kernel(gather, &name, arguments);
            }
            bodies.push(body);
        }
        let definitions = queue::FUNCTIONS.to_string() + &sums::definitions(&sums);
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

    /// Puts what is added up in registers there, now that all stands in its place.
    fn settle_sums(&self) -> Result<()> {
        let functions: Vec<FunctionValue<'ctx>> =
            self.sums.iter().filter_map(|kind| self.module.get_function(kind.name())).collect();
        let kinds: Vec<sums::Kind> = self
            .sums
            .iter()
            .filter(|kind| self.module.get_function(kind.name()).is_some())
            .cloned()
            .collect();
        self.link("", "", &sums::helpers(&kinds), &functions)?;
        sums::settle(self.context, self.module, &kinds)
    }

    /// A site's function as text; `None` for a site that stays as it is.
    fn function(
        &self,
        parent: FunctionValue<'ctx>,
        plan: &Plan<'ctx>,
        name: String,
        calls: &Calls,
    ) -> Option<String> {
        let child = plan.child.and_then(|index| self.children[index].as_ref().ok());
        let gather = plan.gather.and_then(|index| self.gathers[index].as_ref().ok());
        let nothing = child.is_none() && gather.is_none() && !plan.site.in_null_stream();
        if nothing || !self.is_proper(&plan.site) {
            return None;
        }
        let kernel = raw::as_function(plan.site.operands[0])?;
        let mut uniform = [false; 6];
        for (uniform, operand) in uniform.iter_mut().zip(&plan.site.operands[1..7]) {
            *uniform = parent::is_uniform(*operand, parent);
        }
        let mut tuning = self.options.launch_tuning;
        tuning.threshold = plan.site.said.threshold.or(tuning.threshold);
        let arguments = self.arguments(&plan.site, kernel)?;
        let queue = gather.filter(|_| plan.queued);
        let site = Site {
            name,
            kernel: kernel.get_name().to_string_lossy().into_owned(),
            queue: queue.map(|gather| Queue::new(gather, &arguments, &tuning, &plan.site.said)),
            arguments,
            uniform,
            mode: plan.mode,
            tuning,
            listens: plan.listens,
            relaxed: plan.relaxed,
            flat: plan.flat && plan.site.in_null_stream(),
            late: plan.late,
            gather: gather.map(|gather| (gather, calls)),
            child,
        };
        Some(site.function())
    }

    /// Links functions in that call `bodies` and launch kernels of the module. LLVM's linker resolves references
    /// to definitions that are visible.
    fn link(
        &self,
        definitions: &str,
        declarations: &str,
        functions: &str,
        bodies: &[FunctionValue<'ctx>],
    ) -> Result<()> {
        if functions.is_empty() {
            return Ok(());
        }
        let mut declarations = declarations.to_string();
        let mut hidden = Vec::new();
        let mut declare = |function: FunctionValue<'ctx>, kernel: bool| {
            let name = quoted(&function.get_name().to_string_lossy());
            let count = function.count_params();
            let view = View::function(function);
            let types: Vec<String> =
                (0..count).filter_map(|i| view.parameter(i)).map(View::type_text).collect();
            let convention = if kernel { "ptx_kernel " } else { "" };
            declarations += &format!("declare {convention}void {name}({})\n", types.join(", "));
            if function.get_linkage() == Linkage::Internal {
                function.set_linkage(Linkage::External);
                hidden.push(function);
            }
        };
        let mut seen = HashSet::new();
        for body in bodies.iter().filter(|body| seen.insert(**body)) {
            declare(*body, false);
        }
        for function in self.module.get_functions().filter(|function| is_kernel(*function)) {
            let used = functions
                .contains(&format!("ptr {}", quoted(&function.get_name().to_string_lossy())));
            if used {
                declare(function, true);
            }
        }
        let text = distribute::prologue(definitions, &declarations) + functions;
        let sites = parse(self.context, "launches", text.as_bytes())
            .map_err(|error| bug("optimise launches", format!("{error}\n{text}")))?;
        sites.set_triple(&self.module.get_triple());
        sites.set_data_layout(&self.module.get_data_layout());
        let names = site_names(&sites);
        for function in names.iter().filter_map(|name| sites.get_function(name)) {
            function.set_linkage(Linkage::External);
        }
        self.module
            .link_in_module(sites)
            .map_err(|message| bug("optimise launches", message.to_string()))?;
        for function in names.iter().filter_map(|name| self.module.get_function(name)).chain(hidden)
        {
            function.set_linkage(Linkage::Internal);
        }
        Ok(())
    }

    /// What the kernel says of its blocks holds for the kernel that runs many of it.
    fn limit_blocks(&self, gather: &Gather<'ctx>, name: &str) {
        let at = AttributeLoc::Function;
        let Some(function) = self.module.get_function(name) else { return };
        for key in gather::LIMITS {
            if let Some(attribute) = gather.kernel.get_string_attribute(at, key) {
                function.add_attribute(at, attribute);
            }
        }
    }

    /// What a parent needs before its first site: its flag, its block's lock, room for its registers. The
    /// address of the flag.
    fn begin(
        &self,
        parent: FunctionValue<'ctx>,
        plans: &[Plan<'ctx>],
    ) -> Result<PointerValue<'ctx>> {
        let entry = parent
            .get_first_basic_block()
            .ok_or_else(|| bug("optimise launches", "a parent without body"))?;
        let builder = self.context.create_builder();
        let after = entry
            .get_instructions()
            .find(|instruction| instruction.get_opcode() != InstructionOpcode::Alloca);
        match after {
            Some(instruction) => builder.position_before(&instruction),
            None => builder.position_at_end(entry),
        }
        let flag = builder.build_alloca(self.context.bool_type(), "launched")?;
        builder.build_store(flag, self.context.bool_type().const_zero())?;
        if plans.iter().any(|plan| plan.mode == Mode::InOrder)
            && let Some(begin) = self.module.get_function(distribute::ORDER_BEGIN)
        {
            builder.build_direct_call(begin, &[], "")?;
        }
        raw::view::make_coherent(parent);
        let noalias = Attribute::get_named_enum_kind_id("noalias");
        for index in 0..parent.count_params() {
            // What a child does counts as its parent's doing now, and the promise was not made for it.
            parent.remove_enum_attribute(AttributeLoc::Param(index), noalias);
        }
        let at = AttributeLoc::Function;
        let limited = ["nvvm.maxntid", "nvvm.reqntid", "nvvm.maxnreg"]
            .iter()
            .any(|key| parent.get_string_attribute(at, key).is_some());
        if !limited && !self.options.max_registers_given {
            let attribute = self.context.create_string_attribute("nvvm.maxnreg", MOST_REGISTERS);
            parent.add_attribute(at, attribute);
        }
        Ok(flag)
    }

    /// Puts a call of the site's function in the place of the launch.
    fn call(
        &self,
        site: &LaunchSite<'ctx>,
        function: FunctionValue<'ctx>,
        launched: PointerValue<'ctx>,
    ) -> Result<()> {
        let instruction = raw::instruction(site.call);
        let builder = self.context.create_builder();
        builder.position_before(&instruction);
        if let Some(location) = instruction.get_debug_location() {
            builder.set_current_debug_location(location);
        }
        let mut operands: Vec<BasicMetadataValueEnum<'ctx>> =
            site.operands[1..9].iter().map(|operand| (*operand).into()).collect();
        operands.push(launched.into());
        operands.extend(
            site.operands[9..].iter().map(|operand| BasicMetadataValueEnum::from(*operand)),
        );
        let new = builder.build_direct_call(function, &operands, "")?;
        let result = |call: CallSiteValue<'ctx>| call.try_as_basic_value().basic();
        if let (Some(old), Some(new)) = (result(site.call), result(new)) {
            raw::replace_uses(old, new);
        }
        instruction.erase_from_basic_block();
        Ok(())
    }
}

/// The operations of a body that may wait, numbered from `first` on.
fn found_sums<'ctx>(body: FunctionValue<'ctx>, first: usize) -> Vec<sums::Sum<'ctx>> {
    let parameters = body.count_params().saturating_sub(child::EXTRAS.len() as u32);
    sums::found(body, parameters, first)
}

/// The functions that are linked in to be called.
fn site_names(module: &Module<'_>) -> Vec<String> {
    module
        .get_functions()
        .filter(|function| function.count_basic_blocks() > 0)
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .filter(|name| {
            ["__cdp_site_", "__cdp_gather_", "__cdp_queue_of_", distribute::ORDER_BEGIN, sums::SUM]
                .iter()
                .any(|start| name.starts_with(start))
        })
        .collect()
}
