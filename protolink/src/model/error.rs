//! Why a model gave no reply.

use std::time::Duration;

use crate::hook::BoxError;

/// Why a model gave no reply: the kind says whether asking again may help.
///
/// Its texts hold nothing of the request, so that they can be logged.
///
/// ```
/// use protolink::model::ModelError;
/// use std::time::Duration;
///
/// let busy = ModelError::transient("status 429").with_retry_after(Duration::from_secs(2));
/// assert!(busy.is_transient());
///
/// let refused =
///     ModelError::permanent("status 401").with_source(std::io::Error::other("no key"));
/// assert!(!refused.is_transient());
/// assert_eq!(
///     ModelError::truncated("at a call").to_string(),
///     "the model's reply was cut off: at a call"
/// );
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Asking again may help: an overloaded server, a lost connection, a rate limit.
    #[error("the model is not available for now: {message}")]
    Transient {
        /// What happened.
        message: String,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// The error behind it.
        source: Option<BoxError>,
    },
    /// Asking again does not help: a wrong key, an unknown model, a request that the provider refuses.
    #[error("the model refused the request: {message}")]
    Permanent {
        /// What happened.
        message: String,
        /// The error behind it.
        source: Option<BoxError>,
    },
    /// The reply was cut off, by a length limit or in the middle of a call, and is no reply (contract F5).
    #[error("the model's reply was cut off: {message}")]
    Truncated {
        /// What happened.
        message: String,
    },
}

impl ModelError {
    /// An error after which asking again may help.
    #[must_use]
    pub fn transient(message: impl Into<String>) -> Self {
        Self::Transient { message: message.into(), retry_after: None, source: None }
    }

    /// An error after which asking again does not help.
    #[must_use]
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::Permanent { message: message.into(), source: None }
    }

    /// A reply that was cut off.
    #[must_use]
    pub fn truncated(message: impl Into<String>) -> Self {
        Self::Truncated { message: message.into() }
    }

    /// Says how long the provider asks to wait; kept for a transient error only.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        if let Self::Transient { retry_after, .. } = &mut self {
            *retry_after = Some(wait);
        }
        self
    }

    /// Keeps the error behind it; it must hold nothing of the request.
    #[must_use]
    pub fn with_source(mut self, error: impl Into<BoxError>) -> Self {
        match &mut self {
            Self::Transient { source, .. } | Self::Permanent { source, .. } => *source = Some(error.into()),
            Self::Truncated { .. } => {}
        }
        self
    }

    /// Whether asking again may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transient { .. })
    }
}
