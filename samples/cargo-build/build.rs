//! Compiles the kernels; the module `kernels.rs` in `OUT_DIR` holds what comes out.

fn main() {
    cdp_build::Build::new().file("src/kernels.cdp").arch("sm_90").compile("kernels");
}
