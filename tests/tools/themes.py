"""Checks hits of themes by rules that are independent of the queries, with python-chess.

Usage: orbit scan --first --unique=moves --limit 20 --format jsonl -e QUERY GAMES.pgn | python themes.py THEME

QUERY is the query of THEME. The rule for the theme judges the first hit in each of the first 20 games with hits. The rule uses
only the position and the following move, not the query. The script prints the theme, the number of judged hits, and the number of
hits that fit the theme's name. Themes without a rule are judged by a person, who also sees the moves after the hits
(`theme_hits.py`, and the verdicts in `../data/theme-verdicts.tsv`).
"""

import json
import sys

import chess
import chess.pgn

JUDGED_MAX = 20


def absolute_pin(board, _):
    return any(
        board.is_pinned(color, square)
        for color in chess.COLORS
        for square, piece in board.piece_map().items()
        if piece.color == color and piece.piece_type not in (chess.PAWN, chess.KING)
    )


# Pawns. A pawn is a pair of a file and a rank, both from 0. Ranks are counted from the side of the pawn.


def pawns(board, color, pieces=chess.PAWN):
    squares = board.pieces(pieces, color)
    return {(chess.square_file(s), chess.square_rank(s) if color else 7 - chess.square_rank(s)) for s in squares}


def passed(board, color):
    theirs = [(file, 7 - rank) for file, rank in pawns(board, not color)]
    return {
        (file, rank)
        for file, rank in pawns(board, color)
        if not any(abs(file - other) <= 1 and ahead > rank for other, ahead in theirs)
    }


def isolated(own):
    return {(file, rank) for file, rank in own if not any(abs(file - other) == 1 for other, _ in own)}


def either(rule):
    """Turns a rule for one colour into a rule that holds if the original rule holds for either colour."""
    return lambda board, _: any(rule(board, color) for color in chess.COLORS)


def on_files(own, wanted):
    return sum(file in wanted for file, _ in own)


@either
def isolated_queens_pawn(board, color):
    """The only pawn of a side on the d-file is isolated, on its fourth rank and not passed. No enemy pawn is on the d-file."""
    own, theirs = pawns(board, color), pawns(board, not color)
    single = on_files(own, {3}) == 1 and (3, 3) in isolated(own)
    return single and on_files(theirs, {3}) == 0 and (3, 3) not in passed(board, color)


@either
def hanging_pawns(board, color):
    """An island of two pawns side by side, on c4 and d4, both on half-open files."""
    own, theirs = pawns(board, color), pawns(board, not color)
    island = {(file, rank) for file, rank in own if file in (1, 2, 3, 4)}
    return island == {(2, 3), (3, 3)} and on_files(theirs, {2, 3}) == 0


@either
def tripled_pawns(board, color):
    return any(on_files(pawns(board, color), {file}) >= 3 for file in range(8))


@either
def doubled_isolated_pawns(board, color):
    own = pawns(board, color)
    return any(on_files(isolated(own), {file}) >= 2 for file in range(8))


@either
def backward_pawn(board, color):
    """A pawn is behind all pawns of its side on the neighbouring files, of which there is at least one. No enemy pawn is ahead of
    it on its file, and an enemy pawn guards the square in front of it."""
    own, theirs = pawns(board, color), {(file, 7 - rank) for file, rank in pawns(board, not color)}
    for file, rank in own:
        beside = [other for at, other in own if abs(at - file) == 1]
        guards = {(file - 1, rank + 2), (file + 1, rank + 2)} & theirs
        if beside and min(beside) > rank and guards and not any(at == file and r > rank for at, r in theirs):
            return True
    return False


@either
def protected_passed_pawn(board, color):
    own = pawns(board, color)
    return any({(file - 1, rank - 1), (file + 1, rank - 1)} & own for file, rank in passed(board, color))


@either
def connected_passed_pawns(board, color):
    pair = passed(board, color)
    return any(other - file == 1 and abs(r - rank) <= 1 for file, rank in pair for other, r in pair)


@either
def pawn_on_the_seventh(board, color):
    return any(rank == 6 for _, rank in pawns(board, color))


@either
def opposite_majorities(board, color):
    """One side has a majority on the queen's side, the other on the king's side. Both have equally many pawns, none on d."""
    own, theirs = pawns(board, color), pawns(board, not color)
    west, east = {0, 1, 2}, {4, 5, 6, 7}
    level = len(own) == len(theirs) and on_files(own | theirs, {3}) == 0
    return level and on_files(own, west) > on_files(theirs, west) and on_files(own, east) < on_files(theirs, east)


def five_rams(board, _):
    return len({(file, 7 - rank - 1) for file, rank in pawns(board, chess.BLACK)} & pawns(board, chess.WHITE)) >= 5


# Pieces.


@either
def knight_outpost(board, color):
    """A knight in the enemy's half that a pawn protects and that no enemy pawn can ever attack."""
    own, theirs = pawns(board, color), [(file, 7 - rank) for file, rank in pawns(board, not color)]
    for file, rank in pawns(board, color, chess.KNIGHT):
        protected = {(file - 1, rank - 1), (file + 1, rank - 1)} & own
        if rank >= 4 and protected and not any(abs(at - file) == 1 and r > rank for at, r in theirs):
            return True
    return False


@either
def fianchetto(board, color):
    bishops, own = pawns(board, color, chess.BISHOP), pawns(board, color)
    return any((file, 1) in bishops and (file, 2) in own for file in (1, 6))


