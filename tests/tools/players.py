"""Counts the games and positions of players in PGN files with python-chess, from each player's side.

Usage: python players.py GAMES.pgn > tests/data/players.tsv

A row has the player's name as in the test, the side, the number of games, twice the player's score in the games with a known
result, and the number of these games. For each entry of QUESTIONS, it also has the numbers of games and positions in which the
condition is true. The spellings of names are listed by hand here, whereas the program finds them by a rule. The games are not in
the repository.
"""

import sys

import chess
import chess.pgn

SPELLINGS = {
    "Carlsen, Magnus": ["Carlsen,M", "Carlsen, M.", "Carlsen, Magnus", "Carlsen,Magnus"],
    "Vachier Lagrave, M": [
        "Vachier Lagrave, M.",
        "Vachier Lagrave,M",
        "Vachier-Lagrave, Maxime",
    ],
    "Aronian, L.": ["Aronian,L", "Aronian, Levon", "Aronian, L."],
    "Kasparov": ["Kasparov, Garry", "Kasparov,G"],
    "Viswanathan Anand": ["Anand,V", "Anand, Viswanathan", "Anand, V."],
}

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}


def power(board, color):
    return sum(VALUES[piece.piece_type] for piece in board.piece_map().values() if piece.color == color)


def piece(board, square, kind):
    return board.piece_at(square) == chess.Piece(kind, chess.WHITE)


# Conditions on a board on which the player has White, each below the same condition in CQL.
QUESTIONS = {
    # Qh7
    "queen": lambda board, _: piece(board, chess.H7, chess.QUEEN),
    # k attackedby N
    "knight": lambda board, _: any(
        board.king(chess.BLACK) in board.attacks(square)
        for square in board.pieces(chess.KNIGHT, chess.WHITE)
    ),
    # power A - power a >= 3
    "ahead": lambda board, _: power(board, chess.WHITE) - power(board, chess.BLACK) >= 3,
    # mate btm
    "mate": lambda board, _: board.turn == chess.BLACK and board.is_checkmate(),
    # movenumber <= 10 wtm check
    "check": lambda board, number: number <= 10 and board.turn == chess.WHITE and board.is_check(),
}


def spelt(name):
    return " ".join(name.split())


def main():
    rows = {}
    with open(sys.argv[1], encoding="latin-1") as text:
        while True:
            offset = text.tell()
            headers = chess.pgn.read_headers(text)
            if headers is None:
                break
            asked = [
                (name, side)
                for name, spellings in SPELLINGS.items()
                for side, tag in ((chess.WHITE, "White"), (chess.BLACK, "Black"))
                if spelt(headers.get(tag, "?")) in spellings
            ]
            if not asked:
                continue
            end = text.tell()
            text.seek(offset)
            game = chess.pgn.read_game(text)
            text.seek(end)
            for name, side in asked:
                count(game, side, rows.setdefault((name, side), [0] * (3 + 2 * len(QUESTIONS))))
    print("player", "side", "games", "half_points", "results", *(
        f"{question}_{what}" for question in QUESTIONS for what in ("games", "positions")
    ), sep="\t")
    for name in SPELLINGS:
        for side in (chess.WHITE, chess.BLACK):
            print(name, "white" if side else "black", *rows.get((name, side), []), sep="\t")


def count(game, side, row):
    row[0] += 1
    points = {"1-0": 2, "0-1": 0, "1/2-1/2": 1}.get(game.headers.get("Result"))
    if points is not None:
        row[1] += points if side else 2 - points
        row[2] += 1
    found = [0] * len(QUESTIONS)
    node = game
    while node is not None:
        board = node.board()
        number = board.fullmove_number
        board = board if side else board.mirror()
        for place, question in enumerate(QUESTIONS.values()):
            found[place] += question(board, number)
        node = node.next()
    for place, positions in enumerate(found):
        row[3 + 2 * place] += positions > 0
        row[4 + 2 * place] += positions


main()
