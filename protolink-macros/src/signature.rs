//! A signature, as far as the attributes look at it.
//!
//! Patterns are passed over, and so is all that the compiler checks by itself. `syn` reads whole functions with its
//! feature `full` alone, for which every user of the macros would wait a second longer.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{Abi, Attribute, Generics, Ident, Lifetime, ReturnType, Token, Type, token};

use crate::tokens::Angles;

/// What stands before the body of a function.
pub(crate) struct Signature {
    pub(crate) asyncness: Option<Token![async]>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) abi: Option<Abi>,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) parentheses: token::Paren,
    pub(crate) inputs: Vec<Input>,
    pub(crate) output: ReturnType,
}

/// What stands between two commas of a parameter list.
pub(crate) enum Input {
    Parameter(Box<Parameter>),
    /// `self`, in whatever form.
    Receiver(TokenStream),
    /// `...`
    Variadic(TokenStream),
}

/// `#[default(10)] limit: u32`
pub(crate) struct Parameter {
    pub(crate) attrs: Vec<Attribute>,
    /// `None` for a pattern that is no name.
    pub(crate) name: Option<Ident>,
    pub(crate) ty: Type,
}

impl Parse for Signature {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Option<Token![const]>>()?;
        let asyncness = input.parse()?;
        let unsafety = input.parse()?;
        let abi = input.parse()?;
        input.parse::<Token![fn]>()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let content;
        let parentheses = syn::parenthesized!(content in input);
        let mut inputs = Vec::new();
        while !content.is_empty() {
            inputs.push(content.parse()?);
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        let output = input.parse()?;
        generics.where_clause = input.parse()?;
        Ok(Self { asyncness, unsafety, abi, ident, generics, parentheses, inputs, output })
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        if input.peek(Token![&]) || input.peek(Token![self]) || input.peek2(Token![self]) {
            let ahead = input.fork();
            if let Ok(receiver) = receiver(&ahead) {
                input.advance_to(&ahead);
                return Ok(Self::Receiver(receiver));
            }
        }
        let mut variadic = TokenStream::new();
        if !input.peek(Token![...]) {
            let name = name(&input.fork());
            variadic = pattern(input)?;
            if !input.peek(Token![...]) {
                return Ok(Self::Parameter(Box::new(Parameter { attrs, name, ty: input.parse()? })));
            }
        }
        input.parse::<Token![...]>()?.to_tokens(&mut variadic);
        Ok(Self::Variadic(variadic))
    }
}

/// `self`, `mut self: T` or `&'a mut self`
fn receiver(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut receiver = TokenStream::new();
    let reference = input.parse::<Option<Token![&]>>()?;
    reference.to_tokens(&mut receiver);
    if reference.is_some() {
        input.parse::<Option<Lifetime>>()?.to_tokens(&mut receiver);
    }
    input.parse::<Option<Token![mut]>>()?.to_tokens(&mut receiver);
    input.parse::<Token![self]>()?.to_tokens(&mut receiver);
    if let Some(colon) = input.parse::<Option<Token![:]>>()? {
        colon.to_tokens(&mut receiver);
        input.parse::<Type>()?.to_tokens(&mut receiver);
    }
    Ok(receiver)
}

/// The name of a parameter that has one: `limit`, `mut limit`.
fn name(input: ParseStream<'_>) -> Option<Ident> {
    input.parse::<Option<Token![ref]>>().ok()?;
    input.parse::<Option<Token![mut]>>().ok()?;
    let name = input.parse().ok()?;
    is_colon(input).then_some(name)
}

/// A pattern, with the colon after it. A comma in angle brackets is one of `Pair::<A, B>(a, b): Pair<A, B>`.
fn pattern(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut pattern = TokenStream::new();
    let mut angles = Angles::default();
    let is_over =
        |angles: &Angles| is_colon(input) || input.is_empty() || (angles.are_closed() && input.peek(Token![,]));
    while !is_over(&angles) {
        if let Some(path) = input.parse::<Option<Token![::]>>()? {
            path.to_tokens(&mut pattern);
            continue;
        }
        let token = input.parse()?;
        angles.pass(&token);
        token.to_tokens(&mut pattern);
    }
    input.parse::<Token![:]>()?.to_tokens(&mut pattern);
    Ok(pattern)
}

fn is_colon(input: ParseStream<'_>) -> bool {
    input.peek(Token![:]) && !input.peek(Token![::])
}

#[cfg(test)]
mod tests {
    use syn::ext::IdentExt;

    use super::{Input, Signature};

    fn inputs(parameters: &str) -> Vec<Input> {
        let signature: Signature = syn::parse_str(&format!("fn f({parameters})")).unwrap();
        signature.inputs
    }

    #[test]
    fn a_parameter_has_a_name_unless_it_is_a_pattern() {
        for (parameters, expected) in [
            ("limit: u32", "limit"),
            ("mut limit: u32, ref other: u8,", "limit other"),
            ("r#for: u8", "for"),
            ("State(db): State<Db>, _: u8", "_ _"),
            ("a::Pair::<A, B>(a, b): Pair<A, B>, c: C", "_ c"),
            ("Pair::<fn(A) -> B, C>(a, b): Pair<fn(A) -> B, C>", "_"),
            ("Named { a: b, .. }: Named, [c, ..]: [u8; 3]", "_ _"),
            ("&mut limit: &mut u32, &(a, b): &(u8, u8)", "_ _"),
            ("#[default(10)] limit: u32, name @ (_, _): (u8, u8)", "limit _"),
        ] {
            let names: Vec<String> = inputs(parameters)
                .iter()
                .map(|input| match input {
                    Input::Parameter(parameter) => {
                        parameter.name.as_ref().map_or("_".to_owned(), |name| name.unraw().to_string())
                    }
                    Input::Receiver(_) | Input::Variadic(_) => panic!("{parameters}"),
                })
                .collect();
            assert_eq!(names.join(" "), expected, "{parameters}");
        }
    }

    #[test]
    fn a_receiver_and_what_is_variadic_are_no_parameters() {
        for receiver in ["self", "mut self", "&self", "&mut self", "&'a self", "&'a mut self", "self: Arc<Self>"] {
            assert!(matches!(inputs(receiver)[..], [Input::Receiver(_)]), "{receiver}");
        }
        for variadic in ["...", "arguments: ...", "mut arguments: ..."] {
            assert!(matches!(inputs(variadic)[..], [Input::Variadic(_)]), "{variadic}");
        }
    }

    #[test]
    fn what_is_half_typed_is_no_signature() {
        for signature in
            ["fn f(", "fn f(a)", "fn f(a, b: B)", "fn f(a: )", "fn (a: A)", "fn f(a: A) ->", "fn f(a: A b: B)"]
        {
            assert!(syn::parse_str::<Signature>(signature).is_err(), "{signature}");
        }
    }
}