@either
def rook_on_the_seventh(board, color):
    return any(rank == 6 for _, rank in pawns(board, color, chess.ROOK))


@either
def two_rooks_on_the_seventh(board, color):
    return sum(rank == 6 for _, rank in pawns(board, color, chess.ROOK)) >= 2


def on_a_file(board, color, *kinds):
    """Returns true if pieces are on a file in this order, seen from their own side, with nothing between them."""
    for file in chess.FILE_NAMES:
        men = [board.piece_at(chess.parse_square(f"{file}{rank}")) for rank in range(1, 9)]
        men = [man for man in (men if color else men[::-1]) if man]
        wanted = [chess.Piece(kind, color) for kind in kinds]
        if any(men[at : at + len(wanted)] == wanted for at in range(len(men))):
            return True
    return False


@either
def doubled_rooks(board, color):
    return on_a_file(board, color, chess.ROOK, chess.ROOK)


@either
def knight_blockade(board, color):
    far = {(file, 7 - rank) for file, rank in pawns(board, not color, chess.KNIGHT)}
    return any(rank > 1 and (file, rank + 1) in far for file, rank in passed(board, color))


@either
def rook_behind_passed_pawn(board, color):
    """A passed pawn on its fourth rank or farther, with a rook of its side as the nearest man behind it."""
    for file, rank in passed(board, color):
        at = [chess.square(file, r if color else 7 - r) for r in range(rank - 1, -1, -1)]
        men = [board.piece_at(square) for square in at if board.piece_at(square)]
        if rank >= 3 and men and men[0] == chess.Piece(chess.ROOK, color):
            return True
    return False


# Endings and material. Men are letters, as in a FEN.


def men(board, color):
    letters = (piece.symbol().upper() for piece in board.piece_map().values() if piece.color == color)
    return "".join(sorted(letters, key="KQRBNP".index))


def sides(board):
    return {men(board, color) for color in chess.COLORS}


def has_only_pawns(board):
    return set("".join(sides(board))) <= set("KP")


def kings(board):
    white, black = board.king(chess.WHITE), board.king(chess.BLACK)
    return abs(chess.square_file(white) - chess.square_file(black)), abs(chess.square_rank(white) - chess.square_rank(black))


def opposition(board, _):
    return has_only_pawns(board) and sorted(kings(board)) == [0, 2]


def distant_opposition(board, _):
    between = chess.SquareSet.between(board.king(chess.WHITE), board.king(chess.BLACK))
    return has_only_pawns(board) and kings(board) in ((0, 4), (0, 6)) and not between & board.occupied


def rook_and_pawn_v_rook(board, _):
    return sides(board) == {"KRP", "KR"}


def lights(board, color):
    """Returns the colours of the squares of a side's bishops: True for light."""
    return {bool(chess.BB_SQUARES[s] & chess.BB_LIGHT_SQUARES) for s in board.pieces(chess.BISHOP, color)}


def queen_v_rook(board, _):
    return sides(board) == {"KQ", "KR"}


def two_knights(board, _):
    return sides(board) == {"KNN", "K"}


def bishop_and_knight(board, _):
    return sides(board) == {"KBN", "K"}


def bare_king(board, _):
    return "K" in sides(board)


@either
def wrong_bishop(board, color):
    """A bishop and rook's pawns on one file, whose last square the bishop cannot reach, against a bare king near that square."""
    files = {file for file, _ in pawns(board, color)}
    if men(board, not color) != "K" or not men(board, color).startswith("KB") or files not in ({0}, {7}):
        return False
    corner = chess.square(files.pop(), 7 if color else 0)
    reached = bool(chess.BB_SQUARES[corner] & chess.BB_LIGHT_SQUARES) in lights(board, color)
    return not reached and chess.square_distance(board.king(not color), corner) <= 1


@either
def bishops_against_knights(board, color):
    own, theirs = men(board, color), men(board, not color)
    bishops = len(lights(board, color)) == 2 and "N" not in own
    return bishops and theirs.count("N") == 2 and "B" not in theirs


def surplus(board, color, kinds):
    return sum(men(board, color).count(kind) - men(board, not color).count(kind) for kind in kinds)


@either
def queen_v_two_rooks(board, color):
    own, theirs = men(board, color), men(board, not color)
    major = [own.count("Q"), own.count("R"), theirs.count("Q"), theirs.count("R")]
    return major == [1, 0, 0, 2] and surplus(board, color, "BN") == 0


@either
def two_queens(board, color):
    return men(board, color).count("Q") >= 2


@either
def three_knights(board, color):
    return men(board, color).count("N") >= 3


def mirrored_position(board, _):
    return board.mirror().board_fen() == board.board_fen() and board.king(chess.WHITE) != chess.E1


def mirrored_pawns(board, _):
    return pawns(board, chess.WHITE) == pawns(board, chess.BLACK) and 0 < len(pawns(board, chess.WHITE)) < 8


def main():
    rule = globals()[sys.argv[1].replace("-", "_")]
    judged, right, games = 0, 0, set()
    for line in sys.stdin:
        row = json.loads(line)
        if row["game"] in games or len(games) == JUDGED_MAX:
            continue
        games.add(row["game"])
        board = chess.Board(row["fen"])
        move = board.parse_san(row["next"]) if row["next"] else None
        judged += 1
        right += bool(rule(board, move))
    print(sys.argv[1], judged, right, sep="\t")


main()
