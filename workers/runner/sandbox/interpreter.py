"""Which folders a Python needs in order to run, found without running it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_LINKS = 40  # the kernel's own bound on a chain of links


def interpreter_folders(python: Path) -> tuple[Path, ...]:
    """The prefix of `python`, and of every Python it stands on: targets of links, and the home of a virtual environment
    (`pyvenv.cfg`, PEP 405). The root folder is never among them."""
    found: dict[Path, None] = {}
    for program in _programs(python.absolute()):
        for folder in (program.parent.parent, program.parent.resolve().parent):
            if folder != Path(folder.anchor):
                found.setdefault(folder)
    return tuple(found)


def _programs(python: Path) -> Iterator[Path]:
    """`python`, each program it is a link to, and those of the environment it was made from."""
    waiting, seen = [python], set[Path]()
    while waiting and len(seen) < _LINKS:
        program = waiting.pop()
        if program in seen:
            continue
        seen.add(program)
        yield program
        if program.is_symlink():
            waiting.append(program.parent / program.readlink())
        if (home := _home(program.parent.parent / "pyvenv.cfg")) is not None:
            waiting.append(home / program.name)


def _home(config: Path) -> Path | None:
    try:
        lines = config.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    values = {key.strip().lower(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return Path(values["home"]) if values.get("home") else None
