//! The networks that explain what was seen, and the models beside them: what `plausible` believes.
//!
//! It can be used without a bandit, as a regression with a mean and a spread:
//!
//! ```
//! use reluctant::belief::{Belief, PlausibleNetworks, PlausibleOptions};
//! use reluctant::{Key, Rows, Scratch};
//!
//! let mut belief = PlausibleNetworks::new(2, &PlausibleOptions::default(), Key::new(1))?;
//! for i in 0..60 {
//!     let angle = f64::from(i);
//!     let x = [angle.cos(), angle.sin()];
//!     belief.learn(&x, x[0].max(0.0) + x[1].max(0.0));
//! }
//! let mut scratch = Scratch::default();
//! belief.predict(Rows::new(2, &[0.6, 0.8])?, 1.0, &mut scratch);
//! assert!((scratch.scores()[0].mean - 1.4).abs() < 0.05);
//! # Ok::<(), reluctant::Error>(())
//! ```
//!
//! The models are the steps of a ladder, and evidence says which one is believed:
//!
//! 1. **A linear function with a constant** ([`line`]). It is believed whenever it has lately predicted better than the
//!    networks have: rewards that no network of the range explains end here, with a warning. If the number of neurons
//!    is not given, it is also believed as soon as its evidence exceeds that of the networks; if it is given, when they
//!    are refuted.
//! 2. **The plausible networks** ([`ensemble`]): refitted by a few Levenberg–Marquardt steps ([`refit`]) and drawn from
//!    the posterior from there ([`draws`]), weighed by likelihood, started anew when they fall out, challenged by new
//!    ones ([`renewal`]). Members may differ in their number of neurons and are weighed by their evidence, in which an
//!    unknown costs what the data says about it. If the number is given they have about as many. If it is not they
//!    have up to 16, fewer where there are many dimensions: from 1 on if they are networks of ones, from 4 on if they
//!    have any signs and lengths ([`form`]). Then neurons of any signs and lengths come and go ([`births`]), and in the
//!    first rounds members are also weighed by what each size had predicted ([`sizes`]). If nothing is told a third of
//!    them are networks of ones, the others have any signs and lengths, and evidence decides between them, too. σ is a
//!    first guess, that of the Gaussian process as soon as it has found one, corrected by the residuals. In many
//!    dimensions networks have too many unknowns to be fitted in every round: beyond a limit there are none unless
//!    they are told, and beyond another one telling does not help.
//! 3. **A Gaussian process** ([`infinite`]), if the number of neurons is not given: networks of infinitely many neurons
//!    and other kernels, by evidence. It is believed when its evidence exceeds that of the best network by enough; in
//!    the first rounds unless that of the network exceeds its own by enough. Networks of any signs and lengths know
//!    less doubt than it: if nobody told of them, they must exceed it by far.
//!
//! What was seen is kept, condensed when it is too much ([`history`], [`condense`]). Every number that was chosen, not
//! derived, stands in [`constants`].

mod births;
mod checks;
mod condense;
mod constants;
mod crowd;
mod draws;
mod ensemble;
mod explain;
mod form;
mod history;
mod infinite;
mod jacobian;
mod lanes;
mod learning;
mod line;
mod member;
mod narrow;
mod predictions;
mod refit;
mod renewal;
mod sizes;
mod wide;

use serde::{Deserialize, Serialize};

use super::{Belief, check_features, restore_if, state};
use crate::error::{Error, Result};
use crate::kernels::network_values;
use crate::offer::Rows;
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose, Stream};
use crate::scratch::Scratch;
use checks::is_check;
use constants::REFUTED;
pub(crate) use constants::{BUDGETS, CHECKED_FROM, MOST_NETWORKS};
use ensemble::Ensemble;
use form::{Form, Shape};
use history::History;
pub(crate) use infinite::Infinite;
use line::Line;
pub(crate) use predictions::Width;

