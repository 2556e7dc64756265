//! A line of JSON for every request, with an id that its answer carries, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::json;

use super::Service;
use crate::clock::Clock;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Ids of requests that callers give are taken over up to this length.
const LONGEST: usize = 64;
static COUNTER: AtomicU64 = AtomicU64::new(1);

/// Gives a request its id, counts it, and says what became of it.
pub(super) async fn trace(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let given = given.filter(|id| id.len() <= LONGEST && id.chars().all(|c| c.is_ascii_graphic())).map(str::to_owned);
    let id =
        given.unwrap_or_else(|| format!("{:x}-{:x}", Clock::Machine.now(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    let (status, took) = (response.status().as_u16(), began.elapsed());
    service.metrics.count(&route, status, took);
    if service.config.log_requests || status >= 500 {
        let line = json!({
            "time": Clock::Machine.now(),
            "request": id,
            "method": method.as_str(),
            "path": path,
            "status": status,
            "ms": (took.as_secs_f64() * 1e6).round() / 1e3,
        });
        eprintln!("{line}");
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}
