//! Headers of `.cu` files that were read once and kept: what is built with them is what is built without.

use libtest_mimic::Failed;

use crate::cuda::{TIME_LIMIT, contains, folder, text, write};
use crate::support::{Outcome, cdpc, files, read, run_limited, same};

/// Headers are kept in the cache folder, those of a file from its second time on; the output is the same
/// with and without, also where a kept header is broken, or a header of the program's own comes up.
pub fn headers() -> Outcome {
    let folder = folder()?;
    let source = "// First.\n#include <cstdio>\n#include <array.h>\n#include <vector>
__global__ void k(int *p) { printf(\"%d\\n\", *p + SIZE); }
int main() { std::vector<int> v(SIZE); k<<<1, 1>>>(v.data()); }\n";
    write(folder.path(), "a.cu", source)?;
    std::fs::create_dir(folder.path().join("own")).map_err(|error| error.to_string())?;
    write(&folder.path().join("own"), "array.h", "#define SIZE 3\n")?;
    let build = |cache: &str, out: &str| -> Result<String, Failed> {
        let args = ["build", "a.cu", "-I", "own", "-MMD", "--emit", "ptx", "-o", out];
        let mut command = cdpc();
        command.args(args).current_dir(folder.path()).env("CDP_CACHE_DIR", cache);
        let output = run_limited(&mut command, TIME_LIMIT)?;
        same("what is said", &text(&output.stderr), "")?;
        let rule = read(&folder.path().join(out).with_extension("d"))?;
        contains("the dependencies", &rule, "own/array.h")?;
        if rule.contains("cache") {
            return Err(format!("the dependencies have a header of the cache:\n{rule}").into());
        }
        read(&folder.path().join(out))
    };
    let kept = |extension: &str| -> Vec<std::path::PathBuf> {
        files(&folder.path().join("cache/pch"), extension)
    };
    let plain = build("", "plain.ptx")?;
    for (round, headers) in [1, 2, 2].into_iter().enumerate() {
        same("the PTX", &build("cache", "kept.ptx")?, &plain)?;
        same(
            &format!("headers after round {round}"),
            &kept("pch").len().to_string(),
            &headers.to_string(),
        )?;
    }
    for header in kept("pch") {
        std::fs::write(header, "no header").map_err(|error| error.to_string())?;
    }
    same("the PTX", &build("cache", "broken.ptx")?, &plain)?;
    write(
        &folder.path().join("own"),
        "cstdio",
        "#include_next <cstdio>\n#undef SIZE\n#define LATE\n",
    )?;
    write(&folder.path().join("own"), "array.h", "#ifdef LATE\n#define SIZE 4\n#endif\n")?;
    let changed = build("", "plain.ptx")?;
    same("the PTX with headers of its own", &build("cache", "kept.ptx")?, &changed)
}

/// Member templates that are specialised within their class, as those behind textures of vectors are, come out of a kept
/// header as they went in, in every standard.
pub fn templates() -> Outcome {
    let folder = folder()?;
    let source =
        "__global__ void k(cudaTextureObject_t t, float4 *p) { *p = tex2D<float4>(t, 0, 0); }\n";
    write(folder.path(), "t.cu", source)?;
    for standard in ["c++17", "c++20", "c++23"] {
        let build = |cache: &str| -> Result<String, Failed> {
            let flag = format!("-std={standard}");
            let mut command = cdpc();
            command.args(["build", "t.cu", &flag, "--emit", "ptx", "-o", "t.ptx"]);
            command.current_dir(folder.path()).env("CDP_CACHE_DIR", cache);
            let output = run_limited(&mut command, TIME_LIMIT)?;
            same("what is said", &text(&output.stderr), "")?;
            read(&folder.path().join("t.ptx"))
        };
        let plain = build("")?;
        for _ in 0..3 {
            same(&format!("the PTX of {standard}"), &build("cache")?, &plain)?;
        }
    }
    Ok(())
}
