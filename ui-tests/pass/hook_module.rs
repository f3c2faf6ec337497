#![deny(warnings)]
//! The hooks of a module, in source order.
use protolink::prelude::*;

#[derive(Clone)]
pub(crate) struct Db;

#[derive(FromRef)]
pub(crate) struct App {
    db: Db,
}

#[hook_module]
mod rules {
    use protolink::prelude::*;

    use super::Db;

    #[before_model]
    pub(crate) fn second_by_name(_request: &mut ModelRequest<'_>) {}

    #[before_model]
    pub(crate) async fn first_by_name(_request: &mut ModelRequest<'_>, _db: State<Db>) {}

    fn helper() {}

    #[before_complete]
    fn private(_response: &mut FinalResponse<'_>) {
        helper();
    }

    #[cfg(any())]
    #[before_model]
    pub(crate) fn off(_request: &mut ModelRequest<'_>) {}

    #[after_tool]
    #[cfg(not(target_os = "none"))]
    #[cfg(not(any()))]
    pub(crate) fn on(_observation: &mut ToolObservation<'_>) {}
}

#[hook_module]
mod empty {}

#[hook_module(crate = ::protolink)]
mod other {}

macro_rules! collected {
    ($module:item) => {
        #[hook_module]
        $module
    };
}

collected! {
    /// Documented.
    pub(crate) mod from_a_macro {
        //! Also from within.
        use protolink::prelude::*;

        pub(crate) const HOOK: fn(&mut ModelRequest<'_>) = only;

        #[before_model]
        #[allow(unused)]
        pub(crate) fn only(_request: &mut ModelRequest<'_>) {}

        #[allow(unused)]
        macro_rules! no_hook {
            () => {
                #[before_model]
                fn never(_request: &mut ModelRequest<'_>) {}
            };
        }
    }
}

const _: () = assert!(from_a_macro::HOOK_COUNT == 1);
const _: () = assert!(rules::HOOK_COUNT == 4 && empty::HOOK_COUNT == 0 && other::HOOK_COUNT == 0);

pub(crate) fn main() {
    let names: Vec<_> = rules::HOOKS.iter().map(|hook| hook.name).collect();
    assert_eq!(names, ["second_by_name", "first_by_name", "private", "on"]);
    assert_ne!(rules::FINGERPRINT, empty::FINGERPRINT);
    assert_eq!(other::FINGERPRINT, empty::FINGERPRINT);
    assert!(other::HOOKS.is_empty());
    assert_eq!(from_a_macro::HOOKS[0].name, "only");
    let _ = from_a_macro::HOOK;
    let _ = Agent::builder("a").state(App { db: Db }).hooks(rules::hooks).hooks(empty::hooks).hooks(other::hooks);
    let _ = Agent::builder("a").group(protolink::AgentHooks::new().hooks(empty::hooks));
}
