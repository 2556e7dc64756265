//! What goes wrong with a request, as `application/problem+json` (RFC 9457): a status and one sentence.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::engine::Refusal;
use crate::writer::Lost;

/// Why a request is not answered as it was meant.
#[derive(Debug, Clone, Serialize)]
pub struct Problem {
    /// The status.
    pub status: u16,
    /// Its name.
    pub title: &'static str,
    /// What is wrong, in one sentence.
    pub detail: String,
    /// After how many seconds to try again.
    #[serde(skip)]
    pub retry: Option<u32>,
}

impl Problem {
    /// A problem with this status.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error");
        Problem { status: status.as_u16(), title, detail: detail.into(), retry: None }
    }

    /// The same, with a time after which it may be gone.
    pub fn retry_after(self, seconds: u32) -> Self {
        Problem { retry: Some(seconds), ..self }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(detail) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail),
            Refusal::Unknown(detail) => Problem::new(StatusCode::NOT_FOUND, detail),
            Refusal::Conflict(detail) => Problem::new(StatusCode::CONFLICT, detail),
            Refusal::Store(detail) => {
                let detail = format!("nothing was done, as {detail}; ask again with the same event id");
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(1)
            }
        }
    }
}

impl From<Lost> for Problem {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::Refused(refusal) => refusal.into(),
            Lost::Full => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests are waiting; ask again later")
                    .retry_after(1)
            }
            Lost::Stopping => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the service is stopping; ask again with the same event id",
            )
            .retry_after(1),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
