//! Making files and folders, with failures that name them.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    move |error| Failure::io(action, path, &error)
}

/// Makes a folder with those above it.
pub fn create(folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder).map_err(failed("make", folder))
}

/// The bytes of a file.
pub fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(failed("read", path))
}

/// Writes a file, in a folder that is made if absent.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Outcome<()> {
    create(path.parent().unwrap_or(path))?;
    fs::write(path, contents).map_err(failed("write", path))
}

/// Copies a file into a folder that is made if absent, and gives it these permissions (0o755).
pub fn copy(from: &Path, to: &Path, mode: u32) -> Outcome<()> {
    create(to.parent().unwrap_or(to))?;
    // A program that runs cannot be overwritten, but its name can be given to another file.
    let _ = fs::remove_file(to);
    fs::copy(from, to).map_err(failed("copy", from))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
        .map_err(failed("set the permissions of", to))
}

/// Makes a symbolic link.
pub fn link(target: &str, path: &Path) -> Outcome<()> {
    let _ = fs::remove_file(path);
    symlink(target, path).map_err(failed("make", path))
}

/// What lies in a folder, sorted.
pub fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed("read", folder))? {
        paths.push(entry.map_err(failed("read", folder))?.path());
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_made_with_their_folders_and_failures_name_them() {
        let folder = std::env::temp_dir().join(format!("xtask-files-{}", std::process::id()));
        let (one, two) = (folder.join("a/one"), folder.join("b/two"));
        write(&one, "text").unwrap();
        copy(&one, &two, 0o755).unwrap();
        link("one", &folder.join("a/link")).unwrap();
        link("one", &folder.join("a/link")).unwrap();
        assert_eq!(read(&folder.join("a/link")).unwrap(), b"text");
        assert_eq!(fs::metadata(&two).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(entries(&folder).unwrap(), [folder.join("a"), folder.join("b")]);
        let error = write(&one.join("below"), "").unwrap_err().to_string();
        assert!(error.contains("could not make") && error.contains("a/one"), "{error}");
        let error = copy(&folder.join("none"), &two, 0o644).unwrap_err().to_string();
        assert!(error.contains("could not copy") && error.contains("none"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
