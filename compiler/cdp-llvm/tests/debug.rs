//! Line tables and DWARF, as ptxas and a disassembler see them.

mod common;

use cdp_ir::*;
use cdp_launch::LaunchAbi;
use cdp_llvm::{DebugInfo, OptLevel};
use common::*;

fn program() -> Verified<Module> {
    let mut b = Build::device();
    let i32 = b.i32;
    let s = b.record("Pair", &[b.i8, b.f64], 0);
    let at = |line, kind| Stmt { kind, loc: Loc { file: 0, line, column: 5 } };
    let x = b.get(1, i32);
    let three = b.int(3, i32);
    let product = b.binary(BinaryOp::Mul, x, three);
    let local = b.addr(3, i32);
    let first = b.store(local, product);
    let (target, value) = (b.get(0, b.i32_ptr), b.get(3, i32));
    let second = b.store(target, value);
    let mut stmts = vec![at(11, first.kind), at(12, second.kind)];
    let lines = [11, 12];
    for (stmt, line) in stmts.iter_mut().zip(lines) {
        if let StmtKind::Expr(expr) = &mut stmt.kind {
            expr.loc.line = line;
        }
    }
    let params = [b.i32_ptr, i32, s];
    let id = b.function(FunctionKind::Kernel, "k", b.void, &params, &[i32], Some(stmts));
    b.module.functions[id.0 as usize].loc.line = 10;
    b.module.functions[id.0 as usize].end.line = 13;
    b.verified()
}

#[test]
fn line_tables() {
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.debug = DebugInfo::Lines;
    options.working_directory = "/src".into();
    let text = ptx(&program(), &options, 64);
    assert!(
        text.contains(".file\t1 \"/src/test.cdp\"")
            || text.contains(".file\t1 \"/src\" \"test.cdp\""),
        "{text}"
    );
    assert!(text.contains(".loc\t1 2 3") || text.contains(".loc\t1 1"), "{text}");
    assert!(!text.contains(".debug_info"), "{text}");
}

#[test]
fn dwarf_of_an_unoptimised_build() {
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.debug = DebugInfo::Full;
    options.opt_level = OptLevel::O0;
    let text = ptx(&program(), &options, 64);
    assert!(text.contains(".debug_info"), "{text}");
    assert!(text.contains(".target sm_90, debug"), "{text}");
}

/// The parameters' copies belong to the line of the function, where they end a debugger stops; the
/// return belongs to the closing brace.
#[test]
fn lines_from_the_prologue_to_the_brace() {
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.debug = DebugInfo::Full;
    options.opt_level = OptLevel::O0;
    let text = ptx(&program(), &options, 64);
    let body = &text[text.find("$L__func_begin0").unwrap()..text.find("$L__func_end0").unwrap()];
    let mut lines: Vec<_> = body
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".loc\t1 ")?.split(' ').next())
        .collect();
    lines.dedup();
    assert_eq!(lines.first(), Some(&"10"), "{body}");
    assert_eq!(lines.last(), Some(&"13"), "{body}");
    let (prologue, rest) = body.split_once(".loc\t1 2 ").unwrap();
    assert!(prologue.contains("st.b32") || prologue.contains("st.local"), "{body}");
    assert!(!rest.contains(".loc\t1 10 "), "{body}");
}

/// A struct is described once, and the pointers in it point back to it.
#[test]
fn a_struct_that_points_to_itself() {
    let mut b = Build::device();
    let types = &mut b.module.types;
    let id = types.declare_record("Node", RecordKind::Struct);
    let node = types.record_type(id);
    let pointer = types.pointer_to(node);
    let next = FieldSpec { name: "next".into(), ty: pointer, align: 0, bits: None, packed: false };
    types.complete_record(id, &[next], cdp_ir::Packing::default());
    let params = [pointer];
    b.kernel("walk", &params, Some(Vec::new()));
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.debug = DebugInfo::Full;
    options.opt_level = OptLevel::O0;
    let text = lowered(&b.verified(), &options).emit_llvm_ir();
    assert_eq!(text.matches("name: \"Node\"").count(), 1, "{text}");
    assert!(!text.contains("<temporary!>"), "{text}");
}
