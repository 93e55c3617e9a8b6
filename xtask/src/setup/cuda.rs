//! CUDA tools: used where the system has them, else fetched as pinned wheels into `.toolchain`.
//!
//! Three toolkits: 13.0, which everything uses; the ptxas, device linker and device runtime of 12.9
//! for sm_50 to sm_72; the ptxas of 11.8 for 32-bit PTX. Each is made in a temporary folder and renamed when it is
//! whole, so that a folder `cuda-*` is always complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cdp_toolchain::{AddressSize, Arch, Environment, SearchOptions, ToolVersion, Toolchain};
use sha2::{Digest, Sha256};

use super::packages;
use crate::Common;
use crate::cargo::{in_path, output, root};
use crate::failure::{Failure, Outcome};
use crate::ui::{Step, Ui};

/// The wheels: toolkit folder, package, version, SHA-256 of the file, and the only folder that is kept of it if it is
/// not kept whole (cuRAND's library is 130 MB, which nothing of ours links).
const WHEELS: &str = include_str!("wheels.txt");

/// nvlink's command line over libnvJitLink, for the toolkit whose wheels have no nvlink.
const NVLINK: &str = include_str!("nvlink.py");

/// The name of the file in a finished toolkit that says which wheels it was made of.
const PINS: &str = "wheels.txt";

/// The name of the file by which a toolkit tells its version.
const VERSION: &str = "version.json";

/// One wheel of a toolkit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wheel {
    package: String,
    version: String,
    sha256: String,
    /// Nothing but this folder is kept of it; empty for all of it.
    part: String,
}

impl Wheel {
    /// Whether a file's name is this wheel's.
    fn is_in(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(&format!("{}-", self.package.replace('-', "_")))
    }
}

/// One toolkit to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kit {
    /// `cuda-13.0`.
    folder: String,
    wheels: Vec<Wheel>,
}

impl Kit {
    /// The contents of the file [`PINS`].
    fn pins(&self) -> String {
        let line =
            |wheel: &Wheel| format!("{} {} {}\n", wheel.package, wheel.version, wheel.sha256);
        let mut pins: String = self.wheels.iter().map(line).collect();
        if self.has_linker_library() {
            pins.push_str(&format!("nvlink.py {}\n", sha256_hex(NVLINK.as_bytes())));
        }
        pins
    }

    fn has_linker_library(&self) -> bool {
        self.wheels.iter().any(|wheel| wheel.package.starts_with("nvidia-nvjitlink"))
    }

    /// The wheels that a toolkit in place lacks. All of them unless what it has is a part of what is
    /// wanted: files of another version cannot be taken out again.
    fn lacking(&self, toolchain_dir: &Path) -> &[Wheel] {
        let pins = fs::read_to_string(toolchain_dir.join(&self.folder).join(PINS));
        let wanted = self.pins();
        let pins = pins.unwrap_or_default();
        let count = pins.lines().count();
        let is_part = !self.has_linker_library()
            && count <= self.wheels.len()
            && pins.lines().zip(wanted.lines()).all(|(found, wanted)| found == wanted);
        if is_part { &self.wheels[count..] } else { &self.wheels }
    }

    fn is_complete(&self, toolchain_dir: &Path) -> bool {
        fs::read_to_string(toolchain_dir.join(&self.folder).join(PINS))
            .is_ok_and(|pins| pins == self.pins())
    }
}

/// Reads the list of wheels, which is part of this program.
fn kits(text: &str) -> Vec<Kit> {
    let mut kits: Vec<Kit> = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [folder, package, version, sha256] = words[..words.len().min(4)] else { continue };
        let part = words.get(4).copied().unwrap_or_default().to_owned();
        let (package, version, sha256) = (package.into(), version.into(), sha256.into());
        let wheel = Wheel { package, version, sha256, part };
        match kits.iter_mut().find(|kit| kit.folder == folder) {
            Some(kit) => kit.wheels.push(wheel),
            None => kits.push(Kit { folder: folder.into(), wheels: vec![wheel] }),
        }
    }
    kits
}

