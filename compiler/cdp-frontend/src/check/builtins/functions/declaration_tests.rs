//! The language of the declarations: what its reader, a part of the build script, makes of them.

#[path = "../../../../build/declarations/mod.rs"]
mod declarations;

use declarations::{rows, types};

/// What is said of a mistake.
fn mistake(text: &str) -> (usize, String) {
    let mistake = rows(text).expect_err(text);
    (mistake.line, mistake.text)
}

#[test]
fn a_function_is_a_row() {
    let made = rows(
        "// Comment.\n/// Sentence.\n[std, sm_70] int  f(unsigned a,  T* b = 1) = PopCount;\n",
    );
    assert_eq!(
        made.as_deref(),
        Ok("BuiltinFn { name: \"f\", signature: \"int(unsigned a,T* b=1)\", types: &[], \
            header: Header::None, min_sm: 70, device: Lower::Intrinsic(Intrinsic::PopCount), \
            host: Lower::Refuse(\"\"), flags: Flags { std: true, ..Flags::NONE }, \
            summary: \"Sentence.\" },\n")
    );
}

/// The lowerings of a function `float f(float x)`, device and host.
fn lowerings(text: &str) -> String {
    let made = rows(&format!("/// S.\n{text}")).expect("well-formed");
    let (_, rest) = made.split_once("device: ").expect("a device lowering");
    rest.split_once(", flags").expect("flags").0.to_owned()
}

#[test]
fn lowerings_are_chosen_by_side_and_mode() {
    assert_eq!(
        lowerings("[both] float f(float x)\n    { return \"a  b\"  [0]; }"),
        r#"Lower::Inline("{ return \"a  b\" [0]; }"), host: Lower::Inline("{ return \"a  b\" [0]; }")"#
    );
    assert_eq!(
        lowerings("[c] float f(float x) = fast ? { return 1; } : libdevice;"),
        "Lower::IfFast(&Lower::Inline(\"{ return 1; }\"), \
         &Lower::Intrinsic(Intrinsic::Libdevice(\"f\"))), host: Lower::Extern(\"f\")"
    );
    assert_eq!(
        lowerings("float operator-(float x) = unary Neg host refuse \"no\";"),
        "Lower::Unary(UnaryOp::Neg), host: Lower::Refuse(\"no\")"
    );
}

#[test]
fn instructions_take_their_operands_from_the_signature() {
    let ptx = |text, results, args, flags: [bool; 3]| {
        format!(
            "Lower::Intrinsic(Intrinsic::Ptx(&PtxTemplate {{ name: {text:?}, text: {text:?}, \
             results: {results:?}, args: {args:?}, side_effects: {}, convergent: {}, memory: {} }}))",
            flags[0], flags[1], flags[2]
        )
    };
    let host = ", host: Lower::Refuse(\"\")";
    assert_eq!(
        lowerings("float f(double x, const unsigned y = 1) = ptx \"op[.ftz].f32\";"),
        format!(
            "Lower::IfFtz(&{}, &{}){host}",
            ptx("op.ftz.f32 $0, $1, $2;", "f", "dr", [false; 3]),
            ptx("op.f32 $0, $1, $2;", "f", "dr", [false; 3])
        )
    );
    assert_eq!(lowerings("void f() = ptx warp \"bar;\";"), ptx("bar;", "", "", [true; 3]) + host);
}

#[test]
fn a_block_is_repeated_for_each_line() {
    let text = "types TWO = int, float;\n\
                each $N | $SUM {\n    a | One \\\n more.\n    b |\n} {\n    /// $SUMS.\n    /// $SUM.\n\
                [for TWO] {\n T $N_x(T a) { return $N; }\n }\n}\n";
    let made = rows(text).expect("well-formed");
    let lines: Vec<&str> = made.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("name: \"a_x\"") && lines[0].contains("{ return a; }"), "{made}");
    assert!(lines[0].ends_with("summary: \"$SUMS. One more..\" },"), "{made}");
    assert!(
        lines[1].contains("name: \"b_x\"") && lines[1].contains("types: &[\"int\", \"float\"]")
    );
}

