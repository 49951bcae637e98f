"""Operators whose compiled code, schema or gradient is another in the newer tree, by stage 1, for the tests that call
them by name.

Owns which of stage 1's facts count for an upgrade of an out-of-tree device: kernels of other hardware do not, and tags
do not. Operators that take no tensor give tests something to work on; no test is about them for that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

from selector.catalog import CatalogCache
from selector.catalog.version import PARSER
from selector.change.analyse import judge
from selector.change.backends import backend_of_path
from selector.change.facts import Effect, Fact, FactKind
from selector.change.native_yaml import base_name, is_operator_yaml
from selector.change.tree_diff import compare_trees
from selector.upgrade.comparing.following import FollowedTree
from selector.upgrade.types import Evidence, Place, TestChange

_SOURCES = re.compile(r"aten/src/ATen/native/.*\.(?:cpp|h)$")
_KINDS = frozenset({FactKind.KERNEL, FactKind.NATIVE_FUNCTION, FactKind.DERIVATIVE})
_EFFECTS = frozenset({Effect.BEHAVIOUR, Effect.SCHEMA, Effect.DTYPES, Effect.GRADIENT})
_ONLY_TAGS = "changed: tags"
_SHOWN = 2
#: How an operator of these namespaces is called: `torch.linalg.qr` is `linalg_qr`, `torch.nn.functional.gelu` `gelu`.
_SPELT = re.compile(r"torch\.(?:nn\.functional\.|ops\.aten\.|_C\._nn\.|(linalg|fft|special|sparse|nested)\.)?(\w+)")
_SCHEMA = re.compile(r"^- func: *(\w+)(?:\.\w+)?\((.*)\) *->", re.MULTILINE)
_OUT = re.compile(r"Tensor\(\w+!\)(?:\[\])? *\w+")


class NativeChanges:
    """By operator what changed of it."""

    def __init__(self, changes: Mapping[str, Sequence[Evidence]]) -> None:
        self._changes = changes

    def of(self, dotted: Sequence[str]) -> Iterator[Evidence]:
        """What speaks for a change of the operators that are called by these names."""
        for operator in dict.fromkeys(filter(None, map(operator_of, dotted))):
            yield from self._changes.get(operator, ())[:_SHOWN]


def operator_of(dotted: str) -> str:
    """The operator that a dotted name of torch calls if there is one; empty for what cannot be one."""
    match = _SPELT.fullmatch(dotted)
    if match is None:
        return ""
    return base_name("_".join(filter(None, match.groups())))


def native_changes(base: FollowedTree, head: FollowedTree, cache: CatalogCache | None) -> NativeChanges:
    """Compare the compiled code of two trees; what a pair of trees showed is kept as a whole."""
    before, after = _Part(base), _Part(head)
    key = _key(before, after)
    known = cache.load(PARSER, [key]) if cache is not None and key else {}
    changes = _unpacked(known[key]) if key in known else None
    if changes is None:
        changes = _compared(before, after)
        if cache is not None and key:
            cache.keep(PARSER, [key], {key: _packed(changes)})
    return NativeChanges(changes)


class _Part:
    """The files of a tree that define operators for any device that is none of upstream's own."""

    def __init__(self, tree: FollowedTree) -> None:
        self._tree = tree
        self._paths = [path for path in tree.paths() if _defines_operators(path)]

    def read(self, path: str) -> str | None:
        return self._tree.read(path)

    def paths(self) -> Sequence[str]:
        return self._paths

    def digest(self) -> str:
        return " ".join(f"{self._tree.blob_id(path)} {path}" for path in self._paths)


def _defines_operators(path: str) -> bool:
    return is_operator_yaml(path) or (_SOURCES.match(path) is not None and not backend_of_path(path))


def _compared(before: _Part, after: _Part) -> dict[str, tuple[Evidence, ...]]:
    facts = judge(compare_trees(before, after), before, after).facts
    makers = _makers(before) | _makers(after)
    changes: dict[str, list[Evidence]] = {}
    for fact in sorted(facts, key=lambda fact: (fact.op, -list(FactKind).index(fact.kind), fact)):
        counts = fact.kind in _KINDS and fact.effect in _EFFECTS and fact.evidence != _ONLY_TAGS
        if counts and fact.op and fact.op not in makers:
            changes.setdefault(fact.op, []).append(_evidence(fact))
    return {operator: tuple(found[:_SHOWN]) for operator, found in changes.items()}


def _evidence(fact: Fact) -> Evidence:
    place = Place(fact.file, fact.line, fact.line)
    gone = "removed" in fact.evidence
    return Evidence(
        TestChange.CODE,
        fact.symbol or fact.op,
        f"{fact.kind.value} of {fact.op}: {fact.evidence}",
        base=place if gone else None,
        head=None if gone else place,
        chain=(fact.op,),
    )


def _makers(tree: _Part) -> set[str]:
    """Operators no form of which takes a tensor, and those that make one like another."""
    taking: dict[str, bool] = {}
    for path in tree.paths():
        if path.endswith("/native_functions.yaml"):
            for name, arguments in _SCHEMA.findall(tree.read(path) or ""):
                operator = base_name(name)
                taking[operator] = taking.get(operator, False) or "Tensor" in _OUT.sub("", arguments)
    return {operator for operator, takes in taking.items() if not takes or operator.endswith("_like")}


def _key(before: _Part, after: _Part) -> str:
    if not (PARSER and _VERSION):
        return ""
    both = hashlib.sha256(f"{before.digest()}\n{after.digest()}".encode("utf-8", errors="surrogatepass"))
    return f"{both.hexdigest()} native {_VERSION}"


def _packed(changes: Mapping[str, Sequence[Evidence]]) -> bytes:
    rows = [
        [operator, one.symbol, one.text, one.head is None, (place.path, place.line)]
        for operator, found in changes.items()
        for one in found
        if (place := one.head or one.base) is not None
    ]
    return json.dumps(rows).encode("ascii")


def _unpacked(record: bytes) -> dict[str, tuple[Evidence, ...]] | None:
    """Nothing for bytes that `_packed` did not write."""
    changes: dict[str, tuple[Evidence, ...]] = {}
    try:
        for operator, symbol, text, gone, (path, line) in json.loads(record):
            place = Place(str(path), int(line), int(line))
            base, head = (place, None) if gone else (None, place)
            one = Evidence(TestChange.CODE, str(symbol), str(text), base, head, (str(operator),))
            changes[str(operator)] = (*changes.get(str(operator), ()), one)
    except (ValueError, TypeError, RecursionError):
        return None
    return changes


def _version() -> str:
    """A digest of stage 1, which decides what changed; empty, and nothing is kept, where its text cannot be read."""
    digest = hashlib.sha256()
    try:
        files = [file for file in resources.files("selector.change").iterdir() if file.name.endswith(".py")]
        files.append(resources.files("selector.upgrade.comparing").joinpath("native.py"))
        for file in sorted(files, key=lambda file: file.name):
            digest.update(file.name.encode() + file.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16]


_VERSION = _version()
