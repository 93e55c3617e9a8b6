//! The programs that this crate starts, and how their commands are shown.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// The programs that this crate starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// NVIDIA's assembler, PTX to device object.
    Ptxas,
    /// NVIDIA's device linker.
    Nvlink,
    /// NVIDIA's packager of device images.
    Fatbinary,
    /// NVIDIA's reader of objects, used to take device objects out of host objects.
    Cuobjdump,
    /// clang, which reads CUDA C++.
    Clang,
    /// The host's C compiler, used as linker, and its linker and `objcopy` where they are used alone.
    Cc,
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tool::Ptxas => "ptxas",
            Tool::Nvlink => "nvlink",
            Tool::Fatbinary => "fatbinary",
            Tool::Cuobjdump => "cuobjdump",
            Tool::Clang => "clang",
            Tool::Cc => "cc",
        })
    }
}

/// A command as it was or would be run. `Display` quotes it so that it can be pasted in a shell
/// whose current folder is [`ToolCommand::work_dir`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCommand {
    /// Which tool.
    pub tool: Tool,
    /// The program's path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder that it runs in; relative paths among the arguments begin there.
    pub work_dir: PathBuf,
}

impl fmt::Display for ToolCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shell_quote(&self.program.to_string_lossy()))?;
        for arg in &self.args {
            write!(f, " {}", shell_quote(&arg.to_string_lossy()))?;
        }
        Ok(())
    }
}

/// Quotes one word for a POSIX shell, only where needed.
fn shell_quote(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./=,+:@%".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn quoting_round_trips_through_a_shell() {
        for word in ["plain-1.o", "", "with space", "it's", "$HOME", "a\"b", "*", "ü"] {
            let output = Command::new("/bin/sh")
                .arg("-c")
                .arg(format!("printf %s {}", shell_quote(word)))
                .output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), word);
        }
    }
}