/// What [`PlausibleNetworks`] may be told. Nothing need be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlausibleOptions {
    /// The number of neurons; 0: chosen by evidence, with a line and a Gaussian process beside the networks, as it is,
    /// too, where networks with as many have too many unknowns to be fitted.
    pub neurons: usize,
    /// Whether neurons have any length and sign; otherwise they are of unit length and are added. If that is not said
    /// evidence decides, unless the number of neurons is told: then it is the paper's network.
    pub free_signs: Option<bool>,
    /// A first guess of the noise level; residuals correct it.
    pub sigma: Option<f64>,
    /// How many networks are kept; four times as many in the first rounds.
    pub networks: usize,
    /// Observations kept for refits; of more, those of nearly the same x become one.
    pub budget: usize,
}

impl Default for PlausibleOptions {
    fn default() -> Self {
        PlausibleOptions { neurons: 0, free_signs: None, sigma: None, networks: 32, budget: 2000 }
    }
}

impl PlausibleOptions {
    fn check(&self, dim: usize) -> Result<Form> {
        if dim < 2 {
            return Err(Error::out_of_range("dim", dim, "at least 2 for a ReLU network on the sphere"));
        }
        if self.neurons > MAX_NEURONS {
            return Err(Error::out_of_range("neurons", self.neurons, format!("at most {MAX_NEURONS}")));
        }
        if !(2..=MOST_NETWORKS).contains(&self.networks) {
            return Err(Error::out_of_range("networks", self.networks, format!("from 2 to {MOST_NETWORKS}")));
        }
        if !BUDGETS.contains(&self.budget) {
            let (least, most) = (BUDGETS.start(), BUDGETS.end());
            return Err(Error::out_of_range("budget", self.budget, format!("from {least} to {most}")));
        }
        if let Some(sigma) = self.sigma.filter(|sigma| !sigma.is_finite() || *sigma < 0.0) {
            return Err(Error::out_of_range("sigma", sigma, "a number at least 0"));
        }
        check_features(dim + 1, "dim + 1")?;
        let shape = self.free_signs.map(|free| if free { Shape::Signed } else { Shape::Unit });
        let untold = Form { dim, neurons: 0, shape };
        let told = Form { neurons: self.neurons, shape: shape.or(Some(Shape::Unit)), ..untold };
        Ok(if self.neurons > 0 && told.is_feasible() { told } else { untold })
    }
}

/// The networks that explain what was seen, with a line and a Gaussian process beside them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlausibleNetworks {
    /// How many networks are kept in the long run.
    kept: usize,
    key: Key,
    history: History,
    ensemble: Ensemble,
    line: Line,
    /// If the number of neurons is not given.
    infinite: Option<Infinite>,
    /// How often the networks went on after a pause.
    woken: u64,
    /// A number of neurons that was told in vain, else 0: such networks have too many unknowns.
    #[serde(default)]
    in_vain: usize,
}

