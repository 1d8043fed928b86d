"""Jobs and scans on a Ray cluster. Ray starts actors, distributes them over machines, and restarts them if they die.

`run` computes the parts of a job that `orbit job plan` planned, and merges them. `scan` returns the rows of a query as Arrow
record batches. All machines must find the files under the same paths. This module needs the package `ray`:
`pip install 'orbit-chess[ray]'`.

>>> import orbit_chess.ray, subprocess, sys
>>> def orbit(*arguments):
...     return subprocess.run([sys.executable, "-m", "orbit_chess", *arguments], check=True, capture_output=True).stdout
>>> printed = orbit("index", "-q", "games/sample.pgn", "-o", folder / "sample.reel")
>>> printed = orbit("job", "plan", "-F", "jsonl", "check", folder / "sample.reel", "-o", f"{folder}/out/", "--parts", "4")
>>> orbit_chess.ray.run(folder / "out") == orbit("scan", "-q", "-F", "jsonl", "check", folder / "sample.reel")
True
>>> reader = orbit_chess.ray.scan("check", folder / "sample.reel", columns=["game", "ply"])
>>> reader.read_all().num_rows
4797
"""

from __future__ import annotations

import collections
import importlib
import json
import os
import pathlib
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, Unpack

from . import _boards
from ._database import Database, Part, query_of_board
from ._database import open as _open
from ._errors import JobError, OptionError, ReadWarning
from ._options import TableOptions

try:
    # Imported as `Any`, because Ray's type hints are incomplete.
    ray: Any = importlib.import_module("ray")
    faults: Any = importlib.import_module("ray.exceptions")
except ImportError as missing:
    raise ImportError("orbit_chess.ray needs Ray, which is not installed: pip install 'orbit-chess[ray]'") from missing

if TYPE_CHECKING:
    import pyarrow

__all__ = ["compute", "run", "scan"]

AnyPath = Union[str, "os.PathLike[str]"]
#: A callback that receives the number of complete parts, the number of all parts, and the number of positions in complete parts.
Watch = Callable[[int, int, int], None]

#: The approximate number of positions in a part of a scan. An actor holds about this number of rows at most.
PART_POSITIONS = 1 << 18
#: The number of parts per actor that are computed ahead of the part that is being read.
PARTS_AHEAD = 2


def run(
    folder: AnyPath,
    *,
    cpus: int | None = None,
    gpus: int = 0,
    gpu_share: float = 1.0,
    threads: int = 1,
    retries: int = 3,
    options: Mapping[str, Any] | None = None,
    progress: bool | Watch = False,
) -> bytes:
    """Computes the parts of a job and merges them. Returns the same bytes, and writes the same files, as a single run.

    The arguments are those of `compute`. If the output does not fit in memory, call `compute` and then run
    `orbit job merge out/ > FILE`.

    Raises:
        JobError: as `compute` does, or the parts cannot be merged.
    """
    compute(
        folder,
        cpus=cpus,
        gpus=gpus,
        gpu_share=gpu_share,
        threads=threads,
        retries=retries,
        options=options,
        progress=progress,
    )
    merged = _orbit("job", "merge", os.fspath(folder))
    # Code 1 means that there are no hits (with `--fail-if-none`), and 3 that a source was not read to its end. The output is
    # complete in both cases.
    if merged.returncode not in (0, 1, 3):
        raise JobError(_text(merged))
    if merged.returncode == 3:
        warnings.warn(_text(merged), ReadWarning, stacklevel=2)
    return merged.stdout


