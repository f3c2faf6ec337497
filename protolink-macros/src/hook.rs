//! `#[before_model]`, `#[after_tool]` and `#[before_complete]`.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Lifetime, Token, Type, Visibility};

use crate::check::{self, Errors};
use crate::direct::Direct;
use crate::function::{Function, LooseFunction, pass_qualifiers};
use crate::generics::Generics;
use crate::krate::Krate;
use crate::options::HookOptions;
use crate::spans::generated;
use crate::stage::{Stage, is_hook, is_tool};
use crate::thunk::Thunk;
use crate::{alias, attributes, facts, lifetimes, stub};

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
    let mut function = match Function::parse(item) {
        Ok(function) => function,
        Err(error) => {
            let stub = match half_typed(&format!("`#[{}]`", stage.name()), item, error) {
                Ok(half_typed) => Some(stub::half_typed_hook(stage, &options.krate(), &half_typed)),
                Err(error) => {
                    errors.push(error);
                    None
                }
            };
            let errors = errors.finish().map(Error::into_compile_error);
            return quote!(#item #errors #stub);
        }
    };
    check_hook(&mut errors, stage, &options, &function, item);
    let krate = options.krate();
    match errors.finish() {
        None if check::is_refused_anyway(&function) => {
            let stub = stub::half_typed_hook(stage, &krate, &function.loose());
            quote!(#item #stub)
        }
        None => {
            let registration = registration(stage, &krate, &options, &mut function);
            quote!(#item #registration)
        }
        // The function stays as it is, and its name stays usable in `hooks![..]`, so that one mistake is one error.
        Some(error) => {
            let error = error.into_compile_error();
            // A tool of the same function is still made, and takes the name.
            let is_tool = attributes::find(&function.attrs, is_tool).is_some();
            let stub = if is_tool { None } else { stub::hook(stage, &krate, &function) };
            if attributes::find(&function.attrs, is_hook).is_none() {
                return quote!(#item #error #stub);
            }
            // Another stage on the same function has been reported, and would only say it again.
            let item = attributes::without(item.clone(), is_hook);
            quote!(#item #error #stub)
        }
    }
}

/// What to make of an item that does not parse as a function: an error where it is something else, and where it is
/// half-typed, what is there of it. The compiler parses the item again and says what is missing.
pub(crate) fn half_typed(attribute: &str, item: &TokenStream, error: Error) -> syn::Result<LooseFunction> {
    match beginning.parse2(item.clone()) {
        Ok((_, true)) => syn::parse2(item.clone()).map_err(|_| error),
        Ok((keyword, false)) => Err(Error::new(keyword, format!("{attribute} goes on a function"))),
        Err(_) => Err(error),
    }
}

/// Where an item begins, after its attributes and its visibility, and whether it is a function.
fn beginning(input: ParseStream<'_>) -> syn::Result<(Span, bool)> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let keyword = input.span();
    pass_qualifiers(input)?;
    let is_function = input.peek(Token![fn]);
    input.parse::<TokenStream>()?;
    Ok((keyword, is_function))
}

/// What is wrong with a hook before its types are known.
fn check_hook(errors: &mut Errors, stage: Stage, options: &HookOptions, function: &Function, item: &TokenStream) {
    if let Some(attribute) = attributes::find(&function.attrs, is_hook) {
        errors.at(attribute, "a function is a hook of one stage, once: write a function for each stage");
    }
    if let Some(attribute) = attributes::find(&function.attrs, is_tool) {
        errors.at(attribute, "a function is a hook or a tool, not both");
    }
    check::name(errors, "a hook", &function.sig.ident);
    check::function(errors, "a hook", function, item);
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
            let fix = if check::is_future(&found) {
                "make it an `async fn` instead of returning a future"
            } else {
                "write the type"
            };
            errors.at(found, format!("a hook returns `()` or `Result<(), E>`: {fix}"));
        }
    }
    if function.sig.inputs.is_empty() {
        let article = if stage == Stage::AfterTool { "an" } else { "a" };
        let (name, subject) = (stage.name(), stage.subject());
        let message = format!("{article} `#[{name}]` hook takes `{subject}` as its first parameter");
        errors.at(parentheses(function), message);
    }
    let mut parameters = function.parameters();
    if let Some(subject) = parameters.next() {
        check_subject(errors, stage, function, &subject.ty);
    }
    for parameter in parameters {
        for lifetime in lifetimes::written(&parameter.ty) {
            if lifetime.ident != "static" && lifetime.ident != "_" {
                errors.at(lifetime, "a hook takes state by value; it cannot hold a borrow of the agent's state");
            }
        }
    }
}

/// The two lifetimes of the subject are the loop's to choose, one after another and apart.
fn check_subject(errors: &mut Errors, stage: Stage, function: &Function, ty: &Type) {
    let mut seen = Vec::new();
    for bound in static_bounds(function) {
        errors.at(bound, format!("a hook borrows its subject for one call: remove `{bound}`"));
    }
    for lifetime in lifetimes::written(ty) {
        let again = lifetime.ident != "_" && seen.contains(&lifetime.ident);
        if lifetime.ident == "static" || again {
            errors.at(&lifetime, format!("a hook borrows its subject for one call: write `{}`", stage.subject()));
        }
        seen.push(lifetime.ident);
    }
}

/// The `'static` that a lifetime of the function is to outlive: `'a: 'static`.
fn static_bounds(function: &Function) -> Vec<&Lifetime> {
    let generics = &function.sig.generics;
    let mut bounds = Vec::new();
    for parameter in generics.lifetimes() {
        bounds.extend(&parameter.bounds);
    }
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let syn::WherePredicate::Lifetime(predicate) = predicate {
            bounds.extend(&predicate.bounds);
        }
    }
    bounds.retain(|bound| bound.ident == "static");
    bounds
}

/// The empty parameter list, as tokens to point at.
fn parentheses(function: &Function) -> TokenStream {
    let mut group = Group::new(Delimiter::Parenthesis, TokenStream::new());
    group.set_span(function.sig.parentheses.span.join());
    group.into_token_stream()
}

/// What is generated beside the function: the type, and what it implements.
fn registration(stage: Stage, krate: &Krate, options: &HookOptions, function: &mut Function) -> TokenStream {
    let inferred = !function.is_async() && Direct::of(stage, options, function).is_some();
    let aliases = alias::name_arguments(krate, function, inferred);
    let function = &*function;
    let private = krate.private();
    let conditions = function.conditions();
    let declaration = declaration(function);
    let ident = generated(&function.sig.ident);
    let facts = facts::expression(stage, krate, options, function);
    // Where the path is no tool, that is said once, by the thunk.
    let tool = options.tool.as_ref().map(|tool| {
        let path = &tool.value;
        quote! {
            const TOOL: #private::Option<&'static #private::str> =
                #private::Option::Some({ use #private::NotATool as _; #private::ToolName::<#path>::NAME });
        }
    });
    let timeout = options.timeout.as_ref().map(|timeout| {
        let millis = u64::try_from(timeout.value.as_millis()).unwrap_or(u64::MAX);
        quote! {
            const TIMEOUT: #private::Option<#private::Duration> =
                #private::Option::Some(#private::Duration::from_millis(#millis));
        }
    });
    let generics = function.generics(options.tool.as_ref().map(|tool| &tool.value));
    let Generics { state, answer } = &generics;
    let thunk = || Thunk::new(stage, krate, options, function, &generics);
    let (code, bounds) = match (Direct::of(stage, options, function), function.sig.asyncness) {
        (Some(hook), None) => (hook.pointer(stage, krate), hook.bounds(krate, state)),
        (Some(hook), Some(keyword)) => (thunk().direct(keyword.span), hook.bounds(krate, state)),
        (None, _) => {
            let thunk = thunk();
            (thunk.code(), thunk.bounds())
        }
    };
    // The function is called here. That it is deprecated is to be said where it is registered.
    let deprecated = function.deprecation().map(|_| quote!(#[allow(deprecated)]));
    let impls = quote! {
        #(#conditions)*
        #deprecated
        impl #private::Hook for #ident {
            const FACTS: &'static #private::str = #facts;
            #tool
            #timeout
        }

        #(#conditions)*
        #deprecated
        impl<#state: 'static, #answer> #private::HookFor<#state, #answer> for #ident
        where #(#bounds,)*
        {
            const CODE: &'static dyn #private::Code<#state> = #code;
        }
    };
    let impls = krate.scope_with(&aliases, impls);
    quote!(#declaration #impls)
}

/// The type of the function's own name. A braced struct lives among the types only, so the function keeps its name
/// among the values.
pub(crate) fn declaration(function: &Function) -> TokenStream {
    let vis = &function.vis;
    let conditions = function.conditions();
    let deprecation = function.deprecation();
    let ident = generated(&function.sig.ident);
    quote_spanned! {ident.span()=>
        #(#conditions)*
        #[doc(hidden)]
        #deprecation
        #vis struct #ident {}
    }
}