/// The toolkits that neither the system nor `.toolchain` has.
///
/// # Errors
/// When `--cuda-path` names no toolkit.
pub fn missing(common: &Common) -> Outcome<Vec<Kit>> {
    let dir = root().join(".toolchain");
    let mut kits = kits(WHEELS);
    kits.retain(|kit| !kit.is_complete(&dir));
    if kits.is_empty() && common.cuda_path.is_none() {
        return Ok(kits);
    }
    let system = Toolchain::find(&SearchOptions {
        cuda_path: common.cuda_path.clone(),
        environment: Environment::from_process(),
        start_dirs: Vec::new(),
        ..SearchOptions::from_process()
    })?;
    kits.retain(|kit| !is_provided(&system, &kit.folder));
    Ok(kits)
}

/// Whether the system's toolkits do all that one of ours is for.
fn is_provided(system: &Toolchain, folder: &str) -> bool {
    let assembles =
        |name: &str, size| Arch::parse(name).is_ok_and(|arch| system.ptxas_for(arch, size).is_ok());
    match folder {
        "cuda-11.8" => assembles("sm_75", AddressSize::Bits32),
        "cuda-12.9" => Arch::parse("sm_60").is_ok_and(|arch| {
            let linked = system.link_tools(arch, AddressSize::Bits64);
            assembles("sm_60", AddressSize::Bits64)
                && linked.is_ok_and(|tools| tools.cudadevrt.is_some())
        }),
        folder if folder.starts_with("cmake-") => has_cmake(),
        // An older toolkit is used all the same where it serves, but it does not know the newest
        // architectures, which the tests cover.
        _ => system.toolkits().iter().any(|kit| {
            kit.ptxas.is_some()
                && kit.nvlink.is_some()
                && kit.fatbinary.is_some()
                && kit.libdevice.is_some()
                && kit.cudadevrt().is_some()
                && kit.version() >= Some(ToolVersion::new(13, 0))
        }),
    }
}

/// Whether the system has a CMake of which the module in `compiler/cmake` can be used (3.20, for
/// dependency files with every generator), and something that it can make files for.
fn has_cmake() -> bool {
    let said = output(Command::new("cmake").arg("--version")).unwrap_or_default();
    let version = said.split_whitespace().nth(2).unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (3, 20) && (in_path("ninja").is_some() || in_path("make").is_some())
}

/// Fetches toolkits, all at the same time.
///
/// # Errors
/// Without Python or pip, when a download fails or has another SHA-256, and when files cannot be
/// written.
pub fn fetch(ui: &Ui, kits: &[Kit]) -> Outcome<()> {
    if kits.is_empty() {
        return Ok(());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(Failure::new(
            "CUDA 13.0 or CMake was not found, and they can be fetched for x86-64 Linux only; install them, and set \
             CUDA_HOME",
        ));
    }
    let python = python(ui)?;
    let dir = root().join(".toolchain");
    remove_leftovers(&dir);
    let work = dir.join(format!(".tmp-{}", std::process::id()));
    let fetch_one = |kit: &Kit| fetch_kit(ui, &python, kit, &work.join(&kit.folder));
    let results: Vec<Outcome<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = kits.iter().map(|kit| scope.spawn(move || fetch_one(kit))).collect();
        let ended = |thread: std::thread::ScopedJoinHandle<'_, Outcome<()>>| {
            thread.join().unwrap_or_else(|_| Err(Failure::new("a download thread panicked")))
        };
        threads.into_iter().map(ended).collect()
    });
    remove_leftovers(&dir);
    results.into_iter().collect()
}

