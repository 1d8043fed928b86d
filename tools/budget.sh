#!/usr/bin/env bash
# Keeps the default build small. Fails if it has more crates than the last line of tools/budget.tsv allows, or if its machine code
# is more than 5 % larger than in that line. To raise the budget, add a line with a reason.
#
#   tools/budget.sh check    after cargo build --release
#   tools/budget.sh print    the figures of this build
set -euo pipefail
cd "$(dirname "$0")/.."
orbit=${CARGO_TARGET_DIR:-target}/release/orbit
[ -x "$orbit" ] || { echo "there is no $orbit: build it with cargo build --release" >&2; exit 2; }
crates=$(cargo tree --locked --package orbit-chess --edges normal,build --prefix none --format '{p}' | awk '$1 !~ /^orbit-chess/ { print $1, $2 }' | sort -u | wc -l)
code=$(size "$orbit" | awk 'NR == 2 { print $1 }')
echo "$crates crates, $code bytes of code"
case ${1:-} in
print) ;;
check)
    read -r date most_crates most_code reason < <(grep -v '^#' tools/budget.tsv | tail -n 1)
    echo "the budget of $date: $most_crates crates, $most_code bytes of code and 5 % more ($reason)"
    wrong=0
    if [ "$crates" -gt "$most_crates" ]; then
        echo "FAULT: more crates than the budget has; cargo tree --edges normal,build shows which" >&2
        wrong=1
    fi
    if [ "$code" -gt $((most_code * 105 / 100)) ]; then
        echo "FAULT: more code than the budget has" >&2
        wrong=1
    fi
    [ $wrong = 0 ] || echo "a line in tools/budget.tsv with a reason raises the budget" >&2
    exit $wrong
    ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
