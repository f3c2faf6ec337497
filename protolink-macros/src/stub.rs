//! What is emitted beside an error.
//!
//! A stub has the name and the traits of what could not be made, so that a list that names it compiles and one mistake
//! stays one error. It is valid code that does nothing: a constant that panics would be a second error.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;
use syn::ext::IdentExt;

use crate::attributes;
use crate::function::{Function, LooseFunction};
use crate::hook::declaration;
use crate::krate::Krate;
use crate::spans::generated;
use crate::stage::Stage;

/// Whether a type can be declared beside the function. In an `impl` or a `trait` it cannot, and three errors about that
/// would follow the one that matters; a name that would hide a crate or a primitive type would break what is around it.
fn can_be_declared(function: &Function) -> bool {
    let mut errors = crate::check::Errors::default();
    crate::check::name(&mut errors, "", &function.sig.ident);
    errors.is_empty() && function.has_block && !function.has_receiver()
}

/// A hook that does nothing.
pub(crate) fn hook(stage: Stage, krate: &Krate, function: &Function) -> Option<TokenStream> {
    if !can_be_declared(function) {
        return None;
    }
    let private = krate.private();
    let declaration = declaration(function);
    let conditions = function.conditions();
    let ident = generated(&function.sig.ident);
    let stage_type = stage.type_name(Span::mixed_site());
    let allow = function.deprecation().map(|_| quote!(#[allow(deprecated)]));
    let impls = krate.scope(quote! {
        #(#conditions)*
        #allow
        impl #private::Hook for #ident {
            const FACTS: &'static #private::str = "";
        }

        #(#conditions)*
        #allow
        impl<S: 'static, A> #private::HookFor<S, A> for #ident {
            const CODE: &'static dyn #private::Code<S> =
                &#private::Thunk::<#private::#stage_type, S>::Sync(|_, _| #private::Result::Ok(()));
        }
    });
    Some(quote!(#declaration #impls))
}

/// A hook whose signature is in the middle of typing. The compiler says what is missing, and comes no further; should
/// it understand more than we do, the hook is refused where it is used, and not left out.
pub(crate) fn half_typed_hook(stage: Stage, krate: &Krate, function: &LooseFunction) -> TokenStream {
    let private = krate.private();
    let LooseFunction { attrs, vis, ident } = function;
    let conditions = attributes::named(attrs, "cfg");
    let name = ident.unraw().to_string();
    let ident = generated(ident);
    let refusal = format!("`#[{}]` does not understand the signature of `{name}`", stage.name());
    let impls = krate.scope(quote! {
        #(#conditions)*
        impl #private::Hook for #ident {
            const FACTS: &'static #private::str = "";
        }

        #(#conditions)*
        impl<S: 'static, A> #private::HookFor<S, A> for #ident {
            const CODE: &'static dyn #private::Code<S> = #private::panic!(#refusal);
        }
    });
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #vis struct #ident {}
        #impls
    }
}

/// A tool whose signature is in the middle of typing.
pub(crate) fn half_typed_tool(krate: &Krate, function: &LooseFunction) -> TokenStream {
    let private = krate.private();
    let LooseFunction { attrs, vis, ident } = function;
    let conditions = attributes::named(attrs, "cfg");
    let name = ident.unraw().to_string();
    let ident = generated(ident);
    let refusal = format!("`#[tool]` does not understand the signature of `{name}`");
    let impls = krate.scope(quote! {
        #(#conditions)*
        impl #private::Tool for #ident {
            const NAME: &'static #private::str = #name;
            type Output = ();
        }

        #(#conditions)*
        impl<S: 'static> #private::ToolFor<S> for #ident {
            fn definition() -> #private::ToolDefinition<S> {
                const { #private::panic!(#refusal) }
            }
        }
    });
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #vis struct #ident {}
        #impls
    }
}

/// A tool that does nothing. It has the output type that the function has, where that can be said.
pub(crate) fn tool(
    krate: &Krate,
    handle: &Ident,
    output: &TokenStream,
    declaration: &TokenStream,
    function: &Function,
) -> Option<TokenStream> {
    if !can_be_declared(function) {
        return None;
    }
    let private = krate.private();
    let conditions = function.conditions();
    let allow = function.deprecation().map(|_| quote!(#[allow(deprecated)]));
    let handle = generated(handle);
    let name = handle.unraw().to_string();
    let impls = krate.scope(quote! {
        #(#conditions)*
        #allow
        impl #private::Tool for #handle {
            const NAME: &'static #private::str = #name;
            type Output = #output;
        }

        #(#conditions)*
        #allow
        impl<S: 'static> #private::ToolFor<S> for #handle {
            fn definition() -> #private::ToolDefinition<S> {
                #private::ToolDefinition::stub(#name)
            }
        }
    });
    Some(quote!(#declaration #impls))
}
