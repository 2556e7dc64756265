//! Bodies of requests, read within a limit.

use std::pin::Pin;

use axum::body::{Body, Bytes};
use hyper::body::{Body as _, Frame};

/// What became of a body.
pub(super) enum Read {
    /// It is here.
    All(Bytes),
    /// It is larger than allowed.
    TooMuch,
    /// It ended before its end.
    Broken,
}

/// A body that is too large is listened to, and forgotten, up to so many times the limit.
pub(super) const PATIENT: usize = 8;

async fn frame(body: &mut Body) -> Option<Result<Frame<Bytes>, axum::Error>> {
    std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
}

/// Reads a body of at most `most` bytes.
pub(super) async fn read(body: &mut Body, most: usize) -> Read {
    let mut all = Vec::new();
    while let Some(frame) = frame(body).await {
        let Ok(frame) = frame else { return Read::Broken };
        let Ok(data) = frame.into_data() else { continue };
        if all.len() + data.len() > most {
            return Read::TooMuch;
        }
        all.extend_from_slice(&data);
    }
    Read::All(all.into())
}

/// Reads on without keeping anything, up to `most` bytes.
pub(super) async fn drain(body: &mut Body, most: usize) {
    let mut left = most;
    while let Some(Ok(frame)) = frame(body).await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            break;
        }
    }
}
