"""Reads JUnit XML as pytest writes it for unittest classes (`oot-manifests.md` 2.8).

The file is untrusted: parsed by defusedxml, with document types and entities refused, and read one test case at a
time. JUnit cannot tell an unexpected pass from a pass, and a process that was killed leaves no file at all.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from selector.manifests.authoring.results import (
    DETAIL_CHARACTERS,
    Naming,
    Observation,
    ObservedTest,
    ResultsError,
    seconds,
    when,
)

MAX_CASES = 1_000_000
_STRICT_PASS = "[XPASS(strict)]"  # noqa: S105 - pytest's words, no secret
_WRAPPER = "__oot_wrapper"


@dataclass(frozen=True, slots=True)
class _Suite:
    """What a `testsuite` says about all of its cases."""

    run: str
    at: datetime | None
    machine: str


def read_junit(name: str, data: bytes, naming: Naming) -> Iterator[ObservedTest]:
    """One observation for each test case. Raises ResultsError when the file can not be read to its end."""
    try:
        yield from _cases(name, data, naming)
    except ParseError as error:
        raise ResultsError(f"{name} is not well-formed XML: {error}") from error
    except DefusedXmlException as error:
        raise ResultsError(f"{name} declares a document type or entities, which a JUnit file has no need of") from error


def _cases(name: str, data: bytes, naming: Naming) -> Iterator[ObservedTest]:
    suite = _Suite(name, None, "")
    found = 0
    for event, element in iterparse(io.BytesIO(data), events=("start", "end"), forbid_dtd=True):
        if event == "start" and element.tag == "testsuite":
            at = when(element.get("timestamp"))
            suite = _Suite(f"{name} {at.isoformat()}" if at else name, at, element.get("hostname", ""))
        elif event == "end" and element.tag == "testcase":
            found += 1
            if found > MAX_CASES:
                raise ResultsError(f"{name} holds more than {MAX_CASES} test cases; give the results in parts")
            yield _observed(element, suite, naming)
            element.clear()


def _observed(case: Element, suite: _Suite, naming: Naming) -> ObservedTest:
    file, classes = _place(case.attrib)
    test, known = naming.identify(file, classes, case.get("name", ""))
    observation, detail = _outcome(case)
    run, machine = suite.run, suite.machine
    return ObservedTest(test, observation, run, suite.at, machine, seconds(case.get("time")), detail, known)


def _place(attributes: Mapping[str, str]) -> tuple[str, list[str]]:
    """The file and the classes of a case. pytest names the file in its older format only; else the class name is a
    dotted path in which modules are written small."""
    parts = attributes.get("classname", "").split(".")
    modules = next((n for n, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), len(parts))
    classes = parts[modules:]
    stem = "/".join(parts[:modules]).removesuffix(_WRAPPER)
    told = posixpath.normpath(attributes.get("file") or f"{stem}.py").replace(f"{_WRAPPER}.py", ".py")
    file = f"{stem}.py" if told.startswith(("/", "..")) else told
    # pytest is usually run inside `test/`; a manifest names files from the root of the tree.
    return file if file.startswith("test/") else f"test/{file}", classes


def _outcome(case: Element) -> tuple[Observation, str]:
    told = {item.get("name"): item.get("value", "") for item in case.iter("property")}
    for problem in case:
        if problem.tag in {"failure", "error", "skipped"}:
            detail = (problem.get("message") or problem.text or "")[:DETAIL_CHARACTERS]
            return _told(told) or _of(problem.tag, problem.get("type", ""), detail), detail
    return _told(told) or Observation.PASSED, ""


def _told(properties: Mapping[str | None, str]) -> Observation | None:
    """Our own runner's word for it, which says more than JUnit can. What was seen on the base commit goes first: a
    manifest says what holds without the change."""
    word = properties.get("observation.base") or properties.get("observation", "")
    return Observation(word) if word in set(Observation) else None


def _of(tag: str, kind: str, detail: str) -> Observation:
    if tag == "skipped":
        return Observation.FAILED if kind == "pytest.xfail" else Observation.SKIPPED
    if detail.startswith(_STRICT_PASS):
        return Observation.PASSED
    if tag == "error" and "crashed" in detail and "worker" in detail:
        return Observation.CRASHED
    if detail.removeprefix("Failed: ").startswith("Timeout"):
        return Observation.TIMED_OUT
    return Observation.FAILED
