"""Sources compile to the manifests that they came from."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.authoring.migration import Factored, MigrationError, compile_source, digest, factor

GLOBAL = """\
  global:  # the device
    # Two dtypes.
    supported_dtypes:
      - name: float32
      - name: int8

    supported_ops: [abs, add]
"""


def manifest(name: str, section: str = GLOBAL, *, after: str = "") -> ManifestDocument:
    head = f"# {name}\ntest_suite_config:\n  files:\n    - path: ${{TORCH_ROOT}}/test/{name}\n      tests:\n"
    return ManifestDocument(f"{name}.yaml", f"{head}        - names: [test_a]\n{section}{after}")


def compiled(made: Factored) -> list[ManifestDocument]:
    return [compile_source(source, made.defaults) for source in made.sources]


def test_shared_sections_leave_two_lines_and_come_back_to_the_letter() -> None:
    documents = [manifest("a"), manifest("b", after="  labels: [unit]  # behind\n"), manifest("c", "")]
    made = factor(documents)
    assert made.sources[0].text.endswith("  global:  # the device\n    x-defaults: global-1\n")
    assert made.sources[1].text.endswith("    x-defaults: global-1\n  labels: [unit]  # behind\n")
    assert made.sources[2] == documents[2]
    assert made.defaults["global-1"].startswith("# Two dtypes.\nsupported_dtypes:\n  - name: float32\n")
    assert made.notes == ()
    assert compiled(made) == documents


def test_a_section_that_no_other_has_stays() -> None:
    documents = [manifest("a"), manifest("b", GLOBAL.replace("int8", "int16"))]
    assert factor(documents) == Factored(tuple(documents), {}, ())


def test_other_comments_are_lost_only_with_a_note() -> None:
    documents = [manifest("a"), manifest("b", GLOBAL.replace("# Two dtypes.", "# Mine."))]
    made = factor(documents)
    assert made.notes == ("b.yaml: comments or layout of its `global` become those of a.yaml",)
    one, other = (load_manifests(each) for each in (documents, compiled(made)))
    assert digest(one, device="spyre") == digest(other, device="spyre")


@pytest.mark.parametrize(
    "section",
    [
        "  global: {supported_ops: [abs]}\n",
        "  global: &g\n    supported_ops: &ops [abs]\nx-more: *ops\n",
    ],
)
def test_what_can_not_be_given_back_stays_as_it_is(section: str) -> None:
    documents = [manifest("a", section), manifest("b", section)]
    made = factor(documents)
    assert made.sources == tuple(documents)
    assert made.defaults == {}


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ("  global:\n    x-defaults: other\n", "a.yaml: there are no defaults 'other'; known: one"),
        ("  global:\n    x-defaults: ../../etc\n", "there are no defaults"),
        ("  global:\n    x-defaults: one\n    supported_ops: [abs]\n", "holds more than `x-defaults`"),
        ("  global: {x-defaults: one}\n", "write `global:` and `x-defaults: one` in two lines"),
    ],
)
def test_a_source_that_can_not_be_compiled_is_named(section: str, sentence: str) -> None:
    with pytest.raises(MigrationError, match=sentence):
        compile_source(manifest("a", section), {"one": "supported_ops: [abs]\n"})


def test_a_source_is_no_manifest_that_passes_unseen() -> None:
    """Someone who loads a source itself hears that its device is not described."""
    (finding,) = load_manifests([factor([manifest("a"), manifest("b")]).sources[0]]).findings
    assert "unknown key 'x-defaults'" in finding.message


def test_the_digest_sees_a_change_of_meaning_and_no_change_of_place() -> None:
    moved = ManifestDocument("a.yaml", "# one more line\n" + manifest("a").text)
    meant = manifest("a", GLOBAL.replace("int8", "int16"))
    digests = [digest(load_manifests([one]), device="spyre") for one in (manifest("a"), moved, meant)]
    assert digests[0] == digests[1] != digests[2]


DTYPES = st.lists(st.sampled_from(["float32", "int8", "bool", "int16"]), min_size=1, max_size=3, unique=True)


@settings(max_examples=50)
@given(st.lists(st.tuples(DTYPES, st.booleans(), st.integers(2, 6)), min_size=1, max_size=5))
def test_whatever_is_shared_the_meaning_stays(kinds: list[tuple[list[str], bool, int]]) -> None:
    documents = []
    for number, (dtypes, commented, indent) in enumerate(kinds):
        lines = [f"supported_dtypes: [{', '.join(f'{{name: {dtype}}}' for dtype in dtypes)}]"]
        body = [*(["# why"] if commented else []), *lines]
        section = "  global:\n" + "".join(f"{' ' * (2 + indent)}{line}\n" for line in body)
        documents.append(manifest(f"m{number}", section))
    made = factor(documents)
    assert digest(load_manifests(documents), device="spyre") == digest(load_manifests(compiled(made)), device="spyre")
