//! What is counted, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::writer::Health;

/// Upper ends of the histogram of durations, in seconds.
const ENDS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5];

/// Requests by address and status.
#[derive(Debug, Default)]
pub(super) struct Metrics(Mutex<BTreeMap<(String, u16), Counted>>);

#[derive(Debug, Default, Clone)]
struct Counted {
    count: u64,
    seconds: f64,
    ends: [u64; ENDS.len()],
}

/// What is known of a policy, as the writer tells it.
pub(super) struct Gauges {
    pub(super) policy: String,
    pub(super) decisions: u64,
    pub(super) rewards: u64,
    pub(super) defaults: u64,
    pub(super) late: u64,
    pub(super) reward_sum: f64,
    pub(super) version: u64,
    pub(super) paused: bool,
}

impl Metrics {
    /// Counts a request.
    pub(super) fn count(&self, route: &str, status: u16, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let counted = all.entry((route.to_owned(), status)).or_default();
        let seconds = took.as_secs_f64();
        counted.count += 1;
        counted.seconds += seconds;
        counted.ends.iter_mut().zip(ENDS).filter(|(_, end)| seconds <= *end).for_each(|(count, _)| *count += 1);
    }

    /// As text.
    pub(super) fn render(&self, health: &Health, gauges: &[Gauges]) -> String {
        let mut out = String::new();
        // Writing to a text cannot fail.
        let _ =
            self.requests(&mut out).and_then(|()| writer(&mut out, health)).and_then(|()| policies(&mut out, gauges));
        out
    }

    fn requests(&self, out: &mut String) -> std::fmt::Result {
        let all = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        writeln!(out, "# HELP reluctant_request_seconds How long requests took, by address and status.")?;
        writeln!(out, "# TYPE reluctant_request_seconds histogram")?;
        for ((route, status), counted) in &all {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            for (end, count) in ENDS.iter().zip(counted.ends) {
                writeln!(out, "reluctant_request_seconds_bucket{{{labels},le=\"{end}\"}} {count}")?;
            }
            let Counted { count, seconds, .. } = counted;
            writeln!(out, "reluctant_request_seconds_bucket{{{labels},le=\"+Inf\"}} {count}")?;
            writeln!(out, "reluctant_request_seconds_sum{{{labels}}} {seconds}")?;
            writeln!(out, "reluctant_request_seconds_count{{{labels}}} {count}")?;
        }
        Ok(())
    }
}

fn writer(out: &mut String, health: &Health) -> std::fmt::Result {
    let counters = [
        ("groups", "Groups of requests that became durable by one sync.", &health.groups),
        ("failures", "Groups that could not be written.", &health.failures),
        ("group_requests", "Requests in those groups.", &health.requests),
        ("busy_microseconds", "Time that the writer spent on groups.", &health.busy),
    ];
    for (name, help, counter) in counters {
        writeln!(out, "# HELP reluctant_writer_{name}_total {help}")?;
        writeln!(out, "# TYPE reluctant_writer_{name}_total counter")?;
        writeln!(out, "reluctant_writer_{name}_total {}", counter.load(Ordering::Relaxed))?;
    }
    Ok(())
}

/// A number of a policy: its name, its type, what it is, and the number.
type Family = (&'static str, &'static str, &'static str, fn(&Gauges) -> f64);

fn policies(out: &mut String, gauges: &[Gauges]) -> std::fmt::Result {
    let families: [Family; 7] = [
        ("decisions_total", "counter", "Decisions.", |g| g.decisions as f64),
        ("rewards_total", "counter", "Rewards that were given.", |g| g.rewards as f64),
        ("default_rewards_total", "counter", "Default rewards in place of some that never came.", |g| {
            g.defaults as f64
        }),
        ("late_rewards_total", "counter", "Rewards that came too late to be learnt.", |g| g.late as f64),
        ("reward_sum", "gauge", "The sum of rewards.", |g| g.reward_sum),
        ("version", "gauge", "The last event that changed the policy.", |g| g.version as f64),
        ("paused", "gauge", "1 while the policy learns nothing.", |g| f64::from(u8::from(g.paused))),
    ];
    for (name, kind, help, value) in families {
        writeln!(out, "# HELP reluctant_{name} {help}")?;
        writeln!(out, "# TYPE reluctant_{name} {kind}")?;
        for gauge in gauges {
            writeln!(out, "reluctant_{name}{{policy=\"{}\"}} {}", gauge.policy, value(gauge))?;
        }
    }
    Ok(())
}
