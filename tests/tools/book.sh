#!/usr/bin/env bash
# Builds the site from docs/ into the given folder, and checks its links. Installs mdBook in a temporary folder if it is missing.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
if ! command -v mdbook >/dev/null; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    # Building mdBook without optimisations takes 90 processor seconds, and it then writes the site in three.
    cargo install mdbook --version 0.5.4 --locked --debug --no-default-features --features search --quiet \
        --root "$work" --target-dir "$work/target"
    PATH=$PATH:$work/bin
fi
mdbook build docs --dest-dir "$folder"
tests/tools/book-links.py "$folder"
