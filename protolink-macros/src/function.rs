//! A function as the attributes see it: a parsed signature, and a body left as tokens.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Ident, PatType, Path, ReturnType, Signature, Type, Visibility};

use crate::generics::Generics;

/// A function whose body is not parsed, so that a half-typed body does not stop the expansion.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
    /// Whether a block follows the signature. It is asked of `syn`, which also sees a `$body:block` that
    /// `macro_rules!` wraps in an invisible group.
    pub(crate) has_block: bool,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        let has_block = input.peek(syn::token::Brace);
        let body = input.parse()?;
        Ok(Self { attrs, vis, sig, body, has_block })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for attr in &self.attrs {
            attr.to_tokens(tokens);
        }
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

impl Function {
    /// The conditions under which the function exists; what is generated beside it shares them.
    pub(crate) fn conditions(&self) -> Vec<&Attribute> {
        self.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect()
    }

    pub(crate) fn deprecation(&self) -> Option<&Attribute> {
        self.attrs.iter().find(|attr| attr.path().is_ident("deprecated"))
    }

    /// The parameters, without `self`.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &PatType> {
        self.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        })
    }

    /// The return type; `None` for a function that ends without one.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(ty),
        }
    }

    /// The type parameters of the generated code, which also names the paths in `options`.
    pub(crate) fn generics(&self, options: impl ToTokens) -> Generics {
        let mut tokens = self.sig.to_token_stream();
        options.to_tokens(&mut tokens);
        Generics::apart_from(tokens)
    }

    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some()
    }
}

/// The path of what generated code refers to, at a span.
pub(crate) fn private(krate: &Path, span: Span) -> TokenStream {
    let krate = crate::spans::relocate(krate.to_token_stream(), span);
    quote::quote_spanned!(span=> #krate::__private)
}

/// A function in the middle of typing: what can be seen of it without parsing its signature.
pub(crate) struct LooseFunction {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
}

impl Parse for LooseFunction {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        while !input.peek(syn::Token![fn]) {
            input.parse::<proc_macro2::TokenTree>()?;
        }
        input.parse::<syn::Token![fn]>()?;
        let ident = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(Self { attrs, vis, ident })
    }
}
