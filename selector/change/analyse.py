"""Stage 1: from a diff and the two trees it lies between to typed facts about each changed file.

What cannot be judged is kept with its `doubt` and a fact of unknown effect; only a proven no-op leaves here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from selector.change.classify import HARMLESS, classify, is_among_tests
from selector.change.cpp_compare import CppText
from selector.change.cpp_facts import SUFFIXES as CPP_SUFFIXES
from selector.change.cpp_facts import CppFile, cpp_facts
from selector.change.cpp_operators import Operators
from selector.change.diff import DiffError, read_diff
from selector.change.docstrings import docstring_facts
from selector.change.facts import Category, ChangeSet, Effect, Fact, FileChange, FileDelta, Status
from selector.change.file_facts import comments_only, mode_only, moved, whole_file
from selector.change.moves import follow_moves
from selector.change.native_yaml import compare_yaml, is_operator_yaml
from selector.change.pins import is_pins, pin_facts
from selector.change.python_facts import PythonFile, python_facts
from selector.change.python_text import PythonText, PythonTexts
from selector.change.reach import Exports, reached_names
from selector.change.samples import Samples
from selector.change.symbols import Difference, compare
from selector.change.tree_diff import compare_trees
from selector.trees import SourceTree

_PYTHON_SUFFIXES = (".py", ".pyi")
_PINS_OF_CI = "versions and settings for upstream's own machines: not used here"
_NO_TEXT = "the file cannot be read as UTF-8 text on both sides"


def analyse(diff: str, base: SourceTree, head: SourceTree) -> ChangeSet:
    """The change set of `diff`, whose sides are `base` and `head`. A text that is no diff gives an empty set that says
    why in `unreadable`."""
    try:
        deltas = read_diff(diff)
    except DiffError as error:
        return ChangeSet((), unreadable=str(error))
    return judge(deltas, base, head)


def analyse_trees(base: SourceTree, head: SourceTree) -> ChangeSet:
    """The change set between two trees that no git repository relates, such as two unpacked wheels."""
    return judge(compare_trees(base, head), base, head)


def judge(deltas: Iterable[FileDelta], base: SourceTree, head: SourceTree) -> ChangeSet:
    """The change set of files that are known to differ between two trees."""
    analysis = _Analysis(base, head)
    files = [analysis.judge(delta) for delta in deltas]
    return ChangeSet(follow_moves(files, analysis.differences))


class _Analysis:
    """What is read once for all files of one change."""

    def __init__(self, base: SourceTree, head: SourceTree) -> None:
        self._base = base
        self._head = head
        self._python = PythonTexts(base), PythonTexts(head)
        self._exports = Exports(self._python[1])
        self._samples = Samples(self._python[1])
        self._operators = Operators(head)
        self.differences: dict[str, Difference] = {}

    def judge(self, delta: FileDelta) -> FileChange:
        category = _category(delta)
        return self._outside(delta, category) or self._inside(delta, category)

    def _outside(self, delta: FileDelta, category: Category) -> FileChange | None:
        """Of a file that cannot matter by what it is, or that holds versions of other projects."""
        if is_pins(delta.path) and not delta.unreadable and (facts := self._pins(delta, category)):
            noop = _PINS_OF_CI if all(fact.effect is Effect.NONE for fact in facts) else None
            return _with(delta, category, facts, noop)
        if category in HARMLESS:
            return replace(_whole(delta, category), noop=HARMLESS[category])
        if delta.status is Status.MODE:
            return _with(delta, category, [mode_only(delta)], noop="file mode only")
        return None

    def _inside(self, delta: FileDelta, category: Category) -> FileChange:
        """Of a file that has to be read, when it is of a kind that is looked into."""
        if delta.unreadable or not _has_parts(delta):
            return _whole(delta, category, delta.unreadable or None)
        if delta.path.endswith(_PYTHON_SUFFIXES):
            return self._judge_python(delta, category)
        texts = self._texts(delta)
        return self._judge_parts(delta, category, *texts) if texts is not None else _whole(delta, category, _NO_TEXT)

    def _pins(self, delta: FileDelta, category: Category) -> tuple[Fact, ...]:
        texts = self._texts(delta)
        in_place = _in_place(delta) and not delta.submodule
        return tuple(pin_facts(delta.path, category, *texts)) if texts is not None and in_place else ()

    def _texts(self, delta: FileDelta) -> tuple[str, str] | None:
        """Both sides, empty where there is none; nothing when one of them cannot be read."""
        old = "" if delta.status is Status.ADDED else self._base.read(delta.old_path or delta.path)
        new = "" if delta.status is Status.DELETED else self._head.read(delta.path)
        return None if old is None or new is None else (old, new)

    def _judge_python(self, delta: FileDelta, category: Category) -> FileChange:
        before, after = self._python
        old = PythonText("") if delta.status is Status.ADDED else before.read(delta.old_path or delta.path)
        new = PythonText("") if delta.status is Status.DELETED else after.read(delta.path)
        if old is None or new is None:
            return _whole(delta, category, _NO_TEXT)
        difference = compare(old, new)
        if difference is None:
            return _whole(delta, category, "the file does not parse on both sides")
        documented = tuple(docstring_facts(delta.path, old, new)) if _is_documented(delta, category) else ()
        if difference.is_empty and _in_place(delta):
            return _with(delta, category, documented) if documented else _no_op(delta, category)
        self.differences[delta.path] = difference
        facts = python_facts(PythonFile(delta.path, category, old, new, difference), self._samples)
        change = _with(delta, category, (*facts, *documented))
        # a file that came, went or moved changes what its module is, whatever it contains
        return replace(
            change,
            symbols=difference.symbols,
            module_level=difference.module_level or not _in_place(delta),
            reached=reached_names(delta.path, new if new.text else old, difference.symbols, self._exports),
        )

    def _judge_parts(self, delta: FileDelta, category: Category, old: str, new: str) -> FileChange:
        """C++, where tests bring their own it is judged as a whole; or a list of operators."""
        if is_operator_yaml(delta.path):
            facts = tuple(compare_yaml(delta.path, old, new))
        else:
            file = CppFile(delta.path, CppText(old), CppText(new))
            same = file.base.means_the_same_as(file.head)
            if not same and (category is not Category.NATIVE or is_among_tests(delta.path)):
                return _whole(delta, category)
            facts = () if same else tuple(cpp_facts(file, self._operators))
        if not facts and _in_place(delta):
            return _no_op(delta, category)
        return replace(_with(delta, category, facts), symbols=tuple(sorted({fact.symbol for fact in facts} - {""})))


def _is_documented(delta: FileDelta, category: Category) -> bool:
    """Whether others read the docstrings of the file; those of tests nobody does."""
    both = delta.status in (Status.MODIFIED, Status.RENAMED) and delta.path.endswith(".py")
    return both and category in (Category.PYTHON_SOURCE, Category.TEST_HARNESS) and not is_among_tests(delta.path)


def _has_parts(delta: FileDelta) -> bool:
    """Whether the file is of a kind that is looked into."""
    known = delta.path.endswith(_PYTHON_SUFFIXES + CPP_SUFFIXES) or is_operator_yaml(delta.path)
    return known and not delta.submodule


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
