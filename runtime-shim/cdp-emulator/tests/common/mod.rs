//! What the tests of the CPU device share: running a kernel of a PTX text and collecting what came
//! out.
#![allow(dead_code)]

pub mod fragments;

use std::sync::Arc;

use cdp_emulator::{
    Completion, Config, Emulator, Error, Launch, ModuleId, Report, Source, StreamId,
};

/// A device with one module.
pub struct Bench {
    pub device: Emulator,
    pub module: ModuleId,
}

/// A configuration that does not depend on the machine.
pub fn config() -> Config {
    Config { host_threads: 1, reserve_bytes: 1 << 30, ..Config::default() }
}

/// Loads one PTX text.
pub fn load(text: &str) -> Result<Bench, Error> {
    load_with(&[("test.ptx", text)], config())
}

/// Loads PTX texts.
pub fn load_with(texts: &[(&str, &str)], config: Config) -> Result<Bench, Error> {
    let mut device = Emulator::new(config)?;
    let sources: Vec<_> = texts.iter().map(|(name, text)| Source { name, text }).collect();
    let module = device.load(&sources)?;
    Ok(Bench { device, module })
}

impl Bench {
    /// Queues a kernel.
    pub fn launch(
        &mut self,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[u8],
    ) -> Result<(), Error> {
        let kernel = self.device.kernel(self.module, kernel)?;
        self.device.launch(&Launch {
            kernel,
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            shared_bytes: 0,
            stream: StreamId::NULL,
            params,
            cooperative: false,
            programmatic: false,
            cluster: None,
        })
    }

    /// Runs everything queued.
    pub fn finish(&mut self) -> Result<String, Arc<Report>> {
        match self.device.synchronize().expect("synchronize") {
            Completion::Done => {
                Ok(String::from_utf8(self.device.take_output()).expect("UTF-8 output"))
            }
            Completion::Pending => panic!("synchronize left work behind"),
            Completion::Faulted(report) => Err(report),
        }
    }

    /// Runs a kernel without parameters; its output.
    pub fn run(&mut self, kernel: &str, grid: u32, block: u32) -> Result<String, Arc<Report>> {
        self.run_with(kernel, grid, block, &[])
    }

    /// Runs a kernel; its output.
    pub fn run_with(
        &mut self,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[u8],
    ) -> Result<String, Arc<Report>> {
        let id = self.device.kernel(self.module, kernel).expect("kernel");
        let size = self.device.kernel_info(id).expect("info").param_bytes as usize;
        let mut bytes = params.to_vec();
        bytes.resize(size, 0);
        self.launch(kernel, grid, block, &bytes).expect("launch");
        self.finish()
    }

    /// Bytes of device memory.
    pub fn read(&mut self, address: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        let completion = self.device.copy_from_device(&mut bytes, address, StreamId::NULL);
        assert!(matches!(completion, Ok(Completion::Done)), "{completion:?}");
        bytes
    }

    /// 32-bit words of device memory.
    pub fn read_u32(&mut self, address: u64, count: usize) -> Vec<u32> {
        let bytes = self.read(address, count * 4);
        bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }

    /// Writes device memory.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let completion = self.device.copy_to_device(address, bytes, StreamId::NULL);
        assert!(matches!(completion, Ok(Completion::Done)), "{completion:?}");
    }
}

/// The start of every hand-written PTX text.
pub const HEADER: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";
