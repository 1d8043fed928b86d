#!/usr/bin/env bash
# Runs chessops itself, in the version of package.json, and compares what it answers with
# tests/data/chessops.tsv, which the tests read. Needs node and npm. With --update the file is written.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
stored=$here/../data/chessops.tsv
cd "$here"
npm ci --silent --no-audit --no-fund
if [ "${1:-}" = --update ]; then
    node run.mjs >"$stored"
else
    node run.mjs | diff - "$stored" && echo "chessops answers as stored"
fi
