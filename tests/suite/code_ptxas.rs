//! What ptxas takes wrongly and is written otherwise: seen in PTX, and in the machine code that ptxas makes of it. That the programs
//! are right then, only a GPU tells; what was seen there is in `compiler/docs/facts.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::debugging::nvdisasm;
use crate::linking::Bench;
use crate::ptx_text::instructions;
use crate::support::{Outcome, cases, run_limited, trial};

const TIME_LIMIT: Duration = Duration::from_secs(60);

pub fn trials() -> Vec<Trial> {
    let sums = trial("code_ptxas::packed_sums_keep_their_constants".into(), packed_sums);
    let floats =
        trial("code_ptxas::numbers_without_a_sign_are_converted_so".into(), unsigned_floats);
    let products = trial("code_ptxas::upper_halves_of_products_have_no_carry".into(), products);
    vec![
        products.with_ignored_flag(nvdisasm().is_none()),
        trial("code_ptxas::widened_words_are_two_halves".into(), widened),
        floats.with_ignored_flag(nvdisasm().is_none()),
        trial("code_ptxas::what_it_takes_wrongly_is_written_otherwise".into(), taken_wrongly),
        sums.with_ignored_flag(nvdisasm().is_none()),
    ]
}

/// ptxas 13.0 converts floats that a narrow store cuts, unless a move stands before it, and loses the sign of a minimum's second
/// operand, does not cut a negated number to 16 bits, and takes one answer for both halves of a minimum that is asked whether it is equal
/// to a number. The programs show it on a GPU.
fn taken_wrongly() -> Outcome {
    let bench = Bench::new()?;
    for name in ["narrowed_floats", "negated_minima", "negated_shorts", "half_minima"] {
        let source = cases("run").join(format!("{name}.cdp")).display().to_string();
        for level in ["-O0", "-O1", "-O3"] {
            let words = ["build", &source, level, "--arch", "sm_90", "--emit", "ptx", "-o", "-"];
            let (ptx, _) = bench.cdpc(&words, 0)?;
            // What wrote a register; numbers begin anew in each function.
            let mut wrote: BTreeMap<&str, &str> = BTreeMap::new();
            let mut halves: BTreeSet<&str> = BTreeSet::new();
            for instruction in instructions(&ptx)? {
                let (operation, operands) = (instruction.operation, &instruction.operands);
                let by = |register: &&str| wrote.get(*register).copied().unwrap_or_default();
                let narrow = |register: &&str| {
                    let width = if register.starts_with("%rs") {
                        16
                    } else if register.starts_with("%rd") {
                        64
                    } else {
                        32
                    };
                    let written =
                        operation.rsplit(".b").next().and_then(|bits| bits.parse::<u32>().ok());
                    written.is_some_and(|bits| bits < width) && by(register).contains(".f")
                };
                let store = operation.starts_with("st.") && operands.iter().any(narrow);
                let least = ["min.s32", "max.s32"].contains(&operation)
                    && operands.last().is_some_and(|register| by(register) == "neg.s32");
                let half = operation.starts_with("setp.eq")
                    && operands.iter().any(|register| halves.contains(register));
                if store || least || half || ["neg.s16", "abs.s16"].contains(&operation) {
                    return Err(format!("{name} {level}: {}", instruction.text).into());
                }
                if let Some(result) = operands.first().filter(|_| !operation.starts_with("st.")) {
                    wrote.insert(result, operation);
                    let passes = operation.starts_with("cvt.") || operation.starts_with("mov.");
                    let of_halves = operands[1..].iter().any(|register| halves.contains(register));
                    if operation.ends_with("16x2") || passes && of_halves {
                        halves.insert(result);
                    } else {
                        halves.remove(result);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The lines of the machine code of a run case at a level.
fn machine_code(bench: &Bench, case: &str, level: &str) -> Result<Vec<String>, Failed> {
    let source = cases("run").join(case).display().to_string();
    bench.cdpc(&["build", &source, level, "--arch", "sm_90", "-o", "case.cubin"], 0)?;
    let mut command = Command::new(nvdisasm().ok_or("no nvdisasm")?);
    let output = run_limited(command.arg("-c").arg(bench.path("case.cubin")), TIME_LIMIT)?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Of a packed sum of which one half is read, ptxas 13.0 makes one with 0 for what it knows of that half.
fn packed_sums() -> Outcome {
    let bench = Bench::new()?;
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let code = machine_code(&bench, "half_sums.cdp", level)?;
        let mut sums = code.iter().filter(|line| line.contains("VIADD.16x2")).peekable();
        if sums.peek().is_none() {
            return Err(format!("{level}: no packed sum").into());
        }
        if let Some(lost) = sums.find(|line| line.contains(", 0x0 ")) {
            return Err(format!("{level}: {lost}").into());
        }
    }
    Ok(())
}

/// One of the conversions is of a number with a sign, and halves have few bits; ptxas 13.0 makes more of that kind.
fn unsigned_floats() -> Outcome {
    let bench = Bench::new()?;
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let code = machine_code(&bench, "unsigned_floats.cdp", level)?;
        let of = |begin: &str| code.iter().filter(|line| line.contains(begin)).count();
        let with_sign = of("I2F.S8") + of("I2F.S16") + of("I2FP.F32.S32") + of("I2F.F64.S");
        if with_sign > 1 || of("I2FP.F32.U32") == 0 {
            return Err(format!("{level}: {with_sign} conversions with a sign").into());
        }
    }
    Ok(())
}

/// Of a word that was loaded from 16 bits ptxas 13.0 takes the lower half for the upper one, where a packed operation's upper half alone is
/// read.
fn widened() -> Outcome {
    let bench = Bench::new()?;
    let source = "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n\
                  target triple = \"nvptx64-nvidia-cuda\"\n\
                  define ptx_kernel void @k(ptr addrspace(1) %p, i32 %y) {\n\
                  %h = load i16, ptr addrspace(1) %p\n%x = EXTEND i16 %h to i32\n\
                  %w = call i32 asm \"min.s16x2 $0, $1, $2;\", \"=r,r,r\"(i32 %x, i32 %y)\n\
                  %v = bitcast i32 %w to <2 x half>\n%z = extractelement <2 x half> %v, i32 HALF\n\
                  %t = fadd half %z, %z\nstore half %t, ptr addrspace(1) %p\nret void\n}\n";
    for (extend, half, packs) in [("zext", "1", 1), ("sext", "1", 1), ("zext", "0", 0)] {
        bench.write("k.ll", &source.replace("EXTEND", extend).replace("HALF", half))?;
        let (ptx, _) =
            bench.cdpc(&["build", "k.ll", "--emit", "ptx", "--arch", "sm_90", "-o", "-"], 0)?;
        let found = ptx.lines().filter(|line| line.contains("mov.b32") && line.contains("{%rs"));
        if found.count() != packs {
            return Err(format!("{extend}, {half}: not {packs} pairs in\n{ptx}").into());
        }
    }
    Ok(())
}

/// Of a product's upper half, from which 64 bits are taken away, ptxas 13.0 makes a product with a wrong carry.
fn products() -> Outcome {
    let bench = Bench::new()?;
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let code = machine_code(&bench, "high_products.cdp", level)?;
        if !code.iter().any(|line| line.contains("IMAD.WIDE.U32")) {
            return Err(format!("{level}: no product").into());
        }
        let carries = |line: &&String| line.contains("IMAD.HI.U32") && line.contains(", P");
        if let Some(wrong) = code.iter().find(carries) {
            return Err(format!("{level}: {wrong}").into());
        }
    }
    Ok(())
}
