#!/usr/bin/env bash
# Builds the published crates with the oldest direct dependencies that their manifests allow.
#
# Needs `rustup toolchain install nightly`, whose cargo resolves; the build itself is of the toolchain of the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/target/minimal-versions
mkdir -p "$work"
git ls-files -z | tar -cf - --null -T - | tar -xf - -C "$work"
cd "$work"
# Only what is published: others, such as the tests, have needs of their own.
sed -i 's/^members = .*/members = ["protolink", "protolink-macros"]/' Cargo.toml
rm -f Cargo.lock
cargo +nightly update -Z direct-minimal-versions
export CARGO_TARGET_DIR=$work/../minimal-versions-target
cargo check --locked -p protolink-macros
cargo check --locked -p protolink
cargo check --locked -p protolink --all-features
cargo tree --locked -p protolink --all-features --depth 1 -e normal
