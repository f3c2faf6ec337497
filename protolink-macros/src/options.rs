//! What stands in the parentheses of an attribute.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Ident, LitStr, Path, Result, Token};

use crate::check::Errors;
use crate::krate::Krate;
use crate::stage::Stage;

/// An option, and where its name stands.
pub(crate) struct Given<T> {
    pub(crate) key: Span,
    pub(crate) value: T,
}

/// The options of a hook attribute.
#[derive(Default)]
pub(crate) struct HookOptions {
    krate: Option<Given<Path>>,
    pub(crate) tool: Option<Given<Path>>,
    pub(crate) timeout: Option<Given<Duration>>,
}

impl HookOptions {
    /// Reads the options of a stage. What could be read is there even where something else could not.
    pub(crate) fn parse(stage: Stage, args: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let allowed = if stage == Stage::AfterTool {
            "`tool = path`, `timeout = \"2s\"` and `crate = path`"
        } else {
            "`timeout = \"2s\"` and `crate = path`"
        };
        entries(args, errors, &format!("`#[{}]` takes {allowed}", stage.name()), |key, input, errors| {
            if key == "crate" {
                once(&mut options.krate, key, crate_path(key, input)?, errors);
            } else if key == "tool" && stage == Stage::AfterTool {
                once(&mut options.tool, key, path(key, input, "tool = search")?, errors);
            } else if key == "tool" {
                let message = format!("`tool` is an option of `#[after_tool]`, not of `#[{}]`", stage.name());
                return Err(Error::new(key.span(), message));
            } else if key == "timeout" {
                let literal = string(key, input, "timeout = \"2s\"")?;
                once(&mut options.timeout, key, duration(&literal)?, errors);
            } else if stage == Stage::AfterTool && (input.is_empty() || input.peek(Token![,])) {
                let message = format!("there is no option `{key}`: a tool is named by `tool = {key}`");
                return Err(Error::new(key.span(), message));
            } else {
                return Ok(false);
            }
            Ok(true)
        });
        options
    }

    /// The path at which the generated code finds the runtime crate.
    pub(crate) fn krate(&self) -> Krate {
        krate(self.krate.as_ref())
    }
}

/// The options of `#[tool]`.
#[derive(Default)]
pub(crate) struct ToolOptions {
    krate: Option<Given<Path>>,
    pub(crate) name: Option<Given<LitStr>>,
    pub(crate) handle: Option<Given<Ident>>,
    pub(crate) capabilities: Vec<LitStr>,
    pub(crate) idempotent: Option<Given<()>>,
    pub(crate) on_error: Option<Given<OnError>>,
}

/// What an error of the tool does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    Fail,
    Report,
}

impl ToolOptions {
    /// Reads the options. What could be read is there even where something else could not.
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let allowed = "`#[tool]` takes `name = \"..\"`, `type = Name`, `capability = \"..\"`, `idempotent`, \
                       `on_error = \"fail\"` or `\"report\"`, and `crate = path`";
        entries(args, errors, allowed, |key, input, errors| {
            if key == "crate" {
                once(&mut options.krate, key, crate_path(key, input)?, errors);
            } else if key == "name" {
                let literal = string(key, input, "name = \"search\"")?;
                check_tool_name(&literal.value(), literal.span())?;
                once(&mut options.name, key, literal, errors);
            } else if key == "type" {
                equals(key, input, "type = Search")?;
                let handle = input.parse().map_err(|error| {
                    Error::new(
                        error.span(),
                        "`type` takes a name for the type by which the tool is registered: `type = Search`",
                    )
                })?;
                once(&mut options.handle, key, handle, errors);
            } else if key == "capability" {
                let literal = string(key, input, "capability = \"documents.delete\"")?;
                options.capability(literal)?;
            } else if key == "idempotent" {
                if input.peek(Token![=]) {
                    return Err(Error::new(input.span(), "`idempotent` stands alone, without a value"));
                }
                once(&mut options.idempotent, key, (), errors);
            } else if key == "on_error" {
                let literal = string(key, input, "on_error = \"report\"")?;
                once(&mut options.on_error, key, on_error(&literal)?, errors);
            } else {
                return Ok(false);
            }
            Ok(true)
        });
        options
    }

    fn capability(&mut self, literal: LitStr) -> Result<()> {
        if literal.value().trim().is_empty() {
            return Err(Error::new(literal.span(), "a capability has a name: `capability = \"documents.delete\"`"));
        }
        if self.capabilities.iter().any(|other| other.value() == literal.value()) {
            return Err(Error::new(literal.span(), "this capability is given more than once"));
        }
        self.capabilities.push(literal);
        Ok(())
    }

    /// The path at which the generated code finds the runtime crate.
    pub(crate) fn krate(&self) -> Krate {
        krate(self.krate.as_ref())
    }
}

/// Reads the options of an attribute that takes only `crate = path`.
pub(crate) fn only_crate(args: TokenStream, errors: &mut Errors, attribute: &str) -> Krate {
    let mut krate = None;
    entries(args, errors, &format!("`#[{attribute}]` takes `crate = path`"), |key, input, errors| {
        if key != "crate" {
            return Ok(false);
        }
        once(&mut krate, key, crate_path(key, input)?, errors);
        Ok(true)
    });
    self::krate(krate.as_ref())
}

