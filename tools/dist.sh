#!/usr/bin/env bash
# Builds the program for distribution: target/dist/orbit without symbols, and its symbols in orbit.debug beside it. Debuggers find
# the symbol file by its name, which is stored in the program. The build supports 7z archives and HTTP requests. Arguments, such as
# `--features parquet`, are passed to cargo.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --profile dist --bin orbit --features sevenz,http "$@"
cd "${CARGO_TARGET_DIR:-target}/dist"
objcopy --only-keep-debug orbit orbit.debug
# The stripped program is written to a new file, because cargo has a hard link to the old file, which keeps its symbols.
objcopy --strip-all --add-gnu-debuglink=orbit.debug orbit orbit.stripped
mv orbit.stripped orbit
ls -l "$PWD/orbit" "$PWD/orbit.debug"
