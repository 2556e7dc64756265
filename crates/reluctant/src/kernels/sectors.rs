//! The optimistic arm in the plane, on machines whose registers hold eight numbers (AVX-512).
//!
//! The lines θ̃ᵢ·x = 0 cut the plane into sectors, each with its activation pattern. From the direction (1, 0) on,
//! every neuron switches once within half a turn and back within the other, so the sector of x is known by how many
//! have switched, and in which half x lies: a small number, got together with the pattern in one sum. Tables of the
//! local models by that number fit into registers, where a lookup is one or two instructions, not eight loads. An arm
//! whose pattern is not the one its place in the tables was made for (it lies on a line, or the place is still empty)
//! is scored by the plain formula, as is every arm that may win. With three neurons or fewer the pattern itself is
//! small enough to be the place.

use core::arch::x86_64::{__m512d, __m512i, _CMP_GE_OQ, _CMP_GT_OQ, _CMP_LT_OQ};

use pulp::NullaryFnOnce;
use pulp::x86::V4;
use pulp::{Simd, f64x8};

use super::optimist::{MOST_NEURONS, Optimist};
use crate::choice::{Leader, Score};
use crate::offer::Rows;

/// Numbers in a register, and places in the largest table: three registers.
const WIDTH: usize = 8;
const PLACES: usize = 3 * WIDTH;
const _: () = assert!(2 * (MOST_NEURONS + 1) <= PLACES);

/// The bits of a word above its pattern: the place in the tables.
const PLACE: u32 = 32;
/// No word: its place would be beyond the tables.
const EMPTY: u64 = u64::MAX;

/// Squared widths are taken so much larger where they only rule arms out, so that rounding does not hide a winner.
const SLACK: f64 = 1.0 + 1e-9;

/// Up to so many neurons a table of all patterns fits into one register.
const FEW_NEURONS: usize = WIDTH.ilog2() as usize;

/// θ and r²M of the local models by one of `N` places: M₁₁, M₁₂ + M₂₁, M₂₂; and the words that they belong to, as bits.
/// Aligned, so that no register is filled from two lines of the cache.
#[repr(align(64))]
struct Tables<'k, const N: usize> {
    quick: [[f64; N]; 6],
    /// θ and M as the plain formula wants them; where there is no word, whatever an earlier round left.
    models: &'k mut [[f64; 6]],
}

/// The best arm, the first of ties, and its score; none if every arm is left out.
pub(super) fn best(simd: V4, optimist: &Optimist<'_>, rows: Rows<'_>, models: &mut Vec<f64>) -> Option<(usize, Score)> {
    models.resize(6 * PLACES, 0.0);
    let models = models.as_chunks_mut().0;
    match (optimist.margin > 0.0, optimist.network.neurons() > FEW_NEURONS) {
        (false, false) => simd.vectorize(Kernel::<false, WIDTH>(simd, optimist, rows, models)),
        (false, true) => simd.vectorize(Kernel::<false, PLACES>(simd, optimist, rows, models)),
        (true, false) => simd.vectorize(Kernel::<true, WIDTH>(simd, optimist, rows, models)),
        (true, true) => simd.vectorize(Kernel::<true, PLACES>(simd, optimist, rows, models)),
    }
}

struct Kernel<'k, const MARGIN: bool, const N: usize>(V4, &'k Optimist<'k>, Rows<'k>, &'k mut [[f64; 6]]);

impl<const MARGIN: bool, const N: usize> NullaryFnOnce for Kernel<'_, MARGIN, N> {
    type Output = Option<(usize, Score)>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Kernel(simd, optimist, rows, models) = self;
        let mut tables = Tables::new(models);
        let lines = Lines::new::<N>(optimist);
        let mut race = Race { leader: Leader::default(), winner: None };
        let mut best = simd.splat_f64s(race.leader.value());
        let (blocks, rest) = rows.data().as_chunks::<{ 2 * WIDTH }>();
        for (block, arms) in blocks.iter().enumerate() {
            let (candidates, words) = lines.candidates::<MARGIN, N>(simd, arms, &tables, best);
            if candidates != 0 {
                race.run(optimist, candidates, &pulp::cast(words), block, arms, &mut tables);
                best = simd.splat_f64s(race.leader.value());
            }
        }
        if rest.is_empty() {
            return race.winner;
        }
        let mut last = [0.0; 2 * WIDTH];
        last[..rest.len()].copy_from_slice(rest);
        let (candidates, words) = lines.candidates::<MARGIN, N>(simd, &last, &tables, best);
        let present = !(u8::MAX << (rest.len() / 2));
        race.run(optimist, candidates & present, &pulp::cast(words), blocks.len(), &last, &mut tables);
        race.winner
    }
}

