//! Aggregates the launches of a warp into one: the lanes that launch the same kernel with blocks of the same
//! size put their arguments into one parameter buffer, and a kernel made for that runs all their children's
//! blocks, each as a block of its own that finds its record by search.
//!
//! Legality. Children of different lanes run at the same time, so only where those may overlap
//! ([`super::site::Mode::Independent`]). One thread's children stay in order: each of its launches is
//! part of a later launch of its block into the same stream. Nothing else can be told apart but what
//! [`gatherable`] refuses: blocks are real ones, with barriers, shared memory, warps and launches of their own.
//! When there is no buffer each lane launches as written, and gets that launch's error.

use std::collections::HashSet;

use cdp_launch::{EntryPoint, LaunchAbi, MAX_BUFFER_BYTES};
use inkwell::attributes::AttributeLoc;
use inkwell::values::FunctionValue;

use super::argument::Argument;
use super::calls::{Callee, callee, is_index, launches};
use super::child::{Child, EXTRAS, check_parameter, is_loose};
use super::door;
use super::emit::{Text, quoted};
use super::parent::LaunchSite;
use super::queue::Queue;
use super::records::{RECORDS, Records, record};
use super::sums::DONE;
use super::waiting::check_waiting;
use crate::raw::view::{View, kernel_body};

/// A kernel whose launches can be aggregated.
pub(super) struct Gather<'ctx> {
    pub kernel: FunctionValue<'ctx>,
    /// Its body as a function, where there is one already.
    pub body: Option<FunctionValue<'ctx>>,
    /// The kernel that runs the children of a warp.
    pub name: String,
    /// Whether the body asks for the grid's y or z.
    pub deep: bool,
    /// Whether a block can do the work of several, one after another.
    pub repeatable: bool,
    /// Whether the threads of its blocks have nothing to do with each other.
    pub loose: bool,
    /// Whether its blocks launch.
    pub launches: bool,
    /// Whether small ones may stand beside each other in one ([`super::aggregate`]).
    pub packs: bool,
    /// Whether the body adds up what may wait in registers ([`super::sums`]).
    pub sums: bool,
    /// The most threads that a block may have.
    pub most_threads: u32,
    /// The dimensions of its blocks that all sites have in common, by their constants.
    pub block: [Option<u32>; 3],
}

/// What a kernel says of its blocks, which holds for the aggregating kernel too.
pub(super) const LIMITS: [&str; 4] =
    ["nvvm.maxntid", "nvvm.reqntid", "nvvm.minctasm", "nvvm.maxnreg"];

/// The kernel made ready for aggregation; `child` is what it is as a child that threads can run. In words, why
/// not.
pub(super) fn gather<'ctx>(
    kernel: FunctionValue<'ctx>,
    child: Option<&Child<'ctx>>,
) -> Result<Gather<'ctx>, String> {
    gatherable(View::function(kernel))?;
    for index in 0..kernel.count_params() {
        check_parameter(kernel, index).map_err(|what| format!("the child {what}"))?;
    }
    let name = kernel.get_name().to_string_lossy().into_owned();
    let stated = kernel.get_string_attribute(AttributeLoc::Function, "nvvm.maxntid");
    let stated = stated.map(|value| value.get_string_value().to_string_lossy().into_owned());
    let product = |text: &str| text.split(',').map(|n| n.trim().parse::<u32>().ok()).product();
    let most_threads: Option<u32> = stated.as_deref().map_or(Some(1024), product);
    Ok(Gather {
        kernel,
        // Its blocks may be of other sizes here.
        body: child.filter(|child| !child.added).map(|child| child.body),
        name: format!("__cdp_gather_{name}"),
        deep: is_deep(View::function(kernel)),
        repeatable: is_repeatable(View::function(kernel)),
        loose: is_loose(View::function(kernel)),
        launches: launches(kernel),
        packs: false,
        sums: false,
        most_threads: most_threads.unwrap_or(0).min(1024),
        block: [None; 3],
    })
}

