//! Host objects that nvcc links: host code for NVIDIA's cudart with relocatable device code inside
//! (what `nvcc -dc` makes). Where the options ask for it ([`crate::CompileOptions::stands_alone`]) and the device code needs
//! nothing of others it is inside as a whole program as well (what `nvcc -c` makes), which counts where no device link
//! has taken the relocatable code in.
//!
//! Of a `.cdp` file our own host pass makes the code around the device code, of a `.cu` file clang does.

use cdp_toolchain::{
    AddressSize, Arch, Assembled, FatbinInput, FatbinOptions, ImageKind, fatbinary,
};

use crate::analysis::{Pass, SourceInput};
use crate::beside::joined;
use crate::build::Build;
use crate::compiler::Compiler;
use crate::cuda;
use crate::emit::DeviceCode;
use crate::error::Error;
use crate::failure::Failure;
use crate::input::Input;
use crate::options::CompileOptions;
use crate::request::{BuildRequest, Goal};
use cdp_llvm::{CudartUnit, HostRuntime};

/// Digits of the cache key in a module's name; 64 bits tell the objects of a program apart.
const MODULE_ID_DIGITS: usize = 16;
const MODULE_ID_PREFIX: &str = "_cdp_";

/// What goes into the fat binaries of an object.
struct Images {
    relocatable: Vec<FatbinInput>,
    /// Whole programs, as long as there is one for each architecture.
    whole: Option<Vec<FatbinInput>>,
}

impl Build<'_> {
    /// The object of a `.cdp` source.
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
        let mut images = Images::new(options);
        for arch in options.archs() {
            let Some(mut analysis) = self.analysis(source, Pass::Device(arch))? else {
                return Err(self.failed());
            };
            let code =
                self.compiler.emit_device_last(&mut analysis, arch, options, false, &module_id)?;
            self.add_images(source, arch, code, &mut images)?;
            if arch == options.archs()[0] {
                self.out.kernels.extend(analysis.kernels);
                self.out.launches.extend(analysis.graph.launches);
                self.out.calls.extend(analysis.graph.calls);
            }
        }
        let Some(mut host) = self.analysis(source, Pass::Host)? else {
            return Err(self.failed());
        };
        let fatbins = self.fat_binaries(source, &images)?;
        let kernels = self.out.kernels.iter().map(|kernel| kernel.symbol.clone()).collect();
        let (fatbin, alone) = (fatbins.0.into(), fatbins.1.map(Into::into));
        let unit = CudartUnit { module_id, fatbin, alone, kernels };
        Ok(self.compiler.emit_host_last(&mut host, options, HostRuntime::Cudart(unit))?)
    }

    /// The object of a `.cu` source.
    pub(crate) fn cuda_object_by_clang(
        &mut self,
        source: &SourceInput,
    ) -> Result<Vec<u8>, Failure> {
        let (job, options) = (self.request.job, self.request.options);
        if source.host_language().is_some() {
            return self.cuda_host(source);
        }
        let mut images = Images::new(options);
        for arch in options.archs() {
            let code = self.cuda_device(source, arch, false)?;
            self.add_images(source, arch, code, &mut images)?;
        }
        let (fatbin, alone) = self.fat_binaries(source, &images)?;
        let name = cuda::relocatable_name(source);
        job.write(&name, &fatbin).map_err(Error::Tool)?;
        let read = self.compiler.read_host_alone(job, source, options, alone.as_deref())?;
        let mut object = self.take_half(read)?;
        let id = self.module_id(source)?;
        rename_unit(&mut object, id.trim_start_matches(MODULE_ID_PREFIX));
        Ok(object)
    }

    /// Machine code for an architecture, and PTX of the newest, for a link for a later one.
    fn add_images(
        &mut self,
        source: &SourceInput,
        arch: Arch,
        code: DeviceCode,
        images: &mut Images,
    ) -> Result<(), Failure> {
        let options = self.request.options;
        let stem = Input::Source(source.clone()).stem();
        if images.whole.is_some() && !cdp_toolchain::is_whole_program(&code.ptx) {
            images.whole = None;
        }
        let (assembled, whole) =
            self.assemble_both(&stem, &code.ptx, arch, images.whole.is_some())?;
        self.out.tool_warnings.extend(assembled.warnings);
        let image = |kind, bytes| FatbinInput { kind, arch, bytes };
        images.add(
            image(ImageKind::Elf, assembled.object.bytes),
            whole.map(|whole| image(ImageKind::Elf, whole)),
        );
        if Some(arch) == options.archs().into_iter().max_by_key(|arch| arch.number()) {
            let ptx = image(ImageKind::Ptx, code.ptx.into_bytes());
            images.add(ptx.clone(), Some(ptx));
        }
        Ok(())
    }

    /// A relocatable object, and the bytes of a whole program if that is wanted, beside it.
    fn assemble_both(
        &self,
        stem: &str,
        ptx: &str,
        arch: Arch,
        wants_whole: bool,
    ) -> Result<(Assembled, Option<Vec<u8>>), Error> {
        let (compiler, job, options) = (self.compiler, self.request.job, self.request.options);
        let relocatable = || compiler.assemble(job, stem, ptx, arch, options);
        if !wants_whole {
            return Ok((relocatable()?, None));
        }
        if !Compiler::is_whole_program(ptx, options) {
            // As with debug information, which is mended in relocatable objects only.
            let assembled = relocatable()?;
            let objects = [assembled.object.clone()];
            let linked = compiler.link(job, stem, &objects, arch, options)?;
            return Ok((assembled, Some(linked.bytes)));
        }
        let whole = || compiler.assemble_whole(job, &format!("{stem}-whole"), ptx, arch, options);
        let (assembled, whole) = match options.threads {
            1 => (relocatable(), whole()),
            _ => std::thread::scope(|scope| {
                let whole = scope.spawn(whole);
                (relocatable(), joined(whole))
            }),
        };
        Ok((assembled?, Some(whole?.object.bytes)))
    }

    /// The fat binary of relocatable code, and that of the whole program if there is one.
    fn fat_binaries(
        &self,
        source: &SourceInput,
        images: &Images,
    ) -> Result<(Vec<u8>, Option<Vec<u8>>), Failure> {
        let stem = Input::Source(source.clone()).stem();
        let pack = |stem: &str, images: &[FatbinInput], relocatable| {
            let address_size = self.request.options.address_size;
            let pack = FatbinOptions { address_size, compress: true, relocatable };
            fatbinary(self.compiler.toolchain(), self.request.job, stem, images, pack)
        };
        let whole = images.whole.as_ref();
        let whole =
            whole.map(|images| pack(&format!("{stem}-whole"), images, false)).transpose()?;
        Ok((pack(&stem, &images.relocatable, true)?, whole))
    }

    /// A name that is the same whenever the same object is made, and that no other object has.
    fn module_id(&mut self, source: &SourceInput) -> Result<String, Failure> {
        let inputs = [match self.request.inputs {
            [Input::Cuda(_)] => Input::Cuda(source.clone()),
            _ => Input::Source(source.clone()),
        }];
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
        Ok(format!("{MODULE_ID_PREFIX}{}", &key[..MODULE_ID_DIGITS]))
    }
}

