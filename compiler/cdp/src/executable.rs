//! Executables: device code of all inputs in one block, host code of those that have any, and the
//! runtime. The host side, its link included, is made beside the device side.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use cdp_toolchain::{AddressSize, Arch};

use crate::beside::{all_beside, joined};
use crate::build::Build;
use crate::compiler::{cancel_of_this_thread, with_cancel};
use crate::cuda::{Half, Read};
use crate::error::Error;
use crate::failure::Failure;
use crate::host_link::HostLink;
use crate::host_pass::HostPass;
use crate::input::Input;

/// Machine code, and PTX for the CPU device.
type Images = (Vec<u8>, Vec<String>);

/// The host half of an input.
enum HostHalf {
    /// Of a `.cu` file.
    Clang(Result<Read, Error>),
    /// Of a `.cdp` file.
    Own(Result<HostPass, Error>),
}

impl HostHalf {
    /// `None` when something is wrong with it.
    fn object(&self) -> Option<&[u8]> {
        match self {
            HostHalf::Clang(read) => read.as_ref().ok()?.bytes.as_deref(),
            HostHalf::Own(pass) => pass.as_ref().ok()?.object(),
        }
    }
}

/// What the host side made: the half of each input that has one, and the program without its device code.
struct HostSide {
    halves: Vec<Option<HostHalf>>,
    early: Option<Result<Vec<u8>, Error>>,
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
        let link = HostLink::new(self.compiler, request)?;
        let (device, mut host) = self.sides(archs, &link);
        if let Err(Failure::Program(_)) = &device {
            // What is wrong with the other half is told in the same go.
            for half in host.halves.iter_mut().filter_map(Option::take) {
                if let HostHalf::Clang(Ok(read)) = half {
                    self.out.reports.push(read.report);
                }
            }
        }
        let (machine_code, ptx) = device?;
        let (mut objects, mut broken) = (Vec::new(), false);
        for (input, half) in request.inputs.iter().zip(host.halves) {
            let object = match half {
                Some(HostHalf::Clang(read)) => self.take_half(read?),
                Some(HostHalf::Own(pass)) => self.take_host_pass(pass?),
                None => continue,
            };
            match object {
                Ok(object) => objects.push((half_name(input), object)),
                Err(Failure::Program(_)) => broken = true,
                Err(other) => return Err(other),
            }
        }
        if broken {
            return Err(self.failed());
        }
        let code = link.code(&machine_code, &ptx);
        if let Some(program) = host.early.transpose()?.and_then(|early| HostLink::put(early, &code))
        {
            return Ok(program);
        }
        let halves: Vec<_> =
            objects.iter().map(|(name, object)| (name.clone(), object.as_slice())).collect();
        Ok(link.whole(&halves, &code)?)
    }

    /// Device code, and beside it, on threads of its own, the host side.
    fn sides(
        &mut self,
        archs: &[Arch],
        link: &HostLink<'_>,
    ) -> (Result<Images, Failure>, HostSide) {
        let (compiler, request) = (self.compiler, self.request);
        let (job, options) = (request.job, request.options);
        let (callable, cancel) = (self.host_code_is_callable(), cancel_of_this_thread());
        let make = |input: &Input| match input {
            Input::Cuda(source) => {
                Some(HostHalf::Clang(compiler.read_cuda(job, source, Half::Host, options, 2)))
            }
            Input::Source(source) => {
                let run = || HostPass::run(compiler, source, options, callable);
                Some(HostHalf::Own(with_cancel(cancel.clone(), run)))
            }
            Input::Bytes(..) => None,
        };
        let device_failed = AtomicBool::new(false);
        let host_side = || {
            let halves = all_beside(request.inputs, &make);
            let early = match device_failed.load(Ordering::Relaxed) {
                true => None,
                false => with_cancel(cancel.clone(), || early(link, request.inputs, &halves)),
            };
            HostSide { halves, early }
        };
        std::thread::scope(|scope| {
            // Where one thread was asked for, or no other can be had, the host's turn is when the device's is over.
            let thread = match options.threads {
                1 => None,
                _ => Builder::new().spawn_scoped(scope, host_side).ok(),
            };
            let device = self.device_images(archs);
            device_failed.store(device.is_err(), Ordering::Relaxed);
            (device, thread.map_or_else(host_side, joined))
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

/// The program without its device code, where it is linked so early and all halves are well.
fn early(
    link: &HostLink<'_>,
    inputs: &[Input],
    halves: &[Option<HostHalf>],
) -> Option<Result<Vec<u8>, Error>> {
    link.is_early().then_some(())?;
    let mut objects = Vec::new();
    for (input, half) in inputs.iter().zip(halves) {
        if let Some(half) = half {
            objects.push((half_name(input), half.object()?));
        }
    }
    Some(link.early(&objects))
}

fn half_name(input: &Input) -> String {
    format!("{}.host.o", input.stem())
}