/// The lines that cut the plane.
struct Lines {
    /// (a, −b) of θ̃ᵢ = (a, b), and what it adds to a word where it is active.
    neurons: [([f64; 2], i64); MOST_NEURONS],
    count: usize,
    /// The word of no active neuron, and what the lower half of the plane adds.
    first: i64,
    lower: i64,
    margin: f64,
}

impl Lines {
    #[inline(always)]
    fn new<const N: usize>(optimist: &Optimist<'_>) -> Self {
        let count = optimist.network.neurons();
        let mut neurons = [([0.0; 2], 0); MOST_NEURONS];
        let mut first = 0;
        for (i, (neuron, theta)) in neurons.iter_mut().zip(optimist.network.iter()).enumerate() {
            // A neuron that is active at (1, 0) has switched where it is not.
            let switched = if theta[0] >= 0.0 { -1 } else { 1 };
            first += i64::from(theta[0] >= 0.0);
            let place = if is_few(N) { 0 } else { switched << PLACE };
            *neuron = ([theta[0], -theta[1]], (1 << i) + place);
        }
        let lower = (count as i64 + 1) << PLACE;
        Lines { neurons, count, first: first << PLACE, lower, margin: optimist.margin }
    }

    /// Which of eight arms may score above `best`, or are not in the tables; and the words of all.
    #[inline(always)]
    fn candidates<const MARGIN: bool, const N: usize>(
        &self,
        simd: V4,
        arms: &[f64; 2 * WIDTH],
        tables: &Tables<'_, N>,
        best: f64x8,
    ) -> (u8, __m512i) {
        let f = simd.avx512f;
        let best = pulp::cast(best);
        let (low, high) = (register(arms, 0), register(arms, 1));
        let x = f._mm512_permutex2var_pd(low, f._mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), high);
        let y = f._mm512_permutex2var_pd(low, f._mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1), high);
        let zero = f._mm512_set1_pd(0.0);
        let mut word = f._mm512_set1_epi64(0);
        if !is_few(N) {
            let is_lower = f._mm512_cmp_pd_mask::<_CMP_LT_OQ>(y, zero);
            let first = f._mm512_set1_epi64(self.first);
            word = f._mm512_mask_add_epi64(first, is_lower, first, f._mm512_set1_epi64(self.lower));
        }
        let mut nearest = f._mm512_set1_pd(f64::INFINITY);
        for (theta, adds) in &self.neurons[..self.count] {
            // ax + by ≥ 0 where ax ≥ −by, after rounding too: a sum has the sign it should have.
            let left = f._mm512_mul_pd(f._mm512_set1_pd(theta[0]), x);
            let right = f._mm512_mul_pd(f._mm512_set1_pd(theta[1]), y);
            let active = f._mm512_cmp_pd_mask::<_CMP_GE_OQ>(left, right);
            word = f._mm512_mask_add_epi64(word, active, word, f._mm512_set1_epi64(*adds));
            if MARGIN {
                nearest = f._mm512_min_pd(nearest, f._mm512_abs_pd(f._mm512_sub_pd(left, right)));
            }
        }
        let place = if is_few(N) { word } else { f._mm512_srli_epi64::<PLACE>(word) };
        let [theta0, theta1, m0, m1, m2, words] = &tables.quick;
        // The mean is that of the plain formula to the bit. The squared width has some slack, and so may be fused.
        let (theta0, theta1) = (fetch(simd, theta0, place), fetch(simd, theta1, place));
        let mean = f._mm512_add_pd(f._mm512_mul_pd(theta0, x), f._mm512_mul_pd(theta1, y));
        let product = f._mm512_fmadd_pd(fetch(simd, m0, place), x, f._mm512_mul_pd(fetch(simd, m1, place), y));
        let rest = f._mm512_mul_pd(f._mm512_mul_pd(fetch(simd, m2, place), y), y);
        let squared = f._mm512_fmadd_pd(product, x, rest);
        let gap = f._mm512_sub_pd(best, mean);
        let behind = if is_few(N) {
            f._mm512_cmp_pd_mask::<_CMP_GT_OQ>(gap, zero)
        } else {
            let known = f._mm512_cmpeq_epi64_mask(word, f._mm512_castpd_si512(fetch(simd, words, place)));
            f._mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(known, gap, zero)
        };
        let hopeless = f._mm512_mask_cmp_pd_mask::<_CMP_LT_OQ>(behind, squared, f._mm512_mul_pd(gap, gap));
        let mut candidates = !hopeless;
        if MARGIN {
            candidates &= !f._mm512_cmp_pd_mask::<_CMP_LT_OQ>(nearest, f._mm512_set1_pd(self.margin));
        }
        (candidates, word)
    }
}

