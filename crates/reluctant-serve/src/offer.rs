//! What a request offers, in memory and as bytes.
//!
//! The bytes are what is logged and what two requests with one id are compared by: equal offers have equal bytes.

use std::sync::Arc;

use reluctant::{Action, Name, Offer};
use reluctant_lab::log::Offered;

/// What is on offer.
#[derive(Debug, Clone, PartialEq)]
pub enum Offering {
    /// Arms, or named actions in a context.
    Listed(Offered),
    /// The whole unit sphere.
    Sphere {
        /// Its dimension.
        dim: usize,
    },
}

const SPHERE: u8 = 0;
const ARMS: u8 = 1;
const CONTEXT: u8 = 2;

impl Offering {
    /// As a policy sees it.
    pub fn as_offer(&self) -> reluctant::Result<Offer<'_>> {
        match self {
            Offering::Listed(listed) => listed.as_offer(),
            Offering::Sphere { dim } => Ok(Offer::Sphere { dim: *dim }),
        }
    }

    /// How many actions there are; `None` for the sphere.
    pub fn count(&self) -> Option<usize> {
        match self {
            Offering::Listed(listed) => Some(listed.count()),
            Offering::Sphere { .. } => None,
        }
    }

    /// Action `i` as a policy learns of it.
    pub fn action(&self, i: usize) -> Option<Action<'_>> {
        match self {
            Offering::Listed(listed) if i < listed.count() => Some(listed.action(i)),
            _ => None,
        }
    }

    /// What action `i` is called, where actions have names.
    pub fn name(&self, i: usize) -> Option<&str> {
        match self {
            Offering::Listed(Offered::Context { names, .. }) => names.get(i).map(|name| &**name),
            _ => None,
        }
    }

    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Offering::Sphere { dim } => put_sphere(&mut out, *dim),
            Offering::Listed(Offered::Sphere { point, .. }) => put_sphere(&mut out, point.len()),
            Offering::Listed(Offered::Arms { dim, data }) => {
                out.reserve(9 + 8 * data.len());
                out.push(ARMS);
                put_count(&mut out, *dim);
                put_numbers(&mut out, data);
            }
            Offering::Listed(Offered::Context { x, names, features }) => {
                out.push(CONTEXT);
                put_numbers(&mut out, x);
                put_count(&mut out, names.len());
                for name in names.iter() {
                    put_count(&mut out, name.len());
                    out.extend_from_slice(name.as_bytes());
                }
                put_numbers(&mut out, features);
            }
        }
        out
    }

    /// From bytes; `None` if they are not what [`Offering::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Bytes(bytes);
        let offering = match from.take(1)?[0] {
            SPHERE => Offering::Sphere { dim: from.count()? },
            ARMS => Offering::Listed(Offered::Arms { dim: from.count()?, data: from.numbers()? }),
            CONTEXT => {
                let x = from.numbers()?;
                let names: Option<Arc<[Name]>> = (0..from.count()?).map(|_| from.name()).collect();
                Offering::Listed(Offered::Context { x, names: names?, features: from.numbers()? })
            }
            _ => return None,
        };
        from.0.is_empty().then_some(offering)
    }
}

fn put_sphere(out: &mut Vec<u8>, dim: usize) {
    out.push(SPHERE);
    put_count(out, dim);
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[f64]) {
    put_count(out, numbers.len());
    let Some(digits) = (0..=MOST_DIGITS).find(|digits| numbers.iter().all(|x| short(*x, *digits).is_some())) else {
        out.push(WHOLE);
        numbers.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
        return;
    };
    out.push(digits);
    numbers.iter().filter_map(|x| short(*x, digits)).for_each(|short| out.extend_from_slice(&short.to_le_bytes()));
}

/// Features are often rounded: numbers that all have at most so many digits after the point take two bytes instead of
/// eight.
const MOST_DIGITS: u8 = 4;
/// Stands in the place of the digits where numbers are kept whole.
const WHOLE: u8 = u8::MAX;

