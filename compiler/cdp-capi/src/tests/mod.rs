//! The interface as C uses it: the header, hostile callers, results, running.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::compiler::*;
use crate::program::*;
use crate::result::*;
use crate::*;

mod findings;
mod hostile;
mod records;

const PROGRAM: &str = "
__global__ void child(int *out, int step) { out[threadIdx.x] = threadIdx.x * step; }
__global__ void parent(int *out) { child<<<1, 4>>>(out, 10); }
";

fn text(pointer: *const c_char) -> String {
    assert!(!pointer.is_null());
    // SAFETY: strings of the library end with NUL.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// Compiles one input.
fn compile(kind: cdp_kind, data: &[u8], goal: cdp_goal) -> *mut cdp_result {
    let compiler = cdp_compiler_new();
    let name = c"input";
    // SAFETY: all pointers are good.
    unsafe {
        let size = data.len();
        let result = cdp_compile(compiler, kind, name.as_ptr(), data.as_ptr().cast(), size, goal);
        cdp_compiler_free(compiler);
        result
    }
}

fn bytes(result: *const cdp_result) -> Vec<u8> {
    let mut size = 0;
    // SAFETY: a live result.
    unsafe {
        let data = cdp_result_bytes(result, &mut size);
        if data.is_null() { Vec::new() } else { std::slice::from_raw_parts(data, size).to_vec() }
    }
}

/// The header on file is what the sources say; `CDP_BLESS=1` writes it.
#[test]
fn header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings =
        cbindgen::Builder::new().with_crate(folder).with_config(config).generate().unwrap();
    let mut header = Vec::new();
    bindings.write(&mut header);
    let header = String::from_utf8(header).unwrap();
    let path = folder.join("include/cdp.h");
    if std::env::var_os("CDP_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &header).unwrap();
    }
    let on_file = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(on_file == header, "cdp.h is out of date: run the tests of cdp-capi with CDP_BLESS=1");
}

#[test]
fn a_program_is_compiled_and_described() {
    let result = compile(CDP_KIND_DETECT, PROGRAM.as_bytes(), CDP_GOAL_PTX);
    // SAFETY: a live result.
    unsafe {
        assert_eq!(cdp_result_status(result), CDP_OK);
        assert!(cdp_result_error(result).is_null());
        let child = cdp_result_kernel(result, 0).as_ref().unwrap();
        assert_eq!((text(child.name), text(child.symbol)), ("child".into(), "_Z5childPii".into()));
        assert_eq!((child.param_count, child.buffer_bytes, child.registers), (2, 12, -1));
        let step = &*child.params.add(1);
        assert_eq!((text(step.name), step.offset, step.size), ("step".into(), 8, 4));
        let launch = cdp_result_launch(result, 0).as_ref().unwrap();
        assert_eq!((text(launch.parent), text(launch.child)), ("parent".into(), "child".into()));
        assert!(launch.from_device && launch.line == 3 && text(launch.block) == "4");
        assert!(cdp_result_kernel(result, 2).is_null() && cdp_result_launch(result, 1).is_null());
        cdp_result_free(result);
    }
}

#[test]
fn errors_are_messages() {
    let source = b"__global__ void k() { missing<<<1, 1>>>(); }\n";
    let result = compile(CDP_KIND_SOURCE, source, CDP_GOAL_PTX);
    // SAFETY: a live result.
    unsafe {
        assert_eq!(cdp_result_status(result), CDP_ERROR_PROGRAM);
        assert!(bytes(result).is_empty());
        let message = cdp_result_message(result, 0).as_ref().unwrap();
        assert!(message.is_error && text(message.code).starts_with('E'));
        assert_eq!((text(message.file), message.line, message.column), ("input".into(), 1, 23));
        assert_eq!((message.end_line, message.end_column), (1, 30));
        assert!(text(message.rendered).contains("missing<<<1, 1>>>()"));
        assert!(text(cdp_result_error(result)).contains("missing"));
        cdp_result_free(result);
    }
}

