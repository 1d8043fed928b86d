"""Prints hits of a theme with the moves before and after them, so that a person can judge them.

Usage: orbit scan --first --unique=moves --sample 50 --seed 1 --format jsonl -e QUERY GAMES.pgn | python theme_hits.py

QUERY is the query of a theme. Each line describes a hit: the game, the ply, the position, the three half-moves before it in
brackets, the ten half-moves after it, and White's material lead in pawns, at the position and then after every second half-move.
`../data/theme-verdicts.tsv` contains the verdicts on these hits.
"""

import io
import json
import sys

import chess
import chess.pgn

BEFORE, AFTER = 3, 10
GAME_BYTES_MAX = 200_000
WORTH = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}


def lead(board):
    return sum(WORTH[piece.piece_type] * (1 if piece.color else -1) for piece in board.piece_map().values())


def game_of(row):
    with open(row["source"], "rb") as file:
        file.seek(row["offset"])
        return chess.pgn.read_game(io.StringIO(file.read(GAME_BYTES_MAX).decode("utf-8", "replace")))


def main():
    for line in sys.stdin:
        row = json.loads(line)
        game = game_of(row)
        board = game.board()
        at = row["ply"] - board.ply()
        moves, leads = [], [lead(board)]
        for move in list(game.mainline_moves())[: at + AFTER]:
            moves.append(board.san(move))
            board.push(move)
            leads.append(lead(board))
        before, after = " ".join(moves[max(0, at - BEFORE) : at]), " ".join(moves[at:])
        ended = row["result"] if len(moves) < at + AFTER else ""
        name = f"{row['white']} - {row['black']}, {row['date']}, ply {row['ply']}"
        print(f"{name}: {row['fen']} [{before}] {after} {ended} {leads[at::2]}")


main()
