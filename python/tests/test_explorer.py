"""Queries `orbit serve --http` with berserk, a Python client for lichess, and compares the responses with python-chess."""

import collections
import io
import itertools
import json
import subprocess

import berserk
import chess
import chess.pgn
import pytest
import requests

from conftest import ROOT, SAMPLE


@pytest.fixture(scope="module")
def explorer(orbit):
    command = [orbit, "serve", "--http", "127.0.0.1:0", str(ROOT / SAMPLE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as server:
        address = json.loads(server.stdout.readline())["address"]
        yield berserk.Client(requests.Session(), explorer_url=address).opening_explorer
        server.kill()


@pytest.fixture(scope="module")
def games():
    with open(ROOT / SAMPLE, encoding="utf-8") as file:
        return list(itertools.takewhile(bool, (chess.pgn.read_game(file) for _ in itertools.count())))


def position(board):
    """Returns a key of a position, from its board, side to move, castling rights and legal en passant capture."""
    return board.board_fen(), board.turn, board.clean_castling_rights(), board.ep_square if board.has_legal_en_passant() else None


def counted(games, play):
    """Returns the numbers of White's wins, draws and Black's wins after the moves `play`, for each next move and for all games."""
    start = chess.Board()
    for move in play:
        start.push_uci(move)
    moves, total = collections.defaultdict(collections.Counter), collections.Counter()
    for game in games:
        board, result, reached = game.board(), game.headers["Result"], False
        for move in game.mainline_moves():
            if position(board) == position(start):
                moves[board.uci(move)][result] += 1
                reached = True
            board.push(move)
        total[result] += reached or position(board) == position(start)
    return {move: results(count) for move, count in moves.items()}, results(total)


def results(count):
    return count["1-0"], count["1/2-1/2"], count["0-1"]


def told(answer):
    return answer["white"], answer["draws"], answer["black"]


@pytest.mark.parametrize("play", [[], ["e2e4", "c7c5"], ["g1f3", "d7d5", "d2d4"], ["d2d4", "g8f6", "c2c4", "e7e6"]])
def test_berserk_reads_what_python_chess_counts(explorer, games, play):
    moves, total = counted(games, play)
    answer = explorer.get_masters_games(play=play, moves=500)
    assert told(answer) == total
    assert {move["uci"]: told(move) for move in answer["moves"]} == moves


def test_berserk_reads_the_games_of_a_player(explorer, games):
    # Other spellings of the name count as well.
    own = [game for game in games if game.headers["White"].startswith("Carlsen")]
    answer = explorer.get_player_games("Carlsen,M", "white", moves=500, recent_games=len(own))
    assert len(own) > 3 and told(answer) == counted(own, [])[1]
    assert len(answer["recentGames"]) == len(own)


def test_berserk_reads_a_game(explorer, games):
    read = chess.pgn.read_game(io.StringIO(explorer.get_otb_master_game("7")))
    assert (read.headers, [*read.mainline_moves()]) == (games[6].headers, [*games[6].mainline_moves()])


def test_berserk_raises_what_is_wrong(explorer):
    with pytest.raises(berserk.exceptions.ResponseError, match="400.*`o` is no piece"):
        explorer.get_lichess_games(position="nonsense")
