//! What is written: files whole or not at all, standard output, and never a file that was read.

use std::io::Write;
use std::path::{Path, PathBuf};

use cdp::Error;
use cdp_toolchain::Leftover;

use crate::common::Usage;

/// Writes through a temporary file in the same folder, so that a failure leaves no partial output
/// and an old file stays until the new one is complete. `-` is standard output.
pub fn write_output(path: &Path, bytes: &[u8], executable: bool) -> Result<(), Error> {
    let failed = |source| Error::Io { action: "write".into(), path: path.to_owned(), source };
    if path == Path::new("-") {
        return print(bytes);
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
    let make = || tempfile::NamedTempFile::new_in(folder);
    let (mut file, _gone) = Leftover::make(make, |file| file.path()).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    set_mode(file.path(), executable).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes to standard output. A reader that has seen enough, such as `head`, is no error.
pub fn print(bytes: &[u8]) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Io { action: "write".into(), path: "standard output".into(), source })
        }
        _ => Ok(()),
    }
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

/// The files that a command writes, with the option that names each, and those that it reads.
#[derive(Default)]
pub struct Outputs {
    written: Vec<(String, PathBuf)>,
}

impl Outputs {
    /// Adds a file that will be written. Standard output and devices are shared.
    pub fn add(&mut self, option: impl Into<String>, path: &Path) {
        if path != Path::new("-") {
            self.written.push((option.into(), path.to_owned()));
        }
    }

    /// No output is a file that is read, by whatever name, and no two outputs are one file.
    pub fn check<'p>(&self, read: impl IntoIterator<Item = &'p Path>) -> Result<(), Usage> {
        let files: Vec<_> = self.written.iter().map(|(_, path)| identity(path)).collect();
        for (index, file) in files.iter().enumerate() {
            let first = files[..index].iter().position(|other| other.is_some() && other == file);
            let Some(first) = first else { continue };
            let (first, second) = (&self.written[first], &self.written[index]);
            return Err(Usage(format!(
                "{} and {} would both become `{}`\n  help: give one of them another name, with -o \
                 or -MF",
                first.0,
                second.0,
                second.1.display()
            )));
        }
        let read = read.into_iter().filter(|path| *path != Path::new("-"));
        for path in read {
            let Some(input) = identity(path) else { continue };
            if let Some(at) = files.iter().position(|file| file.as_ref() == Some(&input)) {
                let (option, output) = &self.written[at];
                return Err(Usage(format!(
                    "{option} would overwrite `{}`, which is read\n  help: give another name \
                     than `{}`",
                    path.display(),
                    output.display()
                )));
            }
        }
        Ok(())
    }
}

/// What a path leads to, however it is spelt: for a file that exists its number, for one that does not
/// yet its folder's and its name. `None` for devices and the like, which are no one's.
fn identity(path: &Path) -> Option<Identity> {
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() => Some(Identity::of(path, &about)),
        Ok(_) => None,
        Err(_) => {
            // A link that leads nowhere yet names what it will lead to.
            let target = std::fs::read_link(path)
                .ok()
                .map(|target| path.parent().unwrap_or(Path::new("")).join(target));
            let path = target.as_deref().unwrap_or(path);
            let folder = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            Some(Identity::Name(folder.join(path.file_name()?)))
        }
    }
}

#[derive(PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    Number(u64, u64),
    Name(PathBuf),
}

impl Identity {
    #[cfg(unix)]
    fn of(_path: &Path, about: &std::fs::Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity::Number(about.dev(), about.ino())
    }

    #[cfg(not(unix))]
    fn of(path: &Path, _about: &std::fs::Metadata) -> Identity {
        Identity::Name(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }
}
