//! Output files: written whole or not at all.

use std::io::Write;
use std::path::Path;

use cdp::Error;

/// Writes through a temporary file in the same folder, so that a failure leaves no partial output
/// and an old file stays until the new one is complete. `-` is standard output.
pub fn write_output(path: &Path, bytes: &[u8], executable: bool) -> Result<(), Error> {
    let failed = |source| Error::Io { action: "write".into(), path: path.to_owned(), source };
    if path == Path::new("-") {
        return match std::io::stdout().write_all(bytes) {
            // A reader that has seen enough, such as head.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(failed),
        };
    }
    let about = std::fs::symlink_metadata(path);
    if about.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    if about.is_ok_and(|about| !about.is_file()) {
        // What a device or a link (`/dev/null`, `/dev/stdout`) stands for is written, and it stays.
        std::fs::write(path, bytes).map_err(failed)?;
        let is_file = std::fs::metadata(path).is_ok_and(|about| about.is_file());
        return if is_file && executable { set_mode(path, true).map_err(failed) } else { Ok(()) };
    }
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(failed(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            format!("there is no folder `{}`", folder.display()),
        )));
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    set_mode(file.path(), executable).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, executable: bool) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if executable { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _executable: bool) -> std::io::Result<()> {
    Ok(())
}
