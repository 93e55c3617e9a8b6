//! Executables: device code of all inputs in one image, host code of those that have any, and the
//! runtime.

use cdp_toolchain::{AddressSize, Arch, host_link};

use crate::analysis::SourceInput;
use crate::build::{Build, Input};
use crate::cuda::{Half, Read};
use crate::error::{Error, Failure};
use crate::options::DebugInfo;

/// What the C++ library of the system is called on the linker's command line.
const CXX_LIBRARY: &str = "stdc++";

impl Build<'_> {
    pub(crate) fn executable(&mut self, archs: &[Arch]) -> Result<Vec<u8>, Failure> {
        let request = self.request;
        if request.options.address_size == AddressSize::Bits32 {
            return Err(Error::Request {
                message: "an executable needs 64-bit device code: no 32-bit device runtime can be \
                          had"
                .into(),
                cure: Some("drop -m32, or stop at the object with -c".into()),
            }
            .into());
        }
        let runtime = request.runtime_library.clone().ok_or_else(|| Error::Request {
            message: "libcdp_runtime.a was not found, and an executable needs it".into(),
            cure: Some("build it with `cargo build -p cdp-runtime`, or set CDP_RUNTIME_LIB".into()),
        })?;
        let (compiler, job, options) = (self.compiler, request.job, request.options);
        // clang reads host halves while device code is made.
        let (device, mut halves) = std::thread::scope(|scope| {
            let read = |source: &SourceInput| compiler.read_cuda(job, source, Half::Host, options);
            let threads = request.inputs.iter().map(|input| match input {
                Input::Cuda(source) => Some(scope.spawn(move || read(source))),
                _ => None,
            });
            let threads: Vec<_> = threads.collect();
            let device = self.device_images(archs);
            let failed = |_| Err(Error::request("a thread that ran clang panicked"));
            let join = |thread: Option<std::thread::ScopedJoinHandle<'_, Result<Read, Error>>>| {
                thread.map(|thread| thread.join().unwrap_or_else(failed))
            };
            (device, threads.into_iter().map(join).collect::<Vec<_>>())
        });
        if let Err(Failure::Program(_)) = &device {
            // What is wrong with the other half is told in the same go.
            for read in halves.iter_mut().filter_map(Option::take).flatten() {
                self.out.reports.push(read.report);
            }
        }
        let (device, ptx) = device?;
        let (mut objects, mut broken) = (Vec::new(), false);
        for (input, half) in request.inputs.iter().zip(halves) {
            let object = match half {
                Some(read) => self.take_half(read?).map(Some),
                None => self.host_object(input),
            };
            match object {
                Ok(object) => {
                    let name = format!("{}.host.o", input.stem());
                    objects.extend(object.map(|object| (name, object)));
                }
                Err(Failure::Program(_)) => broken = true,
                Err(other) => return Err(other),
            }
        }
        if broken {
            return Err(self.failed());
        }
        objects.push(("cdp_image.o".into(), compiler.emit_image(&device, &ptx)?));
        self.add_host_parts(&mut objects);
        let mut link = request.host_link.clone();
        if request.inputs.iter().any(|input| matches!(input, Input::Cuda(_))) {
            objects.push(("cdp_entries.o".into(), compiler.emit_entries()?));
            link.libraries.push(CXX_LIBRARY.into());
        }
        link.files.push(runtime);
        link.libraries.extend(["m", "dl", "pthread"].map(String::from));
        if options.debug == DebugInfo::None {
            link.extra_args.push("-Wl,--gc-sections".into());
        }
        Ok(host_link(job, &request.inputs[0].stem(), &objects, &link)?)
    }

    /// Machine code for GPUs, where it is wanted, and PTX for the CPU device.
    fn device_images(&mut self, archs: &[Arch]) -> Result<(Vec<u8>, Vec<String>), Failure> {
        if !self.request.cubin {
            return Ok((Vec::new(), self.ptx_of_all(archs[0])?));
        }
        let mut images = self.images(archs)?;
        let device = match &mut images[..] {
            [image] => std::mem::take(&mut image.cubin),
            _ => self.pack(&images)?,
        };
        Ok((device, images.swap_remove(0).ptx))
    }
}
