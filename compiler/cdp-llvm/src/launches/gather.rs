//! Aggregates the launches of a warp into one: the lanes that launch the same kernel with blocks of the same
//! size put their arguments into one parameter buffer, and a kernel made for that runs all their children's
//! blocks, each as a block of its own that finds its record by search.
//!
//! Legality. Children of different lanes run at the same time, so only where those may overlap
//! ([`super::distribute::Mode::Independent`]). One thread's children stay in order: each of its launches is
//! part of a later launch of its block into the same stream. Nothing else can be told apart but what
//! [`gatherable`] refuses: blocks are real ones, with barriers, shared memory, warps and launches of their own.
//! When there is no buffer each lane launches as written, and gets that launch's error.

use std::collections::HashSet;

use cdp_launch::{EntryPoint, LaunchAbi, MAX_BUFFER_BYTES};
use inkwell::attributes::AttributeLoc;
use inkwell::values::FunctionValue;

use super::calls::{Callee, callee, is_index};
use super::child::{Child, EXTRAS, check_parameter, scalar_bits};
use super::distribute::Argument;
use super::emit::{Text, quoted};
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
    /// The most threads that a block may have.
    pub most_threads: u32,
}

/// What a kernel says of its blocks, which holds for the aggregating kernel too.
pub(super) const LIMITS: [&str; 4] =
    ["nvvm.maxntid", "nvvm.reqntid", "nvvm.minctasm", "nvvm.maxnreg"];

/// Where the records begin: behind their number and, for each lane, where its blocks end.
const RECORDS: u64 = 144;

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
        body: child.map(|child| child.body),
        name: format!("__cdp_gather_{name}"),
        deep: is_deep(View::function(kernel)),
        most_threads: most_threads.unwrap_or(0).min(1024),
    })
}

