#!/usr/bin/env python3
"""Mutation testing, with all mutants in one build.

    quality/mutants/run.py [--only TEXT] [--jobs N] [--resume] [--again] [--table]

The mutants are those that `cargo mutants --list` names for FILES (`cargo install cargo-mutants`). Building the tests
anew for each of them would take most of a day, so all are compiled into one copy of the workspace, each behind a
switch that the environment variable MUTANT turns on. The tests then run once with no mutant, one by one, to see which
reach which mutant; and each mutant is played against the tests that reach it, until one of them fails.

Mutants that the compiler refuses are dropped, as are those whose change cannot stand behind a switch: both are
counted. Results are appended to target/mutants/results.jsonl; what is there already is not run again, as long as the
code of the file that it is about is the same: comments may change, and lines may move. `--table` counts them part by part and names those that live.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target/mutants"
TREE = WORK / "tree"
TARGET = WORK / "target"
RESULTS = WORK / "results.jsonl"
STATE = WORK / "state.json"

FILES = [
    "protolink/src/roster.rs",
    "protolink/src/run.rs",
    "protolink/src/run/**",
    "protolink/src/hook/**",
    "protolink/src/history/**",
    "protolink/src/durable/**",
    "protolink/src/digest.rs",
    "protolink/src/fingerprint/**",
    "protolink-macros/src/digest.rs",
    "protolink-macros/src/sha256.rs",
]
# What runs against the mutants; the tests that start processes to kill them, and the user interface of the compiler,
# take too long to be run a thousand times.
TESTS = [
    ("protolink", ["--lib", "--features=sqlite"]),
    ("protolink-macros", ["--lib"]),
    ("protolink-tests", ["--test=contract", "--test=stores", "--test=cases_kept_apart", "--test=telemetry"]),
    ("protolink-tests", ["--test=durable_model", "--test=allocations"]),
]
# Tests that take longer come last, and those that take much longer are left out.
SLOW_SECONDS = 2.0
LEFT_OUT_SECONDS = 15.0

SWITCH = """
#[doc(hidden)]
#[allow(missing_docs, unreachable_pub, dead_code)]
VISIBILITY fn __mutant(id: usize) -> bool {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static ACTIVE: OnceLock<usize> = OnceLock::new();
    static TRACE: OnceLock<Option<std::ffi::OsString>> = OnceLock::new();
    static SEEN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    if let Some(file) = TRACE.get_or_init(|| std::env::var_os("MUTANT_TRACE")) {
        if !SEEN[id].swap(true, Ordering::Relaxed) {
            use std::io::Write as _;
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
            file.write_all(format!("{id}\\n").as_bytes()).unwrap();
        }
    }
    *ACTIVE.get_or_init(|| std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(usize::MAX)) == id
}
"""


# The tests of a macro crate link to the compiler's own libraries.
LIBRARIES = subprocess.run(["rustc", "--print=target-libdir"], text=True, capture_output=True, check=True).stdout.strip()


def run(command, env=None, **more):
    env = (env or os.environ) | {"LD_LIBRARY_PATH": LIBRARIES}
    return subprocess.run(command, cwd=more.pop("cwd", ROOT), env=env, text=True, capture_output=True, **more)


def listed():
    if run(["cargo", "mutants", "--version"]).returncode:
        raise SystemExit("cargo-mutants is not there: cargo install cargo-mutants")
    arguments = [argument for file in FILES for argument in ("-f", file)]
    output = run(["cargo", "mutants", "--list", "--json", *arguments])
    if output.returncode:
        raise SystemExit(output.stderr)
    return json.loads(output.stdout)


def places(files):
    tool = ["cargo", "run", "--quiet", "--manifest-path", ROOT / "quality/mutants/Cargo.toml"]
    output = run([*tool, "--target-dir", ROOT / "target/mutants-places", "--", *files])
    if output.returncode:
        raise SystemExit(output.stderr)
    found = {}
    for line in output.stdout.splitlines():
        place = json.loads(line)
        found[(place["kind"], place["file"], *place["at"])] = place
    return found


class Source:
    """A source file, and what is to be put into it."""

    def __init__(self, text):
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        # (start, end, rank, [(mutant or None, text) before], text behind)
        self.wraps = []

    def offset(self, line, column):
        return self.starts[line - 1] + column

    def range(self, pair):
        return self.offset(*pair[0]), self.offset(*pair[1])

    def flat(self, start, end):
        text = self.text[start:end]
        return None if "//" in text else re.sub(r"\s*\n\s*", " ", text)

    def rendered(self):
        """The text with everything in it, and for each mutant the ranges of its own characters."""
        events = []
        for index, (start, end, rank, before, behind) in enumerate(self.wraps):
            if start == end:
                events.append((start, 1, index, before))
            else:
                events.append((start, 2, -end, rank, index, before))
                events.append((end, 0, -start, -rank, -index, [(None, behind)]))
        events.sort(key=lambda event: event[:-1])
        output, at, length, ranges = [], 0, 0, collections.defaultdict(list)
        for event in events:
            piece = self.text[at : event[0]]
            output.append(piece)
            length += len(piece.encode())
            at = event[0]
            for mutant, text in event[-1]:
                size = len(text.encode())
                if mutant is not None:
                    ranges[mutant].append((length, length + size))
                output.append(text)
                length += size
        output.append(self.text[at:])
        return "".join(output), ranges


def switched(mutants, dropped):
    """The sources with every mutant behind its switch; mutants that cannot be are dropped."""
    found = places(sorted({mutant["file"] for mutant in mutants}))
    sources, groups = {}, collections.defaultdict(list)
    for number, mutant in enumerate(mutants):
        if number in dropped:
            continue
        file, span = mutant["file"], mutant["span"]
        sources.setdefault(file, Source((ROOT / file).read_text()))
        start = (span["start"]["line"], span["start"]["column"] - 1)
        groups[(file, mutant["genre"], start)].append(number)
    guards = collections.defaultdict(dict)
    for (file, genre, start), numbers in groups.items():
        source = sources[file]
        change = {number: mutants[number]["replacement"] for number in numbers}
        if genre == "FnValue":
            at = source.offset(*start)
            before = [(n, f"if crate::__mutant({n}) {{ return {text}; }} ") for n, text in change.items()]
            source.wraps.append((at, at, 0, before, ""))
            continue
        if genre in ("BinaryOperator", "UnaryOperator"):
            place = found.get((genre, file, *start))
            if place is None:
                dropped.update(dict.fromkeys(numbers, "no switch"))
                continue
            if genre == "BinaryOperator":
                left, right = source.range(place["left"]), source.range(place["right"])
                whole = (left[0], right[1])
                texts = source.flat(*left), source.flat(*right)
            else:
                whole = source.range(place["whole"])
                texts = (source.flat(*source.range(place["inner"])), "")
            if None in texts:
                dropped.update(dict.fromkeys(numbers, "no switch"))
                continue
            changed = {n: f"{texts[0]} {text} {texts[1]}" if text else texts[0] for n, text in change.items()}
            before = [(None, "(")]
            before += [(n, f"if crate::__mutant({n}) {{ {text} }} else ") for n, text in changed.items()]
            before.append((None, "{ "))
            source.wraps.append((*whole, 1, before, " })"))
            continue
        if genre in ("MatchArm", "MatchArmGuard"):
            for n in numbers:
                guards[file][n] = (genre, start, change[n])
            continue
        dropped.update(dict.fromkeys(numbers, "no switch"))
    # An arm and its guard are one condition.
    arms = {}
    for (kind, file, line, column), place in found.items():
        if kind == "MatchArm":
            arms[("MatchArm", file, line, column)] = place
            if place["guard"]:
                arms[("MatchArmGuard", file, *place["guard"][0])] = place
    conditions = collections.defaultdict(lambda: {"gone": [], "true": [], "false": []})
    for file, of_file in guards.items():
        for n, (genre, start, text) in of_file.items():
            place = arms.get((genre, file, *start))
            if place is None:
                dropped[n] = "no switch"
                continue
            kind = "gone" if genre == "MatchArm" else text
            conditions[(file, json.dumps(place))][kind].append(n)
    for (file, place), of_arm in conditions.items():
        source, place = sources[file], json.loads(place)
        refused = [(n, f"!crate::__mutant({n}) && ") for n in of_arm["gone"] + of_arm["false"]]
        if place["guard"]:
            accepted = [(n, f"crate::__mutant({n}) || ") for n in of_arm["true"]]
            before = [*refused, (None, "("), *accepted, (None, "(")]
            source.wraps.append((*source.range(place["guard"]), 0, before, "))"))
        else:
            at = source.offset(*place["pattern"][1])
            source.wraps.append((at, at, 0, [(None, " if "), *refused, (None, "true")], ""))
    return sources


def write(path, content):
    """Leaves alone what is the same, so that it is not built again."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def build(mutants):
    """Builds the copy with every mutant that compiles; returns those that do not, and the binaries of tests."""
    switches = {"protolink/src/lib.rs": "pub", "protolink-macros/src/lib.rs": ""}
    changed = {mutant["file"] for mutant in mutants} | set(switches)
    tracked = {file for file in run(["git", "ls-files", "-z"]).stdout.split("\0") if (ROOT / file).is_file()}
    # What an earlier run left there and is gone since would be built too.
    for file in [file for file in TREE.rglob("*") if file.is_file()]:
        if str(file.relative_to(TREE)) not in tracked:
            file.unlink()
    for file in tracked - changed:
        write(TREE / file, (ROOT / file).read_bytes())
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "CARGO_TERM_COLOR": "never",
        "RUSTFLAGS": "-Awarnings",
    }
    dropped = {}
    kept = WORK / "dropped.json"
    names = {mutant["name"]: number for number, mutant in enumerate(mutants)}
    if kept.exists():
        dropped = {names[name]: why for name, why in json.loads(kept.read_text()).items() if name in names}
    for attempt in range(60):
        sources = switched(mutants, dropped)
        ranges, texts = {}, {}
        for file, source in sources.items():
            texts[file], ranges[file] = source.rendered()
        for file, visibility in switches.items():
            text = texts.get(file) or (ROOT / file).read_text()
            texts[file] = text + SWITCH.replace("VISIBILITY", visibility).replace("COUNT", str(len(mutants)))
        for file, text in texts.items():
            write(TREE / file, text.encode())
        output = run(
            ["cargo", "check", "--message-format=json", "-p", "protolink", "--features", "protolink/sqlite", "-p", "protolink-macros"],
            cwd=TREE,
            env=environment,
        )
        refused = set()
        for line in output.stdout.splitlines():
            message = json.loads(line).get("message") if line.startswith("{") else None
            if not message or message.get("level") != "error" or not message.get("spans"):
                continue
            hit = blamed(message, ranges)
            if not hit:
                print("whose error is this?", message["rendered"])
            refused |= hit
        if output.returncode == 0:
            break
        if not refused:
            raise SystemExit(output.stderr[-3000:])
        dropped.update(dict.fromkeys(refused, "does not compile"))
        print(f"attempt {attempt}: {len(refused)} refused, {len(dropped)} in all", flush=True)
    kept.write_text(json.dumps({mutants[number]["name"]: why for number, why in dropped.items()}))
    binaries = []
    for package, targets in TESTS:
        output = run(
            ["cargo", "test", "--no-run", "--message-format=json", "-p", package, *targets], cwd=TREE, env=environment
        )
        if output.returncode:
            raise SystemExit(output.stderr[-6000:] + output.stdout[-3000:])
        for line in output.stdout.splitlines():
            message = json.loads(line)
            if message.get("executable") and message["profile"]["test"]:
                folder = os.path.dirname(message["manifest_path"])
                binaries.append((message["target"]["name"], message["executable"], folder))
    return dropped, binaries


