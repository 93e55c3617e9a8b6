//! The line that a long run shows on a terminal: grids begun and pending, instructions a second. Silent
//! when standard error is no terminal, and for the first second of every wait.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use cdp_emulator::Progress;

/// How long a wait is silent.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two lines.
const INTERVAL: Duration = Duration::from_millis(200);
/// Turns of the emulator between two looks at the clock.
const TURNS_PER_LOOK: u32 = 64;

/// The line, if one may be shown.
pub struct ProgressLine {
    turns: u32,
    next: Instant,
    shown: bool,
    last: Option<(Instant, u64)>,
}

impl ProgressLine {
    /// A line for a wait that begins now; `None` if there is nobody to read it.
    pub fn new() -> Option<ProgressLine> {
        let next = Instant::now() + PATIENCE;
        let line = ProgressLine { turns: 0, next, shown: false, last: None };
        std::io::stderr().is_terminal().then_some(line)
    }

    /// After each turn of the emulator.
    pub fn turn(&mut self, progress: impl FnOnce() -> Progress) {
        self.turns += 1;
        if !self.turns.is_multiple_of(TURNS_PER_LOOK) || Instant::now() < self.next {
            return;
        }
        let (now, progress) = (Instant::now(), progress());
        let rate = self.last.map(|(time, instructions)| {
            let done = progress.thread_instructions.saturating_sub(instructions);
            done as f64 / now.duration_since(time).as_secs_f64().max(1e-9)
        });
        self.last = Some((now, progress.thread_instructions));
        self.next = now + INTERVAL;
        self.shown = true;
        // A terminal that is gone is no error of the program.
        let _ = write!(std::io::stderr(), "\r\x1b[K{}", line(&progress, rate));
    }
}

impl Drop for ProgressLine {
    /// Takes the line off the terminal.
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(progress: &Progress, rate: Option<f64>) -> String {
    let done = progress.grids_started;
    let mut text = format!("cdp: {done} grids begun, {} pending", progress.pending);
    if let Some(rate) = rate {
        text += &format!(", {:.0} million instructions/s", rate / 1e6);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_the_numbers() {
        let progress = Progress { grids_started: 12, pending: 3, thread_instructions: 0 };
        assert_eq!(line(&progress, None), "cdp: 12 grids begun, 3 pending");
        let text = line(&progress, Some(512e6));
        assert_eq!(text, "cdp: 12 grids begun, 3 pending, 512 million instructions/s");
    }
}
