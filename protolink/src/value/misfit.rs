//! Saying that JSON does not fit a type, without saying what the JSON holds (contract F6, T3).

use super::ValueError;

impl ValueError {
    /// The reason why JSON does not fit a type. A refused answer or a result that is to be redacted is not in it.
    pub(crate) fn misfit(error: &serde_json::Error) -> Self {
        Self::Deserialize(without_content(&error.to_string()))
    }
}

/// The words of serde about what it found, without what it found. A type's own words stay as they are, and so do ours
/// before them.
pub(crate) fn without_content(message: &str) -> String {
    const FOUND: [&str; 4] = ["invalid type: ", "invalid value: ", "unknown field ", "unknown variant "];
    let first = FOUND.into_iter().filter_map(|prefix| Some((message.find(prefix)?, prefix))).min();
    let Some((at, prefix)) = first else {
        return message.to_owned();
    };
    let (ours, found) = (&message[..at], &message[at + prefix.len()..]);
    let kind = found.split(['"', '`']).next().unwrap_or_default();
    let kind = kind.split(", ").next().unwrap_or_default().trim();
    // What was expected is the type's to say; what was found may hold any words, these among them.
    let expected = found.rfind(", expected ").or_else(|| found.rfind(", there are no ")).map_or("", |at| &found[at..]);
    format!("{ours}{}{kind}{expected}", if kind.is_empty() { prefix.trim_end() } else { prefix })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Verdict {
        #[serde(rename = "score")]
        _score: u8,
        #[serde(rename = "word")]
        _word: Word,
    }

    #[derive(Debug, Deserialize)]
    enum Word {
        Good,
        Bad,
    }

    fn misfit(json: Value) -> String {
        let error = serde_json::from_value::<Verdict>(json).expect_err("it does not fit");
        ValueError::misfit(&error).to_string()
    }

    #[test]
    fn f6_a_misfit_names_kinds_and_not_contents() {
        let told = [
            (json!("secret"), "invalid type: string, expected struct Verdict"),
            (json!({ "score": "a \", expected `secret`\"" }), "invalid type: string, expected u8"),
            (json!({ "score": 777 }), "invalid value: integer, expected u8"),
            (json!({ "secret": 1 }), "unknown field, expected `score` or `word`"),
            (json!({ "score": 1, "word": "secret" }), "unknown variant, expected `Good` or `Bad`"),
            (json!({ "score": 1 }), "missing field `word`"),
            (json!([["secret"]]), "invalid type: sequence, expected u8"),
            (json!(null), "invalid type: null, expected struct Verdict"),
        ];
        for (json, words) in told {
            assert_eq!(misfit(json), format!("a value does not fit its type: {words}"));
        }
        assert!(matches!((Word::Good, Word::Bad), (Word::Good, Word::Bad)));
    }

    #[test]
    fn f6_text_that_is_no_json_is_not_quoted() {
        let error = serde_json::from_str::<Verdict>("the secret words").expect_err("it is no JSON");
        assert!(!ValueError::misfit(&error).to_string().contains("secret"));
    }
}
