//! `cdpc doctor`: what was found on this machine, and what works as a result.

use std::collections::BTreeMap;
use std::fmt::Write;

use cdp::AddressSize;
use cdp::Compiler;
use cdp_toolchain::{DoctorReport, LinkSupport, doctor as examine};

use crate::args::Doctor;
use crate::common::{Messages, search};
use crate::run::runtime_library;

pub fn doctor(args: &Doctor) -> i32 {
    let messages = Messages::plain();
    let compiler = match Compiler::new(&search(args.cuda_path.as_deref())) {
        Ok(compiler) => compiler,
        Err(error) => return messages.failure(error.into()),
    };
    let report = examine(compiler.toolchain());
    messages.print(&if args.json { json(&report) } else { text(&report) })
}

/// Architectures by what can be done for them.
fn support(report: &DoctorReport) -> BTreeMap<String, Vec<String>> {
    let mut by_outcome: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for arch in &report.archs {
        let bits = if arch.address_size == AddressSize::Bits32 { "32-bit" } else { "64-bit" };
        let outcome = match (&arch.ptxas, &arch.link) {
            (None, _) => "PTX only".to_string(),
            (Some(_), LinkSupport::Full) => "cubins with device-side launches".to_string(),
            (Some(_), LinkSupport::WithoutDeviceRuntime) => {
                "cubins without device-side launches".to_string()
            }
            (Some(_), LinkSupport::None(_)) => "objects".to_string(),
        };
        by_outcome.entry(format!("{bits} {outcome}")).or_default().push(arch.arch.to_string());
    }
    by_outcome
}

fn text(report: &DoctorReport) -> String {
    let mut out = String::from("CUDA toolkits\n");
    if report.toolkits.is_empty() {
        out += "  none; PTX can be made and run on the CPU device, objects and cubins cannot\n";
        out += "  looked for in:\n";
        for place in &report.searched {
            let _ = writeln!(out, "    {place}");
        }
        out += "  help: install the CUDA toolkit, give --cuda-path, or run `cargo xtask setup`\n";
    }
    for kit in &report.toolkits {
        let version = kit.version.map_or("unknown version".into(), |version| version.to_string());
        let _ = writeln!(out, "  {} {} ({})", version, kit.root.display(), kit.origin);
        let _ = writeln!(out, "    {}", kit.contents);
    }
    let libdevice = report.libdevice.as_ref().map(|path| path.display().to_string());
    let _ = writeln!(out, "libdevice\n  {}", libdevice.unwrap_or_else(|| "none".into()));
    out += "What can be made\n";
    for (outcome, archs) in support(report) {
        let _ = writeln!(out, "  {outcome}: {}", archs.join(" "));
    }
    let runtime = runtime_library().map(|path| path.display().to_string());
    let missing =
        "libcdp_runtime.a not found; `cargo xtask install --prefix DIR` installs it with cdpc";
    let _ = writeln!(out, "Host programs\n  {}", runtime.unwrap_or_else(|| missing.into()));
    let gpu = &report.gpu;
    let devices = gpu.devices.len();
    let driver = gpu.driver_version.as_deref().unwrap_or("unknown");
    let _ = match gpu.is_usable() {
        true => writeln!(out, "GPU\n  {devices} found, driver {driver}"),
        false => writeln!(out, "GPU\n  none; programs run on the CPU device"),
    };
    out
}

fn json(report: &DoctorReport) -> String {
    let toolkits: Vec<_> = report
        .toolkits
        .iter()
        .map(|kit| {
            serde_json::json!({
                "root": kit.root,
                "origin": kit.origin.to_string(),
                "version": kit.version.map(|version| version.to_string()),
                "contents": kit.contents,
                "cudadevrt_images": kit.cudadevrt_images,
            })
        })
        .collect();
    let value = serde_json::json!({
        "toolkits": toolkits,
        "libdevice": report.libdevice,
        "runtime_library": runtime_library(),
        "support": support(report),
        "gpu": {
            "usable": report.gpu.is_usable(),
            "devices": report.gpu.devices,
            "driver_version": report.gpu.driver_version,
        },
    });
    format!("{value:#}\n")
}
