//! What a `.cu` file defines in device code as its own, as nvcc has it without `-rdc=true`: files that are linked may each
//! have a variable or a function of one name. Not here: what is `static` in the program, which clang renames itself.

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicType;
use inkwell::values::{BasicValueEnum, GlobalValue, StructValue};

use crate::kernel::PTX_KERNEL;
use crate::raw;

/// What stands between a variable's name and that of its file, as clang writes it for `static` ones.
const MARK: &str = "__static__";
/// Where clang lists what host code knows of device code.
const ENTRIES: &[u8] = b"llvm_offload_entries";
/// Global and constant memory, as NVPTX numbers them.
const OF_PROGRAMS: [u32; 2] = [1, 4];

/// Device code: functions but for kernels are the module's own, and variables have names with that of their file in it.
pub(crate) fn of_device(module: &Module<'_>, file: &str) {
    for function in module.get_functions() {
        let is_defined = function.count_basic_blocks() > 0;
        let is_kernel = function.get_call_conventions() == PTX_KERNEL;
        if is_defined && !is_kernel && function.get_linkage() == Linkage::External {
            function.set_linkage(Linkage::Internal);
        }
    }
    for variable in module.get_globals().filter(is_shared_by_files) {
        let space = variable.as_pointer_value().get_type().get_address_space();
        if OF_PROGRAMS.iter().any(|number| space == inkwell::AddressSpace::from(*number as u16)) {
            variable.set_name(&named(variable, file));
        }
    }
}

/// Host code: the shadows of those variables are the file's own, and are known to the runtime by the same names.
pub(crate) fn of_host<'ctx>(context: &'ctx Context, module: &Module<'ctx>, file: &str) {
    let is_entry = |global: &GlobalValue<'ctx>| {
        global.get_section().is_some_and(|section| section.to_bytes() == ENTRIES)
    };
    for entry in module.get_globals().filter(is_entry) {
        let Some(BasicValueEnum::StructValue(fields)) = entry.get_initializer() else { continue };
        let parts = globals_of(module, fields);
        let shadow = parts.iter().find(|part| is_shared_by_files(part) && is_shadow(part));
        let text = parts.iter().find(|part| part.get_linkage() == Linkage::Internal);
        let (Some(shadow), Some(old)) = (shadow, text) else { continue };
        let text = context.const_string(named(*shadow, file).as_bytes(), true);
        let new = module.add_global(text.get_type().as_basic_type_enum(), None, "");
        new.set_initializer(&text);
        new.set_constant(true);
        new.set_linkage(Linkage::Internal);
        new.set_section(old.get_section().and_then(|section| section.to_str().ok()));
        raw::replace_uses(old.as_pointer_value().into(), new.as_pointer_value().into());
        // The entries of one name would be one.
        entry.set_name(&named(entry, file));
    }
    for shadow in module.get_globals().filter(is_shared_by_files).filter(is_shadow) {
        shadow.set_linkage(Linkage::Internal);
    }
}

/// Whether a variable is defined, and seen by other files; `static` ones that host code names have their file's name.
fn is_shared_by_files(variable: &GlobalValue<'_>) -> bool {
    let name = variable.get_name().to_bytes();
    !name.windows(MARK.len()).any(|part| part == MARK.as_bytes())
        && !variable.is_declaration()
        && variable.get_linkage() == Linkage::External
        && !name.starts_with(b"llvm.")
        && !name.starts_with(b"_ZT")
}

/// clang gives the shadow of a variable no value, and every other variable one.
fn is_shadow(variable: &GlobalValue<'_>) -> bool {
    variable.get_initializer().is_some_and(raw::is_undef)
}

fn named(variable: GlobalValue<'_>, file: &str) -> String {
    format!("{}{MARK}{file}", variable.get_name().to_string_lossy())
}

/// The variables that a record leads to.
fn globals_of<'ctx>(module: &Module<'ctx>, record: StructValue<'ctx>) -> Vec<GlobalValue<'ctx>> {
    let fields = (0..record.count_fields()).filter_map(|at| record.get_field_at_index(at));
    let names = fields.filter_map(|field| match field {
        BasicValueEnum::PointerValue(pointer) => {
            pointer.get_name().to_str().ok().map(str::to_owned)
        }
        _ => None,
    });
    names.filter_map(|name| module.get_global(&name)).collect()
}
