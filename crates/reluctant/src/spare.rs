//! Memory to work in, kept from use to use, so that rounds do not allocate once they are warm. A thread keeps so much
//! of it and no more: what it does not keep is allocated again.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// The most that a thread keeps, in bytes: three matrices of a thousand features, which is what a regression of so many
/// works with at a time. Beyond, to allocate a matrix costs nothing beside what is done with it.
const MOST_BYTES: usize = 32 << 20;

/// The most pieces of memory that a thread keeps: no computation has more in use at a time.
const MOST_BUFFERS: usize = 16;

thread_local! {
    /// What is not in use, each thread its own.
    static SPARE: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Numbers to work with. Dropped, their memory waits for its next use.
pub(crate) struct Spare(Vec<f64>);

impl Spare {
    /// `size` zeros.
    pub(crate) fn zeros(size: usize) -> Self {
        let mut numbers = SPARE.with_borrow_mut(|spare| take(spare, size));
        numbers.clear();
        numbers.resize(size, 0.0);
        Spare(numbers)
    }

    /// What `fill` appends to nothing.
    pub(crate) fn filled(fill: impl FnOnce(&mut Vec<f64>)) -> Self {
        let mut numbers = Self::zeros(0);
        fill(&mut numbers.0);
        numbers
    }

    /// A copy of numbers.
    pub(crate) fn copy(numbers: &[f64]) -> Self {
        let mut copy = SPARE.with_borrow_mut(|spare| take(spare, numbers.len()));
        copy.clear();
        copy.extend_from_slice(numbers);
        Spare(copy)
    }
}

/// The smallest piece of memory that is large enough, or else the largest, which then grows.
fn take(spare: &mut Vec<Vec<f64>>, size: usize) -> Vec<f64> {
    let fitting = spare.iter().enumerate().filter(|(_, kept)| kept.capacity() >= size);
    let best = fitting.min_by_key(|(_, kept)| kept.capacity());
    let best = best.or_else(|| spare.iter().enumerate().max_by_key(|(_, kept)| kept.capacity()));
    match best.map(|(at, _)| at) {
        Some(at) => spare.swap_remove(at),
        None => Vec::new(),
    }
}

/// Keeps a piece of memory, if that is not too much.
fn keep(spare: &mut Vec<Vec<f64>>, numbers: Vec<f64>) {
    let bytes = |numbers: &Vec<f64>| numbers.capacity() * size_of::<f64>();
    if spare.len() < MOST_BUFFERS && spare.iter().map(bytes).sum::<usize>() + bytes(&numbers) <= MOST_BYTES {
        spare.push(numbers);
    }
}

impl Deref for Spare {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl DerefMut for Spare {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        let numbers = std::mem::take(&mut self.0);
        // A thread that ends may have let go of its list already.
        let _ = SPARE.try_with(|spare| keep(&mut spare.borrow_mut(), numbers));
    }
}

/// `size` zeros, handed on; a few live on the stack.
pub(crate) fn with_zeros<T>(size: usize, then: impl FnOnce(&mut [f64]) -> T) -> T {
    let mut stack = [0.0; 128];
    match stack.get_mut(..size) {
        Some(few) => then(few),
        None => then(&mut Spare::zeros(size)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_as_zeros() {
        let first = Spare::copy(&[1.0; 1000]);
        let address = first.as_ptr();
        drop(first);
        let again = Spare::zeros(500);
        assert_eq!(again.as_ptr(), address);
        assert!(again.iter().all(|x| *x == 0.0));
        // While one is in use the next has memory of its own.
        let mut other = Spare::zeros(500);
        other.fill(2.0);
        assert!(again.iter().all(|x| *x == 0.0));
    }

    fn kept() -> (usize, usize) {
        SPARE.with_borrow(|spare| (spare.len(), spare.iter().map(|kept| 8 * kept.capacity()).sum()))
    }

    #[test]
    fn a_thread_keeps_so_much_and_no_more() {
        // Matrices of 4,000 features: none of them is kept.
        drop([Spare::zeros(16_000_000), Spare::zeros(16_000_000)]);
        assert_eq!(kept(), (0, 0));
        // Four of 8 MB just fit.
        drop((0..6).map(|_| Spare::zeros(1 << 20)).collect::<Vec<_>>());
        assert_eq!(kept(), (4, MOST_BYTES));
        SPARE.with_borrow_mut(Vec::clear);
        drop((0..100).map(|_| Spare::zeros(1000)).collect::<Vec<_>>());
        assert!(kept().0 == MOST_BUFFERS && kept().1 <= MOST_BYTES);
    }

    #[test]
    fn the_smallest_that_is_large_enough_is_used_again() {
        let sizes = [3000, 1000, 2000];
        drop(sizes.map(Spare::zeros));
        let large = Spare::zeros(1500);
        assert_eq!(large.0.capacity(), 2000);
        let small = Spare::copy(&[1.0; 10]);
        assert_eq!(small.0.capacity(), 1000);
        // Nothing is large enough: the largest grows, and no other piece of memory is added.
        drop(Spare::zeros(5000));
        drop((large, small));
        assert_eq!(kept().0, 3);
    }
}