def blamed(message, ranges):
    """The mutants in whose own text an error lies; where it lies in none, those nearest before it."""
    hit = set()
    spans = [span for span in message["spans"]] + [span for child in message["children"] for span in child["spans"]]
    for primary in (True, False):
        for span in spans:
            if span["is_primary"] is not primary:
                continue
            for mutant, own in ranges.get(span["file_name"], {}).items():
                if any(start < span["byte_end"] and span["byte_start"] < end for start, end in own):
                    hit.add(mutant)
        if hit:
            return hit
    for span in spans:
        before = [(own[-1][1], mutant) for mutant, own in ranges.get(span["file_name"], {}).items() if own[-1][1] <= span["byte_start"]]
        if before:
            nearest = max(before)[0]
            return {mutant for end, mutant in before if end == nearest}
    return hit


def trace(binaries):
    """Which tests reach which mutants, and how long each test takes."""
    reached, seconds = collections.defaultdict(list), {}
    work = WORK / "trace"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    jobs = []
    for name, executable, folder in binaries:
        for line in run([executable, "--list", "--format=terse"], cwd=folder).stdout.splitlines():
            if line.endswith(": test"):
                jobs.append((name, executable, folder, line.removesuffix(": test")))

    def one(number, job):
        name, executable, folder, test = job
        file = work / str(number)
        # A busy machine can make a test of times and leases fail; a second failure is one of the test.
        for attempt in range(2):
            file.unlink(missing_ok=True)
            began = time.monotonic()
            output = run([executable, "--exact", test], cwd=folder, env=os.environ | {"MUTANT_TRACE": str(file)})
            if output.returncode == 0:
                break
        if output.returncode:
            print(f"{name} {test} is left out, it fails without a mutant:\n{output.stdout[-3000:]}", flush=True)
            return job, time.monotonic() - began, set()
        ids = {int(line) for line in file.read_text().split()} if file.exists() else set()
        return job, time.monotonic() - began, ids

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for job, took, ids in pool.map(one, range(len(jobs)), jobs):
            seconds[job] = took
            for mutant in ids:
                reached[mutant].append(job)
    return reached, seconds


