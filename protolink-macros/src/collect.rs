//! `#[hook_module] mod name { .. }`: the hooks of a module, in source order.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Error, Ident, Item, ItemMod};

use crate::attributes;
use crate::check::Errors;
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
    let module = match syn::parse2::<ItemMod>(item.clone()) {
        Ok(module) => module,
        Err(error) => {
            if let Err(error) = syn::parse2::<Item>(item.clone()) {
                let module = half_typed(&krate, item).unwrap_or_else(|_| {
                    errors.push(error);
                    item.clone()
                });
                let errors = errors.finish().map(Error::into_compile_error);
                return quote!(#module #errors);
            }
            let error = Error::new(error.span(), "`#[hook_module]` goes on a module with its items: `mod name { .. }`");
            errors.push(error);
            let errors = errors.finish().map(Error::into_compile_error);
            return quote!(#item #errors);
        }
    };
    let Some((brace, items)) = &module.content else {
        let message =
            "`#[hook_module]` needs the items of the module here, not in a file of their own: `mod name { .. }`";
        errors.at(&module, message);
        let errors = errors.finish().map(Error::into_compile_error);
        // With its name and without its file, which the compiler would look for.
        let ItemMod { attrs, vis, mod_token, ident, .. } = &module;
        return quote!(#(#attrs)* #vis #mod_token #ident {} #errors);
    };
    if let Some(errors) = errors.finish() {
        let errors = errors.into_compile_error();
        return quote!(#item #errors);
    }
    let mut hooks = Vec::new();
    for item in items {
        hooks.extend(CollectedHook::of(item));
    }
    let collected = collected(&krate, &hooks);
    let ItemMod { attrs, vis, unsafety, mod_token, ident, .. } = &module;
    let (mut inner, mut outer) = (Vec::new(), Vec::new());
    for attribute in attrs {
        let side = if matches!(attribute.style, syn::AttrStyle::Inner(_)) { &mut inner } else { &mut outer };
        side.push(attribute);
    }
    let mut content = TokenStream::new();
    brace.surround(&mut content, |content| {
        content.extend(quote!(#(#inner)* #(#items)* #collected));
    });
    quote!(#(#outer)* #vis #unsafety #mod_token #ident #content)
}

/// A module in the middle of typing. The compiler parses it again and says what is missing; what is listed by the
/// module's name stays there. Should the compiler understand more than we do, the list is refused where it is used.
fn half_typed(krate: &Krate, item: &TokenStream) -> syn::Result<TokenStream> {
    let loose = |input: syn::parse::ParseStream<'_>| {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: syn::Visibility = input.parse()?;
        let mod_token: syn::Token![mod] = input.parse()?;
        let ident: Ident = input.parse()?;
        let content;
        let brace = syn::braced!(content in input);
        Ok((attrs, vis, mod_token, ident, brace, content.parse::<TokenStream>()?))
    };
    let (attrs, vis, mod_token, ident, brace, items) = syn::parse::Parser::parse2(loose, item.clone())?;
    let (private, import) = (krate.private(), krate.import());
    let builder = own("builder");
    let refusal = format!("`#[hook_module]` does not understand the module `{ident}`");
    let mut content = TokenStream::new();
    brace.surround(&mut content, |content| {
        content.extend(quote! {
            #items
            #import

            pub fn hooks<__ProtolinkBuilder>(#builder: __ProtolinkBuilder) -> __ProtolinkBuilder {
                const { #private::panic!(#refusal) }
                #builder
            }
        });
    });
    Ok(quote!(#(#attrs)* #vis #mod_token #ident #content))
}

/// A function of the module with a stage's attribute.
struct CollectedHook<'m> {
    ident: &'m Ident,
    /// What stands in the `#[cfg(..)]`s above it.
    conditions: Vec<TokenStream>,
}

impl<'m> CollectedHook<'m> {
    fn of(item: &'m Item) -> Option<Self> {
        let Item::Fn(function) = item else {
            return None;
        };
        attributes::find(&function.attrs, is_hook)?;
        let conditions = function.attrs.iter().filter_map(condition).collect();
        Some(Self { ident: &function.sig.ident, conditions })
    }
}

fn condition(attribute: &Attribute) -> Option<TokenStream> {
    match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => Some(list.tokens.clone()),
        _ => None,
    }
}

fn collected(krate: &Krate, hooks: &[CollectedHook<'_>]) -> TokenStream {
    let (private, import) = (krate.private(), krate.import());
    let builder = own("builder");
    let mut aliases = Vec::new();
    let mut types = Vec::new();
    let mut conditions = Vec::new();
    for (index, hook) in hooks.iter().enumerate() {
        let ident = generated(hook.ident);
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