/// Removes work folders, also those of runs that were killed: the lock says that no other run is at
/// work. One that cannot be removed is harmless, since nothing looks at its name.
fn remove_leftovers(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(".tmp-") {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Python 3 with pip; Debian ships the two apart.
fn python(ui: &Ui) -> Outcome<PathBuf> {
    let python = in_path("python3").ok_or_else(|| {
        Failure::new("no `python3` in PATH, which fetches and unpacks the CUDA tools; install it, or CUDA 13.0")
    })?;
    let has_pip = || output(Command::new(&python).args(["-m", "pip", "--version"])).is_ok();
    if !has_pip() {
        packages::install(ui, "pip", &["python3-pip".to_owned()])?;
        if !has_pip() {
            return Err(Failure::new(format!(
                "{} has no pip even with python3-pip installed",
                python.display()
            )));
        }
    }
    Ok(python)
}

fn fetch_kit(ui: &Ui, python: &Path, kit: &Kit, work: &Path) -> Outcome<()> {
    let step =
        ui.step(&format!("fetching {} into .toolchain", kit.folder.replace("cuda-", "CUDA ")));
    let made = work.join("toolkit");
    for dir in [work.join("wheels"), work.join("unpacked"), made.clone()] {
        fs::create_dir_all(&dir).map_err(|error| Failure::io("make the folder", &dir, &error))?;
    }
    let wheels = kit.lacking(&root().join(".toolchain"));
    if wheels.len() < kit.wheels.len() {
        link_tree(&root().join(".toolchain").join(&kit.folder), &made)?;
    }
    download(python, wheels, work, &step)?;
    for (index, wheel) in wheel_files(&work.join("wheels"))?.iter().enumerate() {
        step.detail(&format!(
            "unpacking {}",
            wheel.file_name().unwrap_or_default().to_string_lossy()
        ));
        let unpacked = work.join("unpacked").join(index.to_string());
        output(
            python_command(python, work).args(["-m", "zipfile", "-e"]).arg(wheel).arg(&unpacked),
        )?;
        let part = wheels.iter().find(|known| known.is_in(wheel)).map_or("", |known| &known.part);
        merge_wheel(&unpacked, &made, part)?;
    }
    finish(kit, &made)?;
    install(kit, &made, work)?;
    step.done();
    Ok(())
}

/// Python that writes nothing outside the work folder.
fn python_command(python: &Path, work: &Path) -> Command {
    let mut command = Command::new(python);
    command.env("TMPDIR", work).env("PYTHONDONTWRITEBYTECODE", "1").current_dir(work);
    command
}

/// Gives a new toolkit the files of the one in place, which stays whole until it is replaced. What
/// [`finish`] writes is left out, since writing to a linked file would change both.
fn link_tree(from: &Path, to: &Path) -> Outcome<()> {
    let failed = |path: &Path, error: &std::io::Error| Failure::io("link", path, error);
    fs::create_dir_all(to).map_err(|error| Failure::io("make the folder", to, &error))?;
    for entry in fs::read_dir(from).map_err(|error| failed(from, &error))?.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|error| failed(&source, &error))?;
        if kind.is_dir() {
            link_tree(&source, &target)?;
        } else if kind.is_file() && entry.file_name() != PINS && entry.file_name() != VERSION {
            // A file system without hard links takes a copy.
            if fs::hard_link(&source, &target).is_err() {
                fs::copy(&source, &target).map_err(|error| failed(&source, &error))?;
            }
        }
    }
    Ok(())
}

fn download(python: &Path, wheels: &[Wheel], work: &Path, step: &Step<'_>) -> Outcome<()> {
    for (index, wheel) in wheels.iter().enumerate() {
        step.detail(&format!(
            "{} {} ({} of {})",
            wheel.package,
            wheel.version,
            index + 1,
            wheels.len()
        ));
        let dir = work.join("wheels").join(&wheel.package);
        let mut command = python_command(python, work);
        command.args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]);
        command.args([
            "--disable-pip-version-check",
            "--progress-bar",
            "off",
            "--only-binary",
            ":all:",
            "--dest",
        ]);
        command.arg(&dir).arg(format!("{}=={}", wheel.package, wheel.version));
        output(&mut command)?;
        let files = wheel_files(&dir)?;
        let [file] = &files[..] else {
            return Err(Failure::new(format!(
                "pip put {} files where one was expected",
                files.len()
            )));
        };
        let bytes = fs::read(file).map_err(|error| Failure::io("read", file, &error))?;
        check_sha256(wheel, &bytes)?;
        let kept = work.join("wheels").join(file.file_name().unwrap_or_default());
        fs::rename(file, &kept).map_err(|error| Failure::io("move", file, &error))?;
    }
    Ok(())
}

fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_sha256(wheel: &Wheel, bytes: &[u8]) -> Outcome<()> {
    let found = sha256_hex(bytes);
    if found == wheel.sha256 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} {} was fetched, but it is not the file this repository expects\n  SHA-256 found:    {found}\n  SHA-256 expected: {}",
        wheel.package, wheel.version, wheel.sha256
    )))
}

/// The wheels in a folder, in the order of their names.
fn wheel_files(dir: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(|error| Failure::io("read the folder", dir, &error))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "whl"))
        .collect();
    files.sort();
    Ok(files)
}

