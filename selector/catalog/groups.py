"""Files that upstream lists together: a label's globs in `.github/labeler.yml`, a rule's in `.github/merge_rules.yaml`.

Both hold source and test globs in one list, so they pair the two by people who know. Owns reading and matching. The
lists are untrusted text: anything in them that is not understood is left out, and so is what would be too much.

A glob is upstream's: `**` crosses folders, `*` and `?` do not. Sources: actions/labeler's README, and
`patterns_to_regex` of upstream's `.github/scripts/gitutils.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import yaml

from selector.trees import SourceTree

LISTS = (".github/labeler.yml", ".github/merge_rules.yaml", ".github/merge_rules.json")
_SIZE_CAP = 256_000
_GROUPS_CAP = 300
_GLOBS_CAP = 200
_GLOB_CAP = 200
#: More wildcards in one glob would make matching slow.
_WILDCARDS_CAP = 6
#: Values looked at in one group. Aliases can nest few bytes to millions of values.
_VALUES_CAP = 2_000
_WILDCARDS = re.compile(r"\*+")
_EVERYTHING = re.compile(r"[*./]*")


@dataclass(frozen=True, slots=True)
class PathGroup:
    """A list of globs: `name` is that of the label or rule, `listed_in` the file that has it."""

    name: str
    listed_in: str
    globs: tuple[str, ...]

    def has(self, path: str) -> bool:
        """Whether one of the globs matches a path of the tree."""
        return _expression(self.globs).fullmatch(path) is not None


def read_groups(tree: SourceTree) -> tuple[PathGroup, ...]:
    """The groups of a tree, in the order of the lists. A group that takes every file says nothing and is left out."""
    there = frozenset(LISTS).intersection(tree.paths())
    texts = ((path, tree.read(path)) for path in LISTS if path in there)
    groups = (group for path, text in texts if text is not None for group in _groups(path, text))
    return tuple(islice(groups, _GROUPS_CAP))


def _groups(path: str, text: str) -> Iterator[PathGroup]:
    try:
        document = yaml.load(text, Loader=yaml.CSafeLoader) if len(text) <= _SIZE_CAP else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    listed = document.items() if isinstance(document, Mapping) else _rules(document)
    for name, globs in listed:
        found = tuple(islice(filter(_is_usable, _strings(globs)), _GLOBS_CAP))
        if found and not any(_EVERYTHING.fullmatch(glob) for glob in found):
            yield PathGroup(str(name)[:_GLOB_CAP], path, found)


def _rules(document: object) -> Iterator[tuple[object, object]]:
    """Pairs of name and globs of merge rules, which are a list of mappings."""
    for rule in document if isinstance(document, list) else ():
        if isinstance(rule, Mapping):
            yield rule.get("name", ""), rule.get("patterns")


def _strings(value: object) -> Iterator[str]:
    """The strings in nested lists and mappings, in order: newer labelers put the globs under `changed-files`."""
    waiting = [value]
    for _ in range(_VALUES_CAP):
        if not waiting:
            return
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, Mapping):
            waiting += reversed(list(islice(current.values(), _VALUES_CAP)))
        elif isinstance(current, list):
            waiting += reversed(current[:_VALUES_CAP])


def _is_usable(glob: str) -> bool:
    return 0 < len(glob) <= _GLOB_CAP and len(_WILDCARDS.findall(glob)) <= _WILDCARDS_CAP


@lru_cache(maxsize=2 * _GROUPS_CAP)
def _expression(globs: Collection[str]) -> re.Pattern[str]:
    return re.compile("|".join(_translated(glob) for glob in globs))


def _translated(glob: str) -> str:
    """A glob as a regular expression. Runs of stars are one: `***` must not be three nested loops."""
    meaning = {"*": "[^/]*", "?": "[^/]"}
    parts = (part for part in re.split(r"(\*+|\?)", glob) if part)
    return "".join(meaning.get(part) or (".*" if part.startswith("**") else re.escape(part)) for part in parts)
