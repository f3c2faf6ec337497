//! The runtime crate, as generated code refers to it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;

use crate::spans::relocate;

/// Where the runtime crate is found.
pub(crate) enum Krate {
    /// `::protolink`
    Protolink,
    /// What the option `crate = path` says.
    Renamed(Path),
}

impl Krate {
    /// The path of what generated code refers to, at a span.
    pub(crate) fn private(&self, span: Span) -> TokenStream {
        match self {
            Self::Protolink => {
                // Always at the attribute, so that a crate of another name is missed once, and not once for each type.
                let name = Ident::new("protolink", Span::call_site());
                quote_spanned!(span=> ::#name::__private)
            }
            Self::Renamed(Path { leading_colon: Some(_), segments }) => quote_spanned!(span=> ::#segments::__private),
            Self::Renamed(path) => {
                let path = relocate(path.to_token_stream(), span);
                quote_spanned!(span=> #path::__private)
            }
        }
    }
}

impl ToTokens for Krate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Protolink => tokens.extend(quote::quote!(::protolink)),
            Self::Renamed(path) => path.to_tokens(tokens),
        }
    }
}