/// Moves what an unpacked wheel holds into the toolkit: what lies in `nvidia/<component>/`, in
/// `cmake/data/`, or among the scripts. `part` is the only folder of a component to be moved, empty for all.
fn merge_wheel(unpacked: &Path, toolkit: &Path, part: &str) -> Outcome<()> {
    let data = unpacked.join("cmake/data");
    if data.is_dir() {
        merge_dir(&data.join("bin"), &toolkit.join("bin"))?;
        return merge_dir(&data.join("share"), &toolkit.join("share"));
    }
    for entry in fs::read_dir(unpacked).into_iter().flatten().flatten() {
        let scripts = entry.path().join("scripts");
        if scripts.is_dir() {
            return merge_dir(&scripts, &toolkit.join("bin"));
        }
    }
    let nvidia = unpacked.join("nvidia");
    let components =
        fs::read_dir(&nvidia).map_err(|error| Failure::io("read the folder", &nvidia, &error))?;
    for component in components.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        match part {
            "" => merge_dir(&component, toolkit)?,
            part => merge_dir(&component.join(part), &toolkit.join(part))?,
        }
    }
    Ok(())
}

fn merge_dir(from: &Path, to: &Path) -> Outcome<()> {
    let entries =
        fs::read_dir(from).map_err(|error| Failure::io("read the folder", from, &error))?;
    for entry in entries.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "__init__.py" || entry.file_name() == "__pycache__" {
            continue;
        }
        if source.is_dir() {
            merge_dir(&source, &target)?;
            continue;
        }
        fs::create_dir_all(to).map_err(|error| Failure::io("make the folder", to, &error))?;
        fs::rename(&source, &target).map_err(|error| Failure::io("move", &source, &error))?;
    }
    Ok(())
}

/// What wheels lack and a toolkit has: run bits, `lib64`, where nvcc looks, and `version.json`.
fn finish(kit: &Kit, toolkit: &Path) -> Outcome<()> {
    if kit.has_linker_library() {
        let path = toolkit.join("bin/nvlink");
        fs::write(&path, NVLINK).map_err(|error| Failure::io("write", &path, &error))?;
    }
    for dir in [toolkit.join("bin"), toolkit.join("nvvm/bin")] {
        for file in fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
            set_run_bits(&file)?;
        }
    }
    if toolkit.join("lib").is_dir() {
        link_dir("lib", &toolkit.join("lib64"))?;
    }
    let compiler = kit.wheels.iter().find(|wheel| wheel.package.starts_with("nvidia-cuda-nvcc"));
    let version = compiler.map_or("", |wheel| wheel.version.as_str());
    let json = serde_json::json!({ "cuda_nvcc": { "name": "CUDA NVCC", "version": version } });
    let write = |name: &str, text: String| {
        let path = toolkit.join(name);
        fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))
    };
    write(VERSION, format!("{json:#}\n"))?;
    write(PINS, kit.pins())
}

#[cfg(unix)]
fn set_run_bits(file: &Path) -> Outcome<()> {
    use std::os::unix::fs::PermissionsExt;
    if !file.is_file() {
        return Ok(());
    }
    let set = fs::set_permissions(file, fs::Permissions::from_mode(0o755));
    set.map_err(|error| Failure::io("set the run bits of", file, &error))
}

#[cfg(not(unix))]
fn set_run_bits(_: &Path) -> Outcome<()> {
    Ok(())
}

#[cfg(unix)]
fn link_dir(target: &str, link: &Path) -> Outcome<()> {
    std::os::unix::fs::symlink(target, link)
        .map_err(|error| Failure::io("make the link", link, &error))
}

#[cfg(not(unix))]
fn link_dir(_: &str, _: &Path) -> Outcome<()> {
    Ok(())
}

