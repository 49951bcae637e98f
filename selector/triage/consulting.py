"""Asks a model about the open candidates: the question, the tools, the loop, and what came of it.

Owns no decision about a test. Every failure becomes a `Consulted` without opinions that says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from selector.catalog import Catalog
from selector.change import ChangeSet
from selector.known import ObservedTests
from selector.manifests import ManifestSet
from selector.trees import SourceTree
from selector.triage.agent import Agent, CallRecord
from selector.triage.answer import Answer, Opinion, read_answer
from selector.triage.band import Group
from selector.triage.budget import Account, Budget
from selector.triage.conversation import AgentClient, LlmClient, LlmError
from selector.triage.knowledge import Knowledge
from selector.triage.prompt import SCHEMA, Question, ask_about
from selector.triage.reading import TreeReader
from selector.triage.tools import Toolbox
from selector.triage.untrusted import one_line
from selector.types import BaseTest

_PATH_CAP = 120


@dataclass(frozen=True, slots=True)
class Sources:
    """What the tools of a model may look into: the changed tree, and what is known of tests."""

    tree: SourceTree
    manifests: ManifestSet | None = None
    observed: ObservedTests | None = None


@dataclass(frozen=True, slots=True)
class Consultation:
    """How a model is asked: what it may cost and look into, by which clock (seconds that never go back). Without
    `sources` it is asked once and has no tools."""

    llm: LlmClient
    budget: Budget = field(default_factory=Budget)
    sources: Sources | None = None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Consulted:
    """What came of asking the model: its answer and question, or why there is none, and what was spent."""

    question: Question
    answer: Answer
    account: Account
    calls: tuple[CallRecord, ...] = ()
    failure: str = ""

    @cached_property
    def offered(self) -> frozenset[BaseTest]:
        return frozenset(it.test for group in self.question.offered.values() for it in group.candidates)

    @cached_property
    def opinions(self) -> Mapping[BaseTest, Opinion]:
        """What the model thinks of each test that it spoke about."""
        offered = self.question.offered
        return {
            it.test: opinion
            for short_id, opinion in self.answer.opinions.items()
            for it in offered[short_id].candidates
        }

    def cited(self, opinion: Opinion) -> tuple[str, ...]:
        """The evidence of an opinion for people: paths of changed files, and names of tools that were used."""
        tools = {call.id: f"{call.tool} {call.id}" for call in self.calls}
        files = {short_id: one_line(file.path, _PATH_CAP) for short_id, file in self.question.files.items()}
        return tuple((files | tools)[short_id] for short_id in opinion.evidence)


def consult(
    how: Consultation, change: ChangeSet, offered: Sequence[Group], catalog: Catalog, *, title: str, body: str
) -> Consulted:
    """Ask about `offered`, which must hold no must-run candidate."""
    account = Account(how.budget, how.clock)
    has_tools = how.sources is not None and isinstance(how.llm, AgentClient) and how.budget.calls > 0
    question = ask_about(change, title, body, offered, how.budget if has_tools else None)
    tools = _toolbox(how.sources, question, catalog, how.clock) if how.sources is not None and has_tools else None
    agent = Agent(how.llm, account, SCHEMA, tools)
    citable = frozenset(question.files)

    def read(text: str, calls: frozenset[str]) -> Answer:
        return read_answer(text, question.offered, citable | calls)

    try:
        answer, failure = agent.ask(question.turns, read), ""
    except LlmError as error:
        answer, failure = Answer({}), str(error)
    return Consulted(question, answer, account, tuple(agent.calls), failure)


def _toolbox(sources: Sources, question: Question, catalog: Catalog, clock: Callable[[], float]) -> Toolbox:
    reader = TreeReader(sources.tree, clock)
    knowledge = Knowledge(question.offered, question.files, catalog, sources.tree, sources.manifests, sources.observed)
    return Toolbox({tool.name: tool for tool in (*reader.tools, *knowledge.tools)})
