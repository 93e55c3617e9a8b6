//! That the PTX is what becomes of the LLVM IR, and goes in and out of a program's.

use cdp_launch::LaunchAbi;

use super::super::direct::Direct;
use super::{FIRE, GET, MADE, MOSTLY, Made, called, put, split, symbols, with_entries};
use crate::artifact::LlvmModule;
use crate::foreign::open;
use crate::options::LowerOptions;
use crate::target::CodeTarget;

/// Functions alone, without comments: what goes into a program's PTX.
fn made(of: &Made) -> String {
    let options = LowerOptions::new("sm_70", 78, LaunchAbi::Cdp2V2);
    let target = CodeTarget::Device { address_bits: 64 };
    let module = LlvmModule::with_module(target, &options, |context, machine| {
        open(context, of.name, of.ir.as_bytes(), target, machine)
    });
    let module = module.expect("good IR");
    // What is known where a function is called goes, with what it rules out.
    module.run_passes("always-inline,function(sccp)").expect("it can be inlined");
    let text = module.into_ptx(&options).expect("PTX");
    let body = text.find(".address_size").map_or("", |at| &text[at..]);
    let body = body.find('\n').map_or("", |at| &body[at..]);
    let mut out = String::new();
    for item in body.split_inclusive('\n') {
        let line = item.find("//").map_or(item, |at| &item[..at]).trim_end();
        if !line.is_empty() {
            out += line;
            out.push('\n');
        }
    }
    // The entry points are the program's to declare.
    let pieces = out.split_inclusive(";\n").filter(|piece| !piece.starts_with(super::DECLARED));
    let pieces = pieces.collect::<String>().replace(".visible .func", ".func");
    with_entries(&pieces, [GET, FIRE], symbols(MOSTLY))
}

#[test]
fn the_ptx_is_made_of_the_ir() {
    for of in &MADE {
        let made = made(of);
        if std::env::var_os("CDP_BLESS").is_some() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/launches");
            let path = format!("{folder}/{}.ptx", of.place);
            std::fs::write(path, &made).expect("the repository can be written");
            continue;
        }
        let made = made == of.ptx;
        assert!(made, "CDP_BLESS=1 cargo test -p cdp-llvm the_ptx_is_made_of_the_ir ({})", of.name);
    }
}

#[test]
fn all_kinds_go_in_and_out() {
    let program = PROGRAM.replacen(
        ".extern .func other",
        ".extern .func  (.param .b64 func_retval0) __cdp_door_enter\n()\n;\n\
         .extern .func __cdp_pool_leave\n(\n)\n;\n.extern .func other",
        1,
    );
    let whole = put(program, LaunchAbi::Cdp2V2, 64, &Direct::default());
    assert!(whole.contains("\n.func  (.param .b64 func_retval0) __cdp_door_enter\n("), "{whole}");
    let (program, part) = split(&whole).expect("it has the functions");
    assert!(program.contains("\n.extern .func  (.param .b64 func_retval0) __cdp_door_enter\n("));
    for name in called() {
        let visible =
            part.lines().any(|line| line.starts_with(".visible .func") && line.contains(name));
        assert!(visible, "{name}");
    }
}

const PROGRAM: &str = "\
.version 7.8
.target sm_90
.address_size 64

.extern .func __cdp_sequence_begin
(
\t.param .b64 __cdp_sequence_begin_param_0
)
;
.extern .func other
(
)
;
.global .align 8 .u64 a;
.visible .entry k()
{
\tcall.uni __cdp_sequence_begin, (p);
\tret;
}
";

#[test]
fn what_was_put_in_comes_out() {
    let whole = put(PROGRAM.into(), LaunchAbi::DocumentedV2, 64, &Direct::default());
    assert!(
        whole.contains("\n.func __cdp_sequence_begin\n(") && whole.contains(".extern .func other")
    );
    assert!(whole.contains("cudaLaunchDeviceV2") && !whole.contains("__cdp_launch_buffer"));
    let (program, part) = split(&whole).expect("it has the functions");
    let declared = program.replacen("cudaGetParameterBufferV2", "", 1);
    assert!(program.contains("\n.extern .func __cdp_sequence_begin\n("), "{program}");
    assert!(
        program.contains(".extern .func other") && program.ends_with("ret;\n}\n"),
        "{declared}"
    );
    assert!(part.starts_with(".version 7.8\n.target sm_90\n.address_size 64\n"), "{part}");
    for name in MADE[0].called {
        let visible =
            part.lines().any(|line| line.starts_with(".visible .func") && line.contains(name));
        assert!(visible, "{name}");
    }
}

#[test]
fn other_programs_stay() {
    let other = PROGRAM.replace("__cdp_sequence_begin", "mine");
    assert_eq!(put(other.clone(), LaunchAbi::Cdp2V2, 64, &Direct::default()), other);
    assert_eq!(split(&other), None);
    let wrong = put(PROGRAM.into(), LaunchAbi::Cdp2V2, 64, &Direct::default()).replacen(
        "bar.sync",
        "bar.wrong",
        1,
    );
    assert_eq!(split(&wrong), None);
}

/// Few sites of a queue have its functions in the program, which may record launches as well.
#[test]
fn functions_that_stand_in_a_program_stay_there() {
    let own = format!("{DOOR};\n.extern .func other");
    let whole = PROGRAM.replacen(".extern .func other", &own, 1) + DOOR + "{\n\tret;\n}\n";
    let whole = put(whole, LaunchAbi::Cdp2V2, 64, &Direct::default());
    let (program, part) = split(&whole).expect("it has the functions");
    assert!(!part.contains("__cdp_door_enter"), "{part}");
    assert!(program.contains("\n.extern .func __cdp_sequence_begin\n("), "{program}");
    let declared = program.lines().filter(|line| line.contains("__cdp_door_enter"));
    assert!(
        declared.clone().count() == 2
            && declared.clone().all(|line| DOOR.contains(line.trim_end_matches(';'))),
        "{program}"
    );
}

const DOOR: &str = ".func (.param .b64 func_retval0) __cdp_door_enter()\n";

#[test]
fn functions_that_stand_in_a_program_are_not_put_there() {
    let door = DOOR;
    let own = format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n{door};\n.visible .entry k()\n{{\n\tret;\n}}\n{door}{{\n\tret;\n}}\n"
    );
    assert_eq!(put(own.clone(), LaunchAbi::Cdp2V2, 64, &Direct::default()), own);
}
