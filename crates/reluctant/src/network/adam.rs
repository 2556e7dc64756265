//! Mini-batches by Adam (Kingma and Ba 2015), with weight decay apart from the gradient (Loshchilov and Hutter 2019).

use serde::{Deserialize, Serialize};

use super::shared::SharedNet;
use crate::instructions::arch;
use crate::rng::{Stream, index, shuffle};

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Samples in a mini-batch.
pub(super) const BATCH: usize = 32;

/// The learning rate falls in a line to this share of itself over a training.
const LAST_RATE: f64 = 0.1;

/// Scaled inputs, heads and scaled rewards.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) xs: &'a [f64],
    pub(super) heads: &'a [u32],
    pub(super) ys: &'a [f64],
}

/// What a training makes small, of a value f and a reward y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Loss {
    /// (f − y)²/2.
    #[default]
    Squares,
    /// −log of the chance of y, which is 1 with the chance 1/(1 + exp(−f)), else 0.
    Logistic,
}

impl Loss {
    /// The derivative of the loss by f.
    #[inline(always)]
    fn slope(self, value: f64, y: f64) -> f64 {
        match self {
            Loss::Squares => value - y,
            Loss::Logistic => logistic(value) - y,
        }
    }
}

/// 1/(1 + exp(−x)): the chance whose odds have this logarithm.
#[inline(always)]
pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// How a network is trained.
#[derive(Debug, Clone, Copy)]
pub(super) struct Adam {
    pub(super) loss: Loss,
    pub(super) rate: f64,
    pub(super) decay: f64,
    pub(super) steps: usize,
}

/// Memory that training works in, kept between trainings.
#[derive(Debug, Clone, Default)]
pub(super) struct Workspace {
    order: Vec<u32>,
    gradient: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    hidden: Vec<f64>,
    slopes: Vec<f64>,
}

impl Adam {
    /// Steps on the mean of the loss over mini-batches of the samples that [`Workspace::visit`] named, at least one,
    /// in an order drawn from `stream`, drawn anew after each pass.
    pub(super) fn train(self, net: &mut SharedNet, data: Data<'_>, stream: &mut Stream, work: &mut Workspace) {
        struct Kernel<'k>(Adam, &'k mut SharedNet, Data<'k>, &'k mut Stream, &'k mut Workspace);
        impl pulp::NullaryFnOnce for Kernel<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Kernel(adam, net, data, stream, work) = self;
                adam.run(net, data, stream, work);
            }
        }
        debug_assert!(!work.order.is_empty());
        work.prepare(net);
        arch().dispatch(Kernel(self, net, data, stream, work));
    }

    #[inline(always)]
    fn run(self, net: &mut SharedNet, data: Data<'_>, stream: &mut Stream, work: &mut Workspace) {
        let (n, mut next) = (work.order.len(), usize::MAX);
        let (mut decay_1, mut decay_2) = (1.0, 1.0);
        for step in 0..self.steps {
            work.gradient.fill(0.0);
            let batch = BATCH.min(n);
            for _ in 0..batch {
                if next >= n {
                    shuffle(stream, &mut work.order);
                    next = 0;
                }
                add_sample(self.loss, net, data, work.order[next] as usize, work);
                next += 1;
            }
            decay_1 *= BETA_1;
            decay_2 *= BETA_2;
            let rate = self.rate * (1.0 - (1.0 - LAST_RATE) * step as f64 / self.steps as f64);
            let sizes = Sizes {
                rate: rate / (1.0 - decay_1),
                second: 1.0 / (1.0 - decay_2),
                share: 1.0 / batch as f64,
                keep: 1.0 - rate * self.decay,
            };
            sizes.step(net.params_mut(), work);
        }
    }
}

/// Adds the gradient of the loss at sample `i` to that of the batch.
#[inline(always)]
fn add_sample(loss: Loss, net: &SharedNet, data: Data<'_>, i: usize, work: &mut Workspace) {
    let x = &data.xs[i * net.dim()..(i + 1) * net.dim()];
    let head = data.heads[i] as usize;
    net.hidden(x, &mut work.hidden);
    let slope = loss.slope(net.value(head, &work.hidden), data.ys[i]);
    net.add_gradient(head, slope, (x, &work.hidden), &mut work.slopes, &mut work.gradient);
}

/// The numbers of one step: the rate, with the correction of the first moment; the correction of the second; what a
/// sample's gradient counts; what weight decay leaves.
struct Sizes {
    rate: f64,
    second: f64,
    share: f64,
    keep: f64,
}

impl Sizes {
    #[inline(always)]
    fn step(&self, params: &mut [f64], work: &mut Workspace) {
        let moments = work.first.iter_mut().zip(&mut work.second);
        for ((p, g), (m, v)) in params.iter_mut().zip(&work.gradient).zip(moments) {
            let g = g * self.share;
            *m = BETA_1 * *m + (1.0 - BETA_1) * g;
            *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
            *p = self.keep * *p - self.rate * *m / ((*v * self.second).sqrt() + EPSILON);
        }
    }
}

impl Workspace {
    /// Names the samples of the next training, each as often as it counts.
    pub(super) fn visit(&mut self, samples: impl Iterator<Item = u32>) {
        self.order.clear();
        self.order.extend(samples);
    }

