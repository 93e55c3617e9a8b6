//! Launches as other compilers write them become `@cdp.launch`, and from there what every launch does.

mod common;

use cdp_launch::LaunchAbi;
use cdp_llvm::{LowerError, lower_foreign, raise_foreign};
use common::*;

/// LLVM IR text after raising.
fn raised(text: &str) -> Result<String, LowerError> {
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.strict_launches = true;
    raise_foreign("test.ll", text.as_bytes(), 64, &options).map(|module| module.emit_llvm_ir())
}

/// The same, cleaned up so that values are seen.
fn simplified(text: &str) -> String {
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.strict_launches = true;
    let module = raise_foreign("test.ll", text.as_bytes(), 64, &options).unwrap();
    module.run_passes("cgscc(inline),globaldce,function(sroa,instcombine,simplifycfg)").unwrap();
    module.emit_llvm_ir()
}

fn ptx(text: &str, abi: LaunchAbi) -> String {
    let mut options = options("sm_90", abi);
    options.strict_launches = true;
    let (module, _) = lower_foreign("test.ll", text.as_bytes(), 64, &options).unwrap();
    module.optimize().unwrap();
    module.emit_ptx().unwrap()
}

/// The line that calls a function in IR text.
fn line<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part} in {text}"))
}

/// What clang 22 makes of `raise/launches.cu`.
const CLANG: [(&str, &str); 3] = [
    ("-O0", include_str!("raise/clang_O0.ll")),
    ("-O2", include_str!("raise/clang_O2.ll")),
    ("no passes", include_str!("raise/clang_unoptimised.ll")),
];

#[test]
fn launches_of_clang_at_every_level() {
    for (level, text) in CLANG {
        let text = raised(text).unwrap_or_else(|error| panic!("{level}: {error}"));
        assert!(!text.contains("@__cudaCDP2LaunchDevice("), "{level}: {text}");
        assert!(!text.contains("@__cudaCDP2GetParameterBuffer("), "{level}");
        // child twice, far, none, down from parent, over, down by `start`, down by itself.
        let calls = text.matches("(...) @cdp.launch(").count();
        assert!(calls == 8, "{level}: {calls}");
        let start = line(&text, "= call i32 @__cdp_launch_indirect_0(ptr");
        assert!(start.contains("call"), "{level}: {start}");
        assert!(text.contains("declare dso_local ptx_kernel void @_Z3fari5point"), "{level}");
        // Alignment above 16 counts on neither side.
        assert!(line(&text, "void @_Z4overc4widePi(").contains("byval(%struct.wide) align 16"));
    }
}

#[test]
fn arguments_and_configuration_are_values_again() {
    for (level, text) in CLANG {
        if level == "-O0" {
            continue; // optnone: nothing becomes a value
        }
        let text = simplified(text);
        let ones = "i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr";
        let down = line(&text, "i64 3 to ptr");
        assert!(down.contains("@_Z4downIiEvPT_i") && down.contains(ones), "{level}: {down}");
        let child = line(&text, "i32 128, ptr");
        assert!(
            child.contains("i32 2, i32 3, i32 1, i32 %1, i32 4, i32 1, i32 128")
                && child.contains("i64 4 to ptr")
                && child.contains("float 1.000000e+00, i1 true"),
            "{level}: {child}"
        );
        assert!(line(&text, "ptr nonnull @_Z3fari5point, i32 1").contains("ptr %2"), "{level}");
        assert!(
            line(&text, "ptr nonnull @_Z4nonev, i32 1").contains("ptr null)"),
            "{level}: {text}"
        );
    }
}

#[test]
fn raised_launches_are_lowered_for_every_abi() {
    for (level, text) in CLANG {
        // v1 cannot launch into the streams that it names.
        for abi in [LaunchAbi::Cdp2V2, LaunchAbi::DocumentedV2] {
            let text = ptx(text, abi);
            assemble(&text, "sm_90", 64);
            assert!(text.contains(".extern .entry _Z3fari5point"), "{level}: {text}");
            assert!(text.contains("LaunchDeviceV2") && !text.contains("cdp_launch"), "{level}");
            assert!(!text.contains("LaunchDevice\n"), "{level}");
        }
    }
}

const HEAD: &str = "
%dim3 = type { i32, i32, i32 }
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
declare ptr @cudaGetParameterBufferV2(ptr, [3 x i32], %dim3, i32)
declare i32 @cudaLaunchDeviceV2(ptr, ptr)
define ptx_kernel void @child(ptr %p, i1 %b, i64 %n) { ret void }
define ptx_kernel void @bare() { ret void }
define void @function(ptr %p) { ret void }
declare void @escape(ptr)
";

#[test]
fn version_2_and_launches_without_a_buffer() {
    let text = raised(&format!(
        "{HEAD}
define ptx_kernel void @parent(ptr %d, [3 x i32] %grid, %dim3 %block, ptr %stream) {{
  %b = call ptr @cudaGetParameterBufferV2(ptr @child, [3 x i32] %grid, %dim3 %block, i32 7)
  %null = icmp eq ptr %b, null
  br i1 %null, label %out, label %in
in:
  store ptr %d, ptr %b
  %b8 = getelementptr i8, ptr %b, i64 8
  store i8 1, ptr %b8
  %b16 = getelementptr i8, ptr %b, i64 16
  store i64 99, ptr %b16
  %e = call i32 @cudaLaunchDeviceV2(ptr %b, ptr %stream)
  br label %out
out:
  %f = call i32 @__cudaCDP2LaunchDevice(ptr @bare, ptr null, ptr byval(%dim3) align 4 %d, ptr byval(%dim3) align 4 %d, i32 0, ptr null)
  ret void
}}"
    ))
    .unwrap();
    let bare = line(&text, "@cdp.launch(ptr @bare");
    assert!(bare.ends_with("i32 0, ptr null)"), "{bare}");
    let child = line(&text, "@cdp.launch(ptr @child");
    assert!(child.contains("i32 7, ptr %stream, ptr"), "{child}");
    assert!(text.contains("br i1 false") && !text.contains("icmp"), "{text}");
    assert!(!text.contains("LaunchDeviceV2("), "{text}");
}

