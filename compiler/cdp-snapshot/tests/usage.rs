//! The crate as another crate's tests use it.

use cdp_snapshot::{PtxSnapshot, Ptxas, SnapshotError, assert_ptx_snapshot};

const SOURCE: &str = "
__device__ float scaled(float x, float by) { return x * by; }
__global__ void child(float *out, float by) { out[threadIdx.x] = scaled(out[threadIdx.x], by); }
__global__ void parent(float *out, int n) { if (n > 0) child<<<n, 32>>>(out, 0.5f); }
";

#[test]
fn one_function() {
    let snapshot = PtxSnapshot::of_source("scale.cdp", SOURCE)
        .option("arch", "sm_90")
        .option("launch-opt", "off");
    assert_ptx_snapshot!("parent", snapshot.clone().function("parent").take().unwrap());
    assert_ptx_snapshot!(
        "child_with_header",
        snapshot.function("child").header(true).take().unwrap()
    );
}

#[test]
fn llvm_ir() {
    let ir = "target triple = \"nvptx64-nvidia-cuda\"
              define ptx_kernel void @fill(ptr %out, i32 %x) { store i32 %x, ptr %out ret void }";
    let snapshot = PtxSnapshot::of_llvm("fill.ll", ir).function("fill").ptxas(Ptxas::Never);
    assert_ptx_snapshot!("llvm_ir", snapshot.take().unwrap());
}

#[test]
fn what_goes_wrong_is_said() {
    let wrong = PtxSnapshot::of_source("wrong.cdp", "__global__ void k() { missing(); }");
    let said = wrong.take().unwrap_err().to_string();
    assert!(said.contains("missing") && said.contains("wrong.cdp"), "{said}");
    let snapshot = || PtxSnapshot::of_source("scale.cdp", SOURCE).ptxas(Ptxas::Never);
    let error = snapshot().function("nobody").take().unwrap_err();
    assert!(matches!(error, SnapshotError::Normal(_)), "{error}");
    let error = snapshot().option("arhc", "sm_90").take().unwrap_err();
    assert!(matches!(error, SnapshotError::Option(_)), "{error}");
    let error = PtxSnapshot::of_file("no/such.cdp").take().unwrap_err();
    assert!(error.to_string().contains("no/such.cdp"), "{error}");
    assert!(PtxSnapshot::of_file("odd.xyz").take().is_err());
}
