#!/usr/bin/env python3
"""Estimates the cost of searching a very large database, from measured and assumed figures.

    tools/at-scale.py measure GAMES.pgn FIGURES.json   times target/release/orbit on one thread (a minute or two)
    tools/at-scale.py simulate FIGURES.json            prints the tables of docs/at-scale.md

This needs only Python 3.11; `measure` also needs the program zstd. CPU seconds are user and system time, so other work on the
machine affects them little.
"""

import argparse
import heapq
import json
import pathlib
import random
import resource
import statistics
import subprocess
import tempfile

ORBIT = pathlib.Path(__file__).resolve().parent.parent / "target/release/orbit"
QUERIES = [
    "true",
    "shift flip flipcolor {Nd4 kf3}",
    "flipcolor line --> check --> not check --> check",
    "x = 0 while (x < 5) {x += 1} x == 5 check",
]
THEMES = "the 84 themes of `orbit batch`"

# ---------------------------------------------------------------------------------------------- what is assumed

GAMES = 7e9
"""The approximate number of rated standard games that lichess publishes."""
POSITIONS = 500e9
ZST_A_GAME = 330.0
"""The approximate number of bytes of a compressed game with evaluations and clocks, in recent months of lichess."""
CORES = 16
"""The number of cores of a machine."""
NETWORK = 1.25e9
"""The number of bytes per second that a machine can read from storage: 10 gigabits."""
STORAGE = 5e9
"""The number of bytes per second that the storage of an ordinary cluster delivers to all machines together."""
PRICE = 0.80
"""The price of a machine in dollars per hour."""
PART = 256e6
"""The number of bytes in the reel of a part, as from `index --shards 256M`."""
FAILURE_HOURS = {"seldom": 1000.0, "spot": 10.0}
"""The mean number of hours until a machine fails."""
RESTART = 300.0
"""The number of seconds until a failed machine is replaced."""
SLOW, SLOW_SHARE = 3.0, 0.05
"""The assumption that one machine in twenty takes three times as long."""


# ---------------------------------------------------------------------------------------------- measuring


