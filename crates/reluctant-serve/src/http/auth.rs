//! Who may do what, and how often.

use std::sync::Mutex;
use std::time::Instant;

use axum::http::{HeaderMap, StatusCode, header};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::problem::Problem;
use crate::config::{Role, Tokens};

/// Who a request comes from: the place of its token, or everyone where there are none.
pub(super) type Bearer = usize;

/// Finds out who a request comes from; an error unless that one may act as `role`.
///
/// Tokens are compared by their hashes, all of them and in constant time, so that nothing can be learnt from how long
/// it takes.
pub(super) fn authorise(tokens: &Tokens, headers: &HeaderMap, role: Role) -> Result<Bearer, Problem> {
    if tokens.0.is_empty() {
        return Ok(0);
    }
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(token) = given.and_then(|value| value.strip_prefix("Bearer ")) else {
        let detail = "this needs a token: send the header Authorization: Bearer TOKEN";
        return Err(Problem::new(StatusCode::UNAUTHORIZED, detail));
    };
    let digest: [u8; 32] = Sha256::digest(token.trim().as_bytes()).into();
    let mut found = u64::MAX;
    for (place, (_, known)) in (0u64..).zip(&tokens.0) {
        found.conditional_assign(&place, known.ct_eq(&digest));
    }
    let place = usize::try_from(found).unwrap_or(usize::MAX);
    let Some((has, _)) = tokens.0.get(place) else {
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "this token is not known"));
    };
    if *has == role || *has == Role::Admin {
        return Ok(place);
    }
    let detail = format!("this token is for {}, and this needs one for {}", has.name(), role.name());
    Err(Problem::new(StatusCode::FORBIDDEN, detail))
}

/// How much each bearer may still do.
#[derive(Debug)]
pub(super) struct Rate {
    /// Requests a second; zero is no limit.
    rate: f64,
    buckets: Vec<Mutex<(f64, Instant)>>,
}

impl Rate {
    pub(super) fn new(rate: f64, tokens: &Tokens) -> Self {
        let full = rate.max(1.0);
        let buckets = (0..tokens.0.len().max(1)).map(|_| Mutex::new((full, Instant::now()))).collect();
        Rate { rate, buckets }
    }

    /// Counts a request; an error if there were too many. What was not used in a second is kept for the next one.
    pub(super) fn count(&self, bearer: Bearer) -> Result<(), Problem> {
        let Some(bucket) = self.buckets.get(bearer).filter(|_| self.rate > 0.0) else { return Ok(()) };
        let mut bucket = bucket.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (left, since) = *bucket;
        let left = (left + self.rate * since.elapsed().as_secs_f64()).min(self.rate.max(1.0));
        let allowed = left >= 1.0;
        *bucket = (if allowed { left - 1.0 } else { left }, Instant::now());
        if allowed {
            return Ok(());
        }
        let detail = format!("this token may ask {} times a second; ask again later, or in batches", self.rate);
        let wait = ((1.0 - left) / self.rate).ceil().clamp(1.0, 3600.0) as u32;
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).retry_after(wait))
    }
}
