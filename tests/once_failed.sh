#!/usr/bin/env bash
# Repeats the steps and tests that once failed for reasons other than the tested change: tests that wait for events on a busy
# machine, and tests that need much memory, a browser, Ray or SwiftShader. All of them run at the same time, beside two processes
# that keep the processor busy.
#
#   once_failed.sh TIMES
#
# Needs the corpus (ORBIT_CORPUS), Chromium and the packages that `.ci/run` installs. Prints the duration of each run in seconds,
# and stops at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export ORBIT_GPU_REQUIRED=1 ORBIT_BROWSER_REQUIRED=1 ORBIT_PIPELINE_CACHE=off GALLIVM_PERF=nopt
export ORBIT_LONG=part ORBIT_LONG_PART=${ORBIT_LONG_PART:-0}
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/nonexistent} ORBIT_WHEELS=$target/once-failed

# Runs everything once.
once() {
    local driver=/usr/lib/chromium/vk_swiftshader_icd.json work others=() other code=0
    work=$(mktemp -d)
    VK_DRIVER_FILES=$driver VK_ICD_FILENAMES=$driver ORBIT_TEST_ADAPTER=SwiftShader \
        "$SUITE" 'tables::|find::|golden::gpu_answers|gpu::' --skip differential --skip is_lost --skip map_that_fails \
        --skip vectors_of_the_language --skip further_rows --skip mates >"$work/swiftshader" 2>&1 &
    others+=($!)
    tests/clusters/run.sh ray >"$work/ray" 2>&1 &
    others+=($!)
    "$SUITE" 'golden::gpu_within_tight|use_everything' >"$work/suite" 2>&1 || code=$?
    "$PAGE" >"$work/page" 2>&1 || code=$?
    "$CLI" 'memory|serve::http|jobs::kills|many_tag_pairs' >"$work/cli" 2>&1 || code=$?
    for other in "${others[@]}"; do wait "$other" || code=$?; done
    # If all tests passed, prints how many there were.
    if [ $code = 0 ]; then grep -h '^test result\| passed in ' "$work"/*; else cat "$work"/*; fi
    rm -rf "$work"
    return $code
}

if [ "${1:-}" = --once ]; then
    once
    exit
fi
built() {
    cargo test --features full --test "$1" --no-run --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*'"$1"'-[^"]*\)".*/\1/p' | tail -1
}
SUITE=$(built suite) CLI=$(built cli) PAGE=$(built page)
export SUITE CLI PAGE
tests/again.sh "${1:?is not given: the number of runs}" "$0" --once
