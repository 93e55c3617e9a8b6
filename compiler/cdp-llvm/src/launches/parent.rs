//! What launches: the sites of a kernel, and whether anything else in it takes part in the order of its
//! block's streams, or looks at what a launch leaves behind.

use std::collections::{HashMap, HashSet};

use cdp_ir::{Aggregate, RuntimeFn};
use cdp_launch::StreamConst;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue,
};

use super::access::Function;
use super::calls::{Callee, callee};
use crate::kernel::LAUNCH;
use crate::raise::place::{self, LaunchPlace};
use crate::raw;
use crate::raw::view::View;

/// The metadata of a launch site: file, line, column, the names of parent and child, then what the
/// pragmas said.
pub const SITE: &str = "cdp.site";

/// What the front end said of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub place: Option<LaunchPlace>,
    pub parent: Option<String>,
    pub child: Option<String>,
    pub independent: bool,
    pub keep: bool,
    pub threshold: Option<u32>,
    pub aggregate: Option<Aggregate>,
    pub coarsen: Option<u32>,
    /// It keeps the order of what its thread runs itself ([`super::stack`]).
    pub behind: bool,
    /// It launches what was launched at another site, of which all is said.
    pub again: bool,
}

/// A call of `@cdp.launch`.
pub(super) struct LaunchSite<'ctx> {
    pub call: CallSiteValue<'ctx>,
    pub operands: Vec<BasicValueEnum<'ctx>>,
    pub said: Said,
    /// `None` for a handle that is not a constant.
    pub stream: Option<StreamConst>,
}

impl<'ctx> LaunchSite<'ctx> {
    pub fn new(call: CallSiteValue<'ctx>) -> LaunchSite<'ctx> {
        let operands = match raw::has_basic_arguments(call) {
            true => raw::call_arguments(call),
            false => Vec::new(),
        };
        let address = operands.get(8).and_then(|stream| raw::constant_address(*stream));
        LaunchSite {
            call,
            said: said(raw::instruction(call)),
            stream: address.and_then(StreamConst::from_value),
            operands,
        }
    }

    /// What is launched, where that is known.
    pub fn kernel(&self) -> Option<FunctionValue<'ctx>> {
        self.operands.first().and_then(|operand| raw::as_function(*operand))
    }

    /// Whether the block's NULL stream may order the launch.
    pub fn in_null_stream(&self) -> bool {
        !matches!(self.stream, Some(StreamConst::TailLaunch | StreamConst::FireAndForget))
    }

    /// Whether its launches keep an order that nobody gave up.
    pub fn ordered(&self) -> bool {
        self.in_null_stream() && !self.said.independent
    }
}

/// Whether every thread of a grid has the same value: constants, and the kernel's own parameters.
pub(super) fn is_uniform(value: BasicValueEnum<'_>, parent: FunctionValue<'_>) -> bool {
    let value = View::value(value);
    if value.is_constant() {
        return true;
    }
    let struct_kind = inkwell::attributes::Attribute::get_named_enum_kind_id("byval");
    value.parameter_index().is_some_and(|index| {
        let at = inkwell::attributes::AttributeLoc::Param(index);
        // A struct is the thread's own copy, which it may have changed.
        parent.get_enum_attribute(at, struct_kind).is_none()
            || Function::parent(View::function(parent)).is_unchanged(index)
    })
}

fn said(call: InstructionValue<'_>) -> Said {
    let mut said = Said { place: place::of(call), ..Said::default() };
    let Some(kind) =
        raw::owner(call).map(|function| function.get_type().get_context().get_kind_id(SITE))
    else {
        return said;
    };
    let Some(values) = call.get_metadata(kind).and_then(|node| node.get_node_values()) else {
        return said;
    };
    let texts: Vec<String> = values
        .iter()
        .map(|value| match value {
            BasicMetadataValueEnum::MetadataValue(text) => {
                String::from_utf8_lossy(text.get_string_value().unwrap_or_default()).into_owned()
            }
            _ => String::new(),
        })
        .collect();
    if let [file, line, column, parent, child, rest @ ..] = &texts[..] {
        let number = |text: &str| text.parse().unwrap_or(0);
        let place = LaunchPlace { file: file.clone(), line: number(line), column: number(column) };
        said.place = Some(place).filter(|place| !place.file.is_empty()).or(said.place);
        let named = |name: &String| Some(name.clone()).filter(|name| !name.is_empty());
        said.parent = named(parent);
        said.child = named(child);
        for word in rest {
            match word.split_once('=') {
                None if word == "independent" => said.independent = true,
                None if word == "keep" => said.keep = true,
                None if word == "behind" => said.behind = true,
                None if word == "again" => said.again = true,
                Some(("threshold", number)) => said.threshold = number.parse().ok(),
                Some(("aggregate", word)) => said.aggregate = Aggregate::from_word(word),
                Some(("coarsen", number)) => said.coarsen = number.parse().ok(),
                _ => {}
            }
        }
    }
    said
}

/// Facts about a kernel that launches.
#[derive(Default)]
pub(super) struct Parent {
    /// Something else in it takes part in the order of a stream, or may: why no child can be run early.
    pub obstacle: Option<String>,
    /// The function with which it looks at the errors of launches.
    pub looks_at_errors: Option<&'static str>,
    /// Its threads may learn what threads of other blocks wrote, which their launches pass on.
    pub listens: bool,
    /// What has it that its block may have no shared memory left for the lock.
    pub crowded: Option<&'static str>,
}