/// The dimensions of a site's blocks that are constants.
pub(super) fn constant_block(site: &LaunchSite<'_>) -> [Option<u32>; 3] {
    [4, 5, 6].map(|index| {
        let dim = site.operands.get(index).and_then(|dim| View::value(*dim).constant_int());
        dim.and_then(|dim| u32::try_from(dim).ok())
    })
}

impl<'ctx> Gather<'ctx> {
    /// The same with what the first of its sites says.
    pub fn first_at(self, site: &LaunchSite<'ctx>) -> Gather<'ctx> {
        Gather { block: constant_block(site), ..self }
    }

    /// Its launches at a site may be among those that are made one.
    pub fn is_launched_at(&mut self, site: &LaunchSite<'ctx>) {
        for (known, dim) in self.block.iter_mut().zip(constant_block(site)) {
            *known = known.filter(|known| Some(*known) == dim);
        }
    }

    /// The body; where there is none it is made now, with what the kernel's launches have become, so that they
    /// are as good in the kernel that runs many.
    pub fn make_body(&mut self) -> Option<FunctionValue<'ctx>> {
        if self.body.is_none() {
            let name = self.kernel.get_name().to_string_lossy().into_owned();
            self.body = kernel_body(self.kernel, &format!("__cdp_body_{name}"));
        }
        self.body
    }
}

/// Whether a kernel asks for its grid's y or z.
fn is_deep(kernel: View<'_>) -> bool {
    let mut called = kernel.instructions().into_iter().filter_map(View::callee);
    called.any(|called| match callee(called) {
        Callee::Register(name) => {
            name.split_once("ctaid.").is_some_and(|(_, axis)| ["y", "z"].contains(&axis))
        }
        _ => false,
    })
}

/// Whether a kernel's blocks may be of other sizes, and its threads be at other places in their warps, as far as it says.
pub(super) fn packable(kernel: FunctionValue<'_>) -> bool {
    let limited =
        LIMITS.iter().any(|key| kernel.get_string_attribute(AttributeLoc::Function, key).is_some());
    let (mut seen, mut work) = (HashSet::new(), vec![View::function(kernel)]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for called in function.instructions().into_iter().filter_map(View::callee) {
            match callee(called) {
                Callee::Register(name) if !is_index(&name) => return false,
                Callee::Defined(next) => work.push(next),
                _ => {}
            }
        }
    }
    !limited
}

/// Whether what a block of the kernel leaves behind in its shared memory, its barriers and its threads lets the same
/// block do another's work: none that is half done, no thread that is gone, nobody who waits for another block.
pub(super) fn is_repeatable(kernel: View<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![kernel]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        if check_waiting(function).is_err() {
            return false;
        }
        for called in function.instructions().into_iter().filter_map(View::callee) {
            let name = called.name();
            let good = match callee(called) {
                Callee::Assembly | Callee::Pointer | Callee::Unknown(_) => false,
                Callee::Barrier => {
                    !["arrive", "cluster", "mbarrier"].iter().any(|w| name.contains(w))
                }
                Callee::Warp => {
                    !["mbarrier", "cp.async", "exit"].iter().any(|word| name.contains(word))
                }
                Callee::Defined(next) => {
                    work.push(next);
                    true
                }
                _ => true,
            };
            if !good {
                return false;
            }
        }
    }
    true
}

