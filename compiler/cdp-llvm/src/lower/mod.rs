//! IR to LLVM: one translation unit.
//!
//! [`Unit`] is the module level: types, variables, function declarations, each made when first
//! needed. [`body::Body`] is one function. What the user's program may not do was judged before;
//! here every answer is in the IR, and a missing one is a bug.
//!
//! Reading order: [`types`], [`abi`], [`constant`], [`global`], [`body`], [`stmt`], [`expr`],
//! [`memory`], [`arith`], [`cast`], [`call`], [`launch`], [`runtime`], [`intrinsic`], [`asm`].

mod abi;
mod arith;
mod asm;
mod body;
mod call;
mod cast;
mod constant;
pub(crate) mod cudart;
mod debug;
mod early;
mod expr;
mod global;
mod held;
mod host;
mod intrinsic;
mod launch;
mod memory;
mod runtime;
mod stmt;
mod sysv;
mod types;
mod variadic;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use cdp_ir::{
    Block, ExprKind, FuncId, Function as IrFunction, GlobalId, Linkage as IrLinkage,
    Module as IrModule, Target, TypeId, Verified,
};
use inkwell::AddressSpace;
use inkwell::attributes::Attribute;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, IntType, PointerType};
use inkwell::values::{FunctionValue, GlobalValue};

use crate::artifact::LlvmModule;
use crate::error::{Result, bug, in_function};
use crate::libdevice::Arithmetic;
use crate::options::{HostRuntime, LaunchOpt, LowerOptions};
use crate::target::{CodeTarget, Machine};
use crate::{kernel, libdevice, memset, raw};

use debug::DebugUnit;
use early::Early;

/// Lowers a verified module. libdevice is linked if the module calls it; nothing is optimised yet.
pub fn lower(ir: &Verified<IrModule>, options: &LowerOptions) -> Result<LlvmModule> {
    lower_with(ir, Vec::new(), options)
}

/// [`lower`] of a module that nobody needs afterwards: the body of a function is gone when LLVM has it, so that a large
/// module is never there twice.
///
/// # Errors
/// As [`lower`].
pub fn lower_last(ir: Verified<IrModule>, options: &LowerOptions) -> Result<LlvmModule> {
    let launches = |function: &IrFunction| function.body.as_ref().is_some_and(has_launch);
    // What the launch optimiser is for may have to be lowered again.
    let optimised = options.launch_opt != LaunchOpt::Off && ir.target != Target::Host;
    if optimised && ir.functions.iter().any(launches) {
        return lower(&ir, options);
    }
    let mut ir = ir.into_inner();
    let take = |function: &mut IrFunction| function.body.as_mut().map(std::mem::take);
    let bodies = ir.functions.iter_mut().map(take).collect();
    lower_with(&ir, bodies, options)
}

fn has_launch(block: &Block) -> bool {
    let mut found = false;
    cdp_ir::for_each_expr(block, &mut |expr| found |= matches!(expr.kind, ExprKind::Launch(_)));
    found
}

/// Lowers a module, of whose functions `bodies` holds what their own bodies were, if anything.
fn lower_with(
    ir: &IrModule,
    bodies: Vec<Option<Block>>,
    options: &LowerOptions,
) -> Result<LlvmModule> {
    let complete = bodies.is_empty();
    let target = match ir.target {
        Target::Device { .. } => {
            CodeTarget::Device { address_bits: ir.types.pointer_bytes() as u32 * 8 }
        }
        Target::Host => CodeTarget::Host,
    };
    let mut launches = false;
    let mut lowered =
        LlvmModule::build_with(&ir.name, target, options, |context, llvm, machine| {
            let unit = Unit::new(context, llvm, (ir, bodies), (options, machine));
            unit.lower_all()?;
            if target != CodeTarget::Host {
                if unit.wants_memset.get() {
                    memset::link_memset(context, llvm, options)?;
                }
                let math = &ir.fast_math;
                let arithmetic =
                    Arithmetic { ftz: math.ftz, prec_sqrt: math.prec_sqrt, fmad: math.fmad };
                libdevice::link(context, llvm, options, arithmetic)?;
            }
            launches = llvm.get_function(kernel::LAUNCH).is_some();
            Ok(())
        })?;
    if let (true, CodeTarget::Device { address_bits }) = (launches, target)
        && let Some(optimized) = lowered.finish_launches(options, address_bits)?
    {
        // A launch that the optimiser reads has its arguments evaluated earlier. Where that was in vain the code
        // is what it is without the optimiser, to the last instruction. That module takes over this one's machine.
        drop(lowered);
        let plain = LowerOptions { launch_opt: LaunchOpt::Off, ..options.clone() };
        if !complete {
            return Err(bug("lower", "a launch where none was".to_string()));
        }
        lowered = lower_with(ir, Vec::new(), &plain)?;
        lowered.set_optimized(optimized);
    }
    Ok(lowered)
}

