"""Tests jobs and scans on Ray while actors are killed. The output must equal that of a single run. See `run.sh` beside it."""

import doctest
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

import polars
import pyarrow
import pytest
import ray

import orbit_chess
import orbit_chess.ray

ROOT = pathlib.Path(os.environ["ORBIT_ROOT"])
QUERY = "shift flip flipcolor {Nd4 kf3}"
PARTS = 16
#: The maximum time in seconds to wait for an event. It is longer than any event takes on a busy machine.
PATIENCE = 600


def until(what, look):
    """Calls `look` until it returns a true value, and returns that value."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, f"{what}: in vain for {PATIENCE} s; seen: {found!r}"
        time.sleep(0.005)
    return found


def orbit(*words, folder=None):
    command = [sys.executable, "-m", "orbit_chess", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, cwd=folder).stdout


@pytest.fixture(scope="session", autouse=True)
def cluster():
    """A cluster of one machine, which claims to have a graphics card."""
    store = 128 << 20
    ray.init(num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=store)
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """A folder of reels."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "games").mkdir()
    for name in range(2 * PARTS):
        (folder / f"games/{name}.pgn").write_bytes((ROOT / "games/sample.pgn").read_bytes())
    orbit("index", "-q", "--shards", "1K", "games", "-o", "db/", folder=folder)
    return folder


@pytest.fixture
def job(inputs, tmp_path):
    """A job in 16 parts, and the output of a single run."""
    words = ["-F", "jsonl", QUERY, "db"]
    orbit("job", "plan", *words, "--parts", PARTS, "-o", f"{tmp_path}/out/", folder=inputs)
    return tmp_path / "out", orbit("scan", "-q", *words, folder=inputs)


def processes(word):
    """Returns the ids of the running processes whose command contains this word."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in path.read_text().split("\0") and path.read_text():
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def catches(process, number):
    """Returns true if a process has its own handler for a signal."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.M)[1], 16) >> (number - 1) & 1


