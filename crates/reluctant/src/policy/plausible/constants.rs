//! Every number of how `plausible` acts that was chosen, not derived: its value, its reason, and the seeds on which it
//! was chosen, as in `belief/plausible/constants.rs`, which has those of what it believes.

// Optimism.

/// Until there are checks a width is this share of what it is later: where nothing was seen the spread is all of the
/// prior, and invites too far. Seeds 905 to 912.
pub(super) const FIRST_SHARE: f64 = 2.0 / 3.0;
/// Widths of the line, in standard deviations. Seeds 905 to 912.
pub(super) const LINE_WIDTH: f64 = 1.0;
/// Without checks c is this share of what it is with them: networks of any signs and lengths differ more. With 2/3 one
/// trial of 64 loses 173, with 1 regret is 2 % higher. Seed 7241.
pub(super) const UNTOLD_SHARE: f64 = 0.8;
/// Widths of the Gaussian process, in standard deviations; [`FIRST_SHARE`] of it until there are checks if a line
/// explains the rewards better, without which 2·x + 10 costs a fifth more. With 1 the usual trial costs 7 % more, and a
/// process alone loses more trials. Seeds 7241 and 7243.
pub(super) const PROCESS_WIDTH: f64 = 1.5;

// The frozen stage.

/// The activations are frozen when the networks have agreed on the actions of this share of all rounds without a
/// break, or of [`AGREED_ROUNDS`]. Seeds 905 to 912.
pub(super) const AGREED_SHARE: f64 = 0.25;
/// Chosen with [`AGREED_SHARE`].
pub(super) const AGREED_ROUNDS: f64 = 500.0;
/// But not before this many observations for each unknown, nor before [`FROZEN_FROM`] in all. Seeds 905 to 912.
pub(super) const FROZEN_PER_UNKNOWN: usize = 20;
/// Chosen with [`FROZEN_PER_UNKNOWN`].
pub(super) const FROZEN_FROM: usize = 500;
/// Squared residuals are averaged over this many rounds. Seeds 905 to 912.
pub(super) const WATCH: f64 = 100.0;
/// Above this many times the noise they say that the frozen network is wrong. Chosen with [`WATCH`].
pub(super) const SURPRISED: f64 = 1.75;
/// Widths in standard deviations: docs/laboratory.md derives that √2 costs least. Over 24 trials of 100,000 rounds
/// 1 had 71, 1.5 had 44 and 2 had 51; seeds 905 to 912.
pub(super) const FROZEN_WIDTH: f64 = 1.5;
/// In a check: what the most hopeful sixteenth of draws from a normal distribution reach on average.
pub(super) const FROZEN_HOPE: f64 = 2.0;

// Probes.

/// The first probe comes after so many observations, the next ones after twice as many each. Without probes one of 24
/// trials of 100,000 rounds loses 1,339; seeds 905 to 912.
pub(super) const PROBED_FROM: u64 = 4096;
/// The width of a probe, in standard deviations: an arm of which there is any doubt left.
pub(super) const PROBE_WIDTH: f64 = 10.0;
/// A single residual of so many standard deviations in a probe melts the frozen network. Seeds 905 to 912.
pub(super) const PROBE_SURPRISED: f64 = 2.5;

// The whole sphere.

/// Random actions for each dimension that an action of the sphere is searched among. For speed.
pub(super) const STARTS: usize = 256;
/// Random steps of each size from the best, and the smallest size. For speed.
pub(super) const STEPS: usize = 64;
pub(super) const FINEST: f64 = 1e-3;

// Contexts with named actions.

/// Standard deviations of the ladder for each of `optimism`: a hidden layer that was trained on the same rewards is
/// sure of itself later than networks that are fitted to them, so that less optimism does. Seed 90417 of the real
/// tables.
pub(super) const CAUTION: f64 = 2.0 / 3.0;

/// The weight decay of the networks for odds, of that of networks for rewards: they learn from the rewards of both
/// actions. Half has 1,309 mistakes on MAGIC, the whole 1,332; four shuffles of seed 90417.
pub(super) const EITHER_OR_DECAY: f64 = 0.5;
