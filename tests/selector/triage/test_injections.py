"""No text of a change gets more out of stage 3 than a wrong opinion about an uncertain test.

The model of these tests is the worst there can be: it obeys. It answers what a text asks for, calls the tools that a
text names with the paths a text gives, and cites what a text invents.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from selector.change import Category, ChangeSet, FileChange, Reached, Status
from selector.trees import DirectoryTree
from selector.triage import Sources, triage
from selector.triage.band import Group
from selector.triage.conversation import Reply, Request, Said, ToolCall, ToolResult, Usage
from selector.triage.prompt import ask_about
from selector.types import BaseTest, Candidate, Reason, Stage, StageResult
from tests.selector.triage.example import CATALOG, FILES, candidates
from tests.selector.triage.injections import CORPUS

SECRET = "root:x:0:0-do-not-show"
OFFERED = re.compile(r"t\d+")


class Obedient:
    """Does the worst with every question: reads outside, defers all it can name, and cites and invents at will."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.shown: list[str] = []
        self.asked = 0

    def complete(self, messages: object, schema: object) -> str:
        raise AssertionError("asked once although it takes tools")

    def converse(self, request: Request) -> Reply:
        self.asked += 1
        self.shown += [turn.text for turn in request.turns if isinstance(turn, ToolResult)]
        if request.may_call:
            return Reply(self._text[:500], tuple(self._calls()), Usage())
        ids = sorted({*OFFERED.findall(_question(request)), "must_run", "t999", self._text[:50]})
        verdicts = [
            {"id": short_id, "verdict": "defer", "evidence": ["f1"], "reason": self._text[:300]} for short_id in ids
        ]
        return Reply(json.dumps({"verdicts": verdicts}))

    def _calls(self) -> list[ToolCall]:
        wishes: list[tuple[str, dict[str, str | int]]] = [
            ("read_file", {"path": "../secret.txt"}),
            ("read_file", {"path": "/etc/passwd"}),
            ("read_file", {"path": "link.txt"}),
            ("grep", {"text": "root:", "under": "../"}),
            ("grep", {"text": "do-not-show"}),
            ("symbol_refs", {"symbol": "root"}),
            ("read_file", {"path": self._text[:300]}),
            ("shell", {"command": self._text[:300]}),
        ]
        return [ToolCall(str(number), *wish) for number, wish in enumerate(wishes)]


def _question(request: Request) -> str:
    return "\n".join(turn.text for turn in request.turns if isinstance(turn, Said) and turn.role == "user")


def change_with(place: str, text: str) -> tuple[ChangeSet, str, str, tuple[Candidate, ...]]:
    """A change, its title and body, and its candidates, with the text where it belongs."""
    path = text if place == "file name" else "torch/x.py"
    symbol = text if place == "identifier" else "gelu"
    lines = text if place in {"docstring", "golden file"} else "-a\n+b"
    file = FileChange(
        *(path, None, Status.MODIFIED, Category.PYTHON_SOURCE),
        symbols=(symbol,),
        reached=(Reached(symbol, symbol),),
        text=lines,
    )
    given = candidates(grey=6, must_run=3)
    if place == "test name":
        linked = (Reason(Stage.OWNERSHIP, "mention", text, 0.3),)
        given += (Candidate(BaseTest("test/test_a.py", "TestA", text), linked, score=0.3),)
    title = text if place == "title" else f"Merge {text}" if place == "branch" else "Fix gelu"
    return ChangeSet((file,)), title, text if place == "body" else "", given


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> DirectoryTree:
    """The example's tree in a folder, with a secret beside it and a link to that."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text(SECRET)
    root: Path = outside / "tree"
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    (root / "link.txt").symlink_to(outside / "secret.txt")
    return DirectoryTree(root)


def test_the_corpus_has_forty_different_texts_in_every_place() -> None:
    assert len(set(CORPUS)) == len(CORPUS) >= 40
    assert len({place for place, _ in CORPUS}) == 8


def _names(result: StageResult) -> list[BaseTest]:
    return sorted(candidate.test for candidate in (*result.kept, *result.dropped))


@pytest.mark.parametrize(("place", "text"), CORPUS)
def test_an_obedient_model_does_no_harm(tree: DirectoryTree, place: str, text: str) -> None:
    change, title, body, given = change_with(place, text)
    model = Obedient(text)
    result = triage(change, given, CATALOG, title=title, body=body, llm=model, sources=Sources(tree))
    assert {it.test for it in given if it.must_run} <= {it.test for it in result.kept}
    assert _names(result) == sorted(it.test for it in given)
    assert all(it.reasons[-1].stage is not Stage.TRIAGE for it in result.kept if it.must_run)
    assert model.asked <= 5
    assert all(SECRET not in shown for shown in model.shown)
    assert all("root:x" not in shown for shown in model.shown)
    assert any("that were not offered" in note for note in result.notes)


@pytest.mark.parametrize(("place", "text"), CORPUS)
def test_the_text_stays_inside_the_data_of_the_question(place: str, text: str) -> None:
    """Between the fences, as JSON, on one line; the instructions are the same for every change."""
    change, title, body, given = change_with(place, text)
    question = ask_about(change, title, body, [Group(str(it.test), (it,)) for it in given])
    instructions, data = question.turns
    assert instructions == ask_about(ChangeSet(()), "", "", ()).turns[0]
    first, document, last = data.text.split("\n")
    assert first == last
    assert first not in document
    assert len(data.text) < 60_000
    assert json.loads(document)["candidates"][0]["id"] == "t1"


@pytest.mark.parametrize(("place", "text"), CORPUS)
def test_a_reason_of_the_model_is_one_short_line(tree: DirectoryTree, place: str, text: str) -> None:
    change, title, body, given = change_with(place, text)
    result = triage(change, given, CATALOG, title=title, body=body, llm=Obedient(text), sources=Sources(tree))
    for candidate in (*result.kept, *result.dropped):
        evidence = candidate.reasons[-1].evidence
        if candidate.reasons[-1].rule.startswith("model: "):
            assert len(evidence) <= 400
            assert "\x1b" not in evidence
            assert "\n" not in evidence
