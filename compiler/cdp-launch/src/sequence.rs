//! A launch as PTX text, for compilers that print PTX themselves: given the kernel's layout and the
//! registers that hold the operands, the declarations and the call sequence of an ABI.
//!
//! What this is not: the path that cdp's own programs take (`cdp-llvm` emits LLVM IR).

use std::fmt::Write;

use crate::abi::LaunchAbi;
use crate::entry::{EntryPoint, ParamKind, ptx_type};
use crate::layout::BufferLayout;

/// The operands of a launch: registers or immediates in PTX spelling.
#[derive(Clone, Debug)]
pub struct SequenceConfig<'a> {
    /// Whose entry points are called.
    pub abi: LaunchAbi,
    /// 32 or 64.
    pub address_bits: u32,
    /// The entry points for per-thread default streams.
    pub per_thread_stream: bool,
    /// The kernel's address (`mov.u64 %rd1, kernel;`).
    pub kernel: &'a str,
    /// 32-bit operands.
    pub grid: [&'a str; 3],
    /// 32-bit operands.
    pub block: [&'a str; 3],
    /// 32-bit operand.
    pub shared_bytes: &'a str,
    /// Address-sized operand.
    pub stream: &'a str,
    /// Distinguishes the sequence's labels and registers from those of others in the function.
    pub id: u32,
}

impl<'a> SequenceConfig<'a> {
    /// One block of one thread without shared memory in the NULL stream, with 64-bit addresses, of the
    /// kernel whose address is in a register.
    pub fn new(abi: LaunchAbi, kernel: &'a str) -> Self {
        SequenceConfig {
            abi,
            address_bits: 64,
            per_thread_stream: false,
            kernel,
            grid: ["1"; 3],
            block: ["1"; 3],
            shared_bytes: "0",
            stream: "0",
            id: 0,
        }
    }
}

/// One store into the buffer.
#[derive(Clone, Copy, Debug)]
pub struct SequenceStore<'a> {
    /// Byte offset in the buffer.
    pub offset_bytes: u64,
    /// The PTX type without its dot (`b64`, `f32`, `v4.f32`).
    pub ty: &'a str,
    /// The operand (`%rd4`, `{%f1, %f2, %f3, %f4}`).
    pub value: &'a str,
}