def cpu_seconds(*command: object, repeat: int = 3) -> float:
    """Returns the CPU seconds of a command, the lowest of several runs."""
    least = float("inf")
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def measure(games: pathlib.Path) -> dict[str, object]:
    """Measures the figures on one thread of this machine."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        reel, packed, db, job = folder / "games.reel", folder / "games.pgn.zst", folder / "db", folder / "job"
        indexing = cpu_seconds(ORBIT, "index", games, "-o", reel, "--threads", 1, repeat=2)
        subprocess.run(["zstd", "-q", "-9", games, "-o", packed], check=True)
        unpacking = cpu_seconds("zstd", "-dc", packed)
        info = json.loads(subprocess.run([ORBIT, "info", "--json", reel], check=True, capture_output=True).stdout)
        positions = info["positions"]
        figures: dict[str, object] = {
            "positions": positions,
            "games": info["games"],
            "reel bytes a position": reel.stat().st_size / positions,
            "indexing, ns a position": indexing / positions * 1e9,
            "unpacking zstd, ns a position": unpacking / positions * 1e9,
        }
        queries = {}
        for query in QUERIES:
            queries[f"`{query}`"] = cpu_seconds(ORBIT, "scan", "-q", "--count", "-j", 1, "-e", query, reel) / positions * 1e9
        queries[THEMES] = cpu_seconds(ORBIT, "batch", "-q", "catalogue", "--threads", 1, reel, repeat=1) / positions * 1e9
        figures["queries, ns a position"] = queries
        subprocess.run([ORBIT, "index", "-q", "--shards", "1M", reel, "-o", f"{db}/"], check=True)
        subprocess.run([ORBIT, "job", "plan", "-q", QUERIES[1], db, "--stats", "year", "-o", f"{job}/"], check=True)
        parts = len(list(db.glob("*.reel")))
        figures["CPU seconds of parts"] = [
            cpu_seconds(ORBIT, "job", "part", "-q", "-j", 1, number, job, repeat=1) for number in range(1, parts + 1)
        ]
        figures["merging, seconds a part"] = cpu_seconds(ORBIT, "job", "merge", job) / parts
        figures["bytes of the file of a part"] = sum(path.stat().st_size for path in job.rglob("*.part")) / parts
    return figures


# ---------------------------------------------------------------------------------------------- simulating


def run(parts: list[float], machines: int, failure_hours: float, slow_share: float, is_array: bool, seed: int) -> tuple[float, float]:
    """Simulates a run. Returns the number of seconds until all parts are done, and the share of core seconds that were lost.

    Each free core takes the next part (as with `xargs` and Ray), or computes its own share of the parts (as in an array of
    Slurm). When a machine fails, its cores lose the parts that they had begun, and continue after `RESTART` seconds.
    """
    chance = random.Random(seed)
    cores = machines * CORES
    def next_failure() -> float:
        return chance.expovariate(1 / (failure_hours * 3600)) if failure_hours < float("inf") else failure_hours

    speed = [SLOW if chance.random() < slow_share else 1.0 for _ in range(machines)]
    fails = [next_failure() for _ in range(machines)]
    own = [list(range(core, len(parts), cores))[::-1] for core in range(cores)]
    shared = list(range(len(parts)))[::-1]
    free = [(0.0, core) for core in range(cores)]
    end = lost = used = 0.0
    while free:
        now, core = heapq.heappop(free)
        waiting = own[core] if is_array else shared
        if not waiting:
            continue
        machine = core // CORES
        while now >= fails[machine] + RESTART:
            fails[machine] += RESTART + next_failure()
        if now >= fails[machine]:
            heapq.heappush(free, (fails[machine] + RESTART, core))
            continue
        part = waiting.pop()
        done = now + parts[part] * speed[machine]
        if done > fails[machine]:
            lost += fails[machine] - now
            waiting.append(part)
            heapq.heappush(free, (fails[machine] + RESTART, core))
            continue
        used += done - now
        end = max(end, done)
        heapq.heappush(free, (done, core))
    return end, lost / (used + lost)


def part_seconds(figures: dict, ns: float, machines: int) -> list[float]:
    """Returns the seconds that each part takes on a core: the time of computing or of reading, whichever is longer."""
    bytes_in_all = POSITIONS * figures["reel bytes a position"]
    count = round(bytes_in_all / PART)
    measured = figures["CPU seconds of parts"]
    mean = statistics.mean(measured)
    chance = random.Random(1)
    reading = PART / (min(NETWORK, STORAGE / machines) / CORES)
    computing = POSITIONS / count * ns * 1e-9
    return [max(reading, computing * chance.choice(measured) / mean) for _ in range(count)]


def span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def simulate(figures: dict) -> None:
    per = figures["reel bytes a position"]
    queries = figures["queries, ns a position"]
    print("| stored | size |\n|---|---|")
    print(f"| packed PGN with evaluations and clocks | {GAMES * ZST_A_GAME / 1e12:.1f} TB |")
    print(f"| reels | {POSITIONS * per / 1e12:.1f} TB in {POSITIONS * per / PART:,.0f} files |")
    written = POSITIONS * per / PART * figures["bytes of the file of a part"]
    print(f"| files of the parts of `--stats year` | {written / 1e6:,.0f} MB |")
    print("\n| work | core hours | dollars |\n|---|---|---|")
    rows = {"`orbit index`, unpacking included": figures["indexing, ns a position"] + figures["unpacking zstd, ns a position"]}
    for label, ns in (rows | queries).items():
        hours = POSITIONS * ns / 3600e9
        print(f"| {label} | {hours:,.1f} | {hours / CORES * PRICE:,.2f} |")
    print("\n| query | machines | computing | reading | together | dollars |\n|---|---|---|---|---|---|")
    for label, ns in queries.items():
        for machines in (1, 8, 64):
            parts = part_seconds(figures, ns, machines)
            computing = POSITIONS * ns * 1e-9 / CORES / machines
            reading = POSITIONS * per / machines / min(NETWORK, STORAGE / machines)
            end, lost = run(parts, machines, float("inf"), 0.0, False, 0)
            # Without faults, the result is the sum of all parts divided by the cores, apart from the last parts.
            assert lost == 0 and sum(parts) / machines / CORES <= end <= sum(parts) / machines / CORES + 2 * max(parts)
            cost = end / 3600 * machines * PRICE
            print(f"| {label} | {machines} | {span(computing)} | {span(reading)} | {span(end)} | {cost:,.2f} |")
    print("\n| 64 machines, the themes | who divides | median | 99 of 100 | lost |\n|---|---|---|---|---|")
    parts = part_seconds(figures, queries[THEMES], 64)
    for label, hours, slow in (
        ("no faults", float("inf"), 0.0),
        ("one machine in twenty takes three times as long", float("inf"), SLOW_SHARE),
        ("and machines fail after 1,000 hours", FAILURE_HOURS["seldom"], SLOW_SHARE),
        ("and machines fail after 10 hours", FAILURE_HOURS["spot"], SLOW_SHARE),
    ):
        for who, is_array in (("a queue", False), ("an array", True)):
            runs = [run(parts, 64, hours, slow, is_array, seed) for seed in range(100)]
            ends = sorted(end for end, _ in runs)
            lost = statistics.mean(lost for _, lost in runs)
            print(f"| {label} | {who} | {span(ends[50])} | {span(ends[98])} | {lost:.1%} |")
    merging = figures["merging, seconds a part"] * POSITIONS * per / PART
    print(f"\nMerging the parts of a statistics takes {span(merging)}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("games", type=pathlib.Path)
    measuring.add_argument("figures", type=pathlib.Path)
    commands.add_parser("simulate").add_argument("figures", type=pathlib.Path)
    given = parser.parse_args()
    if given.command == "measure":
        given.figures.write_text(json.dumps(measure(given.games), indent=1) + "\n")
    else:
        simulate(json.loads(given.figures.read_text()))


if __name__ == "__main__":
    main()
