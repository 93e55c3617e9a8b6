//! The host pass of a `.cdp` source, from its text to an object. It needs nothing of the device pass, so it may run
//! beside it on a thread of its own; what it found is put into the build's result afterwards.

use std::path::PathBuf;
use std::time::Instant;

use crate::analysis::{Pass, Report, SourceInput, analyse};
use crate::build::Build;
use crate::compiler::{Compiler, check_cancelled};
use crate::error::Error;
use crate::failure::Failure;
use crate::options::CompileOptions;
use cdp_llvm::HostRuntime;

/// What a host pass found and made.
pub(crate) struct HostPass {
    report: Report,
    dependencies: Vec<PathBuf>,
    /// Seconds of the front end and of LLVM.
    frontend: f64,
    llvm: f64,
    /// `None` for a program with errors.
    object: Option<Result<Vec<u8>, Error>>,
}

impl HostPass {
    /// Runs it; host code of other compilers may launch the kernels of a `callable` object.
    ///
    /// # Errors
    /// As [`analyse`].
    pub fn run(
        compiler: &Compiler,
        source: &SourceInput,
        options: &CompileOptions,
        callable: bool,
    ) -> Result<HostPass, Error> {
        check_cancelled()?;
        let mut analysis = analyse(source, Pass::Host, options)?;
        let started = Instant::now();
        let runtime = if callable { HostRuntime::CdpCallable } else { HostRuntime::Cdp };
        let has_code = analysis.module.is_some();
        let object = has_code.then(|| compiler.emit_host_last(&mut analysis, options, runtime));
        Ok(HostPass {
            llvm: started.elapsed().as_secs_f64(),
            frontend: analysis.elapsed.as_secs_f64(),
            report: analysis.report,
            dependencies: analysis.dependencies,
            object,
        })
    }

    /// What it made, if all is well.
    pub fn object(&self) -> Option<&[u8]> {
        self.object.as_ref()?.as_ref().ok().map(Vec::as_slice)
    }
}

impl Build<'_> {
    /// Keeps what was found; errors of the program end the build after all inputs had their turn.
    pub(crate) fn take_host_pass(&mut self, pass: HostPass) -> Result<Vec<u8>, Failure> {
        self.out.timings.frontend += pass.frontend;
        self.out.timings.llvm += pass.llvm;
        self.out.reports.push(pass.report);
        self.add_dependencies(pass.dependencies);
        Ok(pass.object.ok_or_else(|| self.failed())??)
    }
}
