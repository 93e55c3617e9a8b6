//! What build systems read of `nvcc -v` before they build anything, in its form: where the toolkit is, and what a linker of
//! their own is to be given. CMake asks for both when `cdpc` is its CUDA compiler.
//!
//! Said is where things are, not what is run: that is the commands behind it.

use std::path::Path;

use cdp::Compiler;

use crate::args::Build;
use crate::run::runtime_library;

/// Libraries beside the runtime that it needs.
const SYSTEM: &str = "-lstdc++ -lm -ldl -lpthread";

/// The lines, for a command line in nvcc's manner.
pub fn lines(args: &Build, compiler: &Compiler) -> String {
    let kit = compiler.toolchain().headers().ok();
    let root = kit.map(|kit| kit.root.as_path());
    let runtime = runtime_library();
    // Behind the runtime's: CMake tries a program with CUDA's own runtime, which has to be found.
    let devices = kit.and_then(|kit| kit.cudadevrt()).map(|library| library.path.as_path());
    let files = runtime.as_deref().into_iter().flat_map(|runtime| [Some(runtime), devices]);
    let folders: Vec<&Path> = files.flatten().filter_map(Path::parent).collect();
    let links = !args.compile_only && !args.device_link && !args.preprocess;
    written(root, &folders, std::env::var("PATH").ok().as_deref(), links)
}

fn written(root: Option<&Path>, folders: &[&Path], path: Option<&str>, links: bool) -> String {
    let mut out = String::new();
    let mut variable = |name: &str, value: &str| out.push_str(&format!("#$ {name}={value}\n"));
    if let Some(root) = root {
        let root = root.display();
        variable("TOP", &root.to_string());
        variable("NVVMIR_LIBRARY_DIR", &format!("{root}/nvvm/libdevice"));
        variable("INCLUDES", &format!("\"-I{root}/include\""));
    }
    if let Some(path) = path {
        variable("PATH", path);
    }
    if !folders.is_empty() {
        let folders = folders.iter().map(|folder| format!("\"-L{}\"", folder.display()));
        let libraries = folders.collect::<Vec<_>>().join(" ");
        variable("LIBRARIES", &libraries);
        if links {
            out.push_str(&format!("c++ {libraries} -lcdp_runtime {SYSTEM}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_nvccs() {
        let [root, runtime, devices] = ["/cuda", "/cdp/lib", "/cuda/lib"].map(Path::new);
        let made = written(Some(root), &[runtime, devices], Some("/bin"), true);
        let expected = "#$ TOP=/cuda\n#$ NVVMIR_LIBRARY_DIR=/cuda/nvvm/libdevice\n\
                        #$ INCLUDES=\"-I/cuda/include\"\n#$ PATH=/bin\n#$ LIBRARIES=\"-L/cdp/lib\" \"-L/cuda/lib\"\n\
                        c++ \"-L/cdp/lib\" \"-L/cuda/lib\" -lcdp_runtime -lstdc++ -lm -ldl -lpthread\n";
        assert_eq!(made, expected);
        assert_eq!(written(None, &[], None, true), "");
        assert!(!written(None, &[runtime], None, false).contains("c++"));
    }
}
