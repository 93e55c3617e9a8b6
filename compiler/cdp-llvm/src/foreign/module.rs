//! What a module of another front end must be before its launches are lowered: valid IR for the
//! target, free of the choices that are the caller's here (architecture, PTX version); and what it
//! says about its kernels.

use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::{TargetData, TargetMachine};
use inkwell::types::{AnyTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicValue, FunctionValue};

use crate::error::{LowerError, Result};
use crate::kernel::{self, KernelParam, PTX_KERNEL, kernel_param};
use crate::raw;
use crate::target::CodeTarget;

/// A kernel that a foreign module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKernel {
    /// The name in the module and in PTX.
    pub symbol: String,
    /// In order.
    pub params: Vec<ForeignParam>,
}

/// A kernel's parameter as its declaration tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignParam {
    /// Empty when the module does not name it.
    pub name: String,
    /// The LLVM type in memory, as LLVM prints it.
    pub ty: String,
    /// Bytes.
    pub size_bytes: u64,
    /// Bytes; not yet limited to what a parameter buffer aligns to.
    pub align_bytes: u64,
}

/// Reads LLVM IR (text or bitcode) and verifies it.
pub(crate) fn parse<'ctx>(
    context: &'ctx Context,
    name: &str,
    bytes: &[u8],
) -> Result<Module<'ctx>> {
    let module = raw::parse_ir(context, name, bytes).map_err(refused)?;
    verify(&module)?;
    Ok(module)
}

/// The same of IR that we wrote ourselves, which is verified in debug builds as all that we make.
pub(crate) fn parse_own<'ctx>(
    context: &'ctx Context,
    name: &str,
    bytes: &[u8],
) -> Result<Module<'ctx>> {
    match cfg!(debug_assertions) {
        true => parse(context, name, bytes),
        false => raw::parse_ir(context, name, bytes).map_err(refused),
    }
}

fn refused(message: String) -> LowerError {
    LowerError::Foreign { message: message.trim().to_string() }
}

/// That a module is valid, and its kernels have parameters that kernels can have. What is not may
/// crash LLVM where it is used, so nothing else is done to a module before.
///
/// # Errors
/// [`LowerError::Foreign`] with what LLVM's verifier says.
pub fn verify(module: &Module<'_>) -> Result<()> {
    module
        .verify()
        .map_err(|message| refused(format!("not valid LLVM IR: {}", message.to_string())))?;
    for kernel in module.get_functions().filter(|f| f.get_call_conventions() == PTX_KERNEL) {
        if let Some(index) = raw::odd_param(kernel) {
            let name = kernel.get_name().to_string_lossy();
            return Err(refused(format!(
                "parameter {index} of kernel `{name}` has a type that no kernel can have"
            )));
        }
        check_kernel(kernel).map_err(refused)?;
    }
    check_variables(module).map_err(refused)?;
    check_names(module).map_err(refused)
}

/// Widths of integers that LLVM 22 writes as PTX parameters and variables; of others it writes `.u24` and the
/// like.
const INT_BITS: [u32; 6] = [1, 8, 16, 32, 64, 128];

/// What LLVM would write as PTX that no assembler takes, or give up on.
fn check_kernel(kernel: FunctionValue<'_>) -> std::result::Result<(), String> {
    let name = kernel.get_name().to_string_lossy().into_owned();
    if let Some(ty) = kernel.get_type().get_return_type() {
        let ty = kernel::type_text(ty);
        return Err(format!("kernel `{name}` returns {ty}, and kernels return nothing"));
    }
    for (index, param) in kernel.get_param_iter().enumerate() {
        let wrong = match param.get_type() {
            BasicTypeEnum::IntType(ty) if ty.get_bit_width() > 128 => continue,
            BasicTypeEnum::IntType(ty) if !INT_BITS.contains(&ty.get_bit_width()) => {
                "integers as parameters have 1, 8, 16, 32, 64 or 128 bits: widen it, or put it into a \
                 struct"
            }
            BasicTypeEnum::StructType(ty) if ty.count_fields() == 0 => "it is empty: leave it out",
            BasicTypeEnum::ArrayType(ty) if ty.is_empty() => "it is empty: leave it out",
            _ => continue,
        };
        let ty = kernel::type_text(param.get_type());
        return Err(format!("parameter {index} of kernel `{name}` has type {ty}; {wrong}"));
    }
    Ok(())
}

/// Variables of integers that PTX has not; within arrays and structs LLVM writes bytes.
fn check_variables(module: &Module<'_>) -> std::result::Result<(), String> {
    for global in module.get_globals() {
        if let AnyTypeEnum::IntType(ty) = global.get_value_type()
            && !INT_BITS.contains(&ty.get_bit_width())
        {
            let (name, bits) = (global.get_name().to_string_lossy(), ty.get_bit_width());
            return Err(format!(
                "variable `@{name}` has type i{bits}; integers as variables have 1, 8, 16, 32, 64 or 128 bits: \
                 widen it, or put it into a struct"
            ));
        }
    }
    Ok(())
}