/// Both halves of a launch as PTX statements in one scope: buffer, NULL test, stores, launch.
/// The error code is left in register `%cdp_error<id>` (a `.b32` declared by the text before the
/// scope); it is 0 when the buffer was NULL, and then the thread's last error tells why.
pub fn launch_sequence(
    config: &SequenceConfig<'_>,
    layout: &BufferLayout,
    stores: &[SequenceStore<'_>],
) -> String {
    let mut out = Sequence { text: String::new(), config };
    let SequenceConfig { id, address_bits: bits, .. } = *config;
    out.line(&format!(".reg .b32 %cdp_error{id};"));
    out.line(&format!(".reg .b{bits} %cdp_buffer{id};"));
    out.line(&format!(".reg .pred %cdp_null{id};"));
    out.line(&format!("mov.b32 %cdp_error{id}, 0;"));
    let needs_buffer = config.abi.is_v2() || layout.size_bytes > 0;
    if needs_buffer {
        out.get_buffer(layout);
        out.line(&format!("setp.eq.u{bits} %cdp_null{id}, %cdp_buffer{id}, 0;"));
        out.line(&format!("@%cdp_null{id} bra $cdp_done{id};"));
    } else {
        out.line(&format!("mov.b{bits} %cdp_buffer{id}, 0;"));
    }
    for store in stores {
        let SequenceStore { offset_bytes, ty, value } = store;
        out.line(&format!("st.{ty} [%cdp_buffer{id}+{offset_bytes}], {value};"));
    }
    out.launch();
    if needs_buffer {
        out.line(&format!("$cdp_done{id}:"));
    }
    out.text
}

struct Sequence<'a, 'c> {
    text: String,
    config: &'a SequenceConfig<'c>,
}

impl Sequence<'_, '_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn get_buffer(&mut self, layout: &BufferLayout) {
        let config = self.config;
        let result = format!("%cdp_buffer{}", config.id);
        if config.abi.is_v2() {
            let operands = [
                vec![config.kernel],
                config.grid.to_vec(),
                config.block.to_vec(),
                vec![config.shared_bytes],
            ];
            self.call(EntryPoint::GetParameterBuffer, &operands, &result);
        } else {
            let (align, size) = (layout.align_bytes.to_string(), layout.size_bytes.to_string());
            let operands = [vec![align.as_str()], vec![size.as_str()]];
            self.call(EntryPoint::GetParameterBuffer, &operands, &result);
        }
    }

    fn launch(&mut self) {
        let config = self.config;
        let result = format!("%cdp_error{}", config.id);
        let buffer = format!("%cdp_buffer{}", config.id);
        if config.abi.is_v2() {
            let operands = [vec![buffer.as_str()], vec![config.stream]];
            self.call(EntryPoint::LaunchDevice, &operands, &result);
        } else {
            let operands = [
                vec![config.kernel],
                vec![buffer.as_str()],
                config.grid.to_vec(),
                config.block.to_vec(),
                vec![config.shared_bytes],
                vec![config.stream],
            ];
            self.call(EntryPoint::LaunchDevice, &operands, &result);
        }
    }

    /// One call in its own scope; `operands` holds one register list a parameter.
    fn call(&mut self, entry: EntryPoint, operands: &[Vec<&str>], result: &str) {
        let SequenceConfig { abi, address_bits, per_thread_stream, .. } = *self.config;
        let signature = abi.signature(entry);
        self.line("{");
        for (index, ((_, kind), registers)) in signature.params.iter().zip(operands).enumerate() {
            match kind {
                ParamKind::Dim3 => self.line(&format!(".param .align 4 .b8 cdp_param{index}[12];")),
                kind => {
                    let ty = ptx_type(*kind, address_bits);
                    self.line(&format!(".param .{ty} cdp_param{index};"));
                }
            }
            let ty = if *kind == ParamKind::Dim3 { "b32" } else { ptx_type(*kind, address_bits) };
            for (word, register) in registers.iter().enumerate() {
                self.line(&format!("st.param.{ty} [cdp_param{index}+{}], {register};", 4 * word));
            }
        }
        let ty = ptx_type(signature.result, address_bits);
        self.line(&format!(".param .{ty} cdp_result;"));
        let symbol = abi.symbol(entry, per_thread_stream);
        let params: Vec<_> = (0..operands.len()).map(|i| format!("cdp_param{i}")).collect();
        self.line(&format!("call.uni (cdp_result), {symbol}, ({});", params.join(", ")));
        self.line(&format!("ld.param.{ty} {result}, [cdp_result];"));
        self.line("}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{ParamSize, buffer_layout};

    fn config(abi: LaunchAbi) -> SequenceConfig<'static> {
        SequenceConfig {
            grid: ["%r1", "1", "1"],
            block: ["32", "1", "1"],
            id: 7,
            ..SequenceConfig::new(abi, "%rd1")
        }
    }

    #[test]
    fn v1_without_parameters_asks_for_no_buffer() {
        let empty = buffer_layout(&[]).unwrap();
        let v1 = launch_sequence(&config(LaunchAbi::Documented), &empty, &[]);
        assert!(!v1.contains("cudaGetParameterBuffer") && v1.contains("cudaLaunchDevice"));
        let v2 = launch_sequence(&config(LaunchAbi::Cdp2V2), &empty, &[]);
        assert!(v2.contains("__cudaCDP2GetParameterBufferV2"));
    }

    #[test]
    fn stores_come_between_the_null_test_and_the_launch() {
        let layout = buffer_layout(&[ParamSize { size_bytes: 8, align_bytes: 8 }]).unwrap();
        let store = SequenceStore { offset_bytes: 0, ty: "b64", value: "%rd2" };
        let text = launch_sequence(&config(LaunchAbi::Cdp2V2), &layout, &[store]);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
        assert!(at("setp.eq.u64") < at("st.b64 [%cdp_buffer7+0], %rd2;"));
        assert!(at("st.b64 [%cdp_buffer7") < at("__cudaCDP2LaunchDeviceV2"));
        assert!(at("__cudaCDP2LaunchDeviceV2") < at("$cdp_done7:"));
    }
}
