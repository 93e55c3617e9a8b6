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
    let mut stmts = vec![at(11, first.kind), at(12, second.kind), at(13, StmtKind::Return(None))];
    let lines = [11, 12, 13];
    for (stmt, line) in stmts.iter_mut().zip(lines) {
        if let StmtKind::Expr(expr) = &mut stmt.kind {
            expr.loc.line = line;
        }
    }
    let params = [b.i32_ptr, i32, s];
    let id = b.function(FunctionKind::Kernel, "k", b.void, &params, &[i32], Some(stmts));
    b.module.functions[id.0 as usize].loc.line = 10;
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
