"""The format of the written cases in `tests/selector/change/cases/*.txt`, and changes made from them.

A case starts with `case:` and what it claims. Then come its files:

    file: PATH                the lines below, each behind a bar, as in a unified diff: `| both`, `|-before`, `|+after`
    rename: OLD -> PATH       the same, moved from OLD
    tree: PATH                a file of the tree that does not change; its lines are all `| `
    diff:                     the raw text of a diff instead, as git would write it

A `␍` is a carriage return. What is expected of all files together:

    noop: PATH                the file cannot matter
    doubt: PATH               the file could not be judged
    fact: PATH ; kind ; symbol ; op ; effect [; words of its evidence]

All facts are listed, in any order; a `fact:` without path is about the last `file:`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from selector.change import Fact

CASES = Path(__file__).parent / "cases"


@dataclass
class CaseFile:
    """One file of a case; a side that is None has no such file."""

    path: str
    old_path: str
    lines: list[str] = field(default_factory=list)

    @property
    def before(self) -> str | None:
        return self._side("-")

    @property
    def after(self) -> str | None:
        return self._side("+")

    def _side(self, sign: str) -> str | None:
        kept = [line[1:] for line in self.lines if line[:1] in (" ", "", sign)]
        return "".join(f"{line}\n" for line in kept) if kept else None


@dataclass
class Case:
    """One written change and what is expected of it."""

    claim: str
    origin: str
    files: list[CaseFile] = field(default_factory=list)
    tree: list[CaseFile] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    current: list[str] = field(default_factory=list)  # where body lines go
    noops: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    def base(self) -> dict[str, str]:
        """The tree before."""
        return self._unchanged() | {file.old_path: file.before for file in self.files if file.before is not None}

    def head(self) -> dict[str, str]:
        """The tree after."""
        return self._unchanged() | {file.path: file.after for file in self.files if file.after is not None}

    def _unchanged(self) -> dict[str, str]:
        return {file.path: file.after or "" for file in self.tree}

    def diff(self) -> str:
        """What git would write for it."""
        if self.raw:
            return "\n".join(self.raw) + "\n"
        return "".join(line for file in self.files for line in _entry(file))


def _entry(file: CaseFile) -> Iterator[str]:
    before, after = file.before, file.after
    yield f"diff --git a/{file.old_path} b/{file.path}\n"
    if file.path != file.old_path:
        yield f"similarity index 90%\nrename from {file.old_path}\nrename to {file.path}\n"
    if before is None:
        yield "new file mode 100644\n"
    if after is None:
        yield "deleted file mode 100644\n"
    old = "/dev/null" if before is None else f"a/{file.old_path}"
    new = "/dev/null" if after is None else f"b/{file.path}"
    yield from difflib.unified_diff((before or "").splitlines(True), (after or "").splitlines(True), old, new)


def shown(fact: Fact) -> str:
    """A fact as a case lists it."""
    return " ; ".join((fact.file, fact.kind, fact.symbol, fact.op, fact.effect))


def read_cases() -> list[Case]:
    """All cases of all files, in order."""
    return [case for path in sorted(CASES.glob("*.txt")) for case in _read(path)]


def _read(path: Path) -> Iterator[Case]:
    case: Case | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.startswith("case:"):
            if case is not None:
                yield case
            case = Case(line.removeprefix("case:").strip(), f"{path.name}:{number}")
        elif case is not None and line.strip():
            _take(case, line)
    if case is not None:
        yield case


def _take(case: Case, line: str) -> None:
    if line.startswith("|"):
        case.current.append(line[1:].replace("␍", "\r"))
        return
    key, _, rest = line.partition(":")
    rest = rest.strip()
    match key:
        case "file":
            case.files.append(CaseFile(rest, rest))
            case.current = case.files[-1].lines
        case "rename":
            old, _, new = rest.partition(" -> ")
            case.files.append(CaseFile(new, old))
            case.current = case.files[-1].lines
        case "tree":
            case.tree.append(CaseFile(rest, rest))
            case.current = case.tree[-1].lines
        case "diff":
            case.current = case.raw
        case "noop" | "doubt" | "fact":
            _expect(case, key, rest)
        case _:
            raise ValueError(f"{case.origin}: not understood: {line}")


def _expect(case: Case, key: str, rest: str) -> None:
    path = case.files[-1].path if case.files else ""
    if key == "fact":
        case.facts.append(f"{path} {rest}" if rest.startswith(";") else rest)
    else:
        (case.noops if key == "noop" else case.doubts).append(rest or path)