/// A translation unit on its way into LLVM.
pub(crate) struct Unit<'u, 'ctx> {
    pub context: &'ctx Context,
    pub llvm: &'u Module<'ctx>,
    pub ir: &'u IrModule,
    /// By function, what its body was and is to be lowered once; nothing where `ir` has its bodies.
    bodies: RefCell<Vec<Option<Block>>>,
    early: Option<Early<'u, 'ctx>>,
    pub options: &'u LowerOptions,
    pub ptr: PointerType<'ctx>,
    /// An integer of the address size.
    pub size: IntType<'ctx>,
    types: RefCell<HashMap<TypeId, BasicTypeEnum<'ctx>>>,
    functions: RefCell<Vec<Option<FunctionValue<'ctx>>>>,
    globals: RefCell<Vec<Option<GlobalValue<'ctx>>>>,
    /// Functions that were mentioned and whose bodies are still to be lowered.
    pending: RefCell<VecDeque<FuncId>>,
    /// Whether a device-side memset is called, which wants kernels of our own.
    wants_memset: Cell<bool>,
    debug: Option<DebugUnit<'ctx>>,
}

impl<'u, 'ctx> Unit<'u, 'ctx> {
    fn new(
        context: &'ctx Context,
        llvm: &'u Module<'ctx>,
        (ir, bodies): (&'u IrModule, Vec<Option<Block>>),
        (options, machine): (&'u LowerOptions, &'u Machine),
    ) -> Self {
        let is_last = !bodies.is_empty() && ir.target != Target::Host;
        let size =
            if ir.types.pointer_bytes() == 4 { context.i32_type() } else { context.i64_type() };
        Unit {
            context,
            llvm,
            ir,
            bodies: bodies.into(),
            early: Early::new(machine, options).filter(|_| is_last),
            options,
            ptr: context.ptr_type(AddressSpace::default()),
            size,
            types: RefCell::default(),
            functions: RefCell::new(vec![None; ir.functions.len()]),
            globals: RefCell::new(vec![None; ir.globals.len()]),
            pending: RefCell::default(),
            wants_memset: Cell::new(false),
            debug: DebugUnit::new(context, llvm, ir, options),
        }
    }

    pub fn on_device(&self) -> bool {
        matches!(self.ir.target, Target::Device { .. })
    }

    /// The name in device code of something that has `symbol` here. `static` kernels and variables
    /// of an object that other tools link get one that no other object has.
    pub fn device_symbol(&self, symbol: &str, linkage: IrLinkage) -> String {
        let module_id = match &self.options.host_runtime {
            HostRuntime::Cudart(cudart) => &cudart.module_id,
            HostRuntime::Cdp | HostRuntime::CdpCallable => &self.options.module_id,
        };
        if linkage != IrLinkage::Internal || module_id.is_empty() {
            return symbol.to_string();
        }
        format!("__cdp_static{module_id}_{symbol}")
    }

    pub fn address_bits(&self) -> u32 {
        self.size.get_bit_width()
    }

    /// An attribute that is just there.
    pub fn attribute(&self, name: &str) -> Attribute {
        self.attribute_value(name, 0)
    }

    pub fn attribute_value(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// Everything that is visible outside, and whatever it mentions.
    fn lower_all(&self) -> Result<()> {
        for index in 0..self.ir.globals.len() {
            let global = &self.ir.globals[index];
            if global.defined && self.is_global_root(global) {
                self.global(GlobalId(index as u32))?;
            }
        }
        for id in self.ir.function_ids() {
            let function = self.ir.function(id);
            let root = function.is_kernel() || function.linkage == IrLinkage::External;
            if function.body.is_some() && root {
                self.function(id)?;
                self.lower_pending()?;
            }
        }
        if self.on_device() {
            let mut kept = self.kept_globals();
            kept.extend(self.kept_kernels());
            raw::keep(self.context, self.llvm, &kept);
        } else {
            host::register_unit(self)?;
            self.lower_pending()?;
        }
        if let Some(debug) = &self.debug {
            // Now that the functions are described which have variables of their own.
            for (global, value) in self.ir.globals.iter().zip(self.globals.borrow().iter()) {
                value.iter().for_each(|value| debug.global(self, global, *value));
            }
            debug.finish();
        }
        Ok(())
    }

    /// A `static` kernel is launched from the host, which finds it by name.
    fn kept_kernels(&self) -> Vec<GlobalValue<'ctx>> {
        let functions = self.functions.borrow();
        let kernels = self.ir.functions.iter().zip(functions.iter());
        kernels
            .filter(|(ir, _)| ir.is_kernel() && ir.body.is_some())
            .filter(|(ir, _)| ir.linkage == IrLinkage::Internal)
            .filter_map(|(_, value)| Some(value.as_ref()?.as_global_value()))
            .collect()
    }

    /// A function with the body that it had in a module that is used up.
    fn take(&self, id: FuncId) -> Option<IrFunction> {
        let body = self.bodies.borrow_mut().get_mut(id.0 as usize)?.take()?;
        Some(IrFunction { body: Some(body), ..self.ir.function(id).clone() })
    }

    fn lower_pending(&self) -> Result<()> {
        loop {
            let next = self.pending.borrow_mut().pop_front();
            let Some(id) = next else { return Ok(()) };
            let name = &self.ir.function(id).name;
            self.options.cancel.check()?;
            let lowered = body::lower_function(self, id);
            let (value, statements) = lowered.map_err(|error| in_function(error, name))?;
            if let Some(early) = self.early.as_ref().filter(|_| statements > 0) {
                early.add(value, statements)?;
            }
        }
    }
}
