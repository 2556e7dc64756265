//! What the paper's statements say in numbers: one file a statement.
//!
//! | file | statement |
//! | --- | --- |
//! | `sphere` | \|S^m\| and the ratios that the proofs use |
//! | `loss` | ζ (Lemma B.3) |
//! | `strip` | h(η, ε) (Proposition 3.1) and its best ε |
//! | `estimation` | Theorem 3.2 and its conditions |
//! | `exploration` | t₀(ν) (Appendix D) |
//! | `separation` | which α₀ a network can have (Assumption 2.2) |
//! | `gap` | ν* ≥ 1/(2f*) ≥ 1/(2k), sharper than Proposition 4.2, and for leaky units with biases |
//! | `identification` | Proposition 3.1 and Theorem 3.2 with the losses of their proof removed |
//! | `optimism` | the regret of the optimistic stage |
//! | `batches` | the grid, M and admissible (a, b) of Algorithm 2 |
//! | `regret` | Theorems 4.3 and 4.4 with explicit constants |
//! | `inputs`, `evaluate`, `quantity` | all of it for given numbers, each with its equation and its meaning |
//!
//! Lengths of exploration are beyond 10⁴⁰, so whatever can overflow is computed from logarithms. A statement that says
//! nothing (α₀ = 0, ν = 0) comes out infinite or `None`, never as NaN. `docs/theory.md` in the repository derives the
//! constants that the paper leaves open and lists where its statements are loose or wrong.

mod batches;
mod estimation;
mod evaluate;
mod exploration;
mod gap;
mod identification;
mod inputs;
mod loss;
mod optimism;
mod quantity;
mod regret;
mod separation;
mod setting;
mod sphere;
mod strip;

pub use batches::Batches;
pub use estimation::{Conditions, conditions, neuron_error_bound};
pub use evaluate::evaluate;
pub use exploration::{ExplorationLength, exploration_conditions, exploration_length, log10_exploration_length};
pub use gap::{gap_at_value, gap_floor, leaky_gap};
pub use identification::{identified_error, identifying_loss, log10_identified_length};
pub use inputs::Inputs;
pub use loss::zeta;
pub use optimism::{Stage, oful_stage_regret, optimism_regret};
pub use quantity::{Quantity, State};
pub use regret::{RegretBound, known_gap_regret, log10_informative_horizon, unknown_gap_regret};
pub use separation::separation_limit;
pub use setting::Setting;
pub use sphere::{equator_ratio, ln_sphere_area, second_ratio, sphere_area};
pub use strip::{StripBound, best_strip_bound, strip_bound};
