//! Executables: device code of all inputs in one image, host code of those that have any, and the
//! runtime.

use std::collections::BTreeSet;
use std::thread::{Builder, ScopedJoinHandle};

use cdp_llvm::DeviceImage;
use cdp_toolchain::{
    AddressSize, Arch, HostLinkOptions, ObjectParts, host_link, is_archive, launch_stub_names,
};

use crate::build::{Build, parts};
use crate::compiler::{Compiler, cancel_of_this_thread, with_cancel};
use crate::cuda::{Half, Read};
use crate::error::Error;
use crate::failure::Failure;
use crate::host_pass::HostPass;
use crate::input::{Input, InputKind};
use crate::options::DebugInfo;

/// What the C++ library of the system is called on the linker's command line.
const CXX_LIBRARY: &str = "stdc++";

/// Machine code, and PTX for the CPU device.
type Images = (Vec<u8>, Vec<String>);

/// The host half of an input.
enum HostHalf {
    /// Of a `.cu` file.
    Clang(Result<Read, Error>),
    /// Of a `.cdp` file.
    Own(Result<HostPass, Error>),
}

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
            cure: Some(
                "`cargo xtask install --prefix DIR` in cdp's repository installs cdpc and the \
                          library; CDP_RUNTIME_LIB names another one"
                    .into(),
            ),
        })?;
        let (device, mut halves) = self.halves(archs);
        if let Err(Failure::Program(_)) = &device {
            // What is wrong with the other half is told in the same go.
            for half in halves.iter_mut().filter_map(Option::take) {
                if let HostHalf::Clang(Ok(read)) = half {
                    self.out.reports.push(read.report);
                }
            }
        }
        let (device, ptx) = device?;
        let (mut objects, mut broken) = (Vec::new(), false);
        for (input, half) in request.inputs.iter().zip(halves) {
            let object = match half {
                Some(HostHalf::Clang(read)) => self.take_half(read?).map(Some),
                Some(HostHalf::Own(pass)) => self.take_host_pass(pass?).map(Some),
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
        let others = Others::of(request.inputs);
        let texts = ptx.iter().map(String::as_bytes);
        let ptx: Vec<&[u8]> = texts.chain(others.parts.ptx.iter().map(Vec::as_slice)).collect();
        let image = DeviceImage { machine_code: &device, ptx: &ptx, units: &others.units() };
        objects.push(("cdp_image.o".into(), self.compiler.emit_linked_image(image)?));
        objects.extend(others.objects);
        let mut link = request.host_link.clone();
        let has_cuda = request.inputs.iter().any(|input| matches!(input, Input::Cuda(_)));
        if has_cuda || others.parts.lists_entries {
            objects.push(("cdp_entries.o".into(), self.compiler.emit_entries()?));
        }
        objects.extend(others.libraries);
        if has_cuda {
            openmp(self.compiler, &mut link)?;
        }
        if has_cuda || others.parts.wants_cxx {
            link.libraries.push(CXX_LIBRARY.into());
        }
        if has_cuda || others.parts.host {
            let names = launch_stub_names(objects.iter().map(|(_, bytes)| bytes.as_slice()));
            let defined =
                names.into_iter().map(|(name, other)| format!("-Wl,--defsym={name}={other}"));
            link.extra_args.extend(defined);
        }
        link.files.push(runtime);
        link.libraries.extend(["m", "dl", "pthread"].map(String::from));
        if request.options.debug == DebugInfo::None {
            link.extra_args.push("-Wl,--gc-sections".into());
        }
        Ok(host_link(request.job, &request.inputs[0].stem(), &objects, &link)?)
    }

    /// Device code, and beside it, on threads of their own, the host half of each input that has one.
    fn halves(&mut self, archs: &[Arch]) -> (Result<Images, Failure>, Vec<Option<HostHalf>>) {
        let (compiler, request) = (self.compiler, self.request);
        let (job, options) = (request.job, request.options);
        let (callable, cancel) = (self.host_code_is_callable(), cancel_of_this_thread());
        let make = |input: &Input| match input {
            Input::Cuda(source) => {
                Some(HostHalf::Clang(compiler.read_cuda(job, source, Half::Host, options)))
            }
            Input::Source(source) => {
                let run = || HostPass::run(compiler, source, options, callable);
                Some(HostHalf::Own(with_cancel(cancel.clone(), run)))
            }
            Input::Bytes(..) => None,
        };
        let make = &make;
        // Where one thread was asked for, or no other can be had, our own half is made when the device's is done.
        let wanted = |input: &Input| match input {
            Input::Cuda(_) => true,
            Input::Source(_) => options.threads != 1,
            Input::Bytes(..) => false,
        };
        std::thread::scope(|scope| {
            let start = |input| Builder::new().spawn_scoped(scope, move || make(input)).ok();
            let threads =
                request.inputs.iter().map(|input| if wanted(input) { start(input) } else { None });
            let threads: Vec<_> = threads.collect();
            let device = self.device_images(archs);
            let panicked =
                |_| Some(HostHalf::Own(Err(Error::request("a thread of the host half panicked"))));
            let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(panicked);
            (device, threads.into_iter().map(|thread| thread.and_then(join)).collect())
        })
    }

    /// Machine code for GPUs, where it is wanted, and PTX for the CPU device.
    fn device_images(&mut self, archs: &[Arch]) -> Result<Images, Failure> {
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

/// clang calls another OpenMP library than the compiler that links asks for.
fn openmp(compiler: &Compiler, link: &mut HostLinkOptions) -> Result<(), Error> {
    const WORD: &str = "-fopenmp";
    if !link.extra_args.iter().any(|word| word == WORD) {
        return Ok(());
    }
    let clang = compiler.toolchain().clang()?;
    let clang = std::fs::canonicalize(clang).unwrap_or_else(|_| clang.to_owned());
    let folder = clang.ancestors().nth(2).map(|folder| folder.join("lib")).unwrap_or_default();
    let library = folder.join("libomp.so");
    if !library.is_file() {
        return Err(Error::Request {
            message: format!(
                "{WORD} asks for OpenMP in host code, and {} is missing",
                library.display()
            ),
            cure: Some("install clang's OpenMP library (Debian: libomp-22-dev)".into()),
        });
    }
    link.extra_args.retain(|word| word != WORD);
    link.extra_args.push(format!("-Wl,-rpath,{}", folder.display()));
    link.files.push(library);
    Ok(())
}

/// What the objects and libraries of other compilers among the inputs bring for the host.
#[derive(Default)]
struct Others {
    objects: Vec<(String, Vec<u8>)>,
    /// They come last: linkers take from them what is wanted by then.
    libraries: Vec<(String, Vec<u8>)>,
    /// All of them together.
    parts: ObjectParts,
}

impl Others {
    fn of(inputs: &[Input]) -> Others {
        let mut others = Others::default();
        for input in inputs {
            let Input::Bytes(InputKind::Object, name, bytes) = input else { continue };
            let parts = parts(input);
            if parts.host {
                let list = match is_archive(bytes) {
                    true => &mut others.libraries,
                    false => &mut others.objects,
                };
                list.push((name.clone(), bytes.clone()));
            }
            others.parts = std::mem::take(&mut others.parts).and(parts);
        }
        others
    }

    /// Ids of the units whose registration is left to us: the others belong to the image of nvcc's own
    /// device link.
    fn units(&self) -> Vec<String> {
        let linked = &self.parts.linked_units;
        let own = self.parts.units.iter().filter(|unit| !linked.contains(unit));
        own.cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }
}
