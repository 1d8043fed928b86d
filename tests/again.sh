#!/usr/bin/env bash
# Runs a test command many times while other processes keep the processor busy, and stops at the first failure. A test that
# passes once may depend on the clock, on a free port or on free memory.
#
#   again.sh TIMES COMMAND..
#
# Two background processes keep the processor busy. AGAIN_LOADS sets a different number of them.
set -euo pipefail
if ! [[ ${1:-} =~ ^[1-9][0-9]*$ && $# -ge 2 ]]; then
    echo "usage: again.sh TIMES COMMAND.., with at least one run" >&2
    exit 2
fi
times=$1
shift
log=$(mktemp)
loads=()
end() {
    [ ${#loads[@]} = 0 ] || kill "${loads[@]}"
    rm -f "$log"
}
trap end EXIT
for _ in $(seq "${AGAIN_LOADS:-2}"); do
    sh -c 'while :; do :; done' &
    loads+=($!)
done
for run in $(seq "$times"); do
    begun=$SECONDS
    if ! "$@" >"$log" 2>&1; then
        cat "$log"
        echo "run $run of $times failed after $((SECONDS - begun)) s"
        exit 1
    fi
    echo "run $run of $times passed in $((SECONDS - begun)) s: $(grep -E '^test result' "$log" | tail -1)"
done
