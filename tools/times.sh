#!/usr/bin/env bash
# Times whole commands on a PGN file and prints them as a table: the shortest of seven runs, in seconds.
#
# usage: tools/times.sh [--peers] FILE.pgn     (after cargo build --release)
#
# With --peers the same games go to CQL and to scoutfish too, where the programs `cql` and `scoutfish` are in PATH: the
# transform of the first row to CQL, which answers it, and to scoutfish an index and its search for one placement, since it
# has no transforms. Programs of which a run takes more than ten seconds run once. RUNS sets another number of runs.
set -euo pipefail
usage='usage: tools/times.sh [--peers] FILE.pgn'
peers=false
[ "${1:-}" = --peers ] && { peers=true; shift; }
pgn=$(realpath -- "${1:?$usage}")
orbit=$(cd "$(dirname "$0")/.." && pwd)/target/release/orbit
[ -x "$orbit" ] || { echo "there is no $orbit: build it with cargo build --release" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
reel=$folder/games.reel
runs=${RUNS:-7}

# The shortest time of a command, in seconds.
shortest() {
    local best='' begun time
    for _ in $(seq "$runs"); do
        begun=$(date +%s%N)
        "$@" >/dev/null 2>"$folder/said" || { echo "failed: $*" >&2; cat "$folder/said" >&2; exit 1; }
        time=$(($(date +%s%N) - begun))
        [ -z "$best" ] || [ "$time" -lt "$best" ] && best=$time
        [ "$time" -lt 10000000000 ] || break
    done
    awk -v time="$best" 'BEGIN { printf "%.3f", time / 1e9 }'
}

row() {
    printf '| %s | %s | %s | %s | %s |\n' "$@"
}

transform='shift flip flipcolor {Nd4 kf3}'
row command 'PGN, 1 thread' 'PGN, 2 threads' 'reel, 1 thread' 'reel, 2 threads'
row --- --- --- --- ---
row '`orbit index`' "$(shortest "$orbit" index "$pgn" -o "$reel" --threads 1)" \
    "$(shortest "$orbit" index "$pgn" -o "$reel" --threads 2)" '' ''
for query in true 'shift {Nd4 kf3}' "$transform" 'shift {P[a2,b2,c2] p[a3]}' '#passedpawns >= 3' mate; do
    row "\`$query\`" "$(shortest "$orbit" scan --count "$query" "$pgn" --threads 1 --no-reel)" \
        "$(shortest "$orbit" scan --count "$query" "$pgn" --threads 2 --no-reel)" \
        "$(shortest "$orbit" scan --count "$query" "$reel" --threads 1)" \
        "$(shortest "$orbit" scan --count "$query" "$reel" --threads 2)"
done
$peers || exit 0

if command -v cql >/dev/null; then
    for query in "$transform" mate; do
        printf 'cql() %s\n' "$query" >"$folder/query.cql"
        of_threads() { shortest cql -input "$pgn" -output "$folder/out.pgn" -threads "$1" "$folder/query.cql"; }
        row "CQL: \`$query\`" "$(of_threads 1)" "$(of_threads 2)" '' ''
    done
else
    echo 'cql is not in PATH: no row for CQL' >&2
fi
if command -v scoutfish >/dev/null; then
    # The index is written beside the games.
    ln -s "$pgn" "$folder/games.pgn"
    row 'scoutfish: `make`' "$(shortest scoutfish make "$folder/games.pgn")" '' '' ''
    row 'scoutfish: `Nd4 kf3`' '' '' \
        "$(shortest scoutfish scout "$folder/games.scout" '{' '"sub-fen":' '"8/8/8/8/3N4/5k2/8/8"' '}')" ''
else
    echo 'scoutfish is not in PATH: no row for scoutfish' >&2
fi