/// The best arm so far.
struct Race {
    leader: Leader,
    winner: Option<(usize, Score)>,
}

impl Race {
    /// Scores the candidates of a block by the plain formula.
    #[inline(never)]
    fn run<const N: usize>(
        &mut self,
        optimist: &Optimist<'_>,
        mut candidates: u8,
        words: &[u64; WIDTH],
        block: usize,
        arms: &[f64; 2 * WIDTH],
        tables: &mut Tables<'_, N>,
    ) {
        while candidates != 0 {
            let lane = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let x = &arms[2 * lane..][..2];
            let model = tables.model(words[lane], optimist);
            // Of many candidates the first are often good, and the others cannot exceed them.
            let gap = self.leader.value() - (model[0] * x[0] + model[1] * x[1]);
            let cross = model[3] + model[4];
            let form = (model[2] * x[0] + cross * x[1]) * x[0] + model[5] * x[1] * x[1];
            if gap > 0.0 && SLACK * optimist.radius * optimist.radius * form < gap * gap {
                continue;
            }
            let score = (optimist.score)(&model, optimist.radius, x);
            if self.leader.offer(score.upper()) {
                self.winner = Some((block * WIDTH + lane, score));
            }
        }
    }
}

/// Whether a table of `n` places has one for each pattern.
#[inline(always)]
const fn is_few(n: usize) -> bool {
    n == WIDTH
}

impl<'k, const N: usize> Tables<'k, N> {
    /// Empty ones: where there is no word no arm can be left out, for the squared width is infinite or no number.
    #[inline(always)]
    fn new(models: &'k mut [[f64; 6]]) -> Self {
        let [zero, infinite] = [[0.0; N], [f64::INFINITY; N]];
        Tables { quick: [zero, zero, infinite, zero, infinite, [f64::from_bits(EMPTY); N]], models }
    }

    /// The local model of a word, which takes its place if that is empty.
    fn model(&mut self, word: u64, optimist: &Optimist<'_>) -> [f64; 6] {
        let place = if is_few(N) { word } else { word >> PLACE } as usize;
        let expected = self.quick[5][place].to_bits();
        if expected == word {
            return self.models[place];
        }
        let mut model = [0.0; 6];
        (optimist.local_model)(word & u64::from(u32::MAX), &mut model);
        if expected == EMPTY {
            self.models[place] = model;
            let [theta0, theta1, m00, m01, m10, m11] = model;
            let squared = SLACK * optimist.radius * optimist.radius;
            let entries = [theta0, theta1, squared * m00, squared * (m01 + m10), squared * m11, f64::from_bits(word)];
            self.quick.iter_mut().zip(entries).for_each(|(table, entry)| table[place] = entry);
        }
        model
    }
}

/// The entries of a table at eight places.
#[inline(always)]
fn fetch<const N: usize>(simd: V4, table: &[f64; N], places: __m512i) -> __m512d {
    let f = simd.avx512f;
    let first = register(table, 0);
    if N == WIDTH {
        return f._mm512_permutexvar_pd(places, first);
    }
    let beyond = f._mm512_cmpge_epi64_mask(places, f._mm512_set1_epi64(2 * WIDTH as i64));
    let low = f._mm512_permutex2var_pd(first, places, register(table, 1));
    f._mm512_mask_permutexvar_pd(low, beyond, places, register(table, 2))
}

/// The `number`-th register full of numbers.
#[inline(always)]
fn register<const N: usize>(numbers: &[f64; N], number: usize) -> __m512d {
    pulp::cast(numbers.as_chunks::<WIDTH>().0[number])
}
