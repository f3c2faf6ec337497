#!/usr/bin/env bash
# Line coverage of the published crates by the tests of the workspace, doctests among them; fails under 95 %.
#
#   quality/coverage.sh [MINIMUM]
#
# Needs `cargo install cargo-llvm-cov` and LLVM's own tools: `rustup component add llvm-tools`, or an `llvm-cov` and an
# `llvm-profdata` of the LLVM of `rustc -vV`, named by LLVM_COV and LLVM_PROFDATA. Where these were built without zlib,
# names must not be compressed: RUSTFLAGS="-C llvm-args=-enable-name-compression=false".
#
# The macros are counted where they run: in the compiler, while the tests are built.
set -euo pipefail
cd "$(dirname "$0")/.."
minimum=${1:-95}
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 CARGO_INCREMENTAL=0
PROTOLINK_MCP_EVERYTHING="$(bash tests/mcp-everything/install.sh)"
export PROTOLINK_MCP_EVERYTHING
tested=(-p protolink -p protolink-macros -p protolink-tests -p protolink-ui-tests)
tested+=(--features protolink-tests/wire,protolink-tests/mcp)
# The store's worker, the benches and the tests themselves are not what is measured.
others='(^|/)(tests|ui-tests|examples|benches)/'

# What was expanded in an earlier build is not counted again: each measurement begins from nothing of ours.
cargo llvm-cov clean --workspace
rm -rf target/tests/trybuild
cargo llvm-cov --no-report "${tested[@]}" --lib --tests --bins
# What a doctest calls is instrumented; the doctest itself is no part of what is measured, and is not.
(
    export CARGO_TARGET_DIR=$PWD/target/llvm-cov-target
    # shellcheck disable=SC1090
    source <(cargo llvm-cov show-env --export-prefix 2>/dev/null)
    cargo test "${tested[@]}" --doc
)
# The builds that the ui tests start do not heed that flag, and cannot be read by such tools.
[[ ${RUSTFLAGS:-} != *enable-name-compression=false* ]] || rm -rf target/tests/trybuild
# Tests kill processes, whose profiles are cut in the middle: what can be read is merged.
report=(report --failure-mode all --ignore-filename-regex "$others")
cargo llvm-cov "${report[@]}" --json --output-path target/coverage.json
cargo llvm-cov "${report[@]}" --fail-under-lines "$minimum"
