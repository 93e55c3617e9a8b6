//! The entry-point table: for each launch ABI the symbols, parameters and results of its two
//! functions, and their declarations as PTX text in the form of the guides (4.18.6.1 and the 2012
//! guide's 32-bit forms). What is absent: the rest of the device runtime ([`crate::runtime`]).

use std::fmt::Write;

use crate::abi::LaunchAbi;

/// Bytes of a `dim3` argument, passed by value.
pub const DIM3_BYTES: u32 = 12;
/// Alignment of a `dim3` argument.
pub const DIM3_ALIGN: u32 = 4;

/// The two halves of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryPoint {
    /// Hands out a parameter buffer, or NULL when the launch pool is exhausted.
    GetParameterBuffer,
    /// Launches with a filled buffer; its result is a `cudaError_t`.
    LaunchDevice,
}

/// The kind of a parameter or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamKind {
    /// A pointer or a `size_t`: as wide as an address.
    Address,
    /// An unsigned 32-bit integer or an error code.
    Word,
    /// Three 32-bit words by value, aligned to 4.
    Dim3,
}

/// A function of an ABI: name of each parameter as the guides write it, and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// In order.
    pub params: &'static [(&'static str, ParamKind)],
    /// The buffer or the error code.
    pub result: ParamKind,
}

use ParamKind::{Address, Dim3, Word};

const GET_BUFFER_V1: Signature =
    Signature { params: &[("alignment", Address), ("size", Address)], result: Address };

const LAUNCH_V1: Signature = Signature {
    params: &[
        ("func", Address),
        ("parameterBuffer", Address),
        ("gridDimension", Dim3),
        ("blockDimension", Dim3),
        ("sharedMemSize", Word),
        ("stream", Address),
    ],
    result: Word,
};

const GET_BUFFER_V2: Signature = Signature {
    params: &[
        ("func", Address),
        ("gridDimension", Dim3),
        ("blockDimension", Dim3),
        ("sharedMemSize", Word),
    ],
    result: Address,
};

const LAUNCH_V2: Signature =
    Signature { params: &[("parameterBuffer", Address), ("stream", Address)], result: Word };

impl LaunchAbi {
    /// Parameters and result of an entry point.
    pub fn signature(self, entry: EntryPoint) -> Signature {
        match (self.is_v2(), entry) {
            (false, EntryPoint::GetParameterBuffer) => GET_BUFFER_V1,
            (false, EntryPoint::LaunchDevice) => LAUNCH_V1,
            (true, EntryPoint::GetParameterBuffer) => GET_BUFFER_V2,
            (true, EntryPoint::LaunchDevice) => LAUNCH_V2,
        }
    }

