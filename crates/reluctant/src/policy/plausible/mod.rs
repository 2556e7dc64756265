//! `plausible`: optimism over the networks that explain what was seen.
//!
//! No exploration length, no gap ν, nothing to tune. What the policy believes is a thing of its own
//! ([`PlausibleNetworks`]): networks that together are nearly draws from the posterior, with a line and a Gaussian
//! process beside them, among which evidence decides. How it acts is here: it plays the arm of greatest
//!
//! > mean + c·s,
//!
//! where mean and spread s are taken over the plausible networks. Alone that would sometimes stay with an arm that is
//! good but not the best. So, if networks are those of the paper or their size is told, in a few rounds, ever fewer, it
//! plays the arm of which the most hopeful networks expect most, and in very few what they know least about
//! ([`optimism`]). Until a line is refuted an arm may be as good as it says. When a line or the Gaussian process
//! explains the rewards better, that one acts.
//!
//! Once the networks have agreed on the linear piece of every recent action, the best of them is **frozen** and the
//! rest is ridge regression in its features ([`frozen`]), at a linear bandit's cost. Residuals too large for the noise
//! send the policy back to the networks.
//!
//! Where named actions share a context the models are others, with a hidden layer for all actions ([`in_contexts`]).
//!
//! **Proven** is only what the paper proves of the frozen stage: if the frozen activations are right and the noise is
//! not above the level in use, `radius = "theorem"` has OFU-ReLU's √T regret from then on for neurons of length 1:
//! nothing bounds the lengths of others, and the radius needs a bound. **Measured** is everything else, the default
//! `radius = "measured"` (1.5 standard deviations) included: see docs/rivals.md.

mod constants;
mod explain;
mod frozen;
mod in_contexts;
mod optimism;
mod sphere;

use serde::{Deserialize, Serialize};

use super::lifted::{self, BIASES, Freezes};
use super::ofu_relu::SIGNS;
use super::{Build, Contexts, Entry, Explanation, Fitted, Policy, Restore, Sample, Snapshot, confidence};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::plausible::{BUDGETS, MOST_NETWORKS};
use crate::belief::{Belief, PlausibleNetworks, PlausibleOptions};
use crate::choice::{Choice, argmax};
use crate::env::UNIT_NEURONS;
use crate::error::{Error, Result};
use crate::frozen::FrozenRelu;
use crate::kernels::network_values;
use crate::offer::{Offer, Rows};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose};
use crate::scratch::Scratch;
use constants::{AGREED_ROUNDS, AGREED_SHARE, FROZEN_FROM, FROZEN_PER_UNKNOWN};
use frozen::Frozen;

pub(super) const ENTRY: Entry = Entry {
    name: "plausible",
    summary: "optimism over the networks that explain the history; nothing to tune",
    citation: "this library; the frozen stage is that of Xu, Bastani, Goel and Bastani (2024)",
    params: &[
        Param::new(
            "neurons",
            Initial::Auto("chosen by evidence, up to 16, as 0 is"),
            Kind::Count { min: 0, max: MAX_NEURONS as u64 },
            "neurons k of the networks, which are then the paper's unless `signs` or `biases` say otherwise",
        )
        .told_by(UNIT_NEURONS),
        Param::new(
            "sigma",
            Initial::Auto("estimated"),
            Kind::NOT_NEGATIVE,
            "first guess of the noise level; residuals correct it",
        )
        .told(),
        Param { initial: Initial::Auto("by evidence, or ones where neurons is told"), ..SIGNS },
        Param { initial: Initial::Auto("not in the networks: the Gaussian process has them"), ..BIASES },
        Param::new(
            "networks",
            Initial::count(32),
            Kind::Count { min: 2, max: MOST_NETWORKS as u64 },
            "how many networks are kept; four times as many in the first rounds",
        ),
        Param::new(
            "mode",
            Initial::word("optimism"),
            Kind::Word(&["optimism", "sampling"]),
            "act by optimism, or by one network drawn at random a round",
        ),
        Param::new(
            "optimism",
            Initial::real(1.5),
            Kind::NOT_NEGATIVE,
            "c: standard deviations added to the mean; two thirds of it in the first 20 rounds",
        ),
        Param::new(
            "budget",
            Initial::count(2000),
            Kind::Count { min: *BUDGETS.start() as u64, max: *BUDGETS.end() as u64 },
            "observations kept for refits; of more, those of nearly the same action become one",
        ),
        Param::new(
            "lambda",
            Initial::real(1.0),
            Kind::POSITIVE,
            "ridge penalty λ of the frozen stage, towards the frozen network (`theorem`: towards zero)",
        ),
        Param::new(
            "radius",
            Initial::word("measured"),
            Kind::Word(&["measured", "theorem"]),
            "widths of the frozen stage: 1.5 standard deviations, or the theorem's radius, for neurons of length 1",
        ),
        confidence::DELTA,
    ],
    sphere: true,
    contexts: Contexts::SharedInBlocks(in_contexts::SHARED, in_contexts::READ),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[("neurons", Literal::Count(3))] },
        Sample { name: "unknown_size", environment: "relu-sphere", settings: &[("networks", Literal::Count(16))] },
        Sample {
            name: "signs",
            environment: "relu-sphere",
            settings: &[
                ("neurons", Literal::Count(3)),
                ("signs", Literal::Word("free")),
                ("networks", Literal::Count(8)),
            ],
        },
        Sample {
            name: "biases",
            environment: "relu-sphere",
            settings: &[
                ("neurons", Literal::Count(3)),
                ("biases", Literal::Flag(true)),
                ("networks", Literal::Count(8)),
            ],
        },
        Sample {
            name: "sampling",
            environment: "relu-sphere",
            settings: &[
                ("neurons", Literal::Count(3)),
                ("mode", Literal::Word("sampling")),
                ("networks", Literal::Count(8)),
            ],
        },
    ],
    build: Build::Plain(|dim, params, key| lifted::build(dim, params, |dim| Plausible::new(dim, params, key))),
    restore: Restore::Plain(|state| lifted::restore(state, Plausible::is_consistent)),
};

