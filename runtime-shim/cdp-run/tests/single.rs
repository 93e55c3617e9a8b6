//! Kernels run without a `main`, on the CPU device.

use std::sync::{Arc, Mutex};

use cdp_run::{
    Arg, Array, BufferResult, Element, KernelRun, RunError, deliver, read_npy, run_kernel,
    write_npy,
};
use cdp_runtime::cpu::{CpuOptions, Sinks};
use cdp_runtime::{CudaError, Device, DeviceChoice, ModuleImage, open_device};

const PTX: &[u8] = include_bytes!("../../cdp-runtime/tests/c/kernels.ptx");

/// The output of kernels and the number of reports.
type Seen = Arc<Mutex<(Vec<u8>, u32)>>;

fn device() -> (Box<dyn Device>, Seen) {
    let seen = Seen::default();
    let (output, reports) = (seen.clone(), seen.clone());
    let sinks = Sinks {
        output: Box::new(move |bytes| output.lock().expect("no panics").0.extend(bytes)),
        report: Box::new(move |_| reports.lock().expect("no panics").1 += 1),
    };
    let device = open_device(DeviceChoice::Cpu, &image(), CpuOptions::default(), sinks);
    (device.expect("the CPU device is always there"), seen)
}

fn image() -> ModuleImage<'static> {
    ModuleImage { cubin: &[], ptx: &[("kernels.ptx", PTX)] }
}

fn run_on(
    device: &dyn Device,
    kernel: &str,
    threads: u32,
    args: &[&str],
) -> Result<Vec<BufferResult>, RunError> {
    let args: Vec<Arg> =
        args.iter().map(|text| text.parse().unwrap_or_else(|error| panic!("{error}"))).collect();
    let run =
        KernelRun { kernel, grid: [1; 3], block: [threads, 1, 1], shared_bytes: 0, args: &args };
    run_kernel(device, &image(), &run)
}

fn run(kernel: &str, threads: u32, args: &[&str]) -> Result<Vec<BufferResult>, RunError> {
    run_on(&*device().0, kernel, threads, args)
}

fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn buffers_come_back_and_say_whether_they_changed() {
    let results = run("scale", 4, &["iota i32[2][2]", "4", "-3"]).expect("it runs");
    assert_eq!(results.len(), 1);
    assert_eq!((results[0].arg, results[0].changed), (0, true));
    assert_eq!(results[0].array.shape, [2, 2]);
    assert_eq!(results[0].array.bytes, ints(&[0, -3, -6, -9]));
    let results = run("scale", 4, &["zeros i32[4]", "4", "9"]).expect("it runs");
    assert!(!results[0].changed);
}

#[test]
fn arguments_take_the_types_of_their_parameters() {
    let pair = "hex 78000000 00000000 00000000 000045c0";
    let results = run("parameters", 1, &["-3", "1000000", pair, "-30000", "zeros i64[5]"]);
    let array = &results.expect("it runs")[0].array;
    let expected: Vec<u8> =
        [-3i64, 1_000_000, 0x78, -42, -30_000].iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(array.bytes, expected);
}

#[test]
fn children_have_run_and_printed_when_it_returns() {
    let (device, seen) = device();
    let results = run_on(&*device, "parent", 1, &["zeros i32[4]"]).expect("it runs");
    assert_eq!(results[0].array.bytes, ints(&[100, 101, 102, 103]));
    run_on(&*device, "hello", 2, &["7"]).expect("it runs");
    assert_eq!(seen.lock().expect("no panics").0, b"device 7\ndevice 7\n");
}

#[test]
fn files_go_in_and_out() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let array = Array { element: Element::I32, shape: vec![3], bytes: ints(&[5, 6, 7]) };
    std::fs::write(path("in.npy"), write_npy(&array)).expect("a scratch file");
    let buffer = format!("file {} -> {}", path("in.npy"), path("out.npy"));
    let results = run("scale", 3, &[&buffer, "3", "2"]).expect("it runs");
    let mut shown = Vec::new();
    deliver(&results, &mut shown).expect("files can be written");
    assert!(shown.is_empty());
    let out = read_npy(&std::fs::read(path("out.npy")).expect("the file")).expect("an NPY file");
    assert_eq!(out, Array { bytes: ints(&[10, 12, 14]), ..array });
    let buffer = format!("file {} -> {}", path("nothing.npy"), path("out.npy"));
    let error = run("scale", 3, &[&buffer, "3", "2"]).expect_err("there is no such file");
    assert!(matches!(error, RunError::File { .. }), "{error}");
}

#[test]
fn what_does_not_fit_is_said() {
    let message = |kernel: &str, args: &[&str]| match run(kernel, 1, args) {
        Ok(_) => panic!("{kernel} runs"),
        Err(error) => error.to_string(),
    };
    assert!(message("scall", &[]).contains("there are `scale`, `hello`"));
    assert!(message("scale", &["1"]).contains("3 parameters"));
    assert!(message("scale", &["zeros i32[1]", "f64 1", "2"]).contains("argument 2 has 8 bytes"));
    assert!(message("scale", &["zeros i32[1]", "zeros i32[1]", "2"]).contains("no pointer"));
    assert!(message("scale", &["zeros i32[1]", "1.5", "2"]).contains("argument 2: `1.5`"));
    assert!(message("hello", &["zeros i32[1] -> x"]).contains("no pointer"));
}

#[test]
fn a_fault_is_an_error_and_a_report() {
    let (device, seen) = device();
    let error = run_on(&*device, "wild", 1, &["16"]).expect_err("it faults");
    let RunError::Device { error, .. } = error else { panic!("{error}") };
    assert_eq!(error.code, CudaError::ILLEGAL_ADDRESS);
    assert_eq!(seen.lock().expect("no panics").1, 1);
    device.reset().expect("it can be used again");
    let results = run_on(&*device, "parent", 1, &["zeros i32[4]"]).expect("it runs");
    assert_eq!(results[0].array.bytes, ints(&[100, 101, 102, 103]));
}

#[test]
fn bad_code_is_refused_with_its_place() {
    let (device, _) = device();
    let text: &[u8] =
        b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n  fly;\n}\n";
    let image = ModuleImage { cubin: &[], ptx: &[("bad.ptx", text)] };
    let run = KernelRun { kernel: "k", grid: [1; 3], block: [1; 3], shared_bytes: 0, args: &[] };
    let error = run_kernel(&*device, &image, &run).expect_err("`fly` is no instruction");
    assert!(error.to_string().contains("bad.ptx:6"), "{error}");
    let image = ModuleImage { cubin: &[], ptx: &[("bytes.ptx", b"\xff")] };
    let error = run_kernel(&*device, &image, &run).expect_err("not text");
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}