/// A step of the ladder: the model that is believed.
pub(crate) enum Step<'a> {
    Line(&'a Line),
    Networks,
    Infinite(&'a Infinite),
}

impl PlausibleNetworks {
    /// A belief about vectors of `dim` numbers.
    pub fn new(dim: usize, options: &PlausibleOptions, key: Key) -> Result<Self> {
        let form = options.check(dim)?;
        let crowd = if form.is_affordable() { crowd::crowd(options.networks, 0) } else { 0 };
        let mut stream = key.purpose(Purpose::Start).stream();
        Ok(PlausibleNetworks {
            kept: options.networks,
            key,
            history: History::new(dim, crowd, options.budget, key),
            ensemble: Ensemble::new(form, crowd, options.sigma, &mut stream),
            line: Line::new(dim),
            infinite: (form.neurons == 0).then(|| Infinite::new(dim)),
            woken: 0,
            in_vain: options.neurons - form.neurons,
        })
    }

    /// The belief that [`Belief::save`] gave.
    pub fn restore(state: serde_json::Value) -> Result<Self> {
        restore_if(state, |belief: &Self| belief.is_consistent() && !belief.is_asleep())
    }

    pub(crate) fn is_consistent(&self) -> bool {
        let (dim, seen) = (self.history.dim(), self.seen());
        if !(2..=MOST_NETWORKS).contains(&self.kept) || !self.ensemble.form.is_consistent(dim) {
            return false;
        }
        let crowd = if self.ensemble.form.is_affordable() { crowd::crowd(self.kept, seen) } else { 0 };
        self.ensemble.members.len() == crowd
            && self.history.networks() == crowd
            && self.history.len() as u64 <= seen
            && (crowd == 0 || (seen == 0) == (self.history.len() == 0))
            && self.ensemble.is_consistent(dim)
            && self.line.is_consistent(dim)
            && self.infinite.is_some() != self.is_told()
            && (self.in_vain == 0 || !self.is_told())
            && self.infinite.as_ref().is_none_or(|infinite| infinite.is_consistent(dim))
    }

    /// How many observations there were.
    pub fn seen(&self) -> u64 {
        self.history.seen()
    }

    /// The plausible networks and their weights, which sum to one; none before the first observation.
    pub fn networks(&self) -> impl Iterator<Item = (f64, &ReluNet)> {
        self.members().filter(|_| self.seen() > 0)
    }

    /// The same, before the first observation too: networks as they are imagined.
    pub(crate) fn members(&self) -> impl Iterator<Item = (f64, &ReluNet)> {
        self.ensemble.plausible()
    }

    /// The noise level in use.
    pub fn sigma(&self) -> f64 {
        self.ensemble.sigma
    }

    /// The model that is believed.
    pub(crate) fn step(&self) -> Step<'_> {
        let (line, acts) = (&self.line, self.line.acts || self.line.advantage > 0.0);
        match &self.infinite {
            // Who tells the number of neurons has told that there are neurons, and these must be refuted.
            None if line.acts || line.advantage > REFUTED => Step::Line(line),
            Some(infinite) if infinite.leads(self.seen() as f64) || acts || self.ensemble.members.is_empty() => {
                if infinite.yields_to_line() {
                    Step::Line(line)
                } else {
                    Step::Infinite(infinite)
                }
            }
            _ => Step::Networks,
        }
    }

    /// Whether the networks are believed.
    pub(crate) fn believes_networks(&self) -> bool {
        matches!(self.step(), Step::Networks)
    }

    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    /// Whether a line explains what was seen so badly that it need not be asked.
    pub(crate) fn refutes_line(&self) -> bool {
        self.line.advantage < -REFUTED
    }

    /// Whether the number of neurons was told, and not in vain.
    pub(crate) fn is_told(&self) -> bool {
        self.ensemble.form.neurons > 0
    }

    /// Whether some rounds are checks.
    pub(crate) fn has_checks(&self) -> bool {
        self.ensemble.form.has_checks()
    }

    /// Whether the round after `seen` observations is a check.
    pub(crate) fn is_check(&self, seen: u64) -> bool {
        self.has_checks() && is_check(seen)
    }

    /// Whether there are any networks: in many dimensions they have too many unknowns.
    pub(crate) fn has_networks(&self) -> bool {
        !self.ensemble.members.is_empty()
    }

    /// The most observations kept for refits.
    pub(crate) fn budget(&self) -> usize {
        self.history.budget()
    }

    /// The unknowns of the largest plausible network.
    pub(crate) fn unknowns(&self) -> usize {
        self.ensemble.unknowns()
    }

    /// Whether all plausible networks have the same linear piece at x.
    pub(crate) fn agrees_at(&self, x: &[f64]) -> bool {
        self.ensemble.agree_at(x)
    }

    /// Whether all neurons of the best network point nearly the same way.
    pub(crate) fn is_nearly_parallel(&self) -> bool {
        self.ensemble.is_nearly_parallel()
    }

    /// One of the networks, drawn by weight.
    pub(crate) fn sample(&self, stream: &mut Stream) -> &ReluNet {
        &self.ensemble.members[self.ensemble.sample(stream)].network
    }

    /// How often the networks went on after a pause.
    pub(crate) fn woken(&self) -> u64 {
        self.woken
    }

    /// Whether the networks pause: what is seen is kept, and nothing is learned of it until [`Self::wake`].
    pub(crate) fn is_asleep(&self) -> bool {
        self.history.is_asleep()
    }

    /// Lets the networks pause; the best of them, fitted with more care than a round has.
    pub(crate) fn sleep(&mut self) -> ReluNet {
        let best = self.ensemble.polish(&self.history);
        self.history.sleep();
        best
    }

    /// Takes up learning after a pause.
    pub(crate) fn wake(&mut self) {
        self.woken = self.woken.saturating_add(1);
        self.history.wake();
        self.ensemble.thaw(&self.history);
    }

    /// Every observation that is kept.
    pub(crate) fn for_each(&self, see: impl FnMut(&[f64], f64)) {
        self.history.for_each(see);
    }

    /// Keeps (x, y), of which the models learn in [`Self::digest`].
    pub(crate) fn record(&mut self, x: &[f64], y: f64) {
        if self.ensemble.members.is_empty() {
            self.history.count();
            return;
        }
        if self.history.is_full() {
            self.history.condense();
            if !self.is_asleep() {
                self.ensemble.reassess(&self.history);
            }
        }
        let place = self.history.push(x, y);
        self.thin_out();
        if !self.is_asleep() {
            self.ensemble.account(place, &self.history);
        }
    }

    /// Lets all models learn (x, y), which was recorded.
    pub(crate) fn digest(&mut self, x: &[f64], y: f64) {
        let number = self.seen() - 1;
        let predicted = self.ensemble.mean(x);
        self.line.learn(x, y, predicted);
        let mut hopeless = false;
        if let Some(infinite) = &mut self.infinite {
            infinite.belief.learn(x, y);
            if infinite.belief.has_searched() {
                self.ensemble.guess_noise(infinite.belief.noise().sqrt());
            }
            hopeless = infinite.is_far_ahead();
        }
        if self.ensemble.members.is_empty() {
            self.ensemble.measure(y, self.history.seen() as f64);
        } else if !hopeless || is_check(number) {
            let mut stream = self.key.round(number).purpose(Purpose::Fit).stream();
            self.ensemble.learn(y, &self.history, &mut stream);
        }
        self.compare();
    }

    /// Lets go of networks beyond those that are kept in the long run.
    fn thin_out(&mut self) {
        let present = self.ensemble.members.len();
        if present == self.kept {
            return;
        }
        let crowd = crowd::crowd(self.kept, self.seen());
        if crowd < present {
            self.ensemble.thin_out(crowd);
            self.history.thin_out(crowd);
        }
    }

    /// Compares the smallest and the largest model with the networks by evidence.
    fn compare(&mut self) {
        // A condensed history has lost some of the noise, and during a pause the line saw nothing: then their losses
        // are not comparable. By then the verdict is clear.
        let whole = self.history.len() as u64 == self.seen() && self.woken == 0;
        if whole || self.ensemble.members.is_empty() {
            let seen = self.seen() as f64;
            let networks = self.ensemble.cost_of_best(seen);
            let line = self.ensemble.cost_of(self.line.evidence(), seen);
            self.line.advantage = networks - line;
            if let Some(infinite) = &mut self.infinite {
                let (evidence, noise) = (infinite.belief.evidence(), infinite.belief.noise());
                let process = self.ensemble.cost_with_noise(evidence, noise, seen);
                infinite.advantage = networks - process;
                infinite.lead = self.ensemble.cost_of_convincing(seen) - process;
                infinite.over_line = line - process;
            }
        }
    }
}