/// That a block cannot tell a grid of its own from a part of another.
pub(super) fn gatherable(kernel: View<'_>) -> Result<(), String> {
    if kernel.blocks().is_empty() {
        return Err("the child is not defined in this file".into());
    }
    if kernel.as_function().is_some_and(|function| {
        ["nvvm.cluster_dim", "nvvm.maxclusterrank"]
            .iter()
            .any(|key| function.get_string_attribute(AttributeLoc::Function, key).is_some())
    }) {
        return Err("the child runs in clusters".into());
    }
    let (mut seen, mut work) = (HashSet::new(), vec![kernel]);
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for instruction in function.instructions() {
            let Some(called) = instruction.callee() else { continue };
            let problem = match callee(called) {
                Callee::Harmless | Callee::Barrier | Callee::Print | Callee::Texture => None,
                Callee::Runtime(_) => None,
                Callee::Warp => told_apart(&called.name()),
                Callee::Register(name) if is_index(&name) => {
                    let own = function == kernel || !name.contains("ctaid");
                    (!own).then(|| "asks for its block's index in a function".into())
                }
                Callee::Register(name) => told_apart(&name),
                Callee::Assembly => {
                    let text = called.assembly().map(|(text, _)| text).unwrap_or_default();
                    told_apart(&text).filter(|_| text.contains('%'))
                }
                Callee::Launch => may_be_tail(instruction).then(|| "may have a tail launch".into()),
                Callee::Pointer => Some("calls through a pointer".into()),
                Callee::Unknown(name) => Some(format!("calls `{name}`, which is not known here")),
                Callee::Defined(next) => {
                    work.push(next);
                    None
                }
            };
            if let Some(problem) = problem {
                return Err(format!("the child {problem}"));
            }
        }
    }
    Ok(())
}

/// Names of what tells which grid a block belongs to.
fn told_apart(text: &str) -> Option<String> {
    ["ctaid", "gridid", "cluster", "griddep", "mapa", "getctarank", "setmaxnreg", "smem_size"]
        .iter()
        .find(|word| text.contains(**word))
        .map(|word| format!("uses `{word}`"))
}

/// Whether a launch may go into the tail stream, which a grid has one of.
fn may_be_tail(launch: View<'_>) -> bool {
    let Some(mut value) = launch.operand(8).filter(|stream| stream.is_constant()) else {
        return true;
    };
    // A number as an address, or a null pointer.
    while let (None, Some(inner)) = (value.constant_int(), value.operand(0)) {
        value = inner;
    }
    let tail = cdp_launch::StreamConst::TailLaunch.value();
    value.constant_int().is_some_and(|number| number as u64 == tail)
}

/// Whether the records of a whole warp fit into a parameter buffer.
pub(super) fn fits(gather: &Gather<'_>, arguments: &[Argument]) -> bool {
    RECORDS + 32 * record(gather.deep, arguments).bytes <= MAX_BUFFER_BYTES
}

/// The entry points that aggregated launches call.
pub(super) struct Calls {
    get: &'static str,
    launch: &'static str,
}

impl Calls {
    pub fn of(abi: LaunchAbi) -> Calls {
        Calls {
            get: abi.symbol(EntryPoint::GetParameterBuffer, false),
            launch: abi.symbol(EntryPoint::LaunchDevice, false),
        }
    }

    /// A buffer for `blocks` blocks of the site's size of a kernel.
    pub fn get(&self, text: &mut Text, kernel: &str, blocks: &str) -> String {
        let grid = dim3(text, [blocks, "1", "1"]);
        let block = dim3(text, ["%bx", "%by", "%bz"]);
        text.set(&format!(
            "call ptr @{}(ptr {}, [3 x i32] {grid}, [3 x i32] {block}, i32 %shared)",
            self.get,
            quoted(kernel)
        ))
    }

    /// Launches what a buffer asks for; the error.
    pub fn launch(&self, text: &mut Text, buffer: &str, stream: &str) -> String {
        text.set(&format!("call i32 @{}(ptr {buffer}, {stream})", self.launch))
    }

    pub fn declarations(&self) -> String {
        format!(
            "declare ptr @{}(ptr, [3 x i32], [3 x i32], i32)\ndeclare i32 @{}(ptr, ptr)\n",
            self.get, self.launch
        )
    }
}

/// The launch of a lane that is alone, from label `gather` on: the queue's, or as written from label `launch` on.
/// `stream` is an operand.
pub(super) fn site_alone(
    gather: &Gather<'_>,
    arguments: &[Argument],
    stream: &str,
    queue: Option<&Queue>,
    text: &mut Text,
) {
    blocks(text);
    if let Some(queue) = queue {
        queue.site(gather, arguments, stream, &Lanes::ONE, text);
        text.label("g.single");
    }
    text.line("br label %launch");
}