def compute(
    folder: AnyPath,
    *,
    cpus: int | None = None,
    gpus: int = 0,
    gpu_share: float = 1.0,
    threads: int = 1,
    retries: int = 3,
    options: Mapping[str, Any] | None = None,
    progress: bool | Watch = False,
) -> None:
    """Computes the parts of a job that are missing or damaged. The other parts are not changed.

    Each actor computes one part after the other. If an actor dies, Ray restarts it, and its part is computed again. Complete parts
    stay on disk, so after an error the same call computes only the rest.

    Args:
        folder: the folder of the job, which `orbit job plan -o FOLDER/` created.
        cpus: the number of actors that compute on processors. By default, it is 0 if `gpus` is given, and otherwise as many as the
            processors of the cluster allow.
        gpus: the number of actors that compute on graphics cards.
        gpu_share: the share of a card for each GPU actor; with 0.25, four of them share a card.
        threads: the number of threads of each actor, and the number of processors that it requests from Ray.
        retries: the number of times that Ray computes a part again if its actor or process died.
        options: more options for Ray's actors, such as `{"memory": 4 << 30}`.
        progress: show a bar (with `tqdm`), or call this function with the numbers of complete parts, all parts and positions.

    Raises:
        JobError: the job does not exist, or some of its parts could not be computed.
        OptionError: no machine of the cluster has the processors or cards that an actor requests.
    """
    place = str(pathlib.Path(folder).resolve())
    before = _status(place)
    positions = _positions(place)
    numbers: list[int] = sorted([*before["missing"], *(part["part"] for part in before["bad"])])
    complete = before["parts"] - len(numbers)
    told: dict[int, str] = {}
    with _Bar(progress, before["parts"]) as watch:
        seen = sum(positions.get(number, 0) for number in before["complete"])
        watch(complete, seen)
        pool = _Pool(cpus, gpus, gpu_share, threads, retries, options, most=len(numbers))
        kinds = (_JobPart(place, threads, "cpu"), _JobPart(place, threads, "gpu"))
        for index, outcome in pool.results(kinds, numbers):
            try:
                note = outcome()
            except (JobError, faults.RayActorError) as error:
                told[numbers[index]] = f"{error}".strip().splitlines()[0]
                continue
            if note:
                told[numbers[index]] = note
            complete += 1
            seen += positions.get(numbers[index], 0)
            watch(complete, seen)
    after = _status(place)
    left: list[int] = sorted([*after["missing"], *(part["part"] for part in after["bad"])])
    if left:
        why = [f"part {number}: {told.get(number, 'its file is missing or damaged')}" for number in left[:10]]
        more = f", and {len(left) - 10} more" if len(left) > 10 else ""
        raise JobError(f"{len(left)} of {after['parts']} parts were not computed ({'; '.join(why)}{more})")


