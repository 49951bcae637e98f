"""Every stale name of a manifest is found at its place, with what became of it and what to write."""

from __future__ import annotations

import textwrap

import pytest

from selector.manifests import ManifestDocument, ManifestError
from selector.manifests.comparing.staleness import StaleFinding, Staleness, stale
from tests.selector.upstream import MemoryTree

THINGS = """\
from torch.testing._internal.common_utils import TestCase, run_tests
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests, ops

class TestThings(TestCase):
    @ops([])
    def test_add(self, device, dtype, op): ...
    @dtypes(float)
    def test_plain(self, device, dtype): ...

class TestNewHome(TestCase):
    def test_moved(self, device): ...

instantiate_device_type_tests(TestThings, globals())
"""
OTHER = """\
from torch.testing._internal.common_utils import TestCase

class TestOther(TestCase):
    def test_gone_there(self): ...
"""
SHARED = """\
class SharedTests:
    def test_from_elsewhere(self): ...
"""
TREE = MemoryTree(
    {
        "test/test_things.py": THINGS,
        "test/test_other.py": OTHER,
        "torch/testing/_internal/shared_tests.py": SHARED,
        "test/broken/test_broken.py": "def test_x(:\n",
        "test/helper.py": "",
    }
)
HEAD = """\
test_suite_config:
  files:
    - path: ${TORCH_ROOT}/%s
      unlisted_test_mode: skip
      tests:
"""


def manifest(*names: str, file: str = "test/test_things.py", name: str = "m.yaml") -> ManifestDocument:
    entries = "".join(f"        - names: ['{listed}']\n" for listed in names) or "        []\n"
    return ManifestDocument(name, HEAD % file + entries)


def about_names(*names: str, file: str = "test/test_things.py") -> list[StaleFinding]:
    """Findings about listed names; the first name stands in line 6."""
    return [found for found in stale([manifest(*names, file=file)], TREE) if found.kind is not Staleness.UNLISTED_TESTS]


@pytest.mark.parametrize(
    "name",
    [
        "TestThings::test_add",
        "test_plain",
        "TestThings::test_(add|plain)",
        "TestThingsPRIVATEUSE1::test_add",
        "*Things*::test_add",
        "TestThings::test_from_elsewhere",
    ],
)
def test_a_name_that_means_a_test_is_not_stale(name: str) -> None:
    """Bare, qualified, pattern, generated or globbed class, and a method inherited from outside the test files."""
    assert about_names(name) == []


@pytest.mark.parametrize(
    ("name", "kind", "message", "edit"),
    [
        (
            "TestThings::test_gone",
            Staleness.DEAD_NAME,
            "test/test_things.py has no `test_gone`",
            "delete this name",
        ),
        (
            "TestThings::test_plane",
            Staleness.DEAD_NAME,
            "test/test_things.py has no `test_plane`; `test_plain` is the nearest name",
            "delete this name, or write `TestThings::test_plain` if it was renamed",
        ),
        (
            "TestThings::test_zzz.*",
            Staleness.DEAD_NAME,
            "`test_zzz.*` matches no test of test/test_things.py",
            "delete this name",
        ),
        (
            "TestThings::test_plain_cpu",
            Staleness.VARIANT_NAME,
            "`test_plain_cpu` is a generated variant, which never matches; its base is `test_plain`",
            "write `TestThings::test_plain`, which takes all of its variants",
        ),
        (
            "TestThings::test_add_nn_functional_gelu",
            Staleness.VARIANT_NAME,
            "`test_add_nn_functional_gelu` is a generated variant, which never matches; its base is `test_add`",
            "write `TestThings::test_add`, which takes all of its variants",
        ),
        (
            "TestThings::test_moved",
            Staleness.MOVED_CLASS,
            "`TestThings` has no `test_moved`; test/test_things.py has `TestNewHome::test_moved`",
            "write `TestNewHome::test_moved`",
        ),
        (
            "TestOther::test_gone_there",
            Staleness.MOVED_FILE,
            "test/test_things.py has no `test_gone_there`; it stands in test/test_other.py",
            "move `TestOther::test_gone_there` to a block with `path: ${TORCH_ROOT}/test/test_other.py`",
        ),
    ],
)
def test_a_stale_name_says_what_became_of_it(name: str, kind: Staleness, message: str, edit: str) -> None:
    """One finding with kind, sentence, and the edit to make."""
    (found,) = about_names(name)
    assert (found.kind, found.message, found.edit, found.certain) == (kind, message, edit, True)
    assert (found.manifest, found.line, found.names) == ("m.yaml", 6, (name,))


