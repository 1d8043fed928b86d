#!/usr/bin/env bash
# Plants each fault of tests/planted/*.patch into a copy of the tree and demands that the test which
# the patch names fails: a test of the suite, or of another binary that it names (`binary: cli`; `binary: orbit` for the
# tests inside the program, `binary: orbit_chess` for those inside the library), and built with the features that it names (`features: https`). Without arguments all of them; with arguments those named: run.sh replay-initial
#
# `run.sh --check` builds nothing: it demands that each patch applies and names a test that exists.
# `run.sh --shard 2/5` takes every fifth patch, from the second one on.
#
# The copy is built in the target folder of the tree (or CARGO_TARGET_DIR), so that dependencies are
# built once.
set -euo pipefail

test_of() { sed -n 's/^test: //p' "$1"; }
features_of() { sed -n 's/^features: //p' "$1"; }
binary_of() { sed -n 's/^binary: //p' "$1" | grep . || echo suite; }

if [ "${1:-}" = --check ]; then
    cd "$(dirname "$0")/../.."
    wrong=0
    for file in tests/planted/*.patch; do
        if ! patch -p1 --dry-run --force --silent <"$file" >/dev/null 2>&1; then
            echo "FAULT: $file does not apply"
            wrong=1
        fi
        binary=$(binary_of "$file")
        name=$(test_of "$file")
        # A binary of tests is a folder; a module is a file or a folder in it, or stands in the file above.
        place=tests/$binary
        modules=${name%"${name##*::}"}
        for module in ${modules//::/ }; do
            for next in "$place/$module" "$place/$module.rs" "${place%.rs}/$module.rs"; do
                [ -e "$next" ] && place=$next
            done
        done
        [ -n "$modules" ] || place=$place/main.rs
        [[ "$binary" = orbit* ]] && place=src
        if ! grep -rqsE "fn ${name##*::}\\b" "$place"; then
            echo "FAULT: $file names the test $name, which tests/$binary does not have"
            wrong=1
        fi
    done
    exit $wrong
fi

: "${ORBIT_CORPUS:?is not set; some of the tests named need the corpus}"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# Rare faults are found by all that the tests have.
export ORBIT_LONG=1
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
copy=$(mktemp -d)
# What was built last has a fault in it and is newer than the tree's own files: they become newer still.
trap 'rm -rf "$copy"; touch "$root/src/lib.rs" "$root/src/main.rs" "$root/tests/suite/main.rs"' EXIT
(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - --ignore-failed-read) |
    tar -xf - -C "$copy"
cd "$copy"
# The copies keep their times, and a run that was broken off may have left newer builds with a fault in them.
find src tests -type f -exec touch {} +

# Builds a binary of tests with features; prints its path.
build() {
    local kind=(--test "$1")
    [ "$1" = orbit ] && kind=(--bin orbit)
    [ "$1" = orbit_chess ] && kind=(--lib)
    cargo test "${kind[@]}" --features "${2:-}" --no-run --message-format=json 2>"$copy/build.log" |
        sed -n 's/.*"executable":"\([^"]*'"$1"'-[^"]*\)".*/\1/p' | tail -1
}

patches=()
if [ "${1:-}" = --shard ]; then
    [[ ${2:-} =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] || { echo "--shard wants a part and their number, such as 2/5"; exit 2; }
    part=${BASH_REMATCH[1]} parts=${BASH_REMATCH[2]}
    all=("$here"/*.patch)
    for ((k = part - 1; k < ${#all[@]}; k += parts)); do patches+=("${all[k]}"); done
elif [ $# -eq 0 ]; then
    patches=("$here"/*.patch)
else
    for name in "$@"; do patches+=("$here/$name.patch"); done
fi
for file in "${patches[@]}"; do echo "$(binary_of "$file") $(test_of "$file") $(features_of "$file")"; done | sort -u >"$copy/named"
while read -r binary test features; do
    tests=$(build "$binary" "$features")
    if [ -z "$tests" ]; then cat "$copy/build.log"; exit 1; fi
    "$tests" --exact "$test" >"$copy/run.log" 2>&1 || { cat "$copy/run.log"; echo "FAULT: $test fails without a fault"; exit 1; }
    grep -q '^test result: ok. 1 passed' "$copy/run.log" || { echo "FAULT: there is no test $test, or it is ignored here"; exit 1; }
done <"$copy/named"
echo "without a fault all named tests pass"

missed=0
for file in "${patches[@]}"; do
    name=$(basename "$file" .patch)
    test=$(test_of "$file")
    patch -p1 --quiet --no-backup-if-mismatch <"$file"
    # A fault that does not build is reported, and the others are planted all the same.
    tests=$(build "$(binary_of "$file")" "$(features_of "$file")") || tests=
    if [ -z "$tests" ]; then
        tail -20 "$copy/build.log"
        echo "FAULT: $name does not build"
        missed=1
    elif timeout 600 "$tests" --exact "$test" >"$copy/run.log" 2>&1; then
        echo "MISSED: $name: $test passes"
        missed=1
    else
        echo "caught: $name by $test"
    fi
    patch -p1 --quiet --no-backup-if-mismatch -R <"$file"
done
exit $missed