/// Lanes whose launches go into a queue together: how many these are, which of them this one is, the blocks of those
/// before it, and of all.
pub(super) struct Lanes {
    /// Whether there are others.
    pub several: bool,
    pub count: &'static str,
    pub rank: &'static str,
    pub before: &'static str,
    pub total: &'static str,
}

impl Lanes {
    /// A lane alone.
    const ONE: Lanes =
        Lanes { several: false, count: "1", rank: "0", before: "0", total: "%g.blocks" };
    /// The lanes `%same`, led by the one for which `%g.leads` holds.
    const SAME: Lanes = Lanes {
        several: true,
        count: "%g.count",
        rank: "%g.rank",
        before: "%g.before.next",
        total: "%g.total.next",
    };

    /// Goes to `%to` where a lane leads, and to `%others` else.
    pub fn leads(&self, to: &str, others: &str, text: &mut Text) {
        text.line(&match self.several {
            true => format!("br i1 %g.leads, label %{to}, label %{others}"),
            false => format!("br label %{to}"),
        });
    }

    /// They know what each of them knows.
    pub fn meet(&self, text: &mut Text) {
        if self.several {
            text.line("call void @llvm.nvvm.bar.warp.sync(i32 %same)");
        }
    }
}

/// The launches of the lanes `%wants`, from label `gather` on; control also goes to `launch`, where fewer than
/// `least` lanes are alike and no queue takes them. `stream` is an operand.
pub(super) fn site(
    gather: &Gather<'_>,
    arguments: &[Argument],
    calls: &Calls,
    stream: &str,
    queue: Option<&Queue>,
    least: u32,
    text: &mut Text,
) {
    alike(text);
    scan(text);
    text.label("g.ask");
    text.line("%g.leads = icmp eq i32 %g.lane, %g.leader");
    text.line("%g.count = call i32 @llvm.ctpop.i32(i32 %same)");
    text.rank("%g.rank", "%same");
    match queue {
        Some(queue) => queue.site(gather, arguments, stream, &Lanes::SAME, text),
        None => text.line("br label %g.single"),
    }
    text.label("g.single");
    let few = text.set(&format!("icmp ult i32 %g.count, {least}"));
    text.line(&format!("br i1 {few}, label %launch, label %g.warp"));
    text.label("g.warp");
    text.line("br i1 %g.leads, label %g.get, label %g.got");
    text.label("g.get");
    door::enter("%g.door.own", text);
    let given = calls.get(text, &gather.name, "%g.total.next");
    let none = text.set(&format!("icmp eq ptr {given}, null"));
    text.line(&format!("br i1 {none}, label %g.back, label %g.got"));
    text.label("g.back");
    door::leave("%g.door.own", text);
    text.line("br label %g.got");
    text.label("g.got");
    text.line(&format!(
        "%g.own = phi ptr [ null, %g.warp ], [ {given}, %g.get ], [ null, %g.back ]"
    ));
    text.line(
        "%g.door = phi ptr addrspace(1) [ null, %g.warp ], [ %g.door.own, %g.get ], [ null, %g.back ]",
    );
    let address = text.set("ptrtoint ptr %g.own to i64");
    let address = text.shuffle_wide("%same", &address, "%g.leader");
    text.line(&format!("%g.buffer = inttoptr i64 {address} to ptr"));
    let none = text.set(&format!("icmp eq i64 {address}, 0"));
    text.line(&format!("br i1 {none}, label %launch, label %g.fill"));

    text.label("g.fill");
    let records = Records::in_buffer("%g.buffer", gather.deep, arguments, text);
    let end = text.set("add i32 %g.before.next, %g.blocks");
    records.fill(gather.deep, arguments, "%g.rank", &end, text);
    // What the lanes stored goes to the device with the leader's launch.
    text.line("fence syncscope(\"device\") acq_rel");
    text.line("call void @llvm.nvvm.bar.warp.sync(i32 %same)");
    text.line("br i1 %g.leads, label %g.fire, label %g.sent");
    text.label("g.fire");
    text.line("store i32 %g.count, ptr %g.buffer, align 16");
    let error = calls.launch(text, "%g.buffer", stream);
    door::leave("%g.door", text);
    text.line("br label %g.sent");
    text.label("g.sent");
    text.line(&format!("%g.mine = phi i32 [ 0, %g.fill ], [ {error}, %g.fire ]"));
    let error = text.shuffle("%same", "%g.mine", "%g.leader");
    text.line(&format!("ret i32 {error}"));
}

