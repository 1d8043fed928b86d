#!/usr/bin/env bash
# Builds the program as it is given to others: target/dist/orbit without symbols, and orbit.debug beside it, which debuggers
# find by the name that the program holds. It reads 7z archives and answers requests over HTTP. Arguments go to cargo, such as `--features parquet`.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --profile dist --bin orbit --features sevenz,http "$@"
cd "${CARGO_TARGET_DIR:-target}/dist"
objcopy --only-keep-debug orbit orbit.debug
# A new file takes the name: cargo keeps the old one under another name too, and with its symbols.
objcopy --strip-all --add-gnu-debuglink=orbit.debug orbit orbit.stripped
mv orbit.stripped orbit
ls -l "$PWD/orbit" "$PWD/orbit.debug"
