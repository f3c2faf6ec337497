//! A type of the signature, as generated code uses it at the place where it stands.

use std::borrow::Cow;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Type;

use crate::krate::Krate;
use crate::lifetimes;
use crate::spans::ends;

/// A type of the signature as it is used in generated code.
pub(crate) struct Place<'f> {
    pub(crate) ty: Cow<'f, Type>,
    pub(crate) start: Span,
    pub(crate) end: Span,
}

impl<'f> Place<'f> {
    /// A type with its lifetimes erased, so that it can stand in a body.
    pub(crate) fn erased(ty: &Type) -> Self {
        Self::at(ty, Cow::Owned(lifetimes::erase(ty)))
    }

    /// A type in which no lifetime stands.
    pub(crate) fn owned(ty: &'f Type) -> Self {
        Self::at(ty, Cow::Borrowed(ty))
    }

    fn at(place: &Type, ty: Cow<'f, Type>) -> Self {
        let (start, end) = ends(place);
        Self { ty, start, end }
    }

    /// `<#ty as #check>::#function`, all of it where the type stands.
    pub(crate) fn path(
        &self,
        check: &str,
        function: &str,
        parameters: Option<&TokenStream>,
        krate: &Krate,
    ) -> TokenStream {
        let Self { ty, start, end } = self;
        let private = krate.private_at(*start);
        let check = Ident::new(check, *start);
        let function = Ident::new(function, *end);
        quote_spanned!(*start=> <#ty as #private::#check #parameters>::#function)
    }

    /// The function that makes a `State<T>` of a `T`, which is refused at the type where it is no `State`.
    pub(crate) fn holding(&self, krate: &Krate) -> TokenStream {
        self.path("HookParam", "holding", Some(&quote_spanned!(self.start=> <_>)), krate)
    }

    /// `<#ty as #function>(#argument)`, which starts and ends where the type does: what is wrong with the type is
    /// reported there.
    pub(crate) fn through(&self, function: &TokenStream, argument: impl ToTokens) -> TokenStream {
        let ty = &self.ty;
        let mut argument = Group::new(Delimiter::Parenthesis, argument.into_token_stream());
        argument.set_span(self.end);
        quote_spanned!(self.start=> <#ty as #function #argument)
    }
}
