#!/usr/bin/env python3
"""Placements of the legacy package pydocumentdb, as test data.

    pip install pydocumentdb
    python placements.py --write     makes placements.tsv anew
    python placements.py --check     fails if the package disagrees with placements.tsv

Each line of the table is a key (as a JSON string) and, for every ring, the number of the collection that the package's
own HashPartitionResolver picks. The header names the rings as COLLECTIONSxVIRTUAL_NODES.
"""

import argparse
import difflib
import json
import pathlib
import random
import sys

from pydocumentdb import hash_partition_resolver

TABLE = pathlib.Path(__file__).with_name("placements.tsv")
RINGS = [(1, 1), (2, 16), (2, 128), (3, 1), (5, 128), (10, 16), (10, 128), (64, 16)]
KEYS = 10_000
SPECIAL = ["", " ", "a", "ab", "abc", "abcd", "abcde", "\u00e9", "\u6771\u4eac", "\U0001f9e9", "\n\t\"\\", "0", "x" * 300]


def keys():
    chance = random.Random(2018)
    made = list(SPECIAL)
    shapes = [
        lambda n: f"user-{n}",
        lambda n: f"{chance.getrandbits(64):016x}",
        lambda n: f"Kunde M\u00fcller {n}",
        lambda n: f"2018-{n % 12 + 1:02}-{n % 28 + 1:02}T{n % 24:02}:00:00Z/{n}",
        lambda n: str(n),
    ]
    while len(made) < KEYS:
        made.append(shapes[len(made) % len(shapes)](len(made)))
    return made


def collections(count):
    return [f"dbs/shop/colls/users{number}" for number in range(count)]


def table():
    resolvers = []
    for count, virtual_nodes in RINGS:
        links = collections(count)
        resolver = hash_partition_resolver.HashPartitionResolver(lambda document: document["key"], links, virtual_nodes)
        resolvers.append((resolver, {link: number for number, link in enumerate(links)}))
    lines = ["\t".join(["key"] + [f"{count}x{nodes}" for count, nodes in RINGS])]
    for key in keys():
        row = [json.dumps(key, ensure_ascii=False)]
        for resolver, numbers in resolvers:
            created = resolver.ResolveForCreate({"key": key})
            assert resolver.ResolveForRead(key) == [created]
            row.append(str(numbers[created]))
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = arguments.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true")
    choice.add_argument("--check", action="store_true")
    if arguments.parse_args().write:
        TABLE.write_text(table(), encoding="utf-8")
        return 0
    stored = TABLE.read_text(encoding="utf-8").splitlines()
    differences = list(difflib.unified_diff(stored, table().splitlines(), "stored", "package", lineterm="", n=0))
    print("\n".join(differences[:20]) or f"{len(stored) - 1} keys on {len(RINGS)} rings agree")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
