#!/usr/bin/env bash
# Bare games from a PGN file: every STEP-th one, at most COUNT, with the Seven Tag Roster and the moves of the
# main line; no other tag, no comment. Knows no variations and no glyphs, and stops when it meets any.
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