def test_a_suffix_that_no_generator_makes_is_no_variant() -> None:
    """`test_plain_again` was a test of its own: `test_plain` is made for devices and dtypes only."""
    (found,) = about_names("TestThings::test_plain_again")
    assert found.kind is Staleness.DEAD_NAME


def test_a_test_that_is_listed_as_well_is_no_new_name() -> None:
    """`test_plain` has its own line, so `test_plane` was not renamed to it."""
    (found,) = about_names("TestThings::test_plane", "TestThings::test_plain")
    assert found.edit == "delete this name"


def test_a_variant_of_a_listed_base_is_to_be_deleted() -> None:
    """The base is listed already, so writing it once more would be a dead entry."""
    (found,) = about_names("TestThings::test_plain", "TestThings::test_plain_cpu_float32")
    assert found.edit == "delete this name: `test_plain` is listed in line 6, with all of its variants"


def test_a_name_of_a_file_that_makes_tests_on_import_is_uncertain() -> None:
    """What `setattr` makes is in no text, so the finding asks for a collection."""
    tree = MemoryTree({"test/test_things.py": THINGS + "setattr(TestThings, 'test_made', lambda self: None)\n"})
    found = next(found for found in stale([manifest("test_made")], tree) if found.kind is Staleness.DEAD_NAME)
    assert not found.certain
    assert "collect it to be sure" in found.message


def test_a_removed_file_names_its_successor() -> None:
    """A file that has most of the listed names is offered."""
    (found,) = about_names("TestThings::test_add", "test_plain", "test_x", file="test/test_old.py")
    assert found.kind is Staleness.REMOVED_FILE
    assert found.line == 3
    assert found.message == "test/test_old.py is not in the tree; test/test_things.py has 2 of the 3 names listed here"
    assert found.edit == "write `path: ${TORCH_ROOT}/test/test_things.py`"


def test_a_removed_file_without_successor_is_to_be_deleted() -> None:
    """Nothing is guessed when no file has the names."""
    (found,) = about_names("TestX::test_x", file="test/test_old.py")
    assert (found.message, found.edit) == ("test/test_old.py is not in the tree", "delete this block")


@pytest.mark.parametrize("file", ["test/broken/test_broken.py", "test/helper.py"])
def test_nothing_is_said_of_names_in_a_file_that_cannot_be_read(file: str) -> None:
    """A file that does not parse, or is no test file, is there; its names are unknown, not dead."""
    assert about_names("test_x", file=file) == []


def test_unlisted_tests_are_counted_per_file_with_their_mode() -> None:
    """Without an earlier tree all unlisted tests are one finding."""
    (found,) = stale([manifest("test_add")], TREE)
    assert found.kind is Staleness.UNLISTED_TESTS
    assert found.message == "2 tests of test/test_things.py are not listed and fall under `skip`"
    assert found.names == ("TestNewHome::test_moved", "TestThings::test_plain")
    assert found.edit == ""


def test_with_an_earlier_tree_only_new_tests_count() -> None:
    """The edit is an entry that can be pasted."""
    before = MemoryTree({"test/test_things.py": THINGS.replace("def test_moved", "def test_before")})
    (found,) = stale([manifest("test_add")], TREE, before)
    assert found.kind is Staleness.NEW_TESTS
    assert found.message == "1 new test of test/test_things.py is not listed and falls under `skip`"
    assert found.edit == textwrap.dedent("""\
        add
        - names:
            - TestNewHome::test_moved
          mode: skip""")


def test_a_test_that_another_manifest_lists_is_not_unlisted() -> None:
    """One upstream file may be split over several manifests."""
    found = stale([manifest("test_add", name="a.yaml"), manifest("test_plain|test_moved", name="b.yaml")], TREE)
    assert found == ()


def test_findings_are_ordered_by_place() -> None:
    """As the manifests are read."""
    found = stale([manifest("test_b_gone", "test_a_gone"), manifest("test_gone", name="a.yaml")], TREE)
    assert [(each.manifest, each.line) for each in found] == [
        ("a.yaml", 3),
        ("a.yaml", 6),
        ("m.yaml", 6),
        ("m.yaml", 7),
    ]


def test_a_manifest_that_does_not_load_is_refused_with_its_findings() -> None:
    """The error is the one of every other command."""
    with pytest.raises(ManifestError, match=r"m.yaml:1:1: the key `test_suite_config` is missing"):
        stale([ManifestDocument("m.yaml", "{}")], TREE)
