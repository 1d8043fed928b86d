#!/usr/bin/env python3
"""Writes the 7z archives of tests/data/archives, with py7zr 1.1.4."""

import pathlib
import sys

import py7zr

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "archives"
LZMA2 = [{"id": py7zr.FILTER_LZMA2, "preset": 6}]
PPMD = [{"id": py7zr.FILTER_PPMD, "order": 6, "mem": 24}]


def game(tag):
    return f'[Event "{tag}"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n'


MEMBERS = [
    ("a.pgn", "".join(game(f"a{number}") for number in range(50))),
    ("readme.txt", "no games"),
    ("sub/b.pgn", game("b")),
    ("empty.pgn", ""),
    ("c.epd", "4k3/8/8/8/8/8/4P3/4K3 w - -\n"),
]


def write(name, members, **options):
    with py7zr.SevenZipFile(FOLDER / name, "w", **options) as archive:
        for member, text in members:
            archive.writestr(text, member)


FOLDER.mkdir(exist_ok=True)
write("solid.7z", MEMBERS, filters=LZMA2)
write("ppmd.7z", MEMBERS[:3], filters=PPMD)
write("encrypted.7z", MEMBERS[2:3], password="secret")
write("hidden.7z", MEMBERS[2:3], password="secret", header_encryption=True)
sys.exit(0)
