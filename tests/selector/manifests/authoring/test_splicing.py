"""A change touches the lines it is about and no other character."""

from __future__ import annotations

import difflib
from collections.abc import Callable

import pytest

from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.authoring.splicing import Manuscript, SpliceError

FILE = "test/test_a.py"
TEXT = """\
# Head: 'quoted', café.
x-shared: &shared
  dtypes: {exclude: [{name: int8}]}
test_suite_config:
  labels:   [unit]   # odd spacing
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: mandatory_success
      tests:
        # Both lack sparse tensors.
        - names:
            - TestA::test_one   # first
            - test_two
          mode: xfail  # for now
          reason: no sparse

        - names: [TestA::test_three, "test_four"]
          mode: "skip"
          edits: *shared
        # About five.
        # More about five.
        - names: test_five
    # Behind.
    - path: ${TORCH_ROOT}/test/test_b.py
      unlisted_test_mode: skip
# End.
"""


def changed(edit: Callable[[Manuscript], object], text: str = TEXT) -> list[str]:
    """The lines that an edit removes and adds; the result has to load."""
    manuscript = Manuscript("m.yaml", text)
    edit(manuscript)
    after = manuscript.text()
    load_manifests([ManifestDocument("m.yaml", after)])
    lines = difflib.unified_diff(text.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in list(lines)[2:] if not line.startswith("@@")]


def test_without_a_change_the_text_is_the_same() -> None:
    assert Manuscript("m.yaml", TEXT).text() == TEXT
    dos = TEXT.replace("\n", "\r\n")
    assert Manuscript("m.yaml", dos).text() == dos


def test_a_name_goes_with_its_line() -> None:
    assert changed(lambda m: m.drop_names(FILE, 0, {"test_one"})) == ["-            - TestA::test_one   # first"]


def test_a_name_in_brackets_goes_alone() -> None:
    assert changed(lambda m: m.drop_names(FILE, 1, {"test_three"})) == [
        '-        - names: [TestA::test_three, "test_four"]',
        '+        - names: ["test_four"]',
    ]


@pytest.mark.parametrize(("entry", "methods"), [(0, {"test_one", "test_two"}), (2, {"test_five"})])
def test_the_last_name_is_not_taken(entry: int, methods: set[str]) -> None:
    manuscript = Manuscript("m.yaml", TEXT)
    assert manuscript.drop_names(FILE, entry, methods) is False
    assert manuscript.text() == TEXT


def test_a_mode_is_replaced_and_what_explained_it_goes() -> None:
    assert changed(lambda m: m.set_mode(FILE, 0, "mandatory_success", ["reason", "issue"])) == [
        "-          mode: xfail  # for now",
        "-          reason: no sparse",
        "+          mode: mandatory_success  # for now",
    ]


def test_a_mode_that_was_not_written_is_added() -> None:
    assert changed(lambda m: m.set_mode(FILE, 2, "xfail")) == ["+          mode: xfail"]


def test_an_entry_goes_with_its_comment() -> None:
    assert changed(lambda m: m.drop_entry(FILE, 2)) == [
        "-        # About five.",
        "-        # More about five.",
        "-        - names: test_five",
    ]
    assert changed(lambda m: m.drop_entry(FILE, 1))[0].startswith("-        - names: [TestA::test_three")


def test_without_entries_the_key_goes_too() -> None:
    def drop_all(manuscript: Manuscript) -> None:
        for entry in range(3):
            manuscript.drop_entry(FILE, entry)

    assert changed(drop_all)[0] == "-      tests:"


def test_entries_are_put_behind_the_last_one_before_the_next_file() -> None:
    assert changed(lambda m: m.add_entries(FILE, [{"names": ["test_new"], "mode": "xfail"}])) == [
        "+        - names:",
        "+            - test_new",
        "+          mode: xfail",
    ]
    manuscript = Manuscript("m.yaml", TEXT)
    manuscript.add_entries(FILE, [{"names": ["test_new"]}])
    assert "- names: test_five\n        - names:\n            - test_new\n    # Behind." in manuscript.text()


def test_a_file_without_entries_gets_some() -> None:
    assert changed(lambda m: m.add_entries("test/test_b.py", [{"names": ["test_new"]}])) == [
        "+      tests:",
        "+        - names:",
        "+            - test_new",
    ]


def test_a_file_is_put_behind_the_last_one_also_without_a_line_end() -> None:
    block = {"path": "${TORCH_ROOT}/test/test_c.py", "unlisted_test_mode": "skip"}
    added = ["+", "+    - path: ${TORCH_ROOT}/test/test_c.py", "+      unlisted_test_mode: skip"]
    assert changed(lambda m: m.add_block(block)) == added
    assert changed(lambda m: m.add_block(block), TEXT.removesuffix("\n# End.\n")) == added


def test_several_changes_are_made_at_once() -> None:
    def edit(manuscript: Manuscript) -> None:
        manuscript.drop_entry(FILE, 1)
        manuscript.set_mode(FILE, 0, "skip")
        manuscript.add_entries(FILE, [{"names": ["test_new"]}])
        manuscript.add_entries("test/test_b.py", [{"names": ["test_new"]}])

    assert len(changed(edit)) == 10


@pytest.mark.parametrize(
    ("tests", "sentence"),
    [
        ("      tests: [{names: [a]}]\n", "m.yaml:5 is left as it is: `tests` is written in brackets"),
        ("      tests:\n        -\n          names: [a]\n", "m.yaml:7 is left as it is: the entry does not start on"),
        ("      tests: []\n", "m.yaml:5 is left as it is: `tests` is written in brackets"),
    ],
)
def test_what_would_have_to_be_rewritten_is_refused_with_its_line(tests: str, sentence: str) -> None:
    head = "test_suite_config:\n  files:\n    - path: ${TORCH_ROOT}/test/test_a.py\n      unlisted_test_mode: skip\n"
    manuscript = Manuscript("m.yaml", head + tests)
    with pytest.raises(SpliceError, match=sentence):
        manuscript.add_entries(FILE, [{"names": ["b"]}]) if "[]" in tests else manuscript.drop_entry(FILE, 0)


def test_a_file_that_is_not_listed_is_named() -> None:
    with pytest.raises(SpliceError, match=r"m.yaml does not list test/test_z.py"):
        Manuscript("m.yaml", TEXT).drop_entry("test/test_z.py", 0)


def test_names_become_others_as_they_are_written() -> None:
    """In lines or in brackets, with the quotes and the comment of the one before."""
    assert changed(lambda text: text.put_names(FILE, 0, {"TestA::test_one": ["TestA::test_new", "test_more"]})) == [
        "-            - TestA::test_one   # first",
        "+            - TestA::test_new   # first",
        "+            - test_more",
    ]
    assert changed(lambda text: text.put_names(FILE, 1, {"test_four": ["test_5", "test_6"]})) == [
        '-        - names: [TestA::test_three, "test_four"]',
        '+        - names: [TestA::test_three, "test_5", "test_6"]',
    ]
    assert changed(lambda text: text.put_names(FILE, 2, {"test_five": ["test_six"]})) == [
        "-        - names: test_five",
        "+        - names: test_six",
    ]


def test_a_file_block_gets_another_path() -> None:
    assert changed(lambda text: text.set_path(FILE, "${TORCH_ROOT}/test/test_c.py")) == [
        "-    - path: ${TORCH_ROOT}/test/test_a.py",
        "+    - path: ${TORCH_ROOT}/test/test_c.py",
    ]
