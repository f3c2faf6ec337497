//! The runtime crate, as generated code refers to it.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
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
    /// The path of what generated code refers to.
    pub(crate) fn private(&self) -> Private<'_> {
        Private { krate: self, span: None }
    }

    /// The path of what generated code refers to, at a span.
    pub(crate) fn private_at(&self, span: Span) -> Private<'_> {
        Private { krate: self, span: Some(span) }
    }
}

impl ToTokens for Krate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Protolink => {
                colons(tokens, Span::call_site());
                tokens.append(Ident::new("protolink", Span::call_site()));
            }
            Self::Renamed(path) => path.to_tokens(tokens),
        }
    }
}

/// `::protolink::__private`
pub(crate) struct Private<'k> {
    krate: &'k Krate,
    /// `None` where each token stands as it came.
    span: Option<Span>,
}

impl ToTokens for Private<'_> {
    // Token by token: a stream that is put into another one is a call of the compiler, and a hook has ten of these.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let span = self.span.unwrap_or_else(Span::call_site);
        match (self.krate, self.span) {
            // The name of the crate stays where it was, so that a crate of another name is missed once, and not once
            // for each type.
            (Krate::Protolink, Some(span)) => {
                colons(tokens, span);
                tokens.append(Ident::new("protolink", Span::call_site()));
            }
            (Krate::Renamed(Path { leading_colon: Some(_), segments }), Some(span)) => {
                colons(tokens, span);
                segments.to_tokens(tokens);
            }
            (Krate::Renamed(path), Some(span)) => tokens.append_all(relocate(path.to_token_stream(), span)),
            (krate, None) => krate.to_tokens(tokens),
        }
        colons(tokens, span);
        tokens.append(Ident::new("__private", span));
    }
}

fn colons(tokens: &mut TokenStream, span: Span) {
    for spacing in [Spacing::Joint, Spacing::Alone] {
        let mut colon = Punct::new(':', spacing);
        colon.set_span(span);
        tokens.append(colon);
    }
}
