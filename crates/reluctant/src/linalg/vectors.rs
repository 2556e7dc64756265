//! Vectors, and products with a symmetric matrix.

/// Σ aᵢbᵢ.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// ‖a‖.
#[inline(always)]
pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// y ← y + m·x.
#[inline(always)]
pub fn axpy(m: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += m * x;
    }
}

/// y ← y + m·x, where `lost` keeps what rounding cuts off from each product and each sum: y + lost is the sum to about
/// twice the precision, however many terms it has.
#[inline(always)]
pub fn axpy_compensated(m: f64, x: &[f64], y: &mut [f64], lost: &mut [f64]) {
    for ((y, lost), x) in y.iter_mut().zip(lost).zip(x) {
        let product = m * x;
        let (sum, cut) = two_sum(*y, product);
        *lost += cut + m.mul_add(*x, -product);
        *y = sum;
    }
}

/// start − Σ (a + lost)·x over (a, lost, x), to about twice the precision (Ogita, Rump and Oishi 2005).
#[inline(always)]
pub fn residual_compensated(start: f64, terms: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let (mut sum, mut rest) = (start, 0.0);
    terms.for_each(|term| subtract_compensated(&mut sum, &mut rest, term));
    sum + rest
}

/// sum + rest ← sum + rest − (a + lost)·x, one term of [`residual_compensated`].
#[inline(always)]
pub(crate) fn subtract_compensated(sum: &mut f64, rest: &mut f64, (a, lost, x): (f64, f64, f64)) {
    let product = a * x;
    let (next, cut) = two_sum(*sum, -product);
    *rest += cut - a.mul_add(x, -product) - lost * x;
    *sum = next;
}

/// a + b, rounded, and what rounding cut off (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// y ← A·x for a symmetric A, as a sum of its rows, four at a time to save loads and stores of y.
#[inline(always)]
pub fn symmetric_times(a: &[f64], x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    let n = x.len().max(1);
    for (rows, x) in a.chunks(4 * n).zip(x.chunks(4)) {
        if let &[k, l, m, o] = x
            && k != 0.0
            && l != 0.0
            && m != 0.0
            && o != 0.0
        {
            let [p, q, r, s] = [0, 1, 2, 3].map(|i| &rows[i * n..(i + 1) * n]);
            for ((((y, p), q), r), s) in y.iter_mut().zip(p).zip(q).zip(r).zip(s) {
                *y = *y + k * p + l * q + m * r + o * s;
            }
            continue;
        }
        for (row, &m) in rows.chunks_exact(n).zip(x) {
            if m != 0.0 {
                axpy(m, row, y);
            }
        }
    }
}

/// Scales `a` to unit length; false if it is too short to have a direction.
pub fn normalise(a: &mut [f64]) -> bool {
    let length = norm(a);
    if !(length > 1e-150 && length.is_finite()) {
        return false;
    }
    a.iter_mut().for_each(|x| *x /= length);
    true
}
