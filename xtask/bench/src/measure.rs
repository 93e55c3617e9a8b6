//! Timing whole processes and their memory.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use xtask::cargo::shown;
use xtask::failure::{Failure, Outcome};

/// One run of a command or of several one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Wall time from before the first start to after the last end, in seconds.
    pub seconds: f64,
    /// The most memory that any one process had in use at a time, in bytes; 0 where it cannot be known.
    pub peak_bytes: u64,
    /// Processor time of the processes and of their waited children, over all threads, in seconds; 0 where
    /// it cannot be known.
    pub cpu_seconds: f64,
}

/// What the system tells of a process that has ended.
struct Ended {
    success: bool,
    peak_bytes: u64,
    cpu_seconds: f64,
}

/// Runs a command and gives what it printed on standard output; its messages go to the terminal.
///
/// # Errors
/// When it cannot be started or fails.
pub fn capture(command: &mut Command) -> Outcome<(String, Sample)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let begun = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| Failure::new(format!("could not start {}: {error}", shown(command))))?;
    let mut bytes = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut bytes).map_err(|error| {
            Failure::new(format!("reading what {} prints: {error}", shown(command)))
        })?;
    }
    let Ended { success, peak_bytes, cpu_seconds } = wait(child)?;
    if !success {
        return Err(Failure::new(format!("{} failed", shown(command))));
    }
    let sample = Sample { seconds: begun.elapsed().as_secs_f64(), peak_bytes, cpu_seconds };
    Ok((String::from_utf8_lossy(&bytes).into_owned(), sample))
}

/// Runs commands one after another, with their output thrown away.
///
/// # Errors
/// When one cannot be started or fails; it is then run again to show what it prints.
pub fn run(commands: &mut [Command]) -> Outcome<Sample> {
    let mut sample = Sample::default();
    let begun = Instant::now();
    for command in commands.iter_mut() {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        let child = child.map_err(|error| {
            Failure::new(format!("could not start {}: {error}", shown(command)))
        })?;
        let Ended { success, peak_bytes, cpu_seconds } = wait(child)?;
        if !success {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            return Err(match xtask::cargo::output(command) {
                Err(failure) => failure,
                Ok(_) => Failure::new(format!("{} failed once and then did not", shown(command))),
            });
        }
        sample.peak_bytes = sample.peak_bytes.max(peak_bytes);
        sample.cpu_seconds += cpu_seconds;
    }
    sample.seconds = begun.elapsed().as_secs_f64();
    Ok(sample)
}

/// Waits for a process and says whether it succeeded, how much memory it, or the largest of its own
/// children, had at most, and what processor time it took.
#[cfg(unix)]
fn wait(child: Child) -> Outcome<Ended> {
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let pid = libc::pid_t::try_from(child.id())
        .map_err(|_| Failure::new("a process id does not fit its type"))?;
    loop {
        // SAFETY: both pointers are to live values of the right types, and the process is this one's
        // own unwaited child, since `child` has not been waited for.
        let waited = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
        if waited == pid {
            break;
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(Failure::new(format!("waiting for a process: {error}")));
        }
    }
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let success = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Ended {
        success,
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit,
        cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
    })
}

#[cfg(not(unix))]
fn wait(mut child: Child) -> Outcome<Ended> {
    let status =
        child.wait().map_err(|error| Failure::new(format!("waiting for a process: {error}")))?;
    Ok(Ended { success: status.success(), peak_bytes: 0, cpu_seconds: 0.0 })
}

/// The medians of the times, and the largest peak.
pub fn summary(samples: &[Sample]) -> Sample {
    Sample {
        seconds: median(samples.iter().map(|sample| sample.seconds).collect()),
        peak_bytes: samples.iter().map(|sample| sample.peak_bytes).max().unwrap_or(0),
        cpu_seconds: median(samples.iter().map(|sample| sample.cpu_seconds).collect()),
    }
}

/// The median; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seconds: f64, peak_bytes: u64) -> Sample {
        Sample { seconds, peak_bytes, cpu_seconds: 0.0 }
    }

    #[test]
    fn medians_and_peaks() {
        assert_eq!(summary(&[]), sample(0.0, 0));
        assert_eq!(summary(&[sample(3.0, 1), sample(1.0, 9), sample(2.0, 2)]), sample(2.0, 9));
        assert_eq!(
            summary(&[sample(4.0, 1), sample(1.0, 1), sample(2.0, 1), sample(3.0, 1)]),
            sample(2.5, 1)
        );
    }

    #[cfg(unix)]
    #[test]
    fn measures_time_and_memory_of_a_process() {
        let mut sleep = Command::new("sleep");
        sleep.arg("0.05");
        let slept = run(&mut [sleep]).unwrap();
        assert!(slept.seconds >= 0.05 && slept.peak_bytes > 100_000, "{slept:?}");
        let mut failing = Command::new("sh");
        failing.args(["-c", "echo reason >&2; exit 3"]);
        let failure = run(&mut [failing]).unwrap_err().to_string();
        assert!(failure.contains("reason") && failure.contains('3'), "{failure}");
    }
}
