//! The constant through which the runtime calls a hook.

use std::borrow::Cow;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Path, parse_quote};

use crate::function::Function;
use crate::generics::Generics;
use crate::krate::Krate;
use crate::lifetimes;
use crate::options::HookOptions;
use crate::place::Place;
use crate::spans::{generated_at, own};
use crate::stage::Stage;

/// What the thunk of one hook is made of.
pub(crate) struct Thunk<'f> {
    stage: Stage,
    krate: &'f Krate,
    function: &'f Function,
    tool: Option<&'f Path>,
    generics: &'f Generics,
    subject: Place<'f>,
    states: Vec<Place<'f>>,
    output: Place<'f>,
}

impl<'f> Thunk<'f> {
    pub(crate) fn new(
        stage: Stage,
        krate: &'f Krate,
        options: &'f HookOptions,
        function: &'f Function,
        generics: &'f Generics,
    ) -> Self {
        let name = generated_at(function.sig.ident.span());
        let nothing = || Place { ty: Cow::Owned(parse_quote!(())), start: name, end: name };
        let mut parameters = function.parameters().map(|parameter| Place::erased(&parameter.ty));
        Self {
            stage,
            krate,
            function,
            tool: options.tool.as_ref().map(|tool| &tool.value),
            generics,
            subject: parameters.next().unwrap_or_else(nothing),
            states: parameters.collect(),
            output: function.output().map_or_else(nothing, Place::erased),
        }
    }

    /// What the state and the answer type of an agent must offer for this hook.
    pub(crate) fn bounds(&self) -> Vec<TokenStream> {
        let mut bounds: Vec<TokenStream> = self.states.iter().map(|state| self.bound(state)).collect();
        if self.stage == Stage::BeforeComplete {
            let Place { ty, start, .. } = &self.subject;
            let private = self.krate.private_at(*start);
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
    fn bound(&self, state: &Place<'_>) -> TokenStream {
        let (from_state, ty) = (self.source(state), lifetimes::outlive(&state.ty));
        quote_spanned!(state.start=> #ty: #from_state)
    }

    /// How a parameter comes out of the state, by its type, which can be a `State<T>` under any name. What is none is
    /// refused once, where it stands, and not again where the hook is registered.
    fn source(&self, state: &Place<'_>) -> TokenStream {
        let private = self.krate.private_at(state.start);
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
        let private = krate.private();
        let stage = self.stage.type_name(Span::mixed_site());
        let agent = &self.generics.state;
        let subject = self.lent();
        let lent_state = if self.states.is_empty() { quote!(_) } else { own("state").into_token_stream() };
        quote!(&#private::Thunk::<#private::#stage, #agent>::#kind(|#subject, #lent_state| #body))
    }

    /// What is called of an async hook whose states are what their names say.
    pub(crate) fn direct(&self, keyword: Span) -> TokenStream {
        self.thunk(&own("Async"), &self.direct_async(keyword))
    }

    /// `<Result<(), E> as HookOutput>::boxed(hook(.., <State<Db> as HookParam<_>>::holding(from_ref(state))))`
    fn direct_async(&self, keyword: Span) -> TokenStream {
        let state = own("state");
        let states: Vec<TokenStream> = self
            .states
            .iter()
            .map(|place| {
                let (private, holding) = (self.krate.private_at(place.start), place.holding(self.krate));
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
        let private = self.krate.private_at(at);
        let (subject, tool) = (self.lent(), self.tool_name(at));
        quote_spanned!(at=> #private::#lend(#subject, #tool |#subject| #converted))
    }

    /// An error about the future as a whole is to stand at the `async` that makes it one.
    fn async_body(&self, keyword: Span) -> TokenStream {
        let states: Vec<TokenStream> = self.states.iter().map(|state| self.state(state)).collect();
        let at = generated_at(keyword);
        let Some(narrow) = self.lend("narrow", at) else {
            return self.output.through(&self.convert("boxed"), self.call(keyword, &states));
        };
        let private = self.krate.private_at(at);
        let (subject, narrowed, tool) = (self.lent(), own("narrowed"), self.tool_name(at));
        // The state is taken before the future is made, so that the future owns what it holds.
        let names: Vec<Ident> = (0..states.len()).map(|index| own(&format!("state{index}"))).collect();
        let arguments: Vec<TokenStream> = names.iter().map(ToTokens::to_token_stream).collect();
        let call = self.call(keyword, &arguments);
        let converted = self.output.through(&self.convert("into_hook_result"), quote_spanned!(at=> #call.await));
        quote_spanned! {at=> {
            #(let #names = #states;)*
            #private::HookOutput::boxed(async move {
                let #private::Option::Some(mut #narrowed) = #private::#narrow(#subject, #tool)? else {
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

    /// What that function is told of the hook's tool.
    fn tool_name(&self, at: Span) -> Option<TokenStream> {
        let private = self.krate.private_at(at);
        self.tool.map(|_| quote_spanned!(at=> <Self as #private::Hook>::TOOL,))
    }

    fn convert(&self, function: &str) -> TokenStream {
        let private = self.krate.private_at(self.output.start);
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
        let private = self.krate.private_at(self.subject.start);
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
    fn state(&self, place: &Place<'_>) -> TokenStream {
        let private = self.krate.private_at(place.start);
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
