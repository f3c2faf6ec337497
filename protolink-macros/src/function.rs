//! A function as the attributes see it: a parsed signature, and a body left as tokens.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Abi, Attribute, Ident, Path, ReturnType, Token, Type, Visibility};

use crate::attributes;
use crate::generics::Generics;
use crate::signature::{Input, Parameter, Signature};
use crate::tokens::{Angles, Token, read};

/// A function whose body is not parsed, so that a half-typed body does not stop the expansion.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// The tokens of the signature, as they were given.
    pub(crate) signature: Vec<Token>,
    pub(crate) body: TokenStream,
    /// Whether a block follows the signature.
    pub(crate) has_block: bool,
}

impl Function {
    /// Reads an item.
    pub(crate) fn parse(item: &TokenStream) -> syn::Result<Self> {
        // Without its body, which `syn` would copy token by token.
        let mut head: Vec<TokenTree> = item.clone().into_iter().collect();
        if let Some(TokenTree::Group(body)) = head.pop_if(|last| is_block(last))
            && let Ok(mut function) = syn::parse2::<Self>(head.into_iter().collect())
            && function.body.is_empty()
        {
            function.body = TokenTree::Group(body).into();
            function.has_block = true;
            return Ok(function);
        }
        syn::parse2(item.clone())
    }
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let mut signature = read(input.cursor().token_stream());
        let sig = input.parse()?;
        // It is asked of `syn`, which also sees a `$body:block` that `macro_rules!` wraps in an invisible group.
        let has_block = input.peek(syn::token::Brace);
        let body: TokenStream = input.parse()?;
        signature.truncate(signature.len().saturating_sub(body.clone().into_iter().count()));
        Ok(Self { attrs, vis, sig, signature, body, has_block })
    }
}

impl Function {
    /// The conditions under which the function exists; what is generated beside it shares them.
    pub(crate) fn conditions(&self) -> Vec<&Attribute> {
        attributes::named(&self.attrs, "cfg")
    }

    pub(crate) fn deprecation(&self) -> Option<&Attribute> {
        attributes::find(&self.attrs, |attribute| attribute.path().is_ident("deprecated"))
    }

    /// The parameters, without `self`.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.sig.inputs.iter().filter_map(|input| match input {
            Input::Parameter(parameter) => Some(&**parameter),
            Input::Receiver(_) | Input::Variadic(_) => None,
        })
    }

    /// The return type; `None` for a function that ends without one.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(ty),
        }
    }

    /// The types of the parameters, without `self`, and the return type.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Type> {
        self.parameters().map(|parameter| &parameter.ty).chain(self.output())
    }

    /// The types of the parameters, without `self`, and the return type.
    pub(crate) fn types_mut(&mut self) -> (impl Iterator<Item = &mut Type>, Option<&mut Type>) {
        let parameters = self.sig.inputs.iter_mut().filter_map(|input| match input {
            Input::Parameter(parameter) => Some(&mut parameter.ty),
            Input::Receiver(_) | Input::Variadic(_) => None,
        });
        (parameters, returned_mut(&mut self.sig.output))
    }

    /// The type parameters of the generated code, which also names the `tool` of an option.
    pub(crate) fn generics(&self, tool: Option<&Path>) -> Generics {
        Generics::apart_from([&self.signature, &read(tool.to_token_stream())])
    }

    /// What is left of it without its signature.
    pub(crate) fn loose(&self) -> LooseFunction {
        LooseFunction { attrs: self.attrs.clone(), vis: self.vis.clone(), ident: self.sig.ident.clone() }
    }

    /// Whether it is a method.
    pub(crate) fn has_receiver(&self) -> bool {
        self.sig.inputs.iter().any(|input| matches!(input, Input::Receiver(_)))
    }

    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some()
    }
}

/// The type after `->`.
pub(crate) fn returned_mut(output: &mut ReturnType) -> Option<&mut Type> {
    match output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(ty),
    }
}

