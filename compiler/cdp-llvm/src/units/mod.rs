//! Codegen units: a large device module is cut into several, optimised and made PTX on several
//! threads, and the texts become one again.
//!
//! How it is cut depends on the module alone, never on the machine, so that the same program gives
//! the same text everywhere. A unit has the bodies of its own functions and copies, for inlining
//! only, of the small functions that they call. [`plan`] decides, this file builds and runs the
//! units, [`merge`] joins their texts. Small modules, modules with debug information and modules
//! with assembly of their own are not cut.

mod merge;
mod plan;

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use inkwell::module::{Linkage, Module};

use crate::artifact::{LlvmModule, give_back_memory};
use crate::error::{LowerError, Result, bug};
use crate::guard::{Stopped, guarded};
use crate::launches::Optimized;
use crate::options::{DebugInfo, LowerOptions, OptLevel};
use crate::raw;
use crate::target::CodeTarget;

pub(crate) use plan::Plan;
use plan::Role;

/// How a device module is cut; `None` when it is too small or cannot be.
pub(crate) fn plan(whole: &LlvmModule, options: &LowerOptions) -> Result<Option<Plan>> {
    if options.debug != DebugInfo::None || options.opt_level == OptLevel::O0 {
        return Ok(None);
    }
    let module = whole.module();
    if module.get_function("__nvvm_reflect").is_some() {
        // libdevice asks by the address of a string, which in units would be another unit's.
        whole.run_passes("nvvm-reflect")?;
    }
    Ok(plan::plan(module, options.unit_instructions))
}

/// PTX of a device module in units. The module is used up.
pub(crate) fn emit_ptx(whole: LlvmModule, plan: &Plan, options: &LowerOptions) -> Result<String> {
    plan::promote(whole.module(), plan);
    // What is found out of the module for the plan, and the numbers of its values while it is written, are tens of bytes for each
    // instruction.
    whole.give_back_memory();
    let bitcode = whole.module().write_bitcode_to_memory();
    let put_recorded = whole.put_recorded_launches();
    let texts = emit_units(plan, whole, bitcode.as_slice(), options)?;
    let text = merge::merge(&texts, &plan.promoted).map_err(|error| LowerError::Backend {
        message: format!("the PTX with its inline assembly cannot be read: {error}"),
    })?;
    Ok(put_recorded(text))
}

/// The units' texts, in order. With several errors, that of the first unit is the result.
///
/// The largest is what is left of the module itself, which nobody else needs once it is written: the others read it from
/// bitcode.
fn emit_units(
    plan: &Plan,
    whole: LlvmModule,
    bitcode: &[u8],
    options: &LowerOptions,
) -> Result<Vec<String>> {
    let target = whole.target();
    let next = AtomicUsize::new(0);
    let made: Vec<Mutex<Option<Result<String>>>> =
        plan.units.iter().map(|_| Mutex::default()).collect();
    let put = |index: usize, text: Result<String>| {
        if let Ok(mut slot) = made[index].lock() {
            *slot = Some(text);
        }
    };
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(roles) = plan.units.get(index) else { return };
            if index == plan.largest {
                continue;
            }
            let text = guarded(|| emit_unit(plan, roles, target, bitcode, options))
                .unwrap_or_else(|stopped| Err(stopped_error(stopped)));
            put(index, text);
        }
    };
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(plan.units.len()) {
            // Without another thread this one does all the work.
            let _ = std::thread::Builder::new().name("cdp-unit".into()).spawn_scoped(scope, work);
        }
        put(plan.largest, emit_largest(plan, whole));
        work();
    });
    let lost = || bug("emit", "a codegen unit left no result".to_string());
    made.into_iter()
        .map(|slot| slot.into_inner().ok().flatten().unwrap_or_else(|| Err(lost())))
        .collect()
}

fn emit_largest(plan: &Plan, mut whole: LlvmModule) -> Result<String> {
    let large = whole.is_large();
    for (symbol, role) in plan.symbols.iter().zip(&plan.units[plan.largest]) {
        match role {
            Role::Own => {}
            Role::Import => set_linkage(whole.module(), symbol, Linkage::AvailableExternally),
            Role::Declare => declare(whole.module(), symbol),
        }
    }
    if large {
        give_back_memory();
    }
    // They are put into the text of all units.
    whole.set_optimized(Optimized::default());
    emit(&whole)
}

fn emit(unit: &LlvmModule) -> Result<String> {
    unit.optimize()?;
    unit.run_passes("elim-avail-extern,globaldce")?;
    unit.emit_ptx()
}

fn stopped_error(stopped: Stopped) -> LowerError {
    match stopped {
        Stopped::LlvmFatal(message) => LowerError::Backend { message },
        Stopped::OutOfMemory | Stopped::NoThread(_) => LowerError::OutOfMemory,
        other => bug("emit", other.to_string()),
    }
}

fn emit_unit(
    plan: &Plan,
    roles: &[Role],
    target: CodeTarget,
    bitcode: &[u8],
    options: &LowerOptions,
) -> Result<String> {
    let unit = LlvmModule::build(&plan.name, target, options, |context, module| {
        raw::forget_names(module);
        // Bodies are read when the linker wants them: what only other units have costs nothing here.
        let source = raw::parse_bitcode_lazily(context, bitcode)
            .ok_or_else(|| bug("emit", "the bitcode of the module cannot be read".to_string()))?;
        for (symbol, role) in plan.symbols.iter().zip(roles) {
            if *role != Role::Own && !symbol.stays_internal {
                set_linkage(&source, symbol, Linkage::LinkOnceODR);
            }
        }
        module.link_in_module(source).map_err(|message| bug("emit", message.to_string()))?;
        for (symbol, role) in plan.symbols.iter().zip(roles) {
            match role {
                Role::Import => set_linkage(module, symbol, Linkage::AvailableExternally),
                // What the unit does not mention was not linked.
                Role::Declare if !symbol.stays_internal => declare(module, symbol),
                Role::Own | Role::Declare => {}
            }
        }
        Ok(())
    })?;
    emit(&unit)
}

fn set_linkage(module: &Module<'_>, symbol: &plan::Symbol, linkage: Linkage) {
    if symbol.is_function {
        if let Some(function) = module.get_function(&symbol.name) {
            function.set_linkage(linkage);
        }
    } else if let Some(global) = module.get_global(&symbol.name) {
        global.set_linkage(linkage);
    }
}

/// Leaves the declaration of what another unit defines.
fn declare(module: &Module<'_>, symbol: &plan::Symbol) {
    if symbol.is_function {
        if let Some(function) = module.get_function(&symbol.name) {
            raw::delete_body(function);
        }
    } else if let Some(global) = module.get_global(&symbol.name) {
        raw::delete_initializer(global);
    }
    set_linkage(module, symbol, Linkage::External);
}
