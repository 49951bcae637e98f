"""Terms of a change, and BM25 over the test files that say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Reached, Status
from selector.ownership.relevance import TestFileIndex
from selector.ownership.terms import code_terms, description_terms, holding, path_terms, terms_of
from tests.selector.upstream import MemoryTree

CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_linalg.py": "def test_pinv(): linalg_pinv()\ndef test_solve(): torch.linalg.solve()\n",
            "test/test_other.py": "def test_one(): assert 1\ndef test_two(): linalg_pinv()\ndef test_three(): x = 1\n",
            "test/test_helped.py": "def check(): frobnicate()\ndef test_it(): check()\n",
        }
    )
)


def changed(path: str, text: str = "", **facts: object) -> ChangeSet:
    file = FileChange(path, None, Status.MODIFIED, Category.PYTHON_SOURCE, text=text, **facts)  # type: ignore[arg-type] # fields by name
    return ChangeSet((file,))


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("linalg_pinv", ("linalg", "pinv", "linalg_pinv")),
        ("LinearReLU", ("linear", "lu", "linearrelu")),
        ("gelu", ("gelu",)),
        ("test_torch", ("test_torch",)),
        ("TestCase", ("testcase",)),
        ("self", ()),
        ("x", ()),
    ],
)
def test_a_name_has_its_parts_and_itself_as_terms(word: str, terms: tuple[str, ...]) -> None:
    assert terms_of(word) == terms


def test_a_path_and_the_one_before_a_rename_are_searched_for() -> None:
    file = FileChange("torch/linalg/new.py", "torch/old.py", Status.RENAMED, Category.PYTHON_SOURCE)
    assert path_terms(ChangeSet((file,))).keys() == {"linalg", "new", "old"}


def test_a_changed_name_weighs_more_than_a_word_of_a_changed_line() -> None:
    change = changed("torch/a.py", "+ pinv(tolerance)\n", symbols=("pinv",), reached=(Reached("solve", "solve"),))
    terms = code_terms(change)
    assert terms["pinv"] == terms["solve"] == 3.0
    assert terms["tolerance"] == 1.0
    assert "for" not in code_terms(changed("torch/a.py", "+ for item in items\n"))


def test_only_the_first_of_a_long_description_is_read() -> None:
    assert description_terms("pinv " + "x" * 5_000 + " solve").keys() >= {"pinv"}
    assert "solve" not in description_terms("pinv " + "x" * 5_000 + " solve")


def test_a_file_whose_tests_are_about_a_term_comes_before_one_that_mentions_it() -> None:
    index = TestFileIndex(CATALOG, ["linalg", "pinv"])
    scores = index.by_text({"linalg": 1.0, "pinv": 1.0})
    assert scores["test/test_linalg.py"] == 1.0
    assert 0 < scores["test/test_other.py"] < 1.0
    assert "test/test_helped.py" not in scores
    assert index.shared("test/test_linalg.py", {"linalg": 1.0, "pinv": 1.0})[0] in ("linalg", "pinv")


def test_what_a_helper_says_counts_for_the_test_that_calls_it() -> None:
    assert TestFileIndex(CATALOG, ["frobnicate"]).by_text({"frobnicate": 1.0}) == {"test/test_helped.py": 1.0}


def test_the_path_of_a_file_is_searched_apart_from_its_text() -> None:
    index = TestFileIndex(CATALOG, ["linalg", "unknown"])
    assert index.by_path({"linalg": 1.0}) == {"test/test_linalg.py": 1.0}
    assert index.by_path({"unknown": 1.0}) == index.by_text({"unknown": 1.0}) == {}


def test_an_empty_catalog_has_nothing_to_say() -> None:
    assert TestFileIndex(build_catalog(MemoryTree({})), ["linalg"]).by_text({"linalg": 1.0}) == {}


def test_an_operator_that_a_fact_names_is_searched_for_unless_another_backend_alone_runs_it() -> None:
    facts = (
        Fact("a.cpp", FactKind.KERNEL, symbol="add_kernel", op="linalg_pinv.out"),
        Fact("a.cpp", FactKind.KERNEL, symbol="mps_solve", op="solve", effect=Effect.OTHER_BACKEND),
    )
    terms = code_terms(changed("aten/src/a.cpp", facts=facts))
    assert terms["linalg_pinv"] == terms["add_kernel"] == 3.0
    assert "solve" not in terms


_identifiers = st.from_regex(r"[a-zA-Z_ü][a-zA-Z0-9_ü]{0,12}", fullmatch=True)


@given(st.lists(_identifiers, unique=True), st.frozensets(_identifiers, max_size=5))
def test_all_words_at_once_hold_what_each_of_them_holds(words: list[str], names: frozenset[str]) -> None:
    wanted = frozenset(term for name in (*names, *words[::2]) for term in terms_of(name))
    each = {word: [term for term in terms_of(word) if term in wanted] for word in words}
    assert holding(words, wanted) == {word: terms for word, terms in each.items() if terms}