/// Gives a unit another name. clang makes it of the file's name, and two files may have the same.
fn rename_unit(object: &mut [u8], digits: &str) {
    const WRAPPER: &[u8] = b"__fatbinwrap__nv_";
    const PREFIX: &[u8] = b"__nv_";
    let Some(at) = object.windows(WRAPPER.len()).position(|part| part == WRAPPER) else { return };
    let behind = &object[at + WRAPPER.len()..];
    let length = behind.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let name = [PREFIX, &behind[..length]].concat();
    // clang writes up to 16 digits; names of one length can take each other's place.
    let new = digits.bytes().chain(std::iter::repeat(b'0')).take(length).collect::<Vec<_>>();
    let mut from = 0;
    while let Some(found) = object[from..].windows(name.len()).position(|part| part == name) {
        let start = from + found + PREFIX.len();
        object[start..start + length].copy_from_slice(&new);
        from = start + length;
    }
}

impl Images {
    fn new(options: &CompileOptions) -> Images {
        let whole = options.stands_alone.then(Vec::new);
        Images { relocatable: Vec::new(), whole }
    }

    fn add(&mut self, relocatable: FatbinInput, whole: Option<FatbinInput>) {
        self.relocatable.push(relocatable);
        if let (Some(images), Some(whole)) = (&mut self.whole, whole) {
            images.push(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rename_unit;

    #[test]
    fn units_are_renamed_wherever_they_are_named() {
        let mut object =
            *b"\0__nv_12ab\0x__fatbinwrap__nv_12ab\0__cudaRegisterLinkedBinary__nv_12ab__nv_13";
        rename_unit(&mut object, "fedcba");
        assert_eq!(
            object,
            *b"\0__nv_fedc\0x__fatbinwrap__nv_fedc\0__cudaRegisterLinkedBinary__nv_fedc__nv_13"
        );
        let mut other = *b"__nv_12";
        rename_unit(&mut other, "ff");
        assert_eq!(other, *b"__nv_12");
    }
}
