//! Every instruction family in the forms that the PTX ISA manual (9.x) documents: each must parse,
//! print and parse again to the same; what the manual excludes must be refused. A coverage test
//! wants every variant of `Inst` to be produced by some form.
//!
//! In the tables `{a|b|}` stands for each of its alternatives. Registers: `%p` predicates, `%h` 16
//! bits, `%r` 32, `%rd` 64, `%q` 128, `%f` `.f32`, `%d` `.f64`.

mod tables;

use std::collections::BTreeSet;

use tables::frame::{expand, module_with};

fn lines(table: &str) -> impl Iterator<Item = String> + '_ {
    let templates = table.lines().map(str::trim);
    templates.filter(|line| !line.is_empty() && !line.starts_with('#')).flat_map(expand)
}

#[test]
fn documented_forms_parse_and_round_trip() {
    let mut count = 0;
    for (family, table) in tables::ACCEPTED {
        for line in lines(table) {
            let text = module_with(&line);
            let module = cdp_ptx::parse(&text)
                .unwrap_or_else(|error| panic!("{family}: `{line}` is refused: {error}"));
            let printed = cdp_ptx::print(&module);
            let again = cdp_ptx::parse(&printed)
                .unwrap_or_else(|error| panic!("{family}: print of `{line}`: {error}\n{printed}"));
            assert_eq!(again, module, "{family}: `{line}` prints as\n{printed}");
            count += 1;
        }
    }
    assert!(count > 4000, "the tables shrank to {count} forms");
}

#[test]
fn excluded_forms_are_refused() {
    for (family, table) in tables::refused::REFUSED {
        for line in lines(table) {
            let result = cdp_ptx::parse(&module_with(&line));
            let error = match result {
                Err(error) => error,
                Ok(_) => panic!("{family}: `{line}` is accepted"),
            };
            let text = module_with(&line);
            let place = text.lines().position(|found| found.trim() == line).expect("it is there");
            assert_eq!(error.line as usize, place + 1, "{family}: `{line}`: {error}");
        }
    }
}

#[test]
fn every_variant_has_a_form() {
    let mut missing: BTreeSet<String> =
        cdp_ptx::table::ROWS.iter().map(|row| row.variant.to_string()).collect();
    for (_, table) in tables::ACCEPTED {
        for line in lines(table) {
            let module = cdp_ptx::parse(&module_with(&line)).expect("judged by another test");
            for function in &module.functions {
                for instruction in function.body.iter().flat_map(|body| &body.instructions) {
                    let debug = format!("{:?}", instruction.inst);
                    let name: String = debug.chars().take_while(|c| c.is_alphanumeric()).collect();
                    missing.remove(&name);
                }
            }
        }
    }
    assert!(missing.is_empty(), "no form in the tables makes {missing:?}");
}

#[test]
fn every_special_register_reads_and_prints() {
    for name in tables::SPECIAL_REGISTERS.split_whitespace() {
        let special =
            cdp_ptx::SpecialReg::from_name(name).unwrap_or_else(|| panic!("{name} is not known"));
        assert_eq!(special.to_string(), name);
        let (ty, dst) = match special.ty().bits() {
            1 => ("pred", "%p0"),
            32 => ("u32", "%r0"),
            _ => ("u64", "%rd0"),
        };
        let line = format!("mov.{ty} {dst}, {name};");
        cdp_ptx::parse(&module_with(&line)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for name in
        ["%tid.v", "%tidx", "%pm8", "%pm01", "%envreg32", "%pm8_64", "%reserved_smem_offset_2"]
    {
        assert_eq!(cdp_ptx::SpecialReg::from_name(name), None, "{name}");
    }
}

#[test]
fn unknown_instructions_stand_for_themselves_in_a_lenient_parse() {
    let text = module_with("@%p1 nosuch.u32 {%r0, %nowhere}, [%rd0 + 4] ;");
    assert_eq!(cdp_ptx::parse(&text).unwrap_err().kind, cdp_ptx::ErrorKind::UnknownInstruction);
    let module = cdp_ptx::parse_lenient(&text).unwrap();
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let mut found = bodies.flat_map(|body| &body.instructions).filter_map(|i| match &i.inst {
        cdp_ptx::Inst::Unknown { text, .. } => Some((i.guard.is_some(), text.to_string())),
        _ => None,
    });
    let line = "nosuch.u32 {%r0, %nowhere}, [%rd0 + 4]".to_string();
    assert_eq!(found.next(), Some((true, line.clone())));
    assert!(cdp_ptx::print(&module).contains(&format!("{line};")));
    // Other mistakes are mistakes.
    assert!(cdp_ptx::parse_lenient(&module_with("add.u32 %r0, %nosuch, 1;")).is_err());
    assert!(cdp_ptx::parse_lenient(&module_with("nosuch.u32 %r0")).is_err());
}

#[test]
fn exchanges_without_a_mask_are_of_old_targets() {
    for line in
        ["vote.all.pred %p0, !%p1;", "vote.ballot.b32 %r0, %p1;", "shfl.up.b32 %r0, %r1, %r2, 31;"]
    {
        for (version, target, known) in
            [("6.3", "sm_70", true), ("6.4", "sm_60", true), ("6.4", "sm_70", false)]
        {
            let text = module_with(line)
                .replace(".version 8.8", &format!(".version {version}"))
                .replace("sm_100a", target);
            assert_eq!(cdp_ptx::parse(&text).is_ok(), known, "{line} {version} {target}");
        }
    }
}