/// The signature of an item, as it was written.
pub(crate) fn written_signature(item: &TokenStream) -> TokenStream {
    let signature = |input: ParseStream<'_>| {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        input.parse::<TokenStream>()
    };
    let mut signature: Vec<TokenTree> = signature.parse2(item.clone()).into_iter().flatten().collect();
    signature.pop_if(|last| is_block(last) || matches!(last, TokenTree::Punct(end) if end.as_char() == ';'));
    signature.into_iter().collect()
}

/// An item with another parameter list.
pub(crate) fn with_parameters(item: &TokenStream, change: &mut dyn FnMut(TokenStream) -> TokenStream) -> TokenStream {
    let mut search = Search { change, is_named: false, angles: Angles::default(), is_over: false };
    search.through(item.clone())
}

/// A search for the first parentheses after `fn` that are in no angle brackets.
struct Search<'c> {
    change: &'c mut dyn FnMut(TokenStream) -> TokenStream,
    is_named: bool,
    angles: Angles,
    is_over: bool,
}

impl Search<'_> {
    fn through(&mut self, tokens: TokenStream) -> TokenStream {
        let through = |token| {
            self.angles.pass(&token);
            self.is_named |= matches!(&token, TokenTree::Ident(word) if word == "fn");
            match token {
                TokenTree::Group(group) if !self.is_over => self.group(&group).into(),
                token => token,
            }
        };
        tokens.into_iter().map(through).collect()
    }

    fn group(&mut self, group: &Group) -> Group {
        let content = match group.delimiter() {
            // What `macro_rules!` wraps around a fragment.
            Delimiter::None => self.through(group.stream()),
            Delimiter::Parenthesis if self.is_named && self.angles.are_closed() => {
                self.is_over = true;
                (self.change)(group.stream())
            }
            _ => return group.clone(),
        };
        let mut changed = Group::new(group.delimiter(), content);
        changed.set_span(group.span());
        changed
    }
}

/// A function in the middle of typing: what can be seen of it without parsing its signature.
pub(crate) struct LooseFunction {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
}

impl LooseFunction {
    /// Reads a function up to its name.
    pub(crate) fn begin(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        pass_qualifiers(input)?;
        input.parse::<Token![fn]>()?;
        Ok(Self { attrs, vis, ident: input.parse()? })
    }
}

impl Parse for LooseFunction {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let function = Self::begin(input)?;
        input.parse::<TokenStream>()?;
        Ok(function)
    }
}

/// Passes over what can stand before `fn`.
pub(crate) fn pass_qualifiers(input: ParseStream<'_>) -> syn::Result<()> {
    input.parse::<Option<Token![const]>>()?;
    input.parse::<Option<Token![async]>>()?;
    input.parse::<Option<Token![unsafe]>>()?;
    input.parse::<Option<Abi>>()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    use super::{with_parameters, written_signature};

    fn tokens(source: &str) -> TokenStream {
        source.parse().unwrap()
    }

    #[test]
    fn the_parameters_are_the_first_parentheses_after_the_generics() {
        for item in [
            "pub(crate) fn f(a: A) -> (B, C) { (b, c) }",
            "fn f<F: Fn(A) -> B>(a: A) where F: Fn(C) {}",
            "#[a(b)] extern \"C\" fn f(a: A);",
        ] {
            let changed = with_parameters(&tokens(item), &mut |_| tokens("x"));
            assert_eq!(changed.to_string(), tokens(&item.replace("a: A", "x")).to_string());
        }
    }

    #[test]
    fn a_written_signature_ends_before_the_body() {
        for end in [";", "{ b }"] {
            let written = written_signature(&tokens(&format!("#[a] pub(crate) fn f(a: A) -> B {end}")));
            assert_eq!(written.to_string(), tokens("fn f(a: A) -> B").to_string());
        }
    }
}
