//! A signature, as far as the attributes look at it.
//!
//! Patterns are passed over, and so is all that the compiler checks by itself. `syn` reads whole functions with its
//! feature `full` alone, for which every user of the macros would wait a second longer.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{Abi, Attribute, Generics, Ident, Lifetime, ReturnType, Token, Type, token};

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

/// A pattern, with the colon after it.
fn pattern(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut pattern = TokenStream::new();
    while !is_colon(input) && !input.is_empty() && !input.peek(Token![,]) {
        match input.parse::<Option<Token![::]>>()? {
            Some(path) => path.to_tokens(&mut pattern),
            None => input.parse::<TokenTree>()?.to_tokens(&mut pattern),
        }
    }
    input.parse::<Token![:]>()?.to_tokens(&mut pattern);
    Ok(pattern)
}

fn is_colon(input: ParseStream<'_>) -> bool {
    input.peek(Token![:]) && !input.peek(Token![::])
}