def digest(file):
    """Of the code alone."""
    lines = (line.strip() for line in (ROOT / file).read_text().splitlines())
    code = "\n".join(line for line in lines if line and not line.startswith("//"))
    return hashlib.sha256(code.encode()).hexdigest()


def keys(mutants, sources):
    """What a mutant is known by from one run to the next: its change and its place among equal ones, not its line."""
    seen, found = collections.Counter(), []
    for mutant in mutants:
        change = re.sub(r"^[^:]+:\d+:\d+: ", "", mutant["name"])
        seen[(mutant["file"], change)] += 1
        found.append(f"{mutant['file']} {sources[mutant['file']]} {change} {seen[(mutant['file'], change)]}")
    return found


def save(mutants, dropped, reached, seconds):
    jobs = list(seconds)
    numbers = {job: number for number, job in enumerate(jobs)}
    STATE.write_text(
        json.dumps(
            {
                "mutants": mutants,
                "sources": {file: digest(file) for file in {mutant["file"] for mutant in mutants}},
                "dropped": list(dropped.items()),
                "jobs": jobs,
                "seconds": list(seconds.values()),
                "reached": [(mutant, [numbers[job] for job in of_mutant]) for mutant, of_mutant in reached.items()],
            }
        )
    )


def load():
    state = json.loads(STATE.read_text())
    jobs = [tuple(job) for job in state["jobs"]]
    reached = {mutant: [jobs[number] for number in numbers] for mutant, numbers in state["reached"]}
    return state["mutants"], state["sources"], dict(state["dropped"]), reached, dict(zip(jobs, state["seconds"]))


