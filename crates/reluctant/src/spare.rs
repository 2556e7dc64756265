//! Memory to work in, kept from use to use, so that rounds do not allocate once they are warm.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

thread_local! {
    /// What is not in use, each thread its own.
    static SPARE: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Numbers to work with. Dropped, their memory waits for its next use.
pub(crate) struct Spare(Vec<f64>);

impl Spare {
    /// `size` zeros.
    pub(crate) fn zeros(size: usize) -> Self {
        let mut numbers = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
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
        let mut copy = Self::zeros(0);
        copy.0.extend_from_slice(numbers);
        copy
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
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push(numbers));
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
}
