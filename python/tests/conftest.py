"""Fixtures and constants that all tests use."""

import os
import pathlib

import pytest

import orbit_chess

#: The folder of orbit's repository. `python/check` passes it, because it runs a copy of the tests elsewhere.
ROOT = pathlib.Path(os.environ.get("ORBIT_ROOT", pathlib.Path(__file__).resolve().parents[2]))
SAMPLE = "games/sample.pgn"
#: The number of seconds after which a test stops waiting. Nothing takes this long, even on a busy machine.
PATIENCE = 600

#: Games with side lines, comments, a name that is not ASCII, quotes, and a tag that is not UTF-8.
ODD = (
    '[Event "A \\"quoted\\" event"]\n[White "Müller, Jörg"]\n[Black "O\'Neil \\\\ Li"]\n[WhiteElo "2500"]\n[Result "1-0"]\n\n'
    "1. e4 e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Qh5 {bold} Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n"
).encode() + b'[White "Andr\xe9"]\n[Result "*"]\n\n1. d4 d5 2. c4 dxc4 *\n'


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    """Runs the tests in the root folder, so that the paths of files are those that a user of the program sees."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def orbit():
    """Returns the path of the program `orbit`, whose output is compared with the results of the package."""
    program = os.environ.get("ORBIT_PROGRAM", str(ROOT / "target/debug/orbit"))
    assert os.path.exists(program), f"{program} is missing: build the program, or name it in ORBIT_PROGRAM"
    return program


@pytest.fixture(scope="session")
def db():
    return orbit_chess.open(str(ROOT / SAMPLE))


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.pgn"
    path.write_bytes(ODD)
    return str(path)
