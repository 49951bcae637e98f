"""Sources of manifests that share their `global` section, and the plain manifests that are compiled from them.

A source is a manifest whose `global` holds `x-defaults: NAME` and nothing else; NAME is a file of shared lines. The
framework knows no includes (`oot-manifests.md` 7.4), so it gets the compiled manifests, which need nothing from us.
Text goes from one to the other unchanged, and what was factored is compiled again and compared before it is given out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import yaml
from yaml import CSafeLoader

from selector.manifests.authoring.plain import canonical
from selector.manifests.authoring.splicing import Manuscript, SpliceError
from selector.manifests.document import ManifestDocument
from selector.manifests.dtypes import DtypeName
from selector.manifests.findings import ManifestError
from selector.manifests.load import ManifestSet, load_manifests
from selector.manifests.profiles import Profile
from selector.manifests.resolution import resolve
from selector.types import CollectedTest

KEY = "x-defaults"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_UNLISTED = "test_that_no_manifest_lists"


class MigrationError(Exception):
    """Sources that can not be compiled; the text names the source and the next step."""


@dataclass(frozen=True, slots=True)
class Factored:
    """Sources under the names of their manifests, the shared lines by name, and what stays as it was, with reasons."""

    sources: tuple[ManifestDocument, ...]
    defaults: Mapping[str, str]
    notes: tuple[str, ...]


def factor(documents: Sequence[ManifestDocument]) -> Factored:
    """Take out `global` sections that mean the same in several manifests. A manifest that shares its section with no
    other, or whose text can not be given back, is its own source. Raises ManifestError when one does not load.
    """
    load_manifests(documents)
    defaults: dict[str, str] = {}
    sources: dict[str, ManifestDocument] = {}
    notes: list[str] = []
    for number, group in enumerate(_sharing(documents), 1):
        name = f"global-{number}"
        body = _body(group[0]) or ""
        for document in group:
            source = _source_of(document, name)
            if problem := _not_given_back(document, source, {name: body}):
                notes.append(f"{document.name} stays as it is: {problem}")
                continue
            defaults[name] = body
            sources[document.name] = source
            if _body(document) != body:
                notes.append(f"{document.name}: comments or layout of its `global` become those of {group[0].name}")
    return Factored(tuple(sources.get(document.name, document) for document in documents), defaults, tuple(notes))


def _sharing(documents: Sequence[ManifestDocument]) -> Iterator[list[ManifestDocument]]:
    """Manifests whose `global` holds equal data, where there are at least two."""
    groups: dict[str, list[ManifestDocument]] = {}
    for document in documents:
        section = _suite(document).get("global")
        if section and _body(document) is not None:
            groups.setdefault(canonical(section), []).append(document)
    yield from (group for group in groups.values() if len(group) > 1)


def _body(document: ManifestDocument) -> str | None:
    """The lines below `global`, None where they can not be told apart from the rest."""
    try:
        return Manuscript(document.name, document.text).global_body()
    except SpliceError:
        return None


def _suite(document: ManifestDocument) -> Mapping[str, object]:
    suite = yaml.load(document.text, Loader=CSafeLoader)["test_suite_config"]
    return suite if isinstance(suite, Mapping) else {}


def _source_of(document: ManifestDocument, name: str) -> ManifestDocument:
    manuscript = Manuscript(document.name, document.text)
    manuscript.set_global_body(f"{KEY}: {name}\n")
    return ManifestDocument(document.name, manuscript.text())


def _not_given_back(document: ManifestDocument, source: ManifestDocument, defaults: Mapping[str, str]) -> str:
    try:
        compiled = compile_source(source, defaults)
    except (MigrationError, ManifestError, yaml.YAMLError) as error:
        return str(error)
    # Equal data is more than an equal table: it means the same for tests that nobody has thought of.
    return "" if _same_data(compiled, document) else "its `global` is used by anchors outside of it"


def _same_data(one: ManifestDocument, other: ManifestDocument) -> bool:
    first, second = (canonical(yaml.load(document.text, Loader=CSafeLoader)) for document in (one, other))
    return first == second


def compile_source(source: ManifestDocument, defaults: Mapping[str, str]) -> ManifestDocument:
    """The plain manifest of a source; a source without `x-defaults` is one. Raises MigrationError when it can not be
    compiled, ManifestError when the outcome does not load.
    """
    compiled = ManifestDocument(source.name, _compiled_text(source, defaults))
    load_manifests([compiled])
    return compiled


def _compiled_text(source: ManifestDocument, defaults: Mapping[str, str]) -> str:
    load_manifests([source])
    section = _suite(source).get("global")
    if not isinstance(section, Mapping) or KEY not in section:
        return source.text
    name = str(section[KEY])
    if len(section) > 1:
        raise MigrationError(f"{source.name}: `global` holds more than `{KEY}`; write all of it here, or all there")
    if not _NAME.fullmatch(name) or name not in defaults:
        raise MigrationError(
            f"{source.name}: there are no defaults {name[:60]!r}; known: {', '.join(defaults) or 'none'}"
        )
    try:
        manuscript = Manuscript(source.name, source.text)
        manuscript.set_global_body(defaults[name])
        return manuscript.text()
    except SpliceError as error:
        raise MigrationError(f"{error}; write `global:` and `{KEY}: {name}` in two lines") from error


def digest(manifests: ManifestSet, tests: Iterable[CollectedTest] = (), *, device: str) -> str:
    """The digest of the table for these tests; without any, for every listed name and an unlisted one, in every dtype.
    Equal digests: the manifests mean the same for them.
    """
    asked = tuple(tests) or tuple(_every_name(manifests, device))
    return resolve(manifests, asked, profile=Profile.COMPAT, device=device).digest


def _every_name(manifests: ManifestSet, device: str) -> Iterator[CollectedTest]:
    for file, rules in sorted(manifests.upstream.items()):
        for base in (*rules.exact, _UNLISTED):
            for dtype in ("", *get_args(DtypeName)):
                method = "_".join(part for part in (base, device, dtype) if part)
                yield CollectedTest(f"{file}::Test::{method}", file, "Test", base, method, dtype=dtype or None)
