#!/usr/bin/env bash
# Prints every STEP-th game of a PGN file, at most COUNT games, with only the Seven Tag Roster and the moves. Other tags and
# comments are removed. It does not support variations and glyphs, and stops at the first one.
# usage: tools/sample.sh GAMES.pgn [STEP [COUNT]] > games/sample.pgn
set -euo pipefail
tr -d '\r' < "${1:?usage: tools/sample.sh GAMES.pgn [STEP [COUNT]]}" |
awk -v step="${2:-11}" -v count="${3:-1000}" '
  BEGIN { split("Event Site Date Round White Black Result", names); for (n in names) roster[names[n]] = 1 }
  /^\[Event / { game++; wanted = game % step == 1 % step && kept < count; kept += wanted }
  !wanted { next }
  /^\[/ { if (substr($1, 2) in roster) print; next }
  { gsub(/ *\{[^{}]*\}/, "") }
  /[{}();$!?]/ { print "game " game ": only bare moves are understood: " $0 > "/dev/stderr"; exit 1 }
  { print }
'
