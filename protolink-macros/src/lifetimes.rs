//! The lifetimes in the types of a signature.

use syn::{Lifetime, Type};

use crate::walk::{self, Part, Step};

/// The lifetimes written in a type, without those that the type itself introduces.
pub(crate) fn written(ty: &Type) -> Vec<Lifetime> {
    let mut written = Vec::new();
    walk::look(ty, |part| match part {
        Part::Lifetime(lifetime) => {
            written.push(lifetime.clone());
            Step::Into
        }
        part => past_introduced(&part),
    });
    written
}

/// The lifetimes of what is lent through a type, `None` where they are left out.
pub(crate) fn lent(ty: &Type) -> Vec<Option<Lifetime>> {
    let mut lent = Vec::new();
    walk::look(ty, |part| {
        match part {
            Part::Lifetime(lifetime) => lent.push((lifetime.ident != "_").then(|| lifetime.clone())),
            Part::Reference(reference) if reference.lifetime.is_none() => lent.push(None),
            Part::FnArguments => return Step::Past,
            Part::Segment(_) | Part::Infer | Part::Reference(_) | Part::ImplTrait(_) | Part::Bound(_) => {}
        }
        Step::Into
    });
    lent
}

/// Replaces the named lifetimes of a type by `'_`, so that it can stand in a function body.
pub(crate) fn erase(ty: &Type) -> Type {
    walk::change(ty, |part| match part {
        Part::Lifetime(lifetime) => {
            if lifetime.ident != "static" {
                *lifetime = Lifetime::new("'_", lifetime.span());
            }
            Step::Into
        }
        part => past_introduced(&part),
    })
}

/// Replaces the elided lifetimes of a type by `'static`, so that it can stand in a bound.
pub(crate) fn outlive(ty: &Type) -> Type {
    walk::change(ty, |part| {
        match part {
            Part::Lifetime(lifetime) if lifetime.ident == "_" => *lifetime = Lifetime::new("'static", lifetime.span()),
            Part::Reference(reference) => {
                let span = reference.and_token.span;
                reference.lifetime.get_or_insert_with(|| Lifetime::new("'static", span));
            }
            Part::FnArguments => return Step::Past,
            Part::Lifetime(_) | Part::Segment(_) | Part::Infer | Part::ImplTrait(_) | Part::Bound(_) => {}
        }
        Step::Into
    })
}

/// Passes by what introduces lifetimes itself: `for<'a> Rule<'a>`.
fn past_introduced(part: &Part<'_>) -> Step {
    match part {
        Part::Bound(bound) if bound.lifetimes.is_some() => Step::Past,
        _ => Step::Into,
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::{Lifetime, Type};

    fn ty(source: &str) -> Type {
        syn::parse_str(source).unwrap()
    }

    /// As the tokens print it, for comparing two of them.
    fn text(ty: &Type) -> String {
        ty.to_token_stream().to_string()
    }

    #[test]
    fn what_is_written_leaves_out_what_a_type_introduces_itself() {
        for (source, expected) in [
            ("&'a mut ModelRequest<'_>", "'a '_"),
            ("State<&'static str>", "'static"),
            ("State<Box<dyn Rule<'a> + 'b>>", "'a 'b"),
            ("State<Box<dyn Fn(&'a str) -> &'b str>>", "'a 'b"),
            ("State<Box<dyn for<'x> Rule<'x>>>", ""),
            ("State<for<'x> fn(&'x str) -> &'x str>", ""),
            ("impl Rule<'a>", "'a"),
            ("State<[u8; { N }]>", ""),
        ] {
            let written: Vec<String> = super::written(&ty(source)).iter().map(ToString::to_string).collect();
            assert_eq!(written.join(" "), expected, "{source}");
        }
    }

    #[test]
    fn what_is_lent_counts_what_is_left_out_and_not_the_arguments_of_functions() {
        let name = |lifetime: Option<Lifetime>| lifetime.map_or("none".to_owned(), |name| name.to_string());
        for (source, expected) in [
            ("&str", "none"),
            ("&'a str", "'a"),
            ("&ModelRequest<'_>", "none none"),
            ("(&'a str, Box<dyn Rule<'b>>)", "'a 'b"),
            ("Box<dyn Fn(&str) -> &str>", ""),
            ("fn(&str) -> &str", ""),
            ("impl Rule<'a>", "'a"),
        ] {
            let lent: Vec<String> = super::lent(&ty(source)).into_iter().map(name).collect();
            assert_eq!(lent.join(" "), expected, "{source}");
        }
    }

    #[test]
    fn an_erased_type_names_no_lifetime_of_the_function() {
        for (source, expected) in [
            ("&'a mut ModelRequest<'r>", "&'_ mut ModelRequest<'_>"),
            ("State<&'static str>", "State<&'static str>"),
            ("Box<dyn Rule<'a>>", "Box<dyn Rule<'_>>"),
            ("Box<dyn Fn(&'a str)>", "Box<dyn Fn(&'_ str)>"),
            ("Box<dyn for<'x> Rule<'x>>", "Box<dyn for<'x> Rule<'x>>"),
            ("for<'x> fn(&'x str) -> &'x str", "for<'x> fn(&'x str) -> &'x str"),
        ] {
            assert_eq!(text(&super::erase(&ty(source))), text(&ty(expected)), "{source}");
        }
    }

    #[test]
    fn a_type_that_outlives_has_no_elided_lifetime_but_those_of_functions() {
        for (source, expected) in [
            ("State<&str>", "State<&'static str>"),
            ("State<Name<'_>>", "State<Name<'static>>"),
            ("State<&'a str>", "State<&'a str>"),
            ("State<Box<dyn Rule<'_> + '_>>", "State<Box<dyn Rule<'static> + 'static>>"),
            ("State<Box<dyn Fn(&str) -> &str>>", "State<Box<dyn Fn(&str) -> &str>>"),
            ("State<fn(&str) -> &str>", "State<fn(&str) -> &str>"),
            ("State<(&str, [&u8; 2])>", "State<(&'static str, [&'static u8; 2])>"),
        ] {
            assert_eq!(text(&super::outlive(&ty(source))), text(&ty(expected)), "{source}");
        }
    }
}