#[test]
fn a_program_runs_on_the_cpu_device() {
    let result = compile(CDP_KIND_SOURCE, PROGRAM.as_bytes(), CDP_GOAL_PTX);
    let ptx = bytes(result);
    let mut found = [0i32; 4];
    // SAFETY: all pointers are good.
    unsafe {
        cdp_result_free(result);
        let program = cdp_program_open(CDP_DEVICE_CPU, ptx.as_ptr().cast(), ptx.len(), null(), 0);
        assert!(!program.is_null(), "{}", text(cdp_last_error()));
        assert!(!cdp_program_is_on_gpu(program));
        let mut address = 0u64;
        assert_eq!(cdp_program_allocate(program, 16, &mut address), CDP_OK);
        let params: [*const c_void; 1] = [(&raw const address).cast()];
        let one = [1u32; 3];
        let launch = |name: &CStr, params: &[*const c_void]| {
            let (one, list) = (one.as_ptr(), params.as_ptr());
            cdp_program_launch(program, name.as_ptr(), one, one, 0, list, params.len())
        };
        assert_eq!(launch(c"parent", &params), CDP_OK);
        assert_eq!(cdp_program_synchronize(program), CDP_OK);
        assert_eq!(cdp_program_read(program, found.as_mut_ptr().cast(), address, 16), CDP_OK);
        assert_eq!(launch(c"nobody", &params), CDP_ERROR_REQUEST);
        assert_eq!(launch(c"parent", &[]), CDP_ERROR_REQUEST);
        assert_eq!(launch(c"parent", &[null()]), CDP_ERROR_REQUEST);
        // A kernel that writes where nothing is.
        let wild = 64u64;
        assert_eq!(launch(c"parent", &[(&raw const wild).cast()]), CDP_OK);
        assert_eq!(cdp_program_synchronize(program), CDP_ERROR_DEVICE);
        let message = text(cdp_last_error());
        assert!(message.contains("child"), "{message}");
        cdp_program_close(program);
    }
    assert_eq!(found, [0, 10, 20, 30]);
}

