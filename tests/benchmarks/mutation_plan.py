"""Which mutants are made: `plan(tree, place, executing, seed)`, spread over the areas of the library and the kinds.

Functions are drawn by a digest of the seed and their names among those that a test executed, and now and then among
those that none did; the kinds take turns, the rarer first. The same tree, map and seed give the same mutants in the
same order, in which the areas take turns, so that a run that is cut short has seen all of them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from selector.known import FunctionId
from tests.benchmarks.mutation_sites import Kind, Site, function_names, is_sound, sites

#: The areas and what belongs to them, as beginnings of paths.
AREAS: Mapping[str, tuple[str, ...]] = {
    "nn modules": ("torch/nn/modules/", "torch/nn/init.py"),
    "dynamo": ("torch/_dynamo/",),
    "fx": ("torch/fx/",),
    "export": ("torch/export/", "torch/_export/"),
    "numpy layer": ("torch/_numpy/",),
    "masked": ("torch/masked/",),
    "distributions": ("torch/distributions/",),
    "autograd": ("torch/autograd/",),
    "utils": ("torch/utils/",),
    "references": ("torch/_refs/", "torch/_decomp/", "torch/_prims", "torch/_meta_registrations.py"),
    "fake tensors": ("torch/_subclasses/",),
    "optim": ("torch/optim/",),
    "functional": ("torch/functional.py", "torch/_tensor", "torch/nn/functional.py", "torch/linalg", "torch/sparse"),
    "nn utils": ("torch/nn/utils/", "torch/nn/parameter.py", "torch/nn/parallel/"),
    "functorch": ("torch/_functorch/", "torch/_higher_order_ops/"),
}
#: Every so many mutants one is of a function that no test executes: it shows what a change that breaks nothing costs.
_HARMLESS = 10
#: Sites of one function and kind that are looked at for a sound one.
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutation, the area it is in, and whether the map says that a test executes its function."""

    area: str
    site: Site
    executed: bool

    @property
    def name(self) -> str:
        """What its results are kept under."""
        text = f"{self.site.path} {self.site.start} {self.site.end} {self.site.after}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def title(self) -> str:
        return f"{self.site.path.removeprefix('torch/')}: {self.site.function}, {self.site.kind}"


Executing = Callable[[Collection[FunctionId]], Mapping[FunctionId, Collection[str]]]


def plan(files: Mapping[str, bytes], executing: Executing, count: int, seed: str) -> list[Mutant]:
    """`count` mutants of the source files (path to text), or as many as there are. One file has at most one of them,
    as long as the area has others."""
    drawn = {area: _Area(area, files, executing, seed) for area in AREAS}
    kinds: Counter[Kind] = Counter()
    mutants: list[Mutant] = []
    while len(mutants) < count:
        before = len(mutants)
        for area in drawn.values():
            if len(mutants) < count:
                harmless = (len(mutants) + 1) % _HARMLESS == 0
                mutants += area.draw(kinds, executed=not harmless) or area.draw(kinds, executed=True)
        if len(mutants) == before:
            break
    return mutants


class _Area:
    """Draws mutants of one area, each of another function, and of another file while there are any."""

    def __init__(self, name: str, files: Mapping[str, bytes], executing: Executing, seed: str) -> None:
        self._name, self._files, self._seed = name, files, seed
        paths = [path for path in sorted(files) if path.startswith(AREAS[name])]
        known = executing([FunctionId(path, function) for path in paths for function in function_names(files[path])])
        self._functions = {True: self._shuffled(known, executed=True), False: self._shuffled(known, executed=False)}
        self._used: Counter[str] = Counter()

    def _shuffled(self, known: Mapping[FunctionId, Collection[str]], *, executed: bool) -> list[FunctionId]:
        return sorted(
            (one for one, tests in known.items() if any("::" in test for test in tests) == executed), key=self._lot
        )

    def _lot(self, one: FunctionId) -> str:
        return hashlib.sha256(f"{self._seed} {one.path} {one.name}".encode()).hexdigest()

    def draw(self, kinds: Counter[Kind], *, executed: bool) -> list[Mutant]:
        """One mutant, of the kind that was least used so far, or none."""
        functions = self._functions[executed]
        for function in sorted(functions, key=lambda one: self._used[one.path]):  # in the drawn order for equals
            site = self._site(function, kinds)
            functions.remove(function)
            if site is not None:
                kinds[site.kind] += 1
                self._used[function.path] += 1
                return [Mutant(self._name, site, executed)]
        return []

    def _site(self, function: FunctionId, kinds: Counter[Kind]) -> Site | None:
        source = self._files[function.path]
        own = [site for site in sites(function.path, source) if site.function == function.name]
        for kind in sorted(Kind, key=lambda kind: (kinds[kind], kind)):
            for site in sorted((one for one in own if one.kind is kind), key=self._site_lot)[:_TRIES]:
                if is_sound(site, source):
                    return site
        return None

    def _site_lot(self, site: Site) -> str:
        return hashlib.sha256(f"{self._seed} {site.path} {site.start} {site.end}".encode()).hexdigest()


def installed_alike(tree: Path, installed: Callable[[str], Path]) -> dict[str, bytes]:
    """The source files of all areas that are installed as the tree has them, byte for byte, by path."""
    return {path: text for path, text in _sources(tree) if _content(installed(path)) == text}


def _sources(tree: Path) -> Iterator[tuple[str, bytes]]:
    beginnings = tuple(start for starts in AREAS.values() for start in starts)
    for file in sorted((tree / "torch").rglob("*.py")):
        path = file.relative_to(tree).as_posix()
        if path.startswith(beginnings):
            yield path, file.read_bytes()


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def document(mutants: Sequence[Mutant]) -> list[Mapping[str, object]]:
    """The mutants as plain values, to be kept in a file."""
    return [
        {"area": it.area, "executed": it.executed, **{name: getattr(it.site, name) for name in _SITE}} for it in mutants
    ]


def from_document(entries: Sequence[Mapping[str, str | int | bool]]) -> list[Mutant]:
    """What `document` made plain. Raises KeyError for a missing value."""
    return [
        Mutant(
            str(entry["area"]),
            Site(
                path=str(entry["path"]),
                function=str(entry["function"]),
                line=int(entry["line"]),
                kind=Kind(str(entry["kind"])),
                start=int(entry["start"]),
                end=int(entry["end"]),
                after=str(entry["after"]),
            ),
            executed=bool(entry["executed"]),
        )
        for entry in entries
    ]


_SITE = ("path", "function", "line", "kind", "start", "end", "after")