/// The number of units of the last digit, if that gives `x` to the bit.
fn short(x: f64, digits: u8) -> Option<i16> {
    let units = (x * unit(digits)).round();
    let short = (units.abs() <= f64::from(i16::MAX)).then_some(units as i16)?;
    (long(short, digits).to_bits() == x.to_bits()).then_some(short)
}

fn long(short: i16, digits: u8) -> f64 {
    f64::from(short) / unit(digits)
}

fn unit(digits: u8) -> f64 {
    [1.0, 10.0, 100.0, 1000.0, 10_000.0][usize::from(digits.min(MOST_DIGITS))]
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    fn numbers(&mut self) -> Option<Vec<f64>> {
        let (count, digits) = (self.count()?, self.take(1)?[0]);
        if digits == WHOLE {
            let bytes = self.take(count.checked_mul(8)?)?;
            return bytes.chunks_exact(8).map(|chunk| Some(f64::from_le_bytes(chunk.try_into().ok()?))).collect();
        }
        let bytes = self.take(count.checked_mul(2).filter(|_| digits <= MOST_DIGITS)?)?;
        bytes.chunks_exact(2).map(|chunk| Some(long(i16::from_le_bytes(chunk.try_into().ok()?), digits))).collect()
    }

    fn name(&mut self) -> Option<Name> {
        let length = self.count()?;
        Some(Name::from(std::str::from_utf8(self.take(length)?).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> [Offering; 4] {
        let names: Arc<[Name]> = [Name::from("a"), Name::from("grün")].into();
        [
            Offering::Sphere { dim: 3 },
            Offering::Listed(Offered::Arms { dim: 2, data: vec![0.1, -0.2, 1e-300, f64::MIN_POSITIVE] }),
            Offering::Listed(Offered::Context { x: vec![0.5], names: Arc::clone(&names), features: Vec::new() }),
            Offering::Listed(Offered::Context { x: vec![0.5, -0.0], names, features: vec![1.0, 2.0] }),
        ]
    }

    #[test]
    fn what_is_encoded_is_decoded_to_the_bit() {
        for offering in samples() {
            let bytes = offering.encode();
            let back = Offering::decode(&bytes).unwrap();
            assert_eq!(back, offering);
            assert_eq!(back.encode(), bytes);
        }
    }

    #[test]
    fn bytes_that_are_cut_or_followed_by_others_are_refused() {
        for offering in samples() {
            let mut bytes = offering.encode();
            for length in 0..bytes.len() {
                assert!(Offering::decode(&bytes[..length]).is_none(), "{length} of {}", bytes.len());
            }
            bytes.push(0);
            assert!(Offering::decode(&bytes).is_none());
        }
        assert!(Offering::decode(&[ARMS, 1, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0]).is_none());
        assert!(Offering::decode(&[ARMS, 1, 0, 0, 0, 255, 255, 255, 255]).is_none());
    }

    /// Rounded numbers are kept in two bytes, and come back to the bit; others are kept whole.
    #[test]
    fn rounded_numbers_are_short() {
        let numbers = |data: Vec<f64>| {
            let offering = Offering::Listed(Offered::Arms { dim: 1, data });
            let bytes = offering.encode();
            assert_eq!(Offering::decode(&bytes).unwrap().encode(), bytes);
            assert_eq!(Offering::decode(&bytes).unwrap(), offering);
            bytes.len() - 10
        };
        assert_eq!(numbers(vec![0.1, -3.2767, 0.0001, 0.0]), 8);
        assert_eq!(numbers(vec![-3.0, 32767.0]), 4);
        assert_eq!(numbers(vec![3.2768]), 8);
        assert_eq!(numbers(vec![0.1, 0.12345]), 16);
        assert_eq!(numbers(vec![-0.0]), 8);
        assert_eq!(numbers((-32767..=32767).map(|m| f64::from(m) / 10_000.0).collect()), 65_535 * 2);
        assert_eq!(numbers(vec![0.1 + 0.2]), 8);
    }
}
