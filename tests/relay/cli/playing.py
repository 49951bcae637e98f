"""Transcripts: command lines with what they say, as files that people can read.

A line `$ [NAME=value]... relay ...` is run; then follow its lines on stdout, its lines on stderr after `! `, and
`= code`. In what is expected `<any>` stands for a part of a line, and `<lines>` for any number of lines.
A line `< name` makes a file of the lines that follow, up to the next command or file; they begin with two spaces.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Step:
    """One command line and all of its expected lines."""

    line: str
    said: list[str] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The name of the file that this step makes, empty for a command."""
        return self.line.removeprefix("< ") if self.line.startswith("< ") else ""

    def write(self, folder: Path) -> None:
        """Make the file."""
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line.removeprefix('  ')}\n" for line in self.said), encoding="utf-8")

    @property
    def words(self) -> tuple[dict[str, str], list[str]]:
        """The variables that the line sets, and the words after `relay`."""
        words = shlex.split(self.line)
        start = words.index("relay")
        return dict(word.split("=", 1) for word in words[:start]), words[start + 1 :]


def steps_in(file: Path) -> Iterator[Step]:
    """The steps of a transcript. Lines before the first are its claim."""
    step: Step | None = None
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(("$ ", "< ")):
            if step:
                yield step
            step = Step(line.removeprefix("$ "))
        elif step:
            step.said.append(line)
    if step:
        yield step


def commands_in(file: Path) -> Iterator[Step]:
    """The steps that are commands."""
    yield from (step for step in steps_in(file) if not step.file)


def written(out: str, err: str, code: int, replaced: Callable[[str], str]) -> list[str]:
    """What a command said, as a transcript has it."""
    lines = [*replaced(out).splitlines(), *(f"! {line}".rstrip() for line in replaced(err).splitlines())]
    return [*(line.rstrip() for line in lines), f"= {code}"]


def fits(expected: list[str], said: list[str]) -> bool:
    """Whether the lines are those that were expected."""
    parts = [
        r"(?:.*\n)*" if line == "<lines>" else re.escape(line.rstrip()).replace("<any>", ".*") + "\n"
        for line in expected
    ]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in said)) is not None