/// The lanes `%same` whose blocks are like the leader's; the others have their turn later.
fn alike(text: &mut Text) {
    text.line("br label %g.round");
    text.label("g.round");
    text.line("%todo = phi i32 [ %wants, %gather ], [ %g.rest, %g.next ]");
    text.line("%g.leader = call i32 @llvm.cttz.i32(i32 %todo, i1 true)");
    let mut alike = Vec::new();
    for name in ["bx", "by", "bz", "shared"] {
        let other = text.shuffle("%todo", &format!("%{name}"), "%g.leader");
        alike.push(text.set(&format!("icmp eq i32 %{name}, {other}")));
    }
    let alike = text.all(&alike);
    let same = text.ballot_of("%todo", &alike);
    text.line(&format!("%same = or i32 {same}, 0"));
    text.line(&format!("br i1 {alike}, label %g.join, label %g.next"));
    text.label("g.next");
    let others = text.set("xor i32 %same, -1");
    text.line(&format!("%g.rest = and i32 %todo, {others}"));
    text.line("br label %g.round");
}

/// Where each lane's blocks begin (`%g.before.next`), and how many there are (`%g.total.next`).
fn scan(text: &mut Text) {
    text.label("g.join");
    blocks(text);
    text.line("%g.lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
    text.line("br label %g.scan");
    text.label("g.scan");
    text.line("%g.left = phi i32 [ %same, %g.join ], [ %g.left.next, %g.scan ]");
    text.line("%g.before = phi i32 [ 0, %g.join ], [ %g.before.next, %g.scan ]");
    text.line("%g.total = phi i32 [ 0, %g.join ], [ %g.total.next, %g.scan ]");
    let lane = text.set("call i32 @llvm.cttz.i32(i32 %g.left, i1 true)");
    let blocks = text.shuffle("%same", "%g.blocks", &lane);
    let lower = text.set(&format!("icmp ult i32 {lane}, %g.lane"));
    let added = text.set(&format!("select i1 {lower}, i32 {blocks}, i32 0"));
    text.line(&format!("%g.before.next = add i32 %g.before, {added}"));
    text.line(&format!("%g.total.next = add i32 %g.total, {blocks}"));
    let less = text.set("sub i32 %g.left, 1");
    text.line(&format!("%g.left.next = and i32 %g.left, {less}"));
    let more = text.set("icmp ne i32 %g.left.next, 0");
    text.line(&format!("br i1 {more}, label %g.scan, label %g.ask"));
}

/// How many blocks this lane launches (`%g.blocks`).
fn blocks(text: &mut Text) {
    let plane = text.set("mul i32 %gx, %gy");
    text.line(&format!("%g.blocks = mul i32 {plane}, %gz"));
}

fn dim3(text: &mut Text, words: [&str; 3]) -> String {
    words.iter().enumerate().fold("poison".to_string(), |value, (index, word)| {
        text.set(&format!("insertvalue [3 x i32] {value}, i32 {word}, {index}"))
    })
}

/// That kernel as the sites that launch it know it.
pub(super) fn declaration(gather: &Gather<'_>) -> String {
    format!("declare ptx_kernel void {}(ptr)\n", quoted(&gather.name))
}

/// The kernel that runs the children of a warp, by their `body`.
pub(super) fn kernel(gather: &Gather<'_>, body: &str, arguments: &[Argument]) -> String {
    let mut text = Text::default();
    text.line("%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()");
    text.line("%count = load i32, ptr %r, align 16");
    let records = Records::in_buffer("%r", gather.deep, arguments, &mut text);
    records.search(&mut text);
    let own = records.record("%low", &mut text);
    let grid = records.grid(gather.deep, &own, &mut text);
    let values = records.load(arguments, &own, &mut text);
    run(gather, body, arguments, &values, &grid, ["%block", "%begin"], &mut text);
    end(gather, &mut text);
    format!(
        "define ptx_kernel void {}(ptr byval([{} x i8]) align 16 %r) nounwind {{\nentry:\n{}}}\n",
        quoted(&gather.name),
        RECORDS + 32 * records.layout.bytes,
        text.out
    )
}

/// The end of a kernel that ran bodies.
pub(super) fn end(gather: &Gather<'_>, text: &mut Text) {
    if gather.sums {
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 -1)");
        text.line(&format!("call void @{DONE}(i32 -1)"));
    }
    text.line("ret void");
}

