//! Callers and inputs that nobody means well with.

use std::ffi::{CString, c_void};
use std::ptr::null;

use proptest::prelude::*;

use super::{PROGRAM, bytes, compile, text, text_of_error};
use crate::compiler::*;
use crate::program::*;
use crate::result::*;
use crate::*;

/// Words that inputs are made of.
const WORDS: [&str; 24] = [
    "__global__",
    "void",
    "k",
    "<<<",
    ">>>",
    "(",
    ")",
    "{",
    "}",
    ";",
    "1",
    "int",
    "*",
    "template",
    "#include",
    "define ptx_kernel void @k(ptr %p)",
    "ret void",
    "call i32 @cdp.launch(ptr @k)",
    "declare i32 @cdp.launch(...)",
    ".version 8.0\n.target sm_90\n.address_size 64\n",
    ".visible",
    ".entry",
    "ret;",
    "\n",
];

/// LLVM IR with a launch, and what takes the place of its words.
const MODULE: &str = "
declare i32 @cdp.launch(...)
%pair = type { i32, double }
@table = addrspace(1) global [4 x i32] zeroinitializer
define ptx_kernel void @child(ptr %out, i32 %n, ptr byval(%pair) %p) {
entry:
  %wide = zext i32 %n to i64
  %at = getelementptr i32, ptr %out, i64 %wide
  store i32 %n, ptr %at, align 4
  ret void
}
define ptx_kernel void @parent(ptr %out) {
entry:
  %p = alloca %pair, align 8
  %e = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, \
  ptr null, ptr %out, i32 7, ptr byval(%pair) %p)
  %bad = icmp ne i32 %e, 0
  br i1 %bad, label %fail, label %done
fail:
  store i32 %e, ptr %out, align 4
  br label %done
done:
  ret void
}
";
const TYPES: [&str; 16] = [
    "i1",
    "i128",
    "i4096",
    "<3 x i7>",
    "[9 x i8]",
    "{}",
    "token",
    "x86_amx",
    "half",
    "fp128",
    "label",
    "metadata",
    "<vscale x 2 x i32>",
    "ptr addrspace(7)",
    "void",
    "poison",
];

