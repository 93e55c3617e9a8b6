//! Carries out what was decided on: the sites' functions and the kernels that run many of another are linked in and
//! called.
//!
//! What is absent: what becomes of a site ([`super::Pass::plan`]), and what the functions hold ([`super::distribute`],
//! [`super::gather`], [`super::queue`], [`super::sequence`]).

use std::collections::HashSet;

use cdp_launch::limits::REGISTERS_OF_LARGEST_BLOCK;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue, PointerValue,
};

use super::aggregate::{Gathered, alone_in_warp};
use super::argument::{Argument, fill_unwritten};
use super::child::{self, Child, INLINED_INSTRUCTIONS, is_kernel};
use super::distribute;
use super::emit::{ORDER, quoted};
use super::gather::{self, Calls, Gather};
use super::late::{self, Late};
use super::parent::{self, LaunchSite};
use super::pool::{self, Pool};
use super::queue::{self, Queue};
use super::rounds;
use super::sequence::nested::{Nested, without_records};
use super::sequence::{self, Sequence};
use super::site::{Mode, Site};
use super::{Pass, Plan, Plans, direct, door, meet, once, prepare, ranges, sums};
use crate::error::{Result, bug};
use crate::foreign::parse_own;
use crate::options::DebugInfo;
use crate::raw;
use crate::raw::view::{View, kernel_body};

/// So many sites, and no more, have the code of their queues inlined. That stands in the launching kernel and in both
/// kernels that run many of it, and what a chain of kernels gains by it is not worth three times ptxas's time.
const INLINED_QUEUES: usize = 8;

/// A kernel whose launches are recorded.
struct Sequenced {
    /// Among [`Pass::gathers`].
    index: usize,
    sequence: Sequence,
    arguments: Vec<Argument>,
}

/// Whether a site's function is a queue's code and runs nothing itself.
fn queued_alone(plan: &Plan<'_>) -> bool {
    plan.gather.is_some() && plan.queued && plan.child.is_none() && plan.sequence.is_none()
}

/// Whether nothing of a child stands in the function of a site whose launches are recorded.
fn runs_elsewhere(plan: &Plan<'_>, sequenced: &[Sequenced]) -> bool {
    let sequence = sequenced.iter().find(|found| plan.sequence == Some(found.index));
    sequence.is_some_and(|found| plan.child.is_none() || found.sequence.threads.is_some())
}

