//! The runner's table and its Markdown report.

use std::fmt;
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::case::{Outcome, device_word};
use crate::bundle::{Case, Manifest};
use cdp_runtime::gpu::{self, GpuDevice};
use cdp_runtime::{Device, DeviceKind};

/// Where the cases are run.
pub(crate) struct Machine {
    device: DeviceKind,
    name: String,
    capability: u32,
    /// As NVIDIA names releases: `580.159.03`.
    release: Option<String>,
    /// CUDA version that the driver supports, 1000 * major + 10 * minor.
    cuda: i32,
}

impl Machine {
    /// Asks the device; an error if there is none.
    pub fn find(device: DeviceKind) -> Result<Machine, String> {
        if device == DeviceKind::Cpu {
            let name = "CPU device".to_owned();
            return Ok(Machine { device, name, capability: 0, release: None, cuda: 0 });
        }
        let gpu = GpuDevice::open(0).map_err(|error| error.to_string())?;
        Ok(Machine {
            device,
            name: gpu.name(),
            capability: gpu::compute_capability(0).map_err(|error| error.to_string())?,
            release: driver_release(),
            cuda: gpu.driver_version().map_err(|error| error.to_string())?,
        })
    }
}

/// The driver's release, where Linux shows it: `NVRM version: NVIDIA UNIX ... 580.159.03  Release ...`.
fn driver_release() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_release =
        |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    text.lines().next()?.split_whitespace().find(is_release).map(str::to_owned)
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.device == DeviceKind::Cpu {
            return f.write_str(&self.name);
        }
        let (major, minor) = (self.capability / 10, self.capability % 10);
        write!(f, "{} (compute capability {major}.{minor}), driver ", self.name)?;
        if let Some(release) = &self.release {
            write!(f, "{release}, ")?;
        }
        write!(f, "CUDA {}.{}", self.cuda / 1000, self.cuda % 1000 / 10)
    }
}

fn verdict(outcome: &Outcome) -> String {
    let word = if outcome.passed() { "pass" } else { "FAIL" };
    match outcome.checks {
        (_, 0) => word.to_owned(),
        (good, all) => format!("{word} {good}/{all}"),
    }
}

/// Problems shown of a case; a case of hundreds of launches may have hundreds.
const PROBLEMS_SHOWN: usize = 10;

fn problems(outcome: &Outcome) -> impl Iterator<Item = String> + '_ {
    let more = outcome.problems.len().saturating_sub(PROBLEMS_SHOWN);
    let rest = (more > 0).then(|| format!("and {more} more"));
    outcome.problems.iter().take(PROBLEMS_SHOWN).cloned().chain(rest)
}

/// One case on standard output.
pub(crate) fn line(case: &Case, outcome: &Outcome, width: usize) -> String {
    let mut text =
        format!("{:width$}  {:>7} ms  {}", case.name, outcome.time.as_millis(), verdict(outcome));
    for problem in problems(outcome) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n    {problem}");
    }
    text
}

/// The whole report.
pub(crate) fn markdown(
    machine: &Machine,
    manifest: &Manifest,
    rows: &[(&Case, &Outcome)],
) -> String {
    let passed = rows.iter().filter(|(_, outcome)| outcome.passed()).count();
    let (good, all) = rows
        .iter()
        .fold((0, 0), |sum, (_, outcome)| (sum.0 + outcome.checks.0, sum.1 + outcome.checks.1));
    let time: Duration = rows.iter().map(|(_, outcome)| outcome.time).sum();
    let mut text = format!("# {} report\n\n", device_word(machine.device));
    let mut put = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    put(format!("- Date: {}", date(SystemTime::now())));
    put(format!("- Device: {machine}"));
    if !manifest.arch.is_empty() {
        put(format!("- Compiled for: {}", manifest.arch));
    }
    if !manifest.commit.is_empty() {
        put(format!("- Commit: {}", manifest.commit));
    }
    put(format!("- Cases: {passed} of {} passed, {:.1} s in all", rows.len(), time.as_secs_f64()));
    if all > 0 {
        put(format!("- Launches checked: {good} of {all} as expected"));
    }
    put("\n| case | result | time (ms) |\n| --- | --- | ---: |".to_owned());
    for (case, outcome) in rows {
        put(format!("| {} | {} | {} |", case.name, verdict(outcome), outcome.time.as_millis()));
    }
    if passed < rows.len() {
        put("\n## Failures".to_owned());
    }
    for (case, outcome) in rows.iter().filter(|(_, outcome)| !outcome.passed()) {
        put(format!("\n### {}\n", case.name));
        for problem in problems(outcome) {
            put(format!("- {}", problem.replace('\n', "\n  ")));
        }
    }
    if !manifest.left_out.is_empty() {
        put("\n## Left out\n".to_owned());
    }
    for left_out in &manifest.left_out {
        put(format!("- {}: {}", left_out.name, left_out.reason));
    }
    text
}

/// `2026-11-21 08:15 UTC` (civil calendar from days: the years begin in March, so that the leap day
/// ends them).
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March of year 0; 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + carry;
    let (hour, minute) = (second / 3_600, second % 3_600 / 60);
    format!("{year}-{month:02}-{day_of_month:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::LeftOut;

    #[test]
    fn dates() {
        let at = |seconds| date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00 UTC");
        assert_eq!(at(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(at(951_868_800), "2000-03-01 00:00 UTC");
        assert_eq!(at(1_795_248_900), "2026-11-21 08:15 UTC");
    }

    #[test]
    fn failures_are_in_the_report() {
        let machine = Machine {
            device: DeviceKind::Gpu,
            name: "G".to_owned(),
            capability: 90,
            release: Some("580.1".to_owned()),
            cuda: 13000,
        };
        assert_eq!(machine.to_string(), "G (compute capability 9.0), driver 580.1, CUDA 13.0");
        let manifest = Manifest {
            format: 1,
            arch: "sm_90".to_owned(),
            commit: String::new(),
            cases: vec![],
            left_out: vec![LeftOut { name: "old".to_owned(), reason: "needs CDP1".to_owned() }],
        };
        let case = Case { name: "a/b".to_owned(), ..Case::default() };
        let good = Outcome { checks: (2, 2), ..Outcome::default() };
        let bad = Outcome::failed("it broke".to_owned());
        let text = markdown(&machine, &manifest, &[(&case, &good), (&case, &bad)]);
        assert!(text.contains("| a/b | pass 2/2 | 0 |\n| a/b | FAIL | 0 |"));
        assert!(text.contains("## Left out\n\n- old: needs CDP1"));
        assert!(text.contains("1 of 2 passed") && text.contains("### a/b\n\n- it broke"));
    }
}
