#!/usr/bin/env python3
"""Lists the public items of `protolink` that no example shows, and fails where there are any.

Every public type, trait, function and macro has an example of its own. A method has one too, or is called in the example
of its type. Needs nothing but the stable toolchain: rustdoc's JSON is asked for by the switch that unlocks it.

    quality/examples.py            # the items without an example
    quality/examples.py --count    # how many there are of each kind, and how many of them have one
"""

import collections
import json
import os
import re
import subprocess
import sys

WORKSPACE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUSTDOC_OF = "PROTOLINK_EXAMPLES_RUSTDOC"

if RUSTDOC_OF in os.environ:  # Called by cargo in rustdoc's place, so that nothing else is built with the switch.
    os.environ["RUSTC_BOOTSTRAP"] = "1"
    os.execvp(os.environ[RUSTDOC_OF], [os.environ[RUSTDOC_OF], *sys.argv[1:]])


def documented():
    """What rustdoc knows of the crate."""
    environment = dict(os.environ, RUSTDOC=os.path.abspath(__file__))
    environment[RUSTDOC_OF] = os.environ.get("RUSTDOC", "rustdoc")
    command = ["cargo", "rustdoc", "--quiet", "--package", "protolink", "--all-features", "--"]
    command += ["-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"]
    subprocess.run(command, cwd=WORKSPACE, env=environment, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(WORKSPACE, "target"))
    with open(os.path.join(target, "doc", "protolink.json"), encoding="utf-8") as file:
        return json.load(file)


def examples(docs):
    """The Rust in the code blocks of a documentation text."""
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```", docs or "", re.MULTILINE | re.DOTALL)
    return "\n".join(code for tags, code in blocks if not re.search(r"text|toml|sh|json|console", tags))


class Crate:
    def __init__(self, documentation):
        self.index = documentation["index"]
        self.items = {}
        self.walk(self.index[str(documentation["root"])], "protolink")

    def walk(self, module, path):
        """Takes note of what a user can name, once, by its shortest path."""
        for identifier in module["inner"]["module"]["items"]:
            item = self.index.get(str(identifier))
            if item is None or item["visibility"] != "public" or hidden(item):
                continue
            (kind, inner), name = next(iter(item["inner"].items())), item["name"]
            if kind == "use":
                target = self.index.get(str(inner["id"]))
                if target is None or target["crate_id"] != module["crate_id"] or hidden(target):
                    continue
                name, item, kind = inner["name"], target, next(iter(target["inner"]))
            if kind == "module":
                self.walk(item, f"{path}::{name}")
            known = self.items.get(item["id"])
            if known is None or known[0].count("::") > path.count("::") + 1:
                self.items[item["id"]] = (f"{path}::{name}", kind, item)

    def methods(self, item, kind):
        """The methods of a type or trait."""
        inner = item["inner"][kind]
        if kind == "trait":
            owned = inner["items"]
        else:
            implementations = [self.index[str(i)]["inner"]["impl"] for i in inner.get("impls", []) if str(i) in self.index]
            owned = [i for block in implementations if block["trait"] is None for i in block["items"]]
        for identifier in owned:
            method = self.index.get(str(identifier))
            visible = method and (kind == "trait" or method["visibility"] == "public") and not hidden(method)
            if visible and "function" in method["inner"]:
                yield method

    def judged(self):
        """Each item's path and kind, and whether an example shows it."""
        for path, kind, item in sorted(self.items.values(), key=lambda entry: entry[0]):
            own = examples(item["docs"])
            if kind in ("struct", "enum", "trait", "function", "macro", "proc_macro", "type_alias", "module", "union"):
                yield path, kind, bool(own)
            if kind in ("struct", "enum", "trait"):
                methods = list(self.methods(item, kind))
                around = own + "".join(examples(method["docs"]) for method in methods)
                for method in methods:
                    called = re.search(rf"\b{method['name']}\b(::<.*?>)?\(", around)
                    shown = examples(method["docs"]) or called or own and is_getter(method)
                    yield f"{path}::{method['name']}", "method", bool(shown)


def hidden(item):
    return any("doc(hidden)" in str(attribute) for attribute in item["attrs"])


def is_getter(method):
    """Whether it only tells what its type's example has shown."""
    function = method["inner"]["function"]
    inputs = function["sig"]["inputs"]
    borrows = len(inputs) == 1 and inputs[0][0] == "self" and not inputs[0][1].get("borrowed_ref", {"is_mutable": True})["is_mutable"]
    return borrows and not function["header"]["is_async"]


def main():
    judged = list(Crate(documented()).judged())
    counts = collections.Counter((kind, shown) for _, kind, shown in judged)
    if "--count" in sys.argv:
        for kind in sorted({kind for kind, _ in counts}):
            print(f"{kind}: {counts[kind, True]} of {counts[kind, True] + counts[kind, False]}")
    missing = [f"{kind} {path}" for path, kind, shown in judged if not shown]
    print("\n".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
