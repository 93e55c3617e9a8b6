//! PTX text: read, printed, read again; loaded and run by the CPU device.

use std::time::Duration;

use cdp::{NormalForm, normalize};
use cdp_emulator::cfg::Cfg;
use cdp_emulator::{Config, Emulator, Launch, Source, StreamId};

use crate::unless_refused;

/// Bytes of the buffer that kernels get the address of.
const BUFFER_BYTES: u64 = 4096;

/// Reads PTX. What is read prints to text that reads to the same, has a control flow, and a normal form; what
/// passes over unknown instructions does not refuse more.
pub fn ptx(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    unless_refused(cdp::describe_ptx("fuzz.ptx", data));
    let _ = normalize(&text, &NormalForm::new());
    let _ = cdp::mend_extern_kernels(&text);
    let _ = cdp_toolchain::ptx_version(&text);
    let _ = cdp_toolchain::is_whole_program(&text);
    let lenient = cdp_ptx::parse_lenient(&text);
    let Ok(module) = cdp_ptx::parse(&text) else { return };
    assert!(lenient.is_ok(), "refused only where unknown instructions are taken");
    let printed = cdp_ptx::print(&module);
    let again = cdp_ptx::parse(&printed);
    let again = again.unwrap_or_else(|error| panic!("the print is refused: {error}\n{printed}"));
    assert!(again == module, "the print reads to another module:\n{printed}");
    assert!(cdp_ptx::print(&again) == printed, "the print prints otherwise:\n{printed}");
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        let graph = Cfg::new(&module, body);
        for instruction in 0..body.instructions.len() as u32 {
            let _ = (graph.block_of(instruction), graph.reconvergence(instruction));
        }
    }
}

/// Loads PTX and runs each of its kernels for a while, with the address of a buffer in every parameter.
pub fn device(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let config = Config {
        max_instructions: Some(20_000),
        timeout: Some(Duration::from_secs(5)),
        reserve_bytes: 256 << 20,
        memory_bytes: 64 << 20,
        host_threads: 1,
        ..Config::default()
    };
    let mut device = Emulator::new(config.clone()).expect("address space");
    let Ok(module) = device.load(&[Source { name: "fuzz.ptx", text }]) else { return };
    for kernel in device.kernels(module) {
        run(&mut device, kernel);
        if device.fault().is_some() {
            // A device that has met a fault runs nothing more.
            return;
        }
    }
    device.unload(module).expect("a loaded module");
}

fn run(device: &mut Emulator, kernel: cdp_emulator::KernelId) {
    let info = device.kernel_info(kernel).expect("a kernel of the module");
    let bytes = info.param_bytes as usize;
    let block = info.required_threads.unwrap_or([33, 1, 1]);
    let buffer = device.alloc(BUFFER_BYTES).expect("memory");
    let mut params: Vec<u8> = buffer.to_le_bytes().repeat(bytes.div_ceil(8));
    params.truncate(bytes);
    let launch = Launch {
        kernel,
        grid: [2, 1, 1],
        block,
        shared_bytes: 128,
        stream: StreamId::NULL,
        params: &params,
        cooperative: false,
        programmatic: false,
        cluster: None,
    };
    if device.launch(&launch).is_err() {
        return;
    }
    let _ = device.synchronize();
    for report in device.take_reports() {
        assert!(!report.to_string().is_empty(), "a report without words");
    }
    let _ = (device.take_output(), device.profile());
}

/// PTX that our compiler made must be known.
///
/// # Panics
/// When it is not.
pub fn own(text: &str) {
    let module = cdp_ptx::parse(text).unwrap_or_else(|error| panic!("our PTX: {error}\n{text}"));
    assert!(cdp_ptx::parse(&cdp_ptx::print(&module)).as_ref() == Ok(&module), "{text}");
}
