"""Rules that compare the manifests of a set, and the blocks of one manifest, with each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from selector.manifests.document import Path
from selector.manifests.findings import Finding
from selector.manifests.lint.checked import Checked
from selector.manifests.oddities import GLOBAL
from selector.manifests.upstream import upstream_file

#: A `global` is a copy worth a word from this many manifests on, and this many lines of JSON.
MIN_COPIES = 3
MIN_LINES = 20


def across(manifests: Sequence[Checked]) -> Iterator[Finding]:
    """Files with two blocks, and sections that are copied from manifest to manifest."""
    yield from _doubled_paths(manifests)
    yield from _doubled_models(manifests)
    yield from _copied_globals(manifests)


def _doubled_paths(manifests: Sequence[Checked]) -> Iterator[Finding]:
    first: dict[str, tuple[Checked, Path]] = {}
    for checked in manifests:
        for path, block in checked.blocks():
            where: Path = (*path, "path")
            # Manifests about files of the device's repository are run one by one, so they may share a file.
            file = upstream_file(block.path) or f"{checked.document.name} {block.path}"
            earlier, place = first.setdefault(file, (checked, where))
            if earlier is checked and place == where:
                continue
            name = "line" if earlier is checked else f"{earlier.document.name}, line"
            line = earlier.placed.place(place).line
            message = f"the file is listed in {name} {line} already, which counts; this block is ignored"
            yield checked.report("duplicate-path", where, message)


def _doubled_models(manifests: Sequence[Checked]) -> Iterator[Finding]:
    first: dict[str, tuple[Checked, Path]] = {}
    for checked in manifests:
        for path, model in checked.whole_models():
            earlier, place = first.setdefault(model.name, (checked, path))
            if (earlier, place) != (checked, path):
                where = f"{earlier.document.name}, line {earlier.placed.place(place).line}"
                message = f"the model {model.name} is in {where} already, which counts; this one is ignored"
                yield checked.report("duplicate-model", path, message)


def _copied_globals(manifests: Sequence[Checked]) -> Iterator[Finding]:
    """One finding for every copy, the first included: each of them has to be edited."""
    for copies in identical_globals(manifests):
        for checked in copies:
            other = copies[0] if checked is not copies[0] else copies[1]
            message = f"this `global` is the same in {len(copies)} manifests, {other.document.name} for one"
            yield checked.report("copied-global", GLOBAL, message)


def identical_globals(manifests: Sequence[Checked]) -> list[list[Checked]]:
    """The groups of manifests whose `global` says the same in the same order, and is worth a word."""
    found: dict[str, list[Checked]] = {}
    for checked in manifests:
        # Dates and keys that are no text are written as text: equal data has equal text, which is all that matters.
        text = json.dumps(checked.value(GLOBAL), indent=0, default=str, sort_keys=False)
        if text.count("\n") >= MIN_LINES:
            found.setdefault(text, []).append(checked)
    return [copies for copies in found.values() if len(copies) >= MIN_COPIES]
