"""What a plan is cut on: every test that the device may run, with its seconds and its chances."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from selector.catalog import Catalog
from selector.cut.chances import Chances
from selector.cut.seconds import Seconds
from selector.known import Durations
from selector.manifests import ManifestSet, admit
from selector.types import BaseTest, Candidate, Reason, Stage

_NOT_TIED = Reason(Stage.OWNERSHIP, "not tied to the change", "no rule of stage 2 named it")


class Ground:
    """All tests of a catalog that the manifests admit, all of them without manifests. `considered` are the candidates
    of the stages, kept or not, each once; `probabilities` those of stage 2 for the files."""

    def __init__(
        self,
        catalog: Catalog,
        manifests: ManifestSet | None,
        considered: Sequence[Candidate],
        probabilities: Mapping[str, float],
        durations: Durations | None,
    ) -> None:
        self._catalog = catalog
        self._manifests = manifests
        sizes = {path: len(file.tests) for path, file in catalog.files.items()}
        self.chances = Chances(considered, probabilities, sizes)
        self.seconds = Seconds(durations, sorted({*self._files, *(it.test.file for it in considered)}))

    @cached_property
    def _files(self) -> Collection[str]:
        """The files of which anything can run."""
        listed = {*self._manifests.files(), *self._manifests.models} if self._manifests is not None else None
        return [path for path in self._catalog.files if listed is None or path in listed]

    @cached_property
    def tests(self) -> tuple[BaseTest, ...]:
        """Every test that the device may run."""
        return tuple(candidate.test for candidate in self._admitted)

    @cached_property
    def _admitted(self) -> Sequence[Candidate]:
        every = [test.test for path in self._files for test in self._catalog.files[path].tests]
        unseen = [Candidate(test) for test in every]
        return unseen if self._manifests is None else admit(unseen, self._manifests).kept

    def timed(self, candidate: Candidate) -> Candidate:
        """The candidate with its seconds."""
        test = candidate.test
        return candidate.lasting(self.seconds.of(test), assumed=not self.seconds.recorded(test))

    def left_out(self, planned: Collection[BaseTest], dropped: Iterable[Candidate]) -> list[Candidate]:
        """What could run and is not planned, with the reasons for that: a test that no stage considered has them too.
        `dropped` is what the stages and the budget said of tests that do not run."""
        said = {candidate.test: candidate for candidate in dropped}
        return [_joined(said.get(it.test), it) for it in self._admitted if it.test not in planned]


def _joined(said: Candidate | None, admitted: Candidate) -> Candidate:
    """What was said of a test, and that the manifests admit it where they had not been asked."""
    if said is None:
        return replace(admitted, reasons=(_NOT_TIED, *admitted.reasons))
    if any(reason.stage is Stage.MANIFESTS for reason in said.reasons):
        return said
    return replace(said, reasons=(*said.reasons, *admitted.reasons))
