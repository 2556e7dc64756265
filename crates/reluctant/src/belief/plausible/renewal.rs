//! How networks come in: those that fall out are started anew, and others are proposed, so that no
//! optimum is taken for granted.
//!
//! A proposal is fitted like a member, and takes the place of one as often as its evidence says. Most proposals are
//! variations of a plausible network. But what a trial that stays with the second-best arm has overlooked is rarely
//! near what it believes: in one that was looked at, of a thousand new starts some thirty came to see it, of a
//! thousand variations three. So before a check ([`super::checks`]) there is a *search*: many new starts, so that the
//! check also considers networks that the present ones are far from.

use super::checks::is_check;
use super::constants::{
    COLD_STEPS, EARLY, EARLY_UNTIL, HOPELESS, OTHER_KIND, RENEW, RETRIES, SEARCH, TRIES, TRUST, VARIED, WARM_STEPS,
};
use super::ensemble::Ensemble;
use super::form::{Form, Shape};
use super::history::History;
use super::member::Member;
use crate::linalg::norm;
use crate::relu::ReluNet;
use crate::rng::{Stream, index, uniform, unit_vector};

impl Form {
    /// Draws one or two neurons of the network anew, of the same length.
    fn vary(&self, network: &mut ReluNet, stream: &mut Stream) {
        let (theta, signs) = network.layers_mut();
        for _ in 0..1 + index(stream, 2) {
            let place = index(stream, signs.len()) * self.dim;
            let neuron = &mut theta[place..place + self.dim];
            let length = norm(neuron);
            unit_vector(stream, neuron);
            neuron.iter_mut().for_each(|x| *x *= length);
        }
    }
}

impl Ensemble {
    /// Refits the member whose turn it is; if it does not come back among the plausible ones, it starts anew.
    pub(super) fn refit_next(&mut self, history: &History, stream: &mut Stream) {
        let m = self.next;
        self.next = (m + 1) % self.members.len();
        self.refit(m, history, WARM_STEPS);
        self.draw(m, history, stream);
        let n = history.len() as f64;
        for _ in 0..RETRIES {
            if self.weight(m, self.least_cost(), n) > 0.0 {
                return;
            }
            self.weigh(n);
            let start = self.new_start(stream);
            let old = self.replace(m, start, history);
            let keeps = self.cost(&old) >= self.cost(&self.members[m]);
            self.settle(m, old, keeps);
        }
        self.weigh(n);
        if self.weights[m] == 0.0 {
            // Where good fits are hard to find, it shares one and differs from it by its own perturbations.
            let source = self.sample(stream);
            let mut copy = self.blank();
            copy.copy(&self.members[source]);
            self.settle(m, copy, false);
            self.refit(m, history, WARM_STEPS);
            self.draw(m, history, stream);
            self.weigh(n);
        }
    }

    /// Proposes other networks: a few, or before a check many.
    pub(super) fn renew(&mut self, history: &History, stream: &mut Stream) {
        let seen = history.seen();
        let mut proposals = self.proposals(seen as f64);
        while uniform(stream) < proposals {
            proposals -= 1.0;
            let vary = self.is_determined(seen as f64) && uniform(stream) < VARIED;
            let start = if vary { self.variation(stream) } else { self.new_start(stream) };
            self.propose(start, history, stream);
        }
        if self.form.has_checks() && is_check(seen) && self.is_determined(seen as f64) {
            for _ in 0..SEARCH {
                let start = self.new_start(stream);
                self.propose(start, history, stream);
            }
        }
    }

    /// How many proposals are made after `seen` observations.
    fn proposals(&self, seen: f64) -> f64 {
        let few = (RENEW / seen).min(1.0);
        if !self.is_determined(seen) {
            return few;
        }
        let ratio = (EARLY_UNTIL / seen).min(1.0);
        (EARLY * ratio * ratio).max(few)
    }

    /// Whether there are as many observations as unknowns. Before, every start can be made to fit.
    fn is_determined(&self, seen: f64) -> bool {
        seen >= self.unknowns() as f64
    }

    /// Lets another compete with a member, and keeps it as often as its evidence against that one says.
    fn propose(&mut self, start: Member, history: &History, stream: &mut Stream) {
        let m = self.rival_of(&start, stream);
        let old = self.replace(m, start, history);
        let worse = |ensemble: &Self| ensemble.cost(&ensemble.members[m]) - ensemble.cost(&old);
        let keeps = worse(self) < HOPELESS && {
            self.draw(m, history, stream);
            uniform(stream) < libm::exp(-0.5 * worse(self).max(0.0))
        };
        self.settle(m, old, keeps);
    }

    /// The member that a start competes with: one of its own shape, if that is met soon. Never the first, whose rewards
    /// are not perturbed.
    fn rival_of(&self, start: &Member, stream: &mut Stream) -> usize {
        let mut rival = 1 + index(stream, self.members.len() - 1);
        for _ in 0..TRIES {
            if self.members[rival].shape == start.shape {
                break;
            }
            rival = 1 + index(stream, self.members.len() - 1);
        }
        rival
    }

    /// A network as one imagines it before any data.
    fn new_start(&mut self, stream: &mut Stream) -> Member {
        let mut start = self.blank();
        let (size, shape) = self.another_kind(stream);
        start.network.redraw(size, stream);
        start.shape = shape;
        let paired = self.form.imagine(&mut start.network, shape, self.scale, stream);
        start.restart(paired);
        start
    }

    /// A plausible network with one or two neurons drawn anew, and so no longer in pairs.
    fn variation(&mut self, stream: &mut Stream) -> Member {
        let mut start = self.blank();
        let model = &self.members[self.sample(stream)];
        start.network.clone_from(&model.network);
        start.shape = model.shape;
        self.form.vary(&mut start.network, stream);
        start.restart(false);
        start
    }

    /// A member to be written over.
    fn blank(&mut self) -> Member {
        self.spare.take().unwrap_or_else(|| self.members[0].clone())
    }

    /// Puts another in the place of member `m`, and fits it; the member as it was.
    fn replace(&mut self, m: usize, start: Member, history: &History) -> Member {
        let old = std::mem::replace(&mut self.members[m], start);
        self.refit(m, history, COLD_STEPS);
        old
    }

    /// Decides whether member `m` keeps its place; if not, `other` has it. The memory of the one without is used again.
    fn settle(&mut self, m: usize, mut other: Member, keeps: bool) {
        if !keeps {
            std::mem::swap(&mut self.members[m], &mut other);
        }
        self.spare = Some(other);
    }

    /// The size and the shape of a new start: mostly those given, and otherwise those of a plausible member, or one
    /// neuron more or less, or a shape as imagined before any data.
    fn another_kind(&self, stream: &mut Stream) -> (usize, Shape) {
        let given = self.form.neurons;
        if given > 0 && uniform(stream) < TRUST {
            return (given, self.form.imagine_shape(0.0));
        }
        let model = &self.members[self.sample(stream)];
        let size = model.network.neurons() + index(stream, 3);
        let another = self.form.shape.is_none() && uniform(stream) < OTHER_KIND;
        let shape = if another { self.form.imagine_shape(uniform(stream)) } else { model.shape };
        let (least, most) = self.form.sizes_of(shape);
        ((size.max(2) - 1).clamp(least, most), shape)
    }
}