# What `timeout` ends with.
TIMED_OUT = (124, 137)


def test(mutant, jobs, limit):
    """Runs tests of one binary with the mutant switched on."""
    _, executable, folder, _ = jobs[0]
    command = ["timeout", "--kill-after=1", str(int(limit)), executable, "--exact", *[job[3] for job in jobs]]
    return run(command, cwd=folder, env=os.environ | {"MUTANT": str(mutant)}, errors="replace")


def play(mutant, jobs, seconds):
    """Whether the tests notice a mutant: the quick ones first."""
    jobs = sorted(jobs, key=lambda job: seconds[job])
    quick = [job for job in jobs if seconds[job] <= SLOW_SECONDS]
    slow = [job for job in jobs if SLOW_SECONDS < seconds[job] <= LEFT_OUT_SECONDS]
    batches = [quick[:8], quick[8:40], quick[40:]] + [[job] for job in slow]
    for batch in batches:
        by_binary = collections.defaultdict(list)
        for job in batch:
            by_binary[job[:3]].append(job)
        for (name, _, _), of_binary in by_binary.items():
            limit = 20 + 5 * sum(seconds[job] for job in of_binary)
            output = test(mutant, of_binary, limit)
            if output.returncode in TIMED_OUT:
                # A busy machine is slow as well: it is the mutant where one test alone takes far too long.
                for job in of_binary:
                    output = test(mutant, [job], 20 + 10 * seconds[job])
                    if output.returncode in TIMED_OUT:
                        return "timeout", f"{name}: {job[3]}"
                    if output.returncode:
                        break
            if output.returncode:
                failed = re.search(r"^test (\S+) .*FAILED", output.stdout, re.M)
                return "caught", f"{name}: {failed.group(1) if failed else 'aborted'}"
    return ("missed" if jobs else "not reached"), ""


