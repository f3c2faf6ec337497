//! `#[derive(FromRef)]`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Field, Generics, Ident, Member, Meta, Token, Visibility, WhereClause, token};

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
    let impls = match structure.parse2(item) {
        Ok(Item::Struct(structure)) => impls(&mut errors, &structure),
        Ok(Item::Other(keyword)) => {
            let message = "`#[derive(FromRef)]` goes on a struct: each field is a part of the state";
            errors.push(Error::new(keyword, message));
            TokenStream::new()
        }
        // The compiler has parsed it before, and has said what is missing.
        Err(_) => return TokenStream::new(),
    };
    errors.finish().map_or(impls, Error::into_compile_error)
}

enum Item {
    Struct(Structure),
    /// What it is, an `enum` or a `union`.
    Other(Span),
}

struct Structure {
    attrs: Vec<Attribute>,
    ident: Ident,
    generics: Generics,
    /// `None` of a `struct App;`.
    fields: Option<Vec<Field>>,
}

/// Reads a struct, and of one in the middle of typing the fields that are there.
fn structure(input: ParseStream<'_>) -> syn::Result<Item> {
    let attrs = input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let keyword = input.span();
    if input.parse::<Option<Token![struct]>>()?.is_none() {
        input.parse::<TokenStream>()?;
        return Ok(Item::Other(keyword));
    }
    let (ident, generics) = (input.parse()?, input.parse()?);
    input.parse::<Option<WhereClause>>()?;
    let content;
    let fields = if input.peek(token::Brace) {
        syn::braced!(content in input);
        Some(all_fields(&content, Field::parse_named)?)
    } else if input.peek(token::Paren) {
        syn::parenthesized!(content in input);
        Some(all_fields(&content, Field::parse_unnamed)?)
    } else {
        None
    };
    input.parse::<TokenStream>()?;
    Ok(Item::Struct(Structure { attrs, ident, generics, fields }))
}

fn all_fields(input: ParseStream<'_>, parse: fn(ParseStream<'_>) -> syn::Result<Field>) -> syn::Result<Vec<Field>> {
    let mut fields = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        if let Ok(field) = parse(&ahead) {
            input.advance_to(&ahead);
            fields.push(field);
        }
        while !input.is_empty() && !input.peek(Token![,]) {
            input.parse::<TokenTree>()?;
        }
        input.parse::<Option<Token![,]>>()?;
    }
    Ok(fields)
}

fn impls(errors: &mut Errors, input: &Structure) -> TokenStream {
    let krate = krate(errors, input);
    if !input.generics.params.is_empty() {
        errors.at(&input.generics, "`#[derive(FromRef)]` takes no generic type: an agent has one state");
    }
    if input.fields.is_none() {
        errors.at(&input.ident, "`#[derive(FromRef)]` needs fields: each is a part of the state");
    }
    let mut impls = TokenStream::new();
    for (index, field) in input.fields.iter().flatten().enumerate() {
        if !is_skipped(errors, field) {
            let member = field.ident.clone().map_or_else(|| Member::from(index), Member::Named);
            impls.extend(part(&krate, input, field, &member));
        }
    }
    krate.scope(impls)
}

fn part(krate: &Krate, input: &Structure, field: &Field, member: &Member) -> TokenStream {
    let (start, end) = ends(&field.ty);
    let private = krate.private_at(start);
    let (ident, ty) = (&input.ident, &field.ty);
    let state = crate::spans::own("state");
    let argument = quote_spanned!(end=> (&#state.#member));
    let mut place = ident.clone();
    place.set_span(generated_at(ident.span()));
    // At the field's type, so that two fields of one type are reported at the fields.
    quote_spanned! {start=>
        #[automatically_derived]
        impl #private::FromRef<#place> for #ty {
            fn from_ref(#state: &#place) -> Self {
                <#ty as #private::Clone>::clone #argument
            }
        }
    }
}

/// `#[from_ref(crate = path)]` on the struct.
fn krate(errors: &mut Errors, input: &Structure) -> Krate {
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