/// Optimism over the networks that explain the history.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plausible {
    config: Config,
    belief: PlausibleNetworks,
    /// Rounds in a row on whose action the networks agreed.
    agreed: u64,
    frozen: Option<Frozen>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Config {
    sampling: bool,
    optimism: f64,
    lambda: f64,
    delta: f64,
    theorem: bool,
}

impl Config {
    fn read(params: &Params) -> Result<Self> {
        Ok(Config {
            sampling: params.word("mode")? == "sampling",
            optimism: params.real("optimism")?,
            lambda: params.real("lambda")?,
            delta: params.real("delta")?,
            theorem: params.word("radius")? == "theorem",
        })
    }

    fn is_consistent(&self) -> bool {
        self.optimism.is_finite()
            && self.optimism >= 0.0
            && self.lambda.is_finite()
            && self.lambda > 0.0
            && (0.0..1.0).contains(&self.delta)
    }
}

impl Plausible {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let free = params.word("signs").ok().map(|signs| signs == "free");
        if params.flag_or("biases", false)? && free == Some(false) {
            let allowed = "false beside signs = \"ones\": neurons that have biases have any sign and length";
            return Err(Error::out_of_range("biases", true, allowed));
        }
        let options = PlausibleOptions {
            neurons: params.size("neurons").unwrap_or(0),
            free_signs: if params.flag_or("biases", false)? { Some(true) } else { free },
            sigma: params.real("sigma").ok(),
            networks: params.size("networks")?,
            budget: params.size("budget")?,
        };
        let belief = PlausibleNetworks::new(dim, &options, key)?;
        Ok(Plausible { config: Config::read(params)?, belief, agreed: 0, frozen: None })
    }

    fn is_consistent(&self) -> bool {
        self.config.is_consistent()
            && self.belief.is_consistent()
            && self.belief.is_asleep() == self.frozen.is_some()
            && self.frozen.as_ref().is_none_or(|frozen| frozen.is_consistent(self.dim()))
    }

    /// What it believes.
    pub fn belief(&self) -> &PlausibleNetworks {
        &self.belief
    }

    /// The linear regime with Θ̃, once the networks agree.
    pub fn regime(&self) -> Option<&FrozenRelu> {
        self.frozen.as_ref().map(|frozen| &frozen.regime)
    }

    /// The frozen network, unless this round probes it: then the networks act.
    fn acting_frozen(&self) -> Option<&Frozen> {
        self.frozen.as_ref().filter(|_| !self.probes())
    }

    fn radius(&self, frozen: &Frozen) -> f64 {
        if self.config.theorem {
            frozen.theorem_radius(self.config.lambda, self.config.delta)
        } else {
            frozen.measured_radius(self.belief.is_check(self.belief.seen()))
        }
    }

    /// Freezes the best network if the plausible ones have agreed for long enough.
    fn freeze_if_agreed(&mut self, action: &[f64]) {
        let seen = self.belief.seen();
        // A check is played where networks disagree, and says nothing about the actions of other rounds.
        if !self.belief.is_check(seen - 1) {
            let agree = self.belief.believes_networks() && self.belief.agrees_at(action);
            self.agreed = if agree { self.agreed.saturating_add(1) } else { 0 };
        }
        let per_unknown = FROZEN_PER_UNKNOWN * self.belief.unknowns();
        let enough = FROZEN_FROM.max(per_unknown).min(self.belief.budget() / 2) as u64;
        if seen >= enough && self.agreed as f64 >= (AGREED_SHARE * seen as f64).min(AGREED_ROUNDS) {
            let network = self.belief.sleep();
            // The theorem is about a penalty towards zero.
            let start = if self.config.theorem { FrozenRelu::new } else { FrozenRelu::centred };
            let mut regime = start(network, self.config.lambda);
            self.belief.for_each(|x, y| regime.update(x, y));
            self.frozen = Some(Frozen::new(regime, self.belief.sigma()));
        }
    }

    /// Learns that `action` was rewarded with `reward`.
    fn absorb(&mut self, action: &[f64], reward: f64) {
        let probe = self.probes();
        self.belief.record(action, reward);
        if let Some(frozen) = &mut self.frozen {
            if frozen.learn(action, reward, probe) {
                return;
            }
            self.frozen = None;
            self.agreed = 0;
            self.belief.wake();
        }
        self.belief.digest(action, reward);
        self.freeze_if_agreed(action);
    }

    /// Mean and width of every row.
    fn score_rows(&self, rows: Rows<'_>, scratch: &mut Scratch) {
        match self.acting_frozen() {
            Some(frozen) => frozen.regime.score(rows, self.radius(frozen), scratch),
            None => self.score_by_belief(rows, scratch),
        }
    }

    /// The best arm of one network drawn at random.
    fn select_by_sampling<'a>(&self, rows: Rows<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.score(Offer::Rows(rows), scratch)?;
        let drawn = self.belief.sample(&mut key.purpose(Purpose::Choice).stream());
        let values = &mut scratch.numbers;
        let chosen = best_row(drawn, rows, values);
        let value = values[chosen];
        let agrees = |(weight, network)| if best_row(network, rows, values) == chosen { weight } else { 0.0 };
        let propensity: f64 = self.belief.members().map(agrees).sum();
        let choice = Choice::row(rows, chosen, scratch.scores[chosen]).drawn(value);
        Ok(choice.with_propensity(propensity.min(1.0)))
    }
}

