//! Each row, compiled: a program that calls it is checked, and the module verified.

use cdp_ir::{CdpVersion, FastMath, Target, verify};

use super::super::{Lower, Mode, Overload, Pass, SigBase, SigType, all_functions, lookup_function};
use crate::check::{CheckOptions, check};
use crate::parse::parse_text;
use crate::preprocess::PreprocessOptions;
use crate::session::Session;

fn base_name(base: SigBase) -> &'static str {
    match base {
        SigBase::Named(name) => name,
        SigBase::Any => "int",
        SigBase::Kernel => "KERNEL",
        SigBase::Symbol => "SYMBOL",
        SigBase::Builtin(basic) => basic.name(),
    }
}

fn type_name(ty: &SigType) -> String {
    let mut text = String::new();
    if ty.is_const {
        text.push_str("const ");
    }
    text.push_str(base_name(ty.base));
    text.extend((0..ty.pointers).map(|_| '*'));
    if ty.reference {
        text.push('&');
    }
    text
}

/// A function that calls one overload with parameters of its own types.
fn caller(overload: &Overload, pass: Pass, number: usize) -> String {
    let sig = overload.signature();
    let mut params = Vec::new();
    let mut args = Vec::new();
    // The bits that stand behind `INFINITY` and `NAN` are no arguments.
    let hidden = usize::from(sig.params.last().is_some_and(|param| param.name == "bits"));
    for (index, param) in sig.params[..sig.params.len() - hidden].iter().enumerate() {
        match param.ty.base {
            SigBase::Kernel => args.push("kernel".to_owned()),
            SigBase::Symbol => args.push("variable".to_owned()),
            _ => {
                params.push(format!("{} p{index}", type_name(&param.ty)));
                args.push(format!("p{index}"));
            }
        }
    }
    let name = overload.func.name;
    let call = match (name.strip_prefix("operator"), args.as_slice()) {
        (Some(op), [one]) => format!("{op}{one}"),
        (Some(op @ ("++" | "--")), [one, _]) => format!("{one}{op}"),
        (Some(op), [left, right]) => format!("{left} {op} {right}"),
        _ => format!("{name}({})", args.join(", ")),
    };
    let space = if pass == Pass::Device { "__device__" } else { "__host__" };
    let ret = type_name(&sig.ret);
    let give = if ret == "void" { "" } else { "return " };
    let (ret, params) = (ret.trim_end_matches('&'), params.join(", "));
    format!("{space} {ret} caller{number}({params}) {{ {give}{call}; }}\n")
}

/// What is wrong with a program of such functions, if anything.
fn fault(overloads: &[Overload], mode: &Mode, pointer_bytes: u64) -> Option<String> {
    let mut text = String::from(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n__global__ void kernel() {}\n\
         __device__ int variable;\n",
    );
    for (number, overload) in overloads.iter().enumerate() {
        text.push_str(&caller(overload, mode.pass, number));
    }
    let mut session = Session::new();
    let parsed = parse_text(&mut session, "row.cdp", &text, &PreprocessOptions::default());
    if let Some(first) = parsed.diagnostics.iter().next() {
        return Some(first.message.clone());
    }
    let options = CheckOptions {
        target: match mode.pass {
            Pass::Device => Target::Device { cdp: CdpVersion::Cdp2 },
            Pass::Host => Target::Host,
        },
        arch: u32::from(mode.sm),
        fast_math: mode.fast_math,
        pointer_bytes,
        ..CheckOptions::default()
    };
    let output = check(&parsed.unit, &session, &options);
    if let Some(first) = output.diagnostics.iter().next() {
        return Some(first.message.clone());
    }
    match output.module.map(verify) {
        Some(Ok(_)) => None,
        Some(Err(errors)) => Some(errors[0].to_string()),
        None => Some("no module and no diagnostic".into()),
    }
}

/// The same, for a defect of a row that ends in a panic.
fn caught(overloads: &[Overload], mode: &Mode, pointer_bytes: u64) -> Option<String> {
    std::panic::catch_unwind(|| fault(overloads, mode, pointer_bytes)).unwrap_or_else(|panic| {
        Some(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".into()))
    })
}

fn all_compile(mode: Mode, pointer_bytes: u64) {
    let mut overloads = Vec::new();
    for func in all_functions() {
        let skipped = func.flags.internal
            || func.flags.explicit_type
            || func.min_sm > mode.sm
            || func.name == "cudaDeviceSynchronize" && mode.pass == Pass::Device;
        if skipped {
            continue;
        }
        let ours = lookup_function(func.name).into_iter().filter(|found| {
            std::ptr::eq(found.func, func) && !matches!(found.lower(&mode), Lower::Refuse(_))
        });
        overloads.extend(ours);
    }
    assert!(overloads.len() > 500);
    let mut faults = Vec::new();
    for chunk in overloads.chunks(100) {
        // Many in one program; one by one only to say which is wrong.
        let Some(together) = caught(chunk, &mode, pointer_bytes) else { continue };
        let before = faults.len();
        faults.extend(chunk.iter().filter_map(|overload| {
            let fault = caught(std::slice::from_ref(overload), &mode, pointer_bytes)?;
            Some(format!("{}: {fault}", overload.func.name))
        }));
        if faults.len() == before {
            faults.push(format!("together: {together}"));
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn device_rows_compile_for_sm_90() {
    all_compile(Mode { pass: Pass::Device, sm: 90, fast_math: FastMath::default() }, 8);
}

#[test]
fn device_rows_compile_for_sm_75_with_fast_mathematics() {
    let fast_math =
        FastMath { fmad: true, ftz: true, prec_div: false, prec_sqrt: false, fast_functions: true };
    all_compile(Mode { pass: Pass::Device, sm: 75, fast_math }, 8);
}

#[test]
fn host_rows_compile() {
    all_compile(Mode { pass: Pass::Host, sm: 90, fast_math: FastMath::default() }, 8);
}

#[test]
fn device_rows_compile_for_32_bit_addresses() {
    all_compile(Mode { pass: Pass::Device, sm: 61, fast_math: FastMath::default() }, 4);
}
