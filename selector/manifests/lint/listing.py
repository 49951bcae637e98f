"""Compares the files of a manifest with those the framework's launcher would see, which reads lines and not YAML
(`oot-manifests.md` 3.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selector.manifests.document import Path
from selector.manifests.findings import Finding, Place, Severity, shown
from selector.manifests.lint.checked import Checked
from selector.manifests.rulebook import RULES

_LINE = re.compile(r"^[ \t]*(?:-[ \t]+)?path:[ \t]+(?P<path>.*?)(?:[ \t]+#.*)?[ \t\r]*$")


def in_listing(checked: Checked) -> Iterator[Finding]:
    """Quoted paths, lines that only look like a file block, and blocks that do not look like one."""
    lines = list(_textual(checked.document.text))
    parsed: dict[int, str] = {}
    for path, block in checked.blocks():
        where: Path = (*path, "path")
        key = checked.placed.key_place(where)
        parsed[key.line] = block.path
        written = next((text for line, text in lines if line == key.line), None)
        if written is None:
            message = "the launcher does not see this file: its `path:` does not start a line"
            yield checked.report("textual-file-list", where, message)
        elif written != block.path:
            yield _misread(checked, where, written, block.path)
    for line, text in lines:
        if line not in parsed:
            message = f"the launcher takes this line for a file to run: {shown(text)}"
            rule = RULES["textual-file-list"].id
            yield checked.placed.finding(Place(line, 1), message, Severity.WARNING, rule)


def _textual(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if match := _LINE.match(line):
            yield number, match["path"]


def _misread(checked: Checked, where: Path, written: str, path: str) -> Finding:
    if written[:1] in {'"', "'"} and written[1:-1] == path:
        return checked.report("quoted-path", where, "the launcher keeps the quotes of this path, and misses the file")
    message = f"the launcher reads this path as {shown(written)}"
    return checked.report("textual-file-list", where, message)
