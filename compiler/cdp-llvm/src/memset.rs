//! Our memset kernel (`memset.ll`), which code for the device runtime launches.

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};

use crate::error::{Result, bug};
use crate::foreign::parse;

/// Helpers of `memset.ll`.
pub(crate) const MEMSET: &str = "__cdp_memset_1d";
pub(crate) const MEMSET_2D: &str = "__cdp_memset_2d";
pub(crate) const MEMSET_3D: &str = "__cdp_memset_3d";
/// The same with the records of CUDA's headers.
pub(crate) const MEMSET_BOX: &str = "__cdp_memset_box";

const HELPERS: [&str; 4] = [MEMSET, MEMSET_2D, MEMSET_3D, MEMSET_BOX];

/// Links the memset kernel, whose launch is lowered with the others.
pub(crate) fn link_memset<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let memset = parse(context, "memset", include_bytes!("memset.ll"))?;
    memset.set_triple(&module.get_triple());
    memset.set_data_layout(&module.get_data_layout());
    let unlinked = |error: inkwell::support::LLVMString| bug("link memset", error.to_string());
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
