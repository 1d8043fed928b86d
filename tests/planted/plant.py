#!/usr/bin/env python3
"""Finds the places of planted faults and writes them into a tree of sources.

A fault is a table in a file `tests/planted/*.toml`. It names an item (a function, a constant or a shader), a text within the item,
and the text that replaces it. The item is searched for in all sources, so files can move and lines can change.

    plant.py check                       checks that every fault has exactly one place, and names a test that exists
    plant.py list [--part N/M] [NAME..]  prints name, binary and test of each fault, separated by tabs
    plant.py switch NAME..               writes faults as switches into the tree in the current folder

A *switch* keeps the body of a function, and adds a second body with the fault, which runs if ORBIT_PLANTED names the fault. So
one build serves many faults. The text of a shader is replaced when it is passed to the driver. A fault cannot be in a constant, in
a function that the compiler evaluates, or in one that returns `impl`: it belongs in a function that uses these.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

PLANTED = Path(__file__).resolve().parent
# The folders with the sources of the program, and of the bench in which faults are planted.
SOURCES = ["src", "crates", "benches/card"]
# The crate that all others import.
CORE = "crates/core"
TEXTS = ["*.rs", "*.wgsl", "*.css", "*.js", "*.html"]


@dataclass
class Fault:
    name: str
    says: str
    item: str
    old: str
    new: str
    test: str
    binary: str = "suite"


@dataclass
class Place:
    """The place of a fault in a file: the text that is replaced, and the body of the function around it."""

    path: Path
    begin: int
    end: int
    head: str = ""
    body: tuple[int, int] | None = None

    def is_switch(self) -> bool:
        if self.path.suffix == ".wgsl":
            return True
        if self.body is None or re.search(r"\bconst\s+(unsafe\s+)?fn\b", self.head):
            return False
        head, more = self.head, 1
        while more:
            head, more = re.subn(r"\([^()]*\)", "", head)
        returned = head.partition("->")[2]
        return "impl" not in re.findall(r"\w+", returned.split("where")[0])


def faults() -> list[Fault]:
    out = []
    for path in sorted(PLANTED.glob("*.toml")):
        for name, table in tomllib.loads(path.read_text()).items():
            out.append(Fault(name=name, **table))
    names = [fault.name for fault in out]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f"FAULT: two faults have one name: {', '.join(sorted(twice))}")
    # Parts of the list have few binaries each.
    return sorted(out, key=lambda fault: (fault.binary, fault.name))


def blanked(text: str) -> str:
    """Returns Rust text with blanks in place of comments, strings and characters, so that all offsets stay the same."""
    token = re.compile(
        r"""//[^\n]*|/\*.*?\*/|b?r(?P<hash>\#*)".*?"(?P=hash)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\\n])'""", re.S
    )
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def items(bare: str, name: str):
    """Yields the head, begin and end of each item with a name in blanked text, and True for a function, whose body is meant."""
    for match in re.finditer(rf"\b(fn|const|static|struct|enum|macro_rules!)\s+(mut\s+)?{re.escape(name)}\b", bare):
        line = max(bare.rfind(end, 0, match.start()) for end in ";{}") + 1
        if match.group(1) != "fn":
            depth, at = 0, match.end()
            while at < len(bare) and not (depth == 0 and bare[at] == ";"):
                depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(bare[at], 0)
                at += 1
                if depth == 0 and bare[at - 1] == "}" and match.group(1) in ("struct", "enum", "macro_rules!"):
                    break
            yield bare[line : match.end()], match.start(), at + 1, False
            continue
        depth, at = 0, match.end()
        while at < len(bare) and not (depth == 0 and bare[at] in "{;"):
            depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(bare[at], 0)
            at += 1
        if at == len(bare) or bare[at] == ";":
            continue
        begin, depth = at, 0
        while True:
            depth += {"{": 1, "}": -1}.get(bare[at], 0)
            at += 1
            if depth == 0:
                break
        yield bare[line:begin], begin, at, True


