//! What the plausible networks make of a new observation: some are refitted, others proposed, and all are weighed.

use super::constants::{EVERY_ROUND, SHORT};
use super::ensemble::Ensemble;
use super::form::Shape;
use super::history::History;
use crate::rng::Stream;

impl Ensemble {
    /// Learns of what size rewards are, from the `n`-th.
    pub(super) fn measure(&mut self, y: f64, n: f64) {
        let square = self.scale * self.scale;
        self.scale = if n == 1.0 { y.abs() } else { (square + (y * y - square) / n).max(0.0).sqrt() };
    }

    /// Learns the newest observation of the history, of which the losses know already.
    pub(super) fn learn(&mut self, y: f64, history: &History, stream: &mut Stream) {
        let n = history.len() as f64;
        let sized = history.seen() > 1 && self.scale > 0.0;
        self.measure(y, n);
        if !sized && self.scale > 0.0 && self.form.shape != Some(Shape::Unit) {
            self.resize();
            self.reassess(history);
        }
        let seen = history.seen() as f64;
        let missing = self.weights.iter().filter(|weight| **weight == 0.0).count() as f64;
        let share = self.members.len() as f64 * (EVERY_ROUND / seen).min(1.0);
        self.due += share.max((SHORT * missing).min(1.0));
        if self.due >= 1.0 {
            while self.due >= 1.0 {
                self.due -= 1.0;
                self.refit_next(history, stream);
            }
            self.weigh(n);
        }
        self.renew(history, stream);
        self.estimate_noise(n);
        self.weigh(n);
    }
}

#[cfg(test)]
mod tests {
    use super::super::constants::PREDICTED_UNTIL;
    use super::super::form::Form;
    use super::*;
    use crate::relu::ReluNet;
    use crate::rng::{Key, normal, unit_vector};

    #[test]
    fn a_crowd_thins_out_and_keeps_its_best() {
        let mut stream = Key::new(1).stream();
        let form = Form { dim: 2, neurons: 3, shape: Some(Shape::Unit) };
        let mut history = History::new(2, 16, 64, Key::new(2));
        let mut ensemble = Ensemble::new(form, 16, Some(0.1), &mut stream);
        let mut x = [0.0; 2];
        for _ in 0..20 {
            unit_vector(&mut stream, &mut x);
            let place = history.push(&x, 1.0);
            ensemble.account(place, &history);
            ensemble.learn(1.0, &history, &mut stream);
        }
        let cost = |ensemble: &Ensemble| ensemble.cost(&ensemble.members[ensemble.best()]);
        for count in (2..16).rev() {
            let before = cost(&ensemble);
            ensemble.thin_out(count);
            history.thin_out(count);
            assert_eq!((ensemble.members.len(), ensemble.weights.len(), history.networks()), (count, count, count));
            assert_eq!(cost(&ensemble), before);
            ensemble.learn(1.0, &history, &mut stream);
        }
    }

    #[test]
    fn predictions_tell_sizes_apart_before_the_unknowns_are_determined() {
        let mut far_off = 0.0;
        for seed in 0..10 {
            let mut stream = Key::new(seed).stream();
            let truth = ReluNet::random(5, 2, &mut stream);
            let mut history = History::new(5, 128, 64, Key::new(2));
            let mut ensemble =
                Ensemble::new(Form { dim: 5, neurons: 0, shape: Some(Shape::Unit) }, 128, Some(0.1), &mut stream);
            let mut x = [0.0; 5];
            for _ in 0..PREDICTED_UNTIL {
                unit_vector(&mut stream, &mut x);
                let y = truth.value(&x) + 0.1 * normal(&mut stream);
                let place = history.push(&x, y);
                ensemble.account(place, &history);
                ensemble.learn(y, &history, &mut stream);
            }
            far_off += ensemble.plausible().filter(|(_, network)| network.neurons() > 6).map(|(w, _)| w).sum::<f64>();
        }
        // Before any data four.
        assert!(far_off < 2.0, "{far_off} of 10");
    }

    /// The share of networks of ones, by weight, after observations of networks whose neurons have this length.
    fn share_of_ones(length: f64) -> f64 {
        let mut share = 0.0;
        for seed in 0..3 {
            let mut stream = Key::new(seed).stream();
            let truth = ReluNet::random(3, 3, &mut stream);
            let mut history = History::new(3, 32, 64, Key::new(2));
            let form = Form { dim: 3, neurons: 0, shape: None };
            let mut ensemble = Ensemble::new(form, 32, None, &mut stream);
            let mut x = [0.0; 3];
            for _ in 0..60 {
                unit_vector(&mut stream, &mut x);
                let y = length * truth.value(&x) + 0.1 * normal(&mut stream);
                let place = history.push(&x, y);
                ensemble.account(place, &history);
                ensemble.learn(y, &history, &mut stream);
            }
            let weights = || ensemble.weights.iter().zip(&ensemble.members);
            let ones: f64 = weights().filter(|(_, m)| m.shape == Shape::Unit).map(|(w, _)| w).sum();
            share += ones / weights().map(|(w, _)| w).sum::<f64>() / 3.0;
        }
        share
    }

    #[test]
    fn evidence_tells_networks_of_ones_from_others() {
        let (true_ones, others) = (share_of_ones(1.0), share_of_ones(0.5));
        assert!(true_ones > 0.2 && others == 0.0, "{true_ones} and {others}");
    }
}
