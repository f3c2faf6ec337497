//! `#[tool]`.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Error, Expr, Ident, Meta, Type};

use crate::check::{self, Errors};
use crate::function::{Function, with_parameters};
use crate::hook::half_typed;
use crate::krate::Krate;
use crate::options::{OnError, ToolOptions, check_tool_name};
use crate::spans::{ends, generated, generated_at, own, token_ends};
use crate::stage::{is_hook, is_tool};
use crate::tokens::Angles;
use crate::walk::{self, Part, Step};
use crate::{alias, attributes, stub};

// Input:
//     /// Search the catalogue.
//     #[tool]
//     async fn search(/// What to look for.
//                     query: String, #[default(10)] limit: u32, State(db): State<Db>) -> Result<Hits, DbError> { .. }
//
// Output, after the function without the attributes of its parameters:
//     #[doc(hidden)] struct search {}
//     impl Tool for search { const NAME: &str = "search"; type Output = Hits; }
//     impl<S> ToolFor<S> for search where State<Db>: FromState<S> { fn definition() -> ToolDefinition<S> { .. } }
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = ToolOptions::parse(args, &mut errors);
    let mut function = match Function::parse(item) {
        Ok(function) => function,
        Err(error) => {
            let stub = match half_typed("`#[tool]`", item, error) {
                Ok(half_typed) => Some(stub::half_typed_tool(&options.krate(), &half_typed)),
                Err(error) => {
                    errors.push(error);
                    None
                }
            };
            let errors = errors.finish().map(Error::into_compile_error);
            return quote!(#item #errors #stub);
        }
    };
    check_tool(&mut errors, &options, &function, item);
    let mut arguments = Argument::all(&mut errors, &function);
    let krate = options.krate();
    // The compiler knows none of the attributes of arguments.
    let mut item = with_parameters(item, &mut |parameters| attributes::without(parameters, is_of_argument));
    let generated = match errors.finish() {
        None if check::is_refused_anyway(&function) => stub::half_typed_tool(&krate, &function.loose()),
        None => registration(&krate, &options, &mut function, &mut arguments),
        // The function stays, and its name stays usable in `tools![..]`, so that one mistake is one error.
        Some(error) => {
            let error = error.into_compile_error();
            // A hook of the same function is still made, and takes the name.
            let is_hook = attributes::find(&function.attrs, is_hook).is_some();
            let stub = if is_hook { None } else { stub(&krate, &options, &function) };
            // This attribute once more has been reported, and would only say it again.
            item = attributes::without(item, is_tool);
            quote!(#error #stub)
        }
    };
    quote!(#item #generated)
}

/// `/// What to look for.` and `#[default(10)]`
fn is_of_argument(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") || attribute.path().is_ident("default")
}

/// What stands for a tool that has an error.
fn stub(krate: &Krate, options: &ToolOptions, function: &Function) -> Option<TokenStream> {
    let output = if nameable(function) { output_type(krate, function) } else { quote!(()) };
    stub::tool(krate, &handle(options, function), &output, &declaration(options, function), function)
}

/// What is wrong with a tool before its types are known.
fn check_tool(errors: &mut Errors, options: &ToolOptions, function: &Function, item: &TokenStream) {
    if let Some(attribute) = attributes::find(&function.attrs, is_tool) {
        errors.at(attribute, "a function is a tool once: write a function for each tool");
    }
    if let Some(attribute) = attributes::find(&function.attrs, is_hook) {
        errors.at(attribute, "a function is a hook or a tool, not both");
        return;
    }
    check::function(errors, "a tool", function, item);
    let ident = &function.sig.ident;
    match &options.handle {
        Some(handle) => check::name(errors, "a tool", &handle.value),
        None => check::name(errors, "a tool", ident),
    }
    if options.name.is_none()
        && let Err(error) = check_tool_name(&ident.unraw().to_string(), ident.span())
    {
        errors.push(Error::new(error.span(), format!("{error}: give it one with `name = \"..\"`")));
    }
    if let Some(output) = function.output() {
        if matches!(output, Type::Never(_)) {
            errors.at(output, "a tool returns a value or `Result<O, E>`, not `!`");
        } else if let Some(found) = check::impl_trait(output) {
            let fix = if check::is_future(&found) {
                "make it an `async fn` instead of returning a future, and write the type"
            } else {
                "write the type"
            };
            errors.at(found, format!("a tool returns a value or `Result<O, E>`: {fix}"));
        }
        for borrow in borrows(output, true) {
            errors.at(borrow, "a tool's result outlives the call, so it is owned: write `String` for `&str`");
        }
    }
    for parameter in function.parameters() {
        // A `State<&'static str>` is fine; an argument that is a reference is not.
        for borrow in borrows(&parameter.ty, matches!(parameter.ty, Type::Reference(_))) {
            errors.at(
                borrow,
                "a tool owns its parameters: an argument (`String`, not `&str`), `State<T>` or `ToolContext`",
            );
        }
    }
}

/// Whether the output type can be named outside of the function.
fn nameable(function: &Function) -> bool {
    function.sig.generics.params.is_empty()
        && function.output().is_none_or(|ty| {
            !matches!(ty, Type::Never(_)) && check::impl_trait(ty).is_none() && borrows(ty, true).is_empty()
        })
}

/// The references and lifetimes in a type, those that are `'static` only where they are asked for.
fn borrows(ty: &Type, also_static: bool) -> Vec<TokenStream> {
    let mut borrows = Vec::new();
    walk::look(ty, |part| match part {
        Part::Reference(reference) => {
            let is_static = reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static");
            if is_static && !also_static {
                return Step::Into;
            }
            borrows.push(reference.to_token_stream());
            Step::Past
        }
        Part::Lifetime(lifetime) => {
            if lifetime.ident != "static" {
                borrows.push(lifetime.to_token_stream());
            }
            Step::Into
        }
        Part::Bound(_) => Step::Past,
        Part::Segment(_) | Part::Infer | Part::ImplTrait(_) | Part::FnArguments => Step::Into,
    });
    borrows
}

/// A parameter, with what its attributes said.
struct Argument {
    /// `None` for a pattern, which the model could not name.
    name: Option<Ident>,
    ty: Type,
    description: String,
    /// The name of the function that makes the default, and its body.
    default: Option<(Ident, TokenStream)>,
}

impl Argument {
    /// The parameters of a function.
    fn all(errors: &mut Errors, function: &Function) -> Vec<Self> {
        let mut arguments = Vec::new();
        for parameter in function.parameters() {
            let description = description(&parameter.attrs);
            let mut default = None;
            for attribute in attributes::named(&parameter.attrs, "default") {
                match default_value(attribute) {
                    Ok(_) if default.is_some() => errors.at(attribute, "a parameter has one default"),
                    Ok(value) => {
                        let function =
                            format_ident!("__protolink_default_{}", arguments.len(), span = Span::mixed_site());
                        default = Some((function, value));
                    }
                    Err(error) => errors.push(error),
                }
            }
            arguments.push(Self { name: parameter.name.clone(), ty: parameter.ty.clone(), description, default });
        }
        arguments
    }

    /// `{ .. }`: whether the parameter is an argument, a state or the context, by its type.
    fn kind(&self, krate: &Krate) -> TokenStream {
        let (start, _) = ends(&self.ty);
        let private = krate.private_at(start);
        let ty = &self.ty;
        quote_spanned!(start=> { use #private::AnArgument as _; #private::ToolParameterKind::<#ty>::KIND })
    }

    /// `State<Db>: FromCall<S, { .. }>`
    fn bound(&self, krate: &Krate, state: &Ident) -> TokenStream {
        let (start, _) = ends(&self.ty);
        let (private, kind, ty) = (krate.private_at(start), self.kind(krate), &self.ty);
        quote_spanned!(start=> #ty: #private::FromCall<#state, #kind>)
    }

    /// Adds it to the schema, where it is an argument.
    fn describe(&self, krate: &Krate) -> TokenStream {
        let (start, _) = ends(&self.ty);
        let (private, kind, ty, description) = (krate.private_at(start), self.kind(krate), &self.ty, &self.description);
        let schema = own("schema");
        let name = self.name();
        let call = match (&self.name, &self.default) {
            (None, _) => quote_spanned!(start=> #private::UnnamedParameter<#kind>>::unnamed()),
            (Some(_), None) => {
                quote_spanned!(start=> #private::ToolParameter<#kind>>::describe(&mut #schema, #name, #description))
            }
            (Some(_), Some((default, _))) => {
                quote_spanned!(start=> #private::DefaultParameter>::describe_default(&mut #schema, #name, #description, #default()))
            }
        };
        quote_spanned!(start=> <#ty as #call;)
    }

    /// `fn default_1() -> u32 { 10 }`, so that the default is written out once, and checked once.
    fn default_function(&self) -> Option<TokenStream> {
        let (function, value) = self.default.as_ref()?;
        let (ty, span) = (&self.ty, ends(&self.ty).0);
        // What is missing of an expression is missed at its end.
        let mut body = Group::new(Delimiter::Brace, value.clone());
        body.set_span(generated_at(token_ends(value).1));
        Some(quote_spanned!(span=> fn #function() -> #ty #body))
    }

    /// Whether the model's arguments fit it, said without running anything.
    fn check(&self, krate: &Krate) -> TokenStream {
        let (start, _) = ends(&self.ty);
        let (private, kind, ty) = (krate.private_at(start), self.kind(krate), &self.ty);
        let (arguments, name) = (own("arguments"), self.name());
        if self.default.is_some() {
            quote_spanned!(start=> <#ty as #private::DefaultParameter>::check_or_default(#arguments, #name)?;)
        } else {
            quote_spanned!(start=> <#ty as #private::ToolParameter<#kind>>::check(#arguments, #name)?;)
        }
    }

    fn name(&self) -> String {
        self.name.as_ref().map(|name| name.unraw().to_string()).unwrap_or_default()
    }

    /// Its value for one call.
    fn value(&self, krate: &Krate, state: &Ident) -> TokenStream {
        let (start, _) = ends(&self.ty);
        let (private, kind, ty) = (krate.private_at(start), self.kind(krate), &self.ty);
        let call = own("call");
        let name = self.name();
        let taken = quote_spanned! {start=>
            <#ty as #private::FromCall<#state, #kind>>::take(&mut #call, #name)
        };
        match &self.default {
            None => {
                quote_spanned!(start=> <#ty as #private::ToolParameter<#kind>>::accept(#taken, #name)?)
            }
            Some((default, _)) => {
                quote_spanned!(start=> <#ty as #private::DefaultParameter>::accept_or(#taken, #name, #default)?)
            }
        }
    }
}

/// `#[default(10)]`. What else can be wrong with an expression, the compiler says of it.
fn default_value(attribute: &Attribute) -> syn::Result<TokenStream> {
    let form = "a default is written `#[default(10)]`";
    match &attribute.meta {
        Meta::List(list) if !list.tokens.is_empty() => match end_of_expression(&list.tokens) {
            None => Ok(list.tokens.clone()),
            Some(end) => Err(Error::new(end, format!("{form}, with one expression"))),
        },
        _ => Err(Error::new_spanned(attribute, form)),
    }
}

/// Where an expression ends before its tokens do. A comma in angle brackets is one of `HashMap::<u8, u8>::new()`.
fn end_of_expression(tokens: &TokenStream) -> Option<Span> {
    let mut angles = Angles::default();
    let mut tokens = tokens.clone().into_iter();
    let end = tokens.find(|token| {
        angles.pass(token);
        angles.are_closed() && matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';'))
    });
    end.map(|end| end.span())
}

/// The documentation comments as one text.
fn description(attributes: &[Attribute]) -> String {
    let mut description = String::new();
    for attribute in attributes::named(attributes, "doc") {
        if let Meta::NameValue(doc) = &attribute.meta
            && let Expr::Lit(literal) = &doc.value
            && let syn::Lit::Str(text) = &literal.lit
        {
            for line in text.value().split('\n') {
                description.push_str(line.strip_prefix(' ').unwrap_or(line).trim_end());
                description.push('\n');
            }
        }
    }
    description.trim().to_owned()
}

/// The name of the type by which the tool is registered.
fn handle(options: &ToolOptions, function: &Function) -> Ident {
    options.handle.as_ref().map_or_else(|| function.sig.ident.clone(), |handle| handle.value.clone())
}

/// `pub struct search {}`
fn declaration(options: &ToolOptions, function: &Function) -> TokenStream {
    let vis = &function.vis;
    let conditions = function.conditions();
    let deprecation = function.deprecation();
    let handle = generated(&handle(options, function));
    let structure = quote_spanned!(handle.span()=> #vis struct #handle {});
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #deprecation
        #structure
    }
}

/// The return type, and whether it is a `Result`, which its type says and not its name.
struct Output {
    ty: TokenStream,
    fallible: TokenStream,
    start: Span,
    end: Span,
}

fn output(krate: &Krate, function: &Function) -> Output {
    let name = generated_at(function.sig.ident.span());
    let (ty, (start, end)) = function
        .output()
        .map_or_else(|| (quote_spanned!(name=> ()), (name, name)), |ty| (ty.to_token_stream(), ends(ty)));
    let private = krate.private_at(start);
    let fallible = quote_spanned!(start=> { use #private::PlainOutput as _; #private::OutputKind::<#ty>::FALLIBLE });
    Output { ty, fallible, start, end }
}

fn output_type(krate: &Krate, function: &Function) -> TokenStream {
    let Output { ty, fallible, start, .. } = output(krate, function);
    let private = krate.private_at(start);
    quote_spanned!(start=> <#ty as #private::ToolOutput<#fallible>>::Output)
}

fn registration(
    krate: &Krate,
    options: &ToolOptions,
    function: &mut Function,
    arguments: &mut [Argument],
) -> TokenStream {
    let aliases = alias::name_arguments(krate, function, false);
    for (argument, parameter) in arguments.iter_mut().zip(function.parameters()) {
        argument.ty.clone_from(&parameter.ty);
    }
    let (function, arguments) = (&*function, &*arguments);
    let private = krate.private();
    let conditions = function.conditions();
    let deprecated = function.deprecation().map(|_| quote!(#[allow(deprecated)]));
    let declaration = declaration(options, function);
    let handle = generated(&handle(options, function));
    let name = match &options.name {
        Some(name) => name.value.value(),
        None => function.sig.ident.unraw().to_string(),
    };
    let output_type = output_type(krate, function);
    let description = description(&function.attrs);
    let generics = function.generics(None);
    let state = &generics.state;
    let bounds = arguments.iter().map(|argument| argument.bound(krate, state));
    let describe = arguments.iter().map(|argument| argument.describe(krate));
    let defaults = arguments.iter().filter_map(Argument::default_function);
    let capabilities = options.capabilities.iter().map(syn::LitStr::value);
    let idempotent = options.idempotent.is_some();
    let on_error = match options.on_error.as_ref().map(|given| given.value) {
        Some(OnError::Report) => quote!(Report),
        Some(OnError::Fail) | None => quote!(Fail),
    };
    let checks = arguments.iter().map(|argument| argument.check(krate));
    let names = arguments.iter().map(|argument| {
        let (name, kind) = (argument.name(), argument.kind(krate));
        quote!((#name, #kind))
    });
    let (parameters, given) = (parameters(), own("arguments"));
    let call = thunk(krate, function, arguments, state);
    let schema = own("schema");
    let impls = quote! {
        #(#conditions)*
        #deprecated
        impl #private::Tool for #handle {
            const NAME: &'static #private::str = #name;
            type Output = #output_type;
        }

        #(#conditions)*
        #deprecated
        impl<#state: #private::Sync + 'static> #private::ToolFor<#state> for #handle
        where #(#bounds,)*
        {
            fn definition() -> #private::ToolDefinition<#state> {
                const #parameters: #private::ToolParameters = &[#(#names),*];
                #(#defaults)*
                let mut #schema = #private::ArgumentsSchema::new();
                #(#describe)*
                #private::ToolDefinition::annotated(
                    <Self as #private::Tool>::NAME,
                    #description,
                    #schema,
                    { use #private::NoOutputSchema as _; #private::OutputSchema::<<Self as #private::Tool>::Output>::schema() },
                    |#given| {
                        #private::check_names(#given, #parameters)?;
                        #(#checks)*
                        #private::fits()
                    },
                    #call,
                )
                .options(&[#(#capabilities),*], #idempotent, #private::OnError::#on_error)
            }
        }
    };
    let impls = krate.scope_with(&aliases, impls);
    quote!(#declaration #impls)
}

/// The name of the list of parameters, beside the schema.
fn parameters() -> Ident {
    own("__PROTOLINK_PARAMETERS")
}

/// `|input, state| Box::pin(async move { .. })`
fn thunk(krate: &Krate, function: &Function, arguments: &[Argument], agent: &Ident) -> TokenStream {
    let private = krate.private();
    let (input, state, call) = (own("input"), own("state"), own("call"));
    // An error about the future as a whole is to stand at the `async` that makes it one.
    let span = function.sig.asyncness.map_or_else(|| function.sig.ident.span(), |keyword| keyword.span);
    let at = generated_at(span);
    let mut ident = function.sig.ident.clone();
    ident.set_span(span.resolved_at(ident.span()));
    let values = arguments.iter().map(|argument| argument.value(krate, agent));
    let dot_await = function.is_async().then(|| quote_spanned!(at=> .await));
    let parameters = parameters();
    let Output { ty, fallible, start, end } = output(krate, function);
    let output_private = krate.private_at(start);
    let result = own("result");
    let split = {
        let mut converted = Group::new(Delimiter::Parenthesis, quote!(#result));
        converted.set_span(end);
        quote_spanned!(start=> <#ty as #output_private::ToolOutput<#fallible>>::split #converted)
    };
    let into = quote_spanned!(start=> #output_private::into_tool_result::<Self, _>);
    let boxed = {
        let private = krate.private_at(at);
        quote_spanned!(at=> #private::Boxed::pin)
    };
    quote_spanned! {at=>
        |#input, #state| #boxed(async move {
            let #result = {
                let mut #call = #private::ToolCall::open(#input, #state, #parameters)?;
                #ident(#(#values),*)
            }#dot_await;
            #into(#split)
        })
    }
}
