//! The optimistic arm of a frozen network in one pass: max θ_s·x + √(xᵀM_s x) over the arms, s the activation pattern
//! of x.
//!
//! Only the greatest score is wanted, so most arms need neither their pattern looked up one by one nor a square root. A
//! block of arms computes its patterns, fetches the local models of those patterns from a table, and asks whether some
//! arm can beat the best one so far: xᵀM_s x ≥ (best − θ_s·x)² or θ_s·x ≥ best. Hardly any can. Those few are scored by
//! the plain formula, which alone decides: the choice is that of the plain version, `FrozenRelu::optimistic_arm_plain`.
//! In the plane `sectors.rs` does the same faster, where the machine can.

use pulp::{Simd, WithSimd};

use super::optimist::{MOST_NEURONS, Optimist};
use super::{LANES, Lane, arch, vectors, vectors_mut};
use crate::choice::{Leader, Score};
use crate::offer::Rows;
use crate::relu::Pattern;

const PATTERNS: usize = 1 << MOST_NEURONS;

const NEW: u16 = u16::MAX;

/// The local models of the patterns met in a round, by pattern. Its memory is kept from round to round.
#[derive(Debug, Default, Clone)]
pub(crate) struct ModelTable {
    /// For the question whether an arm can win: θ and the upper triangle of M, those off the diagonal doubled, for each
    /// pattern. NaN where a pattern was not met yet: no comparison with NaN holds.
    quick: Vec<f64>,
    /// Which model below belongs to a pattern; [`NEW`] if none does yet.
    slots: Vec<u16>,
    /// θ and M as the plain formula wants them, in the order in which patterns were met.
    models: Vec<f64>,
    met: Vec<u16>,
}

impl ModelTable {
    /// Forgets all patterns; entries hold `entry` numbers.
    fn clear(&mut self, entry: usize) {
        if self.quick.len() != PATTERNS * entry {
            self.quick.clear();
            self.quick.resize(PATTERNS * entry, f64::NAN);
            self.slots.clear();
            self.slots.resize(PATTERNS, NEW);
        }
        for pattern in self.met.iter().map(|&pattern| usize::from(pattern)) {
            self.quick[pattern * entry] = f64::NAN;
            self.slots[pattern] = NEW;
        }
        self.met.clear();
        self.models.clear();
    }
}

