//! `#[hook_module] mod name { .. }`: the hooks of a module, in source order.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Ident, Token, Visibility};

use crate::attributes;
use crate::check::Errors;
use crate::function::LooseFunction;
use crate::krate::Krate;
use crate::options::only_crate;
use crate::spans::{generated, own};
use crate::stage::is_hook;

// Input:
//     #[hook_module] pub mod billing { #[before_model] pub fn a(..) {} #[cfg(x)] #[after_tool] fn b(..) {} }
//
// Output: the module with its items, and after them
//     pub const HOOKS: &[&HookMeta] = &[..];  pub const HOOK_COUNT: usize = ..;  pub const FINGERPRINT: ListFingerprint = ..;
//     pub fn hooks<B>(builder: B) -> B where B: AddHook<a>, .. { .. }
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let krate = only_crate(args, &mut errors, "hook_module");
    let mut tokens = visible(item.clone());
    match module.parse2(item.clone()) {
        Ok(Item::Inline) => {}
        // With its name and without its file, which the compiler would look for.
        Ok(Item::Outline(written)) => {
            tokens.pop();
            let message =
                "`#[hook_module]` needs the items of the module here, not in a file of their own: `mod name { .. }`";
            errors.at(written, message);
            tokens.push(Group::new(Delimiter::Brace, TokenStream::new()).into());
        }
        Ok(Item::Other(keyword)) => {
            let message = "`#[hook_module]` goes on a module with its items: `mod name { .. }`";
            errors.push(Error::new(keyword, message));
        }
        Err(error) => errors.push(error),
    }
    if let Some(errors) = errors.finish() {
        let (item, errors) = (TokenStream::from_iter(tokens), errors.into_compile_error());
        return quote!(#item #errors);
    }
    if let Some(TokenTree::Group(items)) = tokens.last_mut() {
        let stream = items.stream();
        let collected = collected(&krate, &hooks.parse2(stream.clone()).unwrap_or_default());
        let mut content = Group::new(items.delimiter(), quote!(#stream #collected));
        content.set_span(items.span());
        *items = content;
    }
    TokenStream::from_iter(tokens)
}

/// The tokens of an item, out of the invisible group that `macro_rules!` wraps around a `$module:item`.
fn visible(item: TokenStream) -> Vec<TokenTree> {
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    match &tokens[..] {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => visible(group.stream()),
        _ => tokens,
    }
}

enum Item {
    /// A module with its items.
    Inline,
    /// `mod name;`, from its visibility on.
    Outline(TokenStream),
    /// Where something else begins.
    Other(Span),
}

fn module(input: ParseStream<'_>) -> syn::Result<Item> {
    input.call(Attribute::parse_outer)?;
    let written = input.cursor().token_stream();
    input.parse::<Visibility>()?;
    let keyword = input.span();
    input.parse::<Option<Token![unsafe]>>()?;
    if input.parse::<Option<Token![mod]>>()?.is_none() {
        input.parse::<TokenStream>()?;
        return Ok(Item::Other(keyword));
    }
    input.parse::<Ident>()?;
    let is_outline = input.parse::<Option<Token![;]>>()?.is_some();
    input.parse::<TokenStream>()?;
    Ok(if is_outline { Item::Outline(written) } else { Item::Inline })
}

/// A function of the module with a stage's attribute.
struct CollectedHook {
    ident: Ident,
    /// What stands in the `#[cfg(..)]`s above it.
    conditions: Vec<TokenStream>,
}

/// The hooks among the items of a module. The items are not parsed: a function is seen by what stands before its name.
fn hooks(items: ParseStream<'_>) -> syn::Result<Vec<CollectedHook>> {
    let mut hooks = Vec::new();
    while !items.is_empty() {
        if items.peek(Token![#])
            && let Ok(function) = LooseFunction::begin(&items.fork())
            && attributes::find(&function.attrs, is_hook).is_some()
        {
            let conditions = function.attrs.iter().filter_map(condition).collect();
            hooks.push(CollectedHook { ident: function.ident, conditions });
        }
        // All attributes of an item at once, so that it is seen once.
        if items.call(Attribute::parse_outer).is_ok_and(|attributes| !attributes.is_empty()) {
            continue;
        }
        items.parse::<Option<TokenTree>>()?;
    }
    Ok(hooks)
}

fn condition(attribute: &Attribute) -> Option<TokenStream> {
    match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => Some(list.tokens.clone()),
        _ => None,
    }
}

fn collected(krate: &Krate, hooks: &[CollectedHook]) -> TokenStream {
    let (private, import) = (krate.private(), krate.import());
    let builder = own("builder");
    let mut aliases = Vec::new();
    let mut types = Vec::new();
    let mut conditions = Vec::new();
    for (index, hook) in hooks.iter().enumerate() {
        let ident = generated(&hook.ident);
        if hook.conditions.is_empty() {
            types.push(ident);
            conditions.push(None);
            continue;
        }
        // A bound cannot have a condition, so the type that is bound has one.
        let alias = format_ident!("__ProtolinkHook{}", index, span = proc_macro2::Span::mixed_site());
        let predicates = &hook.conditions;
        aliases.push(quote! {
            #[cfg(all(#(#predicates),*))]
            type #alias = #ident;
            #[cfg(not(all(#(#predicates),*)))]
            type #alias = #private::AbsentHook;
        });
        types.push(alias);
        conditions.push(Some(quote!(#[cfg(all(#(#predicates),*))])));
    }
    let metas = types.iter().zip(&conditions).map(|(ty, condition)| quote!(#condition <#ty as #private::Hook>::META));
    let steps = types
        .iter()
        .zip(&conditions)
        .map(|(ty, condition)| quote!(#condition let #builder = <__ProtolinkBuilder as #private::AddHook<#ty>>::add_hook(#builder);));
    let bounds = types.iter();
    quote! {
        #import
        #(#aliases)*

        /// The hooks of this module, in source order.
        pub const HOOKS: &'static [&'static #private::HookMeta] = &[#(#metas),*];

        /// How many hooks this module has.
        pub const HOOK_COUNT: #private::usize = HOOKS.len();

        /// The fingerprint of this module's hooks, in their order.
        pub const FINGERPRINT: #private::ListFingerprint = #private::ListFingerprint::of(HOOKS);

        /// Registers the hooks of this module, in source order: `.hooks(this_module::hooks)`.
        pub fn hooks<__ProtolinkBuilder>(#builder: __ProtolinkBuilder) -> __ProtolinkBuilder
        where
            #(__ProtolinkBuilder: #private::AddHook<#bounds>,)*
        {
            #(#steps)*
            #builder
        }
    }
}