impl<'ctx> Gather<'ctx> {
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

/// Where things lie in a lane's record.
struct Record {
    /// Offsets of the arguments.
    arguments: Vec<u64>,
    bytes: u64,
}

fn record(gather: &Gather<'_>, arguments: &[Argument]) -> Record {
    let mut at = if gather.deep { 12 } else { 4 };
    let mut offsets = Vec::new();
    let mut most = 8;
    for argument in arguments {
        let (bytes, align) = size(argument);
        most = most.max(align);
        at = u64::next_multiple_of(at, align);
        offsets.push(at);
        at += bytes;
    }
    Record { arguments: offsets, bytes: at.next_multiple_of(most) }
}

fn size(argument: &Argument) -> (u64, u64) {
    match argument.by_value {
        Some((bytes, align)) => (bytes, align.clamp(1, 16)),
        None => {
            let bytes = u64::from(scalar_bits(&argument.ty).unwrap_or(64)).div_ceil(8);
            (bytes, bytes)
        }
    }
}

/// Whether the records of a whole warp fit into a parameter buffer.
pub(super) fn fits(gather: &Gather<'_>, arguments: &[Argument]) -> bool {
    RECORDS + 32 * record(gather, arguments).bytes <= MAX_BUFFER_BYTES
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

    pub fn declarations(&self) -> String {
        format!(
            "declare ptr @{}(ptr, [3 x i32], [3 x i32], i32)\ndeclare i32 @{}(ptr, ptr)\n",
            self.get, self.launch
        )
    }
}

fn shuffle(text: &mut Text, mask: &str, word: &str, from: &str) -> String {
    text.set(&format!(
        "call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 {mask}, i32 {word}, i32 {from}, i32 31)"
    ))
}

/// The launches of the lanes `%wants`, from label `gather` on; control also goes to `launch`. `stream` is an
/// operand.
pub(super) fn site(
    gather: &Gather<'_>,
    arguments: &[Argument],
    calls: &Calls,
    stream: &str,
    text: &mut Text,
) {
    text.line("br label %g.round");
    text.label("g.round");
    text.line("%todo = phi i32 [ %wants, %gather ], [ %g.rest, %g.next ]");
    text.line("%g.leader = call i32 @llvm.cttz.i32(i32 %todo, i1 true)");
    let mut alike = Vec::new();
    for name in ["bx", "by", "bz", "shared"] {
        let other = shuffle(text, "%todo", &format!("%{name}"), "%g.leader");
        alike.push(text.set(&format!("icmp eq i32 %{name}, {other}")));
    }
    let alike = text.all(&alike);
    text.line(&format!("%same = call i32 @llvm.nvvm.vote.ballot.sync(i32 %todo, i1 {alike})"));
    text.line(&format!("br i1 {alike}, label %g.join, label %g.next"));
    text.label("g.next");
    let others = text.set("xor i32 %same, -1");
    text.line(&format!("%g.rest = and i32 %todo, {others}"));
    text.line("br label %g.round");

    // Where each lane's blocks begin, and how many there are.
    text.label("g.join");
    let plane = text.set("mul i32 %gx, %gy");
    text.line(&format!("%g.blocks = mul i32 {plane}, %gz"));
    text.line("%g.lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
    text.line("br label %g.scan");
    text.label("g.scan");
    text.line("%g.left = phi i32 [ %same, %g.join ], [ %g.left.next, %g.scan ]");
    text.line("%g.before = phi i32 [ 0, %g.join ], [ %g.before.next, %g.scan ]");
    text.line("%g.total = phi i32 [ 0, %g.join ], [ %g.total.next, %g.scan ]");
    let lane = text.set("call i32 @llvm.cttz.i32(i32 %g.left, i1 true)");
    let blocks = shuffle(text, "%same", "%g.blocks", &lane);
    let lower = text.set(&format!("icmp ult i32 {lane}, %g.lane"));
    let added = text.set(&format!("select i1 {lower}, i32 {blocks}, i32 0"));
    text.line(&format!("%g.before.next = add i32 %g.before, {added}"));
    text.line(&format!("%g.total.next = add i32 %g.total, {blocks}"));
    let less = text.set("sub i32 %g.left, 1");
    text.line(&format!("%g.left.next = and i32 %g.left, {less}"));
    let more = text.set("icmp ne i32 %g.left.next, 0");
    text.line(&format!("br i1 {more}, label %g.scan, label %g.ask"));

    text.label("g.ask");
    text.line("%g.leads = icmp eq i32 %g.lane, %g.leader");
    text.line("br i1 %g.leads, label %g.get, label %g.got");
    text.label("g.get");
    let grid = dim3(text, ["%g.total.next", "1", "1"]);
    let block = dim3(text, ["%bx", "%by", "%bz"]);
    text.line(&format!(
        "%g.given = call ptr @{}(ptr {}, [3 x i32] {grid}, [3 x i32] {block}, i32 %shared)",
        calls.get,
        quoted(&gather.name)
    ));
    text.line("br label %g.got");
    text.label("g.got");
    text.line("%g.own = phi ptr [ null, %g.ask ], [ %g.given, %g.get ]");
    let address = text.set("ptrtoint ptr %g.own to i64");
    let low = text.set(&format!("trunc i64 {address} to i32"));
    let high = text.set(&format!("lshr i64 {address}, 32"));
    let high = text.set(&format!("trunc i64 {high} to i32"));
    let (low, high) =
        (shuffle(text, "%same", &low, "%g.leader"), shuffle(text, "%same", &high, "%g.leader"));
    let low = text.set(&format!("zext i32 {low} to i64"));
    let high = text.set(&format!("zext i32 {high} to i64"));
    let high = text.set(&format!("shl i64 {high}, 32"));
    let address = text.set(&format!("or i64 {high}, {low}"));
    text.line(&format!("%g.buffer = inttoptr i64 {address} to ptr"));
    let none = text.set(&format!("icmp eq i64 {address}, 0"));
    text.line(&format!("br i1 {none}, label %launch, label %g.fill"));

    text.label("g.fill");
    fill(gather, arguments, text);
    // What the lanes stored goes to the device with the leader's launch.
    text.line("fence syncscope(\"device\") acq_rel");
    text.line("call void @llvm.nvvm.bar.warp.sync(i32 %same)");
    text.line("br i1 %g.leads, label %g.fire, label %g.sent");
    text.label("g.fire");
    let count = text.set("call i32 @llvm.ctpop.i32(i32 %same)");
    text.line(&format!("store i32 {count}, ptr %g.buffer, align 16"));
    text.line(&format!("%g.error = call i32 @{}(ptr %g.buffer, {stream})", calls.launch));
    text.line("br label %g.sent");
    text.label("g.sent");
    text.line("%g.mine = phi i32 [ 0, %g.fill ], [ %g.error, %g.fire ]");
    let error = shuffle(text, "%same", "%g.mine", "%g.leader");
    text.line(&format!("ret i32 {error}"));
}

/// A lane's record.
fn fill(gather: &Gather<'_>, arguments: &[Argument], text: &mut Text) {
    let layout = record(gather, arguments);
    let below = text.set("call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()");
    let below = text.set(&format!("and i32 %same, {below}"));
    let rank = text.set(&format!("call i32 @llvm.ctpop.i32(i32 {below})"));
    let rank = text.set(&format!("zext i32 {rank} to i64"));
    let end = text.set("add i32 %g.before.next, %g.blocks");
    let at = text.set(&format!("shl i64 {rank}, 2"));
    let at = text.set(&format!("add i64 {at}, 4"));
    let at = text.set(&format!("getelementptr i8, ptr %g.buffer, i64 {at}"));
    text.line(&format!("store i32 {end}, ptr {at}, align 4"));
    let at = text.set(&format!("mul i64 {rank}, {}", layout.bytes));
    let at = text.set(&format!("add i64 {at}, {RECORDS}"));
    let own = text.set(&format!("getelementptr i8, ptr %g.buffer, i64 {at}"));
    let place = |text: &mut Text, offset: u64| {
        text.set(&format!("getelementptr i8, ptr {own}, i64 {offset}"))
    };
    for (index, name) in ["gx", "gy", "gz"].iter().enumerate().take(if gather.deep { 3 } else { 1 })
    {
        let at = place(text, 4 * index as u64);
        text.line(&format!("store i32 %{name}, ptr {at}, align 4"));
    }
    for (index, (argument, offset)) in arguments.iter().zip(&layout.arguments).enumerate() {
        let at = place(text, *offset);
        let (bytes, align) = size(argument);
        match argument.by_value {
            Some(_) => text.line(&format!(
                "call void @llvm.memcpy.p0.p0.i64(ptr align {align} {at}, ptr align {align} %a{index}, i64 {bytes}, i1 false)"
            )),
            None if argument.ty == "i1" => {
                let byte = text.set(&format!("zext i1 %a{index} to i8"));
                text.line(&format!("store i8 {byte}, ptr {at}, align 1"));
            }
            None => text
                .line(&format!("store {} %a{index}, ptr {at}, align {align}", argument.ty)),
        }
    }
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
    let layout = record(gather, arguments);
    let mut text = Text::default();
    text.line("%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()");
    text.line("%count = load i32, ptr %r, align 16");
    text.line("br label %search");
    // The first record whose blocks end behind this one.
    text.label("search");
    text.line("%low = phi i32 [ 0, %entry ], [ %low.next, %look ]");
    text.line("%high = phi i32 [ %count, %entry ], [ %high.next, %look ]");
    let open = text.set("icmp ult i32 %low, %high");
    text.line(&format!("br i1 {open}, label %look, label %found"));
    text.label("look");
    let sum = text.set("add i32 %low, %high");
    let middle = text.set(&format!("lshr i32 {sum}, 1"));
    let end = load_end(&mut text, &middle);
    let here = text.set(&format!("icmp ult i32 %block, {end}"));
    let above = text.set(&format!("add i32 {middle}, 1"));
    text.line(&format!("%low.next = select i1 {here}, i32 %low, i32 {above}"));
    text.line(&format!("%high.next = select i1 {here}, i32 {middle}, i32 %high"));
    text.line("br label %search");
    text.label("found");
    let first = text.set("icmp eq i32 %low, 0");
    text.line(&format!("br i1 {first}, label %run, label %behind"));
    text.label("behind");
    let before = text.set("sub i32 %low, 1");
    let begin = load_end(&mut text, &before);
    text.line("br label %run");
    text.label("run");
    text.line(&format!("%begin = phi i32 [ 0, %found ], [ {begin}, %behind ]"));
    let number = text.set("sub i32 %block, %begin");
    let index = text.set("zext i32 %low to i64");
    let at = text.set(&format!("mul i64 {index}, {}", layout.bytes));
    let at = text.set(&format!("add i64 {at}, {RECORDS}"));
    let own = text.set(&format!("getelementptr i8, ptr %r, i64 {at}"));
    let load = |text: &mut Text, ty: &str, offset: u64, align: u64| {
        let at = text.set(&format!("getelementptr i8, ptr {own}, i64 {offset}"));
        text.set(&format!("load {ty}, ptr {at}, align {align}"))
    };
    let mut extras: Vec<String> = vec!["0".into(); EXTRAS.len()];
    for (axis, name) in ["x", "y", "z"].iter().enumerate() {
        extras[3 + axis] = text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.tid.{name}()"));
        extras[9 + axis] = text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.ntid.{name}()"));
        extras[6 + axis] = match axis == 0 || gather.deep {
            true => load(&mut text, "i32", 4 * axis as u64, 4),
            false => "1".into(),
        };
    }
    if gather.deep {
        extras[0] = text.set(&format!("urem i32 {number}, {}", extras[6]));
        let above = text.set(&format!("udiv i32 {number}, {}", extras[6]));
        extras[1] = text.set(&format!("urem i32 {above}, {}", extras[7]));
        extras[2] = text.set(&format!("udiv i32 {above}, {}", extras[7]));
    } else {
        extras[0] = number;
    }
    let row = text.set(&format!("mul i32 {}, {}", extras[0], extras[9]));
    extras[12] = text.set(&format!("add i32 {row}, {}", extras[3]));
    let mut operands = Vec::new();
    for (argument, offset) in arguments.iter().zip(&layout.arguments) {
        let (_, align) = size(argument);
        let value = match argument.by_value {
            Some(_) => text.set(&format!("getelementptr i8, ptr {own}, i64 {offset}")),
            None if argument.ty == "i1" => {
                let byte = load(&mut text, "i8", *offset, 1);
                text.set(&format!("trunc i8 {byte} to i1"))
            }
            None => load(&mut text, &argument.ty, *offset, align),
        };
        operands.push(format!("{} {value}", argument.ty));
    }
    operands.extend(extras.iter().map(|value| format!("i32 {value}")));
    text.line(&format!("call void {}({})", quoted(body), operands.join(", ")));
    text.line("ret void");
    format!(
        "define ptx_kernel void {}(ptr byval([{} x i8]) align 16 %r) nounwind {{\nentry:\n{}}}\n",
        quoted(&gather.name),
        RECORDS + 32 * layout.bytes,
        text.out
    )
}

/// Where the blocks of a record end.
fn load_end(text: &mut Text, index: &str) -> String {
    let at = text.set(&format!("zext i32 {index} to i64"));
    let at = text.set(&format!("shl i64 {at}, 2"));
    let at = text.set(&format!("add i64 {at}, 4"));
    let at = text.set(&format!("getelementptr i8, ptr %r, i64 {at}"));
    text.set(&format!("load i32, ptr {at}, align 4"))
}
