//! What holds of every message, and the page that shows them all.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Each folder of `fail`, and the rule that it is about.
const RULES: [(&str, &str); 17] = [
    ("history", "The history is lent for one call: it cannot be replaced, built, copied or kept"),
    ("roster", "Tools can be taken away, and neither added, changed nor restored"),
    ("context", "The context is a copy, and read-only"),
    ("observation", "A result has the type of its tool, and the receipt is out of reach"),
    ("response", "A response is lent for one call, and has the type of the agent's answers"),
    ("subject", "The first parameter of a hook says its stage"),
    ("parameter", "After the first parameter, a hook takes only `State<T>`"),
    ("output", "A hook returns `()` or `Result<(), E>`"),
    ("signature", "A hook is a plain function, of one stage, once"),
    ("state", "The agent's state has what its hooks and tools take"),
    ("registration", "Hooks are registered by their names, closures under a name"),
    ("at_once", "Policies and observers answer at once, and are not `async`"),
    ("option", "The options of a hook's attribute"),
    ("tool", "A tool takes and returns owned values that are JSON"),
    ("name", "A hook's name is also the name of a type"),
    ("place", "Hooks and tools are free functions"),
    ("collect", "`#[hook_module]` goes on a module with its items"),
];

/// Where one mistake is more than one error: two mistakes in one input, two lifetimes of one borrow that the compiler
/// reports apart, and names that are defined twice.
const MORE_THAN_ONE: [(&str, usize); 33] = [
    ("collect/outline_module", 2),
    ("history/closure_borrows_its_surroundings", 2),
    ("history/keep_future", 2),
    ("history/spawn_task", 2),
    ("history/spawn_thread", 2),
    ("history/stash_in_capture", 2),
    ("history/stash_in_state", 2),
    ("history/stash_in_static", 2),
    ("history/stash_in_thread_local", 2),
    ("history/stash_message", 2),
    ("history/swap_messages", 2),
    ("history/swap_through_cell", 2),
    ("history/swap_two_requests", 2),
    ("name/taken_by_module", 3),
    ("name/taken_by_type", 3),
    ("name/two_hooks", 4),
    ("observation/stash", 2),
    ("observation/swap_two", 2),
    ("option/key_value_attribute", 2),
    ("option/several", 4),
    ("place/associated_function", 2),
    ("place/default_function", 2),
    ("response/spawn_task", 2),
    ("response/stash", 2),
    ("response/swap_two", 2),
    ("signature/generic", 2),
    ("signature/half_typed_body", 2),
    ("signature/unsafe_extern", 2),
    ("signature/variadic", 4),
    ("subject/shared_and_bool", 2),
    ("subject/state_first", 2),
    ("subject/static_lifetime", 2),
    ("tool/unsafe_and_self", 2),
];

struct Case {
    name: String,
    input: String,
    message: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The cases of each rule.
fn cases() -> BTreeMap<String, Vec<Case>> {
    let mut rules = BTreeMap::new();
    for folder in fs::read_dir(root().join("fail")).unwrap() {
        let folder = folder.unwrap().path();
        let rule = folder.file_name().unwrap().to_string_lossy().into_owned();
        let mut cases = Vec::new();
        for file in fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "rs") {
                let message = fs::read_to_string(file.with_extension("stderr")).unwrap_or_default();
                let name = file.file_stem().unwrap().to_string_lossy().into_owned();
                cases.push(Case { name, input: fs::read_to_string(&file).unwrap(), message });
            }
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        rules.insert(rule, cases);
    }
    rules
}

fn for_each_case(mut check: impl FnMut(&str, &Case)) {
    for (rule, cases) in cases() {
        for case in cases {
            check(&format!("{rule}/{}", case.name), &case);
        }
    }
}

#[test]
fn every_case_has_a_message() {
    for_each_case(|name, case| assert!(case.message.starts_with("error"), "{name}"));
}

/// The lines at which the errors of a message stand.
fn lines_of_errors(message: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut is_error = false;
    for line in message.lines() {
        if line.starts_with("error") {
            is_error = true;
        } else if let Some((_, place)) = line.split_once("--> ").filter(|_| is_error) {
            lines.extend(place.split(':').nth(1).and_then(|number| number.parse::<usize>().ok()));
            is_error = false;
        }
    }
    lines.sort_unstable();
    lines
}

/// An input with several mistakes says `// wrong` beside each of them.
fn lines_marked_wrong(input: &str) -> Vec<usize> {
    input.lines().zip(1..).filter(|(line, _)| line.ends_with("// wrong")).map(|(_, number)| number).collect()
}

