//! How long a server asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// Reads `retry-after-ms`, or `retry-after` in seconds or as a date; a date that is over is no wait.
pub(super) fn read(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = text(&HeaderName::from_static("retry-after-ms")).and_then(seconds);
    if let Some(milliseconds) = milliseconds {
        return Some(milliseconds / 1000);
    }
    let asked = text(&RETRY_AFTER)?;
    seconds(asked).or_else(|| {
        let until = httpdate::parse_http_date(asked).ok()?;
        // The server's own clock, where it says its time: ours may differ.
        let now = text(&DATE).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or_else(SystemTime::now);
        Some(until.duration_since(now).unwrap_or_default())
    })
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}
