#!/usr/bin/env bash
# What annotated and registered hooks add to a build of their crate, over the same functions without attributes.
#
#   benches/compile_time.sh [HOOKS] [ROUNDS]
#
# Half of the functions are sync, a quarter are async, a quarter take a `State`; each has eight lines. It prints the
# medians of a clean dev build of the crate, of a build after a touch, and of a clean `cargo check`, and what a hook
# adds to each; then the median of three builds of the macro crate and its dependencies from nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
hooks=${1:-1000}
rounds=${2:-3}
work=${CARGO_TARGET_DIR:-$root/target}/compile-time
mkdir -p "$work"
export CARGO_TARGET_DIR=$work/target CARGO_INCREMENTAL=1 CARGO_TERM_COLOR=never

# A crate of `hooks` functions; $1 is its name, $2 says whether they are annotated.
generate() {
    local folder=$work/$1
    mkdir -p "$folder/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\nprotolink = { path = "%s" }\n\n[profile.dev]\ndebug = "line-tables-only"\n\n[workspace]\n' \
        "$1" "$root/protolink" >"$folder/Cargo.toml"
    {
        printf 'use protolink::prelude::*;\n#[derive(Clone)] pub struct Db(pub usize);\n#[derive(FromRef)] pub struct App { pub db: Db }\n'
        local i keyword state more attribute=
        [[ $2 == annotated ]] && attribute='#[before_model]'
        for ((i = 0; i < hooks; i++)); do
            keyword= state= more=7
            case $((i % 4)) in
            2) keyword='async ' ;;
            3) state=', State(db): State<Db>' more=db.0 ;;
            esac
            printf '%s\npub %sfn hook_%d(request: &mut ModelRequest<'"'_"'>%s) -> Result<(), String> {\n    let count = request.history().len() + %d + %s;\n    if count > 3 {\n        request.history().set_system("many");\n    }\n    request.tools().retain(|spec| spec.name() != "drop_%d");\n    request.history().push(Message::user("note %d"));\n    Ok(())\n}\n' \
                "$attribute" "$keyword" "$i" "$state" "$i" "$more" "$i" "$i"
        done
        if [[ $2 == annotated ]]; then
            printf 'pub fn register() -> protolink::AgentBuilder<App> {\n    Agent::builder("a").state(App { db: Db(1) }).hooks(hooks![\n'
            for ((i = 0; i < hooks; i++)); do printf 'hook_%d,\n' "$i"; done
            printf '])\n}\n'
        fi
    } >"$folder/src/lib.rs"
}

# Milliseconds that a command takes.
millis() {
    local start end
    start=$(date +%s%N)
    "$@" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    end=$(date +%s%N)
    echo $(((end - start) / 1000000))
}

median() { sort -n | sed -n "$(((rounds + 1) / 2))p"; }

# One build of $1 by `cargo $2`; from nothing of the crate's own when $3 is `clean`.
measure() {
    [[ $3 == clean ]] && rm -rf "$CARGO_TARGET_DIR/debug/incremental/${1//-/_}-"*
    touch "$work/$1/src/lib.rs"
    millis cargo "$2" --manifest-path "$work/$1/Cargo.toml"
}

generate plain-functions plain
generate annotated-hooks annotated
for crate in plain-functions annotated-hooks; do
    cargo build --quiet --manifest-path "$work/$crate/Cargo.toml"
    cargo check --quiet --manifest-path "$work/$crate/Cargo.toml"
done

printf '%d hooks, medians of %d\n' "$hooks" "$rounds"
printf '%-22s %10s %10s %10s %8s\n' '' plain annotated 'a hook' target
# The two crates are built in turns, and each pair has its difference, so that the state of the machine meets both.
line() { # name, target in ms a hook, cargo command, clean or touched
    local round plain annotated
    : >"$work/pairs"
    for ((round = 0; round < rounds; round++)); do
        plain=$(measure plain-functions "$3" "$4")
        annotated=$(measure annotated-hooks "$3" "$4")
        echo "$plain $annotated $((annotated - plain))" >>"$work/pairs"
    done
    awk -v name="$1" -v target="$2" -v hooks="$hooks" \
        -v plain="$(cut -d' ' -f1 "$work/pairs" | median)" \
        -v annotated="$(cut -d' ' -f2 "$work/pairs" | median)" \
        -v difference="$(cut -d' ' -f3 "$work/pairs" | median)" \
        'BEGIN { printf "%-22s %8.2f s %8.2f s %7.2f ms %5s ms\n", name, plain / 1000, annotated / 1000, difference / hooks, target }'
}
line 'dev build, clean' 4 build clean
line 'dev build, touched' 1 build touched
line 'check, clean' 2 check clean

# The macro crate, three times.
from_nothing() {
    rm -rf "$work/macros"
    CARGO_TARGET_DIR=$work/macros millis cargo build -p protolink-macros
}
took=$(for ((round = 0; round < 3; round++)); do from_nothing; done | rounds=3 median)
awk -v took="$took" 'BEGIN { printf "protolink-macros and its dependencies, from nothing: %.1f s (6 s)\n", took / 1000 }'
