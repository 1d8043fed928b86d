"""Generates games with clock times and evaluations in comments, and prints the values that python-chess reads from them.

Usage: python measures.py games/sample.pgn tests/data/games/measures.pgn > tests/data/measures.tsv

The first moves of the first games of the sample get comments in the forms that lichess, chess.com, DGT boards and studies use,
some of them malformed. python-chess then reads the written file. A row that begins with `game` describes one game with its side
lines. For clocks, it has the number of positions with a clock, the sum of the clocks in milliseconds, and the sum of each clock
times its ply. The same three figures follow for the times of moves (only `%emt`, in milliseconds), for evaluations (in
centipawns) and for mates. A row that begins with `group` has a grouping of `orbit scan --stats`, a group, the numbers of its games
and positions in main lines, and the numbers of those that the query `Nf3 btm` hits. A row that begins with `where` has a condition
of `--where`, and the numbers of games and positions that this query hits under the condition.
"""

import collections
import random
import sys

import chess
import chess.pgn

GAMES = 220
PLIES = 30
CONTROLS = [
    "300+3", "180", "180+2", "60+0", "15+0", "600+0", "900+10", "1800+20", "-", "?", "40/7200:3600+30", "1/259200", "0+1",
    "*180",
]
ENDS = ["Normal", "Time forfeit", "Abandoned", "Rules infraction", "Ann won on time", "Bob won by resignation", "?", None]
TITLES = ["GM", "IM", "FM", "wgm", "BOT", "-", None, None, None]


