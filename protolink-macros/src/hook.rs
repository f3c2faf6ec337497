//! `#[before_model]`, `#[after_tool]` and `#[before_complete]`.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Error, Path, Type};

use crate::check::{self, Errors};
use crate::function::Function;
use crate::options::HookOptions;
use crate::spans::generated;
use crate::stage::{Stage, of_attribute};
use crate::thunk::Thunk;
use crate::{digest, signature, stub};

// Input:
//     #[before_model]
//     pub async fn select(request: &mut ModelRequest<'_>, db: State<Db>) -> Result<(), E> { .. }
//
// Output, after the function itself:
//     #[doc(hidden)] pub struct select {}
//     impl Hook for select { .. }
//     impl<S, A> HookFor<S, A> for select where State<Db>: FromState<S> { .. }
pub(crate) fn expand(stage: Stage, args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = HookOptions::parse(stage, args, &mut errors);
    let mut function = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            errors.push(not_a_function(&format!("`#[{}]`", stage.name()), item, error));
            let errors = errors.finish().map(Error::into_compile_error);
            return quote!(#item #errors);
        }
    };
    check_hook(&mut errors, stage, &options, &function);
    let krate = options.krate();
    match errors.finish() {
        None => {
            let registration = registration(stage, &krate, &options, &function);
            quote!(#item #registration)
        }
        // The function stays as it is, and its name stays usable in `hooks![..]`, so that one mistake is one error.
        Some(error) => {
            let error = error.into_compile_error();
            let stub = stub::hook(stage, &krate, &function);
            // Another stage on the same function has been reported, and would only say it again.
            function.attrs.retain(|attribute| of_attribute(attribute).is_none());
            quote!(#function #error #stub)
        }
    }
}

/// What to say of an item that is no function, or of a signature that does not parse.
pub(crate) fn not_a_function(attribute: &str, item: &TokenStream, error: Error) -> Error {
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(_)) | Err(_) => error,
        Ok(_) => Error::new(error.span(), format!("{attribute} goes on a function")),
    }
}

/// What is wrong with a hook before its types are known.
fn check_hook(errors: &mut Errors, stage: Stage, options: &HookOptions, function: &Function) {
    if let Some(attribute) = function.attrs.iter().find(|attribute| of_attribute(attribute).is_some()) {
        errors.at(attribute, "a function is a hook of one stage, once: write a function for each stage");
    }
    check::name(errors, "a hook", &function.sig.ident);
    check::function(errors, "a hook", function);
    if let Some(timeout) = &options.timeout
        && !function.is_async()
    {
        let message = "a sync hook cannot be interrupted: `timeout` needs an `async fn`";
        errors.push(Error::new(timeout.key, message));
    }
    if let Some(output) = function.output() {
        if matches!(output, Type::Never(_)) {
            errors.at(output, "a hook returns `()` or `Result<(), E>`, not `!`");
        } else if let Some(found) = check::impl_trait(output) {
            let fix = "make it an `async fn` instead of returning a future";
            errors.at(found, format!("a hook returns `()` or `Result<(), E>`: {fix}"));
        }
    }
    if function.sig.inputs.is_empty() {
        let message = format!("a `#[{}]` hook takes `{}` as its first parameter", stage.name(), stage.subject());
        errors.at(parentheses(function), message);
    }
    for (position, parameter) in function.parameters().enumerate() {
        for lifetime in check::lifetimes(&parameter.ty) {
            if position == 0 && lifetime.ident == "static" {
                errors.at(lifetime, format!("a hook borrows its subject for one call: write `{}`", stage.subject()));
            } else if position > 0 && lifetime.ident != "static" {
                errors.at(lifetime, "a hook takes state by value; it cannot hold a borrow of the agent's state");
            }
        }
    }
}

/// The empty parameter list, as tokens to point at.
fn parentheses(function: &Function) -> TokenStream {
    let mut group = Group::new(Delimiter::Parenthesis, TokenStream::new());
    group.set_span(function.sig.paren_token.span.join());
    group.into_token_stream()
}

/// What is generated beside the function: the type, and what it implements.
fn registration(stage: Stage, krate: &Path, options: &HookOptions, function: &Function) -> TokenStream {
    let private = quote!(#krate::__private);
    let conditions = function.conditions();
    let declaration = declaration(function);
    let ident = generated(&function.sig.ident);
    let name = function.sig.ident.unraw().to_string();
    let stage_type = stage.type_name(Span::mixed_site());
    let fingerprint = Literal::byte_string(&digest::fingerprint(stage, options, function));
    let signature = signature::text(function);
    let for_tool = options.tool.as_ref().map(|tool| {
        let path = &tool.value;
        quote! {
            #(#conditions)*
            impl #private::ForTool for #ident {
                type Tool = #path;
            }
        }
    });
    let tool =
        options.tool.as_ref().map(|_| quote!(.for_tool(<<#ident as #private::ForTool>::Tool as #private::Tool>::NAME)));
    let timeout = options.timeout.as_ref().map(|timeout| {
        let millis = u64::try_from(timeout.value.as_millis()).unwrap_or(u64::MAX);
        quote!(.within(#private::Duration::from_millis(#millis)))
    });
    let thunk = Thunk::new(stage, krate, options, function);
    let (registered, bounds) = (thunk.registered(), thunk.bounds());
    // The function is called here. That it is deprecated is to be said where it is registered.
    let deprecated = function.deprecation().map(|_| quote!(#[allow(deprecated)]));
    quote! {
        #declaration

        #for_tool

        #(#conditions)*
        #deprecated
        impl #private::Hook for #ident {
            const HOOK: Self = Self {};
            const META: &'static #private::HookMeta = &#private::HookMeta::annotated(
                #private::Stage::#stage_type,
                #name,
                #private::module_path!(),
                #private::file!(),
                #private::line!(),
                *#fingerprint,
                #signature,
            )#tool #timeout;
        }

        #(#conditions)*
        #deprecated
        impl<__ProtolinkState: 'static, __ProtolinkAnswer> #private::HookFor<__ProtolinkState, __ProtolinkAnswer> for #ident
        where #(#bounds,)*
        {
            const REGISTERED: #private::Registered<__ProtolinkState> = #registered;
        }
    }
}

/// The type of the function's own name. A braced struct lives among the types only, so the function keeps its name
/// among the values.
pub(crate) fn declaration(function: &Function) -> TokenStream {
    let vis = &function.vis;
    let conditions = function.conditions();
    let deprecation = function.deprecation();
    let ident = generated(&function.sig.ident);
    let structure = quote_spanned!(ident.span()=> #vis struct #ident {});
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #deprecation
        #structure
    }
}
