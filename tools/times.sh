#!/usr/bin/env bash
# Times whole commands on a PGN file and prints them as a table: the shortest of seven runs, in seconds.
# usage: tools/times.sh FILE.pgn     (after cargo build --release)
set -euo pipefail
pgn=${1:?usage: tools/times.sh FILE.pgn}
orbit=$(cd "$(dirname "$0")/.." && pwd)/target/release/orbit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
reel=$folder/games.reel

# The shortest of seven runs of a command.
shortest() {
    for _ in 1 2 3 4 5 6 7; do
        begun=$(date +%s%N)
        "$@" >/dev/null 2>&1
        echo $(($(date +%s%N) - begun))
    done | sort -n | head -1 | awk '{ printf "%.3f", $1 / 1e9 }'
}

row() {
    printf '| %s | %s | %s | %s | %s |\n' "$@"
}

row command 'PGN, 1 thread' 'PGN, 2 threads' 'reel, 1 thread' 'reel, 2 threads'
row --- --- --- --- ---
row '`orbit index`' "$(shortest "$orbit" index "$pgn" -o "$reel" --threads 1)" \
    "$(shortest "$orbit" index "$pgn" -o "$reel" --threads 2)" '' ''
for query in true 'shift {Nd4 kf3}' 'shift flip flipcolor {Nd4 kf3}' 'shift {P[a2,b2,c2] p[a3]}' '#passedpawns >= 3'; do
    row "\`$query\`" "$(shortest "$orbit" scan --count "$query" "$pgn" --threads 1)" \
        "$(shortest "$orbit" scan --count "$query" "$pgn" --threads 2)" \
        "$(shortest "$orbit" scan --count "$query" "$reel" --threads 1)" \
        "$(shortest "$orbit" scan --count "$query" "$reel" --threads 2)"
done
