//! What has to be proved of a kernel's launches before they may overlap, and is asked of [`super::independent`].

use inkwell::values::FunctionValue;

use super::Pass;
use super::independent::{self, Dependence, Independent};
use super::parent::LaunchSite;
use crate::options::LaunchOpt;

impl<'ctx> Pass<'_, 'ctx> {
    /// [`Pass::proof`], where something has to be proved.
    pub(super) fn proof_of(
        &self,
        kernel: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        alone: &[bool],
    ) -> Option<std::result::Result<Independent, Dependence>> {
        let fast = self.options.launch_opt == LaunchOpt::Fast;
        (!fast && sites.iter().any(LaunchSite::ordered)).then(|| self.proof(kernel, sites, alone))
    }

    /// Whether the children of a kernel may overlap though the NULL stream orders them. Only where what is launched
    /// then needs no stream that orders it: such streams now and then lose one of a few launches, as the page says.
    fn proof(
        &self,
        kernel: FunctionValue<'ctx>,
        sites: &[LaunchSite<'ctx>],
        alone: &[bool],
    ) -> std::result::Result<Independent, Dependence> {
        let ordered: Vec<&LaunchSite<'ctx>> =
            sites.iter().filter(|site| site.in_null_stream()).collect();
        let found = independent::independent(kernel, &ordered)?;
        let once = sites.iter().zip(alone).all(|(site, alone)| *alone || !site.in_null_stream());
        match found.single || (once && self.options.abi.is_v2()) {
            true => Ok(found),
            false => Err(Dependence {
                reason: "a thread may launch several, and what is launched keeps their order"
                    .into(),
                advice: independent::PRAGMA.into(),
            }),
        }
    }
}