#[test]
fn mistakes_name_their_line() {
    let no = |line, text: &str| (line, text.to_owned());
    assert_eq!(mistake("/// S.\n\nint f(int a)\n"), no(4, "`f` has no lowering"));
    assert_eq!(mistake("/// S.\nint f(int a) = PopCount\n"), no(2, "no `;` after `f`"));
    assert_eq!(mistake("int f(int a) = PopCount;"), no(1, "`f` has no `///`"));
    assert_eq!(mistake("/// S.\n[fp61] int f() = A;"), no(2, "`fp61` is no attribute"));
    assert_eq!(mistake("/// S.\n[for NONE] T f(T a) = A;"), no(2, "`for NONE` is no attribute"));
    assert_eq!(mistake("/// S.\nf(int a) = A;"), no(2, "`f(` has no result type"));
    assert_eq!(mistake("/// S.\nint f() = often ? A : B;"), no(2, "`often` is no condition"));
    assert_eq!(mistake("/// S.\nint f(char a) = ptx \"x\";"), no(2, "no register holds `char`"));
    assert_eq!(mistake("/// S.\nint f() { return 1;\n"), no(2, "the `{` before this has no `}`"));
    let each = "each $A | $B {\n    1 | 2\n    3\n} {\n}\n";
    assert_eq!(mistake(each), no(3, "1 values for 2 names"));
}

#[test]
fn types_and_constants_are_rows() {
    let text = "// Comment.\n[fp16, align 4] struct S { unsigned short x, y[2]; void* z; };\nunion U;\n\
                typedef const S* P;\ntypedef S Q[3];\nenum E { A, B = 0x10, C, };\n\
                enum N { M = -1 };\nconst int D = 1_000, F;\n";
    let made = types(text).expect("well-formed");
    let def = |name: &str, kind: &str, align, header: &str| {
        format!(
            "BuiltinTypeDef {{ name: {name:?}, kind: BuiltinTypeKind::{kind}, align: {align}, \
             header: Header::{header} }},\n"
        )
    };
    let fields = "Record { fields: &[(\"unsigned short\", \"x\"), (\"unsigned short[2]\", \"y\"), \
                  (\"void*\", \"z\"), ] }";
    let kinds = [
        def("S", fields, 4, "Fp16"),
        def("U", "Opaque", 0, "None"),
        def("P", "Alias(\"const S*\")", 0, "None"),
        def("Q", "Alias(\"S[3]\")", 0, "None"),
        def("E", "Enum { underlying: Basic::UInt }", 0, "None"),
        def("N", "Enum { underlying: Basic::Int }", 0, "None"),
    ];
    assert_eq!(made.types, kinds.concat());
    assert_eq!(
        made.constants,
        "ConstTable { ty: \"E\", rows: &[(\"A\", 0), (\"B\", 16), (\"C\", 17), ] },\n\
         ConstTable { ty: \"N\", rows: &[(\"M\", -1), ] },\n\
         ConstTable { ty: \"int\", rows: &[(\"D\", 1000), (\"F\", 1001), ] },\n"
    );
}

#[test]
fn mistakes_in_types_name_their_line() {
    let mistake = |text: &str| types(text).err().map(|mistake| (mistake.line, mistake.text));
    let some = |line, text: &str| Some((line, text.to_owned()));
    assert_eq!(mistake("\nclass C;"), some(2, "`class` begins no declaration"));
    assert_eq!(mistake("typedef int;"), some(1, "`int` has no name"));
    assert_eq!(mistake("[weak] struct S;"), some(1, "`weak` is no attribute"));
    assert_eq!(mistake("enum E { A = B };"), some(1, "`B` is no number"));
    assert_eq!(
        mistake("struct S { int* a, b; };"),
        some(1, "`b` is no pointer: a declaration of its own")
    );
}
