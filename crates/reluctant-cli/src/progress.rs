//! Live progress bars on a terminal; a line a stage otherwise.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
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

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{prefix:7} {bar:40} {pos:>6}/{len} {elapsed_precise} (eta {eta}) {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}
