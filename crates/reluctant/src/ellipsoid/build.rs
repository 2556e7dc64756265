//! Regressions made at once: from sums over many observations, or from a smaller one.

use super::Ellipsoid;

impl Ellipsoid {
    /// Ridge regression with penalty λ after `count` observations, given Σ φφᵀ on and above the diagonal and Σ φy.
    pub(crate) fn from_sums(lambda: f64, gram: &[f64], moment: &[f64], count: u64) -> Self {
        let dim = moment.len();
        let mut made = Self::ridge(dim, lambda);
        if count == 0 {
            return made;
        }
        for (i, (row, sums)) in made.precision.chunks_exact_mut(dim).zip(gram.chunks_exact(dim)).enumerate() {
            row[i..].iter_mut().zip(&sums[i..]).for_each(|(entry, sum)| *entry += sum);
        }
        made.moment.copy_from_slice(moment);
        made.updates = count;
        made.refresh();
        made
    }

    /// The same regression with `more` features that every observation so far had as zero, and penalty λ for them.
    pub(crate) fn with_more_features(&self, more: usize, lambda: f64) -> Self {
        let (old, dim) = (self.dim, self.dim + more);
        let embedded = |matrix: &[f64], value: f64| {
            let mut larger = vec![0.0; dim * dim];
            for (to, from) in larger.chunks_exact_mut(dim).zip(matrix.chunks_exact(old)) {
                to[..old].copy_from_slice(from);
            }
            (old..dim).for_each(|i| larger[i * dim + i] = value);
            larger
        };
        let longer = |vector: &[f64]| {
            let mut longer = vector.to_vec();
            longer.resize(dim, 0.0);
            longer
        };
        Ellipsoid {
            dim,
            precision: embedded(&self.precision, lambda),
            precision_lost: embedded(&self.precision_lost, 0.0),
            covariance: embedded(&self.covariance, 1.0 / lambda),
            moment: longer(&self.moment),
            moment_lost: longer(&self.moment_lost),
            weights: longer(&self.weights),
            log_det_prior: self.log_det_prior + more as f64 * libm::log(lambda),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    fn observations(dim: usize) -> Vec<(Vec<f64>, f64)> {
        let mut stream = Key::new(1).stream();
        (0..50).map(|_| ((0..dim).map(|_| normal(&mut stream)).collect(), normal(&mut stream))).collect()
    }

    fn assert_alike(a: &Ellipsoid, b: &Ellipsoid) {
        let pairs = a.covariance().iter().zip(b.covariance()).chain(a.weights().iter().zip(b.weights()));
        assert!(a.dim() == b.dim() && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((a.log_det_ratio() - b.log_det_ratio()).abs() < 1e-10 && a.updates() == b.updates());
    }

    #[test]
    fn sums_give_what_updates_give() {
        let (mut updated, mut gram, mut moment) = (Ellipsoid::ridge(4, 0.3), vec![0.0; 16], vec![0.0; 4]);
        for (phi, y) in observations(4) {
            updated.update(&phi, y);
            for i in 0..4 {
                moment[i] += phi[i] * y;
                (i..4).for_each(|j| gram[4 * i + j] += phi[i] * phi[j]);
            }
        }
        assert_alike(&Ellipsoid::from_sums(0.3, &gram, &moment, 50), &updated);
        assert_alike(&Ellipsoid::from_sums(0.3, &[0.0; 16], &[0.0; 4], 0), &Ellipsoid::ridge(4, 0.3));
    }

    #[test]
    fn features_that_come_later_were_zero_before() {
        let (mut grown, mut whole) = (Ellipsoid::ridge(3, 0.3), Ellipsoid::ridge(5, 0.3));
        for (i, (mut phi, y)) in observations(5).into_iter().enumerate() {
            if i == 20 {
                grown = grown.with_more_features(2, 0.3);
            }
            if i < 20 {
                phi[3..].fill(0.0);
            }
            whole.update(&phi, y);
            grown.update(&phi[..grown.dim()], y);
        }
        assert_alike(&grown, &whole);
    }
}
