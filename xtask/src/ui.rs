//! What the person sees: a spinner for slow steps on a terminal, plain lines otherwise.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Where messages go. Steps may run at the same time on several threads.
pub struct Ui {
    progress: Option<MultiProgress>,
}

impl Default for Ui {
    /// Spinners if standard error is a terminal.
    fn default() -> Ui {
        Ui { progress: std::io::stderr().is_terminal().then(MultiProgress::new) }
    }
}

impl Ui {
    /// A line of the verb's result, on standard output.
    pub fn line(&self, text: &str) {
        let print = || {
            // A closed pipe (`| head`) is the reader's choice, not an error.
            let _ = writeln!(std::io::stdout().lock(), "{text}");
        };
        match &self.progress {
            Some(progress) => progress.suspend(print),
            None => print(),
        }
    }

    /// A line about what is going on, on standard error.
    pub fn note(&self, text: &str) {
        let print = || {
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        };
        match &self.progress {
            Some(progress) => progress.suspend(print),
            None => print(),
        }
    }

    /// The message that ends a failed verb.
    pub fn error(&self, text: &str) {
        self.note(&format!("error: {text}"));
    }

    /// Begins something slow.
    pub fn step(&self, text: &str) -> Step<'_> {
        let bar = self.progress.as_ref().map(|progress| {
            let bar = progress.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.set_message(text.to_owned());
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        if bar.is_none() {
            self.note(&format!("{text} ..."));
        }
        Step { ui: self, bar, text: text.to_owned(), begun: Instant::now() }
    }
}

/// Something slow in progress; ends when dropped.
pub struct Step<'ui> {
    ui: &'ui Ui,
    bar: Option<ProgressBar>,
    text: String,
    begun: Instant,
}

impl Step<'_> {
    /// Shows how far it is, on a terminal.
    pub fn detail(&self, detail: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: {detail}", self.text));
        }
    }

    /// It has succeeded.
    pub fn done(self) {
        let seconds = self.begun.elapsed().as_secs_f64();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.ui.note(&format!("{}: done in {seconds:.1} s", self.text));
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
