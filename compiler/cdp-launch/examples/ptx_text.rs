//! A launch for a compiler that prints PTX itself: crate `cdp-launch` gives the declarations, the offsets
//! in the parameter buffer and the call sequence as text, without LLVM.
//!
//! `cargo run -p cdp-launch --example ptx_text` prints the module; `cdpc link` makes a cubin of it.

use cdp_launch::sequence::{SequenceConfig, SequenceStore, launch_sequence};
use cdp_launch::{EntryPoint, LaunchAbi, LayoutError, ParamSize, buffer_layout};

fn main() -> Result<(), LayoutError> {
    println!("{}", module(LaunchAbi::Cdp2V2)?);
    Ok(())
}

/// `parent(out)`, which launches `child<<<1, 8>>>(5, out)`.
pub fn module(abi: LaunchAbi) -> Result<String, LayoutError> {
    let get_buffer = abi.ptx_declaration(EntryPoint::GetParameterBuffer, 64, false);
    let launch_device = abi.ptx_declaration(EntryPoint::LaunchDevice, 64, false);

    // child(int step, int *out)
    let layout = buffer_layout(&[ParamSize::scalar(4), ParamSize::scalar(8)])?;
    let stores = [
        SequenceStore { offset_bytes: layout.slots[0].offset_bytes, ty: "b32", value: "5" },
        SequenceStore { offset_bytes: layout.slots[1].offset_bytes, ty: "b64", value: "%out" },
    ];
    let config = SequenceConfig { block: ["8", "1", "1"], ..SequenceConfig::new(abi, "%kernel") };
    let launch = launch_sequence(&config, &layout, &stores);

    Ok(format!(
        ".version 8.0
.target sm_90
.address_size 64

{get_buffer}
{launch_device}
.visible .entry child(.param .b32 step, .param .b64 out)
{{
.reg .b32 %step, %thread;
.reg .b64 %out, %offset;
ld.param.b32 %step, [step];
ld.param.b64 %out, [out];
mov.u32 %thread, %tid.x;
mul.wide.u32 %offset, %thread, 4;
add.u64 %out, %out, %offset;
mul.lo.u32 %thread, %thread, %step;
st.b32 [%out], %thread;
ret;
}}

.visible .entry parent(.param .b64 out)
{{
.reg .b64 %out, %kernel;
ld.param.b64 %out, [out];
mov.b64 %kernel, child;
{launch}ret;
}}"
    ))
}
