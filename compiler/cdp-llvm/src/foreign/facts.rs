//! What a module of another front end says about its kernels and launches, for people and tools: read off
//! the calls of `@cdp.launch`, before they are lowered.

use cdp_launch::StreamConst;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::{BasicValueEnum, CallSiteValue, FunctionValue};

use super::lowering::{FIXED_OPERANDS, function_name, uses_of};
use super::module::{ForeignKernel, kernels};
use crate::kernel::{LAUNCH, LAUNCH_AS, PTX_KERNEL};
use crate::raise::place::{self, LaunchPlace};
use crate::raw;

/// Kernels, launches and calls of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignFacts {
    /// The kernels that the module defines.
    pub kernels: Vec<ForeignKernel>,
    /// Calls of `@cdp.launch`, in the order of the module.
    pub launches: Vec<ForeignLaunch>,
    /// (caller, callee), for functions with a body.
    pub calls: Vec<(String, String)>,
}

/// A launch, with its configuration as text: numbers where they are constants, else names of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignLaunch {
    /// The symbol of the launching function.
    pub parent: String,
    /// The kernel; `*name` where it is chosen at run time.
    pub child: String,
    /// Blocks, with commas between x, y and z.
    pub grid: String,
    /// Threads of a block, likewise.
    pub block: String,
    /// Empty for none.
    pub shared: String,
    /// Empty for the default stream.
    pub stream: String,
    /// Where the module tells.
    pub place: Option<LaunchPlace>,
}

pub(super) fn of<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    data: &TargetData,
) -> ForeignFacts {
    let mut launches = Vec::new();
    for (name, leading) in [(LAUNCH, 0), (LAUNCH_AS, 1)] {
        let calls = module.get_function(name).map(|launch| uses_of(launch).0).unwrap_or_default();
        launches.extend(calls.into_iter().filter_map(|call| describe(call, leading)));
    }
    ForeignFacts { kernels: kernels(context, module, data), launches, calls: calls(module) }
}

/// `leading` operands stand before those of `@cdp.launch`.
fn describe(call: CallSiteValue<'_>, leading: usize) -> Option<ForeignLaunch> {
    if !raw::has_basic_arguments(call) {
        return None;
    }
    let arguments = raw::call_arguments(call);
    let [kernel, gx, gy, gz, bx, by, bz, shared, stream, ..] = *arguments.get(leading..)? else {
        return None;
    };
    debug_assert_eq!(FIXED_OPERANDS, 9);
    let at = raw::instruction(call);
    Some(ForeignLaunch {
        parent: function_name(at),
        child: match raw::as_function(kernel) {
            Some(function) => name(function),
            None => format!("*{}", text(kernel)),
        },
        grid: dimensions([gx, gy, gz]),
        block: dimensions([bx, by, bz]),
        shared: Some(text(shared)).filter(|text| text != "0").unwrap_or_default(),
        stream: stream_name(stream),
        place: place::of(at),
    })
}

fn name(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

/// As in a source: one number where the others are 1.
fn dimensions(values: [BasicValueEnum<'_>; 3]) -> String {
    let [x, y, z] = values.map(text);
    match (y.as_str(), z.as_str()) {
        ("1", "1") => x,
        (_, "1") => format!("dim3({x}, {y})"),
        _ => format!("dim3({x}, {y}, {z})"),
    }
}

fn text(value: BasicValueEnum<'_>) -> String {
    if let BasicValueEnum::IntValue(number) = value
        && let Some(constant) = number.get_zero_extended_constant()
    {
        return constant.to_string();
    }
    if let Some(address) = raw::constant_address(value) {
        return address.to_string();
    }
    match crate::kernel::name_of(value) {
        name if name.is_empty() => "?".to_owned(),
        name => format!("%{name}"),
    }
}

fn stream_name(value: BasicValueEnum<'_>) -> String {
    match raw::constant_address(value) {
        Some(0) => String::new(),
        Some(number) => {
            let known = StreamConst::from_value(number).map(|stream| stream.name().to_owned());
            known.unwrap_or_else(|| number.to_string())
        }
        None => text(value),
    }
}

/// Calls of functions with a body, each pair once, in the order of the callees.
fn calls(module: &Module<'_>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let defined = module.get_functions().filter(|function| {
        function.get_call_conventions() != PTX_KERNEL && !raw::is_declaration(*function)
    });
    for callee in defined {
        let address = Some(callee.as_global_value().as_pointer_value());
        let mut callers: Vec<String> = raw::users(callee)
            .into_iter()
            .filter(|user| raw::called(*user) == address)
            .map(function_name)
            .collect();
        callers.sort();
        callers.dedup();
        out.extend(callers.into_iter().map(|caller| (caller, name(callee))));
    }
    out
}