def stripped(text: str) -> tuple[str, list[int]]:
    """Returns text without blanks and without commas before closing brackets, and the offset of each remaining character."""
    offsets = [match.start() for match in re.finditer(r"[^\s,]|,(?!\s*[)\]}])", text)]
    return "".join(map(text.__getitem__, offsets)), offsets


def within(text: str, begin: int, end: int, old: str) -> list[tuple[int, int]]:
    """Returns the ranges between two offsets that contain a text, whatever its line breaks."""
    wanted, _ = stripped(old)
    bare, offsets = stripped(text[begin:end])
    found = (match.start() for match in re.finditer(f"(?={re.escape(wanted)})", bare))
    return [(begin + offsets[at], begin + offsets[at + len(wanted) - 1] + 1) for at in found]


class Tree:
    def __init__(self, root: Path):
        folders = [root / name for name in SOURCES] + [root / "shaders"]
        paths = [path for folder in folders if folder.is_dir() for kind in TEXTS for path in sorted(folder.rglob(kind))]
        self.texts = {path: path.read_text() for path in paths}
        self.stripped = {path: stripped(text)[0] for path, text in self.texts.items()}

    def places(self, fault: Fault) -> list[Place]:
        out = []
        old = stripped(fault.old)[0]
        for path, text in self.texts.items():
            if old not in self.stripped[path]:
                continue
            if "." in fault.item:
                if path.name == fault.item:
                    out += [Place(path, *span) for span in within(text, 0, len(text), fault.old)]
            elif path.suffix == ".rs":
                for head, begin, end, is_function in items(blanked(text), fault.item):
                    for span in within(text, begin, end, fault.old):
                        out.append(Place(path, *span, head, (begin, end) if is_function else None))
        return list({(place.path, place.begin): place for place in out}.values())

    def place(self, fault: Fault) -> Place:
        places = self.places(fault)
        if len(places) != 1:
            wrong = ", ".join(sorted(f"{place.path}" for place in places)) or "no file"
            sys.exit(f"FAULT: {fault.name}: `{fault.item}` with the old text is in {len(places)} places: {wrong}")
        return places[0]


SWITCH = '''//! Which planted fault is active; written into a copy of the sources by `tests/planted/plant.py`.
#![allow(missing_docs, reason = "no part of the program")]

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

static ACTIVE: AtomicU32 = AtomicU32::new(u32::MAX);

#[inline]
pub fn is(number: u32) -> bool {
    let active = ACTIVE.load(Ordering::Relaxed);
    (if active == u32::MAX { read() } else { active }) == number
}

#[cold]
fn read() -> u32 {
    let name = std::env::var("ORBIT_PLANTED").unwrap_or_default();
    let at = NAMES.iter().position(|&other| other == name);
    let active = at.map_or(u32::MAX - 1, |at| at as u32);
    ACTIVE.store(active, Ordering::Relaxed);
    active
}

/// The text of a shader, with the fault that is active.
pub fn shader(text: String) -> String {
    static READ: LazyLock<u32> = LazyLock::new(read);
    match SHADERS.iter().find(|(number, ..)| *number == *READ) {
        Some((_, old, new)) => text.replace(old, new),
        None => text,
    }
}
'''