#[test]
fn what_is_not_understood_is_told() {
    let launch = "call i32 @__cudaCDP2LaunchDevice(ptr @child, ptr %b, ptr byval(%dim3) align 4 %d, \
                  ptr byval(%dim3) align 4 %d, i32 0, ptr null)";
    let buffer = "%b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 24)";
    let cases = [
        (format!("{buffer}\n store ptr %b, ptr %d\n {launch}"), "is stored"),
        (format!("{buffer}\n call void @function(ptr %b)"), "nothing is launched"),
        (
            format!("{}\n {launch}", buffer.replace("24", "32")),
            "has 32 bytes, and the parameters of kernel `child` take 24",
        ),
        (format!("{buffer}\n {}", launch.replace("@child", "@function")), "no kernel"),
        (format!("%b = load ptr, ptr %d\n {launch}"), "where its parameter buffer comes from"),
        (
            format!("{buffer}\n {}", launch.replace("@child", "%d")).replace("i64 24", "i64 5000"),
            "5000 bytes, and a parameter buffer holds 4096",
        ),
    ];
    for (body, part) in cases {
        let text = format!(
            "{HEAD}define ptx_kernel void @parent(ptr %d, i64 %n) {{\n {body}\n ret void\n}}"
        );
        match raised(&text) {
            Err(LowerError::Launches(errors)) => {
                assert!(errors.len() == 1 && errors[0].function == "parent", "{errors:?}");
                assert!(errors[0].message.contains(part), "{}", errors[0]);
            }
            other => panic!("{body}: {other:?}"),
        }
        // Where another compiler's word counts, what it wrote stays.
        let options = options("sm_90", LaunchAbi::Cdp2V2);
        let left = raise_foreign("test.ll", text.as_bytes(), 64, &options).unwrap();
        assert!(!left.emit_llvm_ir().contains("cdp.launch"), "{body}");
    }
}

#[test]
fn the_size_of_a_buffer_may_be_computed() {
    let text = format!(
        "{HEAD}define ptx_kernel void @parent(ptr %d, i64 %n) {{
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 %n)
  store ptr %d, ptr %b
  %b8 = getelementptr i8, ptr %b, i64 8
  store i8 1, ptr %b8
  %b16 = getelementptr i8, ptr %b, i64 16
  store i64 99, ptr %b16
  %e = call i32 @__cudaCDP2LaunchDevice(ptr @child, ptr %b, ptr byval(%dim3) align 4 %d, ptr byval(%dim3) align 4 %d, i32 0, ptr null)
  ret void
}}"
    );
    let text = simplified(&text);
    let child = line(&text, "call i32 (...) @cdp.launch(");
    assert!(
        child.contains("@child,") && child.ends_with("ptr nonnull %d, i1 true, i64 99)"),
        "{child}"
    );
    assert!(!text.contains("alloca [4096"), "{text}");
}

/// The buffer that the kernel has is filled as far as the computed size goes, and never beyond the greatest.
#[test]
fn kernel_and_size_may_both_be_chosen_at_run_time() {
    let parent = format!(
        "{HEAD}define ptx_kernel void @parent(ptr %d, i64 %n) {{
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 %n)
  store ptr %d, ptr %b
  %e = call i32 @__cudaCDP2LaunchDevice(ptr %d, ptr %b, ptr byval(%dim3) align 4 %d, ptr byval(%dim3) align 4 %d, i32 0, ptr null)
  ret void
}}"
    );
    let text = simplified(&parent);
    assert!(line(&text, "@llvm.umin.i64(").contains("i64 %n, i64 4096"), "{text}");
    assert!(
        line(&text, "@__cudaCDP2GetParameterBufferV2(ptr").contains("ptr nonnull %d"),
        "{text}"
    );
    let known = simplified(&parent.replace("i64 64, i64 %n", "i64 64, i64 8"));
    assert!(!known.contains("llvm.umin") && !known.contains("alloca"), "{known}");
}

#[test]
fn a_buffer_may_be_had_for_nothing() {
    let text = format!(
        "{HEAD}define ptx_kernel void @parent(ptr %d) {{
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 24)
  %is = icmp ne ptr %b, null
  store i1 %is, ptr %d
  ret void
}}"
    );
    assert!(raised(&text).unwrap().contains("call ptr @__cudaCDP2GetParameterBuffer"));
}

#[test]
fn places_are_those_of_the_launch() {
    let text =
        CLANG[1].1.replace("i64 noundef 64, i64 noundef 12)", "i64 noundef 64, i64 noundef 77)");
    assert_ne!(text, CLANG[1].1);
    let error = raised(&text).unwrap_err().to_string();
    assert!(error.starts_with("launches.cu:"), "{error}");
}
