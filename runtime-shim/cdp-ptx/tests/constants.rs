//! Constant expressions and offsets: their values. Those of the table are what ptxas 13.0 put into a cubin for
//! `.global .u64 x[2] = {EXPRESSION, 77};`.

use cdp_ptx::{ErrorKind, parse};

const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

#[test]
fn values_of_expressions() {
    let table: &[(&str, i64)] = &[
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("5-3-1", 1),
        ("1<<2+1", 8),
        ("-7/2", -3),
        ("7U/2", 3),
        ("10/0x3", 3),
        ("-1>>1", -1),
        ("-1U>>1", i64::MAX),
        ("-8>>70", -1),
        ("0xFFFFFFFFFFFFFFFF>>4", 0x0FFF_FFFF_FFFF_FFFF),
        ("1<<40", 1 << 40),
        ("3<4", 1),
        ("-1<1", 1),
        ("-1<1U", 0),
        ("-1>1U", 1),
        ("4<=4", 1),
        ("4>=5", 0),
        ("4==4", 1),
        ("4!=4", 0),
        ("1&&0", 0),
        ("1||0", 1),
        ("2&&3", 1),
        ("6&3", 2),
        ("6|3", 7),
        ("6^3", 5),
        ("~5", -6),
        ("!5", 0),
        ("!0", 1),
        ("-(3)", -3),
        ("0?2:3", 3),
        ("1.5<2.0?10:20", 10),
        ("1.0==1.0", 1),
        ("2.0!=2.0", 0),
        ("(.u64)7", 7),
        ("WARP_SZ*2", 64),
        ("0b101", 5),
        ("017", 15),
    ];
    for (expression, wanted) in table {
        let text = format!("{HEADER}.visible .global .align 8 .u64 x[2] = {{{expression}, 77}};\n");
        let module = parse(&text).expect(expression);
        let init = module.variables[0].init.as_ref().expect("initial values");
        let bytes = init.bytes[..8].try_into().expect("eight bytes");
        assert_eq!(i64::from_le_bytes(bytes), *wanted, "{expression}");
    }
}

#[test]
fn offsets_after_symbols_and_registers() {
    for (written, bytes) in [("+-8", -8), ("-4+8", 4), ("+(2+2)", 4), ("-16", -16), ("", 0)] {
        let text = format!(
            "{HEADER}.global .u64 y;\n.global .u64 x = y{written};
             .func f() {{ .reg .b64 %a; .reg .b32 %v; ld.global.u32 %v, [%a{written}]; }}\n"
        );
        let module = parse(&text).expect(written);
        let init = module.variables[1].init.as_ref().expect("an initial value");
        assert_eq!(init.relocations[0].addend, bytes, "{written}");
        let shown = if bytes == 0 { "[%a]".to_owned() } else { format!("[%a+{bytes}]") };
        let printed = cdp_ptx::print(&module);
        assert!(printed.contains(&shown), "{written}: {printed}");
    }
    let far = format!("{HEADER}.global .u64 y;\n.global .u64 x = y+9223372036854775807+1;\n");
    let error = parse(&far).expect_err("an offset of 65 bits");
    assert_eq!((error.kind, error.line), (ErrorKind::Limit, 5));
}
