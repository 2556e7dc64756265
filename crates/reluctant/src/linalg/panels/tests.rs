use super::*;
use crate::linalg::{Cholesky, dot, residual_compensated};
use crate::rng::{Key, normal};

/// Sizes around those of strips, panels and blocks.
const SIZES: [usize; 12] = [1, 3, 7, 8, 15, 17, 31, 33, 48, 57, 64, 100];

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// B·Bᵀ + 0.1·I on and above the diagonal, and numbers that say nothing below. With `gaps` every third coordinate
/// has nothing to do with the others, so that zeros occur.
fn positive_definite(n: usize, gaps: bool) -> Vec<f64> {
    let mut stream = Key::new(n as u64).stream();
    let mut b: Vec<f64> = (0..n * n).map(|_| normal(&mut stream)).collect();
    for i in (0..n).filter(|i| gaps && i % 3 == 0) {
        (0..n).for_each(|j| b[i * n + j] = if i == j { -2.0 } else { 0.0 });
    }
    let entry = |i: usize, j: usize| dot(&b[i * n..][..n], &b[j * n..][..n]) + if i == j { 0.1 } else { 0.0 };
    (0..n * n).map(|at| if at % n < at / n { f64::NAN } else { entry(at / n, at % n) }).collect()
}

/// The plain versions: row after row, each entry by itself.
fn plain_inverse(factor: &[f64], n: usize) -> Vec<f64> {
    let mut root = vec![0.0; n * n];
    for i in 0..n {
        let row = &mut root[i * n..(i + 1) * n];
        row[i] = 1.0;
        for k in 0..n {
            row[k] /= factor[k * n + k];
            let solved = row[k];
            axpy(-solved, &factor[k * n + k + 1..(k + 1) * n], &mut row[k + 1..]);
        }
    }
    let entry = |i: usize, j: usize| dot(&root[i * n + j..(i + 1) * n], &root[j * n + j..(j + 1) * n]);
    (0..n * n).map(|at| entry((at / n).min(at % n), (at / n).max(at % n))).collect()
}

#[test]
fn factors_and_inverses_are_those_of_the_plain_loops_to_the_bit() {
    for n in SIZES {
        for gaps in [false, true] {
            let (mut found, mut plain) = (positive_definite(n, gaps), positive_definite(n, gaps));
            assert!(factor(&mut found, n) && factor_rows(&mut plain, n, 0));
            assert_eq!(bits(&found), bits(&plain), "{n}");
            let mut inverted = vec![0.0; n * n];
            inverse(&plain, n, &mut inverted);
            assert_eq!(bits(&inverted), bits(&plain_inverse(&plain, n)), "{n}");
        }
    }
}

#[test]
fn what_is_not_positive_definite_is_refused_in_every_block() {
    for at in [0, 5, 31, 32, 60, 99] {
        let mut a = positive_definite(100, false);
        a[at * 101] = -1.0;
        assert!(!factor(&mut a, 100));
    }
}

/// A, what it lost, and an inverse that is a little off.
fn ill_conditioned(n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut stream = Key::new(n as u64).stream();
    let a = positive_definite(n, false);
    let lost = a.iter().map(|x| 1e-17 * x * normal(&mut stream)).collect();
    let (mut work, mut inverse) = (a.clone(), vec![0.0; n * n]);
    Cholesky::new(&mut work, n).unwrap().inverse(&mut inverse);
    for i in 0..n {
        for j in 0..=i {
            let off = inverse[i * n + j] * (1.0 + 1e-9 * normal(&mut stream));
            inverse[i * n + j] = off;
            inverse[j * n + i] = off;
        }
    }
    (a, lost, inverse)
}

/// The residual b − Ax and the step, entry after entry.
fn plain_step(sums: Sums<'_>, inverse: &[f64], x: &mut [f64], b: &mut [f64]) {
    let n = sums.n;
    for (i, b) in b.iter_mut().enumerate() {
        let place = |j: usize| i.min(j) * n + i.max(j);
        *b = residual_compensated(*b, (0..n).map(|j| (sums.kept[place(j)], sums.lost[place(j)], x[j])));
    }
    for (row, r) in inverse.chunks_exact(n).zip(b) {
        axpy(*r, row, x);
    }
}

#[test]
fn refinement_is_that_of_the_plain_loops_to_the_bit() {
    for n in SIZES {
        let (kept, lost, inverse) = ill_conditioned(n);
        let sums = Sums { n, kept: &kept, lost: &lost };
        let mut plain = inverse.clone();
        let mut worst = 0.0f64;
        for (j, column) in plain.chunks_exact_mut(n).enumerate() {
            let mut b: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
            plain_step(sums, &inverse, column, &mut b);
            worst = worst.max(b.iter().enumerate().map(|(i, r)| r.abs() * ((j + 1) as f64 / (i + 1) as f64)).sum());
        }
        let refined = sums.refine_columns(&inverse, 0, n);
        assert_eq!(refined.residual(|i| (i + 1) as f64), worst, "{n}");
        let mut found = inverse.clone();
        refined.store(&mut found);
        let entry = |i: usize, j: usize| {
            if i == j { plain[i * n + i] } else { 0.5 * (plain[i * n + j] + plain[j * n + i]) }
        };
        let means: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        assert_eq!(bits(&found), bits(&means), "{n}");
        let (mut x, mut b): (Vec<f64>, Vec<f64>) = (inverse[..n].to_vec(), (0..n).map(|i| i as f64).collect());
        let (mut x_plain, mut b_plain) = (x.clone(), b.clone());
        sums.refine(&inverse, &mut x, &mut b);
        plain_step(sums, &inverse, &mut x_plain, &mut b_plain);
        assert_eq!((bits(&x), bits(&b)), (bits(&x_plain), bits(&b_plain)), "{n}");
    }
}

/// Panel by panel the same columns, and nothing but them and the rows that mirror them.
#[test]
fn a_few_columns_are_refined_as_all_are() {
    let n = 57;
    let (kept, lost, inverse) = ill_conditioned(n);
    let sums = Sums { n, kept: &kept, lost: &lost };
    let all = sums.refine_columns(&inverse, 0, n);
    for (first, count) in [(0, 16), (16, 16), (48, 9)] {
        let mut found = inverse.clone();
        let some = sums.refine_columns(&inverse, first, count);
        some.store(&mut found);
        for i in 0..n {
            for j in 0..n {
                let within = |at: usize| (first..first + count).contains(&at);
                let expected = match (within(i), within(j)) {
                    (false, false) => inverse[i * n + j],
                    (true, true) if i != j => 0.5 * (all.entry(i, j) + all.entry(j, i)),
                    (true, false) => all.entry(j, i),
                    _ => all.entry(i, j),
                };
                assert_eq!(found[i * n + j].to_bits(), expected.to_bits(), "{first}: {i}, {j}");
            }
        }
    }
    assert!(all.residual(|_| f64::NAN).is_nan());
}