/// Shared memory that a kernel may name and still leave room for the lock, in bytes.
const MOST_SHARED_BYTES: u64 = (48 << 10) - 1024;

/// Looks at a kernel and what it calls.
pub(super) fn parent(kernel: FunctionValue<'_>) -> Parent {
    let mut found = Parent::default();
    let (mut seen, mut work) = (HashSet::new(), vec![View::function(kernel)]);
    let root = View::function(kernel);
    let mut shared = HashMap::new();
    while let Some(function) = work.pop() {
        if !seen.insert(function) {
            continue;
        }
        for instruction in function.instructions() {
            found.listens = found.listens || listens(instruction);
            shared_variables(instruction, &mut shared);
            let Some(called) = instruction.callee() else { continue };
            if instruction.opcode() != Some(LLVMOpcode::LLVMCall) {
                continue;
            }
            let obstacle = match callee(called) {
                Callee::Launch if function != root => Some(format!(
                    "`{}`, which launches too, cannot be inlined into it",
                    function.name()
                )),
                Callee::Pointer => {
                    Some("it calls functions through pointers, which may launch".into())
                }
                Callee::Unknown(name) => known_quiet(&name).then(String::new).map_or_else(
                    || Some(format!("it calls `{name}` of another file, which may launch")),
                    |_| None,
                ),
                Callee::Defined(next) => {
                    work.push(next);
                    None
                }
                Callee::Runtime(func) => runtime(func, &mut found),
                _ => None,
            };
            found.obstacle = found.obstacle.take().or(obstacle);
        }
    }
    found.crowded = match shared.values().try_fold(0_u64, |sum, bytes| Some(sum + (*bytes)?)) {
        None => Some("sizes its shared memory when it is launched"),
        Some(bytes) if bytes > MOST_SHARED_BYTES => Some("uses nearly all shared memory"),
        Some(_) => None,
    };
    found
}

/// Whether a thread may learn by an instruction what a thread of another block has done: after an atomic
/// operation whose result it looks at, or a fence, its launches are ordered behind that thread's writes.
pub(super) fn listens(instruction: View<'_>) -> bool {
    match instruction.opcode() {
        Some(LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg) => {
            !instruction.users().is_empty()
        }
        Some(LLVMOpcode::LLVMFence) => true,
        Some(LLVMOpcode::LLVMLoad) => instruction.is_volatile() || instruction.is_ordered(),
        Some(LLVMOpcode::LLVMCall) => instruction.callee().is_some_and(|called| {
            let name = called.name();
            let fence = ["membar", "fence", "atomic"].iter().any(|word| {
                name.strip_prefix("llvm.nvvm.").is_some_and(|rest| rest.starts_with(word))
            });
            match callee(called) {
                Callee::Assembly | Callee::Pointer => true,
                Callee::Unknown(name) => !known_quiet(&name),
                _ => fence,
            }
        }),
        _ => false,
    }
}

/// Adds the shared variables that an instruction names, with their bytes; `None` where the launch decides.
fn shared_variables<'ctx>(instruction: View<'ctx>, found: &mut HashMap<View<'ctx>, Option<u64>>) {
    let mut work = instruction.operands();
    let mut seen = HashSet::new();
    while let Some(value) = work.pop() {
        if !value.is_constant() || !seen.insert(value) {
            continue;
        }
        match value.global_space() {
            Some(3) => drop(found.insert(value, value.variable_bytes())),
            Some(_) => {}
            None if value.as_function().is_some() => {}
            None => work.extend(value.operands()),
        }
    }
}

fn known_quiet(name: &str) -> bool {
    ["__assertfail", "__assert_fail"].contains(&name)
}

/// What a call of the device runtime means for the order of launches.
fn runtime(func: RuntimeFn, found: &mut Parent) -> Option<String> {
    use RuntimeFn::{
        GetLastError, GetParameterBuffer, GetParameterBufferV2, LaunchDevice, LaunchDeviceV2,
        Memcpy2DAsync, Memcpy3DAsync, MemcpyAsync, Memset2DAsync, Memset3DAsync, MemsetAsync,
        PeekAtLastError, StreamWaitEvent,
    };
    match func {
        GetLastError | PeekAtLastError => {
            found.looks_at_errors = Some(func.name());
            None
        }
        GetParameterBuffer | GetParameterBufferV2 | LaunchDevice | LaunchDeviceV2 => Some(
            "it also launches a kernel that is chosen at run time, or whose arguments have \
                  effects"
                .into(),
        ),
        MemcpyAsync | Memcpy2DAsync | Memcpy3DAsync | MemsetAsync | Memset2DAsync
        | Memset3DAsync | StreamWaitEvent => {
            Some(format!("it also calls `{}`, which streams order with its launches", func.name()))
        }
        _ => None,
    }
}

/// The launches of a function, in the order of its code.
pub(super) fn sites_of(function: FunctionValue<'_>) -> Vec<LaunchSite<'_>> {
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
    sites
}

/// At how many places a kernel may launch. What one place means for the others is asked of each two of them.
pub(super) const MOST_SITES: usize = 64;

/// Why nothing is done with a kernel that launches at more.
pub(super) fn too_many(sites: usize) -> String {
    format!("its kernel launches at {sites} places, and at most {MOST_SITES} are looked at")
}