/// An endless kernel ends with the time limit, in every call that waits for it.
#[test]
fn endless_kernels_are_stopped() {
    let source =
        b"__global__ void spin(volatile int *p) { int n = 0; while (*p == 0) { ++n; } *p = n; }\n\
        __global__ void quick(volatile int *p) { for (int i = 0; i < 1000; ++i) *p = i; }\n";
    let made = compile(CDP_KIND_SOURCE, source, CDP_GOAL_PTX);
    let ptx = bytes(made);
    // SAFETY: all pointers are good, and every program is closed once.
    unsafe {
        cdp_result_free(made);
        let open = || cdp_program_open(CDP_DEVICE_CPU, ptx.as_ptr().cast(), ptx.len(), null(), 0);
        let one = [1u32; 3];
        let launch = |program, kernel: &CStr, address: u64| {
            let params = [(&raw const address).cast::<c_void>()];
            let (grid, block) = (one.as_ptr(), one.as_ptr());
            cdp_program_launch(program, kernel.as_ptr(), grid, block, 0, params.as_ptr(), 1)
        };
        let started = std::time::Instant::now();
        for way in 0..3 {
            let program = open();
            let mut address = 0;
            assert_eq!(cdp_program_set_timeout(program, 200), CDP_OK);
            assert_eq!(cdp_program_allocate(program, 4, &mut address), CDP_OK);
            let zero = 0i32;
            let data = (&raw const zero).cast();
            assert_eq!(cdp_program_write(program, address, data, 4), CDP_OK);
            // Time between calls and time of earlier calls do not count.
            for _ in 0..3 {
                assert_eq!(launch(program, c"quick", address), CDP_OK);
                assert_eq!(cdp_program_synchronize(program), CDP_OK);
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            assert_eq!(cdp_program_write(program, address, data, 4), CDP_OK);
            assert_eq!(launch(program, c"spin", address), CDP_OK);
            let mut into = 1i32;
            let status = match way {
                0 => cdp_program_synchronize(program),
                1 => cdp_program_read(program, (&raw mut into).cast(), address, 4),
                _ => CDP_ERROR_DEVICE,
            };
            assert_eq!(status, CDP_ERROR_DEVICE);
            if way < 2 {
                let message = text(cdp_last_error());
                assert!(message.contains("the limit is 200 ms"), "{message}");
                assert!(message.contains("spin"), "{message}");
                assert_eq!(launch(program, c"quick", address), CDP_ERROR_DEVICE);
            }
            cdp_program_close(program);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(20));
        assert_eq!(cdp_program_set_timeout(null(), 1), CDP_ERROR_REQUEST);
    }
}

/// Sizes that cannot be are errors, not reads and writes of whatever lies there.
#[test]
fn copies_stay_inside_allocations() {
    let ptx = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    // SAFETY: what is not good is refused by its size.
    unsafe {
        let program = cdp_program_open(CDP_DEVICE_CPU, ptx.as_ptr().cast(), ptx.len(), null(), 0);
        let mut address = 0;
        assert_eq!(cdp_program_allocate(program, 16, &mut address), CDP_OK);
        let mut host = [7u8; 16];
        let data: *mut c_void = host.as_mut_ptr().cast();
        for size in [17, 1 << 40, isize::MAX as usize, 1 << 63, usize::MAX] {
            assert_eq!(cdp_program_read(program, data, address, size), CDP_ERROR_DEVICE, "{size}");
            assert_ne!(cdp_program_write(program, address, data, size), CDP_OK, "{size}");
        }
        for at in [0, 1, address - 1, address + 1, u64::MAX] {
            assert_eq!(cdp_program_read(program, data, at, 16), CDP_ERROR_DEVICE, "{at}");
            assert_eq!(cdp_program_write(program, at, data, 16), CDP_ERROR_DEVICE, "{at}");
        }
        assert_eq!(cdp_program_write(program, address, data, 16), CDP_OK);
        assert_eq!(cdp_program_read(program, data, address, 16), CDP_OK);
        cdp_program_close(program);
    }
}

#[test]
fn a_result_is_loaded() {
    let compiler = cdp_compiler_new();
    let source = "__device__ int total[3];
                  __global__ void add(int n) { atomicAdd(total + 1, n); }
                  __global__ void twice(int n) { add<<<1, 2>>>(n); }";
    let (data, size) = (source.as_ptr().cast(), source.len());
    // SAFETY: all pointers are good.
    unsafe {
        let made = cdp_compile(compiler, CDP_KIND_SOURCE, c"a".as_ptr(), data, size, CDP_GOAL_PTX);
        let program = cdp_program_load(compiler, made, CDP_DEVICE_CPU);
        assert!(!program.is_null(), "{}", text(cdp_last_error()));
        cdp_result_free(made);
        let (n, one, mut address, mut bytes, mut found) = (21i32, [1u32; 3], 0, 0, [0i32; 3]);
        let params: [*const c_void; 1] = [(&raw const n).cast()];
        let (one, list) = (one.as_ptr(), params.as_ptr());
        assert_eq!(cdp_program_launch(program, c"twice".as_ptr(), one, one, 0, list, 1), CDP_OK);
        let total = c"total".as_ptr();
        assert_eq!(cdp_program_variable(program, total, &mut address, &mut bytes), CDP_OK);
        assert_eq!(bytes, 12);
        assert_eq!(cdp_program_read(program, found.as_mut_ptr().cast(), address, 12), CDP_OK);
        assert_eq!(found, [0, 42, 0]);
        let missing = cdp_program_variable(program, c"t".as_ptr(), null_mut(), null_mut());
        assert_eq!(missing, CDP_ERROR_DEVICE);
        cdp_program_close(program);

        let made = cdp_compile(compiler, CDP_KIND_SOURCE, c"a".as_ptr(), data, size - 1, 0);
        assert!(cdp_program_load(compiler, made, CDP_DEVICE_CPU).is_null());
        assert_eq!(text(cdp_last_error()), text(cdp_result_error(made)));
        cdp_result_free(made);
        let made = cdp_compile(compiler, 1, c"a".as_ptr(), data, size, CDP_GOAL_LLVM_IR);
        assert!(cdp_program_load(compiler, made, CDP_DEVICE_CPU).is_null());
        cdp_result_free(made);
        cdp_compiler_free(compiler);
    }
}

/// A source, PTX and an object that know of each other become one cubin.
#[test]
fn inputs_of_all_kinds_are_linked() {
    let compiler = cdp_compiler_new();
    let parent = "extern \"C\" __global__ void child(int *);
                  extern \"C\" __device__ void step(int *);
                  __global__ void parent(int *p) { step(p); child<<<1, 1>>>(p); }";
    let child = "extern \"C\" __global__ void child(int *p) { *p += 1; }";
    let step = "extern \"C\" __device__ void step(int *p) { *p += 2; }";
    // SAFETY: all pointers are good.
    unsafe {
        let status = cdp_compiler_find_tools(compiler, null());
        assert_eq!(status, CDP_OK, "{}", text(cdp_last_error()));
        let one = |source: &str, goal| {
            let (data, size) = (source.as_ptr().cast(), source.len());
            let made = cdp_compile(compiler, CDP_KIND_SOURCE, c"one".as_ptr(), data, size, goal);
            assert_eq!(cdp_result_status(made), CDP_OK, "{}", text(cdp_last_error()));
            let made_bytes = bytes(made);
            cdp_result_free(made);
            made_bytes
        };
        let (ptx, object) = (one(child, CDP_GOAL_PTX), one(step, CDP_GOAL_OBJECT));
        let inputs = cdp_inputs_new();
        for (kind, data) in [
            (CDP_KIND_SOURCE, parent.as_bytes()),
            (CDP_KIND_PTX, ptx.as_slice()),
            (CDP_KIND_DETECT, object.as_slice()),
        ] {
            let (data, size) = (data.as_ptr().cast(), data.len());
            assert_eq!(cdp_inputs_add(inputs, kind, c"part".as_ptr(), data, size), CDP_OK);
        }
        let linked = cdp_build(compiler, inputs, CDP_GOAL_CUBIN);
        assert_eq!(cdp_result_status(linked), CDP_OK, "{}", text(cdp_last_error()));
        assert!(bytes(linked).starts_with(b"\x7fELF"));
        let kernel = cdp_result_kernel(linked, 0).as_ref().unwrap();
        assert_eq!(text(kernel.symbol), "_Z6parentPi");
        assert!(kernel.registers > 0 && kernel.shared_bytes >= 0);
        // The kernel of the PTX, as the cubin tells of it; none of the device runtime's.
        let kernel = cdp_result_kernel(linked, 1).as_ref().unwrap();
        assert_eq!((text(kernel.symbol), kernel.param_count), ("child".into(), 1));
        let param = &*kernel.params;
        assert_eq!((text(param.type_name), param.size, param.align), ("b64".into(), 8, 8));
        assert!(cdp_result_kernel(linked, 2).is_null());
        assert!(cdp_program_load(compiler, linked, CDP_DEVICE_CPU).is_null());
        assert!(text(cdp_last_error()).contains("on a GPU only"), "{}", text(cdp_last_error()));
        cdp_result_free(linked);

        // The parent alone misses two symbols, told in cdp's words.
        let (data, size) = (parent.as_ptr().cast(), parent.len());
        let made = cdp_compile(compiler, 1, c"parent".as_ptr(), data, size, CDP_GOAL_CUBIN);
        assert_eq!(cdp_result_status(made), CDP_ERROR_TOOL);
        assert!(text(cdp_result_error(made)).contains("step"), "{}", text(cdp_result_error(made)));
        cdp_result_free(made);
        cdp_inputs_free(inputs);

        // Objects that are none are the input's fault, too.
        for object in [&object[..object.len() / 2], b"!<thin>\n", b""] {
            let (data, size) = (object.as_ptr().cast(), object.len());
            let made = cdp_compile(compiler, CDP_KIND_OBJECT, c"part".as_ptr(), data, size, 3);
            assert_eq!(cdp_result_status(made), CDP_ERROR_INPUT);
            let message = text(cdp_result_error(made));
            assert!(message.contains("`part` is not a usable device object"), "{message}");
            cdp_result_free(made);
        }

        assert_eq!(cdp_compiler_find_tools(compiler, c"/no/such".as_ptr()), CDP_ERROR_TOOL);
        cdp_compiler_free(compiler);
    }
}

#[test]
fn null_is_an_error_and_no_crash() {
    let compiler = cdp_compiler_new();
    let inputs = cdp_inputs_new();
    let mut address = 0;
    // SAFETY: every pointer is NULL or good.
    unsafe {
        cdp_compiler_free(null_mut());
        cdp_inputs_free(null_mut());
        cdp_result_free(null_mut());
        cdp_program_close(null_mut());
        assert_eq!(cdp_compiler_set(null_mut(), c"arch".as_ptr(), null()), CDP_ERROR_REQUEST);
        assert_eq!(text(cdp_last_error()), "compiler is NULL");
        assert_eq!(cdp_compiler_set(compiler, null(), null()), CDP_ERROR_REQUEST);
        assert_eq!(cdp_compiler_set(compiler, c"arch".as_ptr(), null()), CDP_ERROR_REQUEST);
        assert_eq!(cdp_compiler_find_tools(null_mut(), null()), CDP_ERROR_REQUEST);
        assert_eq!(cdp_inputs_add(inputs, 1, c"a".as_ptr(), null(), 5), CDP_ERROR_REQUEST);
        assert_eq!(cdp_inputs_add(inputs, 9, c"a".as_ptr(), null(), 0), CDP_ERROR_REQUEST);
        assert_eq!(cdp_inputs_add_header(null_mut(), null(), null(), 0), CDP_ERROR_REQUEST);
        let huge = cdp_inputs_add(inputs, 2, c"a".as_ptr(), 16 as *const c_void, usize::MAX);
        assert_eq!(huge, CDP_ERROR_REQUEST);
        assert!(cdp_build(compiler, null(), 0).is_null());
        assert!(cdp_build(null(), inputs, 0).is_null());
        assert!(cdp_build(compiler, inputs, 99).is_null());
        assert!(cdp_lower(compiler, null(), null(), 0).is_null());
        let nothing = cdp_build(compiler, inputs, CDP_GOAL_PTX);
        assert_eq!(cdp_result_status(nothing), CDP_ERROR_REQUEST);
        cdp_result_free(nothing);
        assert_eq!(cdp_result_status(null()), CDP_ERROR_REQUEST);
        assert!(cdp_result_bytes(null(), null_mut()).is_null());
        assert_eq!(text(cdp_result_error(null())), "nothing to build");
        assert!(cdp_result_message(null(), 0).is_null());
        assert!(cdp_program_open(CDP_DEVICE_CPU, null(), 7, null(), 0).is_null());
        assert!(cdp_program_open(77, null(), 0, null(), 0).is_null());
        assert!(cdp_program_load(compiler, null(), 0).is_null());
        let variable = cdp_program_variable(null(), c"v".as_ptr(), null_mut(), null_mut());
        assert_eq!(variable, CDP_ERROR_REQUEST);
        assert_eq!(cdp_program_allocate(null(), 1, &mut address), CDP_ERROR_REQUEST);
        assert_eq!(cdp_program_synchronize(null()), CDP_ERROR_REQUEST);
        assert!(!cdp_program_is_on_gpu(null()));
        cdp_inputs_free(inputs);
        cdp_compiler_free(compiler);
    }
}

#[test]
fn headers_come_from_memory() {
    let compiler = cdp_compiler_new();
    let inputs = cdp_inputs_new();
    let (source, header) =
        ("#include \"n.h\"\n__global__ void k(int *p) { *p = N; }", "#define N 5");
    // SAFETY: all pointers are good.
    unsafe {
        let data = |text: &str| text.as_ptr().cast::<c_void>();
        let name = c"dir/a.cdp".as_ptr();
        let add = cdp_inputs_add(inputs, CDP_KIND_SOURCE, name, data(source), source.len());
        assert_eq!(add, CDP_OK);
        let add = cdp_inputs_add_header(inputs, c"n.h".as_ptr(), data(header), header.len());
        assert_eq!(add, CDP_OK);
        let result = cdp_build(compiler, inputs, CDP_GOAL_PTX);
        // Next to the source is where a quoted include looks first.
        let found = cdp_result_status(result);
        assert_eq!(found, CDP_OK, "{}", text(cdp_last_error()));
        cdp_result_free(result);
        cdp_inputs_free(inputs);
        cdp_compiler_free(compiler);
    }
}

/// The name says that clang reads it.
#[test]
fn cuda_files_come_from_memory() {
    let compiler = cdp_compiler_new();
    let inputs = cdp_inputs_new();
    let source = "#include \"n.h\"\ntemplate <class T> __global__ void k(T *p) { *p = N; }\n\
                  template __global__ void k(int *);\n";
    let header = "enum { N = sizeof(int) + 1234561 };";
    // SAFETY: all pointers are good.
    unsafe {
        let data = |text: &str| text.as_ptr().cast::<c_void>();
        if cdp_compiler_find_tools(compiler, null()) != CDP_OK || !(*compiler).reads_cuda() {
            eprintln!("left out: no clang or no CUDA headers");
            cdp_inputs_free(inputs);
            return cdp_compiler_free(compiler);
        }
        let name = c"dir/a.cu".as_ptr();
        let add = cdp_inputs_add(inputs, CDP_KIND_SOURCE, name, data(source), source.len());
        assert_eq!(add, CDP_OK);
        let add = cdp_inputs_add_header(inputs, c"n.h".as_ptr(), data(header), header.len());
        assert_eq!(add, CDP_OK);
        for goal in [CDP_GOAL_PTX, CDP_GOAL_CUBIN, CDP_GOAL_HOST_OBJECT] {
            let result = cdp_build(compiler, inputs, goal);
            assert_eq!(cdp_result_status(result), CDP_OK, "{}", text(cdp_last_error()));
            let made = bytes(result);
            if goal == CDP_GOAL_PTX {
                let ptx = String::from_utf8(made).unwrap();
                assert!(ptx.contains(".entry _Z1kIiEvPT_") && ptx.contains("1234565"), "{ptx}");
            } else {
                assert!(made.starts_with(b"\x7fELF"));
            }
            cdp_result_free(result);
        }
        cdp_inputs_free(inputs);
        cdp_compiler_free(compiler);
    }
}

#[test]
fn threads_share_a_compiler() {
    struct Shared(*const cdp_compiler);
    // SAFETY: the interface lets threads share a compiler that none changes.
    unsafe impl Sync for Shared {}
    let compiler = cdp_compiler_new();
    let shared = &Shared(compiler);
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || {
                let source = format!("__global__ void k{number}(int *p) {{ *p = {number}; }}");
                for _ in 0..5 {
                    // SAFETY: all pointers are good.
                    unsafe {
                        let (data, size) = (source.as_ptr().cast(), source.len());
                        let name = c"k".as_ptr();
                        let made = cdp_compile(shared.0, 1, name, data, size, CDP_GOAL_PTX);
                        let ptx = String::from_utf8(bytes(made)).unwrap();
                        assert!(ptx.contains(&format!("_Z2k{number}Pi")), "{ptx}");
                        cdp_result_free(made);
                    }
                }
            });
        }
    });
    // SAFETY: no thread uses it any more.
    unsafe { cdp_compiler_free(compiler) };
}

#[test]
fn options_are_listed() {
    let mut names = Vec::new();
    while !cdp_option_name(names.len()).is_null() {
        names.push(text(cdp_option_name(names.len())));
        assert!(!text(cdp_option_values(names.len() - 1)).is_empty());
    }
    assert!(names.iter().any(|name| name == "launch-abi") && names.len() > 20);
    assert!(cdp_option_values(names.len()).is_null());
}

fn text_of_error(result: *const cdp_result) -> String {
    // SAFETY: NULL or a live result.
    text(unsafe { cdp_result_error(result) })
}
