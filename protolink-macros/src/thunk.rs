//! The constant through which the runtime calls a hook.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Path, Type, parse_quote};

use crate::check::{erase_lifetimes, outlive};
use crate::direct::{Direct, Output};
use crate::function::{Function, private};
use crate::generics::Generics;
use crate::options::HookOptions;
use crate::spans::{ends, generated_at, own};
use crate::stage::Stage;

/// A type of the signature as it is used in generated code.
struct Place {
    /// With the lifetimes erased, so that it can stand in a body.
    ty: Type,
    start: Span,
    end: Span,
}

impl Place {
    fn of(ty: &Type) -> Self {
        let (start, end) = ends(ty);
        Self { ty: erase_lifetimes(ty), start, end }
    }

    /// `<#ty as #check>::#function`, all of it where the type stands.
    fn path(&self, check: &str, function: &str, parameters: Option<&TokenStream>, krate: &Path) -> TokenStream {
        let Self { ty, start, end } = self;
        let private = private(krate, *start);
        let check = Ident::new(check, *start);
        let open = quote_spanned!(*start=> <);
        let function = Ident::new(function, *end);
        let rest = quote_spanned!(*start=> as #private::#check #parameters>::#function);
        quote!(#open #ty #rest)
    }

    /// The function that makes a `State<T>` of a `T`, which is refused at the type where it is no `State`.
    fn holding(&self, krate: &Path) -> TokenStream {
        self.path("HookParam", "holding", Some(&quote_spanned!(self.start=> <_>)), krate)
    }

    /// `<#ty as #function>(#argument)`, which starts and ends where the type does: what is wrong with the type is
    /// reported there.
    fn through(&self, function: &TokenStream, argument: impl ToTokens) -> TokenStream {
        let ty = &self.ty;
        let open = quote_spanned!(self.start=> <);
        let function = quote_spanned!(self.start=> as #function);
        let mut argument = Group::new(Delimiter::Parenthesis, argument.into_token_stream());
        argument.set_span(self.end);
        quote!(#open #ty #function #argument)
    }
}

/// What the thunk of one hook is made of.
pub(crate) struct Thunk<'f> {
    stage: Stage,
    krate: &'f Path,
    function: &'f Function,
    tool: Option<&'f Path>,
    generics: &'f Generics,
    subject: Place,
    states: Vec<Place>,
    output: Place,
}

impl<'f> Thunk<'f> {
    pub(crate) fn new(
        stage: Stage,
        krate: &'f Path,
        options: &'f HookOptions,
        function: &'f Function,
        generics: &'f Generics,
    ) -> Self {
        let name = generated_at(function.sig.ident.span());
        let nothing = || Place { ty: parse_quote!(()), start: name, end: name };
        let mut parameters = function.parameters().map(|parameter| Place::of(&parameter.ty));
        Self {
            stage,
            krate,
            function,
            tool: options.tool.as_ref().map(|tool| &tool.value),
            generics,
            subject: parameters.next().unwrap_or_else(nothing),
            states: parameters.collect(),
            output: function.output().map_or_else(nothing, Place::of),
        }
    }

    /// What the state and the answer type of an agent must offer for this hook.
    pub(crate) fn bounds(&self) -> Vec<TokenStream> {
        let mut bounds: Vec<TokenStream> = self.states.iter().map(|state| self.bound(state)).collect();
        if self.stage == Stage::BeforeComplete {
            let Place { ty, start, .. } = &self.subject;
            let private = private(self.krate, *start);
            let answer = &self.generics.answer;
            // A function pointer, since elided lifetimes may stand in it.
            bounds.push(quote_spanned! {*start=>
                fn(#ty): #private::ChecksAnswers<
                    #answer,
                    { use #private::NotAResponse as _; #private::SubjectKind::<#ty>::IS_RESPONSE }
                >
            });
        }
        bounds
    }

    /// `State<Db>: FromState<S, true>`
    fn bound(&self, state: &Place) -> TokenStream {
        let (from_state, ty) = (self.source(state), outlive(&state.ty));
        quote_spanned!(state.start=> #ty: #from_state)
    }

    /// How a parameter comes out of the state, by its type, which can be a `State<T>` under any name. What is none is
    /// refused once, where it stands, and not again where the hook is registered.
    fn source(&self, state: &Place) -> TokenStream {
        let private = private(self.krate, state.start);
        let (ty, agent) = (&state.ty, &self.generics.state);
        quote_spanned! {state.start=>
            #private::FromState<
                #agent,
                { use #private::NotState as _; #private::ParameterKind::<#ty>::IS_STATE }
            >
        }
    }

    /// What is called of a hook whose types are checked and converted one by one.
    pub(crate) fn code(&self) -> TokenStream {
        match self.function.sig.asyncness {
            None => self.thunk(&own("Sync"), &self.sync_body()),
            Some(keyword) => self.thunk(&own("Async"), &self.async_body(keyword.span)),
        }
    }

    /// `&Thunk::Sync(|subject, state| ..)`
    fn thunk(&self, kind: &Ident, body: &TokenStream) -> TokenStream {
        let krate = self.krate;
        let private = quote!(#krate::__private);
        let stage = self.stage.type_name(Span::mixed_site());
        let agent = &self.generics.state;
        let subject = self.lent();
        let lent_state = if self.states.is_empty() { quote!(_) } else { own("state").into_token_stream() };
        quote!(&#private::Thunk::<#private::#stage, #agent>::#kind(|#subject, #lent_state| #body))
    }

    /// What is called of a hook that fits as it stands, and what the state must offer for it.
    pub(crate) fn direct(&self, hook: &Direct<'_>) -> (TokenStream, Vec<TokenStream>) {
        let agent = &self.generics.state;
        let bounds = hook.values.iter().zip(&self.states).map(|(value, place)| {
            let private = private(self.krate, place.start);
            quote_spanned!(place.start=> #value: #private::FromRef<#agent>)
        });
        let code = match (&hook.output, self.function.sig.asyncness) {
            (_, Some(keyword)) => self.thunk(&own("Async"), &self.direct_async(keyword.span)),
            (Output::Nothing, None) => self.pointer("Hook", None),
            (Output::Fallible(error), None) => {
                let place = match error {
                    Some(error) => Place::of(error),
                    None => Place { ty: parse_quote!(_), ..self.output },
                };
                self.pointer("Fallible", Some(place.path("IntoHookError", "into_hook_error", None, self.krate)))
            }
            (Output::Other, None) => return (self.code(), self.bounds()),
        };
        (code, bounds.collect())
    }

    /// `&before_model::Fallible1(hook, <E as IntoHookError>::into_hook_error, <State<Db> as HookParam<_>>::holding)`
    fn pointer(&self, kind: &str, error: Option<TokenStream>) -> TokenStream {
        // What does not fit of the signature as a whole is reported at the function's name.
        let name = &self.function.sig.ident;
        let at = generated_at(name.span());
        let private = private(self.krate, at);
        let stage = Ident::new(self.stage.name(), at);
        let kind = Ident::new(&format!("{kind}{}", self.states.len()), at);
        let error = error.into_iter();
        let states = self.states.iter().map(|state| state.holding(self.krate));
        quote_spanned!(at=> &#private::#stage::#kind(#name #(, #error)* #(, #states)*))
    }

    /// `<Result<(), E> as HookOutput>::boxed(hook(.., <State<Db> as HookParam<_>>::holding(from_ref(state))))`
    fn direct_async(&self, keyword: Span) -> TokenStream {
        let state = own("state");
        let states: Vec<TokenStream> = self
            .states
            .iter()
            .map(|place| {
                let (private, holding) = (private(self.krate, place.start), place.holding(self.krate));
                let mut argument = Group::new(
                    Delimiter::Parenthesis,
                    quote_spanned!(place.start=> #private::FromRef::from_ref(#state)),
                );
                argument.set_span(place.end);
                quote!(#holding #argument)
            })
            .collect();
        let call = self.call(keyword, &states);
        self.output.through(&self.convert("boxed"), call)
    }

    fn sync_body(&self) -> TokenStream {
        let states: Vec<TokenStream> = self.states.iter().map(|state| self.state(state)).collect();
        let call = self.call(self.function.sig.ident.span(), &states);
        let converted = self.output.through(&self.convert("into_hook_result"), call);
        let at = self.subject.start;
        let Some(lend) = self.lend("lend", at) else { return converted };
        let private = private(self.krate, at);
        let (subject, meta) = (self.lent(), self.meta(at));
        quote_spanned!(at=> #private::#lend(#subject, #meta |#subject| #converted))
    }

    /// An error about the future as a whole is to stand at the `async` that makes it one.
    fn async_body(&self, keyword: Span) -> TokenStream {
        let states: Vec<TokenStream> = self.states.iter().map(|state| self.state(state)).collect();
        let at = generated_at(keyword);
        let Some(narrow) = self.lend("narrow", at) else {
            return self.output.through(&self.convert("boxed"), self.call(keyword, &states));
        };
        let private = private(self.krate, at);
        let (subject, narrowed, meta) = (self.lent(), own("narrowed"), self.meta(at));
        // The state is taken before the future is made, so that the future owns what it holds.
        let names: Vec<Ident> = (0..states.len()).map(|index| own(&format!("state{index}"))).collect();
        let arguments: Vec<TokenStream> = names.iter().map(ToTokens::to_token_stream).collect();
        let call = self.call(keyword, &arguments);
        let converted = self.output.through(&self.convert("into_hook_result"), quote_spanned!(at=> #call.await));
        quote_spanned! {at=> {
            #(let #names = #states;)*
            #private::HookOutput::boxed(async move {
                let #private::Option::Some(mut #narrowed) = #private::#narrow(#subject, #meta)? else {
                    return #private::Result::Ok(());
                };
                let #subject = &mut #narrowed;
                #converted?;
                #narrowed.commit()
            })
        }}
    }

    /// The function that hands out the subject in the hook's own type, where that is another one than the loop's.
    fn lend(&self, verb: &str, at: Span) -> Option<Ident> {
        match (self.stage, self.tool) {
            (Stage::AfterTool, Some(_)) => Some(Ident::new(&format!("{verb}_observation"), at)),
            (Stage::BeforeComplete, _) => Some(Ident::new(&format!("{verb}_response"), at)),
            (Stage::BeforeModel | Stage::AfterTool, _) => None,
        }
    }

    /// What that function is told of the hook, to know its tool.
    fn meta(&self, at: Span) -> Option<TokenStream> {
        let private = private(self.krate, at);
        self.tool.map(|_| quote_spanned!(at=> <Self as #private::Hook>::META,))
    }

    fn convert(&self, function: &str) -> TokenStream {
        let private = private(self.krate, self.output.start);
        let function = Ident::new(function, self.output.start);
        quote_spanned!(self.output.start=> #private::HookOutput>::#function)
    }

    /// A call of the user's function. Its name is looked up as the user's, and reported at `span`.
    fn call(&self, span: Span, states: &[TokenStream]) -> TokenStream {
        let mut function = self.function.sig.ident.clone();
        function.set_span(span.resolved_at(function.span()));
        let subject = self.subject();
        let mut arguments = Group::new(Delimiter::Parenthesis, quote!(#subject #(, #states)*));
        arguments.set_span(generated_at(span));
        quote!(#function #arguments)
    }

    /// The name of what is lent to the thunk. It stands where the type does, since errors about borrows name it.
    fn lent(&self) -> Ident {
        Ident::new("subject", self.subject.start)
    }

    fn subject(&self) -> TokenStream {
        let mut subject = own("subject");
        subject.set_span(self.subject.end);
        let private = private(self.krate, self.subject.start);
        if let Some(tool) = self.tool {
            // Both types are named: the tool's output, and what the user wrote.
            let given = quote_spanned!(self.subject.start=> &mut #private::ToolObservation<'_, <#tool as #private::Tool>::Output>);
            let accept = quote_spanned!(self.subject.start=> #private::ToolSubject<#given>>::accept);
            return self.subject.through(&accept, subject);
        }
        let check = match self.stage {
            Stage::BeforeModel => "BeforeModelSubject",
            Stage::AfterTool => "AfterToolSubject",
            Stage::BeforeComplete => "BeforeCompleteSubject",
        };
        let check = Ident::new(check, self.subject.start);
        let accept = quote_spanned!(self.subject.start=> #private::#check<_>>::accept);
        self.subject.through(&accept, subject)
    }

    /// `<State<Db> as HookParam>::given(..)`, which is refused at the type where it is no `State`.
    fn state(&self, place: &Place) -> TokenStream {
        let private = private(self.krate, place.start);
        let state = own("state");
        let value = place.through(
            &{
                let from_state = self.source(place);
                quote_spanned!(place.start=> #from_state>::from_state)
            },
            state,
        );
        place.through(&quote_spanned!(place.start=> #private::HookParam<_>>::given), value)
    }
}
