#!/usr/bin/env bash
# Runs chessops itself, in the version that package.json names, and compares its results with tests/data/chessops.tsv,
# which the tests read. Needs node and npm. With --update, writes the results to that file.
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
