#!/usr/bin/env bash
# Packages both crates as for a release, unpacks them away from the workspace, and builds and tests them there alone.
# Then makes a project of `template/`, as `cargo generate` does, and tests it with the unpacked crates.
#
#   quality/package.sh [FEATURES]      # `sqlite` where none are named
set -euo pipefail
cd "$(dirname "$0")/.."
features=${1:-sqlite}
target=$PWD/target
# Verification builds each package from its own files, against a registry that has the other one.
cargo package --locked -p protolink-macros -p protolink --features "$features"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for crate in protolink protolink-macros; do
    tar -xzf "$target"/package/$crate-[0-9]*.crate -C "$work"
    mv "$work"/$crate-[0-9]* "$work/$crate"
done
# Stands for the registry, in which the macros are not published before the crate is.
mkdir "$work/.cargo"
printf '[patch.crates-io]\nprotolink-macros = { path = "%s" }\n' "$work/protolink-macros" >"$work/.cargo/config.toml"
export CARGO_TARGET_DIR=$target/packaged
for crate in protolink-macros protolink; do
    echo "== $crate alone"
    with=()
    [[ $crate == protolink ]] && with=(--features "$features")
    # Doctests are not to be had together with others.
    (cd "$work/$crate" && cargo test --lib --tests "${with[@]}" && cargo test --doc "${with[@]}")
done

echo "== a project of the template"
cp -r template "$work/first-agent"
sed -i 's/{{project-name}}/first-agent/g' "$work"/first-agent/{Cargo.toml,README.md,src/*.rs}
mkdir "$work/first-agent/.cargo"
printf '[patch.crates-io]\nprotolink = { path = "%s" }\n' "$work/protolink" >"$work/first-agent/.cargo/config.toml"
(cd "$work/first-agent" && cargo test && cargo run)
