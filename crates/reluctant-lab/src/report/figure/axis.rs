//! Axes: from numbers to places, and which numbers to print.

use super::super::text;

/// How an axis spaces its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Equal differences take equal room.
    Linear,
    /// Equal ratios take equal room.
    Log,
}

/// The numbers from `low` to `high`, which differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// How they are spaced.
    pub scale: Scale,
    /// The first one.
    pub low: f64,
    /// The last one.
    pub high: f64,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The number that it marks.
    pub value: f64,
    /// What stands beside it.
    pub label: String,
}

impl Axis {
    /// An axis from 0 to `high`; to 1 if that is not positive.
    pub fn linear(high: f64) -> Self {
        Axis { scale: Scale::Linear, low: 0.0, high: if high > 0.0 { high } else { 1.0 } }
    }

    /// A logarithmic axis between two positive numbers, widened to a factor of ten if they are nearer.
    pub fn log(low: f64, high: f64) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        Axis { scale: Scale::Log, low: if low > 0.0 { low.min(0.1 * high) } else { 0.1 * high }, high }
    }

    /// Where `value` stands: 0 at the low end, 1 at the high end, beyond for numbers beyond. A number that a
    /// logarithmic axis cannot show stands far below its low end.
    pub fn share(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value <= 0.0 => -10.0,
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// The number at `share`: the inverse of [`Axis::share`].
    pub fn at(&self, share: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.low + share * (self.high - self.low),
            Scale::Log => self.low * (self.high / self.low).powf(share),
        }
    }

    /// About `wanted` marks with round numbers.
    pub fn ticks(&self, wanted: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear_ticks(wanted.max(2)),
            Scale::Log => self.log_ticks(wanted.max(2)),
        }
    }

    /// Marks without numbers, between the ticks of a logarithmic axis.
    pub fn minor(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => Vec::new(),
            Scale::Log if self.decades().count() > 8 => Vec::new(),
            Scale::Log => self.multiples(&[2, 3, 4, 5, 6, 7, 8, 9]).map(|(value, _)| value).collect(),
        }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<Tick> {
        let rough = (self.high - self.low) / wanted as f64;
        let decade = rough.log10().floor() as i32;
        let unit = 10f64.powi(decade);
        let miss = |step: &f64| (step / rough).ln().abs();
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit);
        let step = steps.into_iter().min_by(|a, b| miss(a).total_cmp(&miss(b))).unwrap_or(rough);
        let decimals = usize::try_from(-(step.log10() + 1e-9).floor() as i32).unwrap_or(0);
        let last = (self.high / step * (1.0 + 1e-9)).floor() as u32;
        let tick = |i: u32| {
            let value = f64::from(i) * step;
            Tick { value, label: text::fixed(value, Some(if i == 0 { 0 } else { decimals })) }
        };
        (0..=last.min(100)).map(tick).collect()
    }

    fn log_ticks(&self, wanted: usize) -> Vec<Tick> {
        let tick = |(value, exponent): (f64, i32)| {
            let decimals = usize::try_from(-exponent).unwrap_or(0);
            Tick { value, label: text::fixed(value, Some(decimals)) }
        };
        let decades: Vec<Tick> = self.multiples(&[1]).map(tick).collect();
        if decades.len() < 3 {
            return self.multiples(&[1, 2, 5]).map(tick).collect();
        }
        let every = decades.len().div_ceil(2 * wanted);
        decades.into_iter().step_by(every).collect()
    }

    fn decades(&self) -> std::ops::RangeInclusive<i32> {
        self.low.log10().floor() as i32..=self.high.log10().ceil() as i32
    }

    /// The numbers in range that are one of `factors` times a power of ten, with that power.
    fn multiples<'a>(&self, factors: &'a [i32]) -> impl Iterator<Item = (f64, i32)> + use<'a> {
        let (low, high) = (self.low * (1.0 - 1e-9), self.high * (1.0 + 1e-9));
        let all = self.decades().flat_map(move |decade| {
            factors.iter().map(move |&factor| (f64::from(factor) * 10f64.powi(decade), decade))
        });
        all.filter(move |(value, _)| (low..=high).contains(value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(axis: Axis, wanted: usize) -> Vec<String> {
        axis.ticks(wanted).into_iter().map(|tick| tick.label.replace(text::THIN, " ")).collect()
    }

    #[test]
    fn ticks_are_round_and_spaced() {
        assert_eq!(labels(Axis::linear(1000.0), 5), ["0", "200", "400", "600", "800", "1 000"]);
        assert_eq!(labels(Axis::linear(0.43), 5), ["0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(labels(Axis::linear(0.0), 2), ["0", "0.5", "1.0"]);
        assert_eq!(labels(Axis::log(1.0, 10_000.0), 5), ["1", "10", "100", "1 000", "10 000"]);
        assert_eq!(labels(Axis::log(3.0, 60.0), 5), ["5", "10", "20", "50"]);
        assert_eq!(labels(Axis::log(0.02, 3.0), 5), ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]);
    }

    #[test]
    fn axes_that_nothing_could_be_drawn_on_are_widened() {
        for axis in [Axis::linear(0.0), Axis::log(0.0, 0.0), Axis::log(5.0, 5.0), Axis::log(-1.0, 3.0)] {
            assert!(axis.high > axis.low && !axis.ticks(5).is_empty());
        }
        assert!(Axis::log(1.0, 10.0).share(0.0) < 0.0);
    }

    proptest! {
        #[test]
        fn a_share_leads_back_to_its_number(low in 1e-3..1.0f64, factor in 10.0..1e6f64, share in 0.0..1.0f64) {
            for axis in [Axis::linear(low * factor), Axis::log(low, low * factor)] {
                prop_assert!((axis.share(axis.at(share)) - share).abs() < 1e-9);
                let ticks = axis.ticks(5);
                prop_assert!((2..=15).contains(&ticks.len()), "{} ticks", ticks.len());
                prop_assert!(ticks.iter().all(|tick| (-1e-6..=1.0 + 1e-6).contains(&axis.share(tick.value))));
            }
        }
    }
}
