//! How much of the rewards no function could explain: judged by samples that lie close together.

/// Of more samples than these, the first are compared.
const MOST: usize = 2000;

/// About the variance of the noise, or more where even nearest neighbours lie far apart: half of the mean squared
/// difference between the rewards of nearest neighbours, over the half of samples whose neighbour is nearest. `None` of
/// fewer than ten samples, which tell nothing.
pub(super) fn variance(dim: usize, xs: &[f64], ys: &[f64]) -> Option<f64> {
    let rows: Vec<&[f64]> = xs.chunks_exact(dim).take(MOST).collect();
    if rows.len() < 10 {
        return None;
    }
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let mut nearest: Vec<(f64, f64)> = Vec::with_capacity(rows.len());
    for (i, x) in rows.iter().enumerate() {
        let others = rows.iter().enumerate().filter(|(j, _)| *j != i);
        let found = others.map(|(j, y)| (distance(x, y), j)).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.extend(found.map(|(away, j)| (away, (ys[i] - ys[j]) * (ys[i] - ys[j]))));
    }
    nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
    let near = &nearest[..nearest.len().div_ceil(2)];
    Some(near.iter().map(|(_, squared)| squared).sum::<f64>() / (2.0 * near.len() as f64))
}

#[cfg(test)]
mod tests {
    use reluctant::Key;
    use reluctant::rng::{normal, uniform};

    use super::*;

    #[test]
    fn the_noise_on_a_smooth_function_is_found() {
        let mut stream = Key::new(5).stream();
        let xs: Vec<f64> = (0..2000).map(|_| uniform(&mut stream)).collect();
        for sigma in [0.0, 0.1, 1.0] {
            let ys: Vec<f64> = xs.chunks(2).map(|x| x[0] + 2.0 * x[1] + sigma * normal(&mut stream)).collect();
            let found = variance(2, &xs, &ys).unwrap().sqrt();
            assert!((found - sigma).abs() < 0.03 + 0.1 * sigma, "{found} for {sigma}");
        }
        assert_eq!(variance(2, &xs[..10], &[0.0; 5]), None);
    }
}