/// Calls the body as block `block` of all, of a grid that begins with block `begin`.
pub(super) fn run(
    gather: &Gather<'_>,
    body: &str,
    arguments: &[Argument],
    values: &[String],
    grid: &[String; 3],
    [block, begin]: [&str; 2],
    text: &mut Text,
) {
    let number = text.set(&format!("sub i32 {block}, {begin}"));
    let block = &place_of(gather, &number, grid, text);
    run_at(gather, body, arguments, values, &Place { grid, block, threads: None }, text);
}

/// Where in its grid the block with a number is.
pub(super) fn place_of(
    gather: &Gather<'_>,
    number: &str,
    grid: &[String; 3],
    text: &mut Text,
) -> [String; 3] {
    if !gather.deep {
        return [number.to_string(), "0".into(), "0".into()];
    }
    let x = text.set(&format!("urem i32 {number}, {}", grid[0]));
    let above = text.set(&format!("udiv i32 {number}, {}", grid[0]));
    let y = text.set(&format!("urem i32 {above}, {}", grid[1]));
    [x, y, text.set(&format!("udiv i32 {above}, {}", grid[1]))]
}

/// Where a body is run: in which grid, as which of its blocks, and as which thread of a block of which size, where these are
/// not those of the block that is running.
pub(super) struct Place<'a> {
    pub grid: &'a [String; 3],
    pub block: &'a [String; 3],
    pub threads: Option<[[String; 3]; 2]>,
}

/// Calls the body as the block at a place in its grid.
pub(super) fn run_at(
    gather: &Gather<'_>,
    body: &str,
    arguments: &[Argument],
    values: &[String],
    at: &Place<'_>,
    text: &mut Text,
) {
    let mut extras: Vec<String> = vec!["0".into(); EXTRAS.len()];
    let axes = if gather.deep { 3 } else { 1 };
    extras[..axes].clone_from_slice(&at.block[..axes]);
    for (axis, name) in ["x", "y", "z"].iter().enumerate() {
        let mut read = |register: &str| {
            text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.{register}.{name}()"))
        };
        extras[6 + axis] = at.grid[axis].clone();
        // What is known here need not be asked, and loops over it end when the code says.
        [extras[3 + axis], extras[9 + axis]] = match (gather.block[axis], &at.threads) {
            (Some(1), _) => ["0".into(), "1".into()],
            (dim, Some([thread, size])) => {
                [thread[axis].clone(), dim.map_or(size[axis].clone(), |dim| dim.to_string())]
            }
            (dim, None) => [read("tid"), dim.map_or_else(|| read("ntid"), |dim| dim.to_string())],
        };
    }
    let row = text.set(&format!("mul i32 {}, {}", extras[0], extras[9]));
    extras[12] = text.set(&format!("add i32 {row}, {}", extras[3]));
    let mut operands: Vec<String> = arguments
        .iter()
        .zip(values)
        .map(|(argument, value)| format!("{} {value}", argument.ty))
        .collect();
    operands.extend(extras.iter().map(|value| format!("i32 {value}")));
    text.line(&format!("call void {}({})", quoted(body), operands.join(", ")));
}