def scan(
    query: Any,
    *paths: AnyPath,
    cpus: int | None = None,
    gpus: int = 0,
    gpu_share: float = 1.0,
    threads: int = 1,
    retries: int = 3,
    parts: int | None = None,
    options: Mapping[str, Any] | None = None,
    open_options: Mapping[str, Any] | None = None,
    progress: bool | Watch = False,
    **scan_options: Unpack[TableOptions],
) -> pyarrow.RecordBatchReader:
    """Searches reels. Returns the rows in the order of the database, while the search runs.

    Each actor opens the database and puts the rows of one part after the other into Ray's object store. Only a few parts are
    computed ahead of the rows that were read, so memory use is bounded.

    Args:
        query: text in CQL, or a python-chess board. With the option `at`, it is None.
        paths: reels, or folders of reels.
        cpus, gpus, gpu_share, threads, retries, options: as for `compute`.
        parts: the approximate number of parts. By default, a part has about 260,000 positions.
        open_options: options of `orbit_chess.open`, such as `{"variations": True}`.
        progress: show a bar (with `tqdm`), or call this function with the numbers of complete parts, all parts and positions.
        scan_options: options of `Database.scan`, such as `where`, `rows` or `columns`.

    Raises:
        QueryError, OptionError, DatabaseError: as in `Database.scan`, and if the database has files other than reels.
    """
    import pyarrow

    if _boards.is_board(query):
        query = query_of_board(query).text
    if not isinstance(query, str | None):
        raise OptionError("`query` is text or a board: a prepared query does not travel to other machines")
    names = [str(pathlib.Path(path).resolve()) for path in paths]
    asked = _ScanPart(names, query, {"threads": threads, **(open_options or {})}, scan_options)
    database = asked.database("cpu")
    divided = database.parts(parts or max(1, database.positions_count // PART_POSITIONS))
    # A search of an empty part provides the columns, and detects errors in the query or the options early.
    schema = asked.table("cpu", Part(0, 0, 0)).schema
    pool = _Pool(cpus, gpus, gpu_share, threads, retries, options, most=len(divided))

    def batches() -> Iterator[pyarrow.RecordBatch]:
        with _Bar(progress, len(divided)) as watch:
            seen = 0
            for index, outcome in pool.results((asked.of("cpu"), asked.of("gpu")), divided, in_order=True):
                table = outcome()
                seen += divided[index].positions
                watch(index + 1, seen)
                yield from table.to_batches()

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


class _JobPart:
    """Computes parts of a job, each in a child process that ends when the actor dies."""

    def __init__(self, folder: str, threads: int, engine: str) -> None:
        self._words = ["job", "part", "-q", "-j", str(threads), "--engine", engine]
        self._engine = engine
        self._folder = folder

    def __call__(self, number: int) -> str:
        """Computes a part. Returns the messages about sources that were not read to their ends, or an empty string."""
        card = _card() if self._engine == "gpu" else []
        done = _orbit(*self._words, *card, str(number), self._folder, child=True)
        if done.returncode < 0:
            raise _Died(f"the process was ended by signal {-done.returncode}")
        if done.returncode not in (0, 3):
            raise JobError(_text(done))
        return _text(done) if done.returncode == 3 else ""


class _ScanPart:
    """Searches parts of a database. The database is opened only once."""

    def __init__(
        self, paths: list[str], query: str | None, open_options: Mapping[str, Any], scan_options: Mapping[str, Any], engine: str = "cpu"
    ) -> None:
        self._asked = (paths, query, dict(open_options), dict(scan_options))
        self._engine = engine
        self._opened: Database | None = None

    def of(self, engine: str) -> _ScanPart:
        """Returns the same search for another engine. Its database is not open yet."""
        return _ScanPart(*self._asked, engine)

    def database(self, engine: str) -> Database:
        """Returns the database, which the first call opens. Its files are read by each search and not held in memory."""
        paths, _, options, _ = self._asked
        if self._opened is None:
            self._opened = _open(*paths, **{"engine": engine, **options, "memory": 0})
        return self._opened

    def table(self, engine: str, part: Part) -> pyarrow.Table:
        """Returns the rows of a part."""
        _, query, _, options = self._asked
        return self.database(engine).scan(query, **options, part=part).pyarrow()

    def __call__(self, part: Part) -> pyarrow.Table:
        return self.table(self._engine, part)


class _Died(Exception):
    """The process that computed a part was killed. Ray then computes the part again."""


class _Worker:
    """An actor that computes parts."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work

    def ready(self) -> None:
        """Does nothing. Its call returns once Ray has started the actor."""

    def compute(self, task: Any) -> Any:
        """Computes a part."""
        return self._work(task)


class _Pool:
    """The actors that compute parts, on processors and on graphics cards."""

    def __init__(
        self,
        cpus: int | None,
        gpus: int,
        gpu_share: float,
        threads: int,
        retries: int,
        options: Mapping[str, Any] | None,
        *,
        most: int,
    ) -> None:
        if threads < 1 or gpus < 0 or retries < 0 or (cpus is not None and cpus < 0) or cpus == gpus == 0:
            raise OptionError("`threads` is 1 or more, `cpus`, `gpus` and `retries` are not negative, and there is an actor")
        if not 0 < gpu_share <= 1:
            raise OptionError(f"`gpu_share` is more than 0 and at most 1, not {gpu_share}")
        if not ray.is_initialized():
            ray.init()
        machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        if cpus is None:
            cpus = 0 if gpus else max(1, sum(int(machine.get("CPU", 0)) // threads for machine in machines))
        self._retries = retries
        shared = {"num_cpus": threads, "max_restarts": -1, "max_task_retries": retries, **(options or {})}
        self._kinds = [
            (min(cpus, most), {**shared, "num_gpus": 0}),
            (min(gpus, most), {**shared, "num_gpus": gpu_share}),
        ]
        for count, wants in self._kinds:
            has_room = any(
                machine.get("CPU", 0) >= wants["num_cpus"] and machine.get("GPU", 0) >= wants["num_gpus"] for machine in machines
            )
            if count and not has_room:
                card = f" and {wants['num_gpus']:g} of a GPU" if wants["num_gpus"] else ""
                raise OptionError(
                    f"no machine of the Ray cluster has {wants['num_cpus']} CPUs{card} for an actor: ask for fewer `threads` or "
                    "`gpus`, or name what the machine has in `ray.init(num_cpus=, num_gpus=)`"
                )

    def results(
        self, kinds: Sequence[Callable[[Any], Any]], tasks: Sequence[Any], *, in_order: bool = False
    ) -> Iterator[tuple[int, Callable[[], Any]]]:
        """Computes all tasks. For each task, yields its index and a function that returns its result or raises its error. With
        `in_order`, results are yielded in the order of the tasks, and only a few tasks are computed ahead of them. Otherwise, each
        result is yielded as soon as it is computed."""
        worker = ray.remote(_Worker)
        starting: dict[Any, Any] = {}
        for work, (count, wants) in zip(kinds, self._kinds):
            for _ in range(count):
                actor = worker.options(**wants).remote(work)
                starting[actor.ready.remote()] = actor
        actors = list(starting.values())
        running: dict[Any, tuple[Any, int]] = {}
        done: dict[int, Callable[[], Any]] = {}
        queue = collections.deque(range(len(tasks)))
        lost: collections.Counter[int] = collections.Counter()
        idle: list[Any] = []
        given = 0
        try:
            while given < len(tasks):
                ahead = given + PARTS_AHEAD * len(actors) if in_order else len(tasks)
                while idle and queue and queue[0] < ahead:
                    actor, index = idle.pop(), queue.popleft()
                    retried = actor.compute.options(max_task_retries=self._retries, retry_exceptions=[_Died])
                    running[retried.remote(tasks[index])] = (actor, index)
                # Actors that Ray cannot start yet, because the cluster has no room for them, get no tasks.
                ready, _ = ray.wait([*running, *starting], num_returns=1)
                for reference in ready:
                    if reference in starting:
                        idle.append(starting.pop(reference))
                        continue
                    actor, index = running.pop(reference)
                    if _is_lost(reference):
                        # Ray does not restart this actor, for example because a user killed it. Another actor computes the part.
                        actors.remove(actor)
                        lost[index] += 1
                        if actors and lost[index] <= self._retries:
                            queue.appendleft(index)
                            continue
                        if not actors and queue:
                            done.update((left, _fetch(reference)) for left in queue)
                            queue.clear()
                    else:
                        idle.append(actor)
                    done[index] = _fetch(reference)
                while given in done if in_order else done:
                    index = given if in_order else next(iter(done))
                    given += 1
                    yield index, done.pop(index)
        finally:
            for actor in actors:
                ray.kill(actor)


def _fetch(reference: Any) -> Callable[[], Any]:
    """Returns a function that returns a result, or raises the exception that the actor raised."""

    def fetch() -> Any:
        try:
            return ray.get(reference)
        except faults.RayTaskError as error:
            cause = error.cause
            raise (JobError(str(cause)) if isinstance(cause, _Died) else cause) from None

    return fetch


def _is_lost(reference: Any) -> bool:
    """Returns True if a task's actor is dead and Ray does not restart it."""
    try:
        ray.get(reference)
    except faults.RayActorError:
        return True
    except faults.RayTaskError:
        pass
    return False


def _orbit(*words: str, child: bool = False) -> subprocess.CompletedProcess[bytes]:
    """Runs the program `orbit` of this package."""
    module = ["orbit_chess._child", str(os.getpid())] if child else ["orbit_chess"]
    return subprocess.run([sys.executable, "-m", *module, *words], capture_output=True, check=False)


def _text(done: subprocess.CompletedProcess[bytes]) -> str:
    """Returns the message that a program printed on stderr."""
    said = done.stderr.decode(errors="replace").strip()
    return said.removeprefix("error: ") or f"orbit ended with code {done.returncode}"


def _status(folder: str) -> dict[str, Any]:
    done = _orbit("job", "status", "--json", folder)
    if done.returncode not in (0, 3):
        raise JobError(_text(done))
    status: dict[str, Any] = json.loads(done.stdout)
    return status


def _positions(folder: str) -> dict[int, int]:
    """Returns the number of positions in each part, or 0 if it is unknown."""
    job = json.loads((pathlib.Path(folder) / "job.json").read_bytes())
    return {part["number"]: part["positions"] or 0 for part in job["parts"]}


def _card() -> list[str]:
    """Returns the option for the card that Ray assigned to this actor; an empty list if `nvidia-smi` does not find the card."""
    cards = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    if len(cards) != 1:
        return []
    command = ["nvidia-smi", f"--id={cards[0]}", "--query-gpu=pci.bus_id", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, check=True).stdout.decode().strip().lower()
    except (OSError, subprocess.CalledProcessError):
        return []
    # `nvidia-smi` prints the PCI domain with eight digits; other programs use four.
    return ["--gpu", told[-12:]]


class _Bar:
    """Reports progress: calls the caller's function, shows a bar if tqdm is installed, or does nothing."""

    def __init__(self, progress: bool | Watch, parts: int) -> None:
        self._parts = parts
        self._watch = progress if callable(progress) else None
        self._bar: Any = None
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=parts, unit="part")

    def __enter__(self) -> Callable[[int, int], None]:
        return self._tell

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _tell(self, complete: int, positions: int) -> None:
        if self._watch is not None:
            self._watch(complete, self._parts, positions)
        if self._bar is not None:
            self._bar.set_postfix_str(f"{positions:,} positions", refresh=False)
            self._bar.update(complete - self._bar.n)
