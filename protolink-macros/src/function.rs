//! A function as the attributes see it: a parsed signature, and a body left as tokens.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Ident, PatType, Path, ReturnType, Signature, Type, Visibility};

use crate::attributes;
use crate::generics::Generics;
use crate::tokens::{Token, read};

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
        attributes::named(&self.attrs, "cfg")
    }

    pub(crate) fn deprecation(&self) -> Option<&Attribute> {
        attributes::find(&self.attrs, |attribute| attribute.path().is_ident("deprecated"))
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

    /// The types of the parameters, without `self`, and the return type.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Type> {
        self.parameters().map(|parameter| &*parameter.ty).chain(self.output())
    }

    /// The types of the parameters, without `self`, and the return type.
    pub(crate) fn types_mut(&mut self) -> (impl Iterator<Item = &mut Type>, Option<&mut Type>) {
        let parameters = self.sig.inputs.iter_mut().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(&mut *parameter.ty),
            FnArg::Receiver(_) => None,
        });
        let output = match &mut self.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(&mut **ty),
        };
        (parameters, output)
    }

    /// The type parameters of the generated code, which also names the `tool` of an option.
    pub(crate) fn generics(&self, tool: Option<&Path>) -> Generics {
        Generics::apart_from([&self.signature, &read(tool.to_token_stream())])
    }

    /// What is left of it without its signature.
    pub(crate) fn loose(&self) -> LooseFunction {
        LooseFunction { attrs: self.attrs.clone(), vis: self.vis.clone(), ident: self.sig.ident.clone() }
    }

    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some()
    }
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
