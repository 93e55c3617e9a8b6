//! `@cdp.launch` in modules of other front ends, and the memset kernel that uses it.

mod common;

use cdp_ir::*;
use cdp_launch::LaunchAbi;
use cdp_llvm::{LowerError, lower_foreign};
use common::*;

const HEAD: &str = "
%S = type { i8, double }
declare i32 @cdp.launch(...)
define ptx_kernel void @child(ptr %p, i1 %b, ptr byval(%S) align 8 %s, half %h) { ret void }
";

fn read(body: &str, abi: LaunchAbi) -> Result<String, LowerError> {
    let text = format!("{HEAD}{body}");
    let options = options("sm_90", abi);
    let (module, _) = lower_foreign("test.ll", text.as_bytes(), 64, &options)?;
    module.optimize()?;
    module.emit_ptx()
}

#[test]
fn a_call_becomes_the_sequence() {
    let body = "
declare ptx_kernel void @far(i32)
define ptx_kernel void @parent(ptr %p, ptr byval(%S) align 8 %s, ptr %out) {
  %e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, ptr inttoptr (i64 3 to ptr), ptr %p, i1 true, ptr byval(%S) align 8 %s, half 1.0)
  store i32 %e, ptr %out
  %v = load %S, ptr %s
  %f = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %p, i1 false, %S %v, half 2.0)
  %g = call i32 (...) @cdp.launch(ptr @far, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, i32 5)
  ret void
}";
    for abi in LaunchAbi::ALL {
        // Only v2 can launch into the tail stream.
        let body = if abi.is_v2() { body.to_string() } else { body.replace("i64 3", "i64 2") };
        let text = read(&body, abi).unwrap();
        assemble(&text, "sm_90", 64);
        assert!(text.contains(".extern .entry far"), "{text}");
        assert!(text.contains("PeekAtLastError"), "{text}");
        assert!(!text.contains("cdp.launch") && !text.contains("cdp_launch"), "{text}");
    }
}

/// clang's strings are called `.str`, which is no name of PTX.
#[test]
fn constants_that_units_share_have_names_of_ptx() {
    let text = format!(
        "@.str = private unnamed_addr constant [4 x i8] c\"abc\\00\", align 1
@_$_str = internal global i32 3
declare void @use(ptr)
define ptx_kernel void @a() {{ call void @use(ptr @.str) call void @use(ptr @_$_str) {0} ret void }}
define ptx_kernel void @b() {{ call void @use(ptr @.str) call void @use(ptr @_$_str) {0} ret void }}\n",
        "call void @use(ptr null) ".repeat(8)
    );
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.unit_instructions = 4;
    let (module, _) = lower_foreign("test.ll", text.as_bytes(), 64, &options).unwrap();
    let ptx = module.into_ptx(&options).unwrap();
    assert!(!ptx.contains(".str"), "{ptx}");
    assert_eq!(ptx.matches("{97, 98, 99}").count(), 1, "{ptx}");
    assemble(&ptx, "sm_90", 64);
}

/// A turn that has many loads and a store is unrolled by two, and ptxas is told that this is enough; a turn with one
/// load is left to it.
#[test]
fn loops_of_many_loads_are_unrolled_by_two_and_no_more() {
    let loads = |count: usize| {
        let load = |at| {
            format!(
                "  %a{at} = getelementptr float, ptr %p, i32 %at{at}
  %at{} = add nsw i32 %at{at}, %width
  %v{at} = load float, ptr %a{at}
  %s{} = fadd float %s{at}, %v{at}\n",
                at + 1,
                at + 1
            )
        };
        let loads: String = (0..count).map(load).collect();
        let body = format!(
            "define ptx_kernel void @k(ptr noalias %p, ptr noalias %o, i32 %n, i32 %width) {{
entry:
  br label %turn
turn:
  %at0 = phi i32 [ 0, %entry ], [ %next, %turn ]
  %s0 = phi float [ 0.0, %entry ], [ %s{count}, %turn ]
{loads}  %to = getelementptr float, ptr %o, i32 %at0
  store float %s{count}, ptr %to
  %next = add nsw i32 %at0, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %turn, label %end
end:
  ret void
}}"
        );
        let ptx = read(&body, LaunchAbi::Cdp2V2).unwrap();
        assemble(&ptx, "sm_90", 64);
        let entry = ptx.find(".entry k(").unwrap();
        let (loops, stores) = (&ptx[entry..], ptx[entry..].matches("st.").count());
        (loops.matches(".pragma \"nounroll\"").count(), stores)
    };
    // Two turns and the one that may be left over.
    assert_eq!(loads(5), (1, 3));
    // Eight turns, since it is a sum, and a loop of those that are left over.
    assert_eq!(loads(1), (1, 9));
}

