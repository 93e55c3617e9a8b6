//! Host objects that nvcc links: host code for NVIDIA's cudart with relocatable device code inside
//! (what `nvcc -dc` makes).

use cdp_toolchain::{AddressSize, FatbinInput, FatbinOptions, ImageKind, fatbinary};

use crate::analysis::{Pass, SourceInput};
use crate::build::{Build, BuildRequest, Goal, Input};
use crate::error::{Error, Failure};

/// Digits of the cache key in a module's name; 64 bits tell the objects of a program apart.
const MODULE_ID_DIGITS: usize = 16;

impl Build<'_> {
    /// The object of one source.
    pub(crate) fn cuda_object(&mut self, source: &SourceInput) -> Result<Vec<u8>, Failure> {
        let options = self.request.options;
        if options.address_size == AddressSize::Bits32 {
            return Err(Error::Request {
                message: "a host object holds 64-bit device code only: nothing links 32-bit code"
                    .into(),
                cure: Some("make a device object with --emit device-obj".into()),
            }
            .into());
        }
        let module_id = self.module_id(source)?;
        let mut images = Vec::new();
        let archs = options.archs();
        for arch in &archs {
            let Some(analysis) = self.analysis(source, Pass::Device(*arch))? else {
                return Err(self.failed());
            };
            let code =
                self.compiler.emit_device_named(&analysis, *arch, options, false, &module_id)?;
            let job = self.request.job;
            let stem = Input::Source(source.clone()).stem();
            let assembled = self.compiler.assemble(job, &stem, &code.ptx, *arch, options)?;
            self.out.tool_warnings.extend(assembled.warnings);
            let image = |kind, bytes| FatbinInput { kind, arch: *arch, bytes };
            images.push(image(ImageKind::Elf, assembled.object.bytes));
            if Some(arch) == archs.iter().max_by_key(|arch| arch.number()) {
                // For a link for a later architecture.
                images.push(image(ImageKind::Ptx, code.ptx.into_bytes()));
            }
            if *arch == archs[0] {
                self.out.kernels.extend(analysis.kernels);
                self.out.launches.extend(analysis.graph.launches);
                self.out.calls.extend(analysis.graph.calls);
            }
        }
        let Some(host) = self.analysis(source, Pass::Host)? else {
            return Err(self.failed());
        };
        let pack =
            FatbinOptions { address_size: options.address_size, compress: true, relocatable: true };
        let stem = Input::Source(source.clone()).stem();
        let fatbin = fatbinary(self.compiler.toolchain(), self.request.job, &stem, &images, pack)?;
        let kernels = self.out.kernels.iter().map(|kernel| kernel.symbol.clone()).collect();
        Ok(self.compiler.emit_cuda_host(&host, options, module_id, &fatbin, kernels)?)
    }

    /// A name that is the same whenever the same object is made, and that no other object has.
    fn module_id(&mut self, source: &SourceInput) -> Result<String, Failure> {
        let inputs = [Input::Source(source.clone())];
        let options = self.request.options;
        let request = BuildRequest::new(&inputs, Goal::CudaObject, options, self.request.job);
        let key = self.compiler.cache_key(&request).map_err(|failure| match failure {
            // The program's errors are those of the whole build.
            Failure::Program(reports) => {
                self.out.reports.extend(reports);
                self.failed()
            }
            other => other,
        })?;
        Ok(format!("_cdp_{}", &key[..MODULE_ID_DIGITS]))
    }
}