impl<'ctx> Pass<'_, 'ctx> {
    /// Makes the sites' functions and calls them instead; then the kernels that run many of another, whose
    /// bodies are to have these calls too.
    pub(super) fn carry_out(&mut self, plans: Plans<'ctx>) -> Result<()> {
        if plans.is_empty() {
            return Ok(());
        }
        let plans = self.with_twins(plans)?;
        self.let_pack(&plans);
        let calls = Calls::of(self.options.abi);
        let mut sums = Vec::new();
        for child in self.children.iter_mut().flatten() {
            if child.instructions <= INLINED_INSTRUCTIONS && self.options.launch_tuning.sums > 0 {
                let first = sums.len();
                sums.extend(sums::found_in(child.body, first));
                child.sums = sums.len() > first;
            }
        }
        let once = once::found_in(&mut self.children, &self.options.launch_tuning);
        let sequenced = self.sequenced(&plans, &mut sums);
        let summed: HashSet<FunctionValue<'ctx>> =
            self.children.iter().flatten().filter(|c| c.sums).map(|child| child.body).collect();
        for gather in self.gathers.iter_mut().flatten() {
            gather.sums |= gather.repeatable && gather.body.is_some_and(|b| summed.contains(&b));
        }
        let all = || plans.iter().flat_map(|(_, plans)| plans);
        let queued = all().filter(|plan| queued_alone(plan)).count();
        let mut functions = String::new();
        let mut gathered: Vec<Gathered> = Vec::new();
        let mut names = Vec::new();
        for (parent, plan) in
            plans.iter().flat_map(|(parent, plans)| plans.iter().map(move |p| (parent, p)))
        {
            let name = format!("__cdp_site_{}", names.len());
            let function = self.function(*parent, plan, name.clone(), &calls, &sequenced, queued);
            let function = function.unwrap_or_default();
            if !(runs_elsewhere(plan, &sequenced) && self.site_directly(plan, &name, &function)) {
                functions += &function;
            }
            names.push(name);
            self.gathered(plan, &mut gathered);
        }
        let mut bodies: Vec<FunctionValue<'ctx>> =
            self.children.iter().flatten().map(|child| child.body).collect();
        let mut declarations = calls.declarations();
        for Gathered { index, queue, by_warps, .. } in &gathered {
            if let (Ok(gather), true) = (&self.gathers[*index], by_warps) {
                declarations += &gather::declaration(gather);
            }
            declarations += &queue.as_ref().map_or(String::new(), Queue::declarations);
        }
        let mut definitions = distribute::DEFINITIONS.to_string() + &sums::definitions(&sums);
        definitions += &self.words(&plans);
        let shared = self.options.launch_tuning.ranges > 0;
        let ranges: Vec<_> = plans.iter().map(|(parent, _)| ranges::found(*parent)).collect();
        definitions += &ranges::definitions(ranges.iter().flatten().filter(|_| shared));
        if gathered.iter().any(|gathered| gathered.queue.is_some()) {
            definitions += queue::DEFINITIONS;
        }
        if functions.contains(pool::ENTER) {
            definitions += pool::DEFINITIONS;
        }
        if gathered.iter().any(|gathered| gathered.by_warps) || all().any(|plan| plan.parted) {
            definitions += door::DEFINITIONS;
        }
        if !sequenced.is_empty() {
            let bytes = sequence::record_bytes(sequenced.iter().map(|found| &found.sequence));
            let tuning = &self.options.launch_tuning;
            definitions += &sequence::definitions(bytes, tuning);
            for Sequenced { index, sequence, arguments } in &sequenced {
                let Ok(gather) = &self.gathers[*index] else { continue };
                if sequence.nests {
                    // It is made when its own launches are what they are to be.
                    declarations += &sequence.declaration();
                    continue;
                }
                let Some(body) = gather.body else { continue };
                let name = body.get_name().to_string_lossy().into_owned();
                let child = self.child_of(gather);
                if let Some((child, threads)) = child.zip(sequence.threads.as_deref()) {
                    functions += &rounds::threads(threads, child, arguments);
                }
                let elsewhere = child.is_some() && sequence.threads.is_some();
                let kernel = sequence.kernel(gather, &name, child, arguments, elsewhere);
                let limits = direct::limits(gather.kernel);
                let is_known_to_llvm = functions.contains(&quoted(&sequence.runner));
                match elsewhere
                    && self.makes_directly()
                    && !is_known_to_llvm
                    && self.direct.add(&kernel, &limits, self.options.abi).is_some()
                {
                    true => declarations += &sequence.declaration(),
                    false => functions += &kernel,
                }
                bodies.push(body);
            }
        }
        self.link(&self.visible_for_direct(definitions), &declarations, &functions, &bodies)?;
        self.keep_for_direct();
        self.inline_queues(all().filter(|plan| plan.gather.is_some() && plan.queued).count())?;
        for Sequenced { index, sequence, .. } in &sequenced {
            if let Ok(gather) = &self.gathers[*index] {
                self.limit_blocks(gather, &sequence.runner);
            }
        }
        for body in bodies {
            let small = View::function(body).instructions().len() <= INLINED_INSTRUCTIONS;
            if small || !self.children.iter().flatten().any(|child| child.body == body) {
                prepare::flag(self.context, body, "alwaysinline");
            }
        }
        once::mark(self.context, self.module, once)?;
        self.sums = sums::mark(self.context, self.module, sums)?;
        for ranges in ranges.into_iter().filter(|_| shared) {
            ranges::share(self.context, self.module, ranges)?;
        }
        let mut names = names.into_iter();
        for (parent, plans) in plans {
            meet::behind_sites(parent, &plans);
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
        self.nest(&sequenced)?;
        self.aggregate(&gathered)
    }

    /// Makes the kernels that run recorded grids which launch. What these record is for the block that runs them, so their
    /// bodies have nothing of what a kernel does with it where it begins and ends.
    fn nest(&mut self, sequenced: &[Sequenced]) -> Result<()> {
        let nested = || sequenced.iter().filter(|found| found.sequence.nests);
        if nested().next().is_none() {
            return Ok(());
        }
        let mut bodies = Vec::new();
        let mut kernels = String::new();
        let mut entries = Vec::new();
        for Sequenced { index, sequence, arguments } in nested() {
            let Ok(gather) = &self.gathers[*index] else { continue };
            let kernel = gather.kernel.get_name().to_string_lossy().into_owned();
            let name = Nested::name_of_body(&kernel);
            let body = kernel_body(gather.kernel, &name);
            let body = body.ok_or_else(|| bug("optimise launches", "a kernel without a body"))?;
            let alone = without_records(body);
            let by_address = arguments.iter().any(|argument| argument.by_value.is_some());
            bodies.push(body);
            let Some(alone) = alone.filter(|_| !by_address && self.shares_bodies()) else {
                kernels += &sequence.kernel(gather, &name, None, arguments, false);
                continue;
            };
            let used = child::used_extras(body);
            let nested = Nested { kernel: &kernel, body: &name, arguments, used, alone };
            kernels += &nested.functions();
            kernels += &sequence.kernel(gather, &nested.give(), None, arguments, true);
            entries.push((gather.kernel, nested.entry()));
        }
        let shared = [sequence::HEAD_NAME, ORDER].map(|name| self.module.get_global(name));
        shared.iter().flatten().for_each(|variable| variable.set_linkage(Linkage::External));
        self.link("", &sequence::declarations(), &kernels, &bodies)?;
        self.keep_for_direct();
        for Sequenced { index, sequence, .. } in nested() {
            if let Ok(gather) = &self.gathers[*index] {
                self.limit_blocks(gather, &sequence.runner);
            }
        }
        for body in bodies {
            prepare::flag(self.context, body, "alwaysinline");
        }
        entries.into_iter().try_for_each(|(kernel, entry)| self.enter(kernel, &entry))
    }

    /// Whether a kernel's body may stand in a function that it calls. Debug information says that it stands in the kernel.
    fn shares_bodies(&self) -> bool {
        self.options.debug == DebugInfo::None
    }

    /// What a kernel is as a child that is run at sites, if it is.
    fn child_of(&self, gather: &Gather<'ctx>) -> Option<&Child<'ctx>> {
        let body = gather.body?;
        self.children.iter().flatten().find(|child| child.body == body)
    }

    /// The kernels whose launches are recorded, with their bodies and what these add up.
    fn sequenced(
        &mut self,
        plans: &Plans<'ctx>,
        sums: &mut Vec<sums::Sum<'ctx>>,
    ) -> Vec<Sequenced> {
        let mut all: Vec<Sequenced> = Vec::new();
        for plan in plans.iter().flat_map(|(_, plans)| plans) {
            let Some(index) = plan.sequence else { continue };
            if all.iter().any(|other| other.index == index) {
                continue;
            }
            let Ok(gather) = &self.gathers[index] else { continue };
            let Some(arguments) = self.arguments(&plan.site, gather.kernel) else { continue };
            let made = Sequence::new(gather, index, &arguments, plan.unordered.clone());
            let Some(mut sequence) = made else { continue };
            if let Some(child) = self.child_of(gather) {
                sequence.share(child);
            }
            all.push(Sequenced { index, sequence, arguments });
        }
        let children: HashSet<FunctionValue<'ctx>> =
            self.children.iter().flatten().map(|child| child.body).collect();
        for Sequenced { index, sequence, .. } in &all {
            let Ok(gather) = &mut self.gathers[*index] else { continue };
            if sequence.nests {
                continue;
            }
            let Some(body) = gather.make_body() else { continue };
            if !children.contains(&body) && self.options.launch_tuning.sums > 0 {
                let found = sums::found_in(body, sums.len());
                gather.sums = !found.is_empty();
                sums.extend(found);
            }
        }
        all
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

    /// Puts what is added up in registers, and what is done, there, now that all stands in its place.
    pub(super) fn settle(&self) -> Result<()> {
        let functions: Vec<FunctionValue<'ctx>> =
            self.sums.iter().filter_map(|kind| self.module.get_function(kind.name())).collect();
        let kinds: Vec<sums::Kind> = self
            .sums
            .iter()
            .filter(|kind| self.module.get_function(kind.name()).is_some())
            .cloned()
            .collect();
        self.link("", "", &sums::helpers(&kinds), &functions)?;
        sums::settle(self.context, self.module, &kinds)?;
        once::settle(self.context, self.module)
    }

    /// A site's function as text; `None` for a site that stays as it is. `queued` sites are a queue's code alone.
    fn function(
        &self,
        parent: FunctionValue<'ctx>,
        plan: &Plan<'ctx>,
        name: String,
        calls: &Calls,
        sequenced: &[Sequenced],
        queued: usize,
    ) -> Option<String> {
        let child = plan.child.and_then(|index| self.children[index].as_ref().ok());
        let gather = plan.gather.and_then(|index| self.gathers[index].as_ref().ok());
        let nothing =
            child.is_none() && gather.is_none() && !plan.site.in_null_stream() && !plan.parted;
        if nothing || plan.mode == Mode::AsWritten || !self.is_proper(&plan.site) {
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
        let sequence = sequenced.iter().find(|found| plan.sequence == Some(found.index));
        let pool = child
            .filter(|_| plan.pools())
            .and_then(|child| Pool::new(&name, child, &arguments, &tuning, &plan.site.said));
        let site = Site {
            name,
            pool,
            kernel: kernel.get_name().to_string_lossy().into_owned(),
            queue: queue.map(|gather| {
                Queue::new(gather, &arguments, &tuning, &plan.site.said, plan.single)
            }),
            arguments,
            uniform,
            mode: plan.mode,
            tuning,
            listens: plan.listens,
            relaxed: plan.relaxed,
            flat: plan.flat && plan.site.in_null_stream(),
            apart: plan.lone || queued_alone(plan) && queued > INLINED_QUEUES,
            parted: plan.parted,
            lone: plan.lone,
            late: plan.late,
            unasked: plan.unasked,
            inside: plan.inside,
            tells: plan.tells.clone(),
            single: alone_in_warp(plan),
            one: plan.single && plan.flat && plan.site.in_null_stream(),
            gather: gather.map(|gather| (gather, calls)),
            sequence: sequence.and_then(|found| {
                self.gathers[found.index].as_ref().ok().map(|gather| (gather, &found.sequence))
            }),
            child,
        };
        let pool = site.pool.as_ref().map_or(String::new(), Pool::declarations);
        Some(pool + &site.function())
    }

    /// Links functions in that call `bodies` and launch kernels of the module. LLVM's linker resolves references
    /// to definitions that are visible.
    pub(super) fn link(
        &self,
        definitions: &str,
        declarations: &str,
        functions: &str,
        bodies: &[FunctionValue<'ctx>],
    ) -> Result<()> {
        if functions.is_empty() && definitions.is_empty() {
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
        let sites = parse_own(self.context, "launches", text.as_bytes())
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
    pub(super) fn limit_blocks(&self, gather: &Gather<'ctx>, name: &str) {
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
        let mut recorded = plans.iter().filter_map(|plan| plan.sequence).peekable();
        if recorded.peek().is_some() {
            let nests = recorded
                .any(|index| self.gathers[index].as_ref().is_ok_and(|found| found.launches));
            self.record_block(parent, nests, &builder)?;
        } else if plans.iter().any(|plan| plan.mode == Mode::InOrder)
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
            // It may have been launched with blocks of that size before.
            let most = REGISTERS_OF_LARGEST_BLOCK.to_string();
            let attribute = self.context.create_string_attribute("nvvm.maxnreg", &most);
            parent.add_attribute(at, attribute);
        }
        Ok(flag)
    }

    /// What a parent whose launches are recorded calls where it begins, which is where `builder` stands, and where its
    /// threads return.
    /// `nests`: what it launches launches.
    fn record_block(
        &self,
        parent: FunctionValue<'ctx>,
        nests: bool,
        builder: &Builder<'ctx>,
    ) -> Result<()> {
        let global = |name| self.module.get_global(name).map(|found| found.as_pointer_value());
        let (Some(head), Some(state)) = (global(sequence::HEAD_NAME), global(ORDER)) else {
            return Err(bug("optimise launches", "nothing was recorded"));
        };
        let function = |name, parameters: &[BasicMetadataTypeEnum<'ctx>]| {
            self.module.get_function(name).unwrap_or_else(|| {
                let ty = self.context.void_type().fn_type(parameters, false);
                let added = self.module.add_function(name, ty, None);
                prepare::flag(self.context, added, "convergent");
                added
            })
        };
        let word = self.context.i32_type();
        let begin = function(sequence::BEGIN, &[state.get_type().into(), word.into()]);
        let end = function(sequence::END, &[head.get_type().into(), state.get_type().into()]);
        let alone = word.const_int(u64::from(nests), false);
        builder.build_direct_call(begin, &[state.into(), alone.into()], "")?;
        for last in ends(parent) {
            builder.position_before(&last);
            builder.build_direct_call(end, &[head.into(), state.into()], "")?;
        }
        Ok(())
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
        fill_unwritten(&builder, site, &self.data)?;
        let word = |operand: &BasicValueEnum<'ctx>| BasicMetadataValueEnum::from(*operand);
        let operands: Vec<_> = site.operands[1..].iter().map(word).collect();
        let operands = self.passed(function, operands, launched, &builder)?;
        let new = builder.build_direct_call(function, &operands, "")?;
        let result = |call: CallSiteValue<'ctx>| call.try_as_basic_value().basic();
        if let (Some(old), Some(new)) = (result(site.call), result(new)) {
            raw::replace_uses(old, new);
        }
        instruction.erase_from_basic_block();
        Ok(())
    }
}

/// The functions that are linked in to be called.
fn site_names(module: &Module<'_>) -> Vec<String> {
    module
        .get_functions()
        .filter(|function| function.count_basic_blocks() > 0)
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .filter(|name| {
            let starts = [
                "__cdp_site_",
                "__cdp_gather_",
                "__cdp_queue_of_",
                sequence::OF,
                sequence::THREADS,
                sequence::nested::ENTRY,
                distribute::ORDER_BEGIN,
                sums::SUM,
                ranges::RANGE,
            ];
            starts.iter().any(|start| name.starts_with(start))
        })
        .collect()
}

/// Where a kernel's threads return.
fn ends<'ctx>(kernel: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    kernel
        .get_basic_block_iter()
        .filter_map(|block| block.get_terminator())
        .filter(|end| end.get_opcode() == InstructionOpcode::Return)
        .collect()
}
