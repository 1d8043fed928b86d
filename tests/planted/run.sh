#!/usr/bin/env bash
# Plants faults into a copy of the tree and demands that the test which each fault names fails. tests/planted/*.toml hold the
# faults; plant.py says how they are found and written.
#
#   run.sh                  all faults
#   run.sh NAME..           those named
#   run.sh --part 3/20      a twentieth of them: parts are numbered from 0, and each has few binaries
#   run.sh --check          builds nothing: each fault has its place, and names a test that exists
#
# Most faults are switches: the copy is built once for all of them. The rest are planted one after the other. The copy is built
# in the target folder of the tree (or CARGO_TARGET_DIR), so that dependencies are built once; target/debug/orbit is then the
# program of the copy.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}
plant() { "$python" "$here/plant.py" "$@"; }
if [ "${1:-}" = --check ]; then
    cd "$root"
    plant check
    exit
fi

: "${ORBIT_CORPUS:?is not set; some of the tests named need the corpus}"
target=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One path for all runs, which cargo knows its builds by.
copy=$target/planted
rm -rf "$copy"
mkdir -p "$copy"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - --ignore-failed-read) |
    tar -xf - -C "$copy"
cd "$copy"
# Cargo knows packages by their place in a workspace and by their version: what is built of the copy must not pass for the tree's.
sed -i 's/^version = .*/version = "0.0.0-planted"/; s/{ version = "[^"]*", path/{ path/' Cargo.toml
# The copies keep their times, and an earlier run may have left newer builds with faults in them.
find src crates shaders benches tests -type f -exec touch {} +
export CARGO_TARGET_DIR=$target
plant list "$@" >"$work/faults"

# Few tests run, so what is not an engine or a reader is not worth optimising.
unoptimised=()
for package in orbit-chess orbit-chess-command orbit-chess-search; do
    unoptimised+=(--config "profile.dev.package.$package.opt-level=0")
done

# Builds a binary of tests and prints its path.
build() {
    local kind=(--test "$1" --features full)
    case $1 in
    orbit_command | orbit_engine) kind=(--lib --package "orbit-chess-${1#orbit_}" --features gpu) ;;
    orbit_*) kind=(--lib --package "orbit-chess-${1#orbit_}") ;;
    esac
    cargo test "${unoptimised[@]}" "${kind[@]}" --no-run --message-format=json 2>"$work/build.log" |
        sed -n 's/.*"executable":"\([^"]*'"$1"'-[^"]*\)".*/\1/p' | tail -1
}

# Runs a test, or all rows of a table: 0 if it passes, 1 if it fails or takes ten minutes, 2 if the quarter has none of it.
run() {
    local exact=()
    # Other tests may begin with the name of a test, but not with that of a table.
    ! "$1" --list 2>"$work/run.log" | grep -xF "$2: test" >/dev/null || exact=(--exact)
    timeout 600 "$1" "$2" "${exact[@]}" >"$work/run.log" 2>&1 || return 1
    grep -qE '^test result: ok. [1-9][0-9]* passed' "$work/run.log" || return 2
}

# The quarters of the long trials, first the one of this run.
quarters=()
for i in 0 1 2 3; do quarters+=($(((${ORBIT_LONG_PART:-0} + i) % 4))); done

# Tells whether a test passes on the first quarter that has any of it.
passes() {
    local quarter code
    for quarter in "${quarters[@]}"; do
        code=0
        ORBIT_LONG=part ORBIT_LONG_PART=$quarter run "$@" || code=$?
        [ $code = 2 ] || return $code
    done
    return 1
}

# Runs a test on one quarter of its trials after the other, until it fails. The first finds most faults.
fails() {
    local quarter code ran=
    for quarter in "${quarters[@]}"; do
        code=0
        ORBIT_LONG=part ORBIT_LONG_PART=$quarter run "$@" || code=$?
        [ $code != 1 ] || return 0
        [ $code = 2 ] || ran=1
    done
    [ -n "$ran" ] || { echo "FAULT: no test $2 ran"; exit 1; }
    return 1
}

missed=0
caught() {
    local name=$1 tests=$2 test=$3
    if ORBIT_PLANTED=$name fails "$tests" "$test"; then
        echo "caught: $name by $test"
    else
        echo "MISSED: $name: $test passes"
        missed=1
    fi
}

mapfile -t switches < <(awk -F'\t' '$4 == "switch" { print $1 }' "$work/faults")
if [ ${#switches[@]} -gt 0 ]; then
    plant switch "${switches[@]}"
    declare -A built=()
    while IFS=$'\t' read -r name binary test way; do
        [ "$way" = switch ] || continue
        if [ -z "${built[$binary]:-}" ]; then
            built[$binary]=$(build "$binary")
            [ -n "${built[$binary]}" ] || { cat "$work/build.log"; exit 1; }
        fi
        tests=${built[$binary]}
        if [ -z "${built[$test]:-}" ]; then
            passes "$tests" "$test" || { cat "$work/run.log"; echo "FAULT: $test fails without a fault"; exit 1; }
            built[$test]=passes
        fi
        caught "$name" "$tests" "$test"
    done <"$work/faults"
fi
while IFS=$'\t' read -r name binary test way; do
    [ "$way" = alone ] || continue
    for file in $(cd "$root" && git ls-files src crates shaders); do cmp -s "$root/$file" "$file" || cp "$root/$file" "$file"; done
    plant alone "$name"
    tests=$(build "$binary")
    [ -n "$tests" ] || { cat "$work/build.log"; echo "FAULT: $name does not build"; missed=1; continue; }
    caught "$name" "$tests" "$test"
done <"$work/faults"
exit $missed