def parent(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


class Killer(threading.Thread):
    """Kills `victims` processes, each while it computes a part: actors, or processes that actors started. It is used in a `with`
    block, and kills nothing after the block."""

    def __init__(self, victims, of_actor):
        super().__init__(daemon=True)
        self.victims, self.of_actor = victims, of_actor
        self.seen, self.killed = set(), []
        self.ended = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()

    def run(self):
        while len(self.killed) < self.victims and not self.ended.is_set():
            for child in processes("orbit_chess._child"):
                if child not in self.seen and len(self.killed) < self.victims:
                    self.seen.add(child)
                    self.kill(child)
            time.sleep(0.005)

    def kill(self, child):
        try:
            victim = parent(child) if self.of_actor else child
            # The child is stopped, so it cannot end before the victim is killed.
            os.kill(child, signal.SIGSTOP)
            os.kill(victim, signal.SIGKILL)
            self.killed.append(victim)
            os.kill(child, signal.SIGCONT)
        except OSError:
            pass


def test_one_run(job):
    folder, expected = job
    told = []
    assert orbit_chess.ray.run(folder, progress=lambda *now: told.append(now)) == expected and expected.count(b"\n") > 1000
    assert told[0] == (0, PARTS, 0) and told[-1][:2] == (PARTS, PARTS)
    # All parts exist, so nothing is computed again.
    parts = sorted((folder / "parts").iterdir())
    times = [part.stat().st_mtime_ns for part in parts]
    assert orbit_chess.ray.run(folder) == expected and len(parts) == PARTS
    assert times == [part.stat().st_mtime_ns for part in parts]


@pytest.mark.parametrize(
    ("of_actor", "options"),
    [(True, None), (True, {"max_restarts": 0}), (False, None)],
    ids=["actors that Ray begins anew", "an actor for good", "processes of actors"],
)
def test_killed_midway(job, of_actor, options):
    folder, expected = job
    parts = folder / "parts"
    with Killer(1 if options else 3, of_actor) as killer:

        def computed():
            # Removes the parts of the previous round, in which too few processes were killed.
            for part in parts.iterdir():
                part.unlink()
            assert orbit_chess.ray.run(folder, cpus=2, options=options) == expected
            assert len(list(parts.iterdir())) == PARTS
            return len(killer.killed) == killer.victims

        until(f"{killer.victims} killed while parts are computed", computed)
    assert len(set(killer.killed)) == killer.victims


def test_a_process_ends_with_its_actor():
    """The process of a killed actor must end, although it waits for input that stays open."""
    code = (
        "import os, signal, subprocess, sys\n"
        "command = [sys.executable, '-m', 'orbit_chess._child', str(os.getpid()), 'scan', 'mate', '-']\n"
        "print(subprocess.Popen(command).pid, flush=True)\n"
        "signal.pause()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as actor:
        try:
            child = int(actor.stdout.readline())
            # The program installs its handlers after the process has asked to end together with its actor.
            until("a program that has begun", lambda: catches(child, signal.SIGTERM))
            assert child in processes("orbit_chess._child")
        finally:
            actor.kill()
        actor.wait()
        until("the end of the process", lambda: child not in processes("orbit_chess._child"))


def test_a_part_that_cannot_be_written(job):
    folder, expected = job
    (folder / "parts/00005.part").mkdir()
    with pytest.raises(orbit_chess.JobError, match=r"^1 of 16 parts were not computed \(part 5: .*00005.part"):
        orbit_chess.ray.compute(folder)
    (folder / "parts/00005.part").rmdir()
    told = []
    assert orbit_chess.ray.run(folder, progress=lambda *now: told.append(now)) == expected
    assert [complete for complete, *_ in told] == [15, 16]
    # A part of another query that has the name of a part of this job must be detected and recomputed.
    other = folder.parent / "other"
    orbit("job", "plan", "-F", "jsonl", "mate", "db", "--parts", PARTS, "-o", f"{other}/", folder=planned_in(folder))
    orbit_chess.ray.compute(other)
    os.replace(other / "parts/00007.part", folder / "parts/00007.part")
    told.clear()
    assert orbit_chess.ray.run(folder, progress=lambda *now: told.append(now)) == expected and told[0][0] == 15


def planned_in(folder):
    """Returns the folder in which a job was planned."""
    return json.loads((folder / "job.json").read_text())["folder"]


def test_graphics_cards(job, tmp_path):
    folder, expected = job
    assert orbit_chess.ray.run(folder, gpus=2, gpu_share=0.5) == expected
    # Some parts are computed on the card and some on the processor.
    for part in sorted((folder / "parts").iterdir())[::4]:
        part.unlink()
    assert orbit_chess.ray.run(folder, cpus=1, gpus=1, gpu_share=0.25) == expected
    # Without a driver, the card's parts fail. This shows that the card computed parts before.
    next((folder / "parts").iterdir()).unlink()
    nowhere = {"env_vars": {"VK_DRIVER_FILES": str(tmp_path / "none"), "VK_ICD_FILENAMES": str(tmp_path / "none")}}
    with pytest.raises(orbit_chess.JobError, match="adapter"):
        orbit_chess.ray.compute(folder, gpus=1, options={"runtime_env": nowhere})
    # The option selects the card that Ray chose, by the PCI bus id that NVIDIA's tool prints.
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\ntest $1 = --id=0 && echo 00000000:65:0A.0\n")
    tool.chmod(0o755)
    there = {"env_vars": {"PATH": f"{tmp_path}:{os.environ['PATH']}"}}
    with pytest.raises(orbit_chess.JobError, match="0000:65:0a.0"):
        orbit_chess.ray.compute(folder, gpus=1, options={"runtime_env": there})
    with pytest.raises(orbit_chess.OptionError, match="`gpu_share` is more than 0 and at most 1, not 2"):
        orbit_chess.ray.compute(folder, gpus=1, gpu_share=2)


@pytest.mark.parametrize("cards", [{}, {"gpus": 1}], ids=["processors", "a card"])
def test_rows_come_in_order(inputs, cards):
    db = orbit_chess.open(inputs / "db")
    expected = db.scan(QUERY).pyarrow()
    reader = orbit_chess.ray.scan(QUERY, inputs / "db", parts=PARTS, **cards)
    assert reader.read_all().equals(expected) and len(expected) > 1000
    options = {"rows": "games", "where": "result=1-0", "columns": ["game", "white"]}
    expected = db.scan("check", **options).pyarrow()
    assert orbit_chess.ray.scan("check", inputs / "db", **options, **cards).read_all().equals(expected)


def test_rows_come_though_an_actor_dies(inputs):
    expected = orbit_chess.open(inputs / "db").scan(QUERY).pyarrow()
    reader = orbit_chess.ray.scan(QUERY, inputs / "db", parts=PARTS, cpus=2)
    batches = [reader.read_next_batch()]
    # The name of an actor's process changes while the actor receives its next part.
    workers = until("an actor", lambda: processes("ray::_Worker.compute") + processes("ray::_Worker"))
    os.kill(workers[0], signal.SIGKILL)
    batches += reader
    assert pyarrow.Table.from_batches(batches).equals(expected)


def work_in(folder):
    """Returns a function that writes a file for each finished task. The first task does not finish before it is released."""

    def work(task):
        while task == 0 and not (folder / "released").exists():
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.03))
        (folder / "done" / str(task)).write_text("")
        return task

    return work