    /// The gradient of the squares at so many samples, drawn by chance with repetition, summed up.
    pub(super) fn sampled_gradient(
        &mut self,
        net: &SharedNet,
        data: Data<'_>,
        samples: usize,
        stream: &mut Stream,
    ) -> &[f64] {
        struct Kernel<'k>(&'k SharedNet, Data<'k>, usize, &'k mut Stream, &'k mut Workspace);
        impl pulp::NullaryFnOnce for Kernel<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Kernel(net, data, samples, stream, work) = self;
                for _ in 0..samples {
                    add_sample(Loss::Squares, net, data, index(stream, data.ys.len()), work);
                }
            }
        }
        self.clear_gradient(net);
        arch().dispatch(Kernel(net, data, samples, stream, self));
        &self.gradient
    }

    /// How many there are.
    pub(super) fn visited(&self) -> usize {
        self.order.len()
    }

    fn prepare(&mut self, net: &SharedNet) {
        for moments in [&mut self.first, &mut self.second] {
            moments.clear();
            moments.resize(net.params().len(), 0.0);
        }
        self.clear_gradient(net);
    }

    fn clear_gradient(&mut self, net: &SharedNet) {
        self.gradient.clear();
        self.gradient.resize(net.params().len(), 0.0);
        self.hidden.resize(net.outputs(), 0.0);
        self.slopes.resize(net.width(), 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::tests::random;
    use super::*;
    use crate::rng::{Key, normal};

    fn samples(count: usize, dim: usize, heads: u32) -> (Vec<f64>, Vec<u32>) {
        let mut stream = Key::new(3).stream();
        ((0..count * dim).map(|_| normal(&mut stream)).collect(), (0..count as u32).map(|i| i % heads).collect())
    }

    /// Memory for a training that visits every sample once in a pass.
    fn all(samples: u32) -> Workspace {
        let mut work = Workspace::default();
        work.visit(0..samples);
        work
    }

    fn values(net: &SharedNet, xs: &[f64], heads: &[u32]) -> Vec<f64> {
        let mut hidden = vec![0.0; net.width()];
        let each = xs.chunks_exact(net.dim()).zip(heads);
        each.map(|(x, head)| {
            net.hidden(x, &mut hidden);
            net.value(*head as usize, &hidden)
        })
        .collect()
    }

    /// Two steps by the published formulas, with the gradient of the whole batch by finite differences.
    fn check_steps(of: Loss, ys: &[f64], loss_at: fn(f64, f64) -> f64) {
        let (xs, heads) = samples(7, 3, 2);
        let data = Data { xs: &xs, heads: &heads, ys };
        let start = random(3, 4, 2, 5);
        let adam = Adam { loss: of, rate: 0.01, decay: 0.1, steps: 2 };
        let mut found = start.clone();
        adam.train(&mut found, data, &mut Key::new(1).stream(), &mut all(7));
        let loss =
            |net: &SharedNet| values(net, &xs, &heads).iter().zip(ys).map(|(f, y)| loss_at(*f, *y) / 7.0).sum::<f64>();
        let (mut net, size) = (start.clone(), start.params().len());
        let (mut m, mut v) = (vec![0.0; size], vec![0.0; size]);
        for (step, rate) in [(1, 0.01), (2, 0.01 * (1.0 - 0.5 * (1.0 - LAST_RATE)))] {
            let before = net.clone();
            for p in 0..size {
                let moved = |by: f64| {
                    let mut other = before.clone();
                    other.params_mut()[p] += by;
                    loss(&other)
                };
                let g = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                m[p] = 0.9 * m[p] + 0.1 * g;
                v[p] = 0.999 * v[p] + 0.001 * g * g;
                let (first, second) = (m[p] / (1.0 - 0.9f64.powi(step)), v[p] / (1.0 - 0.999f64.powi(step)));
                let now = before.params()[p];
                net.params_mut()[p] = now - rate * (first / (second.sqrt() + 1e-8) + 0.1 * now);
            }
        }
        for (a, b) in found.params().iter().zip(net.params()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }

    #[test]
    fn steps_are_those_of_the_papers() {
        let ys: Vec<f64> = (0..7).map(|i| f64::from(i) / 3.0).collect();
        check_steps(Loss::Squares, &ys, |f, y| (f - y).powi(2) / 2.0);
        let ys = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0];
        check_steps(Loss::Logistic, &ys, |f, y| libm::log1p(libm::exp(f)) - y * f);
    }

    #[test]
    fn training_finds_a_network_of_its_own_kind() {
        let (xs, heads) = samples(400, 3, 2);
        let truth = random(3, 3, 2, 8);
        let ys = values(&truth, &xs, &heads);
        let mut net = random(3, 32, 2, 9);
        let adam = Adam { loss: Loss::Squares, rate: 0.01, decay: 0.0, steps: 2000 };
        adam.train(&mut net, Data { xs: &xs, heads: &heads, ys: &ys }, &mut Key::new(2).stream(), &mut all(400));
        let error = values(&net, &xs, &heads).iter().zip(&ys).map(|(f, y)| (f - y).powi(2)).sum::<f64>() / 400.0;
        let size = ys.iter().map(|y| y * y).sum::<f64>() / 400.0;
        assert!(error < 1e-3 * size, "{error} {size}");
    }
}