/// Of others LLVM would write `.u31` and the like.
#[test]
fn variables_are_integers_that_ptx_has() {
    let module = |bits: u32| {
        let body = format!(
            "@seen = addrspace(1) global i{bits} 1
define ptx_kernel void @k(ptr %p) {{
  %v = load i{bits}, ptr addrspace(1) @seen
  %w = trunc i{bits} %v to i1
  store i1 %w, ptr %p
  ret void
}}"
        );
        read(&body, LaunchAbi::Cdp2V2)
    };
    for bits in [8, 16, 32, 64, 128] {
        assemble(&module(bits).unwrap(), "sm_90", 64);
    }
    for bits in [2, 31, 65, 256] {
        let refused = module(bits).unwrap_err().to_string();
        assert!(refused.contains(&format!("`@seen` has type i{bits}")), "{refused}");
    }
}

#[test]
fn bad_calls_are_named() {
    let call = |text: &str| {
        format!(
            "define void @f(ptr %s) {{\n  %e = call i32 (...) @cdp.launch({text})\n  ret void\n}}"
        )
    };
    let rest = "i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null";
    let cases = [
        (format!("ptr @f, {rest}"), None, "not a kernel"),
        (format!("ptr %s, {rest}"), None, "not a function"),
        (format!("ptr @child, {rest}, ptr %s"), None, "4 parameters, 1 are given"),
        (
            format!("ptr @child, {rest}, i32 1, i1 true, ptr byval(%S) %s, half 1.0"),
            Some(0),
            "has type",
        ),
        (format!("ptr @child, {rest}, ptr %s, i1 true, ptr %s, half 1.0"), Some(2), "by value"),
        ("ptr @child, i64 1".to_string(), None, "2 operands"),
    ];
    for (text, argument, part) in cases {
        match read(&call(&text), LaunchAbi::Cdp2V2) {
            Err(LowerError::Launches(errors)) => {
                assert_eq!(errors.len(), 1);
                assert_eq!((errors[0].function.as_str(), errors[0].argument), ("f", argument));
                assert!(errors[0].message.contains(part), "{}", errors[0]);
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn wrong_targets_and_texts_are_errors() {
    let host = "target triple = \"x86_64-unknown-linux-gnu\"";
    let options = options("sm_90", LaunchAbi::Cdp2V2);
    let wrong = lower_foreign("a.ll", host.as_bytes(), 64, &options);
    assert!(matches!(wrong.err(), Some(LowerError::Target { .. })));
    assert!(matches!(read("define what", LaunchAbi::Cdp2), Err(LowerError::Foreign { .. })));
}

#[test]
fn older_annotations_make_kernels() {
    let body = "
define void @old(i32 %x) { ret void }
define ptx_kernel void @parent() {
  %g = call i32 (...) @cdp.launch(ptr @old, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, i32 5)
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @old, !\"kernel\", i32 1}";
    let text = read(body, LaunchAbi::Cdp2V2).unwrap();
    assert!(text.contains(".entry old"), "{text}");
}

#[test]
fn memset_is_a_kernel_of_our_own() {
    for bytes in [8, 4] {
        let mut b = Build::new(Target::Device { cdp: CdpVersion::Cdp2 }, bytes);
        let size = if bytes == 8 { b.u64 } else { b.u32 };
        let (p, i, s) = (b.void_ptr, b.i32, b.void_ptr);
        let get = |b: &mut Build, n: u32, ty| b.get(n, ty);
        let args =
            vec![get(&mut b, 0, p), get(&mut b, 1, i), get(&mut b, 2, size), get(&mut b, 3, s)];
        let one = b.e(ExprKind::RuntimeCall { func: RuntimeFn::MemsetAsync, args }, i);
        let args = vec![
            get(&mut b, 0, p),
            get(&mut b, 2, size),
            get(&mut b, 1, i),
            get(&mut b, 2, size),
            get(&mut b, 2, size),
            get(&mut b, 3, s),
        ];
        let two = b.e(ExprKind::RuntimeCall { func: RuntimeFn::Memset2DAsync, args }, i);
        b.kernel("k", &[p, i, size, s], Some(vec![expr_stmt(one), expr_stmt(two)]));
        let ir = b.verified();
        let (mut options, bits) = if bytes == 8 {
            (options("sm_90", LaunchAbi::Cdp2V2), 64)
        } else {
            (options("sm_60", LaunchAbi::Documented), 32)
        };
        if bits == 32 {
            options.ptx_isa = 78;
        }
        let text = ptx(&ir, &options, bits);
        assert!(text.contains(".weak .entry __cdp_memset("), "{text}");
        // The library's own is asked where ours refuses, so that it knows of the error.
        assert_eq!(text.contains("MemsetAsync"), bits == 64, "{text}");
        options.opt_level = cdp_llvm::OptLevel::O0;
        let text = ptx(&ir, &options, bits);
        if bits == 64
            && let Some(object) = assemble(&text, "sm_90", 64)
        {
            link(&[object], "sm_90");
        }
    }
}

#[test]
fn what_llvm_would_die_of_is_an_error() {
    // An intrinsic of another machine passes the verifier, and instruction selection gives up.
    let text = "
declare <2 x double> @llvm.x86.sse2.min.pd(<2 x double>, <2 x double>)
define ptx_kernel void @k(ptr %p) {
  %v = load <2 x double>, ptr %p
  %m = call <2 x double> @llvm.x86.sse2.min.pd(<2 x double> %v, <2 x double> %v)
  store <2 x double> %m, ptr %p
  ret void
}";
    for _ in 0..3 {
        let options = options("sm_90", LaunchAbi::Cdp2V2);
        let result = cdp_llvm::guarded(|| {
            lower_foreign("test.ll", text.as_bytes(), 64, &options)
                .and_then(|(module, _)| module.emit_ptx())
        });
        match result {
            Err(cdp_llvm::Stopped::LlvmFatal(message)) => {
                // Which step of instruction selection gives up is LLVM's business.
                assert!(!message.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A module in which one bit of an attribute group is damaged, so that it is for parameter 2147483647.
const FAR_PARAMETER: &[u8] = include_bytes!("far_parameter.bc");

#[test]
fn bitcode_that_would_take_all_memory_is_refused() {
    let options = options("sm_90", LaunchAbi::Cdp2V2);
    let size = (FAR_PARAMETER.len() as u32).to_le_bytes();
    // Magic, version, offset, size, CPU.
    let head = [[0xde, 0xc0, 0x17, 0x0b], [0; 4], [20, 0, 0, 0], size, [0; 4]];
    let wrapped = [head.as_flattened(), FAR_PARAMETER].concat();
    for bytes in [FAR_PARAMETER, &wrapped] {
        match lower_foreign("far.bc", bytes, 64, &options).map(|_| ()) {
            Err(LowerError::Foreign { message }) => {
                assert!(message.contains("for parameter 2147483647"), "{message}");
                assert!(message.contains("at most 65536"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}
