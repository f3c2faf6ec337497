//! The inputs that attribute macros have met, as a list with numbers, and where each is a case here.
//!
//! Most of them were once an issue of some macro: a name that a user's type shadows, a lint about generated code, an
//! error that drags three others after it. A number that is missing was never given.

use std::path::Path;

/// The number of an input, what it is, and the files that show what becomes of it.
const INPUTS: [(u32, &str, &[&str]); 93] = [
    // Names and hygiene.
    (1, "a hook `r#match`", &["pass/raw_identifiers.rs"]),
    (2, "parameters and types with raw identifiers", &["pass/raw_identifiers.rs"]),
    (3, "a tool `r#move`", &["pass/raw_identifiers.rs"]),
    (4, "types `Result`, `Option`, `Box`, `String` of the user's", &["pass/shadowed_names.rs"]),
    (6, "types `Send`, `Fn`, `u8`, `str`, `Hook` of the user's", &["pass/shadowed_names.rs"]),
    (7, "modules `core`, `std`, `alloc` of the user's", &["pass/shadowed_names.rs"]),
    (9, "no implicit prelude", &["pass/no_implicit_prelude.rs"]),
    (10, "a type of the name of a type parameter of ours", &["pass/shadowed_names.rs"]),
    (12, "a hook of the name of its parameter", &["pass/hook_has_the_name_of_its_parameter.rs"]),
    (13, "a variable of a hook's name", &["pass/variable_of_a_hooks_name.rs"]),
    (14, "a hook `core`", &["fail/name/crate.rs"]),
    (15, "a hook `str`", &["fail/name/primitive.rs"]),
    (17, "a module of a hook's name", &["fail/name/taken_by_module.rs"]),
    (
        18,
        "a re-export from a module of the same name",
        &["fail/name/reexport_from_module_of_same_name.rs", "pass/same_name_through_glob_or_as.rs"],
    ),
    (19, "two hooks of one name", &["fail/name/two_hooks.rs"]),
    (21, "hooks of one name in two blocks", &["pass/nested_places.rs"]),
    (22, "a type of a hook's name", &["fail/name/taken_by_type.rs"]),
    // Crate paths and editions.
    (23, "the crate renamed, with `crate = name`", &["crates/renamed/src/lib.rs"]),
    (24, "`crate = ::name`, and through another crate", &["crates/renamed/src/lib.rs", "crates/reexport/src/lib.rs"]),
    (25, "the crate is not where it is looked for", &["fail/option/crate_not_found.rs"]),
    (27, "inside the runtime crate itself", &["../protolink/src/signature.rs"]),
    (28, "`crate = super::x`", &["fail/option/relative_crate.rs"]),
    (
        29,
        "editions 2015, 2018, 2021, 2024",
        &[
            "crates/edition-2015/src/lib.rs",
            "crates/edition-2018/src/lib.rs",
            "crates/edition-2021/src/lib.rs",
            "pass/library_crates.rs",
        ],
    ),
    (30, "a trait object as state, in edition 2018", &["crates/edition-2018/src/lib.rs"]),
    // Lints.
    (31, "`forbid(unsafe_code)`", &["crates/lints/src/lib.rs"]),
    (32, "`forbid(warnings)`", &["pass/forbidden_warnings.rs"]),
    (33, "`forbid(missing_docs)`, with a public hook", &["crates/lints/src/lib.rs"]),
    (35, "`forbid(nonstandard_style)`", &["crates/lints/src/lib.rs"]),
    (36, "`forbid(unreachable_pub, unnameable_types, missing_debug_implementations)`", &["crates/lints/src/lib.rs"]),
    (
        37,
        "`forbid(single_use_lifetimes, elided_lifetimes_in_paths, redundant_lifetimes)`",
        &["crates/lints/src/lib.rs"],
    ),
    (39, "all of Clippy", &["crates/lints/src/lib.rs"]),
    (
        40,
        "a private hook that is never registered",
        &[
            "fail/registration/never_registered.rs",
            "fail/registration/never_registered_async.rs",
            "fail/registration/never_registered_tool.rs",
        ],
    ),
    (41, "a hook that only a test calls", &["fail/registration/only_used_in_a_test.rs"]),
    (42, "a deprecated hook", &["fail/registration/deprecated.rs", "pass/deprecated_hook.rs"]),
    (43, "a deprecated type as state", &["fail/state/deprecated_type.rs"]),
    (44, "a private type as the state of a public hook", &["fail/state/private_type.rs"]),
    // Attributes.
    (46, "documentation above and below", &["pass/attributes_above_and_below.rs"]),
    (47, "`inline`, `cold`, `track_caller`, `allow`, `expect`", &["pass/attributes_above_and_below.rs"]),
    (48, "`tracing::instrument` below", &["pass/instrumented.rs"]),
    (49, "`tracing::instrument` above", &["pass/instrumented.rs"]),
    (50, "`tokio::test` on a hook", &["fail/signature/also_a_test.rs"]),
    (51, "two stages on one function", &["fail/signature/two_stages.rs"]),
    (52, "one stage twice", &["fail/signature/same_stage_twice.rs"]),
    (53, "`cfg` above and below", &["pass/conditions.rs"]),
    (55, "`cfg` and `cfg_attr` on a parameter", &["fail/parameter/conditional.rs"]),
    (56, "empty parentheses, and a comma at the end", &["pass/lists.rs"]),
    (57, "an unknown option", &["fail/option/unknown.rs", "fail/option/unknown_after_tool.rs"]),
    (
        58,
        "an option twice, without a comma, without a value, with a string for a path, and a string alone",
        &[
            "fail/option/twice.rs",
            "fail/option/missing_comma.rs",
            "fail/option/without_value.rs",
            "fail/option/string_for_path.rs",
            "fail/option/literal.rs",
            "fail/option/malformed.rs",
        ],
    ),
    (59, "an attribute with `=`", &["fail/option/key_value_attribute.rs"]),
    (60, "`tool` under another stage", &["fail/option/tool_on_before_model.rs"]),
    // Signature and body.
    (61, "`self`", &["fail/signature/self_receiver.rs", "fail/signature/self_arc.rs"]),
    (62, "generic types and constants", &["fail/signature/generic.rs"]),
    (63, "lifetimes with bounds", &["pass/lifetimes.rs"]),
    (64, "`&'static mut`", &["fail/subject/static_lifetime.rs", "fail/subject/outlives_static.rs"]),
    (66, "a hidden lifetime", &["pass/lifetimes.rs"]),
    (67, "`unsafe` and `extern`", &["fail/signature/unsafe_extern.rs"]),
    (68, "`const fn`", &["pass/patterns.rs"]),
    (69, "`impl Trait`", &["fail/parameter/impl_trait.rs", "fail/output/future.rs", "fail/output/some_error.rs"]),
    (70, "no parameter", &["fail/subject/missing.rs"]),
    (71, "a second parameter that is no state", &["fail/parameter/not_state.rs", "fail/parameter/other_types.rs"]),
    (
        72,
        "shared, by value, of another stage",
        &[
            "fail/subject/shared.rs",
            "fail/subject/by_value.rs",
            "fail/subject/other_stage.rs",
            "fail/subject/other_stage_for_tool.rs",
            "fail/subject/shared_for_tool.rs",
            "fail/subject/wrapped.rs",
        ],
    ),
    (73, "aliases", &["pass/aliases.rs"]),
    (74, "patterns", &["pass/patterns.rs"]),
    (
        75,
        "wrong results",
        &[
            "fail/output/bool.rs",
            "fail/output/option.rs",
            "fail/output/result_with_value.rs",
            "fail/output/not_an_error.rs",
            "fail/output/never.rs",
            "fail/output/borrowed.rs",
            "fail/output/without_size.rs",
        ],
    ),
    (76, "errors of several kinds", &["pass/errors_of_hooks.rs"]),
    (77, "`.await` without `async`", &["fail/signature/missing_async.rs"]),
    (
        78,
        "a future that cannot move between threads",
        &["fail/signature/not_send.rs", "fail/signature/not_send_response.rs"],
    ),
    (79, "two mistakes in one function", &["fail/subject/shared_and_bool.rs"]),
    (80, "recursion", &["pass/recursion.rs"]),
    (81, "borrowed state", &["fail/parameter/borrowed_state.rs", "pass/lifetimes.rs"]),
    (
        83,
        "code in the middle of typing",
        &["fail/signature/half_typed_body.rs", "fail/signature/half_typed_parameters.rs"],
    ),
    (84, "tokens that no compiler makes", &["../protolink-macros/src/any_input.rs"]),
    // Places.
    (85, "in a function, a block, a constant, a method", &["pass/nested_places.rs"]),
    (
        86,
        "in an `impl`, a `trait`, an `extern` block",
        &[
            "fail/place/associated_function.rs",
            "fail/place/trait_function.rs",
            "fail/place/default_function.rs",
            "fail/place/foreign_function.rs",
        ],
    ),
    (
        87,
        "on what is no function",
        &[
            "fail/place/structure.rs",
            "fail/place/module.rs",
            "fail/place/implementation.rs",
            "fail/place/other_items.rs",
        ],
    ),
    (88, "made by `macro_rules!`", &["pass/made_by_macro_rules.rs"]),
    (90, "imported by a glob, under another name, by `self::`", &["pass/imports_and_visibility.rs"]),
    (91, "every visibility", &["pass/imports_and_visibility.rs", "fail/name/private_hook_from_outside.rs"]),
    (92, "an empty list, a comma at its end, a hook twice", &["pass/lists.rs", "pass/hook_given_twice_compiles.rs"]),
    (
        93,
        "what is no hook in a list",
        &[
            "fail/registration/missing.rs",
            "fail/registration/plain_function_in_list.rs",
            "fail/registration/function_value.rs",
            "fail/registration/not_a_list.rs",
        ],
    ),
    (94, "a thousand hooks in one list", &["pass/many_hooks.rs"]),
    (95, "`#[hook_module] mod x;`", &["fail/collect/outline_module.rs"]),
    (96, "`#[hook_module] mod empty {}`", &["pass/hook_module.rs"]),
    (97, "a wrong attribute on a hook that is listed", &["fail/registration/wrong_attribute_and_list.rs"]),
    // State, tools, requests.
    (
        98,
        "state that the agent does not have",
        &[
            "fail/state/missing_for_hook.rs",
            "fail/state/missing_for_tool.rs",
            "fail/state/missing_in_module.rs",
            "fail/state/none_given.rs",
            "fail/state/given_too_late.rs",
        ],
    ),
    (100, "another type than the tool's output", &["fail/observation/wrong_output.rs"]),
    (
        101,
        "a misspelt tool, and what is no tool",
        &["fail/observation/misspelt_tool.rs", "fail/observation/not_a_tool.rs"],
    ),
    (
        102,
        "every way around the types",
        &["fail/history", "fail/roster", "fail/context", "fail/observation", "fail/response"],
    ),
    // Fingerprints.
    (103, "the same under another formatting", &["../protolink-macros/src/fingerprint_table.rs"]),
    (104, "another after a change", &["../protolink-macros/src/fingerprint_table.rs"]),
    (
        108,
        "the same from every compiler",
        &["../protolink-macros/src/fingerprints.txt", "pass/fingerprint_is_pinned.rs"],
    ),
    (109, "a thousand hooks in a constant", &["pass/many_hooks.rs"]),
    (110, "the same in every folder", &["pass/fingerprint_is_pinned.rs"]),
];

#[test]
fn every_input_is_a_case() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (number, input, files) in INPUTS {
        assert!(!files.is_empty(), "{number}: {input}");
        for file in files {
            assert!(here.join(file).exists(), "{number}, {input}: there is no {file}");
        }
    }
    assert!(INPUTS.is_sorted_by(|(a, ..), (b, ..)| a < b));
}
