//! Gives the library the name and the symbol version of CUDA's own, which programs that nvcc linked with
//! `-cudart shared` ask the dynamic linker for (`readelf -V` of CUDA 13.0's library).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcudart.so.13");
    // Every exported symbol gets the soname as its version. Rust's own linker, lld, has no such option.
    println!("cargo:rustc-cdylib-link-arg=-fuse-ld=bfd");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--default-symver");
}
