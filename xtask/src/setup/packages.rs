//! Installing system packages with apt-get.

use std::process::{Command, Stdio};

use crate::cargo::{in_path, output};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Which of these packages dpkg does not have. `None` where there is no dpkg to ask.
pub fn missing(packages: &[&str]) -> Option<Vec<String>> {
    let dpkg = in_path("dpkg-query")?;
    let result = Command::new(dpkg)
        .args(["--show", "--showformat", "${Package} ${db:Status-Abbrev}\n"])
        .args(packages)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&result.stdout).into_owned();
    Some(not_installed(packages, &text))
}

/// Reads dpkg-query's answer; `ii` is "installed".
fn not_installed(packages: &[&str], answer: &str) -> Vec<String> {
    let has = |package: &str| {
        answer.lines().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(package) && words.next() == Some("ii")
        })
    };
    packages.iter().filter(|package| !has(package)).map(|package| (*package).to_owned()).collect()
}

/// Installs packages, through sudo unless this is root.
///
/// # Errors
/// Without apt-get or the right to use it, and when apt-get fails: always with the command to type.
pub fn install(ui: &Ui, what: &str, packages: &[String]) -> Outcome<()> {
    let by_hand = format!("apt-get install {}", packages.join(" "));
    if in_path("apt-get").is_none() {
        return Err(Failure::new(format!(
            "{what} is missing, and there is no apt-get here to install it with; install these or their \
             likes with your system's package manager: {}",
            packages.join(" ")
        )));
    }
    let prefix = privilege(ui).ok_or_else(|| {
        Failure::new(format!(
            "{what} is missing, and installing it takes root: run `{by_hand}` as root, then this again"
        ))
    })?;
    let step = ui.step(&format!("installing {what} ({})", packages.join(" ")));
    step.detail("apt-get update");
    output(&mut apt_get(&prefix, &["update"]))
        .and_then(|_| {
            step.detail(&by_hand);
            let mut command = apt_get(&prefix, &["install", "--yes", "--no-install-recommends"]);
            output(command.args(packages))
        })
        .map_err(|failure| {
            Failure::new(format!("could not install {what} (`{by_hand}`)\n{failure}"))
        })?;
    step.done();
    Ok(())
}

fn apt_get(prefix: &[String], args: &[&str]) -> Command {
    let words: Vec<&str> = prefix
        .iter()
        .map(String::as_str)
        .chain(["apt-get", "--quiet"])
        .chain(args.iter().copied())
        .collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    // For root itself; behind sudo, `env` in the prefix does it.
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// What goes before apt-get: nothing for root, sudo if it works (asking for a password on a terminal).
fn privilege(ui: &Ui) -> Option<Vec<String>> {
    if is_root() {
        return Some(Vec::new());
    }
    in_path("sudo")?;
    let words =
        |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let sudo = words(&["sudo", "--non-interactive", "env", "DEBIAN_FRONTEND=noninteractive"]);
    let works = |args: &[&str]| {
        Command::new("sudo").args(args).status().is_ok_and(|status| status.success())
    };
    if output(Command::new("sudo").args(["--non-interactive", "true"])).is_ok() {
        return Some(sudo);
    }
    use std::io::IsTerminal;
    if !std::io::stdin().is_terminal() {
        return None;
    }
    ui.note("packages have to be installed; sudo may ask for your password");
    works(&["--validate"]).then_some(sudo)
}

#[cfg(unix)]
fn is_root() -> bool {
    // SAFETY: geteuid reads the caller's own id; it has no preconditions and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dpkg_answers() {
        let answer = "libzstd-dev ii \nzlib1g-dev rc \nlibffi-dev ii \n";
        let missing = not_installed(&["libzstd-dev", "zlib1g-dev", "llvm-22-dev"], answer);
        assert_eq!(missing, ["zlib1g-dev", "llvm-22-dev"]);
    }

    #[test]
    fn apt_get_commands() {
        let words = |command: &Command| crate::cargo::shown(command);
        assert_eq!(words(&apt_get(&[], &["update"])), "`apt-get --quiet update`");
        let sudo = ["sudo".to_owned(), "-n".to_owned()];
        assert_eq!(words(&apt_get(&sudo, &["update"])), "`sudo -n apt-get --quiet update`");
    }
}
