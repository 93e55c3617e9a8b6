//! Keeps the CUDA runtime's functions, which the CPU device's crate defines for compiled programs, out
//! of `libcdp.so`: a process may have NVIDIA's as well. Only this crate's own functions are exported.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
        // An installed library has its version in the name that programs ask for.
        let version = std::env::var("CDP_SO_VERSION").map(|version| format!(".{version}"));
        let version = version.unwrap_or_default();
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcdp.so{version}");
        // Threads of the library wait for the next call for a while; their code must stay where it is.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CDP_SO_VERSION");
}