#[test]
fn one_mistake_is_one_error() {
    for_each_case(|name, case| {
        let wrong = lines_marked_wrong(&case.input);
        if !wrong.is_empty() {
            assert_eq!(lines_of_errors(&case.message), wrong, "{name}");
            return;
        }
        let errors = case.message.lines().filter(|line| line.starts_with("error")).count();
        let expected = MORE_THAN_ONE.iter().find(|(other, _)| *other == name).map_or(1, |(_, errors)| *errors);
        assert_eq!(errors, expected, "{name}");
    });
}

#[test]
fn no_message_shows_a_private_name() {
    for_each_case(|name, case| {
        let message = case.message.to_lowercase();
        assert!(!message.contains("__private") && !message.contains("__protolink"), "{name}");
    });
}

/// An error of ours stands at a token of the user's, which a mark under the whole attribute is not.
#[test]
fn errors_stand_at_the_users_tokens() {
    // In these the attribute is what is wrong, or what the compiler itself speaks of.
    let at_the_attribute = [
        "name/two_hooks",
        "option/key_value_attribute",
        "place/associated_function",
        "signature/hook_and_tool",
        "signature/same_stage_twice",
        "signature/two_stages",
        "state/derive_options",
        "tool/twice",
    ];
    for_each_case(|name, case| {
        let lines: Vec<&str> = case.message.lines().collect();
        for pair in lines.windows(2) {
            let [source, mark] = pair else { continue };
            let starts = source.split_once("| ").is_some_and(|(_, line)| line.trim_start().starts_with("#["));
            let whole = mark.split_once("| ").is_some_and(|(_, mark)| mark.starts_with("^^^") && !mark.contains('-'));
            let wrong = starts && whole && mark.contains('^');
            assert!(!wrong || at_the_attribute.contains(&name) || note_only(&lines, mark), "{name}\n{}", case.message);
        }
    });
}

/// Whether the mark is under a note or a help, which may speak of the attribute, and not under the error.
fn note_only(lines: &[&str], mark: &str) -> bool {
    let at = lines.iter().position(|line| *line == mark).unwrap_or(0);
    let heading =
        lines[..at].iter().rev().find(|line| !line.starts_with(' ') && !line.starts_with(|c: char| c.is_ascii_digit()));
    heading.is_some_and(|line| line.starts_with("note") || line.starts_with("help"))
        || mark.contains("in this attribute macro expansion")
}

/// The messages are those of one Rust version: the workspace, and the workflow that runs these tests, name the same one.
#[test]
fn the_workflow_pins_the_toolchain_that_the_messages_are_of() {
    let manifest = fs::read_to_string(root().join("../Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    let workflow = fs::read_to_string(root().join("../.github/workflows/ci.yml")).unwrap();
    let jobs: Vec<&str> = workflow.split("\n\n").collect();
    let job = |command: &str| *jobs.iter().find(|job| job.contains(command)).unwrap();
    let pinned = job("bash .ci/run");
    assert!(pinned.contains(&format!("dtolnay/rust-toolchain@{version}.0")), "{pinned}");
    let others = job("cargo test --workspace --exclude protolink-ui-tests");
    assert!(others.contains(&format!("toolchain: [stable, \"{version}.0\"]")), "{others}");
}

/// `docs/compile-errors.md` is made of the inputs and their messages. After a change that is meant, run this with
/// `UPDATE_DOCS=1`.
#[test]
fn the_page_of_compile_errors_is_not_stale() {
    let path = root().join("../docs/compile-errors.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/compile-errors.md is stale: run this test with UPDATE_DOCS=1");
}

fn page() -> String {
    let mut cases = cases();
    let mut page = String::from(
        "# Compile errors\n\nEvery rule that the compiler keeps, ways to break it, and what it then says, with Rust 1.95. \
         The page is made from `ui-tests/fail`.\n\n",
    );
    for (rule, title) in RULES {
        let _ = writeln!(page, "- [{title}](#{rule})");
    }
    for (rule, title) in RULES {
        let _ = write!(page, "\n<a id=\"{rule}\"></a>\n\n## {title}\n");
        for case in cases.remove(rule).unwrap_or_default() {
            let name = case.name.replace('_', " ");
            let _ = write!(
                page,
                "\n### {name}\n\n```rust,compile_fail\n{}```\n\n```text\n{}```\n",
                case.input, case.message
            );
        }
    }
    assert!(cases.is_empty(), "a folder of `fail` is no rule: {:?}", cases.keys());
    page
}