/// The row that a network likes best; what it thinks of all is left in `values`.
fn best_row(network: &ReluNet, rows: Rows<'_>, values: &mut Vec<f64>) -> usize {
    values.clear();
    network_values(network, rows, values);
    argmax(values.iter().copied()).unwrap_or(0)
}

impl Freezes for Plausible {
    fn frozen(&self) -> Option<(&FrozenRelu, f64, f64)> {
        self.acting_frozen().map(|frozen| (&frozen.regime, self.radius(frozen), 0.0))
    }

    fn select_lifted(&self, dim: usize, key: Key, scratch: &mut Scratch) -> Result<Choice<'static>> {
        self.select_from_sphere(dim, key, scratch)
    }
}

impl Policy for Plausible {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.belief.dim()
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.dim())?;
        let by_networks = self.belief.believes_networks();
        match (self.acting_frozen(), offer) {
            (_, Offer::Context(_)) => Err(Error::unexpected_context(ENTRY.name)),
            (Some(frozen), Offer::Rows(rows)) => {
                Ok(super::select_frozen(&frozen.regime, rows, self.radius(frozen), 0.0, scratch))
            }
            (Some(frozen), Offer::Sphere { .. }) => frozen.region.select(&frozen.regime, 0.0, self.radius(frozen)),
            (None, Offer::Sphere { dim }) => self.select_from_sphere(dim, key, scratch),
            (None, Offer::Rows(rows)) if self.config.sampling && by_networks => {
                self.select_by_sampling(rows, key, scratch)
            }
            (None, Offer::Rows(rows)) if by_networks => {
                self.score_by_networks(rows, false, scratch);
                Ok(super::best_by_score(rows, scratch))
            }
            (None, Offer::Rows(rows)) => super::select_optimistic(self, rows, scratch),
        }
    }

    fn probabilities(&self, offer: Offer<'_>, _: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        offer.expect_dim(self.dim())?;
        let Offer::Rows(rows) = offer else { return Ok(false) };
        if self.acting_frozen().is_some() || !self.config.sampling || !self.belief.believes_networks() {
            return Ok(false);
        }
        let mut values = Vec::new();
        out.clear();
        out.resize(rows.len(), 0.0);
        for (weight, network) in self.belief.members() {
            out[best_row(network, rows, &mut values)] += weight;
        }
        Ok(true)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.dim(), action, reward)?;
        self.absorb(x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.dim())?;
        self.score_rows(offer.rows(ENTRY.name)?, scratch);
        Ok(())
    }

    /// Whether the networks still disagree about what to do.
    fn exploring(&self) -> bool {
        self.frozen.is_none() && self.agreed == 0
    }

    fn model(&self) -> (String, String) {
        self.acting_model()
    }

    fn network(&self) -> Option<Fitted> {
        let owned = |(weight, network): (f64, &ReluNet)| (weight, network.clone());
        let networks: Vec<_> = match &self.frozen {
            Some(frozen) => vec![(1.0, frozen.regime.network().clone())],
            None => self.belief.networks().map(owned).collect(),
        };
        (!networks.is_empty()).then_some(Fitted::Networks(networks))
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        self.explain_vector(check_vector(ENTRY.name, self.dim(), action)?)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}