proptest! {
    // The same cases at every run: LLVM may well take long for one of all that there are.
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..Default::default()
    })]

    /// LLVM IR that makes LLVM give up or crash is an error of the input.
    #[test]
    fn llvm_survives_anything(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..200), 1..5),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..6),
    ) {
        let mut words: Vec<&str> = MODULE.split_inclusive(' ').collect();
        for (place, other) in changes {
            let at = place.index(words.len());
            words[at] = TYPES.get(other).copied().unwrap_or(words[other % words.len()]);
        }
        let context = cdp_library::llvm::inkwell::context::Context::create();
        let text = words.concat();
        let module = cdp_library::llvm::inkwell::memory_buffer::MemoryBuffer
            ::create_from_memory_range_copy(MODULE.as_bytes(), "module");
        let module = context.create_module_from_ir(module).unwrap();
        let mut bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
        for (place, bit) in flips {
            let at = place.index(bitcode.len());
            bitcode[at] ^= 1 << bit;
        }
        for input in [text.as_bytes(), &bitcode] {
            let made = compile(CDP_KIND_LLVM, input, CDP_GOAL_PTX);
            // SAFETY: a live result.
            unsafe {
                let status = cdp_result_status(made);
                let expected = [CDP_OK, CDP_ERROR_INPUT, CDP_ERROR_REQUEST];
                prop_assert!(expected.contains(&status), "{}", text_of_error(made));
                cdp_result_free(made);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    /// Whatever name and value come: a status, and the compiler goes on working.
    #[test]
    fn options_survive_anything(
        name in prop_oneof![".{0,20}", Just("arch".to_string()), Just("define".to_string())],
        value in proptest::collection::vec(1u8.., 0..30),
    ) {
        let compiler = cdp_compiler_new();
        let name = CString::new(name.replace('\0', "")).unwrap();
        let value = CString::new(value).unwrap();
        // SAFETY: all pointers are good.
        unsafe {
            let status = cdp_compiler_set(compiler, name.as_ptr(), value.as_ptr());
            prop_assert!(status == CDP_OK || status == CDP_ERROR_REQUEST);
            let source = "__global__ void k() {}";
            let (data, size) = (source.as_ptr().cast(), source.len());
            let made = cdp_compile(compiler, 1, c"k".as_ptr(), data, size, CDP_GOAL_PTX);
            prop_assert!(!made.is_null());
            prop_assert!(cdp_result_status(made) != CDP_ERROR_BUG);
            cdp_result_free(made);
            cdp_compiler_free(compiler);
        }
    }

    /// Whatever input comes, of whatever kind: a result, and no mistake of ours.
    #[test]
    fn inputs_survive_anything(
        kind in 0u32..6,
        goal in 0u32..7,
        words in proptest::collection::vec(proptest::sample::select(WORDS.to_vec()), 0..40),
        noise in proptest::collection::vec(any::<u8>(), 0..8),
        at in any::<prop::sample::Index>(),
    ) {
        let mut data = words.join(" ").into_bytes();
        let place = at.index(data.len() + 1);
        data.splice(place..place, noise);
        let made = compile(kind, &data, goal);
        // SAFETY: NULL or a live result.
        unsafe {
            if made.is_null() {
                prop_assert!(!text(cdp_last_error()).is_empty());
            } else {
                let status = cdp_result_status(made);
                prop_assert!(status != CDP_ERROR_BUG, "{}", text(cdp_result_error(made)));
                prop_assert_eq!(status == CDP_OK, cdp_result_error(made).is_null());
            }
            cdp_result_free(made);
        }
    }

    /// Good PTX with words and bytes changed: loaded or refused, run or faulted, never a mistake of ours.
    #[test]
    fn devices_survive_anything(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..60), 1..4),
        noise in proptest::collection::vec(any::<u8>(), 0..3),
    ) {
        let made = compile(CDP_KIND_SOURCE, PROGRAM.as_bytes(), CDP_GOAL_PTX);
        let mut words: Vec<Vec<u8>> =
            bytes(made).split_inclusive(|byte| *byte == b' ' || *byte == b'\t').map(Vec::from).collect();
        for (place, other) in changes {
            let (at, from) = (place.index(words.len()), (place.index(words.len()) + other) % words.len());
            words[at] = words[from].clone();
        }
        let mut ptx = words.concat();
        let place = ptx.len() / 2;
        ptx.splice(place..place, noise);
        let mut found = [0i32; 4];
        let one = [1u32; 3];
        // SAFETY: all pointers are good; host memory that a kernel could reach is not given to it.
        unsafe {
            cdp_result_free(made);
            let (data, size) = (ptx.as_ptr().cast(), ptx.len());
            let program = cdp_program_open(CDP_DEVICE_CPU, data, size, null(), 0);
            if program.is_null() {
                prop_assert!(!text(cdp_last_error()).is_empty());
                return Ok(());
            }
            let mut address = 0u64;
            prop_assert_eq!(cdp_program_allocate(program, 16, &mut address), CDP_OK);
            let params: [*const c_void; 1] = [(&raw const address).cast()];
            let (one, list) = (one.as_ptr(), params.as_ptr());
            let launched = cdp_program_launch(program, c"parent".as_ptr(), one, one, 0, list, 1);
            prop_assert!(launched != CDP_ERROR_BUG, "{}", text(cdp_last_error()));
            let read = cdp_program_read(program, found.as_mut_ptr().cast(), address, 16);
            prop_assert!(read != CDP_ERROR_BUG, "{}", text(cdp_last_error()));
            cdp_program_close(program);
        }
    }
}
