#!/usr/bin/env python3
"""Holds the dependencies to what the README promises: the Rust version, and no TLS nor C code unless it is asked for."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
TLS = {"rustls", "native-tls", "openssl", "openssl-sys", "aws-lc-rs", "aws-lc-sys", "ring", "schannel", "security-framework"}


def metadata(*arguments):
    command = ["cargo", "metadata", "--format-version=1", "--locked", *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def tree(*arguments):
    """The packages that a build of `protolink` compiles for this machine."""
    command = ["cargo", "tree", "--locked", "-p", "protolink", "--prefix=none", "--format={p}", "-e=normal,build", *arguments]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {tuple(line.split()[:2]) for line in output.splitlines()}


def version(text):
    return tuple(int(part) for part in text.split("-")[0].split(".")[:2])


def main():
    packages = {(package["name"], "v" + package["version"]): package for package in metadata("--all-features")["packages"]}
    own = next(package for (name, _), package in packages.items() if name == "protolink")["rust_version"]
    faults = []

    with_all = tree("--all-features", "--target=all")
    for key in sorted(with_all):
        needed = packages[key]["rust_version"]
        if needed and version(needed) > version(own):
            faults.append(f"{key[0]} {key[1]} needs Rust {needed}, and ours is {own}")

    with_none = tree()
    for key in sorted(with_none):
        if key[0] in TLS:
            faults.append(f"{key[0]} is built without a feature")
        if packages[key].get("links"):
            faults.append(f"{key[0]} links a C library, and is built without a feature")
    for feature in ("genai-http", "mcp-http", "testing-server", "sqlite"):
        faults += [f"{name} is built by `{feature}`" for name, _ in tree("--features", feature) if name in TLS]

    for fault in faults:
        print(fault)
    print(f"{len(with_all)} packages with all features, {len(with_none)} without any; Rust {own} is enough for them: {not faults}")
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