/// Spreads are standard deviations of the model that is believed: over the networks, of the line or of the process. A
/// drawn function is one of the networks, a line or a path of the process.
impl Belief for PlausibleNetworks {
    fn kind(&self) -> &'static str {
        "plausible networks"
    }

    fn describe(&self) -> String {
        self.model().0
    }

    fn dim(&self) -> usize {
        self.history.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.record(x, y);
        self.digest(x, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        match self.step() {
            Step::Line(line) => line.score(rows, scale, &mut scratch.scores),
            Step::Infinite(infinite) => infinite.belief.predict(rows, scale, scratch),
            Step::Networks => self.score_by_networks(rows, Width::Spread(scale), true, scratch),
        }
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.predict(rows, scale, scratch);
        match self.step() {
            Step::Line(line) => line.draw(rows, scale, key, scratch),
            Step::Infinite(infinite) => infinite.belief.draw(rows, scale, key, scratch),
            Step::Networks => {
                let network = self.sample(&mut key.purpose(Purpose::Choice).stream());
                let values = &mut scratch.numbers;
                values.clear();
                network_values(network, rows, values);
                let scores = &scratch.scores;
                values.iter_mut().zip(scores).for_each(|(v, score)| *v = score.mean + scale * (*v - score.mean));
            }
        }
    }

    fn warning(&self) -> Option<String> {
        self.doubt()
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}
