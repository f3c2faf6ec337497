//! The facts of a hook, as its attribute writes them and the runtime reads them.
//!
//! They are one text, since a build pays for each constant and each expression in it, a thousand times in a crate of a
//! thousand hooks. It is taken apart when an agent is built, and at compile time where the application asks for it.
//!
//! ```text
//! M                   the stage: M before_model, T after_tool, C before_complete
//! 07a1..              the fingerprint, 64 hexadecimal digits
//! select_context↵     the function's name
//! 57↵                 how many bytes its signature has
//! fn select_context(request: &mut ModelRequest<'_>)
//! app::context↵       the module
//! 12↵                 the line of the attribute
//! src/context.rs      the file
//! ```
//!
//! Here each stands on a line; in the text only the arrows are line breaks.

use super::registration::HookMeta;
use super::stage::Stage;
use crate::fingerprint::Fingerprint;

/// Takes the text apart. What stands for a hook that has an error has no facts, and none are made up.
pub(super) const fn read(text: &'static str) -> HookMeta {
    let (stage, text) = split(text, 1);
    let stage = match stage.as_bytes() {
        b"T" => Stage::AfterTool,
        b"C" => Stage::BeforeComplete,
        _ => Stage::BeforeModel,
    };
    let Some((fingerprint, text)) = Fingerprint::split_from(text) else { return HookMeta::new(stage, "", "") };
    let (name, text) = split_line(text);
    let (signature_length, text) = split_line(text);
    let (signature, text) = split(text, number(signature_length) as usize);
    let (module, text) = split_line(text);
    let (line, file) = split_line(text);
    let fingerprint = Some(fingerprint);
    HookMeta { stage, name, module, file, line: number(line), fingerprint, signature, tool: None, timeout: None }
}

/// The first `length` bytes, and the rest; all of it where there are no more.
const fn split(text: &'static str, length: usize) -> (&'static str, &'static str) {
    match text.split_at_checked(length) {
        Some(parts) => parts,
        None => (text, ""),
    }
}

/// The first line, and what follows its break.
const fn split_line(text: &'static str) -> (&'static str, &'static str) {
    let bytes = text.as_bytes();
    let mut length = 0;
    while length < bytes.len() && bytes[length] != b'\n' {
        length += 1;
    }
    let (line, rest) = split(text, length);
    (line, split(rest, 1).1)
}

const fn number(digits: &str) -> u32 {
    let digits = digits.as_bytes();
    let (mut number, mut at) = (0_u32, 0);
    while at < digits.len() {
        number = number.wrapping_mul(10).wrapping_add((digits[at] & 0x0f) as u32);
        at += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1efe";

    #[test]
    fn s2_the_facts_of_a_hook_are_what_its_attribute_wrote() {
        // A literal in a signature may hold any character, and so may the name of a file.
        let signature = "fn cut(a: [u8; '\n' as _])";
        let text = format!("T{DIGITS}cut\n{}\n{signature}app::rules\n1204\nsrc/r\nules.rs", signature.len());
        let meta = read(text.leak());
        assert_eq!((meta.stage, meta.name, meta.module), (Stage::AfterTool, "cut", "app::rules"));
        assert_eq!((meta.file, meta.line), ("src/r\nules.rs", 1204));
        assert_eq!(meta.signature, signature);
        assert_eq!(meta.fingerprint.map(|it| it.to_string()), Some(format!("fp1:{DIGITS}")));
        assert_eq!((meta.tool, meta.timeout), (None, None));
    }

    #[test]
    fn s2_each_stage_has_its_letter() {
        let stage = |letter: &str| read(format!("{letter}{DIGITS}a\n0\nb\n1\nc").leak()).stage;
        assert_eq!(["M", "T", "C"].map(stage), [Stage::BeforeModel, Stage::AfterTool, Stage::BeforeComplete]);
    }

    #[test]
    fn a_text_that_is_cut_off_has_fewer_facts_and_is_read_to_its_end() {
        let text = format!("C{DIGITS}größe\n4\nfn göapp\n7\nsrc/lib.rs");
        for length in (0..=text.len()).filter(|length| text.is_char_boundary(*length)) {
            let meta = read(text[..length].to_owned().leak());
            assert!("größe".starts_with(meta.name) && "src/lib.rs".starts_with(meta.file), "{meta:?}");
            assert_eq!(meta.fingerprint.is_some(), length > DIGITS.len(), "{meta:?}");
        }
    }
}
