//! `cargo xtask install` and `cargo xtask dist`: the command, the libraries, the header, the manual pages,
//! completions for shells and the licences, in the places where Unix keeps them; in an archive for another machine.
//!
//! What is installed needs neither LLVM nor Rust: LLVM is linked in. CUDA's tools are found at run time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::cargo::{build_release_with, output, root, target_dir};
use crate::failure::{Failure, Outcome};
use crate::files::{copy, create, link, write};
use crate::table::{Align, bytes, table};
use crate::ui::Ui;

/// Options of `install`.
#[derive(Args)]
pub struct InstallOptions {
    /// Where to: PREFIX/bin, PREFIX/lib, PREFIX/include, PREFIX/share
    #[arg(long, value_name = "PREFIX", default_value = "/usr/local")]
    prefix: PathBuf,
    /// Put this before every path, for who makes packages
    #[arg(long, value_name = "DIR")]
    destdir: Option<PathBuf>,
}

/// The version in the name of the shared library; it counts incompatible interfaces.
const SO_VERSION: &str = "1";

/// Builds and installs.
///
/// # Errors
/// When something does not build or cannot be written.
pub fn install(ui: &Ui, options: &InstallOptions) -> Outcome<ExitCode> {
    let prefix = std::path::absolute(&options.prefix)
        .map_err(|error| Failure::new(format!("{}: {error}", options.prefix.display())))?;
    let to = match &options.destdir {
        Some(destdir) => destdir.join(prefix.strip_prefix("/").unwrap_or(&prefix)),
        None => prefix.clone(),
    };
    let sizes = install_into(&to, &prefix)?;
    for line in table(&[Align::Left, Align::Right], &sizes) {
        ui.line(&line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the archive `cdp-VERSION-x86_64-linux.tar.gz`.
///
/// # Errors
/// As [`install`].
pub fn dist(ui: &Ui) -> Outcome<ExitCode> {
    let name = format!("cdp-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let out = target_dir()?.join("dist");
    let folder = out.join(&name);
    let _ = fs::remove_dir_all(&folder);
    let sizes = install_into(&folder, Path::new("/usr/local"))?;
    for paper in ["README.md", "CHANGELOG.md"] {
        copy(&root().join(paper), &folder.join(paper), 0o644)?;
    }
    let archive = out.join(format!("{name}.tar.gz"));
    output(Command::new("tar").arg("czf").arg(&archive).arg("-C").arg(&out).arg(&name))?;
    for line in table(&[Align::Left, Align::Right], &sizes) {
        ui.line(&line);
    }
    let size = fs::metadata(&archive).map_or(0, |about| about.len());
    ui.line(&format!("{} ({})", archive.display(), bytes(size)));
    Ok(ExitCode::SUCCESS)
}

/// Everything below `to`; `prefix` is where it will be used. Names and sizes of what counts.
fn install_into(to: &Path, prefix: &Path) -> Outcome<Vec<Vec<String>>> {
    let packages = ["cdpc", "cdp-runtime", "cdp-cudart", "cdp-capi"];
    let release = build_release_with(&packages, &[("CDP_SO_VERSION", SO_VERSION)])?;
    let (bin, lib) = (to.join("bin"), to.join("lib"));
    copy(&release.join("cdpc"), &bin.join("cdpc"), 0o755)?;
    strip(&bin.join("cdpc"))?;
    let versioned = format!("libcdp.so.{SO_VERSION}");
    copy(&release.join("libcdp.so"), &lib.join(&versioned), 0o755)?;
    strip(&lib.join(&versioned))?;
    link(&versioned, &lib.join("libcdp.so"))?;
    // Where `cdpc` looks for what it links programs with: beside it, or in ../lib.
    for library in ["libcdp.a", "libcdp_runtime.a"] {
        copy(&release.join(library), &lib.join(library), 0o644)?;
        output(Command::new("strip").arg("--strip-debug").arg(lib.join(library)))?;
    }
    // Not among the libraries: a program asks for it by `LD_LIBRARY_PATH`.
    let cudart = lib.join("cdp/libcudart.so.13");
    copy(&release.join("libcudart.so"), &cudart, 0o755)?;
    strip(&cudart)?;
    copy(&root().join("compiler/cdp-capi/include/cdp.h"), &to.join("include/cdp.h"), 0o644)?;
    write(&lib.join("pkgconfig/cdp.pc"), pkg_config(prefix))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(licence), &to.join("share/doc/cdp").join(licence), 0o644)?;
    }
    papers(&release.join("cdpc"), &to.join("share"))?;
    let files = [
        "bin/cdpc".to_owned(),
        format!("lib/{versioned}"),
        "lib/libcdp.a".into(),
        "lib/libcdp_runtime.a".into(),
        "lib/cdp/libcudart.so.13".into(),
    ];
    let size = |name: &String| fs::metadata(to.join(name)).map_or(0, |about| about.len());
    Ok(files.iter().map(|name| vec![name.clone(), bytes(size(name))]).collect())
}

/// Completions and where the shells look for them, below `share`.
const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "bash-completion/completions/cdpc"),
    ("elvish", "elvish/lib/cdpc.elv"),
    ("fish", "fish/vendor_completions.d/cdpc.fish"),
    ("zsh", "zsh/site-functions/_cdpc"),
];

/// The manual pages and the completions, which the command itself makes.
fn papers(cdpc: &Path, share: &Path) -> Outcome<()> {
    let pages = share.join("man/man1");
    create(&pages)?;
    output(Command::new(cdpc).arg("man").arg(&pages))?;
    for (shell, place) in COMPLETIONS {
        write(&share.join(place), output(Command::new(cdpc).args(["completions", shell]))?)?;
    }
    Ok(())
}

fn pkg_config(prefix: &Path) -> String {
    format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: cdp\nDescription: A compiler for CUDA dynamic parallelism as a C library\n\
         Version: {}\nLibs: -L${{libdir}} -lcdp\n\
         Libs.private: -Wl,--gc-sections -lstdc++ -lffi -lz -lzstd -lm -ldl\n\
         Cflags: -I${{includedir}}\n",
        prefix.display(),
        env!("CARGO_PKG_VERSION")
    )
}

/// Removes what only a debugger of the compiler itself would read.
pub fn strip(path: &Path) -> Outcome<()> {
    output(Command::new("strip").arg("--strip-unneeded").arg(path)).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What stands for the command writes what it was asked for.
    #[test]
    fn the_command_writes_its_own_papers() {
        let folder = std::env::temp_dir().join(format!("xtask-papers-{}", std::process::id()));
        let script =
            "#!/bin/sh\ncase $1 in man) echo page > \"$2/cdpc.1\";; *) echo for $2;; esac\n";
        write(&folder.join("source"), script).unwrap();
        let command = folder.join("cdpc");
        copy(&folder.join("source"), &command, 0o755).unwrap();
        papers(&command, &folder.join("share")).unwrap();
        let read = |name: &str| fs::read_to_string(folder.join("share").join(name)).unwrap();
        assert_eq!(read("man/man1/cdpc.1"), "page\n");
        for (shell, place) in COMPLETIONS {
            assert_eq!(read(place), format!("for {shell}\n"));
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