/// Reads a comma-separated list of options, one after another, and goes on after an error at the next comma.
fn entries(
    args: TokenStream,
    errors: &mut Errors,
    allowed: &str,
    mut option: impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> Result<bool>,
) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = entry(input, errors, allowed, &mut option) {
                errors.push(error);
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<proc_macro2::TokenTree>()?;
                }
            }
            if input.is_empty() {
                break;
            }
            input.parse::<Token![,]>()?;
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(args) {
        errors.push(error);
    }
}

fn entry(
    input: ParseStream<'_>,
    errors: &mut Errors,
    allowed: &str,
    option: &mut impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> Result<bool>,
) -> Result<()> {
    let start = input.span();
    let key = Ident::parse_any(input).map_err(|_| Error::new(start, format!("this is no option: {allowed}")))?;
    if !option(&key, input, errors)? {
        return Err(Error::new(key.span(), format!("there is no option `{key}`: {allowed}")));
    }
    if !input.is_empty() && !input.peek(Token![,]) {
        let is_next = input.peek(Ident::peek_any);
        let message = if is_next {
            "a comma is missing before this".to_owned()
        } else {
            format!("`{key}` ends before this; the next option follows after a comma")
        };
        return Err(Error::new(input.span(), message));
    }
    Ok(())
}

fn once<T>(place: &mut Option<Given<T>>, key: &Ident, value: T, errors: &mut Errors) {
    if place.is_some() {
        errors.push(Error::new(key.span(), format!("`{key}` is given more than once")));
        return;
    }
    *place = Some(Given { key: key.span(), value });
}

/// The `=`, and something after it. What is missing is reported at the key: the end of the list has no place of its own.
fn equals(key: &Ident, input: ParseStream<'_>, example: &str) -> Result<()> {
    let missing = || Error::new(key.span(), format!("`{key}` takes a value: `{example}`"));
    if !input.peek(Token![=]) {
        return Err(missing());
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(missing());
    }
    Ok(())
}

fn string(key: &Ident, input: ParseStream<'_>, example: &str) -> Result<LitStr> {
    equals(key, input, example)?;
    input.parse().map_err(|error| Error::new(error.span(), format!("`{key}` takes a string: `{example}`")))
}

fn path(key: &Ident, input: ParseStream<'_>, example: &str) -> Result<Path> {
    equals(key, input, example)?;
    if input.peek(LitStr) {
        return Err(Error::new(input.span(), format!("`{key}` takes a path, without quotes: `{example}`")));
    }
    input
        .call(Path::parse_mod_style)
        .map_err(|error| Error::new(error.span(), format!("`{key}` takes a path: `{example}`")))
}

fn crate_path(key: &Ident, input: ParseStream<'_>) -> Result<Path> {
    let path = path(key, input, "crate = ::protolink")?;
    if let Some(first) = path.segments.first()
        && path.leading_colon.is_none()
        && ["self", "super", "Self"].iter().any(|relative| first.ident == relative)
    {
        return Err(Error::new_spanned(
            &path,
            "`crate` takes an absolute path, since it is used in more places than this: begin with `::`, `crate::`, \
             `$crate::` or the name of a dependency",
        ));
    }
    Ok(path)
}

fn krate(given: Option<&Given<Path>>) -> Krate {
    given.map_or(Krate::Protolink, |given| Krate::Renamed(given.value.clone()))
}

/// Checks a tool's name, which goes to providers that refuse others.
pub(crate) fn check_tool_name(name: &str, span: Span) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
        return Err(Error::new(span, "a tool's name has 1 to 64 characters out of `a-z`, `A-Z`, `0-9`, `_` and `-`"));
    }
    Ok(())
}

fn on_error(literal: &LitStr) -> Result<OnError> {
    match literal.value().as_str() {
        "fail" => Ok(OnError::Fail),
        "report" => Ok(OnError::Report),
        _ => Err(Error::new(
            literal.span(),
            "`on_error` is `\"fail\"` (the run fails) or `\"report\"` (the model is told)",
        )),
    }
}

/// `"250ms"`, `"2s"`, `"1.5s"`, `"2m"`, `"1h"`.
fn duration(literal: &LitStr) -> Result<Duration> {
    let text = literal.value();
    parse_duration(text.trim()).ok_or_else(|| {
        Error::new(
            literal.span(),
            "a timeout is a number greater than 0 with a unit, `ms`, `s`, `m` or `h`: `timeout = \"2s\"`",
        )
    })
}

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let mut millis = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    if fraction.is_empty() || fraction.len() > 6 || fraction.contains('.') {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    millis = millis.checked_add(fraction.parse::<u64>().ok()?.checked_mul(unit)? / scale)?;
    // A century is more than a hook may wait, and keeps sums with a deadline from overflowing.
    (millis > 0 && millis <= 100 * 365 * 24 * 3_600_000).then(|| Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse_duration;

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        assert_eq!(parse_duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(parse_duration("2s"), Some(Duration::from_secs(2)));
        assert_eq!(parse_duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2 m"), Some(Duration::from_mins(2)));
        assert_eq!(parse_duration("1h"), Some(Duration::from_hours(1)));
        for wrong in ["", "2", "s", "0s", "-1s", "2sec", "1.s", ".5s", "1.2.3s", "99999999999999999999s", "1000000h"] {
            assert_eq!(parse_duration(wrong), None, "{wrong:?}");
        }
    }
}
