//! What is right compiles, without a warning, and runs.
//!
//! Each file of `pass` is one thing that users may write. They are modules of one program, and not a program each, since
//! linking forty of them takes minutes.

#![allow(clippy::all, clippy::pedantic, reason = "the inputs are as odd as what they show")]

#[path = "../pass/aliases.rs"]
mod aliases;
#[path = "../pass/answers_of_a_type.rs"]
mod answers_of_a_type;
#[path = "../pass/attributes_above_and_below.rs"]
mod attributes_above_and_below;
#[path = "../pass/closures.rs"]
mod closures;
#[path = "../pass/conditions.rs"]
mod conditions;
#[path = "../pass/deprecated_hook.rs"]
mod deprecated_hook;
#[path = "../pass/edits_history_and_roster.rs"]
mod edits_history_and_roster;
#[path = "../pass/errors_of_hooks.rs"]
mod errors_of_hooks;
#[path = "../pass/every_stage_sync_and_async.rs"]
mod every_stage_sync_and_async;
#[path = "../pass/facts_of_a_hook.rs"]
mod facts_of_a_hook;
#[path = "../pass/fingerprint_is_pinned.rs"]
mod fingerprint_is_pinned;
#[path = "../pass/forbidden_warnings.rs"]
mod forbidden_warnings;
#[path = "../pass/functions_stay_callable.rs"]
mod functions_stay_callable;
#[path = "../pass/futures_can_move_between_threads.rs"]
mod futures_can_move_between_threads;
#[path = "../pass/group.rs"]
mod group;
#[path = "../pass/handles_promise_nothing_more.rs"]
mod handles_promise_nothing_more;
#[path = "../pass/hook_given_twice_compiles.rs"]
mod hook_given_twice_compiles;
#[path = "../pass/hook_has_the_name_of_its_parameter.rs"]
mod hook_has_the_name_of_its_parameter;
#[path = "../pass/hook_module.rs"]
mod hook_module;
#[path = "../pass/hook_named_like_a_crate_in_scope.rs"]
mod hook_named_like_a_crate_in_scope;
#[path = "../pass/imports_and_visibility.rs"]
mod imports_and_visibility;
#[path = "../pass/instrumented.rs"]
mod instrumented;
#[path = "../pass/library_crates.rs"]
mod library_crates;
#[path = "../pass/lifetimes.rs"]
mod lifetimes;
#[path = "../pass/lists.rs"]
mod lists;
#[path = "../pass/made_by_macro_rules.rs"]
mod made_by_macro_rules;
#[path = "../pass/many_hooks.rs"]
mod many_hooks;
#[path = "../pass/nested_places.rs"]
mod nested_places;
#[path = "../pass/no_implicit_prelude.rs"]
mod no_implicit_prelude;
#[path = "../pass/patterns.rs"]
mod patterns;
#[path = "../pass/raw_identifiers.rs"]
mod raw_identifiers;
#[path = "../pass/recursion.rs"]
mod recursion;
#[path = "../pass/same_name_through_glob_or_as.rs"]
mod same_name_through_glob_or_as;
#[path = "../pass/shadowed_names.rs"]
mod shadowed_names;
#[path = "../pass/state_by_derive.rs"]
mod state_by_derive;
#[path = "../pass/state_by_hand.rs"]
mod state_by_hand;
#[path = "../pass/timeouts.rs"]
mod timeouts;
#[path = "../pass/tool_options.rs"]
mod tool_options;
#[path = "../pass/tool_outputs.rs"]
mod tool_outputs;
#[path = "../pass/tool_parameters.rs"]
mod tool_parameters;
#[path = "../pass/tool_under_another_name.rs"]
mod tool_under_another_name;
#[path = "../pass/variable_of_a_hooks_name.rs"]
mod variable_of_a_hooks_name;

#[test]
fn aliases_compiles() {
    aliases::main();
}

