//! Live progress bars on a terminal; a line a stage otherwise.

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reluctant_lab::evaluate::Passed;
use reluctant_lab::plan::Stage;
use reluctant_lab::run::Event;

pub(crate) struct Progress {
    terminal: bool,
    bar: Mutex<ProgressBar>,
    began: Mutex<Instant>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Progress { terminal, bar: Mutex::new(ProgressBar::hidden()), began: Mutex::new(Instant::now()) }
    }

    pub(crate) fn show(&self, event: Event<'_>) {
        let mut bar = self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match event {
            Event::Begin { total: 0, .. } => *bar = ProgressBar::hidden(),
            Event::Begin { stage, total, finished } => {
                let name = if stage == Stage::Tuning { "tuning" } else { "trials" };
                *self.began.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now();
                if self.terminal {
                    *bar = ProgressBar::new(total).with_style(style()).with_prefix(name);
                    bar.set_position(finished);
                    bar.reset_eta();
                    bar.enable_steady_tick(Duration::from_millis(100));
                } else {
                    let kept =
                        if finished > 0 { format!(", {finished} of them finished earlier") } else { String::new() };
                    let plural = if total == 1 { "" } else { "s" };
                    eprintln!("{name}: {total} trial{plural}{kept}");
                    *bar = ProgressBar::hidden();
                }
            }
            Event::Finished { environment, policy } => {
                bar.inc(1);
                bar.set_message(format!("{policy} ({environment})"));
            }
            Event::End => bar.finish_with_message(""),
        }
    }
}

/// Passes over a log: a bar each on a terminal; otherwise a line now and then, if the log is long.
pub(crate) struct Passes {
    terminal: bool,
    bar: RefCell<ProgressBar>,
    last: Cell<(&'static str, u64)>,
}

/// Where there is no terminal, a line is written every so many rounds.
const ROUNDS_A_LINE: u64 = 250_000;

impl Passes {
    pub(crate) fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Passes { terminal, bar: RefCell::new(ProgressBar::hidden()), last: Cell::new(("", 0)) }
    }

    pub(crate) fn show(&self, Passed { stage, rounds, of, .. }: Passed) {
        let (before, told) = self.last.get();
        let told = if before == stage { told } else { 0 };
        self.last.set((stage, if rounds - told >= ROUNDS_A_LINE { rounds } else { told }));
        if !self.terminal {
            if rounds - told >= ROUNDS_A_LINE {
                let of = of.map_or(String::new(), |of| format!(" of {of}"));
                eprintln!("{stage}: {rounds}{of} rounds");
            }
            return;
        }
        let mut bar = self.bar.borrow_mut();
        if before != stage {
            bar.finish_and_clear();
            *bar = of.map_or_else(ProgressBar::new_spinner, |of| ProgressBar::new(of).with_style(style()));
            bar.set_prefix(stage);
        }
        bar.set_position(rounds);
        if of.is_none() {
            bar.set_message(format!("{stage}: {rounds} rounds"));
        }
    }
}

impl Drop for Passes {
    fn drop(&mut self) {
        self.bar.borrow().finish_and_clear();
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{prefix:7} {bar:40} {pos:>6}/{len} {elapsed_precise} (eta {eta}) {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}