def table(mutants, dropped, known, done):
    """The table of docs/quality.md, and the mutants that live."""
    kinds = ["caught", "timeout", "missed", "not reached", "does not compile", "no switch", "not played"]
    counts = collections.defaultdict(collections.Counter)
    for number, mutant in enumerate(mutants):
        file = mutant["file"].removeprefix("protolink/src/")
        part = "the digests of the macros" if file.startswith("protolink-macros") else f"`{re.sub('/.*', '/', file)}`"
        result = dropped.get(number) or done.get(known[number], "not played")
        for row in (part, "all"):
            counts[row][result] += 1
    for part in sorted(counts, key=lambda part: (part == "all", part.startswith("the"), "/" in part, part)):
        print("|", part, "|", " | ".join(str(counts[part][kind]) for kind in kinds), "|")
    every = counts["all"]
    lived = every["missed"] + every["not reached"]
    played = lived + every["caught"] + every["timeout"]
    print(f"{lived} of {played} live, {100 * lived / max(played, 1):.1f} %")
    for number, mutant in enumerate(mutants):
        if number not in dropped and done.get(known[number]) in ("missed", "not reached"):
            print(f"{done[known[number]]}: {mutant['name']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutants whose name has this in it")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="go on with what was built, and do not look at the sources")
    parser.add_argument("--again", action="store_true", help="run those again that were missed or timed out")
    parser.add_argument("--table", action="store_true", help="run nothing, and say what is known")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if not ((options.resume or options.table) and STATE.exists()):
        mutants = listed()
        dropped, binaries = build(mutants)
        save(mutants, dropped, *trace(binaries))
    mutants, sources, dropped, reached, seconds = load()
    print(f"{len(mutants)} mutants, {len(dropped)} dropped", collections.Counter(dropped.values()), flush=True)
    print(f"{len(seconds)} tests in {sum(seconds.values()):.0f} s; {len(reached)} mutants are reached", flush=True)
    done = {}
    if RESULTS.exists():
        for line in RESULTS.read_text().splitlines():
            result = json.loads(line)
            done[result["key"]] = result["result"]
    known = keys(mutants, sources)
    if options.table:
        return table(mutants, dropped, known, done)
    lock = threading.Lock()

    def one(number):
        result, test = play(number, reached.get(number, []), seconds)
        with lock, RESULTS.open("a") as file:
            line = {"key": known[number], "name": mutants[number]["name"], "result": result, "test": test}
            file.write(json.dumps(line) + "\n")
        done[known[number]] = result
        if result in ("missed", "not reached"):
            print(f"{result}: {mutants[number]['name']}", flush=True)

    def is_open(number):
        result = done.get(known[number])
        return result is None or options.again and result in ("missed", "not reached", "timeout")

    todo = [n for n in range(len(mutants)) if n not in dropped and options.only in mutants[n]["name"] and is_open(n)]
    order = [file.rstrip("*").rstrip("/") for file in FILES]
    todo.sort(key=lambda n: next(i for i, prefix in enumerate(order) if mutants[n]["file"].startswith(prefix)))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, todo))
    counts = collections.Counter(dropped.get(n) or done.get(key) for n, key in enumerate(known))
    print(dict(counts))


if __name__ == "__main__":
    main()
