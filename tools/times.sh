#!/usr/bin/env bash
# Times whole commands on a PGN file and prints them as a table: the shortest of seven runs, in seconds.
#
# usage: tools/times.sh [--peers] FILE.pgn     (after cargo build --release, or with ORBIT_PROGRAM)
#
# With --peers, a second table compares orbit with other programs on the same games, on one thread each. It contains CPU seconds,
# on which other work on the machine has little effect. pgn-extract reads the games and checks their moves. CQL runs the query with
# transforms of the first row. scoutfish has no transforms; it searches its index for one placement. A program has a row only if it
# is in PATH as `pgn-extract`, `cql` or `scoutfish`. A command that takes more than ten seconds runs once. RUNS sets the number of
# runs.
set -euo pipefail
usage='usage: tools/times.sh [--peers] FILE.pgn'
peers=false
[ "${1:-}" = --peers ] && { peers=true; shift; }
pgn=$(realpath -- "${1:?$usage}")
orbit=${ORBIT_PROGRAM:-$(cd "$(dirname "$0")/.." && pwd)/target/release/orbit}
[ -x "$orbit" ] || { echo "there is no $orbit: build it with cargo build --release" >&2; exit 2; }
# Debian installs chess programs in this folder.
PATH=$PATH:/usr/games
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
reel=$folder/games.reel
runs=${RUNS:-7}

# Prints the shortest elapsed time of a command, in seconds.
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

# Prints the lowest CPU time of a command, in seconds.
spent() {
    local best='' time TIMEFORMAT='%U %S %R'
    for _ in $(seq "$runs"); do
        time=$({ time "$@" >/dev/null 2>"$folder/said"; } 2>&1) || { echo "failed: $*" >&2; cat "$folder/said" >&2; exit 1; }
        best=$(awk -v best="$best" '{ used = $1 + $2; print best == "" || used < best ? used : best }' <<<"$time")
        awk '{ exit $3 > 10 }' <<<"$time" || break
    done
    printf '%.3f' "$best"
}

peer() {
    printf '| %s | `%s` | %s | %s |\n' "$@"
}

printf '\n| tool | command | hits | seconds |\n| --- | --- | --- | --- |\n'
hits=$("$orbit" scan -q --count "$transform" "$reel" | awk '{ out = out (NR > 1 ? ", " : "") $3 " " $1 } END { print out }')
scan=("$orbit" scan --count --threads 1 "$transform")
peer orbit "orbit scan --count --threads 1 '$transform' games.pgn" "$hits" "$(spent "${scan[@]}" "$pgn" --no-reel)"
peer orbit "orbit scan --count --threads 1 '$transform' games.reel" "$hits" "$(spent "${scan[@]}" "$reel")"
if command -v pgn-extract >/dev/null; then
    peer pgn-extract 'pgn-extract -s -r games.pgn' 'none: it checks the moves' "$(spent pgn-extract -s -r "$pgn")"
else
    echo 'pgn-extract is not in PATH: no row for it' >&2
fi
if command -v cql >/dev/null; then
    printf 'cql() %s\n' "$transform" >"$folder/query.cql"
    of_cql=$(spent cql -input "$pgn" -output "$folder/out.pgn" -threads 1 "$folder/query.cql")
    peer CQL 'cql -input games.pgn -threads 1 query.cql' "$(grep -c '^\[Event ' "$folder/out.pgn") games" "$of_cql"
else
    echo 'cql is not in PATH: no row for CQL' >&2
fi
if command -v scoutfish >/dev/null; then
    # scoutfish writes its index beside the games, so it gets a link to them in the temporary folder.
    ln -s "$pgn" "$folder/games.pgn"
    peer scoutfish 'scoutfish make games.pgn' 'none: an index' "$(spent scoutfish make "$folder/games.pgn")"
    placement='{ "sub-fen": "8/8/8/8/3N4/5k2/8/8" }'
    peer scoutfish "scoutfish scout games.scout '$placement'" 'one placement' \
        "$(spent scoutfish scout "$folder/games.scout" "$placement")"
else
    echo 'scoutfish is not in PATH: no row for scoutfish' >&2
fi