def clock_text(ms, tenths):
    seconds, rest = divmod(ms, 1000)
    text = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{rest // 100}" if tenths else text


def eval_text(rng):
    if rng.random() < 0.1:
        return rng.choice(["#1", "#-3", "#12", "#+2", "#-1", "#0"])
    return f"{rng.gauss(0, 3):.{rng.choice([1, 2, 2, 2])}f}" + rng.choice(["", "", "", ",18"])


ODD = [
    "[%clk 0:30]", "[%clk  0:00:30]", "[%eval 1.234]", "[%eval ]", "[%cal Ge2e4]", "[%csl Rd5]", "[%emt 5]", "[%clk 0:00:-1]",
    "[%eval #]", "%clk 0:00:01", "[% clk 0:00:01]", "well played", "[%clk\n0:01:07]", "[%evp 0,1,2]", "[%mdl 8]",
]


def annotate(node, style, rng, state):
    side = node.turn()
    commands = []
    if style == "lichess":
        commands = [f"[%eval {eval_text(rng)}]", f"[%clk {clock_text(state[side], False)}]"]
    elif style == "chess.com":
        commands = [f"[%clk {clock_text(state[side], True)}]"]
    elif style == "board":
        commands = [f"[%clk {clock_text(state[side], False)}]", f"[%emt {clock_text(rng.randrange(90_000), False)}]"]
    elif style == "odd":
        commands = [rng.choice(ODD) for _ in range(rng.randrange(4))]
        if rng.random() < 0.5:
            commands.insert(rng.randrange(len(commands) + 1), f"[%clk {clock_text(state[side], rng.random() < 0.5)}]")
        if rng.random() < 0.5:
            commands.insert(rng.randrange(len(commands) + 1), f"[%eval {eval_text(rng)}]")
    node.comment = rng.choice(["", "", "good "]) + rng.choice([" ", "", " and "]).join(commands)


def make(path, out):
    rng = random.Random(17)
    with open(path) as games, open(out, "w") as file:
        for number in range(GAMES):
            source = chess.pgn.read_game(games)
            game = chess.pgn.Game()
            game.headers.clear()
            for name in ["White", "Black", "Result"]:
                game.headers[name] = source.headers[name]
            game.headers["TimeControl"] = rng.choice(CONTROLS)
            for name, values in [("Termination", ENDS), ("WhiteTitle", TITLES), ("BlackTitle", TITLES)]:
                value = rng.choice(values)
                if value is not None:
                    game.headers[name] = value
            style = rng.choice(["lichess", "lichess", "chess.com", "board", "odd", "bare"])
            base = rng.choice([20_000, 60_000, 180_000, 600_000, 5_400_000])
            state = {chess.WHITE: base, chess.BLACK: base}
            if style == "board" and rng.random() < 0.5:
                game.comment = "[%clk 1:30:00]"
            node = game
            for move in list(source.mainline_moves())[: rng.randrange(PLIES // 2, PLIES + 1)]:
                before, node = node, node.add_variation(move)
                side = node.turn()
                state[side] = max(0, state[side] + rng.choice([0, 2000]) - rng.randrange(base // 6))
                annotate(node, style, rng, state)
                other = next((other for other in before.board().legal_moves if other != move), None)
                if other is not None and style != "bare" and rng.random() < 0.05:
                    side_line = before.add_variation(other)
                    annotate(side_line, style, rng, state)
                    if not side_line.board().is_game_over():
                        annotate(side_line.add_variation(next(iter(side_line.board().legal_moves))), style, rng, state)
            print(game, file=file, end="\n\n")


def milliseconds(seconds):
    return None if seconds is None else round(seconds * 1000)


def centipawns(node):
    """Returns the centipawns, the number of moves to a mate, and the evaluation in pawns, which is infinite for a mate."""
    score = node.eval()
    if score is None:
        return None, None, None
    white = score.white()
    if not white.is_mate():
        return white.score(), None, white.score() / 100
    return None, white.mate(), float("inf") if white > chess.engine.Cp(0) else float("-inf")


def loss(node):
    """Returns the centipawns that the move lost for its player. Evaluations beyond ten pawns count as ten pawns."""
    if node.parent is None:
        return None
    before, after = (centipawns(node)[2] for node in [node.parent, node])
    if before is None or after is None:
        return None
    before, after = (round(100 * max(-10, min(10, pawns))) for pawns in [before, after])
    return max(0, before - after if node.parent.turn() == chess.WHITE else after - before)


def increment(text):
    if not text or any(letter in text for letter in "/:*"):
        return None
    base, _, more = text.partition("+")
    return int(more or 0) * 1000 if base.isdigit() else None


def spent(node, game):
    if node.emt() is not None:
        return milliseconds(node.emt())
    gain, before = increment(game.headers.get("TimeControl")), node.parent and node.parent.parent
    if gain is None or before is None or before.parent is None or node.clock() is None or before.clock() is None:
        return None
    found = milliseconds(before.clock()) - milliseconds(node.clock()) + gain
    return found if found >= 0 else None


def speed(text):
    if text in (None, "?"):
        return "?"
    if text in ("-", "1/259200"):
        return "correspondence"
    if text == "40/7200:3600+30":
        return "classical"
    base, _, more = text.strip("*").partition("+")
    seconds = int(base) + 40 * int(more or 0)
    limits = [(30, "ultrabullet"), (180, "bullet"), (480, "blitz"), (1500, "rapid")]
    return next((name for limit, name in limits if seconds < limit), "classical")


def termination(text):
    sentences = {"Ann won on time": "time forfeit", "Bob won by resignation": "normal", "?": "?", None: "?"}
    return sentences.get(text) or text.lower()


def title(text):
    return "?" if text in (None, "-") else text.upper()


def step(number, width):
    return "?" if number is None else f"{number // width * width / 1000:g}"


def groups(node, game):
    headers = game.headers
    clock, (points, mate, pawns) = milliseconds(node.clock()), centipawns(node)
    evals = "?"
    if pawns is not None:
        evals = step(points * 10, 500) if mate is None else ("White mates" if pawns > 0 else "Black mates")
    borders = [0, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200]
    titles = [title(headers.get("WhiteTitle")), title(headers.get("BlackTitle"))]
    yield "clock:100", step(clock, 100_000)
    yield "clock", "?" if clock is None else str(max(border for border in borders if border * 1000 <= clock))
    yield "spent:20", step(spent(node, game), 20_000)
    yield "eval:0.5", evals
    lost = loss(node)
    classes = [0, 10, 20, 50, 100, 200, 300, 500, 1000]
    yield "loss", "?" if lost is None else f"{max(least for least in classes if least <= lost) / 100:g}"
    yield "loss:0.25", "?" if lost is None else step(lost * 10, 250)
    yield "time-control", speed(headers.get("TimeControl"))
    yield "termination", termination(headers.get("Termination"))
    yield "white-title", titles[0]
    for found in set(titles):
        yield "title", found


CONDITIONS = {
    "clock<30": lambda node, game: node.clock() is not None and node.clock() < 30,
    "clock!=0": lambda node, game: node.clock() is not None and node.clock() != 0,
    "spent>=2.5": lambda node, game: (spent(node, game) or -1) >= 2_500,
    "eval>=2": lambda node, game: (centipawns(node)[2] is not None) and centipawns(node)[2] >= 2,
    "eval<-0.5": lambda node, game: (centipawns(node)[2] is not None) and centipawns(node)[2] < -0.5,
    "loss>=2": lambda node, game: (loss(node) or 0) >= 200,
    "loss=0": lambda node, game: loss(node) == 0,
    "time-control=blitz": lambda node, game: speed(game.headers.get("TimeControl")) == "blitz",
    "termination=time forfeit": lambda node, game: termination(game.headers.get("Termination")) == "time forfeit",
    "title=gm": lambda node, game: "GM" in (game.headers.get("WhiteTitle"), game.headers.get("BlackTitle")),
    "black-title=WGM": lambda node, game: title(game.headers.get("BlackTitle")) == "WGM",
}


def is_hit(board):
    """Returns true if the query `Nf3 btm` matches."""
    return board.turn == chess.BLACK and board.piece_at(chess.F3) == chess.Piece(chess.KNIGHT, chess.WHITE)


def nodes(node):
    yield node
    for child in node.variations:
        yield from nodes(child)


def main():
    path, out = sys.argv[1:]
    make(path, out)
    counts = collections.defaultdict(lambda: [set(), 0, set(), 0])
    met = {condition: [set(), 0] for condition in CONDITIONS}
    print("# Written by tests/tools/measures.py with python-chess", chess.__version__)
    with open(out) as games:
        for number in range(1, GAMES + 1):
            game = chess.pgn.read_game(games)
            sums = []
            for measure in [
                lambda node: milliseconds(node.clock()),
                lambda node: milliseconds(node.emt()),
                lambda node: centipawns(node)[0],
                lambda node: centipawns(node)[1],
            ]:
                found = [(node.ply(), measure(node)) for node in nodes(game)]
                found = [(ply, value) for ply, value in found if value is not None]
                sums += [len(found), sum(value for _, value in found), sum(ply * value for ply, value in found)]
            print("game", number, *sums, sep="\t")
            for node in [game, *game.mainline()]:
                hits = is_hit(node.board())
                for group in groups(node, game):
                    count = counts[group]
                    count[0].add(number)
                    count[1] += 1
                    if hits:
                        count[2].add(number)
                        count[3] += 1
                for condition, holds in CONDITIONS.items():
                    if hits and holds(node, game):
                        met[condition][0].add(number)
                        met[condition][1] += 1
    for (grouping, key), (games, positions, games_hit, hits) in sorted(counts.items()):
        print("group", grouping, key, len(games), positions, len(games_hit), hits, sep="\t")
    for condition, (games, hits) in met.items():
        print("where", condition, len(games), hits, sep="\t")


main()
