#!/usr/bin/env bash
# Plants faults into a copy of the source tree. Each fault names a test, which must then fail. tests/planted/*.toml contain the
# faults; plant.py describes their format.
#
#   run.sh                  plants all faults
#   run.sh NAME..           plants the named faults
#   run.sh --part 3/20      plants a twentieth of the faults: parts are numbered from 0, and each needs few test binaries
#   run.sh --check          builds nothing: checks that the place of each fault and its test exist
#
# An environment variable switches each fault on, so the copy is built once for all of them. It is built in the target folder of the
# original tree (or CARGO_TARGET_DIR), so that dependencies are built only once. Afterwards, target/debug/orbit is the program of the
# copy.
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
# All runs use the same path, because cargo recognises earlier builds by the path.
copy=$target/planted
rm -rf "$copy"
mkdir -p "$copy"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - --ignore-failed-read) |
    tar -xf - -C "$copy"
cd "$copy"
# Cargo recognises packages by their place in the workspace and by their version. With a different version, cargo does not
# mistake builds of the copy for builds of the original tree.
sed -i 's/^version = .*/version = "0.0.0-planted"/; s/{ version = "[^"]*", path/{ path/' Cargo.toml
# The copied files keep their times, and an earlier run may have left newer builds that contain faults. So all files are touched.
find src crates shaders benches tests -type f -exec touch {} +
export CARGO_TARGET_DIR=$target
plant list "$@" >"$work/faults"

# Few tests run, so only readers, planners and engines are compiled with optimisations.
unoptimised=()
for package in orbit-chess orbit-chess-{command,database,query,search,visits,witness}; do
    unoptimised+=(--config "profile.dev.package.$package.opt-level=0")
done

# Builds a test binary and prints its path. If a planted fault does not compile, prints the errors.
build() {
    local kind=(--test "$1" --features full)
    case $1 in
    orbit_command | orbit_engine) kind=(--lib --package "orbit-chess-${1#orbit_}" --features gpu) ;;
    orbit_*) kind=(--lib --package "orbit-chess-${1#orbit_}") ;;
    esac
    cargo test "${unoptimised[@]}" "${kind[@]}" --no-run --message-format=json-render-diagnostics 2>"$work/build.log" |
        sed -n 's/.*"executable":"\([^"]*'"$1"'-[^"]*\)".*/\1/p' | tail -1 || {
        cat "$work/build.log" >&2
        return 1
    }
}

# Runs a test, or all rows of a table until one fails, in an environment with changed variables: run TESTS TEST VARIABLE.. Returns
# 0 if the test passes, 1 if it fails or takes four minutes, 2 if no part of it was executed, and 3 if the process was killed.
run() {
    local exact=() log=$work/run-$BASHPID.log codes
    # A test name may be a prefix of other test names. A table name is only a prefix of the names of its rows.
    ! "$1" --list 2>"$log" | grep -xF "$2: test" >/dev/null || exact=(--exact)
    # When grep ends, the test cannot print its next result and ends as well.
    timeout 240 env "${@:3}" "$1" "$2" "${exact[@]}" 2>&1 | tee "$log" | grep -aqm 1 '^test .* FAILED$'
    codes=("${PIPESTATUS[@]}")
    [ "${codes[2]}" != 0 ] || return 1
    [ "${codes[0]}" != 137 ] || return 3
    [ "${codes[0]}" = 0 ] || return 1
    grep -qE '^test result: ok. [1-9][0-9]* passed' "$log" || return 2
}

# Runs a test in one quarter of a long run after the other, starting with the quarter of this run, until it fails. Returns the codes
# of `run`.
quarters() {
    local quarter code passed=2
    for quarter in 0 1 2 3; do
        code=0
        run "$@" ORBIT_LONG=part "ORBIT_LONG_PART=$(((${ORBIT_LONG_PART:-0} + quarter) % 4))" || code=$?
        case $code in
        0) passed=0 ;;
        2) ;;
        *) return $code ;;
        esac
    done
    return $passed
}

# Runs a test with a sample of its trials or, if that executes no part of it, in all quarters. Returns the codes of `run`.
sample() {
    local code=0
    run "$@" -u ORBIT_LONG || code=$?
    [ $code != 2 ] || { code=0 && quarters "$@" || code=$?; }
    return $code
}

caught() {
    local name=$1 tests=$2 test=$3 begun=$SECONDS code=0
    ORBIT_PLANTED=$name quarters "$tests" "$test" || code=$?
    case $code in
    0) echo "MISSED: $name: $test passes" ;;
    1) echo "caught: $name by $test ($((SECONDS - begun)) s)" && echo "$name" >>"$work/caught" ;;
    2) echo "FAULT: no test $test ran" ;;
    3) echo "FAULT: $test was killed" ;;
    esac
}

# Waits until fewer jobs are running than there are cores. Most of the named tests use one core.
turn() { while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done; }

mapfile -t names < <(cut -f1 "$work/faults")
plant switch "${names[@]}"
declare -A built=() passing=()
while IFS=$'\t' read -r name binary test; do
    [ -z "${built[$binary]:-}" ] || continue
    built[$binary]=$(build "$binary")
    [ -n "${built[$binary]}" ] || { cat "$work/build.log"; exit 1; }
done <"$work/faults"
# A test that fails without a fault would seem to detect every fault.
while IFS=$'\t' read -r name binary test; do
    [ -z "${passing[$binary $test]:-}" ] || continue
    passing[$binary $test]=1
    turn
    (sample "${built[$binary]}" "$test" || { echo "$test" >>"$work/failing"; cat "$work/run-$BASHPID.log"; }) &
done <"$work/faults"
while IFS=$'\t' read -r name binary test; do
    turn
    caught "$name" "${built[$binary]}" "$test" &
done <"$work/faults"
wait
[ ! -e "$work/failing" ] || { sed 's/.*/FAULT: & fails without a fault/' "$work/failing"; exit 1; }
# A process that was killed has not detected the fault.
[ "$(sort -u "$work/caught" 2>/dev/null | wc -l)" = "$(wc -l <"$work/faults")" ]
