//! The runtime crate, as generated code refers to it.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::Path;

use crate::spans::path_ends;

/// What generated code imports from a crate that an option names: a path that leads to something else is then missed
/// once, at the option, and not at each place that needs it.
const IMPORTED: &str = "__protolink_attributes";

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

    /// Items in which that path leads to the runtime crate, and whose names nobody needs.
    pub(crate) fn scope(&self, items: TokenStream) -> TokenStream {
        self.scope_with(&TokenStream::new(), items)
    }

    /// Such items, with what else is declared for them alone.
    pub(crate) fn scope_with(&self, declarations: &TokenStream, items: TokenStream) -> TokenStream {
        let import = self.import();
        if import.is_none() && declarations.is_empty() {
            return items;
        }
        quote!(const _: () = { #import #declarations #items };)
    }

    /// The import that the path needs, where the items of `scope` have to stay where they are.
    pub(crate) fn import(&self) -> Option<TokenStream> {
        let Self::Renamed(path) = self else { return None };
        // The name is what the message shows of a path that leads to another crate, where the user wrote the path.
        let end = path_ends(path).1;
        let module = Ident::new("protolink_attributes", end);
        let imported = Ident::new(IMPORTED, end);
        Some(quote!(#[allow(unused_imports)] use #path::#module as #imported;))
    }
}

/// `::protolink::__private`, or what was imported of a crate of another name.
pub(crate) struct Private<'k> {
    krate: &'k Krate,
    /// `None` where each token stands as it came.
    span: Option<Span>,
}

impl ToTokens for Private<'_> {
    // Token by token: a stream that is put into another one is a call of the compiler, and a hook has ten of these.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let span = self.span.unwrap_or_else(Span::call_site);
        match self.krate {
            Krate::Protolink => {
                colons(tokens, span);
                // The name of the crate stays where it was, so that a crate of another name is missed once, and not
                // once for each type.
                tokens.append(Ident::new("protolink", Span::call_site()));
                colons(tokens, span);
                tokens.append(Ident::new("__private", span));
            }
            Krate::Renamed(_) => tokens.append(Ident::new(IMPORTED, span)),
        }
    }
}

fn colons(tokens: &mut TokenStream, span: Span) {
    for spacing in [Spacing::Joint, Spacing::Alone] {
        let mut colon = Punct::new(':', spacing);
        colon.set_span(span);
        tokens.append(colon);
    }
}
