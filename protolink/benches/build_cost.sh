#!/usr/bin/env bash
# What the default build costs from nothing: crates, and time beside that of `rmcp` with its server feature, which is
# built in the same run, in turns. Downloads are made before, and are not measured.
#
#   protolink/benches/build_cost.sh [rounds]
set -euo pipefail

rounds=${1:-3}
library=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

crate() { # name, dependency
    mkdir -p "$folder/$1/src"
    echo 'fn main() {}' >"$folder/$1/src/main.rs"
    cat >"$folder/$1/Cargo.toml" <<TOML
[package]
name = "uses-$1"
version = "0.0.0"
edition = "2024"

[dependencies]
$2

[workspace]
TOML
    cargo fetch --quiet --manifest-path "$folder/$1/Cargo.toml"
}

crates() { # name: the crates of its build, less the one that was made for it
    local all
    all=$(cargo tree --offline --manifest-path "$folder/$1/Cargo.toml" -e normal,build --prefix none --no-dedupe)
    echo "$all" | sed 's/ (.*//' | sort -u | grep -vc '^uses-'
}

build() { # name: builds it from nothing, and says the seconds on the clock and on the processors
    rm -rf "$folder/$1/target"
    local TIMEFORMAT='%R %U %S'
    { time CARGO_TARGET_DIR="$folder/$1/target" cargo build --offline --quiet --manifest-path "$folder/$1/Cargo.toml" \
        2>/dev/null; } 2>&1 | awk '{ print $1, $2 + $3 }'
}

crate protolink "protolink = { path = \"$library\" }"
crate rmcp 'rmcp = { version = "3", features = ["server"] }'

ours=$(crates protolink)
echo "crates: protolink $ours ($((ours - 2)) of others), rmcp $(crates rmcp)"
for name in protolink rmcp; do : >"$folder/$name.times"; done
for round in $(seq "$rounds"); do
    for name in protolink rmcp; do
        build "$name" >>"$folder/$name.times"
        echo "round $round, $name: $(tail -1 "$folder/$name.times" | awk '{ printf "%.1f s, %.1f s of processor", $1, $2 }')"
    done
done
median() { cut -d' ' -f"$2" "$folder/$1.times" | sort -n | sed -n "$(((rounds + 1) / 2))p"; }
for column in 1 2; do
    echo "$(median protolink "$column") $(median rmcp "$column")" | awk -v of="$column" '{
        what = of == 1 ? "time" : "processor time"
        printf "%s: %.1f s to %.1f s, a ratio of %.2f (limit 0.50) %s\n", what, $1, $2, $1 / $2, $1 / $2 <= 0.5 ? "kept" : "missed" }'
done
[ "$ours" -le 40 ] && echo "crates: $ours (limit 40) kept" || echo "crates: $ours (limit 40) missed"
