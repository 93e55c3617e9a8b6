//! The last steps of a device module: its launches are optimised and lowered, and it becomes PTX, a large one
//! in units.

use inkwell::targets::TargetData;

use crate::artifact::LlvmModule;
use crate::error::Result;
use crate::kernel::LAUNCH;
use crate::launches::{Optimized, Untouched};
use crate::options::{DebugInfo, LowerOptions};
use crate::target::CodeTarget;
use crate::{foreign, launches, raw, units};

impl LlvmModule {
    /// Optimises the launches of a device module that we made, and lowers them. Yields what was done and said
    /// alone, and no code, where nothing was to be done.
    pub(crate) fn finish_launches(
        &mut self,
        options: &LowerOptions,
        address_bits: u32,
    ) -> Result<Option<Optimized>> {
        if launches::is_on(options, address_bits) {
            let (context, module, machine) = self.parts();
            let dropped = Untouched::Dropped;
            let optimized = launches::optimize(context, module, machine, options, dropped)?;
            if !optimized.changed {
                return Ok(Some(optimized));
            }
            self.set_optimized(optimized);
        }
        let (context, module, _) = self.parts();
        if module.get_function(LAUNCH).is_some() {
            let layout = module.get_data_layout().as_str().to_string_lossy().into_owned();
            let data = TargetData::create(&layout);
            foreign::lower_launches(context, module, &data, address_bits, options)?;
        }
        // The functions that launches became; also where no inliner runs.
        self.run_passes("always-inline,globaldce")?;
        if cfg!(debug_assertions) {
            self.verify()?;
        }
        self.diagnosed()?;
        Ok(None)
    }

    /// Optimises a device module and makes PTX of it, large modules on several threads. The text
    /// depends on the module and the options alone.
    ///
    /// `options` are those that the module was made with. The module is used up.
    pub fn into_ptx(self, options: &LowerOptions) -> Result<String> {
        if self.target() != CodeTarget::Host {
            raw::forget_names(self.module());
            if let Some(plan) = units::plan(&self, options)? {
                return units::emit_ptx(self, &plan, options);
            }
        }
        self.optimize()?;
        if options.debug == DebugInfo::Lines {
            raw::show_places_of_program(self.parts().1, is_installed);
        }
        self.emit_ptx()
    }
}

/// A header of CUDA, of clang, of the C++ library or of ours, by where such are installed. Programs have folders of
/// that name too.
fn is_installed(file: &str) -> bool {
    let parts: Vec<&str> = file.split('/').collect();
    let above = |at: usize, n: usize| at.checked_sub(n).map_or("", |at| parts[at]);
    let is_home = |name: &str| ["usr", "local"].contains(&name) || name.starts_with("cuda");
    let by_home = |(at, part): (usize, &&str)| {
        *part == "include"
            && (is_home(above(at, 1)) || ["clang", "targets"].contains(&above(at, 2)))
    };
    parts.iter().enumerate().any(by_home) || parts.last() == Some(&"__cdp_cuda.h")
}
