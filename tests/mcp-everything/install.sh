#!/usr/bin/env bash
# Installs the reference MCP server (Node 20 and npm) and prints the file that starts it, for the variable
# PROTOLINK_MCP_EVERYTHING of the test `mcp`.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=2026.8.31
place="${CARGO_TARGET_DIR:-target}/mcp-everything"
entry="$place/node_modules/@modelcontextprotocol/server-everything/dist/index.js"

if [ ! -f "$entry" ] || [ "$(cat "$place/version" 2>/dev/null)" != "$version" ]; then
  mkdir -p "$place"
  npm install --silent --no-save --prefix "$place" "@modelcontextprotocol/server-everything@$version" >&2
  printf '%s\n' "$version" > "$place/version"
fi
realpath "$entry"
