#!/usr/bin/env bash
# Runs the tests again and again, each time in another order, and stops at the first failure.
#
#   quality/repeat.sh [TIMES] [SKIP]      # 10 times, without the binaries whose names match SKIP (`^$`: none)
#
# What shuffles is the test harness's own `--shuffle`; a failure's seed is printed by it, and brings the order back.
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-10}
skip=${2:-^$}
# The harness of the stable toolchain has the option too, and asks for this to be set.
export RUSTC_BOOTSTRAP=1
# The tests of a macro crate link to the compiler's own libraries.
LD_LIBRARY_PATH=$(rustc --print target-libdir)
export LD_LIBRARY_PATH
logs=target/repeat
mkdir -p "$logs"

# The environment is for the harness only: what is built is what `cargo test` builds.
env -u RUSTC_BOOTSTRAP cargo test --no-run --message-format=json --workspace ${FEATURES:+--features "$FEATURES"} >"$logs/built.json"
mapfile -t binaries < <(python3 - "$logs/built.json" <<'PYTHON'
import json, pathlib, sys
for line in open(sys.argv[1]):
    message = json.loads(line)
    if message.get("executable") and message["profile"]["test"]:
        folder = pathlib.Path(message["manifest_path"]).parent
        print(message["target"]["name"], folder, message["executable"], sep="\t")
PYTHON
)
for ((time = 1; time <= times; time++)); do
    passed=0
    for binary in "${binaries[@]}"; do
        IFS=$'\t' read -r name folder executable <<<"$binary"
        [[ $name =~ $skip ]] && continue
        shuffle=(-Z unstable-options --shuffle)
        # It has a harness of its own, and one order.
        [[ $name == scenarios ]] && shuffle=()
        log=$PWD/$logs/$time-$name.log
        if ! (cd "$folder" && "$executable" "${shuffle[@]}") >"$log" 2>&1; then
            tail -n 60 "$log"
            echo "$name failed in round $time; $log has all of it"
            exit 1
        fi
        passed=$((passed + $(awk '/^test result: ok\./ { sum += $4 } END { print sum + 0 }' "$log")))
    done
    echo "round $time: $passed passed, 0 failed"
done
