"""Stage 1: from a diff and the two trees it lies between to typed facts about each changed file.

What cannot be judged is kept with its `doubt` and a fact of unknown effect; only a proven no-op leaves here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from selector.change.classify import HARMLESS, classify
from selector.change.diff import DiffError, read_diff
from selector.change.facts import Category, ChangeSet, Effect, Fact, FileChange, FileDelta, Status
from selector.change.file_facts import comments_only, mode_only, moved, whole_file
from selector.change.native_yaml import compare_yaml, is_operator_yaml
from selector.change.python_facts import PythonFile, python_facts
from selector.change.reach import Exports, reached_names
from selector.change.samples import Samples
from selector.change.symbols import compare
from selector.trees import SourceTree

_PYTHON_SUFFIXES = (".py", ".pyi")
_NO_TEXT = "the file cannot be read as UTF-8 text on both sides"


def analyse(diff: str, base: SourceTree, head: SourceTree) -> ChangeSet:
    """The change set of `diff`, whose sides are `base` and `head`. A text that is no diff gives an empty set that says
    why in `unreadable`."""
    try:
        deltas = read_diff(diff)
    except DiffError as error:
        return ChangeSet((), unreadable=str(error))
    return judge(deltas, base, head)


def judge(deltas: Iterable[FileDelta], base: SourceTree, head: SourceTree) -> ChangeSet:
    """The change set of files that are known to differ between two trees."""
    analysis = _Analysis(base, head)
    return ChangeSet(tuple(analysis.judge(delta) for delta in deltas))


class _Analysis:
    """What is read once for all files of one change."""

    def __init__(self, base: SourceTree, head: SourceTree) -> None:
        self._base = base
        self._head = head
        self._exports = Exports(head)
        self._samples = Samples(head)

    def judge(self, delta: FileDelta) -> FileChange:
        category = _category(delta)
        if category in HARMLESS:
            return replace(_whole(delta, category), noop=HARMLESS[category])
        if delta.status is Status.MODE:
            return _with(delta, category, [mode_only(delta)], noop="file mode only")
        if delta.unreadable:
            return _whole(delta, category, delta.unreadable)
        if not delta.submodule and delta.path.endswith(_PYTHON_SUFFIXES):
            return self._judge_python(delta, category)
        if not delta.submodule and is_operator_yaml(delta.path):
            return self._judge_yaml(delta, category)
        return _whole(delta, category)

    def _texts(self, delta: FileDelta) -> tuple[str, str] | None:
        """Both sides, empty where there is none; nothing when one of them cannot be read."""
        old = "" if delta.status is Status.ADDED else self._base.read(delta.old_path or delta.path)
        new = "" if delta.status is Status.DELETED else self._head.read(delta.path)
        return None if old is None or new is None else (old, new)

    def _judge_python(self, delta: FileDelta, category: Category) -> FileChange:
        texts = self._texts(delta)
        if texts is None:
            return _whole(delta, category, _NO_TEXT)
        old, new = texts
        difference = compare(old, new)
        if difference is None:
            return _whole(delta, category, "the file does not parse on both sides")
        if difference.is_empty and _in_place(delta):
            return _no_op(delta, category)
        facts = python_facts(PythonFile(delta.path, category, old, new, difference), self._samples)
        change = _with(delta, category, facts)
        # a file that came, went or moved changes what its module is, whatever it contains
        return replace(
            change,
            symbols=difference.symbols,
            module_level=difference.module_level or not _in_place(delta),
            reached=reached_names(delta.path, new or old, difference.symbols, self._exports),
        )

    def _judge_yaml(self, delta: FileDelta, category: Category) -> FileChange:
        texts = self._texts(delta)
        if texts is None:
            return _whole(delta, category, _NO_TEXT)
        facts = tuple(compare_yaml(delta.path, *texts))
        return _with(delta, category, facts) if facts or not _in_place(delta) else _no_op(delta, category)


def _category(delta: FileDelta) -> Category:
    """Of the new path; of the old one when the file was moved to where it would not matter."""
    if delta.submodule:
        return Category.SUBMODULE
    category = classify(delta.path)
    return classify(delta.old_path) if category in HARMLESS and delta.old_path else category


def _in_place(delta: FileDelta) -> bool:
    return delta.status in (Status.MODIFIED, Status.BINARY)


def _whole(delta: FileDelta, category: Category, doubt: str | None = None) -> FileChange:
    return _change(delta, category, tuple(whole_file(delta, category, doubt)), doubt=doubt)


def _no_op(delta: FileDelta, category: Category) -> FileChange:
    return _change(delta, category, (comments_only(delta.path),), noop="comments, docstrings or formatting only")


def _with(delta: FileDelta, category: Category, facts: Iterable[Fact], noop: str | None = None) -> FileChange:
    """With the facts found inside; a file that moved, or in which none were found, has one about it as a whole."""
    found = tuple(facts)
    if delta.old_path is not None:
        found = (moved(delta), *found)
    doubts = [fact.evidence for fact in found if fact.effect is Effect.UNKNOWN]
    return _change(delta, category, found or tuple(whole_file(delta, category)), noop, doubts[0] if doubts else None)


def _change(
    delta: FileDelta,
    category: Category,
    facts: tuple[Fact, ...],
    noop: str | None = None,
    doubt: str | None = None,
) -> FileChange:
    return FileChange(
        delta.path, delta.old_path, delta.status, category, noop=noop, doubt=doubt, text=delta.text, facts=facts
    )
