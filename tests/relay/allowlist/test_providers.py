"""The CI providers' file: what it registers, what it skips, and what it cannot make us believe."""

from __future__ import annotations

import pytest

from relay.allowlist.findings import ProvidersError, Severity
from relay.allowlist.providers import ProviderEntry, Providers, parse_providers, read_providers


def _providers(body: str) -> str:
    return f"providers:\n  buildkite:\n    repo_map:\n      {body}\n"


def test_a_pipeline_speaks_for_its_repository() -> None:
    """In the plain form, and with required claims of one value or several."""
    text = """\
providers:
  buildkite:
    repo_map:
      o1/p1: a/b
      o1/p2: {repo: c/d, required_claims: {build_branch: [main, nightly], cluster: 7}}
"""
    found = parse_providers(text)
    assert found.lookup("o1", "p1") == ProviderEntry("a/b")
    assert found.lookup("o1", "p2") == ProviderEntry("c/d", {"build_branch": ("main", "nightly"), "cluster": ("7",)})
    assert found.lookup("o1", "p3") is None
    assert found.lookup("", "") is None


@pytest.mark.parametrize("text", ["", "# nothing", "null", "providers:", "providers: {github: {}}", "buildkite:"])
def test_a_file_that_registers_none_is_a_file(text: str) -> None:
    """All that was registered before is then gone."""
    assert parse_providers(text) == Providers()


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("o1: a/b", "is not <organization id>/<pipeline id>"),
        ("o1/: a/b", "is not <organization id>/<pipeline id>"),
        ("/p1: a/b", "is not <organization id>/<pipeline id>"),
        ("o1/p1/x: a/b", "is not <organization id>/<pipeline id>"),
        ("o1/p1: ab", "speaks for one owner/repo"),
        ("o1/p1:", "speaks for one owner/repo"),
        ("o1/p1: [a/b]", "speaks for one owner/repo"),
        ("o1/p1: {required_claims: {x: y}}", "speaks for one owner/repo"),
        ("o1/p1: {repo: a/b, required_claims: [x]}", "required_claims is a mapping"),
        ("o1/p1: {repo: a/b, required_claims: {x: {y: z}}}", "a value or a list of values"),
        ("o1/p1: {repo: a/b, required_claims: {x: [[y]]}}", "a value or a list of values"),
        ("o1/p1: {repo: a/b, required_claims: {x: }}", "a value or a list of values"),
    ],
)
def test_an_entry_that_is_not_understood_is_skipped(entry: str, says: str) -> None:
    """With a warning at its line, and without touching the others; never does it become one that demands less."""
    reading = read_providers(_providers(f"{entry}\n      o2/p2: c/d"))
    assert reading.providers == Providers({("o2", "p2"): ProviderEntry("c/d")})
    (finding,) = reading.findings
    assert (finding.line, finding.severity) == (4, Severity.WARNING)
    assert says in finding.message


def test_the_flat_form_counts_only_where_the_newer_gives_nothing() -> None:
    """Otherwise an old mapping would survive its removal."""
    flat = "buildkite: {o1/p1: old/repo}\n"
    assert parse_providers(flat).lookup("o1", "p1") == ProviderEntry("old/repo")
    assert parse_providers(f"providers: {{buildkite: {{}}}}\n{flat}").lookup("o1", "p1") == ProviderEntry("old/repo")
    assert parse_providers(_providers("o2/p2: a/b") + flat).lookup("o1", "p1") is None


@pytest.mark.parametrize("text", ["[a]", "text", "a: [", "a: 1\na: 2"])
def test_what_is_no_such_file_is_an_error(text: str) -> None:
    """With its place, as in the allowlist."""
    with pytest.raises(ProvidersError, match=r"line \d+:\d+: "):
        parse_providers(text)
