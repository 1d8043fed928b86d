"""Runs the examples in the documents, and compares the stubs with the native module."""

import ast
import doctest
import importlib
import inspect
import pathlib
import shutil
import subprocess
import sys

import pytest

import orbit_chess
from conftest import PATIENCE, ROOT


@pytest.mark.parametrize("name", ["orbit_chess", "orbit_chess._database", "orbit_chess._scan"])
def test_examples_of_docstrings(name, tmp_path):
    failed, run = doctest.testmod(importlib.import_module(name), extraglobs={"folder": tmp_path})
    assert failed == 0 and run >= 3


def test_examples_of_the_document(tmp_path):
    failed, run = doctest.testfile(
        str(ROOT / "docs/python.md"), module_relative=False, globs={"folder": tmp_path}, optionflags=doctest.ELLIPSIS
    )
    assert failed == 0 and run > 20


def test_the_lines_of_the_readme_run(tmp_path, monkeypatch):
    code = (ROOT / "README.md").read_text().split("```python\n", 1)[1].split("```", 1)[0]
    shutil.copy(ROOT / "games/sample.pgn", tmp_path / "games.pgn")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code, names)
    assert names["hit"].fen.startswith(names["hit"].board().board_fen())


def test_the_tutorial_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(ROOT / "python/tutorial.ipynb", as_version=4)
    nbformat.validate(notebook)
    place = {"metadata": {"path": str(ROOT)}}
    client = nbclient.NotebookClient(
        notebook, timeout=PATIENCE, startup_timeout=PATIENCE, kernel_name="python3", resources=place
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert shown.count("text/html") >= 4 and "image/svg+xml" in shown
    assert not any(output.output_type == "error" for output in outputs)


def test_stubs_tell_of_everything():
    """The stubs must declare every class and function of the native module, with the same members and parameters."""
    native = importlib.import_module("orbit_chess._native")
    stub = ast.parse((pathlib.Path(orbit_chess.__file__).parent / "_native.pyi").read_text())
    said = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in dir(native) if not name.startswith("_") and name != "VERSION"}
    assert set(said) == there
    for name, node in said.items():
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == list(inspect.signature(getattr(native, name)).parameters)
            continue
        kind = getattr(native, name)
        members = {inner.name: inner for inner in node.body if isinstance(inner, ast.FunctionDef)}
        public = {member for member in vars(kind) if not member.startswith("__")}
        assert {member for member in members if not member.startswith("__")} == public, name
        for member in public:
            value = inspect.getattr_static(kind, member)
            if inspect.isgetsetdescriptor(value) or isinstance(value, property):
                assert any(isinstance(mark, ast.Name) and mark.id == "property" for mark in members[member].decorator_list)
            else:
                found = [given for given in inspect.signature(getattr(kind, member)).parameters if given != "self"]
                assert [given for given in parameters(members[member]) if given != "self"] == found, (name, member)


def parameters(node):
    return [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]


def test_types_are_right(tmp_path):
    pytest.importorskip("mypy")
    use = tmp_path / "use.py"
    use.write_text(
        "import orbit_chess\n"
        "db = orbit_chess.open('games.pgn', threads=2)\n"
        "games: int = db.count('mate').games\n"
        "fens: list[str] = [hit.fen for hit in db.scan('mate')]\n"
        "name: str | None = db.hits('mate')[0].game.white\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    for what in (["-p", "orbit_chess"], [str(use)]):
        checked = subprocess.run([*command, *what], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
    use.write_text("import orbit_chess\nname: int = orbit_chess.open('games.pgn').hits('mate')[0].fen\n")
    checked = subprocess.run([*command, str(use)], capture_output=True, text=True)
    assert checked.returncode == 1 and "Incompatible types" in checked.stdout, checked.stdout