def write_switches(root: Path, chosen: list[Fault]) -> None:
    tree = Tree(root)
    bodies: dict[Path, dict[tuple[int, int], list[str]]] = {}
    shaders = []
    for number, fault in enumerate(chosen):
        place = tree.place(fault)
        text = tree.texts[place.path]
        if place.path.suffix == ".wgsl":
            shaders.append(f"    ({number}, {quoted(text[place.begin : place.end])}, {quoted(fault.new)}),")
            continue
        begin, end = place.body
        body = text[begin : place.begin] + fault.new + text[place.end : end]
        switch = f"\nif {core(root, place.path)}::planted::is({number}) {{ return {body}; }}\n"
        bodies.setdefault(place.path, {}).setdefault(place.body, []).append(switch)
    # Files that pass shaders to the driver are changed too, even if they contain no fault.
    for path, text in tree.texts.items():
        if "ShaderSource::Wgsl(" in text:
            bodies.setdefault(path, {})
    for path, changed in bodies.items():
        text = tree.texts[path]
        for (begin, _), switches in sorted(changed.items(), reverse=True):
            text = text[: begin + 1] + "".join(switches) + text[begin + 1 :]
        hooked = rf"ShaderSource::Wgsl({core(root, path)}::planted::shader((\1).to_string()).into())"
        path.write_text(re.sub(r"ShaderSource::Wgsl\((\w+)\.into\(\)\)", hooked, text))
    names = ", ".join(f'"{fault.name}"' for fault in chosen)
    tables = [f"static NAMES: &[&str] = &[{names}];", "static SHADERS: &[(u32, &str, &str)] = &[", *shaders, "];"]
    (root / CORE / "src/planted.rs").write_text(SWITCH + "\n" + "\n".join(tables) + "\n")
    library = root / CORE / "src/lib.rs"
    library.write_text(library.read_text() + "\n#[doc(hidden)]\npub mod planted;\n")


def core(root: Path, path: Path) -> str:
    """Returns the name by which a source file refers to the crate with the code of the switches."""
    return "crate" if (root / CORE) in path.parents else "orbit_core"


def quoted(text: str) -> str:
    return f'r###"{text}"###'


def tests_of(root: Path, binary: str) -> set[str]:
    """Returns the names of all functions of a test binary, which include its tests."""
    folder = root / (f"crates/{binary.removeprefix('orbit_')}/src" if binary.startswith("orbit_") else f"tests/{binary}")
    return {name for path in folder.rglob("*.rs") for name in re.findall(r"\bfn (\w+)", path.read_text())}


def check(root: Path) -> int:
    tree = Tree(root)
    wrong = 0
    every = faults()
    tests = {binary: tests_of(root, binary) for binary in {fault.binary for fault in every}}
    for fault in every:
        places = tree.places(fault)
        if len(places) != 1:
            print(f"FAULT: {fault.name}: `{fault.item}` with the old text is in {len(places)} places")
            wrong = 1
        elif not places[0].is_switch():
            print(f"FAULT: {fault.name}: `{fault.item}` cannot have a second body: plant the fault where it is used")
            wrong = 1
        # The name is that of a test, or that of a table, which is a prefix of the names of its rows.
        if not tests[fault.binary].intersection(fault.test.split("::")):
            print(f"FAULT: {fault.name} names the test {fault.test}, which {fault.binary} does not have")
            wrong = 1
    return wrong


def chosen(arguments: list[str]) -> list[Fault]:
    every = faults()
    if arguments[:1] == ["--part"]:
        match = re.fullmatch(r"(\d+)/(\d+)", arguments[1] if len(arguments) == 2 else "")
        if not match or int(match[1]) >= int(match[2]):
            sys.exit("--part wants a number from 0 on and how many parts there are, such as 3/20")
        part, parts = int(match[1]), int(match[2])
        return every[len(every) * part // parts : len(every) * (part + 1) // parts]
    known = {fault.name: fault for fault in every}
    unknown = [name for name in arguments if name not in known]
    if unknown:
        sys.exit(f"no fault is called {', '.join(unknown)}")
    return [known[name] for name in arguments] or every


def main() -> int:
    root = Path.cwd()
    match sys.argv[1:]:
        case ["check"]:
            return check(root)
        case ["list", *arguments]:
            for fault in chosen(arguments):
                print(fault.name, fault.binary, fault.test, sep="\t")
        case ["switch", *names] if names:
            write_switches(root, chosen(names))
        case _:
            sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
