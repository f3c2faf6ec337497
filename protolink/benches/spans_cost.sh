#!/usr/bin/env bash
# What the spans cost a step where no subscriber is installed: the same steps as `--bench step` makes, beside a build
# from which the compiler has taken every span and event out (`tracing`'s feature `max_level_off`), in turns.
#
#   protolink/benches/spans_cost.sh [rounds]
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

build() { # features: the binary of the benchmark
    cargo bench --quiet --package protolink --bench step --no-run --message-format=json "$@" |
        grep -o '"executable":"[^"]*"' | tail -1 | cut -d'"' -f4
}

nanoseconds() { # binary, benchmark: its median
    CRITERION_HOME="$folder/criterion" "$1" --bench --noplot "^$2\$" 2>/dev/null | sed -n 's/.*time: *\[//p' | awk '{
        unit["ns"] = 1; unit["µs"] = 1000; unit["ms"] = 1000000
        print $3 * unit[$4]; exit }'
}

with=$(build)
without=$(build --features tracing/max_level_off)
for benchmark in step/three_hooks_one_tool/10 sync_hook/in_the_loop; do
    : >"$folder/with"
    : >"$folder/without"
    for _ in $(seq "$rounds"); do
        nanoseconds "$with" "$benchmark" >>"$folder/with"
        nanoseconds "$without" "$benchmark" >>"$folder/without"
    done
    median() { sort -n "$folder/$1" | sed -n "$(((rounds + 1) / 2))p"; }
    echo "$(median with) $(median without)" | awk -v name="$benchmark" '{
        printf "%s: %.1f ns with spans, %.1f ns without: %.1f ns more, a ratio of %.3f\n", name, $1, $2, $1 - $2, $1 / $2 }'
done