impl Optimist<'_> {
    /// The best arm, the first of ties, and its score; none if every arm is left out.
    pub(crate) fn best(self, rows: Rows<'_>, table: &mut ModelTable) -> Option<(usize, Score)> {
        #[cfg(target_arch = "x86_64")]
        if let (2, pulp::x86::Arch::V4(simd)) = (rows.dim(), arch()) {
            return super::sectors::best(simd, &self, rows, &mut table.models);
        }
        self.best_by_table(rows, table)
    }

    /// The same, with the local models in a table by pattern.
    pub(crate) fn best_by_table(self, rows: Rows<'_>, table: &mut ModelTable) -> Option<(usize, Score)> {
        table.clear(if rows.dim() == 2 { 8 } else { 16 });
        match (rows.dim(), self.margin > 0.0) {
            (2, false) => self.dispatch::<2, 8, false>(rows, table),
            (2, true) => self.dispatch::<2, 8, true>(rows, table),
            (3, false) => self.dispatch::<3, 16, false>(rows, table),
            (3, true) => self.dispatch::<3, 16, true>(rows, table),
            (4, false) => self.dispatch::<4, 16, false>(rows, table),
            _ => self.dispatch::<4, 16, true>(rows, table),
        }
    }

    fn dispatch<const D: usize, const E: usize, const MARGIN: bool>(
        &self,
        rows: Rows<'_>,
        table: &mut ModelTable,
    ) -> Option<(usize, Score)> {
        struct Kernel<'k, 'o, const D: usize, const E: usize, const MARGIN: bool>(
            &'k Optimist<'o>,
            Rows<'k>,
            &'k mut ModelTable,
        );
        impl<const D: usize, const E: usize, const MARGIN: bool> WithSimd for Kernel<'_, '_, D, E, MARGIN> {
            type Output = Option<(usize, Score)>;
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
                let Kernel(optimist, rows, table) = self;
                optimist.pass::<S, D, E, MARGIN>(simd, rows, table)
            }
        }
        arch().dispatch(Kernel::<D, E, MARGIN>(self, rows, table))
    }

    #[inline(always)]
    fn pass<S: Simd, const D: usize, const E: usize, const MARGIN: bool>(
        &self,
        simd: S,
        rows: Rows<'_>,
        table: &mut ModelTable,
    ) -> Option<(usize, Score)> {
        let mut winner = None;
        let mut leader = Leader::default();
        let mut start = 0;
        let mut last = [0.0; 4 * LANES];
        for arms in rows.data().chunks(LANES * D) {
            let count = arms.len() / D;
            let arms = if count == LANES {
                arms
            } else {
                last[..arms.len()].copy_from_slice(arms);
                &last[..LANES * D]
            };
            let x = columns::<D>(arms);
            let (pattern, nearest) = self.patterns::<S, D, MARGIN>(simd, &x);
            let quick: &[[f64; E]; PATTERNS] = table.quick.as_chunks().0.try_into().ok()?;
            let best = leader.value();
            let beaten = can_win(&pattern, quick, &x, best);
            if beaten.iter().any(|&b| b != 0) {
                for lane in (0..count).filter(|&lane| beaten[lane] != 0) {
                    if MARGIN && nearest[lane] < self.margin {
                        continue;
                    }
                    let score = self.exact::<D, E>(pattern[lane], &arms[lane * D..][..D], table);
                    if leader.offer(score.upper()) {
                        winner = Some((start + lane, score));
                    }
                }
            }
            start += LANES;
        }
        winner
    }

    /// The patterns of a block and, if they matter, the least |θ̃ᵢ·x|.
    #[inline(always)]
    fn patterns<S: Simd, const D: usize, const MARGIN: bool>(
        &self,
        simd: S,
        columns: &[Lane; D],
    ) -> ([u64; LANES], Lane) {
        let zero = simd.splat_f64s(0.0);
        let (mut patterns, mut distances) = ([0; LANES], [0.0; LANES]);
        let outputs = S::as_mut_simd_u64s(&mut patterns).0.iter_mut().zip(vectors_mut::<S>(&mut distances));
        for (v, (pattern_out, nearest_out)) in outputs.enumerate() {
            let mut x = [zero; D];
            for j in 0..D {
                x[j] = vectors::<S>(&columns[j])[v];
            }
            let mut pattern = simd.splat_u64s(0);
            let mut nearest = simd.splat_f64s(f64::INFINITY);
            let mut bit = 1;
            for theta in self.network.iter() {
                let mut input = simd.mul_f64s(simd.splat_f64s(theta[0]), x[0]);
                for j in 1..D {
                    input = simd.add_f64s(input, simd.mul_f64s(simd.splat_f64s(theta[j]), x[j]));
                }
                let with = simd.or_u64s(pattern, simd.splat_u64s(bit));
                pattern = simd.select_u64s(simd.greater_than_or_equal_f64s(input, zero), with, pattern);
                bit <<= 1;
                if MARGIN {
                    let distance = simd.abs_f64s(input);
                    nearest = simd.select_f64s(simd.less_than_f64s(distance, nearest), distance, nearest);
                }
            }
            (*pattern_out, *nearest_out) = (pattern, nearest);
        }
        (patterns, distances)
    }

    /// The score of one arm by the plain formula.
    #[inline(always)]
    fn exact<const D: usize, const E: usize>(&self, pattern: Pattern, x: &[f64], table: &mut ModelTable) -> Score {
        let stride = D * (D + 1);
        self.quick_model::<D, E>(pattern, table);
        let slot = usize::from(table.slots[pattern as usize]);
        (self.score)(&table.models[slot * stride..][..stride], self.radius, x)
    }

    /// The entry of a pattern's local model, made if it is new.
    #[inline(always)]
    fn quick_model<'t, const D: usize, const E: usize>(
        &self,
        pattern: Pattern,
        table: &'t mut ModelTable,
    ) -> &'t [f64; E] {
        let place = pattern as usize % PATTERNS;
        if table.slots[place] == NEW {
            self.learn_model::<D, E>(place, table);
        }
        &table.quick.as_chunks().0[place]
    }

    #[inline(never)]
    fn learn_model<const D: usize, const E: usize>(&self, place: usize, table: &mut ModelTable) {
        let (stride, slot) = (D * (D + 1), table.met.len());
        table.models.resize((slot + 1) * stride, 0.0);
        let model = &mut table.models[slot * stride..];
        (self.local_model)(place as Pattern, model);
        let quick = &mut table.quick[place * E..][..E];
        quick[..D].copy_from_slice(&model[..D]);
        let squared = self.radius * self.radius;
        let mut at = D;
        for i in 0..D {
            for j in i..D {
                let entry = model[D + i * D + j];
                quick[at] = squared * if i == j { entry } else { entry + model[D + j * D + i] };
                at += 1;
            }
        }
        table.slots[place] = slot as u16;
        table.met.push(place as u16);
    }
}

/// The coordinates of a block of arms, each side by side.
#[inline(always)]
fn columns<const D: usize>(arms: &[f64]) -> [Lane; D] {
    let mut x = [[0.0; LANES]; D];
    assert!(arms.len() >= LANES * D);
    for lane in 0..LANES {
        for j in 0..D {
            x[j][lane] = arms[lane * D + j];
        }
    }
    x
}

/// Not zero for each arm of a block that may score above `best`, or whose pattern is new.
#[inline(always)]
fn can_win<const D: usize, const E: usize>(
    pattern: &[u64; LANES],
    quick: &[[f64; E]; PATTERNS],
    x: &[Lane; D],
    best: f64,
) -> [u64; LANES] {
    let fetch = |at: usize| {
        let mut numbers = [0.0; LANES];
        for lane in 0..LANES {
            numbers[lane] = quick[pattern[lane] as usize % PATTERNS][at];
        }
        numbers
    };
    let (mut mean, mut squared) = ([0.0; LANES], [0.0; LANES]);
    let mut at = D;
    for i in 0..D {
        let theta = fetch(i);
        let mut product = [0.0; LANES];
        for j in i..D {
            let m = fetch(at);
            at += 1;
            for lane in 0..LANES {
                product[lane] += m[lane] * x[j][lane];
            }
        }
        for lane in 0..LANES {
            mean[lane] += theta[lane] * x[i][lane];
            squared[lane] += product[lane] * x[i][lane];
        }
    }
    let mut beaten = [0; LANES];
    for lane in 0..LANES {
        let gap = best - mean[lane];
        // False for NaN: a new pattern is always looked at.
        let hopeless = gap > 0.0 && squared[lane] < gap * gap;
        beaten[lane] = u64::from(!hopeless);
    }
    beaten
}
