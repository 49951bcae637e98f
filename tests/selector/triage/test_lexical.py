"""The offline ranker prefers tests that share rare words with the change, and is the same every time."""

from __future__ import annotations

from selector.catalog import Catalog, build_catalog
from selector.change import Category, ChangeSet, FileChange, Reached, Status
from selector.triage.lexical import LexicalRanker, joined_score, name_parts
from selector.types import Candidate
from tests.selector.upstream import MemoryTree, source_of_class

CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_a.py": source_of_class(
                "TestA",
                "test_rare: torch.unravel_index(device)",
                "test_common: self.assertEqual(device)",
                "test_none: x",
            ),
            "test/test_b.py": source_of_class("TestB", *(f"test_{n}: self.assertEqual(device)" for n in range(20))),
        }
    )
)


def ranker(text: str, *names: str, path: str = "torch/functional.py", catalog: Catalog = CATALOG) -> LexicalRanker:
    reached = tuple(Reached(name, name) for name in names)
    file = FileChange(path, None, Status.MODIFIED, Category.PYTHON_SOURCE, names, reached=reached, text=text)
    return LexicalRanker(ChangeSet((file,)), "", list(catalog))


def values(found: LexicalRanker) -> dict[str, float]:
    candidates = [Candidate(test.test) for test in CATALOG]
    return {test.name: score.value for test, score in found.scores(candidates).items()}


def test_a_rare_shared_word_wins_over_a_common_one() -> None:
    found = values(ranker("+    return unravel_index\n-    assertEqual"))
    assert found["test_rare"] == 1.0
    assert 0 < found["test_common"] < 0.5
    assert found["test_none"] == 0.0


def test_a_changed_name_says_more_than_a_word_of_a_changed_line() -> None:
    text = "+ unravel_index(assertEqual)"
    assert values(ranker(text, "assertEqual"))["test_common"] > values(ranker(text))["test_common"]


def test_parts_of_paths_meet_parts_of_test_names() -> None:
    assert values(ranker("", path="torch/rare.py"))["test_rare"] == 1.0


def test_shared_words_are_told_best_first() -> None:
    scores = ranker("+ unravel_index(device)").scores([Candidate(test.test) for test in CATALOG])
    shared = next(score.shared for test, score in scores.items() if test.name == "test_rare")
    assert shared == ("unravel_index", "device")


def test_nothing_shared_is_zero_and_no_error() -> None:
    assert set(values(ranker("")).values()) == {0.0}
    assert ranker("x", catalog=build_catalog(MemoryTree({}))).scores([]) == {}


def test_repeats_are_identical() -> None:
    text = "+ unravel_index(device, assertEqual)"
    assert values(ranker(text, "a", "b")) == values(ranker(text, "b", "a"))


def test_the_joined_score_is_the_mean() -> None:
    (test, *_) = CATALOG
    score = ranker("+unravel_index").scores([Candidate(test.test)])[test.test]
    assert joined_score(Candidate(test.test, score=0.5), score) == round((0.5 + score.value) / 2, 4)


def test_names_are_taken_apart() -> None:
    parts = {"nn", "unravel", "index", "linear", "unit", "nan", "xpu"}
    assert name_parts("test/nn/test_unravel_index.py TestLinearUnit nan XPU") == parts
