//! Neurons that come and go: draws from the posterior of networks of any size, if their size is not given. Only in
//! those of any signs and lengths: in networks of ones jumps do more harm than good (docs/laboratory.md).
//!
//! Most actions are played where rewards are high, and say nothing of neurons that are silent there. What such neurons
//! do elsewhere is the doubt about what was not tried. Refits and proposals do not keep that doubt: small networks are
//! easier to fit, and in time they are the only ones left. Reversible jumps (Green 1995) do: a neuron as imagined
//! before any data comes in, or one goes, as often as the likelihood says. A neuron that comes is drawn from the prior,
//! so that its density cancels, and the ratio of the posteriors is that of the likelihoods times that of the priors of
//! the two sizes.

use super::ensemble::Ensemble;
use super::form::{Shape, imagine_signed};
use super::history::History;
use super::member::Member;
use super::refit::losses;
use super::sizes;
use crate::rng::{Stream, index, sign, uniform};

impl Ensemble {
    /// Lets a neuron of member `m`, which is of any signs and lengths, come or go, within the posterior.
    pub(super) fn jump(&mut self, m: usize, history: &History, stream: &mut Stream) {
        let (fewest, most) = self.form.sizes_of(self.members[m].shape);
        let neurons = self.members[m].network.neurons();
        let comes = uniform(stream) < 0.5;
        if neurons == if comes { most } else { fewest } {
            return;
        }
        if comes {
            self.add_neuron(m, stream);
            if !self.accepts(m, neurons, neurons + 1, history, stream) {
                self.members[m].network.pop();
            }
        } else {
            self.members[m].network.swap(index(stream, neurons), neurons - 1);
            if self.accepts(m, neurons, neurons - 1, history, stream) {
                self.members[m].network.pop();
            }
        }
    }

    /// Adds a neuron as imagined before any data.
    fn add_neuron(&mut self, m: usize, stream: &mut Stream) {
        let scale = self.size(Shape::Signed);
        imagine_signed(self.members[m].network.push(sign(stream)), scale, stream);
    }

    /// Whether the first `after` neurons of member `m` take the place of the first `before`.
    fn accepts(&mut self, m: usize, before: usize, after: usize, history: &History, stream: &mut Stream) -> bool {
        let Member { network, loss, .. } = &mut self.members[m];
        let (theta, signs) = (&network.theta()[..after * history.dim()], &network.signs()[..after]);
        let reached = losses(theta, signs, m, history, self.sigma).0;
        let likelihoods = libm::exp(0.5 * (*loss - reached) / (self.sigma * self.sigma));
        let accepted = uniform(stream) < likelihoods * sizes::share(after) / sizes::share(before);
        if accepted {
            *loss = reached;
        }
        accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::plausible::form::Form;
    use crate::relu::ReluNet;
    use crate::rng::{Key, unit_vector};

    const SIGMA: f64 = 0.5;
    /// So many that networks have four to nine neurons, and chains soon have been everywhere.
    const DIM: usize = 11;

    fn history() -> History {
        let mut stream = Key::new(3).stream();
        let mut history = History::new(DIM, 2, 1000, Key::new(4));
        let mut x = vec![0.0; DIM];
        for _ in 0..8 {
            unit_vector(&mut stream, &mut x);
            history.push(&x, 0.8);
        }
        history
    }

    /// What is compared: the number of neurons, and the value at an action that was not played.
    fn see(network: &ReluNet) -> [f64; 2] {
        let mut x = vec![0.0; DIM];
        x[0] = 1.0;
        [network.neurons() as f64, network.value(&x)]
    }

    /// Their means over a chain of draws.
    fn drawn_means(form: Form, history: &History) -> [f64; 2] {
        let mut stream = Key::new(5).stream();
        let mut ensemble = Ensemble::new(form, 2, Some(SIGMA), &mut stream);
        let draws = 40_000;
        let mut means = [0.0; 2];
        for _ in 0..draws {
            ensemble.draw(1, history, &mut stream);
            let seen = see(&ensemble.members[1].network);
            means.iter_mut().zip(seen).for_each(|(mean, seen)| *mean += seen / f64::from(draws));
        }
        means
    }

    /// And over the posterior, by weighing many networks as imagined before any data.
    fn weighed_means(form: Form, history: &History) -> [f64; 2] {
        let mut stream = Key::new(8).stream();
        let mut network = ReluNet::random(DIM, 1, &mut stream);
        let (mut sums, mut weights) = ([0.0; 2], 0.0);
        for number in 0..200_000 {
            let (fewest, most) = form.sizes_of(Shape::Signed);
            let neurons = fewest + number % (most - fewest + 1);
            network.redraw(neurons, &mut stream);
            form.imagine(&mut network, Shape::Signed, 1.0, &mut stream);
            let loss = losses(network.theta(), network.signs(), 0, history, SIGMA).0;
            let weight = sizes::share(neurons) * libm::exp(-0.5 * loss / (SIGMA * SIGMA));
            sums.iter_mut().zip(see(&network)).for_each(|(sum, seen)| *sum += weight * seen);
            weights += weight;
        }
        sums.map(|sum| sum / weights)
    }

    #[test]
    fn sizes_have_the_means_of_the_posterior() {
        let history = history();
        let form = Form { dim: DIM, neurons: 0, shape: Some(Shape::Signed) };
        let (drawn, expected) = (drawn_means(form, &history), weighed_means(form, &history));
        for ((drawn, expected), tolerance) in drawn.iter().zip(&expected).zip([0.1, 0.02]) {
            assert!((drawn - expected).abs() < tolerance, "{drawn} is not {expected}");
        }
    }
}