/// Puts a whole toolkit in its place; one of other wheels makes room first.
fn install(kit: &Kit, made: &Path, work: &Path) -> Outcome<()> {
    let place = root().join(".toolchain").join(&kit.folder);
    if place.exists() {
        fs::rename(&place, work.join("replaced"))
            .map_err(|error| Failure::io("move away", &place, &error))?;
    }
    fs::rename(made, &place).map_err(|error| Failure::io("put in place", &place, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_wheels_is_whole() {
        let kits = kits(WHEELS);
        let folders: Vec<&str> = kits.iter().map(|kit| kit.folder.as_str()).collect();
        assert_eq!(folders, ["cuda-13.0", "cuda-12.9", "cuda-11.8", "cmake-3.31"]);
        let parts: Vec<_> = kits.iter().flat_map(|kit| &kit.wheels).map(|w| &w.part).collect();
        assert!(parts.iter().any(|part| part.is_empty()) && parts.iter().any(|p| *p == "include"));
        let curand = kits[0].wheels.last().unwrap();
        assert!(curand.is_in(Path::new("w/nvidia_curand-10.4.0.35-py3-none-any.whl")));
        assert!(!curand.is_in(Path::new("nvidia_curand_dev-10.4.0.35-py3-none-any.whl")));
        for wheel in kits.iter().flat_map(|kit| &kit.wheels) {
            assert!(
                wheel.sha256.len() == 64 && wheel.sha256.bytes().all(|b| b.is_ascii_hexdigit()),
                "{wheel:?}"
            );
        }
        let lines =
            WHEELS.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert_eq!(kits.iter().map(|kit| kit.wheels.len()).sum::<usize>(), lines);
    }

    #[test]
    fn a_toolkit_is_complete_only_with_the_same_pins() {
        let dir = tempfile::tempdir().unwrap();
        let kit = &kits(WHEELS)[0];
        assert!(!kit.is_complete(dir.path()));
        let place = dir.path().join(&kit.folder);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(PINS), "nvidia-cuda-nvcc 12.0 00\n").unwrap();
        assert!(!kit.is_complete(dir.path()));
        fs::write(place.join(PINS), kit.pins()).unwrap();
        assert!(kit.is_complete(dir.path()));
    }

    #[test]
    fn a_toolkit_in_place_is_added_to() {
        let dir = tempfile::tempdir().unwrap();
        let kit = &kits(WHEELS)[0];
        let place = dir.path().join(&kit.folder);
        fs::create_dir_all(place.join("bin")).unwrap();
        fs::write(place.join("bin/ptxas"), "x").unwrap();
        let pins = kit.pins();
        let (older, last) = pins.trim_end().rsplit_once('\n').unwrap();
        fs::write(place.join(PINS), older).unwrap();
        let lacking = kit.lacking(dir.path());
        assert!(lacking.len() == 1 && last.starts_with(&lacking[0].package), "{lacking:?}");
        fs::write(place.join(PINS), older.replace("13.0", "13.1")).unwrap();
        assert_eq!(kit.lacking(dir.path()).len(), kit.wheels.len());
        fs::remove_file(place.join(PINS)).unwrap();
        assert_eq!(kit.lacking(dir.path()).len(), kit.wheels.len());

        fs::write(place.join(PINS), older).unwrap();
        let made = dir.path().join("made");
        link_tree(&place, &made).unwrap();
        finish(kit, &made).unwrap();
        assert_eq!(fs::read_to_string(made.join("bin/ptxas")).unwrap(), "x");
        assert_eq!(fs::read_to_string(made.join(PINS)).unwrap(), pins);
        assert_eq!(fs::read_to_string(place.join(PINS)).unwrap(), older);
    }

    #[test]
    fn other_bytes_are_refused() {
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        let wheel = Wheel { package: "p".into(), version: "1".into(), sha256, part: String::new() };
        assert!(check_sha256(&wheel, b"abc").is_ok());
        assert!(check_sha256(&wheel, b"abd").unwrap_err().to_string().contains("expected"));
    }

    #[test]
    fn wheels_merge_into_one_toolkit() {
        let dir = tempfile::tempdir().unwrap();
        let kit = &kits(WHEELS)[0];
        let toolkit = dir.path().join("toolkit");
        for (wheel, part, files) in [
            ("0", "", &["bin/ptxas"] as &[&str]),
            ("1", "", &["lib/libcudadevrt.a"]),
            ("2", "include", &["include/curand.h", "lib/libcurand.so.10"]),
        ] {
            for file in files {
                let path = dir.path().join(wheel).join("nvidia/cu13").join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path.with_file_name("__init__.py"), "").unwrap();
                fs::write(path, "x").unwrap();
            }
            merge_wheel(&dir.path().join(wheel), &toolkit, part).unwrap();
        }
        finish(kit, &toolkit).unwrap();
        assert!(toolkit.join("include/curand.h").is_file());
        assert!(!toolkit.join("lib/libcurand.so.10").exists());
        assert!(
            toolkit.join("lib64/libcudadevrt.a").is_file()
                && !toolkit.join("bin/__init__.py").exists()
        );
        assert!(fs::read_to_string(toolkit.join("version.json")).unwrap().contains("13.0.88"));
        #[cfg(unix)]
        assert!(output(Command::new("test").arg("-x").arg(toolkit.join("bin/ptxas"))).is_ok());
    }
}
