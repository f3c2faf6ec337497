//! `#[derive(FromRef)]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Field, Fields, FieldsNamed, Generics, Item, ItemStruct, Member, Meta, Token};

use crate::attributes;
use crate::check::Errors;
use crate::krate::Krate;
use crate::spans::{ends, generated_at};

// Input:
//     struct App { db: Db, #[from_ref(skip)] started: Instant }
//
// Output:
//     impl FromRef<App> for Db { fn from_ref(state: &App) -> Self { Clone::clone(&state.db) } }
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let impls = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Struct(structure)) => impls(&mut errors, &structure),
        Ok(Item::Enum(other)) => not_a_struct(&mut errors, other.enum_token),
        Ok(Item::Union(other)) => not_a_struct(&mut errors, other.union_token),
        Ok(other) => not_a_struct(&mut errors, other),
        // The compiler has parsed it before, and has said what is missing.
        Err(_) => match half_typed.parse2(item) {
            Ok(structure) => impls(&mut errors, &structure),
            Err(_) => return TokenStream::new(),
        },
    };
    errors.finish().map_or(impls, Error::into_compile_error)
}

/// A struct in the middle of typing, with the fields that are there.
fn half_typed(input: ParseStream<'_>) -> syn::Result<ItemStruct> {
    let attrs = input.call(Attribute::parse_outer)?;
    let (vis, struct_token, ident) = (input.parse()?, input.parse()?, input.parse()?);
    let content;
    let brace_token = syn::braced!(content in input);
    let mut named = Punctuated::new();
    while !content.is_empty() {
        if let Ok(field) = content.fork().call(Field::parse_named) {
            content.call(Field::parse_named)?;
            named.push(field);
        }
        while !content.is_empty() && !content.peek(Token![,]) {
            content.parse::<TokenTree>()?;
        }
        content.parse::<Option<Token![,]>>()?;
    }
    let fields = Fields::Named(FieldsNamed { brace_token, named });
    Ok(ItemStruct { attrs, vis, struct_token, ident, generics: Generics::default(), fields, semi_token: None })
}

fn not_a_struct(errors: &mut Errors, keyword: impl quote::ToTokens) -> TokenStream {
    errors.at(keyword, "`#[derive(FromRef)]` goes on a struct: each field is a part of the state");
    TokenStream::new()
}

fn impls(errors: &mut Errors, input: &ItemStruct) -> TokenStream {
    let krate = krate(errors, input);
    if !input.generics.params.is_empty() {
        errors.at(&input.generics, "`#[derive(FromRef)]` takes no generic type: an agent has one state");
    }
    if let Fields::Unit = input.fields {
        errors.at(&input.ident, "`#[derive(FromRef)]` needs fields: each is a part of the state");
    }
    let mut impls = TokenStream::new();
    for (index, field) in input.fields.iter().enumerate() {
        if !is_skipped(errors, field) {
            let member = field.ident.clone().map_or_else(|| Member::from(index), Member::Named);
            impls.extend(part(&krate, input, field, &member));
        }
    }
    krate.scope(impls)
}

fn part(krate: &Krate, input: &ItemStruct, field: &Field, member: &Member) -> TokenStream {
    let (start, end) = ends(&field.ty);
    let private = krate.private_at(start);
    let (ident, ty) = (&input.ident, &field.ty);
    let state = crate::spans::own("state");
    let clone = quote_spanned!(start=> as #private::Clone>::clone);
    let open = quote_spanned!(start=> <);
    let argument = quote_spanned!(end=> (&#state.#member));
    let mut place = ident.clone();
    place.set_span(generated_at(ident.span()));
    // At the field's type, so that two fields of one type are reported at the fields.
    quote_spanned! {start=>
        #[automatically_derived]
        impl #private::FromRef<#place> for #ty {
            fn from_ref(#state: &#place) -> Self {
                #open #ty #clone #argument
            }
        }
    }
}

/// `#[from_ref(crate = path)]` on the struct.
fn krate(errors: &mut Errors, input: &ItemStruct) -> Krate {
    let mut krate = Krate::Protolink;
    for attribute in attributes::named(&input.attrs, "from_ref") {
        match &attribute.meta {
            Meta::List(list) => {
                krate = crate::options::only_crate(list.tokens.clone(), errors, "from_ref");
            }
            _ => errors.at(attribute, "`#[from_ref(..)]` on a struct takes `crate = path`"),
        }
    }
    krate
}

fn is_skipped(errors: &mut Errors, field: &Field) -> bool {
    let mut skipped = false;
    for attribute in attributes::named(&field.attrs, "from_ref") {
        match &attribute.meta {
            Meta::List(list) if list.tokens.to_string() == "skip" => {
                if skipped {
                    errors.at(&list.tokens, "`skip` is given more than once");
                }
            }
            Meta::List(list) if !list.tokens.is_empty() => errors.at(&list.tokens, "a field takes `#[from_ref(skip)]`"),
            _ => errors.at(attribute, "a field takes `#[from_ref(skip)]`"),
        }
        skipped = true;
    }
    skipped
}
