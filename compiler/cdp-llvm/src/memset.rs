//! Our memset kernel (`memset.ll`), which code for the device runtime launches.

use cdp_ir::RuntimeFn;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;

use crate::error::{Result, bug};
use crate::foreign::parse_own;
use crate::launch_calls::symbol_of_both;
use crate::options::LowerOptions;

/// Helpers of `memset.ll`.
pub(crate) const MEMSET: &str = "__cdp_memset_1d";
pub(crate) const MEMSET_2D: &str = "__cdp_memset_2d";
pub(crate) const MEMSET_3D: &str = "__cdp_memset_3d";
/// The same with the records of CUDA's headers.
pub(crate) const MEMSET_BOX: &str = "__cdp_memset_box";

const HELPERS: [&str; 4] = [MEMSET, MEMSET_2D, MEMSET_3D, MEMSET_BOX];

/// What `memset.ll` calls the library's own, which it asks where it refuses.
const OF_LIBRARY: &str = "__cdp_memset_of_library";

/// Links the memset kernel, whose launch is lowered with the others.
pub(crate) fn link_memset<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    options: &LowerOptions,
) -> Result<()> {
    let memset = parse_own(context, "memset", include_bytes!("memset.ll"))?;
    memset.set_triple(&module.get_triple());
    memset.set_data_layout(&module.get_data_layout());
    let unlinked = |error: inkwell::support::LLVMString| bug("link memset", error.to_string());
    if let Some(function) = memset.get_function(OF_LIBRARY) {
        let data = module.get_data_layout();
        if TargetData::create(data.as_str().to_str().unwrap_or_default())
            .get_pointer_byte_size(None)
            == 8
        {
            let symbol = symbol_of_both(RuntimeFn::MemsetAsync, options)?;
            function.as_global_value().set_name(&symbol);
        } else {
            // There is no library for such code.
            function.set_linkage(Linkage::Internal);
            let builder = context.create_builder();
            builder.position_at_end(context.append_basic_block(function, ""));
            builder.build_return(Some(&context.i32_type().const_int(1, false)))?;
        }
    }
    // The helpers are internal; the linker resolves a reference to an external definition only.
    for name in HELPERS {
        if let Some(function) = memset.get_function(name) {
            function.set_linkage(Linkage::External);
        }
    }
    module.link_in_module(memset).map_err(unlinked)?;
    for name in HELPERS {
        if let Some(function) = module.get_function(name) {
            function.set_linkage(Linkage::Internal);
        }
    }
    Ok(())
}