/// Names that other modules see stand in PTX as they are, so they must be names there. LLVM gives new ones
/// to the rest.
fn check_names(module: &Module<'_>) -> std::result::Result<(), String> {
    let functions = module.get_functions().map(|function| function.as_global_value());
    for global in functions.chain(module.get_globals()) {
        let name = global.get_name().to_string_lossy().into_owned();
        let special = name.starts_with("llvm.") || name.starts_with(kernel::PREFIX);
        let hidden = matches!(
            global.get_linkage(),
            Linkage::Internal | Linkage::Private | Linkage::AvailableExternally
        );
        let unused = global.is_declaration() && global.as_pointer_value().get_first_use().is_none();
        if !special && !hidden && !unused && !is_ptx_name(&name) {
            return Err(format!(
                "`@{name}` cannot be named so in PTX: names have letters, digits, `_` and `$`, and begin \
                 with a letter, or with `_`, `$` or `%` and one more"
            ));
        }
    }
    Ok(())
}

/// PTX ISA, section 4.4, "Identifiers".
fn is_ptx_name(name: &str) -> bool {
    let follows = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'$';
    match name.as_bytes() {
        [first, rest @ ..] if first.is_ascii_alphabetic() => rest.iter().all(|c| follows(*c)),
        [b'_' | b'$' | b'%', rest @ ..] => !rest.is_empty() && rest.iter().all(|c| follows(*c)),
        _ => false,
    }
}

/// Checks triple and data layout against the target's, and sets them.
pub(super) fn set_target(
    module: &Module<'_>,
    target: CodeTarget,
    machine: &TargetMachine,
) -> Result<()> {
    check_triple(module, target)?;
    let given = module.get_data_layout().as_str().to_string_lossy().into_owned();
    let data = machine.get_target_data();
    let layout = data.get_data_layout();
    let wanted = layout.as_str().to_string_lossy().into_owned();
    if !given.is_empty() && !compatible(&given, &wanted) {
        return Err(LowerError::Target {
            triple: target.triple().into(),
            message: format!("the module's data layout is `{given}`, the target's `{wanted}`"),
        });
    }
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&layout);
    Ok(())
}

fn check_triple(module: &Module<'_>, target: CodeTarget) -> Result<()> {
    let triple = module.get_triple().as_str().to_string_lossy().into_owned();
    let wanted = target.triple();
    let arch = |triple: &str| triple.split('-').next().unwrap_or_default().to_string();
    // llvmlite writes `unknown-unknown-unknown` where its user says nothing.
    if matches!(&*arch(&triple), "" | "unknown") || arch(&triple) == arch(wanted) {
        return Ok(());
    }
    Err(LowerError::Target {
        triple: wanted.into(),
        message: format!("the module is for `{triple}`"),
    })
}

/// Whether two data layouts agree where it matters: the size of a pointer. (Older compilers write
/// fewer fields for the same target.)
fn compatible(given: &str, wanted: &str) -> bool {
    let pointer = |layout: &str| {
        let field = layout.split('-').find(|field| field.starts_with("p:"));
        field.map_or("p:64".to_string(), |field| {
            field.splitn(3, ':').take(2).collect::<Vec<_>>().join(":")
        })
    };
    pointer(given) == pointer(wanted)
}

/// Drops the architecture and PTX version that the front end wrote on its functions: those of the
/// request count. LLVM ends the process on a pair that does not go together (`sm_90` with `+ptx42`,
/// which clang writes when it is not told a PTX version).
pub(crate) fn drop_function_targets(module: &Module<'_>) {
    for function in module.get_functions() {
        for key in ["target-cpu", "target-features", "tune-cpu"] {
            function.remove_string_attribute(AttributeLoc::Function, key);
        }
    }
}

/// The kernels with a body, in the order of the module.
pub(crate) fn kernels<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    data: &TargetData,
) -> Vec<ForeignKernel> {
    let describe = |param: KernelParam<'_>, name: String| ForeignParam {
        name,
        ty: kernel::type_text(param.ty),
        size_bytes: param.size.size_bytes,
        align_bytes: param.size.align_bytes,
    };
    module
        .get_functions()
        .filter(|f| f.get_call_conventions() == PTX_KERNEL && !raw::is_declaration(*f))
        .map(|kernel| ForeignKernel {
            symbol: kernel.get_name().to_string_lossy().into_owned(),
            params: (0..kernel.count_params())
                .map(|index| {
                    let value = kernel.get_nth_param(index);
                    let name = value.map(kernel::name_of).unwrap_or_default();
                    describe(kernel_param(context, data, kernel, index), name)
                })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{compatible, is_ptx_name};

    #[test]
    fn names_of_ptx() {
        for name in ["a", "_Z1kPi", "$x", "%r1", "k$1"] {
            assert!(is_ptx_name(name), "{name}");
        }
        for name in ["", "_", "1a", "a.b", "a-b", "grün", "a b"] {
            assert!(!is_ptx_name(name), "{name}");
        }
    }

    #[test]
    fn layouts_agree_when_pointers_do() {
        let new = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";
        assert!(compatible("e-i64:64-v16:16-v32:32-n16:32:64", new));
        assert!(compatible("e-p:64:64:64-i1:8:8", new));
        assert!(!compatible("e-p:32:32-i64:64-v16:16-v32:32-n16:32:64", new));
    }
}