def results_in(folder, monkeypatch, **options):
    """Returns the results of many tasks from two actors. The first task is released when the pool waits for nothing else."""
    (folder / "done").mkdir(parents=True)
    wait = ray.wait

    def watched(references, **options):
        if len(references) == 1:
            (folder / "released").touch()
        return wait(references, **options)

    monkeypatch.setattr(ray, "wait", watched)
    pool = orbit_chess.ray._Pool(2, 0, 1.0, 1, 3, None, most=PARTS * 4)
    return pool.results((work_in(folder), None), range(PARTS * 4), **options)


def test_few_parts_are_computed_ahead(tmp_path, monkeypatch):
    results = results_in(tmp_path / "in order", monkeypatch, in_order=True)
    assert next(results)[0] == 0
    assert len(list((tmp_path / "in order/done").iterdir())) <= 1 + 2 * orbit_chess.ray.PARTS_AHEAD
    assert [index for index, _ in results] == list(range(1, PARTS * 4))
    # Without `in_order`, results arrive as tasks finish. This order is different, so the test above is meaningful.
    found = [index for index, _ in results_in(tmp_path / "as done", monkeypatch)]
    assert found[-1] == 0 and sorted(found) == list(range(PARTS * 4))


def test_what_is_wrong_is_told(inputs, tmp_path):
    with pytest.raises(orbit_chess.QueryError, match="query:1"):
        orbit_chess.ray.scan("flip {Ra8", inputs / "db")
    with pytest.raises(orbit_chess.OptionError, match="only a database of reels has parts"):
        orbit_chess.ray.scan("mate", ROOT / "games/sample.pgn")
    with pytest.raises(orbit_chess.OptionError, match="search the database as a whole"):
        orbit_chess.ray.scan("mate", inputs / "db", limit=3)
    with pytest.raises(orbit_chess.OptionError, match="search the database as a whole"):
        orbit_chess.ray.scan("{persistent X += 1 X > 3}", inputs / "db")
    with pytest.raises(orbit_chess.OptionError, match="no machine of the Ray cluster has 64 CPUs"):
        orbit_chess.ray.scan("mate", inputs / "db", cpus=1, threads=64).read_all()
    with pytest.raises(orbit_chess.JobError, match="contains no job"):
        orbit_chess.ray.run(tmp_path)


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testmod(orbit_chess.ray, extraglobs={"folder": tmp_path})
    assert failed == 0 and tried >= 6
    place = tmp_path / "document"
    place.mkdir()
    orbit("index", "-q", "games/sample.pgn", "-o", place / "sample.reel")
    document = (ROOT / "docs/python.md").read_text()
    section = document.split("## On a cluster of Ray\n", 1)[1].split("\n## ", 1)[0]
    names = {"folder": place, "subprocess": subprocess, "sys": sys, "orbit_chess": orbit_chess, "polars": polars}
    example = doctest.DocTestParser().get_doctest(section.replace("# doctest: +SKIP", ""), names, "python.md", None, 0)
    assert example.examples and doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0
