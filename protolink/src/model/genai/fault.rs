//! What an error is worth: asking again, giving up, or neither. Its text holds nothing of a request, a reply or a key.

mod retry_after;

use std::error::Error as _;
use std::io::ErrorKind;

use genai::Error as GenaiError;
use genai::resolver::Error as ResolverError;
use genai::webc::{Error as WebError, StreamTimeout};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::model::error::ModelError;

/// Codes by which providers say that the money is used up, with the status of a rate limit.
const USED_UP: [&str; 3] = ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];

pub(super) fn of(error: GenaiError) -> ModelError {
    match error {
        GenaiError::HttpError { status, body, headers, .. } => of_status(status.as_u16(), &headers, &body),
        GenaiError::WebModelCall { webc_error, .. } | GenaiError::WebAdapterCall { webc_error, .. } => {
            of_web(webc_error)
        }
        GenaiError::WebStream { error, .. } => match error.downcast::<GenaiError>() {
            Ok(inner) => of(*inner),
            Err(error) => match error.downcast_ref::<reqwest::Error>() {
                Some(error) => of_transport(error),
                None if error.is::<StreamTimeout>() => ModelError::transient("the server was silent for too long"),
                None => ModelError::transient("the stream broke"),
            },
        },
        GenaiError::StreamParse { .. } => ModelError::transient("the stream broke in the middle of a piece"),
        GenaiError::ChatResponse { body, .. } => of_body(&body),
        GenaiError::Resolver { resolver_error: ResolverError::ApiKeyEnvNotFound { env_name }, .. } => {
            ModelError::permanent(format!("there is no key: the environment variable `{env_name}` is not set"))
        }
        GenaiError::Resolver { .. }
        | GenaiError::RequiresApiKey { .. }
        | GenaiError::NoAuthResolver { .. }
        | GenaiError::NoAuthData { .. } => ModelError::permanent("there is no key"),
        GenaiError::ClientBuildFail { .. } => ModelError::permanent("no HTTP client could be made"),
        GenaiError::NoChatResponse { .. } => ModelError::transient("the reply holds no answer"),
        _ => ModelError::permanent("genai could not make the request, or could not read the reply"),
    }
}

fn of_web(error: WebError) -> ModelError {
    match error {
        WebError::ResponseFailedStatus { status, body, headers } => of_status(status.as_u16(), &headers, &body),
        WebError::ResponseFailedNotJson { .. } => {
            ModelError::permanent("the server replied with something that is not JSON; is the base URL right?")
        }
        WebError::ResponseFailedInvalidJson { .. } => ModelError::transient("the reply broke off"),
        WebError::Reqwest(error) => of_transport(&error),
        WebError::JsonValueExt(_) => ModelError::permanent("the reply could not be read"),
    }
}

fn of_status(status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let body = serde_json::from_str(body).unwrap_or(Value::Null);
    let code = code(&body);
    let transient = match headers.get("x-should-retry").map(reqwest::header::HeaderValue::as_bytes) {
        Some(b"true") => true,
        Some(b"false") => false,
        _ => is_transient(status) && !code.is_some_and(|code| USED_UP.contains(&code)),
    };
    let mut message = format!("HTTP status {status}");
    if let Some(code) = code {
        message = format!("{message} ({code})");
    }
    if transient {
        let error = ModelError::transient(message);
        return match retry_after::read(headers) {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        };
    }
    let hint = match status {
        401 | 403 => "; is the key right?",
        404 => "; are the model's name and the base URL right?",
        _ => "",
    };
    ModelError::permanent(message + hint)
}

fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429) || (status >= 500 && !matches!(status, 501 | 505))
}

/// An error that came where a reply, or a piece of one, was to come.
pub(super) fn of_body(body: &Value) -> ModelError {
    let status = [&body["error"]["code"], &body["code"], &body["status"]].into_iter().find_map(Value::as_u64);
    if let Some(status) = status.and_then(|status| u16::try_from(status).ok()).filter(|status| *status >= 400) {
        let message = format!("the server reported an error of the status {status}");
        return if is_transient(status) { ModelError::transient(message) } else { ModelError::permanent(message) };
    }
    match code(body) {
        Some(code) if is_permanent_code(code) => {
            ModelError::permanent(format!("the server reported an error ({code})"))
        }
        Some(code) => ModelError::transient(format!("the server reported an error ({code})")),
        None => ModelError::transient("the server reported an error, or nothing, in place of a reply"),
    }
}

fn is_permanent_code(code: &str) -> bool {
    USED_UP.contains(&code)
        || [
            "invalid",
            "authentication",
            "permission",
            "not_found",
            "too_large",
            "context_length",
            "billing",
            "unsupported",
        ]
        .iter()
        .any(|part| code.contains(part))
}

/// The provider's word for an error.
fn code(body: &Value) -> Option<&str> {
    let error = if body["error"].is_object() { &body["error"] } else { body };
    [&error["code"], &error["type"]]
        .into_iter()
        .filter_map(Value::as_str)
        .filter(|code| *code != "error")
        .find_map(word)
}

/// A text, if it is one plain word of a provider's vocabulary and can hold nothing of a prompt or a key.
pub(super) fn word(text: &str) -> Option<&str> {
    let is_plain = (1..=48).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    is_plain.then_some(text)
}

/// An error of the connection. Its own text would name the address.
fn of_transport(error: &reqwest::Error) -> ModelError {
    if error.is_builder() {
        return ModelError::permanent("the request could not be made; are the base URL and the headers right?");
    }
    if error.is_redirect() {
        return ModelError::permanent("the server sends the request in circles");
    }
    if error.is_timeout() {
        let what =
            if error.is_connect() { "the connection took too long" } else { "the server was silent for too long" };
        return ModelError::transient(what);
    }
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.to_string().contains("scheme is not http") {
            return ModelError::permanent("this build speaks no TLS; the feature `genai` of protolink brings it");
        }
        if let Some(inner) = inner.downcast_ref::<std::io::Error>() {
            match inner.kind() {
                ErrorKind::ConnectionRefused => return ModelError::transient("the connection was refused"),
                ErrorKind::ConnectionReset => return ModelError::transient("the connection was reset"),
                _ => {}
            }
        }
        cause = inner.source();
    }
    ModelError::transient(if error.is_connect() { "no connection could be made" } else { "the connection broke" })
}
