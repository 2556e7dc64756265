//! What the world sees: JSON over HTTP/1.1.

mod auth;
mod body;
mod connection;
mod export;
mod metrics;
mod play;
mod problem;
mod request;
mod see;
mod trace;
mod view;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use reluctant::Registry;
use serde::Serialize;

use crate::config::{Config, PolicySpec, Role};
use crate::engine::{Answer, Engine};
use crate::writer::Handle;

pub use connection::serve;
pub use problem::Problem;

use auth::{Rate, authorise};
use body::{PATIENT, Read, drain, read};
use metrics::Metrics;

/// The document that describes all of this.
pub const OPENAPI: &str = include_str!("openapi.json");
const PAGE: &str = include_str!("page.html");
/// What the page may do: nothing that it does not bring along itself.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                           connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// All that requests need.
pub struct Service {
    config: Config,
    registry: Registry,
    /// The policies' numbers in the store.
    ids: Vec<u32>,
    writer: Handle,
    rate: Rate,
    metrics: Metrics,
    /// Estimates are made one at a time.
    estimating: Arc<tokio::sync::Semaphore>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("config", &self.config).finish_non_exhaustive()
    }
}

type Done = Result<Response, Problem>;

impl Service {
    /// A service around a writer.
    pub fn new(config: Config, registry: Registry, ids: Vec<u32>, writer: Handle) -> Self {
        let rate = Rate::new(config.limits.rate, &config.tokens);
        let (metrics, estimating) = (Metrics::default(), Arc::new(tokio::sync::Semaphore::new(1)));
        Service { config, registry, ids, writer, rate, metrics, estimating }
    }

    /// The place of a policy, and how it was made.
    fn policy(&self, name: &str) -> Result<(usize, &PolicySpec), Problem> {
        let mut all = self.config.policies.iter().enumerate();
        all.find(|(_, spec)| spec.name == name)
            .ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, format!("there is no policy '{name}'")))
    }

    /// An error unless whoever asks may, and has not asked too often.
    fn admit(&self, request: &Request, role: Role) -> Result<(), Problem> {
        let bearer = authorise(&self.config.tokens, request.headers(), role)?;
        self.rate.count(bearer)
    }

    /// The body of a request, within the limits of size and time.
    async fn body(&self, request: Request) -> Result<Bytes, Problem> {
        let is_json = |value: &HeaderValue| {
            value
                .to_str()
                .is_ok_and(|value| value.split(';').next().is_some_and(|kind| kind.trim() == "application/json"))
        };
        if !request.headers().get(header::CONTENT_TYPE).is_some_and(is_json) {
            let detail = "a body must be JSON, with the header Content-Type: application/json";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let (most, patience) = (self.config.limits.body, self.config.limits.timeout);
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let large = length.and_then(|value| value.parse().ok()).is_some_and(|length: usize| length > most);
        let mut body = request.into_body();
        let read = tokio::time::timeout(patience, read(&mut body, if large { 0 } else { most })).await;
        match read {
            Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive")),
            Ok(Read::All(bytes)) => Ok(bytes),
            Ok(Read::Broken) => Err(Problem::new(StatusCode::BAD_REQUEST, "the body ended before its end")),
            Ok(Read::TooMuch) => {
                // Whoever is still sending hears the answer only if somebody listens.
                let _ = tokio::time::timeout(patience, drain(&mut body, PATIENT * most)).await;
                let detail = format!("a body may have at most {most} bytes");
                Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail))
            }
        }
    }

    /// Lets the writer do something, within the limit of time.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Engine) -> Answer<T> + Send + 'static,
    ) -> Result<T, Problem> {
        self.ask_for(1, work).await
    }

    /// The same for a batch of so many requests.
    async fn ask_for<T: Send + 'static>(
        &self,
        requests: usize,
        work: impl FnOnce(&mut Engine) -> Answer<T> + Send + 'static,
    ) -> Result<T, Problem> {
        match tokio::time::timeout(self.config.limits.timeout, self.writer.ask_for(requests, work)).await {
            Ok(done) => Ok(done?),
            Err(_) => {
                let detail = "the answer took too long; ask again with the same event id";
                Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(1))
            }
        }
    }
}

/// An answer in JSON.
fn json(value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    text("application/json", body)
}

fn text(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// All addresses.
pub fn router(service: Arc<Service>) -> Router {
    let trace = axum::middleware::from_fn_with_state(Arc::clone(&service), trace::trace);
    Router::new()
        .route("/", get(page))
        .route("/openapi.json", get(async || text("application/json", OPENAPI)))
        .route("/healthz", get(async || text("text/plain; charset=utf-8", "alive\n")))
        .route("/readyz", get(see::ready))
        .route("/metrics", get(see::metrics))
        .route("/v1/policies", get(see::policies))
        .route("/v1/{policy}", get(see::state))
        .route("/v1/{policy}/decide", post(play::decide))
        .route("/v1/{policy}/decide/batch", post(play::decide_batch))
        .route("/v1/{policy}/reward", post(play::reward))
        .route("/v1/{policy}/reward/batch", post(play::reward_batch))
        .route("/v1/{policy}/decisions", get(see::decisions))
        .route("/v1/{policy}/decisions/{event}", get(see::decision))
        .route("/v1/{policy}/versions", get(see::versions).post(play::keep_version))
        .route("/v1/{policy}/rollback", post(play::rollback))
        .route("/v1/{policy}/pause", post(play::pause))
        .route("/v1/{policy}/resume", post(play::resume))
        .route("/v1/{policy}/snapshot", get(see::snapshot))
        .route("/v1/{policy}/log", get(export::log))
        .route("/v1/{policy}/estimates", get(export::estimates))
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address; see /openapi.json"))
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this address takes another method; see /openapi.json")
        })
        .layer(trace)
        .with_state(service)
}

async fn page() -> Response {
    let mut response = text("text/html; charset=utf-8", PAGE).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    response
}

/// How long a connection may idle before its next request begins.
const IDLE: Duration = Duration::from_secs(75);
