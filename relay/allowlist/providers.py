"""The CI providers' file: which Buildkite pipeline speaks for which repository (crcr-protocol 1.5).

Owns its grammar. A broken entry is skipped with a warning, because the others must go on; issuers and key addresses
in the file are never believed: who is trusted is compiled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from relay.allowlist import document
from relay.allowlist.document import Node, Scalar, UnreadableError, error_at, kind, read_tree, warning_at
from relay.allowlist.entry import repo_name
from relay.allowlist.findings import Finding, ProvidersError, errors_of, shown

_BUILDKITE = "buildkite"


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """A registered pipeline: the repository it speaks for, and for each required claim the values that are allowed."""

    repo: str
    required_claims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Providers:
    """All registered pipelines, by organization and pipeline id."""

    buildkite: Mapping[tuple[str, str], ProviderEntry] = field(default_factory=dict)

    def lookup(self, organization_id: str, pipeline_id: str) -> ProviderEntry | None:
        """The registration of a pipeline, by its immutable ids."""
        return self.buildkite.get((organization_id, pipeline_id))


@dataclass(frozen=True, slots=True)
class ProvidersReading:
    """What came of a text: no providers when there is an error among the findings."""

    providers: Providers | None
    findings: tuple[Finding, ...]


def parse_providers(text: str) -> Providers:
    """The registrations a text describes. An empty text describes none.

    Raises:
        ProvidersError: it cannot be read at all.
    """
    reading = read_providers(text)
    if reading.providers is None:
        raise ProvidersError(reading.findings)
    return reading.providers


def read_providers(text: str) -> ProvidersReading:
    """The same with all findings, warnings included, in the order of the file."""
    try:
        root = read_tree(text)
    except UnreadableError as error:
        return ProvidersReading(None, (error.finding,))
    reader = _Reader()
    entries = reader.entries(root)
    findings = tuple(sorted(reader.findings))
    return ProvidersReading(None if errors_of(findings) else Providers(entries), findings)


@dataclass(slots=True)
class _Reader:
    findings: list[Finding] = field(default_factory=list)

    def entries(self, root: Node | None) -> dict[tuple[str, str], ProviderEntry]:
        if root is None or (isinstance(root, Scalar) and root.is_null):
            return {}
        if not isinstance(root, document.Mapping):
            self.findings.append(error_at(root, f"the file must be a mapping, not {kind(root)}"))
            return {}
        found = dict(self._map(_below(root, "providers", _BUILDKITE, "repo_map")))
        # The older, flat form counts only where the newer one gave nothing.
        return found or dict(self._map(root.get(_BUILDKITE)))

    def _map(self, repo_map: Node | None) -> Iterator[tuple[tuple[str, str], ProviderEntry]]:
        for key, value in repo_map.pairs if isinstance(repo_map, document.Mapping) else ():
            pipeline = self._pipeline(key)
            entry = self._entry(value)
            if pipeline and entry:
                yield pipeline, entry

    def _pipeline(self, key: Scalar) -> tuple[str, str] | None:
        organization, _, pipeline = key.words.partition("/")
        if organization and pipeline and "/" not in pipeline:
            return organization, pipeline
        self._skip(key, f"{shown(key.text)} is not <organization id>/<pipeline id>")
        return None

    def _entry(self, value: Node) -> ProviderEntry | None:
        named = value.get("repo") if isinstance(value, document.Mapping) else value
        repo = repo_name(named.value) if isinstance(named, Scalar) and isinstance(named.value, str) else None
        if repo is None:
            self._skip(value, "a pipeline speaks for one owner/repo")
            return None
        claims = value.get("required_claims") if isinstance(value, document.Mapping) else None
        if claims is None or (isinstance(claims, Scalar) and claims.is_null):
            return ProviderEntry(repo)
        return self._constrained(repo, claims)

    def _constrained(self, repo: str, claims: Node) -> ProviderEntry | None:
        if not isinstance(claims, document.Mapping):
            self._skip(claims, f"required_claims is a mapping from claim to values, not {kind(claims)}")
            return None
        allowed = {key.words: _values(value) for key, value in claims.pairs}
        if any(values is None for values in allowed.values()):
            self._skip(claims, "a required claim has a value or a list of values")
            return None
        return ProviderEntry(repo, {name: values for name, values in allowed.items() if values is not None})

    def _skip(self, node: Node, message: str) -> None:
        self.findings.append(warning_at(node, f"{message}; this entry is skipped"))


def _below(root: document.Mapping, *keys: str) -> Node | None:
    found: Node | None = root
    for key in keys:
        found = found.get(key) if isinstance(found, document.Mapping) else None
    return found


def _values(value: Node) -> tuple[str, ...] | None:
    """The allowed values as text, None when something else stands there: an entry that is not understood must not
    become one that demands less. That holds for null too, since an absent claim counts as empty text."""
    items = value.items if isinstance(value, document.Sequence) else (value,)
    scalars = [item for item in items if isinstance(item, Scalar) and not item.is_null]
    return tuple(item.words for item in scalars) if len(scalars) == len(items) else None
