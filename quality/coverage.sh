#!/usr/bin/env bash
# Line coverage of the published crates by the tests of the workspace; fails under 95 %.
#
#   quality/coverage.sh [MINIMUM]
#
# Needs `cargo install cargo-llvm-cov` and LLVM's own tools: `rustup component add llvm-tools`, or an `llvm-cov` and an
# `llvm-profdata` of the LLVM of `rustc -vV`, named by LLVM_COV and LLVM_PROFDATA. The macros are counted where they
# run: in the compiler, while the tests are built.
set -euo pipefail
cd "$(dirname "$0")/.."
minimum=${1:-95}
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 CARGO_INCREMENTAL=0
PROTOLINK_MCP_EVERYTHING="$(bash tests/mcp-everything/install.sh)"
export PROTOLINK_MCP_EVERYTHING
# What was expanded in an earlier build is not counted again: each measurement begins from nothing of ours.
cargo llvm-cov clean --workspace
cargo llvm-cov --no-report --no-fail-fast -p protolink -p protolink-macros -p protolink-tests -p protolink-ui-tests \
    --features protolink-tests/wire,protolink-tests/mcp --lib --tests --bins
# The store's worker, the benches and the tests themselves are not what is measured.
cargo llvm-cov report --ignore-filename-regex '(^|/)(tests|ui-tests|examples|benches)/' --fail-under-lines "$minimum"
cargo llvm-cov report --ignore-filename-regex '(^|/)(tests|ui-tests|examples|benches)/' --json --output-path target/coverage.json >/dev/null