    /// The symbol of an entry point. `per_thread_stream` asks for the `_ptsz` form, in which stream
    /// 0 is the calling thread's default stream; only the launch half has one.
    pub fn symbol(self, entry: EntryPoint, per_thread_stream: bool) -> &'static str {
        use EntryPoint::{GetParameterBuffer as Get, LaunchDevice as Launch};
        match (self, entry, per_thread_stream) {
            (LaunchAbi::Documented, Get, _) => "cudaGetParameterBuffer",
            (LaunchAbi::Documented, Launch, false) => "cudaLaunchDevice",
            (LaunchAbi::Documented, Launch, true) => "cudaLaunchDevice_ptsz",
            (LaunchAbi::DocumentedV2, Get, _) => "cudaGetParameterBufferV2",
            (LaunchAbi::DocumentedV2, Launch, false) => "cudaLaunchDeviceV2",
            (LaunchAbi::DocumentedV2, Launch, true) => "cudaLaunchDeviceV2_ptsz",
            (LaunchAbi::Cdp2, Get, _) => "__cudaCDP2GetParameterBuffer",
            (LaunchAbi::Cdp2, Launch, false) => "__cudaCDP2LaunchDevice",
            (LaunchAbi::Cdp2, Launch, true) => "__cudaCDP2LaunchDevice_ptsz",
            (LaunchAbi::Cdp2V2, Get, _) => "__cudaCDP2GetParameterBufferV2",
            (LaunchAbi::Cdp2V2, Launch, false) => "__cudaCDP2LaunchDeviceV2",
            (LaunchAbi::Cdp2V2, Launch, true) => "__cudaCDP2LaunchDeviceV2_ptsz",
        }
    }

    /// Whether a function is an entry point of some ABI by its name, or one of CUDA's headers around one, whose
    /// mangled name has it in it.
    pub fn is_entry_point(name: &str) -> bool {
        // Names of the later forms begin with these.
        [LaunchAbi::Documented, LaunchAbi::Cdp2].into_iter().any(|abi| {
            let entries = [EntryPoint::GetParameterBuffer, EntryPoint::LaunchDevice];
            entries.into_iter().any(|entry| name.contains(abi.symbol(entry, false)))
        })
    }

    /// The `.extern` declaration of an entry point, for modules of `address_bits` (32 or 64).
    pub fn ptx_declaration(
        self,
        entry: EntryPoint,
        address_bits: u32,
        per_thread_stream: bool,
    ) -> String {
        let signature = self.signature(entry);
        let symbol = self.symbol(entry, per_thread_stream);
        let mut text = String::new();
        let result = ptx_type(signature.result, address_bits);
        // Writing to a String cannot fail.
        let _ = writeln!(text, ".extern .func(.param .{result} func_retval0) {symbol}\n(");
        for (index, (name, kind)) in signature.params.iter().enumerate() {
            let comma = if index + 1 == signature.params.len() { "" } else { "," };
            let _ = match kind {
                Dim3 => {
                    writeln!(text, "  .param .align {DIM3_ALIGN} .b8 {name}[{DIM3_BYTES}]{comma}")
                }
                kind => {
                    writeln!(text, "  .param .{} {name}{comma}", ptx_type(*kind, address_bits))
                }
            };
        }
        text.push_str(")\n;\n");
        text
    }
}

/// The PTX type of a scalar kind, without its dot.
pub(crate) fn ptx_type(kind: ParamKind, address_bits: u32) -> &'static str {
    match kind {
        Address if address_bits == 64 => "b64",
        _ => "b32",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn entry_points_are_known_by_name() {
        for abi in LaunchAbi::ALL {
            for entry in [EntryPoint::GetParameterBuffer, EntryPoint::LaunchDevice] {
                for per_thread_stream in [false, true] {
                    assert!(LaunchAbi::is_entry_point(abi.symbol(entry, per_thread_stream)));
                }
            }
        }
        assert!(LaunchAbi::is_entry_point("_Z16cudaLaunchDevicePv"));
        assert!(!LaunchAbi::is_entry_point("cudaGetLastError"));
    }

    #[test]
    fn declarations_have_the_documents_forms() {
        let launch = LaunchAbi::Documented.ptx_declaration(EntryPoint::LaunchDevice, 64, false);
        assert_eq!(
            squeezed(&launch),
            ".extern .func(.param .b32 func_retval0) cudaLaunchDevice ( .param .b64 func, \
             .param .b64 parameterBuffer, .param .align 4 .b8 gridDimension[12], .param .align 4 \
             .b8 blockDimension[12], .param .b32 sharedMemSize, .param .b64 stream ) ;"
        );
        let get = LaunchAbi::Documented.ptx_declaration(EntryPoint::GetParameterBuffer, 32, false);
        assert_eq!(
            squeezed(&get),
            ".extern .func(.param .b32 func_retval0) cudaGetParameterBuffer ( .param .b32 \
             alignment, .param .b32 size ) ;"
        );
    }

    #[test]
    fn only_the_launch_half_has_a_per_thread_form() {
        for abi in LaunchAbi::ALL {
            let get = |ptsz| abi.symbol(EntryPoint::GetParameterBuffer, ptsz);
            assert_eq!(get(true), get(false));
            let launch = abi.symbol(EntryPoint::LaunchDevice, true);
            assert_eq!(
                launch.strip_suffix("_ptsz"),
                Some(abi.symbol(EntryPoint::LaunchDevice, false))
            );
            assert_eq!(launch.starts_with("__cudaCDP2"), abi.is_prefixed());
        }
    }
}