#[test]
fn answers_of_a_type_compiles() {
    answers_of_a_type::main();
}

#[test]
fn attributes_above_and_below_compiles() {
    attributes_above_and_below::main();
}

#[test]
fn closures_compiles() {
    closures::main();
}

#[test]
fn conditions_compiles() {
    conditions::main();
}

#[test]
fn deprecated_hook_compiles() {
    deprecated_hook::main();
}

#[test]
fn edits_history_and_roster_compiles() {
    edits_history_and_roster::main();
}

#[test]
fn errors_of_hooks_compiles() {
    errors_of_hooks::main();
}

#[test]
fn every_stage_sync_and_async_compiles() {
    every_stage_sync_and_async::main();
}

#[test]
fn facts_of_a_hook_compiles() {
    facts_of_a_hook::main();
}

#[test]
fn fingerprint_is_pinned_compiles() {
    fingerprint_is_pinned::main();
}

#[test]
fn forbidden_warnings_compiles() {
    forbidden_warnings::main();
}

#[test]
fn functions_stay_callable_compiles() {
    functions_stay_callable::main();
}

#[test]
fn futures_can_move_between_threads_compiles() {
    futures_can_move_between_threads::main();
}

#[test]
fn group_compiles() {
    group::main();
}

#[test]
fn handles_promise_nothing_more_compiles() {
    handles_promise_nothing_more::main();
}

#[test]
fn hook_given_twice_compiles_compiles() {
    hook_given_twice_compiles::main();
}

#[test]
fn hook_has_the_name_of_its_parameter_compiles() {
    hook_has_the_name_of_its_parameter::main();
}

#[test]
fn hook_module_compiles() {
    hook_module::main();
}

#[test]
fn hook_named_like_a_crate_in_scope_compiles() {
    hook_named_like_a_crate_in_scope::main();
}

#[test]
fn imports_and_visibility_compiles() {
    imports_and_visibility::main();
}

#[test]
fn instrumented_compiles() {
    instrumented::main();
}

#[test]
fn library_crates_compiles() {
    library_crates::main();
}

#[test]
fn lifetimes_compiles() {
    lifetimes::main();
}

#[test]
fn lists_compiles() {
    lists::main();
}

#[test]
fn made_by_macro_rules_compiles() {
    made_by_macro_rules::main();
}

#[test]
fn many_hooks_compiles() {
    many_hooks::main();
}

#[test]
fn nested_places_compiles() {
    nested_places::main();
}

#[test]
fn no_implicit_prelude_compiles() {
    no_implicit_prelude::main();
}

#[test]
fn patterns_compiles() {
    patterns::main();
}

#[test]
fn raw_identifiers_compiles() {
    raw_identifiers::main();
}

#[test]
fn recursion_compiles() {
    recursion::main();
}

#[test]
fn same_name_through_glob_or_as_compiles() {
    same_name_through_glob_or_as::main();
}

#[test]
fn shadowed_names_compiles() {
    shadowed_names::main();
}

#[test]
fn state_by_derive_compiles() {
    state_by_derive::main();
}

#[test]
fn state_by_hand_compiles() {
    state_by_hand::main();
}

#[test]
fn timeouts_compiles() {
    timeouts::main();
}

#[test]
fn tool_options_compiles() {
    tool_options::main();
}

#[test]
fn tool_outputs_compiles() {
    tool_outputs::main();
}

#[test]
fn tool_parameters_compiles() {
    tool_parameters::main();
}

#[test]
fn tool_under_another_name_compiles() {
    tool_under_another_name::main();
}

#[test]
fn variable_of_a_hooks_name_compiles() {
    variable_of_a_hooks_name::main();
}

#[test]
fn every_file_is_a_module_here() {
    let here = include_str!("pass.rs");
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/pass")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(here.contains(&format!("#[path = \"../pass/{name}\"]")), "{name} is not compiled");
    }
}
